// SPDX-License-Identifier: Apache-2.0

//! Rows, arrays, maps, variants, streams, type grammar, schema JSON, partition paths.

use paimon_types::{
    BinaryArray, BinaryRow, BlobDescriptor, BlobValue, BlobView, DataField, DataInput, DataOutput, DataType,
    Datum, PartitionNaming, Predicate, TableSchema, TypeKind, escape_path_name, read_stream_value,
    unescape_path_name, variant_from_json_text, variant_to_json, write_stream_value,
};

use crate::bounded;

/// Takes a type off the front of the input.
fn data_type(data: &mut &[u8], depth: usize) -> DataType {
    let mut next = || match data.split_first() {
        Some((first, rest)) => {
            *data = rest;
            *first
        }
        None => 0,
    };
    let (kind, parameter) = (next(), next());
    let small = u32::from(parameter % 20) + 1;
    let precision = parameter % 10;
    let kind = match kind % if depth == 0 { 17 } else { 22 } {
        0 => TypeKind::Boolean,
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::Int,
        4 => TypeKind::BigInt,
        5 => TypeKind::Float,
        6 => TypeKind::Double,
        7 => TypeKind::Char(small),
        8 => return DataType::string(),
        9 => TypeKind::Binary(small),
        10 => return DataType::bytes(),
        11 => {
            let precision = parameter % 38 + 1;
            TypeKind::Decimal {
                precision,
                scale: parameter % (precision + 1),
            }
        }
        12 => TypeKind::Date,
        13 => TypeKind::Time(precision),
        14 => TypeKind::Timestamp(precision),
        15 => TypeKind::TimestampLtz(precision),
        16 => TypeKind::Variant,
        17 => TypeKind::Array(Box::new(data_type(data, depth - 1))),
        18 => {
            let key = Box::new(data_type(data, depth - 1));
            TypeKind::Map(key, Box::new(data_type(data, depth - 1)))
        }
        19 => TypeKind::Multiset(Box::new(data_type(data, depth - 1))),
        20 => TypeKind::Vector(Box::new(DataType::required(TypeKind::Float)), small),
        _ => {
            let fields =
                (0..small % 4).map(|i| DataField::new(i as i32, format!("f{i}"), data_type(data, depth - 1)));
            TypeKind::Row(fields.collect())
        }
    };
    DataType::new(kind)
}

fn types(data: &mut &[u8]) -> Vec<DataType> {
    let Some((count, rest)) = data.split_first() else {
        return Vec::new();
    };
    *data = rest;
    (0..count % 9).map(|_| data_type(data, 3)).collect()
}

/// Rows of random types, nested ones included: count and types first, then the row.
pub fn binary_row(data: &[u8]) {
    let mut data = data;
    let types = types(&mut data);
    let Ok(row) = BinaryRow::new(types.len(), data) else {
        return;
    };
    for (index, data_type) in types.iter().enumerate() {
        let _ = row.get(index, data_type);
    }
    let _ = row.hash_code();
    let Some(values) = bounded(data.len(), || row.decode(&types)) else {
        return;
    };
    same_again(
        &values,
        |values| BinaryRow::encode(&types, values),
        |row| row.decode(&types),
    );
}

/// Arrays of a random type.
pub fn binary_array(data: &[u8]) {
    let mut data = data;
    let element = data_type(&mut data, 2);
    let Ok(array) = BinaryArray::new(data) else { return };
    let Some(values) = bounded(data.len(), || array.decode(&element)) else {
        return;
    };
    same_again(
        &values,
        |values| BinaryArray::encode(&element, values),
        |array| array.decode(&element),
    );
}

/// Encodes a decoded value when its type takes it, and finds it again.
fn same_again<B>(
    values: &[Option<Datum>],
    encode: impl Fn(&[Option<Datum>]) -> paimon_types::Result<B>,
    decode: impl Fn(&B) -> paimon_types::Result<Vec<Option<Datum>>>,
) {
    let Ok(encoded) = encode(values) else { return };
    let again = decode(&encoded).expect("what was encoded is decoded");
    let twice = decode(&encode(&again).expect("what was decoded is encoded")).unwrap();
    // The first encoding may make NaN canonical; from then on everything stays.
    assert_eq!(format!("{twice:?}"), format!("{again:?}"));
}

