// SPDX-License-Identifier: Apache-2.0

//! `paimon scan`, and what it shares with `plan` and `read-split`.

use futures_util::StreamExt;
use paimon::types::{DataField, Error, ErrorKind, Result, TableSchema};
use paimon::{BatchStream, ReadBuilder, SnapshotSelector, Table};

use crate::args::{OutputArgs, RowsArgs, ScanArgs, SelectorArgs};
use crate::output::RowPrinter;
use crate::progress::bar;
use crate::session::Session;
use crate::sql_filter::parse_filter;

pub(super) async fn run(session: &Session, args: &ScanArgs) -> Result<()> {
    let table = session.open(&args.table, args.selector.branch.as_deref()).await?;
    let read = read_builder(session, &table, &args.rows, &args.selector)
        .await?
        .with_row_kind(args.output.row_kind);
    let time = requested_time(session, &args.selector)?;
    let plan = read.plan().await.map_err(|e| with_time(session, e, time))?;
    let fields = plan.read_fields.clone();
    let rows = read.read_plan(plan)?;
    print_rows(rows, &fields, &args.output, args.rows.limit).await
}

/// A read as the arguments describe it. The filter is bound to the schema of the snapshot that is read.
pub(super) async fn read_builder(
    session: &Session,
    table: &Table,
    rows: &RowsArgs,
    selector: &SelectorArgs,
) -> Result<ReadBuilder> {
    let mut read = table.read();
    let mut scan = table.scan();
    let time = requested_time(session, selector)?;
    if let Some(selector) = snapshot_selector(session, selector)? {
        read = read.at(selector.clone());
        scan = scan.at(selector);
    }
    if let Some(columns) = &rows.columns {
        read = read.select(columns.iter().map(|c| c.trim().to_owned()));
    }
    if let Some(text) = &rows.filter {
        let (_, schema) = scan.target().await.map_err(|e| with_time(session, e, time))?;
        read = read.filter(parse_filter(&session.zone, text, &schema)?);
    }
    if let Some(limit) = rows.limit {
        read = read.limit(limit);
    }
    Ok(read)
}

/// The time that the arguments ask for, epoch milliseconds.
pub(super) fn requested_time(session: &Session, args: &SelectorArgs) -> Result<Option<i64>> {
    args.timestamp
        .as_deref()
        .map(|text| session.timestamp_millis(text))
        .transpose()
}

/// Adds the time that was asked for as text to an error that shows milliseconds.
pub(super) fn with_time(session: &Session, err: Error, time: Option<i64>) -> Error {
    match time {
        Some(millis) if err.kind() == ErrorKind::NotFound => err.with("time", session.time_text(millis)),
        _ => err,
    }
}

/// The snapshot that the arguments select, `None` for the newest.
pub(super) fn snapshot_selector(session: &Session, args: &SelectorArgs) -> Result<Option<SnapshotSelector>> {
    Ok(match (args.snapshot_id, &args.tag, &args.timestamp) {
        (Some(id), _, _) => Some(SnapshotSelector::Id(id)),
        (_, Some(tag), _) => Some(SnapshotSelector::Tag(tag.clone())),
        (_, _, Some(text)) => Some(SnapshotSelector::TimestampMillis(session.timestamp_millis(text)?)),
        _ => None,
    })
}

/// The columns of a schema in the order of `names`, all when there are none.
pub(super) fn selected_fields(schema: &TableSchema, names: Option<&[String]>) -> Result<Vec<DataField>> {
    match names {
        None => Ok(schema.fields.clone()),
        Some(names) => names
            .iter()
            .map(|name| {
                schema.field(name.trim()).cloned().ok_or_else(|| {
                    let known: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
                    Error::invalid(format!(
                        "the table has no column '{name}', it has: {}",
                        known.join(", ")
                    ))
                    .with("option", "--columns")
                })
            })
            .collect(),
    }
}

/// Prints a stream; stops after `limit` rows.
pub(super) async fn print_rows(
    mut rows: BatchStream,
    fields: &[DataField],
    output: &OutputArgs,
    limit: Option<usize>,
) -> Result<()> {
    let mut printer = RowPrinter::new(output, fields)?;
    let progress = bar(None, "rows");
    let mut left = limit.unwrap_or(usize::MAX);
    while left > 0 {
        let Some(batch) = rows.next().await else { break };
        let batch = batch?;
        let batch = if batch.num_rows() > left {
            batch.slice(0, left)
        } else {
            batch
        };
        left -= batch.num_rows();
        printer.write(&batch)?;
        progress.inc(batch.num_rows() as u64);
    }
    progress.finish_and_clear();
    printer.finish()
}
