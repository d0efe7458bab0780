// SPDX-License-Identifier: Apache-2.0

//! The part of a table's predicate that a file can be asked: names and ids of the file, conditions that it cannot know
//! left out. What is left out only makes the predicate weaker, so it may prune but never filters too much.

use paimon_types::{DataField, Datum, LeafPredicate, Predicate};

/// What is known about a column of the table when one file is read.
pub(crate) enum Known<'a> {
    /// The same value in every row: a partition value.
    Constant(Option<&'a Datum>),
    /// A column of the file with the type of the table.
    Stored(&'a DataField),
    /// Anything else: the condition is left to the exact filter.
    Nothing,
}

/// `predicate` weakened to what the file knows; `Constant(true)` when that is nothing.
pub(crate) fn for_file<'a>(predicate: &Predicate, known: &dyn Fn(&LeafPredicate) -> Known<'a>) -> Predicate {
    weaken(predicate, known).unwrap_or(Predicate::Constant(true))
}

/// `None` when nothing is known.
fn weaken<'a>(predicate: &Predicate, known: &dyn Fn(&LeafPredicate) -> Known<'a>) -> Option<Predicate> {
    match predicate {
        Predicate::Constant(value) => Some(Predicate::Constant(*value)),
        // A conjunct may go, a disjunct may not.
        Predicate::And(children) => {
            let kept: Vec<Predicate> = children.iter().filter_map(|c| weaken(c, known)).collect();
            match kept.iter().any(|c| *c == Predicate::Constant(false)) {
                true => Some(Predicate::Constant(false)),
                false if kept.is_empty() => None,
                false => Some(Predicate::And(kept)),
            }
        }
        Predicate::Or(children) => {
            let kept: Vec<Predicate> = children.iter().map(|c| weaken(c, known)).collect::<Option<_>>()?;
            let open: Vec<Predicate> = kept.into_iter().filter(|c| *c != Predicate::Constant(false)).collect();
            match open.is_empty() {
                true => Some(Predicate::Constant(false)),
                false => Some(Predicate::Or(open)),
            }
        }
        // Under a negation nothing may be weakened.
        Predicate::Not(child) => exact(child, known).map(|c| Predicate::Not(Box::new(c))),
        Predicate::Leaf(leaf) => match known(leaf) {
            Known::Constant(value) => Some(Predicate::Constant(leaf.eval(value) == Some(true))),
            Known::Stored(field) => Some(Predicate::Leaf(in_file(leaf, field))),
            Known::Nothing => None,
        },
    }
}

/// The predicate in the file's terms, `None` when some part is not a stored column.
fn exact<'a>(predicate: &Predicate, known: &dyn Fn(&LeafPredicate) -> Known<'a>) -> Option<Predicate> {
    let all = |children: &[Predicate]| children.iter().map(|c| exact(c, known)).collect::<Option<Vec<_>>>();
    Some(match predicate {
        Predicate::Constant(value) => Predicate::Constant(*value),
        Predicate::And(children) => Predicate::And(all(children)?),
        Predicate::Or(children) => Predicate::Or(all(children)?),
        Predicate::Not(child) => Predicate::Not(Box::new(exact(child, known)?)),
        Predicate::Leaf(leaf) => match known(leaf) {
            Known::Stored(field) => Predicate::Leaf(in_file(leaf, field)),
            Known::Constant(_) | Known::Nothing => return None,
        },
    })
}

fn in_file(leaf: &LeafPredicate, field: &DataField) -> LeafPredicate {
    LeafPredicate { field_id: field.id, name: field.name.clone(), data_type: field.data_type.clone(), ..leaf.clone() }
}
