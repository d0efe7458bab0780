// SPDX-License-Identifier: Apache-2.0

//! The bytes that are decoded: read in order, and shared by the rows that come out.

use std::ops::{Deref, DerefMut};

use paimon_types::{BinaryRow, DataInput, Result, SharedBytes};

use crate::Partition;

/// [`DataInput`] over a shared buffer.
#[derive(Clone)]
pub(super) struct SharedInput<'a> {
    input: DataInput<'a>,
    /// What is read; values may be parts of it.
    pub(super) buffer: &'a SharedBytes,
}

impl<'a> SharedInput<'a> {
    pub(super) fn new(buffer: &'a SharedBytes) -> Self {
        SharedInput {
            input: DataInput::new(buffer),
            buffer,
        }
    }

    /// The partition of a split or message.
    pub(super) fn read_partition(&mut self) -> Result<Partition> {
        let bytes = self.input.read_sized()?;
        BinaryRow::from_serialized_in(self.buffer, bytes).map(Partition::from_encoded_row)
    }
}

impl<'a> Deref for SharedInput<'a> {
    type Target = DataInput<'a>;

    fn deref(&self) -> &DataInput<'a> {
        &self.input
    }
}

impl<'a> DerefMut for SharedInput<'a> {
    fn deref_mut(&mut self) -> &mut DataInput<'a> {
        &mut self.input
    }
}
