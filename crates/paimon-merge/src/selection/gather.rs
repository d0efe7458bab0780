// SPDX-License-Identifier: Apache-2.0

//! Loops over stretches, one for each kind of array. Every place was checked before.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericByteArray, ListArray, MapArray, StructArray,
    make_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use paimon_types::{Error, Result};

use super::{NULL, Selection, Stretch, too_large};

/// Below this a stretch is copied value by value: setting up a slice costs more.
const SHORT: u32 = 4;

pub(super) fn gather(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let Some(first) = arrays.first() else {
        return Err(Error::corrupt("rows are gathered from no array"));
    };
    let data_type = first.data_type();
    // Numbers, dates and times are copied by their width: a loop for each type would take longer to build than all else here.
    match (data_type, data_type.primitive_width()) {
        // Not one number each.
        (DataType::Interval(_), _) => selection.interleave(arrays),
        (_, Some(1)) => fixed::<i8>(selection, arrays, data_type),
        (_, Some(2)) => fixed::<i16>(selection, arrays, data_type),
        (_, Some(4)) => fixed::<i32>(selection, arrays, data_type),
        (_, Some(8)) => fixed::<i64>(selection, arrays, data_type),
        (_, Some(16)) => fixed::<i128>(selection, arrays, data_type),
        _ => others(selection, arrays, data_type),
    }
}

fn others(selection: &Selection, arrays: &[&dyn Array], data_type: &DataType) -> Result<ArrayRef> {
    match data_type {
        DataType::Boolean => booleans(selection, arrays),
        DataType::Utf8 => bytes::<arrow_array::types::Utf8Type>(selection, arrays),
        DataType::Binary => bytes::<arrow_array::types::BinaryType>(selection, arrays),
        DataType::LargeUtf8 => bytes::<arrow_array::types::LargeUtf8Type>(selection, arrays),
        DataType::LargeBinary => bytes::<arrow_array::types::LargeBinaryType>(selection, arrays),
        DataType::Struct(_) => structs(selection, arrays),
        DataType::List(_) => lists(selection, arrays),
        DataType::Map(..) => maps(selection, arrays),
        DataType::FixedSizeList(..) => fixed_lists(selection, arrays),
        _ => selection.interleave(arrays),
    }
}

