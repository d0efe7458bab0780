// SPDX-License-Identifier: Apache-2.0

use paimon_types::{DataType, ErrorKind};

use super::*;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

/// The one file of `wire-vectors.jsonl`: `hello`, null, placeholder, no bytes.
#[test]
fn file_of_java() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire-vectors.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let vectors = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let files: Vec<_> = vectors
        .filter(|vector| vector["kind"] == "blob_file")
        .map(|vector| hex(vector["hex"].as_str().unwrap()))
        .collect();
    let [file] = &files[..] else {
        panic!("{} files", files.len())
    };
    let size = file.len() as u64;
    let footer = FileFooter::decode(file, size).unwrap();
    assert_eq!((footer.index_start, footer.index_bytes), (37, 4));
    let index = BlobIndex::decode(&file[37..41], footer.index_start).unwrap();
    assert_eq!(index.rows(), 4);
    let entries: Vec<BlobEntry> = (0..4).filter_map(|row| index.entry(row)).collect();
    let expected = [
        BlobEntry::Record(0..21),
        BlobEntry::Null,
        BlobEntry::Placeholder,
        BlobEntry::Record(21..37),
    ];
    assert_eq!(entries, expected);
    assert_eq!(index.entry(4), None);
    assert_eq!(check_record(&file[..21]).unwrap(), b"hello");
    assert_eq!(check_record(&file[21..37]).unwrap(), b"");

    for piece in 1..22 {
        let mut check = RecordCheck::new(21).unwrap();
        let payload: Vec<u8> = file[..21]
            .chunks(piece)
            .flat_map(|part| check.update(part).to_vec())
            .collect();
        assert_eq!(payload, b"hello");
        check.finish().unwrap();
    }
}

#[test]
fn deltas() {
    let lists: [&[i64]; 5] = [
        &[],
        &[21, -1, -2, 16],
        &[i64::MAX, i64::MIN, 0, -1],
        &[0, 63, 64, -64, -65, 1 << 40],
        &[-1; 5],
    ];
    for list in lists {
        let mut encoder = DeltaEncoder::new();
        list.iter().for_each(|value| encoder.push(*value));
        let mut found = Vec::new();
        decode_deltas(encoder.bytes(), |_, value| {
            found.push(value);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, list);
        assert_eq!(delta::count_deltas(encoder.bytes()), list.len());
    }
    for bad in ["80", "ffffffffffffffffff02", "ffffffffffffffffffff01"] {
        let error = decode_deltas(&hex(bad), |_, _| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn index_is_checked_against_the_records() {
    let index = |lengths: &[i64]| {
        let mut encoder = DeltaEncoder::new();
        lengths.iter().for_each(|value| encoder.push(*value));
        encoder.into_bytes()
    };
    assert!(BlobIndex::decode(&index(&[16, 20]), 36).is_ok());
    for (lengths, bytes) in [
        (&[16i64, 20][..], 35),
        (&[16, 20], 37),
        (&[15], 15),
        (&[-3], 0),
        (&[0], 0),
        (&[i64::MAX, i64::MAX], 100),
        (&[i64::MIN], 100),
        (&[], 1),
    ] {
        let error = BlobIndex::decode(&index(lengths), bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{lengths:?}");
    }
    assert!(BlobIndex::decode(&[], u64::MAX).is_err());
}

#[test]
fn keys() {
    for (text, key, bytes) in [
        ("BOOLEAN", BlobKey::Boolean(true), "01"),
        ("TINYINT", BlobKey::Number(-128), "80"),
        ("SMALLINT", BlobKey::Number(258), "0201"),
        ("INT", BlobKey::Number(-2), "feffffff"),
        ("DATE", BlobKey::Number(1), "01000000"),
        ("TIME(3)", BlobKey::Number(1), "01000000"),
        ("BIGINT", BlobKey::Number(-1), "ffffffffffffffff"),
        ("DECIMAL(18, 2)", BlobKey::Number(-150), "6affffffffffffff"),
        ("DECIMAL(19, 2)", BlobKey::Number(0), "00"),
        ("DECIMAL(19, 2)", BlobKey::Number(127), "7f"),
        ("DECIMAL(19, 2)", BlobKey::Number(128), "0080"),
        ("DECIMAL(19, 2)", BlobKey::Number(-128), "80"),
        ("DECIMAL(19, 2)", BlobKey::Number(-129), "ff7f"),
        ("STRING", BlobKey::Text("é"), "c3a9"),
        ("BYTES", BlobKey::Binary(&[0, 255]), "00ff"),
    ] {
        let key_type = BlobKeyType::of(&DataType::parse(text).unwrap()).unwrap();
        let mut out = Vec::new();
        key_type.encode(key, &mut out).unwrap();
        assert_eq!(out, hex(bytes), "{text}");
        assert_eq!(key_type.decode(&out).unwrap(), key, "{text}");
    }
    for (text, bytes) in [
        ("BOOLEAN", "02"),
        ("BOOLEAN", ""),
        ("TINYINT", "0000"),
        ("INT", "000000"),
        ("BIGINT", ""),
        ("DECIMAL(3, 0)", "e803000000000000"),
        ("DECIMAL(19, 0)", ""),
        ("DECIMAL(19, 0)", "7fffffffffffffffffff"),
        ("DECIMAL(38, 0)", "7fffffffffffffffffffffffffffffffffffffffff"),
        ("STRING", "ff"),
    ] {
        let key_type = BlobKeyType::of(&DataType::parse(text).unwrap()).unwrap();
        assert_eq!(
            key_type.decode(&hex(bytes)).unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{text}"
        );
    }
    let long = BlobKeyType::Decimal { precision: 18 };
    assert!(
        long.encode(BlobKey::Number(10i128.pow(18)), &mut Vec::new())
            .is_err()
    );
    assert!(
        BlobKeyType::Int
            .encode(BlobKey::Text("1"), &mut Vec::new())
            .is_err()
    );
    for text in ["FLOAT", "TIMESTAMP(3)", "ROW<a INT>", "BLOB"] {
        let error = BlobKeyType::of(&DataType::parse(text).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{text}");
    }
}

/// Every cut and every changed byte of a payload is an error or another layout, never a panic.
#[test]
fn elements_never_panic() {
    let array = hex("42434241010300000061626364020d0302000000");
    let map = hex("4243424d0102000000 6b76 0201 0200 02000000 02000000"
        .replace(' ', "")
        .as_str());
    for whole in [array, map] {
        for end in 0..=whole.len() {
            for at in 0..end {
                for value in [0u8, 1, 0x7f, 0x80, 0xff] {
                    let mut bytes = whole[..end].to_vec();
                    bytes[at] = value;
                    let length = bytes.len() as u64;
                    for layout in [
                        ArrayLayout::decode(&bytes, &bytes, length).map(|layout| layout.elements),
                        MapLayout::decode(&bytes, &bytes, length).map(|layout| layout.values),
                    ]
                    .into_iter()
                    .flatten()
                    {
                        assert!(layout.ranges().flatten().all(|range| range.end <= length));
                        assert!(layout.span().end <= length);
                    }
                    let _ = ArrayLayout::decode(&bytes, &[], length);
                    let _ = MapLayout::decode(&[], &bytes, u64::MAX);
                }
            }
        }
    }
}
