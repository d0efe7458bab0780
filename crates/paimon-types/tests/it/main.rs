// SPDX-License-Identifier: Apache-2.0

//! Rows, hashes, streams and text against what Java wrote: `testdata/wire-vectors.jsonl` and `testdata/java-text.jsonl`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod blobs;
mod buckets;
mod generate;
mod java_text;
mod partitions;
mod predicate_json;
mod properties;
mod rows;
mod streams;
mod vectors;
