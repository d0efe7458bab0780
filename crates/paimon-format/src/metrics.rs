// SPDX-License-Identifier: Apache-2.0

//! Counters of readers and writers.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Named counters at one moment (C++ `Metrics`). Names are lower case with dots, such as `parquet.read.row-groups`;
/// times are nanoseconds, sizes bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    counters: BTreeMap<Cow<'static, str>, u64>,
}

impl Metrics {
    /// No counters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a counter.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: u64) {
        self.counters.insert(name.into(), value);
    }

    /// The value of a counter, `None` when there is none of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.counters.get(name).copied()
    }

    /// Adds every counter of `other` to ours.
    pub fn merge(&mut self, other: &Metrics) {
        for (name, value) in &other.counters {
            let sum = self.counters.entry(name.clone()).or_insert(0);
            *sum = sum.saturating_add(*value);
        }
    }

    /// All counters in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counters.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}
