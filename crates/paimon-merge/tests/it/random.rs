// SPDX-License-Identifier: Apache-2.0

//! Random histories: what the columnar functions make of them is what the model makes.
//!
//! `PAIMON_MERGE_CASES` sets the number of cases (200).

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use paimon_merge::{Merged, Versions, merge_function, merge_read_fields};
use paimon_types::{CoreOptions, DataField, DataType, Datum, RowKind, TableSchema, Timestamp, TypeKind};
use proptest::prelude::*;

use crate::convert::{self, Row};
use crate::model::{self, Model};

/// A table of these columns: name and type text. The first is the primary key.
pub fn schema(columns: &[(&str, &str)], options: &[(String, String)]) -> TableSchema {
    let fields: Vec<DataField> = columns
        .iter()
        .zip(0..)
        .map(|((name, text), id)| DataField::new(id, *name, DataType::parse(text).unwrap()))
        .collect();
    TableSchema {
        version: 3,
        id: 0,
        highest_field_id: fields.len() as i32,
        partition_keys: Vec::new(),
        primary_keys: vec![columns[0].0.to_owned()],
        fields,
        options: options.iter().cloned().collect(),
        comment: None,
        time_millis: 0,
    }
}

pub fn options(schema: &TableSchema) -> CoreOptions {
    CoreOptions::from_map_for_read(&schema.options).unwrap()
}

/// Versions of keys, spread over sources.
pub struct History {
    pub keys: Vec<Vec<(Row, RowKind)>>,
    sources: Vec<Vec<Row>>,
    places: Vec<Vec<(usize, usize)>>,
    /// Rows of each source that lie before what is used: sources are slices.
    skipped: Vec<usize>,
}

impl History {
    /// All versions in one source, in order.
    pub fn plain(keys: Vec<Vec<(Row, RowKind)>>) -> Self {
        let mut rows = Vec::new();
        let mut places = Vec::new();
        for key in &keys {
            places.push((0..key.len()).map(|index| (0, rows.len() + index)).collect());
            rows.extend(key.iter().map(|(row, _)| row.clone()));
        }
        History {
            keys,
            sources: vec![rows],
            places,
            skipped: vec![0],
        }
    }

    /// Merges the keys that `wanted` names with the columns `read`, which are positions.
    pub fn merge(
        &self,
        schema: &TableSchema,
        read: &[usize],
        wanted: impl Fn(usize) -> bool,
    ) -> paimon_types::Result<Merged> {
        let fields: Vec<DataField> = read.iter().map(|index| schema.fields[*index].clone()).collect();
        let options = CoreOptions::from_map_for_read(&schema.options)?;
        let function = merge_function(schema, &options, &fields)?;
        let sources: Vec<RecordBatch> = self
            .sources
            .iter()
            .zip(&self.skipped)
            .map(|(rows, skipped)| {
                let cut: Vec<Row> = rows
                    .iter()
                    .map(|row| read.iter().map(|index| row[*index].clone()).collect())
                    .collect();
                let batch = convert::batch(&fields, &cut);
                batch.slice(*skipped, batch.num_rows() - skipped)
            })
            .collect();
        let (mut rows, mut kinds, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (index, key) in self.keys.iter().enumerate().filter(|(index, _)| wanted(*index)) {
            rows.extend(self.places[index].iter().copied());
            kinds.extend(key.iter().map(|(_, kind)| *kind));
            ends.push(rows.len());
        }
        let versions = Versions {
            sources: &sources,
            rows: &rows,
            kinds: &kinds,
            ends: &ends,
        };
        let merged = function.merge(&versions)?;
        if let Some(winners) = function.winners(&kinds, &ends)? {
            assert_eq!(winners, merged.origins);
        }
        Ok(merged)
    }
}

/// Row `row` of what came out.
pub fn merged_row(schema: &TableSchema, read: &[usize], merged: &Merged, row: usize) -> Row {
    let columns = merged.columns.iter().zip(read);
    columns
        .map(|(array, index)| convert::value(array, row, &schema.fields[*index].data_type))
        .collect()
}

/// Numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }

