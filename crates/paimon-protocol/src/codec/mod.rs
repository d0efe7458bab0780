// SPDX-License-Identifier: Apache-2.0

//! Byte forms of splits, commit messages and plans.

pub mod java;
pub mod native;
