// SPDX-License-Identifier: Apache-2.0

//! LIKE patterns (Java `org.apache.paimon.predicate.Like`).

use super::PredicateOp;
use crate::{Error, Result};

/// A parsed LIKE pattern: `%` any text, `_` one code point, `\` before `%`, `_` or `\` takes it as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikePattern(Vec<Element>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Any,
    One,
    Char(char),
}

impl LikePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// `InvalidInput` when `\` is the last character or stands before one that needs no escape.
    pub fn parse(pattern: &str) -> Result<LikePattern> {
        let mut elements = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            elements.push(match c {
                '%' if elements.last() == Some(&Element::Any) => continue,
                '%' => Element::Any,
                '_' => Element::One,
                '\\' => match chars.next() {
                    Some(next @ ('%' | '_' | '\\')) => Element::Char(next),
                    Some(next) => {
                        return Err(Error::invalid(format!(
                            "LIKE pattern '{pattern}' has \\{next}; \\ may stand before %, _ and \\ only"
                        )));
                    }
                    None => return Err(Error::invalid(format!("LIKE pattern '{pattern}' ends with \\"))),
                },
                c => Element::Char(c),
            });
        }
        Ok(LikePattern(elements))
    }

    /// True when the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        // On a mismatch, go back to the last `%` and let it take one character more.
        let (mut rest, mut at) = (text.chars(), 0);
        let mut retry: Option<(std::str::Chars<'_>, usize)> = None;
        loop {
            let element = self.0.get(at).copied();
            if element == Some(Element::Any) {
                at += 1;
                retry = Some((rest.clone(), at));
                continue;
            }
            let mut ahead = rest.clone();
            let fits = match (element, ahead.next()) {
                (None, None) => return true,
                (Some(Element::One), Some(_)) => true,
                (Some(Element::Char(wanted)), Some(found)) => wanted == found,
                _ => false,
            };
            if fits {
                rest = ahead;
                at += 1;
                continue;
            }
            let Some((from, after)) = &mut retry else {
                return false;
            };
            if from.next().is_none() {
                return false;
            }
            rest = from.clone();
            at = *after;
        }
    }

    /// The simplest test that does the same, with its text.
    pub(super) fn simplest(&self, pattern: &str) -> (PredicateOp, String) {
        let any = |element: Option<&Element>| element == Some(&Element::Any);
        let (starts, ends) = (any(self.0.first()), any(self.0.last()));
        let inner = self.0.iter().skip(usize::from(starts));
        let count = self.0.len() - usize::from(starts);
        let inner = inner.take(count - usize::from(ends && count > 0));
        let literal: Option<String> = inner
            .map(|element| match element {
                Element::Char(c) => Some(*c),
                _ => None,
            })
            .collect();
        match (literal, starts, ends) {
            (Some(text), false, false) => (PredicateOp::Eq, text),
            (Some(text), false, true) => (PredicateOp::StartsWith, text),
            (Some(text), true, true) if self.0.len() > 1 => (PredicateOp::Contains, text),
            (Some(text), true, true) => (PredicateOp::StartsWith, text),
            (Some(text), true, false) => (PredicateOp::EndsWith, text),
            (None, ..) => (PredicateOp::Like, pattern.to_owned()),
        }
    }
}
