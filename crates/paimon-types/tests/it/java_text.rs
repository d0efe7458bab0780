// SPDX-License-Identifier: Apache-2.0

//! Every line of `java-text.jsonl`: `testdata/TextVectors.java`, run with paimon-bundle 1.4.2 on JDK 17 in zone UTC.

use paimon_types::text::{
    ZoneOffset, civil_from_days, date_to_string, datum_from_string_in, datum_to_string_in, days_from_civil,
    timestamp_to_iso_string,
};
use paimon_types::{
    DataType, Datum, MAX_LENGTH, PartitionNaming, Result, Timestamp, TypeKind, datum_from_string,
    datum_to_string, escape_path_name, java_double_to_string, java_float_to_string, unescape_path_name,
};

use crate::vectors::{Vector, from_hex, to_hex, vectors};

/// The form in which the generator shows values.
fn show(value: Option<&Datum>) -> String {
    let list = |values: &mut dyn Iterator<Item = &Option<Datum>>| -> String {
        let items: String = values.map(|v| format!("<{}>", show(v.as_ref()))).collect();
        format!("[{items}]")
    };
    match value {
        None => "null".into(),
        Some(Datum::Boolean(v)) => v.to_string(),
        Some(Datum::TinyInt(v)) => v.to_string(),
        Some(Datum::SmallInt(v)) => v.to_string(),
        Some(Datum::Int(v) | Datum::Date(v) | Datum::Time(v)) => v.to_string(),
        Some(Datum::BigInt(v)) => v.to_string(),
        Some(Datum::Float(v)) if v.is_nan() => "7fc00000".into(),
        Some(Datum::Float(v)) => format!("{:08x}", v.to_bits()),
        Some(Datum::Double(v)) if v.is_nan() => "7ff8000000000000".into(),
        Some(Datum::Double(v)) => format!("{:016x}", v.to_bits()),
        Some(Datum::String(v)) => v.clone(),
        Some(Datum::Bytes(v)) => to_hex(v),
        Some(Datum::Decimal { unscaled, .. }) => unscaled.to_string(),
        Some(Datum::Timestamp(v)) => format!("{}:{}", v.millis, v.nanos_of_milli),
        Some(Datum::Array(v) | Datum::Row(v)) => list(&mut v.iter()),
        Some(Datum::Map(v)) => list(&mut v.iter().map(|(k, _)| k)) + &list(&mut v.iter().map(|(_, v)| v)),
        Some(Datum::Variant { .. }) => panic!("no variants here"),
    }
}

/// Reverts [`show`] for the types that `cast_to_string` lines have.
fn parse_shown(text: &str, data_type: &DataType) -> Datum {
    match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(text == "true"),
        TypeKind::TinyInt => Datum::TinyInt(text.parse().unwrap()),
        TypeKind::BigInt => Datum::BigInt(text.parse().unwrap()),
        TypeKind::Date => Datum::Date(text.parse().unwrap()),
        TypeKind::Time(_) => Datum::Time(text.parse().unwrap()),
        TypeKind::Float => Datum::Float(f32::from_bits(u32::from_str_radix(text, 16).unwrap())),
        TypeKind::Double => Datum::Double(f64::from_bits(u64::from_str_radix(text, 16).unwrap())),
        TypeKind::Decimal { scale, .. } => Datum::Decimal {
            unscaled: text.parse().unwrap(),
            scale: *scale,
        },
        TypeKind::Timestamp(_) => Datum::Timestamp(parse_timestamp(text)),
        TypeKind::VarBinary(_) => Datum::Bytes(from_hex(text)),
        other => panic!("{other:?}"),
    }
}

fn parse_timestamp(text: &str) -> Timestamp {
    let (millis, nanos) = text.split_once(':').unwrap();
    Timestamp {
        millis: millis.parse().unwrap(),
        nanos_of_milli: nanos.parse().unwrap(),
    }
}

fn data_type(vector: &Vector) -> DataType {
    DataType::parse(vector.text("type")).unwrap()
}

#[test]
fn casts_to_string() {
    for vector in vectors("java-text.jsonl", "cast_to_string", 2506) {
        let data_type = data_type(&vector);
        let value = parse_shown(vector.input(), &data_type);
        let (text, java) = (datum_to_string(&value, &data_type), vector.text("output"));
        match value {
            // Before JDK 19 some floats have more digits than they need, and then may not even have the nearest ones.
            Datum::Float(v) if text != java => {
                assert_eq!(java.parse::<f32>().unwrap(), v);
                assert_eq!(text.parse::<f32>().unwrap(), v);
                assert!(text.len() <= java.len(), "{text} {java}");
            }
            Datum::Double(v) if text != java => {
                assert_eq!(java.parse::<f64>().unwrap(), v);
                assert_eq!(text.parse::<f64>().unwrap(), v);
                assert!(text.len() <= java.len(), "{text} {java}");
            }
            _ => assert_eq!(text, java, "line {}", vector.line),
        }
    }
}

