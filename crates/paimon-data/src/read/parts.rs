// SPDX-License-Identifier: Apache-2.0

//! Large files are read in parts, so that every decoder has something to do until the end, even where there is only one file.

use std::ops::Range;

use super::TableRead;
use super::file_read::FileTask;
use super::tasks::Task;
use crate::file_format::format_of_file;

/// Bytes of a file that are worth opening it once more.
pub(super) const SMALLEST_PART: u64 = 4 << 20;

/// How large parts are, in bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartSize {
    /// All alike: parts that are decoded before their turn have to wait.
    Equal,
    /// Smaller and smaller: no decoder has much to do when the others are at the end.
    Shrinking,
}

impl TableRead {
    /// The same rows in the same order, files in parts where their format can do so.
    pub(super) fn in_parts(&self, tasks: Vec<Task>, size: PartSize) -> Vec<Task> {
        if self.parallelism <= 1 {
            return tasks;
        }
        let at_once = self.parallelism as u64;
        let smallest = self.smallest_part.max(1);
        let size_of = |left: u64| match size {
            PartSize::Equal => smallest.max(self.budget_bytes as u64 / (4 * at_once)),
            PartSize::Shrinking => smallest.max(left / (2 * at_once)),
        };
        let mut left: u64 = tasks.iter().map(Task::bytes).sum();
        let mut parts = Vec::with_capacity(tasks.len());
        for task in tasks {
            let bytes = task.bytes();
            match task {
                Task::File(file) if bytes / 2 >= size_of(left) && self.reads_parts(&file) => {
                    let rows = file.file().map_or(0, |file| file.row_count);
                    let cut = cut(bytes, u64::try_from(rows).unwrap_or(0), |done| {
                        size_of(left - done)
                    });
                    parts.extend(cut.into_iter().map(|part| Task::File(file.part(part))));
                }
                whole => parts.push(whole),
            }
            left = left.saturating_sub(bytes);
        }
        parts
    }

    fn reads_parts(&self, task: &FileTask) -> bool {
        let context = &self.file.context;
        let format = task.file().and_then(|file| {
            let name = format_of_file(&task.split.data_file_path(file))?;
            context.registry.get(&name, context.options.raw())
        });
        format.is_ok_and(|format| format.reads_parts())
    }
}

/// Positions of rows: from 0 on, without gaps, to the end of the file, wherever it is. `size_of` tells the size of the part behind so
/// many bytes.
fn cut(bytes: u64, rows: u64, size_of: impl Fn(u64) -> u64) -> Vec<Range<u64>> {
    let (mut parts, mut done, mut start) = (Vec::new(), 0, 0);
    while done < bytes {
        let size = size_of(done);
        let left = bytes - done;
        // Half a part is too little to be one.
        done += if left <= size + size / 2 { left } else { size };
        let end = match done == bytes {
            true => u64::MAX,
            false => (u128::from(rows) * u128::from(done) / u128::from(bytes)) as u64,
        };
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn parts_have_every_row_once() {
        assert_eq!(cut(10, 100, |_| 10), vec![0..u64::MAX]);
        assert_eq!(cut(10, 100, |_| 4), [0..40, 40..u64::MAX]);
        assert_eq!(cut(10, 100, |_| 3), [0..30, 30..60, 60..u64::MAX]);
        assert_eq!(
            cut(10, 100, |done| ((10 - done) / 2).max(1)),
            [0..50, 50..70, 70..80, 80..90, 90..u64::MAX]
        );
        // A row count that is not true changes where parts begin, no more.
        assert_eq!(cut(10, 0, |_| 4), [0..0, 0..u64::MAX]);
    }
}
