// SPDX-License-Identifier: Apache-2.0

//! Predicates, selections and projections together, against the rows that a file was written from.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use arrow_select::take::take_record_batch;
use paimon_storage::Storage;
use paimon_types::{
    DataField, DataType, Datum, Error, LeafPredicate, Predicate, PredicateOp, Result, Timestamp, TypeKind,
    to_arrow_schema,
};
use roaring::RoaringBitmap;

use super::sample::{Sampler, sample_batch};
use super::suite::{ReadRequest, ensure, joined, read_file, write_file};
use crate::FileFormat;

/// Rows that are written at a time.
const PART: usize = 40;
/// Values rise in so many steps, however many rows there are.
const STEPS: usize = 1200;

/// Columns that predicates test, with ids from 0; behind them nested ones that are only read.
pub fn push_down_fields() -> Vec<DataField> {
    use TypeKind as K;
    let decimal = |precision, scale| K::Decimal { precision, scale };
    let kinds = [
        K::Boolean,
        K::TinyInt,
        K::SmallInt,
        K::Int,
        K::BigInt,
        K::Float,
        K::Double,
        K::Char(90),
        K::VarChar(2000),
        K::VarChar(paimon_types::MAX_LENGTH),
        K::VarBinary(paimon_types::MAX_LENGTH),
        decimal(9, 2),
        decimal(18, 4),
        decimal(38, 10),
        K::Date,
        K::Time(3),
        K::Timestamp(3),
        K::Timestamp(6),
        K::Timestamp(9),
        K::TimestampLtz(6),
        K::Array(Box::new(DataType::new(K::VarChar(10)))),
        K::Row(vec![
            DataField::new(100, "a", DataType::new(K::Int)),
            DataField::new(101, "b", DataType::new(K::Double)),
        ]),
    ];
    let mut fields: Vec<DataField> = (0..)
        .zip(kinds)
        .map(|(id, kind)| DataField::new(id, format!("c{id}"), DataType::new(kind)))
        .collect();
    for kind in [K::Int, K::Double, K::VarChar(100)] {
        let id = i32::try_from(fields.len()).unwrap_or(i32::MAX);
        fields.push(DataField::new(id, format!("c{id}"), DataType::required(kind)));
    }
    fields
}

/// Writes a file of `rows` rows of `fields` (some of [`push_down_fields`]) below `dir` and reads it `cases` times with random
/// predicates, selections and projections: no row that matches may be missing, and no row that was not selected may be there. Values
/// rise with the rows, so that statistics tell pages and groups apart; NULL, NaN, zeros of both signs, common prefixes longer
/// than what statistics keep, and characters above U+FFFF are among them.
///
/// The file is compressed in one of three ways, by the seed. Formats of `.blob` files have no place here: their values are
/// arrays and maps of BLOB, for which there are no statistics and no predicate but those of NULL, which their readers ignore.
///
/// Returns the number of rows that were read, of those that a format without statistics would have read.
///
/// # Errors
/// The first case that goes wrong, and errors of the format.
pub async fn check_push_down(
    format: &dyn FileFormat,
    storage: &Storage,
    dir: &str,
    fields: &[DataField],
    rows: usize,
    seed: u64,
    cases: usize,
) -> Result<(usize, usize)> {
    let path = format!("{dir}/push-down-{seed}.{}", format.identifier());
    let mut s = Sampler::new(seed);
    let values: Vec<Vec<Option<Datum>>> = fields.iter().map(|field| column(field, rows, &mut s)).collect();
    // Columns that are not tested come from the samples.
    let samples = sample_batch(fields, rows, seed)?;
    let schema = Arc::new(to_arrow_schema(fields));
    let columns = fields.iter().zip(&values).zip(samples.columns());
    let columns = columns
        .zip(schema.fields())
        .map(|(((_, values), sample), arrow)| {
            if values.is_empty() {
                Ok(sample.clone())
            } else {
                array(values, arrow.data_type())
            }
        })
        .collect::<Result<Vec<_>>>()?;
    let all = RecordBatch::try_new(schema, columns).map_err(|e| Error::invalid(e.to_string()))?;
    let parts: Vec<RecordBatch> = (0..rows)
        .step_by(PART)
        .map(|row| all.slice(row, PART.min(rows - row)))
        .collect();
    let compression = match seed % 3 {
        0 => "zstd",
        1 => "none",
        _ => "snappy",
    };
    write_file(format, storage, &path, fields, &parts, compression).await?;

    let tested: Vec<usize> = (0..fields.len())
        .filter(|column| values.get(*column).is_some_and(|values| !values.is_empty()))
        .collect();
    let (mut read_rows, mut selected_rows) = (0, 0);
    for case in 0..cases {
        let predicate = predicate(fields, &values, &tested, &mut s, 3)?;
        let selection = selection(case, rows, &mut s);
        let picked: Vec<usize> = (0..fields.len()).filter(|_| s.below(3) > 0).collect();
        let some: Vec<DataField> = picked.iter().filter_map(|i| fields.get(*i).cloned()).collect();
        let value = |row: usize| {
            let values = &values;
            move |id: i32| {
                let column = fields.iter().position(|field| field.id == id)?;
                values.get(column)?.get(row)?.clone()
            }
        };
        let selected = |row: usize| {
            let row = u32::try_from(row).unwrap_or(u32::MAX);
            selection.as_ref().is_none_or(|rows| rows.contains(row))
        };
        let request = ReadRequest {
            fields: Some(some.clone()),
            predicate: Some(predicate.clone()),
            selection: selection.clone(),
            batch_size: match case % 3 {
                0 => 1000,
                1 => 37,
                _ => 8,
            },
        };
        let shown = || format!("seed {seed}, case {case}, {predicate:?}, columns {picked:?}");
        let (read, found) = read_file(format, storage, &path, &request).await?;
        let found: Vec<usize> = found.iter().map(|row| *row as usize).collect();
        let missing = (0..rows).find(|row| {
            selected(*row)
                && found.binary_search(row).is_err()
                && predicate.eval_row(&value(*row)) == Some(true)
        });
        ensure(
            missing.is_none(),
            &format!("row {missing:?} matches and was not read: {}", shown()),
        )?;
        ensure(
            found.iter().all(|row| selected(*row)),
            &format!("only selected rows are read: {}", shown()),
        )?;
        let places = arrow_array::UInt64Array::from_iter_values(found.iter().map(|row| *row as u64));
        let expected = all
            .project(&picked)
            .and_then(|all| take_record_batch(&all, &places))
            .map_err(|e| Error::invalid(e.to_string()))?;
        let read = joined(&some, &read)?;
        ensure(
            read.columns() == expected.columns(),
            &format!("rows are those that were written: {}", shown()),
        )?;
        read_rows += found.len();
        selected_rows += (0..rows).filter(|row| selected(*row)).count();
    }
    Ok((read_rows, selected_rows))
}

