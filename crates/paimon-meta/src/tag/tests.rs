// SPDX-License-Identifier: Apache-2.0

use super::*;

fn tag_text(extra: &str) -> String {
    format!(
        r#"{{"version":3,"id":1,"schemaId":0,"baseManifestList":"b","deltaManifestList":"d","commitUser":"u",
        "commitIdentifier":1,"commitKind":"APPEND","timeMillis":17{extra}}}"#
    )
}

#[test]
fn retention_reads_and_writes() {
    let text =
        tag_text(r#","tagCreateTime":[2024,1,2,10,11,12,123456789],"tagTimeRetained":86400.500000000"#);
    let tag = Tag::from_json("t", &text).unwrap();
    assert_eq!(tag.time_retained, Some(Duration::new(86400, 500_000_000)));
    assert_eq!(
        tag.create_time,
        Some(Timestamp {
            millis: 1_704_190_272_123,
            nanos_of_milli: 456_789
        })
    );
    let written = tag.to_json();
    assert!(
        written.ends_with(
            "\"tagCreateTime\" : [ 2024, 1, 2, 10, 11, 12, 123456789 ],\n  \"tagTimeRetained\" : 86400.500000000\n}"
        ),
        "{written}"
    );
    assert_eq!(Tag::from_json("t", &written).unwrap(), tag);
}

#[test]
fn short_time_and_no_retention() {
    let tag = Tag::from_json(
        "t",
        &tag_text(r#","tagCreateTime":[2024,1,2,10,11],"tagTimeRetained":5"#),
    )
    .unwrap();
    assert!(tag.to_json().contains("[ 2024, 1, 2, 10, 11 ]"));
    assert!(tag.to_json().contains("5.000000000"));
    let tag = Tag::from_json("t", &tag_text("")).unwrap();
    assert!(!tag.to_json().contains("tag"));
}

#[test]
fn bad_time_is_corrupt() {
    assert!(
        Tag::from_json(
            "t",
            &tag_text(r#","tagCreateTime":[2024,13,2,10,11],"tagTimeRetained":5"#)
        )
        .is_err()
    );
    assert!(Tag::from_json("t", &tag_text(r#","tagCreateTime":"x","tagTimeRetained":5"#)).is_err());
}
