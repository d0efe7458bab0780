// SPDX-License-Identifier: Apache-2.0

//! Writes an index file with random vectors of both kinds, for other readers to check:
//! `random_vectors SEED COUNT FILE`.

use std::error::Error;

use paimon_index::{DeletionVector, DeletionVectorFileWriter, DeletionVectorKind};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(seed), Some(count), Some(file)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: random_vectors SEED COUNT FILE".into());
    };
    let mut random = Random(seed.parse()?);
    let mut writer = DeletionVectorFileWriter::new();
    for _ in 0..count.parse::<u32>()? {
        writer.write(&random.vector()?)?;
    }
    std::fs::write(file, writer.finish())?;
    Ok(())
}

/// A small generator; the numbers only have to be varied.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % bound
    }

    /// Single rows, blocks and combs, so that containers of every form are there.
    fn vector(&mut self) -> paimon_types::Result<DeletionVector> {
        let wide = self.below(2) == 1;
        let kind = if wide {
            DeletionVectorKind::Bitmap64
        } else {
            DeletionVectorKind::Bitmap32
        };
        let mut vector = DeletionVector::new(kind);
        for _ in 0..self.below(6) {
            let high = if wide { self.below(3) << 32 } else { 0 };
            let bits = self.below(24);
            let start = high + self.below(1 << bits);
            let (count, step) = match self.below(4) {
                0 => (1, 1),
                1 => (1 + self.below(70_000), 1),
                2 => (1 + self.below(9_000), 1 + self.below(20)),
                _ => (1 + self.below(8), 1 + self.below(3)),
            };
            for i in 0..count {
                vector.delete(start + i * step)?;
            }
        }
        Ok(vector)
    }
}
