// SPDX-License-Identifier: Apache-2.0

use std::path::{Path, PathBuf};

use super::*;
use crate::ErrorKind;

fn parse(text: &str) -> DataType {
    DataType::parse(text).unwrap()
}

fn column(name: &str, data_type: &str) -> DataField {
    DataField::new(99, name, parse(data_type))
}

fn table(columns: &[(&str, &str)]) -> NewTable {
    NewTable {
        columns: columns.iter().map(|(n, t)| column(n, t)).collect(),
        ..NewTable::default()
    }
}

fn with(mut table: NewTable, options: &[(&str, &str)]) -> NewTable {
    table
        .options
        .extend(options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    table
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn refused(table: NewTable, part: &str) {
    let error = table.into_schema(0).unwrap_err();
    assert!(
        error.to_string().contains(part),
        "'{error}' does not say '{part}'"
    );
    assert!(
        matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported),
        "{error:?}"
    );
}

#[test]
fn ids_of_columns_come_before_and_ids_of_fields_after_what_is_inside() {
    let schema = table(&[("a", "ROW<b ROW<c INT, d INT>, e INT>"), ("f", "INT")])
        .into_schema(7)
        .unwrap();
    let TypeKind::Row(a) = &schema.fields[0].data_type.kind else {
        panic!()
    };
    let TypeKind::Row(b) = &a[0].data_type.kind else {
        panic!()
    };
    let ids = [
        schema.fields[0].id,
        b[0].id,
        b[1].id,
        a[0].id,
        a[1].id,
        schema.fields[1].id,
    ];
    assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        (
            schema.highest_field_id,
            schema.id,
            schema.version,
            schema.time_millis
        ),
        (5, 0, 3, 7)
    );
    let schema = table(&[("m", "MAP<ROW<k INT>, ARRAY<ROW<v INT>>>"), ("z", "INT")])
        .into_schema(0)
        .unwrap();
    let TypeKind::Map(key, value) = &schema.fields[0].data_type.kind else {
        panic!()
    };
    let TypeKind::Array(value) = &value.kind else {
        panic!()
    };
    let (TypeKind::Row(key), TypeKind::Row(value)) = (&key.kind, &value.kind) else {
        panic!()
    };
    assert_eq!((key[0].id, value[0].id, schema.fields[1].id), (1, 2, 3));
}

#[test]
fn keys_come_from_the_call_or_from_options() {
    let given = with(
        table(&[("a", "INT"), ("b", "INT")]),
        &[("primary-key", " a , b"), ("partition", "b")],
    );
    let schema = given.into_schema(0).unwrap();
    assert_eq!(
        (schema.primary_keys.clone(), schema.partition_keys.clone()),
        (names(&["a", "b"]), names(&["b"]))
    );
    assert!(schema.options.is_empty() && schema.fields.iter().all(|f| !f.data_type.nullable));
    assert_eq!(
        (schema.trimmed_primary_keys(), schema.bucket_keys()),
        (vec!["a"], vec!["a"])
    );

    let mut both = with(table(&[("a", "INT")]), &[("primary-key", "a")]);
    both.primary_keys = names(&["a"]);
    refused(both, "primary-key");
    let mut nullable = with(
        table(&[("a", "INT NOT NULL")]),
        &[("primary-key.nullable", "true")],
    );
    nullable.primary_keys = names(&["a"]);
    assert!(nullable.into_schema(0).unwrap().fields[0].data_type.nullable);
}

