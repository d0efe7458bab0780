// SPDX-License-Identifier: Apache-2.0

//! Random types, schemas, predicates, variants and blob references: written, read, the same value. (Rows, arrays and streams are
//! in `rows` and `streams`, partition paths in `partitions`.)

use std::collections::{BTreeMap, BTreeSet};

use paimon_types::{
    BlobDescriptor, BlobValue, BlobView, DataField, DataType, JsonTree, LeafPredicate, Predicate,
    PredicateOp, SCHEMA_VERSION, TableSchema, TypeKind, variant_from_json_text, variant_to_json,
};

use crate::generate::{Random, random_text, random_type, random_value};

fn optional<T>(random: &mut Random, value: impl FnOnce(&mut Random) -> T) -> Option<T> {
    (random.below(3) == 0).then(|| value(random))
}

/// Gives a type what [`random_type`] leaves out: other parameters, nullability, ids that are unique, comments and defaults.
fn dressed(random: &mut Random, data_type: DataType, next_id: &mut i32) -> DataType {
    let kind = match data_type.kind {
        TypeKind::Char(_) => TypeKind::Char(1 + random.below(300) as u32),
        TypeKind::VarChar(max) if random.below(2) == 0 => {
            TypeKind::VarChar(1 + random.below(max.into()) as u32)
        }
        TypeKind::VarBinary(_) if random.below(2) == 0 => TypeKind::Binary(1 + random.below(300) as u32),
        TypeKind::Geometry(crs) if random.below(2) == 0 => TypeKind::Geography {
            crs,
            algorithm: "spherical".into(),
        },
        TypeKind::Vector(element, length) => TypeKind::Vector(element, length.max(1)),
        TypeKind::Array(element) => TypeKind::Array(Box::new(dressed(random, *element, next_id))),
        TypeKind::Multiset(element) => TypeKind::Multiset(Box::new(dressed(random, *element, next_id))),
        TypeKind::Map(key, value) => TypeKind::Map(
            Box::new(dressed(random, *key, next_id)),
            Box::new(dressed(random, *value, next_id)),
        ),
        TypeKind::Row(fields) => {
            let types = fields.into_iter().map(|field| field.data_type).collect();
            TypeKind::Row(named(random, types, next_id))
        }
        other => other,
    };
    DataType {
        kind,
        nullable: random.below(3) > 0,
    }
}

/// Fields of these types with distinct names.
fn named(random: &mut Random, types: Vec<DataType>, next_id: &mut i32) -> Vec<DataField> {
    let fields = types.into_iter().enumerate().map(|(index, data_type)| {
        let data_type = dressed(random, data_type, next_id);
        *next_id += 1 + random.below(3) as i32;
        DataField {
            description: optional(random, |random| random_text(random, 9)),
            // As text a default stands there as it is, so that only a word can be read again.
            default_value: optional(random, |random| format!("d{}", random.below(100))),
            ..DataField::new(*next_id, format!("{index}{}", random_text(random, 6)), data_type)
        }
    });
    fields.collect()
}

#[test]
fn random_types_come_back() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let data_type = random_type(&mut random, 4);
        let data_type = dressed(&mut random, data_type, &mut 0);
        let json = data_type.to_json();
        assert_eq!(
            DataType::from_json(&json).unwrap(),
            data_type,
            "seed {seed}: {json}"
        );
        // The text of types is what messages and the command line have.
        let text = data_type.to_string();
        let parsed = DataType::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {text}: {e}"));
        assert_eq!(parsed.to_string(), text, "seed {seed}");
    }
}

