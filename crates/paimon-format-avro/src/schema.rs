// SPDX-License-Identifier: Apache-2.0

//! Avro schemas of Paimon columns and back (Java `AvroSchemaConverter`, `data-files.md` 5).

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType as ArrowType, Field, Fields, Schema};
use paimon_avro::{Logical, Node, NodeId, Program};
use paimon_types::{
    ARROW_FIELD_ID, DataField, DataType, Error, MAX_LENGTH, Result, TypeKind, to_arrow_schema,
};
use serde_json::{Map, Value, json};

/// Namespace and name of the record of a file.
const NAMESPACE: &str = "org.apache.paimon.avro.generated";
const ROOT: &str = "record";

/// The schema JSON of a file of `fields`, text for text what Java writes.
///
/// # Errors
/// `Unsupported` that names the column for a type that Avro files cannot store, or a column name that is no Avro name.
pub(crate) fn avro_schema(fields: &[DataField]) -> Result<String> {
    let mut converter = Converter::default();
    Ok(converter.record(ROOT, fields, true)?.to_string())
}

/// True for a MAP or MULTISET that is an Avro `map`: its keys are text.
pub(crate) fn is_text_map(key: &DataType) -> bool {
    matches!(key.kind, TypeKind::Char(_) | TypeKind::VarChar(_))
}

/// Key and value type of a MAP or MULTISET; the counts of a multiset are nullable in Avro.
pub(crate) fn map_parts(data_type: &DataType) -> Option<(DataType, DataType)> {
    match &data_type.kind {
        TypeKind::Map(key, value) => Some((key.as_ref().clone(), value.as_ref().clone())),
        TypeKind::Multiset(element) => Some((element.as_ref().clone(), DataType::new(TypeKind::Int))),
        _ => None,
    }
}

#[derive(Default)]
struct Converter {
    /// Records by their names: a second one is a reference when it is the same.
    records: HashMap<String, Value>,
}

impl Converter {
    fn nullable(&mut self, data_type: &DataType, name: &str) -> Result<Value> {
        let value = self.plain(data_type, name)?;
        Ok(if data_type.nullable {
            json!(["null", value])
        } else {
            value
        })
    }

    fn plain(&mut self, data_type: &DataType, name: &str) -> Result<Value> {
        let logical = |base: &str, logical: &str| json!({"type": base, "logicalType": logical});
        let too_fine =
            |limit: u8| Error::unsupported(format!("avro stores {data_type} at most with precision {limit}"));
        Ok(match &data_type.kind {
            TypeKind::Boolean => json!("boolean"),
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int => json!("int"),
            TypeKind::BigInt => json!("long"),
            TypeKind::Float => json!("float"),
            TypeKind::Double => json!("double"),
            TypeKind::Char(_) | TypeKind::VarChar(_) => json!("string"),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob => json!("bytes"),
            // The names are the other way round than Avro means them, as in Java.
            TypeKind::Timestamp(0..=3) => logical("long", "timestamp-millis"),
            TypeKind::Timestamp(4..=6) => logical("long", "timestamp-micros"),
            TypeKind::TimestampLtz(0..=3) => logical("long", "local-timestamp-millis"),
            TypeKind::TimestampLtz(4..=6) => logical("long", "local-timestamp-micros"),
            TypeKind::Timestamp(_) | TypeKind::TimestampLtz(_) => return Err(too_fine(6)),
            TypeKind::Date => logical("int", "date"),
            TypeKind::Time(0..=3) => logical("int", "time-millis"),
            TypeKind::Time(_) => return Err(too_fine(3)),
            TypeKind::Decimal { precision, scale } => json!({
                "type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale
            }),
            TypeKind::Row(fields) => self.record(name, fields, false)?,
            TypeKind::Array(element) | TypeKind::Vector(element, _) => {
                json!({"type": "array", "items": self.nullable(element, name)?})
            }
            TypeKind::Map(..) | TypeKind::Multiset(_) => {
                let (key, value) = map_parts(data_type)
                    .ok_or_else(|| Error::unsupported(format!("avro cannot store {data_type}")))?;
                if is_text_map(&key) {
                    json!({"type": "map", "values": self.nullable(&value, name)?})
                } else {
                    let key_type = self.nullable(&key, &format!("{name}_key"))?;
                    let value_type = self.nullable(&value, &format!("{name}_value"))?;
                    let key_field = json!({"name": "key", "type": key_type});
                    let mut value_field = json!({"name": "value", "type": value_type});
                    if value.nullable
                        && let Some(field) = value_field.as_object_mut()
                    {
                        field.insert("default".to_owned(), Value::Null);
                    }
                    let entry = self.named(name, vec![key_field, value_field], false)?;
                    json!({"type": "array", "items": entry, "logicalType": "map"})
                }
            }
            TypeKind::Variant | TypeKind::Geometry(_) | TypeKind::Geography { .. } => {
                return Err(Error::unsupported(format!("avro cannot store {data_type}")));
            }
        })
    }

