//! A view as rows of a rollout: a compaction, whose replacement history is the view's items.

use std::collections::HashMap;
use std::sync::Arc;

use epitome::transcript::Origin;
use epitome::wire::json::quote;

use super::Codex;
use super::history::{CONTEXT, KEPT_BACK};
use super::row::{Row, Rows, What, text_of};
use crate::append::{MARK, Shown, Stamp};
use crate::error::ApplyError;
use crate::object::{Object, object};
use crate::reader::Writer;
use crate::rows::rows;

/// What the agent itself keeps back with a summary.
const SUMMARY: &str = "{\"content_item_kinds\":[\"compaction.summary\"],\
                       \"content_item_metadata\":[{\"provenance\":{\"type\":\"harness\",\"hook\":false}}]}";

impl Writer for Codex {
    fn rows(
        &self,
        source: &Arc<String>,
        shown: &Shown,
        stamp: &Stamp,
    ) -> Result<String, ApplyError> {
        let read = Rows::read(source);
        let kept_back = kept_back(&read);
        let mut message = String::new();
        let mut items = Vec::new();
        for entry in shown.view.transcript.entries() {
            let item = Object::of(entry.raw());
            let is_checkpoint = entry.origin() == Origin::Checkpoint;
            if is_checkpoint {
                message = text_of(&item);
            }
            let parts = item.list("content").map_or(0, |content| content.len());
            let known = item.get("id").and_then(|id| kept_back.get(id));
            let known = known.filter(|(_, before)| *before == parts).map(|(known, _)| *known);
            let back = if is_checkpoint && !kept_back.is_empty() { Some(SUMMARY) } else { known };
            items.push(match back {
                None => entry.raw().to_owned(),
                Some(back) => with(entry.raw(), back),
            });
        }
        let compacted = object([
            ("message", quote(&message)),
            ("replacement_history", format!("[{}]", items.join(","))),
            (MARK, stamp.mark.clone()),
        ]);
        let mut payloads = vec![("compacted", compacted)];
        if stands(&read, shown) {
            // The agent compares its current context with the recorded one; if they differ, it sends everything again.
            let is_state =
                |row: &&Row<'_>| row.what == What::Nothing && row.payload.get("state").is_some();
            let is_full = |row: &Row<'_>| is_state(&row) && row.payload.holds("full");
            let full = read.all.iter().rposition(is_full);
            let states = full.into_iter().flat_map(|full| read.all[full..].iter().filter(is_state));
            payloads.extend(states.map(|row| ("world_state", row.raw.to_owned())));
            let turn = read.all.iter().rfind(|row| row.what == What::Turn);
            payloads.extend(turn.map(|row| ("turn_context", row.raw.to_owned())));
        }
        let mut next = rows(source).filter_map(|row| ordinal(row.text)).max().map(|last| last + 1);
        let mut out = String::new();
        for (kind, payload) in payloads {
            let mut members = vec![("timestamp", quote(&stamp.time))];
            if let Some(ordinal) = &mut next {
                members.push(("ordinal", ordinal.to_string()));
                *ordinal += 1;
            }
            members.extend([("type", quote(kind)), ("payload", payload)]);
            if kind != "compacted" {
                members.push((MARK, "\"shown\"".to_owned()));
            }
            out.push_str(&object(members));
            out.push('\n');
        }
        Ok(out)
    }
}

fn ordinal(row: &str) -> Option<u64> {
    // It is one of the first members; what follows may be long.
    let head = row.get(..200).unwrap_or(row);
    let at = head.find("\"ordinal\":")? + "\"ordinal\":".len();
    let digits = head[at..].trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// For items, by their ids, what the agent keeps with them and doesn't send, and how many parts they have.
fn kept_back<'a>(read: &Rows<'a>) -> HashMap<&'a str, (&'a str, usize)> {
    let mut found = HashMap::new();
    for row in &read.all {
        let items = match row.what {
            What::Item => vec![row.raw],
            What::Compacted => row.payload.list("replacement_history").unwrap_or_default(),
            _ => continue,
        };
        for item in items.into_iter().map(Object::of) {
            if let (Some(id), Some(back)) = (item.get("id"), item.get(KEPT_BACK)) {
                let parts = item.list("content").map_or(0, |content| content.len());
                found.insert(id, (back, parts));
            }
        }
    }
    found
}

/// The item with what is kept back with it.
fn with(item: &str, back: &str) -> String {
    let open = item.trim_end().strip_suffix('}').unwrap_or(item);
    format!("{open},\"{KEPT_BACK}\":{back}}}")
}

/// Whether the view still shows all that the agent said of its surroundings.
fn stands(read: &Rows<'_>, shown: &Shown) -> bool {
    let texts: Vec<String> =
        shown.view.transcript.entries().map(|entry| text_of(&Object::of(entry.raw()))).collect();
    let before = read.all.iter().rposition(|row| row.what == What::Compacted).unwrap_or(0);
    let since = read.all[before..].iter().flat_map(|row| match row.what {
        What::Item => vec![row.raw],
        What::Compacted => row.payload.list("replacement_history").unwrap_or_default(),
        _ => Vec::new(),
    });
    since.map(Object::of).all(|item| {
        let text = text_of(&item);
        let is_context = item.says("role", "developer")
            || item.says("role", "user") && CONTEXT[..3].iter().any(|mark| text.starts_with(mark));
        !is_context || texts.contains(&text)
    })
}
