// SPDX-License-Identifier: Apache-2.0

//! Avro schemas of the files that we write (`metadata.md` appendix A). The encoders in `codec` follow their field order.

/// `_VERSION` of manifest lists.
pub(crate) const MANIFEST_LIST_VERSION: i32 = 2;
/// `_VERSION` of manifests.
pub(crate) const MANIFEST_VERSION: i32 = 2;
/// `_VERSION` of index manifests.
pub(crate) const INDEX_MANIFEST_VERSION: i32 = 1;

macro_rules! stats_record {
    ($name:literal) => {
        concat!(
            r#"{"type":"record","name":""#,
            $name,
            r#"","fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},"#,
            r#"{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}"#
        )
    };
}

macro_rules! optional {
    ($name:literal, $type:literal) => {
        concat!(
            r#"{"name":""#,
            $name,
            r#"","type":["null","#,
            $type,
            r#"],"default":null}"#
        )
    };
}

macro_rules! top_record {
    ($($fields:expr),+ $(,)?) => {
        concat!(r#"{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":["#, $($fields,)+ "]}")
    };
}

/// Schema of a manifest list.
pub(crate) const MANIFEST_LIST_SCHEMA: &str = top_record!(
    r#"{"name":"_VERSION","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},"#,
    r#"{"name":"_NUM_ADDED_FILES","type":"long"},{"name":"_NUM_DELETED_FILES","type":"long"},"#,
    r#"{"name":"_PARTITION_STATS","type":"#,
    stats_record!("record__PARTITION_STATS"),
    r#"},{"name":"_SCHEMA_ID","type":"long"},"#,
    optional!("_MIN_BUCKET", r#""int""#),
    ",",
    optional!("_MAX_BUCKET", r#""int""#),
    ",",
    optional!("_MIN_LEVEL", r#""int""#),
    ",",
    optional!("_MAX_LEVEL", r#""int""#),
    ",",
    optional!("_MIN_ROW_ID", r#""long""#),
    ",",
    optional!("_MAX_ROW_ID", r#""long""#),
);

/// Schema of a manifest.
pub(crate) const MANIFEST_SCHEMA: &str = top_record!(
    r#"{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},"#,
    r#"{"name":"_BUCKET","type":"int"},{"name":"_TOTAL_BUCKETS","type":"int"},"#,
    r#"{"name":"_FILE","type":{"type":"record","name":"record__FILE","fields":["#,
    r#"{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},"#,
    r#"{"name":"_MIN_KEY","type":"bytes"},{"name":"_MAX_KEY","type":"bytes"},"#,
    r#"{"name":"_KEY_STATS","type":"#,
    stats_record!("record__FILE__KEY_STATS"),
    r#"},{"name":"_VALUE_STATS","type":"#,
    stats_record!("record__FILE__VALUE_STATS"),
    r#"},{"name":"_MIN_SEQUENCE_NUMBER","type":"long"},{"name":"_MAX_SEQUENCE_NUMBER","type":"long"},"#,
    r#"{"name":"_SCHEMA_ID","type":"long"},{"name":"_LEVEL","type":"int"},"#,
    r#"{"name":"_EXTRA_FILES","type":{"type":"array","items":"string"}},"#,
    optional!(
        "_CREATION_TIME",
        r#"{"type":"long","logicalType":"timestamp-millis"}"#
    ),
    ",",
    optional!("_DELETE_ROW_COUNT", r#""long""#),
    ",",
    optional!("_EMBEDDED_FILE_INDEX", r#""bytes""#),
    ",",
    optional!("_FILE_SOURCE", r#""int""#),
    ",",
    optional!("_VALUE_STATS_COLS", r#"{"type":"array","items":"string"}"#),
    ",",
    optional!("_EXTERNAL_PATH", r#""string""#),
    ",",
    optional!("_FIRST_ROW_ID", r#""long""#),
    ",",
    optional!("_WRITE_COLS", r#"{"type":"array","items":"string"}"#),
    ",",
    optional!("_WRITE_COLS_SEQUENCES", r#"{"type":"array","items":"long"}"#),
    "]}}",
);

/// Schema of an index manifest.
pub(crate) const INDEX_MANIFEST_SCHEMA: &str = top_record!(
    r#"{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},"#,
    r#"{"name":"_BUCKET","type":"int"},{"name":"_INDEX_TYPE","type":"string"},{"name":"_FILE_NAME","type":"string"},"#,
    r#"{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},"#,
    r#"{"name":"_DELETIONS_VECTORS_RANGES","type":["null",{"type":"array","items":["null","#,
    r#"{"type":"record","name":"record__DELETIONS_VECTORS_RANGES","fields":["#,
    r#"{"name":"f0","type":"string"},{"name":"f1","type":"int"},{"name":"f2","type":"int"},"#,
    optional!("_CARDINALITY", r#""long""#),
    r#"]}]}],"default":null},"#,
    optional!("_EXTERNAL_PATH", r#""string""#),
    ",",
    r#"{"name":"_GLOBAL_INDEX","type":["null",{"type":"record","name":"record__GLOBAL_INDEX","fields":["#,
    r#"{"name":"_ROW_RANGE_START","type":"long"},{"name":"_ROW_RANGE_END","type":"long"},"#,
    r#"{"name":"_INDEX_FIELD_ID","type":"int"},"#,
    optional!("_EXTRA_FIELD_IDS", r#"{"type":"array","items":"int"}"#),
    ",",
    optional!("_INDEX_META", r#""bytes""#),
    ",",
    optional!("_SOURCE_META", r#""bytes""#),
    r#"]}],"default":null}"#,
);
