// SPDX-License-Identifier: Apache-2.0

//! Function by function and engine by engine: NULL, retractions, options, and what is refused.

use paimon_merge::{merge_function, merge_read_fields};
use paimon_types::{DataField, Datum, ErrorKind, RowKind, TableSchema};

use crate::convert::Row;
use crate::random::{History, merged_row, options, schema};

use RowKind::{Delete as D, Insert as I, UpdateAfter as U, UpdateBefore as B};

type Value = Option<Datum>;

fn int(v: i32) -> Value {
    Some(Datum::Int(v))
}

fn text(v: &str) -> Value {
    Some(Datum::String(v.to_owned()))
}

fn ints(values: &[i32]) -> Value {
    Some(Datum::Array(values.iter().map(|v| int(*v)).collect()))
}

fn row(values: &[Value]) -> Value {
    Some(Datum::Row(values.to_vec()))
}

fn rows(values: &[Value]) -> Value {
    Some(Datum::Array(values.to_vec()))
}

fn map(entries: &[(Value, Value)]) -> Value {
    Some(Datum::Map(entries.to_vec()))
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// A table of the engine with these columns and options.
fn table(engine: &str, columns: &[(&str, &str)], more: &[(&str, &str)]) -> TableSchema {
    let mut all = pairs(&[("merge-engine", engine)]);
    all.extend(pairs(more));
    schema(columns, &all)
}

/// The rows of one key.
fn merge(
    table: &TableSchema,
    versions: &[(RowKind, &[Value])],
) -> paimon_types::Result<Option<(RowKind, Row)>> {
    let versions = versions.iter().map(|(kind, row)| (row.to_vec(), *kind)).collect();
    let all: Vec<usize> = (0..table.fields.len()).collect();
    let merged = History::plain(vec![versions]).merge(table, &all, |_| true)?;
    Ok(merged
        .kinds
        .first()
        .map(|kind| (*kind, merged_row(table, &all, &merged, 0))))
}

/// The value of a column of type `data_type` with the function, key column left out.
fn try_one(
    function: &str,
    data_type: &str,
    more: &[(&str, &str)],
    versions: &[(RowKind, Value)],
) -> paimon_types::Result<Value> {
    let mut all = vec![("fields.c.aggregate-function", function)];
    all.extend_from_slice(more);
    let table = table("aggregation", &[("k", "INT NOT NULL"), ("c", data_type)], &all);
    let versions: Vec<(RowKind, Row)> = versions
        .iter()
        .map(|(kind, value)| (*kind, vec![int(1), value.clone()]))
        .collect();
    let versions: Vec<(RowKind, &[Value])> = versions
        .iter()
        .map(|(kind, row)| (*kind, row.as_slice()))
        .collect();
    Ok(merge(&table, &versions)?.unwrap().1[1].clone())
}

fn one(function: &str, data_type: &str, more: &[(&str, &str)], versions: &[(RowKind, Value)]) -> Value {
    try_one(function, data_type, more, versions).unwrap()
}

fn fails(function: &str, data_type: &str, more: &[(&str, &str)], versions: &[(RowKind, Value)]) -> String {
    let error = try_one(function, data_type, more, versions).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error:?}");
    error.to_string()
}

#[test]
fn case_11_overflow_names_column_and_function() {
    let tiny = |v| Some(Datum::TinyInt(v));
    let error = fails("sum", "TINYINT", &[], &[(I, tiny(127)), (I, tiny(1))]);
    assert!(
        error.contains("sum of column c: 127 + 1 is outside of TINYINT"),
        "{error}"
    );
    let error = fails("product", "INT", &[], &[(I, int(100_000)), (I, int(100_000))]);
    assert!(
        error.contains("product of column c: 100000 * 100000 is outside of INT"),
        "{error}"
    );
    let long = |v| Some(Datum::BigInt(v));
    fails("sum", "BIGINT", &[], &[(I, long(i64::MIN)), (D, long(1))]);
    fails("sum", "BIGINT", &[], &[(D, long(i64::MIN)), (I, long(1))]);
    fails("product", "BIGINT", &[], &[(I, long(i64::MIN)), (D, long(-1))]);
    let error = fails("product", "INT", &[], &[(I, int(1)), (D, int(0))]);
    assert!(error.contains("divides by zero"), "{error}");
}

