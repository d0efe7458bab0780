// SPDX-License-Identifier: Apache-2.0

//! `paimon ingest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use paimon::types::{DataField, Error, ErrorKind, NewTable, Result, datum_from_string, to_arrow_field};
use paimon::{CommitOutcome, Table};

use super::create::create;
use crate::args::IngestArgs;
use crate::input::{format_of, infer, open};
use crate::progress::bar;
use crate::session::Session;

pub(super) async fn run(session: &Session, args: &IngestArgs) -> Result<()> {
    let (rows, outcome) = ingest(session, args).await?;
    match outcome {
        CommitOutcome::Committed { snapshot_ids } => println!("{rows} row(s) written, snapshot {}", ids(&snapshot_ids)),
        CommitOutcome::AlreadyCommitted { snapshot_ids } => println!("committed before as snapshot {}", ids(&snapshot_ids)),
        CommitOutcome::NothingToCommit => println!("no rows, nothing committed"),
    }
    Ok(())
}

fn ids(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// Writes all files and commits once; the number of rows and what the commit did.
pub(super) async fn ingest(session: &Session, args: &IngestArgs) -> Result<(u64, CommitOutcome)> {
    let mut inputs = Vec::with_capacity(args.files.len());
    for path in &args.files {
        inputs.push((path.as_path(), format_of(path, args.format)?));
    }
    let table = match session.open(&args.table, args.branch.as_deref()).await {
        Ok(table) => table,
        Err(err) if args.create && err.kind() == ErrorKind::NotFound && args.branch.is_none() => {
            let (path, format) = *inputs.first().ok_or_else(|| Error::invalid("no input file"))?;
            let mut columns = infer(path, format)?;
            for (name, _) in args.partition.iter().filter(|(name, _)| args.partition_by.contains(name)) {
                if columns.iter().all(|c| c.name != *name) {
                    columns.push(DataField::new(0, name, paimon::types::DataType::string()));
                }
            }
            let definition = NewTable {
                columns,
                partition_keys: args.partition_by.clone(),
                primary_keys: args.primary_key.clone(),
                options: session.options.clone(),
                comment: None,
            };
            create(session, &args.table, definition).await?
        }
        Err(err) if err.kind() == ErrorKind::NotFound && !args.create => {
            return Err(err.with("hint", "--create makes the table from the first file"));
        }
        Err(err) => return Err(err),
    };
    let spec: BTreeMap<String, String> = args.partition.iter().cloned().collect();
    if let Some(key) = spec.keys().find(|k| !table.schema().partition_keys.contains(k)) {
        return Err(Error::invalid(format!(
            "'{key}' is no partition column; the table is partitioned by: {}",
            table.schema().partition_keys.join(", ")
        ))
        .with("option", "--partition"));
    }
    let mut writer = table.write().await?;
    if args.overwrite {
        writer = writer.overwrite((!spec.is_empty()).then(|| spec.clone()));
    }
    let progress = bar(None, "rows");
    let mut rows = 0;
    for (path, format) in inputs {
        let written: Result<()> = async {
            for batch in open(path, format, &table.schema().fields)? {
                let batch = with_partition(batch?, &spec, &table)?;
                rows += batch.num_rows() as u64;
                writer.write(&batch).await?;
                progress.inc(batch.num_rows() as u64);
            }
            Ok(())
        }
        .await;
        if let Err(err) = written {
            // Nothing was committed; the files that were written go away.
            let _ = writer.abort().await;
            let known = err.context().any(|(key, _)| key == "path");
            return Err(if known { err } else { err.with("path", path.display()) });
        }
    }
    progress.finish_and_clear();
    Ok((rows, writer.commit().await?))
}

/// Adds the columns of --partition that the input does not have.
fn with_partition(batch: RecordBatch, spec: &BTreeMap<String, String>, table: &Table) -> Result<RecordBatch> {
    let schema = batch.schema();
    let missing: Vec<_> = spec.iter().filter(|(name, _)| schema.field_with_name(name).is_err()).collect();
    if missing.is_empty() {
        return Ok(batch);
    }
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    for (name, text) in missing {
        let field = table.field(name)?;
        let value = match **text == table.meta().partition_naming().default_name {
            true => None,
            false => datum_from_string(text, &field.data_type).map_err(|e| e.with("option", "--partition"))?,
        };
        columns.push(paimon::data::repeat(value.as_ref(), &field.data_type, batch.num_rows())?);
        fields.push(Arc::new(to_arrow_field(field).with_nullable(true)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| Error::invalid("partition columns cannot be added").with_source(e))
}
