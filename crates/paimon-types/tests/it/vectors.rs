// SPDX-License-Identifier: Apache-2.0

//! The vectors of a kind and a parser for the values that their `input` describes. Whatever cannot be parsed fails the test.

use std::path::Path;

use paimon_types::{DataField, DataType, Datum, MAX_LENGTH, Timestamp, TypeKind};
use serde_json::Value;

/// One line of a vector file.
pub(crate) struct Vector {
    pub(crate) line: usize,
    json: Value,
}

impl Vector {
    pub(crate) fn text(&self, key: &str) -> &str {
        self.json[key]
            .as_str()
            .unwrap_or_else(|| panic!("line {}: no text '{key}'", self.line))
    }

    pub(crate) fn number(&self, key: &str) -> i32 {
        let number = self.json[key]
            .as_i64()
            .unwrap_or_else(|| panic!("line {}: no number '{key}'", self.line));
        i32::try_from(number).unwrap()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        !self.json[key].is_null()
    }

    pub(crate) fn input(&self) -> &str {
        self.text("input")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        from_hex(self.text("hex"))
    }
}

/// All vectors of a kind; there must be `count` of them.
pub(crate) fn vectors(file: &str, kind: &str, count: usize) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let found: Vec<Vector> = text
        .lines()
        .enumerate()
        .map(|(index, line)| Vector {
            line: index + 1,
            json: serde_json::from_str(line).unwrap(),
        })
        .filter(|vector| vector.text("kind") == kind)
        .collect();
    assert_eq!(found.len(), count, "vectors of kind {kind}");
    found
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0, "odd hexadecimal text");
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A typed row as described by the input of a row vector.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) types: Vec<DataType>,
    pub(crate) values: Vec<Option<Datum>>,
    pub(crate) kind: u8,
}

pub(crate) fn parse_row(input: &str) -> Row {
    if input == "EMPTY_ROW" || input == "EMPTY_ROW (arity 0)" {
        return Row {
            types: Vec::new(),
            values: Vec::new(),
            kind: 0,
        };
    }
    if let Some((count, last)) = input.split_once(" TINYINT fields all null except the last = ") {
        let count: usize = count.parse().unwrap();
        let mut values = vec![None; count];
        values[count - 1] = Some(Datum::TinyInt(last.parse().unwrap()));
        return Row {
            types: vec![DataType::new(TypeKind::TinyInt); count],
            values,
            kind: 0,
        };
    }
    let mut parser = Parser::new(input);
    parser.expect("(");
    let (types, values) = parser.typed_values(")");
    let kind = match parser.rest.split(':').next().unwrap().trim() {
        "" => 0,
        "with RowKind DELETE" => 3,
        other => panic!("'{input}': cannot parse '{other}'"),
    };
    Row { types, values, kind }
}

/// `TYPE value`, followed by notes that are ignored.
pub(crate) fn parse_value(input: &str) -> (DataType, Option<Datum>) {
    let mut parser = Parser::new(input);
    parser.typed_value()
}

/// Element type and elements of an array vector.
pub(crate) fn parse_array(input: &str) -> (DataType, Vec<Option<Datum>>) {
    if input == "BIGINT 33 elements 0..32, index 0 and 32 null" {
        let values = (0..33)
            .map(|i| (i != 0 && i != 32).then_some(Datum::BigInt(i)))
            .collect();
        return (DataType::new(TypeKind::BigInt), values);
    }
    let mut parser = Parser::new(input.strip_prefix("primitive ").unwrap_or(input));
    let element = parser.data_type();
    let Some(Datum::Array(values)) = parser.value(&DataType::new(TypeKind::Array(Box::new(element.clone()))))
    else {
        panic!("'{input}' is no array");
    };
    (element, values)
}