    /// A value of the type, NULL now and then.
    fn value(&mut self, data_type: &DataType) -> Option<Datum> {
        if data_type.nullable && self.one_in(4) {
            return None;
        }
        let small = self.below(7) as i32 - 3;
        let large = self.one_in(40);
        Some(match &data_type.kind {
            TypeKind::Boolean => Datum::Boolean(self.one_in(2)),
            TypeKind::TinyInt => Datum::TinyInt(if large { i8::MIN } else { small as i8 }),
            TypeKind::SmallInt => Datum::SmallInt(if large { i16::MAX } else { small as i16 }),
            TypeKind::Int => Datum::Int(if large { i32::MAX } else { small }),
            TypeKind::BigInt => Datum::BigInt(if large { i64::MIN } else { i64::from(small) }),
            TypeKind::Float => Datum::Float(self.of(&[-0.0, 0.0, 1.5, -2.25, f32::NAN, f32::INFINITY])),
            TypeKind::Double => Datum::Double(self.of(&[-0.0, 0.0, 1.5, -2.25, f64::NAN, f64::NEG_INFINITY])),
            TypeKind::Decimal { precision, scale } => {
                let most = 10i128.pow(u32::from(*precision)) - 1;
                let unscaled = if large {
                    most
                } else {
                    i128::from(self.below(2000) as i32 - 1000)
                };
                Datum::Decimal {
                    unscaled: unscaled.clamp(-most, most),
                    scale: *scale,
                }
            }
            TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::String(
                self.of(&[
                    "",
                    " ",
                    "a",
                    "b",
                    "a,b",
                    "b, c",
                    "ä",
                    "zz,a,",
                    "longer than a few bytes",
                ])
                .to_owned(),
            ),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
                Datum::Bytes(self.of(&[vec![], vec![0], vec![0, 1], vec![255]]))
            }
            TypeKind::Date => Datum::Date(small),
            TypeKind::Time(_) => Datum::Time(small + 10),
            TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) => Datum::Timestamp(match p {
                0..=3 => Timestamp::from_millis(i64::from(small)),
                4..=6 => Timestamp::from_micros(i64::from(small)),
                _ => Timestamp::from_nanos(i128::from(small)),
            }),
            TypeKind::Array(element) => {
                Datum::Array((0..self.below(4)).map(|_| self.value(element)).collect())
            }
            TypeKind::Map(key, value) => {
                let key = DataType {
                    nullable: false,
                    kind: key.kind.clone(),
                };
                Datum::Map(
                    (0..self.below(4))
                        .map(|_| (self.value(&key), self.value(value)))
                        .collect(),
                )
            }
            TypeKind::Row(fields) => {
                Datum::Row(fields.iter().map(|field| self.value(&field.data_type)).collect())
            }
            other => panic!("no test values of {other}"),
        })
    }

    fn kind(&mut self, retracts: bool) -> RowKind {
        match self.below(if retracts { 6 } else { 4 }) {
            0..=2 => RowKind::Insert,
            3 => RowKind::UpdateAfter,
            4 => RowKind::UpdateBefore,
            _ => RowKind::Delete,
        }
    }

    pub fn history(&mut self, schema: &TableSchema, retracts: bool) -> History {
        let number = 1 + self.below(4);
        let mut sources: Vec<Vec<Row>> = vec![Vec::new(); number];
        let row = |random: &mut Random, key: i32| {
            let mut row: Row = schema
                .fields
                .iter()
                .map(|field| random.value(&field.data_type))
                .collect();
            row[0] = Some(Datum::Int(key));
            row
        };
        let mut skipped = vec![0; number];
        for (source, skipped) in sources.iter_mut().zip(&mut skipped) {
            *skipped = self.below(3);
            source.extend((0..*skipped).map(|_| row(self, -1)));
        }
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        let mut source = 0;
        for key in 0..self.below(12) as i32 {
            let (mut versions, mut of_key) = (Vec::new(), Vec::new());
            let count = if self.one_in(3) { 1 } else { 1 + self.below(6) };
            for _ in 0..count {
                if self.one_in(2) {
                    source = self.below(number);
                }
                if self.one_in(8) {
                    sources[source].push(row(self, -1));
                }
                let version = row(self, key);
                of_key.push((source, sources[source].len() - skipped[source]));
                sources[source].push(version.clone());
                versions.push((version, self.kind(retracts)));
            }
            keys.push(versions);
            places.push(of_key);
        }
        History {
            keys,
            sources,
            places,
            skipped,
        }
    }
}

