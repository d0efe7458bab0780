// SPDX-License-Identifier: Apache-2.0

//! How values are moved over without being looked at, worked out once a schema.

use paimon_types::{Error, Result};

use crate::Cursor;
use crate::schema::{Node, NodeId, Program, check_count};

/// Steps of a nested record that are taken into those of the record around it.
const MOST_INLINE: usize = 64;

/// One step over stored bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Plain(Plain),
    /// A union of null and this; `value` is the position of the branch that is not null, 0 or 1.
    Optional {
        value: i64,
        plain: Plain,
    },
    /// Whatever this node is.
    Node(NodeId),
}

/// A value whose end is known from its first bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plain {
    Fixed(usize),
    Number,
    Sized,
}

impl Plain {
    fn of(node: &Node) -> Option<Self> {
        Some(match node {
            Node::Null => Plain::Fixed(0),
            Node::Boolean => Plain::Fixed(1),
            Node::Float => Plain::Fixed(4),
            Node::Double => Plain::Fixed(8),
            Node::Fixed(size) => Plain::Fixed(*size),
            Node::Int | Node::Long | Node::Enum => Plain::Number,
            Node::Bytes | Node::String => Plain::Sized,
            Node::Array(_) | Node::Map(_) | Node::Union(_) | Node::Record(_) => return None,
        })
    }

    #[inline]
    fn over(self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Plain::Fixed(size) => cursor.take(size).map(drop),
            Plain::Number => cursor.skip_long(),
            Plain::Sized => cursor.bytes().map(drop),
        }
    }
}

/// The step over a node that will have the id `id`; `step` gives those of nodes that exist.
pub(crate) fn step_of<'n>(node: &Node, id: NodeId, other: impl Fn(NodeId) -> Option<&'n Node>) -> Step {
    if let Some(plain) = Plain::of(node) {
        return Step::Plain(plain);
    }
    if let Node::Union(branches) = node
        && let [first, second] = branches.as_slice()
        && let (Some(first), Some(second)) = (other(*first), other(*second))
    {
        let (value, kept) = match (first, second) {
            (Node::Null, kept) => (1, kept),
            (kept, Node::Null) => (0, kept),
            _ => return Step::Node(id),
        };
        if let Some(plain) = Plain::of(kept) {
            return Step::Optional { value, plain };
        }
    }
    Step::Node(id)
}

/// The steps over the fields of a record: those of small records inside of it are its own, fixed sizes become one.
pub(crate) fn steps_of<'s>(
    fields: &[(String, NodeId)],
    step: impl Fn(NodeId) -> (Step, &'s [Step]),
) -> Box<[Step]> {
    let mut steps = Vec::with_capacity(fields.len());
    for (_, field) in fields {
        let (own, inner) = step(*field);
        let inner = match inner {
            [] => std::slice::from_ref(&own),
            small if small.len() <= MOST_INLINE => small,
            _ => std::slice::from_ref(&own),
        };
        for next in inner {
            match (steps.last_mut(), next) {
                (Some(Step::Plain(Plain::Fixed(size))), Step::Plain(Plain::Fixed(more))) => {
                    *size = size.saturating_add(*more);
                }
                _ => steps.push(*next),
            }
        }
    }
    steps.into()
}

impl Program {
    /// Moves over one value.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are none of this type.
    #[inline]
    pub fn skip(&self, id: NodeId, cursor: &mut Cursor<'_>) -> Result<()> {
        self.take_step(self.step(id), cursor)
    }

    #[inline]
    fn take_step(&self, step: Step, cursor: &mut Cursor<'_>) -> Result<()> {
        match step {
            Step::Plain(plain) => plain.over(cursor),
            Step::Optional { value, plain } => {
                let branch = cursor.long()?;
                match branch {
                    0 | 1 if branch == value => plain.over(cursor),
                    0 | 1 => Ok(()),
                    other => Err(no_branch(other, 2)),
                }
            }
            Step::Node(id) => self.skip_node(id, cursor),
        }
    }

    fn skip_node(&self, id: NodeId, cursor: &mut Cursor<'_>) -> Result<()> {
        match self.node(id) {
            Node::Array(item) => self.skip_blocks(*item, false, cursor),
            Node::Map(value) => self.skip_blocks(*value, true, cursor),
            Node::Union(branches) => {
                let index = cursor.long()?;
                match usize::try_from(index).ok().and_then(|i| branches.get(i)) {
                    Some(branch) => self.skip(*branch, cursor),
                    None => Err(no_branch(index, branches.len())),
                }
            }
            Node::Record(_) => {
                for step in self.steps(id) {
                    self.take_step(*step, cursor)?;
                }
                Ok(())
            }
            plain => Plain::of(plain).unwrap_or(Plain::Fixed(0)).over(cursor),
        }
    }

    fn skip_blocks(&self, item: NodeId, keyed: bool, cursor: &mut Cursor<'_>) -> Result<()> {
        let step = self.step(item);
        while let Some((count, size)) = cursor.block()? {
            if let Some(size) = size {
                cursor.take(size)?;
                continue;
            }
            let least = self.min_size(item) + usize::from(keyed);
            check_count(count, least, cursor.remaining())?;
            for _ in 0..count {
                if keyed {
                    cursor.bytes()?;
                }
                self.take_step(step, cursor)?;
            }
        }
        Ok(())
    }
}

#[cold]
fn no_branch(index: i64, branches: usize) -> Error {
    Error::corrupt(format!("avro union branch {index} of {branches}"))
}
