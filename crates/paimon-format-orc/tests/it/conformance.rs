// SPDX-License-Identifier: Apache-2.0

use paimon_format::FileFormat;
use paimon_format::testkit::{
    ReadRequest, all_type_fields, check_format, read_file, sample_batch, write_file,
};
use paimon_storage::Storage;
use paimon_types::{DataField, TypeKind};

use crate::support::{assert_same, format, joined};

/// Every type but those that ORC has none for, and CHAR, which loses blanks at its end.
fn fields(format: &dyn FileFormat) -> Vec<DataField> {
    let fields: Vec<DataField> = all_type_fields()
        .into_iter()
        .filter(|field| !matches!(field.data_type.kind, TypeKind::Char(_)))
        .filter(|field| {
            format
                .create_writer_builder(std::slice::from_ref(field), 10)
                .is_ok()
        })
        .collect();
    assert!(fields.len() > 15);
    fields
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    let format = format(&[]);
    let fields = fields(format.as_ref());
    check_format(format.as_ref(), &Storage::default(), dir, &fields)
        .await
        .unwrap();
}

#[tokio::test]
async fn suite_on_remote_store_with_small_stripes_and_row_groups() {
    let format = format(&[
        ("orc.row.index.stride", "1000"),
        ("orc.stripe.size", "65536"),
        ("orc.compress.size", "4096"),
    ]);
    let fields = fields(format.as_ref());
    check_format(format.as_ref(), &Storage::memory(), "memory:///t", &fields)
        .await
        .unwrap();
}

#[tokio::test]
async fn every_compression() {
    let storage = Storage::memory();
    for dictionary in ["0", "1"] {
        for compression in ["none", "zlib", "snappy", "lz4", "zstd", "ZSTD"] {
            let format = format(&[
                ("orc.dictionary.key.threshold", dictionary),
                ("orc.compress.size", "1024"),
            ]);
            let fields = fields(format.as_ref());
            let batch = sample_batch(&fields, 3000, 5).unwrap();
            let path = format!("memory:///t/{dictionary}-{compression}.orc");
            let batches = [batch.clone()];
            write_file(format.as_ref(), &storage, &path, &fields, &batches, compression)
                .await
                .unwrap();
            let request = ReadRequest {
                fields: Some(fields.clone()),
                ..ReadRequest::default()
            };
            let (read, _) = read_file(format.as_ref(), &storage, &path, &request)
                .await
                .unwrap();
            assert_same(&joined(&fields, &read), &batch, &path);
        }
    }
}
