// SPDX-License-Identifier: Apache-2.0

//! Random histories with what we make of them as text, for a program that asks Java the same.
//!
//! `PAIMON_MERGE_HISTORIES` names the file; without it there is nothing to do. A case is a line `TABLE` with options
//! (`key=value`, tabs between), a line `COLUMN name type` each, and of each key a line `KEY`, a line `VERSION kind values…`
//! each and a line `RESULT kind values…` or `RESULT`. Values: `~` NULL, `[ … ]` lists, `{ … }` maps, `( … )` rows, numbers,
//! floats by their bits, texts and bytes as `x` with hexadecimal digits.

use std::fmt::Write;

use paimon_types::Datum;

use crate::convert::Row;
use crate::random::{Case, Random, merged_row};

fn value(out: &mut String, value: &Option<Datum>) {
    let hex = |out: &mut String, bytes: &[u8]| {
        out.push('x');
        for byte in bytes {
            let _ = write!(out, "{byte:02x}");
        }
    };
    match value {
        None => out.push('~'),
        Some(Datum::Boolean(v)) => out.push(if *v { '1' } else { '0' }),
        Some(Datum::TinyInt(v)) => _ = write!(out, "{v}"),
        Some(Datum::SmallInt(v)) => _ = write!(out, "{v}"),
        Some(Datum::Int(v) | Datum::Date(v) | Datum::Time(v)) => _ = write!(out, "{v}"),
        Some(Datum::BigInt(v)) => _ = write!(out, "{v}"),
        Some(Datum::Float(v)) => {
            _ = write!(
                out,
                "{}",
                if v.is_nan() {
                    f32::NAN.to_bits()
                } else {
                    v.to_bits()
                }
            )
        }
        Some(Datum::Double(v)) => {
            _ = write!(
                out,
                "{}",
                if v.is_nan() {
                    f64::NAN.to_bits()
                } else {
                    v.to_bits()
                }
            )
        }
        Some(Datum::Decimal { unscaled, .. }) => _ = write!(out, "{unscaled}"),
        Some(Datum::Timestamp(v)) => _ = write!(out, "{}:{}", v.millis, v.nanos_of_milli),
        Some(Datum::String(v)) => hex(out, v.as_bytes()),
        Some(Datum::Bytes(v)) => hex(out, v),
        Some(Datum::Array(list)) => {
            out.push_str("[ ");
            list.iter().for_each(|v| values(out, std::slice::from_ref(v)));
            out.push(']');
        }
        Some(Datum::Row(row)) => {
            out.push_str("( ");
            values(out, row);
            out.push(')');
        }
        Some(Datum::Map(entries)) => {
            out.push_str("{ ");
            for (key, of_key) in entries {
                values(out, &[key.clone(), of_key.clone()]);
            }
            out.push('}');
        }
        Some(other) => panic!("no text for {other:?}"),
    }
}

fn values(out: &mut String, row: &[Option<Datum>]) {
    for v in row {
        value(out, v);
        out.push(' ');
    }
}

fn line(out: &mut String, word: &str, kind: &str, row: &Row) {
    let _ = write!(out, "{word} {kind} ");
    values(out, row);
    out.push('\n');
}

#[test]
fn histories_for_java() {
    let Ok(path) = std::env::var("PAIMON_MERGE_HISTORIES") else {
        return;
    };
    let mut out = String::new();
    for seed in 0..std::env::var("PAIMON_MERGE_CASES").map_or(200, |text| text.parse().unwrap()) {
        let mut random = Random(seed);
        let case = Case::new(&mut random);
        let schema = &case.schema;
        let history = random.history(schema, case.retracts);
        out.push_str("TABLE");
        for (key, option) in &schema.options {
            let _ = write!(out, "\t{key}={option}");
        }
        out.push('\n');
        for field in &schema.fields {
            let _ = writeln!(out, "COLUMN {} {}", field.name, field.data_type);
        }
        let all: Vec<usize> = (0..schema.fields.len()).collect();
        for (index, versions) in history.keys.iter().enumerate() {
            out.push_str("KEY\n");
            for (row, kind) in versions {
                line(&mut out, "VERSION", kind.as_str(), row);
            }
            match history.merge(schema, &all, |other| other == index) {
                Err(_) => out.push_str("RESULT error\n"),
                Ok(merged) => match merged.kinds.first() {
                    None => out.push_str("RESULT\n"),
                    Some(kind) => line(
                        &mut out,
                        "RESULT",
                        kind.as_str(),
                        &merged_row(schema, &all, &merged, 0),
                    ),
                },
            }
        }
    }
    std::fs::write(path, out).unwrap();
}
