//! `simulate`: a session request by request through the session machine.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use epitome::count::{Count, TokenCounter, entry_count};
use epitome::model::overflow::PromptOverflow as TooLong;
use epitome::model::{Model, Money};
use epitome::session::{
    ChainKey, Committed, Landing, Recipient, Refusal, RunCompaction, SessionOptions, Sessions,
};
use epitome::text::figure::counted;
use epitome::trigger::{Cause, Condition};
use epitome::{Compactor, Request, Target};
use epitome_recordings::replay;
use serde::Serialize;

use super::shape::Shape;
use crate::args::PlanArgs;
use crate::failure::{Exit, Failure};
use crate::input::{self, Source};
use crate::output::{self, Report};
use crate::progress::Progress;
use crate::reader::{Need, Reader};
use crate::terminal::{FAINT, GOOD, STRONG, WARN, count, left, paint, put, right};

/// Between two requests: the pace of a coding agent, in which no cache forgets.
const PACE: Duration = Duration::from_secs(30);

/// Any will do: a simulation holds one conversation, and nobody else's texts.
const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

/// A simulation, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Simulated<'a> {
    version: u32,
    source: &'a Source,
    window: u64,
    trigger: &'a Condition,
    preset: Option<&'a str>,
    counter: &'a str,
    model: Option<&'a str>,
    requests: Vec<Row>,
    #[serde(flatten)]
    sums: Sums,
}

/// What was decided about a request.
#[derive(Debug, Serialize)]
struct Row {
    /// Counted from 1.
    request: usize,
    /// Messages that the agent sends.
    entries: usize,
    /// Tokens as the agent sends it.
    tokens_before: u64,
    /// Tokens of what goes to the provider.
    tokens_after: u64,
    /// At most so many.
    tokens_after_upper: u64,
    decision: Decision,
    reason: String,
    /// Messages of which something giant was cut as it arrived.
    taken_in: usize,
    /// Why a compaction was run.
    cause: Option<Cause>,
    /// Whether the provider would refuse it as too long, and how that ended.
    overflow: Option<Overflow>,
    /// Tokens that the cache still holds of it.
    cached: u64,
    /// What the prompt costs, in dollars.
    cost: Option<Money>,
}

/// What goes to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Decision {
    /// The request, byte for byte.
    AsItCame,
    /// The view in force.
    View,
    /// A view that was made for it.
    Compacted,
}

/// How a request ended that the provider refused as too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Overflow {
    /// It was compacted once more, and fits.
    Recovered,
    /// Nothing that fits can be had.
    Lost,
}

/// All requests together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Sums {
    /// Compactions that were adopted.
    compactions: usize,
    /// Compactions that were run for nothing.
    refused: usize,
    /// Requests that the provider would have refused as too long.
    overflows: usize,
    /// The same, had nothing been compacted.
    overflows_without: usize,
    /// Tokens of all prompts.
    tokens: u64,
    /// The same, had nothing been compacted.
    tokens_without: u64,
    /// What all prompts cost, in dollars, the cache being kept warm.
    cost: Option<Money>,
    /// The same, had nothing been compacted.
    cost_without: Option<Money>,
}

/// Feeds the session, and prints what was decided.
pub(crate) fn run(args: &PlanArgs, report: Report) -> Result<Exit> {
    let shape = Shape::new(&args.how)?;
    let opened = input::open(&args.input, report)?;
    let session = &opened.request;
    let reader = shape.reader(session, Need::Window)?.remembering();
    let Some(window) = reader.window else {
        let what = "a simulation needs the window of a model";
        bail!(Failure::usage(what).hint("say --window 100k, or --model ID"));
    };
    let preset = shape.settings().preset(Some(window));
    let trigger = match (&shape.settings().trigger, &preset) {
        (Some(trigger), _) => trigger.clone(),
        (None, Some(preset)) => preset.trigger.clone().build()?,
        (None, None) => Condition::default(),
    };
    let mut stage = Stage::new(&shape, &reader, trigger.clone(), window)?;
    let mut progress = Progress::new(report);
    let mut rows = Vec::new();
    for entries in replay::requests(session) {
        progress.tick("simulating");
        rows.push(stage.send(&replay::first(session, entries), rows.len() + 1));
    }
    drop(progress);
    let sums = stage.sums;
    let model = reader.model.as_deref().filter(|model| model.price.is_some());
    let simulated = Simulated {
        version: 1,
        source: &opened.source,
        window,
        trigger: &trigger,
        preset: preset.as_ref().map(|preset| preset.name),
        counter: reader.counter.name(),
        model: model.map(|model| model.id.as_str()),
        requests: rows,
        sums,
    };
    match report {
        Report::Json => output::json(&simulated)?,
        Report::Words => output::words(&words(&simulated))?,
    }
    Ok(if sums.overflows == 0 { Exit::Ok } else { Exit::Found })
}

