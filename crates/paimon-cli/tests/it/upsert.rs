// SPDX-License-Identifier: Apache-2.0

//! Tables with a primary key: upsert, delete by key, kinds of rows in files.

use crate::support::Place;

fn users(place: &Place, more: &[&str]) {
    let key = ["--primary-key", "id"];
    place.table(
        "t",
        &["id INT NOT NULL", "name STRING", "v BIGINT"],
        &[&key[..], more].concat(),
        "id,name,v\n1,one,1\n2,two,2\n3,three,3\n2,twice,22\n",
    );
}

#[test]
fn upsert_delete_and_time_travel() {
    let place = Place::new();
    users(&place, &[]);
    assert_eq!(
        place.rows(&["t"]),
        [
            r#"{"id": 1, "name": "one", "v": 1}"#,
            r#"{"id": 2, "name": "twice", "v": 22}"#,
            r#"{"id": 3, "name": "three", "v": 3}"#,
        ]
    );
    place.add("t", "v,id\n10,1\n40,4\n");
    place.file("gone.csv", "id\n3\n9\n");
    let said = place.ok(&["ingest", "t", "gone.csv", "--delete"]);
    assert_eq!(said, "2 delete(s) written, snapshot 3\n");
    let now = [
        r#"{"id": 1, "name": null, "v": 10}"#,
        r#"{"id": 2, "name": "twice", "v": 22}"#,
        r#"{"id": 4, "name": null, "v": 40}"#,
    ];
    assert_eq!(place.rows(&["t"]), now);
    assert_eq!(place.rows(&["t", "--snapshot-id", "1"]).len(), 3);
    assert_eq!(place.rows(&["t", "--snapshot-id", "2"]).len(), 4);
    assert_eq!(place.rows(&["t", "--filter", "v = 1"]).len(), 0);
    let options = &place.json(&["schema", "t", "--json"])["options"];
    assert_eq!(options["bucket"], "1");
}

#[test]
fn kinds_stand_in_a_column_of_the_file() {
    let place = Place::new();
    users(&place, &["-o", "bucket=4"]);
    place.add(
        "t",
        "_VALUE_KIND,id,name,v\n3,1,one,1\n1,2,twice,22\n2,2,new,23\n0,7,seven,7\n",
    );
    assert_eq!(
        place.rows(&["t"]),
        [
            r#"{"id": 2, "name": "new", "v": 23}"#,
            r#"{"id": 3, "name": "three", "v": 3}"#,
            r#"{"id": 7, "name": "seven", "v": 7}"#,
        ]
    );
    place.file("bad.csv", "id,_VALUE_KIND\n1,0\n2,4\n");
    let error = place.error(&["ingest", "t", "bad.csv"]);
    assert!(
        error.contains("_VALUE_KIND") && error.contains("line: 3"),
        "{error}"
    );
    place.file(
        "some.jsonl",
        "{\"id\":8,\"_VALUE_KIND\":0}\n{\"id\":2,\"_VALUE_KIND\":3}\n",
    );
    place.ok(&["ingest", "t", "some.jsonl"]);
    let ids = place.rows(&["t", "--columns", "id"]);
    assert_eq!(ids, [r#"{"id": 3}"#, r#"{"id": 7}"#, r#"{"id": 8}"#]);
}

/// Deleted rows are shown with their kind on request, the column first as in Java's `$audit_log`.
#[test]
fn kinds_of_rows_are_shown() {
    let place = Place::new();
    users(&place, &[]);
    place.add("t", "_VALUE_KIND,id,name,v\n3,1,one,1\n2,2,new,23\n1,3,three,3\n");
    assert_eq!(
        place.ok(&["scan", "t", "--row-kind", "--output", "csv"]),
        "rowkind,id,name,v\n-D,1,one,1\n+U,2,new,23\n-U,3,three,3\n"
    );
    let kinds = place.rows(&["t", "--row-kind", "--columns", "v", "--filter", "id < 3"]);
    assert_eq!(
        kinds,
        [r#"{"rowkind": "+U", "v": 23}"#, r#"{"rowkind": "-D", "v": 1}"#]
    );
    assert_eq!(place.rows(&["t"]).len(), 1);
    place.ok(&["plan", "t", "--out", "t.plan"]);
    let of_plan = place.ok(&[
        "read-split",
        "t.plan",
        "--row-kind",
        "--output",
        "csv",
        "--columns",
        "id",
    ]);
    assert_eq!(of_plan, "rowkind,id\n-D,1\n+U,2\n-U,3\n");
}

#[test]
fn the_read_optimized_table_takes_no_rows() {
    let place = Place::new();
    place.ok(&[
        "create",
        "wh/db.db/t",
        "--column",
        "id INT NOT NULL",
        "--primary-key",
        "id",
    ]);
    place.file("rows.csv", "id\n1\n");
    let error = place.error(&["ingest", "wh/db.db/t$ro", "rows.csv"]);
    assert!(
        error.contains("$ro is a view of a table and takes no rows"),
        "{error}"
    );
}

#[test]
fn deletes_that_would_do_nothing_are_refused() {
    let place = Place::new();
    let gone = |name: &str, csv: &str| {
        place.file("gone.csv", csv);
        place.error(&["ingest", name, "gone.csv", "--delete"])
    };
    place.table("plain", &["id INT"], &[], "id\n1\n");
    assert!(gone("plain", "id\n1\n").contains("no primary key"));
    let columns = ["id INT NOT NULL", "v BIGINT", "s INT"];
    for (name, options, csv, problem) in [
        (
            "ordered",
            "sequence.field=s",
            "id\n1\n",
            "the file does not have the column",
        ),
        (
            "ordered2",
            "sequence.field=s",
            "id,s\n1,5\n2,\n",
            "NULL in a row to delete",
        ),
        ("ignoring", "ignore-delete=true", "id\n1\n", "ignores deletes"),
        (
            "summing",
            "merge-engine=aggregation",
            "id\n1\n",
            "aggregation.remove-record-on-delete",
        ),
        (
            "partial",
            "merge-engine=partial-update",
            "id\n1\n",
            "remove-record-on-delete",
        ),
        ("all", "bucket=2", "v\n1\n", "NOT NULL"),
    ] {
        let more = ["--primary-key", "id", "-o", options];
        place.table(name, &columns, &more, "id,v,s\n1,1,1\n");
        let error = gone(name, csv);
        assert!(error.contains(problem), "{name}: {error}");
        assert_eq!(place.rows(&[name]).len(), 1);
    }
    place.file("gone.csv", "id,s\n1,5\n");
    place.ok(&["ingest", "ordered", "gone.csv", "--delete"]);
    assert!(place.rows(&["ordered"]).is_empty());
    place.usage_error(&["ingest", "ordered", "gone.csv", "--delete", "--overwrite"]);
}

#[test]
fn what_needs_compaction_is_refused_by_name() {
    let place = Place::new();
    place.file("rows.csv", "id,v\n1,1\n");
    for option in [
        "changelog-producer=lookup",
        "merge-engine=first-row",
        "deletion-vectors.enabled=true",
        "bucket=-1",
    ] {
        let name = option.split(['=', '.']).next().unwrap();
        let table = format!("t-{name}");
        place.ok(&[
            "create",
            &table,
            "--column",
            "id INT NOT NULL",
            "--column",
            "v INT",
            "--primary-key",
            "id",
            "-o",
            option,
        ]);
        let error = place.error(&["ingest", &table, "rows.csv"]);
        assert!(error.contains(option.split('=').next().unwrap()), "{error}");
    }
}
