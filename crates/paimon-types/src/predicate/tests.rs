// SPDX-License-Identifier: Apache-2.0

mod binding;
mod properties;

use super::*;

fn field(id: i32, name: &str, kind: TypeKind) -> DataField {
    DataField::new(id, name, DataType::new(kind))
}

fn int() -> DataField {
    field(0, "v", TypeKind::Int)
}

fn text() -> DataField {
    field(1, "s", TypeKind::VarChar(crate::MAX_LENGTH))
}

fn double() -> DataField {
    field(2, "d", TypeKind::Double)
}

fn decimal() -> DataField {
    field(
        3,
        "m",
        TypeKind::Decimal {
            precision: 10,
            scale: 2,
        },
    )
}

fn i(v: i32) -> Option<Datum> {
    Some(Datum::Int(v))
}

fn s(v: &str) -> Option<Datum> {
    Some(Datum::String(v.to_owned()))
}

fn d(v: f64) -> Option<Datum> {
    Some(Datum::Double(v))
}

fn eval(p: &Predicate, v: Option<Datum>) -> Option<bool> {
    p.eval_row(&|_| v.clone())
}

fn range(min: Option<Datum>, max: Option<Datum>, nulls: Option<i64>) -> ColumnStats {
    ColumnStats {
        min,
        max,
        null_count: nulls,
    }
}

fn may(p: &Predicate, stats: &ColumnStats) -> bool {
    p.may_match_stats(10, &|_| Some(stats.clone()))
}

#[test]
fn case_27_in_and_not_in_with_null() {
    let rows = [None, i(1), i(2)];
    let matching = |p: &Predicate| {
        rows.iter()
            .filter(|v| eval(p, (*v).clone()) == Some(true))
            .cloned()
            .collect::<Vec<_>>()
    };
    let f = int();
    assert_eq!(
        matching(&Predicate::in_list(&f, vec![i(1), None]).unwrap()),
        [i(1)]
    );
    let not_in = Predicate::not_in_list(&f, vec![i(1), None]).unwrap();
    assert!(matching(&not_in).is_empty());
    assert_eq!((eval(&not_in, i(2)), eval(&not_in, i(1))), (None, Some(false)));
    assert!(matching(&Predicate::in_list(&f, vec![None]).unwrap()).is_empty());
    let or = Predicate::or([Predicate::gt(&f, Datum::Int(10)).unwrap(), Predicate::is_null(&f)]);
    assert_eq!(matching(&or), [None]);
    // The same at the statistics.
    let stats = range(i(1), i(2), Some(1));
    assert!(may(&Predicate::in_list(&f, vec![i(1), None]).unwrap(), &stats));
    assert!(!may(&not_in, &stats));
    assert!(!may(&Predicate::in_list(&f, vec![None]).unwrap(), &stats));
    assert!(may(&or, &stats));
    assert!(!may(&or, &range(i(1), i(2), Some(0))));
}

#[test]
fn case_35_decimal_of_another_scale_compares_by_value() {
    let f = decimal();
    let literal = |unscaled, scale| Datum::Decimal { unscaled, scale };
    let p = Predicate::eq(&f, literal(15, 1)).unwrap();
    assert_eq!(eval(&p, Some(literal(150, 2))), Some(true));
    assert_eq!(eval(&p, Some(literal(15, 2))), Some(false));
    let p = Predicate::lt(&f, literal(1_5000, 4)).unwrap();
    assert_eq!(eval(&p, Some(literal(149, 2))), Some(true));
    assert!(!may(
        &p,
        &range(Some(literal(150, 2)), Some(literal(999, 2)), Some(0))
    ));
    assert!(may(
        &p,
        &range(Some(literal(149, 2)), Some(literal(999, 2)), Some(0))
    ));
    assert_eq!(
        Predicate::eq(&f, literal(15, 1)).unwrap().bucket_candidates(&[3]),
        Some(vec![vec![Some(literal(150, 2))]])
    );
    // No stored value has a third digit.
    assert_eq!(
        Predicate::eq(&f, literal(1501, 3))
            .unwrap()
            .bucket_candidates(&[3]),
        None
    );
}

