// SPDX-License-Identifier: Apache-2.0

//! `paimon create`, `ls`, `schema`, `snapshots`, `files` and `manifests`.

use serde_json::{Value, json};

use crate::support::{Place, java};

#[test]
fn create_and_schema() {
    let place = Place::new();
    let created = place.ok(&[
        "create",
        "db.t",
        "--warehouse",
        "wh",
        "--column",
        "id BIGINT NOT NULL",
        "--column",
        "`a b` MAP<STRING, INT>",
        "--column",
        "p INT",
        "--partition-by",
        "p",
        "--comment",
        "some rows",
        "-o",
        "bucket=2",
        "-o",
        "bucket-key=id",
    ]);
    assert!(
        created.starts_with("created ") && created.contains("wh/db.db/t"),
        "{created}"
    );
    let text = place.ok(&["schema", "db.t", "--warehouse", "wh"]);
    for part in [
        "-- some rows",
        "id BIGINT NOT NULL",
        "a b MAP<STRING, INT>",
        "partitioned by: p",
        "option bucket = 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let schema = place.json(&["schema", "wh/db.db/t", "--json"]);
    assert_eq!(schema["fields"][1]["name"], "a b");
    assert_eq!(schema["partitionKeys"], json!(["p"]));

    let err = place.error(&["create", "db.t", "--warehouse", "wh", "--column", "id INT"]);
    assert!(err.contains("already"), "{err}");
    let text = place.ok(&[
        "create",
        "db.t",
        "--warehouse",
        "wh",
        "--column",
        "id INT",
        "--if-not-exists",
    ]);
    assert_eq!(text, "exists already\n");
    let err = place.error(&["create", "x", "--column", "id NUMBER"]);
    assert!(err.contains("id") && err.contains("NUMBER"), "{err}");
    let err = place.error(&["create", "x"]);
    assert!(err.contains("--column"), "{err}");
    let err = place.error(&["create", "x", "--column", "id INT", "-o", "bucket=many"]);
    assert!(err.contains("bucket") && err.contains("many"), "{err}");

    // A schema file makes the same table.
    place.file("schema.json", &schema.to_string());
    place.ok(&["create", "wh/db.db/u", "--schema", "schema.json"]);
    let again = place.json(&["schema", "wh/db.db/u", "--json"]);
    for key in ["fields", "partitionKeys", "primaryKeys", "options"] {
        assert_eq!(again[key], schema[key], "{key}");
    }
    assert_eq!(place.ok(&["ls", "wh"]), "db.t\ndb.u\n");
    assert_eq!(place.ok(&["ls", "--warehouse", "wh"]), "db.t\ndb.u\n");
    assert_eq!(place.ok(&["ls", "db", "--warehouse", "wh"]), "db.t\ndb.u\n");
    assert!(place.error(&["ls"]).contains("--warehouse"));
}

#[test]
fn older_schemas() {
    let place = Place::new();
    let table = java("evolution/rename-drop-add");
    let names = |id: &str| -> Vec<String> {
        let schema = place.json(&["schema", &table, "--json", "--id", id]);
        schema["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("4"), ["name", "p", "key", "age"]);
    assert_ne!(names("0"), names("4"));
    let err = place.error(&["schema", &table, "--id", "77"]);
    assert!(err.contains("77"), "{err}");
    assert!(
        place
            .ok(&["schema", &java("history/branches"), "--branch", "work"])
            .contains("(schema 1)")
    );
}

#[test]
fn snapshots_files_and_manifests() {
    let place = Place::new();
    place.table(
        "t",
        &["id INT", "p STRING"],
        &["--partition-by", "p"],
        "id,p\n1,a\n2,a/b\n",
    );
    place.add("t", "id,p\n3,\n");
    let snapshots = place.json_lines(&["snapshots", "t", "--json"]);
    assert_eq!(
        snapshots
            .iter()
            .map(|s| s["id"].as_i64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(snapshots[1]["totalRecordCount"], 3);
    assert_eq!(place.ok(&["snapshots", "t"]).lines().count(), 3);

    let files = place.json_lines(&["files", "t", "--json"]);
    let mut partitions: Vec<&str> = files.iter().map(|f| f["partition"].as_str().unwrap()).collect();
    partitions.sort_unstable();
    assert_eq!(partitions, ["p=__DEFAULT_PARTITION__", "p=a", "p=a%2Fb"]);
    assert_eq!(
        files.iter().map(|f| f["rowCount"].as_i64().unwrap()).sum::<i64>(),
        3
    );
    for file in &files {
        let path = format!(
            "t/{}/bucket-0/{}",
            file["partition"].as_str().unwrap(),
            file["fileName"].as_str().unwrap()
        );
        let size = std::fs::metadata(place.path(&path)).unwrap().len();
        assert_eq!(file["fileSize"].as_u64(), Some(size), "{path}");
    }
    assert_eq!(
        place
            .json_lines(&["files", "t", "--json", "--snapshot-id", "1"])
            .len(),
        2
    );
    assert!(place.ok(&["files", "t"]).contains("p=a%2Fb/bucket-0/data-"));

    let manifests = place.json_lines(&["manifests", "t", "--json"]);
    let lists: Vec<&Value> = manifests.iter().map(|m| &m["list"]).collect();
    assert_eq!(lists, ["base", "delta"]);
    assert_eq!(manifests[1]["numAddedFiles"], 1);
    assert_eq!(place.ok(&["manifests", "t"]).lines().count(), 3);
    assert_eq!(
        place
            .json_lines(&["manifests", "t", "--json", "--snapshot-id", "1"])
            .len(),
        1
    );
}

#[test]
fn a_table_without_snapshots() {
    let place = Place::new();
    let table = java("basic/never-written");
    assert_eq!(place.ok(&["files", &table, "--json"]), "");
    assert_eq!(place.ok(&["manifests", &table, "--json"]), "");
    assert_eq!(place.ok(&["snapshots", &table, "--json"]), "");
    assert_eq!(place.ok(&["scan", &table, "--output", "jsonl"]), "");
    assert!(place.ok(&["plan", &table]).contains("no snapshot"));
}