/// [`check_push_down`] of every column of [`push_down_fields`] with the format that `create` makes of each of `options`: a
/// tenth of the rows at least must have been left out, of all together.
///
/// # Errors
/// As [`check_push_down`], and when more rows were read.
pub async fn check_push_down_with(
    create: impl Fn(&[(&str, &str)]) -> Arc<dyn FileFormat>,
    options: &[Vec<(&str, &str)>],
    rows: usize,
    cases: usize,
) -> Result<()> {
    let fields = push_down_fields();
    let (mut read, mut selected) = (0, 0);
    for (seed, options) in (1..).zip(options) {
        let (format, storage) = (create(options), Storage::memory());
        let found = check_push_down(
            format.as_ref(),
            &storage,
            "memory:///t",
            &fields,
            rows,
            seed,
            cases,
        );
        let (some, all) = found
            .await
            .map_err(|e| e.with("options", format!("{options:?}")))?;
        read += some;
        selected += all;
    }
    ensure(
        read < selected * 9 / 10,
        &format!("{read} rows were read of {selected}, fewer than nine tenths are expected"),
    )
}

fn selection(case: usize, rows: usize, s: &mut Sampler) -> Option<RoaringBitmap> {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    Some(match case % 5 {
        0 | 1 => return None,
        2 => (0..rows).filter(|_| s.below(2) == 0).collect(),
        3 => (0..rows).filter(|_| s.below(50) == 0).collect(),
        _ => {
            let mut some = RoaringBitmap::new();
            for _ in 0..3 {
                let start = s.below(u64::from(rows)) as u32;
                some.insert_range(start..start + s.below(u64::from(rows) / 8) as u32);
            }
            some
        }
    })
}

/// Values of a column that is tested; none for another.
fn column(field: &DataField, rows: usize, s: &mut Sampler) -> Vec<Option<Datum>> {
    if value(&field.data_type, 0, s).is_none() {
        return Vec::new();
    }
    // One stretch of NULLs is as long as many pages.
    let from = s.below(rows as u64 / 2) as usize;
    let gap = from..from + s.below(rows as u64 / 3) as usize;
    let kind = s.below(4);
    (0..rows)
        .map(|row| {
            let null = field.data_type.nullable && (gap.contains(&row) || (kind > 0 && s.below(9) == 0));
            if null {
                None
            } else {
                value(&field.data_type, row * STEPS / rows, s)
            }
        })
        .collect()
}