#[test]
fn random_schemas_come_back() {
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let types = (0..random.below(7))
            .map(|_| random_type(&mut random, 2))
            .collect();
        let mut highest = -1;
        let mut fields = named(&mut random, types, &mut highest);
        for field in &mut fields {
            field.default_value = optional(&mut random, |random| random_text(random, 9));
        }
        let names = |random: &mut Random| -> Vec<String> {
            let names = fields.iter().filter(|_| random.below(3) == 0);
            names.map(|field| field.name.clone()).collect()
        };
        let (partition_keys, primary_keys) = (names(&mut random), names(&mut random));
        let schema = TableSchema {
            version: SCHEMA_VERSION,
            id: random.next() as i64,
            highest_field_id: highest + random.below(4) as i32,
            partition_keys,
            primary_keys,
            options: (0..random.below(4))
                .map(|_| (random_text(&mut random, 8), random_text(&mut random, 8)))
                .collect::<BTreeMap<_, _>>(),
            comment: optional(&mut random, |random| random_text(random, 20)),
            time_millis: random.next() as i64,
            fields,
        };
        let json = schema.to_json();
        let again = TableSchema::from_json(&json).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{json}"));
        assert_eq!(again, schema, "seed {seed}");
        assert_eq!(again.to_json(), json, "seed {seed}");
    }
}

fn random_predicate(random: &mut Random, fields: &[DataField], depth: u32) -> Predicate {
    if depth > 0 && random.below(2) == 0 {
        let children = (0..random.below(4))
            .map(|_| random_predicate(random, fields, depth - 1))
            .collect();
        return match random.below(2) {
            0 => Predicate::And(children),
            _ => Predicate::Or(children),
        };
    }
    if random.below(12) == 0 {
        return Predicate::Constant(random.below(2) == 0);
    }
    let field = &fields[random.below(fields.len() as u64) as usize];
    let ops = [
        (PredicateOp::IsNull, 0),
        (PredicateOp::IsNotNull, 0),
        (PredicateOp::Eq, 1),
        (PredicateOp::NotEq, 1),
        (PredicateOp::Lt, 1),
        (PredicateOp::LtEq, 1),
        (PredicateOp::Gt, 1),
        (PredicateOp::GtEq, 1),
        (PredicateOp::Between, 2),
        (PredicateOp::NotBetween, 2),
        (PredicateOp::In, random.below(5)),
        (PredicateOp::NotIn, random.below(5)),
        (PredicateOp::StartsWith, 1),
        (PredicateOp::EndsWith, 1),
        (PredicateOp::Contains, 1),
        (PredicateOp::Like, 1),
    ];
    let is_text = matches!(field.data_type.kind, TypeKind::VarChar(_) | TypeKind::Char(_));
    let (op, count) = ops[random.below(if is_text { 16 } else { 12 }) as usize];
    let literals = (0..count).map(|_| random_value(random, &field.data_type, true));
    LeafPredicate::new(field, op, literals.collect())
        .map(Predicate::Leaf)
        .unwrap()
}

#[test]
fn random_predicates_come_back() {
    let types = [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "STRING",
        "CHAR(5)",
        "DECIMAL(10, 2)",
        "DECIMAL(38, 38)",
        "DATE",
        "TIME(3)",
        "TIMESTAMP(0)",
        "TIMESTAMP(9)",
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    ];
    let fields: Vec<DataField> = types
        .iter()
        .enumerate()
        .map(|(i, text)| DataField::new(40 - i as i32, format!("f\"{i}"), DataType::parse(text).unwrap()))
        .collect();
    for seed in 0..5000 {
        let mut random = Random::new(seed);
        let predicate = random_predicate(&mut random, &fields, 4);
        let json = predicate.to_json(&fields).unwrap();
        let again =
            Predicate::from_json(&json, &fields).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{json}"));
        // A NaN is not equal to itself.
        assert_eq!(
            format!("{again:?}"),
            format!("{predicate:?}"),
            "seed {seed}: {json}"
        );
        assert_eq!(again.to_json(&fields).unwrap(), json, "seed {seed}");
    }
}

