// SPDX-License-Identifier: Apache-2.0

//! A decoder that works in the calls that ask for rows, and one that works ahead: the same batches, the same errors.

use std::sync::Arc;
use std::thread::ThreadId;

use arrow_array::{Int32Array, RecordBatch, make_array};
use arrow_schema::{DataType, Field, Schema};
use paimon_format::blocking::{Cancelled, Decode, Decoded, DecodingReader};
use paimon_format::rows::{RowRanges, push};
use paimon_format::{BoundedMemoryPool, MemoryPool, ReadHints, UnboundedMemoryPool};
use paimon_types::{Error, ErrorKind, Result};

/// What comes behind the batches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Rows,
    Error,
    Panic,
}

/// Batches of ten rows.
struct Batches {
    left: u64,
    end: End,
    thread: Option<ThreadId>,
}

impl Decode for Batches {
    fn next(&mut self, cancelled: &Cancelled<'_>) -> Result<Option<Decoded>> {
        assert!(!cancelled.get());
        if let Some(thread) = self.thread {
            assert_eq!(std::thread::current().id(), thread);
        }
        match (self.left, self.end) {
            (0, End::Rows) => return Ok(None),
            (0, End::Error) => return Err(Error::corrupt("the rest is damaged")),
            (0, end) => assert_ne!(end, End::Panic, "the decoder is wrong"),
            _ => self.left -= 1,
        }
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, false)]));
        let values = Int32Array::from_iter_values(0..10);
        let mut rows = RowRanges::new();
        push(&mut rows, self.left * 10..self.left * 10 + 10);
        let batch = RecordBatch::try_new(schema, vec![make_array(values.into())])
            .map_err(|e| Error::invalid(e.to_string()))?;
        Ok(Some(Decoded { batch, rows }))
    }
}

fn reader(in_place: bool, end: End, pool: Arc<dyn MemoryPool>) -> DecodingReader<Batches> {
    let hints = ReadHints::new().with_in_place(in_place);
    let mut reader = DecodingReader::new("batches", "f".into(), pool, hints);
    let thread = in_place.then(|| std::thread::current().id());
    reader.restart(Batches { left: 5, end, thread });
    reader
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_then_the_end() {
    for in_place in [true, false] {
        for end in [End::Rows, End::Error, End::Panic] {
            let mut reader = reader(in_place, end, Arc::new(UnboundedMemoryPool::new()));
            reader.warmup();
            for left in (0..5).rev() {
                assert_eq!(reader.next_batch().await.unwrap().unwrap().num_rows(), 10);
                assert_eq!(reader.previous_batch_file_row_id(3).unwrap(), left * 10 + 3);
            }
            for _ in 0..3 {
                match (end, reader.next_batch().await) {
                    (End::Rows, rows) => assert_eq!(rows.unwrap(), None),
                    (_, error) => assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{end:?}"),
                }
                assert!(reader.previous_batch_file_row_id(0).is_err());
            }
            reader.close();
            assert_eq!(
                reader.next_batch().await.unwrap_err().kind(),
                ErrorKind::InvalidInput
            );
        }
    }
}

#[tokio::test]
async fn a_pool_without_room_is_an_error() {
    for in_place in [true, false] {
        let mut reader = reader(in_place, End::Rows, Arc::new(BoundedMemoryPool::new(8)));
        for _ in 0..2 {
            let error = reader.next_batch().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
        }
    }
}
