//! What can be asked about what compactions lose.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use epitome_bench::survival::Set;

use super::CounterArg;

/// What is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure what survives five compactions: rules, decisions, facts, preferences, goals, tasks and questions.
    ///
    /// Items are planted in the sessions as messages of a person, in what the model says and in tools' results; some are
    /// changed later, some have a twin of the same shape. Five ninths of each session are compacted to 5, 10 and 20 % of their
    /// tokens, then each further ninth is appended to what came out and that is compacted again. After each compaction every
    /// item that holds is looked for. The same seeds give the same figures. Tables go to stdout; brackets hold 95 % intervals.
    #[command(after_help = SURVIVAL)]
    Survival(SurvivalArgs),

    /// Measure what agents later needed and the view still says.
    ///
    /// Each session is cut at several points. What stands before a cut is compacted by Epitome and by simple methods,
    /// all to the same number of tokens. An exact string is a need if the agent itself uses it after the cut, it stands
    /// before the cut, and nobody else says it again in between. The same input gives the same figures. Tables go to
    /// stdout.
    #[command(after_help = FORESIGHT)]
    Foresight(ForesightArgs),
}

const FORESIGHT: &str = "\
Examples:
  epitome bench foresight examples/claude-code examples/pi
  epitome bench foresight session.jsonl --at 10 --cuts 9
  epitome bench foresight session.jsonl --json > figures.json

What each figure means: docs/foresight.md.";

#[derive(Debug, Args)]
pub(crate) struct ForesightArgs {
    /// Sessions: recordings or requests; of a folder all in it.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) sessions: Vec<PathBuf>,

    /// Budgets, in percent of the tokens before the cut.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "5,10,20,30")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(crate) at: Vec<u8>,

    /// How often each session is cut, between 40 and 80 % of its units.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=41))]
    pub(crate) cuts: u8,

    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

const SURVIVAL: &str = "\
Examples:
  epitome bench survival examples/claude-code examples/pi
  epitome bench survival session.jsonl --set open --misses
  epitome bench survival session.jsonl --phrasings mine.json --seeds 10 --json > figures.json

A session is measured over again until it is 1.2 MB long, so that what always stays of it fits in 5 %.
What phrasings look like: crates/epitome-bench/data/survival/open.json. What was held out isn't listed by --misses: \
who writes rules for what is kept shouldn't read it.";

#[derive(Debug, Args)]
pub(crate) struct SurvivalArgs {
    /// Sessions: recordings or requests; of a folder those of one format, in a row.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) sessions: Vec<PathBuf>,

    /// How often each session is planted anew.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,

    /// Which of the project's phrasings.
    #[arg(long, value_name = "SET", default_value = "all", conflicts_with = "phrasings")]
    pub(crate) set: SetName,

    /// Plant the phrasings of this file instead of the project's.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) phrasings: Option<PathBuf>,

    /// List what was lost, and where lanes state what no longer holds, instead of the tables.
    #[arg(long)]
    pub(crate) misses: bool,

    #[command(flatten)]
    pub(crate) counter: CounterArg,
}

/// Phrasings that are part of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetName {
    /// Those that rules were written with.
    Open,
    /// Those that nobody who wrote rules has seen.
    HeldOut,
    /// Both.
    All,
}

impl SetName {
    /// Whether it is one of these.
    pub(crate) fn holds(self, set: Set) -> bool {
        match self {
            SetName::Open => set == Set::Open,
            SetName::HeldOut => set == Set::HeldOut,
            SetName::All => true,
        }
    }
}
