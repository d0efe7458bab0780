// SPDX-License-Identifier: Apache-2.0

//! Full write buffers: rows in temporary files until they are flushed.

use std::path::{Path, PathBuf};

use arrow_select::concat::concat_batches;
use futures_util::FutureExt;

use super::*;

/// A directory for temporary files.
struct Spill(tempfile::TempDir);

impl Spill {
    fn new() -> Self {
        Spill(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Files that this process has open there; `None` where that is not known.
    fn open(&self) -> Option<usize> {
        let dir = self.0.path().canonicalize().unwrap();
        let links = std::fs::read_dir("/proc/self/fd").ok()?;
        let of_dir = links
            .filter_map(|link| std::fs::read_link(link.ok()?.path()).ok())
            .filter(|to| to.starts_with(&dir));
        Some(of_dir.count())
    }

    fn assert_empty(&self) {
        assert_eq!(std::fs::read_dir(self.0.path()).unwrap().count(), 0);
        assert_eq!(self.open().unwrap_or(0), 0);
    }
}

fn limited(storage: &Storage, schema: TableSchema, directory: &Path, memory: u64) -> TableWrite {
    let mut context = context(storage, schema);
    context.memory_limit = memory;
    context.spill_directory = directory.to_owned();
    TableWrite::new(context).unwrap()
}

/// Numbers that look random.
fn mixed(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 31)
}

/// Batches of random changes, some of them retractions.
fn history(batches: u64, of: u64, keys: u64, retracts: bool) -> Vec<RecordBatch> {
    let of_batch = |number: u64| {
        let rows: Vec<(i8, i64, i32, String)> = (0..of)
            .map(|row| {
                let random = mixed(number * of + row + 1);
                let kind = [0, 0, 2, 0, 0, 1, 3, 0][(random % 8) as usize];
                let kind = if retracts { kind } else { 0 };
                let v = (random >> 8) as i32 % 50;
                let text = "x".repeat((random >> 40) as usize % 9);
                (
                    kind,
                    (random >> 16) as i64 % keys as i64,
                    v,
                    format!("{row}{text}"),
                )
            })
            .collect();
        let rows: Vec<(i8, i64, i32, &str)> = rows.iter().map(|r| (r.0, r.1, r.2, r.3.as_str())).collect();
        changes(&rows)
    };
    (0..batches).map(of_batch).collect()
}

/// What a writer left: for each bucket and kind of file all rows, and what the metas say together.
type Left = Vec<(i32, bool, RecordBatch, (i64, i64, i64, i64, Option<i64>))>;

async fn left(storage: &Storage, messages: &[CommitMessage]) -> (Left, usize) {
    let mut left = Vec::new();
    let mut count = 0;
    for message in messages {
        let increment = &message.data_increment;
        for (changelog, files) in [(false, &increment.new_files), (true, &increment.changelog_files)] {
            let mut rows = Vec::new();
            let Some(first) = files.first() else { continue };
            count += files.len();
            let mut facts = (0, i64::MAX, i64::MIN, 0, Some(0));
            for file in files {
                let path = format!("memory://db/t/bucket-{}", message.bucket);
                rows.extend(stored(storage, &path, file).await);
                facts.0 += file.row_count;
                facts.1 = facts.1.min(file.min_sequence_number);
                facts.2 = facts.2.max(file.max_sequence_number);
                facts.4 = facts.4.zip(file.delete_row_count).map(|(a, b)| a + b);
            }
            facts.3 = i64::from(first.level);
            let rows = concat_batches(rows[0].schema_ref(), &rows).unwrap();
            left.push((message.bucket, changelog, rows, facts));
        }
    }
    (left, count)
}

async fn write_all(mut write: TableWrite, history: &[RecordBatch]) -> Vec<CommitMessage> {
    for batch in history {
        write.write(batch).await.unwrap();
    }
    write.prepare_commit().await.unwrap()
}

#[tokio::test]
async fn spilled_rows_come_out_as_if_the_memory_had_been_enough() {
    let engines: [(&[(&str, &str)], bool); 7] = [
        (&[], true),
        (
            &[
                ("sequence.field", "v"),
                ("sequence.field.sort-order", "descending"),
            ],
            true,
        ),
        (&[("ignore-delete", "true"), ("sequence.field", "v,s")], true),
        (&[("merge-engine", "first-row"), ("write-only", "true")], false),
        (
            &[
                ("merge-engine", "partial-update"),
                ("fields.v.sequence-group", "s"),
            ],
            true,
        ),
        (
            &[("merge-engine", "partial-update"), ("sequence.field", "v")],
            false,
        ),
        (
            &[
                ("merge-engine", "aggregation"),
                ("fields.v.aggregate-function", "sum"),
            ],
            true,
        ),
    ];
    for (options, retracts) in engines {
        let history = history(24, 150, 400, retracts);
        for (buckets, changelog) in [("1", false), ("1", true), ("3", false)] {
            let mut options = options.to_vec();
            options.push(("bucket", buckets));
            if changelog {
                options.push(("changelog-producer", "input"));
            }
            let storage = Storage::memory();
            let whole = writer(&storage, plain(&options));
            let (expected, _) = left(&storage, &write_all(whole, &history).await).await;
            for (memory, handles, codec) in [(1, "128", "none"), (1, "2", "lz4"), (30_000, "3", "zstd")] {
                let mut options = options.clone();
                options.push(("local-sort.max-num-file-handles", handles));
                options.push(("spill-compression", codec));
                let what = format!("{options:?} in {memory} bytes");
                let (storage, spill) = (Storage::memory(), Spill::new());
                let write = limited(&storage, plain(&options), &spill.path(), memory);
                let (found, files) = left(&storage, &write_all(write, &history).await).await;
                assert_eq!(found, expected, "{what}");
                assert_eq!(files, found.len(), "{what}");
                spill.assert_empty();
            }
        }
    }
}

#[tokio::test]
async fn numbers_go_on_behind_spilled_rows() {
    let (storage, spill) = (Storage::memory(), Spill::new());
    let mut write = limited(&storage, plain(&[]), &spill.path(), 1);
    for round in 0..3i64 {
        for id in [2, 1, 2] {
            write.write(&rows(&[(id, 0, "a")])).await.unwrap();
        }
        if let Some(open) = spill.open() {
            assert_eq!(open, 3);
        }
        let messages = write.prepare_commit().await.unwrap();
        let found = stored_rows(&storage, only_file(&messages)).await;
        let numbers: Vec<(i64, i64)> = found.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(numbers, [(1, round * 3 + 1), (2, round * 3 + 2)]);
        spill.assert_empty();
    }
    assert!(write.prepare_commit().await.unwrap().is_empty());
}

#[tokio::test]
async fn options_make_files_of_full_buffers() {
    let history = history(10, 100, 300, true);
    for (option, files) in [
        (("write-buffer-spillable", "false"), 10),
        (("write-buffer-spill.max-disk-size", "0 b"), 10),
        // a run is begun as long as there is room: it and the buffer behind it become a file
        (("write-buffer-spill.max-disk-size", "1 b"), 5),
        (("write-buffer-spill.max-disk-size", "1 gb"), 1),
    ] {
        let (storage, spill) = (Storage::memory(), Spill::new());
        let write = limited(&storage, plain(&[option]), &spill.path(), 1);
        let messages = write_all(write, &history).await;
        assert_eq!(messages[0].data_increment.new_files.len(), files, "{option:?}");
        let mut last = -1;
        for file in &messages[0].data_increment.new_files {
            assert!(file.min_sequence_number > last, "{option:?}");
            last = file.max_sequence_number;
        }
        spill.assert_empty();
    }
}

#[tokio::test]
async fn temporary_files_go_with_errors_and_with_the_writer() {
    let storage = Storage::memory();
    // a row that the engine does not take, found when rows are merged
    let spill = Spill::new();
    let options = [
        ("merge-engine", "first-row"),
        ("write-only", "true"),
        ("changelog-producer", "input"),
    ];
    let mut write = limited(&storage, plain(&options), &spill.path(), 1);
    write.write(&changes(&[(0, 1, 1, "a")])).await.unwrap();
    write.write(&changes(&[(3, 1, 1, "a")])).await.unwrap();
    let error = write.prepare_commit().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    spill.assert_empty();
    write.abort().await.unwrap();
    // dropped
    let mut write = limited(&storage, plain(&[]), &spill.path(), 1);
    write.write(&rows(&[(1, 1, "a")])).await.unwrap();
    if let Some(open) = spill.open() {
        assert_eq!(open, 1);
    }
    drop(write);
    spill.assert_empty();
    // given up
    let mut write = limited(&storage, plain(&[]), &spill.path(), 1);
    write.write(&rows(&[(1, 1, "a")])).await.unwrap();
    write.abort().await.unwrap();
    spill.assert_empty();
    // a call that was dropped
    let batch = rows(&[(1, 1, "a")]);
    // The thread that writes the file may be faster than the first look at it, but not every time.
    let dropped = async || {
        let mut write = limited(&storage, plain(&[]), &spill.path(), 1);
        let dropped = write.write(&batch).now_or_never().is_none();
        if dropped {
            assert!(write.write(&batch).await.is_err());
        }
        write.abort().await.unwrap();
        spill.assert_empty();
        dropped
    };
    let mut seen = false;
    for _ in 0..1000 {
        seen = seen || dropped().await;
    }
    assert!(seen);
    // no such directory
    let nowhere = spill.path().join("nothing");
    let mut write = limited(&storage, plain(&[]), &nowhere, 1);
    let error = write.write(&batch).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted, "{error}");
    assert!(
        error
            .context()
            .any(|(key, value)| key == "option" && value == "write-buffer-spillable"),
        "{error}"
    );
    assert!(write.prepare_commit().await.is_err());
}

#[tokio::test]
async fn the_buckets_that_hold_most_give_their_rows_away() {
    // which keys are in which bucket
    let mut of_bucket = [Vec::new(), Vec::new()];
    for id in 0..400i64 {
        let bucket = paimon_types::bucket_from_hash(paimon_types::bigint_row_hash(id), 2);
        of_bucket[bucket as usize].push((id, 0, "a"));
    }
    for (spillable, files_of_large) in [("true", 1), ("false", 4)] {
        let (storage, spill) = (Storage::memory(), Spill::new());
        let options = [("bucket", "2"), ("write-buffer-spillable", spillable)];
        let mut write = limited(&storage, plain(&options), &spill.path(), 40_000);
        write.write(&rows(&of_bucket[0][..3])).await.unwrap();
        for _ in 0..60 {
            write.write(&rows(&of_bucket[1][..50])).await.unwrap();
        }
        if let Some(open) = spill.open() {
            assert_eq!(open, if spillable == "true" { 3 } else { 0 });
        }
        let messages = write.prepare_commit().await.unwrap();
        let files = |at: usize| messages[at].data_increment.new_files.len();
        assert_eq!((files(0), files(1)), (1, files_of_large), "{spillable}");
    }
}