#[test]
fn a_single_version_is_not_touched() {
    // No function is called: no overflow, no refusal of retractions, no change of kind.
    let columns = &[("k", "INT NOT NULL"), ("c", "INT")];
    for engine in ["deduplicate", "first-row", "partial-update", "aggregation"] {
        let table = table(engine, columns, &[]);
        for kind in [I, U, B, D] {
            let merged = merge(&table, &[(kind, &[int(1), int(2)])]).unwrap();
            assert_eq!(merged, Some((kind, vec![int(1), int(2)])), "{engine}");
        }
    }
    assert_eq!(one("max", "INT", &[], &[(D, int(3))]), int(3));
    assert_eq!(one("sum", "INT", &[], &[(D, int(3))]), int(3));
}

#[test]
fn sum_and_product() {
    assert_eq!(
        one(
            "sum",
            "INT",
            &[],
            &[(I, int(1)), (I, None), (U, int(5)), (B, int(2)), (D, None)]
        ),
        int(4)
    );
    assert_eq!(one("sum", "INT", &[], &[(D, int(3)), (I, int(1))]), int(-2));
    assert_eq!(one("sum", "INT", &[], &[(I, None), (I, None)]), None);
    let ignoring = &[("fields.c.ignore-retract", "true")];
    assert_eq!(one("sum", "INT", ignoring, &[(I, int(1)), (D, int(3))]), int(1));
    assert_eq!(
        one(
            "product",
            "INT",
            &[],
            &[(I, int(7)), (I, None), (I, int(3)), (D, int(2))]
        ),
        int(10)
    );
    assert_eq!(one("product", "INT", &[], &[(D, int(7)), (I, int(3))]), int(3));
    let double = |v| Some(Datum::Double(v));
    assert_eq!(
        format!("{:?}", one("sum", "DOUBLE", &[], &[(D, double(0.0)), (I, None)])),
        "Some(Double(-0.0))"
    );
    let decimal = |unscaled| Some(Datum::Decimal { unscaled, scale: 0 });
    let largest = 10i128.pow(20) - 1;
    // NULL where a large decimal overflows; the next value starts again.
    assert_eq!(
        one(
            "sum",
            "DECIMAL(20, 0)",
            &[],
            &[(I, decimal(largest)), (I, decimal(1))]
        ),
        None
    );
    assert_eq!(
        one(
            "sum",
            "DECIMAL(20, 0)",
            &[],
            &[(I, decimal(largest)), (I, decimal(1)), (I, decimal(7))]
        ),
        decimal(7)
    );
    // Nobody counts the digits of a small one.
    assert_eq!(
        one("sum", "DECIMAL(2, 0)", &[], &[(I, decimal(99)), (I, decimal(99))]),
        decimal(198)
    );
}

#[test]
fn min_and_max() {
    assert_eq!(
        one(
            "max",
            "INT",
            &[],
            &[(I, int(1)), (I, None), (I, int(5)), (I, int(2))]
        ),
        int(5)
    );
    assert_eq!(
        one(
            "min",
            "INT",
            &[],
            &[(I, None), (I, int(5)), (I, int(2)), (I, int(3))]
        ),
        int(2)
    );
    assert_eq!(
        one(
            "max",
            "STRING",
            &[],
            &[(I, text("b")), (I, text("ba")), (I, text("a"))]
        ),
        text("ba")
    );
    let double = |v| Some(Datum::Double(v));
    let debug = |v: Value| format!("{v:?}");
    assert_eq!(
        debug(one(
            "max",
            "DOUBLE",
            &[],
            &[(I, double(f64::NAN)), (I, double(f64::INFINITY))]
        )),
        debug(double(f64::NAN))
    );
    assert_eq!(
        debug(one("max", "DOUBLE", &[], &[(I, double(-0.0)), (I, double(0.0))])),
        debug(double(0.0))
    );
    assert_eq!(
        debug(one("min", "DOUBLE", &[], &[(I, double(0.0)), (I, double(-0.0))])),
        debug(double(-0.0))
    );
    let error = fails("max", "INT", &[], &[(I, int(1)), (D, int(1))]);
    assert!(
        error.contains("max of column c") && error.contains("fields.c.ignore-retract"),
        "{error}"
    );
    assert_eq!(
        one(
            "max",
            "INT",
            &[("fields.c.ignore-retract", "true")],
            &[(I, int(1)), (D, int(1))]
        ),
        int(1)
    );
    let error = fails("min", "ARRAY<INT>", &[], &[]);
    assert!(
        error.contains("fields.c.aggregate-function") && error.contains("ARRAY<INT>"),
        "{error}"
    );
}

