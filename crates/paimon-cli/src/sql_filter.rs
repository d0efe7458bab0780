// SPDX-License-Identifier: Apache-2.0

//! The SQL condition of `--filter` as a predicate over the columns of a schema.

use jiff::tz::TimeZone;
use paimon::types::text::split_offset;
use paimon::types::{
    BoundLiteral, DataField, DataType, Error, Literal, Predicate, PredicateOp, Result, TableSchema, TypeKind,
    bind_literal_in,
};
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::input::{from_hex, shorten};
use crate::session::offset_seconds;

/// Parses a condition and binds its columns and literals.
///
/// # Errors
/// `InvalidInput` for text that is no condition, unknown columns and literals of another type; `Unsupported` for SQL that has
/// no counterpart.
pub(crate) fn parse_filter(time_zone: &TimeZone, text: &str, schema: &TableSchema) -> Result<Predicate> {
    let wrong = |e: ParserError| {
        let why = match &e {
            ParserError::RecursionLimitExceeded => "it nests too deeply".to_owned(),
            other => other
                .to_string()
                .trim_start_matches("sql parser error: ")
                .to_owned(),
        };
        Error::invalid(format!("the filter is no SQL condition: {why}")).with("option", "--filter")
    };
    let dialect = GenericDialect {};
    let mut parser = Parser::new(&dialect).try_with_sql(text).map_err(wrong)?;
    let expression = parser.parse_expr().map_err(wrong)?;
    if parser.peek_token().token != Token::EOF {
        return Err(Error::invalid(format!(
            "unexpected '{}' after the condition",
            parser.peek_token()
        ))
        .with("option", "--filter"));
    }
    let offset = |millis: i64| offset_seconds(time_zone, millis);
    Binder {
        schema,
        zone: &offset,
    }
    .condition(expression)
    .map_err(|e| e.with("option", "--filter"))
}

struct Binder<'a> {
    schema: &'a TableSchema,
    zone: &'a dyn Fn(i64) -> i32,
}

