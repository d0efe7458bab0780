// SPDX-License-Identifier: Apache-2.0

//! `IndexFileMeta` records of every version (`wire.md` 7).

use paimon_types::{DataInput, DataOutput, Result};

use super::carrier::{Carrier, Growth, arity, since};
use super::record::{RecordReader, fixed_part};
use super::record_writer::{RecordWriter, i32_array, row_array};
use crate::{DeletionVectorMeta, GlobalIndexMeta, IndexFileMeta};

/// Fields of the records, by version of the commit message. Before version 2 of release 0.8 there were four.
pub(super) const INDEX_FIELDS: Growth = &[(2, 5), (9, 6), (11, 7)];
/// Fields of a deletion vector entry.
const VECTOR_FIELDS: Growth = &[(2, 3), (5, 4)];
/// Fields of a global index entry.
const GLOBAL_FIELDS: Growth = &[(11, 5), (12, 6)];

/// Fields of the records of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexShape {
    index: usize,
    vector: usize,
    global: usize,
}

impl IndexShape {
    /// Of a commit message version from 2 on.
    pub(super) fn of_message(version: i32) -> Self {
        IndexShape {
            index: arity(INDEX_FIELDS, version),
            vector: arity(VECTOR_FIELDS, version),
            global: arity(GLOBAL_FIELDS, version),
        }
    }

    /// Of release 0.7.
    pub(super) const RELEASE_0_7: IndexShape = IndexShape {
        index: 4,
        vector: 0,
        global: 0,
    };

    /// i32 count, then records.
    pub(super) fn read_list(self, input: &mut DataInput<'_>) -> Result<Vec<IndexFileMeta>> {
        let count = input.read_count(4 + fixed_part(self.index))?;
        (0..count).map(|_| self.read(input)).collect()
    }

    pub(super) fn read(self, input: &mut DataInput<'_>) -> Result<IndexFileMeta> {
        let row = RecordReader::new("index file", input.read_sized()?, self.index)?;
        let vectors = match row.opt_array(4, 8)? {
            None => None,
            Some(array) => Some(
                array
                    .rows()
                    .map(|piece| self.read_vector(piece?))
                    .collect::<Result<Vec<_>>>()?,
            ),
        };
        let meta = IndexFileMeta {
            index_type: row.string(0)?,
            file_name: row.string(1)?,
            file_size: row.i64(2)?,
            row_count: row.i64(3)?,
            dv_ranges: vectors,
            external_path: row.opt_string(5)?,
            global_index: row
                .opt_piece(6)?
                .map(|piece| self.read_global(piece))
                .transpose()?,
        };
        row.finish().map_err(|e| e.with("file", &meta.file_name))?;
        Ok(meta)
    }

    fn read_vector(self, piece: &[u8]) -> Result<DeletionVectorMeta> {
        let row = RecordReader::new("deletion vector", piece, self.vector)?;
        let meta = DeletionVectorMeta {
            data_file_name: row.string(0)?,
            offset: row.i32(1)?,
            length: row.i32(2)?,
            cardinality: row.opt_i64(3)?,
        };
        row.finish().map_err(|e| e.with("file", &meta.data_file_name))?;
        Ok(meta)
    }

    fn read_global(self, piece: &[u8]) -> Result<GlobalIndexMeta> {
        let row = RecordReader::new("global index", piece, self.global)?;
        let meta = GlobalIndexMeta {
            row_range_start: row.i64(0)?,
            row_range_end: row.i64(1)?,
            index_field_id: row.i32(2)?,
            extra_field_ids: row.opt_array(3, 4)?.map(|array| array.i32s()).transpose()?,
            index_meta: row.opt_bytes(4)?.map(<[u8]>::to_vec),
            source_meta: row.opt_bytes(5)?.map(<[u8]>::to_vec),
        };
        row.finish()?;
        Ok(meta)
    }

    /// i32 count, then records.
    pub(super) fn write_list(
        self,
        out: &mut DataOutput,
        files: &[IndexFileMeta],
        carrier: &Carrier,
    ) -> Result<()> {
        out.write_count(files.len())?;
        let mut record = Vec::new();
        for file in files {
            self.check_fields(file, carrier)?;
            record.clear();
            self.write_record(&mut record, file);
            out.write_sized(&record)?;
        }
        Ok(())
    }

    fn write_record(self, buffer: &mut Vec<u8>, file: &IndexFileMeta) {
        let mut row = RecordWriter::new(buffer, self.index);
        row.bytes(0, file.index_type.as_bytes());
        row.bytes(1, file.file_name.as_bytes());
        row.i64(2, file.file_size);
        row.i64(3, file.row_count);
        if self.index > 4 {
            row.optional(4, file.dv_ranges.as_deref(), |row, field, vectors| {
                row.piece(field, |buffer| {
                    row_array(buffer, vectors, |buffer, vector| {
                        self.write_vector(buffer, vector)
                    })
                });
            });
        }
        if self.index > 5 {
            row.optional(5, file.external_path.as_deref(), |row, field, path| {
                row.bytes(field, path.as_bytes())
            });
        }
        if self.index > 6 {
            row.optional(6, file.global_index.as_ref(), |row, field, global| {
                row.piece(field, |buffer| self.write_global(buffer, global));
            });
        }
    }

    fn write_vector(self, buffer: &mut Vec<u8>, vector: &DeletionVectorMeta) {
        let mut row = RecordWriter::new(buffer, self.vector);
        row.bytes(0, vector.data_file_name.as_bytes());
        row.i32(1, vector.offset);
        row.i32(2, vector.length);
        if self.vector > 3 {
            row.optional(3, vector.cardinality, RecordWriter::i64);
        }
    }

    fn write_global(self, buffer: &mut Vec<u8>, global: &GlobalIndexMeta) {
        let mut row = RecordWriter::new(buffer, self.global);
        row.i64(0, global.row_range_start);
        row.i64(1, global.row_range_end);
        row.i32(2, global.index_field_id);
        row.optional(3, global.extra_field_ids.as_deref(), |row, field, ids| {
            row.piece(field, |buffer| i32_array(buffer, ids));
        });
        row.optional(4, global.index_meta.as_deref(), RecordWriter::bytes);
        if self.global > 5 {
            row.optional(5, global.source_meta.as_deref(), RecordWriter::bytes);
        }
    }

    fn check_fields(self, file: &IndexFileMeta, carrier: &Carrier) -> Result<()> {
        let vectors = file.dv_ranges.as_deref().unwrap_or_default();
        let source_meta = file
            .global_index
            .as_ref()
            .is_some_and(|g| g.source_meta.is_some());
        let missing = if self.index <= 4 && file.dv_ranges.is_some() {
            Some(("dv_ranges of an index file", None))
        } else if self.index <= 5 && file.external_path.is_some() {
            Some(("external_path of an index file", since(INDEX_FIELDS, 5)))
        } else if self.index <= 6 && file.global_index.is_some() {
            Some(("global_index of an index file", since(INDEX_FIELDS, 6)))
        } else if self.vector <= 3 && vectors.iter().any(|v| v.cardinality.is_some()) {
            Some(("cardinality of a deletion vector", since(VECTOR_FIELDS, 3)))
        } else if self.global <= 5 && source_meta {
            Some(("source_meta of a global index", since(GLOBAL_FIELDS, 5)))
        } else {
            None
        };
        match missing {
            None => Ok(()),
            Some((field, since)) => Err(carrier.refuse(field, since).with("file", &file.file_name)),
        }
    }
}
