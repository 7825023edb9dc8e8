//! Whether a request suits another model, or another format (`check --for`).

use std::borrow::Cow;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use epitome::Request;
use epitome::count::Count;
use epitome::model::Registry;
use epitome::model::capability::{Misfit, MisfitKind, Sure, misfits};
use serde::Serialize;

use crate::args::{CheckArgs, HowArgs};
use crate::carried::Carried;
use crate::config::Settings;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::Report;
use crate::progress::Progress;
use crate::reader::{Need, Reader, registry};
use crate::terminal::{BAD, FAINT, GOOD, STRONG, WARN, line, paint};
use crate::values::Purpose;

fn settings(args: &CheckArgs) -> Result<Settings> {
    Settings::resolve(&HowArgs::counting(&args.counting, args.counter.counter.as_ref()))
}

fn named_all(found: Vec<Misfit>) -> Vec<Named> {
    let found = found.into_iter();
    found.map(|misfit| Named { rule: misfit.subject.name(), misfit }).collect()
}

/// What was found, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Suited {
    /// The format that was asked for, if it isn't the request's own.
    format: Option<&'static str>,
    /// The model, by its vendor's id, if any is known.
    model: Option<String>,
    misfits: Vec<Named>,
}

/// A misfit with its rule's name.
#[derive(Debug, Serialize)]
struct Named {
    rule: &'static str,
    #[serde(flatten)]
    misfit: Misfit,
}

impl Suited {
    /// The models that are known.
    ///
    /// # Errors
    /// Settings that can't be read.
    pub(crate) fn models(args: &CheckArgs) -> Result<Cow<'static, Registry>> {
        registry(&settings(args)?)
    }

    /// Checks what was opened for the purpose.
    ///
    /// # Errors
    /// A model that isn't known, or none to check for.
    pub(crate) fn new(
        purpose: &Purpose,
        args: &CheckArgs,
        opened: &Opened,
        carried: Option<&Carried>,
        report: Report,
    ) -> Result<Self> {
        let request = &opened.request;
        let mut settings = settings(args)?;
        if let Some(model) = &purpose.model {
            settings.model = Some(model.clone());
            settings.window = None;
        }
        let format = carried.map(|_| request.format.name());
        let reader = Reader::new(&settings, request, Need::Window)?;
        let Some(model) = reader.model.as_deref() else {
            if format.is_some() {
                return Ok(Suited { format, model: None, misfits: Vec::new() });
            }
            let what = "there is no model to check for: the request names no known model";
            bail!(Failure::usage(what).hint("epitome check --for :claude-opus-5-5 FILE"));
        };
        let size = Progress::new(report).count(request, reader.counter.as_ref()).total();
        let misfits = named_all(misfits(request, model, size));
        Ok(Suited { format, model: Some(model.id.clone()), misfits })
    }

    /// Checks a request for the model that it names, where that is known: its form alone, not its size, which may change yet. So
    /// may what it ends with.
    pub(crate) fn own(models: &Registry, request: &Request) -> Option<Self> {
        let model = request.model().and_then(|named| models.get(&named))?;
        let mut found = misfits(request, model, Count::ZERO);
        // A rule of the format's own says it.
        found.retain(|found| found.subject != MisfitKind::UnsignedThinking);
        for misfit in found.iter_mut().filter(|found| found.subject == MisfitKind::Prefill) {
            misfit.sure = Sure::Maybe;
        }
        Some(Suited { format: None, model: Some(model.id.clone()), misfits: named_all(found) })
    }

    /// In words, where anything was found.
    pub(crate) fn misfit_words(&self) -> String {
        if self.misfits.is_empty() { String::new() } else { self.words() }
    }

    /// What the provider is known to refuse.
    pub(crate) fn refused(&self) -> usize {
        self.misfits.iter().filter(|one| one.misfit.sure == Sure::Yes).count()
    }

    /// Whether it is known to refuse anything.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused() > 0
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        let mut out = String::new();
        let mut put = |text: String| writeln!(out, "{text}").expect("a string takes all");
        for Named { rule, misfit } in &self.misfits {
            let at = match misfit.entry {
                Some(entry) => format!("{} ", paint(STRONG, format!("messages[{entry}]"))),
                None => String::new(),
            };
            let sure = if misfit.sure == Sure::Yes { "" } else { " (may be)" };
            put(format!(
                "{at}{}: {}{}",
                paint(WARN, rule),
                line(&misfit.detail, 200),
                paint(FAINT, sure)
            ));
        }
        if let Some(model) = &self.model {
            let model = line(model, 60);
            put(match self.misfits.len() {
                0 => format!("{} {model}", paint(GOOD, "suits")),
                _ if self.is_refused() => format!("{} {model}", paint(BAD, "doesn't suit")),
                _ => format!("{} {model}", paint(WARN, "may not suit")),
            });
        }
        if let Some(format) = self.format {
            let convert = format!("epitome convert FILE --to {format}");
            put(format!("{} this is what would be written by: {convert}", paint(STRONG, "hint:")));
        }
        out
    }
}
