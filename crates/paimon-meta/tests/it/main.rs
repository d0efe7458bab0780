// SPDX-License-Identifier: Apache-2.0

//! Integration tests of the control plane.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod catalog;
mod commit;
mod deletes;
mod java_metadata;
mod manifest_format;
mod primary_key;
mod properties;
mod race;
mod replay;
mod restore;
/// Random files, rows and index files of the protocol, which manifests hold.
#[path = "../../../paimon-protocol/tests/it/sample.rs"]
#[allow(dead_code)]
mod sample;
mod support;
