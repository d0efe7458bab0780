// SPDX-License-Identifier: Apache-2.0

//! Decimals as Java calculates with them (`DecimalUtils`, `Decimal.fromBigDecimal`): up to 18 digits as 64-bit numbers whose
//! digits nobody counts, more as exact numbers that become NULL when they have more digits than the type.

use arrow_buffer::i256;
use paimon_types::{Error, Result};

use super::number::Rules;

/// Digits that a 64-bit number always holds; a type with as many or fewer is calculated in 64 bits.
const COMPACT: u8 = 18;

/// The rules of one decimal type. Values are unscaled.
pub(super) struct Decimals<'a> {
    column: &'a str,
    compact: bool,
    /// 10^precision, the first number with too many digits.
    limit: i256,
    /// 10^scale.
    unit: i256,
}

impl<'a> Decimals<'a> {
    pub(super) fn new(column: &'a str, precision: u8, scale: i8) -> Self {
        let power = |digits: u32| i256::from_i128(10).checked_pow(digits).unwrap_or(i256::MAX);
        Decimals {
            column,
            compact: precision <= COMPACT,
            limit: power(u32::from(precision)),
            unit: power(u32::from(scale.unsigned_abs())),
        }
    }

    /// The number when it has no more digits than the type (Java `Decimal.fromBigDecimal`).
    fn fit(&self, number: i256) -> Option<i128> {
        let inside = number < self.limit && number > self.limit.wrapping_neg();
        if inside { number.to_i128() } else { None }
    }

    /// A sum or difference; in 64 bits where the type is calculated so and the result fits.
    fn rounded(&self, exact: Option<i128>) -> Option<i128> {
        // Two numbers of 38 digits: their sum fits into 128 bits.
        let exact = exact?;
        if self.compact && i64::try_from(exact).is_ok() {
            return Some(exact);
        }
        self.fit(i256::from_i128(exact))
    }

    /// `numerator / denominator`, half away from zero (Java `RoundingMode.HALF_UP`). The denominator is not zero.
    fn half_up(numerator: i256, denominator: i256) -> Option<i256> {
        let quotient = numerator.checked_div(denominator)?;
        let rest = numerator.checked_rem(denominator)?;
        let magnitude = |number: i256| {
            if number.is_negative() {
                number.wrapping_neg()
            } else {
                number
            }
        };
        let (rest, denominator_size) = (magnitude(rest), magnitude(denominator));
        // rest * 2 >= denominator without an overflow.
        if rest.is_positive() && rest >= denominator_size.wrapping_sub(rest) {
            let up = if numerator.is_negative() == denominator.is_negative() {
                i256::ONE
            } else {
                i256::MINUS_ONE
            };
            return quotient.checked_add(up);
        }
        Some(quotient)
    }

    fn cannot_divide(&self, why: &str) -> Error {
        let column = self.column;
        Error::invalid(format!(
            "product of column {column}: the division that takes a value back {why}"
        ))
        .with("column", column)
    }
}

impl Rules<i128> for Decimals<'_> {
    fn add(&self, a: i128, b: i128) -> Result<Option<i128>> {
        Ok(self.rounded(a.checked_add(b)))
    }

    fn subtract(&self, a: i128, b: i128) -> Result<Option<i128>> {
        Ok(self.rounded(a.checked_sub(b)))
    }

    fn negate(&self, a: i128) -> Result<Option<i128>> {
        Ok(self.fit(i256::from_i128(a).wrapping_neg()))
    }

    fn multiply(&self, a: i128, b: i128) -> Result<Option<i128>> {
        let exact = i256::from_i128(a).checked_mul(i256::from_i128(b));
        Ok(exact
            .and_then(|exact| Self::half_up(exact, self.unit))
            .and_then(|number| self.fit(number)))
    }

    /// Java `BigDecimal.divide(BigDecimal)`: an error unless the quotient has finitely many digits.
    fn divide(&self, a: i128, b: i128) -> Result<Option<i128>> {
        if b == 0 {
            return Err(self.cannot_divide("is one by zero"));
        }
        if a == 0 {
            return Ok(Some(0));
        }
        let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
        while y != 0 {
            (x, y) = (y, x % y);
        }
        // x is the greatest common divisor: what is left of the divisor may only have the factors 2 and 5.
        let mut divisor = b.unsigned_abs() / x;
        for factor in [2, 5] {
            while divisor.is_multiple_of(factor) {
                divisor /= factor;
            }
        }
        if divisor != 1 {
            return Err(self.cannot_divide("has no end"));
        }
        let scaled = i256::from_i128(a).checked_mul(self.unit);
        let quotient = scaled.and_then(|scaled| Self::half_up(scaled, i256::from_i128(b)));
        Ok(quotient.and_then(|number| self.fit(number)))
    }
}
