// SPDX-License-Identifier: Apache-2.0

use paimon_types::{
    BinaryArray, BinaryRow, BinaryRowRef, BinaryRowWriter, DataField, DataInput, DataOutput, DataType, Datum,
    ErrorKind, Timestamp, TypeKind,
};

use crate::generate::{Random, random_type, random_value, same_rows};
use crate::vectors::{Row, from_hex, parse_array, parse_row, parse_value, to_hex, vectors};

/// The reserving form of a row with a kind, by way of the writer.
fn write(row: &Row) -> BinaryRow {
    let mut writer = BinaryRowWriter::new(7);
    writer.reset(row.types.len());
    writer.set_row_kind(row.kind);
    for (index, (data_type, value)) in row.types.iter().zip(&row.values).enumerate() {
        writer.write_datum(index, value.as_ref(), data_type).unwrap();
    }
    let finished = writer.finish().unwrap();
    assert_eq!(writer.row_bytes(), finished.as_bytes());
    assert_eq!(writer.hash_code(), finished.hash_code());
    finished
}

fn check_row(input: &str, hex: &str, canonical: bool) -> BinaryRow {
    let expected = parse_row(input);
    let row = BinaryRow::new(expected.types.len(), from_hex(hex)).unwrap();
    let decoded = row.decode(&expected.types).unwrap();
    assert!(same_rows(&decoded, &expected.values), "{input}: {decoded:?}");
    for (index, data_type) in expected.types.iter().enumerate() {
        let field = row.get(index, data_type).unwrap();
        assert!(
            same_rows(&[field], &expected.values[index..=index]),
            "{input}, field {index}"
        );
    }
    assert_eq!(row.row_kind(), expected.kind, "{input}");
    let written = write(&expected);
    if canonical {
        assert_eq!(to_hex(written.as_bytes()), hex, "{input}");
        if expected.kind == 0 {
            assert_eq!(
                BinaryRow::encode(&expected.types, &expected.values).unwrap(),
                written,
                "{input}"
            );
        }
    } else {
        assert_ne!(to_hex(written.as_bytes()), hex, "{input}");
    }
    row
}

#[test]
fn binary_row_vectors() {
    for vector in vectors("wire-vectors.jsonl", "binary_row", 44) {
        // Releases up to 0.9 did not reserve space for these nulls in rows that no projection made.
        let legacy = vector.text("source").contains("legacy difference");
        let row = check_row(vector.input(), vector.text("hex"), !legacy);
        assert_eq!(row.arity() as i32, vector.number("arity"), "{}", vector.input());
        assert_eq!(row.hash_code(), vector.number("hash"), "{}", vector.input());
    }
}

#[test]
fn projected_row_vectors() {
    for vector in vectors("wire-vectors.jsonl", "binary_row_codegen_projection", 5) {
        let row = check_row(vector.input(), vector.text("hex"), true);
        assert_eq!(row.arity() as i32, vector.number("arity"));
        assert_eq!(row.hash_code(), vector.number("hash"), "{}", vector.input());
    }
}

#[test]
fn binary_array_vectors() {
    for vector in vectors("wire-vectors.jsonl", "binary_array", 8) {
        let (element, expected) = parse_array(vector.input());
        let array = BinaryArray::new(vector.bytes()).unwrap();
        assert_eq!(array.decode(&element).unwrap(), expected, "{}", vector.input());
        let encoded = BinaryArray::encode(&element, &expected).unwrap();
        assert_eq!(
            to_hex(encoded.as_bytes()),
            vector.text("hex"),
            "{}",
            vector.input()
        );
    }
}

