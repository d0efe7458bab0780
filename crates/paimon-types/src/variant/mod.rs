// SPDX-License-Identifier: Apache-2.0

//! VARIANT values from JSON text and back (Java `GenericVariant`, `GenericVariantBuilder`; `wire.md` 13).

mod decode;
mod encode;

#[cfg(test)]
mod tests;

pub use decode::variant_to_json;
pub use encode::{variant_from_json, variant_from_json_text};

/// Deepest nesting of a value.
const MAX_DEPTH: usize = 64;
