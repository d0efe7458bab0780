// SPDX-License-Identifier: Apache-2.0

//! Commands timed in turn.

use std::process::Command;

use serde_json::Value;

use crate::process::output;

/// One who is measured; the first of several is ours.
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) command: Box<dyn Fn() -> Result<Command, String>>,
}

/// What the samples of a contestant come to.
pub(super) struct Measured {
    /// Of each round in which it was.
    pub(super) seconds: Vec<f64>,
    /// How many times longer it took than the first one in the same round: the median. A slow moment of the machine is one of all.
    pub(super) times_first: f64,
    pub(super) rows: u64,
    /// The largest.
    pub(super) peak_kib: u64,
}

/// Contestants that take longer than `seconds` a sample are in the first `rounds` only.
pub(super) struct Slow {
    pub(super) seconds: f64,
    pub(super) rounds: usize,
}

/// Runs the contestants in turn, once to warm the page cache and `rounds` times more. Each round begins with another one, and every
/// other round goes backwards, so that none always comes after the same one, which heats the machine or empties its caches.
pub(super) fn measure(
    contestants: &[Contestant],
    rounds: usize,
    slow: Option<Slow>,
) -> Result<Vec<Measured>, String> {
    let mut samples: Vec<Vec<(f64, Value)>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for place in 0..contestants.len() {
            let place = match round % 2 {
                0 => place,
                _ => contestants.len() - 1 - place,
            };
            let next = (round + place) % contestants.len();
            let (Some(contestant), Some(list)) = (contestants.get(next), samples.get_mut(next)) else {
                continue;
            };
            let slow = slow.as_ref().filter(|slow| round > slow.rounds);
            if slow.is_some_and(|slow| list.first().is_some_and(|(seconds, _)| *seconds > slow.seconds)) {
                continue;
            }
            let text = output(&mut (contestant.command)()?)?;
            let sample: Value =
                serde_json::from_str(text.trim()).map_err(|e| format!("a sample is no JSON: {e}"))?;
            let Some(seconds) = sample["seconds"].as_f64() else {
                return Err(format!("a sample has no seconds: {sample}"));
            };
            if round > 0 {
                list.push((seconds, sample));
            }
        }
    }
    let seconds = |list: &[(f64, Value)]| -> Vec<f64> { list.iter().map(|(seconds, _)| *seconds).collect() };
    let first = samples.first().map(|list| seconds(list)).unwrap_or_default();
    let of = |list: &Vec<(f64, Value)>| {
        let seconds = seconds(list);
        let ratios: Vec<f64> = seconds.iter().zip(&first).map(|(s, first)| s / first).collect();
        let numbers = |key: &'static str| list.iter().filter_map(move |(_, sample)| sample[key].as_u64());
        Measured {
            times_first: median(&ratios),
            seconds,
            rows: numbers("rows").min().unwrap_or(0),
            peak_kib: numbers("peak_kib").max().unwrap_or(0),
        }
    };
    Ok(samples.iter().map(of).collect())
}

pub(super) fn median(list: &[f64]) -> f64 {
    let mut sorted = list.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
