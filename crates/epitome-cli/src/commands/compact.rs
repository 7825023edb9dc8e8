//! `compact`: make a transcript smaller.

use std::sync::Arc;

use anyhow::Result;
use epitome::plan::Reached;
use epitome::transcript::PartKind;
use epitome::trigger::{Gauge, Trigger as _, When};
use epitome::wire;
use epitome::{Compactor, Outcome, Receipt, Request, Target};
use serde::Serialize;

use crate::args::{CompactArgs, CounterArg, CountingArgs, ShapeArgs};
use crate::carried::Carried;
use crate::config::{self, Settings};
use crate::failure::{Exit, Failure};
use crate::formats;
use crate::input::{self, Opened};
use crate::known::Known;
use crate::output::{self, Parcel, Place, Report};
use crate::progress::Progress;
use crate::reader::{Need, Reader};
use crate::receipt::{self, Tense};
use crate::terminal::{self, count};

/// Writes the compacted request, and the receipt.
pub(crate) fn run(args: &CompactArgs, report: Report) -> Result<Exit> {
    let place = Place::output(args.output.output.as_deref())?;
    let receipt_place =
        args.receipt.as_deref().map(|path| Place::wanted("--receipt", path)).transpose()?;
    if let Some(receipt) = &receipt_place {
        output::apart(&[("the request", &place), ("--receipt", receipt)])?;
        receipt.spare("--receipt", "the input", args.input.file.as_deref())?;
    }
    for continued in &args.shape.receipts {
        place.spare("-o", "a receipt", Some(continued))?;
    }
    let shape = Shape::new(&args.shape, &args.counting, &args.counter)?;
    let opened = input::open(&args.input, report)?;
    let done = shape.compact(&opened, report)?;
    let receipt = &done.outcome.receipt;
    // What is compacted is the input as it is: its receipt is of these bytes. The result is converted.
    let (written, carried) = match &args.to.to {
        Some(to) => to.reach(done.outcome.request.clone())?,
        None => (done.outcome.request.clone(), None),
    };

    // The receipt goes first: whoever finds a request finds what was done to it, and its checkpoint's id.
    let told = Told { receipt, converted: carried.as_ref() };
    let receipt_text = format!("{}\n", terminal::json(&told));
    let told = (report == Report::Json && place.leaves_stdout()).then_some(Place::Stdout);
    let receipts =
        receipt_place.iter().chain(&told).map(|place| Parcel { place, text: &receipt_text });
    let request = Parcel { place: &place, text: written.source() };
    output::deliver(&receipts.chain([request]).collect::<Vec<_>>())?;
    if place.is_screen() && !written.source().ends_with('\n') {
        output::note("");
    }
    match report {
        Report::Words => {
            let words = receipt::words(receipt, &done.target, Tense::Done);
            output::tell(&words);
            if let Some(carried) = &carried {
                output::tell(&carried.words());
            }
            formats::tell_hidden(&written);
        }
        Report::Json if told.is_some() => {}
        Report::Json => output::note(receipt_text.trim_end()),
    }
    // What only the author can mend is in what was written.
    let is_broken = match &carried {
        Some(carried) => carried.is_broken(),
        None => !receipt.left.is_empty() && !wire::check(&written).is_empty(),
    };
    Ok(if is_broken { Exit::Found } else { exit(&receipt.reached) })
}

/// The receipt as it is written: where the result was converted, with what became of it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    receipt: &'a Receipt,
    #[serde(skip_serializing_if = "Option::is_none")]
    converted: Option<&'a Carried>,
}

/// 3 where the target isn't reached.
pub(super) fn exit(reached: &Reached) -> Exit {
    match reached {
        Reached::Unreachable { .. } | Reached::Short => Exit::Found,
        Reached::NotTriggered | Reached::NothingToDo | Reached::Target => Exit::Ok,
    }
}

/// How often all of a transcript is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    One,
    Several,
}

/// How to compact, from all layers of settings.
#[derive(Debug)]
pub(super) struct Shape {
    settings: Settings,
    known: Known,
    passes: Passes,
}

/// A compaction that was done in memory.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// How the target was said.
    pub(super) target: String,
    /// What counted, and for whom.
    pub(super) reader: Reader,
}

impl Shape {
    pub(super) fn new(
        shape: &ShapeArgs,
        counting: &CountingArgs,
        counter: &CounterArg,
    ) -> Result<Self> {
        let settings = Settings::resolve(shape, counting, counter)?;
        let known = Known::new(&shape.receipts, &shape.known)?;
        Ok(Shape { settings, known, passes: Passes::One })
    }

