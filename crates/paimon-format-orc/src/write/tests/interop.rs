// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use paimon_format::testkit::{all_type_fields, sample_batch};
use paimon_format::{FormatWriter, WriterBuilder};
use paimon_storage::Storage;
use paimon_types::{DataField, DataType, TypeKind};

use super::dump::dump;
use crate::write::OrcWriterBuilder;

pub(super) fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect()
}

/// Every type that ORC has.
pub(super) fn fields() -> Vec<DataField> {
    all_type_fields()
        .into_iter()
        .filter(|field| !matches!(field.data_type.kind, TypeKind::Variant | TypeKind::Vector(..)))
        .collect()
}

pub(super) async fn write(
    storage: &Storage,
    path: &str,
    fields: &[DataField],
    batches: &[RecordBatch],
    pairs: &[(&str, &str)],
    compression: &str,
) -> Box<dyn FormatWriter> {
    let builder = OrcWriterBuilder::new(fields, &options(pairs), 1024).unwrap();
    let out = storage.open_output(path).await.unwrap();
    let mut writer = builder.build(out, compression).unwrap();
    for batch in batches {
        writer.add_batch(batch).await.unwrap();
    }
    writer.finish().await.unwrap();
    writer
}

/// Writes files and what is in them into the directory `ORC_FILES`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "makes files for other readers"]
async fn files_for_other_readers() {
    let dir = std::env::var("ORC_FILES").unwrap();
    let dir = Path::new(&dir);
    let storage = Storage::default();
    let fields = fields();
    let store = async |name: &str,
                       fields: &[DataField],
                       batches: &[RecordBatch],
                       pairs: &[(&str, &str)],
                       codec: &str| {
        let path = dir.join(format!("{name}.orc"));
        let mut out = write(&storage, path.to_str().unwrap(), fields, batches, pairs, codec)
            .await
            .into_output();
        out.close().await.unwrap();
        let text: String = batches.iter().map(dump).collect();
        std::fs::write(dir.join(format!("{name}.txt")), text).unwrap();
        let types: Vec<_> = fields.iter().map(DataField::to_json).collect();
        std::fs::write(
            dir.join(format!("{name}.json")),
            serde_json::to_string(&types).unwrap(),
        )
        .unwrap();
    };
    let bloom: String = fields
        .iter()
        .map(|field| field.name.clone())
        .collect::<Vec<_>>()
        .join(",");
    for (seed, codec) in (1..).zip(["none", "zlib", "snappy", "lz4", "zstd"]) {
        let batches: Vec<RecordBatch> = (0..6)
            .map(|part| sample_batch(&fields, 1777, seed * 100 + part).unwrap())
            .collect();
        let small = [
            ("orc.row.index.stride", "1000"),
            ("orc.compress.size", "700"),
            ("orc.bloom.filter.columns", bloom.as_str()),
        ];
        store(&format!("all-{codec}"), &fields, &batches, &small, codec).await;
        let stripes = [
            ("orc.row.index.stride", "1000"),
            ("orc.stripe.row.count", "2300"),
            ("orc.dictionary.key.threshold", "0"),
            ("orc.encoding.strategy", "COMPRESSION"),
        ];
        store(&format!("stripes-{codec}"), &fields, &batches, &stripes, codec).await;
        store(&format!("plain-{codec}"), &fields, &batches[..1], &[], codec).await;
    }
    let empty = sample_batch(&fields, 0, 1).unwrap();
    store("empty", &fields, &[empty], &[], "zstd").await;
    store("none", &fields, &[], &[], "zlib").await;
    // Columns whose values come in all shapes of runs, for filters.
    let fields = shapes_fields();
    for codec in ["none", "zlib", "snappy", "lz4", "zstd"] {
        let batches: Vec<RecordBatch> = (0..10).map(|part| shapes(&fields, part * 5000, 5000)).collect();
        let pairs = [
            ("orc.row.index.stride", "1000"),
            ("orc.compress.size", "5000"),
            ("orc.bloom.filter.columns", "id,word,text,price,at,day,tiny,real"),
        ];
        store(&format!("shapes-{codec}"), &fields, &batches, &pairs, codec).await;
    }
}

