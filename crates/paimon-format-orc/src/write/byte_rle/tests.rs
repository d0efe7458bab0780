// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::decode::{BitDecoder, ByteDecoder, ByteStream, Positions, StreamBytes};
use crate::write::codec::Codec;

fn stream(bytes: &[u8]) -> ByteStream {
    let stored = StreamBytes {
        bytes: bytes.to_vec().into(),
        start: 0,
    };
    ByteStream::new(stored, None)
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

#[test]
fn bytes_from_every_position() {
    let mut compressor = Compressor::new(Codec::None).unwrap();
    for seed in 1..100u64 {
        let mut state = seed;
        let mut writer = ByteRle::new(Stream::new(None));
        let mut all = Vec::new();
        let mut marks = Vec::new();
        for _ in 0..next(&mut state) % 60 {
            let mut position = Vec::new();
            writer.position(&mut position);
            marks.push((all.len(), position));
            let length = (next(&mut state) % 300) as usize;
            let kinds = 1 + next(&mut state) % 4;
            let part: Vec<u8> = (0..length).map(|_| (next(&mut state) % kinds) as u8).collect();
            writer.write(&part);
            all.extend(part);
        }
        let bytes = writer.finish(&mut compressor).unwrap();
        for (start, position) in marks {
            let mut decoder = ByteDecoder::new(stream(&bytes));
            decoder.seek(&mut Positions(position.iter())).unwrap();
            let mut read = Vec::new();
            decoder.read(all.len() - start, &mut read).unwrap();
            assert_eq!(read, all[start..], "seed {seed} from {start}");
        }
    }
}

#[test]
fn bits_from_every_position() {
    let mut compressor = Compressor::new(Codec::None).unwrap();
    for seed in 1..100u64 {
        let mut state = seed;
        let mut writer = BitRle::new(Stream::new(None));
        let mut all: Vec<bool> = Vec::new();
        let mut marks = Vec::new();
        for _ in 0..next(&mut state) % 60 {
            let mut position = Vec::new();
            writer.position(&mut position);
            marks.push((all.len(), position));
            let length = (next(&mut state) % 300) as usize;
            if next(&mut state) % 2 == 1 {
                writer.ones(length);
                all.extend(std::iter::repeat_n(true, length));
            } else {
                let skip = (next(&mut state) % 9) as usize;
                let bits: Vec<bool> = (0..length + skip).map(|_| next(&mut state) % 3 == 1).collect();
                writer.write(&BooleanBuffer::from(bits.clone()).slice(skip, length));
                all.extend(&bits[skip..]);
            }
        }
        let bytes = writer.finish(&mut compressor).unwrap();
        for (start, position) in marks {
            let mut decoder = BitDecoder::new(stream(&bytes));
            decoder.seek(&mut Positions(position.iter())).unwrap();
            let read = decoder.read(all.len() - start).unwrap();
            assert_eq!(
                read.iter().collect::<Vec<_>>(),
                all[start..],
                "seed {seed} from {start}"
            );
        }
    }
}
