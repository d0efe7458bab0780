// SPDX-License-Identifier: Apache-2.0

//! `paimon`: plan, read, write and inspect Apache Paimon tables from the command line.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod commands;
mod input;
mod output;
mod progress;
mod session;
mod sql_filter;

use std::error::Error as _;
use std::io::ErrorKind as IoErrorKind;
use std::process::ExitCode;

use clap::Parser;
use paimon::types::Error;

use args::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let verbose = cli.global.verbose;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => {
            eprintln!("error: cannot start the runtime: {err}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) if is_broken_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            if verbose {
                eprintln!("error: {err:?}");
            } else {
                let text = err.to_string().replace('\n', " ");
                let hint = if err.source().is_some() {
                    " [--verbose shows the cause]"
                } else {
                    ""
                };
                eprintln!("error: {text}{hint}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The reader of our output went away (`paimon scan … | head`): not an error.
fn is_broken_pipe(err: &Error) -> bool {
    let mut source = err.source();
    while let Some(cause) = source {
        if cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == IoErrorKind::BrokenPipe)
        {
            return true;
        }
        source = cause.source();
    }
    false
}
