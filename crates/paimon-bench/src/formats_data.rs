// SPDX-License-Identifier: Apache-2.0

//! Rows of one family of types, the same in every run; a tenth of most columns is null.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, MapArray,
    RecordBatch, StringArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType as ArrowType, Field};
use paimon::types::{DataField, DataType, to_arrow_schema};

use crate::BenchResult;
use crate::data::{BATCH_ROWS, Random};

/// The families; the last has columns of all.
pub(crate) const FAMILIES: [&str; 8] = [
    "integers",
    "doubles",
    "strings-dictionary",
    "strings-plain",
    "timestamps",
    "decimals",
    "nested",
    "mixed",
];

/// Batches of a family, `rows` rows in all.
pub(crate) fn family(name: &str, rows: usize) -> BenchResult<Vec<RecordBatch>> {
    let types: &[&str] = match name {
        "integers" => &["BIGINT", "INT", "INT NOT NULL"],
        "doubles" => &["DOUBLE", "DOUBLE NOT NULL", "FLOAT"],
        "strings-dictionary" => &["STRING", "STRING NOT NULL"],
        "strings-plain" => &["STRING", "STRING NOT NULL"],
        "timestamps" => &["TIMESTAMP(3)", "TIMESTAMP(6)"],
        "decimals" => &["DECIMAL(18, 2)", "DECIMAL(38, 10)"],
        "nested" => &[
            "ARRAY<INT>",
            "ROW<a BIGINT, b STRING>",
            "MAP<STRING NOT NULL, INT>",
        ],
        "mixed" => &[
            "BIGINT",
            "INT",
            "DOUBLE",
            "STRING",
            "STRING",
            "TIMESTAMP(6)",
            "DECIMAL(18, 2)",
            "ARRAY<INT>",
        ],
        other => return Err(format!("unknown family {other:?}").into()),
    };
    let mut fields = Vec::new();
    for (id, text) in (0..).zip(types) {
        fields.push(DataField::new(id, format!("c{id}"), DataType::parse(text)?));
    }
    // Ids of nested fields follow those of the columns.
    let mut next = i32::try_from(fields.len())?;
    for field in &mut fields {
        if let paimon::types::TypeKind::Row(inner) = &mut field.data_type.kind {
            for inner in inner {
                inner.id = next;
                next += 1;
            }
        }
    }
    let schema = Arc::new(to_arrow_schema(&fields));
    let mut batches = Vec::new();
    for start in (0..rows).step_by(BATCH_ROWS) {
        let mut rows = Rows {
            start,
            count: BATCH_ROWS.min(rows - start),
            random: Random(start as u64 + 1),
        };
        let columns = match name {
            "integers" => vec![rows.longs(), rows.ints(), rows.ascending()],
            "doubles" => vec![rows.doubles(true), rows.doubles(false), rows.floats()],
            "strings-dictionary" => vec![rows.names(true), rows.names(false)],
            "strings-plain" => vec![rows.texts(true), rows.texts(false)],
            "timestamps" => vec![rows.millis(), rows.micros()],
            "decimals" => vec![rows.decimals(18, 2)?, rows.decimals(38, 10)?],
            "nested" => vec![
                rows.lists(schema.field(0))?,
                rows.structs(schema.field(1))?,
                rows.maps(schema.field(2))?,
            ],
            _ => vec![
                rows.longs(),
                rows.ints(),
                rows.doubles(true),
                rows.names(true),
                rows.texts(true),
                rows.micros(),
                rows.decimals(18, 2)?,
                rows.lists(schema.field(7))?,
            ],
        };
        batches.push(RecordBatch::try_new(schema.clone(), columns)?);
    }
    Ok(batches)
}

/// The columns of one batch.
struct Rows {
    start: usize,
    count: usize,
    random: Random,
}

impl Rows {
    fn draw(&mut self, limit: u64) -> u64 {
        self.random.next() % limit
    }

    fn maybe<T>(&mut self, nullable: bool, value: impl Fn(&mut Self) -> T) -> Option<T> {
        let value = value(self);
        (!nullable || self.draw(10) > 0).then_some(value)
    }

    fn longs(&mut self) -> ArrayRef {
        let column: Int64Array = (0..self.count)
            .map(|_| self.maybe(true, |r| r.draw(1 << 40) as i64))
            .collect();
        Arc::new(column)
    }

    fn ints(&mut self) -> ArrayRef {
        let column: Int32Array = (0..self.count)
            .map(|_| self.maybe(true, |r| r.draw(100_000) as i32))
            .collect();
        Arc::new(column)
    }

    fn ascending(&mut self) -> ArrayRef {
        let start = self.start as i32;
        Arc::new(Int32Array::from_iter_values(
            (0..self.count as i32).map(|i| start + i),
        ))
    }

