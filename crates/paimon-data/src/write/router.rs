// SPDX-License-Identifier: Apache-2.0

//! Which partition and bucket each row belongs to (Java `RowPartitionKeyExtractor`, `FixedBucketRowKeyExtractor`,
//! `AppendTableRowKeyAndBucketExtractor`), decided column by column.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMillisecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use arrow_select::take::take;
use paimon_types::{
    BinaryRow, BinaryRowWriter, BucketFunction, CoreOptions, DataType, Datum, Error, Result, TableSchema,
    TypeKind, bigint_row_hash, bucket_from_hash, bytes_row_hash, int_row_hash, mod_bucket, null_row_hash,
};

use super::partition_ids::PartitionIds;
use crate::arrow_value::datum_at;

/// Dense lookup tables of groups are used up to this size.
const DENSE: usize = 1 << 16;

/// The rows of a batch that belong to one partition and bucket, in their order.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) partition: BinaryRow,
    pub(crate) bucket: i32,
    pub(crate) rows: RecordBatch,
}

/// Splits batches in the form of the table by partition and bucket.
#[derive(Debug)]
pub(crate) struct Router {
    partition: Vec<(usize, DataType)>,
    buckets: Buckets,
}

#[derive(Debug)]
enum Buckets {
    /// Everything in bucket 0.
    One,
    Fixed {
        function: BucketFunction,
        keys: Vec<(usize, DataType)>,
        count: i32,
    },
}

impl Router {
    /// A router for an append table.
    ///
    /// # Errors
    /// `InvalidInput` when a partition or bucket key column does not exist, or several buckets have no key;
    /// `Unsupported` when the bucket function does not take the key's types.
    pub(crate) fn new(schema: &TableSchema, options: &CoreOptions) -> Result<Self> {
        let column = |name: &str, what: &str| {
            let found = schema
                .fields
                .iter()
                .enumerate()
                .find(|(_, field)| field.name == name);
            found
                .map(|(index, field)| (index, field.data_type.clone()))
                .ok_or_else(|| {
                    Error::invalid(format!("{what} column '{name}' is not a column of the table"))
                        .with("column", name)
                })
        };
        let partition = schema
            .partition_keys
            .iter()
            .map(|name| column(name, "partition"))
            .collect::<Result<Vec<_>>>()?;
        // bucket 1 of tables of version 1 has no key, and one bucket needs none
        let buckets = if options.bucket <= 1 {
            Buckets::One
        } else {
            let keys = schema.bucket_keys();
            if keys.is_empty() {
                return Err(Error::invalid(format!(
                    "a table with {} buckets needs a bucket key",
                    options.bucket
                ))
                .with("option", "bucket-key"));
            }
            let keys = keys
                .into_iter()
                .map(|name| column(name, "bucket key"))
                .collect::<Result<Vec<_>>>()?;
            let types: Vec<DataType> = keys.iter().map(|(_, data_type)| data_type.clone()).collect();
            // a row of NULLs shows whether the function takes the types
            let nulls = BinaryRow::encode(&types, &vec![None; types.len()])?;
            options.bucket_function.bucket(&nulls, &types, options.bucket)?;
            Buckets::Fixed {
                function: options.bucket_function,
                keys,
                count: options.bucket,
            }
        };
        Ok(Router { partition, buckets })
    }

