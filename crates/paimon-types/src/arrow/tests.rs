// SPDX-License-Identifier: Apache-2.0

use super::*;

fn fields(row: &str) -> Vec<DataField> {
    let mut fields = match DataType::parse(row).unwrap().kind {
        TypeKind::Row(fields) => fields,
        kind => panic!("{kind}"),
    };
    assign_field_ids(&mut fields);
    fields
}

fn ids(arrow: &ArrowType) -> Vec<(String, Option<String>)> {
    let id = |field: &Field| (field.name().clone(), field.metadata().get(FIELD_ID).cloned());
    match arrow {
        ArrowType::List(element) | ArrowType::FixedSizeList(element, _) => {
            [vec![id(element)], ids(element.data_type())].concat()
        }
        ArrowType::Map(entries, _) => ids(entries.data_type()),
        ArrowType::Struct(fields) => fields
            .iter()
            .flat_map(|f| [vec![id(f)], ids(f.data_type())].concat())
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_type_comes_back_exactly() {
    let atoms = [
        "CHAR(3)",
        "VARCHAR(7)",
        "STRING",
        "BOOLEAN",
        "BINARY(4)",
        "VARBINARY(9)",
        "BYTES",
        "DECIMAL(10, 2)",
        "DECIMAL(38, 38)",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DATE",
        "VARIANT",
        "BLOB",
        "GEOMETRY(EPSG:1)",
        "GEOGRAPHY(OGC:CRS84, andoyer)",
        "VECTOR<FLOAT, 3>",
        "VECTOR<TINYINT NOT NULL, 3>",
    ];
    let mut texts: Vec<String> = atoms.iter().map(|text| (*text).to_owned()).collect();
    for p in 0..10 {
        texts.push(format!("TIME({p})"));
        texts.push(format!("TIMESTAMP({p})"));
        texts.push(format!("TIMESTAMP({p}) WITH LOCAL TIME ZONE"));
    }
    for text in texts.clone() {
        texts.push(format!("ARRAY<{text}>"));
        texts.push(format!("ARRAY<{text} NOT NULL>"));
        texts.push(format!("MULTISET<{text}>"));
        texts.push(format!("MULTISET<{text} NOT NULL>"));
        texts.push(format!("MAP<{text}, {text}>"));
        texts.push(format!("MAP<{text} NOT NULL, {text} NOT NULL>"));
        texts.push(format!("ROW<a {text}, b {text} NOT NULL>"));
    }
    texts.push("MAP<ROW<k MAP<INT, STRING>>, MULTISET<ARRAY<MULTISET<ROW<x TIME(1)>>>>>".to_owned());
    for text in texts {
        for suffix in ["", " NOT NULL"] {
            let given = fields(&format!("ROW<first INT, c {text}{suffix}, last ROW<z INT>>"));
            let schema = to_arrow_schema(&given);
            assert_eq!(from_arrow_schema(&schema).unwrap(), given, "{schema:?}");
        }
    }
    assert_eq!(from_arrow_schema(&to_arrow_schema(&[])).unwrap(), []);
}

#[test]
fn arrow_types_of_the_contract() {
    let arrow = |text: &str| arrow_type(&DataType::parse(text).unwrap());
    let utc = || Some(Arc::<str>::from("UTC"));
    assert_eq!(arrow("CHAR(3)"), ArrowType::Utf8);
    assert_eq!(arrow("BINARY(3)"), ArrowType::Binary);
    assert_eq!(arrow("BLOB"), ArrowType::LargeBinary);
    assert_eq!(arrow("DECIMAL(10, 2)"), ArrowType::Decimal128(10, 2));
    assert_eq!(arrow("TIME(9)"), ArrowType::Time32(TimeUnit::Millisecond));
    assert_eq!(
        arrow("TIMESTAMP(3)"),
        ArrowType::Timestamp(TimeUnit::Millisecond, None)
    );
    assert_eq!(
        arrow("TIMESTAMP(4)"),
        ArrowType::Timestamp(TimeUnit::Microsecond, None)
    );
    assert_eq!(
        arrow("TIMESTAMP_LTZ(7)"),
        ArrowType::Timestamp(TimeUnit::Nanosecond, utc())
    );
    assert_eq!(
        arrow("ARRAY<INT>"),
        ArrowType::List(Arc::new(Field::new("element", ArrowType::Int32, true)))
    );
    let ArrowType::Map(entries, false) = arrow("MULTISET<STRING>") else {
        panic!()
    };
    assert_eq!(
        (entries.name().as_str(), entries.is_nullable()),
        ("entries", false)
    );
    let ArrowType::Struct(parts) = entries.data_type() else {
        panic!()
    };
    let shape: Vec<_> = parts
        .iter()
        .map(|f| (f.name().as_str(), f.data_type().clone(), f.is_nullable()))
        .collect();
    assert_eq!(
        shape,
        [
            ("key", ArrowType::Utf8, false),
            ("value", ArrowType::Int32, false)
        ]
    );
    let ArrowType::Struct(parts) = arrow("VARIANT") else {
        panic!()
    };
    let shape: Vec<_> = parts
        .iter()
        .map(|f| (f.name().as_str(), f.data_type().clone(), f.is_nullable()))
        .collect();
    assert_eq!(
        shape,
        [
            ("value", ArrowType::Binary, false),
            ("metadata", ArrowType::Binary, false)
        ]
    );
    let ArrowType::FixedSizeList(element, 3) = arrow("VECTOR<FLOAT, 3>") else {
        panic!()
    };
    assert!(!element.is_nullable() && element.name() == "element");
}

#[test]
fn nested_levels_have_computed_ids() {
    let mut field = DataField::new(3, "c", DataType::parse("ARRAY<ARRAY<INT>>").unwrap());
    let arrow = to_arrow_field(&field);
    assert_eq!(arrow.metadata()[FIELD_ID], "3");
    let base = 536_870_911 + 3 * 1024;
    let id = |name: &str, id: i32| (name.to_owned(), Some(id.to_string()));
    assert_eq!(
        ids(arrow.data_type()),
        [id("element", base + 1), id("element", base + 2)]
    );
    field.data_type = DataType::parse("MAP<INT, ROW<x ARRAY<INT>>>").unwrap();
    let TypeKind::Map(_, value) = &mut field.data_type.kind else {
        panic!()
    };
    let TypeKind::Row(row) = &mut value.kind else {
        panic!()
    };
    row[0].id = 7;
    let expected = [
        id("key", 536_870_911 - 3 * 1024 - 1),
        id("value", base + 1),
        id("x", 7),
        id("element", 536_870_911 + 7 * 1024 + 1),
    ];
    assert_eq!(ids(to_arrow_field(&field).data_type()), expected);
    // System ids wrap as in Java.
    field.id = i32::MAX;
    field.data_type = DataType::parse("ARRAY<INT>").unwrap();
    let wrapped = 536_870_911i32
        .wrapping_add(i32::MAX.wrapping_mul(1024))
        .wrapping_add(1);
    assert_eq!(ids(to_arrow_field(&field).data_type()), [id("element", wrapped)]);
    let free = arrow_type(&field.data_type);
    assert_eq!(ids(&free), [("element".to_owned(), None)]);
}

#[test]
fn foreign_schemas() {
    let one = |arrow: ArrowType| from_arrow_schema(&Schema::new(vec![Field::new("c", arrow, true)]));
    let cases = [
        (ArrowType::LargeUtf8, "STRING"),
        (ArrowType::Utf8View, "STRING"),
        (ArrowType::LargeBinary, "BYTES"),
        (ArrowType::FixedSizeBinary(16), "BINARY(16)"),
        (ArrowType::UInt8, "SMALLINT"),
        (ArrowType::UInt32, "BIGINT"),
        (ArrowType::UInt64, "DECIMAL(20, 0)"),
        (ArrowType::Decimal256(38, 5), "DECIMAL(38, 5)"),
        (ArrowType::Timestamp(TimeUnit::Second, None), "TIMESTAMP(0)"),
        (
            ArrowType::Timestamp(TimeUnit::Microsecond, Some("Asia/Shanghai".into())),
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        ),
        (
            ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::Utf8)),
            "STRING",
        ),
        (ArrowType::new_large_list(ArrowType::Int64, true), "ARRAY<BIGINT>"),
        (
            ArrowType::new_fixed_size_list(ArrowType::Float32, 4, false),
            "VECTOR<FLOAT, 4>",
        ),
        (
            ArrowType::new_fixed_size_list(ArrowType::Float32, 4, true),
            "ARRAY<FLOAT>",
        ),
        (
            ArrowType::new_fixed_size_list(ArrowType::Utf8, 4, false),
            "ARRAY<STRING NOT NULL>",
        ),
    ];
    for (arrow, expected) in cases {
        let field = one(arrow.clone()).unwrap().remove(0);
        assert_eq!(
            (field.id, field.data_type.to_string()),
            (0, expected.to_owned()),
            "{arrow}"
        );
    }
    for arrow in [
        ArrowType::Null,
        ArrowType::Time64(TimeUnit::Microsecond),
        ArrowType::Decimal256(76, 5),
        ArrowType::Decimal128(10, -2),
        ArrowType::Interval(arrow_schema::IntervalUnit::DayTime),
    ] {
        let error = one(arrow.clone()).unwrap_err();
        assert!(error.to_string().contains("column: c"), "{error}");
    }
}

