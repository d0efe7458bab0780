// SPDX-License-Identifier: Apache-2.0

//! `bench pk-write`: rows into tables with a primary key, for three merge engines, 1 and 16 buckets, ours beside the peer. Both
//! tables must hold the same rows.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::measure::Contestant;
use super::{binary, directory, peer, race_in_turn};
use crate::process::{self, output, root};

const ROWS: &str = "2000000";
const ENGINES: [&str; 3] = ["deduplicate", "partial-update", "aggregation"];
const BUCKETS: [&str; 2] = ["1", "16"];

/// The task; `only` are engines or numbers of buckets.
pub(super) fn run(only: &[&str]) -> Result<Value, String> {
    let (dir, bin, python) = (directory()?, binary()?, peer());
    let input = dir.join("pk-write-input.arrow");
    if !input.exists() {
        process::run(
            Command::new(&bin)
                .arg("make-pk-write-input")
                .arg(&input)
                .arg(ROWS),
        )?;
    }
    let warehouse = dir.join("warehouse");
    let wanted = |all: &[&str], name: &str| !only.iter().any(|o| all.contains(o)) || only.contains(&name);
    let mut results = serde_json::Map::new();
    for engine in ENGINES.into_iter().filter(|engine| wanted(&ENGINES, engine)) {
        for buckets in BUCKETS.into_iter().filter(|buckets| wanted(&BUCKETS, buckets)) {
            let location = |name: &str| warehouse.join("default.db").join(name);
            let mut contestants = vec![Contestant {
                name: "ours",
                command: ours(&bin, &input, location("pk_write_ours"), engine, buckets),
            }];
            if let Some(python) = &python {
                let command = other(python, &bin, &input, &warehouse, engine, buckets);
                contestants.push(Contestant {
                    name: "peer (pypaimon-rust)",
                    command,
                });
            }
            println!("pk-write, {engine}, 2 M rows x 7 columns, {buckets} bucket(s)");
            let mut found = race_in_turn(&contestants)?;
            let tables = ["pk_write_ours", "pk_write_peer"];
            let digests = tables
                .iter()
                .take(contestants.len())
                .map(|name| digest(&bin, &location(name)));
            let digests: Vec<Value> = digests.collect::<Result<_, _>>()?;
            if let [ours, peer] = digests.as_slice()
                && (ours["rows"] != peer["rows"] || ours["sum"] != peer["sum"])
            {
                return Err(format!("{engine}: the tables differ: {ours} and {peer}"));
            }
            if let Value::Object(map) = &mut found {
                map.insert("tables".to_owned(), json!(digests));
            }
            results.insert(format!("{engine} {buckets}"), found);
        }
    }
    Ok(Value::Object(results))
}

/// A new table at this place.
fn fresh(bin: &Path, location: &Path, engine: &str, buckets: &str) -> Result<(), String> {
    if location.exists() {
        std::fs::remove_dir_all(location).map_err(|e| e.to_string())?;
    }
    let mut command = Command::new(bin);
    command.arg("make-pk-write-table").arg(location);
    output(command.args([engine, buckets])).map(drop)
}

type MakeCommand = Box<dyn Fn() -> Result<Command, String>>;

fn ours(
    bin: &Path,
    input: &Path,
    location: PathBuf,
    engine: &'static str,
    buckets: &'static str,
) -> MakeCommand {
    let (bin, input) = (bin.to_owned(), input.to_owned());
    Box::new(move || {
        fresh(&bin, &location, engine, buckets)?;
        let mut command = Command::new(&bin);
        command.arg("write").arg(&input).arg(&location).arg("1");
        Ok(command)
    })
}

fn other(
    python: &Path,
    bin: &Path,
    input: &Path,
    warehouse: &Path,
    engine: &'static str,
    buckets: &'static str,
) -> MakeCommand {
    let (python, bin, input, warehouse) = (
        python.to_owned(),
        bin.to_owned(),
        input.to_owned(),
        warehouse.to_owned(),
    );
    let script = root().join("xtask").join("peer").join("write.py");
    Box::new(move || {
        let location = warehouse.join("default.db").join("pk_write_peer");
        fresh(&bin, &location, engine, buckets)?;
        let mut command = Command::new(&python);
        command.arg(&script).arg(&warehouse).arg("default.pk_write_peer");
        command.arg(&input).arg("1");
        Ok(command)
    })
}

fn digest(bin: &Path, location: &Path) -> Result<Value, String> {
    let text = output(Command::new(bin).arg("pk-write-digest").arg(location))?;
    serde_json::from_str(text.trim()).map_err(|e| format!("a digest is no JSON: {e}"))
}