const COLUMNS: &[(&str, &str)] = &[
    ("k", "INT NOT NULL"),
    ("t", "TINYINT"),
    ("s", "SMALLINT"),
    ("i", "INT"),
    ("l", "BIGINT"),
    ("r", "BIGINT NOT NULL"),
    ("f", "FLOAT"),
    ("d", "DOUBLE"),
    ("n", "DECIMAL(5, 2)"),
    ("m", "DECIMAL(20, 3)"),
    ("b", "BOOLEAN"),
    ("c", "STRING"),
    ("v", "VARCHAR(30)"),
    ("y", "BYTES"),
    ("a", "DATE"),
    ("u", "TIME(3)"),
    ("p", "TIMESTAMP(3)"),
    ("q", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("w", "TIMESTAMP(9)"),
    ("ai", "ARRAY<INT>"),
    ("ad", "ARRAY<DOUBLE>"),
    ("ab", "ARRAY<BYTES>"),
    ("ar", "ARRAY<ROW<x INT, y STRING>>"),
    ("mi", "MAP<INT, STRING>"),
    ("mt", "MAP<STRING, ROW<x INT, ts STRING>>"),
    ("nu", "ARRAY<ROW<id INT, seq INT, z STRING>>"),
    ("ro", "ROW<x INT, y STRING>"),
    ("g1", "INT"),
    ("g2", "STRING"),
    ("g3", "DOUBLE"),
];

/// Functions for a type; those that cannot retract come last, from the number on.
fn functions(data_type: &DataType, name: &str) -> (Vec<&'static str>, usize) {
    let mut can = vec!["last_value", "last_non_null_value"];
    let mut cannot = vec!["first_value", "first_non_null_value", "first_not_null_value"];
    match &data_type.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Float
        | TypeKind::Double
        | TypeKind::Decimal { .. } => {
            can.extend(["sum", "sum", "product"]);
            cannot.extend(["max", "min"]);
        }
        TypeKind::Boolean => cannot.extend(["bool_and", "bool_or", "max", "min"]),
        TypeKind::VarChar(length) => {
            cannot.extend(["max", "min"]);
            if *length == paimon_types::MAX_LENGTH {
                cannot.extend(["listagg", "listagg"]);
            }
        }
        TypeKind::Array(_) => {
            can.extend(["collect", "collect"]);
            if name == "nu" {
                can.extend(["nested_update", "nested_update"]);
                cannot.extend(["nested_partial_update", "nested_partial_update"]);
            }
        }
        TypeKind::Map(..) => {
            can.push("merge_map");
            if name == "mt" {
                cannot.extend(["merge_map_with_keytime", "merge_map_with_keytime"]);
            }
        }
        TypeKind::Row(_) => {}
        _ => cannot.extend(["max", "min"]),
    }
    let number = can.len();
    can.extend(cannot);
    (can, number)
}

/// A table, and whether its history has retractions.
pub struct Case {
    pub schema: TableSchema,
    pub retracts: bool,
}

impl Case {
    fn set(options: &mut BTreeMap<String, String>, key: impl Into<String>, value: impl Into<String>) {
        options.insert(key.into(), value.into());
    }

    fn function(
        random: &mut Random,
        options: &mut BTreeMap<String, String>,
        field: &DataField,
        retracts: bool,
        can_ignore: bool,
    ) {
        let name = &field.name;
        let (functions, can) = functions(&field.data_type, name);
        let ignore = can_ignore && random.one_in(if retracts { 3 } else { 10 });
        let function = functions[random.below(if retracts && !ignore { can } else { functions.len() })];
        Self::set(options, format!("fields.{name}.aggregate-function"), function);
        if ignore {
            Self::set(options, format!("fields.{name}.ignore-retract"), "true");
        }
        match function {
            "collect" | "listagg" if random.one_in(2) => {
                Self::set(options, format!("fields.{name}.distinct"), "true")
            }
            "merge_map_with_keytime" if random.one_in(2) => {
                Self::set(options, format!("fields.{name}.ts-field"), "ts")
            }
            "nested_update" | "nested_partial_update" => {
                let key = function == "nested_partial_update" || random.one_in(2);
                if key {
                    let keys = random.of(&["id", "id, z"]);
                    Self::set(options, format!("fields.{name}.nested-key"), keys);
                    if random.one_in(3) {
                        Self::set(
                            options,
                            format!("fields.{name}.nested-key-null-strategy"),
                            random.of(&["merge", "ignore"]),
                        );
                    }
                    if function == "nested_update" && random.one_in(2) {
                        Self::set(
                            options,
                            format!("fields.{name}.nested-sequence-field"),
                            random.of(&["seq", "seq,z"]),
                        );
                    }
                }
                if function == "nested_update" && random.one_in(2) {
                    Self::set(
                        options,
                        format!("fields.{name}.count-limit"),
                        random.below(5).to_string(),
                    );
                }
            }
            _ => {}
        }
        if function == "listagg" && random.one_in(2) {
            Self::set(
                options,
                format!("fields.{name}.list-agg-delimiter"),
                random.of(&["; ", "", ",,"]),
            );
        }
    }