#[test]
fn iso_timestamps() {
    for vector in vectors("java-text.jsonl", "timestamp_iso", 40) {
        let value = parse_timestamp(vector.input());
        let text = timestamp_to_iso_string(value);
        assert_eq!(text, vector.text("output"));
        let data_type = DataType::new(TypeKind::Timestamp(9));
        let read = PartitionNaming::default()
            .value_from_string(&text, &data_type)
            .unwrap();
        assert_eq!(read, Some(Datum::Timestamp(value)), "{text}");
    }
}

fn check_from_string(vector: &Vector, read: Result<Option<Datum>>) {
    let found = read
        .as_ref()
        .map_or_else(|_| "error".to_owned(), |value| show(value.as_ref()));
    assert_eq!(
        found,
        vector.text("output"),
        "line {}: {} {read:?}",
        vector.line,
        vector.input()
    );
}

#[test]
fn casts_from_string() {
    for vector in vectors("java-text.jsonl", "cast_from_string", 1635) {
        // `TH` was refused up to release 1.4 and is read since.
        if vector.input().contains("01T") && vector.text("type").starts_with("TIMESTAMP") {
            assert_eq!(vector.text("output"), "error");
            assert!(datum_from_string(vector.input(), &data_type(&vector)).is_err());
            continue;
        }
        check_from_string(&vector, datum_from_string(vector.input(), &data_type(&vector)));
    }
}

#[test]
fn partition_values_from_string() {
    for vector in vectors("java-text.jsonl", "partition_from_string", 459) {
        let read = PartitionNaming::default().value_from_string(vector.input(), &data_type(&vector));
        check_from_string(&vector, read);
    }
}

#[test]
fn path_escapes() {
    for vector in vectors("java-text.jsonl", "escape", 1) {
        assert_eq!(escape_path_name(vector.input()), vector.text("output"));
        assert_eq!(unescape_path_name(vector.text("output")), vector.input());
    }
    for vector in vectors("java-text.jsonl", "unescape", 12) {
        assert_eq!(
            unescape_path_name(vector.input()),
            vector.text("output"),
            "{}",
            vector.input()
        );
    }
}

/// What JDK 19 and later print, from the specification of `Double.toString`.
#[test]
fn floats_of_newer_jdks() {
    for (value, text) in [
        (f64::from_bits(1), "4.9E-324"),
        (f64::from_bits(2), "9.9E-324"),
        (f64::from_bits(3), "1.5E-323"),
        (2e-3, "0.002"),
        (2e23, "2.0E23"),
        (1e23, "1.0E23"),
        (8.41e21, "8.41E21"),
        (2.0e-44, "2.0E-44"),
        (9_007_199_254_740_992.0, "9.007199254740992E15"),
        (1_234_567.0, "1234567.0"),
        (12_345_678.0, "1.2345678E7"),
        (0.001, "0.001"),
        (f64::MAX, "1.7976931348623157E308"),
        (-100.0, "-100.0"),
    ] {
        assert_eq!(java_double_to_string(value), text);
    }
    assert_eq!(java_float_to_string(f32::from_bits(1)), "1.4E-45");
    assert_eq!(java_float_to_string(f32::MIN_POSITIVE), "1.1754944E-38");
    assert_eq!(java_float_to_string(1.0e10), "1.0E10");
    assert_eq!(java_float_to_string(33_554_432.0), "3.3554432E7");
}

#[test]
fn every_float_text_reads_back() {
    for bits in (0..=u32::MAX).step_by(65_521) {
        let value = f32::from_bits(bits);
        if !value.is_finite() {
            continue;
        }
        let text = java_float_to_string(value);
        assert_eq!(text.parse::<f32>().unwrap().to_bits(), bits, "{text}");
        let wide = f64::from_bits(u64::from(bits) << 32 | u64::from(bits ^ 0x5555_5555));
        if wide.is_finite() {
            assert_eq!(java_double_to_string(wide).parse::<f64>().unwrap(), wide);
        }
    }
}

#[test]
fn civil_days() {
    for (days, date) in [
        (0, (1970, 1, 1)),
        (-719_528, (0, 1, 1)),
        (-719_529, (-1, 12, 31)),
        (2_932_896, (9999, 12, 31)),
        (11_016, (2000, 2, 29)),
        (-25_509, (1900, 2, 28)),
        (-25_508, (1900, 3, 1)),
    ] {
        assert_eq!(civil_from_days(days), date);
        assert_eq!(days_from_civil(date.0, date.1, date.2), days);
    }
    let mut previous = civil_from_days(-800_001);
    for days in -800_000..3_000_000 {
        let date = civil_from_days(days);
        assert_eq!(days_from_civil(date.0, date.1, date.2), days);
        let next_day = date.2 == previous.2 + 1 && (date.0, date.1) == (previous.0, previous.1);
        let next_month = date.2 == 1 && (28..=31).contains(&previous.2);
        assert!(next_day || next_month, "{previous:?} {date:?}");
        previous = date;
    }
    for days in [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i32::MAX)] {
        let (year, month, day) = civil_from_days(days);
        let _ = days_from_civil(year, month, day);
    }
    let _ = days_from_civil(i64::MAX, 12, 31);
    let _ = days_from_civil(i64::MIN, 1, 1);
    assert_eq!(date_to_string(i32::MAX), "+5881580-07-11");
    assert_eq!(date_to_string(i32::MIN), "-5877641-06-23");
    for millis in [i64::MIN, i64::MAX] {
        let value = Datum::Timestamp(Timestamp {
            millis,
            nanos_of_milli: 999_999,
        });
        let _ = datum_to_string(&value, &DataType::new(TypeKind::Timestamp(9)));
        let _ = datum_to_string_in(&value, &DataType::new(TypeKind::TimestampLtz(9)), &|_| 50_400);
    }
}

