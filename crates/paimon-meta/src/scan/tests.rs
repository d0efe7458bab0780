// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;

use bytes::Bytes;
use paimon_protocol::{
    DataFileMeta, DeletionFile, DeletionVectorMeta, IndexFileMeta, Partition, RowValues, SimpleStats,
};
use paimon_storage::{Environment, Storage};
use paimon_types::{
    BucketFunction, DataField, DataType, Datum, ErrorKind, LeafPredicate, NewTable, Predicate, PredicateOp,
    TableSchema, TypeKind,
};

use super::*;
use crate::manifest::tests::simple_file;
use crate::manifest::{FileKind, IndexManifestEntry, ManifestEntry};
use crate::{CommitKind, Snapshot, Table};

const LOCATION: &str = "memory:///db.db/t";

fn int() -> DataType {
    DataType::new(TypeKind::Int)
}

fn int_values(values: &[Option<i32>]) -> RowValues {
    let values: Vec<_> = values.iter().map(|v| v.map(Datum::Int)).collect();
    RowValues::of(&vec![int(); values.len()], &values).unwrap()
}

/// Columns `p` (partition, when asked for), `k`, `v`, all INT.
async fn table(partitioned: bool, options: &[(&str, &str)]) -> Table {
    let mut columns = vec![DataField::new(0, "k", int()), DataField::new(0, "v", int())];
    if partitioned {
        columns.insert(0, DataField::new(0, "p", int()));
    }
    let new = NewTable {
        columns,
        partition_keys: if partitioned { vec!["p".into()] } else { vec![] },
        options: options
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect(),
        ..NewTable::default()
    };
    Table::create(Storage::memory(), Environment::default(), LOCATION, new)
        .await
        .unwrap()
}

fn file(name: &str, rows: i64, sequence: i64) -> DataFileMeta {
    DataFileMeta {
        row_count: rows,
        min_sequence_number: sequence,
        max_sequence_number: sequence + rows - 1,
        ..simple_file(name)
    }
}

/// Statistics of all columns given as (min, max, nulls).
fn with_stats(mut file: DataFileMeta, columns: &[(i32, i32, i64)], dense: Option<&[&str]>) -> DataFileMeta {
    file.value_stats = SimpleStats {
        min_values: int_values(&columns.iter().map(|c| Some(c.0)).collect::<Vec<_>>()),
        max_values: int_values(&columns.iter().map(|c| Some(c.1)).collect::<Vec<_>>()),
        null_counts: columns.iter().map(|c| Some(c.2)).collect(),
    };
    file.value_stats_cols = dense.map(|names| names.iter().map(|n| n.to_string()).collect());
    file
}

fn add(partition: &[Option<i32>], bucket: i32, file: DataFileMeta) -> ManifestEntry {
    ManifestEntry::add(int_values(partition).into(), bucket, -1, file)
}

/// Writes the next snapshot by hand.
async fn commit(
    table: &Table,
    entries: &[ManifestEntry],
    index: Option<Vec<IndexManifestEntry>>,
) -> Snapshot {
    let store = table.manifest_store();
    let latest = table.snapshot_manager().latest().await.unwrap();
    let mut base = Vec::new();
    if let Some(latest) = &latest {
        base.extend(store.read_list(&latest.base_manifest_list).await.unwrap());
        base.extend(store.read_list(&latest.delta_manifest_list).await.unwrap());
    }
    let delta = store.write_manifests(entries).await.unwrap();
    let id = latest.as_ref().map_or(1, |s| s.id + 1);
    let index_manifest = match index {
        Some(entries) => Some(store.write_index_manifest(&entries).await.unwrap()),
        None => latest.and_then(|s| s.index_manifest),
    };
    let snapshot = Snapshot {
        version: 3,
        uuid: None,
        id,
        schema_id: table.schema().id,
        base_manifest_list: store.write_list(&base).await.unwrap().0,
        base_manifest_list_size: None,
        delta_manifest_list: store.write_list(&delta).await.unwrap().0,
        delta_manifest_list_size: None,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest,
        commit_user: "u".into(),
        writer_version: None,
        commit_identifier: i64::MAX,
        commit_kind: CommitKind::Append,
        time_millis: id * 1000,
        total_record_count: 0,
        delta_record_count: 0,
        changelog_record_count: None,
        watermark: Some(id * 10),
        statistics: None,
        properties: BTreeMap::new(),
        next_row_id: None,
        operation: None,
    };
    let path = table.snapshot_manager().snapshot_path(id);
    table
        .storage()
        .write(&path, Bytes::from(snapshot.to_json()))
        .await
        .unwrap();
    snapshot
}

