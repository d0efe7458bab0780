// SPDX-License-Identifier: Apache-2.0

//! Decimals, each of which is stored with a scale of its own.

use paimon_types::{Error, Result};

use crate::decode::{IntDecoder, Ints};
use crate::error::damaged;

/// Brings decimals to `scale`; each has one of its own. Digits that are lost are rounded half up, as Java does.
pub(super) fn rescale(values: &mut [i128], scales: &mut IntDecoder, precision: u8, scale: u8) -> Result<()> {
    let limit = 10i128.pow(u32::from(precision.min(38)));
    let mut rest = values;
    while !rest.is_empty() {
        let (here, from) = match scales.next(rest.len())? {
            Ints::Repeat(from, times) => (times, Scales::One(from)),
            Ints::Values(values) => (values.len(), Scales::Each(values)),
        };
        let Some((part, after)) = rest.split_at_mut_checked(here) else {
            return Err(damaged("there are more scales than decimals"));
        };
        match from {
            Scales::One(from) if from == i64::from(scale) => check(part, limit, precision, scale)?,
            Scales::One(from) => {
                for value in part {
                    *value = rescaled(*value, from, precision, scale, limit)?;
                }
            }
            Scales::Each(from) => {
                for (value, from) in part.iter_mut().zip(from) {
                    *value = rescaled(*value, *from, precision, scale, limit)?;
                }
            }
        }
        rest = after;
    }
    Ok(())
}

enum Scales<'a> {
    One(i64),
    Each(&'a [i64]),
}

fn check(values: &[i128], limit: i128, precision: u8, scale: u8) -> Result<()> {
    match values
        .iter()
        .find(|value| value.unsigned_abs() >= limit.unsigned_abs())
    {
        None => Ok(()),
        Some(value) => Err(too_wide(*value, i64::from(scale), precision, scale)),
    }
}

fn too_wide(value: i128, from: i64, precision: u8, scale: u8) -> Error {
    Error::invalid(format!(
        "stored decimal {value} of scale {from} does not fit DECIMAL({precision}, {scale})"
    ))
}

/// A decimal of scale `from` at `scale`.
fn rescaled(value: i128, from: i64, precision: u8, scale: u8, limit: i128) -> Result<i128> {
    let up = i64::from(scale).saturating_sub(from);
    let power = u32::try_from(up.unsigned_abs())
        .ok()
        .and_then(|n| 10i128.checked_pow(n));
    let scaled = match (up, power) {
        _ if value == 0 => Some(0),
        (0.., Some(power)) => value.checked_mul(power),
        (_, Some(power)) => {
            let (quotient, rest) = (value / power, value % power);
            let away = rest.unsigned_abs() >= power.unsigned_abs().div_ceil(2);
            Some(if away { quotient + value.signum() } else { quotient })
        }
        // More digits are lost than there are.
        (i64::MIN..0, None) => Some(0),
        _ => None,
    };
    scaled
        .filter(|scaled| scaled.unsigned_abs() < limit.unsigned_abs())
        .ok_or_else(|| too_wide(value, from, precision, scale))
}
