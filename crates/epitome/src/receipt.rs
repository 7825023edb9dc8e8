//! The receipt of a compaction: before and after, each edit with its reason and saving, and what held the rest up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::context::{JobContext, Metadata};
use crate::count::Count;
use crate::guard::{KeepReason, Unheld};
use crate::model::Cost;
use crate::plan::{PlanStep, Reached};
use crate::request::{Elsewhere, Request};
use crate::summarize::SummaryReceipt;
use crate::transcript::ContentId;
use crate::trigger::Cause;
use crate::view::Reason;
use crate::wire::{Finding, Format, Mended};

/// The receipt's own version; it changes when a field changes its meaning or leaves.
pub const RECEIPT_VERSION: u32 = 1;

/// The size of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSize {
    /// Tokens, their upper edge and where the count comes from.
    #[serde(flatten)]
    pub count: Count,
    /// Bytes on the wire.
    pub bytes: usize,
    /// Entries.
    pub entries: usize,
}

impl RequestSize {
    /// Of a request that was counted.
    pub fn of(request: &Request, count: Count) -> Self {
        RequestSize { count, bytes: request.source().len(), entries: request.transcript.len() }
    }
}

/// A run of entries that share a fate and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// First entry of the run.
    pub from: usize,
    /// Last entry of the run.
    pub to: usize,
    /// Its fate.
    pub fate: Became,
    /// Why.
    pub reason: Reason,
    /// Tokens saved.
    pub saved: u64,
}

/// What became of entries that aren't shown as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Became {
    /// They are shown, some of their slots otherwise.
    Edit,
    /// The checkpoint stands for them.
    Fold,
    /// Nothing stands for them.
    Drop,
}

/// The part that a prompt cache can keep: everything up to the first change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPrefix {
    /// Leading entries whose bytes are the same.
    pub entries: usize,
    /// Their bytes, with what stands before them.
    pub bytes: usize,
    /// Their tokens, with the frame's.
    pub tokens: u64,
}

/// The checkpoint that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointReceipt {
    /// The id by which a later compaction knows it.
    pub id: ContentId,
    /// Index of the (original) entry before which it stands.
    pub before_entry: usize,
    /// Its tokens.
    pub tokens: u64,
    /// Human messages that it stands for.
    pub human_messages: usize,
    /// Messages that it quotes in full.
    pub human_messages_quoted: usize,
}

/// What became of human messages, those that earlier checkpoints quoted among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanMessages {
    /// All of them.
    pub all: usize,
    /// Shown, where they were said.
    pub shown: usize,
    /// Quoted in full by the checkpoint.
    pub quoted: usize,
    /// Quoted in part by the checkpoint.
    pub quoted_in_part: usize,
    /// Neither shown nor quoted.
    pub lost: usize,
}

/// An entry that should stay verbatim, and is an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpted {
    /// Index of its entry.
    pub entry: usize,
    /// Why it should have stayed.
    pub held: KeepReason,
    /// Tokens that it had.
    pub tokens: u64,
    /// Tokens left of it.
    pub left: u64,
}

/// Who holds what the view hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Originals {
    /// The caller, who has the input.
    Caller,
    /// An archive, durable before the view was.
    Archive,
}

/// What every look at a request ends with, whether or not anything was done: always of this shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Whether anything was compacted.
    pub triggered: bool,
    /// What compacts: `ladder`, or the names of strategies in order.
    pub strategy: String,
    /// Why something was done, or nothing was.
    pub reason: String,
    /// The request as it came.
    pub before: RequestSize,
    /// The request as it leaves.
    pub after: RequestSize,
    /// Whether the first human message stays verbatim; true where there is none.
    pub kept_task: bool,
    /// The newest entries that stay verbatim, up to the first that doesn't.
    pub kept_recent: usize,
    /// Whether it leaves with more tokens than it may have: than the target, where something was
    /// compacted; else than the window, as far as that is known.
    pub over_budget: bool,
}