    /// Splits a batch. Groups are in the order of their first rows.
    ///
    /// # Errors
    /// `InvalidInput` when a value does not fit its type.
    pub(crate) fn route(&self, batch: &RecordBatch) -> Result<Vec<Group>> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(Vec::new());
        }
        let columns = self
            .partition
            .iter()
            .map(|(index, _)| column(batch, *index))
            .collect::<Result<Vec<_>>>()?;
        let columns: Vec<&dyn Array> = columns.iter().map(|c| c.as_ref()).collect();
        let partitions = PartitionIds::new(&columns, rows)?;
        let buckets = self.bucket_of_rows(batch)?;
        let partition_rows = partitions
            .first_rows
            .iter()
            .map(|row| self.partition_row(batch, *row))
            .collect::<Result<Vec<_>>>()?;

        let groups = group_rows(&partitions, buckets.as_deref(), self.bucket_count());
        let single = groups.len() == 1;
        groups
            .into_iter()
            .map(|(partition, bucket, rows)| {
                let partition = partition_rows
                    .get(partition as usize)
                    .cloned()
                    .ok_or_else(|| Error::invalid("row without partition"))?;
                let rows = if single {
                    batch.clone()
                } else {
                    take_rows(batch, UInt32Array::from(rows))?
                };
                Ok(Group {
                    partition,
                    bucket,
                    rows,
                })
            })
            .collect()
    }

    fn bucket_count(&self) -> usize {
        match &self.buckets {
            Buckets::One => 1,
            Buckets::Fixed { count, .. } => usize::try_from(*count).unwrap_or(1),
        }
    }

    fn partition_row(&self, batch: &RecordBatch, row: usize) -> Result<BinaryRow> {
        if self.partition.is_empty() {
            return Ok(BinaryRow::empty());
        }
        let types: Vec<DataType> = self
            .partition
            .iter()
            .map(|(_, data_type)| data_type.clone())
            .collect();
        let values: Vec<Option<Datum>> = self
            .partition
            .iter()
            .map(|(index, data_type)| datum_at(column(batch, *index)?.as_ref(), row, data_type))
            .collect::<Result<_>>()?;
        BinaryRow::encode(&types, &values)
    }

    /// The bucket of each row, `None` when all are in bucket 0.
    fn bucket_of_rows(&self, batch: &RecordBatch) -> Result<Option<Vec<i32>>> {
        let Buckets::Fixed {
            function,
            keys,
            count,
        } = &self.buckets
        else {
            return Ok(None);
        };
        if let [(index, data_type)] = keys.as_slice() {
            let array = column(batch, *index)?;
            if let Some(buckets) = single_key_buckets(*function, array.as_ref(), data_type, *count) {
                return Ok(Some(buckets));
            }
        }
        let arrays = keys
            .iter()
            .map(|(index, _)| column(batch, *index))
            .collect::<Result<Vec<_>>>()?;
        let types: Vec<DataType> = keys.iter().map(|(_, data_type)| data_type.clone()).collect();
        let mut writer = BinaryRowWriter::new(types.len());
        let mut buckets = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            writer.reset(types.len());
            for (field, (array, data_type)) in arrays.iter().zip(&types).enumerate() {
                write_cell(&mut writer, field, array.as_ref(), row, data_type)?;
            }
            buckets.push(match function {
                BucketFunction::Default => bucket_from_hash(writer.hash_code(), *count),
                _ => function.bucket(&writer.finish()?, &types, *count)?,
            });
        }
        Ok(Some(buckets))
    }
}

fn column(batch: &RecordBatch, index: usize) -> Result<&ArrayRef> {
    batch
        .columns()
        .get(index)
        .ok_or_else(|| Error::invalid("the batch has too few columns"))
}

/// Copies rows, so that a group does not keep the whole batch alive.
fn take_rows(batch: &RecordBatch, rows: UInt32Array) -> Result<RecordBatch> {
    let fail =
        |e: arrow_schema::ArrowError| Error::invalid("cannot split the batch by bucket").with_source(e);
    let columns = batch
        .columns()
        .iter()
        .map(|column| take(column.as_ref(), &rows, None))
        .collect::<Result<Vec<_>, _>>()
        .map_err(fail)?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(batch.schema_ref()), columns, &options).map_err(fail)
}

/// (partition number, bucket, rows) in the order of the first rows. With one group its rows are not listed.
fn group_rows(
    partitions: &PartitionIds,
    buckets: Option<&[i32]>,
    bucket_count: usize,
) -> Vec<(u32, i32, Vec<u32>)> {
    if partitions.first_rows.len() <= 1 && buckets.is_none() {
        return vec![(0, 0, Vec::new())];
    }
    let mut groups: Vec<(u32, i32, Vec<u32>)> = Vec::new();
    let dense = partitions.first_rows.len().saturating_mul(bucket_count);
    let mut table: Vec<u32> = if dense <= DENSE {
        vec![u32::MAX; dense]
    } else {
        Vec::new()
    };
    let mut map: HashMap<(u32, i32), u32> = HashMap::new();
    for (row, partition) in partitions.ids.iter().enumerate() {
        let bucket = buckets.and_then(|b| b.get(row)).copied().unwrap_or(0);
        let slot = (*partition as usize)
            .saturating_mul(bucket_count)
            .saturating_add(usize::try_from(bucket).unwrap_or(0));
        let next = groups.len() as u32;
        let group = match table.get_mut(slot) {
            Some(group) => group,
            None => map.entry((*partition, bucket)).or_insert(u32::MAX),
        };
        if *group == u32::MAX {
            *group = next;
            groups.push((*partition, bucket, Vec::new()));
        }
        if let Some((_, _, rows)) = groups.get_mut(*group as usize) {
            rows.push(row as u32);
        }
    }
    groups
}

