// SPDX-License-Identifier: Apache-2.0

//! Day numbers and dates of the proleptic Gregorian calendar, without limits on the year.

/// Milliseconds of a day.
pub(crate) const DAY_MILLIS: i64 = 86_400_000;

const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01, where eras of 400 years start, to 1970-01-01.
const EPOCH_SHIFT: i64 = 719_468;

/// Year, month (1–12) and day (1–31) of a day number, 0 = 1970-01-01, proleptic Gregorian. Saturates near the ends of i64.
pub fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let shifted = days.saturating_add(EPOCH_SHIFT);
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months count from March, so that the leap day is the last of the year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (
        year_of_era + era * 400 + i64::from(month <= 2),
        month as u8,
        day as u8,
    )
}

/// Day number of a date, 0 = 1970-01-01, proleptic Gregorian. Months count 1–12, days may run past the end of the month. Saturates for
/// years that no i64 day number reaches.
pub fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.saturating_mul(DAYS_PER_ERA)
        .saturating_add(day_of_era - EPOCH_SHIFT)
}

/// Days of a month (1–12).
pub(crate) fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