async fn write_schema(table: &Table, schema: &TableSchema) {
    let path = table.schema_manager().schema_path(schema.id);
    table
        .storage()
        .write(&path, Bytes::from(schema.to_json()))
        .await
        .unwrap();
}

fn leaf(table: &Table, column: &str, op: PredicateOp, literals: &[i32]) -> Predicate {
    let field = table.schema().field(column).unwrap();
    Predicate::Leaf(LeafPredicate {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        op,
        literals: literals.iter().map(|v| Some(Datum::Int(*v))).collect(),
    })
}

fn files(plan: &Plan) -> Vec<&str> {
    plan.splits
        .iter()
        .flat_map(|s| &s.data_files)
        .map(|f| f.file_name.as_str())
        .collect()
}

#[tokio::test]
async fn an_empty_table_gives_an_empty_plan() {
    let table = table(false, &[]).await;
    let plan = table.new_scan().select(["v"]).plan().await.unwrap();
    assert_eq!(
        (plan.snapshot_id(), plan.splits.len(), plan.schema.id),
        (None, 0, 0)
    );
    assert_eq!(plan.read_fields.len(), 1);
    let error = table.new_scan().select(["V"]).plan().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("it has k, v"), "{error}");
}

#[tokio::test]
async fn files_are_packed_in_order_of_sequence() {
    let table = table(
        false,
        &[
            ("source.split.target-size", "250 b"),
            ("source.split.open-file-cost", "1 b"),
        ],
    )
    .await;
    let entries: Vec<_> = [("c", 20), ("a", 0), ("d", 30), ("b", 10)]
        .map(|(name, seq)| add(&[], 0, file(name, 10, seq)))
        .into();
    commit(&table, &entries, None).await;
    let plan = table.new_scan().plan().await.unwrap();
    assert_eq!(files(&plan), ["a", "b", "c", "d"]);
    assert_eq!(
        plan.splits.iter().map(|s| s.data_files.len()).collect::<Vec<_>>(),
        [2, 2]
    );
    let split = &plan.splits[0];
    assert_eq!(split.bucket_path, format!("{LOCATION}/bucket-0"));
    assert_eq!(
        split.data_file_path(&split.data_files[0]),
        format!("{LOCATION}/bucket-0/a")
    );
    assert!(split.raw_convertible && !split.is_streaming);
    assert_eq!(
        (split.snapshot_id, split.total_buckets, &split.deletion_files),
        (1, Some(-1), &None)
    );
    assert_eq!((plan.metrics.files, plan.metrics.bytes), (4, 400));
    assert_eq!(plan.schemas.len(), 1);
    let envelope = plan.envelope();
    assert_eq!(
        (
            envelope.snapshot_id,
            envelope.branch.as_str(),
            envelope.splits.len()
        ),
        (Some(1), "main", 2)
    );

    let limited = table.new_scan().limit(11).plan().await.unwrap();
    assert_eq!(files(&limited), ["a", "b"]);
    let limited = table.new_scan().limit(1000).plan().await.unwrap();
    assert_eq!(files(&limited).len(), 4);
}

