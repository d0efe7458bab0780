// SPDX-License-Identifier: Apache-2.0

//! References that BLOB values may hold, against the bytes of Java.

use paimon_types::{BlobDescriptor, BlobValue, BlobView};

use crate::vectors::{to_hex, vectors};

/// The text behind a name in `name value, name value`.
fn part<'a>(input: &'a str, name: &str) -> &'a str {
    let parts = input.split(", ");
    let mut found = parts.filter_map(|part| part.strip_prefix(name)?.strip_prefix(' '));
    found.next().unwrap_or_else(|| panic!("'{input}' has no {name}"))
}

#[test]
fn descriptor_vectors() {
    for vector in vectors("wire-vectors.jsonl", "blob_descriptor", 2) {
        let input = vector.input();
        let expected = BlobDescriptor {
            uri: part(input, "uri").trim_matches('\'').to_owned(),
            offset: part(input, "offset").parse().unwrap(),
            length: part(input, "length").parse().unwrap(),
        };
        let bytes = vector.bytes();
        assert_eq!(BlobDescriptor::decode(&bytes).unwrap(), expected, "{input}");
        assert_eq!(to_hex(&expected.encode().unwrap()), vector.text("hex"), "{input}");
        assert_eq!(
            BlobValue::of(&bytes).unwrap(),
            BlobValue::Descriptor(expected),
            "{input}"
        );
    }
}

#[test]
fn view_vectors() {
    for vector in vectors("wire-vectors.jsonl", "blob_view", 2) {
        let input = vector.input();
        // `db.tbl`, or `db.tbl branch b1 (full name db.tbl$branch_b1)`.
        let table = part(input, "identifier");
        let table = match table.split_once("(full name ") {
            Some((_, full)) => full.trim_end_matches(')'),
            None => table,
        };
        let expected = BlobView {
            table: table.to_owned(),
            field_id: part(input, "fieldId").parse().unwrap(),
            row_id: part(input, "rowId").parse().unwrap(),
        };
        let bytes = vector.bytes();
        assert_eq!(BlobView::decode(&bytes).unwrap(), expected, "{input}");
        assert_eq!(to_hex(&expected.encode().unwrap()), vector.text("hex"), "{input}");
        assert_eq!(
            BlobValue::of(&bytes).unwrap(),
            BlobValue::View(expected),
            "{input}"
        );
    }
}
