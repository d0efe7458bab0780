// SPDX-License-Identifier: Apache-2.0

use paimon_format::testkit::{ReadRequest, read_file, sample_batch, write_file};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TypeKind};

use crate::support::format;

#[tokio::test]
async fn dbg() {
    let storage = Storage::memory();
    let v = vec![DataField::new(
        0,
        "v",
        DataType::new(TypeKind::Vector(Box::new(DataType::new(TypeKind::Float)), 3)),
    )];
    let a = vec![DataField::new(
        0,
        "v",
        DataType::new(TypeKind::Array(Box::new(DataType::new(TypeKind::Float)))),
    )];
    let b = sample_batch(&v, 6, 1).unwrap();
    println!("{b:?}");
    write_file(
        format(&[]).as_ref(),
        &storage,
        "memory:///t/a.parquet",
        &v,
        &[b],
        "none",
    )
    .await
    .unwrap();
    let r = ReadRequest {
        fields: Some(a),
        ..Default::default()
    };
    println!(
        "{:?}",
        read_file(format(&[]).as_ref(), &storage, "memory:///t/a.parquet", &r)
            .await
            .unwrap()
    );
    let r = ReadRequest {
        fields: Some(v),
        ..Default::default()
    };
    println!(
        "{:?}",
        read_file(format(&[]).as_ref(), &storage, "memory:///t/a.parquet", &r)
            .await
            .unwrap()
    );
}
