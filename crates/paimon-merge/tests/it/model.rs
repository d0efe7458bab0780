// SPDX-License-Identifier: Apache-2.0

//! The rules of `semantics.md` 2.2 and 3, one row at a time and as plainly as possible: what the columnar functions have to
//! agree with. It follows the Java classes step by step and shares no code with them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use paimon_types::{DataType, Datum, RowKind, TableSchema, TypeKind};

/// A row, NULL as `None`.
pub type Row = Vec<Option<Datum>>;
/// What is wrong, in the words of the model.
pub type Fails<T> = Result<T, String>;

/// Merges the versions of one key after another.
pub struct Model {
    names: Vec<String>,
    types: Vec<DataType>,
    keys: Vec<String>,
    options: BTreeMap<String, String>,
}

/// The row of a key.
#[derive(Debug)]
pub struct Merged {
    pub row: Row,
    pub kind: RowKind,
    /// Index of the version whose sequence number the row has.
    pub origin: usize,
}

/// The function of a column with what it remembers of one key.
struct Aggregator {
    name: String,
    column: String,
    data_type: DataType,
    ignore_retract: bool,
    started: bool,
    options: BTreeMap<String, String>,
}

impl Model {
    pub fn new(schema: &TableSchema) -> Self {
        Model {
            names: schema.fields.iter().map(|field| field.name.clone()).collect(),
            types: schema
                .fields
                .iter()
                .map(|field| field.data_type.clone())
                .collect(),
            keys: schema.primary_keys.clone(),
            options: schema.options.clone(),
        }
    }

    fn option(&self, key: &str) -> Option<&str> {
        self.options.get(key).map(String::as_str)
    }

    fn on(&self, key: &str) -> bool {
        self.option(key) == Some("true")
    }

    /// `None` when every version is ignored.
    pub fn merge(&self, versions: &[(Row, RowKind)]) -> Fails<Option<Merged>> {
        if let [(row, kind)] = versions {
            return Ok(Some(Merged {
                row: row.clone(),
                kind: *kind,
                origin: 0,
            }));
        }
        match self.option("merge-engine").unwrap_or("deduplicate") {
            "deduplicate" => {
                let mut latest = None;
                for (index, (row, kind)) in versions.iter().enumerate() {
                    if self.on("ignore-delete") && kind.is_retract() {
                        continue;
                    }
                    latest = Some(Merged {
                        row: row.clone(),
                        kind: *kind,
                        origin: index,
                    });
                }
                Ok(latest)
            }
            "first-row" => {
                let mut first = None;
                for (index, (row, kind)) in versions.iter().enumerate() {
                    if kind.is_retract() {
                        if self.on("ignore-delete") {
                            continue;
                        }
                        return Err("first-row cannot retract".to_owned());
                    }
                    if first.is_none() {
                        first = Some(Merged {
                            row: row.clone(),
                            kind: *kind,
                            origin: index,
                        });
                    }
                }
                Ok(first)
            }
            "aggregation" => self.aggregate(versions).map(Some),
            "partial-update" => self.partial_update(versions).map(Some),
            other => panic!("engine {other}"),
        }
    }

    fn aggregator(&self, column: usize, name: &str) -> Aggregator {
        let column = &self.names[column];
        Aggregator {
            name: name.to_owned(),
            column: column.clone(),
            data_type: self.types[self.names.iter().position(|other| other == column).unwrap()].clone(),
            ignore_retract: self.on(&format!("fields.{column}.ignore-retract")),
            started: false,
            options: self.options.clone(),
        }
    }

    fn function(&self, column: usize) -> Option<&str> {
        let own = self.option(&format!("fields.{}.aggregate-function", self.names[column]));
        own.or_else(|| self.option("fields.default-aggregate-function"))
    }

    fn is_key(&self, column: usize) -> bool {
        self.keys.contains(&self.names[column])
    }

    fn check_not_null(&self, row: &Row) -> Fails<()> {
        for (index, value) in row.iter().enumerate() {
            if value.is_none() && !self.types[index].nullable {
                return Err(format!("field {index} can not be null"));
            }
        }
        Ok(())
    }

