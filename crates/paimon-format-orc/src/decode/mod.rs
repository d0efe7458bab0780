// SPDX-License-Identifier: Apache-2.0

//! Decoders of the encodings of ORC: compression chunks, run lengths, numbers, times. They know neither files nor the
//! tables above, only bytes, and are total: whatever the bytes are, they end with values or with an error, and reserve no
//! more than the bytes can hold.

mod bits;
mod byte_rle;
mod bytes;
mod codec;
mod int_rle;
mod lzo;
#[cfg(test)]
mod tests;
mod values;
mod zone;

pub(crate) use self::byte_rle::{BitDecoder, ByteDecoder};
pub(crate) use self::bytes::{ByteStream, Positions, StreamBytes};
pub(crate) use self::codec::{Codec, decompress_all};
pub(crate) use self::int_rle::{IntDecoder, Ints};
pub(crate) use self::values::{nanos_of, read_decimals, read_floats, skip_decimals};
pub(crate) use self::zone::{ORC_EPOCH_SECONDS, Zone};
