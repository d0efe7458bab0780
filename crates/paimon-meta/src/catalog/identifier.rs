// SPDX-License-Identifier: Apache-2.0

//! Names of tables (Java `Identifier`; `metadata.md` 1).

use std::fmt;
use std::str::FromStr;

use paimon_types::{Error, Result};

use super::DEFAULT_DATABASE;
use crate::branch;
use crate::paths::{MAIN_BRANCH, trim_location};

const BRANCH_PREFIX: &str = "branch_";

/// Behind the name of the read-optimized table.
const READ_OPTIMIZED: &str = "ro";

/// A view of a table that has a name of its own, `table$<name>` (Java `SystemTableLoader`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SystemTable {
    /// `$ro`: of a table with a primary key, what needs no merging ([`TableScan::read_optimized`](crate::scan::TableScan::read_optimized)).
    ReadOptimized,
}

impl SystemTable {
    /// The name behind the dollar sign.
    pub fn as_str(self) -> &'static str {
        match self {
            SystemTable::ReadOptimized => READ_OPTIMIZED,
        }
    }
}

/// A table name: `database.table`, with `$branch_<name>` behind for a branch and `$<name>` behind for a system table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier {
    /// Database.
    pub database: String,
    /// Table, without branch.
    pub table: String,
    /// Branch, `None` for main.
    pub branch: Option<String>,
    /// System table, `None` for the table itself.
    pub system_table: Option<SystemTable>,
}

impl Identifier {
    /// A table on its main branch.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is blank or cannot be part of a path.
    pub fn new(database: impl Into<String>, table: impl Into<String>) -> Result<Self> {
        let identifier = Identifier {
            database: database.into(),
            table: table.into(),
            branch: None,
            system_table: None,
        };
        validate_name("database", &identifier.database)?;
        validate_name("table", &identifier.table)?;
        Ok(identifier)
    }

    /// Parses `table`, `db.table`, `db.table$branch_x`, `db.table$ro` or `db.table$branch_x$ro`. The database ends at the first dot.
    ///
    /// # Errors
    /// `InvalidInput` for bad names; `Unsupported` for other system tables than `$ro` (`t$snapshots`).
    pub fn parse(text: &str) -> Result<Self> {
        let (database, object) = match text.split_once('.') {
            Some((database, object)) => (database, object),
            None => (DEFAULT_DATABASE, text),
        };
        validate_name("database", database)?;
        Self::from_object(database, object)
    }

    /// Takes the name from a table location: `…/<database>.db/<table>`; a parent directory of another form means the
    /// database `default`. `$branch_<name>` at the end selects a branch, `$ro` behind that the read-optimized table.
    ///
    /// # Errors
    /// `InvalidInput` when the location has no last part, or for the branch name.
    pub fn from_location(location: &str) -> Result<Self> {
        let (root, branch, system_table) = Self::split_location(location)?;
        let mut parts = root.rsplit('/');
        let object = parts.next().filter(|o| !o.is_empty() && !o.ends_with(':'));
        let object =
            object.ok_or_else(|| Error::invalid("the location names no table").with("path", location))?;
        let database = parts
            .next()
            .and_then(|p| p.strip_suffix(".db"))
            .filter(|d| !d.is_empty());
        Ok(Identifier {
            database: database.unwrap_or(DEFAULT_DATABASE).to_string(),
            table: object.to_string(),
            branch,
            system_table,
        })
    }

    /// Splits `<root>[$branch_<name>][$ro]` and trims slashes at the end.
    pub(crate) fn split_location(location: &str) -> Result<(&str, Option<String>, Option<SystemTable>)> {
        let mut location = trim_location(location);
        let mut system_table = None;
        if let Some((rest, READ_OPTIMIZED)) = location.rsplit_once('$') {
            system_table = Some(SystemTable::ReadOptimized);
            location = rest;
        }
        match location.rsplit_once('$') {
            Some((root, suffix)) if suffix.starts_with(BRANCH_PREFIX) && !suffix.contains('/') => {
                Ok((root, parse_branch(suffix)?, system_table))
            }
            _ => Ok((location, None, system_table)),
        }
    }