    /// The same, for one who counts before and after too.
    pub(super) fn counting_again(self) -> Self {
        Shape { passes: Passes::Several, ..self }
    }

    /// Compacts in memory.
    pub(super) fn compact(&self, opened: &Opened, report: Report) -> Result<Done> {
        let reader = self.reader(&opened.request, Need::Window)?;
        let mut progress = Progress::new(report);
        let (target, said) = self.target(opened, &reader, &mut progress);
        let compactor = self.compactor(&reader, target)?;
        let compactor = match &self.settings.trigger {
            None => compactor,
            Some(trigger) => {
                let window = due(trigger.when(), &reader)?;
                compactor.when(trigger.clone().boxed(), Gauge { window, ..Gauge::default() })
            }
        };
        let outcome = progress.compact(&compactor, &opened.request).map_err(|error| {
            Failure::other(format!("nothing was changed, because the compaction failed: {error}"))
                .hint(format!("epitome check {}", opened.source.operand()))
        })?;
        drop(progress);
        if report == Report::Words {
            self.warn_of_tools(&opened.request);
            reader.warn_of_unknown();
            self.known.warn(&outcome);
        }
        if let Some(window) = reader.window
            && outcome.receipt.after.count.upper > window
            && report == Report::Words
        {
            let upper = count(outcome.receipt.after.count.upper);
            output::warn(&format!(
                "up to {upper} tokens don't fit in a window of {}",
                count(window)
            ));
        }
        Ok(Done { outcome, target: said, reader })
    }

    /// What compacts for `reader`, to `target` where the settings say none.
    pub(super) fn compactor(&self, reader: &Reader, target: Target) -> Result<Compactor> {
        let compactor = Compactor::new(
            self.settings.options(target, reader.window),
            Arc::clone(&reader.counter),
        )
        .map_err(|error| Failure::usage(error.to_string()).hint("epitome compact --help"))?
        .knowing(self.known.ids());
        Ok(match &reader.model {
            Some(model) => compactor.for_model(Arc::clone(model)),
            None => compactor,
        })
    }

    /// What all layers say.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
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

    /// Who will read it.
    pub(super) fn reader(&self, request: &Request, need: Need) -> Result<Reader> {
        let reader = Reader::new(&self.settings, request, need)?;
        // What a window allows is a matter of what there is, so that it may be counted beforehand.
        let is_counted = need == Need::Window
            && self.settings.target.is_none()
            && reader.window.is_some_and(|window| !surely_allows(window, request));
        let is_one = self.passes == Passes::One && !is_counted;
        Ok(if is_one { reader } else { reader.remembering() })
    }

    /// Where to land, and how that was said.
    fn target(
        &self,
        opened: &Opened,
        reader: &Reader,
        progress: &mut Progress,
    ) -> (Target, String) {
        let preset = self.settings.preset(reader.window);
        if let (Some(preset), None) = (&preset, self.settings.target) {
            return (preset.options.target, format!("of the preset {}", preset.name));
        }
        match (self.settings.target, reader.window) {
            (Some(target @ Target::Percent(_)), _) => (target, format!("{target} of the input")),
            (Some(target), _) => (target, "as asked".to_owned()),
            (None, Some(window)) if surely_allows(window, &opened.request) => {
                (Target::DEFAULT, default_words())
            }
            (None, Some(window)) => {
                let allowed = config::window_allows(window);
                let total = progress.count(&opened.request, reader.counter.as_ref()).total().tokens;
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

/// The window that the trigger looks at, if it is one that a single request can make fire.
fn due(when: &When, reader: &Reader) -> Result<Option<u64>> {
    if !when.is_of_one_request() {
        let what = format!("the trigger `{when}` can't fire here: only a session knows of that");
        return Err(Failure::usage(what).hint("say a size: --trigger 80%, 120k, 100items").into());
    }
    if when.needs_window() && reader.window.is_none() {
        let what = format!("the trigger `{when}` needs the window of a model, and none is known");
        return Err(Failure::usage(what).hint("say --window 200k, or --model ID").into());
    }
    Ok(reader.window)
}

/// Whether the default target is allowed by a window even if every byte is a token.
fn surely_allows(window: u64, request: &Request) -> bool {
    Target::DEFAULT.resolve(request.source().len() as u64) <= config::window_allows(window)
}

fn default_words() -> String {
    format!("{} of the input, the default", Target::DEFAULT)
}