#[test]
fn metadata_that_does_not_fit_is_refused() {
    let field = |arrow, text: &str| {
        let metadata = HashMap::from([(TYPE.to_owned(), text.to_owned())]);
        from_arrow_schema(&Schema::new(vec![
            Field::new("c", arrow, true).with_metadata(metadata),
        ]))
    };
    assert!(field(ArrowType::Int32, "STRING").is_err());
    assert!(field(ArrowType::Timestamp(TimeUnit::Millisecond, None), "TIMESTAMP(4)").is_err());
    assert!(field(ArrowType::Utf8, "nonsense").is_err());
    assert_eq!(
        field(ArrowType::Utf8, "CHAR(2)").unwrap()[0]
            .data_type
            .to_string(),
        "CHAR(2)"
    );
}

#[test]
fn repeated_or_partial_ids_are_assigned_anew() {
    let with_id = |name: &str, id: &str| {
        Field::new(name, ArrowType::Int32, true)
            .with_metadata(HashMap::from([(FIELD_ID.to_owned(), id.to_owned())]))
    };
    let ids = |fields: Vec<Field>| {
        from_arrow_schema(&Schema::new(fields))
            .unwrap()
            .iter()
            .map(|f| f.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(vec![with_id("a", "5"), with_id("b", "9")]), [5, 9]);
    assert_eq!(ids(vec![with_id("a", "5"), with_id("b", "5")]), [0, 1]);
    assert_eq!(
        ids(vec![with_id("a", "5"), Field::new("b", ArrowType::Int32, true)]),
        [0, 1]
    );
}
