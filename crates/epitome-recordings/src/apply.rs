//! Writing a view into a recording, in the agent's own form, so that the agent goes on from it.
//!
//! What was recorded stays as it is; rows are put behind it: the agent's own mark of a compaction, then
//! everything that the view shows, anew. An agent that resumes the session reads from its mark on. All of
//! these rows bear a member `epitome`, which agents pass over: by it a reader of the whole session knows
//! that they say again what was said, and the mark's says where the originals are kept.

use std::fmt::Write as _;
use std::sync::Arc;

use epitome::Outcome;
use epitome::checkpoint::{look_alikes, looks_like_one};
use epitome::json::quote;
use epitome::request::Request;
use epitome::text::time::rfc3339;
use epitome::transcript::{ContentId, Entry, Origin, Part, PartKind, Role, Slot};

use crate::object::Object;
use crate::rows::rows;
use crate::{Kind, Options, ReadError, claude_code, codex, pi, read};

/// The member that marks rows as written here.
pub(crate) const MARK: &str = "epitome";

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

/// Where the originals of a compaction are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The session of an archive.
    pub session: String,
    /// The view in it.
    pub view: u64,
}

/// Why a view can't be written into a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Nothing is known of how the agent goes on from a compaction.
    #[error(
        "{kind} recordings can't be compacted in place; those of Claude Code, Codex and pi can"
    )]
    Unsupported {
        /// What was read.
        kind: Kind,
    },
    /// The recording can't be read, or what was written can't.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Read again it would be another conversation.
    #[error("the agent's form can't say messages[{entry}] of the view as it is: {what}")]
    Differs {
        /// The entry of the view.
        entry: usize,
        /// What is lost.
        what: &'static str,
    },
}

/// The recording with a view put behind it. What it was before is its beginning, byte for byte.
///
/// # Errors
/// See [`ApplyError`]. What this returns was read again and shows the agent the view, nothing else; pi puts a
/// line before it, which says that there was a compaction.
pub fn apply(
    kind: Kind,
    source: &Arc<String>,
    applied: &Applied<'_>,
) -> Result<String, ApplyError> {
    let stamp = Stamp::of(source, applied);
    let shown = Shown {
        view: spoken(applied.outcome),
        before: applied.outcome.receipt.before.count.tokens,
    };
    let (rows, announced) = match kind {
        Kind::ClaudeCode => (claude_code::applied(source, &shown, &stamp)?, 0),
        Kind::Codex => (codex::applied(source, &shown, &stamp), 0),
        Kind::Pi => (pi::applied(source, &shown, &stamp)?, 1),
        _ => return Err(ApplyError::Unsupported { kind }),
    };
    let mut whole = String::with_capacity(source.len() + rows.len() + 1);
    whole.push_str(source);
    if !whole.is_empty() && !whole.ends_with('\n') {
        whole.push('\n');
    }
    whole.push_str(&rows);
    let whole = Arc::new(whole);
    let again = read(kind, Arc::clone(&whole), Options::default())?;
    differs(&shown.view, &again.request, announced)?;
    Ok(Arc::unwrap_or_clone(whole))
}

/// What an agent says by itself before a compaction that was applied, if it says anything.
pub fn announced(kind: Kind) -> Option<String> {
    (kind == Kind::Pi).then(pi::announced)
}

/// What is shown, with everything said by whom it was said before; the rendered request knows less.
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

/// Says what the agent would be shown otherwise than the view has it; so many messages behind instructions are
/// the agent's own.
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

/// What the agent is to be shown.
pub(crate) struct Shown {
    pub(crate) view: Request,
    /// Tokens before the compaction, for the agent's own records.
    pub(crate) before: u64,
}

/// What the new rows are named and dated by.
pub(crate) struct Stamp {
    seed: ContentId,
    /// When, in milliseconds since 1970.
    pub(crate) millis: u64,
    /// The same, in words.
    pub(crate) time: String,
    /// What the mark of the compaction says.
    pub(crate) mark: String,
}

impl Stamp {
    fn of(source: &str, applied: &Applied<'_>) -> Self {
        let Archived { session, view } = applied.archived;
        Stamp {
            seed: ContentId::of_bytes(source.as_bytes()),
            millis: applied.at,
            time: rfc3339(applied.at),
            mark: format!("{{\"session\":{},\"view\":{view}}}", quote(session)),
        }
    }

    /// Digits that no other row has: the same for the same recording, because nothing here is random.
    pub(crate) fn hex(&self, row: usize, digits: usize) -> String {
        let seed = self.seed.as_bytes();
        let mut named = seed.to_vec();
        named.extend_from_slice(&(row as u64).to_le_bytes());
        let digest = ContentId::of_bytes(&named);
        let mut hex = String::with_capacity(64);
        for byte in digest.as_bytes() {
            write!(hex, "{byte:02x}").expect("a string takes all");
        }
        hex.truncate(digits);
        hex
    }

    /// The same, as a UUID.
    pub(crate) fn uuid(&self, row: usize) -> String {
        let hex = self.hex(row, 32);
        let (a, b, c) = (&hex[..8], &hex[8..12], &hex[13..16]);
        format!("{a}-{b}-4{c}-a{}-{}", &hex[17..20], &hex[20..32])
    }
}

/// An object with these members; values are JSON.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
