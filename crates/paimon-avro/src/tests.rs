// SPDX-License-Identifier: Apache-2.0

#![allow(clippy::indexing_slicing)]

use paimon_types::ErrorKind;

use super::*;

const CODECS: &[&str] = &[
    "snappy",
    "zstandard",
    "deflate",
    #[cfg(feature = "bzip2")]
    "bzip2",
    #[cfg(feature = "xz")]
    "xz",
];

const LIMITS: Limits = Limits {
    depth: 32,
    weight: 10_000,
};

fn sample(compression: Compression) -> Vec<u8> {
    let schema = r#"{"type":"record","name":"r","fields":[{"name":"a","type":"long"},{"name":"b","type":["string","null"]}]}"#;
    let mut writer = ContainerWriter::new(schema, compression, *b"0123456789abcdef");
    for i in 0..20_000i64 {
        writer
            .append(|out| {
                out.long(i - 5);
                // The union stands in the other order than in our own schemas.
                out.long(0);
                out.string("text text text");
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> paimon_types::Result<Vec<(i64, Option<String>)>> {
    let mut reader = ContainerReader::open(bytes)?;
    let program = reader.program(LIMITS)?;
    let Node::Record(fields) = program.node(program.root()) else {
        return Err(paimon_types::Error::corrupt("no record"));
    };
    let mut out = Vec::new();
    reader.for_each_block(|cursor, count| {
        for _ in 0..count {
            let (mut a, mut b) = (0, None);
            for (name, id) in fields {
                match (name.as_str(), program.node(*id)) {
                    ("a", Node::Long) => a = cursor.long()?,
                    ("b", Node::Union(branches)) => {
                        let branch = usize::try_from(cursor.long()?).ok().and_then(|i| branches.get(i));
                        let branch = branch.ok_or_else(|| paimon_types::Error::corrupt("no branch"))?;
                        if *program.node(*branch) == Node::String {
                            b = Some(cursor.string()?.to_owned());
                        }
                    }
                    _ => program.skip(*id, cursor)?,
                }
            }
            out.push((a, b));
        }
        Ok(())
    })?;
    Ok(out)
}

#[test]
fn codecs_round_trip_and_apache_avro_agrees() {
    for compression in [
        Compression::None,
        Compression::Deflate,
        Compression::Snappy,
        Compression::Zstd(1),
        Compression::Zstd(19),
        #[cfg(feature = "bzip2")]
        Compression::Bzip2,
        #[cfg(feature = "xz")]
        Compression::Xz,
    ] {
        let bytes = sample(compression);
        let records = read(&bytes).unwrap();
        assert_eq!(records.len(), 20_000);
        assert_eq!(records[0], (-5, Some("text text text".to_owned())));
        assert_eq!(records[19_999].0, 19_994);
        if !["deflate", "bzip2", "xz"].contains(&compression.avro_name()) {
            assert_eq!(
                apache_avro::Reader::new(bytes.as_slice()).unwrap().count(),
                20_000
            );
        }
    }
}

#[test]
fn numbers() {
    for value in [0, -1, 1, 63, 64, -64, -65, i64::MAX, i64::MIN] {
        let mut out = Encoder::default();
        out.long(value);
        assert_eq!(Cursor::new(out.as_bytes()).long().unwrap(), value);
    }
    assert!(Cursor::new(&[0xff; 10]).long().is_err());
    assert!(Cursor::new(&[0x80; 3]).long().is_err());
    assert!(Cursor::new(&[0x7f]).length().is_err(), "negative");
    assert!(
        Cursor::new(&[0x0a, 1, 2]).bytes().is_err(),
        "longer than what is left"
    );
}

#[test]
fn every_cut_and_flip_is_an_error_or_a_value() {
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd(1)] {
        let schema = r#"{"type":"record","name":"r","fields":[{"name":"a","type":"long"},{"name":"b","type":["null","string"]}]}"#;
        let mut writer = ContainerWriter::new(schema, compression, [7; 16]);
        writer
            .append(|out| {
                out.long(1);
                out.optional(Some("x"), Encoder::string);
            })
            .unwrap();
        let bytes = writer.finish().unwrap();
        let head = ContainerWriter::new(schema, compression, [7; 16])
            .finish()
            .unwrap()
            .len();
        for cut in 0..bytes.len() {
            // A file that ends behind its header is a file without records.
            assert_eq!(read(&bytes[..cut]).is_ok(), cut == head, "cut at {cut}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = read(&damaged);
            }
        }
    }
}

#[test]
fn hostile_counts_and_schemas_are_refused() {
    let parse = |json: &str| Program::parse(json, LIMITS);
    assert!(parse("[").is_err());
    assert!(parse(r#""unknown""#).is_err());
    assert!(
        parse(r#"{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}"#).is_err(),
        "recursive"
    );
    let mut deep = r#""int""#.to_owned();
    for _ in 0..60 {
        deep = format!(r#"{{"type":"array","items":{deep}}}"#);
    }
    assert_eq!(parse(&deep).unwrap_err().kind(), ErrorKind::Unsupported);
    // Doubling named types: 2^30 nodes of zero bytes.
    let mut doubling = r#"{"type":"record","name":"r0","fields":[{"name":"a","type":"null"}]}"#.to_owned();
    for i in 1..30 {
        doubling = format!(
            r#"{{"type":"record","name":"r{i}","fields":[{{"name":"a","type":{doubling}}},{{"name":"b","type":"r{}"}}]}}"#,
            i - 1
        );
    }
    assert!(parse(&doubling).is_err());

    let program = parse(r#"{"type":"array","items":"null"}"#).unwrap();
    let mut out = Encoder::default();
    out.long(i64::MAX);
    assert!(
        program
            .skip(program.root(), &mut Cursor::new(out.as_bytes()))
            .is_err()
    );
    let mut out = Encoder::default();
    out.long(i64::MIN);
    out.long(i64::MAX);
    assert!(
        program
            .skip(program.root(), &mut Cursor::new(out.as_bytes()))
            .is_err()
    );
}

#[test]
fn other_files_are_refused_clearly() {
    let kind = |bytes: &[u8]| ContainerReader::open(bytes).unwrap_err().kind();
    assert_eq!(kind(b"PAR1"), ErrorKind::Corrupt);
    assert_eq!(kind(b""), ErrorKind::Corrupt);
    let mut head = Encoder::default();
    head.raw(b"Obj\x01");
    head.long(2);
    head.string("avro.schema");
    head.string(r#""int""#);
    head.string("avro.codec");
    head.string("lzo");
    head.long(0);
    head.raw(&[0; 16]);
    assert_eq!(kind(head.as_bytes()), ErrorKind::Unsupported);
}

#[test]
fn decompression_is_bounded() {
    for name in CODECS {
        let compression = Compression::parse(name, 1).unwrap();
        let block = compression.compress(&vec![0u8; 1 << 20]).unwrap();
        let mut small = Decompressor::new(name, 1000).unwrap();
        assert_eq!(
            small.decompress(&block).unwrap_err().kind(),
            ErrorKind::ResourcesExhausted,
            "{name}"
        );
        let mut exact = Decompressor::new(name, 1 << 20).unwrap();
        assert_eq!(exact.decompress(&block).unwrap().len(), 1 << 20, "{name}");
        assert_eq!(exact.decompress(&block).unwrap().len(), 1 << 20, "{name}, again");
    }
}

#[test]
fn logical_types_belong_to_declarations() {
    let json = r#"{"type":"record","name":"r","fields":[
        {"name":"a","type":["null",{"type":"long","logicalType":"timestamp-millis"}]},
        {"name":"b","type":{"type":"fixed","name":"f","size":4,"logicalType":"decimal","precision":9,"scale":2}},
        {"name":"c","type":{"type":"f","logicalType":"date"}},
        {"name":"d","type":{"type":"string","logicalType":"date"}},
        {"name":"e","type":{"type":"bytes","logicalType":"decimal"}},
        {"name":"f","type":{"type":"array","items":"int","logicalType":"map"}}]}"#;
    let program = Program::parse(json, LIMITS).unwrap();
    let Node::Record(fields) = program.node(program.root()) else {
        panic!()
    };
    let decimal = Some(Logical::Decimal {
        precision: 9,
        scale: 2,
    });
    let found: Vec<_> = fields.iter().map(|(_, id)| program.logical(*id)).collect();
    assert_eq!(found, [None, decimal, decimal, None, None, Some(Logical::Map)]);
    let Node::Union(branches) = program.node(fields[0].1) else {
        panic!()
    };
    assert_eq!(program.logical(branches[1]), Some(Logical::Timestamp(1000)));
}

#[test]
fn big_numbers() {
    let values = [
        0,
        1,
        -1,
        127,
        128,
        -128,
        -129,
        255,
        256,
        i128::from(i64::MIN),
        i128::MAX,
        i128::MIN,
    ];
    for value in values {
        let mut out = Encoder::default();
        out.decimal(value);
        let mut cursor = Cursor::new(out.as_bytes());
        let len = cursor.length().unwrap();
        assert_eq!(cursor.big_endian(len).unwrap(), Some(value));
    }
    let number = |bytes: &[u8]| Cursor::new(bytes).big_endian(bytes.len()).unwrap();
    let mut out = Encoder::default();
    out.decimal(-128);
    assert_eq!(out.as_bytes(), [2, 0x80]);
    assert_eq!(number(&[]), Some(0));
    assert_eq!(number(&[0; 40]), Some(0));
    assert_eq!(number(&[0xff; 40]), Some(-1));
    let mut long = [0xff; 17];
    long[1] = 0x7f;
    assert_eq!(number(&long), None);
    assert_eq!(number(&[1; 17]), None);
}

#[test]
fn numbers_of_every_length_are_read_and_skipped_alike() {
    let edges = (0..64).flat_map(|bits| {
        let edge = 1i64.wrapping_shl(bits);
        [
            edge,
            edge.wrapping_sub(1),
            edge.wrapping_neg(),
            edge.wrapping_add(1).wrapping_neg(),
        ]
    });
    for value in edges.chain([i64::MIN, i64::MAX, 0x0123_4567_89ab_cdef]) {
        let mut out = Encoder::default();
        out.long(value);
        let length = out.as_bytes().len();
        // With few and many bytes behind it, of either kind.
        for behind in [
            &[][..],
            &[0x00; 3],
            &[0xff; 9],
            &[0x80, 0x01, 0x80, 0x01, 0x80, 0x01, 0x80, 0x01],
        ] {
            let bytes = [out.as_bytes(), behind].concat();
            let (mut read, mut skipped) = (Cursor::new(&bytes), Cursor::new(&bytes));
            assert_eq!(read.long().unwrap(), value);
            skipped.skip_long().unwrap();
            assert_eq!((read.position(), skipped.position()), (length, length), "{value}");
        }
        for cut in 0..length {
            let bytes = &out.as_bytes()[..cut];
            assert!(Cursor::new(bytes).long().is_err());
            assert!(Cursor::new(bytes).skip_long().is_err());
        }
    }
    assert!(Cursor::new(&[0xff; 20]).skip_long().is_err());
}

#[test]
fn records_are_skipped_whole() {
    let schema = r#"{"type":"record","name":"r","fields":[
        {"name":"a","type":"double"},{"name":"b","type":"float"},{"name":"c","type":"boolean"},
        {"name":"d","type":["null","long"]},{"name":"e","type":["string","null"]},
        {"name":"f","type":["null","long","string"]},
        {"name":"g","type":{"type":"record","name":"inner","fields":[
            {"name":"x","type":{"type":"fixed","name":"three","size":3}},{"name":"y","type":["null","three"]}]}},
        {"name":"h","type":["null",{"type":"array","items":"inner"}]},
        {"name":"i","type":{"type":"map","values":["null","int"]}},{"name":"j","type":"null"}]}"#;
    let program = Program::parse(schema, LIMITS).unwrap();
    let mut out = Encoder::default();
    let record = |out: &mut Encoder, full: bool| {
        out.raw(&1.5f64.to_le_bytes());
        out.raw(&1.5f32.to_le_bytes());
        out.raw(&[1]);
        out.long(i64::from(full));
        if full {
            out.long(1 << 40);
        }
        out.long(i64::from(!full));
        if full {
            out.string("text");
        }
        out.long(2);
        out.string("third");
        let inner = |out: &mut Encoder| {
            out.raw(b"abc");
            out.long(i64::from(full));
            if full {
                out.raw(b"def");
            }
        };
        inner(out);
        out.long(i64::from(full));
        if full {
            out.long(2);
            inner(out);
            inner(out);
            out.long(0);
        }
        out.long(1);
        out.string("key");
        out.long(i64::from(full));
        if full {
            out.long(-7);
        }
        out.long(0);
    };
    for full in [true, false, true] {
        record(&mut out, full);
    }
    let bytes = out.as_bytes();
    let mut cursor = Cursor::new(bytes);
    for _ in 0..3 {
        program.skip(program.root(), &mut cursor).unwrap();
    }
    assert_eq!(cursor.remaining(), 0);
    for cut in 0..bytes.len() {
        let mut cursor = Cursor::new(&bytes[..cut]);
        let skipped = (0..3).try_for_each(|_| program.skip(program.root(), &mut cursor));
        assert!(skipped.is_err(), "{cut}");
    }
}

#[test]
fn numbers_of_every_length() {
    let mut expected = Vec::new();
    let mut encoder = Encoder::default();
    let mut values = vec![0, i64::MIN, i64::MAX];
    for bits in 0..63 {
        for near in [-1, 0, 1] {
            values.extend([(1i64 << bits) + near, -(1i64 << bits) + near]);
        }
    }
    for value in &values {
        encoder.long(*value);
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        while rest > 0x7f {
            expected.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        expected.push(rest as u8);
    }
    let bytes = encoder.into_bytes();
    assert_eq!(bytes, expected);
    let mut cursor = Cursor::new(&bytes);
    let mut skipped = Cursor::new(&bytes);
    for value in &values {
        assert_eq!(cursor.long().unwrap(), *value);
        skipped.skip_long().unwrap();
        assert_eq!(skipped.position(), cursor.position());
    }
    assert_eq!(cursor.remaining(), 0);
}
