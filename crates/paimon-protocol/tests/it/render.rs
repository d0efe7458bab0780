// SPDX-License-Identifier: Apache-2.0

//! Values in the words of the vectors' `input`, which a Java program printed: equal text proves that every field was
//! understood, not only kept.

use std::fmt::{Debug, Display};

use paimon_protocol::{
    CommitMessage, DataFileMeta, DataSplit, DeletionFile, FileSource, IndexFileMeta, ManifestCommittable,
    RowValues, SimpleStats, Split,
};

use crate::hex;

fn opt<T: Display>(value: Option<T>) -> String {
    value.map_or("null".into(), |v| v.to_string())
}

fn join(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn row(row: &RowValues) -> String {
    format!("{}:{}", row.len(), hex(row.encoded_row().as_bytes()))
}

/// The null counts as BinaryArray bytes.
fn nulls(counts: &[Option<i64>]) -> String {
    let mut bytes = (counts.len() as i32).to_le_bytes().to_vec();
    bytes.resize(4 + counts.len().div_ceil(32) * 4, 0);
    for (i, count) in counts.iter().enumerate() {
        if count.is_none() {
            bytes[4 + i / 8] |= 1 << (i % 8);
        }
    }
    counts
        .iter()
        .for_each(|count| bytes.extend(count.unwrap_or(0).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    hex(&bytes)
}

fn stats(stats: &SimpleStats) -> String {
    let (min, max) = (row(&stats.min_values), row(&stats.max_values));
    format!(
        "{{min={min} max={max} nulls={}}}",
        nulls(&stats.null_counts.to_vec())
    )
}

fn strings(list: Option<&[String]>) -> String {
    opt(list.map(|list| join(list.iter().cloned())))
}

fn file(f: &DataFileMeta) -> String {
    let source = f.file_source.map(|source| match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    });
    format!(
        "File{{name={} size={} rows={} minKey={} maxKey={} keyStats={} valueStats={} seq={}..{} schema={} level={} \
         extra={} created={}ms del={} idx={} src={} vcols={} ext={} firstRowId={} wcols={} colSeq={}}}",
        f.file_name,
        f.file_size,
        f.row_count,
        row(&f.min_key),
        row(&f.max_key),
        stats(&f.key_stats),
        stats(&f.value_stats),
        f.min_sequence_number,
        f.max_sequence_number,
        f.schema_id,
        f.level,
        join(f.extra_files.iter().cloned()),
        f.creation_time.unwrap(),
        opt(f.delete_row_count),
        opt(f.embedded_index.as_ref().map(|bytes| hex(bytes))),
        opt(source),
        strings(f.value_stats_cols.as_deref()),
        opt(f.external_path.as_ref()),
        opt(f.first_row_id),
        strings(f.write_cols.as_deref()),
        opt(f.write_cols_sequences.as_ref().map(debug)),
    )
}

fn debug<T: Debug>(value: &T) -> String {
    format!("{value:?}")
}

fn files(list: &[DataFileMeta]) -> String {
    join(list.iter().map(file))
}

fn deletions(list: Option<&Vec<Option<DeletionFile>>>) -> String {
    let one = |f: &DeletionFile| format!("({},{},{},{})", f.path, f.offset, f.length, opt(f.cardinality));
    opt(list.map(|list| join(list.iter().map(|f| opt(f.as_ref().map(one))))))
}

fn index(f: &IndexFileMeta) -> String {
    let vectors = f.dv_ranges.as_ref().map(|list| {
        join(list.iter().map(|v| {
            format!(
                "({},{},{},{})",
                v.data_file_name,
                v.offset,
                v.length,
                opt(v.cardinality)
            )
        }))
    });
    let global = f.global_index.as_ref().map(|g| {
        let extra = opt(g.extra_field_ids.as_ref().map(debug));
        let bytes = |bytes: &Option<Vec<u8>>| opt(bytes.as_ref().map(|b| hex(b)));
        let (start, end, field) = (g.row_range_start, g.row_range_end, g.index_field_id);
        format!(
            "({start},{end},{field},{extra},{},{})",
            bytes(&g.index_meta),
            bytes(&g.source_meta)
        )
    });
    format!(
        "Index{{type={} name={} size={} rows={} dv={} ext={} global={}}}",
        f.index_type,
        f.file_name,
        f.file_size,
        f.row_count,
        opt(vectors),
        opt(f.external_path.as_ref()),
        opt(global)
    )
}

fn indexes(list: &[IndexFileMeta]) -> String {
    join(list.iter().map(index))
}

pub(crate) fn data_split(s: &DataSplit) -> String {
    format!(
        "DataSplit{{snapshot={} partition={} bucket={} path={} totalBuckets={} files={} dv={} streaming={} raw={}}}",
        s.snapshot_id,
        row(s.partition.as_values()),
        s.bucket,
        s.bucket_path,
        opt(s.total_buckets),
        files(&s.data_files),
        deletions(s.deletion_files.as_ref()),
        s.is_streaming,
        s.raw_convertible
    )
}

pub(crate) fn split(split_value: &Split) -> String {
    match split_value {
        Split::Data(s) => data_split(s),
        Split::Incremental(s) => format!(
            "IncrementalSplit{{snapshot={} partition={} bucket={} totalBuckets={} before={} beforeDv={} after={} \
             afterDv={} streaming={}}}",
            s.snapshot_id,
            row(s.partition.as_values()),
            s.bucket,
            s.total_buckets,
            files(&s.before_files),
            deletions(s.before_deletion_files.as_ref()),
            files(&s.after_files),
            deletions(s.after_deletion_files.as_ref()),
            s.is_streaming
        ),
        Split::Indexed(s) => format!(
            "IndexedSplit{{{} ranges={} scores={}}}",
            data_split(&s.split),
            join(
                s.row_ranges
                    .iter()
                    .map(|range| format!("[{}, {}]", range.from, range.to))
            ),
            opt(s.scores.as_ref().map(debug))
        ),
        Split::Chain(s) => {
            let map = |pairs: &[(String, String)]| {
                let mut pairs: Vec<_> = pairs
                    .iter()
                    .map(|(key, value)| format!("{key}={value}"))
                    .collect();
                pairs.sort();
                format!("{{{}}}", pairs.join(", "))
            };
            format!(
                "ChainSplit{{partition={} files={} paths={} branches={} dv={}}}",
                row(s.logical_partition.as_values()),
                files(&s.data_files),
                map(&s.file_bucket_paths),
                map(&s.file_branches),
                deletions(s.deletion_files.as_ref())
            )
        }
        Split::QueryAuth { split: inner, auth } => {
            let auth = auth.as_ref().unwrap();
            let masking = auth.column_masking.iter().flatten();
            format!(
                "QueryAuthSplit{{{} filter={} masking={{{}}}}}",
                split(inner),
                opt(auth
                    .filter
                    .as_ref()
                    .map(|f| join(f.iter().map(|f| opt(f.as_ref()))))),
                masking
                    .map(|(k, v)| format!("{k}={}", opt(v.as_ref())))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        Split::FallbackData { split, is_fallback } => {
            format!(
                "FallbackDataSplit{{isFallback={is_fallback} {}}}",
                data_split(split)
            )
        }
        Split::Fallback {
            split: inner,
            is_fallback,
        } => {
            format!("FallbackSplitImpl{{isFallback={is_fallback} {}}}", split(inner))
        }
    }
}

pub(crate) fn message(m: &CommitMessage) -> String {
    let (data, compact) = (&m.data_increment, &m.compact_increment);
    format!(
        "Msg{{partition={} bucket={} totalBuckets={} new={} deleted={} changelog={} newIndex={} delIndex={} \
         cBefore={} cAfter={} cChangelog={} cNewIndex={} cDelIndex={}}}",
        row(m.partition.as_values()),
        m.bucket,
        opt(m.total_buckets),
        files(&data.new_files),
        files(&data.deleted_files),
        files(&data.changelog_files),
        indexes(&data.new_index_files),
        indexes(&data.deleted_index_files),
        files(&compact.deleted_files),
        files(&compact.new_files),
        files(&compact.changelog_files),
        indexes(&compact.new_index_files),
        indexes(&compact.deleted_index_files),
    )
}

pub(crate) fn messages(list: &[CommitMessage]) -> String {
    join(list.iter().map(message))
}

pub(crate) fn committable(c: &ManifestCommittable) -> String {
    let properties: Vec<_> = c
        .properties
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    format!(
        "Committable{{id={} watermark={} props={{{}}} msgs={}}}",
        c.identifier,
        opt(c.watermark),
        properties.join(", "),
        messages(&c.messages)
    )
}
