// SPDX-License-Identifier: Apache-2.0

//! `sum`, `product`, `bool_and` and `bool_or` (Java `FieldSumAgg`, `FieldProductAgg`, `FieldBoolAndAgg`, `FieldBoolOrAgg`).

use std::fmt::Display;

use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{ArrayRef, BooleanArray, make_array};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder};
use arrow_schema::DataType as ArrowType;
use paimon_types::{Error, Result};

use super::column::{Column, ColumnFunction, Slices};
use super::decimal::Decimals;
use super::order::primitive_array;
use super::program::{Op, Program};

/// `sum` or `product`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    pub(super) product: bool,
    pub(super) ignore_retract: bool,
}

/// The four operations; `None` when the result is outside of the type.
pub(super) trait Number: Copy + Default + Display {
    /// Name of the type in messages.
    const TYPE: &'static str;
    fn plus(self, other: Self) -> Option<Self>;
    fn minus(self, other: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    fn over(self, other: Self) -> Option<Self>;
    fn negated(self) -> Option<Self>;
}

macro_rules! integer {
    ($($type:ty = $name:literal),*) => { $(impl Number for $type {
        const TYPE: &'static str = $name;
        #[inline]
        fn plus(self, other: Self) -> Option<Self> { self.checked_add(other) }
        #[inline]
        fn minus(self, other: Self) -> Option<Self> { self.checked_sub(other) }
        #[inline]
        fn times(self, other: Self) -> Option<Self> { self.checked_mul(other) }
        #[inline]
        fn over(self, other: Self) -> Option<Self> { self.checked_div(other) }
        #[inline]
        fn negated(self) -> Option<Self> { self.checked_neg() }
    })* };
}

macro_rules! floating {
    ($($type:ty = $name:literal),*) => { $(impl Number for $type {
        const TYPE: &'static str = $name;
        #[inline]
        fn plus(self, other: Self) -> Option<Self> { Some(self + other) }
        #[inline]
        fn minus(self, other: Self) -> Option<Self> { Some(self - other) }
        #[inline]
        fn times(self, other: Self) -> Option<Self> { Some(self * other) }
        #[inline]
        fn over(self, other: Self) -> Option<Self> { Some(self / other) }
        #[inline]
        fn negated(self) -> Option<Self> { Some(-self) }
    })* };
}

integer!(i8 = "TINYINT", i16 = "SMALLINT", i32 = "INT", i64 = "BIGINT");
floating!(f32 = "FLOAT", f64 = "DOUBLE");

/// What [`Arithmetic`] needs of a number type. An error is an overflow of integers, `None` one of decimals.
pub(super) trait Rules<N> {
    fn add(&self, a: N, b: N) -> Result<Option<N>>;
    fn subtract(&self, a: N, b: N) -> Result<Option<N>>;
    fn negate(&self, a: N) -> Result<Option<N>>;
    fn multiply(&self, a: N, b: N) -> Result<Option<N>>;
    fn divide(&self, a: N, b: N) -> Result<Option<N>>;
}

/// Numbers that know their rules; the column is for messages.
struct Primitive<'a> {
    column: &'a str,
}

impl Primitive<'_> {
    #[cold]
    fn outside<N: Number>(&self, function: &str, a: impl Display, sign: char, b: N) -> Error {
        let column = self.column;
        let why = if sign == '/' && b.to_string() == "0" {
            "divides by zero".to_owned()
        } else {
            format!("is outside of {}", N::TYPE)
        };
        Error::invalid(format!("{function} of column {column}: {a} {sign} {b} {why}")).with("column", column)
    }
}

impl<N: Number> Rules<N> for Primitive<'_> {
    #[inline]
    fn add(&self, a: N, b: N) -> Result<Option<N>> {
        a.plus(b).map(Some).ok_or_else(|| self.outside("sum", a, '+', b))
    }

    #[inline]
    fn subtract(&self, a: N, b: N) -> Result<Option<N>> {
        a.minus(b).map(Some).ok_or_else(|| self.outside("sum", a, '-', b))
    }

    #[inline]
    fn negate(&self, a: N) -> Result<Option<N>> {
        a.negated()
            .map(Some)
            .ok_or_else(|| self.outside("sum", 0, '-', a))
    }

    #[inline]
    fn multiply(&self, a: N, b: N) -> Result<Option<N>> {
        a.times(b)
            .map(Some)
            .ok_or_else(|| self.outside("product", a, '*', b))
    }

    #[inline]
    fn divide(&self, a: N, b: N) -> Result<Option<N>> {
        a.over(b)
            .map(Some)
            .ok_or_else(|| self.outside("product", a, '/', b))
    }
}

