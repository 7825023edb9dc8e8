//! Finding what was removed: the words of an entry, and the place in them that answers a question.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::archive::{About, Original};
use crate::count::TokenCounter;
use crate::text::cut;
use crate::text::secrets::masked;
use crate::text::time::rfc3339;
use crate::text::words::{is_stop_word, words};
use crate::transcript::{ContentId, Entry, Marks, Origin, PartKind, Role};
use crate::wire::{self, Format};

/// How texts begin that a recall gave: they aren't found by the next one.
pub const MARK: &str = "[recalled ";

/// The tools by which an agent recalls; clients put names of their own before them (`mcp__epitome__recall_get`).
pub const SEARCH: &str = "recall_search";
/// See [`SEARCH`].
pub const GET: &str = "recall_get";

/// Whether a tool of that name recalls.
///
/// ```
/// use epitome::recall::is_recall;
/// assert!(is_recall("mcp__epitome__recall_search") && is_recall("recall_get"));
/// assert!(!is_recall("recall_getter") && !is_recall("car_recall"));
/// ```
pub fn is_recall(tool: &str) -> bool {
    let before = [SEARCH, GET].iter().find_map(|name| tool.strip_suffix(name));
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

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
    /// [`MARK`] with the id: by it a list of hits that an agent read as JSON is known again, and not found.
    pub recalled: String,
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
    /// When it was said, where that is known: `2026-11-22T05:29:39.871Z`.
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
        let About { role, origin, turn, tool, at, .. } = about;
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
pub struct Piece<'a> {
    /// What it says.
    pub text: &'a str,
    /// The byte at which it begins.
    pub from: usize,
    /// The byte at which the next one begins, if there is more.
    pub next: Option<usize>,
}

/// What `text` says from byte `from` on, as much as fits into so many tokens, and something always. All pieces, each
/// from the `next` of the one before, are the whole text. A text with secrets is masked before, in all of it: half a
/// secret has no shape.
pub fn piece<'a>(text: &'a str, from: usize, tokens: u64, counter: &dyn TokenCounter) -> Piece<'a> {
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
    Piece { text: &rest[..end], from, next: (end < rest.len()).then_some(from + end) }
}

/// What can be searched of an entry: its words, its calls with their arguments, its results. Media,
/// sealed reasoning and ids aren't words, and what a recall gave isn't found again: neither the results at these
/// places among the parts, nor what bears the mark.
pub fn searchable(entry: Entry<'_>, recalled: &[usize]) -> String {
    let mut out = String::new();
    // Whether what follows in the same result is what a recall gave.
    let mut is_recalled = false;
    for (at, part) in entry.parts().enumerate() {
        let is_nested = part.is(Marks::NESTED);
        if part.kind() == PartKind::Result {
            is_recalled = recalled.contains(&at);
        } else if !is_nested {
            is_recalled = false;
        }
        if is_recalled || !part.says_own_words() {
            continue;
        }
        let text: Cow<'_, str> = match part.kind() {
            PartKind::Text | PartKind::Result => part.text(),
            // Sealed reasoning has no spaces.
            PartKind::Reasoning if part.raw_body().contains(' ') => part.text(),
            PartKind::Call => Cow::Owned(format!("{} {}", part.name(), part.text())),
            _ => continue,
        };
        let own = match part.kind() {
            PartKind::Result => before_recalled(&text),
            _ if is_nested => before_recalled(&text),
            _ => &*text,
        };
        is_recalled = own.len() < text.len();
        if own.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(own);
    }
    out
}

/// What stands in a result before the first find of a recall: a shell may say something before it prints
/// them. Who cites one within a line says words of their own.
fn before_recalled(text: &str) -> &str {
    let is_mark = |at: usize| {
        let rest = &text[at + MARK.len()..];
        let id = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        id == ContentId::SHORT && rest[id..].starts_with(']')
    };
    let mut marks = text.match_indices(MARK).map(|(at, _)| at).filter(|at| is_mark(*at));
    marks.find_map(|at| begun(text, at)).map_or(text, |at| &text[..at])
}

