// SPDX-License-Identifier: Apache-2.0

//! Writing tables with a primary key through the facade.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use paimon::{ErrorKind, NewTable, Storage, Table};
use paimon_testkit::read_lines;

use crate::support::definition;

async fn table(columns: &[(&str, &str)], options: &[(&str, &str)]) -> Table {
    let definition = NewTable {
        primary_keys: vec!["id".to_owned()],
        ..definition(columns, &[], options)
    };
    Table::create(Storage::memory(), "memory://w/t", definition)
        .await
        .unwrap()
}

fn rows(ids: Vec<Option<i32>>, v: i32) -> RecordBatch {
    let count = ids.len();
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int32Array::from(ids))),
        ("v", Arc::new(Int32Array::from(vec![v; count]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

/// Key columns are NOT NULL, whatever their definition says, unless the table wants it otherwise (Java `Schema`,
/// `TableWriteImpl.checkNullability`): NULL is then a key like any other, the first one.
#[tokio::test]
async fn null_in_a_key() {
    let columns = [("id", "INT"), ("v", "INT")];
    let strict = table(&columns, &[("bucket", "2")]).await;
    assert!(!strict.field("id").unwrap().data_type.nullable);
    let mut writer = strict.write().await.unwrap();
    let error = writer.write(&rows(vec![Some(1), None], 1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("NULL in row 1"), "{error}");
    // nothing of the batch was taken
    writer.write(&rows(vec![Some(2)], 1)).await.unwrap();
    writer.commit().await.unwrap();
    assert_eq!(
        read_lines(&strict.read()).await.unwrap(),
        [r#"{"id": 2, "v": 1}"#]
    );

    for buffer in ["1 b", "1 mb"] {
        let options = [
            ("bucket", "1"),
            ("primary-key.nullable", "true"),
            ("write-buffer-size", buffer),
        ];
        let nullable = table(&columns, &options).await;
        for round in 0..2 {
            let mut writer = nullable.write().await.unwrap();
            for v in 0..3 {
                let batch = rows(vec![Some(1), None, Some(-1), None], round * 10 + v);
                writer.write(&batch).await.unwrap();
            }
            writer.commit().await.unwrap();
            let v = round * 10 + 2;
            let expected = ["null", "-1", "1"].map(|id| format!("{{\"id\": {id}, \"v\": {v}}}"));
            let (_, batches) = nullable.read().to_batches().await.unwrap();
            let fields = &nullable.schema().fields;
            assert_eq!(paimon_testkit::json_lines(fields, &batches), expected);
        }
    }
}

/// The system table `$ro` is refused when the writer is made, not when rows are committed.
#[tokio::test]
async fn the_read_optimized_table_takes_no_writer() {
    let dir = tempfile::tempdir().unwrap();
    let location = dir.path().join("db.db/t").to_str().unwrap().to_owned();
    let definition = NewTable {
        primary_keys: vec!["id".to_owned()],
        ..definition(&[("id", "INT"), ("v", "INT")], &[], &[("bucket", "1")])
    };
    let table = Table::create(Storage::default(), &location, definition)
        .await
        .unwrap();
    table.new_write().await.unwrap();
    let read_optimized = Table::open(&format!("{location}$ro")).await.unwrap();
    assert!(read_optimized.meta().is_read_optimized());
    for error in [
        read_optimized.write().await.unwrap_err(),
        read_optimized.new_write().await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("$ro is a view"), "{error}");
    }
}
