// SPDX-License-Identifier: Apache-2.0

//! `paimon create`, `ingest` and `scan`.

use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support::Place;

const COLUMNS: [&str; 3] = ["id INT NOT NULL", "name STRING", "price DECIMAL(8, 2)"];
const CSV: &str = "id,name,price\n1,\"a, b\",1.50\n2,,-0.25\n3,\"\",\n";

fn place() -> Place {
    let place = Place::new();
    place.table("wh/db.db/t", &COLUMNS, &[], CSV);
    place
}

#[test]
fn text_forms() {
    let place = place();
    assert_eq!(
        place.ok(&["scan", "wh/db.db/t"]),
        "id  name  price\n--  ----  -----\n1   a, b  1.50\n2   NULL  -0.25\n3         NULL\n(3 rows)\n"
    );
    assert_eq!(
        place.ok(&["scan", "wh/db.db/t", "--output", "jsonl"]),
        "{\"id\": 1, \"name\": \"a, b\", \"price\": \"1.50\"}\n{\"id\": 2, \"name\": null, \"price\": \"-0.25\"}\n{\"id\": 3, \"name\": \"\", \"price\": null}\n"
    );
    assert_eq!(
        place.ok(&["scan", "wh/db.db/t", "--output", "csv"]),
        "id,name,price\n1,\"a, b\",1.50\n2,,-0.25\n3,\"\",\n"
    );
    assert_eq!(
        place.ok(&[
            "scan",
            "wh/db.db/t",
            "--output",
            "csv",
            "--row-kind",
            "--columns",
            "id",
            "--limit",
            "1"
        ]),
        "rowkind,id\n+I,1\n"
    );
    assert_eq!(
        place.ok(&[
            "scan",
            "wh/db.db/t",
            "--output",
            "jsonl",
            "--row-kind",
            "--columns",
            "price,id",
            "--limit",
            "1"
        ]),
        "{\"rowkind\": \"+I\", \"price\": \"1.50\", \"id\": 1}\n"
    );
}

#[test]
fn binary_forms() {
    let place = place();
    let stream = place.ok_bytes(&["scan", "wh/db.db/t", "--output", "arrow"]);
    let reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
    assert_eq!(reader.schema().field(0).name(), "id");
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);

    let file = place.ok_bytes(&[
        "scan",
        "wh/db.db/t",
        "--output",
        "parquet",
        "--columns",
        "name,id",
    ]);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))
        .unwrap()
        .build()
        .unwrap();
    let again: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(again[0].schema().field(0).name(), "name");
    assert_eq!(again.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
}

/// What one form prints, `ingest` takes.
#[test]
fn forms_are_read_again() {
    let place = place();
    let original = place.rows(&["wh/db.db/t"]);
    for (form, file) in [
        ("csv", "x.csv"),
        ("jsonl", "x.jsonl"),
        ("parquet", "x.parquet"),
        ("arrow", "x.arrow"),
    ] {
        std::fs::write(
            place.path(file),
            place.ok_bytes(&["scan", "wh/db.db/t", "--output", form]),
        )
        .unwrap();
        let table = format!("wh/db.db/from_{form}");
        place.ok(&[
            "create", &table, "--column", COLUMNS[0], "--column", COLUMNS[1], "--column", COLUMNS[2],
        ]);
        place.ok(&["ingest", &table, file]);
        assert_eq!(place.rows(&[&table]), original, "{form}");
    }
}

#[test]
fn filters_are_sql() {
    let place = place();
    let filtered = |sql: &str| {
        let rows = place.rows(&["wh/db.db/t", "--columns", "id", "--filter", sql]);
        rows.iter()
            .map(|row| row.trim_matches(|c| !char::is_numeric(c)).to_owned())
            .collect::<Vec<_>>()
            .join(",")
    };
    assert_eq!(filtered("id >= 2"), "2,3");
    assert_eq!(filtered("id >= 2 AND name = ''"), "3");
    assert_eq!(filtered("name IS NULL OR price > 1"), "1,2");
    assert_eq!(filtered("price = 1.5"), "1");
    assert_eq!(filtered("id IN (1, 3, NULL)"), "1,3");
    assert_eq!(filtered("id NOT IN (1, NULL)"), "");
    assert_eq!(filtered("NOT (id = 1)"), "2,3");
    assert_eq!(filtered("name LIKE 'a%'"), "1");
    assert_eq!(filtered("id BETWEEN 2 AND 9"), "2,3");
    assert_eq!(filtered("price < 0 OR id = 3"), "2,3");
    for (sql, part) in [
        ("nope = 1", "nope"),
        ("id >", "no SQL condition"),
        ("id = 'x'", "'x'"),
    ] {
        let err = place.error(&["scan", "wh/db.db/t", "--filter", sql]);
        assert!(err.contains(part) && err.contains("--filter"), "{sql}: {err}");
    }
}

