// SPDX-License-Identifier: Apache-2.0

//! The bare libraries: `parquet`, `orc-rust`, `apache-avro` by its values. The last two need the feature `peers`.

use std::fs::File;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::BenchResult;
use crate::formats::BATCH_ROWS;

/// Reads all rows.
pub(crate) fn read(format: &str, path: &str) -> BenchResult<u64> {
    match format {
        "parquet" => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
            let mut rows = 0;
            for batch in reader.with_batch_size(BATCH_ROWS).build()? {
                rows += batch?.num_rows() as u64;
            }
            Ok(rows)
        }
        #[cfg(feature = "peers")]
        "orc" => peers::read_orc(path),
        #[cfg(feature = "peers")]
        "avro" => peers::read_avro(path),
        other => Err(format!("no library reads {other:?}, is the feature peers on?").into()),
    }
}

/// Rows in the form that a library writes.
pub(crate) enum Prepared<'a> {
    Parquet(&'a [RecordBatch]),
    #[cfg(feature = "peers")]
    Avro(peers::Values),
}

/// Makes that form; `path` has the rows as we wrote them. `orc-rust` neither compresses nor writes most types, it is left out.
pub(crate) fn prepare<'a>(format: &str, path: &str, batches: &'a [RecordBatch]) -> BenchResult<Prepared<'a>> {
    match format {
        "parquet" => Ok(Prepared::Parquet(batches)),
        #[cfg(feature = "peers")]
        "avro" => {
            let rows = batches.iter().map(RecordBatch::num_rows).sum();
            Ok(Prepared::Avro(peers::Values::read(path, rows)?))
        }
        other => Err(format!("no library writes {other:?} ({path}), is the feature peers on?").into()),
    }
}

impl Prepared<'_> {
    /// Writes the rows with zstd, level 1.
    pub(crate) fn write(&self, path: &str) -> BenchResult<u64> {
        match self {
            Prepared::Parquet(batches) => {
                let first = batches.first().ok_or("no rows")?;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
                    .build();
                let mut writer = ArrowWriter::try_new(File::create(path)?, first.schema(), Some(properties))?;
                let mut rows = 0;
                for batch in *batches {
                    rows += batch.num_rows() as u64;
                    writer.write(batch)?;
                }
                writer.close()?;
                Ok(rows)
            }
            #[cfg(feature = "peers")]
            Prepared::Avro(values) => values.write(path),
        }
    }
}

#[cfg(feature = "peers")]
mod peers {
    use std::fs::File;
    use std::io::{BufReader, BufWriter};

    use apache_avro::types::Value;
    use apache_avro::{Codec, Reader, Schema, Writer, ZstandardSettings};
    use orc_rust::ArrowReaderBuilder;

    use crate::BenchResult;
    use crate::formats::BATCH_ROWS;

    pub(super) fn read_orc(path: &str) -> BenchResult<u64> {
        let reader = ArrowReaderBuilder::try_new(File::open(path)?)?;
        let mut rows = 0;
        for batch in reader.with_batch_size(BATCH_ROWS).build() {
            rows += batch?.num_rows() as u64;
        }
        Ok(rows)
    }

    pub(super) fn read_avro(path: &str) -> BenchResult<u64> {
        let mut rows = 0;
        for value in Reader::new(BufReader::new(File::open(path)?))? {
            std::hint::black_box(value?);
            rows += 1;
        }
        Ok(rows)
    }

    pub(crate) struct Values {
        schema: Schema,
        values: Vec<Value>,
    }

    impl Values {
        pub(super) fn read(path: &str, rows: usize) -> BenchResult<Self> {
            let reader = Reader::new(BufReader::new(File::open(path)?))?;
            Ok(Values {
                schema: reader.writer_schema().clone(),
                values: reader.take(rows).collect::<Result<_, _>>()?,
            })
        }

        pub(super) fn write(&self, path: &str) -> BenchResult<u64> {
            let codec = Codec::Zstandard(ZstandardSettings::new(1));
            let mut writer = Writer::with_codec(&self.schema, BufWriter::new(File::create(path)?), codec)?;
            for value in &self.values {
                writer.append_value_ref(value)?;
            }
            writer.flush()?;
            Ok(self.values.len() as u64)
        }
    }
}
