// SPDX-License-Identifier: Apache-2.0

//! The bincode body of a plan: private mirrors of the public structs, borrowed from them and from the input.
//!
//! Field order is the format. Fields are only ever appended to [`Body`]; any other change needs a new minimum reader
//! version (`docs/protocol.md`).

use bincode::de::{BorrowDecode, BorrowDecoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

/// A sequence: u64 count, then the items.
///
/// Grows while it is read and never reserves for a count from the input: an item takes at least one byte there.
pub(super) struct List<T>(pub(super) Vec<T>);

impl<T: Encode> Encode for List<T> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (self.0.len() as u64).encode(encoder)?;
        self.0.iter().try_for_each(|item| item.encode(encoder))
    }
}

impl<'de, C, T: BorrowDecode<'de, C>> BorrowDecode<'de, C> for List<T> {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let count = u64::borrow_decode(decoder)?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(T::borrow_decode(decoder)?);
        }
        Ok(List(items))
    }
}

/// A struct whose form is its fields one after the other, without the derive macros of bincode and what they build.
macro_rules! fields_in_order {
    ($($(#[$doc:meta])* pub(super) struct $name:ident<'a> { $($(#[$field_doc:meta])* pub(super) $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        pub(super) struct $name<'a> {
            $($(#[$field_doc])* pub(super) $field: $type,)*
        }

        impl Encode for $name<'_> {
            fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
                $(self.$field.encode(encoder)?;)*
                Ok(())
            }
        }

        impl<'a, C> BorrowDecode<'a, C> for $name<'a> {
            fn borrow_decode<D: BorrowDecoder<'a, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
                Ok($name { $($field: BorrowDecode::borrow_decode(decoder)?,)* })
            }
        }
    )*};
}

fields_in_order! {
    /// A whole plan.
    pub(super) struct Body<'a> {
        pub(super) location: &'a str,
        pub(super) branch: &'a str,
        pub(super) snapshot_id: Option<i64>,
        /// Schema file text.
        pub(super) read_schema: &'a str,
        /// Schema file texts.
        pub(super) schemas: List<&'a str>,
        pub(super) options: List<(&'a str, &'a str)>,
        pub(super) splits: List<SplitBody<'a>>,
    }

    /// Row bytes; the empty row has no bytes.
    pub(super) struct RowBody<'a> {
        pub(super) arity: u32,
        pub(super) bytes: &'a [u8],
    }

    pub(super) struct SplitBody<'a> {
        pub(super) snapshot_id: i64,
        pub(super) partition: RowBody<'a>,
        pub(super) bucket: i32,
        pub(super) bucket_path: &'a str,
        pub(super) total_buckets: Option<i32>,
        pub(super) data_files: List<FileBody<'a>>,
        pub(super) deletion_files: Option<List<Option<DeletionBody<'a>>>>,
        pub(super) is_streaming: bool,
        pub(super) raw_convertible: bool,
    }

    pub(super) struct DeletionBody<'a> {
        pub(super) path: &'a str,
        pub(super) offset: i64,
        pub(super) length: i64,
        pub(super) cardinality: Option<i64>,
    }

    pub(super) struct StatsBody<'a> {
        pub(super) min_values: RowBody<'a>,
        pub(super) max_values: RowBody<'a>,
        pub(super) null_counts: List<Option<i64>>,
    }

    pub(super) struct FileBody<'a> {
        pub(super) file_name: &'a str,
        pub(super) file_size: i64,
        pub(super) row_count: i64,
        pub(super) min_key: RowBody<'a>,
        pub(super) max_key: RowBody<'a>,
        pub(super) key_stats: StatsBody<'a>,
        pub(super) value_stats: StatsBody<'a>,
        pub(super) min_sequence_number: i64,
        pub(super) max_sequence_number: i64,
        pub(super) schema_id: i64,
        pub(super) level: i32,
        pub(super) extra_files: List<&'a str>,
        pub(super) creation_time: Option<i64>,
        pub(super) delete_row_count: Option<i64>,
        pub(super) embedded_index: Option<&'a [u8]>,
        /// 0 append, 1 compact.
        pub(super) file_source: Option<u8>,
        pub(super) value_stats_cols: Option<List<&'a str>>,
        pub(super) external_path: Option<&'a str>,
        pub(super) first_row_id: Option<i64>,
        pub(super) write_cols: Option<List<&'a str>>,
        pub(super) write_cols_sequences: Option<List<i64>>,
    }
}
