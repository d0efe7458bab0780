// SPDX-License-Identifier: Apache-2.0

//! `paimon decode`: every kind, and back.

use paimon::protocol::ManifestCommittable;
use paimon::protocol::codec::java::CommittableEncoding;
use paimon::types::{BinaryRow, DataType, Datum, Timestamp};
use paimon::{BucketState, Codec, CommitMessage};
use paimon_testkit::fixture;
use serde_json::{Value, json};

use crate::support::{Place, first_file};

fn decode(place: &Place, arguments: &[&str]) -> Value {
    place.json(&[&["decode"], arguments].concat())
}

#[test]
fn metadata_of_java() {
    let place = Place::new();
    let fixture = fixture("history/overwrite-dynamic");
    let table = fixture.table_dir();
    let path = |dir: &str, prefix: &str| first_file(&table.join(dir), prefix).display().to_string();

    let snapshot = decode(&place, &["snapshot", &path("snapshot", "snapshot-1")]);
    assert_eq!(
        (&snapshot["id"], &snapshot["commitKind"]),
        (&json!(1), &json!("APPEND"))
    );
    let schema = decode(&place, &["schema", &path("schema", "schema-0")]);
    assert_eq!(schema["id"], 0);
    let delta = snapshot["deltaManifestList"].as_str().unwrap();
    let list = decode(
        &place,
        &[
            "manifest-list",
            &table.join("manifest").join(delta).display().to_string(),
        ],
    );
    let manifest = list[0]["fileName"].as_str().unwrap();
    assert!(list[0]["numAddedFiles"].as_i64().unwrap() > 0);
    let entries = decode(
        &place,
        &[
            "manifest",
            &table.join("manifest").join(manifest).display().to_string(),
        ],
    );
    assert_eq!(entries[0]["kind"], "ADD");
    assert!(
        entries[0]["file"]["fileName"]
            .as_str()
            .unwrap()
            .ends_with(".parquet"),
        "{entries:#}"
    );
}

#[test]
fn index_manifest_of_java() {
    let place = Place::new();
    let table = fixture("later/deletion-vectors").table_dir();
    let path = first_file(&table.join("manifest"), "index-manifest")
        .display()
        .to_string();
    let entries = decode(&place, &["index-manifest", &path]);
    assert_eq!(entries[0]["kind"], "ADD", "{entries:#}");
}

/// Manifests in ORC are printed like those in Avro; damaged ones name the file.
#[test]
fn manifests_in_orc() {
    let place = Place::new();
    let table = fixture("formats/manifest-orc-deletion-vectors").table_dir();
    let manifests = table.join("manifest");
    let path = |prefix: &str| first_file(&manifests, prefix);
    let shown = |prefix: &str| path(prefix).display().to_string();

    let index = decode(&place, &["index-manifest", &shown("index-manifest-")]);
    assert_eq!(index[0]["kind"], "ADD", "{index:#}");
    let range = &index[0]["indexFile"]["dvRanges"][0];
    assert!(range["cardinality"].as_i64().unwrap() > 0, "{index:#}");
    let (mut lists, mut entries) = (0, 0);
    for file in std::fs::read_dir(&manifests).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(std::fs::read(&file).unwrap().starts_with(b"ORC"), "{name}");
        if !name.starts_with("manifest-list-") {
            continue;
        }
        lists += 1;
        let list = decode(&place, &["manifest-list", &file.display().to_string()]);
        for meta in list.as_array().unwrap() {
            let manifest = manifests.join(meta["fileName"].as_str().unwrap());
            let decoded = decode(&place, &["manifest", &manifest.display().to_string()]);
            let decoded = decoded.as_array().unwrap();
            let count = |kind: &str| decoded.iter().filter(|e| e["kind"] == kind).count() as u64;
            assert_eq!(count("ADD"), meta["numAddedFiles"].as_u64().unwrap());
            assert_eq!(count("DELETE"), meta["numDeletedFiles"].as_u64().unwrap());
            assert!(decoded[0]["file"]["creationTime"].is_i64(), "{}", decoded[0]);
            entries += decoded.len();
        }
    }
    assert!(lists >= 8 && entries >= 5, "{lists} lists, {entries} entries");

    let bytes = std::fs::read(path("manifest-list-")).unwrap();
    std::fs::write(place.path("cut"), &bytes[..bytes.len() - 20]).unwrap();
    let err = place.error(&["decode", "manifest-list", "cut"]);
    assert!(err.contains("cut"), "{err}");
}

