//! Writing a view into a recording, in the agent's own form, so that the agent goes on from it.
//!
//! The recorded rows stay as they are. Appended are the agent's own mark of a compaction, then everything that the view
//! shows. An agent that resumes the session reads from its mark on. All of these rows have a member `epitome`, which
//! agents ignore: it tells a reader of the whole session that they repeat earlier messages, and in the mark it names
//! the archive of the originals.

use std::sync::Arc;

use epitome::Outcome;
use epitome::checkpoint::{look_alikes, looks_like_one};
use epitome::transcript::{Entry, Origin, Part, PartKind, Role, Slot};
use epitome::wire::Request;

use crate::append::{Archived, MARK, Shown, Stamp};
use crate::error::ApplyError;
use crate::object::Object;
use crate::reader::Reader;
use crate::readers::read;
use crate::recording::Options;
use crate::rows::rows;

/// A compaction, and what its rows say besides.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'a> {
    /// What the agent is to go on from.
    pub outcome: &'a Outcome,
    /// Where the originals are kept.
    pub archived: &'a Archived,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// The recording with a view put behind it. What it was before is its beginning, byte for byte.
///
/// # Errors
/// See [`ApplyError`]. The result was read again and shows the agent exactly the view; pi adds a line before it, which
/// says that there was a compaction.
pub fn apply(
    reader: &dyn Reader,
    source: &Arc<String>,
    applied: &Applied<'_>,
) -> Result<String, ApplyError> {
    let unsupported = ApplyError::Unsupported { reader: reader.name() };
    let writer = reader.writer().ok_or(unsupported)?;
    let stamp = Stamp::of(source, applied.archived, applied.at);
    let shown = Shown {
        view: spoken(applied.outcome),
        before: applied.outcome.receipt.before.count.tokens,
    };
    let rows = writer.rows(source, &shown, &stamp)?;
    let mut whole = String::with_capacity(source.len() + rows.len() + 1);
    whole.push_str(source);
    if !whole.is_empty() && !whole.ends_with('\n') {
        whole.push('\n');
    }
    whole.push_str(&rows);
    let whole = Arc::new(whole);
    let again = read(reader, Arc::clone(&whole), Options::default())?;
    differs(&shown.view, &again.request, usize::from(writer.announced().is_some()))?;
    Ok(Arc::unwrap_or_clone(whole))
}

/// The shown messages, each with its original speaker, which the rendered request doesn't have.
fn spoken(outcome: &Outcome) -> Request {
    let mut view = outcome.request.clone();
    let base = &outcome.base.transcript;
    let checkpoint = outcome.view.checkpoint().map(|placed| placed.before);
    let mut shown: Vec<Option<usize>> = Vec::new();
    for (index, fate) in outcome.view.fates().enumerate() {
        shown.extend((checkpoint == Some(index)).then_some(None));
        shown.extend(fate.is_shown().then_some(Some(index)));
    }
    shown.extend((checkpoint == Some(base.len())).then_some(None));
    if shown.len() == view.transcript.len() {
        for (at, index) in shown.into_iter().enumerate() {
            let Some(index) = index else {
                view.transcript.set_origin(at, Origin::Checkpoint);
                continue;
            };
            let before: Vec<Origin> = base.entry(index).parts().map(|part| part.origin()).collect();
            let slots = view.transcript.entry(at).slots();
            if slots.len() == before.len() {
                for (slot, origin) in slots.zip(before) {
                    view.transcript.set_part_origin(Slot(slot), origin);
                }
            } else {
                view.transcript.set_origin(at, base.entry(index).origin());
            }
        }
    }
    let fenced: Vec<(Slot, Origin)> = look_alikes(&view.transcript)
        .map(|part| {
            // Changed since, it is nobody's.
            let is_intact = looks_like_one(&part.text());
            (part.slot, if is_intact { Origin::Checkpoint } else { Origin::Injected })
        })
        .collect();
    for (slot, origin) in fenced {
        view.transcript.set_part_origin(slot, origin);
    }
    view
}

/// Where the originals of the newest compaction are kept that was applied to a recording, and the byte at
/// which what was said since begins.
pub fn applied(source: &str) -> Option<(Archived, usize)> {
    let mut newest = None;
    for row in rows(source).filter(|row| row.text.contains("\"epitome\":")) {
        let fields = Object::of(row.text);
        let payload = fields.object("payload");
        let mark = [&fields, &payload].into_iter().find_map(|object| object.get(MARK));
        let Some(mark) = mark else { continue };
        let end = row.text.as_ptr() as usize - source.as_ptr() as usize + row.text.len();
        let object = Object::of(mark);
        let place = object.text("session").zip(object.get("view").and_then(|n| n.parse().ok()));
        if let Some((session, view)) = place {
            newest = Some((Archived { session: session.into_owned(), view }, end));
        } else if let Some((_, last)) = &mut newest {
            *last = end;
        }
    }
    newest
}

/// Says how the agent's messages would differ from the view; the first ones, behind instructions, are the agent's own.
fn differs(view: &Request, again: &Request, announced: usize) -> Result<(), ApplyError> {
    let (view, again) = (&view.transcript, &again.transcript);
    let first = again.entries().position(|entry| entry.role() != Role::System).unwrap_or(0);
    let own = first..first + announced;
    let mut others = again.entries().enumerate().filter(|(index, _)| !own.contains(index));
    for (index, entry) in view.entries().enumerate() {
        let what = match others.next() {
            None => Some("it would be missing"),
            Some((_, other)) => difference(&entry, &other),
        };
        if let Some(what) = what {
            return Err(ApplyError::Differs { entry: index, what });
        }
    }
    if others.next().is_some() {
        let what = "something would follow that isn't in the view";
        return Err(ApplyError::Differs { entry: view.len().saturating_sub(1), what });
    }
    Ok(())
}

fn difference(one: &Entry<'_>, other: &Entry<'_>) -> Option<&'static str> {
    if one.raw() == other.raw() {
        return None;
    }
    if one.role() != other.role() {
        return Some("another role");
    }
    if one.parts().len() != other.parts().len() {
        return Some("another number of parts");
    }
    let is_same = |(one, other): (Part<'_>, Part<'_>)| {
        let is_same_value = one.text() == other.text() || is_list(&one) && is_list(&other);
        let is_named_alike = one.kind() != PartKind::Call || one.name() == other.name();
        (one.kind(), one.id()) == (other.kind(), other.id()) && is_named_alike && is_same_value
    };
    (!one.parts().zip(other.parts()).all(is_same)).then_some("other words")
}

/// Whether its payload is a list, whose elements are parts themselves.
fn is_list(part: &Part<'_>) -> bool {
    part.raw_body().starts_with('[')
}
