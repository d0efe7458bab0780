// SPDX-License-Identifier: Apache-2.0

//! The live files of a set of manifests (Java `AbstractFileStoreScan`, mode ALL; `metadata.md` 9.1).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use paimon_types::Result;

use super::{
    EntryHead, EntrySelector, FileIdentifier, FileKind, ManifestEntry, ManifestFileMeta, ManifestStore,
};

impl ManifestStore {
    /// Live entries that `selector` wants: ADD entries whose identity is in no DELETE entry, whatever their order, in the
    /// order of the manifests.
    ///
    /// The selector sees DELETE entries too and must treat an identity the same way in both kinds, as partition, bucket and
    /// level tests do.
    ///
    /// # Errors
    /// As [`ManifestStore::read_manifest`].
    pub async fn live_entries<S>(&self, metas: &[ManifestFileMeta], selector: S) -> Result<Vec<ManifestEntry>>
    where
        S: EntrySelector + Clone + Send + 'static,
    {
        let stream = self.stream_live(metas.to_vec(), selector).await?;
        let batches: Vec<Vec<ManifestEntry>> = stream.try_collect().await?;
        Ok(batches.into_iter().flatten().collect())
    }

    /// As [`ManifestStore::live_entries`], one batch a manifest. Manifests with DELETE entries are read before this returns,
    /// the others while the stream is consumed, a bounded number at once.
    ///
    /// # Errors
    /// As [`ManifestStore::read_manifest`], here and in the stream.
    pub async fn stream_live<S>(
        &self,
        metas: Vec<ManifestFileMeta>,
        selector: S,
    ) -> Result<impl Stream<Item = Result<Vec<ManifestEntry>>> + use<S>>
    where
        S: EntrySelector + Clone + Send + 'static,
    {
        let (deleted, mut held) = self.read_deleting(&metas, &selector).await?;
        let deleted = Arc::new(deleted);
        let store = self.clone();
        let parallelism = self.options().parallelism;
        let work: Vec<_> = metas
            .into_iter()
            .enumerate()
            .filter(|(_, meta)| meta.num_added_files != 0)
            .map(|(index, meta)| (held.remove(&index), meta))
            .collect();
        Ok(stream::iter(work)
            .map(move |(read_before, meta)| {
                let store = store.clone();
                let deleted = Arc::clone(&deleted);
                let selector = OnlyAdds(selector.clone());
                async move {
                    let mut entries = match read_before {
                        Some(entries) => entries,
                        None => store.read_manifest_selected(&meta, selector).await?,
                    };
                    if !deleted.is_empty() {
                        entries.retain(|entry| !deleted.contains(&entry.identifier()));
                    }
                    Ok(entries)
                }
            })
            .buffered(parallelism))
    }

    /// Reads the manifests that have DELETE entries: the identities deleted, and by position the ADD entries they hold.
    async fn read_deleting<S>(
        &self,
        metas: &[ManifestFileMeta],
        selector: &S,
    ) -> Result<(HashSet<FileIdentifier>, HashMap<usize, Vec<ManifestEntry>>)>
    where
        S: EntrySelector + Clone + Send + 'static,
    {
        let with_deletes: Vec<_> = metas
            .iter()
            .cloned()
            .enumerate()
            .filter(|(_, meta)| meta.num_deleted_files != 0)
            .collect();
        let mut reads = stream::iter(with_deletes)
            .map(|(index, meta)| {
                let selector = selector.clone();
                async move {
                    self.read_manifest_selected(&meta, selector)
                        .await
                        .map(|entries| (index, entries))
                }
            })
            .buffered(self.options().parallelism);
        let (mut deleted, mut held) = (HashSet::new(), HashMap::new());
        while let Some((index, entries)) = reads.try_next().await? {
            let (adds, deletes): (Vec<_>, Vec<_>) =
                entries.into_iter().partition(|e| e.kind == FileKind::Add);
            deleted.extend(deletes.iter().map(ManifestEntry::identifier));
            held.insert(index, adds);
        }
        Ok((deleted, held))
    }
}

/// Of what another selector wants, the ADD entries.
#[derive(Clone, Debug)]
struct OnlyAdds<S>(S);

impl<S: EntrySelector> EntrySelector for OnlyAdds<S> {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        Ok(head.kind == FileKind::Add && self.0.select(head)?)
    }

    fn select_level(&mut self, head: &EntryHead<'_>, level: i32) -> Result<bool> {
        self.0.select_level(head, level)
    }
}