/// Every index file of Java: printed, and back to the same bytes.
#[test]
fn deletion_vectors_and_back() {
    let place = Place::new();
    let mut kinds = std::collections::BTreeSet::new();
    for path in [
        "deletes/mixed",
        "deletes/partitioned-64-bit",
        "later/deletion-vectors",
    ] {
        let table = fixture(path).table_dir();
        for file in std::fs::read_dir(table.join("index")).unwrap() {
            let file = file.unwrap().path();
            let shown = file.display().to_string();
            let vectors = decode(
                &place,
                &["deletion-vectors", &shown, "--reencode", "1", "--out", "again"],
            );
            assert_eq!(place.bytes("again"), std::fs::read(&file).unwrap(), "{shown}");
            for vector in vectors.as_array().unwrap() {
                let rows = vector["rows"].as_array().unwrap().iter();
                let count: u64 = rows
                    .map(|row| {
                        row.as_array()
                            .map_or(1, |r| r[1].as_u64().unwrap() - r[0].as_u64().unwrap() + 1)
                    })
                    .sum();
                assert_eq!(vector["cardinality"], count, "{vector}");
                kinds.insert(vector["kind"].as_str().unwrap().to_owned());
            }
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["32-bit", "64-bit"]);

    // Two vectors, {2,3} and {1}, as Java wrote them.
    let bytes = [
        "01",
        "000000185e43f2d03a30000001000000000001001000000002000300c898f63d",
        "000000165e43f2d03a3000000100000000000000100000000100fa2b5192",
    ]
    .concat();
    let bytes: Vec<u8> = (0..bytes.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&bytes[i..i + 2], 16).unwrap())
        .collect();
    std::fs::write(place.path("dv"), &bytes).unwrap();
    let vectors = decode(&place, &["deletion-vectors", "dv"]);
    assert_eq!(
        vectors,
        json!([
            {"offset": 1, "length": 24, "kind": "32-bit", "cardinality": 2, "rows": [[2, 3]]},
            {"offset": 33, "length": 22, "kind": "32-bit", "cardinality": 1, "rows": [1]},
        ])
    );
    let err = place.error(&[
        "decode",
        "deletion-vectors",
        "dv",
        "--reencode",
        "2",
        "--out",
        "x",
    ]);
    assert!(err.contains("version 1, not 2"), "{err}");
    std::fs::write(place.path("cut"), &bytes[..40]).unwrap();
    let err = place.error(&["decode", "deletion-vectors", "cut"]);
    assert!(err.contains("offset: 33") && err.contains("22 bytes"), "{err}");

    std::fs::write(place.path("hashes"), [0, 0, 0, 1, 255, 255, 255, 255]).unwrap();
    let hashes = decode(
        &place,
        &["hash-index", "hashes", "--reencode", "1", "--out", "again"],
    );
    assert_eq!(hashes, json!([1, -1]));
    assert_eq!(place.bytes("again"), place.bytes("hashes"));
}

#[test]
fn splits_and_back() {
    let place = Place::new();
    let fixture = fixture("partition/two-columns");
    let bytes = fixture
        .split_bytes(&fixture.selector("latest"))
        .unwrap()
        .remove(0);
    std::fs::write(place.path("s"), &bytes).unwrap();
    let split = decode(&place, &["split", "s"]);
    assert_eq!(split["version"], 8, "{split:#}");
    decode(&place, &["split", "s", "--reencode", "8", "--out", "again"]);
    assert_eq!(place.bytes("again"), bytes);
    let older = decode(&place, &["split", "s", "--reencode", "6", "--out", "older"]);
    assert_eq!(older, split, "what is printed is what was read");
    assert_eq!(decode(&place, &["split", "older"])["version"], 6);
    let err = place.error(&["decode", "split", "s", "--reencode", "77", "--out", "x"]);
    assert!(err.contains("77"), "{err}");
    assert!(!place.path("x").exists());
}

#[test]
fn messages_and_back() {
    let place = Place::new();
    let fixture = fixture("history/several-snapshots");
    let bytes = fixture.message_bytes().unwrap();
    std::fs::write(place.path("m"), &bytes).unwrap();
    let version = fixture.message_version.to_string();
    let list = decode(&place, &["commit-message", "m", "--list", "--version", &version]);
    assert_eq!(list.as_array().unwrap().len(), fixture.messages);
    decode(
        &place,
        &[
            "commit-message",
            "m",
            "--list",
            "--version",
            &version,
            "--reencode",
            &version,
            "--out",
            "again",
        ],
    );
    assert_eq!(place.bytes("again"), bytes);
    // One message.
    let one = paimon::protocol::codec::java::decode_commit_messages(&bytes, fixture.message_version)
        .unwrap()
        .remove(0);
    let one = paimon::protocol::codec::java::encode_commit_message(&one, fixture.message_version).unwrap();
    std::fs::write(place.path("one"), &one).unwrap();
    assert_eq!(
        decode(&place, &["commit-message", "one", "--version", &version]),
        list[0]
    );

    let err = place.error(&["decode", "commit-message", "m"]);
    assert!(
        err.contains("--version"),
        "a list as one message, without a version: {err}"
    );
    let err = place.error(&["decode", "commit-message", "m", "--list", "--version", "99"]);
    assert!(err.contains("99"), "{err}");
    let err = place.error(&["decode", "split", "m", "--list"]);
    assert!(err.contains("--list"), "{err}");
}

