// SPDX-License-Identifier: Apache-2.0

//! Binding of the fields that we want to the fields that the writer wrote, by name.

use paimon_avro::{Cursor, Node, NodeId, Program, check_count};
use paimon_types::{Error, Result};

/// What a wanted field must be stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `int` or `long`.
    Integer,
    /// `bytes` (or `string`).
    Bytes,
    /// `string`.
    Text,
    /// A record.
    Record,
    /// An array.
    Array,
}

/// Whether a file may lack a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Absent is an error; so is a null, which the caller reports.
    Required,
    /// Absent reads as null.
    Optional,
}

/// One field that a reader wants: name, key for the reader, kind, presence.
pub(crate) type Wanted<T> = (&'static str, T, Kind, Presence);

/// Where a value is and how its null is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The value's own node, outside of any union.
    pub(crate) node: NodeId,
    /// Branch numbers of value and null when the value sits in a union.
    union: Option<(i64, Option<i64>)>,
}

impl Access {
    /// For a node that is no union, or a union of one type and perhaps null.
    pub(crate) fn new(program: &Program, id: NodeId) -> Result<Self> {
        let Node::Union(branches) = program.node(id) else {
            return Ok(Access {
                node: id,
                union: None,
            });
        };
        let mut value = None;
        let mut null = None;
        for (index, branch) in branches.iter().enumerate() {
            match (program.node(*branch), value) {
                (Node::Null, _) => null = Some(index as i64),
                (Node::Union(_), _) => return Err(Error::corrupt("avro union directly inside a union")),
                (_, None) => value = Some((*branch, index as i64)),
                (_, Some(_)) => return Err(Error::unsupported("avro union of several types in a manifest")),
            }
        }
        match value {
            Some((node, index)) => Ok(Access {
                node,
                union: Some((index, null)),
            }),
            // Only ["null"]: every value is null.
            None => Ok(Access {
                node: id,
                union: Some((-1, null)),
            }),
        }
    }

    /// Reads the union branch; false for null.
    pub(crate) fn enter(&self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let Some((value, null)) = self.union else {
            return Ok(true);
        };
        let branch = cursor.long()?;
        if branch == value {
            Ok(true)
        } else if Some(branch) == null {
            Ok(false)
        } else {
            Err(Error::corrupt(format!(
                "avro union branch {branch} does not exist"
            )))
        }
    }

