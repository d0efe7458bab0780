// SPDX-License-Identifier: Apache-2.0

//! The functions of columns, value by value.

use std::cmp::Ordering;

use paimon_types::{DataType, Datum, TypeKind};

use super::{Aggregator, Fails, Row, compare_fields, same};

fn outside<T>(value: Option<T>, function: &str) -> Fails<T> {
    value.ok_or_else(|| format!("{function} is outside of the type"))
}

fn is_blank(text: &str) -> bool {
    // The blanks that the tests use.
    text.chars().all(|c| c == ' ' || c == '\t' || c == '\u{3000}')
}

fn digits(number: i128) -> usize {
    number.unsigned_abs().to_string().len()
}

impl Aggregator {
    fn option(&self, name: &str) -> Option<&str> {
        self.options
            .get(&format!("fields.{}.{name}", self.column))
            .map(String::as_str)
    }

    fn elements(&self) -> &DataType {
        match &self.data_type.kind {
            TypeKind::Array(element) => element,
            other => panic!("no elements in {other}"),
        }
    }

    pub(super) fn agg_reversed(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        if self.name == "collect" && !self.ignore_retract {
            return self.agg(acc, input);
        }
        self.agg(input, acc)
    }

    pub(super) fn agg(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        let name = self.name.clone();
        Ok(match name.as_str() {
            "last_value" | "primary-key" => input,
            "last_non_null_value" => input.or(acc),
            "first_value" => {
                if self.started {
                    acc
                } else {
                    self.started = true;
                    input
                }
            }
            "first_non_null_value" | "first_not_null_value" => {
                if !self.started && input.is_some() {
                    self.started = true;
                    input
                } else {
                    acc
                }
            }
            "collect" => self.collect(acc, input),
            "nested_update" => self.nested_update(acc, input)?,
            "nested_partial_update" => self.nested_partial_update(acc, input)?,
            "listagg" => {
                let text = |value: &Option<Datum>| match value {
                    Some(Datum::String(text)) if !is_blank(text) => Some(text.clone()),
                    _ => None,
                };
                let Some(new) = text(&input) else { return Ok(acc) };
                let Some(old) = text(&acc) else { return Ok(input) };
                Some(Datum::String(self.join(&old, &new)))
            }
            _ => {
                let (Some(a), Some(b)) = (&acc, &input) else {
                    return Ok(acc.or(input));
                };
                match name.as_str() {
                    "sum" => self.number(a, b, '+')?,
                    "product" => self.number(a, b, '*')?,
                    "max" => {
                        if a.compare(b) == Some(Ordering::Less) {
                            input
                        } else {
                            acc
                        }
                    }
                    "min" => {
                        if a.compare(b) == Some(Ordering::Less) {
                            acc
                        } else {
                            input
                        }
                    }
                    "bool_and" => Some(Datum::Boolean(
                        *a == Datum::Boolean(true) && *b == Datum::Boolean(true),
                    )),
                    "bool_or" => Some(Datum::Boolean(
                        *a == Datum::Boolean(true) || *b == Datum::Boolean(true),
                    )),
                    "merge_map" => {
                        let mut map = Vec::new();
                        for (key, value) in entries(a).into_iter().chain(entries(b)) {
                            put(&mut map, key, value);
                        }
                        Some(Datum::Map(map))
                    }
                    "merge_map_with_keytime" => self.merge_map_with_keytime(a, b),
                    other => panic!("function {other}"),
                }
            }
        })
    }

