// SPDX-License-Identifier: Apache-2.0

//! Exit status and the form of errors.

use crate::support::{Place, java};

#[test]
fn usage_errors_are_status_2() {
    let place = Place::new();
    for arguments in [
        &["nonsense"][..],
        &["scan"],
        &["scan", "t", "--limit", "many"],
        &["scan", "t", "--output", "xml"],
        &["scan", "t", "--snapshot-id", "1", "--tag", "x"],
        &["scan", "t", "-o", "novalue"],
        &["ingest", "t"],
        &["ingest", "t", "x.csv", "--primary-key", "id"],
        &["decode", "nothing", "x"],
        &["decode", "split", "x", "--reencode", "8"],
        &["plan", "t", "--codec", "xml"],
        &[],
    ] {
        let text = place.usage_error(arguments);
        assert!(
            text.contains("Usage") || text.contains("--help"),
            "{arguments:?}: {text}"
        );
    }
}

#[test]
fn help_and_version_are_status_0() {
    let place = Place::new();
    assert!(place.ok(&["--version"]).starts_with("paimon "));
    let help = place.ok(&["--help"]);
    for command in [
        "quickstart",
        "scan",
        "plan",
        "read-split",
        "ingest",
        "create",
        "ls",
        "schema",
        "snapshots",
        "files",
        "manifests",
        "decode",
    ] {
        assert!(help.contains(command), "{command}");
        assert!(place.ok(&[command, "--help"]).contains("Usage"), "{command}");
    }
}

#[test]
fn errors_are_one_line_and_verbose_shows_more() {
    let place = Place::new();
    let err = place.error(&["scan", "no/such/table"]);
    assert!(err.contains("no table") && err.contains("no/such/table"), "{err}");
    let err = place.error(&["scan", &java("later/type-change")]);
    assert!(err.contains("type"), "{err}");
    let far = java("later/timestamp9-far");
    let err = place.error(&["scan", &far]);
    assert!(err.contains("read.timestamp-unit"), "{err}");
    let rows = paimon_testkit::fixture("later/timestamp9-far")
        .selector("latest")
        .expected()
        .len();
    assert_eq!(place.rows(&[&far, "-o", "read.timestamp-unit=us"]).len(), rows);

    place.file("bad", "{");
    let brief = place.error(&["decode", "snapshot", "bad"]);
    if brief.contains("--verbose") {
        let output = place.run(&["decode", "snapshot", "bad", "--verbose"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            output.stderr.len() > brief.len(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn unknown_columns_list_those_that_are_there() {
    let place = Place::new();
    let table = java("basic/unpartitioned");
    let err = place.error(&["scan", &table, "--columns", "id,nope"]);
    assert!(err.contains("nope") && err.contains("id, name, amount"), "{err}");
    let err = place.error(&["scan", &table, "--filter", "\"Id\" = 1"]);
    assert!(err.contains("Id") && err.contains("id, name, amount"), "{err}");
}
