// SPDX-License-Identifier: Apache-2.0

//! One module a command.

mod create;
mod decode;
mod ingest;
mod inspect;
mod list;
mod plan;
mod planned_rows;
mod quickstart;
mod read_split;
mod scan;

use paimon::types::Result;

use crate::args::{Cli, Command};
use crate::session::Session;

/// Runs the command of the command line.
pub(crate) async fn run(cli: Cli) -> Result<()> {
    let session = Session::new(cli.global)?;
    match cli.command {
        Command::Quickstart { dir } => quickstart::run(&session, &dir).await,
        Command::Scan(args) => scan::run(&session, &args).await,
        Command::Plan(args) => plan::run(&session, &args).await,
        Command::ReadSplit(args) => read_split::run(&session, &args).await,
        Command::Ingest(args) => ingest::run(&session, &args).await,
        Command::Create(args) => create::run(&session, &args).await,
        Command::Ls { target } => list::run(&session, target.as_deref()).await,
        Command::Schema {
            table,
            branch,
            id,
            json,
        } => inspect::schema(&session, &table, branch.as_deref(), id, json).await,
        Command::Snapshots { table, branch, json } => {
            inspect::snapshots(&session, &table, branch.as_deref(), json).await
        }
        Command::Files(args) => inspect::files(&session, &args).await,
        Command::Manifests(args) => inspect::manifests(&session, &args).await,
        Command::Decode(args) => decode::run(&args).await,
    }
}
