// SPDX-License-Identifier: Apache-2.0

//! The writer's schema as a flat table of nodes, made once a file.

use std::collections::HashMap;

use paimon_types::{Error, Result};
use serde_json::{Map, Value};

use crate::skip::{Step, step_of, steps_of};

/// Index of a node in its [`Program`].
pub type NodeId = usize;

/// What a schema may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of nesting.
    pub depth: u32,
    /// Nodes of one value, with repeated named types counted each time: bounds the work for one record.
    pub weight: u64,
}

/// How a value is stored. Its [`Logical`] type does not change the bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`.
    Null,
    /// `boolean`.
    Boolean,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `bytes`.
    Bytes,
    /// `string`.
    String,
    /// `enum`.
    Enum,
    /// `fixed` of so many bytes.
    Fixed(usize),
    /// `array` of items.
    Array(NodeId),
    /// `map` from text to values.
    Map(NodeId),
    /// One of several.
    Union(Vec<NodeId>),
    /// `record` with the names and types of its fields.
    Record(Vec<(String, NodeId)>),
}

/// The meaning of a value beyond its bytes, where a reader needs it. Other and invalid ones are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    /// `date`: days since 1970-01-01.
    Date,
    /// `time-millis`.
    TimeMillis,
    /// `time-micros`.
    TimeMicros,
    /// `timestamp-…` in units of which so many are a second.
    Timestamp(i64),
    /// `local-timestamp-…`, likewise.
    LocalTimestamp(i64),
    /// `decimal`.
    Decimal {
        /// Digits.
        precision: u64,
        /// Digits behind the point.
        scale: u64,
    },
    /// `map` on an array of records of key and value.
    Map,
}

impl Logical {
    fn parse(object: &Map<String, Value>) -> Option<Self> {
        let number = |key: &str| object.get(key).and_then(Value::as_u64);
        Some(match object.get("logicalType").and_then(Value::as_str)? {
            "date" => Logical::Date,
            "time-millis" => Logical::TimeMillis,
            "time-micros" => Logical::TimeMicros,
            "timestamp-millis" => Logical::Timestamp(1_000),
            "timestamp-micros" => Logical::Timestamp(1_000_000),
            "timestamp-nanos" => Logical::Timestamp(1_000_000_000),
            "local-timestamp-millis" => Logical::LocalTimestamp(1_000),
            "local-timestamp-micros" => Logical::LocalTimestamp(1_000_000),
            "local-timestamp-nanos" => Logical::LocalTimestamp(1_000_000_000),
            "decimal" => Logical::Decimal {
                precision: number("precision").filter(|p| *p > 0)?,
                scale: match object.get("scale") {
                    None => 0,
                    Some(scale) => scale.as_u64()?,
                },
            },
            "map" => Logical::Map,
            _ => return None,
        })
    }

    /// False when the type means nothing on a node.
    fn fits(self, node: &Node) -> bool {
        match self {
            Logical::Date | Logical::TimeMillis => matches!(node, Node::Int),
            Logical::TimeMicros | Logical::Timestamp(_) | Logical::LocalTimestamp(_) => {
                matches!(node, Node::Long)
            }
            Logical::Decimal { .. } => matches!(node, Node::Bytes | Node::Fixed(_)),
            Logical::Map => matches!(node, Node::Array(_)),
        }
    }
}

impl Node {
    /// The kind as schemas name it.
    pub fn describe(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Boolean => "boolean",
            Node::Int => "int",
            Node::Long => "long",
            Node::Float => "float",
            Node::Double => "double",
            Node::Bytes => "bytes",
            Node::String => "string",
            Node::Enum => "enum",
            Node::Fixed(_) => "fixed",
            Node::Array(_) => "array",
            Node::Map(_) => "map",
            Node::Union(_) => "union",
            Node::Record(_) => "record",
        }
    }
}

/// A compiled writer's schema.
#[derive(Debug)]
pub struct Program {
    nodes: Vec<Entry>,
    root: NodeId,
}

#[derive(Debug)]
struct Entry {
    node: Node,
    logical: Option<Logical>,
    /// Fewest bytes that a value takes.
    min_size: usize,
    weight: u64,
    depth: u32,
    step: Step,
    /// Those over the fields of a record.
    steps: Box<[Step]>,
}

