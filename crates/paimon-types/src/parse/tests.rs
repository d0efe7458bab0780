// SPDX-License-Identifier: Apache-2.0

use super::*;

#[test]
fn every_type_is_shown_and_read_again() {
    let texts = [
        "CHAR(1)",
        "CHAR(2147483647)",
        "VARCHAR(20)",
        "STRING",
        "BOOLEAN",
        "BINARY(3)",
        "VARBINARY(20)",
        "BYTES",
        "DECIMAL(38, 38)",
        "DECIMAL(1, 0)",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DATE",
        "TIME(0)",
        "TIME(9)",
        "TIMESTAMP(6)",
        "TIMESTAMP(0) WITH LOCAL TIME ZONE",
        "VARIANT",
        "BLOB",
        "GEOMETRY(OGC:CRS84)",
        "GEOMETRY('4326 x')",
        "GEOMETRY('it''s, odd')",
        "GEOGRAPHY(EPSG:4326, karney)",
        "ARRAY<INT NOT NULL>",
        "MULTISET<ARRAY<STRING>>",
        "MAP<INT NOT NULL, MAP<STRING, BYTES>>",
        "VECTOR<FLOAT, 128>",
        "VECTOR<BIGINT NOT NULL, 1>",
        "ROW<>",
        "ROW<`a` INT NOT NULL, `b ``x``` ROW<`c` ARRAY<ROW<`d` DATE>>> COMMENT 'it''s'>",
    ];
    for text in texts {
        for (suffix, nullable) in [("", true), (" NOT NULL", false)] {
            let text = format!("{text}{suffix}");
            let parsed = DataType::parse(&text).unwrap();
            assert_eq!((parsed.to_string(), parsed.nullable), (text, nullable));
        }
    }
}

#[test]
fn other_spellings() {
    let cases = [
        (" int ", "INT"),
        ("Integer Not Null", "INT NOT NULL"),
        ("int null", "INT"),
        ("CHAR", "CHAR(1)"),
        ("varchar", "VARCHAR(1)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("binary", "BINARY(1)"),
        ("VARBINARY( 2147483647 )", "BYTES"),
        ("decimal", "DECIMAL(10, 0)"),
        ("NUMERIC(5)", "DECIMAL(5, 0)"),
        ("dec(5,2)", "DECIMAL(5, 2)"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("time", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("timestamp", "TIMESTAMP(6)"),
        (
            "TIMESTAMP(3)  WITHOUT  TIME  ZONE  NOT  NULL",
            "TIMESTAMP(3) NOT NULL",
        ),
        (
            "timestamp with local time zone",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        ),
        ("TIMESTAMP_LTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP_LTZ(9)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        ("GEOMETRY", "GEOMETRY(OGC:CRS84)"),
        ("GEOGRAPHY", "GEOGRAPHY(OGC:CRS84, spherical)"),
        ("GEOGRAPHY(EPSG:1)", "GEOGRAPHY(EPSG:1, spherical)"),
        ("GEOGRAPHY(EPSG:1,Vincenty)", "GEOGRAPHY(EPSG:1, vincenty)"),
        ("INT NOT NULL ARRAY", "ARRAY<INT NOT NULL>"),
        ("INT MULTISET NOT NULL", "MULTISET<INT> NOT NULL"),
        (
            "map<int,row<a int,`b` string comment 'x'>>",
            "MAP<INT, ROW<`a` INT, `b` STRING COMMENT 'x'>>",
        ),
        ("ROW(a INT, b INT DEFAULT '5')", "ROW<`a` INT, `b` INT DEFAULT 5>"),
    ];
    for (text, shown) in cases {
        assert_eq!(DataType::parse(text).unwrap().to_string(), shown, "{text}");
    }
}

#[test]
fn what_is_not_a_type() {
    let bad = [
        "",
        "INTS",
        "INT INT",
        "INT NOT",
        "INT NOT NULL NULL",
        "CHAR(0)",
        "CHAR()",
        "CHAR(-1)",
        "VARCHAR(2147483648)",
        "DECIMAL(0, 0)",
        "DECIMAL(39, 0)",
        "DECIMAL(5, 6)",
        "TIME(10)",
        "TIMESTAMP(10)",
        "TIMESTAMP(3) WITH TIME ZONE",
        "GEOGRAPHY(OGC:CRS84, flat)",
        "ARRAY",
        "ARRAY<INT",
        "MAP<INT>",
        "VECTOR<INT>",
        "VECTOR<STRING, 3>",
        "VECTOR<INT, 0>",
        "ROW<a>",
        "ROW<a INT,>",
        "ROW<`a INT>",
        "INT ARRAY ARRAY",
        "'INT'",
        "<",
    ];
    for text in bad {
        assert!(DataType::parse(text).is_err(), "{text}");
    }
    let error = DataType::parse("DECIMAL(40, 2)").unwrap_err().to_string();
    assert!(
        error.contains("DECIMAL(40, 2)") && error.contains("between 1 and 38"),
        "{error}"
    );
    // Text of schema files has no constructed types.
    for text in ["ARRAY<INT>", "MAP<INT, INT>", "ROW<a INT>", "MULTISET<INT>"] {
        assert!(DataType::parse_atomic(text).is_err(), "{text}");
    }
    assert!(DataType::parse_atomic("VECTOR<INT, 2>").is_ok());
}

#[test]
fn nesting_is_limited() {
    let nested = |n: usize| format!("{}INT{}", "ARRAY<".repeat(n), ">".repeat(n));
    assert!(DataType::parse(&nested(MAX_DEPTH - 1)).is_ok());
    assert!(
        DataType::parse(&nested(MAX_DEPTH))
            .unwrap_err()
            .to_string()
            .contains("nested")
    );
    assert!(DataType::parse(&"ARRAY<".repeat(1_000_000)).is_err());
}
