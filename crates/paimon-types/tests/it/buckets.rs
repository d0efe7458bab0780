// SPDX-License-Identifier: Apache-2.0

use paimon_types::{
    BinaryRow, BucketFunction, DataType, Datum, ErrorKind, TypeKind, bigint_row_hash, bucket_from_hash,
    bytes_row_hash, dynamic_bucket_assigner, hive_hash_decimal, int_row_hash, is_assigned_bucket,
    murmur_bytes, null_row_hash,
};

use crate::vectors::{parse_row, to_hex, vectors};

#[test]
fn murmur_vectors() {
    for vector in vectors("wire-vectors.jsonl", "murmur_bytes_seed42", 5) {
        assert_eq!(to_hex(vector.input().as_bytes()), vector.text("hex"));
        assert_eq!(murmur_bytes(&vector.bytes()), vector.number("hash"));
    }
    for vector in vectors("wire-vectors.jsonl", "binary_string_hash", 1) {
        assert_eq!(murmur_bytes(&vector.bytes()), vector.number("hash"));
    }
}

#[test]
fn bucket_vectors() {
    let functions = [
        ("bucket_default", 9, "default"),
        ("bucket_mod", 7, "mod"),
        ("bucket_hive", 39, "hive"),
    ];
    for (kind, count, name) in functions {
        let function: BucketFunction = name.parse().unwrap();
        for vector in vectors("wire-vectors.jsonl", kind, count) {
            if vector.has("error") {
                assert_eq!(vector.input(), "(TIMESTAMP(3))");
                let types = [DataType::new(TypeKind::Timestamp(3))];
                let row = BinaryRow::encode(&types, &[None]).unwrap();
                assert_eq!(
                    function.bucket(&row, &types, 8).unwrap_err().kind(),
                    ErrorKind::Unsupported
                );
                continue;
            }
            let key = parse_row(vector.input());
            let row = BinaryRow::encode(&key.types, &key.values).unwrap();
            assert_eq!(to_hex(row.as_bytes()), vector.text("hex"), "{}", vector.input());
            let bucket = function
                .bucket(&row, &key.types, vector.number("numBuckets"))
                .unwrap();
            assert_eq!(bucket, vector.number("bucket"), "{kind} {}", vector.input());
        }
    }
    for vector in vectors("wire-vectors.jsonl", "default_bucket", 3) {
        let row = BinaryRow::new(1, vector.bytes()).unwrap();
        assert_eq!(row.hash_code(), vector.number("hash"));
        assert_eq!(
            bucket_from_hash(row.hash_code(), vector.number("numBuckets")),
            vector.number("bucket")
        );
    }
}

/// The keys 1 to 7 of the known traps.
#[test]
fn case_30_buckets_of_int_keys() {
    let buckets: Vec<i32> = (1..=7)
        .map(|key| bucket_from_hash(int_row_hash(key), 4))
        .collect();
    assert_eq!(buckets, [2, 0, 1, 2, 0, 0, 3]);
}

#[test]
fn single_column_hashes_agree_with_rows() {
    let hash = |kind: TypeKind, value: Option<Datum>| {
        BinaryRow::encode(&[DataType::new(kind)], &[value])
            .unwrap()
            .hash_code()
    };
    for value in [0, 1, -1, i32::MIN, i32::MAX, 123_456_789] {
        assert_eq!(int_row_hash(value), hash(TypeKind::Int, Some(Datum::Int(value))));
        let wide = i64::from(value) * 4_000_000_007;
        assert_eq!(
            bigint_row_hash(wide),
            hash(TypeKind::BigInt, Some(Datum::BigInt(wide)))
        );
    }
    for len in 0..40 {
        let bytes: Vec<u8> = (0..len).map(|i| 0xf0u8.wrapping_add(i * 3)).collect();
        assert_eq!(
            bytes_row_hash(&bytes),
            hash(TypeKind::VarBinary(99), Some(Datum::Bytes(bytes))),
            "{len} bytes"
        );
    }
    assert_eq!(null_row_hash(), hash(TypeKind::Int, None));
    assert_eq!(null_row_hash(), hash(DataType::string().kind, None));
}

#[test]
fn extreme_hashes_and_counts() {
    assert_eq!(bucket_from_hash(i32::MIN, 7), 2);
    assert_eq!(bucket_from_hash(i32::MIN, 1), 0);
    assert_eq!(bucket_from_hash(5, 0), 0);
    let row = BinaryRow::empty();
    assert_eq!(
        BucketFunction::Default.bucket(&row, &[], 0).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let types = [DataType::string()];
    let row = BinaryRow::encode(&types, &[None]).unwrap();
    assert_eq!(
        BucketFunction::Mod.bucket(&row, &types, 2).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert!("murmur".parse::<BucketFunction>().is_err());
    // 12340 at scale 3 and 1234 at scale 2 are one value.
    assert_eq!(hive_hash_decimal(12340, 3), hive_hash_decimal(1234, 2));
    assert_eq!(hive_hash_decimal(0, 7), 0);
}

#[test]
fn dynamic_bucket_vectors() {
    for vector in vectors("wire-vectors.jsonl", "dynamic_bucket_assigner", 1) {
        let numbers: Vec<i32> = vector
            .input()
            .split(", ")
            .map(|part| part.rsplit(' ').next().unwrap().parse().unwrap())
            .collect();
        let [partition, key, channels, assigners] = numbers[..] else {
            panic!("{}", vector.input())
        };
        assert_eq!(
            dynamic_bucket_assigner(partition, key, channels, assigners),
            vector.number("assigner")
        );
    }
    assert!(is_assigned_bucket(7, 3, 1));
    assert!(!is_assigned_bucket(8, 3, 1));
}
