// SPDX-License-Identifier: Apache-2.0

//! The bincode bodies: private mirrors of the public structs, borrowed from them and from the input.
//!
//! Field order is the format. Fields are only ever appended to the outermost struct of a frame; any other change needs a new
//! minimum reader version (`docs/protocol.md`).

use std::ops::Range;

use bincode::de::read::Reader;
use bincode::de::{BorrowDecode, BorrowDecoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

use crate::NullCounts;

/// What the short lists of all file records are decoded into, so that a record allocates none of its own.
pub(super) struct Arena<'a> {
    /// `BinaryArray`s of null counts.
    pub(super) counts: Vec<u8>,
    /// Names of files and columns.
    pub(super) names: Vec<&'a str>,
    /// Splits within splits that may still follow.
    pub(super) depth: usize,
}

impl Default for Arena<'_> {
    fn default() -> Self {
        Arena {
            counts: Vec::new(),
            names: Vec::new(),
            depth: super::MAX_DEPTH,
        }
    }
}

/// A value and the arena that its lists refer to.
pub(super) struct Whole<'a, T>(pub(super) T, pub(super) Arena<'a>);

impl<'a, T: BorrowDecode<'a, Arena<'a>>> BorrowDecode<'a, Arena<'a>> for Whole<'a, T> {
    fn borrow_decode<D: BorrowDecoder<'a, Context = Arena<'a>>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        let value = T::borrow_decode(decoder)?;
        Ok(Whole(value, std::mem::take(decoder.context())))
    }
}

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

/// Null counts: a list of optional i64.
pub(super) enum Counts<'a> {
    /// Counts to write.
    Of(&'a NullCounts),
    /// The array that was read, in [`Arena::counts`].
    Read(Range<usize>),
}

impl Encode for Counts<'_> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let Counts::Of(counts) = self else {
            return Err(EncodeError::Other("counts that were read are not written"));
        };
        (counts.len() as u64).encode(encoder)?;
        counts.iter().try_for_each(|count| count.encode(encoder))
    }
}

impl<'a> BorrowDecode<'a, Arena<'a>> for Counts<'a> {
    fn borrow_decode<D: BorrowDecoder<'a, Context = Arena<'a>>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        let count = u64::borrow_decode(decoder)?;
        let len = usize::try_from(count)
            .ok()
            .filter(|len| i32::try_from(*len).is_ok() && decoder.borrow_reader().peek_read(*len).is_some());
        let Some(len) = len else {
            return Err(DecodeError::Other("more null counts than bytes"));
        };
        let start = decoder.context().counts.len();
        // Every count takes a byte of the input at least, so this is at most some nine times its length.
        let header = 4 + len.div_ceil(32) * 4;
        let counts = &mut decoder.context().counts;
        counts.extend_from_slice(&(len as i32).to_le_bytes());
        counts.resize(start + header + 8 * len, 0);
        for index in 0..len {
            let count = Option::<i64>::borrow_decode(decoder)?;
            let counts = &mut decoder.context().counts;
            match count {
                Some(count) => {
                    let at = start + header + 8 * index;
                    if let Some(slot) = counts.get_mut(at..at + 8) {
                        slot.copy_from_slice(&count.to_le_bytes());
                    }
                }
                None => {
                    if let Some(byte) = counts.get_mut(start + 4 + (index >> 3)) {
                        *byte |= 1 << (index & 7);
                    }
                }
            }
        }
        Ok(Counts::Read(start..start + header + 8 * len))
    }
}

/// Names of files or columns: a list of text.
pub(super) enum Names<'a> {
    /// Names to write.
    Of(&'a [String]),
    /// The names that were read, in [`Arena::names`].
    Read(Range<usize>),
}

impl Encode for Names<'_> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let Names::Of(names) = self else {
            return Err(EncodeError::Other("names that were read are not written"));
        };
        (names.len() as u64).encode(encoder)?;
        names.iter().try_for_each(|name| name.as_str().encode(encoder))
    }
}