#[test]
fn first_and_last() {
    let versions = &[(I, None), (I, int(1)), (I, int(2)), (I, None)];
    assert_eq!(one("last_value", "INT", &[], versions), None);
    assert_eq!(one("last_non_null_value", "INT", &[], versions), int(2));
    assert_eq!(one("first_value", "INT", &[], versions), None);
    assert_eq!(one("first_non_null_value", "INT", &[], versions), int(1));
    assert_eq!(one("first_not_null_value", "INT", &[], versions), int(1));
    assert_eq!(one("last_value", "INT", &[], &[(I, int(1)), (D, int(9))]), None);
    assert_eq!(
        one("last_non_null_value", "INT", &[], &[(I, int(1)), (D, None)]),
        int(1)
    );
    assert_eq!(
        one("last_non_null_value", "INT", &[], &[(I, int(1)), (D, int(9))]),
        None
    );
    assert_eq!(
        one("primary-key", "INT", &[], &[(I, int(1)), (D, int(9))]),
        int(9)
    );
    fails("first_value", "INT", &[], &[(I, int(1)), (D, int(1))]);
    fails("first_non_null_value", "INT", &[], &[(I, int(1)), (D, int(1))]);
    let ignoring = &[("fields.c.ignore-retract", "true")];
    assert_eq!(
        one("last_value", "INT", ignoring, &[(I, int(1)), (D, int(9))]),
        int(1)
    );
}

#[test]
fn bool_and_or() {
    let bool = |v| Some(Datum::Boolean(v));
    assert_eq!(
        one(
            "bool_and",
            "BOOLEAN",
            &[],
            &[(I, bool(true)), (I, None), (I, bool(false))]
        ),
        bool(false)
    );
    assert_eq!(
        one(
            "bool_or",
            "BOOLEAN",
            &[],
            &[(I, None), (I, bool(true)), (I, bool(false))]
        ),
        bool(true)
    );
    fails("bool_or", "BOOLEAN", &[], &[(I, bool(true)), (B, bool(true))]);
    fails("bool_and", "INT", &[], &[]);
}

#[test]
fn listagg() {
    let join = |more: &[(&str, &str)], texts: &[&str]| {
        let versions: Vec<(RowKind, Value)> = texts.iter().map(|t| (I, text(t))).collect();
        one("listagg", "STRING", more, &versions)
    };
    assert_eq!(join(&[], &["a", "b", "a"]), text("a,b,a"));
    assert_eq!(join(&[], &[" ", "a", "\t\u{3000}", "b"]), text("a,b"));
    assert_eq!(
        join(&[("fields.c.list-agg-delimiter", "; ")], &["a", "b"]),
        text("a; b")
    );
    let distinct = ("fields.c.distinct", "true");
    assert_eq!(join(&[distinct], &["a,b", "b,,c, ,a", "c"]), text("a,b,c"));
    assert_eq!(
        join(
            &[distinct, ("fields.c.list-agg-delimiter", "--")],
            &["a--b--", "b--c--"]
        ),
        text("a--b----c")
    );
    // What Java does when the delimiter is empty: it splits at blanks.
    assert_eq!(
        join(&[distinct, ("fields.c.list-agg-delimiter", "")], &["a b", "b c"]),
        text("a bc")
    );
    assert_eq!(
        one("listagg", "STRING", &[], &[(I, None), (I, text("a")), (I, None)]),
        text("a")
    );
    fails("listagg", "STRING", &[], &[(I, text("a")), (D, text("a"))]);
    assert!(fails("listagg", "VARCHAR(9)", &[], &[]).contains("VARCHAR(9)"));
}

