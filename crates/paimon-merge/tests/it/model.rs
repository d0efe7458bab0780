// SPDX-License-Identifier: Apache-2.0

//! The rules of `semantics.md` 2.2 and 3, one row at a time and as plainly as possible: what the columnar functions have to
//! agree with. It follows the Java classes step by step and shares no code with them.

#[path = "model/aggregator.rs"]
mod aggregator;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use paimon_types::{DataType, Datum, RowKind, TableSchema};

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
