// SPDX-License-Identifier: Apache-2.0

//! Which snapshot a batch read sees (Java `TimeTravelUtil`, batch starting scanners; `metadata.md` 9.6).

use paimon_types::{CoreOptions, Error, ErrorKind, Result, StartupMode};

use crate::{CommitKind, Snapshot, Table};

/// The snapshot that a scan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotSelector {
    /// The newest one.
    Latest,
    /// By id (`scan.snapshot-id`).
    Id(i64),
    /// By tag (`scan.tag-name`).
    Tag(String),
    /// The last one at or before a time in epoch milliseconds (`scan.timestamp-millis`).
    TimestampMillis(i64),
    /// The first one with this watermark or a later one (`scan.watermark`).
    Watermark(i64),
    /// An existing tag, `watermark-<n>` or a snapshot id, tried in this order (`scan.version`).
    Version(String),
    /// The last one that a compaction made, else the newest (`scan.mode` = `compacted-full`).
    LatestCompacted,
}

impl SnapshotSelector {
    /// The selector that the `scan.*` options of a table ask for.
    ///
    /// # Errors
    /// `InvalidInput` for options that exclude each other, `Unsupported` for modes that are not implemented.
    pub fn from_options(options: &CoreOptions) -> Result<Self> {
        options.check_startup()?;
        let refuse = |option: &'static str, value: &str| {
            Err(Error::unsupported(format!(
                "{option} is '{value}': such a read is not implemented yet"
            ))
            .with("option", option))
        };
        match options.startup_mode() {
            StartupMode::Default | StartupMode::LatestFull | StartupMode::Latest => {
                Ok(SnapshotSelector::Latest)
            }
            StartupMode::CompactedFull => Ok(SnapshotSelector::LatestCompacted),
            StartupMode::FromTimestamp => match (options.scan_timestamp_millis, &options.scan_timestamp) {
                (Some(millis), _) => Ok(SnapshotSelector::TimestampMillis(millis)),
                (None, Some(text)) => refuse("scan.timestamp", text),
                (None, None) => {
                    Err(Error::invalid("a timestamp is missing").with("option", "scan.timestamp-millis"))
                }
            },
            StartupMode::FromSnapshot | StartupMode::FromSnapshotFull => {
                if let Some(id) = options.scan_snapshot_id {
                    Ok(SnapshotSelector::Id(id))
                } else if let Some(tag) = &options.scan_tag_name {
                    Ok(SnapshotSelector::Tag(tag.clone()))
                } else if let Some(watermark) = options.scan_watermark {
                    Ok(SnapshotSelector::Watermark(watermark))
                } else if let Some(version) = &options.scan_version {
                    Ok(SnapshotSelector::Version(version.clone()))
                } else {
                    Err(Error::invalid("a snapshot is missing").with("option", "scan.snapshot-id"))
                }
            }
            mode => refuse("scan.mode", mode.as_str()),
        }
    }

    /// True when the read sees the table as it was, with the schema of that time.
    pub fn is_time_travel(&self) -> bool {
        !matches!(self, SnapshotSelector::Latest | SnapshotSelector::LatestCompacted)
    }

    /// Finds the snapshot; `None` only for a table without snapshots.
    ///
    /// # Errors
    /// `NotFound` that says what is retained, for an id, tag, time or watermark that selects nothing.
    pub async fn resolve(&self, table: &Table) -> Result<Option<Snapshot>> {
        let snapshots = table.snapshot_manager();
        match self {
            SnapshotSelector::Latest => snapshots.latest().await,
            SnapshotSelector::LatestCompacted => latest_compacted(table).await,
            SnapshotSelector::Id(id) => snapshots.snapshot(*id).await.map(Some),
            SnapshotSelector::Tag(name) => Ok(Some(table.tag_manager().tag(name).await?.snapshot)),
            SnapshotSelector::TimestampMillis(millis) => snapshots.at_or_before(*millis).await.map(Some),
            SnapshotSelector::Watermark(watermark) => by_watermark(table, *watermark).await.map(Some),
            SnapshotSelector::Version(version) => by_version(table, version).await.map(Some),
        }
    }
}

async fn by_watermark(table: &Table, watermark: i64) -> Result<Snapshot> {
    match table.snapshot_manager().first_with_watermark(watermark).await? {
        Some(snapshot) => Ok(snapshot),
        None => Err(
            Error::not_found(format!("no snapshot has reached the watermark {watermark}"))
                .with("path", table.location()),
        ),
    }
}

async fn by_version(table: &Table, version: &str) -> Result<Snapshot> {
    match table.tag_manager().tag(version).await {
        Ok(tag) => return Ok(tag.snapshot),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {}
        Err(e) => return Err(e),
    }
    if let Some(watermark) = version
        .strip_prefix("watermark-")
        .and_then(|text| text.parse().ok())
    {
        return by_watermark(table, watermark).await;
    }
    if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) {
        let id = version.parse().map_err(|_| {
            Error::invalid(format!("version '{version}' is too large for a snapshot id"))
                .with("option", "scan.version")
        })?;
        return table.snapshot_manager().snapshot(id).await;
    }
    Err(Error::not_found(format!(
        "version '{version}' is no tag, no snapshot id and no watermark-<number>"
    ))
    .with("option", "scan.version"))
}

async fn latest_compacted(table: &Table) -> Result<Option<Snapshot>> {
    let snapshots = table.snapshot_manager();
    let latest = snapshots.latest().await?;
    let mut current = latest.clone();
    while let Some(snapshot) = current {
        if snapshot.commit_kind == CommitKind::Compact {
            return Ok(Some(snapshot));
        }
        current = snapshots.try_snapshot(snapshot.id - 1).await?;
    }
    Ok(latest)
}
