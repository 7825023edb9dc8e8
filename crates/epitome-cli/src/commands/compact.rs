//! `compact`: make a transcript smaller.

use std::sync::Arc;

use anyhow::{Context, Result};
use epitome::count::TokenCounter;
use epitome::plan::Reached;
use epitome::transcript::PartKind;
use epitome::{Compactor, Outcome, Request, Target};

use crate::args::{CompactArgs, CounterArg, CountingArgs, ShapeArgs};
use crate::config::{self, Settings};
use crate::failure::{Exit, Failure};
use crate::input::{self, Opened};
use crate::output::{self, Place, Report};
use crate::progress::Progress;
use crate::receipt::{self, Tense};
use crate::terminal::{self, count};
use crate::{counters, formats};

/// Writes the compacted request, and the receipt.
pub(crate) fn run(args: &CompactArgs, report: Report) -> Result<Exit> {
    let place = Place::at(args.output.output.as_deref())?;
    let receipt_place = args.receipt.as_deref().map(|path| Place::at(Some(path))).transpose()?;
    if receipt_place.as_ref().is_some_and(|receipt| receipt.is_same(&place)) {
        return Err(Failure::usage("request and receipt can't go to the same place")
            .hint("epitome compact -o OUT --receipt FILE")
            .into());
    }
    let shape = Shape::new(&args.shape, &args.counting, &args.counter)?;
    let opened = input::open(&args.input, report)?;
    if let Some(to) = &args.to.to {
        formats::same(opened.request.format, to)?;
    }
    let done = shape.compact(&opened, report)?;
    let receipt = &done.outcome.receipt;

    // All of it lies beside its places before any of it is put there.
    let written = format!("{}\n", terminal::json(receipt));
    let staged = place.stage(done.outcome.rendered())?;
    let staged_receipt = receipt_place.as_ref().map(|place| place.stage(&written)).transpose()?;
    staged.finish()?;
    if let Some(staged) = staged_receipt {
        staged.finish()?;
    }
    if place.is_screen() && !done.outcome.rendered().ends_with('\n') {
        output::note("");
    }
    match report {
        Report::Words => {
            let words = receipt::words(receipt, &done.target, Tense::Done);
            output::note(words.trim_end());
        }
        Report::Json if place.leaves_stdout() => output::data(&written)?,
        Report::Json => output::note(written.trim_end()),
    }
    Ok(exit(&receipt.reached))
}

/// 3 where the target can't be reached.
pub(super) fn exit(reached: &Reached) -> Exit {
    match reached {
        Reached::Unreachable { .. } => Exit::Found,
        Reached::NothingToDo | Reached::Target => Exit::Ok,
    }
}

/// How to compact, from all layers of settings.
#[derive(Debug)]
pub(super) struct Shape {
    settings: Settings,
}

/// A compaction that was done in memory.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// How the target was said.
    pub(super) target: String,
    /// What counted.
    pub(super) counter: Arc<dyn TokenCounter>,
}

impl Shape {
    pub(super) fn new(
        shape: &ShapeArgs,
        counting: &CountingArgs,
        counter: &CounterArg,
    ) -> Result<Self> {
        Ok(Shape { settings: Settings::resolve(shape, counting, counter)? })
    }

    /// Compacts in memory.
    pub(super) fn compact(&self, opened: &Opened, report: Report) -> Result<Done> {
        let counter = self.counter(&opened.request)?;
        let mut progress = Progress::new(report);
        let (target, said) = self.target(opened, counter.as_ref(), &mut progress);
        let compactor = Compactor::new(self.settings.options(target), Arc::clone(&counter))
            .map_err(|error| Failure::usage(error.to_string()).hint("epitome compact --help"))?;
        let outcome = progress
            .compact(&compactor, &opened.request)
            .context("nothing was changed, because the compaction failed")?;
        drop(progress);
        if report == Report::Words {
            self.warn_of_tools(&opened.request);
        }
        if let Some(window) = self.settings.window
            && outcome.receipt.after.count.upper > window
            && report == Report::Words
        {
            let upper = count(outcome.receipt.after.count.upper);
            output::warn(&format!(
                "up to {upper} tokens don't fit in a window of {}",
                count(window)
            ));
        }
        Ok(Done { outcome, target: said, counter })
    }

    /// A tool that nothing calls is most likely misspelt.
    fn warn_of_tools(&self, request: &Request) {
        for name in self.settings.preserved_tools.iter().flatten() {
            let mut parts = request.transcript.entries().flat_map(|entry| entry.parts());
            if !parts.any(|part| part.kind() == PartKind::Call && part.name() == *name) {
                output::warn(&format!("no message calls the tool {:?}", terminal::line(name, 60)));
            }
        }
    }

    /// What is to count.
    pub(super) fn counter(&self, request: &Request) -> Result<Arc<dyn TokenCounter>> {
        counters::choose(&self.settings, request)
    }

    /// Where to land, and how that was said.
    fn target(
        &self,
        opened: &Opened,
        counter: &dyn TokenCounter,
        progress: &mut Progress,
    ) -> (Target, String) {
        match (self.settings.target, self.settings.window) {
            (Some(target @ Target::Percent(_)), _) => (target, format!("{target} of the input")),
            (Some(target), _) => (target, "as asked".to_owned()),
            (None, Some(window)) => {
                let allowed = config::window_allows(window);
                let total = progress.count(&opened.request, counter).total().tokens;
                if Target::DEFAULT.resolve(total) <= allowed {
                    (Target::DEFAULT, default_words())
                } else {
                    (Target::Tokens(allowed), format!("half of the window of {}", count(window)))
                }
            }
            (None, None) => (Target::DEFAULT, default_words()),
        }
    }
}

fn default_words() -> String {
    format!("{} of the input, the default", Target::DEFAULT)
}
