// SPDX-License-Identifier: Apache-2.0

//! The order in which versions of keys are merged (Java `BinaryInMemorySortBuffer`; `semantics.md` 1.4, 2.1): key, user
//! sequence columns, arrival. Only row numbers are moved.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, SortOptions, TimeUnit};
use paimon_types::{CoreOptions, Error, Result, TableSchema};

/// Decimals of at most this many digits lie in 64 bits.
const LONG_DIGITS: u8 = 18;

/// Sorts the rows of a buffer.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// Places of the key columns.
    keys: Vec<usize>,
    /// Places of the user sequence columns.
    sequence: Vec<usize>,
    /// Direction of the user sequence columns.
    descending: bool,
}

/// Row numbers (counted over all batches of a buffer) in merge order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    pub(crate) rows: Vec<u32>,
    /// For each key the position in `rows` behind its last version.
    pub(crate) ends: Vec<u32>,
}

/// What rows are compared by.
enum Keys {
    /// One value a row whose order is that of the unsigned number.
    Numbers(Vec<u64>),
    /// Row-encoded columns.
    Encoded(Rows),
}

impl Keys {
    fn compare(&self, a: u32, b: u32) -> Ordering {
        match self {
            Keys::Numbers(numbers) => numbers.get(a as usize).cmp(&numbers.get(b as usize)),
            Keys::Encoded(rows) => rows.row(a as usize).cmp(&rows.row(b as usize)),
        }
    }
}

impl Sorter {
    /// The order of the rows of a table. `keys` are the places of the trimmed primary key.
    ///
    /// # Errors
    /// `InvalidInput` when a sequence column does not exist or the direction is unknown; `Unsupported` for a sequence column of a
    /// nested type.
    pub(crate) fn new(schema: &TableSchema, options: &CoreOptions, keys: Vec<usize>) -> Result<Self> {
        let mut sequence = Vec::new();
        for name in options.sequence_field.iter().flatten() {
            let name = name.trim();
            let found = schema
                .fields
                .iter()
                .enumerate()
                .find(|(_, field)| field.name == name);
            let Some((place, field)) = found else {
                return Err(
                    Error::invalid(format!("sequence field '{name}' is not a column of the table"))
                        .with("option", "sequence.field"),
                );
            };
            let arrow = paimon_types::arrow_type(&field.data_type);
            if field.data_type.is_nested() || !RowConverter::supports_fields(&[SortField::new(arrow)]) {
                return Err(Error::unsupported(format!(
                    "sequence field '{name}' has type {}, which cannot order rows yet",
                    field.data_type
                ))
                .with("option", "sequence.field"));
            }
            sequence.push(place);
        }
        let key = "sequence.field.sort-order";
        let descending = match options.raw().get(key) {
            None => false,
            Some(text) if text.trim().eq_ignore_ascii_case("ascending") => false,
            Some(text) if text.trim().eq_ignore_ascii_case("descending") => true,
            Some(text) => {
                return Err(Error::invalid(format!(
                    "option {key} is '{text}', expected ascending or descending"
                ))
                .with("option", key));
            }
        };
        Ok(Sorter {
            keys,
            sequence,
            descending,
        })
    }

    /// Sorts the rows of `sources`, whose columns are those of the table. The order is a total one: rows of one key with
    /// equal sequence columns stay in their order.
    ///
    /// # Errors
    /// `ResourcesExhausted` when there are more rows than 32 bits count; `InvalidInput` when a column cannot be compared.
    pub(crate) fn sort(&self, sources: &[RecordBatch]) -> Result<Sorted> {
        let total: usize = sources.iter().map(RecordBatch::num_rows).sum();
        let total = u32::try_from(total)
            .map_err(|_| Error::resources(format!("{total} rows are too many for one sort buffer")))?;
        let mut sorted = match self.keys.as_slice() {
            [key] if let Some(numbers) = numbers(sources, *key) => sort_numbers(numbers),
            _ => sort_encoded(&encode(sources, &self.keys, false)?, total),
        };
        if !self.sequence.is_empty() && sorted.ends.len() != sorted.rows.len() {
            let versions = match self.sequence.as_slice() {
                [place] if let Some(mut numbers) = numbers(sources, *place) => {
                    if self.descending {
                        numbers.iter_mut().for_each(|number| *number = !*number);
                    }
                    Keys::Numbers(numbers)
                }
                _ => Keys::Encoded(encode(sources, &self.sequence, self.descending)?),
            };
            let mut from = 0;
            for end in &sorted.ends {
                let end = *end as usize;
                if end - from > 1
                    && let Some(group) = sorted.rows.get_mut(from..end)
                {
                    group.sort_unstable_by(|a, b| versions.compare(*a, *b).then(a.cmp(b)));
                }
                from = end;
            }
        }
        Ok(sorted)
    }
}

fn sort_numbers(numbers: Vec<u64>) -> Sorted {
    let mut pairs: Vec<(u64, u32)> = numbers.into_iter().zip(0..).collect();
    pairs.sort_unstable();
    let mut sorted = Sorted::default();
    sorted.rows.reserve_exact(pairs.len());
    let mut before = None;
    for (key, row) in pairs {
        if before.is_some_and(|before| before != key) {
            sorted.ends.push(sorted.rows.len() as u32);
        }
        before = Some(key);
        sorted.rows.push(row);
    }
    if !sorted.rows.is_empty() {
        sorted.ends.push(sorted.rows.len() as u32);
    }
    sorted
}

