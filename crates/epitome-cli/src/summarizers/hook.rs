//! Commands that have a say in a compaction: before it, and after it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use epitome::Pin;
use epitome::Receipt;
use epitome::engine::delegate::Metadata;
use epitome::engine::hook::{Heeding, Hook, Proposal, Wish};
use epitome::summarize::{SummarizeError, Summary};
use epitome::text::secrets::masked;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::command::{Command, malformed};

/// A command that is asked before a compaction.
#[derive(Debug)]
pub(crate) struct Before(pub(crate) Command);

/// What it is given.
#[derive(Serialize)]
struct Told<'a> {
    version: u32,
    event: &'static str,
    reason: Option<String>,
    tokens: u64,
    target: u64,
    format: &'static str,
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: &'a BTreeMap<String, String>,
    instructions: &'a [String],
    /// Messages that the checkpoint would stand for.
    folds: &'a [usize],
    request: &'a RawValue,
}

/// What it answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    version: u32,
    #[serde(default)]
    veto: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    instructions: Value,
    #[serde(default)]
    pins: Value,
    #[serde(default)]
    metadata: Metadata,
}

impl Hook for Before {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn before(self: Arc<Self>, proposal: Arc<Proposal>) -> Heeding {
        Box::pin(async move {
            let request = serde_json::from_str(proposal.request.source())
                .map_err(|error| malformed(format!("the request: {error}")))?;
            let told = Told {
                version: 1,
                event: "before",
                reason: proposal.cause.as_ref().map(ToString::to_string),
                tokens: proposal.tokens,
                target: proposal.target,
                format: proposal.request.format.name(),
                model: proposal.request.model(),
                session: proposal.about.session.as_deref(),
                turn: proposal.about.turn.as_deref(),
                labels: &proposal.about.labels,
                instructions: &proposal.about.instructions,
                folds: &proposal.folds,
                request,
            };
            read(&self.0.ask(&told).await?)
        })
    }
}

fn read(out: &[u8]) -> Result<Wish, SummarizeError> {
    let answer: Answer = serde_json::from_slice(out).map_err(|error| {
        let what =
            "stdout isn't {\"version\":1} with veto, summary, instructions, pins or metadata";
        malformed(format!("{what}: {error}"))
    })?;
    let Answer { version: 1, veto, summary, instructions, pins, metadata } = answer else {
        return Err(malformed(format!("version {}, not 1", answer.version)));
    };
    let mut unread = Vec::new();
    let instructions = each(instructions, "instructions", &mut unread, |one| match one {
        Value::String(text) => Some(text.clone()),
        _ => None,
    });
    // A message by its position, or by words of it.
    let pins = each(pins, "pins", &mut unread, |pin| match pin {
        Value::String(words) => Some(Pin::Text(words.clone())),
        pin => pin.as_u64().and_then(|at| usize::try_from(at).ok()).map(Pin::Entry),
    });
    let summary = summary.map(Summary::new);
    Ok(Wish { veto, summary, instructions, pins, unread, metadata })
}

/// The readable elements of a list; others are named in the receipt, and ignored.
fn each<T>(
    list: Value,
    name: &str,
    unread: &mut Vec<String>,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<T> {
    let all = match list {
        Value::Null => Vec::new(),
        Value::Array(all) => all,
        other => {
            unread.push(masked(&format!("its {name} aren't a list: {other}")).into_owned());
            Vec::new()
        }
    };
    let read = |one: &Value| {
        let found = read(one);
        if found.is_none() && unread.len() < MOST_UNREAD {
            unread.push(masked(&format!("one of its {name} can't be read: {one}")).into_owned());
        }
        found
    };
    all.iter().filter_map(read).collect()
}

/// More of what can't be read isn't named.
const MOST_UNREAD: usize = 16;

/// Commands that are told of a compaction once it is done.
#[derive(Clone, Debug, Default)]
pub(crate) struct After(pub(crate) Vec<Arc<Command>>);

impl After {
    /// Tells them; what went wrong, for each that failed. It changes nothing.
    ///
    /// # Errors
    /// The system gives nothing to wait with.
    pub(crate) fn tell(&self, receipt: &Receipt) -> Result<Vec<String>> {
        #[derive(Serialize)]
        struct Told<'a> {
            version: u32,
            event: &'static str,
            receipt: &'a Receipt,
        }

        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("hooks can't be waited for")?;
        let told = Told { version: 1, event: "after", receipt };
        let mut failed = Vec::new();
        for command in &self.0 {
            if let Err(error) = runtime.block_on(command.ask(&told)) {
                failed.push(format!("--hook-after {}: {error}", command.name()));
            }
        }
        Ok(failed)
    }
}

/// Commands that take at most `longest` each.
pub(super) fn commands(lines: &[Vec<String>], longest: Duration) -> impl Iterator<Item = Command> {
    lines.iter().map(move |words| Command::new(words, longest))
}