#[test]
fn serialized_row_vectors() {
    for vector in vectors("wire-vectors.jsonl", "serialize_binary_row", 2) {
        let expected = parse_row(vector.input());
        let row = BinaryRow::from_serialized(&vector.bytes()).unwrap();
        assert_eq!(row, BinaryRow::encode(&expected.types, &expected.values).unwrap());
        assert_eq!(to_hex(&row.to_serialized()), vector.text("hex"));
    }
    for vector in vectors("wire-vectors.jsonl", "stream_serialize_binary_row", 1) {
        let expected = parse_row(vector.input());
        let bytes = vector.bytes();
        let mut input = DataInput::new(&bytes);
        let row = BinaryRow::read_stream(&mut input).unwrap();
        input.expect_end().unwrap();
        assert_eq!(row, BinaryRow::encode(&expected.types, &expected.values).unwrap());
        let mut out = DataOutput::new();
        row.write_stream(&mut out);
        assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
    }
    for vector in vectors("wire-vectors.jsonl", "stream_binary_row_serializer", 1) {
        let expected = parse_row(vector.input());
        let bytes = vector.bytes();
        let mut input = DataInput::new(&bytes);
        let row = BinaryRow::read_record(&mut input, expected.types.len()).unwrap();
        input.expect_end().unwrap();
        assert_eq!(row, BinaryRow::encode(&expected.types, &expected.values).unwrap());
        let mut out = DataOutput::new();
        row.write_record(&mut out);
        assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
    }
}

#[test]
fn typed_stream_vectors() {
    for kind in ["stream_vector", "stream_variant"] {
        for vector in vectors("wire-vectors.jsonl", kind, 1) {
            let (data_type, value) = parse_value(vector.input());
            let bytes = vector.bytes();
            let mut input = DataInput::new(&bytes);
            let read = paimon_types::read_stream_value(&mut input, &data_type).unwrap();
            input.expect_end().unwrap();
            assert_eq!(Some(&read), value.as_ref());
            let mut out = DataOutput::new();
            paimon_types::write_stream_value(&mut out, &data_type, &read).unwrap();
            assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
        }
    }
}

#[test]
fn random_rows_come_back() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let arity = random.below(if seed % 10 == 0 { 130 } else { 9 }) as usize;
        let types: Vec<DataType> = (0..arity).map(|_| random_type(&mut random, 3)).collect();
        let values: Vec<Option<Datum>> = types
            .iter()
            .map(|t| random_value(&mut random, t, false))
            .collect();
        let row = BinaryRow::encode(&types, &values).unwrap();
        assert_eq!(row.as_bytes().len() % 8, 0);
        let decoded = row.decode(&types).unwrap();
        assert!(
            same_rows(&decoded, &values),
            "seed {seed}: {decoded:?}\n{values:?}"
        );
        assert_eq!(BinaryRow::encode(&types, &decoded).unwrap(), row, "seed {seed}");
        assert_eq!(
            write(&Row {
                types: types.clone(),
                values: values.clone(),
                kind: 0
            }),
            row,
            "seed {seed}"
        );
        assert_eq!(BinaryRow::from_serialized(&row.to_serialized()).unwrap(), row);
        let mut out = DataOutput::new();
        row.write_stream(&mut out);
        row.write_record(&mut out);
        let mut input = DataInput::new(out.as_bytes());
        assert_eq!(BinaryRow::read_stream(&mut input).unwrap(), row);
        assert_eq!(BinaryRow::read_record(&mut input, arity).unwrap(), row);
        input.expect_end().unwrap();
        for (data_type, value) in types.iter().zip(&values) {
            let mut out = DataOutput::new();
            paimon_types::write_nullable_stream_value(&mut out, data_type, value.as_ref()).unwrap();
            let mut input = DataInput::new(out.as_bytes());
            let read = paimon_types::read_nullable_stream_value(&mut input, data_type).unwrap();
            input.expect_end().unwrap();
            assert!(
                same_rows(&[read], std::slice::from_ref(value)),
                "seed {seed}: {value:?}"
            );
        }
    }
}

