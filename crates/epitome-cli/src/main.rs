//! The `epitome` binary: reads transcripts, says what fills them, and makes them smaller.

mod agents;
mod align;
mod archive;
mod args;
mod billing;
mod carried;
mod commands;
mod config;
mod continued;
mod counters;
mod diagnostics;
mod failure;
mod folders;
mod formats;
mod glance;
mod identity;
mod in_place;
mod input;
mod integration;
#[cfg(feature = "proxy")]
mod kept;
mod lookup;
mod meant;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(all(feature = "proxy", not(feature = "otlp")))]
#[path = "otlp_absent.rs"]
mod otlp;
#[cfg(feature = "proxy")]
mod otlp_asked;
mod output;
mod progress;
mod project;
mod quoting;
mod reader;
mod receipt;
mod refusal;
mod said;
mod schemas;
mod signals;
mod suited;
mod summarizers;
mod survey;
mod terminal;
mod unseen;
mod values;
mod whole;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::args::{Cli, Command, SessionsArgs};

/// The static program's.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let parsed = args::command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return diagnostics::misuse(&error),
    };
    let report = cli.report();
    let command = cli.command.unwrap_or(Command::Sessions(SessionsArgs::default()));
    match commands::run(command, report) {
        Ok(exit) => exit.into(),
        Err(error) => diagnostics::tell(&error, report).into(),
    }
}
