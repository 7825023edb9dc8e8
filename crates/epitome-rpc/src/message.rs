//! Jobs and verdicts as messages of the contract.

use epitome::engine::delegate::{
    Decision, EntryFacts, Job, JobContext, Metadata, ProposedView, Skip,
};
use epitome::model::Money;
use epitome::summarize::{Spent, Summary};
use epitome::transcript::{Origin, PartKind, Role, Slot};
use epitome::view::{Fate, PartEdit, Put, Reason};
use epitome::wire;

use crate::v1;
use crate::v1::compact_response::Verdict as Said;

/// What compactor `name` is asked.
pub(crate) fn question(name: &str, job: &Job) -> v1::CompactRequest {
    let entries = job.request.transcript.entries().zip(&job.entries);
    let entries = entries.map(|(entry, known)| v1::Entry {
        unit: known.unit as u32,
        role: role(entry.role()).to_owned(),
        origin: origin(entry.origin()).to_owned(),
        tokens: known.tokens,
        may_leave: known.may_leave,
        parts: entry
            .parts()
            .zip(&known.may_edit)
            .map(|(part, may_edit)| v1::Part {
                kind: kind(part.kind()).to_owned(),
                name: part.name().into_owned(),
                text: match part.kind() {
                    PartKind::Media | PartKind::Opaque | PartKind::Link => String::new(),
                    _ => part.text().into_owned(),
                },
                may_edit: *may_edit,
            })
            .collect(),
    });
    v1::CompactRequest {
        name: name.to_owned(),
        body: job.request.source().to_string(),
        format: job.request.format.name().to_owned(),
        model: job.request.model().unwrap_or_default(),
        budget: Some(v1::Budget { tokens: job.tokens, target: job.target }),
        session: job.about.session.clone().unwrap_or_default(),
        turn: job.about.turn.clone().unwrap_or_default(),
        labels: job.about.labels.clone().into_iter().collect(),
        instructions: job.about.instructions.clone(),
        entries: entries.collect(),
        reason: job.reason.clone().unwrap_or_default(),
    }
}

/// What is asked by `question`.
///
/// # Errors
/// What can't be read in it.
pub(crate) fn job(question: v1::CompactRequest) -> Result<Job, String> {
    let format = question.format.parse().map_err(|_| format!("no format {:?}", question.format))?;
    let request = wire::parse(format, question.body).map_err(|error| format!("body: {error}"))?;
    let transcript = &request.transcript;
    let is_whole = transcript.len() == question.entries.len()
        && transcript
            .entries()
            .zip(&question.entries)
            .all(|(one, other)| one.parts().len() == other.parts.len());
    if !is_whole {
        return Err("the entries aren't those of the body".to_owned());
    }
    let budget = question.budget.filter(|budget| budget.target > 0).ok_or("there is no target")?;
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(Job {
        tokens: budget.tokens,
        target: budget.target,
        entries: question
            .entries
            .into_iter()
            .map(|entry| EntryFacts {
                unit: entry.unit as usize,
                tokens: entry.tokens,
                may_leave: entry.may_leave,
                may_edit: entry.parts.iter().map(|part| part.may_edit).collect(),
            })
            .collect(),
        reason: said(question.reason),
        about: JobContext {
            session: said(question.session),
            turn: said(question.turn),
            labels: question.labels.into_iter().collect(),
            instructions: question.instructions,
        },
        request,
    })
}

/// A verdict about `job` as it is told.
pub(crate) fn told(job: &Job, verdict: Decision) -> v1::CompactResponse {
    let (mut taken, mut notes) = (Spent::default(), Metadata::new());
    let said = match verdict {
        Decision::Skip(Skip { why, spent, metadata }) => {
            taken += spent;
            notes = metadata;
            Said::Skip(v1::Skip { reason: why })
        }
        Decision::Compacted(ProposedView { fates, summary, spent, metadata }) => {
            taken += spent;
            notes.extend(summary.iter().flat_map(|summary| summary.metadata.clone()));
            notes.extend(metadata);
            taken += summary.as_ref().map(|summary| summary.spent).unwrap_or_default();
            let mut edits = Vec::new();
            for (entry, fate) in job.request.transcript.entries().zip(&fates) {
                let Fate::Edit(puts) = fate else { continue };
                edits.extend(puts.iter().map(|edit| v1::Edit {
                    entry: entry.index as u32,
                    part: edit.at.0 - entry.slots().start,
                    put: Some(match &edit.put {
                        Put::Text(text) => v1::edit::Put::Text(text.to_string()),
                        Put::Arguments(text) => v1::edit::Put::Arguments(text.to_string()),
                        Put::Nothing => v1::edit::Put::Nothing(v1::Nothing {}),
                    }),
                }));
            }
            let fate = |fate: &Fate| match fate {
                Fate::Keep | Fate::Edit(_) => v1::Fate::Keep,
                Fate::Fold(_) => v1::Fate::Fold,
                Fate::Drop(_) => v1::Fate::Drop,
            };
            let fates = fates.iter().map(|of| fate(of).into()).collect();
            let summary = summary.map(|summary| summary.text).unwrap_or_default();
            Said::Compacted(v1::Compacted { fates, edits, summary })
        }
    };
    let usage = (taken != Spent::default()).then(|| v1::Usage {
        requests: taken.requests,
        input: taken.input,
        cached: taken.cached,
        output: taken.output,
        cost_micro_usd: taken.cost.unwrap_or(Money::ZERO).in_micro(),
    });
    let metadata = notes.into_iter().collect();
    v1::CompactResponse { verdict: Some(said), usage, metadata }
}

