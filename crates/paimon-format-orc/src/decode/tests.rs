// SPDX-License-Identifier: Apache-2.0

use std::slice;

use super::bits::unpack;
use super::*;

fn stream(bytes: &[u8]) -> ByteStream {
    let stored = StreamBytes {
        bytes: bytes.to_vec().into(),
        start: 0,
    };
    ByteStream::new(stored, None)
}

fn ints(bytes: &[u8], signed: bool, version2: bool, count: usize) -> Vec<i64> {
    let mut decoder = IntDecoder::new(stream(bytes), signed, version2);
    let mut out = Vec::new();
    decoder.read_all(count, &mut out).unwrap();
    assert!(decoder.read_all(1, &mut out).is_err());
    out
}

/// A file may say that its chunks have a gigabyte; a footer makes no room for that.
#[test]
fn room_for_metadata_is_bounded() {
    // A zstd frame that does not tell its size: magic number, descriptor, window, one last raw block of three bytes.
    let frame = [
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x19, 0x00, 0x00, b'a', b'b', b'c',
    ];
    let chunk = [&[frame.len() as u8 * 2, 0, 0][..], &frame].concat();
    let codec = Codec::new(crate::proto::CompressionKind::Zstd, Some(1 << 30)).unwrap();
    let all = decompress_all(codec, &chunk.into()).unwrap();
    assert_eq!(&all[..], b"abc");
    let mut out = Vec::new();
    let mut decompressor = codec.unwrap().within(1000).decompressor();
    decompressor.decompress(&frame, &mut out).unwrap();
    assert!(out == b"abc" && out.capacity() < 2000, "{}", out.capacity());
}

/// Chunks of a stripe make room for what they hold, and are whole or an error.
#[test]
fn room_for_chunks_grows_with_them() {
    use std::io::Write;

    use crate::proto::CompressionKind as K;
    let deflated = |bytes: &[u8]| {
        let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(1));
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    // Shrinks a little; the larger is more than what room is made for at first.
    let mut state = 1u64;
    let long: Vec<u8> = (0..10 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 60) as u8
        })
        .collect();
    for bytes in [&long[..], &long[..1000], &[]] {
        for (kind, chunk) in [
            (K::Zlib, deflated(bytes)),
            (K::Zstd, zstd::bulk::compress(bytes, 1).unwrap()),
            (K::Zstd, zstd::stream::encode_all(bytes, 1).unwrap()),
            (K::Lz4, lz4_flex::block::compress(bytes)),
            (K::Snappy, snap::raw::Encoder::new().compress_vec(bytes).unwrap()),
        ] {
            let codec = Codec::new(kind, Some(1 << 30)).unwrap().unwrap();
            let mut out = Vec::new();
            codec.decompressor().decompress(&chunk, &mut out).unwrap();
            assert!(out == bytes, "{kind:?}");
            let most = (bytes.len() * 2).max(5 << 20);
            assert!(out.capacity() <= most, "{kind:?}: {}", out.capacity());
            // LZ4 has no end of its own.
            let cut = &chunk[..chunk.len() / 2];
            let read = codec.decompressor().decompress(cut, &mut out);
            assert!(read.is_err() || kind == K::Lz4, "{kind:?}");
            if bytes.len() > 1000 {
                let codec = Codec::new(kind, Some(9 << 20)).unwrap().unwrap();
                let read = codec.decompressor().decompress(&chunk, &mut out);
                assert!(read.is_err(), "{kind:?}");
            }
        }
    }
}

/// The examples of the ORC specification.
#[test]
fn integers_of_the_specification() {
    assert_eq!(ints(&[0x61, 0x00, 0x07], false, false, 100), vec![7; 100]);
    let down: Vec<i64> = (1..=100).rev().collect();
    assert_eq!(ints(&[0x61, 0xff, 0x64], false, false, 100), down);
    assert_eq!(
        ints(&[0xfb, 0x02, 0x03, 0x04, 0x07, 0xb], false, false, 5),
        [2, 3, 4, 7, 11]
    );
    assert_eq!(ints(&[0x0a, 0x27, 0x10], false, true, 5), vec![10000; 5]);
    assert_eq!(
        ints(
            &[0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef],
            false,
            true,
            4
        ),
        [23713, 43806, 57005, 48879]
    );
    let patched = [
        0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64,
        0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
    ];
    let mut expected = vec![2030, 2000, 2020, 1000000];
    expected.extend((0..16).map(|n| 2040 + n * 10));
    assert_eq!(ints(&patched, false, true, 20), expected);
    assert_eq!(
        ints(&[0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46], false, true, 10),
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    );
}

