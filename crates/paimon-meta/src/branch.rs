// SPDX-License-Identifier: Apache-2.0

//! Branches: other lines of metadata over the same files (Java `FileSystemBranchManager`; `metadata.md` 3.5).

use bytes::Bytes;
use paimon_storage::Storage;
use paimon_types::{Error, Result};

use crate::paths::{MAIN_BRANCH, TablePaths};
use crate::schema_manager::SchemaManager;
use crate::snapshot_manager::SnapshotManager;
use crate::tag::{Tag, summary};

/// Lists, creates and drops branches of a table. Schemas, snapshots and tags of a branch are in `branch/branch-<name>`;
/// manifests, indexes and data files of all branches are in the main root.
#[derive(Clone, Debug)]
pub struct BranchManager {
    storage: Storage,
    location: String,
    source: String,
}

impl BranchManager {
    /// Branches of the table at `location`; new ones start from branch `source`.
    pub fn new(storage: Storage, location: &str, source: &str) -> Self {
        BranchManager {
            storage,
            location: location.to_string(),
            source: source.to_string(),
        }
    }

    /// Names of all branches but `main`, sorted.
    ///
    /// # Errors
    /// Those of listing.
    pub async fn list(&self) -> Result<Vec<String>> {
        list(&self.storage, &self.location).await
    }

    /// True for `main` and for a branch with a schema.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn exists(&self, name: &str) -> Result<bool> {
        if name == MAIN_BRANCH {
            return Ok(true);
        }
        validate_name(name)?;
        Ok(SchemaManager::new(self.storage.clone(), &self.location, name)
            .latest()
            .await?
            .is_some())
    }

    /// Creates a branch without snapshots, with the schemas of the source branch.
    ///
    /// # Errors
    /// `AlreadyExists`; `InvalidInput` for a name that is `main`, blank or a number.
    pub async fn create(&self, name: &str) -> Result<()> {
        self.check_new(name).await?;
        self.copy_schemas(name, i64::MAX).await
    }

    /// Creates a branch whose only snapshot is that of `tag` (a tag of the source branch).
    ///
    /// # Errors
    /// As [`BranchManager::create`].
    pub async fn create_from_tag(&self, name: &str, tag: &Tag) -> Result<()> {
        self.check_new(name).await?;
        self.copy_schemas(name, tag.snapshot.schema_id).await?;
        let paths = TablePaths::new(&self.location, name);
        self.storage
            .write(&paths.tag(&tag.name), Bytes::from(tag.to_json().into_bytes()))
            .await?;
        let snapshots = SnapshotManager::new(self.storage.clone(), &self.location, name);
        snapshots.publish(&tag.snapshot).await?;
        snapshots.write_earliest_hint(tag.snapshot.id).await?;
        snapshots.write_latest_hint(tag.snapshot.id).await
    }

    /// Drops a branch: its metadata goes, data files stay for the orphan clean-up.
    ///
    /// # Errors
    /// `NotFound`, naming the branches that exist; `InvalidInput` for `main`.
    pub async fn drop(&self, name: &str) -> Result<()> {
        validate_name(name)?;
        if !self.list().await?.iter().any(|b| b == name) {
            return Err(missing(&self.storage, &self.location, name).await);
        }
        self.storage
            .delete_dir(TablePaths::new(&self.location, name).branch_root())
            .await
    }

    async fn check_new(&self, name: &str) -> Result<()> {
        validate_name(name)?;
        if self.exists(name).await? {
            return Err(
                Error::already_exists(format!("branch {name:?} exists already")).with("path", &self.location)
            );
        }
        Ok(())
    }

    async fn copy_schemas(&self, name: &str, up_to: i64) -> Result<()> {
        let from = SchemaManager::new(self.storage.clone(), &self.location, &self.source);
        let to = SchemaManager::new(self.storage.clone(), &self.location, name);
        for id in from.list_ids().await?.into_iter().filter(|id| *id <= up_to) {
            let content = self.storage.read(&from.schema_path(id)).await?;
            self.storage
                .create_if_absent(&to.schema_path(id), content)
                .await?;
        }
        Ok(())
    }
}

async fn list(storage: &Storage, location: &str) -> Result<Vec<String>> {
    let dir = TablePaths::new(location, MAIN_BRANCH).branches_dir();
    let mut names: Vec<String> = storage
        .list_dirs(&dir)
        .await?
        .iter()
        .filter_map(|name| name.trim_end_matches('/').strip_prefix("branch-"))
        .map(str::to_string)
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// The error for a branch that does not exist, naming those that do.
pub(crate) async fn missing(storage: &Storage, location: &str, branch: &str) -> Error {
    let what = match list(storage, location).await {
        Ok(names) if names.is_empty() => "the table has no branch but main".to_string(),
        Ok(names) => format!("the table has main, {}", summary(&names)),
        Err(e) => format!("and the branches are not readable: {e}"),
    };
    Error::not_found(format!("branch {branch:?} does not exist, {what}")).with("path", location)
}

/// A branch name is not `main`, not blank, not a number and can be part of a path.
pub(crate) fn validate_name(name: &str) -> Result<()> {
    let why = if name == MAIN_BRANCH {
        "is the name of the main branch"
    } else if name.trim().is_empty() {
        "is blank"
    } else if name.bytes().all(|b| b.is_ascii_digit()) {
        "is a number"
    } else if name.contains(['/', '\\', '$']) || name.chars().any(char::is_control) {
        "has a slash, a dollar sign or a control character"
    } else {
        return Ok(());
    };
    Err(Error::invalid(format!("branch name {name:?} {why}")))
}