#[test]
fn newer_timestamp_texts() {
    let read = |text: &str| datum_from_string(text, &DataType::new(TypeKind::Timestamp(3)));
    let expected = |millis| Some(Datum::Timestamp(Timestamp::from_millis(millis)));
    assert_eq!(read("2024-01-01T10:00").unwrap(), expected(1_704_103_200_000));
    assert_eq!(read("2024-1-1T1:2:3.4567").unwrap(), expected(1_704_070_923_456));
    assert!(read("2024-01-01T10:00Z").is_err());
    assert!(read("+10000-01-01T00:00").is_err());
}

#[test]
fn nested_values_to_string() {
    let int = || Box::new(DataType::new(TypeKind::Int));
    let array = Datum::Array(vec![Some(Datum::Int(1)), None, Some(Datum::Int(3))]);
    assert_eq!(
        datum_to_string(&array, &DataType::new(TypeKind::Array(int()))),
        "[1, null, 3]"
    );
    let map = Datum::Map(vec![
        (Some(Datum::String("k1".into())), Some(Datum::Int(1))),
        (Some(Datum::String("k2".into())), None),
    ]);
    let map_type = DataType::new(TypeKind::Map(Box::new(DataType::string()), int()));
    assert_eq!(datum_to_string(&map, &map_type), "{k1 -> 1, k2 -> null}");
    let row_type = DataType::parse("ROW<a TIMESTAMP(3), b ARRAY<DOUBLE>>").unwrap();
    let row = Datum::Row(vec![
        Some(Datum::Timestamp(Timestamp::from_millis(0))),
        Some(Datum::Array(vec![Some(Datum::Double(1e10))])),
    ]);
    assert_eq!(
        datum_to_string(&row, &row_type),
        "{1970-01-01 00:00:00.000, [1.0E10]}"
    );
}

#[test]
fn refused_texts() {
    for (text, kind) in [
        ("0x1p3", TypeKind::Double),
        (
            "{a\\b -> c}",
            TypeKind::Map(Box::new(DataType::string()), Box::new(DataType::string())),
        ),
        ("{}", TypeKind::Variant),
        ("1", TypeKind::Blob),
    ] {
        assert!(datum_from_string(text, &DataType::new(kind)).is_err(), "{text}");
    }
    let mut deep = DataType::new(TypeKind::VarChar(MAX_LENGTH));
    for _ in 0..80 {
        deep = DataType::new(TypeKind::Array(Box::new(deep)));
    }
    assert!(datum_from_string(&format!("{}{}", "[".repeat(80), "]".repeat(80)), &deep).is_err());
}

/// Offset 1 h in winter, 2 h in summer: switches on 2024-03-31 and 2024-10-27 at 01:00 UTC.
fn central_europe(millis: i64) -> i32 {
    if (1_711_846_800_000..1_729_990_800_000).contains(&millis) {
        7200
    } else {
        3600
    }
}

#[test]
fn session_zones() {
    let zone: ZoneOffset<'_> = &central_europe;
    let data_type = DataType::new(TypeKind::TimestampLtz(0));
    for (local, instant, back) in [
        ("2024-01-15 12:00:00", 1_705_316_400_000, "2024-01-15 12:00:00"),
        ("2024-07-15 12:00:00", 1_721_037_600_000, "2024-07-15 12:00:00"),
        // In the gap: moved on by its length.
        ("2024-03-31 02:30:00", 1_711_848_600_000, "2024-03-31 03:30:00"),
        // Twice: the first.
        ("2024-10-27 02:30:00", 1_729_989_000_000, "2024-10-27 02:30:00"),
        ("2024-10-27 03:00:00", 1_729_994_400_000, "2024-10-27 03:00:00"),
    ] {
        let value = datum_from_string_in(local, &data_type, zone).unwrap().unwrap();
        assert_eq!(
            value,
            Datum::Timestamp(Timestamp::from_millis(instant)),
            "{local}"
        );
        assert_eq!(datum_to_string_in(&value, &data_type, zone), back);
    }
}