/// Buckets of a key of one column whose value lies in one slot or is a string; `None` when the general way is needed.
fn single_key_buckets(
    function: BucketFunction,
    array: &dyn Array,
    key: &DataType,
    count: i32,
) -> Option<Vec<i32>> {
    fn primitive<T: ArrowPrimitiveType>(
        array: &dyn Array,
        null: i32,
        bucket: impl Fn(T::Native) -> i32,
    ) -> Option<Vec<i32>> {
        let array = array.as_primitive_opt::<T>()?;
        Some(match array.null_count() {
            0 => array.values().iter().map(|value| bucket(*value)).collect(),
            _ => array.iter().map(|value| value.map_or(null, &bucket)).collect(),
        })
    }
    match function {
        BucketFunction::Default => {}
        BucketFunction::Mod => {
            let null = mod_bucket(0, count);
            return match key.kind {
                TypeKind::Int => primitive::<Int32Type>(array, null, |v| mod_bucket(i64::from(v), count)),
                TypeKind::BigInt => primitive::<Int64Type>(array, null, |v| mod_bucket(v, count)),
                _ => None,
            };
        }
        BucketFunction::Hive => return None,
    }
    let null = bucket_from_hash(null_row_hash(), count);
    let int = |value: i32| bucket_from_hash(int_row_hash(value), count);
    let long = |value: i64| bucket_from_hash(bigint_row_hash(value), count);
    let bytes = |value: &[u8]| bucket_from_hash(bytes_row_hash(value), count);
    match &key.kind {
        // narrow values are not sign-extended in their slot
        TypeKind::TinyInt => primitive::<Int8Type>(array, null, |v| int(i32::from(v as u8))),
        TypeKind::SmallInt => primitive::<Int16Type>(array, null, |v| int(i32::from(v as u16))),
        TypeKind::Int => primitive::<Int32Type>(array, null, int),
        TypeKind::BigInt => primitive::<Int64Type>(array, null, long),
        TypeKind::Float => primitive::<Float32Type>(array, null, |v| int(v.to_bits() as i32)),
        TypeKind::Double => primitive::<Float64Type>(array, null, |v| long(v.to_bits() as i64)),
        TypeKind::Date => primitive::<Date32Type>(array, null, int),
        TypeKind::Time(_) => primitive::<Time32MillisecondType>(array, null, int),
        TypeKind::Decimal { precision, .. } if *precision <= 18 => {
            primitive::<Decimal128Type>(array, null, |v| long(v as i64))
        }
        TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if *p <= 3 => {
            primitive::<TimestampMillisecondType>(array, null, long)
        }
        TypeKind::Boolean => Some(
            array
                .as_boolean_opt()?
                .iter()
                .map(|v| v.map_or(null, |v| int(i32::from(v))))
                .collect(),
        ),
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            let array = array.as_string_opt::<i32>()?;
            Some(
                array
                    .iter()
                    .map(|v| v.map_or(null, |v| bytes(v.as_bytes())))
                    .collect(),
            )
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => Some(
            array
                .as_binary_opt::<i32>()?
                .iter()
                .map(|v| v.map_or(null, bytes))
                .collect(),
        ),
        _ => None,
    }
}

/// Writes one value of a row under construction.
fn write_cell(
    writer: &mut BinaryRowWriter,
    field: usize,
    array: &dyn Array,
    row: usize,
    data_type: &DataType,
) -> Result<()> {
    if array.is_null(row) {
        return writer.set_null(field, data_type);
    }
    match array.data_type() {
        ArrowType::Int32 => writer.write_i32(field, array.as_primitive::<Int32Type>().value(row)),
        ArrowType::Int64 => writer.write_i64(field, array.as_primitive::<Int64Type>().value(row)),
        ArrowType::Date32 => writer.write_i32(field, array.as_primitive::<Date32Type>().value(row)),
        ArrowType::Utf8 => writer.write_bytes(field, array.as_string::<i32>().value(row).as_bytes()),
        ArrowType::Binary => writer.write_bytes(field, array.as_binary::<i32>().value(row)),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) if compact_timestamp(data_type) => {
            writer.write_i64(field, array.as_primitive::<TimestampMillisecondType>().value(row))
        }
        _ => writer.write_datum(field, datum_at(array, row, data_type)?.as_ref(), data_type),
    }
}

fn compact_timestamp(data_type: &DataType) -> bool {
    matches!(data_type.kind, TypeKind::Timestamp(p) | TypeKind::TimestampLtz(p) if p <= 3)
}
