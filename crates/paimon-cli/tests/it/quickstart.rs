// SPDX-License-Identifier: Apache-2.0

use crate::support::Place;

/// The main job, then the same table with the other commands.
#[test]
fn quickstart_runs_and_leaves_a_table() {
    let place = Place::new();
    let text = place.ok(&["quickstart", "here"]);
    for command in ["create", "ingest", "snapshots", "plan", "scan"] {
        assert!(
            text.contains(&format!("$ paimon {command} default.flights")),
            "{command}: {text}"
        );
    }
    assert!(text.contains("here/warehouse/default.db/flights"), "{text}");

    let carriers = |more: &[&str]| {
        let table = ["default.carriers", "--warehouse", "here/warehouse"];
        let mut hubs: Vec<String> = place
            .rows(&[&table[..], &["--columns", "carrier,hub"], more].concat())
            .iter()
            .map(ToString::to_string)
            .collect();
        hubs.sort();
        hubs.join("\n")
    };
    let now = carriers(&[]);
    assert_eq!(now.lines().count(), 8, "{now}");
    assert!(
        now.contains("CLT") && now.contains("MQ") && !now.contains("\"US\""),
        "{now}"
    );
    let before = carriers(&["--snapshot-id", "1"]);
    assert_eq!(before.lines().count(), 8, "{before}");
    assert!(!before.contains("MQ") && before.contains("\"US\""), "{before}");

    let table = ["default.flights", "--warehouse", "here/warehouse"];
    let count = |more: &[&str]| {
        place
            .rows(&[&table[..], &["--columns", "flight"], more].concat())
            .len()
    };
    let lines = |name: &str| {
        place.ok(&["ls", "here/warehouse"]).len() + place.bytes(name).iter().filter(|b| **b == b'\n').count()
    };
    let (january, february) = (
        lines("here/data/flights-2013-01.csv"),
        lines("here/data/flights-2013-02.csv"),
    );
    let name = place.ok(&["ls", "here/warehouse"]);
    assert_eq!(name, "default.carriers\ndefault.flights\n");
    // A line feed after each row and the header.
    let (january, february) = (january - name.len() - 1, february - name.len() - 1);
    assert_eq!(count(&[]), january + february);
    assert_eq!(count(&["--snapshot-id", "1"]), january);
    assert_eq!(count(&["--filter", "month = 2"]), february);

    // A second time it refuses to write over what is there.
    let err = place.error(&["quickstart", "here"]);
    assert!(err.contains("there is a warehouse here already"), "{err}");
}
