// SPDX-License-Identifier: Apache-2.0

//! What Java's functions give, byte by byte where the bytes are one of many right ones only by number.

use paimon_types::{Datum, RowKind, TableSchema};

use crate::convert::Row;
use crate::random::{History, merged_row, schema};

fn table(function: &str, type_text: &str) -> TableSchema {
    let options = [
        ("merge-engine".to_owned(), "aggregation".to_owned()),
        ("fields.c.aggregate-function".to_owned(), function.to_owned()),
    ];
    schema(&[("k", "INT NOT NULL"), ("c", type_text)], &options)
}

fn merge(table: &TableSchema, versions: &[(Datum, RowKind)]) -> paimon_types::Result<Option<Datum>> {
    let row = |value: &Datum| -> Row { vec![Some(Datum::Int(1)), Some(value.clone())] };
    let history = History::plain(vec![
        versions.iter().map(|(value, kind)| (row(value), *kind)).collect(),
    ]);
    let merged = history.merge(table, &[0, 1], |_| true)?;
    Ok(merged_row(table, &[0, 1], &merged, 0)[1].clone())
}

fn bytes(text: &str) -> Datum {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    Datum::Bytes((0..text.len()).step_by(2).map(byte).collect())
}

#[test]
fn unions_are_those_of_java() {
    let path = std::env::var("PAIMON_MERGE_UNIONS").ok();
    let text = match &path {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("../vectors/unions.txt").to_owned(),
    };
    let mut ours = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [function, accumulator, input, union] = line.split(' ').collect::<Vec<_>>()[..] else {
            continue;
        };
        if function.ends_with("sketch") && !cfg!(feature = "sketches") {
            continue;
        }
        let table = table(function, "BYTES");
        let found = merge(
            &table,
            &[
                (bytes(accumulator), RowKind::Insert),
                (bytes(input), RowKind::Insert),
            ],
        )
        .unwrap();
        let Some(Datum::Bytes(found)) = &found else {
            panic!("{function}: {found:?}")
        };
        let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        ours.push_str(&format!("{function} {accumulator} {input} {hex}\n"));
        if function == "rbm64" {
            // Java numbers containers by their history: only what is in the bitmap has to agree.
            let again = |other: &str| {
                merge(
                    &table,
                    &[
                        (Datum::Bytes(vec![0]), RowKind::Insert),
                        (bytes(other), RowKind::Insert),
                    ],
                )
            };
            assert_eq!(again(union).unwrap(), again(&hex).unwrap(), "{line}");
        } else if path.is_none() {
            // Versions of the library differ in the flag of theta sketches with one value, which follows from the length, and
            // in four bytes that have no meaning once a sketch is compact.
            let meaning = |hex: &str| match function {
                "theta_sketch" if hex.len() == 32 => format!("{}{}", &hex[..10], &hex[12..]),
                "theta_sketch" if hex.len() > 32 => format!("{}{}", &hex[..24], &hex[32..]),
                // A set of coupons, which has no order.
                "hll_sketch" => {
                    let mut words: Vec<&str> = (0..hex.len())
                        .step_by(8)
                        .map(|at| &hex[at..hex.len().min(at + 8)])
                        .collect();
                    words.sort_unstable();
                    words.concat()
                }
                _ => hex.to_owned(),
            };
            assert_eq!(meaning(&hex), meaning(union), "{line}");
        }
    }
    if let Ok(path) = std::env::var("PAIMON_MERGE_UNIONS_OUT") {
        std::fs::write(path, ours).unwrap();
    }
}

#[test]
fn decimals_are_those_of_java() {
    for line in include_str!("../vectors/decimals.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let [function, way, precision, scale, accumulator, input, result] =
            line.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        let table = table(function, &format!("DECIMAL({precision}, {scale})"));
        let value = |text: &str| Datum::Decimal {
            unscaled: text.parse().unwrap(),
            scale: scale.parse().unwrap(),
        };
        let kind = if way == "add" {
            RowKind::Insert
        } else {
            RowKind::Delete
        };
        let found = merge(
            &table,
            &[(value(accumulator), RowKind::Insert), (value(input), kind)],
        );
        match result {
            "error" => assert!(found.is_err(), "{line}: {found:?}"),
            "null" => assert_eq!(found.unwrap(), None, "{line}"),
            number => assert_eq!(found.unwrap(), Some(value(number)), "{line}"),
        }
    }
}

#[test]
fn bytes_that_are_no_bitmap_are_refused() {
    for (function, input) in [("rbm32", "00"), ("rbm64", "02"), ("rbm64", "0101"), ("rbm64", "")] {
        let table = table(function, "BYTES");
        let error = merge(
            &table,
            &[(bytes(input), RowKind::Insert), (bytes(input), RowKind::Insert)],
        )
        .unwrap_err();
        assert!(error.to_string().contains(function), "{error}");
    }
}