    pub(crate) fn long(&self, cursor: &mut Cursor<'_>) -> Result<Option<i64>> {
        if self.enter(cursor)? {
            cursor.long().map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn int(&self, cursor: &mut Cursor<'_>) -> Result<Option<i32>> {
        if self.enter(cursor)? {
            cursor.int().map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn bytes<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>> {
        if self.enter(cursor)? {
            cursor.bytes().map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn string<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Option<&'a str>> {
        if self.enter(cursor)? {
            cursor.string().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Moves over a value and returns its bytes without the union branch, `None` for null.
    pub(crate) fn raw<'a>(&self, program: &Program, cursor: &mut Cursor<'a>) -> Result<Option<&'a [u8]>> {
        if !self.enter(cursor)? {
            return Ok(None);
        }
        let start = cursor.position();
        program.skip(self.node, cursor)?;
        Ok(Some(cursor.since(start)))
    }

    /// Checks what the value is stored as.
    pub(crate) fn expect(&self, program: &Program, kind: Kind) -> Result<()> {
        check_kind(program.node(self.node), kind)
    }

    /// Access to the items of an array.
    pub(crate) fn items(&self, program: &Program) -> Result<Access> {
        match program.node(self.node) {
            Node::Array(item) => Access::new(program, *item),
            other => Err(Error::corrupt(format!(
                "avro {} where an array is expected",
                other.describe()
            ))),
        }
    }
}

/// Reads an array whose items are found through `items`; `cursor` stands behind the union branch.
pub(crate) fn read_array<'a, T>(
    program: &Program,
    array: &Access,
    cursor: &mut Cursor<'a>,
    mut read: impl FnMut(&mut Cursor<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let Node::Array(item) = program.node(array.node) else {
        return Err(Error::corrupt("avro value is not an array"));
    };
    let mut out = Vec::new();
    while let Some((count, _)) = cursor.block()? {
        check_count(count, program.min_size(*item), cursor.remaining())?;
        out.reserve(usize::try_from(count).unwrap_or_default().min(1024));
        for _ in 0..count {
            out.push(read(cursor)?);
        }
    }
    Ok(out)
}

/// The fields of a writer's record in the order in which they are stored.
#[derive(Debug)]
pub(crate) struct Layout<T> {
    steps: Vec<Step<T>>,
}

#[derive(Debug)]
struct Step<T> {
    /// What the reader calls this field, `None` to move over it.
    key: Option<T>,
    whole: NodeId,
    access: Access,
}

impl<T: Copy + PartialEq> Layout<T> {
    /// Binds `wanted` by name to the record at `node`.
    ///
    /// # Errors
    /// `Corrupt` when the node is no record, a required field is missing, or a field has another kind.
    pub(crate) fn bind(program: &Program, node: NodeId, wanted: &[Wanted<T>]) -> Result<Self> {
        let Node::Record(fields) = program.node(node) else {
            return Err(Error::corrupt(format!(
                "avro {} where a record is expected",
                program.node(node).describe()
            )));
        };
        let mut steps = Vec::with_capacity(fields.len());
        for (name, id) in fields {
            let step = match wanted.iter().find(|w| w.0 == name) {
                None => Step {
                    key: None,
                    whole: *id,
                    access: Access {
                        node: *id,
                        union: None,
                    },
                },
                Some((_, key, kind, _)) => {
                    let access = Access::new(program, *id).map_err(|e| e.with("field", name))?;
                    check_kind(program.node(access.node), *kind).map_err(|e| e.with("field", name))?;
                    Step {
                        key: Some(*key),
                        whole: *id,
                        access,
                    }
                }
            };
            if step.key.is_some() && steps.iter().any(|s: &Step<T>| s.key == step.key) {
                return Err(Error::corrupt("avro record has the same field twice").with("field", name));
            }
            steps.push(step);
        }
        for (name, key, _, presence) in wanted {
            if *presence == Presence::Required && !steps.iter().any(|s| s.key == Some(*key)) {
                return Err(Error::corrupt(format!("avro record has no field {name}")));
            }
        }
        Ok(Layout { steps })
    }

    /// Access to a bound field, `None` when the writer did not have it.
    pub(crate) fn access(&self, key: T) -> Option<Access> {
        self.steps.iter().find(|s| s.key == Some(key)).map(|s| s.access)
    }

    /// Reads one record: `read` gets each wanted field in stored order and must consume it; others are skipped.
    pub(crate) fn read<'a>(
        &self,
        program: &Program,
        cursor: &mut Cursor<'a>,
        mut read: impl FnMut(T, &Access, &mut Cursor<'a>) -> Result<()>,
    ) -> Result<()> {
        for step in &self.steps {
            match step.key {
                Some(key) => read(key, &step.access, cursor)?,
                None => program.skip(step.whole, cursor)?,
            }
        }
        Ok(())
    }
}

fn check_kind(node: &Node, kind: Kind) -> Result<()> {
    let fits = match kind {
        Kind::Integer => matches!(node, Node::Int | Node::Long),
        Kind::Bytes => matches!(node, Node::Bytes | Node::String),
        Kind::Text => matches!(node, Node::String),
        Kind::Record => matches!(node, Node::Record(_)),
        Kind::Array => matches!(node, Node::Array(_)),
    };
    // ["null"] alone holds nothing but nulls and fits every kind.
    if fits || matches!(node, Node::Union(_)) {
        Ok(())
    } else {
        Err(Error::corrupt(format!(
            "avro {} where {kind:?} is expected",
            node.describe()
        )))
    }
}
