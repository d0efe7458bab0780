// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::decode::{ByteStream, IntDecoder, Positions, StreamBytes};
use crate::write::codec::Codec;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Values of all shapes that decide on the kind of a run.
    fn values(&mut self, count: usize, signed: bool) -> Vec<i64> {
        let mut values = Vec::new();
        while values.len() < count {
            let length = 1 + self.below(40) as usize * (1 + self.below(20) as usize);
            let width = 1 + self.below(64);
            let sign = |r: &mut Self, v: i64| {
                if signed && r.below(2) == 0 {
                    v.wrapping_neg()
                } else {
                    v
                }
            };
            let number = |r: &mut Self| ((r.next() >> 1) as i64) >> (63 - width.min(63));
            let first = number(self);
            let first = sign(self, first);
            let part: Vec<i64> = match self.below(8) {
                0 => vec![first; length],
                1 => (0..length as i64)
                    .map(|i| first.wrapping_add(i * width as i64))
                    .collect(),
                2 => (0..length as i64)
                    .map(|i| first.wrapping_sub(i * width as i64))
                    .collect(),
                3 => {
                    let step = 1 << self.below(30);
                    let mut at = first >> 8;
                    (0..length)
                        .map(|_| {
                            at += self.below(step) as i64;
                            at
                        })
                        .collect()
                }
                4 => {
                    let mut at = first >> 8;
                    (0..length)
                        .map(|_| {
                            at -= self.below(1000) as i64;
                            at
                        })
                        .collect()
                }
                // A few large ones among small ones.
                5 => (0..length)
                    .map(|_| match self.below(30) {
                        0 => number(self),
                        _ => self.below(100) as i64,
                    })
                    .collect(),
                6 => (0..length)
                    .map(|_| (first >> 9) + self.below(200) as i64)
                    .collect(),
                _ => (0..length)
                    .map(|_| {
                        let value = number(self);
                        sign(self, value)
                    })
                    .collect(),
            };
            let usable = |value: &i64| signed || *value >= 0;
            values.extend(part.into_iter().filter(usable));
            if signed && self.below(50) == 0 {
                values.extend([i64::MIN, i64::MAX, 0, i64::MIN]);
            }
        }
        values
    }
}

fn decoder(bytes: Vec<u8>, signed: bool, codec: Option<crate::decode::Codec>) -> IntDecoder {
    let stored = StreamBytes {
        bytes: bytes.into(),
        start: 0,
    };
    IntDecoder::new(ByteStream::new(stored, codec), signed, true)
}

#[test]
fn what_was_written_is_read() {
    for seed in 1..300 {
        let mut random = Random(seed * 7919);
        let (signed, aligned) = (seed % 2 == 0, seed % 3 != 0);
        let count = random.below(3000) as usize;
        let values = random.values(count, signed);
        let mut compressor = Compressor::new(Codec::None).unwrap();
        let mut writer = IntRle::new(Stream::new(None), signed, aligned);
        let mut rest = values.as_slice();
        let mut marks = Vec::new();
        while !rest.is_empty() {
            let mut position = Vec::new();
            writer.drain(&mut compressor).unwrap();
            writer.position(&mut position);
            marks.push((values.len() - rest.len(), position));
            let (now, later) = rest.split_at((1 + random.below(700) as usize).min(rest.len()));
            match now.iter().all(|value| Some(value) == now.first()) {
                true => writer.repeat(now[0], now.len()),
                false => writer.write(now),
            }
            rest = later;
        }
        let bytes = writer.finish(&mut compressor).unwrap();
        let mut read = Vec::new();
        decoder(bytes.clone(), signed, None)
            .read_all(values.len(), &mut read)
            .unwrap();
        assert_eq!(read, values, "seed {seed}");
        for (start, position) in marks {
            let mut decoder = decoder(bytes.clone(), signed, None);
            decoder.seek(&mut Positions(position.iter())).unwrap();
            let mut read = Vec::new();
            decoder.read_all(values.len() - start, &mut read).unwrap();
            assert_eq!(read, values[start..], "seed {seed} from {start}");
        }
    }
}

#[test]
fn runs_of_the_specification() {
    let coded = |values: &[i64], signed: bool| {
        let mut out = Vec::new();
        encode(values, signed, true, &mut out);
        out
    };
    assert_eq!(coded(&[10_000; 5], false), [0x0a, 0x27, 0x10]);
    assert_eq!(
        coded(&[23_713, 43_806, 57_005, 48_879], false),
        [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef]
    );
    assert_eq!(
        coded(&[2, 3, 5, 7, 11, 13, 17, 19, 23, 29], false),
        [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46]
    );
    let mut patched: Vec<i64> = (2030..2100).step_by(10).map(i64::from).collect();
    patched.splice(1..1, [2000, 2020, 1_000_000]);
    patched.extend((2100..2200).step_by(10).map(i64::from));
    assert_eq!(
        coded(&patched, false),
        [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a,
            0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8
        ]
    );
}

#[test]
fn long_repeats_take_little() {
    let mut out = Vec::new();
    encode(&[-3; 512], true, true, &mut out);
    assert_eq!(out, [0xc1, 0xff, 5, 0]);
}
