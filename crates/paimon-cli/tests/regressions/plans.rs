// SPDX-License-Identifier: Apache-2.0

//! Plan files and messages in files.

use crate::place::Place;

#[test]
fn a_plan_file_carries_columns_filter_and_limit() {
    let place = Place::new();
    place.table("t", &["id INT", "at TIMESTAMP(0) WITH LOCAL TIME ZONE"], &[]);
    place.add(
        "t",
        "csv",
        "id,at\n1,2024-01-31 10:00:00\n2,2024-01-31 10:00:00\n3,2024-01-31 10:00:00\n4,2024-01-31 11:00:00\n",
        &[],
    );
    let filter = "at = '2024-01-31 18:00:00'";
    place.ok(&[
        "plan",
        "t",
        "--out",
        "p",
        "--columns",
        "id",
        "--filter",
        filter,
        "--limit",
        "2",
        "--time-zone",
        "Asia/Shanghai",
    ]);
    let read = |more: &[&str]| place.ok(&[&["read-split", "p", "--output", "jsonl"], more].concat());
    assert_eq!(read(&[]), "{\"id\": 1}\n{\"id\": 2}\n");
    assert_eq!(read(&["--filter", "id > 1"]), "{\"id\": 2}\n{\"id\": 3}\n");
    assert_eq!(
        read(&["--limit", "1", "--columns", "at"]),
        "{\"at\": \"2024-01-31 10:00:00Z\"}\n"
    );
    assert_eq!(read(&["--limit", "9"]).lines().count(), 2);
    let text = place.ok(&["plan", "t", "--out", "j", "--codec", "java", "--limit", "2"]);
    assert!(text.contains("repeat them with read-split"), "{text}");
}

#[test]
fn a_list_of_messages_is_told_from_one() {
    let place = Place::new();
    place.table("t", &["id INT"], &[]);
    place.add("t", "csv", "id\n1\n", &["--messages", "m"]);
    let err = place.fails(1, &["decode", "commit-message", "m"]);
    assert!(
        err.contains("list of 1 message(s)") && err.contains("--list"),
        "{err}"
    );
    place.ok(&["decode", "commit-message", "m", "--list"]);
}
