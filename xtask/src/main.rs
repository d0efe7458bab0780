// SPDX-License-Identifier: Apache-2.0

//! tasks
fn main() {}