/// Where that begins which the mark at a byte is the beginning of: at a line, or at the object of JSON of which it begins a
/// member's text; clients and programs that answer in JSON hand a recall on so.
fn begun(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    // A line of a text that is JSON begins behind an escape.
    if before.is_empty() || before.ends_with('\n') || before.ends_with("\\n") {
        return Some(at);
    }
    // Text within text has its quotes escaped, as often as it is within.
    let quoted =
        |text: &'_ str| text.strip_suffix('"').map(|text| text.trim_end_matches('\\').len());
    let value = quoted(before).map(|end| before[..end].trim_end())?;
    let key = value.strip_suffix(':')?.trim_end();
    quoted(key)?;
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Some(before[line..].rfind('{').map_or(line, |object| line + object))
}

/// What can be searched of an entry that is known by its bytes, and by where in it is what a recall gave.
pub fn searchable_in(format: Format, raw: &str, recalled: &[usize]) -> String {
    // A list of one; what isn't an entry of the format has no words.
    let Ok(request) = wire::parse(format, format!("[{raw}]")) else { return String::new() };
    let entry = request.transcript.entries().next();
    entry.map(|entry| searchable(entry, recalled)).unwrap_or_default()
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
        let said = |raw: &str| searchable_in(Format::OpenaiChat, raw, &[]);
        let result = |content: &str| {
            let content = crate::json::quote(content);
            said(&format!(r#"{{"role":"tool","tool_call_id":"a","content":{content}}}"#))
        };
        assert_eq!(result(" [recalled 3f2a9c1b7d20] the port is 5433"), "");
        assert_eq!(result("the port\nis 5433"), "the port\nis 5433");
        assert_eq!(result("Exit code: 0\n[recalled 3f2a9c1b7d20] model\n x"), "Exit code: 0\n");
        for own in [
            "cars [recalled in May] and [recalled ]",
            "As [recalled 3f2a9c1b7d20] says, 7001",
            r#"["[recalled 3f2a9c1b7d20] is a mark", 7001]"#,
        ] {
            assert_eq!(result(own), own);
        }
        let raw = r#"{"role":"user","content":"[recalled 3f2a9c1b7d20] is wrong: port 7001"}"#;
        assert!(said(raw).ends_with("7001"));
    }

    #[test]
    fn nor_is_it_as_json() {
        // Codex hands answers of MCP servers on so.
        let answer =
            r#"[{"type":"text","text":"[recalled 3f2a9c1b7d20] human\nthe port is 5433"}]"#;
        let hits = serde_json::json!([{ "recalled": "[recalled 3f2a9c1b7d20]", "text": "5433" }]);
        let pretty = serde_json::to_string_pretty(&hits).expect("JSON");
        let shell = serde_json::json!({ "output": pretty, "metadata": { "exit_code": 0 } });
        let printed =
            serde_json::json!({ "stdout": "built\n[recalled 3f2a9c1b7d20] model\n 5433" });
        for (output, own) in [
            (format!("Wall time: 0.1 s\nOutput:\n{answer}"), "Wall time: 0.1 s\nOutput:\n["),
            (hits.to_string(), "["),
            (pretty, "[\n  {\n"),
            (shell.to_string(), r#"{"metadata":{"exit_code":0},"output":"[\n  "#),
            (printed.to_string(), r#"{"stdout":"built\n"#),
        ] {
            let output = crate::json::quote(&output);
            let raw =
                format!(r#"{{"type":"function_call_output","call_id":"a","output":{output}}}"#);
            assert_eq!(searchable_in(Format::OpenaiResponses, &raw, &[]), own);
        }
        let raw = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[
            {"type":"text","text":"one"},{"type":"text","text":"[recalled 3f2a9c1b7d20] human\n5433"},
            {"type":"text","text":"more of it"}]},{"type":"text","text":"and two"}]}"#;
        assert_eq!(searchable_in(Format::Anthropic, raw, &[]), "one\nand two");
        assert_eq!(searchable_in(Format::Anthropic, raw, &[0]), "and two");
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