#[test]
fn collect() {
    let array = "ARRAY<INT>";
    assert_eq!(
        one(
            "collect",
            array,
            &[],
            &[(I, ints(&[1, 1])), (I, None), (I, ints(&[2, 1]))]
        ),
        ints(&[1, 1, 2, 1])
    );
    assert_eq!(
        one(
            "collect",
            array,
            &[],
            &[(I, ints(&[1, 2, 1, 3])), (D, ints(&[1, 3, 4]))]
        ),
        ints(&[2, 1])
    );
    assert_eq!(
        one("collect", array, &[], &[(D, ints(&[1])), (I, ints(&[2]))]),
        ints(&[2])
    );
    let distinct = &[("fields.c.distinct", "true")];
    assert_eq!(
        one(
            "collect",
            array,
            distinct,
            &[(I, ints(&[1, 1])), (I, ints(&[2, 1]))]
        ),
        ints(&[1, 2])
    );
    assert_eq!(
        one("collect", array, distinct, &[(I, None), (I, ints(&[2, 2]))]),
        ints(&[2])
    );
    assert_eq!(one("collect", array, distinct, &[(I, None), (I, None)]), None);
    let nested = "ARRAY<ROW<x INT>>";
    let of = |values: &[i32]| rows(&values.iter().map(|v| row(&[int(*v)])).collect::<Vec<_>>());
    assert_eq!(
        one("collect", nested, distinct, &[(I, of(&[1])), (I, of(&[2, 1, 2]))]),
        of(&[1, 2])
    );
    assert_eq!(
        one("collect", nested, &[], &[(I, of(&[1, 2])), (D, of(&[1]))]),
        of(&[2])
    );
    // Java compares byte arrays by identity unless `distinct` is set.
    let bytes = |v: &[u8]| {
        Some(Datum::Array(
            v.iter().map(|b| Some(Datum::Bytes(vec![*b]))).collect(),
        ))
    };
    assert_eq!(
        one(
            "collect",
            "ARRAY<BYTES>",
            &[],
            &[(I, bytes(&[1, 2])), (D, bytes(&[1]))]
        ),
        bytes(&[1, 2])
    );
    assert_eq!(
        one(
            "collect",
            "ARRAY<BYTES>",
            distinct,
            &[(I, bytes(&[1, 2])), (D, bytes(&[1]))]
        ),
        bytes(&[2])
    );
    fails("collect", "INT", &[], &[]);
}

#[test]
fn merge_map() {
    let kind = "MAP<INT, STRING>";
    let (a, b) = (
        map(&[(int(1), text("a")), (int(2), text("b"))]),
        map(&[(int(2), None), (int(3), text("c"))]),
    );
    assert_eq!(
        one(
            "merge_map",
            kind,
            &[],
            &[(I, a.clone()), (I, None), (I, b.clone())]
        ),
        map(&[(int(1), text("a")), (int(2), None), (int(3), text("c"))])
    );
    assert_eq!(
        one("merge_map", kind, &[], &[(I, a.clone()), (D, b.clone())]),
        map(&[(int(1), text("a"))])
    );
    assert_eq!(one("merge_map", kind, &[], &[(I, a.clone()), (D, map(&[]))]), a);
    assert_eq!(one("merge_map", kind, &[], &[(D, a), (I, b.clone())]), b);
    fails("merge_map", "INT", &[], &[]);
}

#[test]
fn merge_map_with_keytime() {
    let kind = "MAP<INT, ROW<v INT, ts STRING>>";
    let entry =
        |key: i32, value: i32, time: Option<&str>| (int(key), row(&[int(value), time.and_then(text)]));
    let old = map(&[
        entry(1, 1, Some("2")),
        entry(2, 2, Some("2")),
        entry(3, 3, None),
        entry(4, 4, Some("2")),
    ]);
    let new = map(&[
        entry(1, 11, Some("10")),
        entry(2, 12, Some("3")),
        entry(3, 13, Some("0")),
        entry(4, 14, None),
        entry(5, 15, Some("0")),
    ]);
    assert_eq!(
        one("merge_map_with_keytime", kind, &[], &[(I, old.clone()), (I, new)]),
        map(&[
            entry(1, 1, Some("2")),
            entry(2, 12, Some("3")),
            entry(3, 13, Some("0")),
            entry(4, 4, Some("2")),
            entry(5, 15, Some("0"))
        ])
    );
    assert_eq!(
        one(
            "merge_map_with_keytime",
            kind,
            &[],
            &[(I, old.clone()), (I, map(&[(int(1), None), (int(9), None)]))]
        ),
        map(&[entry(2, 2, Some("2")), entry(3, 3, None), entry(4, 4, Some("2"))])
    );
    fails("merge_map_with_keytime", kind, &[], &[(I, old.clone()), (D, old)]);
    let field = ("fields.c.ts-field", "v");
    assert!(fails("merge_map_with_keytime", kind, &[field], &[]).contains("INT, expected STRING"));
    assert!(fails("merge_map_with_keytime", kind, &[("fields.c.ts-field", "w")], &[]).contains("names w"));
    fails("merge_map_with_keytime", "MAP<INT, ROW<v INT>>", &[], &[]);
    fails("merge_map_with_keytime", "MAP<INT, INT>", &[], &[]);
}

