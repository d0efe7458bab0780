// SPDX-License-Identifier: Apache-2.0

//! Work on the blocking pool.

pub(crate) use paimon_format::blocking::{Task, parallelism, spawn};
