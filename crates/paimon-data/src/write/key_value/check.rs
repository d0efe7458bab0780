// SPDX-License-Identifier: Apache-2.0

//! Which tables with a primary key are refused, and how the files of the others are written.

use std::sync::Arc;

use paimon_format::FileFormat;
use paimon_types::{
    ChangelogProducer, CoreOptions, Error, MergeEngine, Result, SequenceNumberInitMode, StatsMode,
};

use super::facts::KeyValueColumns;
use super::layout::KeyValueLayout;
use crate::write::context::{TableWriteContext, refuse};
use crate::write::file_name::extension;
use crate::write::file_writer::FileSettings;
use crate::write::stats::StatsCollector;

/// Files of this level come out of a flush.
const LEVEL: &str = "0";

/// Refuses what would be written in another way than the table wants it.
///
/// # Errors
/// `Unsupported` that names the option.
pub(crate) fn check_writable(context: &TableWriteContext) -> Result<()> {
    let (schema, options) = (&context.schema, &context.options);
    match options.bucket {
        1.. => {}
        -1 if schema.is_cross_partition_update() => {
            return Err(Error::unsupported(format!(
                "the primary key ({}) does not hold all partition columns ({}), so that keys may move between partitions: \
                 writing such a table is not implemented yet",
                schema.primary_keys.join(", "),
                schema.partition_keys.join(", ")
            ))
            .with("option", "bucket"));
        }
        -1 => {
            return Err(Error::unsupported(
                "option bucket is '-1' (dynamic buckets): writing such a table with a primary key is not implemented yet, \
                 give the number of buckets",
            )
            .with("option", "bucket"));
        }
        other => return Err(refuse("bucket", &other.to_string())),
    }
    if schema.is_cross_partition_update() {
        return Err(Error::invalid(format!(
            "the primary key ({}) does not hold all partition columns ({})",
            schema.primary_keys.join(", "),
            schema.partition_keys.join(", ")
        )));
    }
    // What compaction makes right is right in a table whose compaction is the work of others.
    if !options.write_only {
        let producer = options.changelog_producer;
        if matches!(
            producer,
            ChangelogProducer::Lookup | ChangelogProducer::FullCompaction
        ) {
            return Err(needs_compaction("changelog-producer", producer.as_str()));
        }
        if options.merge_engine == MergeEngine::FirstRow {
            return Err(needs_compaction("merge-engine", options.merge_engine.as_str()));
        }
        if options.deletion_vectors_enabled {
            return Err(needs_compaction("deletion-vectors.enabled", "true"));
        }
        // the commit gives files their numbers, which a compaction by the same writer would not know
        if options.sequence_snapshot_ordering {
            return Err(needs_compaction("sequence.snapshot-ordering", "true"));
        }
    }
    let mode = options.write_sequence_number_init_mode;
    if mode != SequenceNumberInitMode::Scan {
        return Err(refuse("write.sequence-number-init-mode", mode.as_str()));
    }
    if options.pk_clustering_override {
        return Err(refuse("pk-clustering-override", "true"));
    }
    if options.chain_table_enabled {
        return Err(refuse("chain-table.enabled", "true"));
    }
    Ok(())
}

fn needs_compaction(key: &'static str, value: &str) -> Error {
    Error::unsupported(format!(
        "option {key} is '{value}': this needs compaction while rows are written, which is not implemented yet; with \
         option write-only another job compacts"
    ))
    .with("option", key)
}

/// Settings of the data files of level 0, or of changelog files.
///
/// # Errors
/// `Unsupported` that names the option for a format or a column type that this build cannot write; `InvalidInput` for an option
/// with a bad value.
pub(crate) fn file_settings(
    context: &TableWriteContext,
    layout: &KeyValueLayout,
    batch_size: usize,
    changelog: bool,
) -> Result<FileSettings> {
    let options = &context.options;
    let own_format = options.changelog_file_format.as_ref().filter(|_| changelog);
    let (format_option, format) = match (own_format, options.file_format_per_level.get(LEVEL)) {
        (Some(format), _) => ("changelog-file.format", format.clone()),
        (None, Some(format)) => ("file.format.per.level", format.trim().to_owned()),
        (None, None) => ("file.format", options.file_format.clone()),
    };
    let own_compression = options.changelog_file_compression.as_ref().filter(|_| changelog);
    let compression = match (own_compression, options.file_compression_per_level.get(LEVEL)) {
        (Some(compression), _) => compression.clone(),
        (None, Some(compression)) => compression.trim().to_owned(),
        (None, None) => options.file_compression.clone(),
    };
    let mode = match options.changelog_file_stats_mode.filter(|_| changelog) {
        Some(mode) => mode,
        None => stats_mode(options)?,
    };
    let format: Arc<dyn FileFormat> = context
        .registry
        .get(&format.to_ascii_lowercase(), options.raw())
        .map_err(|e| e.with("option", format_option))?;
    // refuses column types that the format cannot store before anything is written
    format.create_writer_builder(&layout.fields, batch_size)?;
    let by_row = format.identifier() == "avro";
    Ok(FileSettings {
        storage: context.storage.clone(),
        fields: layout.fields.clone(),
        schema: layout.schema.clone(),
        schema_id: context.schema.id,
        prefix: match changelog {
            true => options.changelog_file_prefix.clone(),
            false => options.data_file_prefix.clone(),
        },
        extension: extension(
            format.identifier(),
            &compression,
            options.file_suffix_include_compression,
        ),
        compression,
        target_size: options.target_file_size(true),
        target_rows: match changelog {
            true => u64::MAX,
            false => u64::try_from(options.target_file_row_num).unwrap_or(u64::MAX),
        },
        batch_size,
        stats: StatsCollector::key_value(layout, options, mode, by_row)?,
        environment: context.environment.clone(),
        format,
        key_value: Some(KeyValueColumns::new(layout)),
    })
}

/// The statistics of files of level 0.
fn stats_mode(options: &CoreOptions) -> Result<StatsMode> {
    let Some(text) = options.metadata_stats_mode_per_level.get(LEVEL) else {
        return Ok(options.metadata_stats_mode);
    };
    let key = "metadata.stats-mode.per.level";
    StatsMode::parse(text).ok_or_else(|| {
        Error::invalid(format!(
            "option {key} has the mode '{text}', expected none, counts, full or truncate(n)"
        ))
        .with("option", key)
    })
}
