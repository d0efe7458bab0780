// SPDX-License-Identifier: Apache-2.0

//! The SQL text of types, both ways (Java `DataTypeJsonParser`, `DataType.asSQLString`; `metadata.md` 2.2).

#[cfg(test)]
mod tests;

use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

use crate::{DataField, DataType, Error, MAX_LENGTH, Result, TypeKind};

/// Deepest nesting of types that is accepted from text or JSON.
pub(crate) const MAX_DEPTH: usize = 64;
/// Coordinate reference system of GEOMETRY and GEOGRAPHY when none is given.
const DEFAULT_CRS: &str = "OGC:CRS84";
/// Edge algorithms of GEOGRAPHY; the first is the default.
const ALGORITHMS: [&str; 5] = ["spherical", "vincenty", "thomas", "andoyer", "karney"];

impl DataType {
    /// Parses the SQL text of a type: `DECIMAL(10, 2) NOT NULL`, `ARRAY<INT>`, ``ROW<`a` INT, b STRING>``. Keywords in any
    /// case, white space free; `INT ARRAY` is `ARRAY<INT>`. ROW fields are numbered 0, 1, … in the order of the text.
    ///
    /// # Errors
    /// `InvalidInput` for anything else, lengths and precisions out of range, nesting deeper than 64.
    pub fn parse(text: &str) -> Result<DataType> {
        Parser::new(text, true)?.whole()
    }

    /// Parses an atomic type of a schema file; ARRAY, MAP, ROW are objects there and not accepted as text.
    pub(crate) fn parse_atomic(text: &str) -> Result<DataType> {
        Parser::new(text, false)?.whole()
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// Keyword or unquoted name as written.
    Word(String),
    /// `` `name` ``.
    Name(String),
    /// `'text'`.
    Text(String),
    Number(String),
    Delimiter(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Name(text) | Token::Text(text) | Token::Number(text) => {
                f.write_str(text)
            }
            Token::Delimiter(c) => write!(f, "{c}"),
        }
    }
}

fn is_delimiter(c: char) -> bool {
    matches!(c, '<' | '>' | '(' | ')' | ',' | '.')
}