#[test]
fn committables_and_back() {
    let place = Place::new();
    let message = message_of("history/several-snapshots");
    let committable = ManifestCommittable {
        identifier: 7,
        watermark: Some(-1),
        properties: [("k".to_owned(), "v".to_owned())].into(),
        messages: vec![message.clone(), message],
        ..Default::default()
    };
    let bytes = committable.to_java_bytes(CommittableEncoding::default()).unwrap();
    std::fs::write(place.path("c"), &bytes).unwrap();
    let shown = decode(&place, &["committable", "c"]);
    assert_eq!(shown["identifier"], 7, "{shown:#}");
    assert_eq!(
        (&shown["properties"], &shown["messageVersion"]),
        (&json!({"k": "v"}), &json!(11))
    );
    assert_eq!(shown["messages"].as_array().unwrap().len(), 2);
    let words = [
        "committable",
        "c",
        "--version",
        "5",
        "--reencode",
        "5",
        "--out",
        "again",
    ];
    assert_eq!(decode(&place, &words), shown);
    assert_eq!(place.bytes("again"), bytes);
    decode(&place, &["committable", "c", "--reencode", "4", "--out", "older"]);
    assert_eq!(decode(&place, &["committable", "older", "--version", "4"]), shown);
    let err = place.error(&["decode", "committable", "older"]);
    assert!(err.contains("--version"), "{err}");
    for (form, problem) in [("3", "properties"), ("6", "6"), ("native", "Java")] {
        let err = place.error(&["decode", "committable", "c", "--reencode", form, "--out", "x"]);
        assert!(err.contains(problem), "{err}");
    }
    assert!(!place.path("x").exists());
}

#[test]
fn native_forms_and_back() {
    let place = Place::new();
    let fixture = fixture("partition/two-columns");
    let java = fixture
        .split_bytes(&fixture.selector("latest"))
        .unwrap()
        .remove(0);
    std::fs::write(place.path("s"), &java).unwrap();
    let shown = decode(&place, &["split", "s", "--reencode", "native", "--out", "native"]);
    let native = decode(&place, &["split", "native", "--reencode", "8", "--out", "again"]);
    assert_eq!(place.bytes("again"), java);
    assert_eq!(native["version"], "native");
    assert_eq!(native["dataFiles"], shown["dataFiles"]);

    let message = message_of("history/several-snapshots");
    std::fs::write(
        place.path("m"),
        message.to_bytes(Codec::JAVA_COMMIT_MESSAGE).unwrap(),
    )
    .unwrap();
    let shown = decode(
        &place,
        &["commit-message", "m", "--reencode", "native", "--out", "mn"],
    );
    assert_eq!(decode(&place, &["commit-message", "mn"]), json!([shown]));
    decode(
        &place,
        &["commit-message", "mn", "--reencode", "native", "--out", "mn2"],
    );
    assert_eq!(place.bytes("mn2"), place.bytes("mn"));

    let state = BucketState {
        max_sequence_number: Some(41),
        data_files: Some(message.new_files().cloned().collect()),
        ..BucketState::empty(message.partition.clone(), 3)
    };
    std::fs::write(place.path("b"), state.to_bytes().unwrap()).unwrap();
    let shown = decode(
        &place,
        &["bucket-state", "b", "--reencode", "native", "--out", "b2"],
    );
    assert_eq!(
        (&shown[0]["bucket"], &shown[0]["maxSequenceNumber"]),
        (&json!(3), &json!(41))
    );
    assert_eq!(place.bytes("b2"), place.bytes("b"));
    for kind in ["split", "committable"] {
        place.error(&["decode", kind, "b"]);
    }
    let err = place.error(&["decode", "bucket-state", "b", "--reencode", "8", "--out", "x"]);
    assert!(err.contains("Java"), "{err}");
    assert!(
        place
            .usage_error(&["decode", "split", "s", "--reencode", "new", "--out", "x"])
            .contains("native")
    );
}

fn message_of(name: &str) -> CommitMessage {
    let fixture = fixture(name);
    let bytes = fixture.message_bytes().unwrap();
    CommitMessage::list_from_bytes(&bytes, Codec::Java(fixture.message_version))
        .unwrap()
        .remove(0)
}

