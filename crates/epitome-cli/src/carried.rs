//! Converting to another format, and telling what became of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use epitome::Request;
use epitome::convert::{Converted, Extent, Goal, Loss, Lost};
use epitome::engine::receipt::RequestSize;
use epitome::model::Tokenizer;
use epitome::text::figure::counted;
use epitome::wire::{self, Finding, Mended};
use serde::Serialize;

use crate::args::HowArgs;
use crate::config::Settings;
use crate::failure::Failure;
use crate::output;
use crate::reader::{of_format, registry};
use crate::terminal::{BAD, FAINT, STRONG, WARN, count, line, paint, size};
use crate::values::Destination;

/// A destination, and what is known of its model.
#[derive(Clone, Debug)]
pub(crate) struct Bound<'a> {
    to: &'a Destination,
    /// Who will read it.
    pub(crate) reader: Named,
    /// The most tokens that the model replies with.
    max_output: Option<u64>,
}

impl Destination {
    /// The destination, once what is known of its model was looked up.
    ///
    /// # Errors
    /// Settings that can't be read.
    pub(crate) fn bound(&self) -> Result<Bound<'_>> {
        let other = || of_format(self.format);
        let Some(model) = &self.model else {
            return Ok(Bound { to: self, reader: Named::Counter(other()), max_output: None });
        };
        let registry = registry(&Settings::resolve(&HowArgs::default())?)?;
        let known = registry.get(model);
        if let (None, Err(unknown)) = (registry.tokenizer(model), registry.find(model)) {
            output::warn(&format!("{unknown}: its limits aren't known"));
        }
        let reader = if known.is_some() {
            Named::Model(model.clone())
        } else {
            let tokenizer = registry.tokenizer(model).map(Tokenizer::counter);
            Named::Counter(tokenizer.unwrap_or_else(other))
        };
        Ok(Bound { to: self, reader, max_output: known.and_then(|model| model.output) })
    }
}

impl Bound<'_> {
    /// The request in this format, and what became of it where it was converted.
    ///
    /// # Errors
    /// A model for a request that isn't converted.
    pub(crate) fn reach(&self, request: Request) -> Result<(Request, Option<Carried>)> {
        let Destination { format, model } = self.to;
        let format = *format;
        let goal = Goal { format, model: model.as_deref(), max_output: self.max_output };
        let Converted { text, lost, mended, mending_took, left, wanting, .. } =
            epitome::convert::convert(&request, goal);
        let stays = request.format == format && lost.is_empty();
        let own = request.model();
        if stays && let Some(model) = model.as_ref().filter(|model| own.as_ref() != Some(*model)) {
            let what = format!(
                "the input is already in the format {format}: it isn't converted and keeps its model"
            );
            let hint = format!("leave :{} out", line(model, 60));
            bail!(Failure::usage(what).hint(hint));
        }
        if stays && mended.is_empty() && left.is_empty() {
            return Ok((request, None));
        }
        let (from, to) = (request.format.name(), format.name());
        let (after, target) = (None, None);
        let carried =
            Carried { from, to, after, target, lost, mended, mending_took, left, wanting };
        let had = request.transcript.len();
        let request = wire::parse(format, text).expect("what was converted is of its format");
        if request.transcript.is_empty() {
            let what = match had {
                0 => "it has no messages, and providers refuse that".to_owned(),
                _ => {
                    format!("nothing in its {} can be written in {format}", counted(had, "message"))
                }
            };
            bail!(Failure::input(what).hint("see what is in it: epitome stats FILE"));
        }
        Ok((request, Some(carried)))
    }
}

/// Who reads what is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A model that is known.
    Model(String),
    /// Nobody that is known: what counts for most who read the format.
    Counter(&'static str),
}

/// What became of a converted request, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Carried {
    /// The format that it was in.
    from: &'static str,
    #[serde(skip)]
    to: &'static str,
    /// What was written, where it was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<RequestSize>,
    /// What it was to be at most, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u64>,
    lost: Vec<Lost>,
    mended: Vec<Mended>,
    /// Bytes that left with it.
    mending_took: usize,
    left: Vec<Finding>,
    wanting: Vec<Cow<'static, str>>,
}

impl Carried {
    /// Whether the target's rules are broken in a way that only the author can mend.
    pub(crate) fn is_broken(&self) -> bool {
        !self.left.is_empty()
    }