    pub fn new(random: &mut Random) -> Self {
        let mut schema = schema(COLUMNS, &[]);
        let mut options = BTreeMap::new();
        let retracts = random.one_in(2);
        let engine = random.of(&[
            "deduplicate",
            "first-row",
            "partial-update",
            "partial-update",
            "aggregation",
            "aggregation",
        ]);
        Self::set(&mut options, "merge-engine", engine);
        let ignore_delete = random.one_in(4);
        if ignore_delete {
            Self::set(&mut options, "ignore-delete", "true");
        }
        match engine {
            "aggregation" => {
                let remove = random.one_in(3);
                if remove {
                    Self::set(&mut options, "aggregation.remove-record-on-delete", "true");
                }
                if random.one_in(4) {
                    Self::set(&mut options, "sequence.field", "g1, g3");
                }
                if random.one_in(6) {
                    Self::set(&mut options, "fields.default-aggregate-function", "last_value");
                }
                for field in &schema.fields[1..COLUMNS.len() - 3] {
                    if !random.one_in(5) && field.name != "r" {
                        Self::function(random, &mut options, field, retracts, !remove);
                    }
                }
            }
            "partial-update" => {
                let groups = !random.one_in(3);
                if groups {
                    let shape = random.below(3);
                    let ordering: &[&str] = [&["g1", "g2", "g3"][..], &["g1,g3"], &["g2", "g1,g3"]][shape];
                    let mut protected: Vec<Vec<String>> = vec![Vec::new(); ordering.len()];
                    for field in &schema.fields[1..COLUMNS.len() - 3] {
                        if random.one_in(3) || field.name == "r" {
                            continue;
                        }
                        protected[random.below(ordering.len())].push(field.name.clone());
                        if random.one_in(2) {
                            Self::function(random, &mut options, field, retracts, true);
                        }
                    }
                    for (ordering, protected) in ordering.iter().zip(&protected) {
                        // Java takes no empty list, but a group that lists its own ordering column.
                        let own = ordering.split(',').next().unwrap_or_default().to_owned();
                        let protected = if protected.is_empty() {
                            vec![own]
                        } else {
                            protected.clone()
                        };
                        Self::set(
                            &mut options,
                            format!("fields.{ordering}.sequence-group"),
                            protected.join(","),
                        );
                    }
                    if !ignore_delete && random.one_in(2) {
                        let names: Vec<&str> = ordering.iter().flat_map(|names| names.split(',')).collect();
                        Self::set(
                            &mut options,
                            "partial-update.remove-record-on-sequence-group",
                            random.of(&names),
                        );
                    }
                } else if !ignore_delete && random.one_in(2) {
                    Self::set(&mut options, "partial-update.remove-record-on-delete", "true");
                }
            }
            _ => {}
        }
        schema.options = options;
        Case { schema, retracts }
    }
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let case = Case::new(&mut random);
    let schema = &case.schema;
    let history = random.history(schema, case.retracts);
    let model = Model::new(schema);
    let expected: Vec<_> = history
        .keys
        .iter()
        .map(|versions| model.merge(versions))
        .collect();
    let all: Vec<usize> = (0..schema.fields.len()).collect();
    if let Some(Err(error)) = expected.iter().find(|result| result.is_err()) {
        let merged = history.merge(schema, &all, |_| true);
        assert!(merged.is_err(), "the model says {error}\n{:?}", schema.options);
    }
    // A projection shows the same rows.
    let mut read: Vec<usize> = all.iter().copied().filter(|_| random.one_in(4)).collect();
    let fields: Vec<DataField> = read.iter().map(|index| schema.fields[*index].clone()).collect();
    let more = merge_read_fields(schema, &options(schema), &fields).unwrap();
    read.extend(more.iter().map(|field| field.id as usize));
    for read in [all, read] {
        let good = |index: usize| expected[index].is_ok();
        let merged = history.merge(schema, &read, good);
        let merged =
            merged.unwrap_or_else(|error| panic!("{error:?}\n{:?}\n{:?}", schema.options, history.keys));
        let mut row = 0;
        let mut start = 0;
        for (index, versions) in history.keys.iter().enumerate().filter(|(index, _)| good(*index)) {
            if let Ok(Some(expected)) = &expected[index] {
                let expected_row: Row = read.iter().map(|column| expected.row[*column].clone()).collect();
                for (at, column) in read.iter().enumerate() {
                    let found = convert::value(&merged.columns[at], row, &schema.fields[*column].data_type);
                    assert_eq!(
                        format!("{:?}", expected_row[at]),
                        format!("{found:?}"),
                        "column {}\nversions {versions:?}\noptions {:?}",
                        schema.fields[*column].name,
                        schema.options
                    );
                }
                let what = format!("{versions:?}\n{:?}", schema.options);
                assert_eq!(expected.kind, merged.kinds[row], "{what}");
                assert_eq!(start + expected.origin, merged.origins[row], "{what}");
                row += 1;
            }
            start += versions.len();
        }
        assert_eq!(row, merged.kinds.len());
        assert!(merged.columns.iter().all(|column| column.len() == row));
    }
}

fn cases() -> u32 {
    let set = std::env::var("PAIMON_MERGE_CASES").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn columns_agree_with_the_model(seed in any::<u64>()) {
        check(seed);
    }
}

/// The model's own row type is the one of the conversion.
const _: fn(model::Row) -> Row = |row| row;
