// SPDX-License-Identifier: Apache-2.0

//! Files to splits (Java `BinPacking`, `AppendOnlySplitGenerator`; `metadata.md` 9.5).

use paimon_protocol::DataFileMeta;

/// Orders the files of one bucket of an append table by their smallest sequence number; equal ones keep their order.
pub(super) fn order_append_files(files: &mut [DataFileMeta]) {
    files.sort_by_key(|file| file.min_sequence_number);
}

/// Packs items in order: a bin is closed before an item that would make it heavier than `target`. An item heavier than the
/// target has a bin of its own.
pub(super) fn pack_ordered<T>(items: Vec<T>, weight: impl Fn(&T) -> u64, target: u64) -> Vec<Vec<T>> {
    let mut bins = Vec::new();
    let mut bin: Vec<T> = Vec::new();
    let mut filled = 0u64;
    for item in items {
        let weight = weight(&item);
        if !bin.is_empty() && filled.saturating_add(weight) > target {
            bins.push(std::mem::take(&mut bin));
            filled = 0;
        }
        filled = filled.saturating_add(weight);
        bin.push(item);
    }
    if !bin.is_empty() {
        bins.push(bin);
    }
    bins
}

/// Weight of a file: its size, at least the cost of opening one.
pub(super) fn file_weight(file: &DataFileMeta, open_file_cost: u64) -> u64 {
    u64::try_from(file.file_size).unwrap_or(0).max(open_file_cost)
}

#[cfg(test)]
mod tests {
    use super::pack_ordered;

    #[test]
    fn bins_keep_order_and_size() {
        let pack = |items: &[u64], target| pack_ordered(items.to_vec(), |w| *w, target);
        assert_eq!(pack(&[], 10), Vec::<Vec<u64>>::new());
        assert_eq!(pack(&[4, 6, 1], 10), vec![vec![4, 6], vec![1]]);
        assert_eq!(pack(&[11, 1, 9, 1], 10), vec![vec![11], vec![1, 9], vec![1]]);
        assert_eq!(pack(&[1, 1], 1), vec![vec![1], vec![1]]);
        assert_eq!(
            pack(&[u64::MAX, u64::MAX], u64::MAX - 1),
            vec![vec![u64::MAX], vec![u64::MAX]]
        );
    }
}
