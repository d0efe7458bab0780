// SPDX-License-Identifier: Apache-2.0

//! Unions of DataSketches (Java `ThetaSketch`, `HllSketchUtil`).

use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{CompactThetaSketch, ThetaUnionBuilder};

/// Union of two theta sketches with 4096 nominal entries, as an ordered compact sketch.
pub(super) fn union_theta(accumulator: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
    let read = |bytes: &[u8]| {
        let sketch = CompactThetaSketch::deserialize(bytes);
        sketch.map_err(|error| format!("{} bytes are not a compact theta sketch: {error}", bytes.len()))
    };
    let mut union = ThetaUnionBuilder::default()
        .build()
        .map_err(|error| error.to_string())?;
    for bytes in [accumulator, input] {
        union.update(&read(bytes)?).map_err(|error| error.to_string())?;
    }
    Ok(union.to_sketch(true).serialize())
}

/// Union of two HLL sketches at the size of the second, as a compact sketch of four bits a slot.
pub(super) fn union_hll(accumulator: &[u8], input: &[u8]) -> Result<Vec<u8>, String> {
    let read = |bytes: &[u8]| {
        let sketch = HllSketch::deserialize(bytes);
        sketch.map_err(|error| format!("{} bytes are not an HLL sketch: {error}", bytes.len()))
    };
    let (accumulator, input) = (read(accumulator)?, read(input)?);
    let mut union = HllUnion::new(input.lg_config_k()).map_err(|error| error.to_string())?;
    union.update(&input);
    union.update(&accumulator);
    Ok(union.to_sketch(HllType::Hll4).serialize())
}
