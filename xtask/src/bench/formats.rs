// SPDX-License-Identifier: Apache-2.0

//! `bench formats`: reading and writing of each format and family of types, beside the bare library and a Python one, and
//! reading of one row of a hundred beside reading all.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::measure::{Contestant, Measured, Slow, measure, median};
use super::{directory, same_rows};
use crate::process::{self, cargo, installed, output, root};

const ROWS: &str = "1000000";
/// What `paimon-bench format-write` writes.
const WRITE_ROWS: &str = "262144";
const ROUNDS: usize = 9;
const SLOW: Slow = Slow {
    seconds: 0.5,
    rounds: 3,
};
const TASKS: [&str; 3] = ["read", "write", "select"];
/// A format, its bare library, and the Python library that has it.
const FORMATS: [(&str, &str, Option<&str>); 3] = [
    ("parquet", "parquet crate", None),
    ("orc", "orc-rust", Some("pyarrow.orc")),
    ("avro", "apache-avro", Some("fastavro")),
];

/// What the samples are made with.
struct Bench {
    binary: PathBuf,
    python: Option<PathBuf>,
    dir: PathBuf,
}

/// The task; `only` are names of formats, families, or of `read`, `write`, `select`.
pub(super) fn run(only: &[&str]) -> Result<Value, String> {
    process::run(cargo().args([
        "build",
        "--release",
        "--locked",
        "-p",
        "paimon-bench",
        "--features",
        "peers",
    ]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let bench = Bench {
        binary: target.join("release").join("paimon-bench"),
        python: python(),
        dir: directory()?.join("formats"),
    };
    let families = output(&mut bench.sample(["format-families"]))?;
    let families: Vec<&str> = families.lines().collect();
    let formats = FORMATS.map(|(name, ..)| name);
    if let Some(unknown) = only
        .iter()
        .find(|o| !TASKS.contains(o) && !formats.contains(o) && !families.contains(o))
    {
        return Err(format!(
            "{unknown:?} is none of {}, {}, {}",
            TASKS.join(", "),
            formats.join(", "),
            families.join(", ")
        ));
    }
    process::run(
        Command::new(&bench.binary)
            .arg("make-formats")
            .arg(&bench.dir)
            .arg(ROWS),
    )?;
    let wanted = |all: &[&str], name: &str| !only.iter().any(|o| all.contains(o)) || only.contains(&name);
    let mut report = serde_json::Map::new();
    for task in TASKS.into_iter().filter(|t| wanted(&TASKS, t)) {
        println!("formats, {task}, zstd: million rows a second, and how many times longer others take");
        for (format, library, peer) in FORMATS.into_iter().filter(|(f, ..)| wanted(&formats, f)) {
            for family in families.iter().filter(|f| wanted(&families, f)) {
                let contestants = match task {
                    "read" => bench.readers(format, family, library, peer),
                    "write" => bench.writers(format, family, library, peer),
                    _ => bench.selections(format, family),
                };
                let measured = measure(&contestants, ROUNDS, Some(SLOW))?;
                if task != "select" {
                    same_rows(&contestants, &measured)?;
                }
                print_line(format, family, &contestants, &measured);
                let all: serde_json::Map<String, Value> = contestants
                    .iter()
                    .zip(&measured)
                    .map(|(contestant, m)| {
                        let sample = json!({
                            "seconds": median(&m.seconds),
                            "times_ours": m.times_first,
                            "rows": m.rows,
                            "peak_kib": m.peak_kib,
                        });
                        (contestant.name.to_owned(), sample)
                    })
                    .collect();
                report.insert(format!("{task} {format} {family}"), Value::Object(all));
            }
        }
    }
    Ok(Value::Object(report))
}

/// Python with the libraries, in the virtual environment of the peers.
fn python() -> Option<PathBuf> {
    let venv = root().join("target").join("bench-venv");
    let python = venv.join("bin").join("python");
    let there = |python: &Path| {
        let mut command = Command::new(python);
        command.args(["-c", "import fastavro, pyarrow.orc, backports.zstd"]);
        command.output().is_ok_and(|out| out.status.success())
    };
    if there(&python) {
        return Some(python);
    }
    let made = match installed("python3", "--version") {
        false => Err("no python3".to_owned()),
        true => process::run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).and_then(|()| {
            let install = [
                "-m",
                "pip",
                "install",
                "-q",
                "pyarrow",
                "fastavro",
                "backports.zstd",
            ];
            process::run(Command::new(&python).args(install))
        }),
    };
    match made {
        Ok(()) => Some(python),
        Err(message) => {
            println!("bench: pyarrow and fastavro are not measured: {message}");
            None
        }
    }
}

impl Bench {
    fn sample<const N: usize>(&self, words: [&str; N]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words);
        command
    }

    fn script<const N: usize>(&self, name: &'static str, words: [&str; N]) -> Option<Contestant> {
        let mut command = Command::new(self.python.as_ref()?);
        command.arg(root().join("xtask").join("peer").join("formats.py"));
        command.args(words);
        Some(contestant(name, command))
    }

    fn readers(
        &self,
        format: &str,
        family: &str,
        library: &'static str,
        peer: Option<&'static str>,
    ) -> Vec<Contestant> {
        let dir = self.dir.to_string_lossy();
        let file = self.dir.join(format!("{family}.{format}"));
        let read = |who| self.sample(["format-read", who, format, &dir, family, "all"]);
        let mut all = vec![
            contestant("ours", read("ours")),
            contestant(library, read("library")),
        ];
        all.extend(peer.and_then(|name| self.script(name, ["read", format, &file.to_string_lossy()])));
        all
    }

    fn writers(
        &self,
        format: &str,
        family: &str,
        library: &'static str,
        peer: Option<&'static str>,
    ) -> Vec<Contestant> {
        let dir = self.dir.to_string_lossy();
        let file = self.dir.join(format!("{family}.{format}"));
        let out = self.dir.join(format!("out-peer.{format}"));
        let write = |who| self.sample(["format-write", who, format, &dir, family]);
        let mut all = vec![contestant("ours", write("ours"))];
        // `orc-rust` writes few types, none compressed.
        if format != "orc" {
            all.push(contestant(library, write("library")));
        }
        let words = [
            "write",
            format,
            &file.to_string_lossy(),
            &out.to_string_lossy(),
            WRITE_ROWS,
        ];
        all.extend(peer.and_then(|name| self.script(name, words)));
        all
    }

    fn selections(&self, format: &str, family: &str) -> Vec<Contestant> {
        let dir = self.dir.to_string_lossy();
        let read = |rows| self.sample(["format-read", "ours", format, &dir, family, rows]);
        vec![
            contestant("all rows", read("all")),
            contestant("1 % in 2 runs", read("2")),
            contestant("in 100 runs", read("100")),
            contestant("one by one", read("scattered")),
        ]
    }
}

fn contestant(name: &'static str, command: Command) -> Contestant {
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let program = command.get_program().to_owned();
    Contestant {
        name,
        command: Box::new(move || {
            let mut command = Command::new(&program);
            command.args(&words);
            Ok(command)
        }),
    }
}

/// The rate of the first, and how many times longer each of the others took (shorter: below 1).
fn print_line(format: &str, family: &str, contestants: &[Contestant], measured: &[Measured]) {
    let mut line = format!("  {format:<8} {family:<19}");
    for (at, (contestant, found)) in contestants.iter().zip(measured).enumerate() {
        let name = contestant.name;
        line += &match at {
            0 => format!(
                " {name} {:>8.2}",
                found.rows as f64 / median(&found.seconds) / 1e6
            ),
            _ => format!("   {name} {:>6.2} x", found.times_first),
        };
    }
    println!("{line}");
}