    fn doubles(&mut self, nullable: bool) -> ArrayRef {
        let column: Float64Array = (0..self.count)
            .map(|_| self.maybe(nullable, |r| r.random.unit() * 1000.0))
            .collect();
        Arc::new(column)
    }

    fn floats(&mut self) -> ArrayRef {
        let column: Float32Array = (0..self.count)
            .map(|_| self.maybe(true, |r| r.random.unit() as f32))
            .collect();
        Arc::new(column)
    }

    /// A few thousand different values.
    fn names(&mut self, nullable: bool) -> ArrayRef {
        let column: StringArray = (0..self.count)
            .map(|_| self.maybe(nullable, |r| format!("customer-{:05}", r.draw(5_000))))
            .collect();
        Arc::new(column)
    }

    /// Values that are all different, 8 to 40 bytes.
    fn texts(&mut self, nullable: bool) -> ArrayRef {
        let column: StringArray = (0..self.count)
            .map(|_| {
                self.maybe(nullable, |r| {
                    let length = 8 + r.draw(33) as usize;
                    let mut text = format!(
                        "{:016x}{:016x}{:08x}",
                        r.random.next(),
                        r.random.next(),
                        r.draw(1 << 32)
                    );
                    text.truncate(length);
                    text
                })
            })
            .collect();
        Arc::new(column)
    }

    fn millis(&mut self) -> ArrayRef {
        let column: TimestampMillisecondArray = (0..self.count)
            .map(|i| {
                self.maybe(true, |r| {
                    1_700_000_000_000 + (r.start + i) as i64 * 137 + r.draw(1000) as i64
                })
            })
            .collect();
        Arc::new(column)
    }

    fn micros(&mut self) -> ArrayRef {
        let column: TimestampMicrosecondArray = (0..self.count)
            .map(|_| {
                self.maybe(true, |r| {
                    1_600_000_000_000_000 + r.draw(100_000_000_000_000) as i64
                })
            })
            .collect();
        Arc::new(column)
    }

    fn decimals(&mut self, precision: u8, scale: i8) -> BenchResult<ArrayRef> {
        let column: Decimal128Array = (0..self.count)
            .map(|_| self.maybe(true, |r| i128::from(r.draw(1 << 40)) << (precision / 2)))
            .collect();
        Ok(Arc::new(column.with_precision_and_scale(precision, scale)?))
    }

    fn lists(&mut self, field: &Field) -> BenchResult<ArrayRef> {
        let ArrowType::List(element) = field.data_type() else {
            return Err("no list".into());
        };
        let mut builder = ListBuilder::new(Int32Builder::new());
        for _ in 0..self.count {
            let length = self.draw(6);
            for _ in 0..length {
                let value = self.maybe(true, |r| r.draw(1000) as i32);
                builder.values().append_option(value);
            }
            let valid = self.draw(10) > 0;
            builder.append(valid);
        }
        let (_, offsets, values, nulls) = builder.finish().into_parts();
        Ok(Arc::new(ListArray::try_new(
            element.clone(),
            offsets,
            values,
            nulls,
        )?))
    }

    fn structs(&mut self, field: &Field) -> BenchResult<ArrayRef> {
        let ArrowType::Struct(fields) = field.data_type() else {
            return Err("no struct".into());
        };
        let columns = vec![self.longs(), self.names(true)];
        let valid: Vec<bool> = (0..self.count).map(|_| self.draw(10) > 0).collect();
        Ok(Arc::new(StructArray::try_new(
            fields.clone(),
            columns,
            Some(valid.into()),
        )?))
    }

    fn maps(&mut self, field: &Field) -> BenchResult<ArrayRef> {
        let ArrowType::Map(entries, _) = field.data_type() else {
            return Err("no map".into());
        };
        let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        for _ in 0..self.count {
            let length = self.draw(4);
            for key in 0..length {
                builder
                    .keys()
                    .append_value(format!("key-{key}-{}", self.draw(100)));
                let value = self.maybe(true, |r| r.draw(1000) as i32);
                builder.values().append_option(value);
            }
            let valid = self.draw(10) > 0;
            builder.append(valid)?;
        }
        let (_, offsets, pairs, nulls, ordered) = builder.finish().into_parts();
        let ArrowType::Struct(fields) = entries.data_type() else {
            return Err("no entries".into());
        };
        let (_, columns, _) = pairs.into_parts();
        let pairs = StructArray::try_new(fields.clone(), columns, None)?;
        Ok(Arc::new(MapArray::try_new(
            entries.clone(),
            offsets,
            pairs,
            nulls,
            ordered,
        )?))
    }
}
