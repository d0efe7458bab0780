// SPDX-License-Identifier: Apache-2.0

//! Order of values as Java compares them (`semantics.md` 1.4): min, max, and the ordering columns of sequence groups.

use std::cmp::Ordering;

use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date32Type, Decimal128Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, Utf8Type,
};
use arrow_array::{ArrayRef, BooleanArray, GenericByteArray, PrimitiveArray, RecordBatch, make_array};
use arrow_buffer::{NullBufferBuilder, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use paimon_types::{DataType, Result, TypeKind};

use super::column::{Column, ColumnFunction};
use super::program::{Op, Program};
use crate::Selection;

/// Java's order of a primitive type.
pub(super) trait JavaOrd: Copy {
    fn java_cmp(self, other: Self) -> Ordering;
}

macro_rules! natural {
    ($($type:ty),*) => { $(impl JavaOrd for $type {
        #[inline]
        fn java_cmp(self, other: Self) -> Ordering { self.cmp(&other) }
    })* };
}

/// Java `Float.compare`: −0.0 < 0.0, NaN equals itself and is greater than everything.
macro_rules! floating {
    ($($type:ty),*) => { $(impl JavaOrd for $type {
        #[inline]
        fn java_cmp(self, other: Self) -> Ordering {
            match (self.is_nan(), other.is_nan()) {
                (false, false) => self.total_cmp(&other),
                (left, right) => left.cmp(&right),
            }
        }
    })* };
}

natural!(i8, i16, i32, i64, i128, bool);
floating!(f32, f64);

/// `min` or `max` (Java `FieldMinAgg`, `FieldMaxAgg`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Extreme {
    pub(super) largest: bool,
    pub(super) ignore_retract: bool,
}

/// True for types that have a `min` and a `max` (Java `TypeCheckUtils.isComparable`).
pub(super) fn is_comparable(data_type: &DataType) -> bool {
    !matches!(
        data_type.kind,
        TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_)
            | TypeKind::Array(_)
            | TypeKind::Vector(..)
            | TypeKind::Variant
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. }
    )
}

/// Runs `$body` with `$type` bound to the primitive Arrow type of a comparable column, else `$otherwise`.
macro_rules! with_primitive {
    ($data_type:expr, $type:ident => $body:expr, $otherwise:expr) => {{
        macro_rules! run {
            ($t:ty) => {{
                type $type = $t;
                $body
            }};
        }
        match $data_type {
            ArrowType::Int8 => run!(Int8Type),
            ArrowType::Int16 => run!(Int16Type),
            ArrowType::Int32 => run!(Int32Type),
            ArrowType::Int64 => run!(Int64Type),
            ArrowType::Float32 => run!(Float32Type),
            ArrowType::Float64 => run!(Float64Type),
            ArrowType::Decimal128(..) => run!(Decimal128Type),
            ArrowType::Date32 => run!(Date32Type),
            ArrowType::Time32(TimeUnit::Millisecond) => run!(Time32MillisecondType),
            ArrowType::Timestamp(TimeUnit::Millisecond, _) => run!(TimestampMillisecondType),
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => run!(TimestampMicrosecondType),
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => run!(TimestampNanosecondType),
            _ => $otherwise,
        }
    }};
}

impl Extreme {
    fn name(self) -> &'static str {
        if self.largest { "max" } else { "min" }
    }

    /// True when the value so far stays: a tie keeps it for `max` and gives it up for `min`.
    #[inline]
    fn keeps(self, order: Ordering) -> bool {
        (order == Ordering::Less) != self.largest
    }

    /// The place of the extreme of each key; `compare` orders the values of two places, which are not NULL.
    fn select(
        self,
        column: &Column<'_>,
        program: &Program,
        mut compare: impl FnMut((u32, u32), (u32, u32)) -> Ordering,
    ) -> Result<Selection> {
        let mut selection = Selection::with_capacity(program.len());
        for steps in program.keys() {
            let mut best = None;
            for step in steps {
                let place = (step.source, step.row);
                let valid = column.is_valid(step);
                match step.op {
                    Op::Pass | Op::Set => best = valid.then_some(place),
                    Op::Retract | Op::RetractOlder if self.ignore_retract => {}
                    Op::Retract | Op::RetractOlder => return Err(column.cannot_retract(self.name())),
                    Op::Add | Op::AddOlder if !valid => {}
                    Op::Add => {
                        if !best.is_some_and(|best| self.keeps(compare(best, place))) {
                            best = Some(place);
                        }
                    }
                    Op::AddOlder => {
                        if best.is_none_or(|best| self.keeps(compare(place, best))) {
                            best = Some(place);
                        }
                    }
                }
            }
            match best {
                Some((source, row)) => selection.push_narrow(source, row, 1),
                None => selection.push_null(),
            }
        }
        Ok(selection)
    }

    fn primitives<T: ArrowPrimitiveType>(self, column: &Column<'_>, program: &Program) -> Result<ArrayRef>
    where
        T::Native: JavaOrd,
    {
        let values = column.slices::<T>()?;
        let mut out: Vec<T::Native> = Vec::with_capacity(program.len());
        let mut nulls = NullBufferBuilder::new(program.len());
        for steps in program.keys() {
            let mut best: Option<T::Native> = None;
            for step in steps {
                let valid = column.is_valid(step);
                let value = values.of(step);
                match step.op {
                    Op::Pass | Op::Set => best = valid.then_some(value),
                    Op::Retract | Op::RetractOlder if self.ignore_retract => {}
                    Op::Retract | Op::RetractOlder => return Err(column.cannot_retract(self.name())),
                    Op::Add | Op::AddOlder if !valid => {}
                    Op::Add => {
                        if !best.is_some_and(|best| self.keeps(best.java_cmp(value))) {
                            best = Some(value);
                        }
                    }
                    Op::AddOlder => {
                        if best.is_none_or(|best| self.keeps(value.java_cmp(best))) {
                            best = Some(value);
                        }
                    }
                }
            }
            nulls.append(best.is_some());
            out.push(best.unwrap_or_default());
        }
        primitive_array::<T>(column, out, nulls)
    }

    fn bytes<T: ByteArrayType>(self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        let arrays = column.typed::<GenericByteArray<T>>()?;
        let selection = self.select(column, program, |a, b| {
            byte_at(&arrays, a).cmp(byte_at(&arrays, b))
        })?;
        column.gather(&selection)
    }
}

