// SPDX-License-Identifier: Apache-2.0

//! Writers go on with the buckets that are there.

use paimon::ErrorKind;

use crate::support::*;

const COLUMNS: [(&str, &str); 2] = [("id", "INT"), ("p", "INT")];

#[tokio::test]
async fn another_bucket_count_is_refused_before_anything_is_written() {
    let table = create(&COLUMNS, &["p"], &[("bucket", "2"), ("bucket-key", "id")]).await;
    append(&table, &[("id", ints(0..20)), ("p", ints([1; 20]))]).await;
    let altered = alter(&table, |schema| {
        schema.options.insert("bucket".into(), "4".into());
    })
    .await;
    let error = try_append(&altered, &[("id", ints(0..20)), ("p", ints([1; 20]))])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let expected = "the partition was written with 2 buckets, the table now has 4";
    assert!(error.message().starts_with(expected), "{error}");
    // A partition that is new has the new count; the old one is rescaled by an overwrite.
    append(&altered, &[("id", ints(0..20)), ("p", ints([2; 20]))]).await;
    let mut writer = altered.write().await.unwrap().overwrite(None);
    writer
        .write(&batch(&altered, &[("id", ints(100..140)), ("p", ints([1; 40]))]))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    append(&altered, &[("id", ints(0..20)), ("p", ints([1; 20]))]).await;
    assert_eq!(rows(&altered).await.len(), 80);
    let states = altered.meta().new_write_restore().plan().await.unwrap();
    assert!(states.len() > 4 && states.iter().all(|state| state.total_buckets == Some(4)));
}

#[tokio::test]
async fn rows_go_on_with_the_sequence_numbers() {
    let table = create(&COLUMNS, &["p"], &[("bucket", "1"), ("bucket-key", "id")]).await;
    for _ in 0..3 {
        append(&table, &[("id", ints(0..10)), ("p", ints([1; 10]))]).await;
    }
    let restore = table.meta().new_write_restore().with_data_files();
    let states = restore.plan().await.unwrap();
    let numbers: Vec<_> = states[0]
        .data_files
        .as_ref()
        .unwrap()
        .iter()
        .map(|f| f.min_sequence_number)
        .collect();
    assert_eq!((states.len(), states[0].max_sequence_number), (1, Some(29)));
    assert_eq!(numbers, [0, 10, 20]);
}
