// SPDX-License-Identifier: Apache-2.0

//! An open row group: one encoder per column, worked on by several threads.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema};
use paimon_types::{DataField, DataType, Error, Result, TypeKind};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Type as PhysicalType;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::Int96;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, SchemaDescPtr};

use super::arrays::{conform, encoder_field, has_nan};
use crate::error::write_error;
use crate::schema::{Int96 as Int96Form, parquet_schema};

/// What is the same for all row groups of a writer.
pub(super) struct Layout {
    pub(super) fields: Vec<DataField>,
    encoder_fields: Vec<FieldRef>,
    factory: ArrowRowGroupWriterFactory,
}

impl Layout {
    pub(super) fn new(fields: Vec<DataField>, properties: WriterPropertiesPtr) -> Result<Self> {
        let arrow = paimon_types::to_arrow_schema(&fields);
        let encoder_fields: Vec<FieldRef> = fields
            .iter()
            .zip(arrow.fields())
            .map(|(field, arrow)| encoder_field(arrow, &field.data_type))
            .collect();
        // Only the encoders know the schema with INT96 as bytes; this file is never written.
        let shadow = parquet_schema(&fields, Int96Form::AsBytes)?;
        let shadow = SerializedFileWriter::new(std::io::sink(), shadow, properties).map_err(write_error)?;
        let factory = ArrowRowGroupWriterFactory::new(&shadow, Arc::new(Schema::new(encoder_fields.clone())));
        Ok(Layout {
            fields,
            encoder_fields,
            factory,
        })
    }

    /// Encoders of a new row group, one for each top-level column.
    pub(super) fn open(&self, row_group: usize) -> Result<Vec<ColumnEncoder>> {
        let mut leaves = self
            .factory
            .create_column_writers(row_group)
            .map_err(write_error)?
            .into_iter();
        let mut encoders = Vec::with_capacity(self.fields.len());
        for (index, (field, encoder_field)) in self.fields.iter().zip(&self.encoder_fields).enumerate() {
            encoders.push(ColumnEncoder {
                index,
                name: field.name.clone(),
                data_type: field.data_type.clone(),
                field: encoder_field.clone(),
                leaves: leaves.by_ref().take(leaf_count(&field.data_type)).collect(),
                has_nan: false,
            });
        }
        Ok(encoders)
    }
}

fn leaf_count(data_type: &DataType) -> usize {
    match &data_type.kind {
        TypeKind::Array(inner) | TypeKind::Vector(inner, _) => leaf_count(inner),
        TypeKind::Multiset(inner) => leaf_count(inner) + 1,
        TypeKind::Map(key, value) => leaf_count(key) + leaf_count(value),
        TypeKind::Row(fields) => fields.iter().map(|f| leaf_count(&f.data_type)).sum(),
        TypeKind::Variant => 2,
        _ => 1,
    }
}

/// Encodes one top-level column of one row group.
pub(super) struct ColumnEncoder {
    pub(super) index: usize,
    name: String,
    data_type: DataType,
    field: FieldRef,
    leaves: Vec<ArrowColumnWriter>,
    has_nan: bool,
}

impl ColumnEncoder {
    pub(super) fn write(&mut self, array: &ArrayRef) -> Result<()> {
        self.write_array(array).map_err(|e| e.with("column", &self.name))
    }

    fn write_array(&mut self, array: &ArrayRef) -> Result<()> {
        let array = conform(array, &self.field, &self.data_type)?;
        self.has_nan |= has_nan(&array);
        let levels = compute_leaves(&self.field, &array).map_err(write_error)?;
        if levels.len() != self.leaves.len() {
            return Err(Error::invalid(format!(
                "{} leaf columns, {} expected",
                levels.len(),
                self.leaves.len()
            )));
        }
        for (writer, leaf) in self.leaves.iter_mut().zip(&levels) {
            writer.write(leaf).map_err(write_error)?;
        }
        Ok(())
    }

    /// Bytes that the column would have in the file.
    pub(super) fn encoded_bytes(&self) -> usize {
        self.leaves
            .iter()
            .map(ArrowColumnWriter::get_estimated_total_bytes)
            .sum()
    }

