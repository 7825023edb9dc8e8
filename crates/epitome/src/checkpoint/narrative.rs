//! What happened, without a model: the sentences that tell most, quoted in order.
//!
//! Candidates are sentences of people and models and the telling lines of tools. They are weighed
//! by what they say (decisions, causes, results; not announcements of what comes next), by where
//! they stand, and by LexRank among a bounded number of them; what says the same again is skipped.
//! Every line is an exact excerpt, white space apart, and cut with `…` where it is long.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::claim::Outdated;
use crate::text::cut;
use crate::text::rank::{Vector, lexrank, vectors};
use crate::text::split::{Kind, lines, sentences};
use crate::text::telling::{Tell, tell};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// A person.
    Human,
    /// The model.
    Model,
    /// A tool, in its output.
    Tool,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Self::Human => "user",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }
}

/// Something that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'a> {
    /// The entry it was said in.
    pub at: u32,
    /// By whom.
    pub who: Who,
    /// What.
    pub text: &'a str,
}

/// The telling sentences of `said`, in order, each on a line as `model: …`, in at most `max_bytes`
/// bytes.
///
/// Where several lengths are tried, [`Narrative`] ranks only once.
pub fn narrative(said: &[Said<'_>], max_bytes: usize) -> String {
    Narrative::new(said).render(max_bytes)
}

/// So many bytes of a sentence tell it from others.
const TELLING_BYTES: usize = 200;
/// Sentences compared with each other; every pair is.
const MAX_RANKED: usize = 256;
/// Characters of one line.
const MAX_LINE: usize = 260;
/// Shorter sentences tell nothing by themselves.
const MIN_LINE: usize = 24;
/// Lines taken from one output of a tool.
const MAX_TOOL_LINES: usize = 4;
/// What weighs less than this only announces what the next call shows.
const LEAST: i32 = 5;
/// Sentences this alike say the same.
const SAME: f32 = 0.6;

/// Ranked sentences, to be rendered at any length.
#[derive(Debug, Clone)]
pub struct Narrative {
    /// In the order they were said.
    lines: Vec<Line>,
    /// Indexes of lines that don't repeat a better one, best first.
    best: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Line {
    who: Who,
    text: String,
    bias: i32,
}

impl Narrative {
    /// Chooses and ranks the sentences of `said`, which are in the order they were said.
    pub fn new(said: &[Said<'_>]) -> Self {
        Self::without(said, std::iter::empty())
    }

    /// The same, without what holds no longer.
    pub fn without<'a>(said: &[Said<'_>], outdated: impl Iterator<Item = &'a str>) -> Self {
        Self::that_holds(said, outdated, &Outdated::default())
    }

    /// The same, also without what says that again in other words.
    pub(super) fn that_holds<'a>(
        said: &[Said<'_>],
        outdated: impl Iterator<Item = &'a str>,
        values: &Outdated<'_>,
    ) -> Self {
        let gone: HashSet<&str> =
            outdated.map(|text| cut::head(without_mark(text), TELLING_BYTES)).collect();
        let mut lines = candidates(said);
        let is_gone = |line: &Line| {
            gone.contains(cut::head(&line.text, TELLING_BYTES)) || values.is_said_by(&line.text)
        };
        lines.retain(|line| !is_gone(line));
        if lines.len() > MAX_RANKED {
            let mut order: Vec<usize> = (0..lines.len()).collect();
            order.sort_by_key(|&at| (Reverse(lines[at].bias), at));
            let mut kept = vec![false; lines.len()];
            order.iter().take(MAX_RANKED).for_each(|&at| kept[at] = true);
            let mut at = 0;
            lines.retain(|_| {
                at += 1;
                kept[at - 1]
            });
        }
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let ranks = lexrank(&texts, MAX_RANKED);
        // Rounded, so that the last bits of a float decide nothing.
        let score = |at: usize| (ranks[at] * 1_000.0) as i64 * i64::from(lines[at].bias.max(1));
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by_key(|&at| (Reverse(score(at)), at));
        let best = without_repeats(&order, &vectors(texts.iter().copied()));
        Self { lines, best }
    }

    /// The best lines that fit, in the order they were said.
    pub fn render(&self, max_bytes: usize) -> String {
        let mut left = max_bytes;
        let mut chosen = vec![false; self.lines.len()];
        for &at in &self.best {
            let line = &self.lines[at];
            let cost = line.who.name().len() + line.text.len() + 3;
            if cost <= left {
                left -= cost;
                chosen[at] = true;
            }
        }
        let mut out = String::with_capacity(max_bytes - left);
        for (line, _) in self.lines.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            out.push_str(line.who.name());
            out.push_str(": ");
            out.push_str(&line.text);
            out.push('\n');
        }
        out
    }
}

