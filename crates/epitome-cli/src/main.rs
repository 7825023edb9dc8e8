//! The `epitome` binary: reads transcripts, says what fills them, and makes them smaller.

mod align;
mod args;
mod commands;
mod config;
mod counters;
mod failure;
mod formats;
mod input;
mod output;
mod progress;
mod receipt;
mod said;
mod survey;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let report = cli.report();
    match commands::run(cli.command, report) {
        Ok(exit) => exit.into(),
        Err(error) => failure::tell(&error, report).into(),
    }
}