#[test]
fn comparisons_with_null_are_unknown() {
    let f = int();
    for p in [
        Predicate::eq(&f, None).unwrap(),
        Predicate::not_eq(&f, None).unwrap(),
        Predicate::lt(&f, None).unwrap(),
        Predicate::between(&f, None, Datum::Int(5)).unwrap(),
    ] {
        assert_eq!(eval(&p, i(3)), None, "{p}");
        assert!(!may(&p, &range(i(1), i(9), Some(0))), "{p}");
        assert_eq!(eval(&p.clone().not(), i(3)), None, "{p}");
    }
    // BETWEEN is two comparisons: one may decide alone.
    let p = Predicate::between(&f, None, Datum::Int(5)).unwrap();
    assert_eq!(
        (eval(&p, i(6)), eval(&p.clone().not(), i(6))),
        (Some(false), Some(true))
    );
    assert!(may(&p.not(), &range(i(1), i(6), Some(0))));
}

#[test]
fn missing_statistics_never_prune() {
    let f = int();
    let all = [
        Predicate::eq(&f, Datum::Int(100)).unwrap(),
        Predicate::is_null(&f),
        Predicate::is_not_null(&f),
        Predicate::not_in_list(&f, vec![i(1)]).unwrap(),
        Predicate::gt(&f, Datum::Int(100)).unwrap(),
    ];
    for p in all {
        assert!(p.may_match_stats(10, &|_| None), "{p}");
        assert!(may(&p, &ColumnStats::default()), "{p}");
        assert!(
            may(&p, &range(None, None, Some(1))) || p == Predicate::is_null(&f),
            "{p}"
        );
    }
    // All rows are null.
    let nulls = range(None, None, Some(10));
    assert!(may(&Predicate::is_null(&f), &nulls));
    assert!(!may(&Predicate::is_not_null(&f), &nulls));
    assert!(!may(&Predicate::not_eq(&f, Datum::Int(1)).unwrap(), &nulls));
    // No row is null.
    assert!(!may(&Predicate::is_null(&f), &range(None, None, Some(0))));
    // A NOT that cannot be pushed keeps.
    let not = Predicate::starts_with(&text(), "a").unwrap().not();
    assert!(may(&not, &range(s("a"), s("a"), Some(0))));
}

#[test]
fn bounds() {
    let f = int();
    let stats = range(i(10), i(20), Some(0));
    let check = |p: Result<Predicate>, expected: bool| {
        let p = p.unwrap();
        assert_eq!(may(&p, &stats), expected, "{p}");
    };
    check(Predicate::eq(&f, Datum::Int(9)), false);
    check(Predicate::eq(&f, Datum::Int(10)), true);
    check(Predicate::lt(&f, Datum::Int(10)), false);
    check(Predicate::lt_eq(&f, Datum::Int(10)), true);
    check(Predicate::gt(&f, Datum::Int(20)), false);
    check(Predicate::gt_eq(&f, Datum::Int(20)), true);
    check(Predicate::in_list(&f, vec![i(1), i(30)]), false);
    check(Predicate::between(&f, Datum::Int(21), Datum::Int(30)), false);
    check(Predicate::not_between(&f, Datum::Int(10), Datum::Int(20)), false);
    check(Predicate::not_between(&f, Datum::Int(11), Datum::Int(20)), true);
    let one = range(i(5), i(5), Some(1));
    assert!(!may(&Predicate::not_eq(&f, Datum::Int(5)).unwrap(), &one));
    assert!(!may(&Predicate::not_in_list(&f, vec![i(4), i(5)]).unwrap(), &one));
    // Cut strings are bounds like others.
    let t = text();
    let cut = range(s("abc"), s("abd"), Some(0));
    for (prefix, expected) in [
        ("ab", true),
        ("abc", true),
        ("abcdef", true),
        ("abd", true),
        ("abe", false),
        ("abb", false),
    ] {
        assert_eq!(
            may(&Predicate::starts_with(&t, prefix).unwrap(), &cut),
            expected,
            "{prefix}"
        );
    }
    assert!(may(
        &Predicate::not_eq(&t, Datum::String("abc".into())).unwrap(),
        &cut
    ));
}