/// `order` without what is nearly the same as something before it.
fn without_repeats(order: &[usize], vectors: &[Vector]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for &at in order {
        if !kept.iter().any(|&other| vectors[at].likeness(&vectors[other]) > SAME) {
            kept.push(at);
        }
    }
    kept
}

fn candidates(said: &[Said<'_>]) -> Vec<Line> {
    let mut found = Vec::new();
    for (index, said_here) in said.iter().enumerate() {
        // From 0 at the start to 6 at the end.
        let recency = i32::try_from(6 * index / said.len()).unwrap_or(6);
        if said_here.who == Who::Tool {
            tool_lines(said_here.text, recency, &mut found);
        } else {
            spoken(said_here, recency, &mut found);
        }
    }
    found
}

/// Failures and totals.
fn tool_lines(text: &str, recency: i32, found: &mut Vec<Line>) {
    let telling = lines(text).map(|line| &text[line]).filter_map(|line| match tell(line) {
        Tell::Failure => Some((line, 8)),
        Tell::Total => Some((line, 4)),
        _ => None,
    });
    for (line, weight) in telling.take(MAX_TOOL_LINES) {
        let text = cut::one_line(line, MAX_LINE);
        if text.len() >= MIN_LINE {
            found.push(Line { who: Who::Tool, text, bias: weight + recency });
        }
    }
}

fn spoken(said: &Said<'_>, recency: i32, found: &mut Vec<Line>) {
    let sentences = sentences(said.text);
    let last = sentences.len().saturating_sub(1);
    for (at, sentence) in sentences.into_iter().enumerate() {
        if matches!(sentence.kind, Kind::Code | Kind::Row | Kind::Heading) {
            continue;
        }
        let text = &said.text[sentence.range];
        let text = if sentence.kind == Kind::Item { without_mark(text) } else { text };
        if text.len() < MIN_LINE || text.ends_with(':') {
            continue;
        }
        let place = if at == last { 5 } else { i32::from(at == 0) * 2 };
        let item = if sentence.kind == Kind::Item { -2 } else { 0 };
        let bias = 8 + says(text) + place + item;
        if bias < LEAST {
            continue;
        }
        let bias = bias + recency;
        found.push(Line { who: said.who, text: cut::one_line(text, MAX_LINE), bias });
    }
}

/// A list item without its bullet or number.
fn without_mark(item: &str) -> &str {
    let mark =
        |c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '•' | '–' | '.' | ')' | ' ');
    item.split_once(' ')
        .filter(|(start, _)| start.chars().all(mark))
        .map_or(item, |(_, rest)| rest.trim_start())
}

/// Words of decisions, causes and results, with their weight. Sorted.
const TELLING: [(&str, i32); 62] = [
    ("added", 3),
    ("agreed", 5),
    ("always", 3),
    ("because", 5),
    ("broken", 4),
    ("bug", 4),
    ("can't", 3),
    ("cannot", 3),
    ("cause", 4),
    ("caused", 4),
    ("changed", 3),
    ("committed", 5),
    ("complete", 3),
    ("completed", 4),
    ("conclusion", 5),
    ("confirmed", 5),
    ("created", 3),
    ("decided", 7),
    ("decision", 6),
    ("deployed", 5),
    ("didn't", 2),
    ("doesn't", 2),
    ("done", 3),
    ("error", 2),
    ("failed", 4),
    ("failing", 4),
    ("fails", 4),
    ("finished", 4),
    ("fixed", 6),
    ("found", 3),
    ("implemented", 5),
    ("instead", 4),
    ("issue", 3),
    ("merged", 5),
    ("missing", 3),
    ("moved", 3),
    ("must", 4),
    ("never", 4),
    ("next", 3),
    ("pass", 3),
    ("passed", 4),
    ("passes", 5),
    ("passing", 4),
    ("prefer", 5),
    ("problem", 4),
    ("published", 5),
    ("released", 5),
    ("remaining", 4),
    ("removed", 3),
    ("renamed", 4),
    ("replaced", 4),
    ("result", 3),
    ("root", 2),
    ("summary", 2),
    ("therefore", 4),
    ("todo", 4),
    ("turns", 3),
    ("updated", 3),
    ("verified", 5),
    ("working", 2),
    ("works", 4),
    ("wrong", 4),
];

