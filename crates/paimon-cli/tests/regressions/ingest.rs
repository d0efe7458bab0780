// SPDX-License-Identifier: Apache-2.0

//! Values of files: what is taken, and what is refused instead of changed.

use crate::place::Place;

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
}

#[test]
fn nested_columns_come_back_from_jsonl() {
    let place = Place::new();
    place.table(
        "t",
        &[
            "id INT",
            "l ARRAY<ARRAY<INT NOT NULL>>",
            "m MAP<STRING, ROW<a INT, b ARRAY<DECIMAL(10, 2)>>>",
            "s MULTISET<DATE>",
            "r ROW<x MAP<INT, BIGINT>, y TIMESTAMP(9)>",
            "v VARIANT",
            "f VECTOR<FLOAT, 2>",
        ],
        &["-o", "bucket=1", "-o", "bucket-key=id"],
    );
    let rows = [
        r#"{"id": 1, "l": [[1, 2], null, []], "m": [["k", {"a": 1, "b": ["1.50", null]}], ["n", null]], "s": [["2024-01-31", 2]], "r": {"x": [[1, 9223372036854775807]], "y": "2024-01-31 10:00:00.123456789"}, "v": {"variant": {"a":1.25,"b":[null,"x"]}}, "f": [1.5, -2.0]}"#,
        r#"{"id": 2, "l": null, "m": [], "s": [], "r": {"x": null, "y": null}, "v": {"variant": null}, "f": null}"#,
        r#"{"id": 3, "l": [], "m": null, "s": null, "r": null, "v": null, "f": [0.0, 3.25]}"#,
    ];
    place.add("t", "jsonl", &rows.join("\n"), &[]);
    assert_eq!(place.rows(&["t"]), rows);
    // The CSV form holds nested values as JSON.
    let csv = place.ok(&["scan", "t", "--output", "csv"]);
    place.add("t", "csv", &csv, &["--overwrite"]);
    assert_eq!(place.rows(&["t"]), rows);
}

#[test]
fn variants_keep_the_text_of_numbers() {
    let place = Place::new();
    place.table("t", &["id INT", "v VARIANT"], &[]);
    place.add(
        "t",
        "jsonl",
        "{\"id\": 1, \"v\": {\"variant\": 12345678901234567890.5}}\n{\"id\": 2, \"v\": {\"variant\": [1e2, 0.1]}}\n",
        &[],
    );
    assert_eq!(
        place.rows(&["t"]),
        [
            r#"{"id": 1, "v": {"variant": 12345678901234567890.5}}"#,
            r#"{"id": 2, "v": {"variant": [100.0,0.1]}}"#
        ]
    );
    let err = place.refused("t", "jsonl", "{\"id\": 1}\n{\"id\": 3, \"v\": 5}\n", &[]);
    has(&err, &["variant", "line: 2", "column: v"]);
}

