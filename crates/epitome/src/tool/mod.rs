//! What tool calls do: whether they only read, which file or command they are about, and how they went.

mod call;
mod effect;
mod name;
mod shell;
mod test_totals;

pub(crate) use call::{Act, Call, runs_lines};
pub use name::only_reads;
pub(crate) use name::{bare, keeps_list, may_change, words};
pub(crate) use shell::{Command, Deed as FileDeed};
pub(crate) use test_totals::Tests;