/// The machine, and a provider that counts as it does.
struct Stage<'a> {
    sessions: Sessions,
    counter: &'a dyn TokenCounter,
    model: Option<&'a Model>,
    to: Recipient,
    window: u64,
    now: Duration,
    /// What was sent last, and what the agent sent last.
    last: Option<(Request, Request)>,
    sums: Sums,
}

impl<'a> Stage<'a> {
    fn new(shape: &Shape, reader: &'a Reader, trigger: Condition, window: u64) -> Result<Self> {
        let usage = |error: String| Failure::usage(error).hint("epitome simulate --help");
        let preset = shape.settings().preset(Some(window));
        let landing = match (shape.settings().target, preset) {
            (Some(target), _) => Landing::Target(target),
            (None, Some(preset)) => Landing::Target(preset.options.target),
            (None, None) => Landing::Window(0.3),
        };
        let options = SessionOptions { landing, ..SessionOptions::new(Arc::new(trigger), KEY) };
        let compactor: Compactor = shape.compactor(reader, Target::DEFAULT)?;
        let sessions =
            Sessions::new(options, compactor).map_err(|error| usage(error.to_string()))?;
        let model = reader.model.as_deref();
        let to =
            Recipient { window: Some(window), ..model.map(Recipient::from).unwrap_or_default() };
        Ok(Stage {
            sessions,
            counter: reader.counter.as_ref(),
            model,
            to,
            window,
            now: Duration::ZERO,
            last: None,
            sums: Sums::default(),
        })
    }

    /// Sends a request, and once more if it is refused as too long.
    fn send(&mut self, request: &Request, number: usize) -> Row {
        self.now += PACE;
        let mut settled = self.sessions.settle("", request, self.to.clone(), self.now);
        let mut overflow = None;
        let used = settled.stats.after.count.tokens;
        if used > self.window {
            let told = TooLong::of_tokens(Some(used), Some(self.window));
            let sent = settled.sent;
            if let Some(again) = self.sessions.resettle("", request, sent, &told, self.now) {
                settled = again;
            }
            let fits = settled.stats.after.count.tokens <= self.window;
            overflow = Some(if fits { Overflow::Recovered } else { Overflow::Lost });
        }
        let (whole, tokens) = (settled.stats.before.count, settled.stats.after.count);
        let sent = settled.view.as_deref().unwrap_or(request).clone();
        let (sent_before, came_before) = self.last.take().unzip();
        let cached = self.cached(sent_before.as_ref(), &sent, tokens);
        let cached_without = self.cached(came_before.as_ref(), request, whole);
        let cost = self.cost(tokens, cached);
        let sums = &mut self.sums;
        if let Some(ran) = &settled.compacted {
            let is_adopted = matches!(ran.committed, Committed::Adopted { .. });
            let which = if is_adopted { &mut sums.compactions } else { &mut sums.refused };
            *which += 1;
        }
        sums.overflows += usize::from(overflow.is_some());
        sums.overflows_without += usize::from(whole.tokens > self.window);
        sums.tokens += tokens.tokens;
        sums.tokens_without += whole.tokens;
        sums.cost = cost.map(|cost| sums.cost.unwrap_or_default() + cost);
        let without = self.cost(whole, cached_without);
        let sums = &mut self.sums;
        sums.cost_without = without.map(|cost| sums.cost_without.unwrap_or_default() + cost);
        self.last = Some((sent, request.clone()));
        let ran = settled.compacted.as_ref();
        let (decision, reason) = decided(settled.view.is_some(), &settled.stats.reason, ran);
        Row {
            request: number,
            entries: request.transcript.len(),
            tokens_before: whole.tokens,
            tokens_after: tokens.tokens,
            tokens_after_upper: tokens.upper,
            decision,
            reason,
            taken_in: settled.taken_in,
            cause: settled.compacted.map(|ran| ran.cause),
            overflow,
            cached,
            cost,
        }
    }

