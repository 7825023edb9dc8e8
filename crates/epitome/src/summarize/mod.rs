//! Summaries that a model, a command or a remote process writes, and how far they are trusted.
//!
//! A summarizer writes one lane of the checkpoint, the summary. Everything else (people's words, extracts) is the same
//! without one. Its answer is admitted only after checks ([`admit`]). A rejected one gets one reminder, then the next
//! summarizer is asked, and in the end [`OnFailure`] decides. Nothing here waits: the engine returns the question
//! ([`Ask`]), and its driver brings the answers ([`crate::engine::Drive`] does).

pub mod admit;
mod breaker;
mod calls;
mod fit;
mod function;
mod language;
mod prompt;
mod quotes;
mod shape;
mod source;
mod specifics;
mod work;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Metadata;
use crate::model::{Model, Money};
use crate::text::cut;
use crate::text::secrets::masked;

pub use admit::Fault;
pub(crate) use breaker::Rests;
pub use breaker::{Clock, RestingSummarizer};
pub(crate) use fit::fitted;
pub use function::{from_fn, from_fn_within};
pub use prompt::{Brief, REQUEST_VERSION, SECTIONS, SYSTEM, SummaryRequest, Tab};
pub use shape::{AgentPrompt, Choice, PriceQuote, Shape, ShapeReason};
pub use source::SummarySource;
pub(crate) use work::{Around, Next, SummaryEvent, Work};

/// A promised summary.
pub type Answering = Pin<Box<dyn Future<Output = Result<Summary, SummarizeError>> + Send>>;

/// Turns folded entries into a short text.
///
/// Its text is one lane of the checkpoint, and is shown only if it passes these checks ([`Fault`]):
///
/// - It is shorter than what it replaces, and fits in its room.
/// - It has the sections that were asked for, and the language of the conversation.
/// - It states no path, id or number that its source doesn't, and doesn't repeat itself.
/// - It is no reply, refusal or tool call.
///
/// It gets one reminder. Then the next one is asked, in the end none.
///
/// It keeps its own time: an answer that doesn't come is its failure, not its caller's.
pub trait Summarizer: fmt::Debug + Send + Sync {
    /// Its name, as receipts spell it.
    fn name(&self) -> &str;

    /// The most tokens that a request and its answer may have together; `None` where it takes any
    /// number. A longer history is given to it in parts.
    fn window(&self) -> Option<u64> {
        None
    }

    /// The model that answers, if the agent asks it too, at the same place, with the same key, so that what
    /// is in `prompt` is in its cache.
    fn shares_cache(&self, prompt: &AgentPrompt) -> Option<&Model> {
        let _ = prompt;
        None
    }

    /// Begins to answer. What was spent by then is written to the request's [`Tab`] when the future is dropped before
    /// it has answered.
    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering;

    /// Is told what became of a compaction's requests to it.
    fn settled(&self, end: End) {
        let _ = end;
    }
}

/// How it ended with a summarizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its summary is used.
    Admitted,
    /// It gave none that can be used.
    GaveUp,
}

/// A summarizer's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Its cost.
    #[serde(default)]
    pub spent: Spent,
    /// The summarizer's metadata of its answer.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl Summary {
    /// A text that cost nothing.
    pub fn new(text: impl Into<String>) -> Self {
        Summary { text: text.into(), ..Summary::default() }
    }
}

impl From<String> for Summary {
    fn from(text: String) -> Self {
        Summary::new(text)
    }
}

impl From<&str> for Summary {
    fn from(text: &str) -> Self {
        Summary::new(text)
    }
}

/// Time and cost of calls, as far as reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests over the wire, retries among them.
    pub requests: u32,
    /// Tokens of prompts.
    pub input: u64,
    /// Of those, tokens that were read from a cache.
    pub cached: u64,
    /// Tokens of answers, reasoning included.
    pub output: u64,
    /// Money, if the model's prices are known; an upper bound if the server reported no usage.
    pub cost: Option<Money>,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        // Reports may be false, so additions saturate.
        self.requests = self.requests.saturating_add(other.requests);
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
        self.cost = match (self.cost, other.cost) {
            (Some(one), Some(another)) => Some(one + another),
            (one, another) => one.or(another),
        };
    }
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct SummarizeError {
    /// What kind of failure.
    pub kind: FailureKind,
    /// Details; empty if there are none.
    pub detail: String,
    /// Its cost all the same.
    pub spent: Spent,
}

/// The most characters of a failure's detail.
const MAX_DETAIL: usize = 240;

