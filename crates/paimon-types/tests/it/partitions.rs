// SPDX-License-Identifier: Apache-2.0

use paimon_types::{
    BinaryRow, DataField, DataType, Datum, ErrorKind, MAX_LENGTH, PartitionNaming, Timestamp, TypeKind,
};

use crate::generate::{Random, random_value};
use crate::vectors::{parse_value, vectors};

fn naming(legacy: bool) -> PartitionNaming {
    PartitionNaming {
        legacy,
        ..PartitionNaming::default()
    }
}

#[test]
fn partition_string_vectors() {
    for vector in vectors("wire-vectors.jsonl", "partition_string", 49) {
        let naming = naming(match vector.text("version") {
            "legacy" => true,
            "cast" => false,
            other => panic!("{other}"),
        });
        let (data_type, value) = parse_value(vector.input());
        let field = DataField::new(0, "pt", data_type.clone());
        let text = naming.value_to_string(value.as_ref(), &data_type).unwrap();
        assert_eq!(text, vector.text("string"), "{}", vector.input());
        let row = BinaryRow::encode(std::slice::from_ref(&data_type), std::slice::from_ref(&value)).unwrap();
        let path = naming.path(&[&field], &row).unwrap();
        assert_eq!(format!("{path}/"), vector.text("path"), "{}", vector.input());

        let blank = matches!(&value, Some(Datum::String(s)) if s.trim().is_empty());
        // A cast name of TIME or of a legacy TIME has the digits that its precision shows.
        let expected = match (&value, &data_type.kind) {
            _ if blank => None,
            (Some(Datum::Time(_)), TypeKind::Time(0)) if !naming.legacy => Some(Datum::Time(3_661_000)),
            _ => value.clone(),
        };
        let read = naming.parse_path(vector.text("path"), &[&field]).unwrap();
        assert_eq!(read, [expected], "{}", vector.input());
    }
}

