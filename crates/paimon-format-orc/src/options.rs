// SPDX-License-Identifier: Apache-2.0

//! Options that readers know.

use std::collections::BTreeMap;

use paimon_types::{Error, Result};

/// How TIMESTAMP_LTZ is stored.
const LEGACY_LTZ: &str = "orc.timestamp-ltz.legacy.type";

/// What the options say about reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadOptions {
    /// True (the default): TIMESTAMP_LTZ is stored as the instant at which clocks of the writer's zone show what clocks
    /// of UTC show at the value. False: as the value.
    pub(crate) legacy_ltz: bool,
}

impl ReadOptions {
    /// Looks at `orc.timestamp-ltz.legacy.type`; all other options are the writer's.
    ///
    /// # Errors
    /// `InvalidInput` when the value is neither `true` nor `false`.
    pub(crate) fn parse(options: &BTreeMap<String, String>) -> Result<Self> {
        let given = options
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(LEGACY_LTZ));
        let legacy_ltz = match given.map(|(_, value)| value.trim().to_ascii_lowercase()) {
            None => true,
            Some(value) => match value.as_str() {
                "true" => true,
                "false" => false,
                _ => {
                    let what = format!("option {LEGACY_LTZ} is {value:?}, \"true\" or \"false\" expected");
                    return Err(Error::invalid(what).with("option", LEGACY_LTZ));
                }
            },
        };
        Ok(ReadOptions { legacy_ltz })
    }
}
