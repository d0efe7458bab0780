// SPDX-License-Identifier: Apache-2.0

//! Stripes and row groups that cannot hold a row of the predicate.

use paimon_types::{DataField, Datum, LeafPredicate, Predicate, PredicateOp};

use super::bloom;
use super::projection::{Projection, Shape};
use crate::options::ReadOptions;
use crate::proto::{BloomFilter, ColumnStatistics, Footer, Kind};
use crate::stats::{GREGORIAN_DAY, Shift, StatsColumn, column_stats};

/// The part of a predicate that a file can say something about.
#[derive(Debug)]
pub(crate) struct Pruner {
    predicate: Predicate,
    columns: Vec<Column>,
    legacy_ltz: bool,
    blooms: bool,
}

#[derive(Debug)]
struct Column {
    field_id: i32,
    column: u32,
    stats: StatsColumn,
    length: Option<u32>,
    /// Tested for being equal to something.
    equality: bool,
}

impl Pruner {
    /// `None` when nothing can be left out. Only tests of columns that are read count, because they were found in the
    /// file, and only when they test the type that is read.
    pub(crate) fn new(
        predicate: &Predicate,
        fields: &[DataField],
        projection: &Projection,
        footer: &Footer,
        options: ReadOptions,
    ) -> Option<Self> {
        let mut columns: Vec<Column> = fields
            .iter()
            .zip(&projection.columns)
            .filter(|(_, node)| matches!(node.shape, Shape::Leaf(_)))
            .map(|(field, node)| Column {
                field_id: field.id,
                column: node.column,
                stats: StatsColumn {
                    kind: node.kind,
                    data_type: field.data_type.clone(),
                },
                length: node.length,
                equality: false,
            })
            .collect();
        let known = |leaf: &LeafPredicate| {
            columns
                .iter()
                .any(|c| c.field_id == leaf.field_id && c.stats.data_type.same_kind(&leaf.data_type))
        };
        let predicate = predicate.weaken(&mut |leaf| known(leaf).then(|| leaf.clone()));
        if predicate == Predicate::Constant(true) {
            return None;
        }
        columns.retain(|column| predicate.columns().contains(&column.field_id));
        predicate.visit(&mut |leaf| {
            for column in &mut columns {
                let equality = matches!(leaf.op, PredicateOp::Eq | PredicateOp::In);
                column.equality |= column.field_id == leaf.field_id && equality;
            }
        });
        Some(Pruner {
            predicate,
            columns,
            legacy_ltz: options.legacy_ltz,
            blooms: bloom::is_trusted(footer),
        })
    }

    /// True when the predicate tests this column of the file.
    pub(crate) fn tests(&self, column: u32) -> bool {
        self.columns.iter().any(|c| c.column == column)
    }

    /// True when bloom filters of this column may help.
    pub(crate) fn tests_equality(&self, column: u32) -> bool {
        self.blooms
            && self
                .columns
                .iter()
                .any(|c| c.column == column && c.equality && bloom::has_hash(c.stats.kind))
    }

    fn column(&self, field_id: i32) -> Option<&Column> {
        self.columns.iter().find(|column| column.field_id == field_id)
    }

    /// False when no row of a stripe of `rows` rows can match.
    pub(crate) fn stripe(&self, rows: u64, statistics: &[ColumnStatistics]) -> bool {
        let find = |column: u32| statistics.get(column as usize);
        self.row_group(rows, false, &find, &|_| None)
    }

