// SPDX-License-Identifier: Apache-2.0

//! Which statistics a writer keeps for a column (`metadata.md` 5, Java `SimpleColStatsCollector`).

use std::fmt;

use super::kind::Kind;

/// Statistics kept for one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatsMode {
    /// Nothing: min, max and null count are all unknown.
    None,
    /// The null count only.
    Counts,
    /// Min, max and null count; strings cut to n code points, binaries to n bytes.
    Truncate(u32),
    /// Min, max and null count, uncut.
    Full,
}

/// The default of `metadata.stats-mode`.
impl Default for StatsMode {
    fn default() -> Self {
        StatsMode::Truncate(16)
    }
}

impl StatsMode {
    /// Parses `none`, `counts`, `full` or `truncate(n)` with n ≥ 1, in any case.
    pub fn parse(text: &str) -> Option<StatsMode> {
        let text = text.trim().to_ascii_lowercase();
        match text.as_str() {
            "none" => Some(StatsMode::None),
            "counts" => Some(StatsMode::Counts),
            "full" => Some(StatsMode::Full),
            _ => {
                let n = text.strip_prefix("truncate(")?.strip_suffix(')')?.parse().ok()?;
                (n >= 1).then_some(StatsMode::Truncate(n))
            }
        }
    }
}

impl fmt::Display for StatsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatsMode::None => f.write_str("none"),
            StatsMode::Counts => f.write_str("counts"),
            StatsMode::Truncate(n) => write!(f, "truncate({n})"),
            StatsMode::Full => f.write_str("full"),
        }
    }
}

pub(crate) const STATS_MODE: Kind<StatsMode> = Kind {
    name: "stats mode",
    allowed: "none, counts, full, truncate(n)",
    parse: StatsMode::parse,
};