/// Columns whose values come in all shapes of runs.
pub(super) fn shapes_fields() -> Vec<DataField> {
    [
        ("id", TypeKind::BigInt),
        ("run", TypeKind::Int),
        ("word", TypeKind::VarChar(paimon_types::MAX_LENGTH)),
        ("text", TypeKind::VarChar(paimon_types::MAX_LENGTH)),
        (
            "price",
            TypeKind::Decimal {
                precision: 20,
                scale: 3,
            },
        ),
        ("at", TypeKind::Timestamp(6)),
        ("day", TypeKind::Date),
        ("flag", TypeKind::Boolean),
        ("tiny", TypeKind::TinyInt),
        ("real", TypeKind::Double),
        ("list", TypeKind::Array(Box::new(DataType::string()))),
    ]
    .into_iter()
    .zip(0..)
    .map(|((name, kind), id)| DataField::new(id, name, DataType::new(kind)))
    .collect()
}

/// Rows from `start` on: sorted, repeated, sparse and random columns.
pub(super) fn shapes(fields: &[DataField], start: i64, rows: i64) -> RecordBatch {
    use arrow_array::*;
    use std::sync::Arc;
    let random = |i: i64, salt: i64| {
        let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (salt as u64);
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ (x >> 32)) as i64
    };
    let range = || start..start + rows;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(range().map(|i| i * 3 + i % 2))),
        Arc::new(
            range()
                .map(|i| ((i / 700) % 3 != 1).then_some((i / 37) as i32))
                .collect::<Int32Array>(),
        ),
        Arc::new(
            range()
                .map(|i| (i % 5 != 0).then(|| format!("w{}", random(i, 1).rem_euclid(50))))
                .collect::<StringArray>(),
        ),
        Arc::new(
            range()
                .map(|i| (i % 7 != 0).then(|| format!("t{:x}-{i}", random(i, 2))))
                .collect::<StringArray>(),
        ),
        Arc::new(
            range()
                .map(|i| (i % 11 != 0).then_some(i128::from(random(i, 3))))
                .collect::<Decimal128Array>()
                .with_precision_and_scale(20, 3)
                .unwrap(),
        ),
        Arc::new(
            range()
                .map(|i| (i % 13 != 0).then_some(i * 86_400_000_007 - 1_000_000_000_000_000))
                .collect::<TimestampMicrosecondArray>(),
        ),
        Arc::new(
            range()
                .map(|i| Some((i / 10) as i32 - 2000))
                .collect::<Date32Array>(),
        ),
        Arc::new(
            range()
                .map(|i| (random(i, 4) % 3 != 0).then_some(random(i, 5) % 2 == 0))
                .collect::<BooleanArray>(),
        ),
        Arc::new(
            range()
                .map(|i| Some((i / 400 % 100) as i8))
                .collect::<Int8Array>(),
        ),
        Arc::new(
            range()
                .map(|i| (i % 3 != 0).then_some(i as f64 / 8.0))
                .collect::<Float64Array>(),
        ),
        {
            let mut builder = builder::ListBuilder::new(builder::StringBuilder::new());
            for i in range() {
                for item in 0..i % 4 {
                    builder
                        .values()
                        .append_option((item != 2).then(|| format!("e{}", i + item)));
                }
                builder.append(i % 9 != 0);
            }
            Arc::new(builder.finish())
        },
    ];
    let schema = Arc::new(paimon_types::to_arrow_schema(fields));
    let columns = columns
        .into_iter()
        .zip(schema.fields())
        .map(|(column, field)| match (column.data_type(), field.data_type()) {
            (a, b) if a == b => column,
            _ => {
                let data = column
                    .to_data()
                    .into_builder()
                    .data_type(field.data_type().clone());
                make_array(data.build().unwrap())
            }
        })
        .collect();
    RecordBatch::try_new(schema, columns).unwrap()
}
