// SPDX-License-Identifier: Apache-2.0

//! The commit messages of one checkpoint or batch job (Java `ManifestCommittable`; `wire.md` 9.2).

use std::collections::BTreeMap;

use crate::CommitMessage;

/// Everything that one commit publishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestCommittable {
    /// Commit identifier, ascending per commit user; `i64::MAX` for batch jobs.
    pub identifier: i64,
    /// Event-time watermark in milliseconds.
    pub watermark: Option<i64>,
    /// Offset per bucket of an external log; only releases before 1.4 wrote them, nobody uses them.
    pub log_offsets: BTreeMap<i32, i64>,
    /// Properties of the snapshot.
    pub properties: BTreeMap<String, String>,
    /// What the writers did.
    pub messages: Vec<CommitMessage>,
}
