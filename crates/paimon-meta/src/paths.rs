// SPDX-License-Identifier: Apache-2.0

//! Names of metadata files below a table location (`metadata.md` 1).

use paimon_storage::Storage;
use paimon_types::Result;

/// Name of the main branch.
pub const MAIN_BRANCH: &str = "main";

/// Paths of one branch of one table. Schemas, snapshots and tags live per branch; everything else in the main root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePaths {
    root: String,
    branch_root: String,
}

impl TablePaths {
    /// Paths for `branch` of the table at `location`.
    pub fn new(location: &str, branch: &str) -> Self {
        let root = trim_location(location).to_string();
        let branch_root = if branch == MAIN_BRANCH {
            root.clone()
        } else {
            format!("{root}/branch/branch-{branch}")
        };
        TablePaths { root, branch_root }
    }

    /// The table location without trailing slash.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Where schema, snapshot and tag directories of the branch are.
    pub fn branch_root(&self) -> &str {
        &self.branch_root
    }

    /// Directory of schema files.
    pub fn schema_dir(&self) -> String {
        format!("{}/schema", self.branch_root)
    }

    /// A schema file.
    pub fn schema(&self, id: i64) -> String {
        format!("{}/schema/schema-{id}", self.branch_root)
    }

    /// Directory of snapshot files.
    pub fn snapshot_dir(&self) -> String {
        format!("{}/snapshot", self.branch_root)
    }

    /// A snapshot file.
    pub fn snapshot(&self, id: i64) -> String {
        format!("{}/snapshot/snapshot-{id}", self.branch_root)
    }

    /// The hint file of the newest snapshot.
    pub fn latest_hint(&self) -> String {
        format!("{}/snapshot/LATEST", self.branch_root)
    }

    /// The hint file of the oldest snapshot.
    pub fn earliest_hint(&self) -> String {
        format!("{}/snapshot/EARLIEST", self.branch_root)
    }

    /// Directory of tag files.
    pub fn tag_dir(&self) -> String {
        format!("{}/tag", self.branch_root)
    }

    /// A tag file.
    pub fn tag(&self, name: &str) -> String {
        format!("{}/tag/tag-{name}", self.branch_root)
    }

    /// Directory of branches.
    pub fn branches_dir(&self) -> String {
        format!("{}/branch", self.root)
    }

    /// Directory of manifests, manifest lists and index manifests of all branches.
    pub fn manifest_dir(&self) -> String {
        format!("{}/manifest", self.root)
    }

    /// A manifest, manifest list or index manifest.
    pub fn manifest(&self, name: &str) -> String {
        format!("{}/manifest/{name}", self.root)
    }

    /// Directory of index files of all branches.
    pub fn index_dir(&self) -> String {
        format!("{}/index", self.root)
    }

    /// Directory of statistics files of all branches.
    pub fn statistics_dir(&self) -> String {
        format!("{}/statistics", self.root)
    }

    /// A statistics file.
    pub fn statistics(&self, name: &str) -> String {
        format!("{}/statistics/{name}", self.root)
    }
}

/// A location without trailing slashes; the slashes of a bare root (`/`, `memory:///`) stay.
pub(crate) fn trim_location(location: &str) -> &str {
    let trimmed = location.trim_end_matches('/');
    if trimmed.is_empty() || trimmed.ends_with(':') {
        location
    } else {
        trimmed
    }
}

/// Numbers of the files `<prefix><number>` directly in `dir`, ascending; other names are ignored.
pub(crate) async fn list_numbered(storage: &Storage, dir: &str, prefix: &str) -> Result<Vec<i64>> {
    let mut ids: Vec<i64> = storage
        .list(dir)
        .await?
        .iter()
        .filter_map(|status| {
            let digits = file_name(&status.path).strip_prefix(prefix)?;
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            digits.parse().ok()
        })
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The part after the last slash.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
