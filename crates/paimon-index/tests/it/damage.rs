// SPDX-License-Identifier: Apache-2.0

//! Damaged bytes and wrong calls are clear errors.

use paimon_index::{
    DeletionVector, DeletionVectorKind, decode_deletion_vector, decode_hash_index, record_span,
    walk_deletion_vectors, write_rolling,
};
use paimon_types::ErrorKind;

use crate::properties::crc32;
use crate::{KINDS, unhex, vector};

/// A vector with this bitmap and a true checksum.
fn framed(magic: &str, bitmap: &str) -> Vec<u8> {
    let body = unhex(&format!("{magic}{bitmap}"));
    let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
    bytes.extend(&body);
    bytes.extend(crc32(&body).to_be_bytes());
    bytes
}

fn error(bytes: &[u8]) -> String {
    let error = decode_deletion_vector(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    error.to_string()
}

#[test]
fn every_cut_and_every_flipped_bit_is_an_error() {
    for kind in KINDS {
        let rows = (0..3000).map(|i| i * 3).chain(70_000..75_000).chain([200_000]);
        let bytes = vector(kind, rows).encode().unwrap();
        for length in 0..bytes.len() {
            assert!(
                decode_deletion_vector(&bytes[..length]).is_err(),
                "{kind} {length}"
            );
        }
        for at in (0..bytes.len()).step_by(7).chain(0..40) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(decode_deletion_vector(&flipped).is_err(), "{kind} {at}");
        }
    }
}