    /// Tokens of `next` that a cache holds which saw `sent`.
    fn cached(&self, sent: Option<&Request>, next: &Request, size: Count) -> u64 {
        let Some(sent) = sent else { return 0 };
        let shared = shared(sent, next);
        let fresh: Count = next
            .transcript
            .entries()
            .skip(shared)
            .map(|entry| entry_count(entry, next.format, self.counter))
            .sum();
        size.tokens.saturating_sub(fresh.tokens)
    }

    fn cost(&self, size: Count, cached: u64) -> Option<Money> {
        self.model?.prompt_cost(size.tokens, cached)
    }
}

/// How many entries of `next` stand in `sent` with the same bytes, from the front: what a cache that
/// saw `sent` can read of it. Nothing if system prompt or tools differ.
fn shared(sent: &Request, next: &Request) -> usize {
    if sent.system() != next.system() || sent.tools() != next.tools() {
        return 0;
    }
    let pairs = sent.transcript.entries().zip(next.transcript.entries());
    pairs.take_while(|(old, new)| old.raw() == new.raw()).count()
}

/// What goes to the provider, and why.
fn decided(is_view: bool, why: &str, ran: Option<&RunCompaction>) -> (Decision, String) {
    let in_force = if is_view { Decision::View } else { Decision::AsItCame };
    let because = |what: &str| (in_force, format!("{why}; {what}"));
    match ran.map(|ran| (&ran.committed, ran)) {
        Some((Committed::Adopted { .. }, _)) => (Decision::Compacted, why.to_owned()),
        Some((Committed::Refused { cause: Refusal::NoGain }, _)) => {
            because("compacting would save too little")
        }
        Some((Committed::Refused { cause: Refusal::Declined }, _)) => {
            because("somebody who was asked didn't want it")
        }
        Some((Committed::Refused { cause: Refusal::BoundMeanwhile }, _)) => {
            because("new reasoning is bound to the old prompt")
        }
        Some((Committed::Overtaken, _)) => because("overtaken"),
        Some((Committed::Failed, ran)) => {
            let error = ran.outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
            because(&format!("failed: {error}"))
        }
        None => (in_force, why.to_owned()),
    }
}

fn words(simulated: &Simulated<'_>) -> String {
    let mut out = String::new();
    let mut put = |line: String| put!(out, "{line}");
    let head = ["request", "messages", "tokens", "sent", "cached", "cost"];
    put(paint(FAINT, head.map(|word| right(word, 10)).concat()));
    for row in &simulated.requests {
        let cost = row.cost.map(|cost| cost.to_string()).unwrap_or_default();
        let cells = [
            count(row.request),
            count(row.entries),
            count(row.tokens_before),
            count(row.tokens_after),
            count(row.cached),
            cost,
        ];
        let cells = cells.map(|cell| right(&cell, 10)).concat();
        let decision = match row.decision {
            Decision::AsItCame => paint(FAINT, "as it came"),
            Decision::View => left("view", 10),
            Decision::Compacted => paint(GOOD, "compacted "),
        };
        let reason = match row.reason.as_str() {
            "below the trigger" | "the view in force" => "",
            reason => reason,
        };
        let overflow = match row.overflow {
            Some(Overflow::Recovered) => paint(WARN, "overflow, recovered: "),
            Some(Overflow::Lost) => paint(WARN, "overflow: "),
            None => String::new(),
        };
        let taken_in = match row.taken_in {
            0 => String::new(),
            many => format!("{} cut on arrival ", counted(many, "message")),
        };
        put(format!("{cells}  {decision} {overflow}{taken_in}{reason}").trim_end().to_owned());
    }
    let sums = &simulated.sums;
    put(String::new());
    let what = format!(
        "{}, {}, {} of {}",
        counted(simulated.requests.len(), "request"),
        counted(sums.compactions, "compaction"),
        counted(sums.overflows, "overflow"),
        count(simulated.window),
    );
    let without = match sums.overflows_without {
        0 => String::new(),
        without => format!("; without compaction {}", counted(without, "overflow")),
    };
    put(format!("{}{without}", paint(STRONG, what)));
    put(format!("{} prompt tokens instead of {}", count(sums.tokens), count(sums.tokens_without)));
    if let (Some(cost), Some(without)) = (sums.cost, sums.cost_without) {
        let model = simulated.model.unwrap_or_default();
        let how = paint(FAINT, format!("({model}, prompts alone, with a cache that is kept warm)"));
        put(format!("{cost} instead of {without} {how}"));
    }
    out
}