/// A value that rises with `row` of [`STEPS`], on the whole.
fn value(data_type: &DataType, row: usize, s: &mut Sampler) -> Option<Datum> {
    let step = row as i64 / 10 + s.below(5) as i64 - 55;
    let text = |prefix: usize, s: &mut Sampler| {
        let (character, last) = match s.below(12) {
            0 => ('p', "\u{10ffff}\u{10ffff}"),
            1 => ('\u{10ffff}', ""),
            2 => ('q', "\u{ffff}"),
            // Smaller than a blank.
            3 => ('p', "\t"),
            4 => ('p', "\u{1}"),
            _ => ('p', ""),
        };
        let length = if s.below(20) == 0 {
            0
        } else {
            prefix / character.len_utf8()
        };
        let prefix: String = std::iter::repeat_n(character, length).collect();
        format!("{prefix}{:04}{last}", step + 100)
    };
    let float = |s: &mut Sampler| match s.below(60) {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::INFINITY,
        4 => f64::NEG_INFINITY,
        5 => -f64::NAN,
        _ => step as f64 / 4.0,
    };
    let seconds = step * 86_400 * 500 + 7;
    Some(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean((row / 300).is_multiple_of(2)),
        TypeKind::TinyInt => Datum::TinyInt(step.clamp(-128, 127) as i8),
        TypeKind::SmallInt => Datum::SmallInt((step * 300) as i16),
        TypeKind::Int => Datum::Int((step * 30_000_000) as i32),
        TypeKind::BigInt => Datum::BigInt(step * (i64::MAX / 200)),
        TypeKind::Float => Datum::Float(float(s) as f32),
        TypeKind::Double => Datum::Double(float(s)),
        TypeKind::Char(length) => {
            let text = text(70, s);
            let length = (*length as usize).max(10);
            // Not every format keeps blanks at the end.
            Datum::String(text.chars().take(length).collect())
        }
        TypeKind::VarChar(length) => {
            let prefix = match row / 400 {
                0 => 2,
                1 => 70,
                _ => 1100,
            };
            let text = text(prefix, s);
            Datum::String(text.chars().take(*length as usize).collect())
        }
        TypeKind::VarBinary(_) => Datum::Bytes(match s.below(10) {
            0 => vec![0xff; 70],
            1 => Vec::new(),
            _ => [vec![0x7f; 66], (step as i32).to_be_bytes().to_vec()].concat(),
        }),
        TypeKind::Decimal { precision, scale } => {
            let most = 10i128.pow(u32::from(*precision)) - 1;
            Datum::Decimal {
                unscaled: (most / 100 * i128::from(step)).clamp(-most, most),
                scale: *scale,
            }
        }
        TypeKind::Date => Datum::Date((step * 6_000) as i32),
        TypeKind::Time(_) => Datum::Time(((step + 60) * 600_000).clamp(0, 86_399_999) as i32),
        TypeKind::Timestamp(precision) | TypeKind::TimestampLtz(precision) => {
            // Near 1970 in small steps, but not in the second before it, which ORC moves.
            let millis = match step {
                0 => s.below(3000) as i64,
                -1 => -1003 - s.below(3000) as i64,
                _ => seconds * 1000,
            };
            let nanos = i128::from(millis) * 1_000_000;
            let unit = 10i128.pow(u32::from(9 - (*precision).min(9)));
            let fraction = i128::from(s.below(3)) * unit;
            Datum::Timestamp(Timestamp::from_nanos(nanos + fraction))
        }
        _ => return None,
    })
}

fn literal(
    fields: &[DataField],
    values: &[Vec<Option<Datum>>],
    column: usize,
    s: &mut Sampler,
) -> Option<Datum> {
    match s.below(16) {
        0 => None,
        1..=7 => {
            // A value of the column, or none.
            let values = values.get(column)?;
            values.get(s.below(values.len() as u64) as usize)?.clone()
        }
        _ => value(&fields.get(column)?.data_type, s.below(STEPS as u64) as usize, s),
    }
}

