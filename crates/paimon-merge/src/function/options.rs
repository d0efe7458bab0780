// SPDX-License-Identifier: Apache-2.0

//! The options of merge functions (Java `CoreOptions.field…`), read from the option texts of a table.

use paimon_types::{CoreOptions, Error, Result};

/// `fields.default-aggregate-function`.
const DEFAULT_FUNCTION: &str = "fields.default-aggregate-function";

/// Options of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'a>(pub(super) &'a CoreOptions);

/// What becomes of nested rows whose key has a NULL (`fields.<f>.nested-key-null-strategy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NullKeys {
    /// NULL is a value of the key.
    Merge,
    /// The row is left out.
    Ignore,
    /// An error.
    Error,
}

impl<'a> Options<'a> {
    fn bad(key: &str, text: &str, allowed: &str) -> Error {
        Error::invalid(format!("option {key} has the value '{text}'; allowed: {allowed}")).with("option", key)
    }

    /// The text of an option; the keys are tried in order.
    pub(super) fn text(self, keys: &[&str]) -> Option<(String, &'a str)> {
        let found = keys.iter().find_map(|key| self.0.raw().get_key_value(*key));
        found.map(|(key, text)| (key.clone(), text.as_str()))
    }

    /// A boolean, false when absent; the keys are tried in order.
    pub(super) fn flag(self, keys: &[&str]) -> Result<bool> {
        match self.text(keys) {
            None => Ok(false),
            Some((_, text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some((_, text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some((key, text)) => Err(Self::bad(&key, text, "true, false")),
        }
    }

    /// `ignore-delete`.
    pub(super) fn ignore_delete(self) -> bool {
        self.0.ignore_delete
    }

    /// Columns of `sequence.field`, as Java trims them.
    pub(super) fn sequence_fields(self) -> Vec<&'a str> {
        self.0
            .sequence_field
            .iter()
            .flatten()
            .map(|name| name.trim())
            .collect()
    }

    /// Key and value of the option that gives a column its function: its own, else the default.
    pub(super) fn function(self, column: &str) -> Option<(String, &'a str)> {
        self.text(&[&key(column, "aggregate-function"), DEFAULT_FUNCTION])
    }

    /// `fields.<column>.ignore-retract`.
    pub(super) fn ignore_retract(self, column: &str) -> Result<bool> {
        self.flag(&[&key(column, "ignore-retract")])
    }

    /// `fields.<column>.distinct`.
    pub(super) fn distinct(self, column: &str) -> Result<bool> {
        self.flag(&[&key(column, "distinct")])
    }

    /// `fields.<column>.list-agg-delimiter`, `,` when absent.
    pub(super) fn delimiter(self, column: &str) -> &'a str {
        self.text(&[&key(column, "list-agg-delimiter")])
            .map_or(",", |(_, text)| text)
    }

    /// A comma list of names, trimmed; with the key of the option. Empty when absent.
    pub(super) fn names(self, column: &str, option: &str) -> (String, Vec<&'a str>) {
        let key = key(column, option);
        let names = self
            .0
            .raw()
            .get(&key)
            .map(|text| text.split(',').map(str::trim).collect());
        (key, names.unwrap_or_default())
    }

    /// `fields.<column>.count-limit`, no limit when absent.
    pub(super) fn count_limit(self, column: &str) -> Result<i64> {
        let key = key(column, "count-limit");
        match self.0.raw().get(&key) {
            None => Ok(i64::from(i32::MAX)),
            Some(text) => {
                let number: Option<i32> = text.trim().parse().ok();
                number
                    .map(i64::from)
                    .ok_or_else(|| Self::bad(&key, text, "a 32-bit integer"))
            }
        }
    }

    /// `fields.<column>.nested-key-null-strategy`; `None` when absent.
    pub(super) fn null_keys(self, column: &str) -> Result<Option<NullKeys>> {
        let key = key(column, "nested-key-null-strategy");
        match self.0.raw().get(&key) {
            None => Ok(None),
            Some(text) => match text.to_ascii_lowercase().as_str() {
                "merge" => Ok(Some(NullKeys::Merge)),
                "ignore" => Ok(Some(NullKeys::Ignore)),
                "error" => Ok(Some(NullKeys::Error)),
                _ => Err(Self::bad(&key, text, "merge, ignore, error")),
            },
        }
    }

    /// Key, ordering columns and protected columns of each sequence group, names as they are (Java does not trim them).
    pub(super) fn sequence_groups(self) -> impl Iterator<Item = (&'a str, Vec<&'a str>, Vec<&'a str>)> {
        self.0.raw().iter().filter_map(|(key, value)| {
            let ordering = key.strip_prefix("fields.")?.strip_suffix(".sequence-group")?;
            Some((key.as_str(), ordering.split(',').collect(), names(value)))
        })
    }
}

/// Names between commas, without the empty ones at the end (Java `String.split`, which makes one name of an empty text).
pub(super) fn names(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text.split(',').collect();
    while names.last().is_some_and(|name| name.is_empty()) && !text.is_empty() {
        names.pop();
    }
    names
}

/// Key of an option of one column.
pub(super) fn key(column: &str, option: &str) -> String {
    format!("fields.{column}.{option}")
}
