// SPDX-License-Identifier: Apache-2.0

//! `formats`: one file of each format and family of types, read and written through `paimon_format` and by the bare libraries.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paimon::format::{FileFormat, FormatRegistry, RoaringBitmap};
use paimon::storage::InputFile;
use paimon::types::{DataField, from_arrow_schema};
use paimon::{Storage, data::default_registry};

use crate::data::read_ipc;
use crate::formats_data::{FAMILIES, family};
use crate::formats_peers as library;
use crate::{BenchResult, Sample};

pub(crate) const BATCH_ROWS: usize = 8192;
pub(crate) const FORMATS: [&str; 3] = ["parquet", "orc", "avro"];
pub(crate) const COMPRESSION: &str = "zstd";
/// A sample is the median of passes that take this long together after a first that warms up, at least three of them
/// unless they are long.
const SAMPLE: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(1);

fn format(registry: &FormatRegistry, name: &str) -> BenchResult<Arc<dyn FileFormat>> {
    Ok(registry.get(name, &BTreeMap::new())?)
}

/// An Arrow file of each family, and the same rows in each format.
pub(crate) async fn make(dir: &str, rows: usize) -> BenchResult<()> {
    std::fs::create_dir_all(dir)?;
    for name in FAMILIES {
        let arrow = format!("{dir}/{name}.arrow");
        if Path::new(&arrow).exists() {
            continue;
        }
        let batches = family(name, rows)?;
        for format in FORMATS {
            write_ours(format, &batches, &format!("{dir}/{name}.{format}")).await?;
        }
        crate::data::write_ipc_batches(&arrow, &batches)?;
    }
    Ok(())
}

fn fields(batches: &[arrow_array::RecordBatch]) -> BenchResult<Vec<DataField>> {
    Ok(from_arrow_schema(&batches.first().ok_or("no rows")?.schema())?)
}

async fn write_ours(name: &str, batches: &[arrow_array::RecordBatch], path: &str) -> BenchResult<u64> {
    let format = format(&default_registry(), name)?;
    let builder = format.create_writer_builder(&fields(batches)?, BATCH_ROWS)?;
    let mut writer = builder.build(Storage::default().open_output(path).await?, COMPRESSION)?;
    let mut rows = 0;
    for batch in batches {
        rows += batch.num_rows() as u64;
        writer.add_batch(batch).await?;
    }
    writer.finish().await?;
    writer.into_output().close().await?;
    Ok(rows)
}

/// One read of ours: all rows, or those of a selection.
async fn read_ours(
    name: &str,
    file: Arc<dyn InputFile>,
    columns: &[DataField],
    selection: Option<RoaringBitmap>,
) -> BenchResult<u64> {
    let format = format(&default_registry(), name)?;
    let mut reader = format.create_reader_builder(BATCH_ROWS)?.build(file).await?;
    reader.set_read_schema(columns, None, selection)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().await? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

/// One row of a hundred: in `kind` runs at even distances, or each drawn by itself (`scattered`).
fn selection(kind: &str, rows: u64) -> BenchResult<Option<RoaringBitmap>> {
    let rows = u32::try_from(rows)?;
    let drawn = |row: &u32| (row.wrapping_mul(2_654_435_761) >> 8).is_multiple_of(100);
    Ok(match kind {
        "all" => None,
        "scattered" => Some((0..rows).filter(drawn).collect()),
        runs => {
            let runs: u32 = runs.parse().map_err(|_| format!("unknown selection {runs:?}"))?;
            let mut selected = RoaringBitmap::new();
            for run in 0..runs {
                let start = rows / (runs + 1) * (run + 1);
                selected.insert_range(start..start + rows / (100 * runs));
            }
            Some(selected)
        }
    })
}

/// Reads a file of a family; `who` is `ours` or `library`.
pub(crate) async fn read(who: &str, format: &str, dir: &str, name: &str, rows: &str) -> BenchResult<Sample> {
    let path = format!("{dir}/{name}.{format}");
    let columns = fields(&family(name, 1)?)?;
    let size = std::fs::metadata(&path)?.len();
    let storage = Storage::default();
    let file = storage.open_input(&path, Some(size)).await?;
    let all = match rows {
        "all" => 0,
        _ => read_ours(format, file, &columns, None).await?,
    };
    let selected = selection(rows, all)?;
    let mut passes = Passes::default();
    while passes.more() {
        let start = Passes::start();
        let rows = match who {
            "ours" => {
                let file = storage.open_input(&path, Some(size)).await?;
                read_ours(format, file, &columns, selected.clone()).await?
            }
            _ => library::read(format, &path)?,
        };
        passes.end(start, rows);
    }
    Ok(passes.sample())
}

/// Writes the first rows of a family; `who` is `ours` or `library`.
pub(crate) async fn write(who: &str, format: &str, dir: &str, name: &str) -> BenchResult<Sample> {
    let mut batches = read_ipc(&format!("{dir}/{name}.arrow"))?;
    batches.truncate(WRITE_BATCHES);
    let path = format!("{dir}/out-{who}.{format}");
    let prepared = match who {
        "ours" => None,
        _ => Some(library::prepare(
            format,
            &format!("{dir}/{name}.{format}"),
            &batches,
        )?),
    };
    let mut passes = Passes::default();
    while passes.more() {
        let start = Passes::start();
        let rows = match &prepared {
            None => write_ours(format, &batches, &path).await?,
            Some(prepared) => prepared.write(&path)?,
        };
        passes.end(start, rows);
    }
    std::fs::remove_file(&path)?;
    Ok(passes.sample())
}

/// What is written: this many batches of the input.
const WRITE_BATCHES: usize = 4;

/// The passes of a sample.
#[derive(Default)]
struct Passes {
    times: Vec<Duration>,
    rows: u64,
}

impl Passes {
    fn more(&self) -> bool {
        let sum = self.times.iter().sum::<Duration>();
        self.times.len() < 2 || sum < SAMPLE || (self.times.len() < 4 && sum < LONG)
    }

    #[allow(clippy::disallowed_methods)]
    fn start() -> Instant {
        Instant::now()
    }

    fn end(&mut self, start: Instant, rows: u64) {
        self.times.push(start.elapsed());
        self.rows = rows;
    }

    fn sample(mut self) -> Sample {
        self.times.remove(0);
        self.times.sort_unstable();
        Sample {
            elapsed: self.times.get(self.times.len() / 2).copied().unwrap_or_default(),
            rows: self.rows,
        }
    }
}
