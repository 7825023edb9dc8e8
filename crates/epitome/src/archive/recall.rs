//! Finding removed content: the words of an entry, and the place in them that answers a question.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::archive::{EntryContext, FoundOriginal, MARK};
use crate::count::TokenCounter;
use crate::text::secrets::masked;
use crate::text::time::rfc3339;
use crate::text::words::{is_stop_word, words};
use crate::text::{cut, framing};
use crate::transcript::{Origin, Role};

/// A find, ready to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// [`MARK`] with the id: by it a list of hits that an agent read as JSON is known again, and not found.
    pub recalled: String,
    /// The id that returns the whole entry.
    pub id: String,
    /// The stretch that answers the question.
    pub text: String,
    /// The session that it is of.
    pub session: String,
    /// Position in the transcript.
    pub entry: usize,
    /// The human message, from 1, to which it belongs; 0 before the first.
    pub turn: usize,
    /// The wire role.
    pub role: Role,
    /// Who speaks.
    pub origin: Origin,
    /// The tool that is called, or whose result it is.
    pub tool: Option<String>,
    /// The time of the message, if it is known: `2026-11-22T05:29:39.871Z`.
    pub time: Option<String>,
    /// Tokens of the text.
    pub tokens: u64,
}

impl Hit {
    /// The wire role and who speaks in it: `user/human`, `user/tool`, `assistant/model`.
    pub fn by(&self) -> String {
        let name = |value: serde_json::Result<String>| {
            value.map(|name| name.trim_matches('"').to_owned()).unwrap_or_default()
        };
        let role = name(serde_json::to_string(&self.role));
        format!("{role}/{}", name(serde_json::to_string(&self.origin)))
    }
}

/// The best finds that fit into `tokens`, with their secrets masked, each with at most `stretch` bytes of its answer; never
/// nothing of the first.
pub fn hits(
    found: Vec<(String, FoundOriginal)>,
    question: &str,
    stretch: usize,
    tokens: u64,
    counter: &dyn TokenCounter,
) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut room = tokens;
    for (session, FoundOriginal { id, entry, about, words, .. }) in found {
        // Before it is cut: half a secret has no shape.
        let words = masked(&words);
        let words = framing::without(words);
        // Most texts have more than two bytes a token; what has fewer is cut once more below.
        let most = stretch.min(usize::try_from(room.saturating_mul(16)).unwrap_or(usize::MAX));
        let mut text = around(&words, question, most.max(1));
        let mut size = counter.text(&text).tokens;
        let mut bytes = text.len();
        while size > room && hits.is_empty() && bytes > 1 {
            bytes = (bytes as u64 * room / size) as usize;
            bytes = (bytes * 9 / 10).max(1);
            text = around(&words, question, bytes);
            size = counter.text(&text).tokens;
        }
        if size > room && !hits.is_empty() {
            continue;
        }
        room = room.saturating_sub(size);
        let EntryContext { role, origin, turn, tool, at, .. } = about;
        let id = id.short();
        let (recalled, time) = (format!("{MARK}{id}]"), at.map(rfc3339));
        let tokens = size;
        hits.push(Hit {
            recalled,
            id,
            text,
            session,
            entry,
            turn,
            role,
            origin,
            tool,
            time,
            tokens,
        });
    }
    hits
}

/// A part of a find that is read piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// The text of the find.
    pub text: &'a str,
    /// The byte at which it begins.
    pub from: usize,
    /// The byte at which the next one begins, if there is more.
    pub next: Option<usize>,
}

/// The text from byte `from` on, as much as fits into the tokens, but never nothing. All pieces, each from the `next`
/// of the one before, are the whole text. Secrets are masked in the whole text first: half a secret has no shape.
pub fn piece<'a>(
    text: &'a str,
    from: usize,
    tokens: u64,
    counter: &dyn TokenCounter,
) -> Stretch<'a> {
    let from = text.floor_char_boundary(from.min(text.len()));
    let rest = &text[from..];
    let mut end =
        cut::floor(rest, usize::try_from(tokens.saturating_mul(16)).unwrap_or(usize::MAX));
    loop {
        let size = counter.text(&rest[..end]).tokens;
        if size <= tokens {
            break;
        }
        // Less by a tenth than what would fit if all of it were alike.
        let fitting = (end as u128 * u128::from(tokens) / u128::from(size) * 9 / 10) as usize;
        let shorter = cut::floor(rest, fitting);
        if shorter == 0 {
            end = 0;
            break;
        }
        end = shorter;
    }
    if end < rest.len() {
        // At the end of a line, where one is near.
        end = rest[..end].rfind('\n').map(|at| at + 1).filter(|at| at * 2 > end).unwrap_or(end);
        end = end.max(cut::ceil(rest, 1));
    }
    Stretch { text: &rest[..end], from, next: (end < rest.len()).then_some(from + end) }
}

