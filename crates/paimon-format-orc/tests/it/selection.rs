// SPDX-License-Identifier: Apache-2.0

//! Selected rows of every type: those of a full read, and no others.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use paimon_format::testkit::{ReadRequest, Sampler, all_type_fields, read_file, sample_batch, write_file};
use paimon_storage::Storage;
use paimon_types::DataField;
use roaring::RoaringBitmap;

use crate::support::{assert_same, files, format, joined, schema, testdata};

fn selections(rows: u32, s: &mut Sampler) -> Vec<RoaringBitmap> {
    let mut random = |one_of: u64| {
        (0..rows)
            .filter(|_| s.below(one_of) == 0)
            .collect::<RoaringBitmap>()
    };
    let mut all: Vec<RoaringBitmap> = [1, 2, 10, 100, 700].into_iter().map(&mut random).collect();
    all.push((0..rows).step_by(7).collect());
    all.push([0, 1, rows.saturating_sub(1)].into_iter().collect());
    let mut runs = RoaringBitmap::new();
    for start in (0..rows).step_by(331) {
        runs.insert_range(start..(start + 40).min(rows));
    }
    all.push(runs);
    all
}

async fn check(
    path: &str,
    options: &[(&str, &str)],
    fields: &[DataField],
    what: &str,
    s: &mut Sampler,
) -> bool {
    let storage = Storage::default();
    let format = format(options);
    let mut request = ReadRequest {
        fields: Some(fields.to_vec()),
        ..ReadRequest::default()
    };
    let Ok((all, _)) = read_file(format.as_ref(), &storage, path, &request).await else {
        return false;
    };
    let all = joined(fields, &all);
    let rows = all.num_rows() as u32;
    for (number, selection) in selections(rows, s).into_iter().enumerate() {
        let mask: BooleanArray = (0..rows).map(|row| Some(selection.contains(row))).collect();
        let expected: RecordBatch = filter_record_batch(&all, &mask).unwrap();
        request.batch_size = [1000, 64, 8192][number % 3];
        request.selection = Some(selection);
        let (found, _) = read_file(format.as_ref(), &storage, path, &request)
            .await
            .unwrap();
        assert_same(
            &joined(fields, &found),
            &expected,
            &format!("{what}, selection {number}"),
        );
    }
    true
}

#[tokio::test]
async fn of_our_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.orc");
    let path = path.to_str().unwrap();
    let orc = format(&[]);
    let mut fields = all_type_fields();
    fields.retain(|field| orc.create_writer_builder(std::slice::from_ref(field), 1).is_ok());
    let batches: Vec<_> = (0..3)
        .map(|seed| sample_batch(&fields, seed, 2000).unwrap())
        .collect();
    let mut s = Sampler::new(5);
    for (compression, options) in [
        ("zstd", &[("orc.row.index.stride", "1000")][..]),
        ("none", &[("orc.stripe.size", "100000")][..]),
        (
            "snappy",
            &[
                ("orc.dictionary.key.threshold", "1"),
                ("orc.compress.size", "1024"),
            ][..],
        ),
        ("lz4", &[("orc.row.index.stride", "0")][..]),
    ] {
        let written = format(options);
        write_file(
            written.as_ref(),
            &Storage::default(),
            path,
            &fields,
            &batches,
            compression,
        )
        .await
        .unwrap();
        assert!(check(path, &[], &fields, &format!("{compression} {options:?}"), &mut s).await);
    }
}

#[tokio::test]
async fn of_java_files() {
    let mut s = Sampler::new(6);
    let mut tables = 0;
    for entry in std::fs::read_dir(testdata("formats")).unwrap() {
        let table = entry.unwrap().path();
        let orc = files(&table.join("table"), "orc");
        let Some(file) = orc.iter().find(|path| !path.contains("/manifest/")) else {
            continue;
        };
        let (fields, options) = schema(&table);
        let options: Vec<(&str, &str)> = options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        // Some cannot be read with these types, see `java`.
        let read = check(file, &options, &fields, &table.display().to_string(), &mut s).await;
        tables += usize::from(read);
    }
    assert!(tables > 20, "{tables}");
}