    /// The same table on another branch.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be a branch.
    pub fn with_branch(&self, name: &str) -> Result<Self> {
        let mut identifier = self.clone();
        identifier.branch = if name == MAIN_BRANCH {
            None
        } else {
            branch::validate_name(name)?;
            Some(name.to_string())
        };
        Ok(identifier)
    }

    /// `table`, `table$branch_x`, `table$ro` or `table$branch_x$ro`.
    pub fn object_name(&self) -> String {
        let mut name = match &self.branch {
            Some(branch) => format!("{}${BRANCH_PREFIX}{branch}", self.table),
            None => self.table.clone(),
        };
        if let Some(system_table) = self.system_table {
            name.push('$');
            name.push_str(system_table.as_str());
        }
        name
    }

    fn from_object(database: &str, object: &str) -> Result<Self> {
        let mut parts = object.split('$');
        let table = parts.next().unwrap_or_default();
        validate_name("table", table)?;
        let mut identifier = Identifier {
            database: database.to_string(),
            table: table.to_string(),
            branch: None,
            system_table: None,
        };
        for (index, suffix) in parts.enumerate() {
            if index == 0 && suffix.starts_with(BRANCH_PREFIX) {
                identifier.branch = parse_branch(suffix)?;
            } else if suffix == READ_OPTIMIZED && identifier.system_table.is_none() {
                identifier.system_table = Some(SystemTable::ReadOptimized);
            } else {
                return Err(Error::unsupported(format!(
                    "system table {object:?}: system tables other than $ro are not implemented"
                ))
                .with("table", format_args!("{database}.{object}")));
            }
        }
        Ok(identifier)
    }
}

fn parse_branch(suffix: &str) -> Result<Option<String>> {
    let name = suffix.strip_prefix(BRANCH_PREFIX).unwrap_or(suffix);
    if name == MAIN_BRANCH {
        return Ok(None);
    }
    branch::validate_name(name)?;
    Ok(Some(name.to_string()))
}

impl FromStr for Identifier {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.object_name())
    }
}

/// A database or table name becomes a directory name: not blank, one path component, no `$`, no control character.
pub(crate) fn validate_name(what: &str, name: &str) -> Result<()> {
    let why = if name.trim().is_empty() {
        "is blank"
    } else if name.contains(['/', '\\', '$']) || name.chars().any(char::is_control) {
        "has a slash, a dollar sign or a control character"
    } else if name == "." || name == ".." {
        "is a relative path"
    } else if what == "database" && name.contains('.') {
        "has a dot"
    } else {
        return Ok(());
    };
    Err(Error::invalid(format!("{what} name {name:?} {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_shows() {
        for text in ["db.t", "db.t$branch_x", "db.a.b", "db.t$ro", "db.t$branch_x$ro"] {
            assert_eq!(Identifier::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Identifier::parse("t").unwrap().to_string(), "default.t");
        assert_eq!(Identifier::parse("db.t$branch_main").unwrap().to_string(), "db.t");
        for bad in [
            "",
            ".t",
            "db.",
            "db.a/b",
            "db...",
            "db.t$branch_",
            "db.t$branch_1",
            "db.$x",
            "db.t$ro$ro",
            "db.t$ro$branch_x",
        ] {
            assert!(Identifier::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            Identifier::parse("db.t$snapshots").unwrap_err().kind(),
            paimon_types::ErrorKind::Unsupported
        );
    }

    #[test]
    fn from_locations() {
        for (location, name) in [
            ("/w/db.db/t", "db.t"),
            ("s3://bucket/w/db.db/t/", "db.t"),
            ("/w/t", "default.t"),
            ("t$branch_x", "default.t$branch_x"),
            ("/w/t$branch_main/", "default.t"),
            ("memory:///t", "default.t"),
            ("/w/db.db/t$ro", "db.t$ro"),
            ("/w/db.db/t$branch_x$ro/", "db.t$branch_x$ro"),
        ] {
            assert_eq!(
                Identifier::from_location(location).unwrap().to_string(),
                name,
                "{location}"
            );
        }
        assert!(Identifier::from_location("/").is_err());
        assert!(Identifier::from_location("s3://").is_err());
    }
}
