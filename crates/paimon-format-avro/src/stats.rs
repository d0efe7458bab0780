// SPDX-License-Identifier: Apache-2.0

//! What a finished file tells about itself: its number of rows (Java `AvroSimpleStatsExtractor`). Statistics of columns
//! are not stored in Avro; the writer collects them.

use std::sync::Arc;

use async_trait::async_trait;
use paimon_format::{CountRows, MemoryPool};
use paimon_storage::InputFile;
use paimon_types::Result;

use crate::read::{AvroFile, count_rows};

/// Adds up what the heads of the blocks tell.
#[derive(Debug)]
pub(crate) struct BlockHeads;

#[async_trait]
impl CountRows for BlockHeads {
    async fn count_rows(&self, file: Arc<dyn InputFile>, _: Arc<dyn MemoryPool>) -> Result<u64> {
        count_rows(Arc::new(AvroFile::open(file).await?)).await
    }
}