    /// False when no row of a row group of `rows` rows can match. `zone_is_utc` when the writer's zone is known to be.
    pub(crate) fn row_group<'a>(
        &self,
        rows: u64,
        zone_is_utc: bool,
        statistics: &dyn Fn(u32) -> Option<&'a ColumnStatistics>,
        filter: &dyn Fn(u32) -> Option<&'a BloomFilter>,
    ) -> bool {
        let shift = Shift::Prune {
            foreign_ltz: self.legacy_ltz && !zone_is_utc,
        };
        self.matches(&self.predicate, rows, &shift, statistics, filter)
    }

    fn matches<'a>(
        &self,
        predicate: &Predicate,
        rows: u64,
        shift: &Shift<'_>,
        statistics: &dyn Fn(u32) -> Option<&'a ColumnStatistics>,
        filter: &dyn Fn(u32) -> Option<&'a BloomFilter>,
    ) -> bool {
        match predicate {
            Predicate::And(children) => children
                .iter()
                .all(|child| self.matches(child, rows, shift, statistics, filter)),
            Predicate::Or(children) => children
                .iter()
                .any(|child| self.matches(child, rows, shift, statistics, filter)),
            other => {
                let stats = |field_id: i32| {
                    let column = self.column(field_id)?;
                    Some(column_stats(
                        statistics(column.column)?,
                        &column.stats,
                        rows,
                        shift,
                    ))
                };
                let may = other.may_match_stats(i64::try_from(rows).unwrap_or(i64::MAX), &stats);
                may && match other {
                    Predicate::Leaf(leaf) => self.may_be_in(leaf, filter),
                    _ => true,
                }
            }
        }
    }

    /// False when a bloom filter says that none of the literals is there.
    fn may_be_in<'a>(&self, leaf: &LeafPredicate, filter: &dyn Fn(u32) -> Option<&'a BloomFilter>) -> bool {
        if !self.blooms || !matches!(leaf.op, PredicateOp::Eq | PredicateOp::In) {
            return true;
        }
        let Some(column) = self.column(leaf.field_id) else {
            return true;
        };
        let Some(filter) = filter(column.column) else {
            return true;
        };
        let literals = leaf.literals.iter().flatten();
        let mut any = literals.map(|literal| may_contain(filter, literal, column));
        any.any(|found| found)
    }
}

fn may_contain(filter: &BloomFilter, literal: &Datum, column: &Column) -> bool {
    let long = |value: i64| bloom::may_contain_long(filter, value);
    let double = |value: f64| bloom::may_contain_long(filter, value.to_bits() as i64);
    match (column.stats.kind, literal) {
        // Which calendar such days were hashed in is not known.
        (_, Datum::Date(day)) if *day < GREGORIAN_DAY as i32 => true,
        (Kind::Byte | Kind::Short | Kind::Int | Kind::Long | Kind::Date, literal) => match literal {
            Datum::TinyInt(v) => long(i64::from(*v)),
            Datum::SmallInt(v) => long(i64::from(*v)),
            Datum::Int(v) | Datum::Date(v) | Datum::Time(v) => long(i64::from(*v)),
            Datum::BigInt(v) => long(*v),
            _ => true,
        },
        // Zeros are equal whatever their sign; a NaN is many values.
        (Kind::Double, Datum::Double(v)) if *v == 0.0 => double(0.0) || double(-0.0),
        (Kind::Float, Datum::Float(v)) if *v == 0.0 => double(0.0) || double(-0.0),
        (Kind::Double, Datum::Double(v)) if !v.is_nan() => double(*v),
        (Kind::Float, Datum::Float(v)) if !v.is_nan() => double(f64::from(*v)),
        (Kind::String | Kind::Varchar, Datum::String(text)) => {
            bloom::may_contain_bytes(filter, text.as_bytes())
        }
        (Kind::Char, Datum::String(text)) => {
            // Java hashes values with blanks up to the length of the type, others (and we) without any.
            let text = text.trim_end_matches(' ');
            let Some(length) = column.length else { return true };
            let missing = (length as usize).saturating_sub(text.chars().count());
            let mut padded = text.as_bytes().to_vec();
            padded.resize(padded.len() + missing, b' ');
            bloom::may_contain_bytes(filter, &padded) || bloom::may_contain_bytes(filter, text.as_bytes())
        }
        _ => true,
    }
}
