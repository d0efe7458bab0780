// SPDX-License-Identifier: Apache-2.0

//! What the global arguments mean: storage, warehouse, time zone.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use paimon::json_rows::write_timestamp;
use paimon::types::{Error, Result, Timestamp};
use paimon::{Identifier, Storage, StorageOptions, Table, Warehouse};

use crate::args::Global;

/// Global arguments, resolved once.
pub(crate) struct Session {
    pub(crate) storage: Storage,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) zone: TimeZone,
    /// The name that --time-zone was given.
    pub(crate) zone_name: String,
    warehouse: Option<String>,
}

/// What a TABLE argument names.
pub(crate) enum Target {
    /// A table directory.
    Location(String),
    /// A table of the warehouse.
    Named(Warehouse, Identifier),
}

impl Session {
    pub(crate) fn new(global: Global) -> Result<Self> {
        let zone = zone_of(&global.time_zone)?;
        let fs = global
            .fs
            .into_iter()
            .fold(StorageOptions::new(), |options, (key, value)| {
                options.with(key, value)
            });
        Ok(Session {
            storage: Storage::new(fs),
            options: global.options.into_iter().collect(),
            zone,
            zone_name: global.time_zone,
            warehouse: global.warehouse,
        })
    }

    /// Resolves a TABLE argument. With --warehouse and without a slash it is a name, else a location.
    pub(crate) fn target(&self, table: &str) -> Result<Target> {
        match &self.warehouse {
            Some(url) if !table.contains('/') => {
                Ok(Target::Named(self.warehouse(url), Identifier::parse(table)?))
            }
            _ => Ok(Target::Location(table.to_owned())),
        }
    }

    pub(crate) fn warehouse(&self, url: &str) -> Warehouse {
        Warehouse::open(self.storage.clone(), url)
    }

    /// The --warehouse argument.
    pub(crate) fn warehouse_url(&self) -> Option<&str> {
        self.warehouse.as_deref()
    }

    /// Opens a table, with the options of -o over the stored ones.
    pub(crate) async fn open(&self, table: &str, branch: Option<&str>) -> Result<Table> {
        let mut options = self.options.clone();
        if let Some(branch) = branch {
            options.insert("branch".to_owned(), branch.to_owned());
        }
        let opened = match self.target(table)? {
            Target::Location(location) => Table::open_with(self.storage.clone(), &location, options).await,
            Target::Named(warehouse, identifier) => warehouse.table_with(&identifier, options).await,
        };
        opened.map_err(|e| {
            let hint = self.warehouse.is_none() && !table.contains('/') && table.contains('.');
            if hint {
                e.with("hint", "give --warehouse URL to use db.table names")
            } else {
                e
            }
        })
    }

    /// A --timestamp argument as epoch milliseconds: digits are milliseconds, else text in the session time zone.
    pub(crate) fn timestamp_millis(&self, text: &str) -> Result<i64> {
        if let Ok(millis) = text.parse::<i64>() {
            return Ok(millis);
        }
        let wrong = || {
            Error::invalid(format!(
                "'{text}' is no time; give epoch milliseconds or text such as '2024-01-31 10:00:00'"
            ))
            .with("option", "--timestamp")
        };
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Ok(instant.as_millisecond());
        }
        let civil: DateTime = text.parse().map_err(|e: jiff::Error| wrong().with_source(e))?;
        let zoned = civil
            .to_zoned(self.zone.clone())
            .map_err(|e| wrong().with_source(e))?;
        Ok(zoned.timestamp().as_millisecond())
    }

    /// Offset of the session zone from UTC in seconds at an instant.
    pub(crate) fn offset_seconds(&self, millis: i64) -> i32 {
        offset_seconds(&self.zone, millis)
    }

    /// An instant as text in the session zone, for messages.
    pub(crate) fn time_text(&self, millis: i64) -> String {
        let mut text = String::new();
        let local = millis.saturating_add(i64::from(self.offset_seconds(millis)) * 1000);
        write_timestamp(&mut text, Timestamp::from_millis(local), 3);
        format!("{text} {}", self.zone_name)
    }
}

/// A time zone by its name.
pub(crate) fn zone_of(name: &str) -> Result<TimeZone> {
    TimeZone::get(name).map_err(|e| {
        Error::invalid(format!(
            "'{name}' is no time zone; use a name such as UTC or Asia/Shanghai"
        ))
        .with("option", "--time-zone")
        .with_source(e)
    })
}

/// Offset of a zone from UTC in seconds at an instant.
pub(crate) fn offset_seconds(zone: &TimeZone, millis: i64) -> i32 {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(instant) => zone.to_offset(instant).seconds(),
        Err(_) => 0,
    }
}
