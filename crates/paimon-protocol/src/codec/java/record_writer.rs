// SPDX-License-Identifier: Apache-2.0

//! Writes rows and arrays of the metadata records in place: nested structures go straight into the parent's buffer.

use crate::RowValues;

use super::record::fixed_part;

/// Writes one record (or a nested row) at the end of a buffer; fields that are not set stay zero.
///
/// Variable fields must be set in field order. A record longer than `i32::MAX` is refused by whoever writes its length.
pub(super) struct RecordWriter<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
}

/// Sets bytes that exist already.
fn put(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(target) = buffer.get_mut(at..at + bytes.len()) {
        target.copy_from_slice(bytes);
    }
}

/// Slot of a variable piece.
fn slot(offset: usize, len: usize) -> [u8; 8] {
    ((offset as u64) << 32 | (len as u64 & 0xffff_ffff)).to_le_bytes()
}

/// Slot of up to seven bytes; `None` when there are more.
fn inline_slot(bytes: &[u8]) -> Option<[u8; 8]> {
    if bytes.len() > 7 {
        return None;
    }
    let mut slot = [0; 8];
    put(&mut slot, 0, bytes);
    put(&mut slot, 7, &[0x80 | bytes.len() as u8]);
    Some(slot)
}

/// Appends a piece to the buffer, padded to eight bytes from `start`; gives its slot.
fn append_piece(buffer: &mut Vec<u8>, start: usize, write: impl FnOnce(&mut Vec<u8>)) -> [u8; 8] {
    let at = buffer.len();
    write(buffer);
    let len = buffer.len() - at;
    pad(buffer, start);
    slot(at - start, len)
}

fn pad(buffer: &mut Vec<u8>, start: usize) {
    let len = (buffer.len() - start).next_multiple_of(8);
    buffer.resize(start + len, 0);
}

impl<'b> RecordWriter<'b> {
    pub(super) fn new(buffer: &'b mut Vec<u8>, arity: usize) -> Self {
        let start = buffer.len();
        buffer.resize(start + fixed_part(arity), 0);
        RecordWriter { buffer, start }
    }

    fn set(&mut self, field: usize, bytes: &[u8]) {
        put(self.buffer, self.start + fixed_part(field), bytes);
    }

    pub(super) fn null(&mut self, field: usize) {
        let bit = field + 8;
        if let Some(byte) = self.buffer.get_mut(self.start + (bit >> 3)) {
            *byte |= 1 << (bit & 7);
        }
    }

    pub(super) fn i8(&mut self, field: usize, value: i8) {
        self.set(field, &value.to_le_bytes());
    }

    pub(super) fn i32(&mut self, field: usize, value: i32) {
        self.set(field, &value.to_le_bytes());
    }

    pub(super) fn i64(&mut self, field: usize, value: i64) {
        self.set(field, &value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, field: usize, value: &[u8]) {
        match inline_slot(value) {
            Some(slot) => self.set(field, &slot),
            None => self.piece(field, |buffer| buffer.extend_from_slice(value)),
        }
    }

    /// A row in the form "arity, row bytes".
    pub(super) fn row(&mut self, field: usize, row: &RowValues) {
        let row = row.encoded_row();
        self.piece(field, |buffer| {
            buffer.extend_from_slice(&(row.arity() as i32).to_be_bytes());
            buffer.extend_from_slice(row.as_bytes());
        });
    }

    /// A piece that `write` appends to the buffer: a nested record or an array.
    pub(super) fn piece(&mut self, field: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let slot = append_piece(self.buffer, self.start, write);
        self.set(field, &slot);
    }

    /// The field by `write`, or null.
    pub(super) fn optional<T>(
        &mut self,
        field: usize,
        value: Option<T>,
        write: impl FnOnce(&mut Self, usize, T),
    ) {
        match value {
            Some(value) => write(self, field, value),
            None => self.null(field),
        }
    }
}

/// Starts an array: count, null bits, zeroed elements, padding. Gives the position of the first element.
fn begin_array(buffer: &mut Vec<u8>, len: usize, element: usize) -> usize {
    let start = buffer.len();
    buffer.extend_from_slice(&(len as i32).to_le_bytes());
    let elements = start + 4 + len.div_ceil(32) * 4;
    buffer.resize(elements + len * element, 0);
    pad(buffer, start);
    elements
}

pub(super) fn i64_array(buffer: &mut Vec<u8>, values: &[i64]) {
    let at = begin_array(buffer, values.len(), 8);
    for (i, value) in values.iter().enumerate() {
        put(buffer, at + 8 * i, &value.to_le_bytes());
    }
}

pub(crate) fn opt_i64_array(buffer: &mut Vec<u8>, values: impl ExactSizeIterator<Item = Option<i64>>) {
    let start = buffer.len();
    let at = begin_array(buffer, values.len(), 8);
    for (i, value) in values.enumerate() {
        match value {
            Some(value) => put(buffer, at + 8 * i, &value.to_le_bytes()),
            None => {
                if let Some(byte) = buffer.get_mut(start + 4 + (i >> 3)) {
                    *byte |= 1 << (i & 7);
                }
            }
        }
    }
}

pub(super) fn i32_array(buffer: &mut Vec<u8>, values: &[i32]) {
    let at = begin_array(buffer, values.len(), 4);
    for (i, value) in values.iter().enumerate() {
        put(buffer, at + 4 * i, &value.to_le_bytes());
    }
}

pub(super) fn string_array<S: AsRef<str>>(buffer: &mut Vec<u8>, values: &[S]) {
    let start = buffer.len();
    let at = begin_array(buffer, values.len(), 8);
    for (i, value) in values.iter().enumerate() {
        let value = value.as_ref().as_bytes();
        let slot = inline_slot(value)
            .unwrap_or_else(|| append_piece(buffer, start, |buffer| buffer.extend_from_slice(value)));
        put(buffer, at + 8 * i, &slot);
    }
}

/// An array of rows, each appended by `write`.
pub(super) fn row_array<T>(buffer: &mut Vec<u8>, values: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    let start = buffer.len();
    let at = begin_array(buffer, values.len(), 8);
    for (i, value) in values.iter().enumerate() {
        let slot = append_piece(buffer, start, |buffer| write(buffer, value));
        put(buffer, at + 8 * i, &slot);
    }
}