/// NULLs of the rows; `None` when there are none.
pub(super) fn nulls(selection: &Selection, arrays: &[&dyn Array]) -> Option<NullBuffer> {
    let of_arrays: Vec<Option<&NullBuffer>> = arrays
        .iter()
        .map(|array| array.nulls().filter(|nulls| nulls.null_count() > 0))
        .collect();
    if !selection.nulls && of_arrays.iter().all(Option::is_none) {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(selection.rows);
    for stretch in &selection.stretches {
        let (start, len) = (stretch.start as usize, stretch.len as usize);
        if stretch.source == NULL {
            bits.append_n(len, false);
            continue;
        }
        match of_arrays.get(stretch.source as usize).copied().flatten() {
            None => bits.append_n(len, true),
            Some(nulls) if stretch.len < SHORT => {
                for row in start..start + len {
                    bits.append(nulls.is_valid(row));
                }
            }
            Some(nulls) => bits.append_buffer(&nulls.inner().slice(start, len)),
        }
    }
    Some(NullBuffer::new(bits.finish())).filter(|nulls| nulls.null_count() > 0)
}

fn fixed<T: ArrowNativeType>(
    selection: &Selection,
    arrays: &[&dyn Array],
    data_type: &DataType,
) -> Result<ArrayRef> {
    let sources: Vec<ArrayData> = arrays.iter().map(|array| array.to_data()).collect();
    let slices: Vec<&[T]> = sources.iter().map(|source| source.buffer::<T>(0)).collect();
    let value = |source: u32, row: u32| {
        let slice = slices.get(source as usize);
        slice
            .and_then(|slice| slice.get(row as usize))
            .copied()
            .unwrap_or_default()
    };
    let mut values: Vec<T> = Vec::with_capacity(selection.rows);
    if selection.stretches.len() == selection.rows {
        values.extend(
            selection
                .stretches
                .iter()
                .map(|stretch| value(stretch.source, stretch.start)),
        );
    } else {
        for stretch in &selection.stretches {
            if stretch.len == 1 {
                values.push(value(stretch.source, stretch.start));
            } else if stretch.source == NULL {
                values.resize(values.len() + stretch.len as usize, T::default());
            } else {
                let (start, len) = (stretch.start as usize, stretch.len as usize);
                let slice = slices.get(stretch.source as usize);
                values.extend_from_slice(
                    slice
                        .and_then(|slice| slice.get(start..start + len))
                        .unwrap_or(&[]),
                );
            }
        }
    }
    let array = ArrayData::builder(data_type.clone())
        .len(values.len())
        .add_buffer(Buffer::from_vec(values))
        .nulls(nulls(selection, arrays));
    Ok(make_array(array.build().map_err(too_large)?))
}

fn booleans(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Vec<Option<&BooleanArray>> = arrays.iter().map(|array| array.as_boolean_opt()).collect();
    let mut bits = BooleanBufferBuilder::new(selection.rows);
    for stretch in &selection.stretches {
        let (start, len) = (stretch.start as usize, stretch.len as usize);
        match sources.get(stretch.source as usize).copied().flatten() {
            None => bits.append_n(len, false),
            Some(array) if stretch.len < SHORT => {
                for row in start..start + len {
                    bits.append(array.value(row));
                }
            }
            Some(array) => bits.append_buffer(&array.values().slice(start, len)),
        }
    }
    let array = BooleanArray::new(bits.finish(), nulls(selection, arrays));
    Ok(make_array(array.into()))
}

/// Offsets and bytes of a source.
#[derive(Clone, Copy)]
struct Bytes<'a, O> {
    offsets: &'a [O],
    values: &'a [u8],
}

fn bytes<T: ByteArrayType>(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Vec<Bytes<'_, T::Offset>> = arrays
        .iter()
        .map(|array| match array.as_bytes_opt::<T>() {
            Some(array) => Bytes {
                offsets: array.value_offsets(),
                values: array.value_data(),
            },
            None => Bytes {
                offsets: &[],
                values: &[],
            },
        })
        .collect();
    // Offsets of the rows of a stretch and the one behind them; of NULLs and of what was checked not to be there none.
    let of = |stretch: &Stretch| {
        let source = sources.get(stretch.source as usize)?;
        let start = stretch.start as usize;
        let offsets = source.offsets.get(start..=start + stretch.len as usize)?;
        Some((
            source.values,
            offsets,
            offsets.first()?.as_usize(),
            offsets.last()?.as_usize(),
        ))
    };
    let mut size = 0usize;
    for stretch in &selection.stretches {
        if let Some((_, _, from, to)) = of(stretch) {
            size += to - from;
        }
    }
    let too_long = || Error::resources(format!("{size} bytes of values do not fit into one array"));
    T::Offset::from_usize(size).ok_or_else(too_long)?;
    let mut offsets: Vec<T::Offset> = Vec::with_capacity(selection.rows + 1);
    let mut values = vec![0; size + WINDOW];
    // All offsets are at most `size`, which fits.
    let offset = |at: usize| T::Offset::usize_as(at);
    let mut at = 0;
    offsets.push(offset(0));
    for stretch in &selection.stretches {
        let Some((source, of_rows, from, to)) = of(stretch) else {
            offsets.resize(offsets.len() + stretch.len as usize, offset(at));
            continue;
        };
        if stretch.len == 1 {
            offsets.push(offset(at + to - from));
        } else {
            offsets.extend(
                of_rows
                    .iter()
                    .skip(1)
                    .map(|end| offset(at + end.as_usize() - from)),
            );
        }
        copy(source, from, to - from, &mut values, at)?;
        at += to - from;
    }
    values.truncate(at);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let nulls = nulls(selection, arrays);
    let array = GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(values), nulls);
    Ok(make_array(array.map_err(too_large)?.into()))
}

