// SPDX-License-Identifier: Apache-2.0

use paimon_format::testkit::{
    check_format, check_push_down, open, push_down_fields, read_file, sample_batch, write_file,
};
use paimon_storage::Storage;

use crate::support::{avro_fields, format, joined, request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_on_local_disk() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_str().unwrap();
    check_format(format(&[]).as_ref(), &Storage::default(), dir, &avro_fields())
        .await
        .unwrap();
}

#[tokio::test]
async fn suite_on_remote_store() {
    check_format(
        format(&[("avro.codec", "zstandard")]).as_ref(),
        &Storage::memory(),
        "memory:///t",
        &avro_fields(),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn every_compression() {
    let storage = Storage::memory();
    let fields = avro_fields();
    let batch = sample_batch(&fields, 3000, 5).unwrap();
    let format = format(&[]);
    for compression in [
        "none",
        "null",
        "snappy",
        "deflate",
        "zstd",
        "ZSTD",
        "zstandard",
        "bzip2",
        "xz",
    ] {
        let path = format!("memory:///t/{compression}.avro");
        let batches = [batch.clone()];
        write_file(format.as_ref(), &storage, &path, &fields, &batches, compression)
            .await
            .unwrap();
        let (read, _) = read_file(format.as_ref(), &storage, &path, &request(&fields))
            .await
            .unwrap();
        assert_eq!(joined(&fields, &read), batch, "{path}");
    }
    let out = storage.open_output("memory:///t/x.avro").await.unwrap();
    let builder = format.create_writer_builder(&fields, 10).unwrap();
    let error = builder.build(out, "brotli").err().unwrap();
    assert!(error.to_string().contains("brotli"), "{error}");
}

#[tokio::test]
async fn the_file_tells_its_columns() {
    let storage = Storage::memory();
    let path = "memory:///t/x.avro";
    let fields = avro_fields();
    let batch = sample_batch(&fields, 100, 5).unwrap();
    let format = format(&[]);
    write_file(format.as_ref(), &storage, path, &fields, &[batch], "zstd")
        .await
        .unwrap();
    let mut reader = open(format.as_ref(), &storage, path, 10).await.unwrap();
    let schema = reader.file_schema().unwrap();
    for (field, found) in fields.iter().zip(schema.fields()) {
        assert_eq!(&field.name, found.name());
        assert_eq!(field.data_type.nullable, found.is_nullable(), "{}", field.name);
        assert!(found.metadata().is_empty(), "{found:?}");
    }
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await.unwrap() {
        assert_eq!(batch.num_columns(), fields.len());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 100);
    assert_eq!(reader.number_of_rows().unwrap(), 100);
    assert!(
        reader
            .metrics()
            .get("avro.read.blocks")
            .is_some_and(|blocks| blocks > 0)
    );
}

/// Avro prunes nothing, but takes predicates with selections and projections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_down_of_every_type() {
    let format = format(&[]);
    let mut fields = push_down_fields();
    fields.retain(|field| {
        let one = std::slice::from_ref(field);
        format.create_writer_builder(one, 1).is_ok()
    });
    assert!(fields.len() > 20);
    let local = tempfile::tempdir().unwrap();
    let local = (Storage::default(), local.path().to_str().unwrap());
    for (storage, dir) in [local, (Storage::memory(), "memory:///t")] {
        let (read, selected) = check_push_down(format.as_ref(), &storage, dir, &fields, 1200, 1, 60)
            .await
            .unwrap();
        assert_eq!(read, selected);
    }
}
