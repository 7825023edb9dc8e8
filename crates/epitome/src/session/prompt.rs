//! The sent form of a view, which only a model reads.

use std::ops::Range;
use std::sync::Arc;

use crate::checkpoint::looks_like_one;
use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Entry, Role};
use crate::wire::{Turns, content, joined_texts};

/// The body that shows `shown` of the request that came, in turns where that takes them.
///
/// Some chat templates refuse two user messages in a row, and neither a request nor the model's name shows it. A client that
/// never sends two doesn't get two: the checkpoint and the user messages beside it become one text, since some who demand
/// turns accept no list of texts. No later compaction can take the checkpoint out of it, so this is for prompts only. The
/// same view and a longer conversation give the same text again.
pub fn in_turns(came: &Request, shown: Request) -> String {
    let run = run(came, &shown);
    let message = run.clone().map(|run| {
        let messages: Vec<&str> = run.map(|at| shown.transcript.entry(at).raw()).collect();
        joined_texts(&messages, shown.format.dialect().terms().content)
    });
    let span = |at| shown.transcript.entry(at).span();
    let place = run.map(|run| span(run.start).start as usize..span(run.end - 1).end as usize);
    let mut body = Arc::unwrap_or_clone(shown.into_source());
    if let Some((place, message)) = place.zip(message) {
        body.replace_range(place, &message);
    }
    body
}

/// The checkpoint and the messages joined with it; `None` if it stands alone.
fn run(came: &Request, shown: &Request) -> Option<Range<usize>> {
    if came.format.dialect().turns(came) != Turns::Unknown {
        return None;
    }
    let checkpoint = shown.transcript.entries().find(is_checkpoint)?.index;
    // What comes later doesn't count: a prompt only grows at its end.
    let behind = shown.transcript.len() - checkpoint - 1;
    let is_users = |entry: Entry<'_>| entry.role() == Role::User;
    let users = || came.transcript.entries().map(is_users);
    let before = came.transcript.len().saturating_sub(behind);
    if users().zip(users().skip(1)).take(before.saturating_sub(1)).any(|two| two == (true, true)) {
        return None;
    }
    let is_joined = |at: usize| has_words_alone(shown, shown.transcript.entry(at));
    let start = (0..checkpoint).rev().take_while(|at| is_joined(*at)).last().unwrap_or(checkpoint);
    let next = checkpoint + 1;
    let end = next + usize::from(next < shown.transcript.len() && is_joined(next));
    (end - start > 1).then_some(start..end)
}

fn is_checkpoint(entry: &Entry<'_>) -> bool {
    let mut parts = entry.parts();
    let (first, second) = (parts.next(), parts.next());
    entry.role() == Role::User
        && second.is_none()
        && first.is_some_and(|part| looks_like_one(&part.text()))
}

/// Whether it is a message of the user's with content and nothing else, such as a name.
fn has_words_alone(shown: &Request, entry: Entry<'_>) -> bool {
    let (raw, key) = (entry.raw(), shown.format.dialect().terms().content);
    let members = json::members(raw, Span::new(0..raw.len())).unwrap_or_default();
    let mut names = members.iter().map(|(name, _)| json::unquote(name.of(raw)));
    entry.role() == Role::User
        && names.all(|name| name == "role" || name == key)
        && content(raw, key).is_some_and(|value| value.starts_with(['[', '"']))
}
