// SPDX-License-Identifier: Apache-2.0

//! Integration tests of the control plane.

mod catalog;
mod commit;
mod java_metadata;
mod race;
mod support;
