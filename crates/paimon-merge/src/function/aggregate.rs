// SPDX-License-Identifier: Apache-2.0

//! The aggregation engine (Java `AggregateMergeFunction`; `semantics.md` 3.4).

use paimon_types::{Result, RowKind};

use super::program::{Checked, Op, Program};
use super::result::{FunctionColumn, check_set_rows, merge_columns};
use crate::{MergeFunction, Merged, Versions};

/// One function a column.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// `aggregation.remove-record-on-delete`.
    pub(super) remove_on_delete: bool,
    /// In the order of the sources.
    pub(super) columns: Vec<FunctionColumn>,
}

impl MergeFunction for Aggregate {
    fn merge(&self, versions: &Versions<'_>) -> Result<Merged> {
        let checked = Checked::new(versions)?;
        let mut program = Program::with_capacity(versions);
        let mut kinds = Vec::with_capacity(versions.ends.len());
        let mut origins = Vec::with_capacity(versions.ends.len());
        for key in checked.keys() {
            let removes = |kind: RowKind| self.remove_on_delete && kind == RowKind::Delete;
            let mut last = RowKind::Insert;
            let single = key.len() == 1;
            for (place, kind) in key.iter() {
                last = kind;
                program.push(
                    place,
                    match kind {
                        _ if single => Op::Pass,
                        kind if removes(kind) => Op::Set,
                        kind if kind.is_retract() => Op::Retract,
                        _ => Op::Add,
                    },
                );
            }
            program.end_key();
            origins.push(key.first + key.len() - 1);
            kinds.push(if single || removes(last) {
                last
            } else {
                RowKind::Insert
            });
        }
        if self.remove_on_delete {
            check_set_rows(checked.sources, &self.columns, &program, false)?;
        }
        let programs = [program];
        let columns = merge_columns(checked.sources, &self.columns, &programs, &kinds)?;
        Ok(Merged {
            columns,
            origins,
            kinds,
        })
    }
}