impl<'a> BorrowDecode<'a, Arena<'a>> for Names<'a> {
    fn borrow_decode<D: BorrowDecoder<'a, Context = Arena<'a>>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        let count = u64::borrow_decode(decoder)?;
        let start = decoder.context().names.len();
        for _ in 0..count {
            let name = <&str>::borrow_decode(decoder)?;
            decoder.context().names.push(name);
        }
        Ok(Names::Read(start..decoder.context().names.len()))
    }
}

/// A split of any kind: one byte with Java's number of the kind, then its fields.
pub(super) enum AnySplit<'a> {
    Data(SplitBody<'a>),
    Incremental(IncrementalBody<'a>),
    Indexed(IndexedBody<'a>),
    Chain(ChainBody<'a>),
    QueryAuth(Box<AnySplit<'a>>, Option<AuthBody<'a>>),
    FallbackData(SplitBody<'a>, bool),
    Fallback(Box<AnySplit<'a>>, bool),
}

impl Encode for AnySplit<'_> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            AnySplit::Data(split) => (1u8, split).encode(encoder),
            AnySplit::Incremental(split) => (2u8, split).encode(encoder),
            AnySplit::Indexed(split) => (3u8, split).encode(encoder),
            AnySplit::Chain(split) => (4u8, split).encode(encoder),
            AnySplit::QueryAuth(split, auth) => {
                5u8.encode(encoder)?;
                split.encode(encoder)?;
                auth.encode(encoder)
            }
            AnySplit::FallbackData(split, is_fallback) => (6u8, split, is_fallback).encode(encoder),
            AnySplit::Fallback(split, is_fallback) => {
                7u8.encode(encoder)?;
                split.encode(encoder)?;
                is_fallback.encode(encoder)
            }
        }
    }
}

impl<'a> BorrowDecode<'a, Arena<'a>> for AnySplit<'a> {
    fn borrow_decode<D: BorrowDecoder<'a, Context = Arena<'a>>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        let inner = |decoder: &mut D| {
            let depth = decoder.context().depth;
            decoder.context().depth = depth
                .checked_sub(1)
                .ok_or(DecodeError::Other("splits are nested too deep"))?;
            AnySplit::borrow_decode(decoder).map(Box::new)
        };
        Ok(match u8::borrow_decode(decoder)? {
            1 => AnySplit::Data(BorrowDecode::borrow_decode(decoder)?),
            2 => AnySplit::Incremental(BorrowDecode::borrow_decode(decoder)?),
            3 => AnySplit::Indexed(BorrowDecode::borrow_decode(decoder)?),
            4 => AnySplit::Chain(BorrowDecode::borrow_decode(decoder)?),
            5 => AnySplit::QueryAuth(inner(decoder)?, BorrowDecode::borrow_decode(decoder)?),
            6 => AnySplit::FallbackData(
                BorrowDecode::borrow_decode(decoder)?,
                bool::borrow_decode(decoder)?,
            ),
            7 => AnySplit::Fallback(inner(decoder)?, bool::borrow_decode(decoder)?),
            other => {
                let message = format!("unknown split type {other}, this build knows types 1 to 7");
                return Err(DecodeError::OtherString(message));
            }
        })
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

        impl<'a> BorrowDecode<'a, Arena<'a>> for $name<'a> {
            fn borrow_decode<D: BorrowDecoder<'a, Context = Arena<'a>>>(decoder: &mut D) -> Result<Self, DecodeError> {
                Ok($name { $($field: BorrowDecode::borrow_decode(decoder)?,)* })
            }
        }
    )*};
}