/// Bytes that are copied at once, whatever the length of a short value.
const WINDOW: usize = 16;

/// Copies a value; behind it in `to` there are `WINDOW` bytes whose content does not matter.
#[inline]
fn copy(from: &[u8], start: usize, len: usize, to: &mut [u8], at: usize) -> Result<()> {
    if len <= WINDOW
        && let Some(from) = from.get(start..).and_then(|from| from.first_chunk::<WINDOW>())
        && let Some(to) = to.get_mut(at..).and_then(|to| to.first_chunk_mut::<WINDOW>())
    {
        *to = *from;
        return Ok(());
    }
    match (from.get(start..start + len), to.get_mut(at..at + len)) {
        (Some(from), Some(to)) => to.copy_from_slice(from),
        _ => return Err(Error::corrupt("a value ends behind the bytes of its array")),
    }
    Ok(())
}

fn structs(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Option<Vec<&StructArray>> = arrays.iter().map(|array| array.as_struct_opt()).collect();
    let Some((sources, first)) = sources.and_then(|s| s.first().copied().map(|first| (s, first))) else {
        return Err(not_of_type());
    };
    if first.num_columns() == 0 {
        return selection.interleave(arrays);
    }
    let mut columns = Vec::with_capacity(first.num_columns());
    for (index, field) in first.fields().iter().enumerate() {
        let children: Option<Vec<&dyn Array>> = sources
            .iter()
            .map(|array| array.columns().get(index).map(AsRef::as_ref))
            .collect();
        let children = children.ok_or_else(not_of_type)?;
        // Under a NULL a NOT NULL child has to have a value.
        let column = if selection.nulls && !field.is_nullable() {
            selection.with_rows_for_nulls(&children)?
        } else {
            selection.gather_checked(&children)?
        };
        columns.push(column);
    }
    let array = StructArray::try_new(first.fields().clone(), columns, nulls(selection, arrays));
    Ok(Arc::new(array.map_err(too_large)?))
}

impl Selection {
    /// As [`gather_checked`](Selection::gather_checked), but with some row of a source where NULL is wanted.
    fn with_rows_for_nulls(&self, arrays: &[&dyn Array]) -> Result<ArrayRef> {
        let mut filler = None;
        for (source, array) in (0u32..).zip(arrays) {
            if filler.is_none() && !array.is_empty() {
                filler = Some(source);
            }
        }
        let mut filled = Selection::with_capacity(self.stretches.len());
        for stretch in &self.stretches {
            match filler {
                Some(source) if stretch.source == NULL => {
                    for _ in 0..stretch.len {
                        filled.push_narrow(source, 0, 1);
                    }
                }
                _ => filled.push_narrow(stretch.source, stretch.start, stretch.len),
            }
        }
        filled.gather_checked(arrays)
    }
}

/// Offsets of lists and the elements that they hold, as a selection of elements.
fn list_parts(
    selection: &Selection,
    sources: &[&OffsetBuffer<i32>],
) -> Result<(OffsetBuffer<i32>, Selection)> {
    let mut lengths: Vec<usize> = Vec::with_capacity(selection.rows);
    let mut elements = Selection::with_capacity(selection.stretches.len());
    let mut total = 0usize;
    for stretch in &selection.stretches {
        let (start, len) = (stretch.start as usize, stretch.len as usize);
        let offsets = sources
            .get(stretch.source as usize)
            .and_then(|offsets| offsets.get(start..=start + len));
        let Some(offsets) = offsets else {
            lengths.resize(lengths.len() + len, 0);
            continue;
        };
        lengths.extend(offsets.windows(2).map(|pair| match pair {
            [from, to] => (to - from).as_usize(),
            _ => 0,
        }));
        if let (Some(from), Some(to)) = (offsets.first(), offsets.last()) {
            let (from, to) = (from.as_usize(), to.as_usize());
            total += to - from;
            elements.push_run(stretch.source as usize, from, to - from);
        }
    }
    if i32::try_from(total).is_err() {
        return Err(Error::resources(format!(
            "{total} elements do not fit into one array"
        )));
    }
    Ok((OffsetBuffer::from_lengths(lengths), elements))
}