fn tokenize(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if is_delimiter(c) {
            chars.next();
            tokens.push(Token::Delimiter(c));
        } else if c == '\'' || c == '`' {
            chars.next();
            let mut content = String::new();
            loop {
                match chars.next() {
                    Some(next) if next != c => content.push(next),
                    Some(_) if chars.peek() == Some(&c) => {
                        chars.next();
                        content.push(c);
                    }
                    Some(_) => break,
                    None => return Err(Error::invalid(format!("type '{text}' has an open quote {c}"))),
                }
            }
            tokens.push(if c == '`' {
                Token::Name(content)
            } else {
                Token::Text(content)
            });
        } else {
            let mut word = String::new();
            while let Some(&next) = chars.peek() {
                let ends = next.is_whitespace() || is_delimiter(next) || next == '\'' || next == '`';
                if ends || (c.is_ascii_digit() && !next.is_ascii_digit()) {
                    break;
                }
                word.push(next);
                chars.next();
            }
            tokens.push(if c.is_ascii_digit() {
                Token::Number(word)
            } else {
                Token::Word(word)
            });
        }
    }
    Ok(tokens)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Peekable<IntoIter<Token>>,
    depth: usize,
    /// Accept ARRAY<…>, MAP<…>, MULTISET<…> and ROW<…>.
    constructed: bool,
    next_id: i32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, constructed: bool) -> Result<Self> {
        let tokens = tokenize(text)?.into_iter().peekable();
        Ok(Parser {
            text,
            tokens,
            depth: 0,
            constructed,
            next_id: 0,
        })
    }

    fn whole(mut self) -> Result<DataType> {
        let parsed = self.data_type()?;
        match self.tokens.next() {
            None => Ok(parsed),
            Some(token) => Err(self.error(&format!("'{token}' was not expected"))),
        }
    }

    fn error(&self, problem: &str) -> Error {
        Error::invalid(format!("cannot parse type '{}': {problem}", self.text))
    }

    fn found(&mut self) -> String {
        self.tokens
            .peek()
            .map_or_else(|| "the end".to_owned(), |token| format!("'{token}'"))
    }

    fn peek_word(&mut self, word: &str) -> bool {
        matches!(self.tokens.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word))
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let there = self.peek_word(word);
        if there {
            self.tokens.next();
        }
        there
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) {
            return Ok(());
        }
        let found = self.found();
        Err(self.error(&format!("expected {word}, found {found}")))
    }

    fn accept(&mut self, delimiter: char) -> bool {
        let there = self.tokens.peek() == Some(&Token::Delimiter(delimiter));
        if there {
            self.tokens.next();
        }
        there
    }

    fn expect(&mut self, delimiter: char) -> Result<()> {
        if self.accept(delimiter) {
            return Ok(());
        }
        let found = self.found();
        Err(self.error(&format!("expected '{delimiter}', found {found}")))
    }

    fn number(&mut self) -> Result<u32> {
        if let Some(Token::Number(digits)) = self.tokens.peek()
            && let Ok(number) = digits.parse::<u32>()
            && number <= MAX_LENGTH
        {
            self.tokens.next();
            return Ok(number);
        }
        let found = self.found();
        Err(self.error(&format!("expected a number up to {MAX_LENGTH}, found {found}")))
    }

    /// `[(n)]` with the default 1.
    fn length(&mut self) -> Result<u32> {
        if !self.accept('(') {
            return Ok(1);
        }
        let length = self.number()?;
        self.expect(')')?;
        if length == 0 {
            return Err(self.error("a length must be at least 1"));
        }
        Ok(length)
    }

    /// `[(p)]` of TIME and TIMESTAMP.
    fn precision(&mut self, default: u8) -> Result<u8> {
        if !self.accept('(') {
            return Ok(default);
        }
        let precision = self.number()?;
        self.expect(')')?;
        u8::try_from(precision)
            .ok()
            .filter(|p| *p <= 9)
            .ok_or_else(|| self.error(&format!("the precision {precision} is not between 0 and 9")))
    }

    fn decimal(&mut self) -> Result<TypeKind> {
        let (mut precision, mut scale) = (10, 0);
        if self.accept('(') {
            precision = self.number()?;
            if self.accept(',') {
                scale = self.number()?;
            }
            self.expect(')')?;
        }
        if !(1..=38).contains(&precision) {
            return Err(self.error(&format!("the precision {precision} is not between 1 and 38")));
        }
        if scale > precision {
            return Err(self.error(&format!("the scale {scale} is not between 0 and {precision}")));
        }
        Ok(TypeKind::Decimal {
            precision: precision as u8,
            scale: scale as u8,
        })
    }

    fn without_time_zone(&mut self) -> Result<()> {
        if self.accept_word("WITHOUT") {
            self.expect_word("TIME")?;
            self.expect_word("ZONE")?;
        }
        Ok(())
    }

    fn timestamp(&mut self) -> Result<TypeKind> {
        let precision = self.precision(6)?;
        if self.accept_word("WITH") {
            self.expect_word("LOCAL")?;
            self.expect_word("TIME")?;
            self.expect_word("ZONE")?;
            return Ok(TypeKind::TimestampLtz(precision));
        }
        self.without_time_zone()?;
        Ok(TypeKind::Timestamp(precision))
    }

    /// A CRS or algorithm: a quoted text or the words up to the next delimiter.
    fn geo_argument(&mut self) -> Result<String> {
        match self.tokens.peek() {
            Some(Token::Text(text) | Token::Word(text) | Token::Name(text)) if !text.is_empty() => {
                let text = text.clone();
                self.tokens.next();
                Ok(text)
            }
            _ => {
                let found = self.found();
                Err(self.error(&format!("expected a name, found {found}")))
            }
        }
    }

    fn geography(&mut self) -> Result<TypeKind> {
        let (mut crs, mut algorithm) = (DEFAULT_CRS.to_owned(), "spherical".to_owned());
        if self.accept('(') {
            crs = self.geo_argument()?;
            if self.accept(',') {
                algorithm = self.geo_argument()?.to_lowercase();
            }
            self.expect(')')?;
        }
        if !ALGORITHMS.contains(&algorithm.as_str()) {
            let allowed = ALGORITHMS.join(", ");
            return Err(self.error(&format!("the algorithm {algorithm} is not one of {allowed}")));
        }
        Ok(TypeKind::Geography { crs, algorithm })
    }

    fn geometry(&mut self) -> Result<TypeKind> {
        let mut crs = DEFAULT_CRS.to_owned();
        if self.accept('(') {
            crs = self.geo_argument()?;
            self.expect(')')?;
        }
        Ok(TypeKind::Geometry(crs))
    }

    fn vector(&mut self) -> Result<TypeKind> {
        self.expect('<')?;
        let element = self.data_type()?;
        self.expect(',')?;
        let length = self.number()?;
        self.expect('>')?;
        let kind = TypeKind::Vector(Box::new(element), length);
        kind.check_parameters().map_err(|problem| self.error(&problem))?;
        Ok(kind)
    }

    fn row(&mut self) -> Result<TypeKind> {
        let close = if self.accept('(') {
            ')'
        } else {
            self.expect('<')?;
            '>'
        };
        let mut fields = Vec::new();
        if self.accept(close) {
            return Ok(TypeKind::Row(fields));
        }
        loop {
            let name = match self.tokens.next() {
                Some(Token::Word(name) | Token::Name(name)) => name,
                Some(token) => return Err(self.error(&format!("expected a field name, found '{token}'"))),
                None => return Err(self.error("expected a field name, found the end")),
            };
            let id = self.next_id;
            self.next_id += 1;
            let mut field = DataField::new(id, name, self.data_type()?);
            if self.accept_word("COMMENT") {
                match self.tokens.next() {
                    Some(Token::Text(text)) => field.description = Some(text),
                    _ => return Err(self.error("expected a quoted text after COMMENT")),
                }
            }
            if self.accept_word("DEFAULT") {
                match self.tokens.next() {
                    Some(Token::Text(text) | Token::Word(text) | Token::Number(text)) => {
                        field.default_value = Some(text);
                    }
                    _ => return Err(self.error("expected a value after DEFAULT")),
                }
            }
            fields.push(field);
            if self.accept(',') {
                continue;
            }
            self.expect(close)?;
            return Ok(TypeKind::Row(fields));
        }
    }

    fn element(&mut self) -> Result<Box<DataType>> {
        self.expect('<')?;
        let element = self.data_type()?;
        self.expect('>')?;
        Ok(Box::new(element))
    }

    fn constructed(&mut self, word: &str) -> Result<Option<TypeKind>> {
        if !self.constructed {
            return Ok(None);
        }
        Ok(Some(match word {
            "ARRAY" => TypeKind::Array(self.element()?),
            "MULTISET" => TypeKind::Multiset(self.element()?),
            "MAP" => {
                self.expect('<')?;
                let key = self.data_type()?;
                self.expect(',')?;
                let value = self.data_type()?;
                self.expect('>')?;
                TypeKind::Map(Box::new(key), Box::new(value))
            }
            "ROW" => self.row()?,
            _ => return Ok(None),
        }))
    }

    fn base(&mut self) -> Result<TypeKind> {
        let word = match self.tokens.next() {
            Some(Token::Word(word)) => word.to_ascii_uppercase(),
            Some(token) => return Err(self.error(&format!("expected a type name, found '{token}'"))),
            None => return Err(self.error("expected a type name, found the end")),
        };
        Ok(match word.as_str() {
            "CHAR" => TypeKind::Char(self.length()?),
            "VARCHAR" => TypeKind::VarChar(self.length()?),
            "STRING" => TypeKind::VarChar(MAX_LENGTH),
            "BOOLEAN" => TypeKind::Boolean,
            "BINARY" => TypeKind::Binary(self.length()?),
            "VARBINARY" => TypeKind::VarBinary(self.length()?),
            "BYTES" => TypeKind::VarBinary(MAX_LENGTH),
            "DECIMAL" | "NUMERIC" | "DEC" => self.decimal()?,
            "TINYINT" => TypeKind::TinyInt,
            "SMALLINT" => TypeKind::SmallInt,
            "INT" | "INTEGER" => TypeKind::Int,
            "BIGINT" => TypeKind::BigInt,
            "FLOAT" => TypeKind::Float,
            "DOUBLE" => {
                self.accept_word("PRECISION");
                TypeKind::Double
            }
            "DATE" => TypeKind::Date,
            "TIME" => {
                let precision = self.precision(0)?;
                self.without_time_zone()?;
                TypeKind::Time(precision)
            }
            "TIMESTAMP" => self.timestamp()?,
            "TIMESTAMP_LTZ" => TypeKind::TimestampLtz(self.precision(6)?),
            "VARIANT" => TypeKind::Variant,
            "BLOB" => TypeKind::Blob,
            "GEOMETRY" => self.geometry()?,
            "GEOGRAPHY" => self.geography()?,
            "VECTOR" => self.vector()?,
            _ => match self.constructed(&word)? {
                Some(kind) => kind,
                None => return Err(self.error(&format!("unknown type {word}"))),
            },
        })
    }

    fn nullable(&mut self) -> Result<bool> {
        if self.accept_word("NOT") {
            self.expect_word("NULL")?;
            return Ok(false);
        }
        self.accept_word("NULL");
        Ok(true)
    }

    fn data_type(&mut self) -> Result<DataType> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("types are nested deeper than {MAX_DEPTH}")));
        }
        let kind = self.base()?;
        let mut parsed = DataType {
            kind,
            nullable: self.nullable()?,
        };
        let suffix: Option<fn(Box<DataType>) -> TypeKind> = if self.accept_word("ARRAY") {
            Some(TypeKind::Array)
        } else if self.accept_word("MULTISET") {
            Some(TypeKind::Multiset)
        } else {
            None
        };
        if let Some(suffix) = suffix {
            parsed = DataType {
                kind: suffix(Box::new(parsed)),
                nullable: self.nullable()?,
            };
        }
        self.depth -= 1;
        Ok(parsed)
    }
}

