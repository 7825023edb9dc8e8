//! `plan`: what `compact` would do.

use anyhow::Result;
use epitome::Receipt;
use serde::Serialize;

use super::shape::Shape;
use crate::args::PlanArgs;
use crate::failure::Exit;
use crate::input::{self, Source};
use crate::output::{self, Report};
use crate::receipt::{self, Tense};

/// A plan, as `--json` prints it: the receipt that `compact` would write, and what it is about.
#[derive(Debug, Serialize)]
struct Planned<'a> {
    source: &'a Source,
    #[serde(flatten)]
    receipt: &'a Receipt,
}

/// Compacts in memory, prints what was done, and forgets it: nothing is more exact.
pub(crate) fn run(args: &PlanArgs, report: Report) -> Result<Exit> {
    let shape = Shape::new(&args.how)?;
    let opened = input::open(&args.input, report)?;
    input::is_read(&opened)?;
    let done = shape.compact(&opened, report)?;
    let receipt = &done.outcome.receipt;
    match report {
        Report::Words => output::words(&receipt::words(receipt, &done.target, Tense::Planned))?,
        Report::Json => output::json(&Planned { source: &opened.source, receipt })?,
    }
    Ok(done.target.exit(receipt))
}
