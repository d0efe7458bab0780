// SPDX-License-Identifier: Apache-2.0

//! One entry of an index manifest (Java `IndexManifestEntry`; `metadata.md` 4.4).

use paimon_protocol::{IndexFileMeta, Partition};

use super::FileKind;

/// An index file of a bucket. An index manifest holds the complete current state, ADD entries only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexManifestEntry {
    /// ADD in a file; DELETE only as a change that is applied to the previous state.
    pub kind: FileKind,
    /// The partition; [`Partition::unpartitioned`] for tables without partition columns.
    pub partition: Partition,
    /// Bucket number.
    pub bucket: i32,
    /// The index file.
    pub index_file: IndexFileMeta,
}
