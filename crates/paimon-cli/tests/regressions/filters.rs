// SPDX-License-Identifier: Apache-2.0

//! `--filter` and the arguments around it.

use crate::place::Place;

fn place() -> Place {
    let place = Place::new();
    place.table(
        "t",
        &[
            "a INT",
            "s STRING",
            "b BOOLEAN",
            "at TIMESTAMP(3) WITH LOCAL TIME ZONE",
        ],
        &[],
    );
    place.add(
        "t",
        "csv",
        "a,s,b,at\n1,x,true,2024-01-31 10:00:00\n-2,y,false,2024-01-31 11:00:00\n",
        &[],
    );
    place
}

#[test]
fn twenty_thousand_terms() {
    let place = place();
    let or = vec!["b"; 20_000].join(" OR ");
    assert_eq!(
        place.rows(&["t", "--columns", "a", "--filter", &or]),
        [r#"{"a": 1}"#]
    );
    let and = vec!["b"; 20_000].join(" AND ");
    assert_eq!(
        place.rows(&["t", "--columns", "a", "--filter", &and]),
        [r#"{"a": 1}"#]
    );
    let sum = vec!["1"; 30_000].join("+");
    assert!(
        place
            .fails(1, &["scan", "t", "--filter", &format!("a = {sum}")])
            .contains("--filter")
    );
    let deep = format!("{}b{}", "(".repeat(30_000), ")".repeat(30_000));
    assert!(
        place
            .fails(1, &["scan", "t", "--filter", &deep])
            .contains("nests too deeply")
    );
    // The parser stops at its limit and then sees one NOT too many.
    let not = "NOT ".repeat(20_000);
    assert!(
        place
            .fails(1, &["scan", "t", "--filter", &format!("{not}b")])
            .contains("--filter")
    );
}

#[test]
fn instants_with_a_zone() {
    let place = place();
    for text in [
        "2024-01-31 10:00:00Z",
        "2024-01-31T18:00:00+08:00",
        "2024-01-31 10:00:00",
    ] {
        let filter = format!("at = '{text}'");
        assert_eq!(
            place.rows(&["t", "--columns", "a", "--filter", &filter]),
            [r#"{"a": 1}"#],
            "{text}"
        );
    }
    let local = [
        "--time-zone",
        "Asia/Shanghai",
        "--filter",
        "at = TIMESTAMP '2024-01-31 18:00:00'",
    ];
    assert_eq!(
        place.rows(&[&["t", "--columns", "a"], &local[..]].concat()),
        [r#"{"a": 1}"#]
    );
    let err = place.fails(1, &["scan", "t", "--filter", "at = '2024-01-31 10:00:00 Mars'"]);
    assert!(err.contains("+08:00"), "{err}");
}

#[test]
fn arguments_that_begin_with_a_minus() {
    let place = place();
    assert_eq!(
        place.rows(&["t", "--columns", "a", "--filter", "-1 > a"]),
        [r#"{"a": -2}"#]
    );
    for (arguments, part) in [
        (["--limit", "-5"], "number of rows"),
        (["--snapshot-id", "-1"], "id of a snapshot"),
        (["--columns", ""], "names of columns"),
    ] {
        let err = place.fails(2, &[&["scan", "t"], &arguments[..]].concat());
        assert!(err.contains(part), "{err}");
    }
}

#[test]
fn messages() {
    let place = place();
    let err = place.fails(1, &["scan", "t", "--filter", "a LIKE 'x%'"]);
    assert!(
        err.contains("LIKE tests text, column 'a' is of type INT"),
        "{err}"
    );
    let err = place.fails(1, &["scan", "t", "--timestamp", "1000"]);
    assert!(err.contains("1970-01-01 00:00:01.000 UTC"), "{err}");
    let err = place.fails(1, &["create", "u", "--column", "id INT", "-o", "bucket=x"]);
    assert_eq!(err.matches("bucket").count(), 1, "{err}");
}
