//! The commands, one file each.

mod archive;
mod bench;
mod check;
mod compact;
mod config;
mod convert;
mod count;
mod diff;
mod doctor;
mod hook;
mod install;
mod landing;
#[cfg(feature = "mcp")]
mod mcp;
mod models;
mod plan;
mod report;
mod schema;
#[cfg(feature = "proxy")]
mod serve;
mod sessions;
mod shape;
mod shell;
#[cfg(feature = "grpc")]
mod sidecar;
mod simulate;
mod stats;
mod stored;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "proxy")]
mod wrap;

use anyhow::Result;

use crate::args::{BenchCommand, Command};
use crate::failure::Exit;
use crate::output::Report;

/// Does what was asked.
pub(crate) fn run(command: Command, report: Report) -> Result<Exit> {
    match command {
        Command::Bench { command: BenchCommand::Foresight(args) } => {
            bench::foresight(&args, report)
        }
        Command::Bench { command: BenchCommand::Rounds(args) } => bench::rounds(&args, report),
        Command::Check(args) => check::run(&args, report),
        Command::Count(args) => count::run(&args, report),
        Command::Compact(args) => compact::run(&args, report),
        Command::Config { command } => config::run(&command, report),
        Command::Convert(args) => convert::run(&args, report),
        Command::Completions { shell } => shell::completions(shell, report),
        Command::Doctor(args) => doctor::run(&args, report),
        Command::Hook(args) => Ok(hook::run(&args)),
        Command::Install(args) => install::install(&args, report),
        Command::Uninstall(args) => install::uninstall(&args, report),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&args, report),
        #[cfg(feature = "proxy")]
        Command::Serve(args) => serve::run(&args, report),
        #[cfg(feature = "grpc")]
        Command::Sidecar(args) => sidecar::run(&args, report),
        Command::Models(args) => models::run(&args, report),
        Command::Man { command } => shell::manual(command.as_deref(), report),
        Command::Plan(args) => plan::run(&args, report),
        Command::Report(args) => report::run(&args, report),
        Command::Diff(args) => diff::run(&args, report),
        Command::Simulate(args) => simulate::run(&args, report),
        Command::Forget(args) => archive::forget(&args, report),
        Command::Pin(args) => archive::pin(&args, report),
        Command::Recall(args) => archive::recall(&args, report),
        Command::Redo(args) => archive::redo(&args, report),
        Command::Restore(args) => archive::restore(&args, report),
        Command::Schema(args) => schema::run(&args, report),
        Command::Sessions(args) => sessions::run(&args, report),
        Command::Undo(args) => archive::undo(&args, report),
        Command::Stats(args) => stats::run(&args, report),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args, report),
        #[cfg(feature = "proxy")]
        Command::Wrap(args) => wrap::run(&args),
    }
}
