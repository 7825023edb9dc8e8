//! What may be quoted of a message: whole sentences. Part of one may say the opposite: `deploy on Friday` stands
//! in `Never deploy on Friday`.
//!
//! Where a line ends without a stop its sentence may go on in the next one, and what stands between quotation
//! marks or brackets is somebody else's. An item is quoted behind what it stands under: `Never do: … deploy on Friday`.

use std::ops::Range;

use super::Speaker;
use super::observe::{MAX_LINE, unmarked};
use crate::text::cut;
use crate::text::split::{Kind as Place, Sentence, lines, sentences};

/// Sentences that somebody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    /// On one line, behind what they stand under.
    pub(super) text: String,
    /// Where they stand.
    pub(super) range: Range<usize>,
}

/// The newest sentences of `said` that `text`, on one line, quotes in whole.
pub(super) fn quoted(text: &str, who: Speaker, said: &str) -> Option<Quote> {
    let text = unmarked(text);
    let all = statements(said, who);
    let whole = (0..all.len()).rev().find_map(|first| {
        let under = &all[first].under;
        let mut run = String::new();
        for next in &all[first..] {
            let own = next.text.as_ref()?;
            if next.under != *under || run.len() > text.len() {
                return None;
            }
            run.push_str(if run.is_empty() { "" } else { " " });
            run.push_str(own);
            let full = if under.is_empty() { run.clone() } else { format!("{under} {run}") };
            if is_same(&run, text) || is_same(&full, text) {
                return Some(Quote { text: full, range: all[first].range.start..next.range.end });
            }
        }
        None
    });
    whole.or_else(|| (who == Speaker::Tool).then(|| line_of(text, said)).flatten())
}

/// Whether they are the same, but for a last stop.
fn is_same(said: &str, quote: &str) -> bool {
    said == quote || said.strip_suffix('.').is_some_and(|said| said == quote)
}

/// The newest line of a tool's output that is `text`, unless it may be part of a sentence.
fn line_of(text: &str, said: &str) -> Option<Quote> {
    let all: Vec<Range<usize>> = lines(said).collect();
    let goes_on = |from: usize| {
        let next = all.get(from + 1).map_or("", |next| &said[next.clone()]);
        all[from].len() >= WRAPPED
            && !ends(&said[all[from].clone()])
            && next.trim_start().starts_with(char::is_lowercase)
    };
    let is_whole = |at: usize| !goes_on(at) && at.checked_sub(1).is_none_or(|last| !goes_on(last));
    let found = (0..all.len())
        .rev()
        .find(|at| is_whole(*at) && cut::one_line(&said[all[*at].clone()], usize::MAX) == text)?;
    Some(Quote { text: text.to_owned(), range: all[found].clone() })
}

/// A tool's line this long that ends without a stop may have been wrapped.
const WRAPPED: usize = 60;

/// Longer ones can't be quoted.
const MAX_LENGTH: usize = 4 * MAX_LINE;

/// A sentence, or several that can't be told apart.
struct Statement {
    /// On one line; nothing where it is too long to be quoted, or somebody else's.
    text: Option<String>,
    range: Range<usize>,
    /// The heading, the line before the list and the items that it stands under.
    under: String,
}

/// What items may stand under: another item, or the line before a list.
struct Above {
    /// Where the item begins in its line.
    column: Option<usize>,
    text: String,
}

fn statements(said: &str, who: Speaker) -> Vec<Statement> {
    let mut heading = String::new();
    let mut above: Vec<Above> = Vec::new();
    let mut all = Vec::new();
    for Sentence { range, kind } in joined(said, who) {
        let raw = &said[range.clone()];
        let short = (raw.len() <= MAX_LENGTH).then(|| cut::one_line(unmarked(raw), usize::MAX));
        let text = short.clone().unwrap_or_default();
        match kind {
            Place::Heading => {
                text.trim_start_matches('#').trim().clone_into(&mut heading);
                above.clear();
            }
            Place::Item => {
                let column = range.start - said[..range.start].rfind('\n').map_or(0, |at| at + 1);
                while above.last().is_some_and(|top| top.column.is_some_and(|own| own >= column)) {
                    above.pop();
                }
                all.push(Statement { text: short, range, under: under(&heading, &above) });
                above.push(Above { column: Some(column), text });
            }
            Place::Prose | Place::Code | Place::Row => {
                // What is only shown, or quoted, nobody says.
                let is_shown = kind != Place::Prose && who != Speaker::Tool;
                if above.iter().any(|one| one.column.is_some()) {
                    above.clear();
                }
                let under = under(&heading, &above);
                let own = short.filter(|_| !is_shown && !raw.starts_with('>'));
                all.push(Statement { text: own, range, under });
                above.clear();
                if text.ends_with([':', '：']) {
                    above.push(Above { column: None, text });
                }
            }
        }
    }
    all
}

fn under(heading: &str, above: &[Above]) -> String {
    let mut under = String::new();
    if !heading.is_empty() {
        under.push_str(heading.trim_end_matches(':'));
        under.push(':');
    }
    for one in above {
        under.push_str(if under.is_empty() { "" } else { " " });
        under.push_str(&one.text);
    }
    // Others may stand between.
    if !above.is_empty() {
        under.push_str(" …");
    }
    under
}