/// The different words of a question that tell texts apart; all of them, if none does.
pub fn asked(question: &str) -> BTreeSet<String> {
    let all: BTreeSet<String> = words(question).map(Cow::into_owned).collect();
    let telling: BTreeSet<String> =
        all.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// The stretch of `text` with most of the question's words, at most `most` bytes and the marks of
/// cuts; the beginning if no word occurs.
///
/// ```
/// let text = format!("{}\nthe port is 5433\n{}", "noise\n".repeat(99), "more\n".repeat(99));
/// let stretch = epitome::archive::recall::around(&text, "which port?", 40);
/// assert!(stretch.contains("the port is 5433") && stretch.starts_with('…'));
/// ```
pub fn around(text: &str, question: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let asked = asked(question);
    let pieces = pieces(text, most.div_ceil(3).max(16));
    let told = |at: usize| -> usize {
        let piece = &text[pieces[at].0..pieces[at].1];
        let own: BTreeSet<String> = words(piece).map(Cow::into_owned).collect();
        asked.intersection(&own).count()
    };
    // The first of the best: `max_by_key` would give the last.
    let scores: Vec<usize> = (0..pieces.len()).map(told).collect();
    let best = scores.iter().max().copied().unwrap_or(0);
    let middle = scores.iter().position(|score| *score == best).unwrap_or(0);
    let (mut from, mut to) = (middle, middle + 1);
    let size = |from: usize, to: usize| pieces[to - 1].1 - pieces[from].0;
    loop {
        let after = to < pieces.len() && size(from, to + 1) <= most;
        let before = from > 0 && size(from - 1, to) <= most;
        match (before, after) {
            // The lines after a hit say more about it than those before, two to one.
            (_, true) if (to - middle) <= 2 * (middle - from) + 2 || !before => to += 1,
            (true, _) => from -= 1,
            _ => break,
        }
    }
    let (start, end) = (pieces[from].0, pieces[to - 1].1);
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", text[start..end].trim_matches('\n'))
}

/// The lines of a text as ranges; long lines are split.
fn pieces(text: &str, most: usize) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        while end - start > most {
            let cut = cut::floor(text, start + most).max(cut::ceil(text, start + 1));
            let space = text[start..cut].rfind(' ').map(|at| start + at + 1);
            let cut = space.filter(|at| *at > start).unwrap_or(cut);
            pieces.push((start, cut));
            start = cut;
        }
        if end > start {
            pieces.push((start, end));
        }
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stop_words_dont_ask() {
        let asked = asked("What is the PORT of the db_server?");
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        assert_eq!(asked, ["db", "db_server", "port", "server"]);
        assert_eq!(super::asked("who is it").len(), 3);
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_text(text in "(.|\n|é|👍🏽){0,300}", tokens in 1u64..60) {
            let counter = crate::count::counter("o200k").expect("built in");
            let (mut at, mut whole) = (0, String::new());
            loop {
                let piece = piece(&text, at, tokens, counter.as_ref());
                prop_assert_eq!(piece.from, at);
                whole.push_str(piece.text);
                let Some(next) = piece.next else { break };
                prop_assert!(next > at, "it comes on");
                at = next;
            }
            prop_assert_eq!(whole, text);
        }

        #[test]
        fn stretches_are_of_the_text(text in ".{0,300}", question in ".{0,20}", most in 1usize..200) {
            let stretch = around(&text, &question, most);
            let bare = stretch.trim_start_matches('…').trim_end_matches('…');
            let is_cut = text.contains(bare) || text.trim_matches('…').contains(bare);
            prop_assert!(is_cut, "{stretch:?}");
            prop_assert!(stretch.len() <= most.max(16) + 3 * '…'.len_utf8() + 4);
        }
    }
}
