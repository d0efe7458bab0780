// SPDX-License-Identifier: Apache-2.0

//! The deletion vectors of one read: every index file is opened once, whatever number of data files it is about.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use paimon_index::{DeletionVector, record_span};
use paimon_protocol::{DataSplit, DeletionFile};
use paimon_storage::Storage;
use paimon_types::{Error, Result};
use tokio::sync::OnceCell;

/// Offset and recorded length of a vector.
type Place = (u64, u64);

/// The vectors that the splits of one read name, loaded when the first of an index file is asked for. Stored bytes are kept
/// until the last data file that needs them was opened, those of files in parts until the read ends.
#[derive(Debug, Default)]
pub(crate) struct Deletions {
    files: HashMap<String, IndexFile>,
}

#[derive(Debug, Default)]
struct IndexFile {
    /// How many data files need the vector at a place; more than one when a split is read twice.
    wanted: BTreeMap<Place, usize>,
    stored: OnceCell<Mutex<HashMap<Place, Stored>>>,
}

#[derive(Debug)]
struct Stored {
    bytes: Bytes,
    uses: usize,
}

impl Deletions {
    /// Notes what the splits need; nothing is read.
    ///
    /// # Errors
    /// `Corrupt` when a split does not have one entry a data file or names an impossible place.
    pub(crate) fn of(splits: &[DataSplit]) -> Result<Self> {
        let mut files: HashMap<String, IndexFile> = HashMap::new();
        for split in splits {
            let Some(list) = &split.deletion_files else {
                continue;
            };
            if list.len() != split.data_files.len() {
                return Err(Error::corrupt(format!(
                    "the split has {} deletion files for {} data files, expected one entry each",
                    list.len(),
                    split.data_files.len()
                ))
                .with("path", &split.bucket_path));
            }
            for file in list.iter().flatten() {
                let place = place(file)?;
                *files
                    .entry(file.path.clone())
                    .or_default()
                    .wanted
                    .entry(place)
                    .or_default() += 1;
            }
        }
        Ok(Deletions { files })
    }

    /// The vector of one data file. It stays to be asked for `again`, until [`release`](Self::release).
    ///
    /// # Errors
    /// `Corrupt` that names the index file when the vector is damaged or is not what the split says, and those of the store.
    pub(crate) async fn vector(
        &self,
        storage: &Storage,
        file: &DeletionFile,
        again: bool,
    ) -> Result<DeletionVector> {
        let place = place(file)?;
        let cardinality = file.cardinality.map(|rows| unsigned(rows, file)).transpose()?;
        let unplanned =
            || Error::invalid("the deletion file is not one of this read").with("path", &file.path);
        let index = self.files.get(&file.path).ok_or_else(unplanned)?;
        let stored = index
            .stored
            .get_or_try_init(|| index.load(storage, &file.path))
            .await?;
        let bytes = {
            let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
            let found = stored.get_mut(&place).ok_or_else(unplanned)?;
            let bytes = found.bytes.clone();
            if !again {
                used(&mut stored, place);
            }
            bytes
        };
        DeletionVector::decode_recorded(&bytes, place.1, cardinality)
            .map_err(|e| e.with("path", &file.path).with("offset", file.offset))
    }

    /// Lets go of the vector of a data file that was asked for `again` and is not any more.
    pub(crate) fn release(&self, file: &DeletionFile) {
        let stored = self.files.get(&file.path).and_then(|index| index.stored.get());
        if let (Some(stored), Ok(place)) = (stored, place(file)) {
            used(&mut stored.lock().unwrap_or_else(PoisonError::into_inner), place);
        }
    }
}

/// One data file less needs a vector.
fn used(stored: &mut HashMap<Place, Stored>, place: Place) {
    if let Some(found) = stored.get_mut(&place) {
        found.uses = found.uses.saturating_sub(1);
        if found.uses == 0 {
            stored.remove(&place);
        }
    }
}

impl IndexFile {
    async fn load(&self, storage: &Storage, path: &str) -> Result<Mutex<HashMap<Place, Stored>>> {
        let input = storage.open_input(path, None).await?;
        let size = input.size().await?;
        let spans = self
            .wanted
            .keys()
            .map(|(offset, length)| record_span(*offset, *length, size).map_err(|e| e.with("path", path)));
        let spans = spans.collect::<Result<Vec<_>>>()?;
        let all = input.read_ranges(&spans).await?;
        let stored = self.wanted.iter().zip(all);
        Ok(Mutex::new(
            stored
                .map(|((place, uses), bytes)| (*place, Stored { bytes, uses: *uses }))
                .collect(),
        ))
    }
}

fn place(file: &DeletionFile) -> Result<Place> {
    Ok((unsigned(file.offset, file)?, unsigned(file.length, file)?))
}

fn unsigned(number: i64, file: &DeletionFile) -> Result<u64> {
    u64::try_from(number).map_err(|_| {
        Error::corrupt(format!(
            "the deletion file of a split has offset {}, length {} and cardinality {:?}, expected none below 0",
            file.offset, file.length, file.cardinality
        ))
        .with("path", &file.path)
    })
}
