//! Which messages count, and in what order.

use std::collections::HashSet;

use crate::notes::Notes;
use crate::object::Object;
use crate::recording::{Reach, Why};

/// The messages that the model is shown.
pub(super) struct History<'a> {
    pub(super) shown: Vec<Message<'a>>,
    pub(super) compactions: usize,
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Message<'a> {
    /// Its place in the list, from 1.
    pub(super) row: usize,
    pub(super) info: Object<'a>,
    pub(super) parts: Vec<Object<'a>>,
}

impl<'a> Message<'a> {
    fn id(&self) -> Option<&'a str> {
        self.info.literal("id")
    }

    /// The part that asks for a compaction.
    fn compaction(&self) -> Option<&Object<'a>> {
        let is_users = self.info.says("role", "user");
        self.parts.iter().find(|part| is_users && part.says("type", "compaction"))
    }

    /// Whether it is the summary of a compaction that came to its end.
    fn is_summary(&self) -> bool {
        self.info.says("role", "assistant")
            && self.info.holds("summary")
            && self.info.get("finish").is_some()
            && self.info.get("error").is_none()
    }
}

impl<'a> History<'a> {
    pub(super) fn of(
        messages: &[&'a str],
        revert: &Object<'a>,
        reach: Reach,
        notes: &mut Notes,
    ) -> Self {
        let mut all = Vec::new();
        for (index, raw) in messages.iter().enumerate() {
            let row = index + 1;
            let message = Object::of(raw);
            let info = message.object("info");
            if info.get("role").is_none() {
                notes.skip(row, Why::NotARow);
                continue;
            }
            let parts = message.list("parts").unwrap_or_default();
            let parts = parts.into_iter().map(Object::of).collect();
            all.push(Message { row, info, parts });
        }
        undo(&mut all, revert, notes);
        let completed: HashSet<&str> = all
            .iter()
            .filter(|message| message.is_summary())
            .filter_map(|message| message.info.literal("parentID"))
            .collect();
        let is_cut = |message: &Message<'a>| {
            message.compaction().is_some() && message.id().is_some_and(|id| completed.contains(id))
        };
        let compactions = all.iter().filter(|message| is_cut(message)).count();
        let newest = all.iter().rposition(is_cut);
        let shown = match (reach, newest) {
            (Reach::SinceLastCompaction, Some(newest)) => since(&all, newest),
            _ => all,
        };
        History { shown, compactions }
    }
}

/// Takes off what the person undid.
fn undo<'a>(all: &mut Vec<Message<'a>>, revert: &Object<'a>, notes: &mut Notes) {
    let Some(first) = revert.literal("messageID") else { return };
    let Some(at) = all.iter().position(|message| message.id() == Some(first)) else { return };
    let part = revert.literal("partID");
    let keep = match all[at].parts.iter().position(|p| part.is_some() && p.literal("id") == part) {
        // The message stays up to that part.
        Some(place) if place > 0 => {
            all[at].parts.truncate(place);
            at + 1
        }
        _ => at,
    };
    for message in all.drain(keep..) {
        notes.skip(message.row, Why::OtherBranch);
    }
}

/// The compaction with its summary, the tail that it kept, and what follows.
fn since<'a>(all: &[Message<'a>], newest: usize) -> Vec<Message<'a>> {
    let id = all[newest].id();
    let is_its =
        |message: &Message<'a>| message.is_summary() && message.info.literal("parentID") == id;
    let summary = (newest..all.len()).find(|at| is_its(&all[*at])).unwrap_or(newest);
    let tail = all[newest].compaction().and_then(|part| part.literal("tail_start_id"));
    let kept = all[..newest].iter().position(|message| tail.is_some() && message.id() == tail);
    let kept = &all[kept.unwrap_or(newest)..newest];
    [&all[newest..=summary], kept, &all[summary + 1..]].concat()
}