impl ColumnFunction for Extreme {
    fn merge(&self, column: &Column<'_>, program: &Program) -> Result<ArrayRef> {
        with_primitive!(column.data_type, T => self.primitives::<T>(column, program), match column.data_type {
            ArrowType::Utf8 => self.bytes::<Utf8Type>(column, program),
            ArrowType::Binary => self.bytes::<BinaryType>(column, program),
            ArrowType::LargeBinary => self.bytes::<LargeBinaryType>(column, program),
            ArrowType::Boolean => {
                let arrays = column.typed::<BooleanArray>()?;
                let selection = self.select(column, program, |a, b| bool_at(&arrays, a).cmp(&bool_at(&arrays, b)))?;
                column.gather(&selection)
            }
            _ => Err(column.not_for("order")),
        })
    }
}

/// An array of the column's type from values and their NULLs.
pub(super) fn primitive_array<T: ArrowPrimitiveType>(
    column: &Column<'_>,
    values: Vec<T::Native>,
    mut nulls: NullBufferBuilder,
) -> Result<ArrayRef> {
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(values), nulls.finish());
    let array = array.map_err(|error| column.not_for("such values").with_source(Box::new(error)))?;
    Ok(make_array(array.with_data_type(column.data_type.clone()).into()))
}

#[inline]
fn byte_at<'a, T: ByteArrayType>(arrays: &[&'a GenericByteArray<T>], (source, row): (u32, u32)) -> &'a [u8] {
    let array = arrays.get(source as usize);
    array.map_or(&[], |array| AsRef::<[u8]>::as_ref(array.value(row as usize)))
}

#[inline]
fn bool_at(arrays: &[&BooleanArray], (source, row): (u32, u32)) -> bool {
    arrays
        .get(source as usize)
        .is_some_and(|array| array.value(row as usize))
}

type Compare<'a> = Box<dyn Fn((u32, u32), (u32, u32)) -> Ordering + 'a>;

/// The ordering columns of one sequence group: ascending, NULL first (Java `UserDefinedSeqComparator`).
pub(super) struct GroupOrder<'a> {
    columns: Vec<(Column<'a>, Compare<'a>)>,
}

impl<'a> GroupOrder<'a> {
    /// `columns` are index and name of the ordering columns.
    pub(super) fn new(
        sources: &'a [RecordBatch],
        columns: impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Self> {
        let columns = columns.map(|(index, name)| {
            let column = Column::of(sources, index, name)?;
            let compare = compare(&column)?;
            Ok((column, compare))
        });
        Ok(GroupOrder {
            columns: columns.collect::<Result<_>>()?,
        })
    }

    /// True when every ordering column of the version is NULL: the group ignores it.
    #[inline]
    pub(super) fn is_empty(&self, place: (u32, u32)) -> bool {
        self.columns.iter().all(|(column, _)| !column.is_valid_at(place))
    }

    /// True when the version is not older than the row so far, whose ordering columns are all NULL when it is `None`.
    #[inline]
    pub(super) fn is_newer(&self, version: (u32, u32), current: Option<(u32, u32)>) -> bool {
        let Some(current) = current else { return true };
        for (column, compare) in &self.columns {
            let order = match (column.is_valid_at(version), column.is_valid_at(current)) {
                (true, true) => compare(version, current),
                (left, right) => left.cmp(&right),
            };
            if order != Ordering::Equal {
                return order == Ordering::Greater;
            }
        }
        true
    }
}

/// Order of two values of a column that are not NULL.
fn compare<'a>(column: &Column<'a>) -> Result<Compare<'a>> {
    with_primitive!(column.data_type, T => {
        let values = column.slices::<T>()?;
        Ok(Box::new(move |a, b| values.at(a).java_cmp(values.at(b))))
    }, match column.data_type {
        ArrowType::Utf8 => {
            let arrays = column.typed::<GenericByteArray<Utf8Type>>()?;
            Ok(Box::new(move |a, b| byte_at(&arrays, a).cmp(byte_at(&arrays, b))))
        }
        ArrowType::Binary => {
            let arrays = column.typed::<GenericByteArray<BinaryType>>()?;
            Ok(Box::new(move |a, b| byte_at(&arrays, a).cmp(byte_at(&arrays, b))))
        }
        ArrowType::Boolean => {
            let arrays = column.typed::<BooleanArray>()?;
            Ok(Box::new(move |a, b| bool_at(&arrays, a).cmp(&bool_at(&arrays, b))))
        }
        _ => Err(column.not_for("order")),
    })
}
