// SPDX-License-Identifier: Apache-2.0

//! The suite of the interface. It wants a column that is not in the file to be refused, which a blob file cannot tell:
//! the reader under test is told the names.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use paimon_format::testkit::check_format;
use paimon_format::{
    FileBatchReader, FileFormat, FormatStatsExtractor, MemoryPool, Metrics, ReadHints, ReaderBuilder,
    WriterBuilder,
};
use paimon_storage::{InputFile, Storage};
use paimon_types::{DataField, Error, Predicate, Result};
use roaring::RoaringBitmap;

use crate::support::{field, format};

#[derive(Debug)]
struct Named(Arc<dyn FileFormat>, String);

struct NamedBuilder(Box<dyn ReaderBuilder>, String);

struct NamedReader(Box<dyn FileBatchReader>, String);

impl FileFormat for Named {
    fn identifier(&self) -> &str {
        self.0.identifier()
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        let builder = self.0.create_reader_builder(batch_size)?;
        Ok(Box::new(NamedBuilder(builder, self.1.clone())))
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        self.0.create_writer_builder(schema, batch_size)
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        self.0.create_stats_extractor(schema)
    }
}

#[async_trait]
impl ReaderBuilder for NamedBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.0.with_memory_pool(pool);
    }

    fn with_read_hints(&mut self, hints: Option<ReadHints>) {
        self.0.with_read_hints(hints);
    }

    async fn build(&self, file: Arc<dyn InputFile>) -> Result<Box<dyn FileBatchReader>> {
        Ok(Box::new(NamedReader(self.0.build(file).await?, self.1.clone())))
    }
}

#[async_trait]
impl FileBatchReader for NamedReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        self.0.file_schema()
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        if let Some(other) = fields.iter().find(|field| field.name != self.1) {
            return Err(Error::invalid("the file has no such column").with("column", &other.name));
        }
        self.0.set_read_schema(fields, predicate, selection)
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.0.next_batch().await
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.0.previous_batch_file_row_id(batch_row)
    }

    fn number_of_rows(&self) -> Result<u64> {
        self.0.number_of_rows()
    }

    fn supports_precise_selection(&self) -> bool {
        self.0.supports_precise_selection()
    }

    fn warmup(&mut self) {
        self.0.warmup();
    }

    fn close(&mut self) {
        self.0.close();
    }

    fn metrics(&self) -> Metrics {
        self.0.metrics()
    }
}

/// Maps are not among these: the keys of the sample maps repeat, which blob files refuse.
#[tokio::test]
async fn suite() {
    for type_text in [
        "BLOB",
        "BLOB NOT NULL",
        "ARRAY<BLOB>",
        "ARRAY<BLOB NOT NULL> NOT NULL",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let fields = [field(type_text)];
        let format = Named(format(&[]), fields[0].name.clone());
        check_format(
            &format,
            &Storage::default(),
            dir.path().to_str().unwrap(),
            &fields,
        )
        .await
        .unwrap();
        check_format(&format, &Storage::memory(), "memory:///t", &fields)
            .await
            .unwrap();
    }
}
