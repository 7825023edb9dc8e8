//! Which message each shown entry becomes: one of its own, or, where user and assistant must take turns, one
//! that it shares with what a view has brought beside it.

use std::ops::Range;

use super::{Dialect, Feature, Mend};
use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Entry, Role, Transcript};
use crate::view::{Fate, View};

/// What a rendered message is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This entry, as it was said or edited.
    Entry(usize),
    /// The checkpoint.
    Checkpoint,
}

/// A piece and the message that it is rendered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laid {
    /// The piece.
    pub piece: Piece,
    /// Index of its message in the rendered request.
    pub message: usize,
}

/// Everything that `view` shows of `request`, in order.
///
/// What stood side by side before is left as it came, so that a whole view is rendered as the request itself.
///
/// # Panics
/// If the view is of a transcript of another length.
pub fn layout(request: &Request, view: &View) -> Vec<Laid> {
    let transcript = &request.transcript;
    assert_eq!(view.len(), transcript.len(), "a view speaks of every entry");
    let placed = view.checkpoint().map(|placed| placed.before.min(transcript.len()));
    let mut pieces = Vec::with_capacity(transcript.len() + 1);
    for (at, fate) in view.fates().enumerate() {
        if placed == Some(at) {
            pieces.push(Piece::Checkpoint);
        }
        if matches!(fate, Fate::Keep | Fate::Edit(_)) {
            pieces.push(Piece::Entry(at));
        }
    }
    if placed == Some(transcript.len()) {
        pieces.push(Piece::Checkpoint);
    }
    let dialect = request.format.dialect();
    let mut laid: Vec<Laid> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let message = laid.last().map_or(0, |last| {
            let is_shared =
                dialect.has(Feature::Alternates) && shares(dialect, request, last.piece, piece);
            last.message + usize::from(!is_shared)
        });
        laid.push(Laid { piece, message });
    }
    laid
}

/// How many pieces share a message with the one before them.
pub(crate) fn shared(laid: &[Laid]) -> usize {
    laid.windows(2).filter(|pair| pair[0].message == pair[1].message).count()
}

/// Whether two pieces that weren't beside each other are of one role.
fn shares(dialect: &dyn Dialect, request: &Request, before: Piece, piece: Piece) -> bool {
    if let (Piece::Entry(before), Piece::Entry(at)) = (before, piece)
        && before + 1 == at
    {
        return false;
    }
    let role = |piece| match piece {
        Piece::Checkpoint => Some(Role::User),
        Piece::Entry(at) => {
            let entry = request.transcript.entry(at);
            has_list(entry, dialect.terms().content).then(|| entry.role())
        }
    };
    matches!(role(before), Some(Role::User | Role::Assistant)) && role(before) == role(piece)
}

/// The entries of a run behind its first one, with what puts their elements into that one's list, once both have one.
pub(super) fn joins<'a>(
    transcript: &'a Transcript,
    run: &Range<usize>,
    key: &'a str,
) -> impl Iterator<Item = (usize, Mend)> + use<'a> {
    let into = run.start;
    // Asked once: the first one may be as large as all others.
    let takes = run.len() > 1 && has_list(transcript.entry(into), key);
    let mend = move |at| {
        let can = takes && has_list(transcript.entry(at), key);
        if can { Mend::Join { into } } else { Mend::Nothing }
    };
    (into + 1..run.end).map(move |at| (at, mend(at)))
}

/// Whether the member `key` of a message is a list, so that elements can be put into it.
fn has_list(entry: Entry<'_>, key: &str) -> bool {
    let raw = entry.raw();
    json::member(raw, Span::new(0..raw.len()), key)
        .is_some_and(|list| raw[list.range()].starts_with('['))
}

/// The first of these messages, with the elements of all of them in its list `key`.
///
/// # Panics
/// If there is none, or one has no such list.
pub(super) fn joined(messages: &[impl AsRef<str>], key: &str) -> String {
    let list = |text: &str| {
        json::member(text, Span::new(0..text.len()), key).expect("what is joined has a list")
    };
    let inside = |message: &str| {
        let list = list(message);
        message[list.range()][1..list.len() - 1].trim().to_owned()
    };
    let (first, more) = messages.split_first().expect("something is joined");
    let first = first.as_ref();
    let end = list(first).end as usize - 1;
    let mut is_empty = inside(first).is_empty();
    let mut out = first[..end].to_owned();
    for elements in more.iter().map(|message| inside(message.as_ref())) {
        if elements.is_empty() {
            continue;
        }
        if !std::mem::replace(&mut is_empty, false) {
            out.push(',');
        }
        out.push_str(&elements);
    }
    out + &first[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_joined_to_the_first() {
        let join = |messages: &[&str]| joined(messages, "content");
        assert_eq!(
            join(&[
                r#"{"role":"user", "content":[ 1 ],"x":0}"#,
                r#"{"content":[]}"#,
                r#"{"content":[2, 3]}"#
            ]),
            r#"{"role":"user", "content":[ 1 ,2, 3],"x":0}"#
        );
        assert_eq!(join(&[r#"{"content":[ ]}"#, r#"{"content":["a"]}"#]), r#"{"content":[ "a"]}"#);
    }
}
