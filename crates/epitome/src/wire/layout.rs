//! Which message each shown entry becomes: one of its own, or, where user and assistant must take turns, one
//! that it shares with what a view has brought beside it.

use std::borrow::Cow;
use std::ops::Range;

use super::{Dialect, Mend, Turns};
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
/// Entries that were neighbours stay as they came, so that a whole view is rendered as the request itself.
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
    let alternates = dialect.turns(request) == Turns::Demanded;
    let mut laid: Vec<Laid> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let message = laid.last().map_or(0, |last| {
            let is_shared = alternates && shares(dialect, request, last.piece, piece);
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
            let content = content(entry.raw(), dialect.terms().content);
            content.is_some_and(|value| value.starts_with(['[', '"'])).then(|| entry.role())
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
    content(entry.raw(), key).is_some_and(|list| list.starts_with('['))
}

/// The member `key` of a message.
pub(crate) fn content<'a>(message: &'a str, key: &str) -> Option<&'a str> {
    json::member(message, Span::new(0..message.len()), key).map(|value| value.of(message))
}

/// The first of these messages, with what all of them have in `key`: one text, an empty line between two, where each has a text.
///
/// # Panics
/// As [`joined`].
pub(crate) fn joined_texts(messages: &[impl AsRef<str>], key: &str) -> String {
    let text = |message| content(message, key)?.strip_prefix('"')?.strip_suffix('"');
    let texts: Option<Vec<&str>> = messages.iter().map(|one| text(one.as_ref())).collect();
    let Some(texts) = texts else { return joined(messages, key) };
    first_with(messages, key, &format!("\"{}\"", texts.join(r"\n\n")))
}

/// The first of these messages, with the elements of all of them in its list `key`. A string is a list of one text.
///
/// # Panics
/// If there is none, or one has no such list or string.
pub(super) fn joined(messages: &[impl AsRef<str>], key: &str) -> String {
    let contents = messages.iter().map(|message| {
        let content = content(message.as_ref(), key).expect("what is joined has content");
        match content.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            Some(elements) => Cow::Borrowed(elements),
            None => Cow::Owned(format!(r#"{{"type":"text","text":{content}}}"#)),
        }
    });
    let elements: Vec<_> = contents.filter(|elements| !elements.trim().is_empty()).collect();
    first_with(messages, key, &format!("[{}]", elements.join(",")))
}

/// The first of these messages, with another value of its member `key`.
fn first_with(messages: &[impl AsRef<str>], key: &str, value: &str) -> String {
    let (first, _) = messages.split_first().expect("something is joined");
    let first = first.as_ref();
    let whole = json::member(first, Span::new(0..first.len()), key);
    let whole = whole.expect("what is joined has content");
    let (before, after) = (&first[..whole.start as usize], &first[whole.end as usize..]);
    format!("{before}{value}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_text_where_none_is_a_list() {
        let join = |messages: &[&str]| joined_texts(messages, "content");
        assert_eq!(
            join(&[r#"{"content":"a\"\u00e9", "role":"user"}"#, r#"{"content":""}"#]),
            r#"{"content":"a\"\u00e9\n\n", "role":"user"}"#
        );
        assert_eq!(
            join(&[r#"{"content":"a"}"#, r#"{"content":[1]}"#]),
            r#"{"content":[{"type":"text","text":"a"},1]}"#
        );
    }

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
        assert_eq!(
            join(&[r#"{"role":"user","content":"a\n"}"#, r#"{"content":[{"b":1}]}"#]),
            r#"{"role":"user","content":[{"type":"text","text":"a\n"},{"b":1}]}"#
        );
        assert_eq!(join(&[r#"{"content":[ ]}"#, r#"{"content":["a"]}"#]), r#"{"content":["a"]}"#);
    }
}
