// SPDX-License-Identifier: Apache-2.0

//! Tests of whole files. What other readers make of them is looked at by hand: `files_for_other_readers` writes them.

mod contract;
mod dump;
mod interop;
mod roundtrip;
