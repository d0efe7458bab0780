// SPDX-License-Identifier: Apache-2.0

//! Predicates as Java writes them in JSON.

use paimon_types::{DataField, DataType, Datum, ErrorKind, Predicate, TypeKind};

use crate::vectors::vectors;

fn fields() -> Vec<DataField> {
    let types = [
        "INT",
        "STRING",
        "DECIMAL(10, 2)",
        "DATE",
        "TIMESTAMP(3)",
        "DOUBLE",
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        "TIME(0)",
    ];
    let field = |(i, text): (usize, &&str)| {
        DataField::new(10 + i as i32, format!("f{i}"), DataType::parse(text).unwrap())
    };
    types.iter().enumerate().map(field).collect()
}

#[test]
fn vectors_in_both_directions() {
    for vector in vectors("wire-vectors.jsonl", "predicate_json", 12) {
        let json = vector.text("json");
        let predicate = Predicate::from_json(json, &fields()).unwrap_or_else(|e| panic!("{json}: {e}"));
        assert_eq!(predicate.to_json(&fields()).unwrap(), json, "{}", vector.input());
    }
}

#[test]
fn literals_are_exact() {
    let leaf = |field: &str, literal: &str| {
        format!(
            r#"{{"literals":[{literal}],"function":"EQUAL","transform":{{"fieldRef":{{"name":"{field}"}},"name":"FIELD_REF"}},"kind":"LEAF"}}"#
        )
    };
    let value = |field: &str, literal: &str| match Predicate::from_json(&leaf(field, literal), &fields()) {
        Ok(Predicate::Leaf(leaf)) => leaf.literals[0].clone(),
        other => panic!("{field} {literal}: {other:?}"),
    };
    assert_eq!(value("f0", "-7"), Some(Datum::Int(-7)));
    assert_eq!(value("f0", "null"), None);
    let decimal = |unscaled| Some(Datum::Decimal { unscaled, scale: 2 });
    assert_eq!(value("f2", "-1.5"), decimal(-150));
    assert_eq!(value("f2", "12345678.900"), decimal(1_234_567_890));
    assert_eq!(value("f3", "[1970,1,2]"), Some(Datum::Date(1)));
    assert_eq!(value("f7", "[0,1]"), Some(Datum::Time(60_000)));
    for (field, literal) in [
        ("f0", "1.5"),
        ("f0", "2147483648"),
        ("f0", r#""1""#),
        ("f1", "1"),
        ("f2", "1.505"),
        ("f2", "123456789.00"),
        ("f2", "1e2"),
        ("f3", "[2023,2,29]"),
        ("f3", r#""2023-02-28""#),
        ("f4", "[2023,2,28]"),
        ("f7", "[24,0]"),
    ] {
        let error = Predicate::from_json(&leaf(field, literal), &fields()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{field} {literal}");
        assert!(error.message().contains("is not of type"), "{error}");
    }
    let error = Predicate::from_json(&leaf("g", "1"), &fields()).unwrap_err();
    assert_eq!(
        error.message(),
        "predicate names a column that the table does not have"
    );
}

#[test]
fn what_predicates_do_not_have_is_refused_by_name() {
    for (json, expected) in [
        (
            r#"{"kind":"LEAF","transform":{"name":"UPPER","inputs":[]},"function":"EQUAL","literals":["A"]}"#,
            "unknown predicate transform 'UPPER'",
        ),
        (
            r#"{"kind":"LEAF","transform":{"name":"FIELD_REF"},"function":"ARRAY_CONTAINS","literals":[]}"#,
            "unknown predicate function 'ARRAY_CONTAINS'",
        ),
        (
            r#"{"kind":"COMPOUND","function":"XOR","children":[]}"#,
            "unknown compound function 'XOR'",
        ),
        (r#"{"kind":"TREE"}"#, "unknown predicate kind 'TREE'"),
    ] {
        let error = Predicate::from_json(json, &fields()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{json}");
        assert!(error.message().starts_with(expected), "{error}");
    }
    let deep = format!(
        "{}{}",
        r#"{"kind":"COMPOUND","function":"AND","children":["#.repeat(61),
        "]}".repeat(61)
    );
    assert_eq!(
        Predicate::from_json(&deep, &fields()).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let nan = Predicate::is_nan(&fields()[5]).unwrap();
    assert_eq!(nan.to_json(&fields()).unwrap_err().kind(), ErrorKind::Unsupported);
    let bytes = DataField::new(3, "b", DataType::new(TypeKind::VarBinary(4)));
    let binary = Predicate::eq(&bytes, Datum::Bytes(vec![1])).unwrap();
    assert_eq!(
        binary.to_json(&[bytes]).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}