/// The sentences of a text; those that may go on in the next ones with these.
fn joined(said: &str, who: Speaker) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = Vec::new();
    let mut marks = Marks::default();
    for sentence in sentences(said) {
        let own = &said[sentence.range.clone()];
        // Output has lines, not paragraphs.
        if let Some(last) = all.last_mut()
            && who != Speaker::Tool
            && sentence.kind == Place::Prose
            && matches!(last.kind, Place::Prose | Place::Item)
        {
            let breaks = said[last.range.end..sentence.range.start].matches('\n').count();
            let goes_on = match breaks {
                0 => marks.are_open(),
                1 => marks.are_open() || !ends(&said[last.range.clone()]),
                _ => false,
            };
            if goes_on {
                last.range.end = sentence.range.end;
                marks.read(own);
                continue;
            }
        }
        marks = Marks::default();
        marks.read(own);
        all.push(sentence);
    }
    all
}

/// Quotation marks and brackets that are open.
#[derive(Default)]
struct Marks {
    quotes: usize,
    depth: usize,
}

impl Marks {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '"' => self.quotes += 1,
                '(' | '“' | '«' | '「' | '『' | '（' => self.depth += 1,
                ')' | '”' | '»' | '」' | '』' | '）' => {
                    self.depth = self.depth.saturating_sub(1);
                }
                _ => {}
            }
        }
    }

    fn are_open(&self) -> bool {
        self.quotes % 2 == 1 || self.depth > 0
    }
}

/// Whether the sentence is at its end: a stop, or what a list follows.
fn ends(text: &str) -> bool {
    let bare =
        text.trim_end_matches(['"', '\'', ')', ']', '*', '_', '`', '»', '”', '’', '」', ' ']);
    bare.ends_with(['.', '!', '?', '…', '。', '！', '？', '｡', ':', '：'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, who: Speaker, said: &str) -> Option<String> {
        quoted(text, who, said).map(|quote| quote.text)
    }

    #[test]
    fn only_whole_sentences_are_quotes() {
        let said = "Please never deploy on Friday. Don't\never delete the backups. The ticket says \"It is old. Drop the \
                    table. Now.\" Ignore it.\n> Push to main.\n\nUse port 8080!";
        let human = |text| whole(text, Speaker::Human, said);
        for text in [
            "Please never deploy on Friday.",
            "Please never deploy on Friday",
            "Don't ever delete the backups.",
            "Please never deploy on Friday. Don't ever delete the backups.",
            "Use port 8080!",
        ] {
            assert!(human(text).is_some(), "{text}");
        }
        assert_eq!(human("Use port 8080!").as_deref(), Some("Use port 8080!"));
        for text in [
            "deploy on Friday.",
            "deploy on Friday",
            "Please never deploy",
            "ever delete the backups.",
            "Don't",
            "Drop the table.",
            "Push to main.",
            "Friday. Don't ever delete the backups.",
            "Use port 8080! Please never deploy on Friday.",
        ] {
            assert_eq!(human(text), None, "{text}");
        }
    }

    #[test]
    fn an_item_is_quoted_with_what_it_stands_under() {
        let said = "## Don't\n- deploy on Friday\n- push\n  to main\n\n## Rules\nYou may:\n\n1. run tests\n   - but not:\n     - the \
                    slow ones\n2. read docs\n\nThat is all.\n```\nrm -rf /\n```\n| drop it |\n";
        for (text, quote) in [
            ("deploy on Friday", "Don't: deploy on Friday"),
            ("- deploy on Friday", "Don't: deploy on Friday"),
            ("push to main", "Don't: push to main"),
            ("run tests", "Rules: You may: … run tests"),
            ("the slow ones", "Rules: You may: run tests but not: … the slow ones"),
            ("read docs", "Rules: You may: … read docs"),
            ("That is all.", "Rules: That is all."),
        ] {
            assert_eq!(whole(text, Speaker::Human, said).as_deref(), Some(quote));
            assert!(whole(quote, Speaker::Human, said).is_some(), "{quote}");
        }
        for text in ["push", "to main", "rm -rf /", "| drop it |", "drop it"] {
            assert_eq!(whole(text, Speaker::Human, said), None, "{text}");
        }
    }

    #[test]
    fn a_line_of_output_is_a_quote() {
        let long = "Under no circumstances whatever, on no machine and by nobody,";
        let said = format!("version = 1.4.2\nport: 80\n{long}\ndelete the backups.\nok 1 passed\n");
        for text in ["version = 1.4.2", "port: 80", "ok 1 passed"] {
            assert_eq!(whole(text, Speaker::Tool, &said).as_deref(), Some(text));
        }
        assert_eq!(whole("port: 80", Speaker::Human, &said), None);
        for text in ["delete the backups.", long, "1.4.2", "passed"] {
            assert_eq!(whole(text, Speaker::Tool, &said), None, "{text}");
        }
    }
}
