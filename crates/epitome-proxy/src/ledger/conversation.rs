//! What is kept of one conversation: figures, never words.

use std::collections::VecDeque;
use std::time::SystemTime;

use epitome::count::Weights;
use epitome::engine::receipt::Stats;
use epitome::model::Billed;
use epitome::session::Committed;
use epitome::trigger::Cause;
use epitome::{CompactError, Receipt};

use super::money::{Prompt, Reckoning};

/// Prompts that are drawn; where there are more, every second is left out.
const POINTS: usize = 512;

/// Compactions that are told of, the newest.
const TOLD: usize = 32;

/// The longest name of a model that is kept.
const NAME: usize = 80;

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) api: &'static str,
    /// A short digest of whose it is.
    pub(crate) owner: String,
    pub(crate) model: String,
    pub(crate) begun: SystemTime,
    pub(crate) last: SystemTime,
    pub(crate) requests: u64,
    /// Each so many requests from the next.
    pub(crate) points: Vec<Point>,
    stride: u64,
    pub(crate) adopted: u64,
    /// Compactions that weren't adopted.
    pub(crate) given_up: u64,
    pub(crate) overflows: u64,
    pub(crate) compactions: VecDeque<Done>,
    /// A compaction that no request has shown yet.
    unshown: bool,
    pub(crate) kept_out: u64,
    pub(crate) money: Reckoning,
    last_before: u64,
    pub(crate) agreement: Agreement,
}

/// How far it is with the next compaction, where these wait until somebody agrees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// None is due.
    #[default]
    NotNeeded,
    /// One is due: why.
    Awaited(String),
    /// The next request is compacted.
    Given,
}

/// A prompt that went out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) number: u64,
    pub(crate) prompt: Prompt,
    /// What the provider says of it.
    pub(crate) billed: Option<Billed>,
}

/// A compaction that ended.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) number: u64,
    pub(crate) at: SystemTime,
    pub(crate) cause: &'static str,
    pub(crate) result: &'static str,
    /// The first request that shows it.
    pub(crate) shown_by: Option<u64>,
    /// What was done, or why nothing was.
    pub(crate) told: Result<Told, String>,
    /// Tokens of each kind before and after.
    pub(crate) kinds: Option<[Weights; 2]>,
    /// Where its texts are kept.
    pub(crate) has_texts: bool,
}

/// Of a receipt.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) entries: (usize, usize),
    pub(crate) kept_prefix: u64,
    pub(crate) checkpoint: u64,
    /// Human messages, how many of them are shown or quoted in full, and how many are lost.
    pub(crate) human: (usize, usize, usize),
    pub(crate) steps: Vec<(String, usize, u64)>,
    pub(crate) fallbacks: Vec<String>,
}

impl Told {
    fn of(receipt: &Receipt) -> Self {
        let steps = receipt.steps.iter().take(16);
        let human = receipt.human_messages;
        Told {
            before: receipt.before.count.tokens,
            after: receipt.after.count.tokens,
            entries: (receipt.before.entries, receipt.after.entries),
            kept_prefix: receipt.kept_prefix.tokens,
            checkpoint: receipt.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.tokens),
            human: (human.all, human.shown + human.quoted, human.lost),
            steps: steps.map(|step| (short(&step.strategy), step.edits, step.saved)).collect(),
            fallbacks: receipt.fallbacks.iter().take(8).map(|why| short(why)).collect(),
        }
    }
}

/// At most so much of a name that others give, and `…` if there is more.
fn short(name: &str) -> String {
    let mut chars = name.chars();
    let mut short: String = chars.by_ref().take(NAME).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

impl Conversation {
    pub(crate) fn new(api: &'static str) -> Self {
        let now = SystemTime::now();
        Conversation {
            api,
            owner: String::new(),
            model: String::new(),
            begun: now,
            last: now,
            requests: 0,
            points: Vec::new(),
            stride: 1,
            adopted: 0,
            given_up: 0,
            overflows: 0,
            compactions: VecDeque::new(),
            unshown: false,
            kept_out: 0,
            money: Reckoning::default(),
            last_before: 0,
            agreement: Agreement::NotNeeded,
        }
    }

    /// A compaction is due, or isn't; whether it begins to wait.
    pub(super) fn is_due(&mut self, why: Option<String>) -> bool {
        match (&self.agreement, why) {
            (Agreement::Given, _) => false,
            (_, None) => {
                self.agreement = Agreement::NotNeeded;
                false
            }
            (was, Some(why)) => {
                let begins = *was == Agreement::NotNeeded;
                self.agreement = Agreement::Awaited(why);
                begins
            }
        }
    }

    /// A request went out; the number of the compaction that it is the first to show, if it is.
    pub(super) fn sent(
        &mut self,
        model: impl FnOnce() -> String,
        stats: &Stats,
    ) -> (Point, Option<u64>) {
        // It is seldom another one, and found by a look at all of a request.
        if self.requests.is_multiple_of(16) {
            self.model = short(&model());
        }
        self.last = SystemTime::now();
        self.requests += 1;
        let (before, after) = (stats.before.count.tokens, stats.after.count.tokens);
        let is_break = self.unshown && before != after;
        let prompt = Prompt { before, after, last: self.last_before, is_break };
        self.last_before = before;
        self.kept_out += before.saturating_sub(after);
        let point = Point { number: self.requests, prompt, billed: None };
        // Breaks are drawn all.
        if self.requests.is_multiple_of(self.stride) || is_break {
            self.points.push(point);
        }
        if self.points.len() > POINTS {
            self.stride *= 2;
            let stride = self.stride;
            self.points
                .retain(|point| point.number.is_multiple_of(stride) || point.prompt.is_break);
            // Where all of them are breaks.
            let spare = self.points.len().saturating_sub(POINTS);
            self.points.drain(..spare);
        }
        let mut shown = None;
        if is_break {
            self.unshown = false;
            let newest = self.compactions.iter_mut().rev().find(|done| done.result == "adopted");
            shown = newest.filter(|done| done.shown_by.is_none()).map(|done| {
                done.shown_by = Some(point.number);
                done.number
            });
        }
        (point, shown)
    }

    /// The provider says what it bills for a request.
    pub(super) fn billed(&mut self, point: &Point, billed: Billed) {
        self.money.add(&self.model, &point.prompt, &billed);
        let drawn = self.points.iter_mut().rev().find(|drawn| drawn.number == point.number);
        if let Some(drawn) = drawn {
            drawn.billed = Some(billed);
        }
    }

    pub(super) fn compacted(
        &mut self,
        cause: &Cause,
        receipt: &Result<Box<Receipt>, CompactError>,
        committed: &Committed,
    ) {
        let result = match committed {
            Committed::Adopted { .. } => "adopted",
            Committed::Refused { .. } => "refused",
            Committed::Overtaken => "overtaken",
            Committed::Failed => "failed",
        };
        self.agreement = Agreement::NotNeeded;
        let is_adopted = result == "adopted";
        self.adopted += u64::from(is_adopted);
        self.given_up += u64::from(!is_adopted);
        self.unshown |= is_adopted;
        let told = receipt
            .as_ref()
            .map(|receipt| Told::of(receipt))
            .map_err(|error| short(&error.to_string()));
        self.compactions.push_back(Done {
            number: self.adopted + self.given_up,
            at: SystemTime::now(),
            cause: cause.name(),
            result,
            shown_by: None,
            told,
            kinds: None,
            has_texts: false,
        });
        if self.compactions.len() > TOLD {
            self.compactions.pop_front();
        }
    }
}