    /// Bytes of memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.leaves.iter().map(ArrowColumnWriter::memory_size).sum()
    }

    /// Ends the column. `columns` are the leaf columns of the file.
    pub(super) fn close(self, columns: &[ColumnDescPtr]) -> Result<Vec<ArrowColumnChunk>> {
        let geometry = matches!(
            self.data_type.kind,
            TypeKind::Geometry(_) | TypeKind::Geography { .. }
        );
        let close = |(writer, column): (ArrowColumnWriter, &ColumnDescPtr)| {
            let mut chunk = writer.close().map_err(write_error)?;
            finish_chunk(chunk.close_mut(), column, self.has_nan, geometry).map_err(write_error)?;
            Ok(chunk)
        };
        let chunks: Result<Vec<_>> = self.leaves.into_iter().zip(columns).map(close).collect();
        chunks.map_err(|e: Error| e.with("column", self.name))
    }
}

/// Puts the metadata of an encoded chunk right: INT96 under its true type and without bounds (their order is
/// undefined), none for geometries either, and NaN for the upper bound of a column that has one, as parquet-java has it: a
/// bound that leaves it out would let readers skip it, a bound of NaN is dropped by all.
fn finish_chunk(
    close: &mut ColumnCloseResult,
    column: &ColumnDescPtr,
    has_nan: bool,
    geometry: bool,
) -> parquet::errors::Result<()> {
    let int96 = column.physical_type() == PhysicalType::INT96;
    if !int96 && !has_nan && !geometry {
        return Ok(());
    }
    close.column_index = None;
    let old = &close.metadata;
    let nulls = old.statistics().and_then(Statistics::null_count_opt);
    let statistics = match (column.physical_type(), old.statistics()) {
        (PhysicalType::INT96, _) => {
            Statistics::Int96(ValueStatistics::<Int96>::new(None, None, None, nulls, false))
        }
        // The bounds of the encoder leave NaNs out; without any there is nothing else.
        (PhysicalType::FLOAT, Some(Statistics::Float(stats))) => {
            let min = stats.min_opt().copied().unwrap_or(f32::NAN);
            Statistics::float(Some(min), Some(f32::NAN), None, nulls, false)
        }
        (PhysicalType::DOUBLE, Some(Statistics::Double(stats))) => {
            let min = stats.min_opt().copied().unwrap_or(f64::NAN);
            Statistics::double(Some(min), Some(f64::NAN), None, nulls, false)
        }
        (PhysicalType::FLOAT, _) => Statistics::float(None, None, None, nulls, false),
        (PhysicalType::DOUBLE, _) => Statistics::double(None, None, None, nulls, false),
        _ => Statistics::byte_array(None, None, None, nulls, false),
    };
    if !int96 {
        close.metadata = old.clone().into_builder().set_statistics(statistics).build()?;
        return Ok(());
    }
    let mut builder = ColumnChunkMetaData::builder(column.clone())
        .set_compression_codec(old.compression_codec())
        .set_encodings_mask(*old.encodings_mask())
        .set_total_compressed_size(old.compressed_size())
        .set_total_uncompressed_size(old.uncompressed_size())
        .set_num_values(old.num_values())
        .set_data_page_offset(old.data_page_offset())
        .set_dictionary_page_offset(old.dictionary_page_offset())
        .set_repetition_level_histogram(old.repetition_level_histogram().cloned())
        .set_definition_level_histogram(old.definition_level_histogram().cloned())
        .set_statistics(statistics);
    if let Some(stats) = old.page_encoding_stats() {
        builder = builder.set_page_encoding_stats(stats.clone());
    }
    close.metadata = builder.build()?;
    Ok(())
}

/// Positions of the leaf columns of each top-level column.
pub(super) fn leaf_ranges(fields: &[DataField]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    fields
        .iter()
        .map(|field| {
            let end = start + leaf_count(&field.data_type);
            std::mem::replace(&mut start, end)..end
        })
        .collect()
}

/// The leaf columns of `schema` that belong to a top-level column.
pub(super) fn columns_of(schema: &SchemaDescPtr, range: std::ops::Range<usize>) -> Vec<ColumnDescPtr> {
    schema.columns().get(range).map(<[_]>::to_vec).unwrap_or_default()
}
