// SPDX-License-Identifier: Apache-2.0

//! How the text of an option becomes a value (Java `OptionsUtils`, `MemorySize`, `TimeUtils`).

use std::collections::BTreeMap;

use crate::{Error, Result};

/// A value type of options: its name, what is allowed, and the parser.
pub(crate) struct Kind<T> {
    /// Type name in the option table.
    pub(crate) name: &'static str,
    /// What is allowed, for error messages and the documentation.
    pub(crate) allowed: &'static str,
    /// `None` when the text is not a value of this kind.
    pub(crate) parse: fn(&str) -> Option<T>,
}

/// Any text.
pub(crate) const STRING: Kind<String> = Kind {
    name: "string",
    allowed: "any text",
    parse: |text| Some(text.to_owned()),
};
/// Text that is not empty.
pub(crate) const NAME: Kind<String> = Kind {
    name: "string",
    allowed: "text that is not blank",
    parse: |text| (!text.trim().is_empty()).then(|| text.to_owned()),
};
/// A format or codec name, kept in lower case.
pub(crate) const IDENTIFIER: Kind<String> = Kind {
    name: "string",
    allowed: "a name, case-insensitive",
    parse: |text| (!text.trim().is_empty()).then(|| text.trim().to_lowercase()),
};
/// `true` or `false` in any case.
pub(crate) const BOOL: Kind<bool> = Kind {
    name: "bool",
    allowed: "true, false",
    parse: |text| match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    },
};
/// 32 bit integer.
pub(crate) const INT: Kind<i32> = Kind {
    name: "int",
    allowed: "a 32-bit integer",
    parse: |text| text.parse().ok(),
};
/// 32 bit integer ≥ 1.
pub(crate) const POSITIVE_INT: Kind<i32> = Kind {
    name: "int",
    allowed: "a 32-bit integer >= 1",
    parse: |text| text.parse().ok().filter(|n| *n >= 1),
};
/// 32 bit integer ≥ 0.
pub(crate) const COUNT: Kind<i32> = Kind {
    name: "int",
    allowed: "a 32-bit integer >= 0",
    parse: |text| text.parse().ok().filter(|n| *n >= 0),
};
/// 64 bit integer.
pub(crate) const LONG: Kind<i64> = Kind {
    name: "long",
    allowed: "a 64-bit integer",
    parse: |text| text.parse().ok(),
};
/// 64 bit integer ≥ 1.
pub(crate) const POSITIVE_LONG: Kind<i64> = Kind {
    name: "long",
    allowed: "a 64-bit integer >= 1",
    parse: |text| text.parse().ok().filter(|n| *n >= 1),
};
/// Bytes.
pub(crate) const MEMORY: Kind<u64> = Kind {
    name: "memory",
    allowed: "a number with an optional unit b, kb, mb, gb, tb",
    parse: |text| parse_memory_size(text).ok(),
};
/// Milliseconds.
pub(crate) const DURATION: Kind<i64> = Kind {
    name: "duration",
    allowed: "a number with an optional unit ns, us, ms, s, min, h, d (ms when absent)",
    parse: |text| parse_duration_millis(text).ok(),
};
/// `k:v,k:v`.
pub(crate) const MAP: Kind<BTreeMap<String, String>> = Kind {
    name: "map",
    allowed: "pairs k:v separated by commas",
    parse: parse_map,
};
/// Comma list of names, each kept as it is (Java does not trim).
pub(crate) const NAMES: Kind<Vec<String>> = Kind {
    name: "string",
    allowed: "names separated by commas",
    parse: |text| {
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        (!names.iter().any(|name| name.trim().is_empty())).then_some(names)
    },
};

fn parse_map(text: &str) -> Option<BTreeMap<String, String>> {
    if text.trim().is_empty() {
        return Some(BTreeMap::new());
    }
    text.split(',')
        .map(|pair| {
            pair.split_once(':')
                .map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()))
        })
        .collect()
}

/// Splits `12 kb` into 12 and `kb` (trimmed, lower case).
fn number_and_unit(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, unit.trim().to_lowercase()))
}

/// Parses a size such as `128 mb`, `500 B`, `1024` into bytes (Java `MemorySize.parseBytes`). Units: `b`/`bytes`, `k`/`kb`/
/// `kibibytes`, `m`/`mb`/`mebibytes`, `g`/`gb`/`gibibytes`, `t`/`tb`/`tebibytes`, in any case; none means bytes.
///
/// # Errors
/// `InvalidInput` for anything else or when the result is above the largest 64-bit signed integer.
pub fn parse_memory_size(text: &str) -> Result<u64> {
    let parsed = number_and_unit(text).and_then(|(number, unit)| {
        let factor = match unit.as_str() {
            "" | "b" | "bytes" => 1u64,
            "k" | "kb" | "kibibytes" => 1 << 10,
            "m" | "mb" | "mebibytes" => 1 << 20,
            "g" | "gb" | "gibibytes" => 1 << 30,
            "t" | "tb" | "tebibytes" => 1 << 40,
            _ => return None,
        };
        number
            .checked_mul(factor)
            .filter(|bytes| i64::try_from(*bytes).is_ok())
    });
    parsed.ok_or_else(|| {
        Error::invalid(format!(
            "'{text}' is not a memory size; allowed: {}",
            MEMORY.allowed
        ))
    })
}

/// Parses a duration such as `1 h`, `10 min`, `500 ms` into milliseconds (Java `TimeUtils.parseDuration`), floored; a number
/// alone is milliseconds.
///
/// # Errors
/// `InvalidInput` for an unknown unit, a missing number or an overflow.
pub fn parse_duration_millis(text: &str) -> Result<i64> {
    let parsed = number_and_unit(text).and_then(|(number, unit)| {
        let number = i64::try_from(number).ok()?;
        let (numerator, denominator) = match unit.as_str() {
            "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => (1, 1_000_000),
            "µs" | "μs" | "us" | "micro" | "micros" | "microsecond" | "microseconds" => (1, 1000),
            "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => (1, 1),
            "s" | "sec" | "secs" | "second" | "seconds" => (1000, 1),
            "min" | "m" | "minute" | "minutes" => (60_000, 1),
            "h" | "hour" | "hours" => (3_600_000, 1),
            "d" | "day" | "days" => (86_400_000, 1),
            _ => return None,
        };
        number.checked_mul(numerator).map(|n| n / denominator)
    });
    parsed.ok_or_else(|| {
        Error::invalid(format!(
            "'{text}' is not a duration; allowed: {}",
            DURATION.allowed
        ))
    })
}
