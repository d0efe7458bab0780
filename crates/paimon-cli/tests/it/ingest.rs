// SPDX-License-Identifier: Apache-2.0

//! `paimon ingest`: creation, overwrite, partitions, refusals.

use crate::support::Place;

const COLUMNS: [&str; 3] = ["id INT", "v STRING", "p INT"];

fn partitioned() -> Place {
    let place = Place::new();
    place.table("t", &COLUMNS, &["--partition-by", "p"], "id,v,p\n1,a,1\n2,b,2\n");
    place
}

fn ids(place: &Place, more: &[&str]) -> Vec<String> {
    let rows = place.rows(&[&["t", "--columns", "id"], more].concat());
    rows.iter()
        .map(|row| row.trim_matches(|c| !char::is_numeric(c)).to_owned())
        .collect()
}

#[test]
fn a_table_from_a_file() {
    let place = Place::new();
    place.file("x.csv", "id,name,score,day\n1,a,1.5,2024-01-31\n2,,,\n");
    let text = place.ok(&["ingest", "wh/db.db/t", "x.csv", "--create"]);
    assert!(text.contains("2 row(s) written, snapshot 1"), "{text}");
    assert_eq!(place.rows(&["wh/db.db/t"]).len(), 2);
    place.ok(&["ingest", "wh/db.db/t", "x.csv", "--create"]);
    assert_eq!(place.rows(&["wh/db.db/t"]).len(), 4, "the second time it appends");

    place.file(
        "y.jsonl",
        "{\"id\": 1, \"tags\": [\"a\", null], \"p\": \"x\"}\n{\"p\": \"y\", \"id\": 2}\n",
    );
    place.ok(&[
        "ingest",
        "wh/db.db/u",
        "y.jsonl",
        "--create",
        "--partition-by",
        "p",
    ]);
    assert_eq!(
        place.rows(&["wh/db.db/u"]),
        [
            r#"{"id": 1, "tags": ["a", null], "p": "x"}"#,
            r#"{"id": 2, "tags": null, "p": "y"}"#
        ]
    );
    let err = place.error(&["ingest", "wh/db.db/none", "x.csv"]);
    assert!(err.contains("--create"), "{err}");
}

#[test]
fn overwrite_replaces_what_it_says() {
    let place = partitioned();
    place.file("more.csv", "id,v,p\n3,c,2\n");
    // The partitions that are written.
    place.ok(&["ingest", "t", "more.csv", "--overwrite"]);
    assert_eq!(ids(&place, &[]), ["1", "3"]);
    // A given partition, whose value the file need not have.
    place.file("part.csv", "id,v\n4,d\n5,e\n");
    place.ok(&["ingest", "t", "part.csv", "--overwrite", "--partition", "p=1"]);
    assert_eq!(ids(&place, &[]), ["3", "4", "5"]);
    assert_eq!(ids(&place, &["--filter", "p = 1"]), ["4", "5"]);
    // The whole table.
    place.ok(&[
        "ingest",
        "t",
        "more.csv",
        "--overwrite",
        "-o",
        "dynamic-partition-overwrite=false",
    ]);
    assert_eq!(ids(&place, &[]), ["3"]);
    let kinds: Vec<String> = place
        .json_lines(&["snapshots", "t", "--json"])
        .iter()
        .map(|s| s["commitKind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["APPEND", "OVERWRITE", "OVERWRITE", "OVERWRITE"]);

    // Rows outside of the partition that is overwritten.
    let err = place.error(&["ingest", "t", "more.csv", "--overwrite", "--partition", "p=1"]);
    assert!(
        err.contains("the file has '2', but --partition gives '1'"),
        "{err}"
    );
    let err = place.error(&["ingest", "t", "part.csv", "--partition", "nope=1"]);
    assert!(err.contains("partition columns: p"), "{err}");
    assert_eq!(ids(&place, &[]), ["3"]);
}

#[test]
fn a_partition_value_for_all_rows() {
    let place = partitioned();
    place.file("part.csv", "id,v\n4,d\n");
    place.ok(&["ingest", "t", "part.csv", "--partition", "p=7"]);
    place.ok(&[
        "ingest",
        "t",
        "part.csv",
        "--partition",
        "p=__DEFAULT_PARTITION__",
    ]);
    assert_eq!(
        place.rows(&["t", "--filter", "id = 4"]),
        [
            r#"{"id": 4, "v": "d", "p": 7}"#,
            r#"{"id": 4, "v": "d", "p": null}"#
        ]
    );
}

#[test]
fn case_54_null_in_a_not_null_column_names_column_and_row() {
    let place = Place::new();
    place.table("t", &["id INT NOT NULL", "v INT"], &[], "id,v\n1,1\n");
    place.file("bad.csv", "id,v\n2,2\n3,3\n,4\n");
    let err = place.error(&["ingest", "t", "bad.csv"]);
    for part in ["NOT NULL", "column: id", "line: 4", "path: bad.csv"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    assert_eq!(place.rows(&["t"]), [r#"{"id": 1, "v": 1}"#]);
    assert_eq!(place.json_lines(&["snapshots", "t", "--json"]).len(), 1);
}

#[test]
fn values_that_do_not_fit() {
    let place = partitioned();
    for (csv, part) in [
        ("id,v,p\nx,a,1\n", "id"),
        ("id,v,p\n99999999999,a,1\n", "id"),
        ("id,v,p,extra\n1,a,1,2\n", "extra"),
    ] {
        place.file("bad.csv", csv);
        let err = place.error(&["ingest", "t", "bad.csv"]);
        assert!(err.contains(part) && err.contains("bad.csv"), "{csv}: {err}");
    }
    let err = place.error(&["ingest", "t", "missing.csv"]);
    assert!(err.contains("missing.csv"), "{err}");
    let err = place.error(&["ingest", "t", "rows.unknown"]);
    assert!(err.contains("--format"), "{err}");
    assert_eq!(ids(&place, &[]), ["1", "2"], "nothing was committed");
}

#[test]
fn messages_for_another_committer() {
    let place = partitioned();
    place.file("more.csv", "id,v,p\n3,c,2\n4,d,1\n");
    let text = place.ok(&["ingest", "t", "more.csv", "--messages", "out.bin"]);
    assert!(
        text.contains("not committed: 2 message(s) of version 11"),
        "{text}"
    );
    assert_eq!(ids(&place, &[]), ["1", "2"]);
    let messages = place.json(&["decode", "commit-message", "out.bin", "--list", "--version", "11"]);
    assert_eq!(messages.as_array().unwrap().len(), 2);
}

#[test]
fn several_files_are_one_commit() {
    let place = partitioned();
    place.file("a.csv", "id,v,p\n3,c,2\n");
    place.file("b.jsonl", "{\"id\": 4, \"v\": \"d\", \"p\": 3}\n");
    place.ok(&["ingest", "t", "a.csv", "b.jsonl"]);
    assert_eq!(ids(&place, &[]), ["1", "2", "3", "4"]);
    assert_eq!(place.json_lines(&["snapshots", "t", "--json"]).len(), 2);
}