#[test]
fn nan_and_zeros_do_not_prune_wrongly() {
    let f = double();
    let nan = || Datum::Double(f64::NAN);
    // NaN rows are not in the bounds of a Parquet file, and they are greater than everything.
    let stats = range(d(1.0), d(3.0), Some(0));
    for p in [
        Predicate::gt(&f, Datum::Double(5.0)).unwrap(),
        Predicate::gt_eq(&f, Datum::Double(5.0)).unwrap(),
        Predicate::eq(&f, nan()).unwrap(),
        Predicate::is_nan(&f).unwrap(),
        Predicate::not_between(&f, Datum::Double(0.0), Datum::Double(9.0)).unwrap(),
    ] {
        assert_eq!(eval(&p, d(f64::NAN)), Some(true), "{p}");
        assert!(may(&p, &stats), "{p}");
    }
    assert!(!may(&Predicate::lt(&f, Datum::Double(1.0)).unwrap(), &stats));
    assert!(!may(&Predicate::eq(&f, Datum::Double(4.0)).unwrap(), &stats));
    assert!(!may(
        &Predicate::between(&f, Datum::Double(4.0), Datum::Double(5.0)).unwrap(),
        &stats
    ));
    // A NaN bound bounds nothing.
    let odd = range(Some(nan()), Some(nan()), Some(0));
    assert!(may(&Predicate::lt(&f, Datum::Double(1.0)).unwrap(), &odd));
    assert!(may(&Predicate::eq(&f, Datum::Double(1.0)).unwrap(), &odd));
    // Writers may store either zero.
    let zero = range(d(0.0), d(0.0), Some(0));
    assert!(may(&Predicate::eq(&f, Datum::Double(-0.0)).unwrap(), &zero));
    assert!(may(&Predicate::lt(&f, Datum::Double(0.0)).unwrap(), &zero));
    assert_eq!(
        Predicate::eq(&f, Datum::Double(0.0))
            .unwrap()
            .bucket_candidates(&[2]),
        None
    );
}

#[test]
fn negation_goes_to_the_leaves() {
    let f = int();
    let p = Predicate::and([
        Predicate::lt(&f, Datum::Int(5)).unwrap(),
        Predicate::or([
            Predicate::is_null(&f),
            Predicate::between(&f, Datum::Int(1), Datum::Int(2)).unwrap(),
        ]),
        Predicate::starts_with(&text(), "a").unwrap(),
    ]);
    let not = p.clone().not();
    assert_eq!(
        not.to_string(),
        "v >= 5 OR v IS NOT NULL AND v NOT BETWEEN 1 AND 2 OR NOT (s STARTS WITH 'a')"
    );
    assert_eq!(not.not(), p);
    assert_eq!(Predicate::and([]).not(), Predicate::Constant(false));
    assert_eq!(
        Predicate::or([Predicate::Constant(true), p.clone()]),
        Predicate::Constant(true)
    );
    assert_eq!(Predicate::and([Predicate::Constant(true), p.clone()]), p);
}