#[test]
fn random_arrays_come_back() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let element = random_type(&mut random, 2);
        let len = random.below(if seed % 10 == 0 { 130 } else { 9 });
        let values: Vec<Option<Datum>> = (0..len)
            .map(|_| random_value(&mut random, &element, false))
            .collect();
        let array = BinaryArray::encode(&element, &values).unwrap();
        let again = BinaryArray::new(array.as_bytes().to_vec()).unwrap();
        let decoded = again.decode(&element).unwrap();
        assert!(
            same_rows(&decoded, &values),
            "seed {seed}: {decoded:?}\n{values:?}"
        );
        assert_eq!(
            BinaryArray::encode(&element, &decoded).unwrap(),
            array,
            "seed {seed}"
        );
    }
}

#[test]
fn random_vectors_come_back() {
    let elements = [
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
    ];
    for seed in 0..210u64 {
        let mut random = Random::new(seed);
        let element = DataType::required(elements[seed as usize % elements.len()].clone());
        let len = random.below(40);
        let mut values = Vec::new();
        while (values.len() as u64) < len {
            values.extend(random_value(&mut random, &element, false).map(Some));
        }
        let vector = DataType::new(TypeKind::Vector(Box::new(element), len as u32));
        let value = Some(Datum::Array(values));
        let nested = DataType::new(TypeKind::Row(vec![DataField::new(0, "v", vector.clone())]));
        let types = [vector.clone(), nested, vector.clone()];
        let row = [value.clone(), Some(Datum::Row(vec![value.clone()])), None];
        let encoded = BinaryRow::encode(&types, &row).unwrap();
        let decoded = encoded.decode(&types).unwrap();
        assert!(same_rows(&decoded, &row), "seed {seed}: {decoded:?}\n{row:?}");
        let mut out = DataOutput::new();
        paimon_types::write_nullable_stream_value(&mut out, &vector, value.as_ref()).unwrap();
        let mut input = DataInput::new(out.as_bytes());
        let read = paimon_types::read_nullable_stream_value(&mut input, &vector).unwrap();
        input.expect_end().unwrap();
        assert!(same_rows(&[read], &[value]), "seed {seed}");
    }
}

#[test]
fn damaged_rows_never_panic() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let types: Vec<DataType> = (0..1 + random.below(5))
            .map(|_| random_type(&mut random, 3))
            .collect();
        let values: Vec<Option<Datum>> = types
            .iter()
            .map(|t| random_value(&mut random, t, false))
            .collect();
        let bytes = BinaryRow::encode(&types, &values).unwrap().as_bytes().to_vec();
        for _ in 0..40 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(damaged.len() as u64) as usize;
                damaged[at] = random.next() as u8;
            }
            damaged.truncate(damaged.len() - random.below(9) as usize);
            if let Ok(row) = BinaryRow::new(types.len(), damaged.as_slice()) {
                let _ = row.decode(&types);
                let _ = row.hash_code();
            }
            let _ = BinaryRow::from_serialized(&damaged);
            for data_type in &types {
                let _ = paimon_types::read_stream_value(&mut DataInput::new(&damaged), data_type);
            }
        }
    }
}

