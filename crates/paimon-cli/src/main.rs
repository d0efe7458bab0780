// SPDX-License-Identifier: Apache-2.0

//! `paimon`.
fn main() {}
