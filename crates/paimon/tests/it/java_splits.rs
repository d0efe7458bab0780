// SPDX-License-Identifier: Apache-2.0

//! Split bytes of Java: the rows of a table come out without planning it.

use std::sync::Arc;

use futures_util::TryStreamExt;
use paimon::protocol::Split;
use paimon::{DataSplit, ErrorKind, Table, TableRead};
use paimon_testkit::{Fixture, Selector, fixtures, json_lines, sorted};

/// The split in the bytes, its paths as they are here; also checks that the bytes are made again.
fn decode(fixture: &Fixture, bytes: &[u8]) -> DataSplit {
    let (split, encoding) = Split::from_java_bytes(bytes).unwrap();
    assert_eq!(Some(encoding.version), fixture.split_version, "{}", fixture.path);
    assert_eq!(split.to_java_bytes(encoding).unwrap(), bytes, "{}", fixture.path);
    let Split::Data(mut split) = split else {
        panic!("{}: a split of kind {}", fixture.path, split.kind())
    };
    split.bucket_path = fixture.localized(&split.bucket_path);
    for deletion in split.deletion_files.iter_mut().flatten().flatten() {
        deletion.path = fixture.localized(&deletion.path);
    }
    split
}

/// The table with the columns that the selector reads; the options are those of today.
async fn open(fixture: &Fixture, selector: &Selector) -> Table {
    let table = fixture.open(selector, &[]).await.unwrap();
    let Some(at) = &selector.at else { return table };
    let (_, schema) = table.scan().at(at.clone()).target().await.unwrap();
    let mut schema = (*schema).clone();
    schema.options = table.schema().options.clone();
    Table::from_meta(table.meta().with_schema(Arc::new(schema)).unwrap())
}

#[tokio::test]
async fn splits_of_java_read_equal() {
    let mut splits_read = 0;
    let by_key = ["later/primary-key", "later/deletion-vectors"];
    let read_now = |f: &&Fixture| !f.is_pending() || by_key.contains(&f.path.as_str());
    for fixture in fixtures().iter().filter(read_now) {
        for selector in fixture.selectors() {
            let Some(bytes) = fixture.split_bytes(&selector) else {
                continue;
            };
            let what = format!("{} {}", fixture.path, selector.name);
            let splits: Vec<DataSplit> = bytes.iter().map(|b| decode(fixture, b)).collect();
            splits_read += splits.len();
            let table = open(fixture, &selector).await;
            let read = TableRead::builder(table.split_context().unwrap())
                .build()
                .unwrap();
            let mut lines = Vec::new();
            for split in splits {
                let batches: Vec<_> = read
                    .read(split)
                    .try_collect()
                    .await
                    .unwrap_or_else(|e| panic!("{what}: {e:?}"));
                lines.extend(json_lines(&table.schema().fields, &batches));
            }
            assert_eq!(
                fixture.comparable(sorted(lines)),
                fixture.comparable(selector.expected()),
                "{what}"
            );
        }
    }
    assert!(splits_read > 300, "only {splits_read} splits");
}

#[test]
fn case_62_an_unknown_split_version_is_named() {
    let fixture = paimon_testkit::fixture("basic/unpartitioned");
    let bytes = fixture
        .split_bytes(&fixture.selector("latest"))
        .unwrap()
        .remove(0);
    let version = fixture.split_version.unwrap().to_be_bytes();
    let at = bytes.windows(4).position(|w| w == version).unwrap();
    for unknown in [10, 99, i32::MAX] {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&i32::to_be_bytes(unknown));
        let err = DataSplit::from_java_bytes(&changed).unwrap_err();
        assert!(
            err.kind() == ErrorKind::Unsupported && err.message().contains(&unknown.to_string()),
            "{err}"
        );
    }
}
