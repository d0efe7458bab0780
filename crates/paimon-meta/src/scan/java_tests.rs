// SPDX-License-Identifier: Apache-2.0

//! Plans of tables that Java wrote.

use std::collections::BTreeSet;
use std::sync::Arc;

use paimon_format::FormatRegistry;
use paimon_format_orc::OrcFormatFactory;
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use super::TableScan;
use crate::Table;
use crate::manifest::java_tests::conformance;

/// Append tables of Java: as many rows as Java reads, in files that exist. What cannot be planned says so.
#[tokio::test]
async fn tables_of_java() {
    let Some(dir) = conformance() else { return };
    let (mut planned, mut counted) = (BTreeSet::new(), 0);
    for format in std::fs::read_dir(dir.join("tables")).unwrap().flatten() {
        for table_dir in std::fs::read_dir(format.path()).unwrap().flatten() {
            let name = format!(
                "{}/{}",
                format.file_name().to_string_lossy(),
                table_dir.file_name().to_string_lossy()
            );
            let location = table_dir.path().to_string_lossy().into_owned();
            let Ok(expected) = std::fs::read_dir(dir.join("expected").join(&name)) else {
                continue;
            };
            for rows in expected.flatten() {
                let selector = rows
                    .file_name()
                    .to_string_lossy()
                    .trim_end_matches(".jsonl")
                    .to_owned();
                let scan = java_scan(&location, &selector).await;
                let plan = match scan.plan().await {
                    Ok(plan) => plan,
                    Err(e) => {
                        assert_eq!(e.kind(), ErrorKind::Unsupported, "{name} {selector}: {e}");
                        continue;
                    }
                };
                let lines = std::fs::read_to_string(rows.path()).unwrap().lines().count();
                let rows = plan.live_row_count();
                assert_eq!(rows.unwrap_or(lines as i64), lines as i64, "{name} {selector}");
                counted += usize::from(rows.is_some());
                for split in &plan.splits {
                    for file in &split.data_files {
                        let path = split.data_file_path(file);
                        assert!(Storage::default().exists(&path).await.unwrap(), "{path}");
                    }
                    let bytes = split.to_java_bytes(9).unwrap();
                    assert_eq!(
                        &paimon_protocol::DataSplit::from_java_bytes(&bytes).unwrap().0,
                        split
                    );
                }
                planned.insert(name.clone());
            }
        }
    }
    assert!(planned.len() >= 40 && counted >= 100, "{counted} of {planned:?}");
}

/// Splits that Java planned and wrote down, of tables with primary keys: each is one of ours, field by field.
#[tokio::test]
async fn splits_of_java() {
    let Some(dir) = conformance() else { return };
    let mut compared = BTreeSet::new();
    for format in ["orc", "parquet", "avro"] {
        let Ok(tables) = std::fs::read_dir(dir.join("wire").join(format)) else {
            continue;
        };
        for wire in tables.flatten() {
            let table = wire.file_name().to_string_lossy().into_owned();
            let Ok(splits) = std::fs::read_dir(wire.path().join("data-splits")) else {
                continue;
            };
            if !table.starts_with("pk") {
                continue;
            }
            for file in splits.flatten() {
                let name = format!("{format}/{table} {}", file.file_name().to_string_lossy());
                let bytes = std::fs::read(file.path()).unwrap();
                let (java, _) = paimon_protocol::DataSplit::from_java_bytes(&bytes).unwrap();
                let location = dir.join("tables").join(format).join(&table);
                let scan = java_scan(
                    &location.to_string_lossy(),
                    &format!("snapshot-{}", java.snapshot_id),
                )
                .await;
                let ours = match scan.plan().await {
                    Ok(plan) => plan.splits,
                    Err(e) => panic!("{name}: {e}"),
                };
                let mut java = comparable(java, &table);
                // Old splits do not tell it.
                if java.total_buckets.is_none() {
                    java.total_buckets = ours.first().and_then(|split| split.total_buckets);
                }
                let ours: Vec<_> = ours.into_iter().map(|split| comparable(split, &table)).collect();
                assert!(ours.contains(&java), "{name}:\n{java:#?}\n{ours:#?}");
                compared.insert(name);
            }
        }
    }
    assert!(!compared.is_empty(), "{compared:?}");
}

