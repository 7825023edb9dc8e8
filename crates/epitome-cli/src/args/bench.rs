//! What can be measured about compactions.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueHint};

use crate::lookup::transcript;

use super::CounterArg;

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure what agents later needed and the view still says.
    ///
    /// Each session is cut at several points. What stands before a cut is compacted by Epitome and by simple methods, all to
    /// the same number of tokens. An exact string is a need if the agent itself uses it after the cut, it stands before the
    /// cut, and nobody else says it again in between. The same input gives the same figures. Tables go to stdout.
    #[command(after_help = FORESIGHT)]
    Foresight(ForesightArgs),

    /// Measure whether people's rules and values outlast five compactions.
    ///
    /// Rules and values are planted in each session as a person's words. Five ninths of the session are compacted; then each
    /// further ninth is appended to what came out, and that is compacted again to the same size. Nothing else is remembered.
    /// The same seeds give the same figures. Tables go to stdout.
    #[command(after_help = ROUNDS)]
    Rounds(RoundsArgs),
}

const FORESIGHT: &str = "\
Examples:
  epitome bench foresight examples/claude-code examples/pi
  epitome bench foresight session.jsonl --at 10 --cuts 9
  epitome bench foresight session.jsonl --json > figures.json

What each figure means: crates/epitome-bench/README.md.";

const ROUNDS: &str = "\
Examples:
  epitome bench rounds session.jsonl
  epitome bench rounds examples/tau-bench --seeds 3 --at 5,10,20
  epitome bench rounds session.jsonl --seed 7 --json > figures.json

A session is repeated with other names until it is 500 kB long. What each figure means: crates/epitome-bench/README.md.";

#[derive(Debug, Args)]
pub(crate) struct ForesightArgs {
    #[command(flatten)]
    pub(crate) sessions: SessionsArg,

    /// Budgets, in percent of the tokens before the cut.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "5,10,20,30")]
    #[arg(value_parser = percent())]
    pub(crate) at: Vec<u8>,

    /// How often each session is cut, between 40 and 80 % of its units.
    #[arg(long, value_name = "N", default_value = "3")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=41))]
    pub(crate) cuts: usize,

    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

#[derive(Debug, Args)]
pub(crate) struct RoundsArgs {
    #[command(flatten)]
    pub(crate) sessions: SessionsArg,

    /// Sizes to compact to, in percent of the tokens that are compacted first.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "5,10,20")]
    #[arg(value_parser = percent())]
    pub(crate) at: Vec<u8>,

    /// The first seed: which rules and values, said where and how.
    #[arg(long, value_name = "S", default_value = "1", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    pub(crate) seed: u64,

    /// How many seeds: how often each session is planted anew.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,

    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

/// What is measured on.
#[derive(Debug, Args)]
pub(crate) struct SessionsArg {
    /// Sessions: recordings or requests; of a folder all that are in it.
    #[arg(value_name = "FILE|ID", required = true, value_hint = ValueHint::AnyPath, value_parser = transcript())]
    pub(crate) files: Vec<PathBuf>,
}

/// A share in percent that leaves something out.
fn percent() -> RangedU64ValueParser<u8> {
    RangedU64ValueParser::new().range(1..=99)
}
