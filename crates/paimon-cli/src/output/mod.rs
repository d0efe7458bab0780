// SPDX-License-Identifier: Apache-2.0

//! Forms in which rows are printed.

mod jsonl;
mod text;

use std::io::{BufWriter, IsTerminal, Stdout, Write, stdout};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use paimon::types::{DataField, DataType, Error, Result, RowKind, to_arrow_schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::args::{OutputArgs, OutputFormat};

pub(crate) use jsonl::output_failed;

type Out = BufWriter<Stdout>;

/// Writes batches of one schema to standard output.
pub(crate) struct RowPrinter {
    sink: Sink,
    row_kind: Option<SchemaRef>,
}

enum Sink {
    Table(text::Table<Out>),
    Jsonl(jsonl::JsonLines<Out>),
    Csv(text::Csv<Out>),
    Arrow(Box<StreamWriter<Out>>),
    Parquet(Box<ArrowWriter<Out>>),
}

impl RowPrinter {
    /// A printer for rows with these columns. With `--row-kind` batches begin with the kinds as numbers
    /// ([`ReadBuilder::with_row_kind`](paimon::ReadBuilder::with_row_kind)), which are printed as Java's `$audit_log` shows them.
    pub(crate) fn new(args: &OutputArgs, fields: &[DataField]) -> Result<Self> {
        let mut fields = fields.to_vec();
        let mut schema = to_arrow_schema(&fields);
        if args.row_kind {
            let kind = Field::new("rowkind", ArrowType::Utf8, false);
            schema = Schema::new(
                std::iter::once(Arc::new(kind))
                    .chain(schema.fields().iter().cloned())
                    .collect::<Vec<_>>(),
            );
            let id = paimon::types::system_field::ROW_KIND_ID;
            fields.insert(
                0,
                DataField::new(id, "rowkind", DataType::string().with_nullable(false)),
            );
        }
        let binary = matches!(args.output, OutputFormat::Arrow | OutputFormat::Parquet);
        if binary && stdout().is_terminal() {
            return Err(Error::invalid(
                "binary output does not go to a terminal; redirect it to a file",
            ));
        }
        let out = BufWriter::with_capacity(1 << 16, stdout());
        let schema = Arc::new(schema);
        let sink = match args.output {
            OutputFormat::Table => Sink::Table(text::Table::new(out, fields)),
            OutputFormat::Jsonl => Sink::Jsonl(jsonl::JsonLines::new(out, fields)?),
            OutputFormat::Csv => Sink::Csv(text::Csv::new(out, fields)?),
            OutputFormat::Arrow => {
                Sink::Arrow(Box::new(StreamWriter::try_new(out, &schema).map_err(failed)?))
            }
            OutputFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .build();
                Sink::Parquet(Box::new(
                    ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?,
                ))
            }
        };
        Ok(RowPrinter {
            sink,
            row_kind: args.row_kind.then_some(schema),
        })
    }

    /// Prints the rows of a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let with_kind;
        let batch = match &self.row_kind {
            None => batch,
            Some(schema) => {
                let kinds = batch
                    .columns()
                    .first()
                    .and_then(|c| c.as_primitive_opt::<Int8Type>());
                let kinds = kinds.ok_or_else(|| Error::invalid("rows were read without their kinds"))?;
                let names = kinds
                    .values()
                    .iter()
                    .map(|kind| Ok(RowKind::from_byte(*kind)?.as_str()));
                let names = names.collect::<Result<Vec<&str>>>()?;
                let mut columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(names))];
                columns.extend(batch.columns().iter().skip(1).cloned());
                with_kind = RecordBatch::try_new(schema.clone(), columns).map_err(failed)?;
                &with_kind
            }
        };
        match &mut self.sink {
            Sink::Table(sink) => sink.write(batch),
            Sink::Jsonl(sink) => sink.write(batch),
            Sink::Csv(sink) => sink.write(batch),
            Sink::Arrow(sink) => sink.write(batch).map_err(failed),
            Sink::Parquet(sink) => sink.write(batch).map_err(failed),
        }
    }

    /// Writes what is left and the footer.
    pub(crate) fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Table(sink) => sink.finish(),
            Sink::Jsonl(sink) => sink.finish(),
            Sink::Csv(sink) => sink.finish(),
            Sink::Arrow(mut sink) => {
                sink.finish().map_err(failed)?;
                sink.get_mut().flush().map_err(output_failed)
            }
            Sink::Parquet(sink) => sink.into_inner().map_err(failed)?.flush().map_err(output_failed),
        }
    }
}

fn failed(err: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::io("the output cannot be written").with_source(err)
}
