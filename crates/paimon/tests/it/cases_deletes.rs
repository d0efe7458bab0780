// SPDX-License-Identifier: Apache-2.0

//! Append tables with deletion vectors: Java's and our own.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use async_trait::async_trait;
use futures_util::TryStreamExt;
use paimon::data::default_registry;
use paimon::format::{
    Cache, FileBatchReader, FileFormat, FileFormatFactory, FormatRegistry, FormatStatsExtractor, MemoryPool,
    Metrics, ReadHints, ReaderBuilder, WriterBuilder,
};
use paimon::protocol::{DeletionFile, DeletionVectorMeta, IndexFileMeta};
use paimon::storage::fault::{FaultStore, Operation};
use paimon::types::Datum;
use paimon::{CommitMessage, DataField, ErrorKind, Partition, Predicate, Result, Storage, Table};
use paimon_index::{DeletionVector, DeletionVectorFileWriter, DeletionVectorKind};
use paimon_testkit::{copy_dir, fixture, fixtures, read_lines};
use roaring::RoaringBitmap;

use crate::support::{append, batch, create_in, ints, rows, strings};

const ENABLED: &[(&str, &str)] = &[("deletion-vectors.enabled", "true")];

/// A format that treats a selection as a hint: it returns all rows.
#[derive(Debug)]
struct Imprecise(Arc<dyn FileFormat>);

#[derive(Debug)]
struct ImpreciseFactory(Arc<FormatRegistry>);

impl FileFormatFactory for ImpreciseFactory {
    fn identifier(&self) -> &str {
        "parquet"
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(Imprecise(self.0.get("parquet", options)?)))
    }
}

impl FileFormat for Imprecise {
    fn identifier(&self) -> &str {
        "parquet"
    }

    fn create_reader_builder(&self, batch_size: usize) -> Result<Box<dyn ReaderBuilder>> {
        Ok(Box::new(ImpreciseBuilder(
            self.0.create_reader_builder(batch_size)?,
        )))
    }

    fn create_writer_builder(
        &self,
        schema: &[DataField],
        batch_size: usize,
    ) -> Result<Box<dyn WriterBuilder>> {
        self.0.create_writer_builder(schema, batch_size)
    }

    fn create_stats_extractor(&self, schema: &[DataField]) -> Result<Box<dyn FormatStatsExtractor>> {
        self.0.create_stats_extractor(schema)
    }
}

struct ImpreciseBuilder(Box<dyn ReaderBuilder>);

#[async_trait]
impl ReaderBuilder for ImpreciseBuilder {
    fn with_memory_pool(&mut self, pool: Arc<dyn MemoryPool>) {
        self.0.with_memory_pool(pool);
    }

    fn with_cache(&mut self, cache: Arc<dyn Cache>) {
        self.0.with_cache(cache);
    }

    fn with_read_hints(&mut self, hints: Option<ReadHints>) {
        self.0.with_read_hints(hints);
    }

    async fn build(&self, file: Arc<dyn paimon::storage::InputFile>) -> Result<Box<dyn FileBatchReader>> {
        Ok(Box::new(ImpreciseReader(self.0.build(file).await?)))
    }
}

struct ImpreciseReader(Box<dyn FileBatchReader>);

#[async_trait]
impl FileBatchReader for ImpreciseReader {
    fn file_schema(&self) -> Result<SchemaRef> {
        self.0.file_schema()
    }

    fn set_read_schema(
        &mut self,
        fields: &[DataField],
        predicate: Option<&Predicate>,
        _selection: Option<RoaringBitmap>,
    ) -> Result<()> {
        self.0.set_read_schema(fields, predicate, None)
    }

    async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.0.next_batch().await
    }

    fn previous_batch_file_row_id(&self, batch_row: u64) -> Result<u64> {
        self.0.previous_batch_file_row_id(batch_row)
    }

    fn number_of_rows(&self) -> Result<u64> {
        Err(paimon::types::Error::unsupported("this format cannot tell"))
    }

    fn supports_precise_selection(&self) -> bool {
        false
    }

    fn close(&mut self) {
        self.0.close();
    }

    fn metrics(&self) -> Metrics {
        self.0.metrics()
    }
}