fn leaf(
    fields: &[DataField],
    values: &[Vec<Option<Datum>>],
    tested: &[usize],
    s: &mut Sampler,
) -> Result<Predicate> {
    use PredicateOp as P;
    let column = tested
        .get(s.below(tested.len() as u64) as usize)
        .copied()
        .unwrap_or(0);
    let field = fields
        .get(column)
        .ok_or_else(|| Error::invalid("no column is tested"))?;
    let ops = [
        P::Eq,
        P::NotEq,
        P::Lt,
        P::LtEq,
        P::Gt,
        P::GtEq,
        P::IsNull,
        P::IsNotNull,
        P::In,
        P::NotIn,
        P::Between,
        P::NotBetween,
        P::IsNan,
        P::StartsWith,
        P::EndsWith,
        P::Contains,
        P::Like,
    ];
    // Those at the end only fit some types.
    let ops = match field.data_type.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            ops.iter().copied().filter(|op| *op != P::IsNan).collect()
        }
        TypeKind::Float | TypeKind::Double => ops.get(..13).unwrap_or_default().to_vec(),
        _ => ops.get(..12).unwrap_or_default().to_vec(),
    };
    let op = ops
        .get(s.below(ops.len() as u64) as usize)
        .copied()
        .unwrap_or(P::IsNull);
    let mut one = || literal(fields, values, column, s);
    let literals = match op {
        P::IsNull | P::IsNotNull | P::IsNan => Vec::new(),
        P::In | P::NotIn => vec![one(), one(), one()],
        P::Between | P::NotBetween => vec![one(), one()],
        P::StartsWith | P::EndsWith | P::Contains | P::Like => {
            let text = match one() {
                Some(Datum::String(text)) => text,
                _ => "p".to_owned(),
            };
            let kept = s.below(text.chars().count() as u64 + 1) as usize;
            let part: String = text.chars().take(kept).collect();
            let pattern = match (op, s.below(3)) {
                (P::Like, 0) => format!("{part}%"),
                (P::Like, 1) => format!("{part}_%"),
                (P::EndsWith, _) => text.chars().skip(kept).collect(),
                _ => part,
            };
            vec![Some(Datum::String(pattern))]
        }
        _ => vec![one()],
    };
    LeafPredicate::new(field, op, literals).map(Predicate::Leaf)
}

fn predicate(
    fields: &[DataField],
    values: &[Vec<Option<Datum>>],
    tested: &[usize],
    s: &mut Sampler,
    depth: u32,
) -> Result<Predicate> {
    let inner = |s: &mut Sampler| predicate(fields, values, tested, s, depth - 1);
    Ok(match s.below(if depth == 0 { 1 } else { 5 }) {
        0 | 1 => leaf(fields, values, tested, s)?,
        2 => Predicate::And(vec![inner(s)?, inner(s)?]),
        3 => Predicate::Or(vec![inner(s)?, inner(s)?]),
        _ => Predicate::Not(Box::new(inner(s)?)),
    })
}

/// Values as an array of type `arrow`.
fn array(values: &[Option<Datum>], arrow: &ArrowType) -> Result<ArrayRef> {
    macro_rules! primitive {
        ($type:ty, $datum:pat => $value:expr) => {{
            let values: PrimitiveArray<$type> = values
                .iter()
                .map(|value| match value {
                    Some($datum) => Some($value),
                    _ => None,
                })
                .collect();
            Arc::new(values.with_data_type(arrow.clone())) as ArrayRef
        }};
    }
    Ok(match arrow {
        ArrowType::Boolean => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Datum::Boolean(v)) => Some(*v),
                    _ => None,
                })
                .collect::<BooleanArray>(),
        ),
        ArrowType::Int8 => primitive!(Int8Type, Datum::TinyInt(v) => *v),
        ArrowType::Int16 => primitive!(Int16Type, Datum::SmallInt(v) => *v),
        ArrowType::Int32 => primitive!(Int32Type, Datum::Int(v) => *v),
        ArrowType::Int64 => primitive!(Int64Type, Datum::BigInt(v) => *v),
        ArrowType::Float32 => primitive!(Float32Type, Datum::Float(v) => *v),
        ArrowType::Float64 => primitive!(Float64Type, Datum::Double(v) => *v),
        ArrowType::Date32 => primitive!(Date32Type, Datum::Date(v) => *v),
        ArrowType::Time32(_) => primitive!(Time32MillisecondType, Datum::Time(v) => *v),
        ArrowType::Decimal128(..) => {
            primitive!(Decimal128Type, Datum::Decimal { unscaled, .. } => *unscaled)
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive!(TimestampMillisecondType, Datum::Timestamp(v) => v.millis)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive!(TimestampMicrosecondType, Datum::Timestamp(v) => v.to_micros().unwrap_or(0))
        }
        ArrowType::Timestamp(_, _) => {
            primitive!(TimestampNanosecondType, Datum::Timestamp(v) => v.to_nanos().unwrap_or(0))
        }
        ArrowType::Utf8 => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Datum::String(v)) => Some(v.as_str()),
                    _ => None,
                })
                .collect::<StringArray>(),
        ),
        ArrowType::Binary => Arc::new(
            values
                .iter()
                .map(|value| match value {
                    Some(Datum::Bytes(v)) => Some(v.as_slice()),
                    _ => None,
                })
                .collect::<BinaryArray>(),
        ),
        other => return Err(Error::unsupported(format!("there are no values of {other}"))),
    })
}