    fn record(&mut self, name: &str, fields: &[DataField], root: bool) -> Result<Value> {
        let mut described = Vec::with_capacity(fields.len());
        let mut names = HashSet::new();
        for field in fields {
            let inner = format!("{name}_{}", field.name);
            let key = if root { "column" } else { "field" };
            let described_type = check_name(&field.name)
                .and_then(|()| self.nullable(&field.data_type, &inner))
                .map_err(|e| e.with(key, &field.name))?;
            if !names.insert(field.name.as_str()) {
                return Err(Error::invalid("column name is there twice").with(key, &field.name));
            }
            let mut entry = Map::new();
            entry.insert("name".to_owned(), json!(field.name));
            entry.insert("type".to_owned(), described_type);
            if field.data_type.nullable {
                entry.insert("default".to_owned(), Value::Null);
            }
            described.push(Value::Object(entry));
        }
        self.named(name, described, root)
    }

    /// A record, or the reference to an equal one of the same name.
    fn named(&mut self, name: &str, fields: Vec<Value>, root: bool) -> Result<Value> {
        let record = if root {
            json!({"type": "record", "name": name, "namespace": NAMESPACE, "fields": fields})
        } else {
            json!({"type": "record", "name": name, "fields": fields})
        };
        match self.records.get(name) {
            None => {
                self.records.insert(name.to_owned(), record.clone());
                Ok(record)
            }
            Some(known) if *known == record => Ok(json!(name)),
            Some(_) => Err(Error::unsupported(format!(
                "avro would have two different records of the name {name}"
            ))),
        }
    }
}

/// Java's `Schema.validateName`.
fn check_name(name: &str) -> Result<()> {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_alphanumeric() || c == '_') {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "avro names have letters, digits and underscores, which {name:?} has not"
    )))
}

/// The columns of a file as Arrow fields without ids.
///
/// # Errors
/// `Unsupported` that names the column for a type without counterpart, `Corrupt` when a row is no record.
pub(crate) fn file_schema(program: &Program, root: NodeId) -> Result<Schema> {
    let Node::Record(columns) = program.node(root) else {
        return Err(Error::corrupt(format!(
            "avro {} where a record is expected",
            program.node(root).describe()
        )));
    };
    let mut fields = Vec::with_capacity(columns.len());
    for (name, id) in columns {
        let data_type = data_type(program, *id).map_err(|e| e.with("column", name))?;
        fields.push(DataField::new(0, name, data_type));
    }
    let schema = to_arrow_schema(&fields);
    let fields: Vec<Field> = schema.fields().iter().map(|field| without_ids(field)).collect();
    Ok(Schema::new(fields))
}

/// The branches of a union that is a value or null.
pub(crate) struct Branches {
    /// The value and its position; `None` when everything is null.
    pub(crate) value: Option<(NodeId, i64)>,
    /// The position of null.
    pub(crate) null: Option<i64>,
}

/// # Errors
/// `Unsupported` for a union of several types.
pub(crate) fn union_value(program: &Program, branches: &[NodeId]) -> Result<Branches> {
    let (mut value, mut null) = (None, None);
    for (branch, index) in branches.iter().zip(0..) {
        match program.node(*branch) {
            Node::Null => null = Some(index),
            _ if value.is_some() => return Err(Error::unsupported("avro union of several types")),
            _ => value = Some((*branch, index)),
        }
    }
    Ok(Branches { value, null })
}

