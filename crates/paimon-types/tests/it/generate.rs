// SPDX-License-Identifier: Apache-2.0

//! Random types and values from a seed.

use paimon_types::{DataField, DataType, Datum, MAX_LENGTH, Timestamp, TypeKind};

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Small, extreme and arbitrary numbers.
    fn number(&mut self) -> i64 {
        match self.below(4) {
            0 => self.below(5) as i64 - 2,
            1 => i64::MIN,
            2 => i64::MAX,
            _ => self.next() as i64,
        }
    }
}

pub(crate) fn random_type(random: &mut Random, depth: u32) -> DataType {
    let kinds = if depth == 0 { 19 } else { 24 };
    DataType::new(match random.below(kinds) {
        0 => TypeKind::Boolean,
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::Int,
        4 => TypeKind::BigInt,
        5 => TypeKind::Float,
        6 => TypeKind::Double,
        7 => TypeKind::VarChar(MAX_LENGTH),
        8 => TypeKind::Char(20),
        9 => TypeKind::VarBinary(MAX_LENGTH),
        10 => TypeKind::Decimal {
            precision: 18,
            scale: 3,
        },
        11 => TypeKind::Decimal {
            precision: 19 + random.below(20) as u8,
            scale: 2,
        },
        12 => TypeKind::Date,
        13 => TypeKind::Time(random.below(10) as u8),
        14 => TypeKind::Timestamp(random.below(10) as u8),
        15 => TypeKind::TimestampLtz(random.below(10) as u8),
        16 => TypeKind::Variant,
        17 => TypeKind::Blob,
        18 => TypeKind::Geometry("OGC:CRS84".into()),
        19 => TypeKind::Array(Box::new(random_type(random, depth - 1))),
        20 => TypeKind::Multiset(Box::new(random_type(random, depth - 1))),
        21 => TypeKind::Map(
            Box::new(random_type(random, depth - 1)),
            Box::new(random_type(random, depth - 1)),
        ),
        22 => {
            let count = random.below(4);
            let fields =
                (0..count).map(|i| DataField::new(i as i32, format!("f{i}"), random_type(random, depth - 1)));
            TypeKind::Row(fields.collect())
        }
        _ => TypeKind::Row(vec![DataField::new(
            0,
            "v",
            DataType::new(TypeKind::Vector(
                Box::new(DataType::new(TypeKind::Float)),
                random.below(5) as u32,
            )),
        )]),
    })
}