impl Binder<'_> {
    fn condition(&self, expression: Expr) -> Result<Predicate> {
        match expression {
            Expr::Nested(inner) => self.condition(*inner),
            Expr::BinaryOp {
                op: BinaryOperator::And,
                ..
            } => Ok(Predicate::and(self.operands(expression, BinaryOperator::And)?)),
            Expr::BinaryOp {
                op: BinaryOperator::Or,
                ..
            } => Ok(Predicate::or(self.operands(expression, BinaryOperator::Or)?)),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => Ok(self.condition(*expr)?.not()),
            other => self.test(&other),
        }
    }

    /// The operands of `a OR b OR c …`, which the parser nests to the left: taken apart without recursion, however many there are.
    fn operands(&self, mut expression: Expr, wanted: BinaryOperator) -> Result<Vec<Predicate>> {
        let mut operands = Vec::new();
        loop {
            match expression {
                Expr::BinaryOp { left, op, right } if op == wanted => {
                    operands.push(self.condition(*right)?);
                    expression = *left;
                }
                first => {
                    operands.push(self.condition(first)?);
                    break;
                }
            }
        }
        operands.reverse();
        Ok(operands)
    }

    fn test(&self, expression: &Expr) -> Result<Predicate> {
        match expression {
            Expr::BinaryOp { left, op, right } => self.comparison(left, op, right),
            Expr::IsNull(inner) => Ok(Predicate::is_null(self.column(inner)?)),
            Expr::IsNotNull(inner) => Ok(Predicate::is_not_null(self.column(inner)?)),
            Expr::IsTrue(inner) => self.known(inner, true),
            Expr::IsFalse(inner) => self.known(inner, false),
            Expr::IsNotTrue(inner) => self.known_not(inner, true),
            Expr::IsNotFalse(inner) => self.known_not(inner, false),
            Expr::InList { expr, list, negated } => {
                let field = self.column(expr)?;
                let literals = list
                    .iter()
                    .map(|l| self.literal(l, &field.data_type))
                    .collect::<Result<Vec<_>>>()?;
                let predicate = Predicate::in_literals(field, &literals)?;
                Ok(if *negated { predicate.not() } else { predicate })
            }
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let field = self.column(expr)?;
                let (low, high) = (
                    self.literal(low, &field.data_type)?,
                    self.literal(high, &field.data_type)?,
                );
                let predicate = Predicate::between_literals(field, &low, &high)?;
                Ok(if *negated { predicate.not() } else { predicate })
            }
            Expr::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => {
                let field = self.column(expr)?;
                if !matches!(field.data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_)) {
                    return Err(Error::invalid(format!(
                        "LIKE tests text, column '{}' is of type {}",
                        field.name, field.data_type
                    )));
                }
                let pattern = match self.literal(pattern, &DataType::string())? {
                    BoundLiteral::Null => {
                        return Predicate::compare(field, PredicateOp::Eq, &BoundLiteral::Null);
                    }
                    BoundLiteral::Exact(paimon::types::Datum::String(pattern)) => pattern,
                    _ => {
                        return Err(Error::invalid(format!(
                            "LIKE needs a text pattern, found {pattern}"
                        )));
                    }
                };
                let escape = escape_char.as_ref().map(|v| v.to_string());
                if escape.as_deref().is_some_and(|c| c != "\\" && c != "'\\'") {
                    return Err(Error::unsupported("LIKE has the escape character \\ only"));
                }
                let predicate = Predicate::like(field, &pattern)?;
                Ok(if *negated { predicate.not() } else { predicate })
            }
            Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("isnan") => {
                match &function.args {
                    FunctionArguments::List(list) => match list.args.as_slice() {
                        [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] => {
                            Predicate::is_nan(self.column(inner)?)
                        }
                        _ => Err(Error::invalid("isnan takes one column")),
                    },
                    _ => Err(Error::invalid("isnan takes one column")),
                }
            }
            Expr::Value(value) => match &value.value {
                Value::Boolean(truth) => Ok(Predicate::Constant(*truth)),
                // Unknown is never true, and NOT of it neither; only a null test could tell, and there is none here.
                other => Err(Error::invalid(format!("'{other}' is no condition"))),
            },
            Expr::Identifier(_) => {
                let field = self.column(expression)?;
                match field.data_type.kind {
                    TypeKind::Boolean => Predicate::compare(
                        field,
                        PredicateOp::Eq,
                        &self.bind(Literal::Boolean(true), &field.data_type)?,
                    ),
                    _ => Err(Error::invalid(format!("column '{}' is no condition", field.name))),
                }
            }
            other => Err(Error::unsupported(format!(
                "'{}' cannot be used in a filter",
                shorten(&other.to_string())
            ))),
        }
    }

    /// `column op literal` or `literal op column`.
    fn comparison(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Predicate> {
        let op = match op {
            BinaryOperator::Eq => PredicateOp::Eq,
            BinaryOperator::NotEq => PredicateOp::NotEq,
            BinaryOperator::Lt => PredicateOp::Lt,
            BinaryOperator::LtEq => PredicateOp::LtEq,
            BinaryOperator::Gt => PredicateOp::Gt,
            BinaryOperator::GtEq => PredicateOp::GtEq,
            other => {
                return Err(Error::unsupported(format!(
                    "operator '{other}' cannot be used in a filter"
                )));
            }
        };
        let (left_is_column, right_is_column) = (is_column(left), is_column(right));
        match (left_is_column, right_is_column) {
            (true, false) => {
                let field = self.column(left)?;
                Predicate::compare(field, op, &self.literal(right, &field.data_type)?)
            }
            (false, true) => {
                let field = self.column(right)?;
                let flipped = match op {
                    PredicateOp::Lt => PredicateOp::Gt,
                    PredicateOp::LtEq => PredicateOp::GtEq,
                    PredicateOp::Gt => PredicateOp::Lt,
                    PredicateOp::GtEq => PredicateOp::LtEq,
                    same => same,
                };
                Predicate::compare(field, flipped, &self.literal(left, &field.data_type)?)
            }
            _ => Err(Error::unsupported(format!(
                "'{}' and '{}': one side must be a column, the other a literal",
                shorten(&left.to_string()),
                shorten(&right.to_string())
            ))),
        }
    }

    /// `boolean_column IS TRUE`: never unknown.
    fn known(&self, inner: &Expr, truth: bool) -> Result<Predicate> {
        let field = self.column(inner)?;
        let equal = Predicate::compare(
            field,
            PredicateOp::Eq,
            &self.bind(Literal::Boolean(truth), &field.data_type)?,
        )?;
        Ok(Predicate::and([equal, Predicate::is_not_null(field)]))
    }

    fn known_not(&self, inner: &Expr, truth: bool) -> Result<Predicate> {
        let field = self.column(inner)?;
        let other = Predicate::compare(
            field,
            PredicateOp::NotEq,
            &self.bind(Literal::Boolean(truth), &field.data_type)?,
        )?;
        Ok(Predicate::or([other, Predicate::is_null(field)]))
    }

    /// A column by its exact name, or, unquoted, by the only name that differs in case.
    fn column(&self, expression: &Expr) -> Result<&DataField> {
        let (name, quoted) = match expression {
            Expr::Identifier(name) => (&name.value, name.quote_style.is_some()),
            Expr::Nested(inner) => return self.column(inner),
            other => {
                return Err(Error::unsupported(format!(
                    "'{}' is no column; a test has a column and literals",
                    shorten(&other.to_string())
                )));
            }
        };
        if let Some(field) = self.schema.field(name) {
            return Ok(field);
        }
        let mut similar = self
            .schema
            .fields
            .iter()
            .filter(|f| !quoted && f.name.eq_ignore_ascii_case(name));
        match (similar.next(), similar.next()) {
            (Some(field), None) => Ok(field),
            _ => {
                let known: Vec<&str> = self.schema.fields.iter().map(|f| f.name.as_str()).collect();
                Err(Error::invalid(format!(
                    "the table has no column '{name}', it has: {}",
                    known.join(", ")
                )))
            }
        }
    }

    fn literal(&self, expression: &Expr, data_type: &DataType) -> Result<BoundLiteral> {
        match expression {
            Expr::Nested(inner) => self.literal(inner, data_type),
            Expr::UnaryOp {
                op: UnaryOperator::Plus,
                expr,
            } => self.literal(expr, data_type),
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => match expr.as_ref() {
                Expr::Value(value) => match &value.value {
                    Value::Number(text, _) => self.bind(Literal::Number(&format!("-{text}")), data_type),
                    other => Err(Error::invalid(format!("'-{other}' is no number"))),
                },
                other => Err(Error::unsupported(format!("'-{other}' is no literal"))),
            },
            Expr::TypedString(typed) => match &typed.value.value {
                Value::SingleQuotedString(text) => self.bind(Literal::Text(text), data_type),
                other => Err(Error::unsupported(format!("'{other}' is no literal"))),
            },
            Expr::Cast { expr, .. } => self.literal(expr, data_type),
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => self.bind(Literal::Number(text), data_type),
                Value::SingleQuotedString(text) => self.bind(Literal::Text(text), data_type),
                Value::Boolean(truth) => self.bind(Literal::Boolean(*truth), data_type),
                Value::Null => Ok(BoundLiteral::Null),
                Value::HexStringLiteral(hex) => {
                    let bytes = from_hex(hex)
                        .ok_or_else(|| Error::invalid(format!("X'{hex}' is not hexadecimal")))?;
                    self.bind(Literal::Bytes(&bytes), data_type)
                }
                other => Err(Error::unsupported(format!(
                    "'{other}' is no literal that a filter takes"
                ))),
            },
            other => Err(Error::unsupported(format!("'{other}' is no literal"))),
        }
    }

    fn bind(&self, literal: Literal<'_>, data_type: &DataType) -> Result<BoundLiteral> {
        let Literal::Text(text) = literal else {
            return bind_literal_in(literal, data_type, &self.zone);
        };
        match (&data_type.kind, split_offset(text)) {
            // An instant may say its zone.
            (TypeKind::TimestampLtz(_), Some((local, offset))) => {
                bind_literal_in(Literal::Text(local), data_type, &|_| offset)
            }
            (TypeKind::TimestampLtz(_) | TypeKind::Timestamp(_), _) => {
                let hint = match data_type.kind {
                    TypeKind::TimestampLtz(_) => {
                        "such as '2024-01-31 10:30:00' in the session zone, or with Z or +08:00"
                    }
                    _ => "such as '2024-01-31 10:30:00', without a zone",
                };
                bind_literal_in(literal, data_type, &self.zone).map_err(|e| e.with("expected", hint))
            }
            _ => bind_literal_in(literal, data_type, &self.zone),
        }
    }
}

fn is_column(expression: &Expr) -> bool {
    match expression {
        Expr::Identifier(_) => true,
        Expr::Nested(inner) => is_column(inner),
        _ => false,
    }
}
