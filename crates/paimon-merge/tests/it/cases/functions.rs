// SPDX-License-Identifier: Apache-2.0

//! Function by function: NULL, retractions, options, and what is refused.

use super::*;

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
