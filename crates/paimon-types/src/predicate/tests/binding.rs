// SPDX-License-Identifier: Apache-2.0

//! Literals as written against columns of every type.

use super::*;

fn number(text: &str, kind: TypeKind) -> BoundLiteral {
    bind_literal(Literal::Number(text), &DataType::new(kind)).unwrap()
}

#[test]
fn numbers() {
    use BoundLiteral::{Above, After, Below, Exact};
    let int = |v| Datum::Int(v);
    let cases = [
        ("1", Exact(int(1))),
        ("+1.000", Exact(int(1))),
        ("1e3", Exact(int(1000))),
        ("1200e-2", Exact(int(12))),
        ("1.5", After(int(1))),
        ("-1.5", After(int(-2))),
        ("0.001", After(int(0))),
        ("-0.001", After(int(-1))),
        ("-0", Exact(int(0))),
        ("2147483647", Exact(int(i32::MAX))),
        ("2147483647.5", Above),
        ("2147483648", Above),
        ("-2147483648", Exact(int(i32::MIN))),
        ("-2147483648.5", Below),
        ("1e999999999999999999999", Above),
        ("-1e999999999999999999999", Below),
        ("1e-999999999999999999999", After(int(0))),
        ("123456789012345678901234567890123456789012", Above),
    ];
    for (text, expected) in cases {
        assert_eq!(number(text, TypeKind::Int), expected, "{text}");
    }
    let decimal = TypeKind::Decimal {
        precision: 4,
        scale: 2,
    };
    let m = |unscaled| Datum::Decimal { unscaled, scale: 2 };
    assert_eq!(number("1.5", decimal.clone()), Exact(m(150)));
    assert_eq!(number("1.505", decimal.clone()), After(m(150)));
    assert_eq!(number("-1.505", decimal.clone()), After(m(-151)));
    assert_eq!(number("99.99", decimal.clone()), Exact(m(9999)));
    assert_eq!(number("99.991", decimal.clone()), Above);
    assert_eq!(number("-100", decimal), Below);
    assert_eq!(number("0.1", TypeKind::Float), Exact(Datum::Float(0.1)));
    assert_eq!(number("1e300", TypeKind::Double), Exact(Datum::Double(1e300)));
    assert_eq!(number("1e400", TypeKind::Double), After(Datum::Double(f64::MAX)));
    assert_eq!(
        number("-1e39", TypeKind::Float),
        After(Datum::Float(f32::NEG_INFINITY))
    );
    for bad in ["", "x", "1x", "1e", ".", "--1", "0x10", "1 2", "1_000", "e5"] {
        assert!(
            bind_literal(Literal::Number(bad), &DataType::new(TypeKind::Int)).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn comparisons_keep_their_meaning() {
    let f = field(0, "v", TypeKind::TinyInt);
    let ops = [
        (PredicateOp::Eq, "="),
        (PredicateOp::NotEq, "<>"),
        (PredicateOp::Lt, "<"),
        (PredicateOp::LtEq, "<="),
        (PredicateOp::Gt, ">"),
        (PredicateOp::GtEq, ">="),
    ];
    for text in [
        "-1000", "-128.5", "-128", "-1.5", "-0.0", "0", "1.5", "2", "127", "127.25", "1000",
    ] {
        let literal = bind_literal(Literal::Number(text), &f.data_type).unwrap();
        let number: f64 = text.parse().unwrap();
        for (op, shown) in ops {
            let p = Predicate::compare(&f, op, &literal).unwrap();
            for v in i8::MIN..=i8::MAX {
                let value = f64::from(v);
                let expected = match op {
                    PredicateOp::Eq => value == number,
                    PredicateOp::NotEq => value != number,
                    PredicateOp::Lt => value < number,
                    PredicateOp::LtEq => value <= number,
                    PredicateOp::Gt => value > number,
                    _ => value >= number,
                };
                let row = Some(Datum::TinyInt(v));
                assert_eq!(eval(&p, row.clone()), Some(expected), "{v} {shown} {text}: {p}");
                assert_eq!(
                    eval(&p.clone().not(), row),
                    Some(!expected),
                    "not {v} {shown} {text}"
                );
            }
            assert_eq!(
                (eval(&p, None), eval(&p.clone().not(), None)),
                (None, None),
                "NULL {shown} {text}"
            );
        }
    }
}

#[test]
fn lists_and_ranges() {
    let f = int();
    let literals: Vec<BoundLiteral> = ["1", "1.5", "9999999999"]
        .map(|t| number(t, TypeKind::Int))
        .to_vec();
    let p = Predicate::in_literals(&f, &literals).unwrap();
    assert_eq!(p.to_string(), "v IN (1)");
    let p = Predicate::in_literals(&f, &literals[1..]).unwrap();
    assert_eq!(
        (eval(&p, i(1)), eval(&p, None), eval(&p.not(), i(1))),
        (Some(false), None, Some(true))
    );
    let p = Predicate::in_literals(&f, &[BoundLiteral::Null, number("1.5", TypeKind::Int)]).unwrap();
    assert_eq!(eval(&p, i(1)), None);
    let p = Predicate::between_literals(&f, &literals[0], &literals[1]).unwrap();
    assert_eq!(p.to_string(), "v >= 1 AND v <= 1");
    let p = Predicate::between_literals(&f, &literals[0], &number("3", TypeKind::Int)).unwrap();
    assert_eq!(p.to_string(), "v BETWEEN 1 AND 3");
}

#[test]
fn both_zeros_are_one_in_sql() {
    let f = double();
    let zero = number("-0.0", TypeKind::Double);
    let truth = |op, v| eval(&Predicate::compare(&f, op, &zero).unwrap(), d(v));
    for v in [0.0, -0.0] {
        assert_eq!(truth(PredicateOp::Eq, v), Some(true));
        assert_eq!(truth(PredicateOp::NotEq, v), Some(false));
        assert_eq!(truth(PredicateOp::Lt, v), Some(false));
        assert_eq!(truth(PredicateOp::LtEq, v), Some(true));
        assert_eq!(truth(PredicateOp::Gt, v), Some(false));
        assert_eq!(truth(PredicateOp::GtEq, v), Some(true));
    }
    let between = Predicate::between_literals(&f, &zero, &zero).unwrap();
    assert_eq!(
        (eval(&between, d(0.0)), eval(&between, d(-0.0))),
        (Some(true), Some(true))
    );
}

#[test]
fn other_types() {
    let bind = |literal, kind| bind_literal(literal, &DataType::new(kind));
    let exact = |datum| BoundLiteral::Exact(datum);
    assert_eq!(bind(Literal::Null, TypeKind::Int).unwrap(), BoundLiteral::Null);
    assert_eq!(
        bind(Literal::Boolean(true), TypeKind::Boolean).unwrap(),
        exact(Datum::Boolean(true))
    );
    // Never cut: a longer literal equals no stored value.
    let text = Datum::String("abcdef".into());
    assert_eq!(
        bind(Literal::Text("abcdef"), TypeKind::VarChar(3)).unwrap(),
        exact(text)
    );
    assert_eq!(
        bind(Literal::Text("ab"), TypeKind::Binary(3)).unwrap(),
        exact(Datum::Bytes(b"ab\0".to_vec()))
    );
    assert_eq!(
        bind(Literal::Text("abcd"), TypeKind::VarBinary(3)).unwrap(),
        exact(Datum::Bytes(b"abcd".to_vec()))
    );
    assert_eq!(
        bind(Literal::Bytes(&[1]), TypeKind::VarBinary(3)).unwrap(),
        exact(Datum::Bytes(vec![1]))
    );
    assert_eq!(
        bind(Literal::Text(" 7 "), TypeKind::Int).unwrap(),
        exact(Datum::Int(7))
    );
    assert_eq!(
        bind(Literal::Text("-Infinity"), TypeKind::Float).unwrap(),
        exact(Datum::Float(f32::NEG_INFINITY))
    );
    for (literal, kind) in [
        (Literal::Number("1"), TypeKind::VarChar(5)),
        (Literal::Number("1"), TypeKind::Boolean),
        (Literal::Number("1"), TypeKind::Date),
        (Literal::Boolean(true), TypeKind::Int),
        (Literal::Text("x"), TypeKind::Int),
        (Literal::Text("NaN"), TypeKind::Int),
        (Literal::Bytes(&[1]), TypeKind::Int),
        (Literal::Text("x"), TypeKind::Variant),
    ] {
        assert!(bind(literal, kind.clone()).is_err(), "{literal:?} {kind}");
    }
}

#[test]
fn dates_and_times() {
    let bind = |text, kind| bind_literal(Literal::Text(text), &DataType::new(kind)).unwrap();
    assert_eq!(
        bind("2024-01-31", TypeKind::Date),
        BoundLiteral::Exact(Datum::Date(19753))
    );
    let millis = |v| Datum::Timestamp(crate::Timestamp::from_millis(v));
    let at = 1_706_695_200_000;
    assert_eq!(
        bind("2024-01-31 10:00:00", TypeKind::Timestamp(3)),
        BoundLiteral::Exact(millis(at))
    );
    assert_eq!(
        bind("2024-01-31 10:00:00.123", TypeKind::Timestamp(3)),
        BoundLiteral::Exact(millis(at + 123))
    );
    assert_eq!(
        bind("2024-01-31 10:00:00.1234", TypeKind::Timestamp(3)),
        BoundLiteral::After(millis(at + 123))
    );
    let zone = |_: i64| 8 * 3600;
    let ltz = DataType::new(TypeKind::TimestampLtz(3));
    let bound = bind_literal_in(Literal::Text("2024-01-31 18:00:00"), &ltz, &zone).unwrap();
    assert_eq!(bound, BoundLiteral::Exact(millis(at)));
    assert!(bind_literal(Literal::Text("not a date"), &DataType::new(TypeKind::Date)).is_err());
}