/// An array whose elements are all the array itself would multiply with every level.
#[test]
fn overlapping_pieces_are_refused() {
    let mut element = DataType::new(TypeKind::BigInt);
    for _ in 0..8 {
        element = DataType::new(TypeKind::Array(Box::new(element)));
    }
    let count = 64u32;
    let mut bytes = count.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0; 12]);
    let size = 16 + u64::from(count) * 8;
    for _ in 0..count {
        bytes.extend_from_slice(&size.to_le_bytes());
    }
    let error = BinaryArray::new(bytes).unwrap().decode(&element).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn sizes_are_checked_before_anything_is_reserved() {
    assert_eq!(
        BinaryRow::new(1, vec![0; 8]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(
        BinaryRow::new(usize::MAX, vec![0; 8]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(BinaryRow::new(0, vec![]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(
        BinaryRow::from_serialized(&[0xff; 12]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(
        BinaryRow::from_serialized(&[0x7f; 12]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(
        BinaryArray::new(vec![0xff, 0xff, 0xff, 0x7f]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    let int = DataType::new(TypeKind::Int);
    let row = BinaryRow::encode(std::slice::from_ref(&int), &[Some(Datum::Int(1))]).unwrap();
    assert_eq!(row.decode(&[]).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(row.get(1, &int).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn nesting_is_limited() {
    let (mut data_type, mut value) = (DataType::new(TypeKind::Int), Datum::Int(1));
    for _ in 0..70 {
        data_type = DataType::new(TypeKind::Array(Box::new(data_type)));
        value = Datum::Array(vec![Some(value)]);
    }
    let error = BinaryRow::encode(&[data_type], &[Some(value)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let refused = |kind: TypeKind, value: Datum| {
        let error = BinaryRow::encode(&[DataType::new(kind)], &[Some(value)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    };
    refused(TypeKind::Int, Datum::BigInt(1));
    refused(
        TypeKind::Decimal {
            precision: 3,
            scale: 1,
        },
        Datum::Decimal {
            unscaled: 1000,
            scale: 1,
        },
    );
    refused(
        TypeKind::Decimal {
            precision: 3,
            scale: 1,
        },
        Datum::Decimal {
            unscaled: 1,
            scale: 2,
        },
    );
    refused(
        TypeKind::Decimal {
            precision: 38,
            scale: 1,
        },
        Datum::Decimal {
            unscaled: i128::MIN,
            scale: 1,
        },
    );
    refused(
        TypeKind::Timestamp(3),
        Datum::Timestamp(Timestamp {
            millis: 0,
            nanos_of_milli: 1,
        }),
    );
    refused(
        TypeKind::Timestamp(9),
        Datum::Timestamp(Timestamp {
            millis: 0,
            nanos_of_milli: 1_000_000,
        }),
    );
    refused(
        TypeKind::Vector(Box::new(DataType::new(TypeKind::Float)), 2),
        Datum::Array(vec![Some(Datum::Float(1.0))]),
    );
    refused(
        TypeKind::Vector(Box::new(DataType::new(TypeKind::Float)), 1),
        Datum::Array(vec![None]),
    );
    let error = BinaryRow::encode(&[DataType::string()], &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn the_writer_wants_every_field_in_order() {
    let mut writer = BinaryRowWriter::new(2);
    assert!(writer.write_i32(1, 5).is_err());
    writer.write_i32(0, 5).unwrap();
    assert!(writer.write_i32(0, 6).is_err());
    assert!(writer.finish().is_err());
    writer.write_i64(1, -1).unwrap();
    assert!(writer.write_i32(2, 6).is_err());
    let row = writer.finish().unwrap();
    assert_eq!(
        to_hex(row.as_bytes()),
        "00000000000000000500000000000000ffffffffffffffff"
    );
}

#[test]
fn writer_methods_agree_with_encode() {
    let types = [
        TypeKind::Boolean,
        TypeKind::TinyInt,
        TypeKind::SmallInt,
        TypeKind::Int,
        TypeKind::BigInt,
        TypeKind::Float,
        TypeKind::Double,
        TypeKind::VarBinary(20),
        TypeKind::Decimal {
            precision: 38,
            scale: 0,
        },
        TypeKind::Timestamp(9),
        TypeKind::Decimal {
            precision: 38,
            scale: 0,
        },
        TypeKind::Timestamp(9),
    ]
    .map(DataType::new);
    let timestamp = Timestamp {
        millis: -5,
        nanos_of_milli: 7,
    };
    let values = [
        Some(Datum::Boolean(true)),
        Some(Datum::TinyInt(-1)),
        Some(Datum::SmallInt(-2)),
        Some(Datum::Int(-3)),
        Some(Datum::BigInt(-4)),
        Some(Datum::Float(f32::NAN)),
        Some(Datum::Double(-0.0)),
        Some(Datum::Bytes(vec![1; 9])),
        Some(Datum::Decimal {
            unscaled: -128,
            scale: 0,
        }),
        Some(Datum::Timestamp(timestamp)),
        None,
        None,
    ];
    let mut writer = BinaryRowWriter::new(12);
    writer.write_bool(0, true).unwrap();
    writer.write_i8(1, -1).unwrap();
    writer.write_i16(2, -2).unwrap();
    writer.write_i32(3, -3).unwrap();
    writer.write_i64(4, -4).unwrap();
    writer.write_f32(5, f32::NAN).unwrap();
    writer.write_f64(6, -0.0).unwrap();
    writer.write_bytes(7, &[1; 9]).unwrap();
    writer.write_decimal(8, -128, 38).unwrap();
    writer.write_timestamp(9, timestamp, 9).unwrap();
    writer.set_null(10, &types[10]).unwrap();
    writer.set_null(11, &types[11]).unwrap();
    assert_eq!(
        writer.finish().unwrap(),
        BinaryRow::encode(&types, &values).unwrap()
    );
}

#[test]
fn views_read_without_datums() {
    let nested = DataType::new(TypeKind::Row(vec![DataField::new(0, "x", DataType::bytes())]));
    let list = |kind| DataType::new(TypeKind::Array(Box::new(DataType::new(kind))));
    let types = [
        DataType::string(),
        DataType::new(TypeKind::BigInt),
        nested.clone(),
        list(TypeKind::BigInt),
        list(DataType::string().kind),
        DataType::new(TypeKind::Array(Box::new(nested))),
        DataType::new(TypeKind::Int),
        list(TypeKind::Int),
        DataType::new(TypeKind::TinyInt),
    ];
    let inner = |bytes: &[u8]| Some(Datum::Row(vec![Some(Datum::Bytes(bytes.to_vec()))]));
    let values = [
        Some(Datum::String("a file name".into())),
        Some(Datum::BigInt(7)),
        inner(b"0123456789"),
        Some(Datum::Array(vec![Some(Datum::BigInt(1)), None])),
        Some(Datum::Array(vec![
            Some(Datum::String("longer than 7".into())),
            None,
            Some(Datum::String("s".into())),
        ])),
        Some(Datum::Array(vec![None, inner(b"x")])),
        None,
        Some(Datum::Array(vec![Some(Datum::Int(3))])),
        Some(Datum::TinyInt(1)),
    ];
    let row = BinaryRow::encode(&types, &values).unwrap();
    let view = row.view();
    assert_eq!(view.str(0).unwrap(), Some("a file name"));
    assert_eq!(view.i64(1).unwrap(), Some(7));
    assert_eq!(
        view.row(2, 1).unwrap().unwrap().bytes(0).unwrap(),
        Some(b"0123456789".as_slice())
    );
    assert_eq!(
        view.array(3).unwrap().unwrap().to_i64_vec().unwrap(),
        [Some(1), None]
    );
    assert_eq!(
        view.array(4).unwrap().unwrap().to_str_vec().unwrap(),
        [Some("longer than 7"), None, Some("s")]
    );
    let rows = view.array(5).unwrap().unwrap().to_row_vec(1).unwrap();
    assert!(rows[0].is_none());
    assert_eq!(rows[1].unwrap().bytes(0).unwrap(), Some(b"x".as_slice()));
    assert!(view.is_null(6).unwrap());
    assert_eq!(view.i32(6).unwrap(), None);
    assert_eq!(view.array(7).unwrap().unwrap().to_i32_vec().unwrap(), [Some(3)]);
    assert_eq!(view.i8(8).unwrap(), Some(1));
    assert!(view.i32(9).is_err());
    assert!(BinaryRowRef::new(3, &[0; 8]).is_err());
}