    pub(super) fn retract(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        if self.ignore_retract {
            return Ok(acc);
        }
        Ok(match self.name.as_str() {
            "last_value" => None,
            "primary-key" => input,
            "last_non_null_value" => {
                if input.is_some() {
                    None
                } else {
                    acc
                }
            }
            "sum" => match (&acc, &input) {
                (Some(a), Some(b)) => self.number(a, b, '-')?,
                (None, Some(b)) => self.negative(b)?,
                _ => acc,
            },
            "product" => match (&acc, &input) {
                (Some(a), Some(b)) => self.number(a, b, '/')?,
                _ => acc,
            },
            "collect" => {
                let (Some(a), Some(b)) = (&acc, &input) else {
                    return Ok(acc);
                };
                let binary = matches!(self.elements().kind, TypeKind::Binary(_) | TypeKind::VarBinary(_));
                let mut retracted = list(b);
                let mut kept = list(a);
                // Java compares byte arrays by identity here.
                let by_identity = binary && self.option("distinct") != Some("true");
                let equal = |a: &Option<Datum>, b: &Option<Datum>| {
                    if by_identity {
                        a.is_none() && b.is_none()
                    } else {
                        same(a, b)
                    }
                };
                kept.retain(
                    |element| match retracted.iter().position(|other| equal(element, other)) {
                        Some(at) => {
                            retracted.remove(at);
                            false
                        }
                        None => true,
                    },
                );
                Some(Datum::Array(kept))
            }
            "merge_map" => {
                let (Some(a), Some(b)) = (&acc, &input) else {
                    return Ok(acc);
                };
                if entries(b).is_empty() {
                    return Ok(acc);
                }
                let mut map = Vec::new();
                for (key, value) in entries(a) {
                    if !entries(b).iter().any(|(other, _)| same(&key, other)) {
                        put(&mut map, key, value);
                    }
                }
                Some(Datum::Map(map))
            }
            "nested_update" => {
                let (Some(a), Some(b)) = (&acc, &input) else {
                    return Ok(acc);
                };
                let mut table: Vec<Option<Datum>> = Vec::new();
                if self.option("nested-key").is_none() {
                    table.extend(list(a).into_iter().filter(Option::is_some));
                    for row in list(b).iter().filter(|row| row.is_some()) {
                        table.retain(|other| !same(row, other));
                    }
                    return Ok(Some(Datum::Array(table)));
                }
                for row in list(a).into_iter().filter(Option::is_some) {
                    if !self.counts(&row)? {
                        continue;
                    }
                    match table
                        .iter()
                        .position(|other| same_key(&self.nested_key(&row), &self.nested_key(other)))
                    {
                        Some(at) => table[at] = row,
                        None => table.push(row),
                    }
                }
                for row in list(b).into_iter().filter(Option::is_some) {
                    if self.counts(&row)? {
                        table.retain(|other| !same_key(&self.nested_key(&row), &self.nested_key(other)));
                    }
                }
                Some(Datum::Array(table))
            }
            other => return Err(format!("{other} cannot retract")),
        })
    }

    fn join(&self, old: &str, new: &str) -> String {
        let delimiter = self.option("list-agg-delimiter").unwrap_or(",");
        if self.option("distinct") != Some("true") {
            return format!("{old}{delimiter}{new}");
        }
        let separator = if delimiter.is_empty() { " " } else { delimiter };
        let mut seen: Vec<&str> = old.split(separator).collect();
        let mut joined = old.to_owned();
        for token in new.split(separator) {
            if is_blank(token) || seen.contains(&token) {
                continue;
            }
            seen.push(token);
            joined = format!("{joined}{delimiter}{token}");
        }
        joined
    }

    fn collect(&self, acc: Option<Datum>, input: Option<Datum>) -> Option<Datum> {
        let distinct = self.option("distinct") == Some("true");
        match (&acc, &input) {
            (None, None) => return None,
            (None, _) | (_, None) if !distinct => return acc.or(input),
            _ => {}
        }
        let old = acc.as_ref().map_or_else(Vec::new, list);
        let new = input.as_ref().map_or_else(Vec::new, list);
        if !distinct {
            return Some(Datum::Array(old.into_iter().chain(new).collect()));
        }
        let in_list = matches!(
            self.elements().kind,
            TypeKind::Array(_)
                | TypeKind::Map(..)
                | TypeKind::Row(_)
                | TypeKind::Binary(_)
                | TypeKind::VarBinary(_)
        );
        let mut all: Vec<Option<Datum>> = Vec::new();
        for (element, as_is) in old
            .into_iter()
            .map(|e| (e, in_list))
            .chain(new.into_iter().map(|e| (e, false)))
        {
            if as_is || !all.iter().any(|other| same(other, &element)) {
                all.push(element);
            }
        }
        Some(Datum::Array(all))
    }

