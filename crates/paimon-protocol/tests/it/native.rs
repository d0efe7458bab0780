// SPDX-License-Identifier: Apache-2.0

//! The plan envelope: a file of every version decodes for ever, and everything unknown is refused by name.

use std::collections::BTreeMap;

use paimon_protocol::codec::native::NATIVE_PLAN_VERSION;
use paimon_protocol::{
    DataFileMeta, DataSplit, DeletionFile, FileSource, Partition, PlanEnvelope, RowValues, SimpleStats,
    is_secret_option,
};
use paimon_types::{DataType, Datum, Error, ErrorKind};

use crate::sample;

fn golden(version: u16) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/plan-v{version}.bin"))
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| value.to_string()).collect()
}

/// A value in every field. Never change it: the golden files hold it.
pub(crate) fn plan() -> PlanEnvelope {
    let text =
        |value: &str| RowValues::of(&[DataType::string()], &[Some(Datum::String(value.into()))]).unwrap();
    let stats = SimpleStats {
        min_values: text("aaa"),
        max_values: text("zzzzzzzzz"),
        null_counts: [Some(3), None].into(),
    };
    let full = DataFileMeta {
        file_name: "data-1.parquet".into(),
        file_size: 1024,
        row_count: 100,
        min_key: text("k1"),
        max_key: text("k9"),
        key_stats: stats.clone(),
        value_stats: stats,
        min_sequence_number: 15,
        max_sequence_number: 200,
        schema_id: 0,
        level: 3,
        extra_files: strings(&["extra1", "extra-file-2"]),
        creation_time: Some(1_646_252_412_000),
        delete_row_count: Some(11),
        embedded_index: Some(vec![1, 2, 4]),
        file_source: Some(FileSource::Compact),
        value_stats_cols: Some(strings(&["dt"]).into()),
        external_path: Some("s3://other/data-1.parquet".into()),
        first_row_id: Some(12),
        write_cols: Some(strings(&["dt", "id"]).into()),
        write_cols_sequences: Some(vec![15, 100]),
    };
    let minimal = DataFileMeta {
        file_name: "é😀.parquet".into(),
        file_size: 10,
        row_count: 1,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: 2,
        level: 0,
        extra_files: vec![],
        creation_time: None,
        delete_row_count: None,
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    };
    let deletion = |cardinality| DeletionFile {
        path: "s3://b/index-1".into(),
        offset: 1,
        length: 22,
        cardinality,
    };
    let split = DataSplit {
        snapshot_id: 18,
        partition: Partition::from(text("2024-01-31")),
        bucket: 20,
        bucket_path: "s3://b/db.db/t/dt=2024-01-31/bucket-20".into(),
        total_buckets: Some(32),
        data_files: vec![full, minimal.clone()],
        deletion_files: Some(vec![None, Some(deletion(Some(5)))]),
        is_streaming: false,
        raw_convertible: true,
    };
    let second = DataSplit {
        snapshot_id: -1,
        partition: Partition::unpartitioned(),
        bucket: -2,
        bucket_path: String::new(),
        total_buckets: None,
        data_files: vec![minimal],
        deletion_files: Some(vec![Some(deletion(None))]),
        is_streaming: true,
        raw_convertible: false,
    };
    PlanEnvelope {
        location: "s3://b/db.db/t".into(),
        branch: "main".into(),
        read_schema: sample::schema(2),
        schemas: vec![sample::schema(0), sample::schema(1)],
        options: BTreeMap::from([("merge-engine".into(), "deduplicate".into())]),
        snapshot_id: Some(18),
        splits: vec![split, second],
    }
}

#[test]
fn golden_files_decode_for_ever() {
    for version in 1..=NATIVE_PLAN_VERSION {
        let bytes = std::fs::read(golden(version)).unwrap();
        assert_eq!(
            PlanEnvelope::from_bytes(&bytes).unwrap(),
            plan(),
            "version {version}"
        );
        if version == NATIVE_PLAN_VERSION {
            assert_eq!(
                plan().to_bytes().unwrap(),
                bytes,
                "the same version must stay the same bytes"
            );
        }
    }
}

/// Run once for a new version: `cargo test -p paimon-protocol -- --ignored write_golden_file`.
#[test]
#[ignore = "writes the golden file of the current version, which must not change afterwards"]
fn write_golden_file() {
    let path = golden(NATIVE_PLAN_VERSION);
    assert!(!path.exists(), "{} exists already", path.display());
    std::fs::write(path, plan().to_bytes().unwrap()).unwrap();
}