#[tokio::test]
async fn partitions_are_pruned_in_manifests_and_entries() {
    let table = table(true, &[]).await;
    commit(
        &table,
        &[
            add(&[Some(1)], 0, file("a", 1, 0)),
            add(&[Some(9)], 0, file("b", 1, 0)),
        ],
        None,
    )
    .await;
    commit(
        &table,
        &[
            add(&[Some(5)], 0, file("c", 1, 0)),
            add(&[None], 0, file("n", 1, 0)),
        ],
        None,
    )
    .await;
    let run = |p: Predicate| {
        let table = table.clone();
        async move {
            let plan = table.new_scan().filter(p).plan().await.unwrap();
            (files(&plan).join(","), plan.metrics.manifests_skipped)
        }
    };
    assert_eq!(
        run(leaf(&table, "p", PredicateOp::Eq, &[5])).await,
        ("c".into(), 0)
    );
    assert_eq!(
        run(leaf(&table, "p", PredicateOp::Eq, &[9])).await,
        ("b".into(), 1)
    );
    assert_eq!(
        run(leaf(&table, "p", PredicateOp::NotEq, &[9])).await,
        ("a,c".into(), 0)
    );
    assert_eq!(
        run(leaf(&table, "p", PredicateOp::IsNull, &[])).await,
        ("n".into(), 1)
    );
    assert_eq!(
        run(leaf(&table, "p", PredicateOp::Gt, &[9])).await,
        ("".into(), 2)
    );
    let mixed = Predicate::Or(vec![
        Predicate::And(vec![
            leaf(&table, "p", PredicateOp::Eq, &[1]),
            leaf(&table, "v", PredicateOp::Eq, &[1]),
        ]),
        leaf(&table, "p", PredicateOp::Eq, &[5]),
    ]);
    assert_eq!(run(mixed).await, ("a,c".into(), 0));

    let plan = table
        .new_scan()
        .partition_filter(leaf(&table, "p", PredicateOp::Eq, &[1]))
        .plan()
        .await
        .unwrap();
    assert_eq!(plan.splits[0].bucket_path, format!("{LOCATION}/p=1/bucket-0"));
    let plan = table
        .new_scan()
        .partition_filter(leaf(&table, "p", PredicateOp::IsNull, &[]))
        .plan()
        .await
        .unwrap();
    assert_eq!(
        plan.splits[0].bucket_path,
        format!("{LOCATION}/p=__DEFAULT_PARTITION__/bucket-0")
    );
    let error = table
        .new_scan()
        .partition_filter(leaf(&table, "v", PredicateOp::IsNull, &[]))
        .plan()
        .await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);

    let sorted = table
        .with_options([("scan.plan-sort-partition".into(), "true".into())].into())
        .unwrap();
    assert_eq!(
        files(&sorted.new_scan().plan().await.unwrap()),
        ["n", "a", "c", "b"]
    );
}

#[tokio::test]
async fn deletes_count_whatever_their_order_and_bucket_count() {
    let table = table(false, &[("bucket", "4"), ("bucket-key", "k")]).await;
    let one = |kind, name: &str, bucket, total_buckets| ManifestEntry {
        kind,
        partition: Partition::unpartitioned(),
        bucket,
        total_buckets,
        file: file(name, 1, 0),
    };
    let bucket = BucketFunction::Default
        .bucket(int_values(&[Some(7)]).encoded_row(), &[int()], 4)
        .unwrap();
    // The DELETE stands in an earlier manifest and carries another bucket count.
    commit(&table, &[one(FileKind::Delete, "gone", bucket, 2)], None).await;
    let others: Vec<_> = (0..4)
        .filter(|b| *b != bucket)
        .map(|b| one(FileKind::Add, "other", b, 4))
        .collect();
    let mut entries = vec![
        one(FileKind::Add, "gone", bucket, 4),
        one(FileKind::Add, "here", bucket, 4),
    ];
    entries.extend(others);
    commit(&table, &entries, None).await;
    assert_eq!(files(&table.new_scan().plan().await.unwrap()).len(), 4);
    let plan = table
        .new_scan()
        .filter(leaf(&table, "k", PredicateOp::Eq, &[7]))
        .plan()
        .await
        .unwrap();
    assert_eq!(files(&plan), ["here"]);
    let plan = table.new_scan().bucket(bucket).plan().await.unwrap();
    assert_eq!(files(&plan), ["here"]);
    let plan = table.new_scan().bucket(17).plan().await.unwrap();
    assert_eq!((plan.splits.len(), plan.metrics.manifests_skipped), (0, 2));
}