/// JSON in the form in which variants are shown: members by key, decimals without zeros at the end.
fn random_json(random: &mut Random, out: &mut String, depth: u32) {
    let kinds = if depth == 0 { 6 } else { 9 };
    match random.below(kinds) {
        0 => out.push_str("null"),
        1 => out.push_str(["true", "false"][random.below(2) as usize]),
        2 => {
            let shift = random.below(64);
            out.push_str(&((random.next() as i64) >> shift).to_string());
        }
        3 => {
            // Up to 38 digits, the last one not 0.
            let digits = 1 + random.below(37);
            let whole: String = (0..digits)
                .map(|_| char::from(b'0' + random.below(10) as u8))
                .collect();
            let split = random.below(digits) as usize;
            let (whole, fraction) = whole.split_at(split);
            let whole = whole.trim_start_matches('0');
            let sign = ["", "-"][random.below(2) as usize];
            let whole = if whole.is_empty() { "0" } else { whole };
            out.push_str(&format!("{sign}{whole}.{fraction}{}", 1 + random.below(9)));
        }
        4 | 5 => {
            let long = random.below(20) == 0;
            let text = random_text(random, if long { 90 } else { 9 });
            out.push_str(&serde_json::Value::from(text).to_string());
        }
        6 | 7 => {
            let count = if random.below(30) == 0 {
                300
            } else {
                random.below(5)
            };
            out.push('[');
            for index in 0..count {
                out.push_str(if index > 0 { "," } else { "" });
                random_json(random, out, depth - 1);
            }
            out.push(']');
        }
        _ => {
            let keys: BTreeSet<String> = (0..random.below(6)).map(|_| random_text(random, 4)).collect();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&serde_json::Value::from(key).to_string());
                out.push(':');
                random_json(random, out, depth - 1);
            }
            out.push('}');
        }
    }
}

#[test]
fn random_variants_come_back() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut json = String::new();
        random_json(&mut random, &mut json, 4);
        let (value, metadata) =
            variant_from_json_text(&json).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{json}"));
        let shown = variant_to_json(&value, &metadata).unwrap();
        assert_eq!(
            JsonTree::parse(&shown).unwrap(),
            JsonTree::parse(&json).unwrap(),
            "seed {seed}"
        );
        assert_eq!(
            variant_from_json_text(&shown).unwrap(),
            (value, metadata),
            "seed {seed}: {json}"
        );
        // A double, whose text may read as a decimal.
        let double = f64::from_bits(random.next());
        if double.is_finite() {
            let bytes = [&[7 << 2][..], &double.to_le_bytes()].concat();
            let shown = variant_to_json(&bytes, &[1, 0, 0]).unwrap();
            assert_eq!(
                shown.parse::<f64>().unwrap().to_bits(),
                double.to_bits(),
                "seed {seed}: {shown}"
            );
        }
    }
}

#[test]
fn random_blob_references_come_back() {
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let descriptor = BlobDescriptor {
            uri: random_text(&mut random, 60),
            offset: random.next() as i64,
            length: random.next() as i64,
        };
        let bytes = descriptor.encode().unwrap();
        assert_eq!(BlobDescriptor::decode(&bytes).unwrap(), descriptor);
        // Version 1 has neither magic number nor mark.
        let old = [&[1], &bytes[9..]].concat();
        assert_eq!(BlobDescriptor::decode(&old).unwrap(), descriptor);
        assert_eq!(BlobValue::of(&old).unwrap(), BlobValue::Data(&old));
        assert_eq!(BlobValue::of(&bytes).unwrap(), BlobValue::Descriptor(descriptor));
        let view = BlobView {
            table: format!(
                "d{}.t{}",
                random_text(&mut random, 9),
                random_text(&mut random, 9)
            ),
            field_id: random.next() as i32,
            row_id: random.next() as i64,
        };
        let bytes = view.encode().unwrap();
        assert_eq!(BlobView::decode(&bytes).unwrap(), view);
        assert_eq!(BlobValue::of(&bytes).unwrap(), BlobValue::View(view));
    }
}