/// The edits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// [`RECEIPT_VERSION`].
    pub version: u32,
    /// The wire format.
    pub format: Format,
    /// The model, where the request names one.
    pub model: Option<String>,
    /// The counter that decided.
    pub counter: String,
    /// Whether anything was compacted.
    pub triggered: bool,
    /// What compacts: `ladder`, or the names of strategies in order.
    pub strategy: String,
    /// Why something was done, or nothing was.
    pub reason: String,
    /// Why it began, as data; where something was compacted without a trigger, that the host asked for it.
    pub cause: Option<Cause>,
    /// The caller's context, with the wishes of hooks.
    #[serde(default, skip_serializing_if = "JobContext::is_empty")]
    pub about: JobContext,
    /// What those who were asked say of their answers, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Metadata>,
    /// Where it landed.
    #[serde(flatten)]
    pub reached: Reached,
    /// History that the model reads and the request only names: it is neither counted nor compacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// The target, in tokens.
    pub target: u64,
    /// The least that frame, pins and tail allow, in tokens.
    pub floor: u64,
    /// The request as it came, before repairs.
    pub before: RequestSize,
    /// The request as it leaves.
    pub after: RequestSize,
    /// Whether the first human message stays verbatim; true where there is none.
    pub kept_task: bool,
    /// The newest entries that stay verbatim, up to the first that doesn't.
    pub kept_recent: usize,
    /// Whether it leaves with more tokens than it may have: see [`Stats::over_budget`].
    pub over_budget: bool,
    /// What each strategy saved.
    pub steps: Vec<PlanStep>,
    /// The fates of entries.
    pub edits: Vec<Edited>,
    /// The checkpoint, if there is one.
    pub checkpoint: Option<CheckpointReceipt>,
    /// What summarizers had to do with it, if any were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryReceipt>,
    /// What became of human messages.
    pub human_messages: HumanMessages,
    /// Entries that should stay verbatim but are larger than their share of the target.
    pub excerpted: Vec<Excerpted>,
    /// Known checkpoints of earlier compactions that still stand as they were, by id. The next
    /// compaction has to know these too.
    pub standing_checkpoints: Vec<ContentId>,
    /// The part that a prompt cache can keep.
    pub kept_prefix: KeptPrefix,
    /// Costs and savings, if the model's prices are known and something was compacted.
    pub cost: Option<Cost>,
    /// Breaches of the input that were repaired.
    pub repaired: Vec<Mended>,
    /// Tokens of removed parts of a repair: neither shown nor summarized.
    #[serde(default)]
    pub mending_took: u64,
    /// Tokens that a repair added: notes of missing parts.
    #[serde(default)]
    pub mending_added: u64,
    /// All that [`inspect`](crate::wire::inspect) finds in the request as it leaves; nothing where the trigger doesn't fire, so
    /// that nothing was looked at.
    pub left: Vec<Finding>,
    /// Pins that nothing in the transcript says.
    pub unmatched_pins: Vec<String>,
    /// Pins whose text only the model and tools say, in several messages; the newest one stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unheld_pins: Vec<Unheld>,
    /// Why earlier attempts weren't used.
    pub fallbacks: Vec<String>,
    /// Who holds what the view hides.
    pub originals: Originals,
}

impl Receipt {
    /// What every look at a request ends with.
    pub fn stats(&self) -> Stats {
        Stats {
            triggered: self.triggered,
            strategy: self.strategy.clone(),
            reason: self.reason.clone(),
            before: self.before,
            after: self.after,
            kept_task: self.kept_task,
            kept_recent: self.kept_recent,
            over_budget: self.over_budget,
        }
    }

    /// What holds the floor above the target, largest first; empty if it was reached.
    pub fn held_by(&self) -> &[(KeepReason, u64)] {
        match &self.reached {
            Reached::Unreachable { held_by } => held_by,
            _ => &[],
        }
    }
}
