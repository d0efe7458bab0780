// SPDX-License-Identifier: Apache-2.0

use super::{variant_from_json_text, variant_to_json};

fn json(value: &str, metadata: &str) -> String {
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
            .collect()
    };
    variant_to_json(&bytes(value), &bytes(metadata)).unwrap()
}

#[test]
fn golden_values() {
    assert_eq!(json("0c01", "010000"), "1");
    assert_eq!(json("107fff", "010000"), "-129");
    assert_eq!(json("20023a010000", "010000"), "3.14");
    assert_eq!(json("1c000000b08ef00b42", "010000"), "15000000000.0");
    assert_eq!(json("0303000204050c01056100", "010000"), r#"[1,"a",null]"#);
    assert_eq!(
        json("020201000200090c0102010200020578", "010300010203626163"),
        r#"{"a":{"c":"x"},"b":1}"#
    );
    assert_eq!(
        json("2800d20a1feb8ca954ab0000000000000000", "010000"),
        "12345678901234567890"
    );
    assert_eq!(
        json("28131581e97df41022110000000000000000", "010000"),
        "0.1234567890123456789"
    );
    assert_eq!(json("020000", "010000"), "{}");
}

#[test]
fn any_cut_or_flip_is_an_error_or_a_value() {
    let value = [
        0x02, 0x02, 0x01, 0x00, 0x02, 0x00, 0x09, 0x0c, 0x01, 0x02, 0x01, 0x02, 0x00, 0x02, 0x05, 0x78,
    ];
    let metadata = [0x01, 0x03, 0x00, 0x01, 0x02, 0x03, 0x62, 0x61, 0x63];
    for cut in 0..value.len() {
        let _ = variant_to_json(&value[..cut], &metadata);
        let _ = variant_to_json(&value, &metadata[..cut.min(metadata.len())]);
    }
    for byte in 0..value.len() {
        for bit in 0..8 {
            let mut bad = value;
            bad[byte] ^= 1 << bit;
            let _ = variant_to_json(&bad, &metadata);
        }
    }
}

#[test]
fn vectors_of_java_both_ways() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wire-vectors.jsonl");
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let mut seen = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let vector: serde_json::Value = serde_json::from_str(line).unwrap();
        if vector["kind"] != "variant" {
            continue;
        }
        let input = vector["input"].as_str().unwrap();
        let (value, metadata) = variant_from_json_text(input).unwrap();
        assert_eq!(hex(&value), vector["hex"].as_str().unwrap(), "{input}");
        assert_eq!(hex(&metadata), vector["metadata"].as_str().unwrap(), "{input}");
        let back = variant_to_json(&value, &metadata).unwrap();
        // Members are sorted by key on the way out; the next time nothing changes.
        let (value, metadata) = variant_from_json_text(&back).unwrap();
        assert_eq!(
            variant_to_json(&value, &metadata).unwrap(),
            back.replace(".0", ""),
            "{input}"
        );
        seen += 1;
    }
    assert!(seen >= 13, "{seen} vectors");
}

#[test]
fn sizes_grow_with_the_value() {
    let back = |text: &str| {
        let (value, metadata) = variant_from_json_text(text).unwrap();
        variant_to_json(&value, &metadata).unwrap()
    };
    for count in [0, 1, 31, 32, 255, 256, 300, 70_000] {
        let array = format!("[{}]", vec!["1234567"; count].join(","));
        assert_eq!(back(&array), array);
    }
    // Members come back sorted by key.
    for count in [1, 32, 256, 300] {
        let members: Vec<String> = (0..count).map(|i| format!("\"k{i:05}\":{i}")).collect();
        let object = format!("{{{}}}", members.join(","));
        assert_eq!(back(&object), object);
    }
    for text in [
        "\"\"".to_owned(),
        format!("\"{}\"", "x".repeat(63)),
        format!("\"{}\"", "é".repeat(40_000)),
    ] {
        assert_eq!(back(&text), text);
    }
    for (text, shown) in [
        ("127", "127"),
        ("-129", "-129"),
        ("32768", "32768"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "9223372036854775808"),
        ("1.50", "1.5"),
        ("-0.001", "-0.001"),
        (
            "99999999999999999999999999999999999999",
            "99999999999999999999999999999999999999",
        ),
        ("1e3", "1000.0"),
        ("100000000000000000000000000000000000000", "1e+38"),
    ] {
        assert_eq!(back(text), shown, "{text}");
    }
    assert!(variant_from_json_text("1e400").is_err());
    assert!(variant_from_json_text(&format!("{}1{}", "[".repeat(66), "]".repeat(66))).is_err());
    assert!(variant_from_json_text(r#"{"a": 1, "a": 2}"#).is_err());
}
