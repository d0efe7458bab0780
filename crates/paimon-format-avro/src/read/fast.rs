// SPDX-License-Identifier: Apache-2.0

//! Runs of values whose end is known from their first bytes, without a branch that depends on the data: whether there is a null
//! is a mask over what follows. What such a loop does not settle (the end of a block, a long text, damage) it leaves to
//! [`Column`](super::column::Column), which reads one value at a time and tells what is wrong.

use paimon_avro::{Cursor, number_length};

use super::column::{Bytes, Union};
use super::words::{Floats, Numbers};

/// Longest text that is copied by its room instead of its length.
const ROOM: usize = 64;

/// First bytes of a value in a union; [`Marks::NEVER`] is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    value: u16,
    null: u16,
}

impl Marks {
    const NEVER: u16 = 0x100;

    /// A null that is an error has no mark, as have branches whose number is longer than a byte.
    pub(super) fn new(union: Union, nullable: bool) -> Self {
        let mark = |branch: Option<i64>| match branch {
            Some(branch @ 0..=63) => branch as u16 * 2,
            _ => Marks::NEVER,
        };
        match union {
            Union::None => Marks {
                value: Marks::NEVER,
                null: Marks::NEVER,
            },
            Union::Of { value, null } => Marks {
                value: mark(Some(value)),
                null: mark(null.filter(|_| nullable)),
            },
        }
    }

    /// Whether there is a value, and whether that is certain.
    #[inline(always)]
    fn split<const UNION: bool>(self, first: u8) -> (bool, bool) {
        let present = !UNION || u16::from(first) == self.value;
        (present, present | (u16::from(first) == self.null))
    }
}

/// All bits when there is a value, none when not.
#[inline(always)]
fn mask(present: bool) -> u64 {
    u64::from(present).wrapping_neg()
}

/// Appends numbers as long as it can, at most `count`, and gives how many.
#[inline(always)]
pub(super) fn numbers<const UNION: bool>(
    marks: Marks,
    cursor: &mut Cursor<'_>,
    numbers: &mut Numbers,
    count: usize,
) -> usize {
    for done in 0..count {
        let Some((first, word)) = word_behind::<UNION>(cursor) else {
            return done;
        };
        let (present, certain) = marks.split::<UNION>(first);
        let Some(length) = number_length(word) else {
            return done;
        };
        if !certain {
            return done;
        }
        numbers.push_word(present, word);
        cursor.advance(usize::from(UNION) + (length & mask(present) as usize));
    }
    count
}

/// As [`numbers`], of values of one size.
#[inline(always)]
pub(super) fn floats<const UNION: bool>(
    marks: Marks,
    cursor: &mut Cursor<'_>,
    valid: &mut Vec<bool>,
    floats: &mut Floats,
    count: usize,
) -> usize {
    let size = floats.size;
    for done in 0..count {
        let Some((first, word)) = word_behind::<UNION>(cursor) else {
            return done;
        };
        let (present, certain) = marks.split::<UNION>(first);
        if !certain {
            return done;
        }
        let mask = mask(present);
        floats.push_word(word & mask);
        valid.push(present);
        cursor.advance(usize::from(UNION) + (size & mask as usize));
    }
    count
}

/// The next byte, and eight bytes: those behind it in a union.
#[inline(always)]
fn word_behind<const UNION: bool>(cursor: &Cursor<'_>) -> Option<(u8, u64)> {
    let [a, b, c, d, e, f, g, h, i] = *cursor.peek::<9>()?;
    let word = match UNION {
        true => u64::from_le_bytes([b, c, d, e, f, g, h, i]),
        false => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
    };
    Some((a, word))
}

/// As [`numbers`], of texts and other bytes behind their length.
#[inline(always)]
pub(super) fn texts<const UNION: bool>(
    marks: Marks,
    cursor: &mut Cursor<'_>,
    valid: &mut Vec<bool>,
    bytes: &mut Bytes<i32>,
    count: usize,
) -> usize {
    for done in 0..count {
        let Some([first, second, room @ ..]) = cursor.peek::<{ ROOM + 2 }>() else {
            return done;
        };
        let (present, certain) = marks.split::<UNION>(*first);
        let head = if UNION { *second } else { *first };
        let head = head & mask(present) as u8;
        let length = usize::from(head >> 1);
        // A length of more than one byte, or a negative one.
        if head & 0x81 != 0 || !certain {
            return done;
        }
        let pushed = match UNION {
            true => bytes.push_room(room, length),
            false => match cursor.peek::<{ ROOM + 1 }>() {
                Some([_, room @ ..]) => bytes.push_room(room, length),
                None => false,
            },
        };
        if !pushed {
            return done;
        }
        valid.push(present);
        cursor.advance(usize::from(UNION) + usize::from(present) + length);
    }
    count
}

/// As [`numbers`], of decimals behind their length; all of them are smaller than `bound`, whatever their sign.
#[inline(always)]
pub(super) fn decimals<const UNION: bool>(
    bound: i128,
    marks: Marks,
    cursor: &mut Cursor<'_>,
    valid: &mut Vec<bool>,
    values: &mut Vec<i128>,
    count: usize,
) -> usize {
    for done in 0..count {
        let Some([first, second, digits @ ..]) = cursor.peek::<18>() else {
            return done;
        };
        let (present, certain) = marks.split::<UNION>(*first);
        let (head, digits) = match UNION {
            true => (*second, *digits),
            false => {
                let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, _] = *digits;
                (*first, [*second, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o])
            }
        };
        let head = head & mask(present) as u8;
        // 1 to 16 bytes; what stands behind them is shifted out.
        let sized = (head & 1 == 0) & (2..=32).contains(&head);
        let value = i128::from_be_bytes(digits) >> (128u32.wrapping_sub(u32::from(head) * 4) & 127);
        let value = value & i128::from(present).wrapping_neg();
        let fits = (-bound < value) & (value < bound);
        if !(certain & fits & (sized | !present)) {
            return done;
        }
        values.push(value);
        valid.push(present);
        cursor.advance(usize::from(UNION) + usize::from(present) + usize::from(head >> 1));
    }
    count
}