#[test]
fn every_width_is_unpacked() {
    for width in 1..=64usize {
        let mask = u64::MAX >> (64 - width);
        let values: Vec<u64> = (0..37u64)
            .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n as u32) & mask)
            .collect();
        let mut bits = String::new();
        for value in &values {
            let all = format!("{value:064b}");
            bits.push_str(&all[64 - width..]);
        }
        let bytes: Vec<u8> = bits
            .as_bytes()
            .chunks(8)
            .map(|c| {
                let text = format!("{:0<8}", std::str::from_utf8(c).unwrap());
                u8::from_str_radix(&text, 2).unwrap()
            })
            .collect();
        let mut out = Vec::new();
        unpack(&bytes, width, values.len(), &mut out);
        assert_eq!(
            out.iter().map(|v| *v as u64).collect::<Vec<_>>(),
            values,
            "width {width}"
        );
    }
}

#[test]
fn bits_in_any_portions() {
    // A run of 100 zero bytes and two bytes as they are.
    let bytes = [0x61, 0x00, 0xfe, 0x44, 0x45];
    let mut all = vec![false; 800];
    for byte in [0x44u8, 0x45] {
        all.extend((0..8).rev().map(|n| byte >> n & 1 == 1));
    }
    for portion in [1, 3, 7, 8, 9, 64, 816] {
        let mut decoder = BitDecoder::new(stream(&bytes));
        let mut read: Vec<bool> = Vec::new();
        while read.len() < all.len() {
            let count = portion.min(all.len() - read.len());
            read.extend(decoder.read(count).unwrap().iter());
        }
        assert_eq!(read, all, "{portion}");
        let mut decoder = BitDecoder::new(stream(&bytes));
        let mut at = 0;
        while at + 2 * portion <= all.len() {
            decoder.skip(portion).unwrap();
            let set = decoder.count(portion).unwrap();
            assert_eq!(
                set,
                all[at + portion..at + 2 * portion].iter().filter(|b| **b).count()
            );
            at += 2 * portion;
        }
    }
    let mut decoder = BitDecoder::new(stream(&bytes));
    decoder.seek(&mut Positions([2, 1, 3].iter())).unwrap();
    let bits: Vec<bool> = decoder.read(5).unwrap().iter().collect();
    assert_eq!(bits, all[811..]);
    assert!(decoder.read(1).is_err());
}

#[test]
fn skipping_is_reading_without_result() {
    let mut bytes = vec![0x61, 0x00, 0x07];
    bytes.extend([0xfb, 0x02, 0x03, 0x04, 0x07, 0xb]);
    let mut all = vec![7i64; 100];
    all.extend([2, 3, 4, 7, 11]);
    for skip in 0..all.len() {
        let mut decoder = IntDecoder::new(stream(&bytes), false, false);
        decoder.skip(skip).unwrap();
        let mut out = Vec::new();
        decoder.read_all(all.len() - skip, &mut out).unwrap();
        assert_eq!(out, all[skip..]);
    }
    let direct = [
        0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef, 0x0a, 0x27, 0x10,
    ];
    for skip in 0..9 {
        let mut decoder = IntDecoder::new(stream(&direct), false, true);
        decoder.skip(skip).unwrap();
        let mut out = Vec::new();
        decoder.read_all(9 - skip, &mut out).unwrap();
        assert_eq!(
            out,
            [23713, 43806, 57005, 48879, 10000, 10000, 10000, 10000, 10000][skip..]
        );
    }
}

