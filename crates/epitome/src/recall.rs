//! Finding what was removed: the words of an entry, and the place in them that answers a question.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::archive::{About, Original};
use crate::count::TokenCounter;
use crate::text::cut;
use crate::text::secrets::masked;
use crate::text::words::{is_stop_word, words};
use crate::transcript::{ContentId, Entry, Origin, Part, PartKind, Role};
use crate::wire::{self, Format};

/// How texts begin that a recall gave: they aren't found by the next one.
pub const MARK: &str = "[recalled ";

/// An original that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// By which it can be had.
    pub id: ContentId,
    /// Position in the transcript.
    pub entry: usize,
    /// Where it belongs.
    pub about: About,
    /// How well it answers; only comparable within one search.
    pub score: f64,
    /// All that can be searched of it.
    pub words: String,
}

impl Found {
    /// An original that answers so well.
    pub fn new(original: &Original, score: f64) -> Self {
        Found {
            id: original.id,
            entry: original.entry,
            about: original.about.clone(),
            score,
            words: original.words.clone(),
        }
    }
}

/// Puts what words found into a better order: by a model that compares question and text, by what is newest, by a rule
/// of one's own. [`Reranked`](crate::archive::Reranked) asks it; closures will do.
pub trait Reranker: Send + Sync {
    /// `found`, best first; what is left out isn't told.
    fn rerank(&self, question: &str, found: Vec<Found>) -> Vec<Found>;
}

impl<F: Fn(&str, Vec<Found>) -> Vec<Found> + Send + Sync> Reranker for F {
    fn rerank(&self, question: &str, found: Vec<Found>) -> Vec<Found> {
        self(question, found)
    }
}

/// What is told of a find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// By which all of it can be had.
    pub id: String,
    /// The stretch of it that answers.
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
    /// Tokens of the text.
    pub tokens: u64,
}

/// As many finds, best first, with their secrets masked, as fit into so many tokens, each with at most `stretch` bytes of what answers;
/// of the first always something.
pub fn hits(
    found: Vec<(String, Found)>,
    question: &str,
    stretch: usize,
    tokens: u64,
    counter: &dyn TokenCounter,
) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut room = tokens;
    for (session, Found { id, entry, about, words, .. }) in found {
        // Before it is cut: half a secret has no shape.
        let words = masked(&words);
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
        let About { role, origin, turn, tool } = about;
        let id = id.short();
        hits.push(Hit { id, text, session, entry, turn, role, origin, tool, tokens: size });
    }
    hits
}

/// What can be searched of an entry: its words, its calls with their arguments, its results. Media,
/// sealed reasoning and ids aren't words, and what a recall gave isn't found again.
pub fn searchable(entry: Entry<'_>) -> String {
    let mut out = String::new();
    for part in entry.parts().filter(Part::says_own_words) {
        let text: Cow<'_, str> = match part.kind() {
            PartKind::Text | PartKind::Result => part.text(),
            // Sealed reasoning has no spaces.
            PartKind::Reasoning if part.raw_body().contains(' ') => part.text(),
            PartKind::Call => Cow::Owned(format!("{} {}", part.name(), part.text())),
            _ => continue,
        };
        let text = match part.kind() {
            PartKind::Result => before_recalled(&text),
            _ => &*text,
        };
        if text.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text);
    }
    out
}

/// What stands in a result before the first find of a recall: a shell may say something before it prints
/// them. Who cites one within a line says words of their own.
fn before_recalled(text: &str) -> &str {
    let is_mark = |at: &usize| {
        let line = text[..*at].trim_end_matches([' ', '\t']);
        let is_first = line.is_empty() || line.ends_with('\n');
        let rest = &text[at + MARK.len()..];
        let id = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        is_first && id == ContentId::SHORT && rest[id..].starts_with(']')
    };
    let mut marks = text.match_indices(MARK).map(|(at, _)| at);
    marks.find(is_mark).map_or(text, |at| &text[..at])
}

/// What can be searched of an entry that is known by its bytes alone.
pub fn searchable_in(format: Format, raw: &str) -> String {
    // A list of one; what isn't an entry of the format has no words.
    let Ok(request) = wire::parse(format, format!("[{raw}]")) else { return String::new() };
    request.transcript.entries().next().map(searchable).unwrap_or_default()
}

/// The different words of a question that tell texts apart; all of them, if none does.
pub fn asked(question: &str) -> BTreeSet<String> {
    let all: BTreeSet<String> = words(question).map(Cow::into_owned).collect();
    let telling: BTreeSet<String> =
        all.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// The stretch of `text`, at most `most` bytes and what marks a cut, in which most of the words of the
/// question are; its beginning, where none is.
///
/// ```
/// let text = format!("{}\nthe port is 5433\n{}", "noise\n".repeat(99), "more\n".repeat(99));
/// let stretch = epitome::recall::around(&text, "which port?", 40);
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
            // What follows a line tells more of it than what came before, two to one.
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

/// The lines of a text as ranges, long ones in several.
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

    #[test]
    fn what_was_recalled_is_not_found_again() {
        let raw = r#"{"role":"tool","tool_call_id":"a","content":" [recalled 3f2a9c1b7d20] the port is 5433"}"#;
        assert_eq!(searchable_in(Format::OpenaiChat, raw), "");
        let raw = r#"{"role":"tool","tool_call_id":"a","content":"the port\nis 5433"}"#;
        assert_eq!(searchable_in(Format::OpenaiChat, raw), "the port\nis 5433");
        let raw = r#"{"role":"tool","tool_call_id":"a","content":"Exit code: 0\n[recalled 3f2a9c1b7d20] model\n x"}"#;
        assert_eq!(searchable_in(Format::OpenaiChat, raw), "Exit code: 0\n");
        let raw = r#"{"role":"tool","tool_call_id":"a","content":"cars [recalled in May] and [recalled ]"}"#;
        assert!(searchable_in(Format::OpenaiChat, raw).ends_with("[recalled ]"));
        let raw = r#"{"role":"tool","tool_call_id":"a","content":"As [recalled 3f2a9c1b7d20] says, 7001"}"#;
        assert!(searchable_in(Format::OpenaiChat, raw).ends_with("7001"));
        let raw = r#"{"role":"user","content":"[recalled 3f2a9c1b7d20] is wrong: port 7001"}"#;
        assert!(searchable_in(Format::OpenaiChat, raw).ends_with("7001"));
    }

    proptest! {
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
