//! Arguments of `bench`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueHint};

use crate::lookup::transcript;

use super::CounterArg;

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure how much of what agents later needed the view still shows.
    ///
    /// Each session is cut at several points. The part before a cut is compacted by Epitome and by simple methods, all to
    /// the same number of tokens. A need is an exact string that occurs before the cut and that the agent uses after it,
    /// before anybody else repeats it. The same input gives the same figures. Tables go to stdout.
    #[command(after_help = FORESIGHT)]
    Foresight(ForesightArgs),

    /// Measure whether people's rules and values survive five compactions.
    ///
    /// Rules and values are planted in each session as a person's words. Five ninths of the session are compacted. Then each
    /// further ninth is appended to the result, which is compacted again to the same size. Nothing else is remembered.
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

    /// The budgets, in percent of the tokens before the cut.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "5,10,20,30")]
    #[arg(value_parser = percent())]
    pub(crate) at: Vec<u8>,

    /// The number of cuts per session, between 40 and 80 % of its units.
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

    /// Sizes to compact to, in percent of the tokens of the first compaction's input.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "5,10,20")]
    #[arg(value_parser = percent())]
    pub(crate) at: Vec<u8>,

    /// The first seed: it chooses the rules and values, their places and wording.
    #[arg(long, value_name = "S", default_value = "1", value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    pub(crate) seed: u64,

    /// The number of seeds: how often each session is planted again.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,

    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

/// What is measured on.
#[derive(Debug, Args)]
pub(crate) struct SessionsArg {
    /// Sessions: recordings or requests, or folders of them.
    #[arg(value_name = "FILE|ID", required = true, value_hint = ValueHint::AnyPath, value_parser = transcript())]
    pub(crate) files: Vec<PathBuf>,
}

/// A share in percent that leaves something out.
fn percent() -> RangedU64ValueParser<u8> {
    RangedU64ValueParser::new().range(1..=99)
}