#[test]
fn like_patterns() {
    let cases = [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("a%", "a", true),
        ("a%c", "abbbc", true),
        ("a%c", "abbb", false),
        ("%b%", "abc", true),
        ("_", "é", true),
        ("_", "", false),
        ("__", "é", false),
        ("a_c", "a\nc", true),
        ("a%", "a\nb", true),
        ("100\\%", "100%", true),
        ("100\\%", "1000", false),
        ("a\\_b", "a_b", true),
        ("a\\_b", "axb", false),
        ("a\\\\", "a\\", true),
        ("%", "", true),
        ("", "", true),
        ("", "x", false),
        ("%ab%ab", "abab", true),
        ("%ab%ab", "ab", false),
        ("%a_b%c", "xa1b_a2bc", true),
    ];
    for (pattern, value, expected) in cases {
        assert_eq!(
            LikePattern::parse(pattern).unwrap().matches(value),
            expected,
            "{pattern} {value}"
        );
        let p = Predicate::like(&text(), pattern).unwrap();
        assert_eq!(eval(&p, s(value)), Some(expected), "{p}");
        assert_eq!(eval(&p, None), None);
    }
    for bad in ["a\\", "a\\b"] {
        assert!(Predicate::like(&text(), bad).is_err(), "{bad}");
    }
    let simple = [
        ("abc", "s = 'abc'"),
        ("abc%", "s STARTS WITH 'abc'"),
        ("%abc", "s ENDS WITH 'abc'"),
        ("%a\\%c%", "s CONTAINS 'a%c'"),
        ("a_c", "s LIKE 'a_c'"),
        ("%", "s STARTS WITH ''"),
    ];
    for (pattern, shown) in simple {
        assert_eq!(Predicate::like(&text(), pattern).unwrap().to_string(), shown);
    }
}