#[test]
fn nested_update() {
    let kind = "ARRAY<ROW<id INT, seq INT, v STRING>>";
    let r = |id: Option<i32>, seq: i32, v: &str| row(&[id.and_then(int), int(seq), text(v)]);
    let (a, b) = (
        rows(&[r(Some(1), 5, "a"), None, r(Some(2), 5, "b")]),
        rows(&[r(Some(1), 4, "c"), r(Some(3), 1, "d")]),
    );
    let run = |more: &[(&str, &str)], kind_of_second| {
        one(
            "nested_update",
            kind,
            more,
            &[(I, a.clone()), (kind_of_second, b.clone())],
        )
    };
    assert_eq!(
        run(&[], I),
        rows(&[
            r(Some(1), 5, "a"),
            r(Some(2), 5, "b"),
            r(Some(1), 4, "c"),
            r(Some(3), 1, "d")
        ])
    );
    let key = ("fields.c.nested-key", "id");
    assert_eq!(
        run(&[key], I),
        rows(&[r(Some(1), 4, "c"), r(Some(2), 5, "b"), r(Some(3), 1, "d")])
    );
    let sequence = ("fields.c.nested-sequence-field", "seq");
    assert_eq!(
        run(&[key, sequence], I),
        rows(&[r(Some(1), 5, "a"), r(Some(2), 5, "b"), r(Some(3), 1, "d")])
    );
    let limit = ("fields.c.count-limit", "2");
    assert_eq!(
        run(&[key, limit], I),
        rows(&[r(Some(1), 4, "c"), r(Some(2), 5, "b")])
    );
    assert_eq!(
        run(&[("fields.c.count-limit", "3")], I),
        rows(&[r(Some(1), 5, "a"), r(Some(2), 5, "b"), r(Some(1), 4, "c")])
    );
    assert_eq!(run(&[key], D), rows(&[r(Some(2), 5, "b")]));
    assert_eq!(run(&[], D), rows(&[r(Some(1), 5, "a"), r(Some(2), 5, "b")]));
    let twice = rows(&[r(Some(1), 5, "a"), r(Some(1), 5, "a"), r(Some(2), 5, "b")]);
    let gone = rows(&[r(Some(1), 5, "a")]);
    assert_eq!(
        one("nested_update", kind, &[], &[(I, twice), (D, gone)]),
        rows(&[r(Some(2), 5, "b")])
    );
    let with_null = rows(&[r(None, 1, "x"), r(None, 2, "y")]);
    let nulls = |strategy: Option<&str>| {
        let mut more = vec![key];
        more.extend(strategy.map(|strategy| ("fields.c.nested-key-null-strategy", strategy)));
        try_one("nested_update", kind, &more, &[(I, None), (I, with_null.clone())])
    };
    assert_eq!(nulls(None).unwrap(), rows(&[r(None, 2, "y")]));
    assert_eq!(nulls(Some("ignore")).unwrap(), rows(&[]));
    assert!(
        nulls(Some("error"))
            .unwrap_err()
            .to_string()
            .contains("nested_update")
    );
    assert!(
        nulls(Some("wrong"))
            .unwrap_err()
            .to_string()
            .contains("merge, ignore, error")
    );
    assert!(fails("nested_update", kind, &[sequence], &[]).contains("fields.c.nested-key"));
    assert!(
        fails(
            "nested_update",
            kind,
            &[("fields.c.nested-key-null-strategy", "ignore")],
            &[]
        )
        .contains("fields.c.nested-key")
    );
    assert!(fails("nested_update", kind, &[("fields.c.nested-key", "no")], &[]).contains("names no"));
    assert!(fails("nested_update", kind, &[("fields.c.count-limit", "x")], &[]).contains("'x'"));
    fails("nested_update", "ARRAY<INT>", &[], &[]);
}

#[test]
fn nested_partial_update() {
    let kind = "ARRAY<ROW<id INT, a INT, b STRING>>";
    let r = |id: i32, a: Value, b: Value| row(&[int(id), a, b]);
    let key = &[("fields.c.nested-key", "id")];
    let merged = one(
        "nested_partial_update",
        kind,
        key,
        &[
            (I, rows(&[r(1, int(1), None), None, r(2, None, text("x"))])),
            (I, rows(&[r(1, None, text("y")), r(3, None, None)])),
        ],
    );
    assert_eq!(
        merged,
        rows(&[r(1, int(1), text("y")), r(2, None, text("x")), r(3, None, None)])
    );
    assert!(fails("nested_partial_update", kind, &[], &[]).contains("fields.c.nested-key"));
    fails(
        "nested_partial_update",
        kind,
        key,
        &[(I, rows(&[])), (D, rows(&[]))],
    );
}