/// Formats that cannot select rows give the same rows, whatever they skip because of a predicate.
#[tokio::test]
async fn a_format_without_precise_selection() {
    let registry = Arc::new(FormatRegistry::new().with(Arc::new(ImpreciseFactory(default_registry()))));
    let mut checked = 0;
    for fixture in fixtures().iter().filter(|f| f.feature() == "deletes") {
        for selector in fixture.selectors() {
            let table = fixture.open(&selector, &[]).await.unwrap();
            let table = table.with_registry(registry.clone());
            let read = || match selector.at.clone() {
                Some(at) => table.read().at(at).batch_size(100),
                None => table.read().batch_size(100),
            };
            let what = format!("{} {}", fixture.path, selector.name);
            assert_eq!(read_lines(&read()).await.unwrap(), selector.expected(), "{what}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

/// Row positions are those of the file, also when row groups and pages are skipped.
#[tokio::test]
async fn case_38_deletions_and_a_predicate() {
    let fixture = fixture("deletes/row-groups");
    let latest = fixture.selector("latest");
    let imprecise = Arc::new(FormatRegistry::new().with(Arc::new(ImpreciseFactory(default_registry()))));
    for registry in [default_registry(), imprecise] {
        let table = fixture.open(&latest, &[]).await.unwrap().with_registry(registry);
        let id = table.field("id").unwrap().clone();
        for (from, to) in [
            (0, 10),
            (2_990, 3_010),
            (3_995, 4_005),
            (8_000, 9_000),
            (8_999, 8_999),
            (3_100, 3_200),
        ] {
            let between = Predicate::and([
                Predicate::gt_eq(&id, Datum::Int(from)).unwrap(),
                Predicate::lt_eq(&id, Datum::Int(to)).unwrap(),
            ]);
            let found = read_lines(&table.read().filter(between)).await.unwrap();
            let expected: Vec<String> = latest
                .expected()
                .into_iter()
                .filter(|line| {
                    let value: serde_json::Value = serde_json::from_str(line).unwrap();
                    (i64::from(from)..=i64::from(to)).contains(&value["id"].as_i64().unwrap())
                })
                .collect();
            assert_eq!(found, expected, "{from} to {to}");
        }
    }
}

/// Appends and overwrites of ours leave deleted rows deleted.
#[tokio::test]
async fn case_06_appends_and_overwrites_on_a_table_of_java() {
    for path in [
        "deletes/32-bit",
        "deletes/64-bit",
        "deletes/mixed",
        "deletes/many-index-files",
    ] {
        let fixture = fixture(path);
        let dir = tempfile::tempdir().unwrap();
        copy_dir(&fixture.table_dir(), dir.path());
        let table = Table::open(dir.path().to_str().unwrap()).await.unwrap();
        append(&table, &[("id", ints([-5])), ("v", strings([Some("ours")]))]).await;
        let mut expected = fixture.selector("latest").expected();
        assert_eq!(rows(&table).await.len(), expected.len() + 1, "{path}");
        expected.retain(|line| !rows_contain_ours(line));
        let found: Vec<String> = rows(&table)
            .await
            .into_iter()
            .filter(|line| !rows_contain_ours(line))
            .collect();
        assert_eq!(found, expected, "{path}");
    }
    let fixture = fixture("deletes/partitioned-32-bit");
    let dir = tempfile::tempdir().unwrap();
    copy_dir(&fixture.table_dir(), dir.path());
    let table = Table::open(dir.path().to_str().unwrap()).await.unwrap();
    let latest = || async { table.meta().snapshot_manager().latest().await.unwrap().unwrap() };
    let before = table.meta().list_index_files(&latest().await).await.unwrap();
    assert!(!before.is_empty());
    let mut writer = table.write().await.unwrap().overwrite(Some(BTreeMap::new()));
    let one = [
        ("p", strings([Some("z")])),
        ("id", ints([1])),
        ("v", strings([None])),
    ];
    writer.write(&batch(&table, &one)).await.unwrap();
    writer.commit().await.unwrap();
    assert_eq!(rows(&table).await.len(), 1);
    assert_eq!(table.meta().list_index_files(&latest().await).await.unwrap(), []);
}

fn rows_contain_ours(line: &str) -> bool {
    line.contains("\"ours\"")
}

/// Three files of ten rows and a vector for each of the first two, of one kind each, in one index file.
async fn own_table(storage: Storage) -> Table {
    let table = create_in(storage, &[("id", "INT")], &[], ENABLED).await;
    for start in [0, 10, 20] {
        append(&table, &[("id", ints(start..start + 10))]).await;
    }
    let plan = table.read().plan().await.unwrap();
    let files: Vec<String> = plan.splits[0]
        .data_files
        .iter()
        .map(|f| f.file_name.clone())
        .collect();
    let mut writer = DeletionVectorFileWriter::new();
    let mut metas = Vec::new();
    let vectors = [
        (DeletionVectorKind::Bitmap32, vec![0, 1, 9]),
        (DeletionVectorKind::Bitmap64, (2..10).collect()),
    ];
    for (file, (kind, rows)) in files.iter().zip(vectors) {
        let place = writer
            .write(&DeletionVector::from_positions(kind, rows).unwrap())
            .unwrap();
        metas.push(DeletionVectorMeta {
            data_file_name: file.clone(),
            offset: place.offset,
            length: place.length,
            cardinality: Some(place.cardinality as i64),
        });
    }
    let bytes = writer.finish();
    let meta = IndexFileMeta {
        index_type: paimon_index::DELETION_VECTORS.into(),
        file_name: "index-own-0".into(),
        file_size: bytes.len() as i64,
        row_count: metas.len() as i64,
        dv_ranges: Some(metas),
        external_path: None,
        global_index: None,
    };
    let path = format!("{}/index/index-own-0", table.location());
    table.meta().storage().write(&path, bytes.into()).await.unwrap();
    let mut message = CommitMessage::append(Partition::unpartitioned(), 0, None, Vec::new());
    message.data_increment.new_index_files = vec![meta];
    table.new_commit().commit(vec![message]).await.unwrap();
    table
}

/// An index file is read once a read, whatever number of data files it is about.
#[tokio::test]
async fn case_39_one_read_of_an_index_file() {
    let store = FaultStore::memory();
    let table = own_table(Storage::memory().with_store("memory://", Arc::new(store.clone()))).await;
    let expected: Vec<i32> = (2..9).chain(10..12).chain(20..30).collect();
    for parallelism in [1, 4] {
        store.forget_calls();
        let (_, batches) = table.read().parallelism(parallelism).to_batches().await.unwrap();
        let ids: Vec<i32> = batches
            .iter()
            .flat_map(|b| b.column(0).to_data().buffer::<i32>(0)[..b.num_rows()].to_vec())
            .collect();
        assert_eq!(ids, expected);
        assert_eq!(store.count(Operation::Get, "index-own-0"), 1);
    }
    assert_eq!(
        table
            .read()
            .limit(8)
            .to_batches()
            .await
            .unwrap()
            .1
            .iter()
            .map(RecordBatch::num_rows)
            .sum::<usize>(),
        8
    );
    let plan = table.read().limit(1).plan().await.unwrap();
    assert_eq!(plan.live_row_count(), Some(19));
}

/// What cannot be true is an error that names the index file, never other rows.
#[tokio::test]
async fn damaged_vectors_are_refused() {
    let table = own_table(Storage::memory()).await;
    let storage = table.meta().storage().clone();
    let path = format!("{}/index/index-own-0", table.location());
    let whole = storage.read(&path).await.unwrap();
    for at in 1..whole.len() {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x10;
        storage.write(&path, bytes.into()).await.unwrap();
        let err = table.read().to_batches().await.unwrap_err();
        assert!(
            err.kind() == ErrorKind::Corrupt && err.to_string().contains("index-own-0"),
            "{at}: {err}"
        );
    }
    for length in 0..whole.len() {
        storage.write(&path, whole.slice(..length)).await.unwrap();
        let err = table.read().to_batches().await.unwrap_err();
        assert!(
            err.kind() == ErrorKind::Corrupt && err.to_string().contains("index-own-0"),
            "{length}: {err}"
        );
    }
    storage.delete(&path).await.unwrap();
    assert_eq!(
        table.read().to_batches().await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    storage.write(&path, whole).await.unwrap();

    type Change = fn(&mut Vec<Option<DeletionFile>>);
    let changes: [(Change, &str); 5] = [
        (|list| drop(list.pop()), "2 deletion files for 3 data files"),
        (
            |list| list[0].as_mut().unwrap().cardinality = Some(4),
            "marks 3 rows",
        ),
        (|list| list[0].as_mut().unwrap().length += 1, "metadata says"),
        (|list| list[0].as_mut().unwrap().offset = -1, "offset -1"),
        (
            |list| list[1].as_mut().unwrap().length = i64::MAX,
            "outside of its index file",
        ),
    ];
    for (change, expected) in changes {
        let mut plan = table.read().plan().await.unwrap();
        change(plan.splits[0].deletion_files.as_mut().unwrap());
        let rows = table.read().read_plan(plan).unwrap();
        let err = rows.try_collect::<Vec<_>>().await.unwrap_err();
        assert!(
            err.kind() == ErrorKind::Corrupt && err.to_string().contains(expected),
            "{err}"
        );
    }
    // Java before 1.0 did not record how many rows a vector deletes.
    let mut plan = table.read().plan().await.unwrap();
    plan.splits[0].deletion_files.as_mut().unwrap()[0]
        .as_mut()
        .unwrap()
        .cardinality = None;
    assert_eq!(plan.live_row_count(), None);
    let batches: Vec<RecordBatch> = table.read().read_plan(plan).unwrap().try_collect().await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 19);
}