#[test]
fn selectors_and_the_session_zone() {
    let place = place();
    place.add("wh/db.db/t", "id,name,price\n4,d,4\n");
    assert_eq!(place.rows(&["wh/db.db/t"]).len(), 4);
    assert_eq!(place.rows(&["wh/db.db/t", "--snapshot-id", "1"]).len(), 3);
    assert_eq!(place.rows(&["wh/db.db/t", "--limit", "2"]).len(), 2);
    assert_eq!(place.rows(&["wh/db.db/t", "--limit", "0"]).len(), 0);

    let snapshots = place.json_lines(&["snapshots", "wh/db.db/t", "--json"]);
    let time = |i: usize| snapshots[i]["timeMillis"].as_i64().unwrap();
    assert_eq!(
        place
            .rows(&["wh/db.db/t", "--timestamp", &time(0).to_string()])
            .len(),
        3
    );
    assert_eq!(
        place
            .rows(&["wh/db.db/t", "--timestamp", &time(1).to_string()])
            .len(),
        4
    );
    let err = place.error(&["scan", "wh/db.db/t", "--timestamp", "1970-01-01 00:00:01"]);
    assert!(err.contains("snapshot 1"), "{err}");

    // `snapshots` shows the time in the session zone, and that text selects the snapshot again.
    for zone in ["UTC", "Asia/Shanghai", "America/New_York"] {
        let shown = place.ok(&["snapshots", "wh/db.db/t", "--time-zone", zone]);
        let line = shown.lines().find(|l| l.trim_start().starts_with("1 ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let text = format!("{} {}", words[2], words[3]);
        let found = place.rows(&["wh/db.db/t", "--timestamp", &text, "--time-zone", zone]);
        assert_eq!(found.len(), 3, "{zone}: {text}");
    }
    let wrong = place.error(&["scan", "wh/db.db/t", "--timestamp", "yesterday"]);
    assert!(wrong.contains("'yesterday' is no time"), "{wrong}");
    let wrong = place.error(&["scan", "wh/db.db/t", "--time-zone", "Mars/Base"]);
    assert!(wrong.contains("Mars/Base"), "{wrong}");
}

#[test]
fn names_in_a_warehouse_and_options() {
    let place = place();
    place.table("wh/db.db/u", &COLUMNS, &[], "id,name,price\n");
    assert_eq!(place.rows(&["db.t", "--warehouse", "wh"]).len(), 3);
    assert_eq!(
        place
            .rows(&["db.t", "--warehouse", "wh", "-o", "scan.snapshot-id=1"])
            .len(),
        3
    );
    let err = place.error(&["scan", "db.t", "--warehouse", "wh", "-o", "scan.snapshot-id=9"]);
    assert!(err.contains("snapshot 9 does not exist"), "{err}");
    let err = place.error(&["scan", "db.t"]);
    assert!(err.contains("--warehouse"), "{err}");
}

#[test]
fn tags_and_branches_of_java() {
    let place = Place::new();
    for path in ["history/tags", "history/branches"] {
        let fixture = paimon_testkit::fixture(path);
        let table = crate::support::java(path);
        for selector in fixture.selectors() {
            let mut arguments = vec![table.clone()];
            if let Some(branch) = &selector.branch {
                arguments.extend(["--branch".to_owned(), branch.clone()]);
            }
            match &selector.at {
                Some(paimon::SnapshotSelector::Tag(tag)) => {
                    arguments.extend(["--tag".to_owned(), tag.clone()])
                }
                Some(paimon::SnapshotSelector::Id(id)) => {
                    arguments.extend(["--snapshot-id".to_owned(), id.to_string()])
                }
                _ => {}
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            assert_eq!(
                place.rows(&arguments),
                selector.expected(),
                "{path} {}",
                selector.name
            );
        }
        let named = format!("{table}$branch_work");
        if path == "history/branches" {
            assert_eq!(place.rows(&[&named]), fixture.selector("work@latest").expected());
        }
    }
}