#[test]
fn sketches_are_there_or_refused_by_name() {
    let made = try_one("hll_sketch", "BYTES", &[], &[(I, None), (I, None)]);
    if cfg!(feature = "sketches") {
        assert_eq!(made.unwrap(), None);
    } else {
        let error = made.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("hll_sketch"), "{error}");
    }
}

#[test]
fn aggregation_options() {
    let columns = &[("k", "INT NOT NULL"), ("s", "INT"), ("c", "INT")];
    // sequence columns are last_value, others last_non_null_value when nothing is said.
    let plain = table(
        "aggregation",
        columns,
        &[
            ("sequence.field", "s"),
            ("fields.default-aggregate-function", "sum"),
        ],
    );
    let merged = merge(
        &plain,
        &[(I, &[int(1), int(5), int(1)]), (U, &[int(1), None, int(2)])],
    )
    .unwrap();
    assert_eq!(merged, Some((I, vec![int(1), None, int(3)])));
    let removing = table(
        "aggregation",
        columns,
        &[
            ("aggregation.remove-record-on-delete", "true"),
            ("fields.c.aggregate-function", "sum"),
        ],
    );
    let (a, d): (&[Value], &[Value]) = (&[int(1), int(5), int(1)], &[int(1), None, int(9)]);
    assert_eq!(
        merge(&removing, &[(I, a), (D, d)]).unwrap(),
        Some((D, d.to_vec()))
    );
    // What comes after is merged on top of the removed row.
    assert_eq!(
        merge(&removing, &[(D, d), (I, a)]).unwrap(),
        Some((I, vec![int(1), int(5), int(10)]))
    );
    assert_eq!(
        merge(&removing, &[(I, a), (B, a)]).unwrap(),
        Some((I, vec![int(1), None, int(0)]))
    );
    let both = table(
        "aggregation",
        columns,
        &[
            ("aggregation.remove-record-on-delete", "true"),
            ("fields.c.ignore-retract", "true"),
        ],
    );
    let error = merge(&both, &[]).unwrap_err().to_string();
    assert!(error.contains("fields.c.ignore-retract"), "{error}");
    let unknown = table(
        "aggregation",
        columns,
        &[("fields.c.aggregate-function", "count")],
    );
    let error = merge(&unknown, &[]).unwrap_err().to_string();
    assert!(
        error.contains("'count'") && error.contains("fields.c.aggregate-function"),
        "{error}"
    );
    let not_null = table(
        "aggregation",
        &[("k", "INT NOT NULL"), ("c", "INT NOT NULL")],
        &[("fields.c.aggregate-function", "last_value")],
    );
    let error = merge(&not_null, &[(I, &[int(1), int(1)]), (D, &[int(1), int(1)])])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column c is NOT NULL"), "{error}");
}

#[test]
fn deduplicate_and_first_row() {
    let columns = &[("k", "INT NOT NULL"), ("c", "INT")];
    let v = |c: i32| vec![int(1), int(c)];
    let versions = [(I, v(1)), (U, v(2)), (D, v(3))];
    let run = |engine: &str, more: &[(&str, &str)]| {
        let versions: Vec<(RowKind, &[Value])> = versions
            .iter()
            .map(|(kind, row)| (*kind, row.as_slice()))
            .collect();
        merge(&table(engine, columns, more), &versions)
    };
    assert_eq!(run("deduplicate", &[]).unwrap(), Some((D, v(3))));
    assert_eq!(
        run("deduplicate", &[("ignore-delete", "true")]).unwrap(),
        Some((U, v(2)))
    );
    assert_eq!(
        run("deduplicate", &[("deduplicate.ignore-delete", "true")]).unwrap(),
        Some((U, v(2)))
    );
    assert!(
        run("first-row", &[])
            .unwrap_err()
            .to_string()
            .contains("first-row")
    );
    assert_eq!(
        run("first-row", &[("ignore-delete", "true")]).unwrap(),
        Some((I, v(1)))
    );
    let ignoring = table("deduplicate", columns, &[("ignore-delete", "true")]);
    assert_eq!(merge(&ignoring, &[(D, &v(1)), (B, &v(2))]).unwrap(), None);
    let history = History::plain(vec![
        vec![(v(1), I)],
        vec![(v(2), D), (v(3), D)],
        vec![(v(4), I), (v(5), D)],
    ]);
    let merged = history.merge(&ignoring, &[0, 1], |_| true).unwrap();
    assert_eq!(merged.origins, [0, 3]);
}

