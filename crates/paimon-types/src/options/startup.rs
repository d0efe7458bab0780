// SPDX-License-Identifier: Apache-2.0

//! The start of a read from the `scan.*` options, and which of them exclude each other (`metadata.md` 9.6, appendix C).

use super::{CoreOptions, StartupMode};
use crate::{Error, Result};

impl CoreOptions {
    /// The mode of a read: `scan.mode`, or what follows from the other options when that is `default`.
    pub fn startup_mode(&self) -> StartupMode {
        if self.scan_mode != StartupMode::Default {
            return self.scan_mode;
        }
        if self.scan_timestamp_millis.is_some() || self.scan_timestamp.is_some() {
            StartupMode::FromTimestamp
        } else if self.scan_snapshot_id.is_some()
            || self.scan_tag_name.is_some()
            || self.scan_watermark.is_some()
            || self.scan_version.is_some()
        {
            StartupMode::FromSnapshot
        } else if self.scan_file_creation_time_millis.is_some() {
            StartupMode::FromFileCreationTime
        } else if self.scan_creation_time_millis.is_some() {
            StartupMode::FromCreationTimestamp
        } else if self.incremental_between.is_some()
            || self.incremental_between_timestamp.is_some()
            || self.incremental_to_auto_tag.is_some()
        {
            StartupMode::Incremental
        } else {
            StartupMode::LatestFull
        }
    }

    /// Checks that the `scan.*` and `incremental-*` options fit the mode of the read (`metadata.md`, appendix C).
    ///
    /// # Errors
    /// `InvalidInput` that names the options that are missing or exclude each other.
    pub fn check_startup(&self) -> Result<()> {
        let set: Vec<&'static str> = SELECTORS
            .into_iter()
            .filter(|key| self.has_selector(key))
            .collect();
        let mode = self.startup_mode();
        let wanted = selectors_of(mode);
        if let Some(key) = set.iter().copied().find(|key| !wanted.contains(key)) {
            return Err(
                Error::invalid(format!("option {key} cannot be used with scan.mode {mode}"))
                    .with("option", key),
            );
        }
        if wanted.is_empty() || set.len() == 1 {
            return Ok(());
        }
        let found = if set.is_empty() {
            "none".to_owned()
        } else {
            set.join(", ")
        };
        let wanted = wanted.join(", ");
        Err(Error::invalid(format!(
            "scan.mode {mode} needs exactly one of {wanted}, found {found}"
        ))
        .with("option", "scan.mode"))
    }

    fn has_selector(&self, key: &str) -> bool {
        match key {
            SNAPSHOT_ID => self.scan_snapshot_id.is_some(),
            TAG_NAME => self.scan_tag_name.is_some(),
            VERSION => self.scan_version.is_some(),
            TIMESTAMP_MILLIS => self.scan_timestamp_millis.is_some(),
            TIMESTAMP => self.scan_timestamp.is_some(),
            WATERMARK => self.scan_watermark.is_some(),
            FILE_CREATION => self.scan_file_creation_time_millis.is_some(),
            CREATION => self.scan_creation_time_millis.is_some(),
            BETWEEN => self.incremental_between.is_some(),
            BETWEEN_TIMESTAMP => self.incremental_between_timestamp.is_some(),
            TO_AUTO_TAG => self.incremental_to_auto_tag.is_some(),
            _ => false,
        }
    }
}

const SNAPSHOT_ID: &str = "scan.snapshot-id";
const TAG_NAME: &str = "scan.tag-name";
const VERSION: &str = "scan.version";
const TIMESTAMP_MILLIS: &str = "scan.timestamp-millis";
const TIMESTAMP: &str = "scan.timestamp";
const WATERMARK: &str = "scan.watermark";
const FILE_CREATION: &str = "scan.file-creation-time-millis";
const CREATION: &str = "scan.creation-time-millis";
const BETWEEN: &str = "incremental-between";
const BETWEEN_TIMESTAMP: &str = "incremental-between-timestamp";
const TO_AUTO_TAG: &str = "incremental-to-auto-tag";

const SELECTORS: [&str; 11] = [
    SNAPSHOT_ID,
    TAG_NAME,
    VERSION,
    TIMESTAMP_MILLIS,
    TIMESTAMP,
    WATERMARK,
    FILE_CREATION,
    CREATION,
    BETWEEN,
    BETWEEN_TIMESTAMP,
    TO_AUTO_TAG,
];

/// The selectors of which a mode needs exactly one; all others are an error. Java ignores some selectors that a mode does not
/// use (for instance `scan.watermark` with `from-timestamp`); here each selector either counts or is refused.
fn selectors_of(mode: StartupMode) -> &'static [&'static str] {
    match mode {
        StartupMode::FromTimestamp => &[TIMESTAMP_MILLIS, TIMESTAMP],
        StartupMode::FromSnapshot => &[SNAPSHOT_ID, TAG_NAME, WATERMARK, VERSION],
        StartupMode::FromSnapshotFull => &[SNAPSHOT_ID],
        StartupMode::FromFileCreationTime => &[FILE_CREATION],
        StartupMode::FromCreationTimestamp => &[CREATION],
        StartupMode::Incremental => &[BETWEEN, BETWEEN_TIMESTAMP, TO_AUTO_TAG],
        StartupMode::Default
        | StartupMode::LatestFull
        | StartupMode::Latest
        | StartupMode::LatestDelta
        | StartupMode::CompactedFull => &[],
    }
}
