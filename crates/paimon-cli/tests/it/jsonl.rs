// SPDX-License-Identifier: Apache-2.0

//! The `jsonl` form of every type, text for text as Java's rows are kept.

use paimon_testkit::fixtures;

use crate::support::Place;

fn check(features: &[&str]) {
    let place = Place::new();
    for fixture in fixtures().iter().filter(|f| features.contains(&f.feature())) {
        let table = fixture.table_dir().display().to_string();
        assert_eq!(
            place.rows(&[&table]),
            fixture.selector("latest").expected(),
            "{}",
            fixture.path
        );
    }
}

#[test]
fn every_atomic_type() {
    check(&["types"]);
}

#[test]
fn every_nested_type() {
    check(&["nested"]);
}

#[test]
fn odd_names() {
    let place = Place::new();
    let fixture = paimon_testkit::fixture("basic/capital-names");
    let table = fixture.table_dir().display().to_string();
    assert_eq!(place.rows(&[&table]), fixture.selector("latest").expected());
    let columns = ["--columns", "with blank,ID", "--filter", "\"über.Größe\" = 200"];
    assert_eq!(
        place.rows(&[&[table.as_str()][..], &columns].concat()),
        [r#"{"with blank": 20, "ID": 2}"#]
    );
}
