// SPDX-License-Identifier: Apache-2.0

//! Random row sets, through bytes and back, and against a plain set.

use std::collections::BTreeSet;

use paimon_index::{
    DeletionVector, DeletionVectorFileWriter, DeletionVectorKind, decode_deletion_vector, decode_hash_index,
    encode_hash_index, record_span, walk_deletion_vectors, write_rolling,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{KINDS, vector};

/// Rows that make containers of every form: single ones, dense blocks, runs, several upper halves.
fn row_set(kind: DeletionVectorKind) -> impl Strategy<Value = BTreeSet<u64>> {
    let high = match kind {
        DeletionVectorKind::Bitmap32 => 0..1u64,
        DeletionVectorKind::Bitmap64 => 0..4u64,
    };
    let start = (high, 0..1u64 << 20).prop_map(|(high, low)| high << 32 | low);
    let piece = prop_oneof![
        start.clone().prop_map(|at| vec![at]),
        (start.clone(), 1..9000u64).prop_map(|(at, n)| (at..at + n).collect()),
        (start, 1..6000u64, 2..9u64).prop_map(|(at, n, step)| (0..n).map(|i| at + i * step).collect()),
    ];
    vec(piece, 0..8).prop_map(|pieces: Vec<Vec<u64>>| pieces.into_iter().flatten().collect())
}

fn any_rows() -> impl Strategy<Value = (DeletionVectorKind, BTreeSet<u64>)> {
    prop_oneof![Just(KINDS[0]), Just(KINDS[1])]
        .prop_flat_map(|kind| row_set(kind).prop_map(move |rows| (kind, rows)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_to_bytes_to_rows((kind, rows) in any_rows()) {
        let built = vector(kind, rows.iter().copied());
        prop_assert_eq!(built.cardinality(), rows.len() as u64);
        prop_assert_eq!(built.is_empty(), rows.is_empty());
        let mut bytes = built.encode().unwrap();
        let length = bytes.len();
        bytes.extend(b"what follows");
        let (decoded, used) = decode_deletion_vector(&bytes).unwrap();
        prop_assert_eq!(used, length);
        prop_assert_eq!(&decoded, &built);
        prop_assert!(decoded.iter().eq(rows.iter().copied()));
        prop_assert!(decoded.ranges().flatten().eq(rows.iter().copied()));
        prop_assert_eq!(decoded.max(), rows.last().copied());
        bytes.truncate(length);
        prop_assert_eq!(decoded.encode().unwrap(), bytes);
        for row in rows.iter().flat_map(|r| [r.saturating_sub(1), *r, r + 1]) {
            prop_assert_eq!(decoded.is_deleted(row), rows.contains(&row));
        }
    }

    #[test]
    fn kept_rows_are_the_others(rows in row_set(DeletionVectorKind::Bitmap32), more in 0..100_000u64) {
        for kind in KINDS {
            let count = rows.last().map_or(0, |r| r + 1) + more;
            let kept = vector(kind, rows.iter().copied()).kept_rows(count).unwrap();
            prop_assert_eq!(kept.len(), count - rows.len() as u64);
            prop_assert!(rows.iter().all(|row| !kept.contains(*row as u32)));
            prop_assert!(kept.max().is_none_or(|row| u64::from(row) < count));
        }
    }

    #[test]
    fn merging_is_union((kind, a) in any_rows(), b in row_set(DeletionVectorKind::Bitmap32)) {
        let mut merged = vector(kind, a.iter().copied());
        merged.merge(&vector(kind, b.iter().copied())).unwrap();
        prop_assert!(merged.iter().eq(a.union(&b).copied()));
        // The stored form depends on the rows only.
        let built = vector(kind, a.union(&b).copied());
        prop_assert_eq!(merged.encode().unwrap(), built.encode().unwrap());
    }

    #[test]
    fn files_of_both_kinds(sets in vec(any_rows(), 0..12), target in 0..40_000u64) {
        let all: Vec<DeletionVector> = sets.iter().map(|(kind, rows)| vector(*kind, rows.iter().copied())).collect();
        let files = write_rolling(all.iter().enumerate(), target).unwrap();
        let mut seen = 0;
        for (i, (bytes, places)) in files.iter().enumerate() {
            let walked: Vec<_> = walk_deletion_vectors(bytes).unwrap().collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(walked.len(), places.len());
            for ((index, place), stored) in places.iter().zip(&walked) {
                prop_assert_eq!(*index, seen);
                seen += 1;
                prop_assert_eq!(place, &stored.place);
                prop_assert_eq!(&stored.vector, &all[*index]);
                let (offset, length) = (place.offset as u64, place.length as u64);
                let span = record_span(offset, length, bytes.len() as u64).unwrap();
                let own = &bytes[span.start as usize..span.end as usize];
                let read = DeletionVector::decode_recorded(own, length, Some(place.cardinality)).unwrap();
                prop_assert_eq!(&read, &stored.vector);
            }
            let before_last = places.last().unwrap().1.offset as u64;
            prop_assert!(places.len() == 1 || before_last <= target);
            prop_assert!(i + 1 == files.len() || bytes.len() as u64 > target);
        }
        prop_assert_eq!(seen, all.len());
        let mut one = DeletionVectorFileWriter::new();
        for vector in &all {
            one.write(vector).unwrap();
        }
        prop_assert_eq!(walk_deletion_vectors(&one.finish()).unwrap().count(), all.len());
    }

    #[test]
    fn hash_indexes(hashes: Vec<i32>) {
        let bytes = encode_hash_index(&hashes);
        prop_assert_eq!(bytes.len(), 4 * hashes.len());
        prop_assert_eq!(decode_hash_index(&bytes).unwrap(), hashes);
    }

    #[test]
    fn bytes_from_anywhere_are_no_panic(mut bytes in vec(any::<u8>(), 0..200), kind in 0..3usize) {
        // Behind a true checksum the bitmap decoder sees all of it, too.
        if let Some(magic) = [[0x5e, 0x43, 0xf2, 0xd0], [0xd1, 0xd3, 0x39, 0x64]].get(kind) {
            bytes.splice(..0, *magic);
            let _ = paimon_index::decode_deletion_vector_body(&bytes);
            let checksum = crc32(&bytes).to_be_bytes();
            bytes.splice(..0, (bytes.len() as u32).to_be_bytes());
            bytes.extend(checksum);
        }
        let _ = decode_deletion_vector(&bytes);
        bytes.insert(0, 1);
        if let Ok(walk) = walk_deletion_vectors(&bytes) {
            walk.for_each(|_| ());
        }
        let _ = decode_hash_index(&bytes);
    }
}

/// Bit by bit, as the polynomial is defined.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}
