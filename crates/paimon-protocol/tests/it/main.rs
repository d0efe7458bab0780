// SPDX-License-Identifier: Apache-2.0

//! Tests over the public interface of the protocol crate.

// Helpers of tests are not tests for clippy's `allow-…-in-tests`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codecs;
mod conformance;
mod described;
mod java_wire;
#[cfg(feature = "json")]
mod json;
mod native;
mod native_work;
mod properties;
mod refusals;
mod render;
mod sample;
mod vectors;

/// The folder of a path relative to the repository.
fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "odd number of hex digits");
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}
