// SPDX-License-Identifier: Apache-2.0

//! Which partitions a commit is about, and the live entries in them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use paimon_protocol::Partition;
use paimon_types::{DataType, Datum, Error, Result};

use super::PartitionSpec;
use crate::manifest::{EntryHead, EntrySelector, ManifestEntry, ManifestFileMeta, ManifestStore};
use crate::snapshot::Snapshot;
use crate::table::Table;

/// A column of a specification: `None` matches everything, `Some(None)` NULL.
type Wanted = Option<Option<Datum>>;

/// A set of partitions.
#[derive(Debug)]
pub(super) enum PartitionFilter {
    /// Every partition.
    All,
    /// Exactly these.
    Exact(HashSet<Partition>),
    /// Those that match at least one specification, given as one test a partition column.
    Specs(Vec<Vec<Wanted>>),
}

impl PartitionFilter {
    /// The filter of some specifications; an empty one matches everything.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is no partition column or a value that does not parse.
    pub(super) fn from_specs(table: &Table, specs: &[PartitionSpec]) -> Result<Self> {
        let fields = table.schema().partition_fields();
        let naming = table.partition_naming();
        if specs.iter().any(BTreeMap::is_empty) {
            return Ok(PartitionFilter::All);
        }
        let mut parsed = Vec::with_capacity(specs.len());
        for spec in specs {
            if let Some(unknown) = spec.keys().find(|key| !fields.iter().any(|f| &f.name == *key)) {
                let keys = &table.schema().partition_keys;
                let what = if keys.is_empty() {
                    "the table is not partitioned".to_string()
                } else {
                    format!("partition columns are {}", keys.join(", "))
                };
                return Err(
                    Error::invalid(format!("{unknown:?} is no partition column, {what}"))
                        .with("column", unknown),
                );
            }
            let mut tests = Vec::with_capacity(fields.len());
            for field in &fields {
                tests.push(match spec.get(&field.name) {
                    None => None,
                    Some(text) => Some(
                        naming
                            .value_from_string(text, &field.data_type)
                            .map_err(|e| e.with("column", &field.name))?,
                    ),
                });
            }
            parsed.push(tests);
        }
        Ok(PartitionFilter::Specs(parsed))
    }

    /// The partitions of some entries.
    pub(super) fn of_entries<'a>(entries: impl IntoIterator<Item = &'a ManifestEntry>) -> Self {
        PartitionFilter::Exact(entries.into_iter().map(|e| e.partition.clone()).collect())
    }

    /// True when the partition is in the set.
    pub(super) fn matches(&self, partition: &Partition, types: &[DataType]) -> Result<bool> {
        match self {
            PartitionFilter::All => Ok(true),
            PartitionFilter::Exact(partitions) => Ok(partitions.contains(partition)),
            PartitionFilter::Specs(specs) => {
                let values = partition.values(types)?;
                Ok(specs.iter().any(|spec| {
                    spec.iter().zip(&values).all(|(test, value)| match test {
                        None => true,
                        Some(wanted) => same(wanted.as_ref(), value.as_ref()),
                    })
                }))
            }
        }
    }

    /// False when the statistics show that no entry of the manifest is in the set. What is unknown stays.
    fn may_match(&self, meta: &ManifestFileMeta, types: &[DataType]) -> bool {
        let stats = &meta.partition_stats;
        let (Ok(mins), Ok(maxs)) = (stats.min_values.values(types), stats.max_values.values(types)) else {
            return true;
        };
        let column_may_match = |index: usize, wanted: &Option<Datum>| match wanted {
            None => stats.null_counts.get(index) != Some(0),
            Some(wanted) => {
                let below = mins
                    .get(index)
                    .and_then(Option::as_ref)
                    .and_then(|min| wanted.compare(min));
                let above = maxs
                    .get(index)
                    .and_then(Option::as_ref)
                    .and_then(|max| wanted.compare(max));
                below != Some(Ordering::Less) && above != Some(Ordering::Greater)
            }
        };
        match self {
            PartitionFilter::All => true,
            PartitionFilter::Exact(partitions) => {
                partitions.iter().any(|partition| match partition.values(types) {
                    Ok(values) => values
                        .iter()
                        .enumerate()
                        .all(|(i, value)| column_may_match(i, value)),
                    Err(_) => true,
                })
            }
            PartitionFilter::Specs(specs) => specs.iter().any(|spec| {
                spec.iter()
                    .enumerate()
                    .all(|(i, test)| test.as_ref().is_none_or(|v| column_may_match(i, v)))
            }),
        }
    }
}

/// Equality of partition values; NULL equals NULL.
fn same(a: Option<&Datum>, b: Option<&Datum>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a == b || a.compare(b) == Some(Ordering::Equal),
        _ => false,
    }
}

/// Selects entries of the wanted partitions, deciding once a partition.
#[derive(Clone)]
struct InPartitions {
    filter: Arc<PartitionFilter>,
    types: Arc<[DataType]>,
    known: HashMap<Partition, bool>,
}

impl EntrySelector for InPartitions {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        if let Some(known) = self.known.get(head.partition) {
            return Ok(*known);
        }
        let wanted = self.filter.matches(head.partition, &self.types)?;
        self.known.insert(head.partition.clone(), wanted);
        Ok(wanted)
    }
}

/// Live entries of a snapshot in the wanted partitions, in manifest order.
pub(super) async fn live_entries(
    store: &ManifestStore,
    snapshot: &Snapshot,
    filter: Arc<PartitionFilter>,
) -> Result<Vec<ManifestEntry>> {
    let types: Arc<[DataType]> = store.partition_types().into();
    let mut metas = store.read_data_lists(snapshot).await?;
    metas.retain(|meta| filter.may_match(meta, &types));
    store
        .live_entries(
            &metas,
            InPartitions {
                filter,
                types,
                known: HashMap::new(),
            },
        )
        .await
}
