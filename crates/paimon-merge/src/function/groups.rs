// SPDX-License-Identifier: Apache-2.0

//! Sequence groups and the rules that the options of partial-update obey (Java `PartialUpdateMergeFunction.Factory`).

use std::collections::HashMap;

use paimon_types::{DataField, Error, Result, TableSchema, TypeKind};

use super::is_key;
use super::options::{Options, names};

const REMOVE_ON_DELETE: &str = "partial-update.remove-record-on-delete";
const REMOVE_ON_GROUP: &str = "partial-update.remove-record-on-sequence-group";

/// All sequence groups of a table.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// Of each column in a group: index of the group, and whether the column is one of its ordering columns.
    members: HashMap<String, (usize, bool)>,
}

/// One option `fields.<ordering>.sequence-group`.
pub(super) struct Group {
    pub(super) option: String,
    pub(super) ordering: Vec<String>,
    pub(super) protected: Vec<String>,
    /// A −D of this group removes the row.
    pub(super) removes: bool,
}

impl Groups {
    /// Parses and checks the options of the partial-update engine.
    pub(super) fn new(schema: &TableSchema, options: Options<'_>) -> Result<Self> {
        let mut groups = Groups {
            groups: Vec::new(),
            members: HashMap::new(),
        };
        for (option, ordering, protected) in options.sequence_groups() {
            groups.add(schema, option, &ordering, &protected)?;
        }
        groups.check_removal(options)?;
        groups.check_functions(schema, options)?;
        Ok(groups)
    }

    /// The group of a column and whether it is an ordering column of it.
    pub(super) fn of(&self, column: &str) -> Option<(usize, bool)> {
        self.members.get(column).copied()
    }

    fn add(
        &mut self,
        schema: &TableSchema,
        option: &str,
        ordering: &[&str],
        protected: &[&str],
    ) -> Result<()> {
        let fail = |problem: String| {
            Err(Error::invalid(format!("option {option} {problem}")).with("option", option))
        };
        let index = self.groups.len();
        let roles = ordering
            .iter()
            .map(|name| (*name, true))
            .chain(protected.iter().map(|name| (*name, false)));
        for (name, orders) in roles {
            let Some(field) = schema.field(name) else {
                return fail(format!("names '{name}', which is not a column"));
            };
            if is_key(schema, name) {
                return fail(format!(
                    "names the primary key column {name}, which cannot be in a sequence group"
                ));
            }
            if orders && !can_order(field) {
                return fail(format!(
                    "orders by column {name} of type {}, which has no order here",
                    field.data_type
                ));
            }
            match self.members.get(name) {
                // A group that lists its own ordering column protects nothing more.
                Some((group, _)) if *group == index => {}
                Some((group, _)) => {
                    let other = self.groups.get(*group).map_or("", |group| group.option.as_str());
                    return fail(format!(
                        "names column {name}, which is in the group of option {other} already"
                    ));
                }
                None => {
                    self.members.insert(name.to_owned(), (index, orders));
                }
            }
        }
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.groups.push(Group {
            option: option.to_owned(),
            ordering: owned(ordering),
            protected: owned(protected),
            removes: false,
        });
        Ok(())
    }

    fn check_removal(&mut self, options: Options<'_>) -> Result<()> {
        let exclude = |one: &str, other: &str| {
            Err(Error::invalid(format!("options {one} and {other} exclude each other")).with("option", one))
        };
        let ignore_delete = options.ignore_delete();
        let on_delete = options.flag(&[REMOVE_ON_DELETE])?;
        let on_group = options.text(&[REMOVE_ON_GROUP]);
        if on_delete && ignore_delete {
            return exclude(REMOVE_ON_DELETE, "ignore-delete");
        }
        if on_group.is_some() && ignore_delete {
            return exclude(REMOVE_ON_GROUP, "ignore-delete");
        }
        if let Some(group) = self.groups.first()
            && on_delete
        {
            return exclude(REMOVE_ON_DELETE, &group.option);
        }
        for name in on_group.map_or_else(Vec::new, |(_, text)| names(text)) {
            let group = match self.members.get(name) {
                Some((group, true)) => self.groups.get_mut(*group),
                _ => None,
            };
            let Some(group) = group else {
                let problem =
                    format!("option {REMOVE_ON_GROUP} names {name}, which does not order a sequence group");
                return Err(Error::invalid(problem).with("option", REMOVE_ON_GROUP));
            };
            group.removes = true;
        }
        Ok(())
    }

    /// A function outside of a sequence group can only be `last_non_null_value`.
    fn check_functions(&self, schema: &TableSchema, options: Options<'_>) -> Result<()> {
        for field in &schema.fields {
            if is_key(schema, &field.name) || self.members.contains_key(&field.name) {
                continue;
            }
            if let Some((option, function)) = options.function(&field.name)
                && function != "last_non_null_value"
            {
                let problem = format!(
                    "option {option} gives column {} the function {function}, which needs a sequence group around the column",
                    field.name
                );
                return Err(Error::invalid(problem)
                    .with("option", option)
                    .with("column", &field.name));
            }
        }
        Ok(())
    }
}

/// Types that ordering columns of sequence groups may have here; Java also takes arrays, maps and rows.
fn can_order(field: &DataField) -> bool {
    !matches!(
        field.data_type.kind,
        TypeKind::Array(_)
            | TypeKind::Vector(..)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_)
            | TypeKind::Variant
            | TypeKind::Blob
            | TypeKind::Geometry(_)
            | TypeKind::Geography { .. }
    )
}
