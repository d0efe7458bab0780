// SPDX-License-Identifier: Apache-2.0

//! Manifests and files of a snapshot, for people who look at a table.

use paimon_types::Result;

use crate::manifest::{IndexManifestEntry, KeepAll, ManifestEntry, ManifestFileMeta};
use crate::{Snapshot, Table};

/// The list of a snapshot that names a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestListKind {
    /// Inherited from the snapshot before.
    Base,
    /// Changed by the commit.
    Delta,
    /// Changelog files of the commit.
    Changelog,
}

impl ManifestListKind {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            ManifestListKind::Base => "base",
            ManifestListKind::Delta => "delta",
            ManifestListKind::Changelog => "changelog",
        }
    }
}

/// A manifest of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotManifest {
    /// The list that names it.
    pub list: ManifestListKind,
    /// What the list says about it.
    pub meta: ManifestFileMeta,
}

impl Table {
    /// All manifests of a snapshot: base, delta, changelog, each in stored order.
    ///
    /// # Errors
    /// Those of reading manifest lists.
    pub async fn list_manifests(&self, snapshot: &Snapshot) -> Result<Vec<SnapshotManifest>> {
        let lists = [
            (ManifestListKind::Base, Some(&snapshot.base_manifest_list)),
            (ManifestListKind::Delta, Some(&snapshot.delta_manifest_list)),
            (
                ManifestListKind::Changelog,
                snapshot.changelog_manifest_list.as_ref(),
            ),
        ];
        let store = self.manifest_store();
        let mut all = Vec::new();
        for (list, name) in lists {
            if let Some(name) = name {
                all.extend(
                    store
                        .read_list(name)
                        .await?
                        .into_iter()
                        .map(|meta| SnapshotManifest { list, meta }),
                );
            }
        }
        Ok(all)
    }

    /// All live data files of a snapshot in manifest order, of tables of every kind.
    ///
    /// # Errors
    /// Those of reading manifests.
    pub async fn list_files(&self, snapshot: &Snapshot) -> Result<Vec<ManifestEntry>> {
        let store = self.manifest_store();
        let metas = store.read_data_lists(snapshot).await?;
        store.live_entries(&metas, KeepAll).await
    }

    /// All index files of a snapshot in stored order.
    ///
    /// # Errors
    /// Those of reading the index manifest.
    pub async fn list_index_files(&self, snapshot: &Snapshot) -> Result<Vec<IndexManifestEntry>> {
        match &snapshot.index_manifest {
            Some(name) => self.manifest_store().read_index_manifest(name).await,
            None => Ok(Vec::new()),
        }
    }
}
