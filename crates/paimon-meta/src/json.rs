// SPDX-License-Identifier: Apache-2.0

//! Writes flat JSON objects in the layout of Jackson's default pretty printer, as Java's metadata files have it.

use std::collections::BTreeMap;
use std::fmt::Display;

/// Builds one object: keys in call order, `"key" : value`, two-space indent.
pub(crate) struct ObjectWriter {
    text: String,
    empty: bool,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        ObjectWriter {
            text: String::from("{"),
            empty: true,
        }
    }

    /// Writes a value that is JSON text already.
    pub(crate) fn raw(&mut self, key: &str, value: impl Display) -> &mut Self {
        if !self.empty {
            self.text.push(',');
        }
        self.empty = false;
        self.text.push_str("\n  ");
        self.text.push_str(&quote(key));
        self.text.push_str(" : ");
        self.text.push_str(&value.to_string());
        self
    }

    /// Writes a value that is JSON text already, nothing for `None`.
    pub(crate) fn raw_some(&mut self, key: &str, value: Option<impl Display>) -> &mut Self {
        match value {
            Some(value) => self.raw(key, value),
            None => self,
        }
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) -> &mut Self {
        self.raw(key, quote(value))
    }

    pub(crate) fn string_some(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        self.raw_some(key, value.map(quote))
    }

    /// Writes a map of strings, nothing when it is empty.
    pub(crate) fn string_map(&mut self, key: &str, map: &BTreeMap<String, String>) -> &mut Self {
        if map.is_empty() {
            return self;
        }
        let entries: Vec<String> = map
            .iter()
            .map(|(k, v)| format!("    {} : {}", quote(k), quote(v)))
            .collect();
        self.raw(key, format_args!("{{\n{}\n  }}", entries.join(",\n")))
    }

    pub(crate) fn finish(&self) -> String {
        if self.empty {
            String::from("{ }")
        } else {
            format!("{}\n}}", self.text)
        }
    }
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
