// SPDX-License-Identifier: Apache-2.0

//! Commit messages of Java: made again byte for byte, and committed by us into a table of ours.

use std::collections::BTreeSet;
use std::path::Path;

use paimon::protocol::codec::java::{decode_commit_messages, encode_commit_messages};
use paimon::{CommitMessage, CommitOutcome, NewTable, Storage, Table};
use paimon_testkit::{Fixture, copy_dir, fixtures, read_lines};

fn messages(fixture: &Fixture) -> Option<Vec<CommitMessage>> {
    let bytes = fixture.message_bytes()?;
    let messages = decode_commit_messages(&bytes, fixture.message_version).unwrap();
    assert_eq!(messages.len(), fixture.messages, "{}", fixture.path);
    let again = encode_commit_messages(&messages, fixture.message_version).unwrap();
    assert!(
        again == bytes,
        "{}: the messages are encoded to other bytes",
        fixture.path
    );
    Some(messages)
}

#[test]
fn messages_are_made_again() {
    let count: usize = fixtures()
        .iter()
        .filter_map(messages)
        .map(|list| list.len())
        .sum();
    assert!(count > 300, "only {count} messages");
}

/// Names of the files that the newest snapshot of main has.
async fn live_files(table: &Table) -> BTreeSet<String> {
    let plan = table.read().plan().await.unwrap();
    plan.splits
        .iter()
        .flat_map(|s| &s.data_files)
        .map(|f| f.file_name.clone())
        .collect()
}

/// A table with the schemas of the fixture, without a snapshot, and with all of its data files.
async fn fresh_table(fixture: &Fixture, original: &Table, dir: &Path) -> Table {
    let location = dir.to_str().unwrap();
    let schema = original.schema();
    if schema.id == 0 {
        let definition = NewTable {
            columns: schema.fields.clone(),
            partition_keys: schema.partition_keys.clone(),
            primary_keys: schema.primary_keys.clone(),
            options: schema.options.clone(),
            comment: schema.comment.clone(),
        };
        let created = Table::create(Storage::default(), location, definition)
            .await
            .unwrap();
        assert_eq!(created.schema().fields, schema.fields, "{}", fixture.path);
    }
    for entry in std::fs::read_dir(fixture.table_dir()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let copy = match name.as_str() {
            "snapshot" | "manifest" | "tag" | "branch" | "changelog" => false,
            "schema" => schema.id != 0,
            _ => true,
        };
        if copy {
            copy_dir(&fixture.table_dir().join(&name), &dir.join(&name));
        }
    }
    Table::open_with(Storage::default(), location, Default::default())
        .await
        .unwrap()
}

/// Tables to which files were only ever added: committing all messages again gives the same rows.
#[tokio::test]
async fn messages_of_java_are_committed() {
    let mut committed = 0;
    for fixture in fixtures().iter().filter(|f| !f.is_pending()) {
        let Some(messages) = messages(fixture).filter(|m| !m.is_empty()) else {
            continue;
        };
        let latest = fixture.selector("latest");
        let original = fixture.open(&latest, &[]).await.unwrap();
        let added: BTreeSet<String> = messages
            .iter()
            .flat_map(|m| &m.data_increment.new_files)
            .map(|f| f.file_name.clone())
            .collect();
        if live_files(&original).await != added {
            // Overwritten, truncated, or messages of branches.
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let table = fresh_table(fixture, &original, &dir.path().join("t")).await;
        let outcome = table.new_commit().commit(messages).await.unwrap();
        assert!(
            matches!(outcome, CommitOutcome::Committed { .. }),
            "{}",
            fixture.path
        );
        assert_eq!(
            fixture.comparable(read_lines(&table.read()).await.unwrap()),
            fixture.comparable(latest.expected()),
            "{}",
            fixture.path
        );
        let total = table
            .meta()
            .snapshot_manager()
            .latest()
            .await
            .unwrap()
            .unwrap()
            .total_record_count;
        // Deleted rows count: they are still in the files.
        let java = original
            .meta()
            .snapshot_manager()
            .latest()
            .await
            .unwrap()
            .unwrap();
        assert_eq!(total, java.total_record_count, "{}", fixture.path);
        committed += 1;
    }
    assert!(committed > 100, "only {committed} tables");
}