#[test]
fn what_is_refused_names_the_column_or_option() {
    let plain = || table(&[("a", "INT"), ("b", "STRING"), ("m", "MAP<INT, INT>")]);
    let keyed = |primary: &[&str], partition: &[&str]| NewTable {
        primary_keys: names(primary),
        partition_keys: names(partition),
        ..plain()
    };
    plain().into_schema(0).unwrap();
    refused(table(&[]), "at least one column");
    refused(table(&[("a", "INT"), ("a", "INT")]), "column a is given twice");
    refused(table(&[("r", "ROW<x INT, x INT>")]), "name x is given twice");
    refused(table(&[("", "INT")]), "no name");
    for reserved in [
        "_SEQUENCE_NUMBER",
        "_VALUE_KIND",
        "_LEVEL",
        "rowkind",
        "_ROW_ID",
        "_KEY_a",
    ] {
        refused(table(&[(reserved, "INT")]), reserved);
    }
    refused(keyed(&["x"], &[]), "primary key x is not a column");
    refused(keyed(&["a", "a"], &[]), "primary key a is given twice");
    refused(keyed(&["m"], &[]), "MAP<INT, INT>");
    refused(keyed(&[], &["m"]), "partition key");
    refused(keyed(&["a"], &["a"]), "one row only");
    // Buckets.
    refused(with(plain(), &[("bucket", "0")]), "bucket");
    refused(with(plain(), &[("bucket", "2")]), "bucket-key");
    refused(with(plain(), &[("bucket", "-2")]), "primary key");
    refused(with(plain(), &[("bucket-key", "a")]), "bucket-key");
    refused(
        with(plain(), &[("bucket", "2"), ("bucket-key", "x")]),
        "'x' is not a column",
    );
    refused(
        with(plain(), &[("bucket", "2"), ("bucket-key", "a, b")]),
        "' b' is not a column",
    );
    refused(
        with(plain(), &[("bucket", "2"), ("bucket-key", "m")]),
        "MAP<INT, INT>",
    );
    refused(
        with(keyed(&[], &["a"]), &[("bucket", "2"), ("bucket-key", "a")]),
        "partition key",
    );
    refused(
        with(keyed(&["a"], &[]), &[("bucket", "2"), ("bucket-key", "b")]),
        "primary key",
    );
    refused(with(keyed(&["a"], &["b"]), &[("bucket", "2")]), "-1");
    keyed(&["a"], &["b"]).into_schema(0).unwrap();
    refused(
        with(
            plain(),
            &[
                ("bucket", "2"),
                ("bucket-key", "b"),
                ("bucket-function.type", "mod"),
            ],
        ),
        "mod",
    );
    with(plain(), &[("bucket", "2"), ("bucket-key", "a,b")])
        .into_schema(0)
        .unwrap();
    with(keyed(&["a"], &[]), &[("bucket", "-2")])
        .into_schema(0)
        .unwrap();
    // Options.
    refused(with(plain(), &[("type", "format-table")]), "format-table");
    refused(with(plain(), &[("fields.x.stats-mode", "full")]), "names x");
    refused(
        with(plain(), &[("fields.a.stats-mode", "some")]),
        "fields.a.stats-mode",
    );
    refused(with(plain(), &[("fields.a", "some")]), "fields.a");
    with(plain(), &[("fields.default-aggregate-function", "sum")])
        .into_schema(0)
        .unwrap();
    refused(
        with(plain(), &[("changelog-producer", "input")]),
        "changelog-producer",
    );
    refused(
        with(
            keyed(&["a"], &[]),
            &[("merge-engine", "first-row"), ("changelog-producer", "input")],
        ),
        "first-row",
    );
    refused(
        with(keyed(&["a"], &[]), &[("sequence.field", "x")]),
        "sequence field x",
    );
    refused(with(keyed(&["a"], &[]), &[("sequence.field", "b,b")]), "twice");
    refused(
        with(
            plain(),
            &[
                ("snapshot.num-retained.min", "5"),
                ("snapshot.num-retained.max", "4"),
            ],
        ),
        "snapshot.num-retained.min 5",
    );
    refused(
        with(keyed(&["a"], &[]), &[("row-tracking.enabled", "true")]),
        "row-tracking.enabled",
    );
    refused(
        with(plain(), &[("data-evolution.enabled", "true")]),
        "row-tracking.enabled",
    );
    refused(
        with(plain(), &[("scan.snapshot-id", "1"), ("scan.tag-name", "t")]),
        "scan.mode",
    );
    // Types.
    refused(table(&[("a", "INT"), ("b", "BLOB")]), "data-evolution.enabled");
    refused(table(&[("a", "ROW<x BLOB>")]), "BLOB");
    let mut bad = plain();
    bad.columns[0].data_type.kind = TypeKind::Decimal {
        precision: 39,
        scale: 2,
    };
    refused(bad, "out of range");
    let mut bad = plain();
    bad.columns[0].default_value = Some("abc".to_owned());
    refused(bad, "'abc'");
    let mut directive = plain();
    directive.columns[0].description = Some("__BLOB_FIELD; pictures".to_owned());
    refused(directive, "__BLOB_FIELD");
}

