// SPDX-License-Identifier: Apache-2.0

//! Sample rows of every type, the same for the same seed.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, LargeBinaryArray, ListArray, MapArray,
    PrimitiveArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field, Fields, TimeUnit};
use arrow_select::filter::filter;
use paimon_types::{DataField, DataType, Error, Result, TypeKind, to_arrow_schema};

/// Pseudo-random numbers (xorshift) for samples.
#[derive(Clone, Debug)]
pub struct Sampler(u64);

impl Sampler {
    /// Numbers that depend on `seed` only.
    pub fn new(seed: u64) -> Self {
        Sampler(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`, 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or(0)
    }

    fn signed(&mut self, magnitude: i64) -> i64 {
        // Bounds are tried often.
        match self.below(20) {
            0 => magnitude,
            1 => -magnitude,
            2 => 0,
            _ => (self.next_u64() as i64).checked_rem(magnitude).unwrap_or(0),
        }
    }
}

/// One nullable column of every type, `NOT NULL` ones and nested ones among them, with ids from 0.
pub fn all_type_fields() -> Vec<DataField> {
    use TypeKind as K;
    let n = DataType::new;
    let row = |id: i32, kinds: Vec<TypeKind>| {
        let field = |(i, kind)| DataField::new(id + i, format!("f{i}"), n(kind));
        K::Row((0..).zip(kinds).map(field).collect())
    };
    let decimal = |precision, scale| K::Decimal { precision, scale };
    let kinds = vec![
        K::Boolean,
        K::TinyInt,
        K::SmallInt,
        K::Int,
        K::BigInt,
        K::Float,
        K::Double,
        K::Char(5),
        K::VarChar(20),
        K::VarChar(paimon_types::MAX_LENGTH),
        K::Binary(4),
        K::VarBinary(paimon_types::MAX_LENGTH),
        K::Blob,
        decimal(5, 2),
        decimal(9, 0),
        decimal(18, 4),
        decimal(19, 2),
        decimal(38, 10),
        K::Date,
        K::Time(3),
        K::Timestamp(0),
        K::Timestamp(3),
        K::Timestamp(6),
        K::Timestamp(9),
        K::TimestampLtz(3),
        K::TimestampLtz(6),
        K::TimestampLtz(9),
        K::Variant,
        K::Array(Box::new(n(K::Int))),
        K::Array(Box::new(n(K::Array(Box::new(n(K::Timestamp(9))))))),
        K::Map(Box::new(n(K::VarChar(10))), Box::new(n(K::Double))),
        K::Map(Box::new(n(K::Int)), Box::new(n(K::Timestamp(9)))),
        K::Multiset(Box::new(n(K::VarChar(10)))),
        row(
            1000,
            vec![K::Int, K::VarChar(10), K::TimestampLtz(9), decimal(20, 3)],
        ),
        K::Array(Box::new(n(row(
            1100,
            vec![K::BigInt, K::Array(Box::new(n(K::Date)))],
        )))),
        K::Vector(Box::new(n(K::Float)), 3),
    ];
    let mut fields: Vec<DataField> = (0..)
        .zip(kinds)
        .map(|(id, kind)| DataField::new(id, format!("c{id}"), n(kind)))
        .collect();
    let required = [
        K::BigInt,
        K::VarChar(8),
        K::Timestamp(9),
        K::Row(vec![DataField::new(1200, "x", DataType::required(K::Int))]),
        K::Array(Box::new(DataType::required(K::SmallInt))),
    ];
    for kind in required {
        let id = i32::try_from(fields.len()).unwrap_or(i32::MAX);
        fields.push(DataField::new(id, format!("c{id}"), DataType::required(kind)));
    }
    fields
}

/// `rows` rows of `fields`; about a quarter of what may be null is.
///
/// # Errors
/// `Unsupported` for a type without sample.
pub fn sample_batch(fields: &[DataField], rows: usize, seed: u64) -> Result<RecordBatch> {
    let schema = Arc::new(to_arrow_schema(fields));
    let mut sampler = Sampler::new(seed);
    let mut columns = Vec::with_capacity(fields.len());
    for (field, arrow) in fields.iter().zip(schema.fields()) {
        columns.push(array(&field.data_type, arrow, rows, &mut sampler)?);
    }
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|e| Error::invalid(e.to_string()))
}

fn option<T>(sampler: &mut Sampler, nullable: bool, value: impl FnOnce(&mut Sampler) -> T) -> Option<T> {
    if nullable && sampler.below(4) == 0 {
        None
    } else {
        Some(value(sampler))
    }
}

fn text(sampler: &mut Sampler, longest: u64) -> String {
    let alphabet = ['a', 'b', 'c', 'z', 'é', '漢', '😀', ' ', '0', '_'];
    let length = sampler.below(longest + 1);
    (0..length)
        .map(|_| {
            alphabet
                .get(usize::try_from(sampler.below(10)).unwrap_or(0))
                .copied()
                .unwrap_or('x')
        })
        .collect()
}

fn bytes(sampler: &mut Sampler, longest: u64) -> Vec<u8> {
    let length = sampler.below(longest + 1);
    (0..length).map(|_| sampler.next_u64() as u8).collect()
}

fn array(data_type: &DataType, arrow: &Field, rows: usize, s: &mut Sampler) -> Result<ArrayRef> {
    let nullable = data_type.nullable && arrow.is_nullable();
    macro_rules! primitive {
        ($arrow:ty, $value:expr) => {{
            let value: fn(&mut Sampler) -> _ = $value;
            let values: PrimitiveArray<$arrow> = (0..rows).map(|_| option(s, nullable, value)).collect();
            let values = values.with_data_type(arrow.data_type().clone());
            Arc::new(values) as ArrayRef
        }};
    }
    let invalid = |e: arrow_schema::ArrowError| Error::invalid(e.to_string());
    Ok(match (&data_type.kind, arrow.data_type()) {
        (TypeKind::Boolean, _) => Arc::new(
            (0..rows)
                .map(|_| option(s, nullable, |s| s.below(2) == 0))
                .collect::<BooleanArray>(),
        ),
        (TypeKind::TinyInt, _) => primitive!(Int8Type, |s| s.signed(127) as i8),
        (TypeKind::SmallInt, _) => primitive!(Int16Type, |s| s.signed(32_767) as i16),
        (TypeKind::Int, _) => primitive!(Int32Type, |s| s.signed(2_147_483_647) as i32),
        (TypeKind::BigInt, _) => primitive!(Int64Type, |s| s.signed(i64::MAX)),
        (TypeKind::Float, _) => primitive!(Float32Type, |s| float(s) as f32),
        (TypeKind::Double, _) => primitive!(Float64Type, float),
        (TypeKind::Date, _) => primitive!(Date32Type, |s| s.signed(2_932_896) as i32),
        (TypeKind::Time(_), _) => primitive!(Time32MillisecondType, |s| s.below(86_400_000) as i32),
        (_, ArrowType::Timestamp(TimeUnit::Millisecond, _)) => {
            primitive!(TimestampMillisecondType, |s| s.signed(253_402_300_799_999))
        }
        (_, ArrowType::Timestamp(TimeUnit::Microsecond, _)) => {
            primitive!(TimestampMicrosecondType, |s| s.signed(62_135_596_800_000_000))
        }
        (_, ArrowType::Timestamp(TimeUnit::Nanosecond, _)) => {
            primitive!(TimestampNanosecondType, |s| s.signed(i64::MAX))
        }
        (TypeKind::Decimal { precision, .. }, _) => {
            let bound = 10i128.pow(u32::from(*precision));
            let values: PrimitiveArray<Decimal128Type> = (0..rows)
                .map(|_| {
                    option(s, nullable, |s| match s.below(10) {
                        0 => bound - 1,
                        1 => 1 - bound,
                        _ => (i128::from(s.next_u64()) * i128::from(s.next_u64() as i64)) % bound,
                    })
                })
                .collect();
            Arc::new(values.with_data_type(arrow.data_type().clone()))
        }
        (TypeKind::Char(_) | TypeKind::VarChar(_), _) => Arc::new(
            (0..rows)
                .map(|_| option(s, nullable, |s| text(s, 5)))
                .collect::<StringArray>(),
        ),
        (_, ArrowType::Binary) => Arc::new(
            (0..rows)
                .map(|_| option(s, nullable, |s| bytes(s, 4)))
                .collect::<BinaryArray>(),
        ),
        (_, ArrowType::LargeBinary) => Arc::new(
            (0..rows)
                .map(|_| option(s, nullable, |s| bytes(s, 9)))
                .collect::<LargeBinaryArray>(),
        ),
        (TypeKind::Array(element), ArrowType::List(inner)) => {
            let (offsets, nulls) = lengths(s, rows, nullable);
            let values = array(element, inner, offsets.last().copied().unwrap_or(0) as usize, s)?;
            Arc::new(ListArray::try_new(inner.clone(), offsets, values, nulls).map_err(invalid)?)
        }
        (TypeKind::Vector(element, length), ArrowType::FixedSizeList(inner, size)) => {
            let nulls = nulls(s, rows, nullable);
            let values = array(&element.with_nullable(false), inner, rows * *length as usize, s)?;
            Arc::new(FixedSizeListArray::try_new(inner.clone(), *size, values, nulls).map_err(invalid)?)
        }
        (TypeKind::Map(key, value), ArrowType::Map(entries, _)) => {
            map(key, value, entries, rows, nullable, s)?
        }
        (TypeKind::Multiset(element), ArrowType::Map(entries, _)) => map(
            element,
            &DataType::required(TypeKind::Int),
            entries,
            rows,
            nullable,
            s,
        )?,
        (TypeKind::Row(fields), ArrowType::Struct(children)) => {
            let types: Vec<&DataType> = fields.iter().map(|f| &f.data_type).collect();
            structs(&types, children, rows, nullable, s)?
        }
        (TypeKind::Variant, ArrowType::Struct(children)) => {
            let part = DataType::required(TypeKind::VarBinary(paimon_types::MAX_LENGTH));
            structs(&[&part, &part], children, rows, nullable, s)?
        }
        _ => return Err(Error::unsupported(format!("there are no samples of {data_type}"))),
    })
}

fn float(s: &mut Sampler) -> f64 {
    match s.below(12) {
        0 => -0.0,
        1 => 0.0,
        2 => f64::INFINITY,
        _ => s.signed(1_000_000_000) as f64 / 1024.0,
    }
}

fn nulls(s: &mut Sampler, rows: usize, nullable: bool) -> Option<NullBuffer> {
    nullable.then(|| (0..rows).map(|_| s.below(4) != 0).collect::<Vec<bool>>().into())
}

fn lengths(s: &mut Sampler, rows: usize, nullable: bool) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
    let nulls = nulls(s, rows, nullable);
    let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let lengths: Vec<usize> = (0..rows)
        .map(|row| if valid(row) { s.below(4) as usize } else { 0 })
        .collect();
    (OffsetBuffer::from_lengths(lengths), nulls)
}

fn structs(
    types: &[&DataType],
    children: &Fields,
    rows: usize,
    nullable: bool,
    s: &mut Sampler,
) -> Result<ArrayRef> {
    let nulls = nulls(s, rows, nullable);
    let columns = types
        .iter()
        .zip(children)
        .map(|(ty, field)| array(ty, field, rows, s))
        .collect::<Result<Vec<_>>>()?;
    let rows =
        StructArray::try_new(children.clone(), columns, nulls).map_err(|e| Error::invalid(e.to_string()))?;
    Ok(Arc::new(rows))
}

fn map(
    key: &DataType,
    value: &DataType,
    entries: &Arc<Field>,
    rows: usize,
    nullable: bool,
    s: &mut Sampler,
) -> Result<ArrayRef> {
    let ArrowType::Struct(children) = entries.data_type() else {
        return Err(Error::invalid("map entries are no struct"));
    };
    let (offsets, nulls) = lengths(s, rows, nullable);
    let length = offsets.last().copied().unwrap_or(0) as usize;
    let inner = structs(&[key, value], children, length, false, s)?;
    let inner = StructArray::from(inner.to_data());
    let (offsets, inner) = distinct(&offsets, &inner)?;
    let map = MapArray::try_new(entries.clone(), offsets, inner, nulls, false);
    Ok(Arc::new(map.map_err(|e| Error::invalid(e.to_string()))?))
}

/// The entries without those whose key was there before in the same map.
fn distinct(offsets: &OffsetBuffer<i32>, entries: &StructArray) -> Result<(OffsetBuffer<i32>, StructArray)> {
    let keys = entries.column(0);
    let mut kept = Vec::with_capacity(entries.len());
    let mut lengths = Vec::with_capacity(offsets.len());
    for (start, end) in offsets.iter().zip(offsets.iter().skip(1)) {
        let map = *start as usize..*end as usize;
        let first = kept.len();
        for entry in map.clone() {
            let same = |other: usize| keys.slice(other, 1).as_ref() == keys.slice(entry, 1).as_ref();
            kept.push(!(map.start..entry).any(same));
        }
        lengths.push(kept.iter().skip(first).filter(|kept| **kept).count());
    }
    let entries = filter(entries, &BooleanArray::from(kept)).map_err(|e| Error::invalid(e.to_string()))?;
    Ok((
        OffsetBuffer::from_lengths(lengths),
        StructArray::from(entries.to_data()),
    ))
}
