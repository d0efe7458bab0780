// SPDX-License-Identifier: Apache-2.0

//! The columns of manifests: as they are written, and as they are read from what a file has.

use std::collections::HashSet;

use arrow_schema::{DataType as ArrowType, Field, Fields};
use paimon_types::{ARROW_FIELD_ID, DataField, DataType, Error, Result, TypeKind};

/// Id of `_VERSION` (Java `VersionedObjectSerializer.versionType`).
const VERSION_ID: i32 = -1;

fn required(id: i32, name: &str, kind: TypeKind) -> DataField {
    DataField::new(id, name, DataType::required(kind))
}

fn optional(id: i32, name: &str, kind: TypeKind) -> DataField {
    DataField::new(id, name, DataType::new(kind))
}

fn text() -> TypeKind {
    DataType::string().kind
}

fn bytes() -> TypeKind {
    DataType::bytes().kind
}

/// A list without nulls.
fn list(kind: TypeKind) -> TypeKind {
    TypeKind::Array(Box::new(DataType::required(kind)))
}

fn stats(id: i32, name: &str) -> DataField {
    let counts = TypeKind::Array(Box::new(DataType::new(TypeKind::BigInt)));
    let fields = vec![
        required(0, "_MIN_VALUES", bytes()),
        required(1, "_MAX_VALUES", bytes()),
        optional(2, "_NULL_COUNTS", counts),
    ];
    required(id, name, TypeKind::Row(fields))
}

/// Columns of manifest lists (Java `ManifestFileMeta.SCHEMA`).
pub(super) fn manifest_list() -> Vec<DataField> {
    vec![
        required(VERSION_ID, "_VERSION", TypeKind::Int),
        required(0, "_FILE_NAME", text()),
        required(1, "_FILE_SIZE", TypeKind::BigInt),
        required(2, "_NUM_ADDED_FILES", TypeKind::BigInt),
        required(3, "_NUM_DELETED_FILES", TypeKind::BigInt),
        stats(4, "_PARTITION_STATS"),
        required(5, "_SCHEMA_ID", TypeKind::BigInt),
        optional(6, "_MIN_BUCKET", TypeKind::Int),
        optional(7, "_MAX_BUCKET", TypeKind::Int),
        optional(8, "_MIN_LEVEL", TypeKind::Int),
        optional(9, "_MAX_LEVEL", TypeKind::Int),
        optional(10, "_MIN_ROW_ID", TypeKind::BigInt),
        optional(11, "_MAX_ROW_ID", TypeKind::BigInt),
    ]
}

/// The columns of manifests that stand before `_FILE`.
pub(super) fn manifest_heads() -> Vec<DataField> {
    vec![
        required(VERSION_ID, "_VERSION", TypeKind::Int),
        required(0, "_KIND", TypeKind::TinyInt),
        required(1, "_PARTITION", bytes()),
        required(2, "_BUCKET", TypeKind::Int),
        required(3, "_TOTAL_BUCKETS", TypeKind::Int),
    ]
}

/// The column `_FILE` of manifests (Java `DataFileMeta.SCHEMA`).
pub(super) fn manifest_file() -> DataField {
    let fields = vec![
        required(0, "_FILE_NAME", text()),
        required(1, "_FILE_SIZE", TypeKind::BigInt),
        required(2, "_ROW_COUNT", TypeKind::BigInt),
        required(3, "_MIN_KEY", bytes()),
        required(4, "_MAX_KEY", bytes()),
        stats(5, "_KEY_STATS"),
        stats(6, "_VALUE_STATS"),
        required(7, "_MIN_SEQUENCE_NUMBER", TypeKind::BigInt),
        required(8, "_MAX_SEQUENCE_NUMBER", TypeKind::BigInt),
        required(9, "_SCHEMA_ID", TypeKind::BigInt),
        required(10, "_LEVEL", TypeKind::Int),
        required(11, "_EXTRA_FILES", list(text())),
        optional(12, "_CREATION_TIME", TypeKind::Timestamp(3)),
        optional(13, "_DELETE_ROW_COUNT", TypeKind::BigInt),
        optional(14, "_EMBEDDED_FILE_INDEX", bytes()),
        optional(15, "_FILE_SOURCE", TypeKind::TinyInt),
        optional(16, "_VALUE_STATS_COLS", list(text())),
        optional(17, "_EXTERNAL_PATH", text()),
        optional(18, "_FIRST_ROW_ID", TypeKind::BigInt),
        optional(19, "_WRITE_COLS", list(text())),
        optional(20, "_WRITE_COLS_SEQUENCES", list(TypeKind::BigInt)),
    ];
    required(4, "_FILE", TypeKind::Row(fields))
}