    /// The same, with the size of what is written and what it was to be at most.
    #[must_use]
    pub(crate) fn measured(self, after: RequestSize, target: Option<u64>) -> Self {
        Carried { after: Some(after), target, ..self }
    }

    /// Tokens above what it was to be.
    pub(crate) fn over(&self) -> u64 {
        let after = self.after.map_or(0, |after| after.count.tokens);
        self.target.map_or(0, |target| after.saturating_sub(target))
    }

    /// In words: its size, and a line for each kind of loss.
    pub(crate) fn words(&self) -> String {
        let mut out = String::new();
        let mut put = |text: String| writeln!(out, "{text}").expect("a string takes all");
        if let Some(after) = &self.after {
            let (tokens, messages) = (count(after.count.tokens), counted(after.entries, "message"));
            let over = match self.over() {
                0 => String::new(),
                over => format!(", {} above the target", paint(WARN, count(over))),
            };
            let (label, to) = (paint(FAINT, "written:"), self.to);
            put(format!(
                "{label} {tokens} tokens, {}, {messages} as {to}{over}",
                size(after.bytes)
            ));
        }
        for (loss, all) in self.kinds() {
            let (style, word) = match loss.extent() {
                Extent::Dropped => (WARN, "dropped:"),
                Extent::Changed => (FAINT, "changed:"),
            };
            let often =
                if all.len() > 1 { format!(" × {}", count(all.len())) } else { String::new() };
            let named = names(&all);
            let why = paint(FAINT, loss.why());
            put(format!("{} {}{often}{named}: {why}", paint(style, word), loss.words()));
        }
        if !self.mended.is_empty() {
            let all = counted(self.mended.len(), "place");
            let lost = match self.mending_took {
                0 => String::new(),
                took => format!(", which took {}", size(took)),
            };
            let label = paint(FAINT, "mended:");
            let named = places(&self.mended);
            put(format!("{label} {all} where a format's rules were broken{lost}: {named}"));
        }
        for finding in &self.left {
            let at = paint(STRONG, finding.place());
            put(format!(
                "{} {at} {}: {}; only its author can mend it",
                paint(BAD, "left:"),
                finding.rule,
                line(&finding.detail, 100)
            ));
        }
        if !self.wanting.is_empty() {
            let (to, what) = (self.to, self.wanting.join(" and "));
            let is_nameless = self.wanting.iter().any(|key| key.starts_with("model"));
            let try_this = if is_nameless {
                format!("; --to {to}:MODEL writes it, as far as it is known")
            } else {
                String::new()
            };
            put(format!("{} {to} demands {what}{try_this}", paint(STRONG, "hint:")));
        }
        out
    }

    fn kinds(&self) -> BTreeMap<Loss, Vec<&Lost>> {
        let mut kinds: BTreeMap<Loss, Vec<&Lost>> = BTreeMap::new();
        for lost in &self.lost {
            kinds.entry(lost.what).or_default().push(lost);
        }
        kinds
    }
}

/// The first places that were mended, by rule: what was found there is in the input.
fn places(all: &[Mended]) -> String {
    let named = all.iter().map(|mended| {
        let at = mended.place().map(|at| format!(" at {at}")).unwrap_or_default();
        format!("{}{at}", mended.rule)
    });
    first_of(named, PLACES)
}

/// How many places a line gives.
const PLACES: usize = 3;

/// How many names a line gives.
const NAMED: usize = 6;

/// The different names among losses of a kind.
fn names(all: &[&Lost]) -> String {
    let said = all.iter().filter(|lost| !lost.name.is_empty()).map(|lost| line(&lost.name, 40));
    let first = first_of(said, NAMED);
    if first.is_empty() { first } else { format!(" ({first})") }
}

/// The first different words. More than these aren't looked at, however many there are.
fn first_of(all: impl Iterator<Item = String>, most: usize) -> String {
    let mut first: Vec<String> = Vec::new();
    for one in all {
        if first.contains(&one) {
            continue;
        }
        if first.len() == most {
            return first.join(", ") + ", …";
        }
        first.push(one);
    }
    first.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_at_until_there_are_enough() {
        let endless = (0..).map(|n: u64| n.to_string());
        assert_eq!(first_of(endless, 2), "0, 1, …");
        let twice = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(first_of(twice.into_iter(), 2), "a, b");
    }
}