impl Program {
    /// Compiles schema JSON.
    ///
    /// # Errors
    /// `Corrupt` when the JSON is no Avro schema, `Unsupported` when types nest without end or too deep.
    pub fn parse(json: &str, limits: Limits) -> Result<Self> {
        let value: Value = serde_json::from_str(json)
            .map_err(|e| Error::corrupt("avro.schema is not JSON").with_source(e))?;
        let mut compiler = Compiler {
            nodes: Vec::new(),
            names: HashMap::new(),
            limits,
        };
        let root = compiler.compile(&value, "")?;
        Ok(Program {
            nodes: compiler.nodes,
            root,
        })
    }

    /// The type of a record of the file.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// A node; [`Node::Null`] for an id of another program.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id).map_or(&Node::Null, |e| &e.node)
    }

    /// The logical type of a node.
    pub fn logical(&self, id: NodeId) -> Option<Logical> {
        self.nodes.get(id).and_then(|e| e.logical)
    }

    /// Fewest bytes that a value of this node takes.
    #[inline]
    pub fn min_size(&self, id: NodeId) -> usize {
        self.nodes.get(id).map_or(0, |e| e.min_size)
    }

    /// How a value is moved over.
    #[inline]
    pub(crate) fn step(&self, id: NodeId) -> Step {
        self.nodes.get(id).map_or(Step::Node(id), |e| e.step)
    }

    /// The steps over a record; none for other nodes.
    #[inline]
    pub(crate) fn steps(&self, id: NodeId) -> &[Step] {
        self.nodes.get(id).map_or(&[], |e| &e.steps)
    }
}

/// Refuses a count of items that the bytes left cannot hold. Items of no bytes at all are refused too: no table has them,
/// and their count would be bounded by nothing.
///
/// # Errors
/// `Corrupt`.
#[inline]
pub fn check_count(count: u64, min_size: usize, remaining: usize) -> Result<()> {
    if min_size == 0 || count > (remaining / min_size) as u64 {
        return Err(Error::corrupt(format!(
            "avro array of {count} items in {remaining} bytes"
        )));
    }
    Ok(())
}

struct Compiler {
    nodes: Vec<Entry>,
    /// Full name → node; `None` while the type is being compiled.
    names: HashMap<String, Option<NodeId>>,
    limits: Limits,
}

impl Compiler {
    fn compile(&mut self, value: &Value, namespace: &str) -> Result<NodeId> {
        match value {
            Value::String(name) => self.named(name, namespace),
            Value::Array(branches) => {
                let ids = branches
                    .iter()
                    .map(|b| self.compile(b, namespace))
                    .collect::<Result<Vec<_>>>()?;
                self.push(Node::Union(ids))
            }
            Value::Object(object) => self.object(object, namespace),
            other => Err(Error::corrupt(format!(
                "avro schema has {other} where a type is expected"
            ))),
        }
    }

    fn named(&mut self, name: &str, namespace: &str) -> Result<NodeId> {
        let node = match name {
            "null" => Node::Null,
            "boolean" => Node::Boolean,
            "int" => Node::Int,
            "long" => Node::Long,
            "float" => Node::Float,
            "double" => Node::Double,
            "bytes" => Node::Bytes,
            "string" => Node::String,
            _ => {
                return match self
                    .names
                    .get(&full_name(name, namespace))
                    .or_else(|| self.names.get(name))
                {
                    Some(Some(id)) => Ok(*id),
                    Some(None) => Err(Error::unsupported(format!("avro type {name} contains itself"))),
                    None => Err(Error::corrupt(format!("avro type {name} is not defined"))),
                };
            }
        };
        self.push(node)
    }

