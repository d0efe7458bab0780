// SPDX-License-Identifier: Apache-2.0

use paimon_types::{DataType, Datum, TypeKind};

use super::{KeyOrder, Section, sections};
use crate::{DataFileMeta, FileSource, RowValues, SimpleStats};

fn file(types: &[DataType], min: &[Option<Datum>], max: &[Option<Datum>]) -> DataFileMeta {
    DataFileMeta {
        file_name: format!("{min:?}-{max:?}.parquet"),
        file_size: 1,
        row_count: 1,
        min_key: RowValues::of(types, min).unwrap(),
        max_key: RowValues::of(types, max).unwrap(),
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

fn int() -> Vec<DataType> {
    vec![DataType::new(TypeKind::Int)]
}

fn ranges(ranges: &[(i32, i32)]) -> Vec<DataFileMeta> {
    let value = |v: &i32| [Some(Datum::Int(*v))];
    ranges
        .iter()
        .map(|(min, max)| file(&int(), &value(min), &value(max)))
        .collect()
}

fn cut(files: &[(i32, i32)]) -> Vec<Vec<Vec<usize>>> {
    let order = KeyOrder::new(int()).unwrap();
    let found = sections(&ranges(files), &order).unwrap();
    found.into_iter().map(|section: Section| section.runs).collect()
}

#[test]
fn sections_end_where_keys_do_not_overlap() {
    assert_eq!(cut(&[]), Vec::<Vec<Vec<usize>>>::new());
    assert_eq!(
        cut(&[(210, 700), (1, 2), (3, 4), (5, 180), (200, 600), (5, 190)]),
        vec![
            vec![vec![1]],
            vec![vec![2]],
            vec![vec![3], vec![5]],
            vec![vec![4], vec![0]]
        ]
    );
    // A common key is an overlap.
    assert_eq!(cut(&[(1, 5), (5, 6)]), vec![vec![vec![0], vec![1]]]);
    // The end of a section is the largest key so far, not that of the file before.
    assert_eq!(
        cut(&[(1, 100), (2, 3), (50, 60)]),
        vec![vec![vec![1, 2], vec![0]]]
    );
}

#[test]
fn equal_ranges_keep_their_order() {
    assert_eq!(
        cut(&[(1, 9), (1, 9), (1, 3)]),
        vec![vec![vec![2], vec![1], vec![0]]]
    );
}

/// What Java's `IntervalPartition` gives for random ranges, in its order (files as `min-max`; a run in brackets).
#[test]
fn the_same_as_java() {
    let golden = include_str!("java_runs.txt");
    let mut count = 0;
    for line in golden.lines() {
        let (given, expected) = line.split_once(" => ").unwrap();
        let files: Vec<(i32, i32)> = given
            .split(' ')
            .map(|range| {
                let (min, max) = range.split_once('-').unwrap();
                (min.parse().unwrap(), max.parse().unwrap())
            })
            .collect();
        let text: Vec<String> = cut(&files)
            .iter()
            .map(|runs| {
                let runs: Vec<String> = runs
                    .iter()
                    .map(|run| run.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
                    .collect();
                runs.join(" ")
            })
            .collect();
        assert_eq!(text.join(" | "), expected, "{given}");
        count += 1;
    }
    assert!(count >= 200, "{count} lines");
}

#[test]
fn keys_are_ordered_as_in_java() {
    let ascending = |data_type: DataType, values: Vec<Option<Datum>>| {
        let types = vec![data_type];
        let order = KeyOrder::new(types.clone()).unwrap();
        let files: Vec<DataFileMeta> = values
            .iter()
            .map(|v| file(&types, std::slice::from_ref(v), std::slice::from_ref(v)))
            .collect();
        let reversed: Vec<DataFileMeta> = files.iter().rev().cloned().collect();
        let found: Vec<usize> = sections(&reversed, &order)
            .unwrap()
            .iter()
            .flat_map(|section| section.files().collect::<Vec<_>>())
            .collect();
        let expected: Vec<usize> = (0..files.len()).rev().collect();
        assert_eq!(found, expected, "{values:?}");
    };
    let double = |v: f64| Some(Datum::Double(v));
    ascending(
        DataType::new(TypeKind::Double),
        vec![
            None,
            double(f64::NEG_INFINITY),
            double(-0.0),
            double(0.0),
            double(f64::INFINITY),
            double(f64::NAN),
        ],
    );
    let text = |v: &str| Some(Datum::String(v.to_owned()));
    ascending(
        DataType::new(TypeKind::VarChar(100)),
        vec![
            None,
            text(""),
            text("a"),
            text("a\u{0}"),
            text("ab"),
            text("\u{ffff}"),
            text("\u{1f600}"),
        ],
    );
    let bytes = |v: &[u8]| Some(Datum::Bytes(v.to_vec()));
    ascending(
        DataType::new(TypeKind::VarBinary(100)),
        vec![
            bytes(&[]),
            bytes(&[0]),
            bytes(&[127, 1]),
            bytes(&[128]),
            bytes(&[255]),
        ],
    );
    let bool = |v| Some(Datum::Boolean(v));
    ascending(
        DataType::new(TypeKind::Boolean),
        vec![None, bool(false), bool(true)],
    );
}

#[test]
fn columns_are_compared_in_order() {
    let types = vec![DataType::new(TypeKind::Int), DataType::new(TypeKind::BigInt)];
    let order = KeyOrder::new(types.clone()).unwrap();
    let key = |a: i32, b: i64| [Some(Datum::Int(a)), Some(Datum::BigInt(b))];
    let files = vec![
        file(&types, &key(1, 9), &key(2, 1)),
        file(&types, &key(2, 2), &key(2, 2)),
        file(&types, &key(2, 1), &key(2, 1)),
    ];
    let found = sections(&files, &order).unwrap();
    let runs: Vec<_> = found.into_iter().map(|s| s.runs).collect();
    assert_eq!(runs, vec![vec![vec![2], vec![0]], vec![vec![1]]]);
}

#[test]
fn damaged_keys_are_refused() {
    let order = KeyOrder::new(int()).unwrap();
    let error = sections(&ranges(&[(2, 1)]), &order).unwrap_err();
    assert!(error.to_string().contains("behind its last"), "{error}");
    let mut files = ranges(&[(1, 2)]);
    files[0].max_key = RowValues::empty();
    sections(&files, &order).unwrap_err();
    KeyOrder::new(vec![DataType::new(TypeKind::Array(Box::new(DataType::new(
        TypeKind::Int,
    ))))])
    .unwrap_err();
}
