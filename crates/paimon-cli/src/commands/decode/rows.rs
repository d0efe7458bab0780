// SPDX-License-Identifier: Apache-2.0

//! Binary rows in the three forms in which they are stored and sent.

use paimon::protocol::{RowValues, json as protocol_json};
use paimon::types::{BinaryRow, BinaryRowWriter, DataInput, DataOutput, DataType, Datum, Error, Result};
use serde_json::{Value, json};

use super::{Decoded, no_form};
use crate::args::{DecodeArgs, Form};

/// What stands before the bytes of a row. Rows have a multiple of 8 bytes, which tells the forms apart.
#[derive(Clone, Copy)]
enum RowForm {
    /// The number of fields: partitions, keys and bounds in manifests and splits.
    Bytes,
    /// Length, number of fields: partitions in messages.
    Stream,
    /// Length; the fields are known from elsewhere: file records.
    Record,
}

impl RowForm {
    fn of(bytes: &[u8]) -> Self {
        let length = bytes
            .first_chunk()
            .map(|first| i64::from(i32::from_be_bytes(*first)));
        match length {
            Some(length) if length + 4 == bytes.len() as i64 && length % 8 == 4 => RowForm::Stream,
            Some(length) if length + 4 == bytes.len() as i64 && length % 8 == 0 => RowForm::Record,
            _ => RowForm::Bytes,
        }
    }

    fn name(self) -> &'static str {
        match self {
            RowForm::Bytes => "bytes",
            RowForm::Stream => "stream",
            RowForm::Record => "record",
        }
    }

    fn read(self, bytes: &[u8], types: Option<&[DataType]>) -> Result<BinaryRow> {
        let mut input = DataInput::new(bytes);
        match (self, types) {
            (RowForm::Bytes, _) => BinaryRow::from_serialized(bytes),
            (RowForm::Stream, _) => BinaryRow::read_stream(&mut input),
            (RowForm::Record, Some(types)) => BinaryRow::read_record(&mut input, types.len()),
            (RowForm::Record, None) => Err(Error::invalid(
                "the row does not tell its number of fields, which needs --types",
            )),
        }
    }

    fn write(self, row: &BinaryRow) -> Vec<u8> {
        let mut out = DataOutput::new();
        match self {
            RowForm::Bytes => return row.to_serialized(),
            RowForm::Stream => row.write_stream(&mut out),
            RowForm::Record => row.write_record(&mut out),
        }
        out.into_bytes()
    }
}

/// A row. With --types its values too, and --reencode makes a row of them in the form in which it came: the bytes that were read
/// when those are what Java writes. The forms have no versions: whatever number stands behind --reencode, it means that one.
pub(super) fn binary_row(args: &DecodeArgs, bytes: &[u8]) -> Result<Decoded> {
    let types = args.types.as_deref().map(split_types).transpose()?;
    let form = RowForm::of(bytes);
    let row = form.read(bytes, types.as_deref())?;
    let values = types.as_deref().map(|types| row.decode(types)).transpose()?;
    let encoded = match (args.reencode, types.as_deref(), &values) {
        (None, ..) => None,
        (Some(Form::Java(_)), Some(types), Some(values)) => {
            Some(form.write(&made_of(types, values, row.row_kind())?))
        }
        (Some(Form::Java(_)), ..) => {
            return Err(
                Error::invalid("a row is made of values, which need --types").with("option", "--reencode")
            );
        }
        (Some(Form::Native), ..) => return Err(no_form("rows have forms of Java only")),
    };
    let mut value = protocol_json::row(&RowValues::from_encoded_row(row.clone()), None);
    if let Value::Object(object) = &mut value {
        object.insert("form".to_owned(), json!(form.name()));
        object.insert("hash".to_owned(), json!(row.hash_code()));
        object.insert("rowKind".to_owned(), json!(row.row_kind()));
        if let (Some(types), Some(values)) = (types, values) {
            let values = values
                .iter()
                .zip(&types)
                .map(|(v, t)| protocol_json::datum(v.as_ref(), t));
            object.insert("values".to_owned(), values.collect());
        }
    }
    Ok(Decoded { value, encoded })
}

fn made_of(types: &[DataType], values: &[Option<Datum>], kind: u8) -> Result<BinaryRow> {
    let mut writer = BinaryRowWriter::new(types.len());
    writer.set_row_kind(kind);
    for (index, (data_type, value)) in types.iter().zip(values).enumerate() {
        writer.write_datum(index, value.as_ref(), data_type)?;
    }
    writer.finish()
}

/// Types separated by commas that stand outside of parentheses.
fn split_types(text: &str) -> Result<Vec<DataType>> {
    let (mut depth, mut start, mut types) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices().chain([(text.len(), ',')]) {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                types.push(DataType::parse(text.get(start..at).unwrap_or_default().trim())?);
                start = at + 1;
            }
            _ => {}
        }
    }
    Ok(types)
}
