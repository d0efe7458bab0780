// SPDX-License-Identifier: Apache-2.0

//! What a version of a split or message can carry, and the words for what it cannot.

use paimon_types::{Error, Result};

/// From which version on a container holds records with how many fields, ascending.
pub(super) type Growth = &'static [(i32, usize)];

/// One version of one container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    /// Name of the container in messages.
    pub(super) name: &'static str,
    /// Its version.
    pub(super) version: i32,
    /// Growth of its file records.
    pub(super) files: Growth,
}

impl Carrier {
    /// Fields of a file record.
    pub(super) fn file_arity(&self) -> usize {
        arity(self.files, self.version)
    }

    /// Refuses to write what is newer than this version; `since` is the first version that carries it.
    #[cold]
    pub(super) fn refuse(&self, field: &str, since: Option<i32>) -> Error {
        let (name, version) = (self.name, self.version);
        Error::invalid(match since {
            Some(since) => {
                format!("{name} version {version} cannot carry {field}, expected version {since} or newer")
            }
            None => format!("{name} version {version} cannot carry {field}"),
        })
    }

    /// Passes when the value is absent or the version has reached `since`.
    pub(super) fn carries(&self, field: &str, present: bool, since: i32) -> Result<()> {
        if present && self.version < since {
            Err(self.refuse(field, Some(since)))
        } else {
            Ok(())
        }
    }
}

/// Fields of a record in `version`.
pub(super) fn arity(growth: Growth, version: i32) -> usize {
    growth
        .iter()
        .take_while(|(since, _)| *since <= version)
        .last()
        .map_or(0, |(_, arity)| *arity)
}

/// First version whose records have `field`.
pub(super) fn since(growth: Growth, field: usize) -> Option<i32> {
    growth
        .iter()
        .find(|(_, arity)| *arity > field)
        .map(|(since, _)| *since)
}

/// Refuses to read a version outside of `known`.
pub(super) fn check_read(name: &str, version: i32, known: std::ops::RangeInclusive<i32>) -> Result<()> {
    check(name, version, known, Error::unsupported)
}

/// Refuses to write a version outside of `known`.
pub(super) fn check_write(name: &str, version: i32, known: std::ops::RangeInclusive<i32>) -> Result<()> {
    check(name, version, known, Error::invalid)
}

fn check(
    name: &str,
    version: i32,
    known: std::ops::RangeInclusive<i32>,
    error: fn(String) -> Error,
) -> Result<()> {
    if known.contains(&version) {
        return Ok(());
    }
    Err(error(format!(
        "unknown {name} version {version}, this build knows versions {} to {}",
        known.start(),
        known.end()
    )))
}
