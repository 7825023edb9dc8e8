//! The `epitome` binary: reads transcripts, says what fills them, and makes them smaller.

mod align;
mod args;
mod carried;
mod commands;
mod config;
mod counters;
mod failure;
mod formats;
mod identity;
mod input;
mod known;
mod meant;
mod output;
mod progress;
mod quoting;
mod reader;
mod receipt;
mod said;
mod suited;
mod survey;
mod terminal;
mod unseen;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::misuse(&error),
    };
    let report = cli.report();
    match commands::run(cli.command, report) {
        Ok(exit) => exit.into(),
        Err(error) => failure::tell(&error, report).into(),
    }
}
