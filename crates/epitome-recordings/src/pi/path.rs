//! Which rows of a session count, and in what order.

use std::collections::HashMap;

use super::row::{Rows, What};
use crate::notes::Notes;
use crate::recording::{Reach, Why};

/// The rows of the conversation; all are places in the file's rows.
pub(super) struct Path {
    /// From the root to the newest row.
    pub(super) way: Vec<usize>,
    /// What the model was shown of it.
    pub(super) context: Vec<usize>,
    /// The lines of compactions.
    pub(super) compactions: Vec<usize>,
}

pub(super) fn follow(rows: &Rows<'_>, reach: Reach, notes: &mut Notes) -> Path {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (place, row) in rows.all.iter().enumerate() {
        // As for the agent, the last of several counts.
        if let Some(other) = row.id.and_then(|id| by_id.insert(id, place)) {
            let why = Why::Repeats { row: row.line };
            notes.skip(rows.all[other].line, why);
        }
    }
    let way = way(rows, &by_id);
    let mut is_on_way = vec![false; rows.all.len()];
    for place in &way {
        is_on_way[*place] = true;
    }
    for (place, row) in rows.all.iter().enumerate() {
        let is_repeated = row.id.is_some_and(|id| by_id[id] != place);
        if row.what.is_shown() && !is_on_way[place] && !is_repeated {
            notes.skip(row.line, Why::OtherBranch);
        }
    }
    let is_compaction = |place: &&usize| rows.all[**place].what == What::Compaction;
    let compactions = way.iter().filter(is_compaction).map(|place| rows.all[*place].line).collect();
    let newest = way.iter().rposition(|place| rows.all[*place].what == What::Compaction);
    let context = match (reach, newest) {
        (Reach::SinceLastCompaction, Some(newest)) => since(rows, &way, newest),
        _ => way.clone(),
    };
    Path { way, context, compactions }
}

/// The way to the newest row. A parent that isn't there costs nothing: then the row before in the
/// file has to do. Without ids all rows follow each other.
fn way(rows: &Rows<'_>, by_id: &HashMap<&str, usize>) -> Vec<usize> {
    let places = 0..rows.all.len();
    if by_id.is_empty() {
        return places.collect();
    }
    let is_current = |place: &usize| rows.all[*place].id.is_some_and(|id| by_id[id] == *place);
    let Some(mut at) = places.rev().find(is_current) else { return Vec::new() };
    let mut seen = vec![false; rows.all.len()];
    let mut way = Vec::new();
    // Goes down only, so that looking for the row before costs no more than one pass.
    let mut behind = rows.all.len();
    loop {
        seen[at] = true;
        way.push(at);
        let Some(parent) = rows.all[at].parent else { break };
        let parent = by_id.get(parent).copied().or_else(|| {
            behind = behind.min(at);
            let before = (0..behind).rfind(|place| is_current(place) && !seen[*place]);
            behind = before.unwrap_or(0);
            before
        });
        match parent {
            Some(parent) if !seen[parent] => at = parent,
            _ => break,
        }
    }
    way.reverse();
    way
}

/// A compaction, what it kept, and what follows it.
fn since(rows: &Rows<'_>, way: &[usize], newest: usize) -> Vec<usize> {
    let fields = &rows.all[way[newest]].fields;
    let first_kept = match fields.literal("firstKeptEntryId") {
        Some(id) => way[..newest].iter().position(|place| rows.all[*place].id == Some(id)),
        // The first version of the format counts rows, the header among them.
        None => fields.get("firstKeptEntryIndex").and_then(|index| {
            let index: usize = index.parse().ok()?;
            way[..newest].iter().position(|place| *place == index)
        }),
    };
    let kept = &way[first_kept.unwrap_or(newest)..newest];
    // Of older compactions only this one's summary is left, and its state of the prompt.
    let is_kept = |place: &&usize| match rows.all[**place].what {
        What::Compaction => false,
        What::Message => !rows.all[**place].fields.object("message").says("role", "system"),
        _ => true,
    };
    let mut context = vec![way[newest]];
    context.extend(kept.iter().filter(is_kept));
    context.extend(&way[newest + 1..]);
    context
}
