// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StructArray};
use paimon_format::FormatRegistry;
use paimon_format_orc::OrcFormatFactory;
use paimon_storage::{Storage, UuidSource};
use paimon_types::{DataType, ErrorKind, TypeKind, to_arrow_schema};

use super::*;
use crate::manifest::avro::{Presence, Wanted};
use crate::manifest::codec::{STATS_FIELDS, data_file, index_manifest, manifest, manifest_list};
use crate::manifest::tests::{sample_entries, sample_index, sample_metas, simple_file};
use crate::manifest::{EntryHead, FileKind, KeepAll, ManifestDecoder};

pub(crate) fn registry() -> Arc<FormatRegistry> {
    Arc::new(FormatRegistry::new().with(Arc::new(OrcFormatFactory::new())))
}

fn decoder() -> ManifestDecoder {
    ManifestDecoder::new(registry())
}

fn orc() -> Arc<dyn FileFormat> {
    registry().get("orc", &BTreeMap::new()).unwrap()
}

/// What a writer leaves in a file.
struct Scratch(Storage);

impl Scratch {
    fn new() -> Self {
        Scratch(Storage::memory())
    }

    async fn out(&self) -> Box<dyn paimon_storage::OutputStream> {
        self.0.open_output("memory:///file").await.unwrap()
    }

    async fn bytes(&self) -> Bytes {
        self.0.read("memory:///file").await.unwrap()
    }

    async fn manifest(&self, entries: &[ManifestEntry], compression: &str) -> Bytes {
        let mut writer = ManifestFileWriter::create(orc().as_ref(), self.out().await, compression).unwrap();
        for entry in entries {
            writer.append(entry).await.unwrap();
        }
        let size = writer.finish().await.unwrap();
        let bytes = self.bytes().await;
        assert_eq!(size, bytes.len() as u64);
        bytes
    }

    async fn list(&self, metas: &[ManifestFileMeta]) -> Bytes {
        write_manifest_list(orc().as_ref(), self.out().await, "zstd", metas)
            .await
            .unwrap();
        self.bytes().await
    }

    async fn index(&self, entries: &[IndexManifestEntry]) -> Bytes {
        write_index_manifest(orc().as_ref(), self.out().await, "zstd", entries)
            .await
            .unwrap();
        self.bytes().await
    }

    /// A file of these columns, which may be other ones than a manifest has.
    async fn columns(&self, fields: &[DataField], columns: Vec<ArrayRef>) -> Bytes {
        let batch = RecordBatch::try_new(Arc::new(to_arrow_schema(fields)), columns).unwrap();
        let builder = orc().create_writer_builder(fields, 100).unwrap();
        let mut writer = builder.build(self.out().await, "none").unwrap();
        writer.add_batch(&batch).await.unwrap();
        writer.finish().await.unwrap();
        let mut out = writer.into_output();
        out.close().await.unwrap();
        self.bytes().await
    }
}

/// What comes back from a manifest in ORC.
pub(crate) async fn through_manifest(entries: &[ManifestEntry]) -> Vec<ManifestEntry> {
    let bytes = Scratch::new().manifest(entries, "zstd").await;
    decoder().manifest("m", bytes, KeepAll).await.unwrap()
}

/// What comes back from a manifest list in ORC.
pub(crate) async fn through_list(metas: &[ManifestFileMeta]) -> Vec<ManifestFileMeta> {
    let bytes = Scratch::new().list(metas).await;
    decoder().manifest_list("l", bytes).await.unwrap()
}

/// What comes back from an index manifest in ORC.
pub(crate) async fn through_index(entries: &[IndexManifestEntry]) -> Vec<IndexManifestEntry> {
    let bytes = Scratch::new().index(entries).await;
    decoder().index_manifest("i", bytes).await.unwrap()
}

#[tokio::test]
async fn everything_round_trips() {
    let scratch = Scratch::new();
    for compression in ["zstd", "lz4", "snappy", "zlib", "none"] {
        let entries = sample_entries();
        let bytes = scratch.manifest(&entries, compression).await;
        assert!(bytes.starts_with(b"ORC"));
        assert_eq!(decoder().manifest("m", bytes, KeepAll).await.unwrap(), entries);
    }
    for metas in [sample_metas(), Vec::new()] {
        let bytes = scratch.list(&metas).await;
        assert_eq!(decoder().manifest_list("l", bytes).await.unwrap(), metas);
    }
    let index = sample_index();
    let bytes = scratch.index(&index).await;
    assert_eq!(decoder().index_manifest("i", bytes).await.unwrap(), index);
    assert!(scratch.manifest(&[], "zstd").await.starts_with(b"ORC"));
}

/// Selects buckets of two kinds and remembers what it was asked.
#[derive(Clone, Debug)]
struct Buckets {
    wanted: fn(i32) -> bool,
    asked: Arc<Mutex<(u32, Vec<i32>)>>,
}

