// SPDX-License-Identifier: Apache-2.0

//! A reader of rows that are in memory already, for formats of small files that are decoded whole.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::take::take;
use async_trait::async_trait;
use paimon_types::{ARROW_FIELD_ID, DataField, Error, Predicate, Result, to_arrow_schema};
use roaring::RoaringBitmap;

use crate::FileBatchReader;
use crate::rows::{self, BatchRows, RangeCursor};

/// Gives rows that were decoded at once in batches: projection by field id or name, precise selection, row ids. Types are
/// returned as they are; the predicate is left to the caller.
#[derive(Debug)]
pub struct RowsReader {
    all: RecordBatch,
    batch_size: usize,
    /// Positions in `all` of the columns to return.
    columns: Vec<usize>,
    output: SchemaRef,
    cursor: RangeCursor,
    last: Option<BatchRows>,
    closed: bool,
}

impl RowsReader {
    /// All rows of a file, given in batches of at most `batch_size` rows (at least one).
    pub fn new(all: RecordBatch, batch_size: usize) -> Self {
        RowsReader {
            batch_size: batch_size.max(1),
            columns: (0..all.num_columns()).collect(),
            output: all.schema(),
            cursor: cursor(&all, None),
            last: None,
            closed: false,
            all,
        }
    }

    fn find(&self, field: &DataField) -> Result<usize> {
        let schema = self.all.schema_ref();
        let id = field.id.to_string();
        let by_id =
            |f: &Arc<arrow_schema::Field>| f.metadata().get(ARROW_FIELD_ID).is_some_and(|found| *found == id);
        let has_ids = schema
            .fields()
            .iter()
            .any(|f| f.metadata().contains_key(ARROW_FIELD_ID));
        let found = if has_ids {
            schema.fields().iter().position(by_id)
        } else {
            schema.index_of(&field.name).ok()
        };
        found.ok_or_else(|| Error::invalid("the file has no such column").with("column", &field.name))
    }
}

fn cursor(all: &RecordBatch, selection: Option<&RoaringBitmap>) -> RangeCursor {
    let whole = 0..all.num_rows() as u64;
    let mut ranges = Vec::new();
    rows::push(&mut ranges, whole);
    RangeCursor::new(match selection {
        Some(selection) => rows::select(&ranges, selection),
        None => ranges,
    })
}

#[async_trait]
impl FileBatchReader for RowsReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        Ok(self.all.schema())
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        _: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        let columns = fields.iter().map(|f| self.find(f)).collect::<Result<Vec<_>>>()?;
        let output: Schema = to_arrow_schema(fields);
        for (column, wanted) in columns.iter().zip(output.fields()) {
            let found = self.all.column(*column).data_type();
            if found != wanted.data_type() {
                return Err(Error::unsupported(format!(
                    "the column has the type {found}, it cannot be read as {}",
                    wanted.data_type()
                ))
                .with("column", wanted.name()));
            }
        }
        self.columns = columns;
        self.output = Arc::new(output);
        self.cursor = cursor(&self.all, selection.as_ref());
        self.last = None;
        Ok(())
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.closed {
            return Err(Error::invalid("the reader is closed"));
        }
        let ranges = self.cursor.take(self.batch_size as u64);
        let wanted = match ranges.as_slice() {
            [] => {
                self.last = None;
                return Ok(None);
            }
            [one] => self.all.slice(one.start as usize, (one.end - one.start) as usize),
            many => {
                let places = UInt64Array::from_iter_values(many.iter().cloned().flatten());
                let columns = self.all.columns().iter().map(|c| take(c, &places, None));
                let columns = columns.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
                let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
                RecordBatch::try_new_with_options(self.all.schema(), columns, &options).map_err(wrong)?
            }
        };
        self.last = Some(BatchRows::new(ranges));
        let columns = self.columns.iter().map(|c| wanted.column(*c).clone()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(wanted.num_rows()));
        RecordBatch::try_new_with_options(self.output.clone(), columns, &options)
            .map(Some)
            .map_err(wrong)
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.last
            .as_ref()
            .and_then(|rows| rows.get(batch_row))
            .ok_or_else(|| Error::invalid(format!("the last batch has no row {batch_row}")))
    }

    fn number_of_rows(&self) -> Result<u64> {
        Ok(self.all.num_rows() as u64)
    }

    fn supports_precise_selection(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.closed = true;
        self.all = self.all.slice(0, 0);
    }
}

fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::corrupt("the rows do not fit the columns asked for").with_source(error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{Int32Array, StringArray};
    use paimon_types::{DataType, TypeKind};

    use super::*;

    fn reader(batch_size: usize) -> RowsReader {
        let fields = [
            DataField::new(3, "id", DataType::new(TypeKind::Int)),
            DataField::new(5, "name", DataType::string()),
        ];
        let ids = Int32Array::from_iter_values(0..10);
        let names: StringArray = (0..10).map(|i| Some(format!("n{i}"))).collect();
        let schema = Arc::new(to_arrow_schema(&fields));
        let all = RecordBatch::try_new(schema, vec![Arc::new(ids), Arc::new(names)]).unwrap();
        RowsReader::new(all, batch_size)
    }

    #[tokio::test]
    async fn columns_by_id_rows_by_selection() {
        let mut reader = reader(3);
        // The name of another version of the schema: the id decides.
        let renamed = [DataField::new(3, "renamed", DataType::new(TypeKind::Int))];
        let selection: RoaringBitmap = [1u32, 2, 3, 7, 9].into_iter().collect();
        reader.set_read_schema(&renamed, None, Some(selection)).unwrap();
        let mut found = Vec::new();
        while let Some(batch) = reader.next_batch().await.unwrap() {
            assert_eq!(batch.schema().field(0).name(), "renamed");
            for (row, value) in batch
                .column(0)
                .as_primitive::<Int32Type>()
                .values()
                .iter()
                .enumerate()
            {
                let position = reader.previous_batch_file_row_id(row as u64).unwrap();
                assert_eq!(position, *value as u64);
                found.push(*value);
            }
        }
        assert_eq!(found, [1, 2, 3, 7, 9]);
        assert!(reader.previous_batch_file_row_id(0).is_err());
    }

    #[tokio::test]
    async fn what_is_not_there_is_refused() {
        let mut reader = reader(3);
        let unknown = [DataField::new(9, "id", DataType::new(TypeKind::Int))];
        let error = reader.set_read_schema(&unknown, None, None).unwrap_err();
        assert!(error.to_string().contains("id"), "{error}");
        let other_type = [DataField::new(3, "id", DataType::string())];
        assert!(reader.set_read_schema(&other_type, None, None).is_err());
        assert_eq!(reader.next_batch().await.unwrap().unwrap().num_columns(), 2);
    }
}
