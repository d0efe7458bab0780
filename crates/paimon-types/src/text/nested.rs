// SPDX-License-Identifier: Apache-2.0

//! Text of ARRAY, MAP and ROW: `[a, b]`, `{k -> v}`, `{a, b}` and the function forms `ARRAY(…)`, `MAP(…)`, `STRUCT(…)`.

/// The text between the brackets, or between those of the function form (name case-insensitive). `None` when neither.
pub(super) fn body<'a>(text: &'a str, open: char, close: char, function: &str) -> Option<&'a str> {
    let text = trim(text);
    if let Some(body) = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
        return Some(trim(body));
    }
    let (name, rest) = text.split_at_checked(function.len())?;
    if !name.eq_ignore_ascii_case(function) {
        return None;
    }
    trim(rest)
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .map(trim)
}

/// True when `text` is the function form.
pub(super) fn is_function(text: &str, function: &str) -> bool {
    trim(text)
        .get(..function.len())
        .is_some_and(|name| name.eq_ignore_ascii_case(function))
}

/// Parts between commas that are outside of double quotes and brackets and not behind a backslash, trimmed; empty parts are dropped. Quotes
/// and backslashes stay in the parts.
pub(super) fn split(body: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quoted, mut escaped) = (0, 0usize, false, false);
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(body.get(start..at).unwrap_or(""));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(body.get(start..).unwrap_or(""));
    parts
        .into_iter()
        .map(trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// Java `String.trim`.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}
