// SPDX-License-Identifier: Apache-2.0

//! A conformance suite that any implementer of the interface can run, and the sample data that it uses.
//!
//! ```text
//! let format = MyFormatFactory.create(&BTreeMap::new())?;
//! paimon_format::testkit::check_format(format.as_ref(), &Storage::memory(), "memory:///t", &fields).await?;
//! ```

mod push_down;
mod sample;
mod suite;

pub use push_down::{check_push_down, check_push_down_with, push_down_fields};
pub use sample::{Sampler, all_type_fields, sample_batch};
pub use suite::{ReadRequest, WrittenFile, check_format, open, read_file, write_file};