#[test]
fn decimals_and_nanoseconds() {
    let mut bytes = vec![0x00, 0x02, 0x01, 0xc8, 0x01];
    // i128::MIN in zigzag form: 128 bits that are set.
    bytes.extend([0xff; 18]);
    bytes.push(0x03);
    let mut out = Vec::new();
    read_decimals(&mut stream(&bytes), 5, &mut out).unwrap();
    assert_eq!(out, [0, 1, -1, 100, i128::MIN]);
    assert!(read_decimals(&mut stream(&[0xff; 30]), 1, &mut out).is_err());
    assert!(read_decimals(&mut stream(&[0x80]), 1, &mut out).is_err());
    assert_eq!(nanos_of(0), Some(0));
    assert_eq!(nanos_of(0x0a), Some(1000));
    assert_eq!(nanos_of(0x0c), Some(100_000));
    assert_eq!(nanos_of(5 << 3 | 7), Some(500_000_000));
    assert_eq!(nanos_of(123_456_789 << 3), Some(123_456_789));
    assert_eq!(nanos_of(1_000_000_000 << 3), None);
    assert_eq!(nanos_of(-7_326_990), Some(-915_874_000));
    assert_eq!(nanos_of(i64::MIN), None);
}

#[test]
fn offsets_as_java_computes_them() {
    let zone = Zone::get("America/New_York").unwrap();
    // Before 1900 the standard offset of today, not local mean time.
    assert_eq!(zone.offset(-2_717_668_800), -5 * 3600);
    assert_eq!(zone.offset(1_706_695_872), -5 * 3600);
    assert_eq!(zone.offset(1_720_135_800), -4 * 3600);
    // The change of 2024-03-10 07:00 UTC.
    assert_eq!(zone.offset(1_710_054_000 - 1), -5 * 3600);
    assert_eq!(zone.offset(1_710_054_000), -4 * 3600);
    assert_eq!(zone.offset(253_402_300_799), -5 * 3600);
    assert_eq!(zone.orc_epoch(), ORC_EPOCH_SECONDS + 5 * 3600);
    let kolkata = Zone::get("Asia/Kolkata").unwrap();
    assert_eq!(kolkata.offset(-2_208_988_801), 19_800);
    assert_eq!(Zone::get("GMT+08:00").unwrap().offset(0), 28_800);
    assert_eq!(Zone::get("GMT-0530").unwrap().offset(0), -19_800);
    assert_eq!(Zone::get("GMT+8").unwrap().offset(0), 28_800);
    assert!(Zone::get("UTC").unwrap().is_utc());
    assert!(Zone::get("Mars/Olympus").is_err());
    assert!(Zone::get("GMT+99").is_err());
}

#[test]
fn nothing_of_a_random_stream_panics() {
    let mut state = 88u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    for length in 0..300usize {
        let bytes: Vec<u8> = (0..length).map(|_| random()).collect();
        for (signed, version2) in [(false, false), (true, true)] {
            let mut decoder = IntDecoder::new(stream(&bytes), signed, version2);
            let mut out = Vec::new();
            let _ = decoder.read_all(1000, &mut out);
            let _ = decoder.seek(&mut Positions(slice::from_ref(&9).iter()));
        }
        let _ = BitDecoder::new(stream(&bytes)).read(5000);
        let _ = read_decimals(&mut stream(&bytes), 100, &mut Vec::new());
        for kind in [1u64, 2, 3, 4, 5] {
            use crate::proto::CompressionKind as K;
            let kind = [K::Zlib, K::Snappy, K::Lzo, K::Lz4, K::Zstd][kind as usize - 1];
            let codec = Codec::new(kind, Some(1 << 16)).unwrap().unwrap();
            let mut out = Vec::new();
            let _ = codec.decompressor().decompress(&bytes, &mut out);
            let _ = decompress_all(Some(codec), &bytes.clone().into());
        }
    }
}

/// Constant bytes shrink to almost nothing; zstd knows no largest ratio.
#[test]
fn a_constant_chunk() {
    use crate::proto::CompressionKind;
    let bytes = vec![7; 256 << 10];
    let codec = Codec::new(CompressionKind::Zstd, Some(256 << 10))
        .unwrap()
        .unwrap();
    let mut out = Vec::new();
    codec
        .decompressor()
        .decompress(&zstd::bulk::compress(&bytes, 1).unwrap(), &mut out)
        .unwrap();
    assert_eq!(out, bytes);
}