    /// A NOT NULL column can hold no NULL, whoever put it there.
    fn finish(&self, merged: Merged) -> Fails<Merged> {
        if !merged.kind.is_retract() {
            self.check_not_null(&merged.row)?;
        }
        Ok(merged)
    }

    fn aggregate(&self, versions: &[(Row, RowKind)]) -> Fails<Merged> {
        let sequence: Vec<&str> = match self.option("sequence.field") {
            None => Vec::new(),
            Some(text) => text.split(',').map(str::trim).collect(),
        };
        let mut functions: Vec<Aggregator> = (0..self.names.len())
            .map(|column| {
                let name = if sequence.contains(&self.names[column].as_str()) {
                    "last_value"
                } else if self.is_key(column) {
                    "primary-key"
                } else {
                    self.function(column).unwrap_or("last_non_null_value")
                };
                self.aggregator(column, name)
            })
            .collect();
        let mut row: Row = vec![None; self.names.len()];
        let mut deleted = false;
        for (version, kind) in versions {
            deleted = self.on("aggregation.remove-record-on-delete") && *kind == RowKind::Delete;
            if deleted {
                self.check_not_null(version)?;
                row = version.clone();
                continue;
            }
            for (column, function) in functions.iter_mut().enumerate() {
                let (old, new) = (row[column].take(), version[column].clone());
                row[column] = if kind.is_retract() {
                    function.retract(old, new)?
                } else {
                    function.agg(old, new)?
                };
            }
        }
        self.finish(Merged {
            row,
            kind: if deleted { RowKind::Delete } else { RowKind::Insert },
            origin: versions.len() - 1,
        })
    }

    /// Ordering columns of each column's group, and the ordering columns that remove rows.
    fn groups(&self) -> (HashMap<usize, Vec<usize>>, Vec<usize>) {
        let position = |name: &str| self.names.iter().position(|other| other == name).unwrap();
        let mut groups = HashMap::new();
        for (key, value) in &self.options {
            if let Some(rest) = key.strip_prefix("fields.")
                && let Some(ordering) = rest.strip_suffix(".sequence-group")
            {
                let ordering: Vec<usize> = ordering.split(',').map(position).collect();
                for column in value.split(',').map(position).chain(ordering.iter().copied()) {
                    groups.insert(column, ordering.clone());
                }
            }
        }
        let removing = self.option("partial-update.remove-record-on-sequence-group");
        (
            groups,
            removing.map_or_else(Vec::new, |text| text.split(',').map(position).collect()),
        )
    }

    fn partial_update(&self, versions: &[(Row, RowKind)]) -> Fails<Merged> {
        let (groups, removing) = self.groups();
        let mut functions: HashMap<usize, Aggregator> = HashMap::new();
        for column in 0..self.names.len() {
            if groups
                .get(&column)
                .is_some_and(|ordering| ordering.contains(&column))
            {
                continue;
            }
            let name = if self.is_key(column) {
                Some("primary-key")
            } else {
                self.function(column)
            };
            if let Some(name) = name {
                functions.insert(column, self.aggregator(column, name));
            }
        }
        let mut row: Row = vec![None; self.names.len()];
        let (mut deleted, mut inserted, mut filled) = (false, false, false);
        let mut origin = 0;
        for (index, (version, kind)) in versions.iter().enumerate() {
            deleted = false;
            if kind.is_retract() {
                if !filled {
                    self.check_not_null(version)?;
                    row = version.clone();
                    filled = true;
                }
                if self.on("ignore-delete") {
                    continue;
                }
                origin = index;
                if !groups.is_empty() {
                    deleted =
                        self.retract_groups(&mut row, version, *kind, &groups, &removing, &mut functions)?;
                } else if self.on("partial-update.remove-record-on-delete") {
                    if *kind == RowKind::Delete {
                        self.check_not_null(version)?;
                        row = version.clone();
                        deleted = true;
                    }
                } else {
                    return Err("partial-update cannot retract".to_owned());
                }
                continue;
            }
            origin = index;
            if groups.is_empty() {
                for (column, value) in version.iter().enumerate() {
                    match value {
                        Some(value) => row[column] = Some(value.clone()),
                        None if !self.types[column].nullable => {
                            return Err(format!("field {column} can not be null"));
                        }
                        None => {}
                    }
                }
            } else {
                self.add_groups(&mut row, version, &groups, &mut functions)?;
            }
            inserted = true;
            filled = true;
        }
        self.finish(Merged {
            row,
            kind: if deleted || !inserted {
                RowKind::Delete
            } else {
                RowKind::Insert
            },
            origin,
        })
    }