#[test]
fn errors_say_what_was_found() {
    assert!(error(&[0, 0, 0]).contains("within its length"));
    assert!(error(&unhex("00000002aabb")).contains("within its magic number"));
    assert!(error(&unhex("7fffffff5e43f2d0")).contains("2147483647 bytes, 4 are there"));
    let other = error(&unhex("00000004cafebabe00000000"));
    assert!(
        other.contains("cafebabe") && other.contains("5e43f2d0"),
        "{other}"
    );
    assert!(error(&unhex("0000000c5e43f2d03a3000000000000000000000")).contains("checksum 00000000"));
    assert!(error(&framed("5e43f2d0", "99999999")).contains("cookie"));
    assert!(error(&framed("5e43f2d0", "3a300000ffffff7f")).contains("2147483647 containers"));
    assert!(error(&framed("5e43f2d0", "3a300000000001000000")).contains("524296 bytes"));
    assert!(error(&framed("5e43f2d0", "3a3000000000000000")).contains("1 bytes follow"));
    // A run container whose header has another number of rows.
    assert!(
        error(&framed(
            "5e43f2d0",
            "3b300000010000040001000100 0300".replace(' ', "").as_str()
        ))
        .contains("5")
    );
    // An array that is not ascending.
    assert!(
        error(&framed(
            "5e43f2d0",
            "3a3000000100000000000100100000000300 0200"
                .replace(' ', "")
                .as_str()
        ))
        .contains("damaged")
    );
    // Rows beyond 2^31 in a 32-bit vector.
    let high = "3a3000000100000000800000100000000000";
    assert!(error(&framed("5e43f2d0", high)).contains("2147483648"));
    // More bitmaps than bytes; keys that do not ascend or are too large.
    assert!(error(&framed("d1d33964", "ffffffffffffffff")).contains("18446744073709551615 bitmaps"));
    let empty = "3a30000000000000";
    let twice = format!("020000000000000001000000{empty}01000000{empty}");
    assert!(error(&framed("d1d33964", &twice)).contains("key 1, expected 2"));
    assert!(
        error(&framed("d1d33964", &format!("0100000000000000ffffff7f{empty}"))).contains("key 2147483647")
    );
    assert_eq!(
        decode_hash_index(&[1, 2, 3, 4, 5]).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

/// The bitmaps of a 64-bit vector may have gaps and may be empty; written again, there are none.
#[test]
fn gaps_are_read() {
    let one = "3a3000000100000000000000100000000100";
    let bytes = framed("d1d33964", &format!("020000000000000002000000{one}05000000{one}"));
    let (decoded, _) = decode_deletion_vector(&bytes).unwrap();
    let rows = [(2 << 32) + 1, (5 << 32) + 1];
    assert_eq!(decoded.iter().collect::<Vec<u64>>(), rows);
    let built = vector(DeletionVectorKind::Bitmap64, rows);
    assert_eq!(decoded.encode().unwrap(), built.encode().unwrap());
}

/// Twelve bytes are written for each 2^32 rows below the last bitmap, filled or not: few bytes must not become gigabytes.
#[test]
fn the_stored_form_is_bounded() {
    let wide = DeletionVectorKind::Bitmap64;
    let last = vector(wide, [(1 << 44) - 1]);
    assert_eq!(last.encode().unwrap().len(), 20 + 12 * 4095 + 22);
    let error = vector(wide, [1 << 44]).encode().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .message()
            .contains("rows from 17592186044416 on would have 4097 bitmaps"),
        "{error}"
    );
    // A bitmap without a row counts as well, and what reads it does not care.
    let empty = framed("d1d33964", "0100000000000000feffff7f3a30000000000000");
    let (decoded, _) = decode_deletion_vector(&empty).unwrap();
    assert!(decoded.is_empty());
    assert_eq!(decoded.encode().unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(write_rolling([((), &decoded)], 1 << 20).is_err());
}

#[test]
fn a_row_that_the_kind_cannot_hold() {
    let [small, large] = KINDS;
    let mut narrow = DeletionVector::new(small);
    assert!(narrow.delete(i32::MAX as u64).unwrap());
    assert!(!narrow.delete(i32::MAX as u64).unwrap());
    let error = narrow.delete(1 << 31).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(!narrow.is_deleted(1 << 31) && !narrow.is_deleted(1 << 40));

    let mut wide = DeletionVector::new(large);
    wide.delete(large.max_position()).unwrap();
    wide.delete(large.max_position() + 1).unwrap_err();
    assert_eq!(wide.max(), Some(large.max_position()));
    // Java would need 24 GB for it.
    let error = wide.encode().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .message()
            .contains("2147483647 bitmaps, expected at most 4096"),
        "{error}"
    );

    assert_eq!(
        narrow.merge(&DeletionVector::new(large)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let converted = narrow.to_kind(large).unwrap();
    assert_eq!(
        (converted.kind(), converted.max()),
        (large, Some(i32::MAX as u64))
    );
    assert_eq!(converted.to_kind(small).unwrap(), narrow);
    assert!(wide.to_kind(small).is_err());
}

#[test]
fn a_vector_of_another_file_is_refused() {
    for kind in KINDS {
        let dv = vector(kind, [3, 10]);
        assert_eq!(dv.kept_rows(10).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(dv.kept_rows(11).unwrap().len(), 9);
    }
    assert!(DeletionVector::new(KINDS[0]).kept_rows(0).unwrap().is_empty());
    assert_eq!(
        vector(KINDS[1], [1]).kept_rows(1 << 33).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn what_metadata_says_is_compared() {
    for kind in KINDS {
        let bytes = vector(kind, [1, 2, 9]).encode().unwrap();
        let length = kind.recorded_length(bytes.len() as u64);
        assert_eq!(length, bytes.len() as u64 - if kind == KINDS[0] { 8 } else { 0 });
        let read = |length, cardinality| DeletionVector::decode_recorded(&bytes, length, cardinality);
        assert_eq!(read(length, None).unwrap(), read(length, Some(3)).unwrap());
        assert!(
            read(length, Some(4))
                .unwrap_err()
                .to_string()
                .contains("metadata says 4")
        );
        assert!(
            read(length + 1, None)
                .unwrap_err()
                .to_string()
                .contains("metadata says")
        );
    }
    assert_eq!(record_span(1, 20, 30).unwrap(), 1..29);
    assert_eq!(record_span(1, 20, 21).unwrap(), 1..21);
    for (offset, length) in [(1, 21), (22, 0), (u64::MAX, 2)] {
        assert_eq!(
            record_span(offset, length, 21).unwrap_err().kind(),
            ErrorKind::Corrupt
        );
    }
}

#[test]
fn files_end_at_the_first_damage() {
    let vectors = [
        vector(KINDS[0], [1]),
        vector(KINDS[1], [2]),
        vector(KINDS[0], [3]),
    ];
    let files = write_rolling(vectors.iter().map(|v| ((), v)), 1 << 20).unwrap();
    let (mut bytes, places) = files.into_iter().next().unwrap();
    let second = places[1].1.offset as usize;
    bytes[second + 10] ^= 4;
    let walked: Vec<_> = walk_deletion_vectors(&bytes).unwrap().collect();
    assert_eq!(walked.len(), 2);
    assert!(walked[0].is_ok());
    let error = walked[1].as_ref().unwrap_err().to_string();
    assert!(error.contains(&format!("offset: {second}")), "{error}");

    assert_eq!(walk_deletion_vectors(&[1]).unwrap().count(), 0);
    assert_eq!(walk_deletion_vectors(&[]).unwrap_err().kind(), ErrorKind::Corrupt);
    let error = walk_deletion_vectors(&[2, 0]).unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("version 2"));
}