/// A value of the type, sometimes NULL. With `civil`, dates are in the years 1 to 9999 and times of day are in the day.
pub(crate) fn random_value(random: &mut Random, data_type: &DataType, civil: bool) -> Option<Datum> {
    if random.below(5) == 0 {
        return None;
    }
    let elements = |random: &mut Random, element: &DataType, len: u64| -> Vec<Option<Datum>> {
        (0..len).map(|_| random_value(random, element, civil)).collect()
    };
    Some(match &data_type.kind {
        TypeKind::Boolean => Datum::Boolean(random.below(2) == 1),
        TypeKind::TinyInt => Datum::TinyInt(random.number() as i8),
        TypeKind::SmallInt => Datum::SmallInt(random.number() as i16),
        TypeKind::Int => Datum::Int(random.number() as i32),
        TypeKind::BigInt => Datum::BigInt(random.number()),
        TypeKind::Float => Datum::Float(f32::from_bits(random.next() as u32)),
        TypeKind::Double => Datum::Double(f64::from_bits(random.next())),
        TypeKind::Date if civil => Datum::Date(random.below(3_652_059) as i32 - 719_162),
        TypeKind::Date => Datum::Date(random.number() as i32),
        TypeKind::Time(_) if civil => Datum::Time(random.below(86_400_000) as i32),
        TypeKind::Time(_) => Datum::Time(random.number() as i32),
        TypeKind::Char(n) => {
            let n = u64::from(*n);
            Datum::String(random_text(random, n))
        }
        TypeKind::VarChar(_) => Datum::String(random_text(random, 24)),
        TypeKind::Decimal { precision, scale } => {
            let limit = 10i128.pow(u32::from(*precision));
            let wide = (i128::from(random.next() as i64) << 64) | i128::from(random.next());
            let unscaled = match random.below(4) {
                0 => limit - 1,
                1 => 1 - limit,
                2 => i128::from(random.below(512)) - 256,
                _ => wide,
            };
            Datum::Decimal {
                unscaled: unscaled % limit,
                scale: *scale,
            }
        }
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => {
            let mut millis = if civil {
                random.below(315_537_897_600_000) as i64 - 62_135_596_800_000
            } else {
                random.number()
            };
            let unit = 10i64.pow(9 - u32::from(*p));
            if civil && unit > 1_000_000 {
                millis -= millis.rem_euclid(unit / 1_000_000);
            }
            let nanos = if *p > 3 {
                random.below(1_000_000) as i64 / unit * unit
            } else {
                0
            };
            Datum::Timestamp(Timestamp {
                millis,
                nanos_of_milli: nanos as i32,
            })
        }
        TypeKind::Binary(_)
        | TypeKind::VarBinary(_)
        | TypeKind::Blob
        | TypeKind::Geometry(_)
        | TypeKind::Geography { .. } => {
            Datum::Bytes((0..random.below(24)).map(|_| random.next() as u8).collect())
        }
        TypeKind::Variant => Datum::Variant {
            value: (0..random.below(20)).map(|_| random.next() as u8).collect(),
            metadata: (0..random.below(9)).map(|_| random.next() as u8).collect(),
        },
        TypeKind::Array(element) => {
            let len = if random.below(10) == 0 {
                30 + random.below(10)
            } else {
                random.below(5)
            };
            Datum::Array(elements(random, element, len))
        }
        TypeKind::Multiset(element) => {
            let keys = elements(random, element, 3);
            Datum::Map(
                keys.into_iter()
                    .map(|k| (k, Some(Datum::Int(random.next() as i32))))
                    .collect(),
            )
        }
        TypeKind::Map(key, value) => {
            let len = random.below(4);
            let keys = elements(random, key, len);
            let values = elements(random, value, len);
            Datum::Map(keys.into_iter().zip(values).collect())
        }
        TypeKind::Vector(_, len) => Datum::Array(
            (0..*len)
                .map(|_| Some(Datum::Float(f32::from_bits(random.next() as u32))))
                .collect(),
        ),
        TypeKind::Row(fields) => Datum::Row(
            fields
                .iter()
                .map(|f| random_value(random, &f.data_type, civil))
                .collect(),
        ),
    })
}

pub(crate) fn random_text(random: &mut Random, max: u64) -> String {
    let alphabet = [
        'a',
        'b',
        ' ',
        '/',
        '%',
        '=',
        ':',
        '\u{e9}',
        '\u{4f60}',
        '\u{1f600}',
        '"',
        '\u{7f}',
        '^',
        '0',
        '.',
    ];
    (0..random.below(max + 1))
        .map(|_| alphabet[random.below(alphabet.len() as u64) as usize])
        .collect()
}

/// Equal values; floats by bits, except that every NaN equals every other (arrays do not keep the bits of a NaN).
pub(crate) fn same_rows(a: &[Option<Datum>], b: &[Option<Datum>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a.as_ref(), b.as_ref()))
}

fn same(a: Option<&Datum>, b: Option<&Datum>) -> bool {
    match (a, b) {
        (Some(Datum::Float(a)), Some(Datum::Float(b))) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (Some(Datum::Double(a)), Some(Datum::Double(b))) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (Some(Datum::Array(a)), Some(Datum::Array(b))) | (Some(Datum::Row(a)), Some(Datum::Row(b))) => {
            same_rows(a, b)
        }
        (Some(Datum::Map(a)), Some(Datum::Map(b))) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((ka, va), (kb, vb))| {
                    same(ka.as_ref(), kb.as_ref()) && same(va.as_ref(), vb.as_ref())
                })
        }
        (a, b) => a == b,
    }
}