/// The typed stream forms, arrays and maps among them.
pub fn stream_value(data: &[u8]) {
    let mut data = data;
    let data_type = data_type(&mut data, 3);
    let decode = |bytes: &[u8]| {
        let mut input = DataInput::new(bytes);
        read_stream_value(&mut input, &data_type)
    };
    let Some(value) = bounded(data.len(), || decode(data)) else {
        return;
    };
    let mut out = DataOutput::new();
    if write_stream_value(&mut out, &data_type, &value).is_ok() {
        let again = decode(out.as_bytes()).expect("what was encoded is decoded");
        let mut second = DataOutput::new();
        write_stream_value(&mut second, &data_type, &again).unwrap();
        assert_eq!(second.as_bytes(), out.as_bytes());
    }
}

/// Stream primitives: each byte of the first eight chooses one.
pub fn stream_primitives(data: &[u8]) {
    let (choices, bytes) = data.split_at(data.len().min(8));
    let mut input = DataInput::new(bytes);
    for choice in choices {
        let before = input.position();
        match choice % 8 {
            0 => {
                if let Some(text) = bounded(bytes.len(), || input.read_utf()) {
                    let mut out = DataOutput::new();
                    out.write_utf(&text).expect("text that was read is written");
                    assert_eq!(DataInput::new(out.as_bytes()).read_utf().unwrap(), text);
                }
            }
            1 => {
                if let Ok(value) = input.read_var_i32() {
                    let mut out = DataOutput::new();
                    out.write_var_i32(value).unwrap();
                    assert_eq!(DataInput::new(out.as_bytes()).read_var_i32().unwrap(), value);
                }
            }
            2 => {
                if let Ok(value) = input.read_var_i64() {
                    let mut out = DataOutput::new();
                    out.write_var_i64(value).unwrap();
                    assert_eq!(DataInput::new(out.as_bytes()).read_var_i64().unwrap(), value);
                }
            }
            3 => drop(input.read_sized()),
            4 => drop(input.read_count(3)),
            5 => drop(bounded(bytes.len(), || BinaryRow::read_stream(&mut input))),
            6 => drop(bounded(bytes.len(), || BinaryRow::read_record(&mut input, 3))),
            _ => drop(input.read_f64()),
        }
        assert!(input.position() >= before && input.position() <= bytes.len());
    }
}

/// Variants as JSON and back: the first byte is the length of the dictionary.
pub fn variant(data: &[u8]) {
    let Some((len, rest)) = data.split_first() else {
        return;
    };
    let (metadata, value) = rest.split_at(rest.len().min(usize::from(*len)));
    let Some(json) = bounded(rest.len(), || variant_to_json(value, metadata)) else {
        return;
    };
    // Keys may occur twice in bytes; JSON with such keys is refused.
    let Ok((value, metadata)) = variant_from_json_text(&json) else {
        return;
    };
    let json = variant_to_json(&value, &metadata).expect("a variant that we wrote is read");
    settles(&json);
}

/// Text may turn into another type of number once: 2.50 is a decimal that prints as 2.5, -0e1 a double that prints as -0.0.
/// From then on nothing changes.
fn settles(json: &str) {
    let read = |json: &str| variant_from_json_text(json).expect("JSON that we wrote is read");
    let write = |(value, metadata): &(Vec<u8>, Vec<u8>)| {
        variant_to_json(value, metadata).expect("a variant that we wrote is read")
    };
    let once = read(&write(&read(json)));
    let twice = read(&write(&once));
    assert_eq!(twice, once);
}

/// JSON text to a variant.
pub fn variant_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some((value, metadata)) = bounded(data.len(), || variant_from_json_text(text)) else {
        return;
    };
    let json = variant_to_json(&value, &metadata).expect("a variant that we wrote is read");
    settles(&json);
}

