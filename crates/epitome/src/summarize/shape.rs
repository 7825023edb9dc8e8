//! Two ways to ask for a summary: with a fenced transcript, which any model can read, or with the agent's own next
//! request and the instruction behind it, most of which the provider has in its cache. Prices decide.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::specifics::Known;
use super::{SYSTEM, SummaryRequest};
use crate::count::{Tally, TokenCounter};
use crate::json::{Span, unquote};
use crate::model::cache::Life;
use crate::model::{Billed, Model, Money, Scheme};
use crate::request::Request;
use crate::transcript::Role;
use crate::view::{Placed, View};
use crate::wire;
use crate::working_view::part_text;

/// The agent's own next request, and which part of it the provider's cache may hold.
#[derive(Clone, Debug)]
pub struct AgentPrompt {
    /// The request, byte for byte as it goes out.
    pub request: Request,
    /// How many of its leading messages were sent before.
    pub sent: usize,
    /// Time since then; `None` where the caller knows that the cache is warm.
    pub idle: Option<Duration>,
}

/// A shape of the requests to a summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// The agent's own prompt, and the instruction as its last message.
    Extension,
    /// The folded messages in words, between fences.
    Fenced,
}

/// What asking in one shape takes, as reckoned beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceQuote {
    /// Requests.
    pub requests: u32,
    /// Tokens of their prompts.
    pub prompt: u64,
    /// Of those, tokens that the cache is taken to hold.
    pub cached: u64,
    /// Money, the answers included at their full length.
    pub cost: Money,
}

/// How the shape of the requests to a summarizer was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The summarizer.
    pub by: String,
    /// In which shape.
    pub shape: Shape,
    /// Why.
    pub why: ShapeReason,
    /// What going on from the agent's prompt takes, where that was possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<PriceQuote>,
    /// What the fenced transcript takes, where that was reckoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fenced: Option<PriceQuote>,
}

/// Why a shape was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShapeReason {
    /// It costs less than the other one.
    Cheaper,
    /// The agent's prompt is in another model's cache, or at another place.
    AnotherModel,
    /// No price is known.
    NoPrice,
    /// Prompt and answer don't fit in the window.
    Window,
    /// The agent's request forces a tool, and without that it is another prompt.
    ForcesTool,
    /// It demands an answer of a certain form.
    Structured,
    /// It names history that isn't in it.
    Elsewhere,
    /// No message can follow it as it is.
    Broken,
    /// What going on from the agent's prompt gave can't be used.
    NotUsed,
}

impl fmt::Display for ShapeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ShapeReason::Cheaper => "it costs less",
            ShapeReason::AnotherModel => "the agent runs with another model",
            ShapeReason::NoPrice => "no price is known",
            ShapeReason::Window => "the agent's prompt leaves no room for an answer",
            ShapeReason::ForcesTool => "the agent's request forces a tool",
            ShapeReason::Structured => "the agent's request demands an answer of a certain form",
            ShapeReason::Elsewhere => "the agent's request names history that isn't in it",
            ShapeReason::Broken => "no message can stand behind the agent's request",
            ShapeReason::NotUsed => "what going on from the agent's prompt gave can't be used",
        })
    }
}

impl AgentPrompt {
    /// A request of which all was sent before but what answers the model's newest messages, and these, a
    /// moment ago.
    pub fn of(request: Request) -> Self {
        let is_models = |at: &usize| request.transcript.entry(*at).role() == Role::Assistant;
        let newest = (0..request.transcript.len()).rev().find(is_models);
        let sent = newest
            .map_or(0, |newest| (0..=newest).rev().take_while(is_models).last().unwrap_or(newest));
        AgentPrompt { request, sent, idle: None }
    }

    /// Why this prompt cannot be extended; `None` if it can.
    fn obstacle(&self) -> Option<ShapeReason> {
        let source = self.request.source().as_str();
        let start = source.find(|c: char| !c.is_whitespace()).unwrap_or_default();
        let body = Span::new(start..source.len());
        let dialect = self.request.format.dialect();
        let (forces, structured) =
            (dialect.forces_call(&self.request), dialect.demands_form(&self.request));
        match () {
            () if !body.of(source).starts_with('{') => Some(ShapeReason::Broken),
            () if forces => Some(ShapeReason::ForcesTool),
            () if structured => Some(ShapeReason::Structured),
            () if self.request.elsewhere().is_some() => Some(ShapeReason::Elsewhere),
            () => None,
        }
    }

    /// The body with `text` as its last message; `None` where the provider wouldn't take it.
    fn extended(&self, text: &str) -> Option<Arc<str>> {
        let entries = self.request.transcript.len();
        let mut view = View::whole(entries);
        view.place(Placed { before: entries, text: text.into() });
        let body = wire::render(&self.request, &view);
        let read = wire::parse(self.request.format, body.clone()).ok()?;
        wire::check(&read).is_empty().then(|| body.into())
    }

    /// The searchable text of it.
    pub(super) fn known(&self, carried: &str) -> Known {
        let transcript = &self.request.transcript;
        let parts = transcript.entries().flat_map(|entry| entry.parts());
        let texts: Vec<_> = parts.map(|part| part_text(transcript, &part)).collect();
        let system = self.request.system().map(unquote);
        let texts = texts.iter().chain(&system).map(AsRef::as_ref);
        Known::of(texts.chain([carried]))
    }

