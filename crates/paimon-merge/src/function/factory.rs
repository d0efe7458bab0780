// SPDX-License-Identifier: Apache-2.0

//! Functions by name, with what each wants of the type and options of its column (Java `FieldAggregatorFactory`).

use paimon_types::{DataField, DataType, Error, MAX_LENGTH, Result, TableSchema, TypeKind};

use super::bitmap::{self, Union, UnionOfBytes};
use super::bitmap64;
use super::column::ColumnFunction;
use super::nested::{
    Collect, MergeMap, MergeMapWithKeyTime, NestedKey, NestedPartialUpdate, NestedUpdate, OfLists, row_field,
};
use super::number::{Arithmetic, Logic};
use super::options::{NullKeys, Options, key};
use super::order::{Extreme, is_comparable};
use super::pick::{Pick, Which};
#[cfg(feature = "sketches")]
use super::sketch;
use super::text::ListAgg;

/// All names, for messages.
const NAMES: &str = "sum, product, max, min, last_value, last_non_null_value, first_value, first_non_null_value, listagg, \
     collect, merge_map, merge_map_with_keytime, nested_update, nested_partial_update, bool_and, bool_or, theta_sketch, \
     hll_sketch, rbm32, rbm64, primary-key";

/// What a function is made for.
struct Request<'a> {
    /// The column as it is read.
    field: &'a DataField,
    /// Its name in the schema, by which options go.
    name: &'a str,
    function: &'a str,
    /// The option that gives the function.
    option: &'a str,
    options: Options<'a>,
    ignore_retract: bool,
}

impl Request<'_> {
    /// The function does not take the type of the column.
    fn wrong_type(&self, expected: &str) -> Error {
        Error::invalid(format!(
            "option {} gives column {} of type {} the function {}, which takes {expected}",
            self.option, self.name, self.field.data_type, self.function
        ))
        .with("option", self.option)
        .with("column", self.name)
    }

    fn nested(&self) -> Result<Box<dyn ColumnFunction>> {
        let ignore_retract = self.ignore_retract;
        match (self.function, &self.field.data_type.kind) {
            ("collect", TypeKind::Array(element)) => {
                let binary = matches!(element.kind, TypeKind::Binary(_) | TypeKind::VarBinary(_));
                let distinct = self.options.distinct(self.name)?;
                let function = Collect {
                    distinct,
                    listed: binary || is_constructed(element),
                    never_equal: binary && !distinct,
                    older_first: ignore_retract,
                };
                Ok(Box::new(OfLists {
                    function,
                    ignore_retract,
                }))
            }
            ("collect", _) => Err(self.wrong_type("ARRAY")),
            ("merge_map", TypeKind::Map(..)) => Ok(Box::new(OfLists {
                function: MergeMap,
                ignore_retract,
            })),
            ("merge_map", _) => Err(self.wrong_type("MAP")),
            ("merge_map_with_keytime", TypeKind::Map(_, value)) => {
                let function = self.key_time(value)?;
                Ok(Box::new(OfLists {
                    function,
                    ignore_retract,
                }))
            }
            ("merge_map_with_keytime", _) => Err(self.wrong_type("MAP with ROW values")),
            (function, TypeKind::Array(element)) => match &element.kind {
                TypeKind::Row(fields) if function == "nested_update" => {
                    let function = self.nested_update(fields)?;
                    Ok(Box::new(OfLists {
                        function,
                        ignore_retract,
                    }))
                }
                TypeKind::Row(fields) => {
                    let key = self.nested_key(fields)?.ok_or_else(|| {
                        let option = key(self.name, "nested-key");
                        let problem = format!("option {option} is missing, {} needs it", self.function);
                        Error::invalid(problem).with("option", option)
                    })?;
                    Ok(Box::new(NestedPartialUpdate { key, ignore_retract }))
                }
                _ => Err(self.wrong_type("ARRAY<ROW>")),
            },
            _ => Err(self.wrong_type("ARRAY<ROW>")),
        }
    }

    fn key_time(&self, value: &DataType) -> Result<MergeMapWithKeyTime> {
        let TypeKind::Row(fields) = &value.kind else {
            return Err(self.wrong_type("MAP with ROW values"));
        };
        if fields.len() < 2 {
            return Err(self.wrong_type("MAP with ROW values of two or more fields"));
        }
        let option = key(self.name, "ts-field");
        let time = match self.options.text(&[&option]) {
            None => fields.len() - 1,
            Some((_, name)) => row_field(fields, &option, name, self.name)?,
        };
        let texts =
            |field: &DataField| matches!(field.data_type.kind, TypeKind::Char(_) | TypeKind::VarChar(_));
        match fields.get(time) {
            Some(field) if !texts(field) => {
                let problem = format!(
                    "the time field {} is {}, expected STRING",
                    field.name, field.data_type
                );
                Err(Error::invalid(problem)
                    .with("option", option)
                    .with("column", self.name))
            }
            _ => Ok(MergeMapWithKeyTime { time }),
        }
    }

    fn nested_update(&self, fields: &[DataField]) -> Result<NestedUpdate> {
        let key_of_rows = self.nested_key(fields)?;
        let (option, names) = self.options.names(self.name, "nested-sequence-field");
        if key_of_rows.is_none() {
            for (set, option) in [
                (
                    self.options.null_keys(self.name)?.is_some(),
                    key(self.name, "nested-key-null-strategy"),
                ),
                (!names.is_empty(), option.clone()),
            ] {
                if set {
                    let problem = format!("option {option} needs option {}", key(self.name, "nested-key"));
                    return Err(Error::invalid(problem).with("option", option));
                }
            }
        }
        let sequence = names
            .iter()
            .map(|name| row_field(fields, &option, name, self.name));
        Ok(NestedUpdate {
            key: key_of_rows,
            sequence: sequence.collect::<Result<_>>()?,
            count_limit: self.options.count_limit(self.name)?,
        })
    }

    fn nested_key(&self, fields: &[DataField]) -> Result<Option<NestedKey>> {
        let (option, names) = self.options.names(self.name, "nested-key");
        if names.is_empty() {
            return Ok(None);
        }
        let positions = names
            .iter()
            .map(|name| row_field(fields, &option, name, self.name));
        Ok(Some(NestedKey {
            fields: positions.collect::<Result<_>>()?,
            null_keys: self.options.null_keys(self.name)?.unwrap_or(NullKeys::Merge),
        }))
    }

    fn union(&self) -> Result<Box<dyn ColumnFunction>> {
        self.check(
            matches!(self.field.data_type.kind, TypeKind::VarBinary(_)),
            "VARBINARY",
        )?;
        let of = |function, union: UnionOfBytes| Union {
            function,
            union,
            ignore_retract: self.ignore_retract,
        };
        match self.function {
            "rbm32" => Ok(Box::new(of("rbm32", bitmap::union32))),
            "rbm64" => Ok(Box::new(of("rbm64", bitmap64::union64))),
            #[cfg(feature = "sketches")]
            "theta_sketch" => Ok(Box::new(of("theta_sketch", sketch::union_theta))),
            #[cfg(feature = "sketches")]
            "hll_sketch" => Ok(Box::new(of("hll_sketch", sketch::union_hll))),
            function => {
                let problem = format!("the function {function} needs a build with the feature sketches");
                Err(Error::unsupported(problem)
                    .with("option", self.option)
                    .with("column", self.name))
            }
        }
    }

    /// An error unless the column has a type of this kind.
    fn check(&self, fits: bool, expected: &str) -> Result<()> {
        if fits {
            Ok(())
        } else {
            Err(self.wrong_type(expected))
        }
    }
}

