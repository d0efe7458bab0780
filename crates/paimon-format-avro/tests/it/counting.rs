// SPDX-License-Identifier: Apache-2.0

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use paimon_format::testkit::sample_batch;
use paimon_storage::InputFile;
use paimon_types::{ErrorKind, Result};

use super::support::{bytes_of, fields, format};

/// A file of a store that lets its readers wait.
struct Slow(Bytes);

#[async_trait::async_trait]
impl InputFile for Slow {
    fn path(&self) -> &str {
        "slow:///t/x.avro"
    }

    async fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    async fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        tokio::task::yield_now().await;
        Ok(self.0.slice(range.start as usize..range.end as usize))
    }

    async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut all = Vec::new();
        for range in ranges {
            all.push(self.read_range(range.clone()).await?);
        }
        Ok(all)
    }
}

#[tokio::test]
async fn rows_of_a_remote_file_are_counted() {
    let format = format(&[]);
    let fields = fields("ROW<a INT, s STRING>");
    // Several megabytes: more than what is read with the header.
    let rows = sample_batch(&fields, 200_000, 1).unwrap();
    let file = Arc::new(Slow(
        bytes_of(format.as_ref(), &fields, &rows, "none").await.into(),
    ));
    let builder = format.create_reader_builder(1000).unwrap();
    let mut reader = builder.build(file.clone()).await.unwrap();
    let error = reader.number_of_rows().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(reader.count_rows().await.unwrap(), 200_000);
    assert_eq!(reader.number_of_rows().unwrap(), 200_000);
    // Counting changes nothing that is read.
    assert!(reader.next_batch().await.unwrap().is_some());
    assert_eq!(reader.previous_batch_file_row_id(0).unwrap(), 0);

    let cut = Arc::new(Slow(file.0.slice(..file.0.len() - 1)));
    let mut reader = builder.build(cut).await.unwrap();
    let error = reader.count_rows().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