impl EntrySelector for Buckets {
    fn select(&mut self, head: &EntryHead<'_>) -> Result<bool> {
        self.asked.lock().unwrap().0 += 1;
        Ok((self.wanted)(head.bucket))
    }

    fn select_level(&mut self, head: &EntryHead<'_>, level: i32) -> Result<bool> {
        self.asked.lock().unwrap().1.push(head.bucket);
        Ok(level == 0)
    }
}

/// Partition and bucket are asked once an entry, the level only for entries that passed; several batches stay in order.
#[tokio::test]
async fn file_records_are_read_for_wanted_entries_only() {
    let entries: Vec<ManifestEntry> = (0..3000)
        .map(|i| {
            let mut file = simple_file(&format!("file-{i}"));
            file.level = i32::from(i % 10 == 0);
            let partition = sample_entries()[usize::from(i % 2 == 0)].partition.clone();
            let entry = if i % 3 == 0 {
                ManifestEntry::delete
            } else {
                ManifestEntry::add
            };
            entry(partition, i % 7, 7, file)
        })
        .collect();
    let bytes = Scratch::new().manifest(&entries, "zstd").await;
    let cases: [fn(i32) -> bool; 4] = [|_| true, |b| b == 3, |b| b == 2 || b == 6, |b| b == 100];
    for wanted in cases {
        let selector = Buckets {
            wanted,
            asked: Arc::default(),
        };
        let found = decoder()
            .manifest("m", bytes.clone(), selector.clone())
            .await
            .unwrap();
        let passed: Vec<_> = entries.iter().filter(|e| wanted(e.bucket)).collect();
        let expected: Vec<_> = passed
            .iter()
            .filter(|e| e.file.level == 0)
            .map(|e| (*e).clone())
            .collect();
        assert_eq!(found, expected);
        let asked = selector.asked.lock().unwrap();
        assert_eq!(asked.0, 3000);
        assert_eq!(asked.1, passed.iter().map(|e| e.bucket).collect::<Vec<_>>());
    }
}

/// Without what they do not know, older writers wrote fewer columns; others wrote them in another order, with other ids.
#[tokio::test]
async fn columns_are_found_by_name_at_every_depth() {
    let expected = sample_entries();
    let scratch = Scratch::new();
    let full = scratch.manifest(&expected, "zstd").await;
    // The batch as it is stored, to take columns from.
    let mut reader = open(orc().as_ref(), "m", full).await.unwrap();
    let stored = reader.file_schema().unwrap();
    let mut fields = schema::stored_columns(&schema::manifest(), stored.fields()).unwrap();
    reader.set_read_schema(&fields, None, None).unwrap();
    let batch = reader.next_batch().await.unwrap().unwrap();

    // Reversed on top and inside of _FILE, where the optional fields are gone and one is not known here; new ids.
    let file = batch.column_by_name("_FILE").unwrap();
    let file = file.as_any().downcast_ref::<StructArray>().unwrap();
    let TypeKind::Row(inner) = fields.pop().unwrap().data_type.kind else {
        panic!()
    };
    let is_required = |field: &DataField| {
        let field = data_file::FIELDS.iter().find(|f| f.0 == field.name).unwrap();
        field.3 == Presence::Required
    };
    let unknown = || Arc::new(Int32Array::from_iter_values(0..batch.num_rows() as i32)) as ArrayRef;
    let int = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    let mut inner: Vec<DataField> = inner.into_iter().filter(is_required).rev().collect();
    let mut below: Vec<ArrayRef> = inner
        .iter()
        .map(|field| file.column_by_name(&field.name).unwrap().clone())
        .collect();
    inner.iter_mut().for_each(|field| field.id += 30);
    inner.insert(3, int(7, "_NEW"));
    below.insert(3, unknown());
    let record = StructArray::new(to_arrow_schema(&inner).fields, below, None);
    fields.reverse();
    fields.iter_mut().for_each(|field| field.id = 20 - field.id);
    fields.insert(0, int(0, "_OTHER"));
    fields.insert(2, DataField::new(2, "_FILE", DataType::new(TypeKind::Row(inner))));
    let mut columns: Vec<ArrayRef> = batch.columns()[..5].iter().rev().cloned().collect();
    columns.insert(0, unknown());
    columns.insert(2, Arc::new(record));
    let bytes = scratch.columns(&fields, columns).await;

    let found = decoder().manifest("m", bytes, KeepAll).await.unwrap();
    let bare: Vec<ManifestEntry> = expected
        .iter()
        .map(|entry| {
            let mut entry = entry.clone();
            let file = &mut entry.file;
            file.extra_files = Vec::new();
            (file.creation_time, file.delete_row_count, file.first_row_id) = (None, None, None);
            (file.embedded_index, file.file_source, file.external_path) = (None, None, None);
            (file.value_stats_cols, file.write_cols, file.write_cols_sequences) = (None, None, None);
            entry
        })
        .collect();
    assert_eq!(found, bare);
}

