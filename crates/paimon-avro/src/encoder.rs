// SPDX-License-Identifier: Apache-2.0

//! Avro's binary encoding, writing side. Unions are always `["null", T]`, as in the schemas that we write.

/// Appends values to a buffer.
#[derive(Debug, Default)]
pub struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    /// Bytes as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// A `long`.
    #[inline]
    pub fn long(&mut self, value: i64) {
        let number = ((value << 1) ^ (value >> 63)) as u64;
        if number < 1 << 56 {
            // Groups of seven bits are drawn apart pair by pair; all are copied, whatever their number.
            let groups = (63 - (number | 1).leading_zeros() as usize) / 7;
            let spread = (number & 0x0fff_ffff) | (number & 0x00ff_ffff_f000_0000) << 4;
            let spread = (spread & 0x0000_3fff_0000_3fff) | (spread & 0x0fff_c000_0fff_c000) << 2;
            let spread = (spread & 0x007f_007f_007f_007f) | (spread & 0x3f80_3f80_3f80_3f80) << 1;
            let more = 0x8080_8080_8080_8080 & !(u64::MAX << (groups * 8));
            let end = self.out.len() + groups + 1;
            self.out.extend_from_slice(&(spread | more).to_le_bytes());
            self.out.truncate(end);
            return;
        }
        let mut rest = number;
        while rest > 0x7f {
            self.out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.out.push(rest as u8);
    }

    /// An `int`.
    #[inline]
    pub fn int(&mut self, value: i32) {
        self.long(i64::from(value));
    }

    /// A `boolean`.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.out.push(u8::from(value));
    }

    /// `bytes`: a length and the bytes.
    #[inline]
    pub fn bytes(&mut self, value: &[u8]) {
        self.long(value.len() as i64);
        self.raw(value);
    }

    /// `bytes` that are a number in the fewest big-endian bytes of two's complement (Java `BigInteger.toByteArray`).
    #[inline]
    pub fn decimal(&mut self, value: i128) {
        let bytes = value.to_be_bytes();
        // One bit of the first byte is the sign.
        let bits = if value < 0 {
            (!value).leading_zeros()
        } else {
            value.leading_zeros()
        };
        let spare = (bits as usize).saturating_sub(1) / 8;
        self.bytes(bytes.get(spare..).unwrap_or(&bytes));
    }

    /// A `string`.
    #[inline]
    pub fn string(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// `["null", T]`.
    pub fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.long(0),
            Some(value) => {
                self.long(1);
                write(self, value);
            }
        }
    }

    /// An array in one block.
    pub fn array<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        if !items.is_empty() {
            self.long(items.len() as i64);
            for item in items {
                write(self, item);
            }
        }
        self.long(0);
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// True when nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Bytes that the buffer has room for.
    pub fn capacity(&self) -> usize {
        self.out.capacity()
    }

    /// What was appended.
    pub fn as_bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was appended and keeps the buffer.
    pub fn clear(&mut self) {
        self.out.clear();
    }

    /// The buffer.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }
}