#[test]
fn native_plans_and_rows() {
    let place = Place::new();
    place.table("t", &["id INT"], &[], "id\n1\n");
    place.ok(&["plan", "t", "--out", "plan.bin"]);
    let plan = decode(&place, &["split", "plan.bin"]);
    assert_eq!(
        (&plan["snapshotId"], plan["splits"].as_array().unwrap().len()),
        (&json!(1), 1)
    );

    // Arity, then one fixed part: null bits and the slot of each field; the string of up to 7 bytes lies in its slot.
    let mut row = 2i32.to_be_bytes().to_vec();
    row.extend([0; 8]);
    row.extend(7i64.to_le_bytes());
    row.extend(*b"ab\0\0\0\0\0\x82");
    std::fs::write(place.path("row"), &row).unwrap();
    let value = decode(&place, &["binary-row", "row", "--types", "INT, VARCHAR(10)"]);
    assert_eq!(value["values"], json!([7, "ab"]), "{value:#}");
    assert!(value["hash"].is_i64());
    let err = place.error(&["decode", "binary-row", "row", "--types", "INT, WRONG"]);
    assert!(err.contains("WRONG"), "{err}");
}

/// Rows as Java writes them come back from their values, row kind, nulls and long values included.
#[test]
fn rows_and_back() {
    let place = Place::new();
    let types = [
        "INT",
        "VARCHAR(40)",
        "DECIMAL(30, 2)",
        "TIMESTAMP(9)",
        "ARRAY<INT>",
    ];
    let parsed: Vec<DataType> = types.iter().map(|t| DataType::parse(t).unwrap()).collect();
    let values = [
        Some(Datum::Int(-7)),
        Some(Datum::String("longer than seven bytes".to_owned())),
        None,
        Some(Datum::Timestamp(Timestamp {
            millis: 1_700_000_000_000,
            nanos_of_milli: 1,
        })),
        Some(Datum::Array(vec![Some(Datum::Int(1)), None])),
    ];
    let mut row = BinaryRow::encode(&parsed, &values).unwrap().to_serialized();
    let words = |more: &[&'static str]| [&["decode", "binary-row", "row"], more].concat();
    let listed = types.join(", ");
    for kind in 0..4 {
        row[4] = kind;
        let length = |bytes: usize| (bytes as i32).to_be_bytes();
        for (form, bytes) in [
            ("bytes", row.clone()),
            ("stream", [&length(row.len())[..], &row].concat()),
            ("record", [&length(row.len() - 4)[..], &row[4..]].concat()),
        ] {
            std::fs::write(place.path("row"), &bytes).unwrap();
            let again = [
                "binary-row",
                "row",
                "--types",
                &listed,
                "--reencode",
                "1",
                "--out",
                "again",
            ];
            let shown = decode(&place, &again);
            assert_eq!((&shown["form"], &shown["rowKind"]), (&json!(form), &json!(kind)));
            assert_eq!(
                (&shown["values"][0], &shown["values"][4]),
                (&json!(-7), &json!([1, null]))
            );
            assert_eq!(place.bytes("again"), bytes, "{form}");
        }
    }
    let err = place.error(&["decode", "binary-row", "row"]);
    assert!(err.contains("--types"), "{err}");
    std::fs::write(place.path("row"), &row).unwrap();
    for (more, problem) in [
        (&["--reencode", "1", "--out", "x"][..], "--types"),
        (&["--types", "INT", "--reencode", "1", "--out", "x"], "5 fields"),
        (&["--reencode", "native", "--out", "x"], "Java"),
    ] {
        let err = place.error(&words(more));
        assert!(err.contains(problem), "{err}");
    }
    assert!(!place.path("x").exists());
}

/// What is only printed says why.
#[test]
fn metadata_is_not_written_again() {
    let place = Place::new();
    let table = fixture("later/deletion-vectors").table_dir();
    for (kind, dir, prefix, why) in [
        ("snapshot", "snapshot", "snapshot-1", "JSON"),
        ("schema", "schema", "schema-0", "JSON"),
        ("manifest-list", "manifest", "manifest-list-", "compression"),
        ("index-manifest", "manifest", "index-manifest-", "compression"),
    ] {
        let path = first_file(&table.join(dir), prefix).display().to_string();
        decode(&place, &[kind, &path]);
        let err = place.error(&["decode", kind, &path, "--reencode", "3", "--out", "x"]);
        assert!(err.contains(why) && err.contains("--reencode"), "{err}");
    }
    assert!(!place.path("x").exists());
}

#[test]
fn damaged_files_are_errors() {
    let place = Place::new();
    place.file("bad", "not what it should be");
    for kind in [
        "snapshot",
        "schema",
        "manifest-list",
        "manifest",
        "index-manifest",
        "split",
        "commit-message",
        "committable",
        "bucket-state",
        "deletion-vectors",
        "hash-index",
        "binary-row",
    ] {
        let err = place.error(&["decode", kind, "bad"]);
        assert!(err.contains("bad"), "{kind}: {err}");
        assert!(
            place.error(&["decode", kind, "missing"]).contains("missing"),
            "{kind}"
        );
    }
}
