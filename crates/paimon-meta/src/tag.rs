// SPDX-License-Identifier: Apache-2.0

//! Tags: names for snapshots that outlive expiry (Java `Tag`, `TagManager`; `metadata.md` 3.4).

use std::time::Duration;

use bytes::Bytes;
use paimon_storage::{Environment, Storage};
use paimon_types::{Error, Result, Timestamp};
use serde_json::Value;

use crate::json::ObjectWriter;
use crate::paths::{TablePaths, file_name};
use crate::snapshot::Snapshot;
use crate::snapshot_manager::read_json_file;

/// A tag: a copy of the snapshot file, with a retention if one was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Tag {
    /// Name of the tag.
    pub name: String,
    /// The tagged snapshot; its own file may have expired.
    pub snapshot: Snapshot,
    /// Wall clock of the creation in the creator's zone; only with a retention.
    pub create_time: Option<Timestamp>,
    /// How long the tag is kept after its creation; `None` for ever.
    pub time_retained: Option<Duration>,
}

impl Tag {
    /// Parses a tag file.
    ///
    /// # Errors
    /// As [`Snapshot::from_json`]; `Corrupt` for a malformed time or retention.
    pub fn from_json(name: &str, text: &str) -> Result<Self> {
        let snapshot = Snapshot::from_json(text)?;
        let value: Value =
            serde_json::from_str(text).map_err(|e| Error::corrupt("tag file is not JSON").with_source(e))?;
        let present = |key: &str| value.get(key).filter(|v| !v.is_null());
        Ok(Tag {
            name: name.to_string(),
            snapshot,
            create_time: present("tagCreateTime").map(parse_create_time).transpose()?,
            time_retained: present("tagTimeRetained").map(parse_retained).transpose()?,
        })
    }

    /// Writes the file as Java does: the snapshot, and both retention keys or none.
    pub fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        self.snapshot.write_fields(&mut object);
        if let (Some(time), Some(retained)) = (self.create_time, self.time_retained) {
            object.raw("tagCreateTime", create_time_array(time)).raw(
                "tagTimeRetained",
                format_args!("{}.{:09}", retained.as_secs(), retained.subsec_nanos()),
            );
        }
        object.finish()
    }
}

/// Tag files of one branch.
#[derive(Clone, Debug)]
pub struct TagManager {
    storage: Storage,
    environment: Environment,
    paths: TablePaths,
}

impl TagManager {
    /// Tags of `branch` (`main` for the table itself) of the table at `location`.
    pub fn new(storage: Storage, environment: Environment, location: &str, branch: &str) -> Self {
        TagManager {
            storage,
            environment,
            paths: TablePaths::new(location, branch),
        }
    }

    /// Path of a tag file.
    pub fn tag_path(&self, name: &str) -> String {
        self.paths.tag(name)
    }

    /// Names of all tags, sorted.
    ///
    /// # Errors
    /// Those of listing.
    pub async fn list_names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = self
            .storage
            .list(&self.paths.tag_dir())
            .await?
            .iter()
            .filter_map(|status| file_name(&status.path).strip_prefix("tag-"))
            .map(str::to_string)
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// All tags by snapshot id, then name.
    ///
    /// # Errors
    /// Those of listing and reading.
    pub async fn list(&self) -> Result<Vec<Tag>> {
        let mut tags = Vec::new();
        for name in self.list_names().await? {
            tags.extend(self.try_tag(&name).await?);
        }
        tags.sort_by(|a, b| (a.snapshot.id, &a.name).cmp(&(b.snapshot.id, &b.name)));
        Ok(tags)
    }

    /// The tag called `name`.
    ///
    /// # Errors
    /// `NotFound`, naming the tags that exist; those of reading.
    pub async fn tag(&self, name: &str) -> Result<Tag> {
        if let Some(tag) = self.try_tag(name).await? {
            return Ok(tag);
        }
        let what = match self.list_names().await {
            Ok(names) if names.is_empty() => "the table has no tags".to_string(),
            Ok(names) => format!("the table has {}", summary(&names)),
            Err(e) => format!("and the tags are not readable: {e}"),
        };
        Err(Error::not_found(format!("tag {name:?} does not exist, {what}")))
    }

    /// The tag called `name`, `None` when there is none.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be a tag; those of reading.
    pub async fn try_tag(&self, name: &str) -> Result<Option<Tag>> {
        validate_name(name)?;
        let path = self.tag_path(name);
        match read_json_file(&self.storage, &path).await? {
            Some(text) => Tag::from_json(name, &text)
                .map(Some)
                .map_err(|e| e.with("path", path)),
            None => Ok(None),
        }
    }