#[test]
fn several_columns() {
    let fields = [
        DataField::new(0, "a=b", DataType::string()),
        DataField::new(1, "day", DataType::new(TypeKind::Date)),
        DataField::new(2, "n", DataType::new(TypeKind::Int)),
    ];
    let fields: Vec<&DataField> = fields.iter().collect();
    let types: Vec<DataType> = fields.iter().map(|f| f.data_type.clone()).collect();
    let values = vec![Some(Datum::String("x/y".into())), Some(Datum::Date(1)), None];
    let row = BinaryRow::encode(&types, &values).unwrap();
    let path = naming(true).path(&fields, &row).unwrap();
    assert_eq!(path, "a%3Db=x%2Fy/day=1/n=__DEFAULT_PARTITION__");
    assert_eq!(naming(true).parse_path(&path, &fields).unwrap(), values);
    assert_eq!(
        naming(false).path(&fields, &row).unwrap(),
        "a%3Db=x%2Fy/day=1970-01-02/n=__DEFAULT_PARTITION__"
    );
    assert_eq!(naming(true).path(&[], &BinaryRow::empty()).unwrap(), "");
    assert!(naming(true).parse_path("", &[]).unwrap().is_empty());
    for wrong in [
        "",
        "day=1",
        "a%3Db=x",
        "a%3Db=x/day=1/n=1/more=2",
        "a%3Db/day=1/n=1",
        "a%3Db=x/day=z/n=1",
    ] {
        assert_eq!(
            naming(true).parse_path(wrong, &fields).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{wrong}"
        );
    }
    assert_eq!(
        naming(true)
            .path(&fields, &BinaryRow::empty())
            .unwrap_err()
            .kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn both_spellings_are_read() {
    let naming = naming(true);
    let read = |text: &str, kind| {
        naming
            .value_from_string(text, &DataType::new(kind))
            .unwrap()
            .unwrap()
    };
    assert_eq!(read("19723", TypeKind::Date), Datum::Date(19723));
    assert_eq!(read("2024-01-01", TypeKind::Date), Datum::Date(19723));
    let noon = Datum::Timestamp(Timestamp::from_millis(1_704_110_400_000));
    for text in [
        "2024-01-01T12:00",
        "2024-01-01 12:00:00",
        "2024-01-01T12:00:00",
        "2024-01-01 12:00:00.000000",
    ] {
        assert_eq!(read(text, TypeKind::Timestamp(6)), noon, "{text}");
        assert_eq!(read(text, TypeKind::TimestampLtz(6)), noon, "{text}");
    }
    assert_eq!(read("0.1", TypeKind::Float), Datum::Float(0.1));
    assert!(
        naming
            .value_from_string("123456789", &DataType::new(TypeKind::Float))
            .is_err()
    );
    assert!(
        naming
            .value_from_string("abc", &DataType::new(TypeKind::VarChar(2)))
            .is_err()
    );
    assert!(
        naming
            .value_from_string("12.9", &DataType::new(TypeKind::Int))
            .is_err()
    );
    let custom = PartitionNaming {
        default_name: "none".into(),
        legacy: true,
    };
    assert_eq!(
        custom
            .value_from_string("none", &DataType::new(TypeKind::Date))
            .unwrap(),
        None
    );
    assert_eq!(
        custom
            .value_to_string(None, &DataType::new(TypeKind::Date))
            .unwrap(),
        "none"
    );
    assert_eq!(
        custom
            .value_to_string(
                Some(&Datum::String("\u{2003}\t\u{1f}".into())),
                &DataType::string()
            )
            .unwrap(),
        "none"
    );
    let not_blank = Datum::String("\u{a0}".into());
    assert_eq!(
        custom
            .value_to_string(Some(&not_blank), &DataType::string())
            .unwrap(),
        "\u{a0}"
    );
}

#[test]
fn names_that_java_cannot_reproduce_are_refused() {
    let refused = |legacy: bool, kind: TypeKind, value: Datum| {
        let error = naming(legacy)
            .value_to_string(Some(&value), &DataType::new(kind))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    };
    refused(true, TypeKind::VarBinary(MAX_LENGTH), Datum::Bytes(vec![1]));
    refused(false, TypeKind::Date, Datum::Date(2_932_897));
    refused(
        false,
        TypeKind::Timestamp(3),
        Datum::Timestamp(Timestamp::from_millis(-99_167_219_200_001)),
    );
    refused(
        true,
        TypeKind::Array(Box::new(DataType::string())),
        Datum::Array(vec![]),
    );
    let error = naming(true)
        .value_to_string(Some(&Datum::Int(1)), &DataType::string())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn time_zones() {
    let plus_8 = |_: i64| 8 * 3600;
    let data_type = DataType::new(TypeKind::TimestampLtz(3));
    let value = Datum::Timestamp(Timestamp::from_millis(0));
    let cast = naming(false)
        .value_to_string_in(Some(&value), &data_type, &plus_8)
        .unwrap();
    assert_eq!(cast, "1970-01-01 08:00:00.000");
    assert_eq!(
        naming(false)
            .value_from_string_in(&cast, &data_type, &plus_8)
            .unwrap(),
        Some(value.clone())
    );
    // Legacy names show UTC.
    assert_eq!(
        naming(true)
            .value_to_string_in(Some(&value), &data_type, &plus_8)
            .unwrap(),
        "1970-01-01T00:00"
    );
}

#[test]
fn random_paths_come_back() {
    let kinds = [
        DataType::string().kind,
        TypeKind::Char(4),
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::Decimal {
            precision: 5,
            scale: 2,
        },
        TypeKind::Decimal {
            precision: 38,
            scale: 38,
        },
        TypeKind::Date,
        TypeKind::Time(3),
        TypeKind::Timestamp(0),
        TypeKind::Timestamp(3),
        TypeKind::Timestamp(6),
        TypeKind::Timestamp(9),
        TypeKind::TimestampLtz(6),
    ];
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let kind = kinds[random.below(kinds.len() as u64) as usize].clone();
        let fields = [DataField::new(0, "k", DataType::new(kind))];
        let fields: Vec<&DataField> = fields.iter().collect();
        let types = [fields[0].data_type.clone()];
        let mut value = random_value(&mut random, &types[0], true);
        if matches!(value, Some(Datum::Float(v)) if v.is_nan())
            || matches!(value, Some(Datum::Double(v)) if v.is_nan())
        {
            continue;
        }
        // Blank text is NULL by definition.
        if matches!(&value, Some(Datum::String(s)) if s.trim().is_empty()) {
            value = None;
        }
        let row = BinaryRow::encode(&types, std::slice::from_ref(&value)).unwrap();
        for legacy in [true, false] {
            let path = naming(legacy).path(&fields, &row).unwrap();
            let read = naming(legacy).parse_path(&path, &fields).unwrap();
            assert_eq!(read, std::slice::from_ref(&value), "{path}");
        }
    }
}
