// SPDX-License-Identifier: Apache-2.0

//! `paimon ingest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use paimon::protocol::codec::java::{JAVA_COMMIT_MESSAGE_VERSION, encode_commit_messages};
use paimon::types::{
    DataField, DataType, Error, ErrorKind, NewTable, Result, datum_from_string, to_arrow_field,
};
use paimon::{CommitOutcome, Table, Writer};

use super::create::create;
use crate::args::IngestArgs;
use crate::input::{format_of, infer, open};
use crate::progress::bar;
use crate::session::Session;

pub(super) async fn run(session: &Session, args: &IngestArgs) -> Result<()> {
    let table = target_table(session, args).await?;
    let mut writer = table.write().await?;
    let spec: BTreeMap<String, String> = args.partition.iter().cloned().collect();
    if args.overwrite {
        writer = writer.overwrite((!spec.is_empty()).then(|| spec.clone()));
    }
    let rows = match write_files(args, &table, &spec, &mut writer).await {
        Ok(rows) => rows,
        Err(err) => {
            // Nothing was committed; the files that were written go away.
            let _ = writer.abort().await;
            return Err(err);
        }
    };
    if let Some(out) = &args.messages {
        let messages = writer.prepare().await?;
        std::fs::write(
            out,
            encode_commit_messages(&messages, JAVA_COMMIT_MESSAGE_VERSION)?,
        )
        .map_err(|e| {
            Error::io(format!("the messages cannot be written: {e}"))
                .with("path", out.display())
                .with_source(e)
        })?;
        println!(
            "{rows} row(s) written, not committed: {} message(s) of version {JAVA_COMMIT_MESSAGE_VERSION} in {}",
            messages.len(),
            out.display()
        );
        return Ok(());
    }
    match writer.commit().await? {
        CommitOutcome::Committed { snapshot_ids } => {
            println!("{rows} row(s) written, snapshot {}", ids(&snapshot_ids))
        }
        CommitOutcome::AlreadyCommitted { snapshot_ids } => {
            println!("committed before as snapshot {}", ids(&snapshot_ids))
        }
        CommitOutcome::NothingToCommit => println!("no rows, nothing committed"),
    }
    Ok(())
}

fn ids(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// The table to write, created from the first file when that was asked for.
async fn target_table(session: &Session, args: &IngestArgs) -> Result<Table> {
    let table = match session.open(&args.table, args.branch.as_deref()).await {
        Ok(table) => table,
        Err(err) if args.create && err.kind() == ErrorKind::NotFound && args.branch.is_none() => {
            create(session, &args.table, inferred(session, args)?).await?
        }
        Err(err) if err.kind() == ErrorKind::NotFound && !args.create => {
            return Err(err.with("hint", "--create makes the table from the first file"));
        }
        Err(err) => return Err(err),
    };
    let keys = &table.schema().partition_keys;
    if let Some((key, _)) = args.partition.iter().find(|(key, _)| !keys.contains(key)) {
        return Err(Error::invalid(format!(
            "'{key}' is no partition column; partition columns: {}",
            keys.join(", ")
        ))
        .with("option", "--partition"));
    }
    Ok(table)
}

/// A definition with the columns of the first file, and those of --partition.
fn inferred(session: &Session, args: &IngestArgs) -> Result<NewTable> {
    let path = args
        .files
        .first()
        .ok_or_else(|| Error::invalid("no input file"))?;
    let mut columns = infer(path, format_of(path, args.format)?)?;
    for (name, _) in args
        .partition
        .iter()
        .filter(|(name, _)| args.partition_by.contains(name))
    {
        if columns.iter().all(|c| c.name != *name) {
            columns.push(DataField::new(0, name, DataType::string()));
        }
    }
    Ok(NewTable {
        columns,
        partition_keys: args.partition_by.clone(),
        primary_keys: args.primary_key.clone(),
        options: session.options.clone(),
        comment: None,
    })
}

/// Writes the rows of all files; an error names the file.
async fn write_files(
    args: &IngestArgs,
    table: &Table,
    spec: &BTreeMap<String, String>,
    writer: &mut Writer,
) -> Result<u64> {
    let progress = bar(None, "rows");
    let mut rows = 0;
    for path in &args.files {
        let at_file = |err: Error| {
            let known = err.context().any(|(key, _)| key == "path");
            if known {
                err
            } else {
                err.with("path", path.display())
            }
        };
        let format = format_of(path, args.format)?;
        for batch in open(path, format, &table.schema().fields).map_err(at_file)? {
            let batch = batch
                .and_then(|batch| with_partition(batch, spec, table))
                .map_err(at_file)?;
            writer.write(&batch).await.map_err(at_file)?;
            rows += batch.num_rows() as u64;
            progress.inc(batch.num_rows() as u64);
        }
    }
    progress.finish_and_clear();
    Ok(rows)
}

/// Adds the columns of --partition that the input does not have.
fn with_partition(batch: RecordBatch, spec: &BTreeMap<String, String>, table: &Table) -> Result<RecordBatch> {
    let schema = batch.schema();
    let missing: Vec<_> = spec
        .iter()
        .filter(|(name, _)| schema.field_with_name(name).is_err())
        .collect();
    if missing.is_empty() {
        return Ok(batch);
    }
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    for (name, text) in missing {
        let field = table.field(name)?;
        let value = match **text == table.meta().partition_naming().default_name {
            true => None,
            false => {
                datum_from_string(text, &field.data_type).map_err(|e| e.with("option", "--partition"))?
            }
        };
        columns.push(paimon::data::repeat(
            value.as_ref(),
            &field.data_type,
            batch.num_rows(),
        )?);
        fields.push(Arc::new(to_arrow_field(field).with_nullable(true)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| Error::invalid("partition columns cannot be added").with_source(e))
}
