// SPDX-License-Identifier: Apache-2.0

//! A file format that an application brings itself: registered by name, found by name. This one writes debug text; what
//! it cannot do it refuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use async_trait::async_trait;
use paimon_format::{
    FileFormat, FileFormatFactory, FormatRegistry, FormatStatsExtractor, FormatWriter, MemoryPool, Metrics,
    ReaderBuilder, WriterBuilder,
};
use paimon_storage::{OutputStream, Storage};
use paimon_types::{DataField, DataType, Error, Result, TypeKind};

#[derive(Debug)]
struct Lines;

impl FileFormatFactory for Lines {
    fn identifier(&self) -> &str {
        "lines"
    }
    fn create(&self, _options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(Lines))
    }
}

impl FileFormat for Lines {
    fn identifier(&self) -> &str {
        "lines"
    }
    fn create_reader_builder(&self, _batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Err(Error::unsupported("lines are not read"))
    }
    fn create_writer_builder(
        &self,
        _schema: &[DataField],
        _batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        Ok(Box::new(Lines))
    }
    fn create_stats_extractor(&self, _schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        Err(Error::unsupported("lines have no statistics"))
    }
}

impl WriterBuilder for Lines {
    fn with_memory_pool(&mut self, _pool: Arc<dyn MemoryPool>) {}
    fn build(&self, out: Box<dyn OutputStream>, _compression: &str) -> Result<Box<dyn FormatWriter>> {
        Ok(Box::new(LinesWriter { out }))
    }
}

struct LinesWriter {
    out: Box<dyn OutputStream>,
}

#[async_trait]
impl FormatWriter for LinesWriter {
    async fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.out.write(format!("{:?}\n", batch.columns()).into()).await
    }
    async fn flush(&mut self) -> Result<()> {
        Ok(())
    }
    async fn finish(&mut self) -> Result<()> {
        Ok(())
    }
    fn reach_target_size(&self, _suggested_check: bool, target_size: u64) -> Result<bool> {
        Ok(self.out.position() >= target_size)
    }
    fn metrics(&self) -> Metrics {
        Metrics::new()
    }
    fn add_metadata(&mut self, _metadata: &BTreeMap<String, String>) -> Result<()> {
        Err(Error::unsupported("lines have no footer"))
    }
    fn into_output(self: Box<Self>) -> Box<dyn OutputStream> {
        self.out
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let registry = FormatRegistry::new().with(Arc::new(Lines));
    let format = registry.get("lines", &BTreeMap::new())?;
    let schema = [DataField::new(0, "id", DataType::new(TypeKind::Int))];
    let storage = Storage::memory();
    let out = storage.open_output("memory:///example.lines").await?;
    let mut writer = format.create_writer_builder(&schema, 1024)?.build(out, "none")?;
    writer
        .add_batch(&RecordBatch::new_empty(Arc::new(paimon_types::to_arrow_schema(
            &schema,
        ))))
        .await?;
    writer.finish().await?;
    writer.into_output().close().await
}
