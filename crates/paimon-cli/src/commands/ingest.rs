// SPDX-License-Identifier: Apache-2.0

//! `paimon ingest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int8Array, RecordBatch};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use futures_util::TryStreamExt;
use paimon::protocol::codec::java::{JAVA_COMMIT_MESSAGE_VERSION, encode_commit_messages};
use paimon::types::{
    DataField, DataType, Error, ErrorKind, MergeEngine, NewTable, Result, RowKind, TypeKind, system_field,
    to_arrow_field,
};
use paimon::{CommitOutcome, Table, Writer};

use super::create::{create, fix_buckets};
use crate::args::IngestArgs;
use crate::input::{Rows, Target, format_of, from_text, infer, open};
use crate::progress::bar;
use crate::session::Session;

/// Column with the kinds of rows: 0 (+I), 1 (-U), 2 (+U), 3 (-D).
const VALUE_KIND: &str = "_VALUE_KIND";

pub(super) async fn run(session: &Session, args: &IngestArgs) -> Result<()> {
    let (table, created) = target_table(session, args).await?;
    let result = write(session, args, &table).await;
    if let (Err(err), true) = (&result, created)
        && err.kind() != ErrorKind::Unknown
    {
        drop_created(&table).await;
    }
    result
}

/// Takes back the table that this call created. It stays when anything but its schema is there: another process uses it then.
async fn drop_created(table: &Table) {
    let storage = table.meta().storage();
    let location = table.location();
    let Ok(files) = storage.list_recursive(location).try_collect::<Vec<_>>().await else {
        return;
    };
    if let [only] = files.as_slice()
        && only.path.ends_with("/schema/schema-0")
        && let Err(err) = storage.delete_dir(location).await
    {
        eprintln!("warning: the table that was created stays: {err}");
    }
}

