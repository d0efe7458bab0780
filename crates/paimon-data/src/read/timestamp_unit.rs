// SPDX-License-Identifier: Apache-2.0

//! The Arrow unit of TIMESTAMP(7–9): nanoseconds hold the years 1677 to 2262 only, microseconds all of them.

use paimon_types::{CoreOptions, DataField, DataType, Error, Result, TypeKind};

const TIMESTAMP_UNIT: &str = "read.timestamp-unit";

/// True when option `read.timestamp-unit` is `us`; the default is `ns`.
pub(crate) fn reads_micros(options: &CoreOptions) -> Result<bool> {
    match options.raw().get(TIMESTAMP_UNIT).map(String::as_str) {
        None | Some("ns") => Ok(false),
        Some("us") => Ok(true),
        Some(other) => Err(
            Error::invalid(format!("option {TIMESTAMP_UNIT} is '{other}'; allowed: ns, us"))
                .with("option", TIMESTAMP_UNIT),
        ),
    }
}

pub(crate) fn cut_fields(fields: &[DataField]) -> Vec<DataField> {
    fields
        .iter()
        .map(|f| DataField {
            data_type: cut_to_micros(&f.data_type),
            ..f.clone()
        })
        .collect()
}

/// TIMESTAMP and TIMESTAMP_LTZ of more than six digits become six digits, at every depth.
pub(crate) fn cut_to_micros(data_type: &DataType) -> DataType {
    let cut = |t: &DataType| Box::new(cut_to_micros(t));
    let kind = match &data_type.kind {
        TypeKind::Timestamp(p) => TypeKind::Timestamp((*p).min(6)),
        TypeKind::TimestampLtz(p) => TypeKind::TimestampLtz((*p).min(6)),
        TypeKind::Array(e) => TypeKind::Array(cut(e)),
        TypeKind::Multiset(e) => TypeKind::Multiset(cut(e)),
        TypeKind::Vector(e, n) => TypeKind::Vector(cut(e), *n),
        TypeKind::Map(k, v) => TypeKind::Map(cut(k), cut(v)),
        TypeKind::Row(fields) => TypeKind::Row(cut_fields(fields)),
        other => other.clone(),
    };
    DataType {
        kind,
        nullable: data_type.nullable,
    }
}
