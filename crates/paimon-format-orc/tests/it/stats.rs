// SPDX-License-Identifier: Apache-2.0

//! Statistics of files that Java wrote, as `OrcSimpleStatsExtractor` of Paimon 1.4.2 told them.
//!
//! `tests/data/java-stats.tsv` has a line for each column of each file: table, column, smallest, greatest value, number of
//! NULLs. Texts are `x` and their bytes in hexadecimal digits, cut after 60 of them; decimals are unscaled, floats bits,
//! timestamps milliseconds and nanoseconds of a millisecond. Files of the tables of another zone were read in that zone.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{FileFormatFactory, UnboundedMemoryPool};
use paimon_format_orc::OrcFormatFactory;
use paimon_storage::Storage;
use paimon_types::Datum;

use crate::support::{files, schema, testdata};

fn show(datum: &Option<Datum>) -> String {
    match datum {
        None => "-".to_string(),
        Some(Datum::Boolean(v)) => v.to_string(),
        Some(Datum::TinyInt(v)) => v.to_string(),
        Some(Datum::SmallInt(v)) => v.to_string(),
        Some(Datum::Int(v) | Datum::Date(v) | Datum::Time(v)) => v.to_string(),
        Some(Datum::BigInt(v)) => v.to_string(),
        Some(Datum::Float(v)) => format!("{:x}", v.to_bits()),
        Some(Datum::Double(v)) => format!("{:x}", v.to_bits()),
        Some(Datum::Decimal { unscaled, .. }) => unscaled.to_string(),
        Some(Datum::Timestamp(v)) => format!("{}:{}", v.millis, v.nanos_of_milli),
        Some(Datum::String(v)) => {
            let text: String = v.bytes().map(|b| format!("{b:02x}")).collect();
            let text = format!("x{text}");
            match text.len() {
                0..=80 => text,
                length => format!("{}#{length}", &text[..60]),
            }
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn equal_to_java() {
    let golden = include_str!("../data/java-stats.tsv");
    let mut tables: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in golden.lines() {
        let (table, rest) = line.split_once('\t').unwrap();
        tables.entry(table).or_default().push(rest.to_string());
    }
    let storage = Storage::default();
    let mut wrong = Vec::new();
    for (table, mut expected) in tables {
        let dir = testdata("formats").join(table);
        let (fields, options) = schema(&dir);
        let format = OrcFormatFactory::new().create(&options).unwrap();
        let extractor = format.create_stats_extractor(&fields).unwrap();
        let mut found = Vec::new();
        for path in files(&dir.join("table"), "orc") {
            if path.contains("/manifest/") {
                continue;
            }
            let file = storage.open_input(&path, None).await.unwrap();
            let stats = extractor
                .extract(file, Arc::new(UnboundedMemoryPool::new()))
                .await
                .unwrap();
            for (field, stats) in fields.iter().zip(stats) {
                let nulls = stats.null_count.map_or("-".to_string(), |n| n.to_string());
                found.push(format!(
                    "{}\t{}\t{}\t{nulls}",
                    field.name,
                    show(&stats.min),
                    show(&stats.max)
                ));
            }
        }
        expected.sort();
        found.sort();
        for line in &found {
            if !expected.contains(line) {
                wrong.push(format!("{table}: found {line}"));
            }
        }
        for line in &expected {
            if !found.contains(line) {
                wrong.push(format!("{table}: java {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
