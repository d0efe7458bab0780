// SPDX-License-Identifier: Apache-2.0

//! Values of a batch by field and row.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, ListArray, StringArray, StructArray, TimestampMillisecondArray,
};
use arrow_schema::{Fields, TimeUnit};
use paimon_types::{Error, Result};

use crate::manifest::avro::{Presence, Wanted};
use crate::manifest::codec::{RawList, required};

/// A column with the type that it was read as; absent when the file does not have it, which reads as null.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column<'a> {
    Absent,
    Long(&'a Int64Array),
    Millis(&'a TimestampMillisecondArray),
    Bytes(&'a BinaryArray),
    Text(&'a StringArray),
    List(&'a ListArray),
    Record(&'a StructArray),
}

impl<'a> Column<'a> {
    fn new(array: &'a dyn Array) -> Result<Self> {
        use arrow_schema::DataType as A;
        let column = match array.data_type() {
            A::Int64 => array.as_primitive_opt::<Int64Type>().map(Column::Long),
            A::Timestamp(TimeUnit::Millisecond, None) => array
                .as_primitive_opt::<TimestampMillisecondType>()
                .map(Column::Millis),
            A::Binary => array.as_binary_opt::<i32>().map(Column::Bytes),
            A::Utf8 => array.as_string_opt::<i32>().map(Column::Text),
            A::List(_) => array.as_list_opt::<i32>().map(Column::List),
            A::Struct(_) => array.as_struct_opt().map(Column::Record),
            _ => None,
        };
        column.ok_or_else(|| {
            Error::invalid(format!(
                "a manifest column came as {}, which was not asked for",
                array.data_type()
            ))
        })
    }

    pub(super) fn long(self, row: usize) -> Result<Option<i64>> {
        match self {
            Column::Absent => Ok(None),
            Column::Long(array) => Ok(array.is_valid(row).then(|| array.value(row))),
            Column::Millis(array) => Ok(array.is_valid(row).then(|| array.value(row))),
            _ => Err(self.not("an integer")),
        }
    }

    pub(super) fn int(self, row: usize) -> Result<Option<i32>> {
        let value = self.long(row)?;
        let int = |value| {
            i32::try_from(value).map_err(|_| Error::corrupt(format!("integer {value} has more than 32 bits")))
        };
        value.map(int).transpose()
    }

    pub(super) fn bytes(self, row: usize) -> Result<Option<&'a [u8]>> {
        match self {
            Column::Absent => Ok(None),
            Column::Bytes(array) => Ok(array.is_valid(row).then(|| array.value(row))),
            _ => Err(self.not("bytes")),
        }
    }

    pub(super) fn string(self, row: usize) -> Result<Option<&'a str>> {
        match self {
            Column::Absent => Ok(None),
            Column::Text(array) => Ok(array.is_valid(row).then(|| array.value(row))),
            _ => Err(self.not("text")),
        }
    }

    pub(super) fn list(self, row: usize) -> Result<Option<ItemList<'a>>> {
        let array = match self {
            Column::Absent => return Ok(None),
            Column::List(array) => array,
            _ => return Err(self.not("a list")),
        };
        if array.is_null(row) {
            return Ok(None);
        }
        let bounds = array.value_offsets().get(row..row + 2);
        let Some([start, end]) = bounds.map(|bounds| [0, 1].map(|i| bounds.get(i).copied().unwrap_or(0)))
        else {
            return Err(Error::corrupt("a list of a manifest has no bounds"));
        };
        let place =
            |at: i32| usize::try_from(at).map_err(|_| Error::corrupt("a list of a manifest begins below 0"));
        Ok(Some(ItemList {
            items: array.values(),
            range: Span {
                start: place(start)?,
                end: place(end)?,
            },
        }))
    }

    /// The records of this column; `None` when the file does not have it.
    pub(super) fn records(self) -> Result<Option<&'a StructArray>> {
        match self {
            Column::Absent => Ok(None),
            Column::Record(array) => Ok(Some(array)),
            _ => Err(self.not("a record")),
        }
    }

    /// All items of all lists of this column; `None` when the file does not have it.
    pub(super) fn items(self) -> Result<Option<&'a ArrayRef>> {
        match self {
            Column::Absent => Ok(None),
            Column::List(array) => Ok(Some(array.values())),
            _ => Err(self.not("a list")),
        }
    }

    fn not(self, wanted: &str) -> Error {
        Error::corrupt(format!("a manifest column is not {wanted}"))
    }
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// The items of one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemList<'a> {
    items: &'a ArrayRef,
    range: Span,
}

impl ItemList<'_> {
    /// Rows of the items.
    pub(super) fn rows(self) -> Range<usize> {
        self.range.start..self.range.end
    }
}

impl RawList for ItemList<'_> {
    fn strings(self) -> Result<Vec<String>> {
        let column = Column::new(self.items.as_ref())?;
        self.rows()
            .map(|row| required(column.string(row)?, "array item").map(str::to_owned))
            .collect()
    }

    fn longs(self) -> Result<Vec<Option<i64>>> {
        let column = Column::new(self.items.as_ref())?;
        self.rows().map(|row| column.long(row)).collect()
    }
}

/// The wanted fields of the records of a batch.
#[derive(Debug)]
pub(super) struct Columns<'a, T> {
    fields: Vec<(T, Column<'a>)>,
}

impl<'a, T: Copy + PartialEq> Columns<'a, T> {
    /// Binds `wanted` by name.
    ///
    /// # Errors
    /// `Corrupt` when a required column is missing.
    pub(super) fn bind(fields: &Fields, arrays: &'a [ArrayRef], wanted: &[Wanted<T>]) -> Result<Self> {
        let mut bound = Vec::with_capacity(wanted.len());
        for (name, key, _, presence) in wanted {
            let column = match fields.find(name).and_then(|(place, _)| arrays.get(place)) {
                Some(array) => Column::new(array.as_ref()).map_err(|e| e.with("column", name))?,
                None if *presence == Presence::Required => {
                    return Err(Error::corrupt(format!("a manifest has no column {name}")));
                }
                None => Column::Absent,
            };
            bound.push((*key, column));
        }
        Ok(Columns { fields: bound })
    }

    /// [`Columns::bind`] for the fields of nested records.
    pub(super) fn of(records: &'a StructArray, wanted: &[Wanted<T>]) -> Result<Self> {
        Self::bind(records.fields(), records.columns(), wanted)
    }

    /// A column by its key.
    pub(super) fn get(&self, key: T) -> Column<'a> {
        let found = self.fields.iter().find(|(field, _)| *field == key);
        found.map_or(Column::Absent, |(_, column)| *column)
    }
}
