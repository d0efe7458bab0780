// SPDX-License-Identifier: Apache-2.0

//! JSON with numbers as they are written. Input of users: decimals keep their digits and a key that occurs twice is an error,
//! which the values of `serde_json` do not give.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use crate::{Error, Result};

/// Deepest nesting of arrays and objects that is parsed.
const MAX_DEPTH: usize = 128;
/// Objects with more members look keys up by hash.
const FEW: usize = 16;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as written.
    Number(&'a str),
    /// A string, decoded.
    String(Cow<'a, str>),
    /// `[…]`
    Array(Vec<JsonTree<'a>>),
    /// `{…}` with its members as written; keys are distinct.
    Object(Vec<(Cow<'a, str>, JsonTree<'a>)>),
}

impl<'a> JsonTree<'a> {
    /// Parses one JSON text.
    ///
    /// # Errors
    /// `InvalidInput` with the position for text that is not JSON or an object that has a key twice; `Unsupported` when it nests deeper
    /// than 128 levels.
    pub fn parse(text: &'a str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        match parser.peek() {
            None => Ok(value),
            Some(_) => Err(parser.wrong("the end")),
        }
    }

    /// True for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, JsonTree::Null)
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&JsonTree<'a>> {
        match self {
            JsonTree::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

impl fmt::Display for JsonTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let string = |f: &mut fmt::Formatter<'_>, text: &str| {
            f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
        };
        match self {
            JsonTree::Null => f.write_str("null"),
            JsonTree::Bool(value) => write!(f, "{value}"),
            JsonTree::Number(text) => f.write_str(text),
            JsonTree::String(text) => string(f, text),
            JsonTree::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if elements.is_empty() { "[]" } else { "]" })
            }
            JsonTree::Object(members) => {
                for (index, (key, value)) in members.iter().enumerate() {
                    f.write_str(if index == 0 { "{" } else { "," })?;
                    string(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[cold]
    fn wrong(&self, expected: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(c) => format!("'{}'", c.escape_debug()),
            None => "the end".to_owned(),
        };
        Error::invalid(format!(
            "found {found} at character {} where {expected} is expected",
            self.text.get(..self.at).unwrap_or_default().chars().count() + 1
        ))
    }

    fn word(&mut self, word: &str, value: JsonTree<'a>) -> Result<JsonTree<'a>> {
        if !self.rest().starts_with(word) {
            return Err(self.wrong("a JSON value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<JsonTree<'a>> {
        if depth > MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "JSON nested deeper than {MAX_DEPTH} levels is not supported"
            )));
        }
        match self.peek() {
            Some(b'n') => self.word("null", JsonTree::Null),
            Some(b't') => self.word("true", JsonTree::Bool(true)),
            Some(b'f') => self.word("false", JsonTree::Bool(false)),
            Some(b'"') => self.string().map(JsonTree::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => {
                let mut elements = Vec::new();
                self.at += 1;
                if self.peek() == Some(b']') {
                    self.at += 1;
                    return Ok(JsonTree::Array(elements));
                }
                loop {
                    elements.push(self.value(depth + 1)?);
                    match self.peek() {
                        Some(b',') => self.at += 1,
                        Some(b']') => break,
                        _ => return Err(self.wrong("',' or ']'")),
                    }
                }
                self.at += 1;
                Ok(JsonTree::Array(elements))
            }
            Some(b'{') => self.object(depth),
            _ => Err(self.wrong("a JSON value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<JsonTree<'a>> {
        let mut members: Vec<(Cow<'a, str>, JsonTree<'a>)> = Vec::new();
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(JsonTree::Object(members));
        }
        let mut seen: HashSet<Cow<'a, str>> = HashSet::new();
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let key = self.string()?;
            if members.len() == FEW {
                seen.extend(members.iter().map(|(k, _)| k.clone()));
            }
            let twice = match members.len() {
                0..FEW => members.iter().any(|(k, _)| *k == key),
                _ => !seen.insert(key.clone()),
            };
            if twice {
                return Err(Error::invalid(format!("an object has the key '{key}' twice")));
            }
            if self.peek() != Some(b':') {
                return Err(self.wrong("':'"));
            }
            self.at += 1;
            members.push((key, self.value(depth + 1)?));
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.wrong("',' or '}'")),
            }
        }
        self.at += 1;
        Ok(JsonTree::Object(members))
    }

    /// A string at its opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let (mut end, mut plain) = (1, true);
        loop {
            match bytes.get(end) {
                None => {
                    self.at = self.text.len();
                    return Err(self.wrong("'\"'"));
                }
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    end += 2;
                }
                Some(0..0x20) => {
                    self.at += end;
                    return Err(self.wrong("a character of a string (control characters are escaped)"));
                }
                Some(_) => end += 1,
            }
        }
        let decoded = if plain {
            Cow::Borrowed(rest.get(1..end).unwrap_or_default())
        } else {
            let quoted = rest.get(..=end).unwrap_or_default();
            Cow::Owned(serde_json::from_str(quoted).map_err(|e| {
                Error::invalid(format!("the string {quoted} has a wrong escape")).with_source(e)
            })?)
        };
        self.at += end + 1;
        Ok(decoded)
    }

    fn digits(&mut self) -> Result<()> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.wrong("a digit"));
        }
        self.at += count;
        Ok(())
    }

    fn next_is(&self, any: &[u8]) -> bool {
        self.text.as_bytes().get(self.at).is_some_and(|b| any.contains(b))
    }

    fn number(&mut self) -> Result<JsonTree<'a>> {
        let start = self.at;
        if self.next_is(b"-") {
            self.at += 1;
        }
        if self.next_is(b"0") {
            self.at += 1;
            if self.next_is(b"0123456789") {
                return Err(self.wrong("no digit behind a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.next_is(b".") {
            self.at += 1;
            self.digits()?;
        }
        if self.next_is(b"eE") {
            self.at += 1;
            if self.next_is(b"+-") {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(JsonTree::Number(
            self.text.get(start..self.at).unwrap_or_default(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::JsonTree;

    #[test]
    fn text_comes_back() {
        for text in [
            "null",
            "[]",
            "{}",
            r#"{"a":[1,-2.50,1e400,true,false,null,"x\"\\é"],"b":{"c":{}}}"#,
            "12345678901234567890.10",
        ] {
            assert_eq!(JsonTree::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(JsonTree::parse(" [ 1 , 2 ] ").unwrap().to_string(), "[1,2]");
        assert_eq!(
            JsonTree::parse(r#""\u00e9\ud83d\ude00""#).unwrap(),
            JsonTree::String("é😀".into())
        );
    }

    #[test]
    fn what_is_not_json() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "nul",
            "\"a",
            "\"\\x\"",
            "\"\n\"",
            "1 2",
            "[1 2]",
            "NaN",
            "{\"a\" 1}",
            "\"\\ud800\"",
        ] {
            assert!(JsonTree::parse(text).is_err(), "{text}");
        }
        let err = JsonTree::parse(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap_err();
        assert!(err.to_string().contains("'a' twice"), "{err}");
        let many: Vec<String> = (0..40).map(|i| format!("\"k{}\":1", i % 39)).collect();
        assert!(JsonTree::parse(&format!("{{{}}}", many.join(","))).is_err());
        assert!(JsonTree::parse(&"[".repeat(100_000)).is_err());
    }
}
