// SPDX-License-Identifier: Apache-2.0

//! Tests of the index files.

// Helpers of tests are not tests for clippy's `allow-…-in-tests`.
#![allow(clippy::unwrap_used)]

mod damage;
mod properties;
mod vectors;

use paimon_index::{DeletionVector, DeletionVectorKind};

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const KINDS: [DeletionVectorKind; 2] = [DeletionVectorKind::Bitmap32, DeletionVectorKind::Bitmap64];

fn vector(kind: DeletionVectorKind, rows: impl IntoIterator<Item = u64>) -> DeletionVector {
    DeletionVector::from_positions(kind, rows).unwrap()
}