const VERSION_3: &str = r#"{
  "version" : 3,
  "id" : 4,
  "fields" : [ {
    "id" : 0,
    "name" : "a \"quoted\"",
    "type" : "DECIMAL(10, 2) NOT NULL",
    "description" : "tab\tand \u0001",
    "defaultValue" : "1.50"
  }, {
    "id" : 1,
    "name" : "r",
    "type" : {
      "type" : "ROW NOT NULL",
      "fields" : [ {
        "id" : 3,
        "name" : "x",
        "type" : {
          "type" : "MAP",
          "key" : "STRING NOT NULL",
          "value" : {
            "type" : "ARRAY NOT NULL",
            "element" : "TIMESTAMP(3) WITH LOCAL TIME ZONE"
          }
        }
      } ]
    }
  }, {
    "id" : 4,
    "name" : "v",
    "type" : {
      "type" : "VECTOR",
      "element" : "FLOAT",
      "length" : 8
    }
  }, {
    "id" : 6,
    "name" : "s",
    "type" : {
      "type" : "MULTISET",
      "element" : "BYTES"
    }
  } ],
  "highestFieldId" : 9,
  "partitionKeys" : [ "r", "s" ],
  "primaryKeys" : [ ],
  "options" : { },
  "comment" : "grün",
  "timeMillis" : 1745206570393
}"#;

#[test]
fn json_is_written_as_it_was_read() {
    let schema = TableSchema::from_json(VERSION_3).unwrap();
    assert_eq!(schema.fields[0].description.as_deref(), Some("tab\tand \u{1}"));
    assert_eq!(schema.fields[2].data_type, parse("VECTOR<FLOAT, 8>"));
    assert_eq!(schema.to_json(), VERSION_3);
}

fn edited(from: &str, to: &str) -> Result<TableSchema> {
    assert!(VERSION_3.contains(from), "{from}");
    TableSchema::from_json(&VERSION_3.replacen(from, to, 1))
}

#[test]
fn broken_schemas_are_refused() {
    let cases = [
        ("\"id\" : 3,", "\"id\" : 0,", "field id 0 is repeated"),
        ("\"id\" : 3,", "", "has no id"),
        ("\"id\" : 6,", "\"id\" : 99999999999,", "32-bit"),
        ("\"DECIMAL(10, 2) NOT NULL\"", "\"DECIMAL(10, 12)\"", "scale 12"),
        ("\"DECIMAL(10, 2) NOT NULL\"", "\"ARRAY<INT>\"", "ARRAY"),
        ("\"MULTISET\"", "\"SET\"", "unknown type SET"),
        ("\"length\" : 8", "\"length\" : 0", "VECTOR"),
        ("[ \"r\", \"s\" ]", "[ \"nope\" ]", "partition key nope"),
        ("\"name\" : \"s\"", "\"name\" : \"v\"", "column name is repeated"),
        ("\"options\" : { }", "\"x\" : 1", "options"),
        ("\"highestFieldId\" : 9", "\"x\" : 1", "highestFieldId"),
        ("{", "", "JSON"),
    ];
    for (from, to, part) in cases {
        let error = edited(from, to).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(
            error.to_string().contains(part),
            "'{error}' does not say '{part}'"
        );
    }
    let newer = edited("\"version\" : 3", "\"version\" : 4").unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::Unsupported);
    assert!(newer.to_string().contains("version 4"), "{newer}");
}

