// SPDX-License-Identifier: Apache-2.0

use paimon_protocol::RowValues;

use super::*;
use crate::manifest::tests::simple_file;

fn bounds(name: &str, kind: TypeKind, min: &str, max: &str) -> ColumnStats {
    let field = DataField::new(0, "k", DataType::new(kind));
    let values = |text: &str| {
        let value = Some(Datum::String(text.to_owned()));
        RowValues::of(std::slice::from_ref(&field.data_type), &[value]).unwrap()
    };
    let stats = SimpleStats {
        min_values: values(min),
        max_values: values(max),
        null_counts: vec![Some(0)].into(),
    };
    bounds_at(&stats, 0, 1, &field, &simple_file(name))
        .unwrap()
        .unwrap()
}

/// Java tells what ORC tells of CHAR: with the blanks that are no part of the values. A newer version of a key in a file that is
/// ruled out by them would leave the older one.
#[test]
fn lower_bounds_of_char_in_orc_hold_for_values_without_blanks() {
    let text = |text: &str| Some(Datum::String(text.to_owned()));
    let told = bounds("a.orc", TypeKind::Char(3), "a  ", "xy ");
    assert_eq!((told.min, told.max), (text("a"), text("xy ")));
    // 'a' is greater than 'a\t' for its blanks only.
    assert_eq!(bounds("a.orc", TypeKind::Char(3), "a\t ", "b  ").min, text("a"));
    assert_eq!(bounds("a.orc", TypeKind::Char(2), "ab", "b ").min, text("ab"));
    assert_eq!(bounds("a.orc", TypeKind::VarChar(3), "a  ", "b").min, text("a  "));
    assert_eq!(
        bounds("a.parquet", TypeKind::Char(3), "a  ", "b").min,
        text("a  ")
    );
}