    fn merge_map_with_keytime(&self, acc: &Datum, input: &Datum) -> Option<Datum> {
        let TypeKind::Map(_, value) = &self.data_type.kind else {
            panic!()
        };
        let TypeKind::Row(fields) = &value.kind else {
            panic!()
        };
        let at = match self.option("ts-field") {
            None => fields.len() - 1,
            Some(name) => fields.iter().position(|field| field.name == name).unwrap(),
        };
        let time = |value: &Option<Datum>| match value {
            Some(Datum::Row(row)) => match &row[at] {
                Some(Datum::String(text)) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        // Removed keys keep their place here; the maps of Java have no order.
        let mut map: Vec<(Option<Datum>, Option<Option<Datum>>)> = Vec::new();
        let find = |map: &[(Option<Datum>, Option<Option<Datum>>)], key: &Option<Datum>| {
            map.iter().position(|(other, _)| same(other, key))
        };
        for (key, value) in entries(acc) {
            match find(&map, &key) {
                Some(at) => map[at].1 = Some(value),
                None => map.push((key, Some(value))),
            }
        }
        for (key, value) in entries(input) {
            let found = find(&map, &key);
            if value.is_none() {
                if let Some(at) = found {
                    map[at].1 = None;
                }
                continue;
            }
            let Some(new) = time(&value) else { continue };
            match found {
                None => map.push((key, Some(value))),
                Some(at) => {
                    let old = map[at].1.as_ref().and_then(&time);
                    if old.is_none_or(|old| new.encode_utf16().cmp(old.encode_utf16()) == Ordering::Greater) {
                        map[at].1 = Some(value);
                    }
                }
            }
        }
        let present = map
            .into_iter()
            .filter_map(|(key, value)| value.map(|value| (key, value)));
        Some(Datum::Map(present.collect()))
    }

    fn fields_of_rows(&self, option: &str) -> Vec<usize> {
        let TypeKind::Row(fields) = &self.elements().kind else {
            panic!()
        };
        let names = self
            .option(option)
            .map_or_else(Vec::new, |text| text.split(',').map(str::trim).collect());
        let position = |name: &str| fields.iter().position(|field| field.name == name).unwrap();
        names.into_iter().map(position).collect()
    }

    fn nested_key(&self, row: &Option<Datum>) -> Row {
        let Some(Datum::Row(row)) = row else { panic!() };
        self.fields_of_rows("nested-key")
            .into_iter()
            .map(|field| row[field].clone())
            .collect()
    }

    fn counts(&self, row: &Option<Datum>) -> Fails<bool> {
        if self.nested_key(row).iter().all(Option::is_some) {
            return Ok(true);
        }
        match self.option("nested-key-null-strategy").unwrap_or("merge") {
            "merge" => Ok(true),
            "ignore" => Ok(false),
            _ => Err("nested key contains null".to_owned()),
        }
    }

    fn nested_update(&self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        let Some(input) = input else { return Ok(acc) };
        let limit: i64 = self
            .option("count-limit")
            .map_or(i64::from(i32::MAX), |text| text.parse().unwrap());
        let rows = |data: &Datum| list(data).into_iter().filter(Option::is_some).collect::<Vec<_>>();
        if self.option("nested-key").is_none() {
            let before = acc.as_ref().map_or(0, |acc| list(acc).len() as i64);
            if acc.is_some() && before >= limit {
                return Ok(acc);
            }
            let mut table = acc.as_ref().map_or_else(Vec::new, &rows);
            table.extend(rows(&input).into_iter().take((limit - before).max(0) as usize));
            return Ok(Some(Datum::Array(table)));
        }
        let sequence = self.fields_of_rows("nested-sequence-field");
        let mut table: Vec<Option<Datum>> = Vec::new();
        let old = acc
            .as_ref()
            .map_or_else(Vec::new, &rows)
            .into_iter()
            .map(|row| (row, false));
        for (row, limited) in old.chain(rows(&input).into_iter().map(|row| (row, true))) {
            if !self.counts(&row)? {
                continue;
            }
            match table
                .iter()
                .position(|other| same_key(&self.nested_key(&row), &self.nested_key(other)))
            {
                Some(at) => {
                    let (Some(Datum::Row(new)), Some(Datum::Row(old))) = (&row, &table[at]) else {
                        panic!()
                    };
                    if sequence.is_empty() || compare_fields(new, old, &sequence) != Ordering::Less {
                        table[at] = row;
                    }
                }
                None if !limited || (table.len() as i64) < limit => table.push(row),
                None => {}
            }
        }
        Ok(Some(Datum::Array(table)))
    }

    fn nested_partial_update(&self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        let Some(input) = input else { return Ok(acc) };
        let mut table: Vec<(Row, Row)> = Vec::new();
        let old = acc.as_ref().map_or_else(Vec::new, list);
        for row in old.into_iter().chain(list(&input)).filter(Option::is_some) {
            if !self.counts(&row)? {
                continue;
            }
            let key = self.nested_key(&row);
            let Some(Datum::Row(new)) = row else { panic!() };
            let at = table
                .iter()
                .position(|(other, _)| same_key(&key, other))
                .unwrap_or_else(|| {
                    table.push((key.clone(), vec![None; new.len()]));
                    table.len() - 1
                });
            for (field, value) in new.into_iter().enumerate() {
                if value.is_some() {
                    table[at].1[field] = value;
                }
            }
        }
        Ok(Some(Datum::Array(
            table.into_iter().map(|(_, row)| Some(Datum::Row(row))).collect(),
        )))
    }

    fn negative(&self, value: &Datum) -> Fails<Option<Datum>> {
        Ok(Some(match value {
            Datum::TinyInt(v) => Datum::TinyInt(outside(v.checked_neg(), "sum")?),
            Datum::SmallInt(v) => Datum::SmallInt(outside(v.checked_neg(), "sum")?),
            Datum::Int(v) => Datum::Int(outside(v.checked_neg(), "sum")?),
            Datum::BigInt(v) => Datum::BigInt(outside(v.checked_neg(), "sum")?),
            Datum::Float(v) => Datum::Float(-v),
            Datum::Double(v) => Datum::Double(-v),
            Datum::Decimal { unscaled, .. } => return Ok(self.decimal(Some(-unscaled))),
            other => panic!("unexpected {other:?}"),
        }))
    }

    /// A decimal of the column's type, NULL when it has too many digits.
    fn decimal(&self, unscaled: Option<i128>) -> Option<Datum> {
        let TypeKind::Decimal { precision, scale } = self.data_type.kind else {
            panic!()
        };
        let unscaled = unscaled.filter(|number| digits(*number) <= usize::from(precision))?;
        Some(Datum::Decimal { unscaled, scale })
    }

    fn number(&self, a: &Datum, b: &Datum, sign: char) -> Fails<Option<Datum>> {
        let name = if "+-".contains(sign) { "sum" } else { "product" };
        macro_rules! integer {
            ($variant:ident, $a:expr, $b:expr) => {{
                let result = match sign {
                    '+' => $a.checked_add(*$b),
                    '-' => $a.checked_sub(*$b),
                    '*' => $a.checked_mul(*$b),
                    _ => $a.checked_div(*$b),
                };
                Ok(Some(Datum::$variant(outside(result, name)?)))
            }};
        }
        macro_rules! floating {
            ($variant:ident, $a:expr, $b:expr) => {
                Ok(Some(Datum::$variant(match sign {
                    '+' => $a + $b,
                    '-' => $a - $b,
                    '*' => $a * $b,
                    _ => $a / $b,
                })))
            };
        }
        match (a, b) {
            (Datum::TinyInt(a), Datum::TinyInt(b)) => integer!(TinyInt, a, b),
            (Datum::SmallInt(a), Datum::SmallInt(b)) => integer!(SmallInt, a, b),
            (Datum::Int(a), Datum::Int(b)) => integer!(Int, a, b),
            (Datum::BigInt(a), Datum::BigInt(b)) => integer!(BigInt, a, b),
            (Datum::Float(a), Datum::Float(b)) => floating!(Float, a, b),
            (Datum::Double(a), Datum::Double(b)) => floating!(Double, a, b),
            (Datum::Decimal { unscaled: a, scale }, Datum::Decimal { unscaled: b, .. }) => {
                let TypeKind::Decimal { precision, .. } = self.data_type.kind else {
                    panic!()
                };
                match sign {
                    '+' | '-' => {
                        let exact = if sign == '+' { a + b } else { a - b };
                        if precision <= 18 && i64::try_from(exact).is_ok() {
                            return Ok(Some(Datum::Decimal {
                                unscaled: exact,
                                scale: *scale,
                            }));
                        }
                        Ok(self.decimal(Some(exact)))
                    }
                    // Test values are small enough for 128 bits.
                    '*' => Ok(self.decimal(
                        a.checked_mul(*b)
                            .map(|product| half_up(product, 10i128.pow(u32::from(*scale)))),
                    )),
                    _ => {
                        if *b == 0 {
                            return Err("division by zero".to_owned());
                        }
                        // Finitely many digits: 60 of them are more than any test value needs.
                        let mut rest = a.unsigned_abs() % b.unsigned_abs();
                        for _ in 0..200 {
                            rest = rest * 10 % b.unsigned_abs();
                        }
                        if rest != 0 {
                            return Err("non-terminating decimal expansion".to_owned());
                        }
                        Ok(self.decimal(Some(half_up(a * 10i128.pow(u32::from(*scale)), *b))))
                    }
                }
            }
            other => panic!("unexpected {other:?}"),
        }
    }
}

fn half_up(numerator: i128, denominator: i128) -> i128 {
    let negative = (numerator < 0) != (denominator < 0);
    let (n, d) = (numerator.unsigned_abs(), denominator.unsigned_abs());
    let rounded = (n / d + u128::from(n % d >= d - n % d)) as i128;
    if negative { -rounded } else { rounded }
}

fn list(data: &Datum) -> Vec<Option<Datum>> {
    match data {
        Datum::Array(list) => list.clone(),
        other => panic!("unexpected {other:?}"),
    }
}

type Entry = (Option<Datum>, Option<Datum>);

fn entries(data: &Datum) -> Vec<Entry> {
    match data {
        Datum::Map(entries) => entries.clone(),
        other => panic!("unexpected {other:?}"),
    }
}

fn put(map: &mut Vec<Entry>, key: Option<Datum>, value: Option<Datum>) {
    match map.iter().position(|(other, _)| same(other, &key)) {
        Some(at) => map[at].1 = value,
        None => map.push((key, value)),
    }
}

fn same_key(a: &Row, b: &Row) -> bool {
    a.iter().zip(b).all(|(a, b)| same(a, b))
}
