// SPDX-License-Identifier: Apache-2.0

//! `paimon schema`, `snapshots`, `files` and `manifests`.

use std::io::{BufWriter, Write, stdout};

use paimon::json_rows::write_timestamp;
use paimon::types::{Result, Timestamp};
use paimon::{Snapshot, Table};
use serde_json::{Value, json};

use super::scan::{requested_time, snapshot_selector, with_time};
use crate::args::InspectArgs;
use crate::output::output_failed;
use crate::session::Session;

pub(super) async fn schema(
    session: &Session,
    table: &str,
    branch: Option<&str>,
    id: Option<i64>,
    json: bool,
) -> Result<()> {
    let table = session.open(table, branch).await?;
    let schema = match id {
        Some(id) => table.meta().schema_manager().schema(id).await?,
        None => table.schema().clone(),
    };
    if json {
        println!("{}", schema.to_json());
        return Ok(());
    }
    println!("table {} (schema {})", table.location(), schema.id);
    if let Some(comment) = &schema.comment {
        println!("-- {comment}");
    }
    for field in &schema.fields {
        let mut line = format!("  {} {}", field.name, field.data_type);
        if let Some(default) = &field.default_value {
            line.push_str(&format!(" DEFAULT {default}"));
        }
        if let Some(description) = &field.description {
            line.push_str(&format!("  -- {description}"));
        }
        println!("{line}");
    }
    if !schema.partition_keys.is_empty() {
        println!("partitioned by: {}", schema.partition_keys.join(", "));
    }
    if !schema.primary_keys.is_empty() {
        println!("primary key: {}", schema.primary_keys.join(", "));
    }
    for (key, value) in &schema.options {
        println!("option {key} = {value}");
    }
    Ok(())
}

pub(super) async fn snapshots(
    session: &Session,
    table: &str,
    branch: Option<&str>,
    json: bool,
) -> Result<()> {
    let table = session.open(table, branch).await?;
    print_snapshots(session, &table, json).await
}

/// Prints the snapshots of a table, oldest first.
pub(super) async fn print_snapshots(session: &Session, table: &Table, json: bool) -> Result<()> {
    let snapshots = table.meta().snapshot_manager().all().await?;
    let mut out = BufWriter::new(stdout());
    if json {
        for snapshot in &snapshots {
            let value: Value = serde_json::from_str(&snapshot.to_json()).unwrap_or(Value::Null);
            writeln!(out, "{value}").map_err(output_failed)?;
        }
        return out.flush().map_err(output_failed);
    }
    writeln!(
        out,
        "{:>6}  {:<9}  {:<23}  {:>8}  {:>12}  {:>12}  user",
        "id", "kind", "time", "schema", "added", "total"
    )
    .map_err(output_failed)?;
    for s in &snapshots {
        writeln!(
            out,
            "{:>6}  {:<9}  {:<23}  {:>8}  {:>12}  {:>12}  {}",
            s.id,
            s.commit_kind.as_str(),
            local_time(session, s),
            s.schema_id,
            s.delta_record_count,
            s.total_record_count,
            s.commit_user
        )
        .map_err(output_failed)?;
    }
    out.flush().map_err(output_failed)
}

fn local_time(session: &Session, snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let shift = i64::from(session.offset_seconds(snapshot.time_millis)) * 1000;
    write_timestamp(&mut text, Timestamp::from_millis(snapshot.time_millis + shift), 3);
    text
}

async fn selected(session: &Session, args: &InspectArgs) -> Result<(Table, Option<Snapshot>)> {
    let table = session.open(&args.table, args.selector.branch.as_deref()).await?;
    let mut scan = table.scan();
    if let Some(selector) = snapshot_selector(session, &args.selector)? {
        scan = scan.at(selector);
    }
    let time = requested_time(session, &args.selector)?;
    let (snapshot, _) = scan.target().await.map_err(|e| with_time(session, e, time))?;
    Ok((table, snapshot))
}

pub(super) async fn files(session: &Session, args: &InspectArgs) -> Result<()> {
    let (table, snapshot) = selected(session, args).await?;
    let mut out = BufWriter::new(stdout());
    if !args.json {
        writeln!(
            out,
            "{:>10}  {:>12}  {:>6}  {:>5}  partition/bucket/file",
            "rows", "bytes", "schema", "level"
        )
        .map_err(output_failed)?;
    }
    let Some(snapshot) = snapshot else {
        return out.flush().map_err(output_failed);
    };
    for entry in table.meta().list_files(&snapshot).await? {
        let partition = table.meta().partition_path(&entry.partition)?;
        let file = &entry.file;
        if args.json {
            let value = json!({
                "partition": partition,
                "bucket": entry.bucket,
                "fileName": file.file_name,
                "fileSize": file.file_size,
                "rowCount": file.row_count,
                "schemaId": file.schema_id,
                "level": file.level,
                "minSequenceNumber": file.min_sequence_number,
                "maxSequenceNumber": file.max_sequence_number,
                "externalPath": file.external_path,
            });
            writeln!(out, "{value}").map_err(output_failed)?;
        } else {
            let place = if partition.is_empty() {
                String::new()
            } else {
                format!("{partition}/")
            };
            writeln!(
                out,
                "{:>10}  {:>12}  {:>6}  {:>5}  {place}bucket-{}/{}",
                file.row_count, file.file_size, file.schema_id, file.level, entry.bucket, file.file_name
            )
            .map_err(output_failed)?;
        }
    }
    out.flush().map_err(output_failed)
}

pub(super) async fn manifests(session: &Session, args: &InspectArgs) -> Result<()> {
    let (table, snapshot) = selected(session, args).await?;
    let mut out = BufWriter::new(stdout());
    if !args.json {
        writeln!(
            out,
            "{:<5}  {:>10}  {:>7}  {:>7}  {:>6}  file",
            "list", "bytes", "added", "deleted", "schema"
        )
        .map_err(output_failed)?;
    }
    let Some(snapshot) = snapshot else {
        return out.flush().map_err(output_failed);
    };
    let store = table.meta().manifest_store();
    let mut lists = vec![
        ("base", snapshot.base_manifest_list.clone()),
        ("delta", snapshot.delta_manifest_list.clone()),
    ];
    lists.extend(snapshot.changelog_manifest_list.clone().map(|name| ("log", name)));
    for (kind, list) in lists {
        for meta in store.read_list(&list).await? {
            if args.json {
                let value = json!({
                    "list": kind,
                    "fileName": meta.file_name,
                    "fileSize": meta.file_size,
                    "numAddedFiles": meta.num_added_files,
                    "numDeletedFiles": meta.num_deleted_files,
                    "schemaId": meta.schema_id,
                });
                writeln!(out, "{value}").map_err(output_failed)?;
            } else {
                writeln!(
                    out,
                    "{kind:<5}  {:>10}  {:>7}  {:>7}  {:>6}  {}",
                    meta.file_size,
                    meta.num_added_files,
                    meta.num_deleted_files,
                    meta.schema_id,
                    meta.file_name
                )
                .map_err(output_failed)?;
            }
        }
    }
    out.flush().map_err(output_failed)
}