    /// How it is billed with `more` tokens behind it.
    fn billed(&self, tally: &Tally, model: &Model, more: u64) -> Billed {
        let all = tally.total().tokens;
        let cold = Billed { fresh: all + more, ..Billed::default() };
        let Some(cache) = &model.cache else { return cold };
        let source = self.request.source();
        let life = if source.contains("\"1h\"") { Life::Long } else { Life::Short };
        let ttl = match life {
            Life::Short => cache.ttl,
            Life::Long => cache.ttl_long.or(cache.ttl),
        };
        let is_warm =
            self.idle.is_none_or(|idle| ttl.is_none_or(|ttl| idle < Duration::from_secs(ttl)));
        let sent = (0..self.sent.min(tally.len())).map(|at| tally.entry(at)).sum::<u64>();
        let known = if is_warm && self.sent > 0 { tally.frame.total().tokens + sent } else { 0 };
        match cache.scheme {
            // None of it is in the cache.
            Scheme::Marked if !source.contains("\"cache_control\"") => cold,
            // The instruction stands behind all marks.
            Scheme::Marked => {
                let billed = cache.bill(all, known, life);
                Billed { fresh: billed.fresh + more, ..billed }
            }
            Scheme::Open | Scheme::Automatic => cache.bill(all + more, known, life),
        }
    }
}

/// What the two shapes are weighed by.
pub(super) struct Scales<'a> {
    pub(super) prompt: &'a AgentPrompt,
    pub(super) counter: &'a dyn TokenCounter,
    /// The summarizer.
    pub(super) by: &'a str,
    /// The agent's own prompt, if this is the agent's model.
    pub(super) model: Option<&'a Model>,
}

impl Scales<'_> {
    /// The cheaper shape, and the body of an extension if that is it. `asked` is what stands behind the agent's
    /// prompt then, `parts` are the fenced requests.
    pub(super) fn weigh(
        &self,
        asked: &SummaryRequest,
        parts: &[&SummaryRequest],
    ) -> (Choice, Option<Arc<str>>) {
        let choice = |why, extension, fenced| Choice {
            by: self.by.to_owned(),
            shape: Shape::Fenced,
            why,
            extension,
            fenced,
        };
        let Some(model) = self.model else {
            return (choice(ShapeReason::AnotherModel, None, None), None);
        };
        let Some(price) = &model.price else {
            return (choice(ShapeReason::NoPrice, None, None), None);
        };
        let fenced = self.fenced(model, parts);
        if let Some(why) = self.prompt.obstacle() {
            return (choice(why, None, fenced), None);
        }
        let tally = Tally::of(&self.prompt.request, self.counter);
        let text = asked.prompt();
        let more = self.counter.text(&text).tokens;
        let billed = self.prompt.billed(&tally, model, more);
        let billed = Billed { output: asked.max_tokens, ..billed };
        let extension = PriceQuote {
            requests: 1,
            prompt: billed.prompt(),
            cached: billed.read,
            cost: price.of(&billed),
        };
        let all = tally.total().upper + more + 2 * asked.max_tokens;
        if model.window.is_some_and(|window| all > window)
            || model.most_input().is_some_and(|most| tally.total().upper + more > most)
        {
            return (choice(ShapeReason::Window, Some(extension), fenced), None);
        }
        if fenced.is_some_and(|fenced| fenced.cost <= extension.cost) {
            return (choice(ShapeReason::Cheaper, Some(extension), fenced), None);
        }
        let Some(body) = self.prompt.extended(&text) else {
            return (choice(ShapeReason::Broken, Some(extension), fenced), None);
        };
        let chosen = choice(ShapeReason::Cheaper, Some(extension), fenced);
        (Choice { shape: Shape::Extension, ..chosen }, Some(body))
    }

    /// The cost of the fenced requests; with several, including the one that merges their answers.
    fn fenced(&self, model: &Model, parts: &[&SummaryRequest]) -> Option<PriceQuote> {
        let price = model.price.as_ref()?;
        let tokens = |text: &str| self.counter.text(text).tokens;
        let mut sizes: Vec<(u64, u64)> = parts
            .iter()
            .map(|part| (tokens(SYSTEM) + tokens(&part.prompt()), part.max_tokens))
            .collect();
        if sizes.len() > 1 {
            let answers = sizes.iter().map(|(_, answer)| answer).sum();
            sizes.push((answers, sizes[0].1));
        }
        let cost = sizes.iter().map(|(prompt, answer)| {
            // No part of it is marked.
            let marked = model.cache.is_some_and(|cache| cache.scheme == Scheme::Marked);
            let billed = if marked {
                Billed { fresh: *prompt, ..Billed::default() }
            } else {
                model.bill(*prompt, 0)
            };
            price.of(&Billed { output: *answer, ..billed })
        });
        Some(PriceQuote {
            requests: sizes.len() as u32,
            prompt: sizes.iter().map(|(prompt, _)| prompt).sum(),
            cached: 0,
            cost: cost.sum(),
        })
    }
}
