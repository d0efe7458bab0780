// SPDX-License-Identifier: Apache-2.0

//! Types and fields as JSON (Java `DataTypeJsonParser`, `DataField.serializeJson`; `metadata.md` 2.1).

use serde_json::{Map, Value};

use crate::parse::MAX_DEPTH;
use crate::{DataField, DataType, Error, Result, TypeKind};

/// Where the ids of fields come from.
pub(crate) enum FieldIds {
    /// Every field must have one: schema files.
    Required,
    /// All have one or none has: then they are numbered in the order of the document.
    Optional {
        /// Id of the next field without one.
        next: i32,
        /// Whether the fields so far have ids; `None` before the first.
        present: Option<bool>,
    },
}

impl FieldIds {
    pub(crate) fn optional() -> Self {
        FieldIds::Optional {
            next: 0,
            present: None,
        }
    }

    fn take(&mut self, stored: Option<i32>) -> Result<i32> {
        match self {
            FieldIds::Required => stored.ok_or_else(|| Error::corrupt("a field has no id")),
            FieldIds::Optional { next, present } => {
                if present.is_some_and(|p| p != stored.is_some()) {
                    return Err(Error::corrupt("some fields have an id and some have none"));
                }
                *present = Some(stored.is_some());
                Ok(stored.unwrap_or_else(|| {
                    *next += 1;
                    *next - 1
                }))
            }
        }
    }
}

impl DataType {
    /// Reads a type from JSON: a string for atomic types, an object for ARRAY, MULTISET, MAP, VECTOR and ROW. ROW fields
    /// without ids are numbered 0, 1, … in the order of the document.
    ///
    /// # Errors
    /// `Corrupt` for anything else, for fields of which only some have ids, and for nesting deeper than 64.
    pub fn from_json(value: &Value) -> Result<DataType> {
        read_type(value, &mut FieldIds::optional(), 0)
    }

    /// The JSON form: `"DECIMAL(10, 2) NOT NULL"` or `{"type":"ARRAY","element":"INT"}`.
    pub fn to_json(&self) -> Value {
        let suffix = if self.nullable { "" } else { " NOT NULL" };
        let mut object = Map::new();
        let mut start = |name: &str| {
            object.insert("type".to_owned(), Value::String(format!("{name}{suffix}")));
        };
        match &self.kind {
            TypeKind::Array(element) => {
                start("ARRAY");
                object.insert("element".to_owned(), element.to_json());
            }
            TypeKind::Multiset(element) => {
                start("MULTISET");
                object.insert("element".to_owned(), element.to_json());
            }
            TypeKind::Map(key, value) => {
                start("MAP");
                object.insert("key".to_owned(), key.to_json());
                object.insert("value".to_owned(), value.to_json());
            }
            TypeKind::Vector(element, length) => {
                start("VECTOR");
                object.insert("element".to_owned(), element.to_json());
                object.insert("length".to_owned(), Value::from(*length));
            }
            TypeKind::Row(fields) => {
                start("ROW");
                object.insert(
                    "fields".to_owned(),
                    fields.iter().map(DataField::to_json).collect(),
                );
            }
            _ => return Value::String(self.to_string()),
        }
        Value::Object(object)
    }
}

impl DataField {
    /// Reads a field object; it and the fields below it may lack ids as in [`DataType::from_json`].
    ///
    /// # Errors
    /// `Corrupt` when it is malformed.
    pub fn from_json(value: &Value) -> Result<DataField> {
        read_field(value, &mut FieldIds::optional(), 0)
    }

    /// The JSON form: `{"id":0,"name":"a","type":"INT","description":"…","defaultValue":"…"}`, the last two when present.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("id".to_owned(), Value::from(self.id));
        object.insert("name".to_owned(), Value::from(self.name.as_str()));
        object.insert("type".to_owned(), self.data_type.to_json());
        if let Some(text) = &self.description {
            object.insert("description".to_owned(), Value::from(text.as_str()));
        }
        if let Some(text) = &self.default_value {
            object.insert("defaultValue".to_owned(), Value::from(text.as_str()));
        }
        Value::Object(object)
    }
}

/// Reads a field; `depth` counts the types around it.
pub(crate) fn read_field(value: &Value, ids: &mut FieldIds, depth: usize) -> Result<DataField> {
    let object = value
        .as_object()
        .ok_or_else(|| Error::corrupt(format!("a field is not an object: {value}")))?;
    let name = match object.get("name") {
        Some(Value::String(name)) => name.clone(),
        _ => return Err(Error::corrupt(format!("a field has no name: {value}"))),
    };
    let stored = match object.get("id") {
        None | Some(Value::Null) => None,
        Some(id) => {
            let id = id.as_i64().and_then(|id| i32::try_from(id).ok());
            Some(
                id.ok_or_else(|| Error::corrupt("a field id is not a 32-bit integer").with("column", &name))?,
            )
        }
    };
    let id = ids.take(stored).map_err(|e| e.with("column", &name))?;
    let data_type = match object.get("type") {
        Some(data_type) => read_type(data_type, ids, depth).map_err(|e| e.with("column", &name))?,
        None => return Err(Error::corrupt("a field has no type").with("column", &name)),
    };
    Ok(DataField {
        id,
        data_type,
        description: text_of(object, "description").map_err(|e| e.with("column", &name))?,
        default_value: text_of(object, "defaultValue").map_err(|e| e.with("column", &name))?,
        name,
    })
}

/// A text member; absent and null are `None`, numbers and booleans become their text.
pub(crate) fn text_of(object: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
        Some(value) => Err(Error::corrupt(format!("{key} is not text: {value}"))),
    }
}

fn read_type(value: &Value, ids: &mut FieldIds, depth: usize) -> Result<DataType> {
    if depth > MAX_DEPTH {
        return Err(Error::corrupt(format!(
            "types are nested deeper than {MAX_DEPTH}"
        )));
    }
    let object = match value {
        Value::String(text) => {
            return DataType::parse_atomic(text).map_err(|e| Error::corrupt(e.message()));
        }
        Value::Object(object) => object,
        _ => {
            return Err(Error::corrupt(format!(
                "a type is neither text nor object: {value}"
            )));
        }
    };
    let name = match object.get("type") {
        Some(Value::String(name)) => name,
        _ => return Err(Error::corrupt(format!("a type object has no type: {value}"))),
    };
    let mut part = |key: &str| match object.get(key) {
        Some(part) => read_type(part, ids, depth + 1),
        None => Err(Error::corrupt(format!("type {name} has no {key}"))),
    };
    let kind = if name.starts_with("ARRAY") {
        TypeKind::Array(Box::new(part("element")?))
    } else if name.starts_with("VECTOR") {
        let element = Box::new(part("element")?);
        let length = object
            .get("length")
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok());
        TypeKind::Vector(
            element,
            length.ok_or_else(|| Error::corrupt("type VECTOR has no valid length"))?,
        )
    } else if name.starts_with("MULTISET") {
        TypeKind::Multiset(Box::new(part("element")?))
    } else if name.starts_with("MAP") {
        TypeKind::Map(Box::new(part("key")?), Box::new(part("value")?))
    } else if name.starts_with("ROW") {
        let fields = object.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| Error::corrupt("type ROW has no fields"))?;
        TypeKind::Row(
            fields
                .iter()
                .map(|field| read_field(field, ids, depth + 1))
                .collect::<Result<_>>()?,
        )
    } else {
        return Err(Error::corrupt(format!("unknown type {name}")));
    };
    kind.check_parameters().map_err(Error::corrupt)?;
    Ok(DataType {
        kind,
        nullable: !name.contains("NOT NULL"),
    })
}
