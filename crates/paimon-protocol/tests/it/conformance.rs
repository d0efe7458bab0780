// SPDX-License-Identifier: Apache-2.0

//! Splits and messages that Java wrote, when the folder with them lies beside the repository.

use std::path::{Path, PathBuf};

use paimon_protocol::Split;
use paimon_protocol::codec::java::{
    decode_commit_message, decode_commit_messages, encode_commit_message, encode_commit_messages,
};

use crate::{hex, repository};

/// `wire` of the folder named by `PAIMON_CONFORMANCE_DIR`, else of `../shared/conformance`.
fn wire() -> Option<PathBuf> {
    let base = std::env::var_os("PAIMON_CONFORMANCE_DIR").map(PathBuf::from);
    let wire = base
        .unwrap_or_else(|| repository("../shared/conformance"))
        .join("wire");
    if wire.is_dir() {
        return Some(wire);
    }
    println!(
        "skipped: {} does not exist, set PAIMON_CONFORMANCE_DIR",
        wire.display()
    );
    None
}

/// Files at any depth below a folder.
fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found)
        } else {
            found.push(path)
        }
    }
}

fn in_folder(path: &Path, name: &str) -> bool {
    path.parent().is_some_and(|parent| parent.ends_with(name))
}

#[test]
fn splits_write_back_to_the_same_bytes() {
    let Some(wire) = wire() else { return };
    let mut all = Vec::new();
    files(&wire, &mut all);
    let mut count = 0;
    for path in all
        .iter()
        .filter(|p| in_folder(p, "data-splits") || in_folder(p, "global-index"))
    {
        let bytes = std::fs::read(path).unwrap();
        let (split, encoding) =
            Split::from_java_bytes(&bytes).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        assert_eq!(
            hex(&split.to_java_bytes(encoding).unwrap()),
            hex(&bytes),
            "{}",
            path.display()
        );
        count += 1;
    }
    assert!(count > 0, "no split below {}", wire.display());
}

/// The version of the files of a table, from the folder's README.
fn version(path: &Path) -> Option<i32> {
    let table = path.parent()?.parent()?.file_name()?.to_str()?;
    Some(match table {
        "append_09" | "pk_09_with_dv" => 3,
        "append_10_stats_dense_store" => 4,
        "pk_table_with_dv_cardinality" => 5,
        "append_10"
        | "append_complex_build_in_fieldid"
        | "append_with_empty_partition"
        | "append_with_empty_partition_with_specific_name"
        | "pk_table_nested_type" => 7,
        "pk_dv_index_with_commit_message_version10" => 10,
        "pk_btree_source_meta" => 12,
        _ => return None,
    })
}

#[test]
fn commit_messages_write_back_to_the_same_bytes() {
    let Some(wire) = wire() else { return };
    let mut all = Vec::new();
    files(&wire, &mut all);
    let mut count = 0;
    for path in all.iter().filter(|p| in_folder(p, "commit-messages")) {
        let bytes = std::fs::read(path).unwrap();
        // A table added later: any version that gives the same bytes again will do.
        let versions = version(path).map_or((2..=14).rev().collect::<Vec<_>>(), |version| vec![version]);
        let again = |version: i32| {
            let list = decode_commit_messages(&bytes, version)
                .and_then(|list| encode_commit_messages(&list, version));
            list.or_else(|e| {
                decode_commit_message(&bytes, version)
                    .and_then(|m| encode_commit_message(&m, version))
                    .map_err(|_| e)
            })
        };
        let results: Vec<_> = versions.into_iter().map(again).collect();
        let equal = results
            .iter()
            .any(|result| result.as_ref().is_ok_and(|again| *again == bytes));
        assert!(equal, "{}: {:?}", path.display(), results.first());
        count += 1;
    }
    assert!(count > 0, "no commit message below {}", wire.display());
}