/// Required columns that are missing, versions from the future and nulls are errors, not defaults.
#[tokio::test]
async fn what_is_missing_is_named() {
    let scratch = Scratch::new();
    let int = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    let column = |values: &[Option<i32>]| Arc::new(Int32Array::from(values.to_vec())) as ArrayRef;
    let only = scratch
        .columns(&[int(0, "_VERSION")], vec![column(&[Some(2)])])
        .await;
    let err = decoder()
        .manifest("the/file", only.clone(), KeepAll)
        .await
        .unwrap_err();
    assert!(
        err.kind() == ErrorKind::Corrupt && err.message().contains("_KIND"),
        "{err}"
    );
    assert!(err.to_string().contains("the/file"), "{err}");
    let err = decoder().manifest_list("the/file", only).await.unwrap_err();
    assert!(err.message().contains("_FILE_NAME"), "{err}");
    let other = scratch.columns(&[int(0, "a")], vec![column(&[Some(2)])]).await;
    let err = decoder().index_manifest("the/file", other).await.unwrap_err();
    assert!(
        err.kind() == ErrorKind::Corrupt && err.message().contains("none of the columns"),
        "{err}"
    );
}

/// A build without the format says which one it is and how to get it.
#[tokio::test]
async fn a_missing_format_is_named() {
    let bytes = Scratch::new().list(&sample_metas()).await;
    let err = ManifestDecoder::default()
        .manifest_list("the/list", bytes)
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    let text = err.to_string();
    assert!(
        text.contains("format orc") && text.contains("cargo feature orc") && text.contains("the/list"),
        "{text}"
    );
    let err = decoder()
        .manifest_list("l", Bytes::from_static(b"PAR1"))
        .await
        .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt, "{err}");
}

/// Cut at every length: an error that names the file. A flipped byte: an error that names the file, or entries that a check
/// sum would have caught; no panic.
#[tokio::test]
async fn damage_is_an_error_that_names_the_file() {
    let scratch = Scratch::new();
    let manifest = scratch.manifest(&sample_entries(), "zstd").await;
    let list = scratch.list(&sample_metas()).await;
    let index = scratch.index(&sample_index()).await;
    let decoder = decoder();
    let decode = async |kind: usize, bytes: Bytes| match kind {
        0 => decoder
            .manifest("the/file", bytes, KeepAll)
            .await
            .map(|e| e.len()),
        1 => decoder.manifest_list("the/file", bytes).await.map(|e| e.len()),
        _ => decoder.index_manifest("the/file", bytes).await.map(|e| e.len()),
    };
    for (kind, bytes) in [manifest, list, index].into_iter().enumerate() {
        for length in (0..bytes.len()).step_by(7).chain(bytes.len() - 30..bytes.len()) {
            let err = decode(kind, bytes.slice(..length)).await.unwrap_err();
            assert!(err.to_string().contains("the/file"), "{length}: {err}");
        }
        let mut caught = 0;
        for at in (0..bytes.len()).step_by(5) {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 0x55;
            if let Err(err) = decode(kind, damaged.into()).await {
                assert!(err.to_string().contains("the/file"), "{at}: {err}");
                assert_ne!(err.kind(), ErrorKind::InvalidInput, "{at}: {err}");
                caught += 1;
            }
        }
        assert!(
            caught * 2 > bytes.len() / 5,
            "only {caught} of {}",
            bytes.len() / 5
        );
    }
}

/// The same column twice would give one of them by chance.
#[test]
fn repeated_columns_are_refused() {
    let field = |id, name: &str| DataField::new(id, name, DataType::new(TypeKind::Int));
    let wanted = [field(5, "_VERSION")];
    for stored in [[field(1, "a"), field(1, "b")], [field(1, "a"), field(2, "a")]] {
        let err = schema::stored_columns(&wanted, &to_arrow_schema(&stored).fields).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Corrupt);
    }
    let stored = to_arrow_schema(&[field(7, "_VERSION"), field(5, "_KIND")]).fields;
    let found = schema::stored_columns(&wanted, &stored).unwrap();
    assert_eq!(
        (found.len(), found[0].id, found[0].data_type.kind.clone()),
        (1, 7, TypeKind::BigInt)
    );
}

