// SPDX-License-Identifier: Apache-2.0

//! Rows of a table with a primary key: kinds, sort buffer, spilled runs, merge at flush, files of level 0 (Java `MergeTreeWriter`,
//! `SortBufferWriteBuffer`, `KeyValueDataFileWriter`; `semantics.md` 1, 2, 4).

mod check;
mod facts;
mod kinds;
mod layout;
mod rows;
mod sorted;
mod spilled;
mod versions;
mod writer;

pub(super) use check::{check_writable, file_settings};
pub(super) use facts::{KeyValueColumns, RowFacts};
pub(super) use kinds::KindColumn;
pub(super) use layout::KeyValueLayout;
pub(super) use rows::RowBuffer;
pub(super) use writer::{KeyValueTable, KeyValueWriter};
