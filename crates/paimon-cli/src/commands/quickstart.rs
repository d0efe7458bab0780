// SPDX-License-Identifier: Apache-2.0

//! `paimon quickstart`: the main job, each step with the command that does it. What is shown is what runs.

use std::path::Path;

use clap::Parser;
use paimon::types::{Error, Result};

use crate::args::Cli;
use crate::session::Session;

const FILES: [(&str, &[u8]); 2] = [
    (
        "flights-2013-01.csv",
        include_bytes!("../../../../testdata/flights/flights-2013-01.csv"),
    ),
    (
        "flights-2013-02.csv",
        include_bytes!("../../../../testdata/flights/flights-2013-02.csv"),
    ),
];

const COLUMNS: [&str; 19] = [
    "year INT NOT NULL",
    "month INT NOT NULL",
    "day INT NOT NULL",
    "dep_time INT",
    "sched_dep_time INT",
    "dep_delay INT",
    "arr_time INT",
    "sched_arr_time INT",
    "arr_delay INT",
    "carrier STRING",
    "flight INT",
    "tailnum STRING",
    "origin STRING",
    "dest STRING",
    "air_time INT",
    "distance INT",
    "hour INT",
    "minute INT",
    "time_hour TIMESTAMP(0) WITH LOCAL TIME ZONE",
];

/// Rows of a small table with a primary key: what it begins with, what changes, what goes.
const CARRIERS: [(&str, &str); 3] = [
    (
        "carriers.csv",
        "carrier,name,hub\n9E,Endeavor Air,MSP\nAA,American Airlines,DFW\nB6,JetBlue Airways,JFK\nDL,Delta Air Lines,ATL\n\
         EV,ExpressJet Airlines,EWR\nUA,United Air Lines,ORD\nUS,US Airways,CLT\nWN,Southwest Airlines,DAL\n",
    ),
    (
        "carriers-changed.csv",
        "carrier,name,hub\nAA,American Airlines,CLT\nMQ,Envoy Air,DFW\n",
    ),
    ("carriers-gone.csv", "carrier\nUS\n"),
];

pub(super) async fn run(_session: &Session, dir: &Path) -> Result<()> {
    let failed = |e: std::io::Error| {
        Error::io(format!("the directory cannot be made: {e}"))
            .with("path", dir.display())
            .with_source(e)
    };
    let shown = dir.display().to_string();
    let warehouse = format!("{shown}/warehouse");
    if dir.join("warehouse").exists() {
        return Err(Error::already_exists(
            "there is a warehouse here already; give another directory or delete it",
        )
        .with("path", &warehouse));
    }
    let data = dir.join("data");
    std::fs::create_dir_all(&data).map_err(failed)?;
    for (name, content) in FILES {
        std::fs::write(data.join(name), content).map_err(failed)?;
    }
    println!(
        "Flights from New York in January and February 2013 (CC0) are in {}.",
        data.display()
    );
    let in_warehouse = ["--warehouse", &warehouse];
    let file = |name: &str| data.join(name).display().to_string();

    let mut create = vec!["create", "default.flights", "--partition-by", "month"];
    COLUMNS
        .iter()
        .for_each(|column| create.extend(["--column", column]));
    create.extend(in_warehouse);
    step("Make a table in a new warehouse, partitioned by month.", &create).await?;

    let january = file(FILES[0].0);
    step(
        "Ingest January: data files first, then one snapshot.",
        &[
            "ingest",
            "default.flights",
            &january,
            in_warehouse[0],
            in_warehouse[1],
        ],
    )
    .await?;
    let february = file(FILES[1].0);
    step(
        "Ingest February as the second commit.",
        &[
            "ingest",
            "default.flights",
            &february,
            in_warehouse[0],
            in_warehouse[1],
        ],
    )
    .await?;
    step(
        "The history of the table.",
        &["snapshots", "default.flights", in_warehouse[0], in_warehouse[1]],
    )
    .await?;
    step(
        "What a read of February has to open: January's partition is not planned.",
        &[
            "plan",
            "default.flights",
            "--filter",
            "month = 2",
            in_warehouse[0],
            in_warehouse[1],
        ],
    )
    .await?;
    step(
        "Read with a filter and four columns.",
        &[
            "scan",
            "default.flights",
            "--columns",
            "month,day,carrier,dep_delay",
            "--filter",
            "month = 2 AND dest = 'SFO' AND dep_delay > 240",
            "--limit",
            "5",
            in_warehouse[0],
            in_warehouse[1],
        ],
    )
    .await?;
    step(
        "Time travel: the same at snapshot 1, where February was not there yet.",
        &[
            "scan",
            "default.flights",
            "--columns",
            "month,day,carrier,dep_delay",
            "--filter",
            "month = 2 AND dest = 'SFO' AND dep_delay > 240",
            "--snapshot-id",
            "1",
            in_warehouse[0],
            in_warehouse[1],
        ],
    )
    .await?;
    primary_key(&data, &in_warehouse).await?;
    println!("\nDone. A table is a directory that Java Paimon, Flink and Spark read too:");
    println!("  {warehouse}/default.db/flights");
    println!("  {warehouse}/default.db/carriers");
    Ok(())
}

/// Upsert, delete and time travel of a table with a primary key.
async fn primary_key(data: &Path, in_warehouse: &[&str; 2]) -> Result<()> {
    for (name, content) in CARRIERS {
        std::fs::write(data.join(name), content)
            .map_err(|e| Error::io(format!("a file cannot be written: {e}")).with_source(e))?;
    }
    let [first, changed, gone] = CARRIERS.map(|(name, _)| data.join(name).display().to_string());
    let table = "default.carriers";
    let steps: [(&str, &[&str]); 6] = [
        (
            "A table with a primary key: a carrier has one row.",
            &[
                "create",
                table,
                "--primary-key",
                "carrier",
                "--column",
                "carrier STRING NOT NULL",
                "--column",
                "name STRING",
                "--column",
                "hub STRING",
            ],
        ),
        ("Eight carriers.", &["ingest", table, &first]),
        (
            "Upsert: the row of AA is replaced, MQ is new. Only the two rows are written.",
            &["ingest", table, &changed],
        ),
        ("Delete by key.", &["ingest", table, &gone, "--delete"]),
        ("A read merges what the three commits wrote.", &["scan", table]),
        (
            "Time travel: the row of AA at snapshot 1.",
            &["scan", table, "--filter", "carrier = 'AA'", "--snapshot-id", "1"],
        ),
    ];
    for (what, words) in steps {
        step(what, &[words, in_warehouse].concat()).await?;
    }
    Ok(())
}

/// Shows a command and runs it.
async fn step(what: &str, words: &[&str]) -> Result<()> {
    println!(
        "\n# {what}\n$ paimon {}",
        words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ")
    );
    let words = std::iter::once("paimon").chain(words.iter().copied());
    let cli = Cli::try_parse_from(words)
        .map_err(|e| Error::invalid("a quickstart step is malformed").with_source(e))?;
    Box::pin(super::run(cli)).await
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_./,:=$".contains(c));
    if plain && !word.is_empty() && !word.contains('$') {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}