#[tokio::test]
async fn case_30_bucket_of_each_key() {
    let table = table(false, &[("bucket", "4"), ("bucket-key", "k")]).await;
    let entries: Vec<_> = (0..4)
        .map(|b| ManifestEntry::add(Partition::unpartitioned(), b, 4, file(&format!("b{b}"), 1, 0)))
        .collect();
    commit(&table, &entries, None).await;
    for (key, bucket) in (1..=7).zip([2, 0, 1, 2, 0, 0, 3]) {
        let plan = table
            .new_scan()
            .filter(leaf(&table, "k", PredicateOp::Eq, &[key]))
            .plan()
            .await
            .unwrap();
        assert_eq!(files(&plan), [format!("b{bucket}")], "key {key}");
    }
    let plan = table
        .new_scan()
        .filter(leaf(&table, "k", PredicateOp::In, &[1, 7]))
        .plan()
        .await
        .unwrap();
    assert_eq!(files(&plan), ["b2", "b3"]);
    // Another type in an older schema means other hashes: nothing is pruned.
    let mut wider = (**table.schema()).clone();
    wider.id = 1;
    wider.fields[0].data_type = DataType::new(TypeKind::BigInt);
    write_schema(&table, &wider).await;
    let altered = table.refresh().await.unwrap();
    let mut predicate = leaf(&altered, "k", PredicateOp::Eq, &[7]);
    if let Predicate::Leaf(leaf) = &mut predicate {
        leaf.literals = vec![Some(Datum::BigInt(7))];
    }
    assert_eq!(
        files(&altered.new_scan().filter(predicate).plan().await.unwrap()).len(),
        4
    );
}

#[tokio::test]
async fn case_33_statistics_follow_the_field_id() {
    let table = table(false, &[]).await;
    let old = with_stats(file("old", 10, 0), &[(1, 5, 0), (100, 200, 0)], None);
    let dense = with_stats(file("dense", 10, 0), &[(300, 400, 0)], Some(&["v"]));
    let unknown = DataFileMeta {
        value_stats_cols: Some([].into()),
        ..file("unknown", 10, 0)
    };
    commit(&table, &[old, dense, unknown].map(|f| add(&[], 0, f)), None).await;

    // k and v swap their names, w is new.
    let mut schema = (**table.schema()).clone();
    schema.id = 1;
    schema.fields[0].name = "v".into();
    schema.fields[1].name = "k".into();
    schema.fields.push(DataField::new(2, "w", int()));
    schema.highest_field_id = 2;
    write_schema(&table, &schema).await;
    let table = table.refresh().await.unwrap();
    let new = with_stats(
        DataFileMeta {
            schema_id: 1,
            ..file("new", 10, 0)
        },
        &[(7, 8, 0), (900, 901, 10), (1, 1, 0)],
        None,
    );
    commit(&table, &[add(&[], 0, new)], None).await;

    let run = |column: &'static str, op, literals: &'static [i32]| {
        let table = table.clone();
        async move {
            let plan = table
                .new_scan()
                .filter(leaf(&table, column, op, literals))
                .plan()
                .await
                .unwrap();
            let mut names: Vec<String> = files(&plan).into_iter().map(str::to_owned).collect();
            names.sort();
            names.join(",")
        }
    };
    // Today's k (id 1) was v.
    assert_eq!(run("k", PredicateOp::Eq, &[150]).await, "old,unknown");
    assert_eq!(run("k", PredicateOp::Eq, &[350]).await, "dense,unknown");
    assert_eq!(run("v", PredicateOp::Eq, &[3]).await, "dense,old,unknown");
    assert_eq!(run("v", PredicateOp::Eq, &[8]).await, "dense,new,unknown");
    // The new file's k is NULL in every row: its stored bounds do not matter.
    assert_eq!(run("k", PredicateOp::IsNull, &[]).await, "new,unknown");
    assert_eq!(run("k", PredicateOp::IsNotNull, &[]).await, "dense,old,unknown");
    // Files from before w have NULL there.
    assert_eq!(run("w", PredicateOp::Eq, &[1]).await, "new");
    assert_eq!(run("w", PredicateOp::IsNull, &[]).await, "dense,old,unknown");

    // Integers that became wider keep their statistics; those of another type say nothing.
    let altered = |id, kind| {
        let mut schema = (**table.schema()).clone();
        schema.id = id;
        schema.fields[1].data_type = kind;
        schema
    };
    let with_literal = async |literal: Datum, schema: TableSchema| {
        write_schema(&table, &schema).await;
        let table = table.refresh().await.unwrap();
        let predicate = Predicate::eq(table.schema().field("k").unwrap(), literal).unwrap();
        let plan = table.new_scan().filter(predicate).plan().await.unwrap();
        files(&plan).join(",")
    };
    let wide = || altered(2, DataType::new(TypeKind::BigInt));
    assert_eq!(with_literal(Datum::BigInt(150), wide()).await, "old,unknown");
    assert_eq!(
        with_literal(Datum::BigInt(5_000_000_000), wide()).await,
        "unknown"
    );
    let text = with_literal(Datum::String("x".into()), altered(3, DataType::string())).await;
    assert_eq!(text, "old,dense,unknown,new");
}