fn data_type(program: &Program, id: NodeId) -> Result<DataType> {
    let node = program.node(id);
    if let Node::Union(branches) = node {
        let Branches { value, null } = union_value(program, branches)?;
        let Some((value, _)) = value else {
            return Err(Error::unsupported("avro null has no column type"));
        };
        if matches!(program.node(value), Node::Union(_)) {
            return Err(Error::corrupt("avro union directly inside a union"));
        }
        return Ok(data_type(program, value)?.with_nullable(null.is_some()));
    }
    let unsupported = || Error::unsupported(format!("avro {} has no column type", node.describe()));
    let digits = |units: i64| match units {
        1_000 => 3,
        1_000_000 => 6,
        _ => 9,
    };
    let kind = match (node, program.logical(id)) {
        (Node::Int, Some(Logical::Date)) => TypeKind::Date,
        (Node::Int, Some(Logical::TimeMillis)) | (Node::Long, Some(Logical::TimeMicros)) => TypeKind::Time(3),
        (Node::Long, Some(Logical::Timestamp(units))) => TypeKind::Timestamp(digits(units)),
        (Node::Long, Some(Logical::LocalTimestamp(units))) => TypeKind::TimestampLtz(digits(units)),
        (Node::Bytes | Node::Fixed(_), Some(Logical::Decimal { precision, scale })) => {
            let (Ok(precision), Ok(scale)) = (u8::try_from(precision), u8::try_from(scale)) else {
                return Err(unsupported());
            };
            if precision > 38 || scale > precision {
                let what = format!("avro decimal({precision}, {scale}), at most 38 digits are expected");
                return Err(Error::unsupported(what));
            }
            TypeKind::Decimal { precision, scale }
        }
        (Node::Boolean, _) => TypeKind::Boolean,
        (Node::Int, _) => TypeKind::Int,
        (Node::Long, _) => TypeKind::BigInt,
        (Node::Float, _) => TypeKind::Float,
        (Node::Double, _) => TypeKind::Double,
        (Node::String, _) => TypeKind::VarChar(MAX_LENGTH),
        (Node::Bytes, _) => TypeKind::VarBinary(MAX_LENGTH),
        (Node::Fixed(size), _) => match u32::try_from(*size) {
            Ok(size) if (1..=MAX_LENGTH).contains(&size) => TypeKind::Binary(size),
            _ => return Err(unsupported()),
        },
        (Node::Array(item), logical) => match entry(program, *item) {
            Some((key, value)) if logical == Some(Logical::Map) => TypeKind::Map(
                Box::new(data_type(program, key)?),
                Box::new(data_type(program, value)?),
            ),
            _ => TypeKind::Array(Box::new(data_type(program, *item)?)),
        },
        (Node::Map(value), _) => TypeKind::Map(
            Box::new(DataType::required(TypeKind::VarChar(MAX_LENGTH))),
            Box::new(data_type(program, *value)?),
        ),
        (Node::Record(fields), _) => {
            let fields = fields.iter().map(|(name, id)| {
                let field = data_type(program, *id).map_err(|e| e.with("field", name))?;
                Ok(DataField::new(0, name, field))
            });
            TypeKind::Row(fields.collect::<Result<_>>()?)
        }
        _ => return Err(unsupported()),
    };
    Ok(DataType::required(kind))
}

/// Key and value of a record that is an entry of a map.
pub(crate) fn entry(program: &Program, item: NodeId) -> Option<(NodeId, NodeId)> {
    match program.node(item) {
        Node::Record(fields) => match fields.as_slice() {
            [(key, key_id), (value, value_id)] if key == "key" && value == "value" => {
                Some((*key_id, *value_id))
            }
            _ => None,
        },
        _ => None,
    }
}

fn without_ids(field: &Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.remove(ARROW_FIELD_ID);
    let inner = |field: &Field| std::sync::Arc::new(without_ids(field));
    let data_type = match field.data_type() {
        ArrowType::List(element) => ArrowType::List(inner(element)),
        ArrowType::Map(entries, sorted) => ArrowType::Map(inner(entries), *sorted),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(|f| inner(f)).collect::<Fields>()),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable()).with_metadata(metadata)
}
