// SPDX-License-Identifier: Apache-2.0

//! For implementers whose decoder or encoder blocks: work on the blocking pool, and a reader that decodes there, a few
//! batches ahead of its consumer.

mod reader;
mod task;

pub use reader::{Cancelled, Decode, Decoded, DecodingReader};
pub use task::{Task, parallelism, spawn};
