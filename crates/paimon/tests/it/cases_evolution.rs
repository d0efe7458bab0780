// SPDX-License-Identifier: Apache-2.0

//! Known traps of changed schemas.

use std::sync::Arc;

use arrow_array::ArrayRef;
use paimon::types::{Datum, TypeKind};
use paimon::{DataField, DataType, ErrorKind, Predicate, Table};
use paimon_testkit::{fixture, read_lines};

use crate::support::{alter, append, create, field_mut, ints, rows, strings};

/// `id INT, a STRING` with the rows (1, x), (2, y).
async fn with_two_rows() -> Table {
    let table = create(&[("id", "INT"), ("a", "STRING")], &[], &[]).await;
    append(
        &table,
        &[("id", ints([1, 2])), ("a", strings([Some("x"), Some("y")]))],
    )
    .await;
    table
}

#[tokio::test]
async fn case_16_a_renamed_column_keeps_its_values_and_a_new_one_has_none() {
    let table = with_two_rows().await;
    let table = alter(&table, |s| field_mut(s, "a").name = "b".into()).await;
    assert_eq!(
        rows(&table).await,
        [r#"{"id": 1, "b": "x"}"#, r#"{"id": 2, "b": "y"}"#]
    );
    append(&table, &[("id", ints([3])), ("b", strings([Some("z")]))]).await;
    assert_eq!(rows(&table).await.last().unwrap(), r#"{"id": 3, "b": "z"}"#);

    let table = alter(&table, |s| s.fields.retain(|f| f.name != "b")).await;
    assert_eq!(
        rows(&table).await,
        [r#"{"id": 1}"#, r#"{"id": 2}"#, r#"{"id": 3}"#]
    );

    let table = alter(&table, |s| {
        s.fields.push(DataField::new(2, "b", DataType::string()))
    })
    .await;
    append(&table, &[("id", ints([4])), ("b", strings([Some("new")]))]).await;
    assert_eq!(
        rows(&table).await,
        [
            r#"{"id": 1, "b": null}"#,
            r#"{"id": 2, "b": null}"#,
            r#"{"id": 3, "b": null}"#,
            r#"{"id": 4, "b": "new"}"#,
        ]
    );
}

#[tokio::test]
async fn case_16_swapped_names() {
    let table = create(&[("a", "INT"), ("b", "INT")], &[], &[]).await;
    append(&table, &[("a", ints([1])), ("b", ints([10]))]).await;
    let table = alter(&table, |s| {
        field_mut(s, "a").name = "c".into();
        field_mut(s, "b").name = "a".into();
        field_mut(s, "c").name = "b".into();
    })
    .await;
    append(&table, &[("a", ints([20])), ("b", ints([2]))]).await;
    assert_eq!(
        rows(&table).await,
        [r#"{"b": 1, "a": 10}"#, r#"{"b": 2, "a": 20}"#]
    );
    let filter = Predicate::eq(table.field("a").unwrap(), Datum::Int(10)).unwrap();
    assert_eq!(
        read_lines(&table.read().filter(filter)).await.unwrap(),
        [r#"{"b": 1, "a": 10}"#]
    );
}

/// Numbers that became wider are read so whatever files there are; other type changes are refused with the column.
#[tokio::test]
async fn case_18_numbers_widen_and_other_type_changes_are_refused_with_the_column() {
    let fixture = fixture("later/type-change");
    let latest = fixture.selector("latest");
    let table = fixture.open(&latest, &[]).await.unwrap();
    let err = table.read().to_batches().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported, "{err}");
    assert!(
        err.to_string().contains("INT") && err.context().any(|(k, v)| k == "column" && v == "b"),
        "{err:?}"
    );

    // Each snapshot with its own schema; the first has no change yet.
    let first = fixture.selector("snapshot-1");
    let read = table.read().at(first.at.clone().unwrap());
    assert_eq!(read_lines(&read).await.unwrap(), first.expected());

    // The two columns that became wider.
    let read = table.read().select(["a", "c"]);
    let lines = read_lines(&read).await.unwrap();
    assert_eq!(lines.len(), latest.expected().len());
    let expected = latest.expected();
    for line in lines {
        let found = serde_json::from_str::<serde_json::Value>(&line).unwrap();
        let same = |line: &String| {
            let row = serde_json::from_str::<serde_json::Value>(line).unwrap();
            row["a"] == found["a"] && row["c"] == found["c"]
        };
        assert!(expected.iter().any(same), "{line}");
    }

    // The schema of the batches is that of the read, whatever files there are.
    let table = create(&[("c", "INT"), ("r", "ROW<x TINYINT, l ARRAY<FLOAT>>")], &[], &[]).await;
    append_c(&table, 7).await;
    let table = alter(&table, |s| {
        field_mut(s, "c").data_type = DataType::parse("BIGINT").unwrap();
        let row = field_mut(s, "r");
        let TypeKind::Row(fields) = &mut row.data_type.kind else {
            panic!("expected a row")
        };
        fields[0].data_type = DataType::parse("DECIMAL(10, 2)").unwrap();
        fields[1].data_type = DataType::parse("ARRAY<DOUBLE>").unwrap();
    })
    .await;
    let (snapshot, _) = table.scan().target().await.unwrap();
    assert_eq!(snapshot.unwrap().id, 1);
    let filter = Predicate::gt(table.field("c").unwrap(), Datum::BigInt(6)).unwrap();
    assert_eq!(
        read_lines(&table.read().filter(filter)).await.unwrap(),
        [r#"{"c": 7, "r": {"x": "7.00", "l": [1.5, null]}}"#]
    );
    let far = Predicate::gt(table.field("c").unwrap(), Datum::BigInt(1 << 40)).unwrap();
    assert!(read_lines(&table.read().filter(far)).await.unwrap().is_empty());
}

async fn append_c(table: &Table, value: i8) {
    use arrow_array::builder::{Float32Builder, ListBuilder};
    use arrow_array::{Int8Array, StructArray};
    let field = paimon::types::to_arrow_field(table.field("r").unwrap());
    let arrow_schema::DataType::Struct(fields) = field.data_type() else {
        panic!("expected a struct")
    };
    let arrow_schema::DataType::List(element) = fields[1].data_type() else {
        panic!("expected a list")
    };
    let mut list = ListBuilder::new(Float32Builder::new()).with_field(element.clone());
    list.values().append_value(1.5);
    list.values().append_null();
    list.append(true);
    let children: Vec<ArrayRef> = vec![Arc::new(Int8Array::from(vec![value])), Arc::new(list.finish())];
    let row = StructArray::try_new(fields.clone(), children, None).unwrap();
    append(table, &[("c", ints([i32::from(value)])), ("r", Arc::new(row))]).await;
}

#[tokio::test]
async fn case_19_a_snapshot_reads_with_its_own_schema() {
    let table = create(&[("id", "INT"), ("name", "STRING")], &[], &[]).await;
    append(&table, &[("id", ints([1])), ("name", strings([Some("Ann")]))]).await;
    let table = alter(&table, |s| {
        s.fields
            .push(DataField::new(2, "age", DataType::parse("INT").unwrap()))
    })
    .await;
    let table = alter(&table, |s| s.fields.retain(|f| f.name != "name")).await;
    append(&table, &[("id", ints([2])), ("age", ints([30]))]).await;
    assert_eq!(
        rows(&table).await,
        [r#"{"id": 1, "age": null}"#, r#"{"id": 2, "age": 30}"#]
    );
    let first = table.read().snapshot_id(1);
    assert_eq!(read_lines(&first).await.unwrap(), [r#"{"id": 1, "name": "Ann"}"#]);
    let err = table
        .read()
        .snapshot_id(1)
        .select(["age"])
        .to_batches()
        .await
        .unwrap_err();
    assert!(
        err.kind() == ErrorKind::InvalidInput && err.message().contains("age"),
        "{err}"
    );
}

#[tokio::test]
async fn case_33_a_predicate_on_a_renamed_column() {
    let table = create(&[("a", "INT"), ("b", "INT")], &[], &[]).await;
    // Statistics of a: 1 to 2, of b: 100 to 200.
    append(&table, &[("a", ints([1, 2])), ("b", ints([100, 200]))]).await;
    let table = alter(&table, |s| {
        field_mut(s, "b").name = "c".into();
        field_mut(s, "a").name = "b".into();
    })
    .await;
    let filter = Predicate::eq(table.field("b").unwrap(), Datum::Int(2)).unwrap();
    assert_eq!(
        read_lines(&table.read().filter(filter)).await.unwrap(),
        [r#"{"b": 2, "c": 200}"#]
    );
    let filter = Predicate::gt(table.field("c").unwrap(), Datum::Int(100)).unwrap();
    assert_eq!(
        read_lines(&table.read().filter(filter)).await.unwrap(),
        [r#"{"b": 2, "c": 200}"#]
    );
    let filter = Predicate::gt(table.field("b").unwrap(), Datum::Int(50)).unwrap();
    assert_eq!(read_lines(&table.read().filter(filter)).await.unwrap(), [""; 0]);
}

/// A column whose type no reader knows is an error when it is selected, and only then.
#[tokio::test]
async fn case_64_one_column_that_cannot_be_read() {
    let table = with_two_rows().await;
    let odd = alter(&table, |s| {
        s.fields
            .push(DataField::new(2, "odd", DataType::parse("BLOB").unwrap()))
    })
    .await;
    let err = odd.read().to_batches().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported, "{err}");
    assert!(err.to_string().contains("odd"), "{err}");
    let read = odd.read().select(["id", "a"]);
    assert_eq!(
        read_lines(&read).await.unwrap(),
        [r#"{"id": 1, "a": "x"}"#, r#"{"id": 2, "a": "y"}"#]
    );
    let filter = Predicate::is_not_null(odd.field("odd").unwrap());
    let err = odd
        .read()
        .select(["id"])
        .filter(filter)
        .to_batches()
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported, "{err}");

    let stored = alter(&odd, |s| {
        s.fields.retain(|f| f.name != "odd");
        s.options
            .insert("fields.a.map.storage-layout".into(), "other".into());
    })
    .await;
    let err = stored.read().to_batches().await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::Unsupported && err.to_string().contains("fields.a.map"),
        "{err}"
    );
    assert_eq!(
        read_lines(&stored.read().select(["id"])).await.unwrap(),
        [r#"{"id": 1}"#, r#"{"id": 2}"#]
    );
}
