// SPDX-License-Identifier: Apache-2.0

//! Avro's binary encoding, writing side. Unions are always `["null", T]`, as in the schemas that we write.

/// Appends values to a buffer.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub(crate) fn long(&mut self, value: i64) {
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        while rest > 0x7f {
            self.out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.out.push(rest as u8);
    }

    pub(crate) fn int(&mut self, value: i32) {
        self.long(i64::from(value));
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.long(value.len() as i64);
        self.raw(value);
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// `["null", T]`.
    pub(crate) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.long(0),
            Some(value) => {
                self.long(1);
                write(self, value);
            }
        }
    }

    /// An array in one block.
    pub(crate) fn array<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        if !items.is_empty() {
            self.long(items.len() as i64);
            for item in items {
                write(self, item);
            }
        }
        self.long(0);
    }

    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.out
    }

    pub(crate) fn clear(&mut self) {
        self.out.clear();
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}