fn lists(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Option<Vec<&ListArray>> = arrays.iter().map(|array| array.as_list_opt()).collect();
    let sources = sources.ok_or_else(not_of_type)?;
    let offsets: Vec<&OffsetBuffer<i32>> = sources.iter().map(|array| array.offsets()).collect();
    let (offsets, elements) = list_parts(selection, &offsets)?;
    let children: Vec<&dyn Array> = sources.iter().map(|array| array.values().as_ref()).collect();
    let values = elements.gather_checked(&children)?;
    let Some(DataType::List(field)) = arrays.first().map(|array| array.data_type()) else {
        return Err(not_of_type());
    };
    let array = ListArray::try_new(field.clone(), offsets, values, nulls(selection, arrays));
    Ok(Arc::new(array.map_err(too_large)?))
}

fn maps(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Option<Vec<&MapArray>> = arrays.iter().map(|array| array.as_map_opt()).collect();
    let sources = sources.ok_or_else(not_of_type)?;
    let offsets: Vec<&OffsetBuffer<i32>> = sources.iter().map(|array| array.offsets()).collect();
    let (offsets, entries) = list_parts(selection, &offsets)?;
    let children: Vec<&dyn Array> = sources
        .iter()
        .map(|array| array.entries() as &dyn Array)
        .collect();
    let values = entries.gather_checked(&children)?;
    let Some(DataType::Map(field, ordered)) = arrays.first().map(|array| array.data_type()) else {
        return Err(not_of_type());
    };
    let values = values.as_struct_opt().ok_or_else(not_of_type)?.clone();
    let array = MapArray::try_new(field.clone(), offsets, values, nulls(selection, arrays), *ordered);
    Ok(Arc::new(array.map_err(too_large)?))
}

fn fixed_lists(selection: &Selection, arrays: &[&dyn Array]) -> Result<ArrayRef> {
    let sources: Option<Vec<&FixedSizeListArray>> = arrays
        .iter()
        .map(|array| array.as_fixed_size_list_opt())
        .collect();
    let sources = sources.ok_or_else(not_of_type)?;
    let Some(DataType::FixedSizeList(field, size)) = arrays.first().map(|array| array.data_type()) else {
        return Err(not_of_type());
    };
    let width = size.as_usize();
    let small = selection
        .rows
        .checked_mul(width)
        .is_some_and(|n| n < NULL as usize);
    // Arrays that are this large by other sources are checked by `interleave` itself.
    let narrow = sources.iter().all(|array| array.values().len() < NULL as usize);
    if width == 0 || !small || !narrow || selection.nulls {
        return selection.interleave(arrays);
    }
    let mut elements = Selection::with_capacity(selection.stretches.len());
    for stretch in &selection.stretches {
        let start = stretch.start as usize * width;
        elements.push_run(stretch.source as usize, start, stretch.len as usize * width);
    }
    let children: Vec<&dyn Array> = sources.iter().map(|array| array.values().as_ref()).collect();
    let values = elements.gather_checked(&children)?;
    let array = FixedSizeListArray::try_new(field.clone(), *size, values, nulls(selection, arrays));
    Ok(Arc::new(array.map_err(too_large)?))
}

fn not_of_type() -> Error {
    Error::corrupt("an array is not of the type that it says")
}