impl TypeKind {
    /// Checks lengths, precisions, scales and element types of this level only.
    pub(crate) fn check_parameters(&self) -> Result<(), String> {
        let bad = match self {
            TypeKind::Char(n) | TypeKind::VarChar(n) | TypeKind::Binary(n) | TypeKind::VarBinary(n) => {
                !(1..=MAX_LENGTH).contains(n)
            }
            TypeKind::Decimal { precision, scale } => !(1..=38).contains(precision) || scale > precision,
            TypeKind::Time(p) | TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => *p > 9,
            TypeKind::Geography { algorithm, .. } => !ALGORITHMS.contains(&algorithm.as_str()),
            TypeKind::Vector(element, n) => !(1..=MAX_LENGTH).contains(n) || !element.is_vector_element(),
            _ => false,
        };
        if bad {
            Err(format!("the parameters of {self} are out of range"))
        } else {
            Ok(())
        }
    }
}

impl DataType {
    /// True for the types that a VECTOR can hold.
    pub(crate) fn is_vector_element(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Boolean
                | TypeKind::TinyInt
                | TypeKind::SmallInt
                | TypeKind::Int
                | TypeKind::BigInt
                | TypeKind::Float
                | TypeKind::Double
        )
    }
}

/// The SQL text, `NOT NULL` included: `DECIMAL(10, 2) NOT NULL`, ``ROW<`a` INT>``.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.nullable {
            Ok(())
        } else {
            f.write_str(" NOT NULL")
        }
    }
}

