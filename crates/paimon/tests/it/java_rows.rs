// SPDX-License-Identifier: Apache-2.0

//! Every table of `testdata/java` and every selector: the rows are those that Java reads.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::TryStreamExt;
use paimon::types::RowKind;
use paimon::{DataField, DataType, ErrorKind, Table, TableRead};
use paimon_testkit::{Fixture, Random, Selector, fixture, fixtures, json_lines, read_lines, sorted};

use crate::filters::check_filters;

async fn check(fixture: &Fixture, selector: &Selector) {
    let what = format!("{} {}", fixture.path, selector.name);
    let table = fixture.open(selector, &[]).await.unwrap();
    if fixture.is_pending() && refused(&what, &table, selector).await {
        return;
    }
    let read = || {
        let read = table.read();
        match &selector.at {
            Some(at) => read.at(at.clone()),
            None => read,
        }
    };
    let expected = selector.expected();
    let plan = read().plan().await.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    let fields = plan.read_fields.clone();
    let (_, batches) = read()
        .to_batches()
        .await
        .unwrap_or_else(|e| panic!("{what}: {e:?}"));
    let found = sorted(json_lines(&fields, &batches));
    assert_eq!(fixture.comparable(found), fixture.comparable(expected), "{what}");

    // Some columns in any order, in small batches.
    let mut random = Random::new(&what);
    let chosen = random.some(&fields);
    let names: Vec<&str> = chosen.iter().map(|f| f.name.as_str()).collect();
    let few = read()
        .select(names.iter().copied())
        .batch_size(1 + random.below(7))
        .parallelism(1);
    let (schema, projected) = few.to_batches().await.unwrap();
    let order: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(order, names, "{what}");
    let indices: Vec<usize> = chosen
        .iter()
        .map(|f| fields.iter().position(|g| g.id == f.id).unwrap())
        .collect();
    let cut: Vec<_> = batches.iter().map(|b| b.project(&indices).unwrap()).collect();
    assert_eq!(
        json_lines(&chosen, &projected),
        json_lines(&chosen, &cut),
        "{what}: columns {names:?}"
    );

    check_filters(&what, &read, &fields, &batches, &mut random).await;
}

/// Whether a table that needs what is not there yet is refused; the message says why.
async fn refused(what: &str, table: &Table, selector: &Selector) -> bool {
    let read = table.read();
    let read = selector.at.clone().map_or(read, |at| table.read().at(at));
    let Err(err) = read_lines(&read).await else {
        return false;
    };
    let reasons = ["orc", "avro", "row tracking", "type change", "feature sketches"];
    let clear = err.kind() == ErrorKind::Unsupported
        && reasons.iter().any(|r| err.to_string().to_lowercase().contains(r));
    assert!(clear, "{what}: refused unclearly: {err:?}");
    true
}

async fn check_feature(feature: &str) {
    let tables: Vec<Fixture> = fixtures()
        .into_iter()
        .filter(|f| f.feature() == feature)
        .collect();
    assert!(!tables.is_empty(), "{feature}");
    for fixture in &tables {
        for selector in fixture.selectors() {
            check(fixture, &selector).await;
        }
    }
}

macro_rules! features {
    ($($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            check_feature(stringify!($name)).await;
        })*

        #[test]
        fn every_feature_has_a_test() {
            let known = [$(stringify!($name)),*];
            for fixture in fixtures() {
                assert!(known.contains(&fixture.feature()) || fixture.feature() == "later", "{}", fixture.path);
            }
        }
    };
}

features! { basic bucket deletes evolution files formats history nested newer partition pk stats types }

/// The read-optimized tables `$ro`: what needs no merging.
#[tokio::test]
async fn read_optimized() {
    let mut count = 0;
    for fixture in fixtures().iter().filter(|fixture| fixture.feature() == "pk") {
        for selector in fixture.system_selectors("ro") {
            let what = format!("{}$ro {}", fixture.path, selector.name);
            let table = fixture.open(&selector, &[]).await.unwrap();
            if fixture.is_pending() && refused(&what, &table, &selector).await {
                continue;
            }
            let plan = table.scan().read_optimized().plan().await.unwrap();
            let read = TableRead::builder(table.read_context(&plan).unwrap())
                .build()
                .unwrap();
            let fields = plan.read_fields.clone();
            let batches: Vec<RecordBatch> = read.read_all(plan.splits).try_collect().await.unwrap();
            let found = sorted(json_lines(&fields, &batches));
            assert_eq!(
                fixture.comparable(found),
                fixture.comparable(selector.expected()),
                "{what}"
            );
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

/// The audit logs: rows with their kinds, deleted ones too.
#[tokio::test]
async fn audit_log() {
    let mut count = 0;
    for fixture in fixtures().iter().filter(|fixture| fixture.feature() == "pk") {
        for selector in fixture.system_selectors("audit_log") {
            let what = format!("{}$audit_log {}", fixture.path, selector.name);
            let table = fixture.open(&selector, &[]).await.unwrap();
            if fixture.is_pending() && refused(&what, &table, &selector).await {
                continue;
            }
            let mut read = table.read().with_row_kind(true);
            if let Some(at) = &selector.at {
                read = read.at(at.clone());
            }
            let mut fields = read.plan().await.unwrap().read_fields;
            let (_, batches) = read
                .to_batches()
                .await
                .unwrap_or_else(|e| panic!("{what}: {e:?}"));
            fields.insert(0, DataField::new(-1, "rowkind", DataType::string()));
            let batches: Vec<RecordBatch> = batches.iter().map(kinds_as_text).collect();
            let found = sorted(json_lines(&fields, &batches));
            assert_eq!(
                fixture.comparable(found),
                fixture.comparable(selector.expected()),
                "{what}"
            );
            count += 1;
        }
    }
    assert!(count > 90, "{count}");
}

/// Kinds by name, in the first column.
fn kinds_as_text(batch: &RecordBatch) -> RecordBatch {
    assert_eq!(batch.schema().field(0).name(), "_VALUE_KIND");
    let kinds = batch.column(0).as_primitive::<Int8Type>().values().iter();
    let names: StringArray = kinds
        .map(|kind| Some(RowKind::from_byte(*kind).unwrap().as_str()))
        .collect();
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    fields[0] = Arc::new(Field::new("rowkind", ArrowType::Utf8, true));
    let mut columns = batch.columns().to_vec();
    columns[0] = Arc::new(names);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Tables with a primary key: versions merged, deletion vectors.
#[tokio::test]
async fn later_primary_keys_read() {
    for path in ["later/primary-key", "later/deletion-vectors"] {
        let fixture = fixture(path);
        for selector in fixture.selectors() {
            check(&fixture, &selector).await;
        }
    }
}

/// Row tracking only adds system columns to an append table.
#[tokio::test]
async fn later_row_tracking_reads() {
    let fixture = fixture("later/row-tracking");
    for selector in fixture.selectors() {
        check(&fixture, &selector).await;
    }
}
