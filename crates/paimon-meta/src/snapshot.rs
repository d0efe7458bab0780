// SPDX-License-Identifier: Apache-2.0

//! The snapshot file (Java `Snapshot`; `metadata.md` 3.1).

use std::collections::BTreeMap;
use std::fmt;

use paimon_types::{Error, Result};
use serde::Deserialize;

use crate::json::ObjectWriter;

/// What kind of commit made a snapshot (Java `Snapshot.CommitKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitKind {
    /// New files only.
    Append,
    /// Files rewritten, the rows stay the same.
    Compact,
    /// Files or rows were removed.
    Overwrite,
    /// Statistics were attached.
    Analyze,
}

impl CommitKind {
    /// The text in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            CommitKind::Append => "APPEND",
            CommitKind::Compact => "COMPACT",
            CommitKind::Overwrite => "OVERWRITE",
            CommitKind::Analyze => "ANALYZE",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        match text {
            "APPEND" => Ok(CommitKind::Append),
            "COMPACT" => Ok(CommitKind::Compact),
            "OVERWRITE" => Ok(CommitKind::Overwrite),
            "ANALYZE" => Ok(CommitKind::Analyze),
            other => Err(Error::unsupported(format!(
                "commit kind {other:?} is unknown; known are APPEND, COMPACT, OVERWRITE and ANALYZE"
            ))),
        }
    }
}

