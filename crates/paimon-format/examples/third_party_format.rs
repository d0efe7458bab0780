// SPDX-License-Identifier: Apache-2.0

//! A file format that an application brings itself, registered and found by name: each line of a file is a row with one
//! string. It is only read; what a format does not implement is refused by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::{
    FileBatchReader, FileFormat, FileFormatFactory, FormatRegistry, ReaderBuilder, RoaringBitmap,
};
use paimon_storage::{InputFile, Storage};
use paimon_types::{DataField, DataType, Error, Predicate, Result, to_arrow_schema};

#[derive(Debug)]
struct Lines(usize);

impl FileFormatFactory for Lines {
    fn identifier(&self) -> &str {
        "lines"
    }
    fn create(&self, _options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(Lines(0)))
    }
}

impl FileFormat for Lines {
    fn identifier(&self) -> &str {
        "lines"
    }
    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Ok(Box::new(Lines(batch_size)))
    }
}

#[async_trait]
impl ReaderBuilder for Lines {
    async fn build(&self, file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>> {
        let bytes = file.read_range(0..file.size().await?).await?;
        let text = String::from_utf8(bytes.into()).map_err(|e| Error::corrupt("no UTF-8").with_source(e))?;
        let column = text.lines().map(Some).collect::<StringArray>();
        let schema = Arc::new(to_arrow_schema(&[DataField::new(0, "line", DataType::string())]));
        let rows = RecordBatch::try_new(schema, vec![Arc::new(column)])
            .map_err(|e| Error::corrupt(e.to_string()))?;
        Ok(Box::new(LinesReader {
            rows,
            batch_size: self.0,
            start: 0,
            next: 0,
        }))
    }
}

struct LinesReader {
    rows: RecordBatch,
    batch_size: usize,
    start: usize,
    next: usize,
}

#[async_trait]
impl FileBatchReader for LinesReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        Ok(self.rows.schema())
    }
    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        _: Option<&Predicate>,
        _: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.next = 0;
        match to_arrow_schema(fields) == *self.rows.schema() {
            true => Ok(()),
            false => Err(Error::unsupported("files of lines are read whole")),
        }
    }
    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.start = self.next;
        self.next = self.rows.num_rows().min(self.start + self.batch_size);
        Ok((self.start < self.next).then(|| self.rows.slice(self.start, self.next - self.start)))
    }
    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        Ok(self.start as u64 + batch_row)
    }
    fn number_of_rows(&self) -> Result<u64> {
        Ok(self.rows.num_rows() as u64)
    }
    fn close(&mut self) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let registry = FormatRegistry::new().with(Arc::new(Lines(0)));
    let storage = Storage::memory();
    storage
        .write("memory:///poem.lines", "first\nsecond\nthird\n".into())
        .await?;
    let format = registry.get("lines", &BTreeMap::new())?;
    let file = storage.open_input("memory:///poem.lines", None).await?;
    let mut reader = format.create_reader_builder(2)?.build(file).await?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await? {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 3);
    Ok(())
}