struct Parser<'a> {
    input: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(input: &'a str) -> Self {
        Parser { input, rest: input }
    }

    fn fail(&self, expected: &str) -> ! {
        panic!("'{}': expected {expected} at '{}'", self.input, self.rest)
    }

    fn accept(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) {
        if !self.accept(token) {
            self.fail(token);
        }
    }

    fn word(&mut self, allowed: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !allowed(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn number<T: std::str::FromStr>(&mut self) -> T {
        let word = self.word(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        word.parse().unwrap_or_else(|_| self.fail("a number"))
    }

    fn params(&mut self) -> Vec<u32> {
        let mut params = Vec::new();
        if self.rest.starts_with('(') {
            self.expect("(");
            loop {
                params.push(self.number());
                if self.accept(")") {
                    break;
                }
                self.expect(",");
            }
        }
        params
    }

    fn data_type(&mut self) -> DataType {
        let name = self.word(|c| c.is_ascii_alphabetic() || c == '_');
        let params = self.params();
        let p = |default: u8| params.first().map_or(default, |p| *p as u8);
        DataType::new(match name {
            "BOOLEAN" | "boolean" => TypeKind::Boolean,
            "TINYINT" => TypeKind::TinyInt,
            "SMALLINT" => TypeKind::SmallInt,
            "INT" | "int" => TypeKind::Int,
            "BIGINT" => TypeKind::BigInt,
            "FLOAT" => TypeKind::Float,
            "DOUBLE" => TypeKind::Double,
            "STRING" => TypeKind::VarChar(MAX_LENGTH),
            "CHAR" => TypeKind::Char(params[0]),
            "BYTES" => TypeKind::VarBinary(MAX_LENGTH),
            "DECIMAL" => TypeKind::Decimal {
                precision: params[0] as u8,
                scale: params[1] as u8,
            },
            "DATE" => TypeKind::Date,
            "TIME" => TypeKind::Time(p(0)),
            "TIMESTAMP" => TypeKind::Timestamp(p(6)),
            "TIMESTAMP_LTZ" => TypeKind::TimestampLtz(p(6)),
            "VARIANT" => TypeKind::Variant,
            "BLOB" => TypeKind::Blob,
            "ARRAY" => TypeKind::Array(Box::new(self.angle())),
            "MULTISET" => TypeKind::Multiset(Box::new(self.angle())),
            "VECTOR" => {
                self.expect("<");
                let element = self.data_type();
                self.expect(",");
                let len = self.number();
                self.expect(">");
                TypeKind::Vector(Box::new(element), len)
            }
            "MAP" => {
                self.expect("<");
                let key = self.data_type();
                self.expect(",");
                let value = self.data_type();
                self.expect(">");
                TypeKind::Map(Box::new(key), Box::new(value))
            }
            _ => self.fail("a type"),
        })
    }

    fn angle(&mut self) -> DataType {
        self.expect("<");
        let inner = self.data_type();
        self.expect(">");
        inner
    }

    /// Values up to `end`, each `TYPE value note`.
    fn typed_values(&mut self, end: &str) -> (Vec<DataType>, Vec<Option<Datum>>) {
        let (mut types, mut values) = (Vec::new(), Vec::new());
        loop {
            let (data_type, value) = self.typed_value();
            types.push(data_type);
            values.push(value);
            let note = self
                .rest
                .find([',', ')', '>'])
                .unwrap_or_else(|| self.fail("an end"));
            self.rest = &self.rest[note..];
            if self.accept(end) {
                return (types, values);
            }
            self.expect(",");
        }
    }

    fn typed_value(&mut self) -> (DataType, Option<Datum>) {
        // ROW<TYPE value, ...> gives the types of the fields together with the values.
        if self.accept("ROW") {
            let (types, value) = if self.accept("null") {
                (vec![DataType::new(TypeKind::Int)], None)
            } else {
                self.expect("<");
                let (types, values) = self.typed_values(">");
                (types, Some(Datum::Row(values)))
            };
            let fields = types
                .into_iter()
                .enumerate()
                .map(|(i, t)| DataField::new(i as i32, format!("f{i}"), t));
            return (DataType::new(TypeKind::Row(fields.collect())), value);
        }
        let data_type = self.data_type();
        let value = self.value(&data_type);
        (data_type, value)
    }

    fn value(&mut self, data_type: &DataType) -> Option<Datum> {
        if self.accept("null") {
            return None;
        }
        Some(match &data_type.kind {
            TypeKind::Boolean => {
                let value = self.accept("true");
                if !value {
                    self.expect("false");
                }
                Datum::Boolean(value)
            }
            TypeKind::TinyInt => Datum::TinyInt(self.number()),
            TypeKind::SmallInt => Datum::SmallInt(self.number()),
            TypeKind::Int => Datum::Int(self.number()),
            TypeKind::BigInt => Datum::BigInt(self.number()),
            TypeKind::Float if self.accept("NaN") => Datum::Float(f32::NAN),
            TypeKind::Float => Datum::Float(self.number()),
            TypeKind::Double => Datum::Double(self.number()),
            TypeKind::Date => Datum::Date(self.number()),
            TypeKind::Time(_) => Datum::Time(self.number()),
            TypeKind::Decimal { scale, .. } => {
                let text = self.word(|c| c.is_ascii_digit() || c == '-' || c == '.');
                let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
                assert_eq!(fraction.len(), usize::from(*scale), "{}", self.input);
                Datum::Decimal {
                    unscaled: format!("{integer}{fraction}").parse().unwrap(),
                    scale: *scale,
                }
            }
            TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => {
                let millis = self.word(|c| c.is_ascii_digit() || c == '-').parse().unwrap();
                self.expect("ms");
                let mut nanos_of_milli = 0;
                if self.accept("+") {
                    nanos_of_milli = self.word(|c| c.is_ascii_digit()).parse().unwrap();
                    self.expect("ns");
                }
                Datum::Timestamp(Timestamp {
                    millis,
                    nanos_of_milli,
                })
            }
            TypeKind::VarChar(_) | TypeKind::Char(_) => Datum::String(self.string()),
            TypeKind::VarBinary(_) if self.accept("9 bytes 00..08") => Datum::Bytes((0..9).collect()),
            TypeKind::VarBinary(_) if self.rest.trim_start().starts_with('\'') => {
                Datum::Bytes(self.string().into_bytes())
            }
            TypeKind::VarBinary(_) => {
                self.accept("0x");
                Datum::Bytes(from_hex(self.word(|c| c.is_ascii_hexdigit())))
            }
            TypeKind::Blob => {
                self.expect("inline data");
                Datum::Bytes(from_hex(self.word(|c| c.is_ascii_hexdigit())))
            }
            TypeKind::Variant => {
                self.expect("{\"a\":1}");
                Datum::Variant {
                    value: from_hex("02010000020c01"),
                    metadata: from_hex("0101000161"),
                }
            }
            TypeKind::Array(element) | TypeKind::Vector(element, _) => {
                Datum::Array(self.list("[", "]", |parser| parser.value(element)))
            }
            TypeKind::Map(key, value) => Datum::Map(self.list("{", "}", |parser| parser.entry(key, value))),
            TypeKind::Multiset(element) => {
                let count = DataType::required(TypeKind::Int);
                Datum::Map(self.list("{", "}", |parser| parser.entry(element, &count)))
            }
            _ => self.fail("a value"),
        })
    }

    fn entry(&mut self, key: &DataType, value: &DataType) -> (Option<Datum>, Option<Datum>) {
        let key = self.value(key);
        self.expect(":");
        (key, self.value(value))
    }

    fn list<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        self.expect(open);
        let mut items = Vec::new();
        if self.accept(close) {
            return items;
        }
        loop {
            items.push(item(self));
            if self.accept(close) {
                return items;
            }
            self.expect(",");
        }
    }

    /// `'text'`, `U+4F60 U+597D` with plain characters behind, or a bare word.
    fn string(&mut self) -> String {
        if self.accept("'") {
            let end = self.rest.find('\'').unwrap_or_else(|| self.fail("a quote"));
            let text = &self.rest[..end];
            self.rest = &self.rest[end + 1..];
            return text.to_owned();
        }
        let mut text = String::new();
        while self.accept("U+") {
            let code = self.rest.get(..4).unwrap_or_else(|| self.fail("four digits"));
            text.push(
                u32::from_str_radix(code, 16)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap(),
            );
            self.rest = &self.rest[4..];
        }
        if text.is_empty() || !self.rest.starts_with(' ') {
            text.push_str(self.word(|c| !c.is_whitespace() && c != ',' && c != ')'));
        }
        assert!(!text.is_empty(), "'{}': no text", self.input);
        text
    }
}