impl fmt::Display for CommitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One committed state of a table: the content of `snapshot/snapshot-<id>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Format version of the file: 1 to 3, 3 when written.
    pub version: i32,
    /// Random id of this snapshot; `None` in old files.
    pub uuid: Option<String>,
    /// Snapshot id, from 1.
    pub id: i64,
    /// Latest schema at the time of the commit.
    pub schema_id: i64,
    /// Manifest list of what was inherited, a name in the manifest directory.
    pub base_manifest_list: String,
    /// Bytes of that list; `None` in old files.
    pub base_manifest_list_size: Option<i64>,
    /// Manifest list of what this commit changed.
    pub delta_manifest_list: String,
    /// Bytes of that list; `None` in old files.
    pub delta_manifest_list_size: Option<i64>,
    /// Manifest list of changelog files, when the commit has some.
    pub changelog_manifest_list: Option<String>,
    /// Bytes of that list.
    pub changelog_manifest_list_size: Option<i64>,
    /// Index manifest: the full state of index files.
    pub index_manifest: Option<String>,
    /// Who committed; identifies retries together with `commit_identifier` and `commit_kind`.
    pub commit_user: String,
    /// Product and version that wrote the snapshot.
    pub writer_version: Option<String>,
    /// Number given by the committer, [`i64::MAX`] for batch jobs.
    pub commit_identifier: i64,
    /// Kind of the commit.
    pub commit_kind: CommitKind,
    /// Epoch milliseconds of the commit.
    pub time_millis: i64,
    /// Physical rows of all live files.
    pub total_record_count: i64,
    /// Rows added minus rows removed by this commit.
    pub delta_record_count: i64,
    /// Rows of changelog files.
    pub changelog_record_count: Option<i64>,
    /// Watermark in epoch milliseconds; Java's `Long.MIN_VALUE` in the file means none, as null does.
    pub watermark: Option<i64>,
    /// Statistics file, a name in the statistics directory.
    pub statistics: Option<String>,
    /// Free properties.
    pub properties: BTreeMap<String, String>,
    /// Next row id of row tracking; `None` in old files.
    pub next_row_id: Option<i64>,
    /// What the engine did, e.g. `WRITE` or `TRUNCATE`; any text, for information only.
    pub operation: Option<String>,
}

/// The file as it is read: keys of all versions, unknown keys (`logOffsets`) ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotFile {
    version: Option<i32>,
    uuid: Option<String>,
    id: Option<i64>,
    schema_id: Option<i64>,
    base_manifest_list: Option<String>,
    base_manifest_list_size: Option<i64>,
    delta_manifest_list: Option<String>,
    delta_manifest_list_size: Option<i64>,
    changelog_manifest_list: Option<String>,
    changelog_manifest_list_size: Option<i64>,
    index_manifest: Option<String>,
    commit_user: Option<String>,
    writer_version: Option<String>,
    commit_identifier: Option<i64>,
    commit_kind: Option<String>,
    time_millis: Option<i64>,
    total_record_count: Option<i64>,
    delta_record_count: Option<i64>,
    changelog_record_count: Option<i64>,
    watermark: Option<i64>,
    statistics: Option<String>,
    properties: Option<BTreeMap<String, String>>,
    next_row_id: Option<i64>,
    operation: Option<String>,
}

impl Snapshot {
    /// Version that is written.
    pub const CURRENT_VERSION: i32 = 3;

    /// Parses a snapshot file of any version: nulls and missing optional keys alike, unknown keys ignored.
    ///
    /// # Errors
    /// `Corrupt` for malformed JSON or a missing key that every version has; `Unsupported` for a newer version or an
    /// unknown commit kind.
    pub fn from_json(text: &str) -> Result<Self> {
        let file: SnapshotFile = serde_json::from_str(text)
            .map_err(|e| Error::corrupt("snapshot file is not the JSON object expected").with_source(e))?;
        let version = file.version.unwrap_or(1);
        if !(1..=Self::CURRENT_VERSION).contains(&version) {
            return Err(Error::unsupported(format!(
                "snapshot version {version} is unknown; known are 1 to {}",
                Self::CURRENT_VERSION
            )));
        }
        Ok(Snapshot {
            version,
            uuid: file.uuid,
            id: required("id", file.id)?,
            schema_id: required("schemaId", file.schema_id)?,
            base_manifest_list: required("baseManifestList", file.base_manifest_list)?,
            base_manifest_list_size: file.base_manifest_list_size,
            delta_manifest_list: required("deltaManifestList", file.delta_manifest_list)?,
            delta_manifest_list_size: file.delta_manifest_list_size,
            changelog_manifest_list: file.changelog_manifest_list,
            changelog_manifest_list_size: file.changelog_manifest_list_size,
            index_manifest: file.index_manifest,
            commit_user: required("commitUser", file.commit_user)?,
            writer_version: file.writer_version,
            commit_identifier: required("commitIdentifier", file.commit_identifier)?,
            commit_kind: CommitKind::parse(&required("commitKind", file.commit_kind)?)?,
            time_millis: required("timeMillis", file.time_millis)?,
            total_record_count: file.total_record_count.unwrap_or(0),
            delta_record_count: file.delta_record_count.unwrap_or(0),
            changelog_record_count: file.changelog_record_count,
            watermark: file.watermark.filter(|w| *w != i64::MIN),
            statistics: file.statistics,
            properties: file.properties.unwrap_or_default(),
            next_row_id: file.next_row_id,
            operation: file.operation,
        })
    }

    /// Writes the file as Java does: key order of Java 2.1, `"key" : value`, optional keys left out when null.
    pub fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        self.write_fields(&mut object);
        object.finish()
    }

    pub(crate) fn write_fields(&self, object: &mut ObjectWriter) {
        object
            .raw("version", self.version)
            .string_some("uuid", self.uuid.as_deref())
            .raw("id", self.id)
            .raw("schemaId", self.schema_id)
            .string("baseManifestList", &self.base_manifest_list)
            .raw_some("baseManifestListSize", self.base_manifest_list_size)
            .string("deltaManifestList", &self.delta_manifest_list)
            .raw_some("deltaManifestListSize", self.delta_manifest_list_size)
            .string_some("changelogManifestList", self.changelog_manifest_list.as_deref())
            .raw_some("changelogManifestListSize", self.changelog_manifest_list_size)
            .string_some("indexManifest", self.index_manifest.as_deref())
            .string("commitUser", &self.commit_user)
            .string_some("writerVersion", self.writer_version.as_deref())
            .raw("commitIdentifier", self.commit_identifier)
            .string("commitKind", self.commit_kind.as_str())
            .raw("timeMillis", self.time_millis)
            .raw("totalRecordCount", self.total_record_count)
            .raw("deltaRecordCount", self.delta_record_count)
            .raw_some("changelogRecordCount", self.changelog_record_count)
            .raw_some("watermark", self.watermark)
            .string_some("statistics", self.statistics.as_deref())
            .string_map("properties", &self.properties)
            .raw_some("nextRowId", self.next_row_id)
            .string_some("operation", self.operation.as_deref());
    }
}

fn required<T>(key: &'static str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::corrupt(format!("snapshot file has no value for {key:?}")))
}

#[cfg(test)]
mod tests;
