// SPDX-License-Identifier: Apache-2.0

use paimon_format::testkit::{
    ReadRequest, all_type_fields, check_format, read_file, sample_batch, write_file,
};
use paimon_storage::Storage;

use crate::support::{format, joined};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    check_format(format(&[]).as_ref(), &Storage::default(), dir, &all_type_fields())
        .await
        .unwrap();
}

#[tokio::test]
async fn suite_on_remote_store_with_small_row_groups() {
    let format = format(&[
        ("parquet.block.row.count.limit", "333"),
        ("parquet.page.row.count.limit", "50"),
    ]);
    check_format(
        format.as_ref(),
        &Storage::memory(),
        "memory:///t",
        &all_type_fields(),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn every_compression_and_page_version() {
    let storage = Storage::memory();
    let fields = all_type_fields();
    let batch = sample_batch(&fields, 3000, 5).unwrap();
    for version in ["v1", "v2"] {
        for dictionary in ["true", "false"] {
            let format = format(&[
                ("parquet.writer.version", version),
                ("parquet.enable.dictionary", dictionary),
            ]);
            for compression in ["none", "snappy", "gzip", "lz4", "lz4_raw", "zstd", "ZSTD"] {
                let path = format!("memory:///t/{version}-{dictionary}-{compression}.parquet");
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
                assert_eq!(joined(&fields, &read), batch, "{path}");
            }
        }
    }
    let out = storage.open_output("memory:///t/x.parquet").await.unwrap();
    let builder = format(&[]).create_writer_builder(&fields, 10).unwrap();
    let error = builder.build(out, "brotli").err().unwrap();
    assert!(error.to_string().contains("\"brotli\""), "{error}");
}
