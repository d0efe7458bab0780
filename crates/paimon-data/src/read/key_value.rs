// SPDX-License-Identifier: Apache-2.0

//! What a read knows about the files of a table with a primary key (`data-files.md` 1.3): their system columns, and how versions of
//! a key are ordered and merged. Keys are taken from the value columns, so files without `_KEY_` columns are no special case.

use std::sync::Arc;

use paimon_merge::{MergeMode, merge_function, merge_read_fields};
use paimon_types::{
    ChangelogProducer, CoreOptions, DataField, DataType, Error, MergeEngine, Predicate, Result, SortOrder,
    TableSchema, TypeKind,
};

/// Name of the column of row kinds, in files and in what is read.
pub(crate) const KIND: &str = "_VALUE_KIND";
const KIND_ID: i32 = 2_147_483_645;
const SEQUENCE: &str = "_SEQUENCE_NUMBER";
const SEQUENCE_ID: i32 = 2_147_483_646;

/// The column of row kinds.
pub(crate) fn kind_field() -> DataField {
    DataField::new(KIND_ID, KIND, DataType::required(TypeKind::TinyInt))
}

/// The column of sequence numbers.
pub(crate) fn sequence_field() -> DataField {
    DataField::new(SEQUENCE_ID, SEQUENCE, DataType::required(TypeKind::BigInt))
}

/// Whether the byte of a kind is that of −U or −D.
pub(crate) fn is_retract(kind: i8) -> bool {
    kind & 1 == 1
}

/// How the versions of a key are merged.
#[derive(Clone, Debug)]
pub(crate) struct KeyValueMerge {
    /// Columns to read from files that are merged: those of the read, what the merge function needs, sequence columns, keys.
    pub(crate) read: Vec<DataField>,
    /// How many of `read` the merge keeps; the ones of the read are first.
    pub(crate) merged: usize,
    /// Places of the key columns in `read`.
    pub(crate) keys: Vec<usize>,
    /// Places of the user sequence columns.
    pub(crate) sequence: Vec<usize>,
    pub(crate) descending: bool,
    /// Rows of appended files are as new as the snapshot that brought the file.
    pub(crate) snapshot_ordering: bool,
    /// Of the versions above level 0 only that of the lowest level counts.
    pub(crate) one_above_level_0: bool,
    pub(crate) mode: MergeMode,
}

impl KeyValueMerge {
    /// The merge for a read of the columns `read`. `prepare` makes a column of the table one of the read.
    ///
    /// # Errors
    /// `InvalidInput` for options that the merge engine does not take, `Unsupported` for what is not implemented.
    pub(crate) fn new(
        schema: &TableSchema,
        options: &CoreOptions,
        read: &[DataField],
        prepare: &dyn Fn(DataField) -> Result<DataField>,
    ) -> Result<Self> {
        let of = |name: &str| {
            let field = schema.field(name).cloned();
            let unknown = || Error::invalid(format!("the table has no column '{name}'")).with("column", name);
            field.ok_or_else(unknown).and_then(prepare)
        };
        let mut all = read.to_vec();
        let mode = match options.merge_engine {
            MergeEngine::Deduplicate => MergeMode::Deduplicate {
                ignore_delete: options.ignore_delete,
            },
            MergeEngine::FirstRow => MergeMode::FirstRow {
                ignore_delete: options.ignore_delete,
            },
            MergeEngine::PartialUpdate | MergeEngine::Aggregation => {
                for field in merge_read_fields(schema, options, read)? {
                    all.push(prepare(field)?);
                }
                MergeMode::Function(Arc::from(merge_function(schema, options, &all)?))
            }
        };
        let merged = all.len();
        let mut place = |field: DataField| place_in(&mut all, field);
        let names = options.sequence_field.clone().unwrap_or_default();
        let sequence = names.iter().map(|name| of(name.trim()).map(&mut place));
        let sequence = sequence.collect::<Result<_>>()?;
        let keys = schema.trimmed_primary_keys();
        let keys = keys.into_iter().map(|name| of(name).map(&mut place));
        let keys = keys.collect::<Result<_>>()?;
        Ok(KeyValueMerge {
            read: all,
            merged,
            keys,
            sequence,
            descending: options.sequence_field_sort_order == SortOrder::Descending,
            one_above_level_0: looks_up(options),
            snapshot_ordering: options.sequence_snapshot_ordering,
            mode,
        })
    }
}

/// The place of a column in `fields`, which gets it when it is missing.
pub(super) fn place_in(fields: &mut Vec<DataField>, field: DataField) -> usize {
    let place = fields.iter().position(|f| f.id == field.id);
    place.unwrap_or_else(|| {
        fields.push(field);
        fields.len() - 1
    })
}

/// Whether compaction looks older versions of a key up in higher levels (Java `CoreOptions.needLookup`), so that a file holds what
/// was merged with the levels above it. Tables of merge engine first-row do so too, but their merge does not care.
fn looks_up(options: &CoreOptions) -> bool {
    let producer = options.changelog_producer == ChangelogProducer::Lookup;
    options.merge_engine != MergeEngine::FirstRow
        && (producer || options.deletion_vectors_enabled || options.force_lookup)
}

/// The part of a predicate that can be asked of files whose rows are merged: all versions of a key answer it alike.
pub(crate) fn on_keys(predicate: &Predicate, schema: &TableSchema) -> Option<Predicate> {
    let names = schema.trimmed_primary_keys();
    let keys: Vec<i32> = names
        .iter()
        .filter_map(|name| schema.field(name))
        .map(|f| f.id)
        .collect();
    let conjuncts = predicate.clone().split_conjuncts().into_iter();
    let mut of_keys = conjuncts
        .filter(|c| {
            let columns = c.columns();
            !columns.is_empty() && columns.iter().all(|id| keys.contains(id))
        })
        .peekable();
    of_keys.peek()?;
    Some(Predicate::and(of_keys))
}
