// SPDX-License-Identifier: Apache-2.0

//! Random predicates over random rows: statistics never lose a match, rewrites keep the meaning.

use std::collections::BTreeMap;

use super::*;

/// A small generator, the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn random_datum(r: &mut Random, id: i32) -> Option<Datum> {
    if r.next(5) == 0 {
        return None;
    }
    let n = r.next(8) as i32;
    Some(match id {
        0 => Datum::Int(n - 4),
        1 => Datum::String(["", "a", "ab", "abc", "b", "é", "ab%", "z"][n as usize].to_owned()),
        2 => Datum::Double(
            [
                -1.5,
                -0.0,
                0.0,
                1.0,
                2.5,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
            ][n as usize],
        ),
        _ => Datum::Decimal {
            unscaled: i128::from(n) * 50,
            scale: [2, 3][(n % 2) as usize],
        },
    })
}

fn random_predicate(r: &mut Random, depth: u32) -> Predicate {
    if depth > 0 && r.next(2) == 0 {
        let children: Vec<Predicate> = (0..r.next(3) + 1)
            .map(|_| random_predicate(r, depth - 1))
            .collect();
        return match r.next(4) {
            0 => Predicate::And(children),
            1 => Predicate::Or(children),
            2 => Predicate::and(children).not(),
            _ => Predicate::Not(Box::new(Predicate::or(children))),
        };
    }
    let fields = [int(), text(), double(), decimal()];
    let f = &fields[r.next(4) as usize];
    let literal = |r: &mut Random| random_datum(r, f.id);
    let one = literal(r);
    let two = literal(r);
    match r.next(12) {
        0 => Predicate::eq(f, one),
        1 => Predicate::not_eq(f, one),
        2 => Predicate::lt(f, one),
        3 => Predicate::lt_eq(f, one),
        4 => Predicate::gt(f, one),
        5 => Predicate::gt_eq(f, one),
        6 => Ok(Predicate::is_null(f)),
        7 => Ok(Predicate::is_not_null(f)),
        8 => Predicate::in_list(f, vec![one, two]),
        9 => Predicate::not_in_list(f, vec![one, two]),
        10 => Predicate::between(f, one, two),
        _ if f.id == 1 => Predicate::like(&text(), ["a%", "%b%", "a_", "%", "ab\\%"][r.next(5) as usize]),
        _ => Predicate::not_between(f, one, two),
    }
    .unwrap()
}

type Row = BTreeMap<i32, Option<Datum>>;

fn stats_of(rows: &[Row], id: i32, r: &mut Random) -> Option<ColumnStats> {
    if r.next(8) == 0 {
        return None;
    }
    let nulls = rows.iter().filter(|row| row[&id].is_none()).count() as i64;
    // As a Parquet footer: NaN is not counted, zeros may have either sign.
    let nan = |v: &Datum| matches!(v, Datum::Double(d) if d.is_nan());
    let values: Vec<&Datum> = rows
        .iter()
        .filter_map(|row| row[&id].as_ref())
        .filter(|v| !nan(v))
        .collect();
    let zero = |v: &Datum| {
        if *v == Datum::Double(-0.0) {
            Datum::Double(0.0)
        } else {
            v.clone()
        }
    };
    let min = values
        .iter()
        .min_by(|a, b| a.compare(b).unwrap())
        .map(|v| zero(v));
    let max = values
        .iter()
        .max_by(|a, b| a.compare(b).unwrap())
        .map(|v| zero(v));
    Some(ColumnStats {
        min,
        max,
        null_count: (r.next(4) > 0).then_some(nulls),
    })
}

#[test]
fn statistics_keep_whatever_a_row_matches() {
    let mut r = Random(0x9E37_79B9_7F4A_7C15);
    let mut pruned = 0;
    for _ in 0..20_000 {
        let p = random_predicate(&mut r, 3);
        let rows: Vec<Row> = (0..r.next(4) + 1)
            .map(|_| (0..4).map(|id| (id, random_datum(&mut r, id))).collect())
            .collect();
        let stats: BTreeMap<i32, Option<ColumnStats>> =
            (0..4).map(|id| (id, stats_of(&rows, id, &mut r))).collect();
        let matched = rows
            .iter()
            .any(|row| p.eval_row(&|id| row[&id].clone()) == Some(true));
        let kept = p.may_match_stats(rows.len() as i64, &|id| stats[&id].clone());
        assert!(kept || !matched, "{p}\n{rows:?}\n{stats:?}");
        pruned += u32::from(!kept);
    }
    assert!(pruned > 2000, "only {pruned} were pruned");
}

#[test]
fn rewrites_keep_the_meaning() {
    let mut r = Random(42);
    for _ in 0..20_000 {
        let p = random_predicate(&mut r, 3);
        let row: Row = (0..4).map(|id| (id, random_datum(&mut r, id))).collect();
        let value = |id: i32| row[&id].clone();
        let truth = p.eval_row(&value);
        assert_eq!(p.clone().not().eval_row(&value), truth.map(|t| !t), "{p}");
        assert_eq!(
            Predicate::and(p.clone().split_conjuncts()).eval_row(&value),
            truth,
            "{p}"
        );
        let known = |id: i32| (id < 2).then(|| row[&id].as_ref());
        assert_eq!(
            p.with_known_values(&known).eval_row(&value) == Some(true),
            truth == Some(true),
            "{p}"
        );
        let parts = [p.partition_only(&[0, 1]), p.without_partition(&[0, 1])];
        for part in &parts {
            assert!(
                truth != Some(true) || part.eval_row(&value) == Some(true),
                "{p} -> {part}"
            );
        }
        assert_eq!(
            Predicate::and(parts).eval_row(&value) == Some(true),
            truth == Some(true),
            "{p}"
        );
        if let Some(candidates) = p.bucket_candidates(&[0, 1])
            && truth == Some(true)
        {
            assert!(
                candidates.contains(&vec![row[&0].clone(), row[&1].clone()]),
                "{p} {row:?}"
            );
        }
    }
}