/// What an answer says that it took.
pub(crate) fn spent(told: &v1::CompactResponse) -> Spent {
    let said = told.usage.map(|usage| Spent {
        requests: usage.requests,
        input: usage.input,
        cached: usage.cached,
        output: usage.output,
        cost: (usage.cost_micro_usd > 0).then(|| Money::micro(usage.cost_micro_usd)),
    });
    said.unwrap_or_default()
}

/// A verdict about `job` as it was told.
///
/// # Errors
/// What isn't of the shape that the contract says.
pub(crate) fn verdict(job: &Job, told: v1::CompactResponse) -> Result<Decision, String> {
    let spent = spent(&told);
    let metadata = told.metadata.into_iter().collect();
    let v1::Compacted { fates, edits, summary } = match told.verdict {
        None => return Err("it answers neither skip nor compacted".to_owned()),
        Some(Said::Skip(skip)) => {
            return Ok(Decision::Skip(Skip { why: skip.reason, spent, metadata }));
        }
        Some(Said::Compacted(compacted)) => compacted,
    };
    let mut fates = fates
        .into_iter()
        .map(|fate| match v1::Fate::try_from(fate) {
            Ok(v1::Fate::Keep) => Ok(Fate::Keep),
            Ok(v1::Fate::Fold) => Ok(Fate::Fold(Reason::Delegated)),
            Ok(v1::Fate::Drop) => Ok(Fate::Drop(Reason::Delegated)),
            Ok(v1::Fate::Unspecified) | Err(_) => Err(format!("{fate} isn't a fate")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    for v1::Edit { entry, part, put } in edits {
        let at = entry as usize;
        let fate = fates.get_mut(at).filter(|_| at < job.request.transcript.len());
        let fate = fate.ok_or_else(|| format!("it edits message {at}, which isn't there"))?;
        let slots = job.request.transcript.entry(at).slots();
        let slot = slots.start.checked_add(part).filter(|slot| slots.contains(slot));
        let slot = slot.ok_or_else(|| format!("message {at} has no part {part}"))?;
        let put = match put {
            Some(v1::edit::Put::Text(text)) => Put::Text(text.into()),
            Some(v1::edit::Put::Arguments(text)) => Put::Arguments(text.into()),
            Some(v1::edit::Put::Nothing(v1::Nothing {})) => Put::Nothing,
            None => return Err(format!("an edit of message {at} has no `put`")),
        };
        let mut all = match std::mem::replace(fate, Fate::Keep) {
            Fate::Keep => Vec::new(),
            Fate::Edit(edits) => edits.into_vec(),
            Fate::Fold(_) | Fate::Drop(_) => {
                return Err(format!("it edits message {at}, and also removes it"));
            }
        };
        all.push(PartEdit { at: Slot(slot), put, reason: Reason::Delegated });
        all.sort_by_key(|edit| edit.at);
        if all.windows(2).any(|pair| pair[0].at == pair[1].at) {
            return Err(format!("it edits part {part} of message {at} twice"));
        }
        *fate = Fate::Edit(all.into_boxed_slice());
    }
    let summary = (!summary.is_empty()).then(|| Summary::new(summary));
    Ok(Decision::Compacted(ProposedView { fates, summary, spent, metadata }))
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other => "other",
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Human => "human",
        Origin::Injected => "injected",
        Origin::Model => "model",
        Origin::Tool => "tool",
        Origin::Checkpoint => "checkpoint",
    }
}

fn kind(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Text => "text",
        PartKind::Reasoning => "reasoning",
        PartKind::Call => "call",
        PartKind::Result => "result",
        PartKind::Media => "media",
        PartKind::Opaque => "opaque",
        PartKind::Link => "link",
    }
}
