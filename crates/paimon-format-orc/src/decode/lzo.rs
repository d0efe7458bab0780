// SPDX-License-Identifier: Apache-2.0

//! LZO1X, as far as decompression needs it.

/// Appends what `input` holds to `out`, which stays below `limit` bytes.
///
/// # Errors
/// What is wrong with `input`.
pub(super) fn decompress(input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), &'static str> {
    Decoder {
        input: Input { rest: input },
        out,
        limit,
    }
    .run()
}

const CUT: &str = "it is cut";

struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<usize, &'static str> {
        let (first, rest) = self.rest.split_first().ok_or(CUT)?;
        self.rest = rest;
        Ok(usize::from(*first))
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(CUT)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// A length whose low bits in the instruction were zero: 255 for each zero byte, then the first other one.
    fn long_length(&mut self, base: usize) -> Result<usize, &'static str> {
        let mut length = base;
        loop {
            match self.byte()? {
                0 => length = length.checked_add(255).ok_or(CUT)?,
                last => return length.checked_add(last).ok_or(CUT),
            }
        }
    }
}

struct Decoder<'a, 'b> {
    input: Input<'a>,
    out: &'b mut Vec<u8>,
    limit: usize,
}

/// What stood before an instruction below 16.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A match without literals after it, or nothing.
    Nothing,
    /// A match with one to three literals after it.
    FewLiterals,
    /// A run of literals.
    Run,
}

impl Decoder<'_, '_> {
    fn run(mut self) -> Result<(), &'static str> {
        let mut before = Before::Nothing;
        // The first byte may stand for literals.
        if let Some(first) = self.input.rest.first().copied().map(usize::from)
            && first > 17
        {
            self.input.byte()?;
            let count = first - 17;
            self.literals(count)?;
            before = if count < 4 {
                Before::FewLiterals
            } else {
                Before::Run
            };
        }
        loop {
            let code = self.input.byte()?;
            let literals = match code {
                0..16 if before == Before::Nothing => {
                    let count = match code {
                        0 => self.input.long_length(18)?,
                        short => short + 3,
                    };
                    self.literals(count)?;
                    before = Before::Run;
                    continue;
                }
                0..16 => {
                    let high = self.input.byte()? << 2;
                    let (distance, length) = match before {
                        Before::FewLiterals => (high + (code >> 2) + 1, 2),
                        _ => (high + (code >> 2) + 0x801, 3),
                    };
                    self.copy(distance, length)?;
                    code & 3
                }
                16..32 => {
                    let length = match code & 7 {
                        0 => self.input.long_length(9)?,
                        short => short + 2,
                    };
                    let (distance, literals) = self.distance()?;
                    let distance = ((code & 8) << 11) + distance;
                    if distance == 0 {
                        return match length {
                            3 => Ok(()),
                            _ => Err("it has no proper end"),
                        };
                    }
                    self.copy(distance + 0x4000, length)?;
                    literals
                }
                32..64 => {
                    let length = match code & 31 {
                        0 => self.input.long_length(33)?,
                        short => short + 2,
                    };
                    let (distance, literals) = self.distance()?;
                    self.copy(distance + 1, length)?;
                    literals
                }
                _ => {
                    let distance = (self.input.byte()? << 3) + ((code >> 2) & 7) + 1;
                    self.copy(distance, (code >> 5) + 1)?;
                    code & 3
                }
            };
            self.literals(literals)?;
            before = match literals {
                0 => Before::Nothing,
                _ => Before::FewLiterals,
            };
        }
    }

    /// Fourteen bits of a distance, and the literals that follow the match.
    fn distance(&mut self) -> Result<(usize, usize), &'static str> {
        let low = self.input.byte()?;
        let high = self.input.byte()?;
        Ok(((high << 6) + (low >> 2), low & 3))
    }

    fn room(&self, count: usize) -> Result<(), &'static str> {
        match self.out.len().checked_add(count) {
            Some(length) if length <= self.limit => Ok(()),
            _ => Err("it makes more bytes than a chunk has"),
        }
    }

    fn literals(&mut self, count: usize) -> Result<(), &'static str> {
        self.room(count)?;
        let bytes = self.input.bytes(count)?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn copy(&mut self, distance: usize, length: usize) -> Result<(), &'static str> {
        self.room(length)?;
        let start = self
            .out
            .len()
            .checked_sub(distance)
            .ok_or("it copies from before its start")?;
        if distance >= length {
            self.out.extend_from_within(start..start + length);
            return Ok(());
        }
        // The copy reads what it writes.
        for index in start..start + length {
            let byte = self.out.get(index).copied().ok_or(CUT)?;
            self.out.push(byte);
        }
        Ok(())
    }
}