#[test]
fn partition_values_are_not_ignored() {
    let place = Place::new();
    place.table("t", &["id INT", "p INT"], &["--partition-by", "p"]);
    place.add(
        "t",
        "jsonl",
        "{\"id\": 1}\n{\"id\": 2}\n",
        &["--partition", "p=7"],
    );
    place.add(
        "t",
        "jsonl",
        "{\"id\": 3, \"p\": 7}\n{\"id\": 4}\n",
        &["--partition", "p=7"],
    );
    assert_eq!(
        place.rows(&["t"]),
        [1, 2, 3, 4].map(|id| format!("{{\"id\": {id}, \"p\": 7}}"))
    );
    for (extension, text) in [
        ("jsonl", "{\"id\": 5}\n\n{\"id\": 5, \"p\": 8}\n"),
        ("csv", "id,p\n5,7\n6,8\n"),
    ] {
        let err = place.refused("t", extension, text, &["--partition", "p=7"]);
        has(&err, &["'8'", "'7'", "column: p", "line: 3"]);
    }
    let err = place.refused(
        "t",
        "jsonl",
        "{\"id\": 5, \"p\": null}\n",
        &["--partition", "p=7"],
    );
    has(&err, &["NULL", "'7'", "line: 1"]);
    has(
        &place.refused("t", "csv", "id\n1\n", &["--partition", "p=x"]),
        &["'x'", "INT", "--partition"],
    );
    for (extension, text) in [("jsonl", "{\"id\": 5}\n"), ("csv", "id\n5\n")] {
        let err = place.refused("t", extension, text, &[]);
        has(&err, &["partition column", "column: p", "--partition p=VALUE"]);
    }
    // A key in some rows makes the others NULL.
    place.add("t", "jsonl", "{\"id\": 5, \"p\": 1}\n{\"id\": 6}\n", &[]);
    assert_eq!(
        place.rows(&["t", "--filter", "p IS NULL"]),
        [r#"{"id": 6, "p": null}"#]
    );
    // The same for files with Arrow schemas.
    let parquet = place
        .run(&[
            "scan",
            "t",
            "--columns",
            "id",
            "--limit",
            "2",
            "--output",
            "parquet",
        ])
        .stdout;
    std::fs::write(place.path("ids.parquet"), parquet).unwrap();
    has(
        &place.fails(1, &["ingest", "t", "ids.parquet"]),
        &["partition column", "column: p"],
    );
    place.ok(&["ingest", "t", "ids.parquet", "--partition", "p=9"]);
    assert_eq!(place.rows(&["t", "--filter", "p = 9"]).len(), 2);
}

#[test]
fn static_overwrite_of_a_date_partition() {
    let place = Place::new();
    place.table("t", &["id INT", "d DATE"], &["--partition-by", "d"]);
    place.add("t", "csv", "id,d\n1,2024-01-31\n2,2024-02-01\n", &[]);
    place.add(
        "t",
        "csv",
        "id\n3\n",
        &["--overwrite", "--partition", "d=2024-01-31"],
    );
    assert_eq!(
        place.rows(&["t"]),
        [
            r#"{"id": 2, "d": "2024-02-01"}"#,
            r#"{"id": 3, "d": "2024-01-31"}"#
        ]
    );
}

#[test]
fn the_time_zone_is_that_of_instants() {
    let place = Place::new();
    place.table("t", &["id INT", "at TIMESTAMP(0) WITH LOCAL TIME ZONE"], &[]);
    let zone = ["--time-zone", "Asia/Shanghai"];
    place.add(
        "t",
        "csv",
        "id,at\n1,2024-01-31 08:00:00\n2,2024-01-31T00:00:00Z\n3,2024-01-31 01:00:00+01:00\n",
        &zone,
    );
    place.add(
        "t",
        "jsonl",
        "{\"id\": 4, \"at\": \"2024-01-31 08:00:00\"}\n{\"id\": 5, \"at\": \"2024-01-30 19:00:00-0500\"}\n",
        &zone,
    );
    for id in 1..=5 {
        assert_eq!(
            place.rows(&["t", "--filter", &format!("id = {id}")]),
            [format!("{{\"id\": {id}, \"at\": \"2024-01-31 00:00:00Z\"}}")]
        );
    }
}

#[test]
fn csv_reads_what_csv_writes() {
    let place = Place::new();
    place.table("t", &["id INT", "b BYTES", "s STRING", "d DECIMAL(5, 2)"], &[]);
    let csv = "id,b,s,d\n1,00ff,\"a\"\"b\nc\",1.50\n2,\"\",\"\",\n3,,,-0.01\n";
    place.add("t", "csv", csv, &[]);
    assert_eq!(place.ok(&["scan", "t", "--output", "csv"]), csv);

    place.table("one", &["a STRING"], &[]);
    let csv = "a\nx\n\n\"\"\n\n";
    place.add("one", "csv", csv, &[]);
    assert_eq!(place.ok(&["scan", "one", "--output", "csv"]), csv);
    assert_eq!(place.rows(&["one", "--filter", "a IS NULL"]).len(), 2);
}

#[test]
fn csv_errors_name_column_and_line() {
    let place = Place::new();
    place.table("t", &["id INT", "d DECIMAL(5, 2)", "s STRING"], &[]);
    for (text, parts) in [
        (
            "id,d,s\n1,1,\"x\ny\"\n2,1234.5,z\n",
            &["'1234.5'", "too large", "column: d", "line: 4"][..],
        ),
        (
            "id,d,s\n1,1.005,x\n",
            &["'1.005'", "digits", "column: d", "line: 2"],
        ),
        (
            "id,d,s\n1,1,x\n99999999999,1,x\n",
            &["'99999999999'", "INT", "column: id", "line: 3"],
        ),
        ("id,d,s\n1,1,\"x\n", &["not closed", "line: 2"]),
        ("id,d,s\n1,1\n", &["2 field(s)", "line: 2"]),
        ("id,id\n1,1\n", &["'id' twice"]),
        ("id;d;s\n1;1;x\n", &["commas"]),
    ] {
        has(&place.refused("t", "csv", text, &[]), parts);
    }
    place.add("t", "csv", "id,d,s\n1,1.500,x\n", &[]);
    assert_eq!(place.rows(&["t"]), [r#"{"id": 1, "d": "1.50", "s": "x"}"#]);
}

#[test]
fn values_that_would_change_are_refused() {
    let place = Place::new();
    for (data_type, values) in [
        (
            "TIMESTAMP(3)",
            &[
                "2024-02-30 00:00:00",
                "2024-01-31 10:00:00.1234",
                "2024-01-31 24:00:00",
                "2024-01-31 10:00:00Z",
                "17000000000",
            ][..],
        ),
        (
            "DATE",
            &["20240131", "19000", "2024-02-30", "2024-01-31 x", "2024"],
        ),
        ("TIME", &["25:00:00", "10:60:00", "36000000", "10:00:00+01:00"]),
        ("FLOAT", &["1e39", "-1e39", "abc", "1.5f"]),
        ("DOUBLE", &["1e309"]),
        ("DECIMAL(5, 2)", &["1.234", "1000"]),
        ("BIGINT", &["1.5", "9223372036854775808"]),
        ("TINYINT", &["128"]),
        ("CHAR(3)", &["abcd"]),
        ("VARCHAR(3)", &["äöüß"]),
        ("BINARY(2)", &["000000", "00"]),
        ("VARBINARY(2)", &["000000", "0", "zz"]),
    ] {
        let name = format!("t{}", data_type.replace([' ', '(', ')', ','], "_"));
        place.table(&name, &["id INT", &format!("v {data_type}")], &[]);
        for value in values {
            has(
                &place.refused(&name, "csv", &format!("id,v\n1,\n2,{value}\n"), &[]),
                &["column: v", "line: 3"],
            );
            let number =
                value.parse::<f64>().is_ok() && !data_type.contains("BINARY") && !data_type.contains("CHAR");
            let value = if number {
                value.to_string()
            } else {
                format!("\"{value}\"")
            };
            let text = format!("{{\"id\": 1}}\n\n{{\"id\": 2, \"v\": {value}}}\n");
            has(
                &place.refused(&name, "jsonl", &text, &[]),
                &["column: v", "line: 3"],
            );
        }
        assert_eq!(place.rows(&[&name]), [""; 0]);
    }
    // Lengths of Arrow columns.
    place.table("wide", &["v STRING"], &[]);
    place.add("wide", "csv", "v\nab\nabcd\n", &[]);
    let arrow = place.run(&["scan", "wide", "--output", "arrow"]).stdout;
    std::fs::write(place.path("wide.arrow"), arrow).unwrap();
    place.table("narrow", &["v VARCHAR(3)"], &[]);
    has(
        &place.fails(1, &["ingest", "narrow", "wide.arrow"]),
        &["'abcd'", "4 characters", "column: v", "row: 2", "wide.arrow"],
    );
}

#[test]
fn inference_changes_no_value() {
    let place = Place::new();
    place.file(
        "x.csv",
        "code,big,n,at\n007,9223372036854775808,1,2024-01-31T10:00:00Z\n12,1,2,2024-01-31T10:00:00Z\n",
    );
    place.ok(&["ingest", "a", "x.csv", "--create"]);
    assert_eq!(
        place.rows(&["a"]),
        [
            r#"{"code": "007", "big": "9223372036854775808", "n": 1, "at": "2024-01-31 10:00:00.000000Z"}"#,
            r#"{"code": "12", "big": "1", "n": 2, "at": "2024-01-31 10:00:00.000000Z"}"#
        ]
    );
    place.file("x.jsonl", "{\"big\": 9223372036854775808, \"d\": 1.5}\n");
    place.ok(&["ingest", "b", "x.jsonl", "--create"]);
    assert_eq!(
        place.rows(&["b"]),
        [r#"{"big": "9223372036854775808", "d": 1.5}"#]
    );
}

#[test]
fn a_key_twice_and_other_lines_that_are_no_rows() {
    let place = Place::new();
    place.table("t", &["id INT"], &[]);
    for (text, parts) in [
        (
            "{\"id\": 1}\n\n{\"id\": 1, \"id\": 2}\n",
            &["'id' twice", "line: 3"][..],
        ),
        ("{\"id\": 1}\n{\"id\": 1\n", &["line: 2"]),
        ("{\"id\": 1}\n[1]\n", &["not a JSON object", "line: 2"]),
        ("{\"id\": 1}\n{\"x\": 1}\n{\"id\": 1}\n", &["'x'", "line: 2"]),
        (
            "{\"id\": 1}\n{\"id\": \"a\"}\n{\"id\": 1}\n",
            &["\"a\"", "column: id", "line: 2"],
        ),
    ] {
        has(&place.refused("t", "jsonl", text, &[]), parts);
    }
}

#[test]
fn null_in_a_not_null_column_names_the_line() {
    let place = Place::new();
    place.table("t", &["id INT NOT NULL", "v INT"], &[]);
    for (extension, text) in [
        ("csv", "id,v\n1,1\n\n,4\n"),
        (
            "jsonl",
            "{\"id\": 1}\n\n{\"x\": null}\n{\"v\": 4}\n"
                .replace("{\"x\": null}\n", "")
                .as_str(),
        ),
    ] {
        let err = place.refused("t", extension, text, &[]);
        has(
            &err,
            &[
                "NULL",
                "NOT NULL",
                "column: id",
                if extension == "csv" { "line: 4" } else { "line: 3" },
                "hint",
            ],
        );
    }
}

#[test]
fn a_failed_creation_leaves_nothing() {
    let place = Place::new();
    let mut rows: String = (0..10_001).map(|i| format!("{{\"id\": {i}}}\n")).collect();
    rows.push_str("{\"id\": \"x\"}\n");
    place.file("x.jsonl", &rows);
    has(
        &place.fails(1, &["ingest", "wh/db.db/t", "x.jsonl", "--create"]),
        &["line: 10002"],
    );
    has(&place.fails(1, &["scan", "wh/db.db/t"]), &["no table"]);
    assert!(!place.path("wh/db.db/t").exists());

    // A table that was there stays.
    place.table("wh/db.db/t", &["id INT"], &[]);
    place.fails(1, &["ingest", "wh/db.db/t", "x.jsonl", "--create"]);
    assert_eq!(place.rows(&["wh/db.db/t"]), [""; 0]);
    let err = place.fails(
        1,
        &[
            "ingest",
            "wh/db.db/t",
            "x.jsonl",
            "--create",
            "--partition-by",
            "id",
        ],
    );
    has(&err, &["exists", "--partition-by"]);
    let err = place.fails(
        1,
        &[
            "ingest",
            "wh/db.db/t",
            "x.jsonl",
            "--create",
            "--primary-key",
            "id",
        ],
    );
    has(&err, &["exists", "--primary-key"]);
}

#[test]
fn concurrent_creations_all_write() {
    let place = Place::new();
    place.file("x.csv", "id\n1\n2\n");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| place.ok(&["ingest", "wh/db.db/t", "x.csv", "--create"]));
        }
    });
    assert_eq!(place.rows(&["wh/db.db/t"]).len(), 8);
}

