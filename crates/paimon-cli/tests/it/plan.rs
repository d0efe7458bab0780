// SPDX-License-Identifier: Apache-2.0

//! `paimon plan` and `read-split`: the work goes through a file from one process to another.

use paimon_testkit::{fixture, sorted};

use crate::support::{Place, java};

fn place() -> Place {
    let place = Place::new();
    place.table(
        "t",
        &["id INT", "p INT"],
        &["--partition-by", "p"],
        "id,p\n1,1\n2,2\n3,2\n",
    );
    place
}

fn read(place: &Place, arguments: &[&str]) -> Vec<String> {
    let all = [&["read-split"], arguments, &["--output", "jsonl"]].concat();
    place.ok(&all).lines().map(str::to_owned).collect()
}

#[test]
fn the_native_plan_carries_everything() {
    let place = place();
    let text = place.ok(&["plan", "t", "--out", "plan.bin"]);
    assert_eq!(text, "wrote 2 split(s) to plan.bin\n");
    assert_eq!(sorted(read(&place, &["plan.bin"])), place.rows(&["t"]));
    assert_eq!(
        read(&place, &["plan.bin", "--columns", "p", "--filter", "id = 3"]),
        [r#"{"p": 2}"#]
    );
    assert_eq!(read(&place, &["plan.bin", "--limit", "1"]).len(), 1);
    // Nothing but data files is read.
    for name in ["snapshot", "manifest", "schema"] {
        std::fs::remove_dir_all(place.path("t").join(name)).unwrap();
    }
    assert_eq!(read(&place, &["plan.bin"]).len(), 3);
}

#[test]
fn java_splits_are_one_file_each() {
    let place = place();
    assert_eq!(
        place.ok(&["plan", "t", "--out", "s", "--codec", "java"]),
        "wrote 2 split(s) to s … s.1\n"
    );
    let rows = [
        read(&place, &["s", "--table", "t"]),
        read(&place, &["s.1", "--table", "t"]),
    ]
    .concat();
    assert_eq!(sorted(rows), place.rows(&["t"]));
    let err = place.error(&["read-split", "s"]);
    assert!(err.contains("--table"), "{err}");
    place.ok(&[
        "plan", "t", "--out", "one", "--codec", "java", "--filter", "p = 2",
    ]);
    assert_eq!(read(&place, &["one", "--table", "t"]).len(), 2);
    assert!(!place.path("one.1").exists());
}

#[test]
fn json_and_pruning() {
    let place = place();
    let plan = place.json(&["plan", "t", "--json"]);
    assert_eq!(plan["snapshotId"], 1);
    assert_eq!(plan["splits"].as_array().unwrap().len(), 2);
    let pruned = place.json(&["plan", "t", "--json", "--filter", "p = 2"]);
    assert_eq!(pruned["splits"].as_array().unwrap().len(), 1);
    assert_eq!(
        place.json(&["plan", "t", "--json", "--filter", "p = 9"])["splits"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let text = place.ok(&["plan", "t", "--filter", "p = 2"]);
    assert!(
        text.starts_with("snapshot 1: 1 split(s), 1 file(s), 2 row(s)"),
        "{text}"
    );
    let err = place.error(&["plan", "t", "--filter", "p = 9", "--out", "x", "--codec", "java"]);
    assert!(err.contains("no splits"), "{err}");
}

/// Splits are made of one plan; a later commit does not change them.
#[test]
fn a_plan_is_of_one_snapshot() {
    let place = place();
    place.ok(&["plan", "t", "--out", "plan.bin"]);
    place.add("t", "id,p\n4,1\n");
    assert_eq!(read(&place, &["plan.bin"]).len(), 3);
    place.ok(&["plan", "t", "--out", "plan.bin", "--snapshot-id", "1"]);
    assert_eq!(read(&place, &["plan.bin"]).len(), 3);
    place.ok(&["plan", "t", "--out", "plan.bin"]);
    assert_eq!(read(&place, &["plan.bin"]).len(), 4);
}

#[test]
fn older_schemas_travel_in_the_plan() {
    let place = Place::new();
    let table = java("evolution/rename-drop-add");
    place.ok(&["plan", &table, "--out", "plan.bin"]);
    assert_eq!(
        sorted(read(&place, &["plan.bin"])),
        fixture("evolution/rename-drop-add").selector("latest").expected()
    );
}

#[test]
fn case_62_files_that_are_no_split() {
    let place = place();
    place.ok(&["plan", "t", "--out", "s", "--codec", "java"]);
    let good = place.bytes("s");
    let at = good.windows(4).position(|w| w == 8i32.to_be_bytes()).unwrap();
    let mut unknown = good.clone();
    unknown[at..at + 4].copy_from_slice(&99i32.to_be_bytes());
    std::fs::write(place.path("bad"), &unknown).unwrap();
    let err = place.error(&["read-split", "bad", "--table", "t"]);
    assert!(err.contains("99") && err.contains("bad"), "{err}");
    for bytes in [&b""[..], b"PAIMON", &good[..good.len() - 1]] {
        std::fs::write(place.path("bad"), bytes).unwrap();
        assert!(
            place
                .error(&["read-split", "bad", "--table", "t"])
                .contains("bad")
        );
    }
    assert!(place.error(&["read-split", "none"]).contains("none"));
}