async fn write(session: &Session, args: &IngestArgs, table: &Table) -> Result<()> {
    let target = Arc::new(target(session, args, table)?);
    let deletes = args.delete.then(|| Deletes::of(table)).transpose()?;
    let mut writer = table.write().await?;
    if args.overwrite {
        // The same values in the form of partition specs, which have rules of their own for dates and instants.
        let naming = table.meta().partition_naming();
        let spec = target
            .given
            .iter()
            .map(|(field, value)| {
                let text = naming.value_to_string(value.as_ref(), &field.data_type)?;
                Ok((field.name.clone(), text))
            })
            .collect::<Result<BTreeMap<_, _>>>()?;
        writer = writer.overwrite((!spec.is_empty()).then_some(spec));
    }
    let rows = match write_files(args, &target, deletes.as_ref(), &mut writer).await {
        Ok(rows) => rows,
        Err(err) => {
            // Nothing was committed; the files that were written go away.
            let _ = writer.abort().await;
            return Err(err);
        }
    };
    let what = match args.delete {
        true => "delete(s) written",
        false => "row(s) written",
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
            "{rows} {what}, not committed: {} message(s) of version {JAVA_COMMIT_MESSAGE_VERSION} in {}",
            messages.len(),
            out.display()
        );
        return Ok(());
    }
    match writer.commit().await? {
        CommitOutcome::Committed { snapshot_ids } => {
            println!("{rows} {what}, snapshot {}", ids(&snapshot_ids))
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

/// The table to write, and whether it was created from the first file, when that was asked for.
async fn target_table(session: &Session, args: &IngestArgs) -> Result<(Table, bool)> {
    let open = || session.open(&args.table, args.branch.as_deref());
    let table = match open().await {
        Ok(table) => table,
        Err(err) if args.create && err.kind() == ErrorKind::NotFound && args.branch.is_none() => {
            match create(session, &args.table, inferred(session, args)?).await {
                Ok(created) => {
                    // With the options of -o, as any other table.
                    let _ = created;
                    return Ok((open().await?, true));
                }
                // Another process was faster.
                Err(err) if err.kind() == ErrorKind::AlreadyExists => open().await?,
                Err(err) => return Err(err),
            }
        }
        Err(err) if err.kind() == ErrorKind::NotFound && !args.create => {
            return Err(err.with("hint", "--create makes the table from the first file"));
        }
        Err(err) => return Err(err),
    };
    let schema = table.schema();
    let trimmed = |names: &[String]| names.iter().map(|n| n.trim().to_owned()).collect::<Vec<_>>();
    for (option, wanted, keys) in [
        (
            "--partition-by",
            trimmed(&args.partition_by),
            &schema.partition_keys,
        ),
        ("--primary-key", trimmed(&args.primary_key), &schema.primary_keys),
    ] {
        if !wanted.is_empty() && wanted != *keys {
            let known = match keys.is_empty() {
                true => "none".to_owned(),
                false => keys.join(", "),
            };
            return Err(
                Error::invalid(format!("the table exists and has other keys: {known}"))
                    .with("table", table.location())
                    .with("option", option),
            );
        }
    }
    Ok((table, false))
}

/// What the rows of the files are made for.
fn target(session: &Session, args: &IngestArgs, table: &Table) -> Result<Target> {
    let keys = &table.schema().partition_keys;
    let default_name = table.meta().partition_naming().default_name;
    let mut given: Vec<(DataField, _)> = Vec::new();
    for (name, text) in &args.partition {
        if !keys.contains(name) {
            let known = match keys.is_empty() {
                true => "none".to_owned(),
                false => keys.join(", "),
            };
            return Err(Error::invalid(format!(
                "'{name}' is no partition column; partition columns: {known}"
            ))
            .with("option", "--partition"));
        }
        if given.iter().any(|(field, _)| field.name == *name) {
            return Err(Error::invalid(format!("'{name}' is given twice")).with("option", "--partition"));
        }
        let field = table.field(name)?;
        let value = match *text == default_name {
            true => None,
            false => Some(
                from_text(text, &field.data_type, &session.zone)
                    .map_err(|e| e.with("column", name).with("option", "--partition"))?,
            ),
        };
        given.push((field.clone(), value));
    }
    let mut fields = table.schema().fields.clone();
    if !table.schema().primary_keys.is_empty() && !args.delete {
        // Files may tell the kinds of their rows; rows are upserts when they do not.
        fields.push(DataField {
            default_value: Some(RowKind::Insert.to_byte().to_string()),
            ..DataField::new(
                system_field::VALUE_KIND_ID,
                VALUE_KIND,
                DataType::new(TypeKind::TinyInt),
            )
        });
    }
    Ok(Target {
        fields,
        partition_keys: keys.clone(),
        given,
        zone: session.zone.clone(),
    })
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
        .filter(|(name, _)| args.partition_by.iter().any(|key| key.trim() == name))
    {
        if columns.iter().all(|c| c.name != *name) {
            columns.push(DataField::new(0, name, DataType::string()));
        }
    }
    let mut definition = NewTable {
        columns,
        partition_keys: args.partition_by.iter().map(|n| n.trim().to_owned()).collect(),
        primary_keys: args.primary_key.iter().map(|n| n.trim().to_owned()).collect(),
        options: session.options.clone(),
        comment: None,
    };
    fix_buckets(&mut definition);
    Ok(definition)
}

/// Writes the rows of all files; an error names the file, and the line or row where there is one.
async fn write_files(
    args: &IngestArgs,
    target: &Arc<Target>,
    deletes: Option<&Deletes>,
    writer: &mut Writer,
) -> Result<u64> {
    let progress = bar(None, "rows");
    let mut written = 0;
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
        for rows in open(path, format, target).map_err(at_file)? {
            let rows = rows.map_err(at_file)?;
            let mut batch = with_given(&rows.batch, target).map_err(at_file)?;
            if let Some(deletes) = deletes {
                batch = deletes
                    .of_rows(&batch)
                    .map_err(|err| at_file(refused(err, &rows)))?;
            }
            writer
                .write(&batch)
                .await
                .map_err(|err| at_file(refused(err, &rows)))?;
            written += batch.num_rows() as u64;
            progress.inc(batch.num_rows() as u64);
        }
    }
    progress.finish_and_clear();
    Ok(written)
}

/// The writer's error about a row of the batch as one about a row of the file.
fn refused(err: Error, rows: &Rows) -> Error {
    let number = err.context().find(|(key, _)| *key == "row");
    let Some(row) = number.and_then(|(_, row)| row.parse::<usize>().ok()) else {
        return err;
    };
    let not_null = err.message().contains("NOT NULL");
    let message = match not_null {
        true => "NULL in a column that is NOT NULL",
        false => err.message(),
    };
    let mut named = Error::new(err.kind(), message);
    for (key, value) in err.context().filter(|(key, _)| *key != "row") {
        named = named.with(key, value);
    }
    named = rows.at(named, row);
    match not_null {
        true => named.with(
            "hint",
            "give every row a value, or write to a table whose column takes NULL",
        ),
        false => named,
    }
}

/// Adds the columns of --partition.
fn with_given(batch: &RecordBatch, target: &Target) -> Result<RecordBatch> {
    if target.given.is_empty() {
        return Ok(batch.clone());
    }
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    for (field, value) in &target.given {
        let column = paimon::data::repeat(value.as_ref(), &field.data_type, batch.num_rows())?;
        columns.push(column);
        fields.push(Arc::new(to_arrow_field(field).with_nullable(true)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| Error::invalid("partition columns cannot be added").with_source(e))
}

/// Rows as deletes of their keys.
struct Deletes {
    /// Columns that decide whether a delete is newer than what is there.
    ordering: Vec<String>,
}

impl Deletes {
    /// Looks whether the table deletes rows by key, under the same rules as Java (`validatePKUpsertDeletable`).
    fn of(table: &Table) -> Result<Self> {
        let schema = table.schema();
        let options = table.meta().options();
        let on = |key: &str| {
            let value = options.raw().get(key);
            value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
        };
        let fail = |problem: String| Err(Error::unsupported(problem).with("option", "--delete"));
        if schema.primary_keys.is_empty() {
            return fail("the table has no primary key, rows cannot be deleted by key".to_owned());
        }
        let by_group = "partial-update.remove-record-on-sequence-group";
        let engine = options.merge_engine;
        let needed = match engine {
            MergeEngine::Deduplicate => None,
            MergeEngine::PartialUpdate => (!on("partial-update.remove-record-on-delete")
                && !options.raw().contains_key(by_group))
            .then_some(
                ", unless partial-update.remove-record-on-delete or ….remove-record-on-sequence-group is set",
            ),
            MergeEngine::Aggregation => (!on("aggregation.remove-record-on-delete"))
                .then_some(", unless aggregation.remove-record-on-delete is set"),
            MergeEngine::FirstRow => Some(""),
        };
        if let Some(unless) = needed {
            return fail(format!(
                "a table with merge-engine {engine} takes no deletes{unless}"
            ));
        }
        if options.ignore_delete {
            return fail("the table ignores deletes: ignore-delete is true".to_owned());
        }
        let mut ordering: Vec<String> = Vec::new();
        ordering.extend(
            options
                .sequence_field
                .iter()
                .flatten()
                .map(|name| name.trim().to_owned()),
        );
        if let Some(groups) = options.raw().get(by_group) {
            ordering.extend(groups.split(',').map(|name| name.trim().to_owned()));
        }
        Ok(Deletes { ordering })
    }

    fn of_rows(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        for name in &self.ordering {
            let fail = |problem: &str| {
                Error::invalid(format!(
                    "{problem}; rows of this table are ordered by it, a delete without it does nothing"
                ))
                .with("column", name)
            };
            let Some(column) = batch.column_by_name(name) else {
                return Err(fail("the file does not have the column"));
            };
            if let Some(row) = (0..column.len()).find(|row| column.is_null(*row)) {
                return Err(fail("NULL in a row to delete").with("row", row));
            }
        }
        let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(VALUE_KIND, ArrowType::Int8, false)));
        let mut columns = batch.columns().to_vec();
        let kinds = Int8Array::from(vec![RowKind::Delete.to_byte(); batch.num_rows()]);
        columns.push(Arc::new(kinds) as ArrayRef);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map_err(|e| Error::invalid("the kinds of rows cannot be added").with_source(e))
    }
}