/// The function of a column; `option` is the key that gave `function`.
pub(super) fn create(
    schema: &TableSchema,
    field: &DataField,
    name: &str,
    function: &str,
    option: &str,
    options: Options<'_>,
) -> Result<Box<dyn ColumnFunction>> {
    const REMOVE: &str = "aggregation.remove-record-on-delete";
    let ignore_retract = options.ignore_retract(name)?;
    if ignore_retract && options.flag(&[REMOVE])? {
        let other = key(name, "ignore-retract");
        let problem = format!("options {REMOVE} and {other} exclude each other");
        return Err(Error::invalid(problem).with("option", REMOVE));
    }
    let request = Request {
        field,
        name,
        function,
        option,
        options,
        ignore_retract,
    };
    let kind = &field.data_type.kind;
    let numeric = matches!(
        kind,
        TypeKind::Decimal { .. }
            | TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
    );
    let pick = |which| {
        Ok::<Box<dyn ColumnFunction>, Error>(Box::new(Pick {
            which,
            ignore_retract,
        }))
    };
    match function {
        "last_value" => pick(Which::Last),
        "last_non_null_value" => pick(Which::LastNonNull),
        "first_value" => pick(Which::First),
        "first_non_null_value" | "first_not_null_value" => pick(Which::FirstNonNull),
        "primary-key" => pick(Which::PrimaryKey),
        "sum" | "product" => {
            request.check(numeric, "numbers")?;
            let product = function == "product";
            Ok(Box::new(Arithmetic {
                product,
                ignore_retract,
            }))
        }
        "max" | "min" => {
            request.check(is_comparable(&field.data_type), "types with an order")?;
            let largest = function == "max";
            Ok(Box::new(Extreme {
                largest,
                ignore_retract,
            }))
        }
        "bool_and" | "bool_or" => {
            request.check(*kind == TypeKind::Boolean, "BOOLEAN")?;
            Ok(Box::new(Logic {
                or: function == "bool_or",
                ignore_retract,
            }))
        }
        "listagg" => {
            request.check(*kind == TypeKind::VarChar(MAX_LENGTH), "STRING")?;
            Ok(Box::new(ListAgg {
                delimiter: options.delimiter(name).to_owned(),
                distinct: options.distinct(name)?,
                ignore_retract,
            }))
        }
        "collect" | "merge_map" | "merge_map_with_keytime" | "nested_update" | "nested_partial_update" => {
            // Options name fields inside of the column: it has to be there as a whole.
            let whole = schema
                .field_by_id(field.id)
                .is_some_and(|own| own.data_type.kind == *kind);
            if !whole {
                let problem = format!("column {name} with the function {function} is read in part");
                return Err(Error::unsupported(problem).with("column", name));
            }
            request.nested()
        }
        "rbm32" | "rbm64" | "theta_sketch" | "hll_sketch" => request.union(),
        _ => {
            let problem = format!("option {option} has the value '{function}'; allowed: {NAMES}");
            Err(Error::invalid(problem).with("option", option))
        }
    }
}

/// Java `DataTypeFamily.CONSTRUCTED`.
fn is_constructed(data_type: &DataType) -> bool {
    matches!(
        data_type.kind,
        TypeKind::Array(_)
            | TypeKind::Vector(..)
            | TypeKind::Map(..)
            | TypeKind::Multiset(_)
            | TypeKind::Row(_)
    )
}
