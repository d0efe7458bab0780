// SPDX-License-Identifier: Apache-2.0

//! `paimon plan`.

use std::path::{Path, PathBuf};

use paimon::protocol::codec::java::JAVA_SPLIT_VERSION;
use paimon::protocol::json;
use paimon::types::{Error, Result};
use paimon::{DataSplit, Plan};
use serde_json::{Value, json};

use super::planned_rows::PlannedRows;
use super::scan::{read_builder, requested_time, with_time};
use crate::args::{PlanArgs, PlanCodec, RowsArgs};
use crate::session::Session;

pub(super) async fn run(session: &Session, args: &PlanArgs) -> Result<()> {
    let table = session.open(&args.table, args.selector.branch.as_deref()).await?;
    let time = requested_time(session, &args.selector)?;
    let plan = read_builder(session, &table, &args.rows, &args.selector)
        .await?
        .plan()
        .await
        .map_err(|e| with_time(session, e, time))?;
    if let Some(out) = &args.out {
        let files = write_plan(session, &plan, &args.rows, out, args.codec)?;
        if !args.json {
            println!(
                "wrote {} split(s) to {}{}",
                plan.splits.len(),
                shown(&files),
                left_out(args)
            );
            return Ok(());
        }
    }
    if args.json {
        println!("{:#}", plan_json(&plan)?);
    } else {
        print_plan(&plan)?;
    }
    Ok(())
}

/// Native: one file with everything. Java: one file a split, FILE, FILE.1, FILE.2 …
fn write_plan(
    session: &Session,
    plan: &Plan,
    rows: &RowsArgs,
    out: &Path,
    codec: PlanCodec,
) -> Result<Vec<PathBuf>> {
    let write = |path: &Path, bytes: Vec<u8>| {
        std::fs::write(path, bytes).map_err(|e| {
            Error::io("the plan cannot be written")
                .with("path", path.display())
                .with_source(e)
        })
    };
    match codec {
        PlanCodec::Native => {
            let mut envelope = plan.envelope().without_secrets();
            PlannedRows::new(session, rows).put(&mut envelope.options);
            write(out, envelope.to_bytes()?)?;
            Ok(vec![out.to_path_buf()])
        }
        PlanCodec::Java => {
            if plan.splits.is_empty() {
                return Err(Error::invalid(
                    "the plan has no splits, and Java has no form for an empty plan",
                ));
            }
            let mut files = Vec::new();
            for (index, split) in plan.splits.iter().enumerate() {
                let path = match index {
                    0 => out.to_path_buf(),
                    n => PathBuf::from(format!("{}.{n}", out.display())),
                };
                write(&path, split.to_java_bytes(JAVA_SPLIT_VERSION)?)?;
                files.push(path);
            }
            Ok(files)
        }
    }
}

/// What the bytes of a Java split have no place for.
fn left_out(args: &PlanArgs) -> &'static str {
    let rows = &args.rows;
    let any = rows.columns.is_some() || rows.filter.is_some() || rows.limit.is_some();
    match args.codec {
        PlanCodec::Java if any => "; columns, filter and limit are not in it: repeat them with read-split",
        _ => "",
    }
}

fn shown(files: &[PathBuf]) -> String {
    match files {
        [one] => one.display().to_string(),
        [first, .., last] => format!("{} … {}", first.display(), last.display()),
        [] => "no file".to_owned(),
    }
}

fn plan_json(plan: &Plan) -> Result<Value> {
    let splits: Vec<Value> = plan
        .splits
        .iter()
        .map(|split| json::data_split(split, Some(&plan.schema)))
        .collect();
    Ok(json!({
        "snapshotId": plan.snapshot_id(),
        "schemaId": plan.schema.id,
        "branch": plan.branch,
        "location": plan.location,
        "splits": splits,
    }))
}

/// A short text about a plan.
pub(super) fn print_plan(plan: &Plan) -> Result<()> {
    match plan.snapshot_id() {
        None => println!("the table has no snapshot: nothing to read"),
        Some(id) => println!(
            "snapshot {id}: {} split(s), {} file(s), {}, {} bytes",
            plan.splits.len(),
            plan.metrics.files,
            rows(plan.row_count(), plan.live_row_count()),
            plan.metrics.bytes
        ),
    }
    let m = &plan.metrics;
    println!(
        "manifests {} ({} skipped), files considered {} ({} skipped by statistics)",
        m.manifests, m.manifests_skipped, m.files_considered, m.files_skipped_by_stats
    );
    for (index, split) in plan.splits.iter().enumerate() {
        println!("  split {index}: {}", describe(split));
    }
    Ok(())
}

fn describe(split: &DataSplit) -> String {
    let bytes: i64 = split.data_files.iter().map(|f| f.file_size).sum();
    let path = split.bucket_path.rsplit('/').take(2).collect::<Vec<_>>();
    let place = path.into_iter().rev().collect::<Vec<_>>().join("/");
    format!(
        "{place} bucket {}, {} file(s), {}, {bytes} bytes",
        split.bucket,
        split.data_files.len(),
        rows(split.row_count(), split.live_row_count())
    )
}

/// How many rows there are, when some of those in the files are deleted.
fn rows(stored: i64, live: Option<i64>) -> String {
    match live {
        Some(live) if live == stored => format!("{live} row(s)"),
        Some(live) => format!("{live} row(s) and {} deleted", stored - live),
        None => format!("at most {stored} row(s)"),
    }
}