#[test]
fn literals_must_fit_the_column() {
    assert!(Predicate::eq(&int(), Datum::BigInt(1)).is_err());
    assert!(Predicate::starts_with(&int(), "a").is_err());
    assert!(Predicate::is_nan(&int()).is_err());
    let array = field(7, "a", TypeKind::Array(Box::new(DataType::string())));
    assert!(Predicate::eq(&array, Datum::Array(vec![])).is_err());
    assert!(LeafPredicate::new(&int(), PredicateOp::Between, vec![i(1)]).is_err());
    let error = Predicate::eq(&int(), Datum::String("x".into()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("column: v") && error.contains("INT"), "{error}");
}

#[test]
fn partition_parts() {
    let (p, q, v) = (
        field(10, "p", TypeKind::Int),
        field(11, "q", TypeKind::Int),
        int(),
    );
    let eq = |f: &DataField, n: i32| Predicate::eq(f, Datum::Int(n)).unwrap();
    let whole = Predicate::and([
        eq(&p, 1),
        eq(&v, 2),
        Predicate::or([eq(&q, 3), Predicate::and([eq(&p, 4), eq(&v, 5)])]),
        Predicate::or([eq(&p, 6), eq(&v, 7)]),
    ]);
    assert_eq!(
        whole.partition_only(&[10, 11]).to_string(),
        "p = 1 AND (q = 3 OR p = 4)"
    );
    assert_eq!(
        whole.without_partition(&[10, 11]).to_string(),
        "v = 2 AND (q = 3 OR p = 4 AND v = 5) AND (p = 6 OR v = 7)"
    );
    assert!(eq(&v, 1).partition_only(&[10]).is_always_true());
    assert!(eq(&p, 1).without_partition(&[10]).is_always_true());
    // A negation over something unknown says nothing.
    let not = Predicate::Not(Box::new(Predicate::and([eq(&p, 1), eq(&v, 1)])));
    assert!(not.partition_only(&[10]).is_always_true());
    let known = |id: i32| (id == 10).then_some(Some(&Datum::Int(6)));
    assert_eq!(whole.with_known_values(&known), Predicate::Constant(false));
    let rest = Predicate::or([
        Predicate::and([eq(&p, 6), eq(&v, 7)]),
        Predicate::not_in_list(&p, vec![i(1), None]).unwrap(),
    ]);
    assert_eq!(rest.with_known_values(&known).to_string(), "v = 7");
    assert_eq!(whole.columns(), [0, 10, 11]);
    assert_eq!(whole.split_conjuncts().len(), 4);
}

#[test]
fn bucket_keys() {
    let (a, b) = (field(1, "a", TypeKind::Int), field(2, "b", TypeKind::Int));
    let eq = |f: &DataField, n: i32| Predicate::eq(f, Datum::Int(n)).unwrap();
    let list = |f: &DataField, v: &[i32]| Predicate::in_list(f, v.iter().map(|n| i(*n)).collect()).unwrap();
    let p = Predicate::and([
        Predicate::or([eq(&a, 1), eq(&a, 2), eq(&a, 1)]),
        list(&b, &[7, 8]),
        eq(&int(), 9),
    ]);
    let expected = [[i(7), i(1)], [i(7), i(2)], [i(8), i(1)], [i(8), i(2)]];
    assert_eq!(p.bucket_candidates(&[2, 1]).unwrap(), expected);
    assert_eq!(eq(&a, 1).bucket_candidates(&[1, 2]), None);
    let both = Predicate::and([list(&a, &[1, 2, 3]), list(&a, &[3, 4])]);
    assert_eq!(both.bucket_candidates(&[1]).unwrap(), [[i(3)]]);
    assert_eq!(
        Predicate::and([eq(&a, 1), eq(&a, 2)]).bucket_candidates(&[1]),
        None
    );
    let or = Predicate::or([eq(&a, 1), eq(&b, 2)]);
    assert_eq!(or.bucket_candidates(&[1]), None);
    assert_eq!(Predicate::is_null(&a).bucket_candidates(&[1]).unwrap(), [[None]]);
    assert_eq!(
        Predicate::in_list(&a, vec![i(1), None])
            .unwrap()
            .bucket_candidates(&[1])
            .unwrap(),
        [[i(1)]]
    );
    assert_eq!(
        Predicate::gt(&a, Datum::Int(1)).unwrap().bucket_candidates(&[1]),
        None
    );
    let many: Vec<i32> = (0..40).collect();
    let many = Predicate::and([list(&a, &many), list(&b, &many)]);
    assert_eq!(many.bucket_candidates(&[1, 2]), None);
    assert_eq!(many.bucket_candidates(&[1]).map(|v| v.len()), Some(40));
    assert_eq!(Predicate::Constant(true).bucket_candidates(&[]), None);
}

#[test]
fn file_schema() {
    let big = field(1, "now", TypeKind::BigInt);
    let file = [field(1, "then", TypeKind::Int), field(3, "m", TypeKind::Double)];
    let p = Predicate::gt(&big, Datum::BigInt(5)).unwrap();
    assert_eq!(p.for_file_schema(&file).to_string(), "then > 5");
    let wide = Predicate::in_list(&big, vec![Some(Datum::BigInt(5)), Some(Datum::BigInt(1 << 40))]).unwrap();
    assert!(wide.for_file_schema(&file).is_always_true());
    assert!(Predicate::is_null(&int()).for_file_schema(&file).is_always_true());
    let other = Predicate::eq(
        &decimal(),
        Datum::Decimal {
            unscaled: 1,
            scale: 2,
        },
    )
    .unwrap();
    assert_eq!(
        Predicate::and([p.clone(), other.clone()])
            .for_file_schema(&file)
            .to_string(),
        "then > 5"
    );
    assert!(Predicate::or([p, other]).for_file_schema(&file).is_always_true());
    // The file is wider: the value was cast on read, the test is not translated.
    let narrow = Predicate::eq(&field(1, "now", TypeKind::TinyInt), Datum::TinyInt(5)).unwrap();
    assert!(narrow.for_file_schema(&file).is_always_true());
}

#[test]
fn shown_as_sql() {
    let odd = field(9, "a b`", TypeKind::VarBinary(crate::MAX_LENGTH));
    assert_eq!(
        Predicate::eq(&odd, Datum::Bytes(vec![10, 255]))
            .unwrap()
            .to_string(),
        "`a b``` = X'0aff'"
    );
    assert_eq!(
        Predicate::eq(&text(), Datum::String("it's".into()))
            .unwrap()
            .to_string(),
        "s = 'it''s'"
    );
    assert_eq!(
        Predicate::in_list(&int(), vec![i(1), None]).unwrap().to_string(),
        "v IN (1, NULL)"
    );
    assert_eq!(Predicate::is_nan(&double()).unwrap().to_string(), "d IS NAN");
}