    fn object(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<NodeId> {
        let kind = object
            .get("type")
            .ok_or_else(|| Error::corrupt("avro type without \"type\""))?;
        let Value::String(kind) = kind else {
            return self.compile(kind, namespace);
        };
        let known = self.nodes.len();
        let id = self.declared(kind, object, namespace)?;
        // A type that is only referred to keeps its own.
        if let Some(logical) = Logical::parse(object).filter(|_| id >= known)
            && let Some(entry) = self.nodes.get_mut(id)
            && logical.fits(&entry.node)
        {
            entry.logical = Some(logical);
        }
        Ok(id)
    }

    fn declared(&mut self, kind: &str, object: &Map<String, Value>, namespace: &str) -> Result<NodeId> {
        match kind {
            "record" | "error" => self.record(object, namespace),
            "enum" => {
                let (name, _) = declared_name(object, namespace)?;
                let id = self.push(Node::Enum)?;
                self.names.insert(name, Some(id));
                Ok(id)
            }
            "fixed" => {
                let (name, _) = declared_name(object, namespace)?;
                let size = object
                    .get("size")
                    .and_then(Value::as_u64)
                    .and_then(|s| usize::try_from(s).ok());
                let size = size.ok_or_else(|| Error::corrupt(format!("avro fixed {name} without a size")))?;
                let id = self.push(Node::Fixed(size))?;
                self.names.insert(name, Some(id));
                Ok(id)
            }
            "array" => {
                let items = object
                    .get("items")
                    .ok_or_else(|| Error::corrupt("avro array without items"))?;
                let item = self.compile(items, namespace)?;
                self.push(Node::Array(item))
            }
            "map" => {
                let values = object
                    .get("values")
                    .ok_or_else(|| Error::corrupt("avro map without values"))?;
                let value = self.compile(values, namespace)?;
                self.push(Node::Map(value))
            }
            name => self.named(name, namespace),
        }
    }

    fn record(&mut self, object: &Map<String, Value>, namespace: &str) -> Result<NodeId> {
        let (name, inner) = declared_name(object, namespace)?;
        self.names.insert(name.clone(), None);
        let fields = object.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| Error::corrupt(format!("avro record {name} without fields")))?;
        let mut compiled = Vec::with_capacity(fields.len());
        for field in fields {
            let (Some(field_name), Some(field_type)) =
                (field.get("name").and_then(Value::as_str), field.get("type"))
            else {
                return Err(Error::corrupt(format!(
                    "avro record {name} has a field without name or type"
                )));
            };
            compiled.push((field_name.to_owned(), self.compile(field_type, &inner)?));
        }
        let id = self.push(Node::Record(compiled))?;
        self.names.insert(name, Some(id));
        Ok(id)
    }

    fn push(&mut self, node: Node) -> Result<NodeId> {
        let one = |id: &NodeId| {
            self.nodes
                .get(*id)
                .map_or((0, 1, 1), |e| (e.min_size, e.weight, e.depth))
        };
        let (min_size, weight, depth) = match &node {
            Node::Null => (0, 1, 1),
            Node::Float => (4, 1, 1),
            Node::Double => (8, 1, 1),
            Node::Fixed(size) => (*size, 1, 1),
            Node::Array(item) | Node::Map(item) => {
                let (_, weight, depth) = one(item);
                (1, weight, depth)
            }
            Node::Union(branches) => branches.iter().map(one).fold((usize::MAX, 1u64, 1), |acc, b| {
                (
                    acc.0.min(b.0.saturating_add(1)),
                    acc.1.saturating_add(b.1),
                    acc.2.max(b.2),
                )
            }),
            Node::Record(fields) => fields
                .iter()
                .map(|(_, id)| one(id))
                .fold((0usize, 1u64, 1), |acc, f| {
                    (
                        acc.0.saturating_add(f.0),
                        acc.1.saturating_add(f.1),
                        acc.2.max(f.2),
                    )
                }),
            _ => (1, 1, 1),
        };
        let depth = depth + 1;
        if depth > self.limits.depth || weight > self.limits.weight {
            return Err(Error::unsupported("avro schema is nested too deep or too large"));
        }
        let id = self.nodes.len();
        let step = step_of(&node, id, |other| self.nodes.get(other).map(|e| &e.node));
        let steps = match &node {
            Node::Record(fields) => steps_of(fields, |field| match self.nodes.get(field) {
                Some(entry) => (entry.step, &entry.steps),
                None => (Step::Node(field), &[]),
            }),
            _ => Box::default(),
        };
        self.nodes.push(Entry {
            node,
            logical: None,
            min_size,
            weight,
            depth,
            step,
            steps,
        });
        Ok(id)
    }
}

/// Full name of a declared type and the namespace of what is inside of it.
fn declared_name(object: &Map<String, Value>, namespace: &str) -> Result<(String, String)> {
    let name = object.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| Error::corrupt("avro named type without a name"))?;
    let namespace = object
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or(namespace);
    let full = full_name(name, namespace);
    let inner = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
    Ok((full, inner))
}

fn full_name(name: &str, namespace: &str) -> String {
    if namespace.is_empty() || name.contains('.') {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}