/// Columns of manifests (Java `ManifestEntry.SCHEMA`).
pub(super) fn manifest() -> Vec<DataField> {
    let mut fields = manifest_heads();
    fields.push(manifest_file());
    fields
}

/// Columns of index manifests (Java `IndexManifestEntry.SCHEMA`).
pub(super) fn index_manifest() -> Vec<DataField> {
    let range = vec![
        required(0, "f0", text()),
        required(1, "f1", TypeKind::Int),
        required(2, "f2", TypeKind::Int),
        optional(3, "_CARDINALITY", TypeKind::BigInt),
    ];
    let ranges = TypeKind::Array(Box::new(DataType::new(TypeKind::Row(range))));
    let global = vec![
        required(0, "_ROW_RANGE_START", TypeKind::BigInt),
        required(1, "_ROW_RANGE_END", TypeKind::BigInt),
        required(2, "_INDEX_FIELD_ID", TypeKind::Int),
        optional(3, "_EXTRA_FIELD_IDS", list(TypeKind::Int)),
        optional(4, "_INDEX_META", bytes()),
        optional(5, "_SOURCE_META", bytes()),
    ];
    vec![
        required(VERSION_ID, "_VERSION", TypeKind::Int),
        required(0, "_KIND", TypeKind::TinyInt),
        required(1, "_PARTITION", bytes()),
        required(2, "_BUCKET", TypeKind::Int),
        required(3, "_INDEX_TYPE", text()),
        required(4, "_FILE_NAME", text()),
        required(5, "_FILE_SIZE", TypeKind::BigInt),
        required(6, "_ROW_COUNT", TypeKind::BigInt),
        optional(7, "_DELETIONS_VECTORS_RANGES", ranges),
        optional(8, "_EXTERNAL_PATH", text()),
        optional(9, "_GLOBAL_INDEX", TypeKind::Row(global)),
    ]
}

/// What to read of a file for the wanted columns: those that it has, found by name at every depth, whatever their ids, all
/// integers as BIGINT, everything nullable. The ids are those of the file, by which a reader finds them again.
///
/// # Errors
/// `Corrupt` when two columns side by side have the same name or id.
pub(super) fn stored_columns(wanted: &[DataField], stored: &Fields) -> Result<Vec<DataField>> {
    let (mut names, mut ids) = (HashSet::new(), HashSet::new());
    for field in stored {
        let repeated =
            !names.insert(field.name().as_str()) || stored_id(field).is_some_and(|id| !ids.insert(id));
        if repeated {
            return Err(Error::corrupt("a manifest has the same column twice").with("column", field.name()));
        }
    }
    let mut columns = Vec::with_capacity(wanted.len());
    for (field, spare) in wanted.iter().zip(i32::MIN..) {
        let Some((_, stored)) = stored.find(&field.name) else {
            continue;
        };
        let read = read_type(&field.data_type, stored).map_err(|e| e.with("column", &field.name))?;
        let id = stored_id(stored).unwrap_or(spare);
        columns.push(DataField::new(id, field.name.as_str(), read));
    }
    Ok(columns)
}

fn stored_id(field: &Field) -> Option<i32> {
    field
        .metadata()
        .get(ARROW_FIELD_ID)
        .and_then(|id| id.parse().ok())
}

/// How a stored value is read; a stored type that does not fit is left for the reader to refuse.
fn read_type(wanted: &DataType, stored: &Field) -> Result<DataType> {
    Ok(DataType::new(match (&wanted.kind, stored.data_type()) {
        (TypeKind::TinyInt | TypeKind::Int | TypeKind::BigInt, _)
        | (TypeKind::Timestamp(_), ArrowType::Int64) => TypeKind::BigInt,
        (TypeKind::Row(fields), ArrowType::Struct(stored)) => TypeKind::Row(stored_columns(fields, stored)?),
        (TypeKind::Array(element), ArrowType::List(stored)) => {
            TypeKind::Array(Box::new(read_type(element, stored)?))
        }
        (other, _) => other.clone(),
    }))
}