#[test]
fn partial_update_without_groups() {
    let columns = &[("k", "INT NOT NULL"), ("a", "INT"), ("b", "STRING")];
    let plain = table("partial-update", columns, &[]);
    let add: &[Value] = &[int(1), int(1), None];
    let more: &[Value] = &[int(1), None, text("x")];
    assert_eq!(
        merge(&plain, &[(I, add), (I, more)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    let error = merge(&plain, &[(I, add), (D, more)]).unwrap_err().to_string();
    for remedy in [
        "ignore-delete",
        "partial-update.remove-record-on-delete",
        "sequence groups",
    ] {
        assert!(error.contains(remedy), "{error}");
    }
    let ignoring = table("partial-update", columns, &[("ignore-delete", "true")]);
    assert_eq!(
        merge(&ignoring, &[(I, add), (D, more)]).unwrap(),
        Some((I, add.to_vec()))
    );
    // A leading retraction fills the row even when it is ignored.
    assert_eq!(
        merge(&ignoring, &[(D, more), (I, add)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    assert_eq!(
        merge(&ignoring, &[(D, more), (B, add)]).unwrap(),
        Some((D, more.to_vec()))
    );
    let removing = table(
        "partial-update",
        columns,
        &[("partial-update.remove-record-on-delete", "true")],
    );
    assert_eq!(
        merge(&removing, &[(I, add), (D, more)]).unwrap(),
        Some((D, more.to_vec()))
    );
    assert_eq!(
        merge(&removing, &[(I, add), (B, more)]).unwrap(),
        Some((I, add.to_vec()))
    );
    // After a removal a row starts with the values of the delete.
    assert_eq!(
        merge(&removing, &[(D, more), (I, add)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    let required = table(
        "partial-update",
        &[("k", "INT NOT NULL"), ("a", "INT NOT NULL")],
        &[],
    );
    let error = merge(&required, &[(I, &[int(1), int(1)]), (I, &[int(1), None])])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column a is NOT NULL"), "{error}");
}

#[test]
fn case_13_sequence_groups() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g_1", "INT"),
        ("a", "INT"),
        ("b", "INT"),
        ("g_2", "INT"),
        ("c", "INT"),
        ("d", "INT"),
    ];
    let groups = &[
        ("fields.g_1.sequence-group", "a,b"),
        ("fields.g_2.sequence-group", "c,d"),
    ];
    let table = table("partial-update", columns, groups);
    let v = |values: [Option<i32>; 6]| -> Row {
        [Some(1)]
            .into_iter()
            .chain(values)
            .map(|v| v.and_then(int))
            .collect()
    };
    let run = |versions: &[(RowKind, [Option<i32>; 6])]| {
        let versions: Vec<(RowKind, Row)> = versions
            .iter()
            .map(|(kind, values)| (*kind, v(*values)))
            .collect();
        let versions: Vec<(RowKind, &[Value])> = versions
            .iter()
            .map(|(kind, row)| (*kind, row.as_slice()))
            .collect();
        merge(&table, &versions).unwrap().unwrap()
    };
    let s = Some;
    let first = (I, [s(2), s(1), s(1), s(2), s(1), s(1)]);
    // An older g_1 loses, g_2 wins on its own.
    assert_eq!(
        run(&[first, (I, [s(1), s(9), s(9), s(3), s(9), None])]).1,
        v([s(2), s(1), s(1), s(3), s(9), None])
    );
    // NULL leaves the group alone; an equal one wins, NULL values too.
    assert_eq!(
        run(&[first, (I, [None, s(9), s(9), s(2), None, s(9)])]).1,
        v([s(2), s(1), s(1), s(2), None, s(9)])
    );
    // A retraction clears its groups only.
    assert_eq!(
        run(&[first, (B, [s(2), s(9), s(9), None, s(9), s(9)])]),
        (I, v([s(2), None, None, s(2), s(1), s(1)]))
    );
    assert_eq!(
        run(&[first, (D, [s(1), s(9), s(9), s(1), s(9), s(9)])]),
        (I, v([s(2), s(1), s(1), s(2), s(1), s(1)]))
    );
    // Without any addition the row is a delete.
    assert_eq!(
        run(&[
            (D, [s(1), s(9), s(9), s(1), s(9), s(9)]),
            (B, [s(2), s(9), s(9), None, s(9), s(9)])
        ])
        .0,
        D
    );
}

#[test]
fn aggregation_inside_of_sequence_groups() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g1", "INT"),
        ("g2", "INT"),
        ("a", "ARRAY<INT>"),
        ("s", "STRING"),
        ("f", "INT"),
        ("o", "INT"),
    ];
    let groups = [
        ("fields.g1,g2.sequence-group", "a,s,f"),
        ("fields.a.aggregate-function", "collect"),
        ("fields.s.aggregate-function", "listagg"),
        ("fields.f.aggregate-function", "first_value"),
        ("fields.o.aggregate-function", "last_non_null_value"),
    ];
    let v = |g1: Option<i32>, g2: i32, x: i32| -> Row {
        vec![
            int(1),
            g1.and_then(int),
            int(g2),
            ints(&[x]),
            text(&x.to_string()),
            int(x),
            int(x),
        ]
    };
    let (newer, older) = (v(Some(2), 0, 1), v(Some(1), 9, 2));
    let plain = table("partial-update", columns, &groups);
    // The older version is put in front, but not by collect.
    let expected = vec![int(1), int(2), int(0), ints(&[1, 2]), text("2,1"), int(2), int(2)];
    assert_eq!(
        merge(&plain, &[(I, &newer), (I, &older)]).unwrap(),
        Some((I, expected))
    );
    // The generic reversed form under ignore-retract.
    let mut more = groups.to_vec();
    more.push(("fields.a.ignore-retract", "true"));
    let wrapped = table("partial-update", columns, &more);
    assert_eq!(
        merge(&wrapped, &[(I, &newer), (I, &older)]).unwrap().unwrap().1[3],
        ints(&[2, 1])
    );
    // A -D of the group removes the row when it is not older.
    let mut more = groups.to_vec();
    more.push(("partial-update.remove-record-on-sequence-group", "g2"));
    let removing = table("partial-update", columns, &more);
    let delete = v(Some(2), 1, 7);
    assert_eq!(
        merge(&removing, &[(I, &newer), (D, &delete)]).unwrap(),
        Some((D, delete.clone()))
    );
    assert!(
        merge(&removing, &[(I, &newer), (D, &older)]).is_err(),
        "listagg cannot retract"
    );
    // The columns that a projection needs.
    let field = |name: &str| removing.field(name).unwrap().clone();
    let names = |fields: Vec<DataField>| fields.into_iter().map(|field| field.name).collect::<Vec<_>>();
    let of = |table: &TableSchema, read: &[&str]| {
        let read: Vec<DataField> = read.iter().map(|name| field(name)).collect();
        names(merge_read_fields(table, &options(table), &read).unwrap())
    };
    assert_eq!(of(&plain, &["k", "o"]), [] as [&str; 0]);
    assert_eq!(of(&plain, &["s", "g2"]), ["g1"]);
    assert_eq!(of(&removing, &["k", "o"]), ["g1", "g2"]);
    let error = merge_function(&plain, &options(&plain), &[field("s")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column g1 must be read"), "{error}");
}

#[test]
fn contradictions_in_partial_update() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g", "INT"),
        ("h", "INT"),
        ("a", "INT"),
        ("x", "ARRAY<INT>"),
    ];
    let group = ("fields.g.sequence-group", "a");
    let on_delete = ("partial-update.remove-record-on-delete", "true");
    let on_group = ("partial-update.remove-record-on-sequence-group", "g");
    let ignore = ("ignore-delete", "true");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("fields.g.sequence-group", "a,no")], "names no"),
        (&[("fields.no.sequence-group", "a")], "names no"),
        (&[("fields.g.sequence-group", "k")], "primary key column k"),
        (&[("fields.k.sequence-group", "a")], "primary key column k"),
        (&[("fields.x.sequence-group", "a")], "orders by column x"),
        (&[group, ("fields.h.sequence-group", "a")], "already"),
        (&[group, ("fields.h.sequence-group", "g")], "already"),
        (&[ignore, on_delete], "exclude each other"),
        (&[group, ignore, on_group], "exclude each other"),
        (&[group, on_delete], "fields.g.sequence-group exclude"),
        (
            &[group, ("partial-update.remove-record-on-sequence-group", "a")],
            "names a",
        ),
        (
            &[("fields.a.aggregate-function", "sum")],
            "needs a sequence group",
        ),
        (
            &[group, ("fields.default-aggregate-function", "sum")],
            "fields.default-aggregate-function",
        ),
        (&[group, ("fields.a.aggregate-function", "what")], "'what'"),
        (&[("ignore-delete", "maybe")], "'maybe'"),
    ];
    for (more, expected) in cases {
        let error = merge(&table("partial-update", columns, more), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(expected), "{error} for {more:?}");
    }
}