/// The names that are read are the names that are written.
#[test]
fn fields_have_the_names_of_the_schema() {
    fn names<T>(fields: &[Wanted<T>]) -> Vec<&'static str> {
        fields.iter().map(|f| f.0).collect()
    }
    fn written(fields: &[DataField]) -> Vec<&str> {
        fields.iter().map(|f| f.name.as_str()).collect()
    }
    fn below<'a>(fields: &'a [DataField], name: &str) -> &'a [DataField] {
        let mut kind = &fields.iter().find(|f| f.name == name).unwrap().data_type.kind;
        if let TypeKind::Array(item) = kind {
            kind = &item.kind;
        }
        let TypeKind::Row(fields) = kind else {
            panic!("{name}")
        };
        fields
    }
    let (list, entry, index) = (
        schema::manifest_list(),
        schema::manifest(),
        schema::index_manifest(),
    );
    let file = below(&entry, "_FILE");
    assert_eq!(written(&list), names(&manifest_list::FIELDS));
    assert_eq!(written(&entry), names(&manifest::FIELDS));
    assert_eq!(written(file), names(&data_file::FIELDS));
    assert_eq!(written(&index), names(&index_manifest::FIELDS));
    assert_eq!(
        written(below(&index, "_DELETIONS_VECTORS_RANGES")),
        names(&index_manifest::RANGE_FIELDS)
    );
    assert_eq!(
        written(below(&index, "_GLOBAL_INDEX")),
        names(&index_manifest::GLOBAL_FIELDS)
    );
    for stats in [
        below(&list, "_PARTITION_STATS"),
        below(file, "_KEY_STATS"),
        below(file, "_VALUE_STATS"),
    ] {
        assert_eq!(written(stats), names(&STATS_FIELDS));
    }
}

/// A store with the option writes ORC of every kind, rolls, and reads both formats.
#[tokio::test]
async fn stores_write_the_format_of_the_option() {
    let options = |pairs: &[(&str, &str)]| {
        let map: BTreeMap<String, String> = pairs
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        crate::manifest::ManifestOptions::from(&paimon_types::CoreOptions::from_map(&map).unwrap())
    };
    let storage = Storage::memory();
    let store = |pairs: &[(&str, &str)], formats| {
        let types = vec![DataType::new(TypeKind::Int)];
        let ids = Arc::new(UuidSource);
        crate::manifest::ManifestStore::with_formats(
            storage.clone(),
            "memory:///t",
            options(pairs),
            types,
            ids,
            formats,
        )
    };
    let pairs = [
        ("manifest.format", "ORC"),
        ("manifest.target-file-size", "1 kb"),
        ("manifest.compression", "null"),
        ("avro.codec", "snappy"),
        ("orc.bloom.filter.columns", "v"),
    ];
    let orc = store(&pairs, registry());
    let entries: Vec<ManifestEntry> = (0..2500)
        .map(|i| ManifestEntry::add(sample_entries()[0].partition.clone(), i, 9, simple_file("f")))
        .collect();
    let metas = orc.write_manifests(&entries).await.unwrap();
    assert_eq!(
        metas.iter().map(|m| m.num_added_files).collect::<Vec<_>>(),
        [1000, 1000, 500]
    );
    let (list, size) = orc.write_list(&metas).await.unwrap();
    let index = orc.write_index_manifest(&sample_index()).await.unwrap();
    let avro = store(&[], registry());
    for name in metas.iter().map(|m| &m.file_name).chain([&list, &index]) {
        let bytes = storage.read(&orc.path(name)).await.unwrap();
        assert!(bytes.starts_with(b"ORC"), "{name}");
    }
    assert_eq!(storage.read(&orc.path(&list)).await.unwrap().len() as i64, size);
    for store in [&orc, &avro] {
        assert_eq!(store.read_list(&list).await.unwrap(), metas);
        let read = store.read_manifests(&metas).await.unwrap();
        assert!(read.into_iter().flatten().eq(entries.iter().cloned()));
        assert_eq!(store.read_index_manifest(&index).await.unwrap(), sample_index());
    }
    let (other, _) = avro.write_list(&sample_metas()).await.unwrap();
    assert_eq!(orc.read_list(&other).await.unwrap(), sample_metas());

    let wrong = store(
        &[("manifest.format", "orc"), ("manifest.compression", "brotli")],
        registry(),
    );
    let error = wrong.write_list(&metas).await.unwrap_err().to_string();
    assert!(
        error.contains("manifest.compression") && !error.contains("file.compression"),
        "{error}"
    );

    let without = store(&pairs, Arc::default());
    for err in [
        without
            .write_manifests(&entries[..1])
            .await
            .map(|_| ())
            .unwrap_err(),
        without.write_list(&metas).await.map(|_| ()).unwrap_err(),
        without.read_list(&list).await.map(|_| ()).unwrap_err(),
    ] {
        assert!(
            err.kind() == ErrorKind::Unsupported && err.message().contains("feature orc"),
            "{err}"
        );
    }
    assert!(entries.iter().all(|e| e.kind == FileKind::Add));
}
