// SPDX-License-Identifier: Apache-2.0

//! Columns, filter and limit of a plan, which travel in the options of a native plan file from `plan --out` to `read-split`.

use std::collections::BTreeMap;

use paimon::types::{Error, Result};

use crate::args::RowsArgs;
use crate::session::Session;

/// JSON array of column names.
const COLUMNS: &str = "read.columns";
/// SQL condition.
const FILTER: &str = "read.filter";
/// Zone of instants in the condition.
const FILTER_ZONE: &str = "read.filter.time-zone";
/// Number of rows.
const LIMIT: &str = "read.limit";

/// Which rows and columns a plan was made for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PlannedRows {
    pub(super) columns: Option<Vec<String>>,
    /// Condition and the name of its time zone.
    pub(super) filter: Option<(String, String)>,
    pub(super) limit: Option<usize>,
}

impl PlannedRows {
    pub(super) fn new(session: &Session, rows: &RowsArgs) -> Self {
        PlannedRows {
            columns: rows.columns.clone(),
            filter: rows.filter.clone().map(|text| (text, session.zone_name.clone())),
            limit: rows.limit,
        }
    }

    /// Puts them among the options of a plan.
    pub(super) fn put(&self, options: &mut BTreeMap<String, String>) {
        if let Some(columns) = &self.columns {
            options.insert(
                COLUMNS.to_owned(),
                serde_json::Value::from(columns.as_slice()).to_string(),
            );
        }
        if let Some((text, zone)) = &self.filter {
            options.insert(FILTER.to_owned(), text.clone());
            options.insert(FILTER_ZONE.to_owned(), zone.clone());
        }
        if let Some(limit) = self.limit {
            options.insert(LIMIT.to_owned(), limit.to_string());
        }
    }

    /// Takes them out of the options of a plan.
    ///
    /// # Errors
    /// `Corrupt` for values that `put` does not write.
    pub(super) fn take(options: &mut BTreeMap<String, String>) -> Result<Self> {
        let wrong =
            |key: &'static str| Error::corrupt("the plan has an option that no plan has").with("option", key);
        let columns = match options.remove(COLUMNS) {
            None => None,
            Some(text) => match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(serde_json::Value::Array(names)) => Some(
                    names
                        .iter()
                        .map(|name| name.as_str().map(str::to_owned))
                        .collect::<Option<Vec<_>>>()
                        .ok_or_else(|| wrong(COLUMNS))?,
                ),
                _ => return Err(wrong(COLUMNS)),
            },
        };
        let zone = options.remove(FILTER_ZONE);
        let filter = match options.remove(FILTER) {
            None => None,
            Some(text) => Some((text, zone.ok_or_else(|| wrong(FILTER_ZONE))?)),
        };
        let limit = match options.remove(LIMIT) {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| wrong(LIMIT))?),
        };
        Ok(PlannedRows {
            columns,
            filter,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::PlannedRows;

    #[test]
    fn what_is_put_is_taken() {
        let rows = PlannedRows {
            columns: Some(vec!["a,b".to_owned(), "c\"d".to_owned()]),
            filter: Some(("x = 1".to_owned(), "Asia/Shanghai".to_owned())),
            limit: Some(7),
        };
        let mut options = BTreeMap::from([("bucket".to_owned(), "1".to_owned())]);
        rows.put(&mut options);
        assert_eq!(options.len(), 5);
        assert_eq!(PlannedRows::take(&mut options).unwrap(), rows);
        assert_eq!(options.len(), 1);
        assert_eq!(PlannedRows::take(&mut options).unwrap(), PlannedRows::default());
        options.insert("read.limit".to_owned(), "many".to_owned());
        assert!(PlannedRows::take(&mut options).is_err());
    }
}