#[test]
fn formats_that_cannot_be_written_are_refused_at_creation() {
    let place = Place::new();
    for (option, part) in [
        ("file.format=xyz", "xyz"),
        ("file.compression=none-such", "none-such"),
    ] {
        let err = place.fails(1, &["create", "t", "--column", "id INT", "-o", option]);
        has(&err, &[part]);
        assert!(!place.path("t").exists(), "{option}");
    }
}

#[test]
fn parquet_values_that_a_cast_would_change_are_refused() {
    let place = Place::new();
    place.table("doubles", &["x DOUBLE", "t TIMESTAMP(6)"], &[]);
    place.file(
        "rows.jsonl",
        "{\"x\": 2.0, \"t\": \"2024-01-01 00:00:00.000000\"}\n{\"x\": 1.5}\n",
    );
    place.ok(&["ingest", "doubles", "rows.jsonl"]);
    let parquet = place.run(&["scan", "doubles", "--output", "parquet"]).stdout;
    std::fs::write(place.path("rows.parquet"), parquet).unwrap();
    place.table("ints", &["x INT", "t TIMESTAMP(6)"], &[]);
    has(
        &place.fails(1, &["ingest", "ints", "rows.parquet"]),
        &["1.5", "column: x"],
    );
    place.table("floats", &["x FLOAT", "t TIMESTAMP(3)"], &[]);
    place.ok(&["ingest", "floats", "rows.parquet"]);
}