impl SummarizeError {
    /// A failure that took nothing. Receipts tell its detail: on one line, without secrets, and not at length.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        // Masked before it is cut, as it will be read: half a key doesn't look like one, nor does a colored one.
        let detail = cut::one_line(&masked(&cut::visible(&detail.into())), MAX_DETAIL);
        SummarizeError { kind, detail, spent: Spent::default() }
    }

    /// The same, having taken this.
    #[must_use]
    pub fn having(self, spent: Spent) -> Self {
        SummarizeError { spent, ..self }
    }
}

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// It took too long.
    Timeout,
    /// The server can't be reached.
    Unreachable,
    /// It was asked too often; later it may answer.
    RateLimited,
    /// The other side is in trouble.
    Upstream,
    /// The other side takes no such request.
    Rejected,
    /// The key is missing or isn't taken.
    Unauthorized,
    /// What came back can't be read.
    Malformed,
    /// The answer broke off.
    CutShort,
    /// It called a tool.
    ToolCall,
    /// It refused.
    Refusal,
    /// The spend cap is reached.
    SpendCap,
    /// The amount spent isn't known or can't be kept, and there is a cap.
    Unbooked,
    /// It failed too often and isn't asked for a while.
    Resting,
    /// The driver can't wait for answers.
    Unattended,
    /// A command ended with a failure.
    Command,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailureKind::Timeout => "no answer in time",
            FailureKind::Unreachable => "can't be reached",
            FailureKind::RateLimited => "asked too often",
            FailureKind::Upstream => "the server failed",
            FailureKind::Rejected => "the request was refused",
            FailureKind::Unauthorized => "the key isn't taken",
            FailureKind::Malformed => "the answer can't be read",
            FailureKind::CutShort => "the answer broke off",
            FailureKind::ToolCall => "it called a tool",
            FailureKind::Refusal => "it refused",
            FailureKind::SpendCap => "the spend cap is reached",
            FailureKind::Unbooked => "it isn't known what was spent",
            FailureKind::Resting => "it failed too often and isn't asked for now",
            FailureKind::Unattended => "nobody waits for its answer",
            FailureKind::Command => "the command failed",
        })
    }
}

/// What becomes of a compaction when no summarizer gives a summary that can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// The checkpoint is as it is without a summarizer.
    #[default]
    Extractive,
    /// Nothing is compacted.
    Skip,
    /// The compaction fails.
    Error,
}

/// Who is asked for summaries, with which instructions, and what happens if none is given.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    /// Who is asked, in order.
    pub chain: Vec<Arc<dyn Summarizer>>,
    /// What is asked for.
    pub brief: Brief,
    /// What happens in the end.
    pub on_failure: OnFailure,
}

impl From<Arc<dyn Summarizer>> for Summaries {
    /// This one alone is asked, for the usual; code writes if it fails.
    fn from(summarizer: Arc<dyn Summarizer>) -> Self {
        Summaries { chain: vec![summarizer], ..Summaries::default() }
    }
}

impl Summaries {
    /// The same, each of the chain resting by `clock` when it fails again and again ([`RestingSummarizer`]), with the usual
    /// limits: for whoever compacts more than once with them.
    #[must_use]
    pub fn resting(self, clock: &Clock) -> Self {
        let rested = |by| -> Arc<dyn Summarizer> {
            let clock = Arc::clone(clock);
            Arc::new(RestingSummarizer::around(
                by,
                RestingSummarizer::FAILURES,
                RestingSummarizer::REST,
                clock,
            ))
        };
        Summaries { chain: self.chain.into_iter().map(rested).collect(), ..self }
    }
}

/// A question for a summarizer, to be answered with its id.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The id.
    pub id: u32,
    /// Who is asked.
    pub by: Arc<dyn Summarizer>,
    /// For what.
    pub request: Arc<SummaryRequest>,
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryCall {
    /// Who was asked.
    pub by: String,
    /// What came of it.
    pub result: CallResult,
    /// Why, where it wasn't used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it took.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallResult {
    /// The text passed the checks.
    Admitted,
    /// There was a text, and it didn't pass.
    Rejected,
    /// There was none.
    Failed,
}

/// What summarizers had to do with a compaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryReceipt {
    /// Whose summary the checkpoint shows; `None` if it is made without one.
    pub by: Option<String>,
    /// The summary's tokens, as it is shown.
    pub tokens: u64,
    /// Every call.
    pub calls: Vec<SummaryCall>,
    /// What all of them took.
    pub spent: Spent,
    /// In which shape each was asked, where the agent's own prompt was known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Choice>,
}
