// SPDX-License-Identifier: Apache-2.0

//! Formats by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_types::{Error, Result};

use crate::{FileFormat, FileFormatFactory};

/// The file formats that an application knows, by identifier (C++ `FileFormatFactory::Get` and its registration).
///
/// A value instead of a global: what can be read depends on the registry given, never on link order.
#[derive(Clone, Debug, Default)]
pub struct FormatRegistry {
    factories: BTreeMap<String, Arc<dyn FileFormatFactory>>,
}

impl FormatRegistry {
    /// A registry without formats.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a factory under its identifier and returns the one that it replaces.
    pub fn register(&mut self, factory: Arc<dyn FileFormatFactory>) -> Option<Arc<dyn FileFormatFactory>> {
        self.factories
            .insert(factory.identifier().to_ascii_lowercase(), factory)
    }

    /// The same as [`FormatRegistry::register`] in a chain.
    #[must_use]
    pub fn with(mut self, factory: Arc<dyn FileFormatFactory>) -> Self {
        self.register(factory);
        self
    }

    /// The format called `identifier` (any case) made with `options`.
    ///
    /// # Errors
    /// `Unsupported` that lists the known formats when there is none of this name; what the factory returns.
    pub fn get(&self, identifier: &str, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        match self.factories.get(&identifier.to_ascii_lowercase()) {
            Some(factory) => factory.create(options),
            None if self.factories.is_empty() => Err(Error::unsupported(format!(
                "file format {identifier:?} is unknown, no format is registered"
            ))),
            None => {
                let known: Vec<&str> = self.identifiers().collect();
                Err(Error::unsupported(format!(
                    "file format {identifier:?} is unknown, registered formats are: {}",
                    known.join(", ")
                )))
            }
        }
    }

    /// Identifiers of the registered formats in alphabetical order.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.factories.keys().map(String::as_str)
    }
}