/// A split with paths below the table only.
fn comparable(mut split: paimon_protocol::DataSplit, table: &str) -> paimon_protocol::DataSplit {
    let below = |path: &str| {
        let (_, below) = path.rsplit_once(&format!("/{table}/")).unwrap_or(("", path));
        below.trim_end_matches('/').to_owned()
    };
    split.bucket_path = below(&split.bucket_path);
    for deletion in split.deletion_files.iter_mut().flatten().flatten() {
        deletion.path = below(&deletion.path);
    }
    split
}

/// The tables of `testdata/java`: our plan is Java's plan, split by split, file by file, field by field.
#[tokio::test]
async fn plans_equal_those_of_java() {
    let root = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/java");
    let (mut plans, mut refused) = (0, BTreeSet::new());
    for feature in std::fs::read_dir(&root)
        .unwrap()
        .flatten()
        .filter(|f| f.path().is_dir())
    {
        for dir in std::fs::read_dir(feature.path()).unwrap().flatten() {
            let location = dir.path().join("table").to_string_lossy().into_owned();
            let Ok(expected) = std::fs::read_dir(dir.path().join("expected")) else {
                continue;
            };
            for rows in expected.flatten() {
                let selector = rows
                    .file_name()
                    .to_string_lossy()
                    .trim_end_matches(".jsonl")
                    .to_owned();
                let name = format!("{} {selector}", dir.path().display());
                let plan = match java_scan(&location, &selector).await.plan().await {
                    Ok(plan) => plan,
                    Err(e) => {
                        assert_eq!(e.kind(), ErrorKind::Unsupported, "{name}: {e}");
                        refused.insert(name);
                        continue;
                    }
                };
                let lines = std::fs::read_to_string(rows.path()).unwrap().lines().count();
                if let Some(rows) = plan.live_row_count() {
                    assert_eq!(rows, lines as i64, "{name}");
                }
                let first = dir.path().join(format!("splits/{selector}-0.bin"));
                if !first.exists() {
                    continue;
                }
                for (i, split) in plan.splits.iter().enumerate() {
                    let bytes = std::fs::read(dir.path().join(format!("splits/{selector}-{i}.bin"))).unwrap();
                    let (java, _) = paimon_protocol::DataSplit::from_java_bytes(&bytes).unwrap();
                    let (ours, java) = (comparable(split.clone(), "table"), comparable(java, "table"));
                    assert_eq!(ours, java, "{name}, split {i}");
                }
                let next = dir
                    .path()
                    .join(format!("splits/{selector}-{}.bin", plan.splits.len()));
                assert!(!next.exists(), "{name}: Java has more splits");
                plans += 1;
            }
        }
    }
    assert!(plans > 1100, "{plans} plans; refused: {refused:?}");
}

/// A scan of `[BRANCH@](latest | snapshot-N | tag-NAME)`.
async fn java_scan(location: &str, selector: &str) -> TableScan {
    let (branch, selector) = selector.split_once('@').unwrap_or(("main", selector));
    let options = [("branch".to_owned(), branch.to_owned())].into();
    let table = Table::open(Storage::default(), location, options).await.unwrap();
    let formats = FormatRegistry::new().with(Arc::new(OrcFormatFactory::new()));
    let table = table.with_formats(Arc::new(formats));
    match selector.split_once('-') {
        Some(("snapshot", id)) => table.new_scan().snapshot_id(id.parse().unwrap()),
        Some(("tag", tag)) => table.new_scan().tag(tag),
        _ => table.new_scan(),
    }
}
