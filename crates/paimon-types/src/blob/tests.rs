// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::ErrorKind;

#[test]
fn first_version_has_no_magic_and_is_never_recognised() {
    let current = BlobDescriptor {
        uri: "file:/a".to_owned(),
        offset: 1,
        length: 2,
    };
    let mut old = vec![1];
    old.extend_from_slice(&current.encode().unwrap()[9..]);
    assert!(!BlobDescriptor::is_descriptor(&old));
    assert_eq!(BlobValue::of(&old).unwrap(), BlobValue::Data(&old));
    assert_eq!(BlobDescriptor::decode(&old).unwrap(), current);
}

#[test]
fn damaged_references() {
    let descriptor = BlobDescriptor {
        uri: "é".to_owned(),
        offset: 0,
        length: 1,
    };
    let view = BlobView {
        table: "a.b".to_owned(),
        field_id: 0,
        row_id: 0,
    };
    let whole = descriptor.encode().unwrap();
    for end in 0..whole.len() {
        let error = BlobDescriptor::decode(&whole[..end]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    let other = view.encode().unwrap();
    for end in 0..other.len() {
        assert!(BlobView::decode(&other[..end]).is_err());
    }
    for (at, value, kind) in [
        (0, 3, ErrorKind::Unsupported),
        (1, 0, ErrorKind::Corrupt),
        (13, 0xff, ErrorKind::Corrupt),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        assert_eq!(BlobDescriptor::decode(&bytes).unwrap_err().kind(), kind);
    }
    let mut huge = whole.clone();
    huge[9..13].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(BlobDescriptor::decode(&huge).is_err());
    huge[9..13].copy_from_slice(&(-1i32).to_le_bytes());
    assert!(BlobDescriptor::decode(&huge).is_err());
    assert_eq!(
        BlobView::decode(&[2; 40]).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    for table in ["t", "unknown.t", ".t", "d."] {
        let view = BlobView {
            table: table.to_owned(),
            ..view.clone()
        };
        assert_eq!(view.encode().unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    for data in [&b""[..], b"x", &[2, 0x43, 0x53, 0x45]] {
        assert_eq!(BlobValue::of(data).unwrap(), BlobValue::Data(data));
    }
}
