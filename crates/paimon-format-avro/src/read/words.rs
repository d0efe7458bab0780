// SPDX-License-Identifier: Apache-2.0

//! Numbers as they are stored: gathered while rows are gone through, made into values once a batch, column by column.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_avro::number_value;
use paimon_types::{Error, Result};

use crate::error::refused;

/// A conversion of stored timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Same,
    Multiply(i64),
    /// Rounds down.
    Divide(i64),
}

/// What a variable-length number becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    TinyInt,
    SmallInt,
    /// INT and DATE.
    Int,
    BigInt,
    Time,
    TimeOfMicros,
    Timestamp(Scale),
}

/// Variable-length numbers.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The bytes of each, as a little-endian number, with whatever stands behind it.
    words: Vec<u64>,
    /// Values by their row that are not in `words`.
    others: Vec<(usize, i64)>,
    kind: Number,
}

/// A word of which no number is made: all bytes say that another follows, none has a bit.
const NULL: u64 = 0x8080_8080_8080_8080;

impl Numbers {
    pub(crate) fn new(kind: Number) -> Self {
        Numbers {
            words: Vec::new(),
            others: Vec::new(),
            kind,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Appends the number at the beginning of `word`, which ends inside of it.
    #[inline(always)]
    pub(super) fn push_word(&mut self, present: bool, word: u64) {
        let mask = u64::from(present).wrapping_neg();
        self.words.push(NULL ^ ((NULL ^ word) & mask));
    }

    pub(super) fn push(&mut self, value: i64) {
        self.others.push((self.words.len(), value));
        self.words.push(0);
    }

    pub(super) fn push_null(&mut self) {
        self.words.push(NULL);
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let valid: Vec<bool> = self.words.iter().map(|word| *word != NULL).collect();
        nulls(&valid)
    }

    fn longs(&self) -> Vec<i64> {
        let mut values: Vec<i64> = self.words.iter().map(|word| number_value(*word)).collect();
        for (row, other) in &self.others {
            if let Some(value) = values.get_mut(*row) {
                *value = *other;
            }
        }
        values
    }

    /// The values of a type with `BITS` bits; `target` is its name.
    fn narrow<T: Copy + Default, const BITS: u32>(
        &self,
        target: &str,
        narrowed: impl Fn(i64) -> T,
    ) -> Result<Vec<T>> {
        let half = 1i64 << (BITS - 1);
        let misfits = |value: i64| (value.wrapping_add(half) as u64) >> BITS;
        let mut misfit = 0;
        let mut values = vec![T::default(); self.words.len()];
        // A loop without a call or a branch, which a compiler makes one over several values at a time.
        for (value, word) in values.iter_mut().zip(&self.words) {
            let number = number_value(*word);
            misfit |= misfits(number);
            *value = narrowed(number);
        }
        for (row, other) in &self.others {
            misfit |= misfits(*other);
            if let Some(value) = values.get_mut(*row) {
                *value = narrowed(*other);
            }
        }
        if misfit == 0 {
            return Ok(values);
        }
        let value = self.longs().into_iter().find(|value| misfits(*value) != 0);
        Err(misfit_of(value.unwrap_or_default(), target))
    }

    /// The array of all values since the last call, of type `target`.
    pub(super) fn finish(&mut self, target: &ArrowType) -> Result<ArrayRef> {
        let array = self.array(target);
        self.words.clear();
        self.others.clear();
        array
    }

    fn array(&self, target: &ArrowType) -> Result<ArrayRef> {
        let nulls = self.nulls();
        Ok(match self.kind {
            Number::TinyInt => {
                let values = self.narrow::<_, 8>("TINYINT", |value| value as i8)?;
                Arc::new(primitive::<Int8Type>(values, nulls)?)
            }
            Number::SmallInt => {
                let values = self.narrow::<_, 16>("SMALLINT", |value| value as i16)?;
                Arc::new(primitive::<Int16Type>(values, nulls)?)
            }
            Number::Int => {
                let values = self.narrow::<_, 32>("INT", |value| value as i32)?;
                match target {
                    ArrowType::Date32 => Arc::new(primitive::<Date32Type>(values, nulls)?),
                    _ => Arc::new(primitive::<Int32Type>(values, nulls)?),
                }
            }
            Number::BigInt => Arc::new(primitive::<Int64Type>(self.longs(), nulls)?),
            Number::Time => {
                let values = self.narrow::<_, 32>("TIME", |value| value as i32)?;
                Arc::new(primitive::<Time32MillisecondType>(values, nulls)?)
            }
            Number::TimeOfMicros => {
                let values = self.longs().into_iter().map(|micros| {
                    let millis = micros.div_euclid(1000);
                    i32::try_from(millis).map_err(|_| misfit_of(micros, "TIME"))
                });
                let values = values.collect::<Result<_>>()?;
                Arc::new(primitive::<Time32MillisecondType>(values, nulls)?)
            }
            Number::Timestamp(scale) => {
                let ArrowType::Timestamp(unit, zone) = target else {
                    return Err(wrong(target));
                };
                let values = scaled(self.longs(), scale)?;
                let zone = zone.clone();
                match unit {
                    TimeUnit::Millisecond => {
                        let values = primitive::<TimestampMillisecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Microsecond => {
                        let values = primitive::<TimestampMicrosecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Nanosecond => {
                        let values = primitive::<TimestampNanosecondType>(values, nulls)?;
                        Arc::new(values.with_timezone_opt(zone))
                    }
                    TimeUnit::Second => return Err(wrong(target)),
                }
            }
        })
    }
}

fn scaled(mut values: Vec<i64>, scale: Scale) -> Result<Vec<i64>> {
    match scale {
        Scale::Same => {}
        Scale::Divide(1000) => values
            .iter_mut()
            .for_each(|value| *value = value.div_euclid(1000)),
        Scale::Divide(by) => values.iter_mut().for_each(|value| *value = value.div_euclid(by)),
        Scale::Multiply(by) => {
            for value in &mut values {
                *value = value.checked_mul(by).ok_or_else(|| too_large(*value))?;
            }
        }
    }
    Ok(values)
}

/// What bytes of a fixed number become.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bits {
    Boolean,
    Float,
    FloatAsDouble,
    Double,
    DoubleAsFloat,
}

impl Bits {
    fn size(self) -> usize {
        match self {
            Bits::Boolean => 1,
            Bits::Float | Bits::FloatAsDouble => 4,
            Bits::Double | Bits::DoubleAsFloat => 8,
        }
    }
}

/// Booleans and floating-point numbers: values of one, four or eight bytes.
#[derive(Debug)]
pub(crate) struct Floats {
    /// The bytes of each as a little-endian number, with whatever stands behind it; 0 for a null.
    words: Vec<u64>,
    pub(super) size: usize,
    kind: Bits,
}

impl Floats {
    pub(crate) fn new(kind: Bits) -> Self {
        Floats {
            words: Vec::new(),
            size: kind.size(),
            kind,
        }
    }

    #[inline(always)]
    pub(super) fn push_word(&mut self, word: u64) {
        self.words.push(word);
    }

    /// The array of all values since the last call.
    pub(super) fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let words = self.words.iter().copied();
        let array: ArrayRef = match self.kind {
            Bits::Boolean => {
                let mut values = Vec::with_capacity(self.words.len());
                for word in words {
                    values.push(match word as u8 {
                        0 => false,
                        1 => true,
                        other => {
                            return Err(Error::corrupt(format!(
                                "avro boolean {other}, 0 or 1 is expected"
                            )));
                        }
                    });
                }
                Arc::new(BooleanArray::new(packed(&values), nulls))
            }
            Bits::Float => {
                let values = words.map(|word| f32::from_bits(word as u32)).collect();
                Arc::new(primitive::<Float32Type>(values, nulls)?)
            }
            Bits::DoubleAsFloat => {
                let values = words.map(|word| f64::from_bits(word) as f32).collect();
                Arc::new(primitive::<Float32Type>(values, nulls)?)
            }
            Bits::FloatAsDouble => {
                let values = words.map(|word| f64::from(f32::from_bits(word as u32))).collect();
                Arc::new(primitive::<Float64Type>(values, nulls)?)
            }
            Bits::Double => {
                let values = words.map(f64::from_bits).collect();
                Arc::new(primitive::<Float64Type>(values, nulls)?)
            }
        };
        self.words.clear();
        Ok(array)
    }
}

/// A bit for each of `values`.
fn packed(values: &[bool]) -> BooleanBuffer {
    let mut bits = Vec::with_capacity(values.len().div_ceil(8));
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        // Eight bytes of 0 or 1: the product gathers them in its highest byte.
        let ones = u64::from_le_bytes(chunk.map(u8::from));
        bits.push((ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8);
    }
    if !rest.is_empty() {
        let ones = rest.iter().rev().fold(0, |bits, one| bits << 1 | u8::from(*one));
        bits.push(ones);
    }
    BooleanBuffer::new(Buffer::from_vec(bits), 0, values.len())
}

/// The nulls of a column, if it has any.
pub(super) fn nulls(valid: &[bool]) -> Option<NullBuffer> {
    let all = valid.iter().fold(true, |all, one| all & one);
    (!all).then(|| NullBuffer::new(packed(valid)))
}

pub(super) fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
) -> Result<PrimitiveArray<T>> {
    PrimitiveArray::try_new(values.into(), nulls).map_err(refused)
}

#[cold]
pub(super) fn wrong(target: &ArrowType) -> Error {
    Error::invalid(format!("avro column does not become {target}"))
}

#[cold]
fn misfit_of(value: i64, target: &str) -> Error {
    Error::invalid(format!("stored value {value} does not fit {target}"))
}

#[cold]
fn too_large(value: i64) -> Error {
    Error::invalid(format!(
        "timestamp of {value} units since 1970-01-01 does not fit the unit asked for, set the option to 'us' to read \
         microseconds"
    ))
    .with("option", "read.timestamp-unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_in_order() {
        for len in [0, 1, 7, 8, 9, 64, 100] {
            let values: Vec<bool> = (0..len).map(|i| i * i % 7 < 3).collect();
            let found: Vec<bool> = packed(&values).iter().collect();
            assert_eq!(found, values);
        }
        assert!(nulls(&[true; 9]).is_none());
        assert_eq!(
            nulls(&[true, false, false]).map(|nulls| nulls.null_count()),
            Some(2)
        );
    }

    #[test]
    fn a_number_of_no_bits_is_no_null() {
        let mut numbers = Numbers::new(Number::Int);
        numbers.push_word(true, 0);
        numbers.push_word(false, 3);
        numbers.push(-7);
        numbers.push_null();
        // 2, and what stands behind it.
        numbers.push_word(true, 0xffff_ff04);
        let array = numbers.finish(&ArrowType::Int32).unwrap();
        let expected = arrow_array::Int32Array::from(vec![Some(0), None, Some(-7), None, Some(2)]);
        assert_eq!(array.as_ref(), &expected as &dyn arrow_array::Array);
        numbers.push(1 << 31);
        let error = numbers.finish(&ArrowType::Int32).unwrap_err();
        assert!(error.to_string().contains("2147483648"), "{error}");
    }
}