/// The SQL text without nullability of this level.
impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeKind::Char(n) => write!(f, "CHAR({n})"),
            TypeKind::VarChar(MAX_LENGTH) => f.write_str("STRING"),
            TypeKind::VarChar(n) => write!(f, "VARCHAR({n})"),
            TypeKind::Boolean => f.write_str("BOOLEAN"),
            TypeKind::Binary(n) => write!(f, "BINARY({n})"),
            TypeKind::VarBinary(MAX_LENGTH) => f.write_str("BYTES"),
            TypeKind::VarBinary(n) => write!(f, "VARBINARY({n})"),
            TypeKind::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            TypeKind::TinyInt => f.write_str("TINYINT"),
            TypeKind::SmallInt => f.write_str("SMALLINT"),
            TypeKind::Int => f.write_str("INT"),
            TypeKind::BigInt => f.write_str("BIGINT"),
            TypeKind::Float => f.write_str("FLOAT"),
            TypeKind::Double => f.write_str("DOUBLE"),
            TypeKind::Date => f.write_str("DATE"),
            TypeKind::Time(p) => write!(f, "TIME({p})"),
            TypeKind::Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            TypeKind::TimestampLtz(p) => write!(f, "TIMESTAMP({p}) WITH LOCAL TIME ZONE"),
            TypeKind::Variant => f.write_str("VARIANT"),
            TypeKind::Blob => f.write_str("BLOB"),
            TypeKind::Geometry(crs) => write!(f, "GEOMETRY({})", geo_text(crs)),
            TypeKind::Geography { crs, algorithm } => write!(f, "GEOGRAPHY({}, {algorithm})", geo_text(crs)),
            TypeKind::Array(element) => write!(f, "ARRAY<{element}>"),
            TypeKind::Multiset(element) => write!(f, "MULTISET<{element}>"),
            TypeKind::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            TypeKind::Vector(element, n) => write!(f, "VECTOR<{element}, {n}>"),
            TypeKind::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(
                        f,
                        "{comma}`{}` {}",
                        field.name.replace('`', "``"),
                        field.data_type
                    )?;
                    if let Some(text) = field.description.as_deref().filter(|text| !text.is_empty()) {
                        write!(f, " COMMENT '{}'", text.replace('\'', "''"))?;
                    }
                    if let Some(text) = &field.default_value {
                        write!(f, " DEFAULT {text}")?;
                    }
                }
                f.write_str(">")
            }
        }
    }
}

/// Quotes a CRS that the tokenizer would not read as one word.
fn geo_text(crs: &str) -> String {
    let plain = !crs.is_empty()
        && !crs.starts_with(|c: char| c.is_ascii_digit())
        && !crs.contains(|c: char| c.is_whitespace() || is_delimiter(c) || c == '\'' || c == '`');
    if plain {
        crs.to_owned()
    } else {
        format!("'{}'", crs.replace('\'', "''"))
    }
}