impl Arithmetic {
    fn fold<T: ArrowPrimitiveType>(
        self,
        column: &Column<'_>,
        program: &Program,
        rules: &impl Rules<T::Native>,
    ) -> Result<ArrayRef> {
        let values = column.slices::<T>()?;
        if !column.has_nulls() && program.only_adds() {
            return match self.product {
                true => Self::fold_added::<T>(column, program, &values, |a, b| rules.multiply(a, b)),
                false => Self::fold_added::<T>(column, program, &values, |a, b| rules.add(a, b)),
            };
        }
        let mut out: Vec<T::Native> = Vec::with_capacity(program.len());
        let mut nulls = NullBufferBuilder::new(program.len());
        for steps in program.keys() {
            let mut value: Option<T::Native> = None;
            for step in steps {
                let input = column.is_valid(step).then(|| values.of(step));
                value = match (step.op, value, input) {
                    (Op::Pass | Op::Set, _, input) => input,
                    (_, value, None) => value,
                    (Op::Add | Op::AddOlder, None, input) => input,
                    (Op::Add, Some(value), Some(input)) if self.product => rules.multiply(value, input)?,
                    (Op::AddOlder, Some(value), Some(input)) if self.product => {
                        rules.multiply(input, value)?
                    }
                    (Op::Add, Some(value), Some(input)) => rules.add(value, input)?,
                    (Op::AddOlder, Some(value), Some(input)) => rules.add(input, value)?,
                    (Op::Retract | Op::RetractOlder, value, _) if self.ignore_retract => value,
                    (Op::Retract | Op::RetractOlder, None, Some(_)) if self.product => None,
                    (Op::Retract | Op::RetractOlder, None, Some(input)) => rules.negate(input)?,
                    (Op::Retract | Op::RetractOlder, Some(value), Some(input)) if self.product => {
                        rules.divide(value, input)?
                    }
                    (Op::Retract | Op::RetractOlder, Some(value), Some(input)) => {
                        rules.subtract(value, input)?
                    }
                };
            }
            nulls.append(value.is_some());
            out.push(value.unwrap_or_default());
        }
        primitive_array::<T>(column, out, nulls)
    }

    /// As [`fold`](Self::fold), for values that are not NULL and are only added.
    fn fold_added<T: ArrowPrimitiveType>(
        column: &Column<'_>,
        program: &Program,
        values: &Slices<'_, T::Native>,
        add: impl Fn(T::Native, T::Native) -> Result<Option<T::Native>>,
    ) -> Result<ArrayRef> {
        let mut out: Vec<T::Native> = Vec::with_capacity(program.len());
        let mut nulls = NullBufferBuilder::new(program.len());
        for steps in program.keys() {
            let mut value: Option<T::Native> = None;
            for step in steps {
                let input = values.of(step);
                value = match value {
                    Some(value) if step.op == Op::Add => add(value, input)?,
                    _ => Some(input),
                };
            }
            nulls.append(value.is_some());
            out.push(value.unwrap_or_default());
        }
        primitive_array::<T>(column, out, nulls)
    }
}

impl ColumnFunction for Arithmetic {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let rules = Primitive { column: column.name };
        match column.data_type {
            ArrowType::Int8 => self.fold::<Int8Type>(column, program, &rules),
            ArrowType::Int16 => self.fold::<Int16Type>(column, program, &rules),
            ArrowType::Int32 => self.fold::<Int32Type>(column, program, &rules),
            ArrowType::Int64 => self.fold::<Int64Type>(column, program, &rules),
            ArrowType::Float32 => self.fold::<Float32Type>(column, program, &rules),
            ArrowType::Float64 => self.fold::<Float64Type>(column, program, &rules),
            ArrowType::Decimal128(precision, scale) => {
                let rules = Decimals::new(column.name, *precision, *scale);
                self.fold::<Decimal128Type>(column, program, &rules)
            }
            _ => Err(column.not_for("sum")),
        }
    }
}

/// `bool_and` or `bool_or`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logic {
    pub(super) or: bool,
    pub(super) ignore_retract: bool,
}

impl ColumnFunction for Logic {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let arrays = column.typed::<BooleanArray>()?;
        let mut bits = BooleanBufferBuilder::new(program.len());
        let mut nulls = NullBufferBuilder::new(program.len());
        for steps in program.keys() {
            let mut value: Option<bool> = None;
            for step in steps {
                let array = arrays.get(step.source as usize).filter(|_| column.is_valid(step));
                let input = array.map(|array| array.value(step.row as usize));
                value = match step.op {
                    Op::Pass | Op::Set => input,
                    Op::Add | Op::AddOlder => match (value, input) {
                        (Some(a), Some(b)) => Some(if self.or { a || b } else { a && b }),
                        (a, b) => a.or(b),
                    },
                    Op::Retract | Op::RetractOlder if self.ignore_retract => value,
                    Op::Retract | Op::RetractOlder => {
                        return Err(column.cannot_retract(if self.or { "bool_or" } else { "bool_and" }));
                    }
                };
            }
            nulls.append(value.is_some());
            bits.append(value.unwrap_or_default());
        }
        Ok(make_array(
            BooleanArray::new(bits.finish(), nulls.finish()).into(),
        ))
    }
}
