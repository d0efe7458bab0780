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

/// Stack of the thread that runs the command. Expressions of filters nest by their length in the SQL parser's tree, which is dropped and
/// printed recursively.
const STACK_BYTES: usize = 128 << 20;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let worker = std::thread::Builder::new()
        .name("paimon".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || run(cli));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic was printed.
        Ok(Err(_)) => ExitCode::from(101),
        Err(err) => {
            eprintln!("error: cannot start a thread: {err}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> ExitCode {
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
