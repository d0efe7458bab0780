// SPDX-License-Identifier: Apache-2.0

//! Protocol buffer messages of ORC files, written field by field.

/// A message that is being put together. Fields come out in the order of the calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        varint(u64::from(field << 3 | wire_type), &mut self.bytes);
    }

    /// `uint32`, `uint64`, enums and non-negative `int32`.
    pub(super) fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, VARINT);
        varint(value, &mut self.bytes);
        self
    }

    /// `sint32` and `sint64`.
    pub(super) fn sint(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, zigzag(value))
    }

    pub(super) fn bool(&mut self, field: u32, value: bool) -> &mut Self {
        self.uint(field, u64::from(value))
    }

    pub(super) fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.key(field, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// `string`, `bytes` and encoded messages.
    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.key(field, LENGTH_DELIMITED);
        varint(value.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(value);
        self
    }

    pub(super) fn message(&mut self, field: u32, value: &Message) -> &mut Self {
        self.bytes(field, &value.bytes)
    }

    /// A packed repeated field of unsigned integers; nothing when there are none.
    pub(super) fn packed(&mut self, field: u32, values: &[u64]) -> &mut Self {
        if !values.is_empty() {
            let mut packed = Vec::with_capacity(values.len() * 2);
            for value in values {
                varint(*value, &mut packed);
            }
            self.bytes(field, &packed);
        }
        self
    }
}

/// Base 128 number, least significant group first.
pub(super) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// [`varint`] of more bits.
pub(super) fn varint_wide(mut value: u128, out: &mut Vec<u8>) {
    while value > u128::from(u64::MAX) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    varint(value as u64, out);
}

/// Small magnitudes become small unsigned numbers.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// [`zigzag`] of more bits.
pub(super) fn zigzag_wide(value: i128) -> u128 {
    ((value << 1) ^ (value >> 127)) as u128
}
