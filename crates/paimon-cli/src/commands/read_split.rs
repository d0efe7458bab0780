// SPDX-License-Identifier: Apache-2.0

//! `paimon read-split`: what a worker does, from a file instead of the network.

use std::sync::Arc;

use paimon::data::{ReadContext, default_registry};
use paimon::protocol::Split;
use paimon::protocol::codec::native::NATIVE_PLAN_MAGIC;
use paimon::types::{Error, Result};
use paimon::{DataSplit, PlanEnvelope, Predicate, TableRead};

use super::planned_rows::PlannedRows;
use super::scan::{print_rows, selected_fields};
use crate::args::ReadSplitArgs;
use crate::session::{Session, zone_of};
use crate::sql_filter::parse_filter;

pub(super) async fn run(session: &Session, args: &ReadSplitArgs) -> Result<()> {
    let bytes = std::fs::read(&args.file).map_err(|e| {
        Error::not_found(format!("the split cannot be read: {e}")).with("path", args.file.display())
    })?;
    let at_file = |e: Error| e.with("path", args.file.display());
    let mut planned = PlannedRows::default();
    let (context, splits) = if bytes.starts_with(&NATIVE_PLAN_MAGIC) {
        let mut envelope = PlanEnvelope::from_bytes(&bytes).map_err(at_file)?;
        planned = PlannedRows::take(&mut envelope.options).map_err(at_file)?;
        envelope.options.extend(session.options.clone());
        let context = ReadContext::from_envelope(&envelope, session.storage.clone(), default_registry())?;
        (context, envelope.splits)
    } else {
        let split = java_split(&bytes).map_err(at_file)?;
        let table = args.table.as_deref().ok_or_else(|| {
            Error::invalid("a Java split carries no schema: give its table with --table")
                .with("path", args.file.display())
        })?;
        let table = session.open(table, args.branch.as_deref()).await?;
        (table.split_context()?, vec![split])
    };
    let schema = Arc::clone(&context.read_schema);
    let columns = args.rows.columns.clone().or(planned.columns);
    let fields = selected_fields(&schema, columns.as_deref())?;
    let mut read = TableRead::builder(context).with_row_kind(args.output.row_kind);
    if let Some(columns) = columns {
        read = read.select(columns);
    }
    // Splits were planned for the filter of the plan: another one can only narrow it.
    let mut filters = Vec::new();
    if let Some((text, zone)) = &planned.filter {
        filters.push(parse_filter(&zone_of(zone)?, text, &schema)?);
    }
    if let Some(text) = &args.rows.filter {
        filters.push(parse_filter(&session.zone, text, &schema)?);
    }
    if !filters.is_empty() {
        read = read.filter(Predicate::and(filters));
    }
    let limit = args.rows.limit.into_iter().chain(planned.limit).min();
    print_rows(read.build()?.read_all(splits), &fields, &args.output, limit).await
}

/// A bare `DataSplit`, or one in a `SPLIT_V1` frame.
fn java_split(bytes: &[u8]) -> Result<DataSplit> {
    let (split, _) = Split::from_java_bytes(bytes)?;
    match split {
        Split::Data(split) => Ok(split),
        Split::FallbackData { split, .. } => Ok(split),
        other => Err(Error::unsupported(format!(
            "reading a split of kind {} is not implemented",
            other.kind()
        ))),
    }
}
