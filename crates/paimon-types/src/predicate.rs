// SPDX-License-Identifier: Apache-2.0

//! Predicates and their three-valued evaluation over rows and statistics (Java `org.apache.paimon.predicate`;
//! `metadata.md` 9.1).

use crate::{DataType, Datum};

/// A boolean expression over columns. Columns are known by field id; the name is for messages and formats.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// Always true or always false.
    Constant(bool),
    /// A test of one column.
    Leaf(LeafPredicate),
    /// All children true.
    And(Vec<Predicate>),
    /// At least one child true.
    Or(Vec<Predicate>),
    /// Negation that could not be pushed into a leaf. NOT NULL(unknown) stays unknown.
    Not(Box<Predicate>),
}

/// A test of one column against literals of the column's type.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafPredicate {
    /// Field id in the table schema.
    pub field_id: i32,
    /// Column name in the table schema.
    pub name: String,
    /// Column type in the table schema.
    pub data_type: DataType,
    /// The test.
    pub op: PredicateOp,
    /// Literals, `None` is SQL NULL. One for comparisons and patterns, two for BETWEEN, any number for IN, none for null tests.
    pub literals: Vec<Option<Datum>>,
}

/// Test of a [`LeafPredicate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PredicateOp {
    Eq,
    NotEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    IsNull,
    IsNotNull,
    IsNan,
    In,
    NotIn,
    Between,
    NotBetween,
    StartsWith,
    EndsWith,
    Contains,
    Like,
}

/// Statistics of one column of a file or of a partition column of a manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStats {
    /// Smallest value or a lower bound; `None` when unknown or all values are null.
    pub min: Option<Datum>,
    /// Largest value or an upper bound; `None` when unknown or all values are null.
    pub max: Option<Datum>,
    /// Number of nulls, `None` when unknown.
    pub null_count: Option<i64>,
}
