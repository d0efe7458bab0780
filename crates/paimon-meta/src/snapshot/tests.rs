// SPDX-License-Identifier: Apache-2.0

use super::*;
use paimon_types::ErrorKind;

const OLD: &str = r#"{
  "version" : 3, "id" : 1, "schemaId" : 0,
  "baseManifestList" : "b", "deltaManifestList" : "d", "changelogManifestList" : null,
  "commitUser" : "u", "commitIdentifier" : 9223372036854775807, "commitKind" : "APPEND",
  "timeMillis" : 17, "logOffsets" : { }, "totalRecordCount" : null, "changelogRecordCount" : 0,
  "watermark" : -9223372036854775808
}"#;

#[test]
fn old_file_reads() {
    let snapshot = Snapshot::from_json(OLD).unwrap();
    assert_eq!(snapshot.total_record_count, 0);
    assert_eq!(snapshot.delta_record_count, 0);
    assert_eq!(snapshot.changelog_record_count, Some(0));
    assert_eq!(snapshot.commit_identifier, i64::MAX);
    assert_eq!(snapshot.watermark, None);
    assert_eq!(snapshot.changelog_manifest_list, None);
    assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
}

#[test]
fn missing_version_is_one_and_newer_is_refused() {
    assert_eq!(
        Snapshot::from_json(&OLD.replace("\"version\" : 3, ", ""))
            .unwrap()
            .version,
        1
    );
    let err = Snapshot::from_json(&OLD.replace("\"version\" : 3", "\"version\" : 4")).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    assert!(err.message().contains('4'), "{err}");
}

#[test]
fn unknown_kind_and_missing_key_are_named() {
    let err = Snapshot::from_json(&OLD.replace("APPEND", "UPSERT")).unwrap_err();
    assert!(
        err.kind() == ErrorKind::Unsupported && err.message().contains("UPSERT"),
        "{err}"
    );
    let err = Snapshot::from_json(&OLD.replace("\"commitUser\" : \"u\", ", "")).unwrap_err();
    assert!(
        err.kind() == ErrorKind::Corrupt && err.message().contains("commitUser"),
        "{err}"
    );
}

#[test]
fn layout_is_that_of_jackson() {
    let mut snapshot = Snapshot::from_json(OLD).unwrap();
    snapshot.changelog_record_count = None;
    snapshot.next_row_id = Some(0);
    snapshot.properties.insert("a\"b".into(), "é\n".into());
    assert_eq!(
        snapshot.to_json(),
        "{\n  \"version\" : 3,\n  \"id\" : 1,\n  \"schemaId\" : 0,\n  \"baseManifestList\" : \"b\",\n  \
         \"deltaManifestList\" : \"d\",\n  \"commitUser\" : \"u\",\n  \"commitIdentifier\" : 9223372036854775807,\n  \
         \"commitKind\" : \"APPEND\",\n  \"timeMillis\" : 17,\n  \"totalRecordCount\" : 0,\n  \
         \"deltaRecordCount\" : 0,\n  \"properties\" : {\n    \"a\\\"b\" : \"é\\n\"\n  },\n  \"nextRowId\" : 0\n}"
    );
}