fields_in_order! {
    /// A whole plan.
    pub(super) struct PlanBody<'a> {
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

    /// One split.
    pub(super) struct OneSplitBody<'a> {
        pub(super) split: AnySplit<'a>,
    }

    /// A list of commit messages.
    pub(super) struct MessagesBody<'a> {
        pub(super) messages: List<MessageBody<'a>>,
    }

    /// A list of bucket states.
    pub(super) struct StatesBody<'a> {
        pub(super) states: List<StateBody<'a>>,
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

    pub(super) struct IncrementalBody<'a> {
        pub(super) snapshot_id: i64,
        pub(super) partition: RowBody<'a>,
        pub(super) bucket: i32,
        pub(super) total_buckets: i32,
        pub(super) before_files: List<FileBody<'a>>,
        pub(super) before_deletion_files: Option<List<Option<DeletionBody<'a>>>>,
        pub(super) after_files: List<FileBody<'a>>,
        pub(super) after_deletion_files: Option<List<Option<DeletionBody<'a>>>>,
        pub(super) is_streaming: bool,
    }

    pub(super) struct IndexedBody<'a> {
        pub(super) split: SplitBody<'a>,
        pub(super) row_ranges: List<(i64, i64)>,
        pub(super) scores: Option<List<f32>>,
    }

    pub(super) struct ChainBody<'a> {
        pub(super) logical_partition: RowBody<'a>,
        pub(super) data_files: List<FileBody<'a>>,
        pub(super) file_bucket_paths: List<(&'a str, &'a str)>,
        pub(super) file_branches: List<(&'a str, &'a str)>,
        pub(super) deletion_files: Option<List<Option<DeletionBody<'a>>>>,
    }

    pub(super) struct AuthBody<'a> {
        pub(super) filter: Option<List<Option<&'a str>>>,
        pub(super) column_masking: Option<List<(&'a str, Option<&'a str>)>>,
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
        pub(super) null_counts: Counts<'a>,
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
        pub(super) extra_files: Names<'a>,
        pub(super) creation_time: Option<i64>,
        pub(super) delete_row_count: Option<i64>,
        pub(super) embedded_index: Option<&'a [u8]>,
        /// 0 append, 1 compact.
        pub(super) file_source: Option<u8>,
        pub(super) value_stats_cols: Option<Names<'a>>,
        pub(super) external_path: Option<&'a str>,
        pub(super) first_row_id: Option<i64>,
        pub(super) write_cols: Option<Names<'a>>,
        pub(super) write_cols_sequences: Option<List<i64>>,
    }

    pub(super) struct IndexBody<'a> {
        pub(super) index_type: &'a str,
        pub(super) file_name: &'a str,
        pub(super) file_size: i64,
        pub(super) row_count: i64,
        pub(super) dv_ranges: Option<List<VectorBody<'a>>>,
        pub(super) external_path: Option<&'a str>,
        pub(super) global_index: Option<GlobalBody<'a>>,
    }

    pub(super) struct VectorBody<'a> {
        pub(super) data_file_name: &'a str,
        pub(super) offset: i32,
        pub(super) length: i32,
        pub(super) cardinality: Option<i64>,
    }

    pub(super) struct GlobalBody<'a> {
        pub(super) row_range_start: i64,
        pub(super) row_range_end: i64,
        pub(super) index_field_id: i32,
        pub(super) extra_field_ids: Option<List<i32>>,
        pub(super) index_meta: Option<&'a [u8]>,
        pub(super) source_meta: Option<&'a [u8]>,
    }

    pub(super) struct IncrementBody<'a> {
        pub(super) new_files: List<FileBody<'a>>,
        pub(super) deleted_files: List<FileBody<'a>>,
        pub(super) changelog_files: List<FileBody<'a>>,
        pub(super) new_index_files: List<IndexBody<'a>>,
        pub(super) deleted_index_files: List<IndexBody<'a>>,
    }

    pub(super) struct MessageBody<'a> {
        pub(super) partition: RowBody<'a>,
        pub(super) bucket: i32,
        pub(super) total_buckets: Option<i32>,
        pub(super) data_increment: IncrementBody<'a>,
        pub(super) compact_increment: IncrementBody<'a>,
        pub(super) check_from_snapshot: Option<i64>,
    }

    pub(super) struct StateBody<'a> {
        pub(super) snapshot_id: Option<i64>,
        pub(super) partition: RowBody<'a>,
        pub(super) bucket: i32,
        pub(super) total_buckets: Option<i32>,
        pub(super) max_sequence_number: Option<i64>,
        pub(super) data_files: Option<List<FileBody<'a>>>,
        pub(super) hash_index: Option<IndexBody<'a>>,
        pub(super) deletion_vectors: List<IndexBody<'a>>,
    }
}
