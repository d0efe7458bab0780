// SPDX-License-Identifier: Apache-2.0

use super::*;
use paimon_protocol::{RowValues, SimpleStats};

fn file(name: &str, rows: i64) -> DataFileMeta {
    DataFileMeta {
        file_name: name.into(),
        file_size: 1,
        row_count: rows,
        min_key: RowValues::empty(),
        max_key: RowValues::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: 0,
        level: 0,
        extra_files: Vec::new(),
        creation_time: None,
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

fn add(file: DataFileMeta) -> ManifestEntry {
    ManifestEntry::add(Partition::unpartitioned(), 0, -1, file)
}

#[test]
fn normal_files_get_ids_in_order() {
    let mut kept = file("c", 7);
    kept.file_source = Some(FileSource::Compact);
    kept.min_sequence_number = 3;
    let mut entries = vec![add(file("a", 10)), add(kept), add(file("b", 5))];
    assert_eq!(assign(&mut entries, 9, 100).unwrap(), 115);
    let firsts: Vec<_> = entries.iter().map(|e| e.file.first_row_id).collect();
    assert_eq!(firsts, [Some(100), None, Some(110)]);
    let seqs: Vec<_> = entries
        .iter()
        .map(|e| (e.file.min_sequence_number, e.file.max_sequence_number))
        .collect();
    assert_eq!(seqs, [(9, 9), (3, 9), (9, 9)]);
}

#[test]
fn blobs_follow_their_normal_file() {
    let blob = |name: &str, column: &str, rows| {
        let mut file = file(name, rows);
        file.write_cols = Some([column.to_string()].into());
        add(file)
    };
    let mut entries = vec![
        add(file("a", 10)),
        blob("x1.blob", "x", 6),
        blob("x2.blob", "x", 4),
        blob("y1.blob", "y", 10),
        add(file("b", 2)),
        blob("x3.blob", "x", 2),
    ];
    assert_eq!(assign(&mut entries, 1, 0).unwrap(), 12);
    let firsts: Vec<_> = entries.iter().map(|e| e.file.first_row_id.unwrap()).collect();
    assert_eq!(firsts, [0, 0, 6, 0, 10, 10]);
    let mut entries = vec![blob("x1.blob", "x", 6)];
    assert!(assign(&mut entries, 1, 0).is_err());
}

#[test]
fn source_is_required_and_counts_cannot_overflow() {
    let mut odd = file("a", 1);
    odd.file_source = None;
    assert!(assign(&mut [add(odd)], 1, 0).is_err());
    assert!(assign(&mut [add(file("a", 2))], 1, i64::MAX - 1).is_err());
}