/// Beginnings of sentences that only announce, or are polite.
const ANNOUNCING: [&str; 28] = [
    "let me",
    "let's",
    "i'll",
    "i will",
    "now let",
    "now i",
    "now, let",
    "next, i'll",
    "first, let",
    "sure",
    "great",
    "perfect",
    "okay",
    "ok,",
    "thank",
    "please let me",
    "would you like",
    "is there anything",
    "if you have",
    "i'm going to",
    "here is",
    "here's",
    "here are",
    "good!",
    "excellent",
    "i can help",
    "you're welcome",
    "could you",
];

/// What a sentence says, by its words.
fn says(text: &str) -> i32 {
    let lower = cut::head(text, 300).to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let telling: i32 = words
        .filter_map(|word| TELLING.binary_search_by_key(&word, |(known, _)| known).ok())
        .map(|at| TELLING[at].1)
        .take(4)
        .sum();
    let start = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let announcing = if ANNOUNCING.iter().any(|known| start.starts_with(known)) { -12 } else { 0 };
    let asking = if lower.ends_with('?') { -3 } else { 0 };
    // Something exact in it: a number, a path, a name in code.
    let exact =
        if lower.contains('`') || lower.bytes().any(|b| b.is_ascii_digit()) { 2 } else { 0 };
    // Headlines and cheers are short.
    let short = if text.len() < 48 { -4 } else { 0 };
    telling.min(14) + announcing + asking + exact + short
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    const SAID: [Said<'static>; 7] = [
        Said {
            at: 0,
            who: Who::Human,
            text: "The login page is slow. We must never cache passwords. Fix it.",
        },
        Said {
            at: 1,
            who: Who::Model,
            text: "Let me look at the login handler first. I'll read the file.",
        },
        Said { at: 2, who: Who::Tool, text: "fn login() {\n  slow();\n}\n" },
        Said {
            at: 3,
            who: Who::Model,
            text: "I found the problem: `login()` hashes the password twice because the middleware does it as well.\n\n```rust\nlet bug = because();\n```\n",
        },
        Said {
            at: 4,
            who: Who::Tool,
            text: "running 3 tests\ntest login ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n",
        },
        Said {
            at: 5,
            who: Who::Model,
            text: "The problem is that login() hashes the password twice because the middleware does so as well.",
        },
        Said {
            at: 6,
            who: Who::Model,
            text: "Fixed: the handler no longer hashes, and all tests pass.\n- Next: measure the page again.",
        },
    ];

    #[test]
    fn the_story_is_told_in_order_and_once() {
        expect![[r"
            user: We must never cache passwords.
            model: I found the problem: `login()` hashes the password twice because the middleware does it as well.
            tool: test result: FAILED. 2 passed; 1 failed
            model: Fixed: the handler no longer hashes, and all tests pass.
            model: Next: measure the page again.
        "]].assert_eq(&narrative(&SAID, 600));
    }

    #[test]
    fn a_small_budget_takes_the_best() {
        expect![[r"
            model: I found the problem: `login()` hashes the password twice because the middleware does it as well.
        "]].assert_eq(&narrative(&SAID, 110));
        assert_eq!(narrative(&SAID, 10), "");
        assert_eq!(narrative(&[], 100), "");
    }

    #[test]
    fn telling_words_are_sorted() {
        assert!(TELLING.is_sorted());
        assert_eq!(says("It was decided because"), 8);
    }

    #[test]
    fn marks_of_lists_are_left_out() {
        assert_eq!(without_mark("- one two"), "one two");
        assert_eq!(without_mark("12. one two"), "one two");
        assert_eq!(without_mark("one two"), "one two");
    }

    proptest! {
        #[test]
        fn any_narrative_fits_and_is_quoted(
            said in prop::collection::vec((0_u8..3, prop_oneof![any::<String>(), "([A-Z][a-z ]{10,60}[.?] ?|\n|- |error: [a-z ]{20}){1,8}"]), 0..12),
            max in 0_usize..800,
        ) {
            let who = |who: u8| [Who::Human, Who::Model, Who::Tool][who as usize];
            let said: Vec<Said<'_>> = said.iter().enumerate().map(|(at, (w, text))| Said { at: at as u32, who: who(*w), text }).collect();
            let told = narrative(&said, max);
            prop_assert!(told.len() <= max);
            prop_assert_eq!(&narrative(&said, max), &told);
            for line in told.lines() {
                let (_, text) = line.split_once(": ").expect("every line says who");
                let text = text.strip_suffix('…').unwrap_or(text).trim_end();
                prop_assert!(said.iter().any(|said| cut::one_line(said.text, usize::MAX).contains(text)), "{text:?}");
            }
        }
    }
}
