// SPDX-License-Identifier: Apache-2.0

use paimon_types::ErrorKind;

use super::*;

fn sample(compression: ManifestCompression) -> Vec<u8> {
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
    let program = reader.program()?;
    let wanted: [Wanted<u8>; 2] = [
        ("b", 1, Kind::Text, Presence::Required),
        ("a", 0, Kind::Integer, Presence::Required),
    ];
    let layout = Layout::bind(&program, program.root(), &wanted)?;
    let mut out = Vec::new();
    reader.for_each_block(|cursor, count| {
        for _ in 0..count {
            let (mut a, mut b) = (0, None);
            layout.read(&program, cursor, |key, access, c| {
                match key {
                    0 => a = access.long(c)?.unwrap_or_default(),
                    _ => b = access.string(c)?.map(str::to_owned),
                }
                Ok(())
            })?;
            out.push((a, b));
        }
        Ok(())
    })?;
    Ok(out)
}

#[test]
fn codecs_round_trip_and_apache_avro_agrees() {
    for compression in [
        ManifestCompression::None,
        ManifestCompression::Deflate,
        ManifestCompression::Snappy,
        ManifestCompression::Zstd(1),
        ManifestCompression::Zstd(19),
    ] {
        let bytes = sample(compression);
        let records = read(&bytes).unwrap();
        assert_eq!(records.len(), 20_000);
        assert_eq!(records[0], (-5, Some("text text text".to_owned())));
        assert_eq!(records[19_999].0, 19_994);
        if compression != ManifestCompression::Deflate {
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
    for compression in [
        ManifestCompression::None,
        ManifestCompression::Snappy,
        ManifestCompression::Zstd(1),
    ] {
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
    let parse = |json: &str| Program::parse(json);
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
    assert_eq!(kind(b"ORC\x00\x01"), ErrorKind::Unsupported);
    assert_eq!(kind(b"PAR1"), ErrorKind::Corrupt);
    assert_eq!(kind(b""), ErrorKind::Corrupt);
    let mut head = Encoder::default();
    head.raw(b"Obj\x01");
    head.long(2);
    head.string("avro.schema");
    head.string(r#""int""#);
    head.string("avro.codec");
    head.string("xz");
    head.long(0);
    head.raw(&[0; 16]);
    assert_eq!(kind(head.as_bytes()), ErrorKind::Unsupported);
}

#[test]
fn decompression_is_bounded() {
    for name in ["snappy", "zstandard", "deflate"] {
        let compression = ManifestCompression::parse(name, 1).unwrap();
        let block = compression.compress(&vec![0u8; 1 << 20]).unwrap();
        let mut small = super::compression::Decompressor::new(name, 1000).unwrap();
        assert_eq!(
            small.decompress(&block).unwrap_err().kind(),
            ErrorKind::ResourcesExhausted,
            "{name}"
        );
        let mut exact = super::compression::Decompressor::new(name, 1 << 20).unwrap();
        assert_eq!(exact.decompress(&block).unwrap().len(), 1 << 20, "{name}");
        assert_eq!(exact.decompress(&block).unwrap().len(), 1 << 20, "{name}, again");
    }
}
