// SPDX-License-Identifier: Apache-2.0

//! Types of columns from JSON values.

use std::path::Path;

use paimon::types::{DataField, DataType, Error, JsonTree, Result, TypeKind};

use super::Lines;
use crate::input::INFER_ROWS;

pub(in crate::input) fn infer(path: &Path) -> Result<Vec<DataField>> {
    let mut lines = Lines::open(path)?;
    let block = lines.next(INFER_ROWS)?;
    let rows = lines.parse(&block)?;
    match infer_type(&rows.iter().collect::<Vec<_>>()).kind {
        TypeKind::Row(fields) => Ok(fields),
        _ => Err(Error::invalid("the file has no rows to take columns from").with("path", path.display())),
    }
}

/// The narrowest type that holds all values: BOOLEAN, BIGINT, DECIMAL, DOUBLE, ARRAY, ROW, else STRING.
fn infer_type(values: &[&JsonTree<'_>]) -> DataType {
    let present: Vec<&JsonTree<'_>> = values.iter().copied().filter(|v| !v.is_null()).collect();
    let all = |test: fn(&JsonTree<'_>) -> bool| !present.is_empty() && present.iter().all(|v| test(v));
    if all(|v| matches!(v, JsonTree::Bool(_))) {
        return DataType::new(TypeKind::Boolean);
    }
    if all(|v| matches!(v, JsonTree::Number(_))) {
        let texts = present.iter().filter_map(|v| match v {
            JsonTree::Number(text) => Some(*text),
            _ => None,
        });
        return number_type(&texts.collect::<Vec<_>>());
    }
    if all(|v| matches!(v, JsonTree::Array(_))) {
        let elements: Vec<&JsonTree<'_>> = present
            .iter()
            .filter_map(|v| match v {
                JsonTree::Array(elements) => Some(elements),
                _ => None,
            })
            .flatten()
            .collect();
        return DataType::new(TypeKind::Array(Box::new(infer_type(&elements))));
    }
    if all(|v| matches!(v, JsonTree::Object(_))) {
        let members = |v: &&JsonTree<'_>| match v {
            JsonTree::Object(members) => members.iter().map(|(key, _)| key.to_string()).collect(),
            _ => Vec::new(),
        };
        let mut names: Vec<String> = Vec::new();
        for key in present.iter().flat_map(members) {
            if !names.contains(&key) {
                names.push(key);
            }
        }
        let field = |name: &String| {
            let inner: Vec<&JsonTree<'_>> = present.iter().filter_map(|v| v.get(name)).collect();
            DataField::new(0, name, infer_type(&inner))
        };
        return DataType::new(TypeKind::Row(names.iter().map(field).collect()));
    }
    DataType::string()
}

/// BIGINT, then DECIMAL(38, 0), for integers; else DOUBLE, or DECIMAL when a double would change an integer among them.
fn number_type(texts: &[&str]) -> DataType {
    let integer = |text: &&str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if texts.iter().all(integer) {
        return DataType::new(match texts.iter().all(|text| text.parse::<i64>().is_ok()) {
            true => TypeKind::BigInt,
            false => TypeKind::Decimal {
                precision: 38,
                scale: 0,
            },
        });
    }
    let exact = |text: &&str| {
        let value = text.parse::<i64>();
        value.is_ok_and(|v| v.unsigned_abs() <= 1 << 53)
    };
    let exponent = texts.iter().any(|text| text.contains(['e', 'E']));
    if exponent || texts.iter().filter(|text| integer(text)).all(exact) {
        return DataType::new(TypeKind::Double);
    }
    let scale = texts
        .iter()
        .map(|text| text.split_once('.').map_or(0, |(_, fraction)| fraction.len()))
        .max()
        .unwrap_or(0);
    DataType::new(TypeKind::Decimal {
        precision: 38,
        scale: u8::try_from(scale).unwrap_or(u8::MAX).min(18),
    })
}

#[cfg(test)]
mod tests {
    use paimon::types::JsonTree;

    use super::infer_type;

    fn inferred(text: &str) -> String {
        match JsonTree::parse(text).unwrap() {
            JsonTree::Array(values) => infer_type(&values.iter().collect::<Vec<_>>()).to_string(),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn types() {
        for (values, data_type) in [
            ("[1, null, -9223372036854775808]", "BIGINT"),
            ("[1, 9223372036854775808]", "DECIMAL(38, 0)"),
            ("[1, 1.5]", "DOUBLE"),
            ("[1e3]", "DOUBLE"),
            ("[9007199254740993, 0.25]", "DECIMAL(38, 2)"),
            ("[true, false]", "BOOLEAN"),
            ("[\"x\", null]", "STRING"),
            ("[null]", "STRING"),
            ("[[1], [2, null]]", "ARRAY<BIGINT>"),
        ] {
            assert_eq!(inferred(values), data_type, "{values}");
        }
    }
}
