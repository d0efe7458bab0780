// SPDX-License-Identifier: Apache-2.0

//! Damaged and hostile files: an error that names file and format, or rows; no panic, no memory without end.

use paimon_avro::Encoder;
use paimon_format::testkit::sample_batch;
use paimon_types::ErrorKind;

use crate::support::{avro_fields, bytes_of, fields, format, read_bytes, request};

/// A file of one schema and one block.
pub(crate) fn file(schema: &str, records: i64, write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut data = Encoder::default();
    write(&mut data);
    let mut out = Encoder::default();
    out.raw(b"Obj\x01");
    out.long(1);
    out.string("avro.schema");
    out.string(schema);
    out.long(0);
    out.raw(&[7; 16]);
    out.long(records);
    out.bytes(data.as_bytes());
    out.raw(&[7; 16]);
    out.into_bytes()
}

#[tokio::test]
async fn every_cut_is_an_error() {
    let fields = avro_fields();
    let batch = sample_batch(&fields, 3, 5).unwrap();
    for compression in ["none", "snappy", "zstd", "deflate", "bzip2", "xz"] {
        let bytes = bytes_of(format(&[]).as_ref(), &fields, &batch, compression).await;
        let header = bytes_of(format(&[]).as_ref(), &fields, &batch.slice(0, 0), compression).await;
        for cut in 0..bytes.len() {
            let read = read_bytes(bytes[..cut].to_vec(), &request(&fields)).await;
            if cut == header.len() {
                // A file that ends behind its header is a file without rows.
                assert!(read.unwrap().is_empty());
                continue;
            }
            let error = read.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{cut}: {error}");
            let text = error.to_string();
            assert!(text.contains("x.avro") && text.contains("avro"), "{text}");
        }
    }
}

#[tokio::test]
async fn flipped_bits_are_errors_or_rows() {
    let fields = avro_fields();
    let batch = sample_batch(&fields, 4, 9).unwrap();
    for compression in ["none", "zstd", "snappy"] {
        let bytes = bytes_of(format(&[]).as_ref(), &fields, &batch, compression).await;
        for at in (0..bytes.len()).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at / 3 % 8);
            for request in [request(&fields), Default::default()] {
                if let Err(error) = read_bytes(damaged.clone(), &request).await {
                    assert!(error.to_string().contains("x.avro"), "{error}");
                    assert!(!error.to_string().contains("panic"), "{error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn hostile_counts_are_refused() {
    let one =
        |text: &str| format!(r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{text}}}]}}"#);
    let kind = async |bytes: Vec<u8>, row: &str| {
        let read = read_bytes(bytes, &request(&fields(row))).await;
        read.err().map(|e| e.kind())
    };
    let corrupt = Some(ErrorKind::Corrupt);
    // More records than bytes, rows without bytes.
    assert_eq!(
        kind(file(&one(r#""int""#), i64::MAX, |out| out.int(1)), "ROW<a INT>").await,
        corrupt
    );
    assert_eq!(
        kind(file(&one(r#""null""#), i64::MAX, |_| {}), "ROW<a INT>").await,
        corrupt
    );
    assert_eq!(kind(file(&one(r#""null""#), 5, |_| {}), "ROW<a INT>").await, None);
    assert_eq!(
        kind(file(&one(r#""int""#), -1, |out| out.int(1)), "ROW<a INT>").await,
        corrupt
    );
    // Bytes behind the last record, fewer bytes than records.
    assert_eq!(
        kind(file(&one(r#""int""#), 1, |out| out.raw(&[2, 2])), "ROW<a INT>").await,
        corrupt
    );
    assert_eq!(
        kind(file(&one(r#""int""#), 2, |out| out.raw(&[0xff, 2])), "ROW<a INT>").await,
        corrupt
    );
    // Arrays of nothing, arrays longer than the data, blocks whose size is wrong.
    let array = one(r#"{"type":"array","items":"null"}"#);
    assert_eq!(
        kind(file(&array, 1, |out| out.long(i64::MAX)), "ROW<a ARRAY<INT>>").await,
        corrupt
    );
    let array = one(r#"{"type":"array","items":"int"}"#);
    assert_eq!(
        kind(file(&array, 1, |out| out.long(1 << 40)), "ROW<a ARRAY<INT>>").await,
        corrupt
    );
    let sized = |size: i64| {
        file(&array, 1, |out| {
            out.long(-2);
            out.long(size);
            out.raw(&[2, 4, 0]);
        })
    };
    assert_eq!(kind(sized(2), "ROW<a ARRAY<INT>>").await, None);
    assert_eq!(kind(sized(1), "ROW<a ARRAY<INT>>").await, corrupt);
    // One byte each, but a hundred thousand floats.
    let vectors = one(r#"{"type":"array","items":["null",{"type":"array","items":"float"}]}"#);
    let bytes = file(&vectors, 1, |out| {
        out.long(1 << 20);
        out.raw(&vec![0; 1 << 20]);
        out.long(0);
    });
    let exhausted = Some(ErrorKind::ResourcesExhausted);
    assert_eq!(
        kind(bytes, "ROW<a ARRAY<VECTOR<FLOAT, 100000>>>").await,
        exhausted
    );
    // Not a record, a type that contains itself, branches that do not exist.
    assert_eq!(
        kind(file(r#""int""#, 1, |out| out.int(1)), "ROW<a INT>").await,
        Some(ErrorKind::Unsupported)
    );
    let own = r#"{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}"#;
    assert_eq!(
        kind(file(own, 1, |out| out.int(0)), "ROW<a INT>").await,
        Some(ErrorKind::Unsupported)
    );
    let nullable = one(r#"["null","int"]"#);
    assert_eq!(
        kind(file(&nullable, 1, |out| out.long(2)), "ROW<a INT>").await,
        corrupt
    );
    assert_eq!(
        kind(file(&nullable, 1, |out| out.long(0)), "ROW<a INT NOT NULL>").await,
        corrupt
    );
    assert_eq!(
        kind(
            file(&one(r#""boolean""#), 1, |out| out.raw(&[2])),
            "ROW<a BOOLEAN>"
        )
        .await,
        corrupt
    );
    let text = file(&one(r#""string""#), 1, |out| out.bytes(&[0xff, 0xfe]));
    assert_eq!(kind(text, "ROW<a STRING>").await, corrupt);
    let codec = file(&one(r#""int""#), 1, |out| out.int(1));
    let mut unknown = Encoder::default();
    unknown.raw(&codec[..4]);
    unknown.long(2);
    unknown.string("avro.codec");
    unknown.string("lzo");
    unknown.raw(&codec[5..]);
    let error = read_bytes(unknown.into_bytes(), &request(&fields("ROW<a INT>")))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("lzo"), "{error}");
}
