// SPDX-License-Identifier: Apache-2.0

//! A file format that an application brings itself, registered and found by name: each line of a file is a row with one
//! string. It is only read; what a format does not implement is refused by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use async_trait::async_trait;
use paimon_format::{
    FileBatchReader, FileFormat, FileFormatFactory, FormatRegistry, ReaderBuilder, RowsReader,
};
use paimon_storage::{InputFile, Storage};
use paimon_types::{DataField, DataType, Error, Result, to_arrow_schema};

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
        Ok(Box::new(RowsReader::new(rows, self.0)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let registry = FormatRegistry::new().with(Arc::new(Lines(0)));
    let storage = Storage::memory();
    let poem = "memory:///poem.lines";
    storage.write(poem, "first\nsecond\nthird\n".into()).await?;
    let format = registry.get("lines", &BTreeMap::new())?;
    let file = storage.open_input(poem, None).await?;
    let mut reader = format.create_reader_builder(2)?.build(file).await?;
    while let Some(batch) = reader.next_batch().await? {
        assert!(batch.num_rows() <= 2);
    }
    Ok(())
}