    /// Tags a snapshot, for ever or for `time_retained`.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken; `InvalidInput` for a blank name or one with a slash.
    pub async fn create(
        &self,
        name: &str,
        snapshot: &Snapshot,
        time_retained: Option<Duration>,
    ) -> Result<Tag> {
        validate_name(name)?;
        let create_time =
            time_retained.map(|_| Timestamp::from_millis(self.environment.clock.now_local_millis()));
        let tag = Tag {
            name: name.to_string(),
            snapshot: snapshot.clone(),
            create_time,
            time_retained,
        };
        let content = Bytes::from(tag.to_json().into_bytes());
        if self
            .storage
            .create_if_absent(&self.tag_path(name), content)
            .await?
        {
            return Ok(tag);
        }
        Err(Error::already_exists(format!("tag {name:?} exists already")).with("path", self.tag_path(name)))
    }

    /// Deletes a tag; returns false when there was none. Only the tag file goes: data that was kept for this tag alone is
    /// left to the orphan clean-up.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be a tag; those of the store.
    pub async fn delete(&self, name: &str) -> Result<bool> {
        validate_name(name)?;
        let path = self.tag_path(name);
        if self.storage.status(&path).await?.is_none() {
            return Ok(false);
        }
        self.storage.delete(&path).await?;
        Ok(true)
    }
}

/// Up to ten names for a message.
pub(crate) fn summary(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn validate_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid("a tag name cannot be blank"));
    }
    if name.contains(['/', '\\']) || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "tag name {name:?} has a slash or a control character"
        )));
    }
    Ok(())
}

/// Jackson's array of a `LocalDateTime`: seconds and nanoseconds are left out from the end when zero.
fn create_time_array(time: Timestamp) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(time.millis) else {
        return "null".to_string();
    };
    let at = instant.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let nanos = time.millis.rem_euclid(1000) * 1_000_000 + i64::from(time.nanos_of_milli);
    let mut parts = vec![
        i64::from(at.year()),
        i64::from(at.month()),
        i64::from(at.day()),
        i64::from(at.hour()),
        i64::from(at.minute()),
    ];
    if at.second() != 0 || nanos != 0 {
        parts.push(i64::from(at.second()));
    }
    if nanos != 0 {
        parts.push(nanos);
    }
    let parts: Vec<String> = parts.iter().map(i64::to_string).collect();
    format!("[ {} ]", parts.join(", "))
}

fn parse_create_time(value: &Value) -> Result<Timestamp> {
    let bad = || {
        Error::corrupt(format!(
            "tagCreateTime is {value}, expected [year, month, day, hour, minute, …]"
        ))
    };
    let parts: Vec<i64> = value
        .as_array()
        .ok_or_else(bad)?
        .iter()
        .map(|v| v.as_i64().ok_or_else(bad))
        .collect::<Result<_>>()?;
    let (head, second, nanos) = match parts.as_slice() {
        [y, mo, d, h, mi] => ([*y, *mo, *d, *h, *mi], 0, 0),
        [y, mo, d, h, mi, s] => ([*y, *mo, *d, *h, *mi], *s, 0),
        [y, mo, d, h, mi, s, n] => ([*y, *mo, *d, *h, *mi], *s, *n),
        _ => return Err(bad()),
    };
    let [year, month, day, hour, minute] = head;
    let small = |v: i64| i8::try_from(v).map_err(|_| bad());
    let at = jiff::civil::DateTime::new(
        i16::try_from(year).map_err(|_| bad())?,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
        i32::try_from(nanos).map_err(|_| bad())?,
    )
    .and_then(|at| at.to_zoned(jiff::tz::TimeZone::UTC))
    .map_err(|e| bad().with_source(e))?;
    Ok(Timestamp::from_nanos(at.timestamp().as_nanosecond()))
}

fn parse_retained(value: &Value) -> Result<Duration> {
    let bad = || Error::corrupt(format!("tagTimeRetained is {value}, expected seconds"));
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return Err(bad()),
    };
    // Decimals of seconds have no exact double; numbers with an exponent are taken as such.
    plain_seconds(&text)
        .or_else(|| Duration::try_from_secs_f64(text.parse().ok()?).ok())
        .ok_or_else(bad)
}

/// Seconds with up to nine digits behind the point.
fn plain_seconds(text: &str) -> Option<Duration> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds.parse().ok()?, nanos))
}

#[cfg(test)]
mod tests;