#[test]
fn older_versions_get_their_defaults() {
    let old = |head: &str, options: &str| {
        let text = format!(
            r#"{{{head}"id":0,"fields":[{{"id":0,"name":"a","type":"INT"}}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{options},"unknown":[1]}}"#
        );
        TableSchema::from_json(&text).unwrap()
    };
    let get = |schema: &TableSchema, key: &str| schema.options.get(key).cloned();
    let first = old("", "{}");
    assert_eq!(
        (first.version, first.time_millis, first.comment.clone()),
        (1, 0, None)
    );
    assert_eq!(
        (get(&first, "bucket"), get(&first, "file.format")),
        (Some("1".into()), Some("orc".into()))
    );
    first.validate().unwrap();
    let set = old("", r#"{"bucket":"3","file.format":"avro"}"#);
    assert_eq!(
        (get(&set, "bucket"), get(&set, "file.format")),
        (Some("3".into()), Some("avro".into()))
    );
    let second = old("\"version\":2,", "{}");
    assert_eq!(
        (get(&second, "bucket"), get(&second, "file.format")),
        (None, Some("orc".into()))
    );
    let third = old("\"version\":3,", r#"{"n":5,"b":true}"#);
    assert_eq!((get(&third, "bucket"), get(&third, "file.format")), (None, None));
    assert_eq!(
        (get(&third, "n"), get(&third, "b")),
        (Some("5".into()), Some("true".into()))
    );
}

#[test]
fn types_without_ids_are_numbered_in_document_order() {
    let json = serde_json::json!({"type": "ROW", "fields": [
        {"name": "a", "type": {"type": "ROW", "fields": [{"name": "b", "type": "INT"}]}},
        {"name": "c", "type": "INT"}]});
    assert_eq!(
        DataType::from_json(&json).unwrap(),
        parse("ROW<a ROW<b INT>, c INT>")
    );
    let mixed = serde_json::json!({"type": "ROW", "fields": [
        {"id": 4, "name": "a", "type": "INT"}, {"name": "c", "type": "INT"}]});
    assert!(DataType::from_json(&mixed).is_err());
    let mut deep = serde_json::json!("INT");
    for _ in 0..100 {
        deep = serde_json::json!({"type": "ARRAY", "element": deep});
    }
    assert!(
        DataType::from_json(&deep)
            .unwrap_err()
            .to_string()
            .contains("nested")
    );
}

/// Every schema file of the tables that Java wrote, if they are beside this project.
fn java_schemas() -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                walk(&path, found);
            } else if name.starts_with("schema-") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for place in ["../shared/conformance/tables", "testdata"] {
        walk(&root.join(place), &mut found);
    }
    found
}

#[test]
fn java_schema_files_are_read_and_written_again() {
    let files = java_schemas();
    if files.is_empty() {
        eprintln!("skipped: there are no tables written by Java");
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let schema = TableSchema::from_json(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        let stored: Value = serde_json::from_str(&text).unwrap();
        if schema.version == 3 {
            let written: Value = serde_json::from_str(&schema.to_json()).unwrap();
            assert_eq!(written, stored, "{}", path.display());
        }
        // The options are a map without order in Java; with Java's order the text is the same byte for byte.
        assert_eq!(to_pretty_json(&stored), text, "{}", path.display());
        let arrow = crate::to_arrow_schema(&schema.fields);
        let back = crate::from_arrow_schema(&arrow).unwrap();
        for (field, back) in schema.fields.iter().zip(back) {
            assert_eq!(
                (field.id, &field.data_type),
                (back.id, &back.data_type),
                "{}",
                path.display()
            );
        }
    }
}
