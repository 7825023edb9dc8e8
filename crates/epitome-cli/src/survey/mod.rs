//! What fills a transcript: by kind, by tool, by step.

mod looks;
mod rules;
mod steps;
mod tools;

use epitome::Request;
use epitome::count::{ContentKind, Count, Tally, TokenCounter, Weight, Weights};
use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, PartKind};
use epitome::wire;
use serde::Serialize;

use crate::input::Source;
use crate::reader::Reading;

pub(crate) use looks::{hues, shade};
pub(crate) use rules::{By, Rule};
pub(crate) use steps::{Moment, timeline};
pub(crate) use tools::{Definitions, Tool};

/// A survey; `--json` prints it as it is.
#[derive(Debug, Serialize)]
pub(crate) struct Survey {
    pub(crate) version: u32,
    pub(crate) source: Source,
    pub(crate) format: &'static str,
    pub(crate) model: Option<String>,
    /// What the model makes of it.
    pub(crate) reader: Option<Reading>,
    pub(crate) counter: String,
    #[serde(flatten)]
    pub(crate) total: Count,
    pub(crate) bytes: usize,
    pub(crate) entries: usize,
    pub(crate) steps: usize,
    pub(crate) turns: usize,
    pub(crate) pairs: usize,
    /// Calls that were never answered.
    pub(crate) open_calls: usize,
    /// Model messages with several calls.
    pub(crate) parallel_batches: usize,
    pub(crate) human_messages: usize,
    /// The share of all tokens that a person wrote, from 0 to 1.
    pub(crate) human_share: f64,
    pub(crate) kinds: Vec<Slice>,
    /// What stands around the transcript, by kind.
    #[serde(skip)]
    pub(crate) frame: Weights,
    pub(crate) tools: Vec<Tool>,
    pub(crate) definitions: Definitions,
    /// Every unit of the transcript, in order.
    pub(crate) timeline: Vec<Moment>,
    /// Positions of the heaviest units in the timeline, heaviest first.
    pub(crate) biggest: Vec<usize>,
    /// What a check finds: rules and how often each is broken.
    pub(crate) findings: Vec<(String, usize)>,
    /// Sentences in which people command or forbid, and that no pin protects; the newest last.
    pub(crate) unpinned_rules: Vec<Rule>,
}

/// What is found without any counts.
#[derive(Debug)]
pub(crate) struct Found {
    findings: Vec<(String, usize)>,
    unpinned_rules: Vec<Rule>,
}

impl Found {
    /// Checks a request, and reads it for rules that none of `pins` protects.
    pub(crate) fn in_request(request: &Request, pins: &[String]) -> Self {
        let unpinned_rules = Rule::unpinned(request, pins);
        Found { findings: findings(request), unpinned_rules }
    }
}

/// A kind and what it weighs.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Slice {
    pub(crate) kind: ContentKind,
    #[serde(flatten)]
    pub(crate) weight: Weight,
    /// Of all tokens, from 0 to 1.
    pub(crate) share: f64,
}

/// Heaviest units that are named.
const BIGGEST: usize = 8;

impl Survey {
    /// Surveys a request.
    pub(crate) fn new(
        request: &Request,
        source: Source,
        tally: &Tally,
        counter: &dyn TokenCounter,
        found: Found,
    ) -> Self {
        let units = Units::of(&request.transcript, request.format.instructions());
        let weights = Weights::of(request, tally);
        let total = tally.total();
        let timeline = steps::timeline(request, &units, tally);
        let entries = || request.transcript.entries();
        let calls =
            |entry: &Entry<'_>| entry.parts().filter(|part| part.kind() == PartKind::Call).count();
        let (tools, definitions) = tools::weigh(request, &units, tally, counter);
        Survey {
            version: 1,
            source,
            format: request.format.name(),
            model: request.model(),
            reader: None,
            counter: counter.name().to_owned(),
            total,
            bytes: request.source().len(),
            entries: request.transcript.len(),
            steps: units.all().iter().filter(|unit| unit.is_step).count(),
            turns: units.all().iter().filter(|unit| unit.is_turn).count(),
            pairs: units.pairs().iter().filter(|pair| pair.result.is_some()).count(),
            open_calls: units.pairs().iter().filter(|pair| pair.result.is_none()).count(),
            parallel_batches: entries().filter(|entry| calls(entry) > 1).count(),
            human_messages: entries().filter(Entry::is_human).count(),
            human_share: share(weights.get(ContentKind::Human).tokens, total.tokens),
            kinds: weights
                .kinds()
                .map(|(kind, weight)| Slice {
                    kind,
                    weight,
                    share: share(weight.tokens, total.tokens),
                })
                .collect(),
            frame: Weights::of_frame(request, tally),
            tools,
            definitions,
            biggest: steps::biggest(&timeline, BIGGEST),
            timeline,
            findings: found.findings,
            unpinned_rules: found.unpinned_rules,
        }
    }

    /// Kinds, the heaviest first.
    pub(crate) fn by_weight(&self) -> Vec<Slice> {
        let mut kinds = self.kinds.clone();
        kinds.sort_by_key(|share| std::cmp::Reverse(share.weight.tokens));
        kinds
    }
}

pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn findings(request: &Request) -> Vec<(String, usize)> {
    let mut sums = std::collections::BTreeMap::new();
    for finding in wire::check(request) {
        *sums.entry(finding.rule.to_string()).or_insert(0) += 1;
    }
    sums.into_iter().collect()
}