fn sort_encoded(rows: &Rows, total: u32) -> Sorted {
    // a first byte that all rows share (the one of columns without NULL) tells nothing
    let mut first = rows.iter().map(|row| row.as_ref().first().copied());
    let skip = match first.next() {
        Some(byte) => usize::from(first.all(|other| other == byte)),
        None => 0,
    };
    let prefix = |row: u32| {
        let row = rows.row(row as usize);
        let bytes = row.as_ref().get(skip..).unwrap_or_default();
        let mut prefix = [0u8; 8];
        for (to, from) in prefix.iter_mut().zip(bytes) {
            *to = *from;
        }
        u64::from_be_bytes(prefix)
    };
    let mut pairs: Vec<(u64, u32)> = (0..total).map(|row| (prefix(row), row)).collect();
    let compare = |a: &(u64, u32), b: &(u64, u32)| {
        a.0.cmp(&b.0)
            .then_with(|| rows.row(a.1 as usize).cmp(&rows.row(b.1 as usize)))
    };
    pairs.sort_unstable_by(|a, b| compare(a, b).then(a.1.cmp(&b.1)));
    let mut sorted = Sorted::default();
    sorted.rows.reserve_exact(pairs.len());
    let mut before: Option<(u64, u32)> = None;
    for pair in pairs {
        if before.is_some_and(|before| compare(&before, &pair) != Ordering::Equal) {
            sorted.ends.push(sorted.rows.len() as u32);
        }
        before = Some(pair);
        sorted.rows.push(pair.1);
    }
    if !sorted.rows.is_empty() {
        sorted.ends.push(sorted.rows.len() as u32);
    }
    sorted
}

/// Row-encodes columns of all batches, NULL first in both directions.
fn encode(sources: &[RecordBatch], places: &[usize], descending: bool) -> Result<Rows> {
    let fail = |e: arrow_schema::ArrowError| Error::invalid("rows cannot be compared").with_source(e);
    let options = SortOptions {
        descending,
        nulls_first: true,
    };
    let mut converter: Option<(RowConverter, Rows)> = None;
    for source in sources {
        let columns = places
            .iter()
            .map(|place| column(source, *place).map(plain_nan))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let (converter, rows) = match &mut converter {
            Some(made) => made,
            None => {
                let fields = columns
                    .iter()
                    .map(|column| SortField::new_with_options(column.data_type().clone(), options))
                    .collect();
                let made = RowConverter::new(fields).map_err(fail)?;
                let total = sources.iter().map(RecordBatch::num_rows).sum();
                let rows = made.empty_rows(total, 0);
                converter.insert((made, rows))
            }
        };
        converter.append(rows, &columns).map_err(fail)?;
    }
    match converter {
        Some((_, rows)) => Ok(rows),
        None => Ok(RowConverter::new(Vec::new()).map_err(fail)?.empty_rows(0, 0)),
    }
}

/// All NaN are one value, the largest.
fn plain_nan(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        ArrowType::Float32 => {
            let plain = |v: f32| if v.is_nan() { f32::NAN } else { v };
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>(plain))
        }
        ArrowType::Float64 => {
            let plain = |v: f64| if v.is_nan() { f64::NAN } else { v };
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(plain))
        }
        _ => array.clone(),
    }
}

fn column(batch: &RecordBatch, place: usize) -> Result<&ArrayRef> {
    batch
        .columns()
        .get(place)
        .ok_or_else(|| Error::invalid("the batch has too few columns"))
}

/// The values of a column of all batches as numbers in the same order; `None` for a column with NULL or of a type without
/// such numbers.
fn numbers(sources: &[RecordBatch], place: usize) -> Option<Vec<u64>> {
    fn append<T: ArrowPrimitiveType>(
        array: &dyn Array,
        out: &mut Vec<u64>,
        number: impl Fn(T::Native) -> i64,
    ) -> Option<()> {
        let array = array.as_primitive_opt::<T>()?;
        out.extend(array.values().iter().map(|v| (number(*v) as u64) ^ (1 << 63)));
        Some(())
    }
    let mut out = Vec::with_capacity(sources.iter().map(RecordBatch::num_rows).sum());
    for source in sources {
        let array = source.columns().get(place)?;
        if array.null_count() > 0 {
            return None;
        }
        let array = array.as_ref();
        match array.data_type() {
            ArrowType::Int8 => append::<Int8Type>(array, &mut out, i64::from)?,
            ArrowType::Int16 => append::<Int16Type>(array, &mut out, i64::from)?,
            ArrowType::Int32 => append::<Int32Type>(array, &mut out, i64::from)?,
            ArrowType::Int64 => append::<Int64Type>(array, &mut out, |v| v)?,
            ArrowType::Date32 => append::<Date32Type>(array, &mut out, i64::from)?,
            ArrowType::Time32(TimeUnit::Millisecond) => {
                append::<Time32MillisecondType>(array, &mut out, i64::from)?;
            }
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                append::<TimestampMillisecondType>(array, &mut out, |v| v)?;
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                append::<TimestampMicrosecondType>(array, &mut out, |v| v)?;
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                append::<TimestampNanosecondType>(array, &mut out, |v| v)?;
            }
            ArrowType::Decimal128(digits, _) if *digits <= LONG_DIGITS => {
                append::<Decimal128Type>(array, &mut out, |v| v as i64)?;
            }
            _ => return None,
        }
    }
    Some(out)
}