/// The text of types.
pub fn type_grammar(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some(parsed) = bounded(data.len(), || DataType::parse(text)) else {
        return;
    };
    let again = DataType::from_json(&parsed.to_json()).expect("a type that we wrote is read");
    assert_eq!(again.to_json(), parsed.to_json());
}

/// Schema files.
pub fn schema_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some(schema) = bounded(data.len(), || TableSchema::from_json(text)) else {
        return;
    };
    let json = schema.to_json();
    assert_eq!(
        TableSchema::from_json(&json).expect("a schema that we wrote is read"),
        schema
    );
}

/// Predicate JSON over columns `f0` to `f7` of the types of the vectors.
pub fn predicate_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let types = [
        "INT",
        "STRING",
        "DECIMAL(10, 2)",
        "DATE",
        "TIMESTAMP(3)",
        "DOUBLE",
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        "TIME(0)",
    ];
    let fields: Vec<DataField> = types
        .iter()
        .enumerate()
        .map(|(i, text)| DataField::new(i as i32, format!("f{i}"), DataType::parse(text).unwrap()))
        .collect();
    let Some(predicate) = bounded(data.len() + 1000, || Predicate::from_json(text, &fields)) else {
        return;
    };
    let json = predicate
        .to_json(&fields)
        .expect("a predicate that was read is written");
    let again = Predicate::from_json(&json, &fields).expect("JSON that we wrote is read");
    assert_eq!(again.to_json(&fields).unwrap(), json);
}

/// Partition paths: types first, then the path.
pub fn partition_path(data: &[u8]) {
    let mut data = data;
    let types = types(&mut data);
    let Ok(path) = std::str::from_utf8(data) else {
        return;
    };
    let name = unescape_path_name(path);
    assert_eq!(unescape_path_name(&escape_path_name(&name)), name);
    let fields: Vec<DataField> = types
        .iter()
        .enumerate()
        .map(|(i, data_type)| DataField::new(i as i32, format!("p{i}"), data_type.clone()))
        .collect();
    let fields: Vec<&DataField> = fields.iter().collect();
    let naming = PartitionNaming {
        default_name: "__DEFAULT_PARTITION__".to_owned(),
        legacy: data.len() % 2 == 0,
    };
    let Some(values) = bounded(data.len(), || naming.parse_path(path, &fields)) else {
        return;
    };
    let Ok(row) = BinaryRow::encode(&types, &values) else {
        return;
    };
    // The text of a TIME can have more digits than its type and loses them the first time; from then on nothing changes.
    let again = |row: &BinaryRow| {
        let written = naming.path(&fields, row).ok()?;
        let values = naming.parse_path(&written, &fields).ok()?;
        Some((
            written,
            BinaryRow::encode(&types, &values).expect("values of a path are encoded"),
        ))
    };
    let Some((_, once)) = again(&row) else { return };
    let Some((written, twice)) = again(&once) else {
        return;
    };
    assert_eq!(naming.path(&fields, &twice).unwrap(), written);
}

/// What the bytes of a BLOB mean.
pub fn blob_value(data: &[u8]) {
    // Where a column is declared to hold references, they are decoded without a look at their mark.
    if let Some(descriptor) = bounded(data.len(), || BlobDescriptor::decode(data)) {
        let again = descriptor.encode().expect("what was decoded is encoded");
        assert_eq!(
            BlobDescriptor::decode(&again).expect("what was encoded is decoded"),
            descriptor
        );
    }
    if let Some(view) = bounded(data.len(), || BlobView::decode(data))
        && let Ok(again) = view.encode()
    {
        assert_eq!(
            BlobView::decode(&again).expect("what was encoded is decoded"),
            view
        );
    }
    let Some(value) = bounded(data.len(), || BlobValue::of(data)) else {
        return;
    };
    let again = match &value {
        BlobValue::View(view) => view.encode(),
        BlobValue::Descriptor(descriptor) => descriptor.encode(),
        BlobValue::Data(bytes) => {
            assert_eq!(*bytes, data);
            return;
        }
    };
    // A view of a table that cannot be named is read but not written.
    if let Ok(again) = again {
        assert_eq!(BlobValue::of(&again).expect("what was encoded is decoded"), value);
    }
}