/// Sets version, minimum reader version and flags, puts `extra` behind the body, and makes length and checksum right.
fn forge(version: u16, min_reader: u16, flags: u32, extra: &[u8]) -> Vec<u8> {
    let mut bytes = plan().to_bytes().unwrap();
    bytes.truncate(bytes.len() - 4);
    bytes.extend_from_slice(extra);
    let length = bytes.len() as u64 - 24;
    bytes[8..10].copy_from_slice(&version.to_le_bytes());
    bytes[10..12].copy_from_slice(&min_reader.to_le_bytes());
    bytes[12..16].copy_from_slice(&flags.to_le_bytes());
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

fn refused(bytes: &[u8]) -> Error {
    PlanEnvelope::from_bytes(bytes).unwrap_err()
}

#[test]
fn newer_version_with_additions_is_read() {
    let bytes = forge(NATIVE_PLAN_VERSION + 1, 1, 0, b"a field of the future");
    assert_eq!(PlanEnvelope::from_bytes(&bytes).unwrap(), plan());
}

#[test]
fn what_this_build_does_not_know_is_refused_by_name() {
    let error = refused(&forge(7, 5, 0, b""));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let expected = "plan version 7 needs a reader of version 5 or newer, this build knows versions 1 to 1";
    assert_eq!(error.message(), expected);
    let error = refused(&forge(1, 1, 0x10, b""));
    assert_eq!(
        (error.kind(), error.message()),
        (
            ErrorKind::Unsupported,
            "plan uses unknown features 0x10, this build knows 0x0"
        )
    );
    assert_eq!(
        refused(&forge(1, 1, 0, b"xy")).message(),
        "2 unexpected bytes after the body of a plan"
    );
    assert_eq!(refused(&forge(1, 2, 0, b"")).kind(), ErrorKind::Corrupt);
    assert!(refused(b"PAR1PAR1PAR1").message().starts_with("not a plan"));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = std::fs::read(golden(1)).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(PlanEnvelope::from_bytes(&damaged).is_err(), "bit {bit}");
    }
}

/// A body that promises 2^60 splits in a few bytes, with a right checksum.
#[test]
fn counts_of_hostile_bodies_reserve_nothing() {
    let mut body = vec![0u8; 3];
    body.extend([253, 255, 255, 255, 255, 255, 255, 255, 15]);
    for count_at in 0..6 {
        let mut bytes = plan().to_bytes().unwrap()[..24].to_vec();
        bytes.extend(vec![0u8; count_at]);
        bytes.extend_from_slice(&body[3..]);
        let length = bytes.len() as u64 - 24;
        bytes[16..24].copy_from_slice(&length.to_le_bytes());
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        assert_eq!(refused(&bytes).kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn secrets_do_not_travel() {
    let mut plan = plan();
    let secret = |options: &mut BTreeMap<String, String>| {
        options.insert("fs.s3a.secret.key".into(), "TOPSECRET".into())
    };
    secret(&mut plan.options);
    secret(&mut plan.read_schema.options);
    secret(&mut plan.schemas[0].options);
    let bytes = plan.to_bytes().unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"TOPSECRET"));
    assert_eq!(PlanEnvelope::from_bytes(&bytes).unwrap(), plan.without_secrets());
}

#[test]
fn secret_option_keys() {
    for key in [
        "fs.s3a.access.key",
        "fs.oss.accessKeySecret",
        "s3.secret-key",
        "token",
        "dlf.access-key-id",
        "fs.azure.account.key.x.dfs.core.windows.net",
        "jdbc.password",
        "client.private_key",
        "fs.oss.securityToken",
    ] {
        assert!(is_secret_option(key), "{key}");
    }
    for key in [
        "primary-key",
        "bucket-key",
        "sequence.field",
        "bucket",
        "fs.s3a.endpoint",
        "tokenizer",
        "file.format",
    ] {
        assert!(!is_secret_option(key), "{key}");
    }
}

#[test]
fn schemas_are_complete_and_unique() {
    let mut twice = plan();
    twice.schemas.push(sample::schema(0));
    assert_eq!(
        twice.to_bytes().unwrap_err().message(),
        "plan holds schema 0 twice, expected each once"
    );
    let mut missing = plan();
    missing.schemas.remove(0);
    assert_eq!(
        missing.to_bytes().unwrap_err().message(),
        "plan lacks schema 0 of a data file"
    );
    let mut uneven = plan();
    uneven.splits[0].deletion_files = Some(vec![]);
    assert!(
        uneven
            .to_bytes()
            .unwrap_err()
            .message()
            .contains("0 deletion file entries for 2 data files")
    );
}

/// An option twice: which one counts would depend on the reader.
#[test]
fn options_are_unique() {
    let mut plan = plan();
    plan.options = BTreeMap::from([("k.one".into(), "1".into()), ("k.two".into(), "2".into())]);
    let mut bytes = plan.to_bytes().unwrap();
    let at = bytes.windows(5).position(|window| window == b"k.two").unwrap();
    bytes[at..at + 5].copy_from_slice(b"k.one");
    let body = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..body]).to_le_bytes();
    bytes[body..].copy_from_slice(&checksum);
    let error = refused(&bytes);
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Corrupt, "plan has an option twice")
    );
}

#[test]
fn one_split_of_a_plan() {
    let plan = plan();
    let one = plan.with_splits(vec![plan.splits[1].clone()]).unwrap();
    assert_eq!((one.splits.len(), one.schemas.len()), (1, 0));
    assert_eq!(one.schema(2), Some(&plan.read_schema));
    assert_eq!(PlanEnvelope::from_bytes(&one.to_bytes().unwrap()).unwrap(), one);
    let mut foreign = plan.splits[1].clone();
    foreign.data_files[0].schema_id = 9;
    assert!(
        plan.with_splits(vec![foreign])
            .unwrap_err()
            .message()
            .contains("needs schema 9")
    );
}