    fn add_groups(
        &self,
        row: &mut Row,
        version: &Row,
        groups: &HashMap<usize, Vec<usize>>,
        functions: &mut HashMap<usize, Aggregator>,
    ) -> Fails<()> {
        let mut done = vec![false; row.len()];
        for column in 0..row.len() {
            let input = version[column].clone();
            let Some(ordering) = groups.get(&column) else {
                match functions.get_mut(&column) {
                    Some(function) => row[column] = function.agg(row[column].take(), input)?,
                    None if input.is_some() => row[column] = input,
                    None => {}
                }
                continue;
            };
            if done[column] || ordering.iter().all(|field| version[*field].is_none()) {
                continue;
            }
            if compare_fields(version, row, ordering) != Ordering::Less {
                if ordering.contains(&column) {
                    for field in ordering {
                        row[*field] = version[*field].clone();
                        done[*field] = true;
                    }
                    continue;
                }
                row[column] = match functions.get_mut(&column) {
                    Some(function) => function.agg(row[column].take(), input)?,
                    None => input,
                };
            } else if let Some(function) = functions.get_mut(&column) {
                row[column] = function.agg_reversed(row[column].take(), input)?;
            }
        }
        Ok(())
    }

    /// True when the row is removed.
    fn retract_groups(
        &self,
        row: &mut Row,
        version: &Row,
        kind: RowKind,
        groups: &HashMap<usize, Vec<usize>>,
        removing: &[usize],
        functions: &mut HashMap<usize, Aggregator>,
    ) -> Fails<bool> {
        // Java sees a removal only when it comes to the ordering column; what it did before is lost then, but for errors of
        // functions that cannot retract, which are no use to anybody.
        for ordering in groups.values() {
            let empty = ordering.iter().all(|field| version[*field].is_none());
            if kind == RowKind::Delete
                && ordering.iter().any(|field| removing.contains(field))
                && !empty
                && compare_fields(version, row, ordering) != Ordering::Less
            {
                self.check_not_null(version)?;
                *row = version.clone();
                return Ok(true);
            }
        }
        let mut done = vec![false; row.len()];
        for column in 0..row.len() {
            let Some(ordering) = groups.get(&column) else {
                continue;
            };
            if done[column] || ordering.iter().all(|field| version[*field].is_none()) {
                continue;
            }
            let input = version[column].clone();
            if compare_fields(version, row, ordering) != Ordering::Less {
                if ordering.contains(&column) {
                    for field in ordering {
                        row[*field] = version[*field].clone();
                        done[*field] = true;
                    }
                    continue;
                }
                row[column] = match functions.get_mut(&column) {
                    Some(function) => function.retract(row[column].take(), input)?,
                    None => None,
                };
            } else if let Some(function) = functions.get_mut(&column) {
                row[column] = function.retract(row[column].take(), input)?;
            }
        }
        Ok(false)
    }
}

fn compare_fields(a: &Row, b: &Row, fields: &[usize]) -> Ordering {
    for field in fields {
        let order = compare(&a[*field], &b[*field]);
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// NULL first.
fn compare(a: &Option<Datum>, b: &Option<Datum>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.compare(b).unwrap(),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// Values are equal as Java's `equals` says: every NaN is the same, −0.0 is another number than 0.0.
fn same(a: &Option<Datum>, b: &Option<Datum>) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

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

    fn agg_reversed(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
        if self.name == "collect" && !self.ignore_retract {
            return self.agg(acc, input);
        }
        self.agg(input, acc)
    }

    fn agg(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
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

    fn retract(&mut self, acc: Option<Datum>, input: Option<Datum>) -> Fails<Option<Datum>> {
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
