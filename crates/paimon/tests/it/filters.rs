// SPDX-License-Identifier: Apache-2.0

//! Random filters: what a filtered read returns is what the predicate says about each row.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use paimon::data::datum_at;
use paimon::types::{Datum, LeafPredicate, PredicateOp, TypeKind};
use paimon::{DataField, Predicate, ReadBuilder};
use paimon_testkit::{Random, json_lines, sorted};

const FILTERS: usize = 4;

/// Reads with random filters and compares with filtering `batches`, the whole table, row by row.
pub(crate) async fn check_filters(
    what: &str,
    read: &dyn Fn() -> ReadBuilder,
    fields: &[DataField],
    batches: &[RecordBatch],
    random: &mut Random,
) {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let columns = simple_columns(fields, batches);
    if columns.is_empty() || rows == 0 {
        return;
    }
    let lines = json_lines(fields, batches);
    for _ in 0..FILTERS {
        let filter = random_filter(fields, &columns, random);
        let expected = lines
            .iter()
            .enumerate()
            .filter(|(row, _)| filter.eval_row(&|id| columns[&id][*row].clone()) == Some(true))
            .map(|(_, line)| line.clone());
        // Pruned files may change the order of splits.
        let expected = sorted(expected.collect());
        let filtered = read().filter(filter.clone());
        let (_, found) = filtered
            .to_batches()
            .await
            .unwrap_or_else(|e| panic!("{what}: {filter}: {e:?}"));
        assert_eq!(sorted(json_lines(fields, &found)), expected, "{what}: {filter}");

        // A projection without the column of the filter.
        let other = random.pick(fields).clone();
        let (_, found) = read()
            .filter(filter.clone())
            .select([&other.name])
            .to_batches()
            .await
            .unwrap();
        assert_eq!(
            found.iter().map(RecordBatch::num_rows).sum::<usize>(),
            expected.len(),
            "{what}: {filter}"
        );
    }
}

/// The values of the columns that a filter can test, by field id.
pub(crate) fn simple_columns(
    fields: &[DataField],
    batches: &[RecordBatch],
) -> HashMap<i32, Vec<Option<Datum>>> {
    let simple = fields.iter().enumerate().filter(|(_, field)| is_simple(field));
    simple
        .map(|(at, field)| (field.id, values(batches, at, field)))
        .collect()
}

/// A filter over some of `columns`.
pub(crate) fn random_filter(
    fields: &[DataField],
    columns: &HashMap<i32, Vec<Option<Datum>>>,
    random: &mut Random,
) -> Predicate {
    let simple: Vec<&DataField> = fields.iter().filter(|f| columns.contains_key(&f.id)).collect();
    let leaf = |random: &mut Random| {
        let field = *random.pick(&simple);
        random_leaf(field, &columns[&field.id], random)
    };
    match random.below(5) {
        0 => Predicate::and([leaf(random), leaf(random)]),
        1 => Predicate::or([leaf(random), leaf(random)]),
        2 => leaf(random).not(),
        _ => leaf(random),
    }
}

fn is_simple(field: &DataField) -> bool {
    !field.data_type.is_nested() && !matches!(field.data_type.kind, TypeKind::Variant | TypeKind::Blob)
}

fn values(batches: &[RecordBatch], column: usize, field: &DataField) -> Vec<Option<Datum>> {
    let mut values = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            values.push(datum_at(batch.column(column), row, &field.data_type).unwrap());
        }
    }
    values
}

/// A test of a column against values that it has.
fn random_leaf(field: &DataField, values: &[Option<Datum>], random: &mut Random) -> Predicate {
    let present: Vec<&Datum> = values.iter().flatten().collect();
    let operators = [
        PredicateOp::Eq,
        PredicateOp::NotEq,
        PredicateOp::Lt,
        PredicateOp::LtEq,
        PredicateOp::Gt,
        PredicateOp::GtEq,
        PredicateOp::In,
        PredicateOp::NotIn,
        PredicateOp::Between,
        PredicateOp::IsNull,
        PredicateOp::IsNotNull,
    ];
    let op = *random.pick(&operators);
    let literal = |random: &mut Random| match present.as_slice() {
        [] => None,
        some => Some((*random.pick(some)).clone()),
    };
    let literals = match op {
        PredicateOp::IsNull | PredicateOp::IsNotNull => Vec::new(),
        PredicateOp::In | PredicateOp::NotIn => {
            let mut list = vec![literal(random), literal(random)];
            if random.below(4) == 0 {
                list.push(None);
            }
            list
        }
        PredicateOp::Between => vec![literal(random), literal(random)],
        _ => vec![literal(random)],
    };
    match LeafPredicate::new(field, op, literals) {
        Ok(leaf) => Predicate::Leaf(leaf),
        // An operator that this type does not have.
        Err(_) => Predicate::is_not_null(field),
    }
}
