// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use paimon_format::{FileFormat, FileFormatFactory};
use paimon_format_parquet::ParquetFileFormatFactory;
use paimon_types::{DataField, to_arrow_schema};

pub(crate) fn format(options: &[(&str, &str)]) -> Arc<dyn FileFormat> {
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    ParquetFileFormatFactory::new().create(&options).unwrap()
}

pub(crate) fn joined(fields: &[DataField], batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&Arc::new(to_arrow_schema(fields)), batches).unwrap()
}