#[tokio::test]
async fn case_32_missing_statistics_never_prune() {
    let table = table(false, &[]).await;
    let none = DataFileMeta {
        value_stats: SimpleStats {
            min_values: int_values(&[None, None]),
            max_values: int_values(&[None, None]),
            null_counts: [None, None].into(),
        },
        ..file("none", 10, 0)
    };
    let empty = file("empty", 10, 0);
    commit(&table, &[none, empty].map(|f| add(&[], 0, f)), None).await;
    for (op, literals) in [
        (PredicateOp::Eq, &[1][..]),
        (PredicateOp::NotEq, &[1]),
        (PredicateOp::Lt, &[1]),
        (PredicateOp::In, &[1, 2]),
        (PredicateOp::Between, &[1, 2]),
        (PredicateOp::IsNull, &[]),
        (PredicateOp::IsNotNull, &[]),
    ] {
        let plan = table
            .new_scan()
            .filter(leaf(&table, "v", op, literals))
            .plan()
            .await
            .unwrap();
        assert_eq!(files(&plan).len(), 2, "{op:?}");
    }
}

#[tokio::test]
async fn time_travel() {
    let table = table(false, &[]).await;
    for name in ["a", "b", "c"] {
        commit(&table, &[add(&[], 0, file(name, 1, 0))], None).await;
    }
    let count = |scan: TableScan| async move {
        scan.plan()
            .await
            .map(|p| p.splits.iter().map(|s| s.data_files.len()).sum::<usize>())
    };
    let scan = || table.new_scan();
    assert_eq!(count(scan()).await.unwrap(), 3);
    assert_eq!(count(scan().snapshot_id(2)).await.unwrap(), 2);
    assert_eq!(count(scan().timestamp_millis(1999)).await.unwrap(), 1);
    assert_eq!(count(scan().timestamp_millis(i64::MAX)).await.unwrap(), 3);
    assert_eq!(count(scan().watermark(15)).await.unwrap(), 2);
    assert_eq!(count(scan().version("2")).await.unwrap(), 2);
    assert_eq!(count(scan().version("watermark-10")).await.unwrap(), 1);
    let second = table.snapshot_manager().snapshot(2).await.unwrap();
    table.tag_manager().create("v1", &second, None).await.unwrap();
    assert_eq!(count(scan().tag("v1")).await.unwrap(), 2);
    assert_eq!(count(scan().version("v1")).await.unwrap(), 2);

    // case 45
    let error = count(scan().timestamp_millis(999)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    // case 07: the snapshot expires, the tag stays.
    let path = table.snapshot_manager().snapshot_path(2);
    table.storage().delete(&path).await.unwrap();
    table
        .storage()
        .delete(&table.snapshot_manager().snapshot_path(1))
        .await
        .unwrap();
    assert_eq!(count(scan().tag("v1")).await.unwrap(), 2);
    let error = count(scan().snapshot_id(2)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("3 to 3"), "{error}");
    assert_eq!(
        count(scan().tag("no")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        count(scan().version("no")).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        count(scan().watermark(31)).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );

    assert_eq!(
        count(scan().tag("v1").snapshot_id(3)).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let with = |key: &str, value: &str| {
        table
            .with_options([(key.to_owned(), value.to_owned())].into())
            .unwrap()
    };
    assert_eq!(count(with("scan.snapshot-id", "3").new_scan()).await.unwrap(), 3);
    assert_eq!(count(with("scan.tag-name", "v1").new_scan()).await.unwrap(), 2);
    assert_eq!(
        count(with("scan.tag-name", "v1").new_scan().snapshot_id(3))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        count(with("incremental-between", "1,3").new_scan())
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Unsupported
    );
}

#[tokio::test]
async fn case_19_time_travel_takes_the_schema_of_the_snapshot() {
    let table = table(false, &[]).await;
    commit(&table, &[add(&[], 0, file("a", 1, 0))], None).await;
    let mut schema = (**table.schema()).clone();
    schema.id = 1;
    schema.fields[1].name = "renamed".into();
    write_schema(&table, &schema).await;
    let table = table.refresh().await.unwrap();
    let names = |plan: &Plan| {
        plan.read_fields
            .iter()
            .map(|f| f.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&table.new_scan().plan().await.unwrap()), ["k", "renamed"]);
    let travelled = table.new_scan().snapshot_id(1).plan().await.unwrap();
    assert_eq!(
        (names(&travelled), travelled.schema.id),
        (vec!["k".to_owned(), "v".to_owned()], 0)
    );
}

#[tokio::test]
async fn deletion_files_belong_to_their_data_files() {
    let table = table(false, &[("deletion-vectors.enabled", "true")]).await;
    let range = |name: &str, offset, cardinality| DeletionVectorMeta {
        data_file_name: name.into(),
        offset,
        length: 22,
        cardinality,
    };
    let entry = |bucket, ranges: Vec<DeletionVectorMeta>| IndexManifestEntry {
        kind: FileKind::Add,
        partition: Partition::unpartitioned(),
        bucket,
        index_file: IndexFileMeta {
            index_type: "DELETION_VECTORS".into(),
            file_name: "index-0".into(),
            file_size: 50,
            row_count: 2,
            dv_ranges: Some(ranges),
            external_path: None,
            global_index: None,
        },
    };
    let index = vec![
        entry(0, vec![range("a", 1, Some(4)), range("c", 31, None)]),
        entry(1, vec![range("b", 1, None)]),
    ];
    let entries = [("a", 0), ("b", 10), ("c", 20)].map(|(n, s)| add(&[], 0, file(n, 10, s)));
    commit(&table, &entries, Some(index.clone())).await;
    // case 06: a later commit carries the index manifest on.
    commit(&table, &[add(&[], 0, file("d", 10, 30))], None).await;
    let plan = table.new_scan().plan().await.unwrap();
    let deletions = plan.splits[0].deletion_files.clone().unwrap();
    let path = format!("{LOCATION}/index/index-0");
    let deletion = |offset, cardinality| {
        Some(DeletionFile {
            path: path.clone(),
            offset,
            length: 22,
            cardinality,
        })
    };
    assert_eq!(deletions, [deletion(1, Some(4)), None, deletion(31, None), None]);

    assert_eq!((plan.row_count(), plan.live_row_count()), (40, None));

    // Rows that may be deleted do not count towards a limit.
    let one_each = [("source.split.target-size".to_owned(), "1 b".to_owned())].into();
    let limited = table
        .with_options(one_each)
        .unwrap()
        .new_scan()
        .limit(10)
        .plan()
        .await
        .unwrap();
    assert_eq!(files(&limited), ["a", "b"]);

    let twice = vec![
        entry(0, vec![range("a", 1, None)]),
        entry(0, vec![range("a", 31, None)]),
    ];
    commit(&table, &[], Some(twice)).await;
    assert_eq!(
        table.new_scan().plan().await.unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}
