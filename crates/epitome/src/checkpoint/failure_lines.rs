//! The lines of an output that tell of a failure.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use super::target::{MOST_ERROR, is_target, whole_words};
use crate::text::cut;
use crate::text::salience::{MAX_SEEN, Tell, opens_with_failure, tell};
use crate::tool::Tests;

/// Bytes of each end of an output in which such a line is looked for.
pub(super) const MOST_SEEN: usize = 16 * 1024;

/// Whether a line states a failure: `error: no host`, `Error from server (Forbidden)`.
fn states(line: &str) -> bool {
    tell(line) == Tell::Failure || line.starts_with("Error ") && opens_with_failure(line)
}

/// What an output may repeat of its call, which is no outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo<'a> {
    pub(super) asked: &'a str,
    pub(super) kind: EchoKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EchoKind {
    /// The arguments of the tool.
    Given,
    /// A command may be told to print a whole line, which is its outcome.
    Printed,
}

impl Echo<'_> {
    pub(super) const NONE: Echo<'static> = Echo { asked: "", kind: EchoKind::Given };
}

/// A line without the runs of words, and the exact strings, that it repeats of its call.
pub(super) fn own_words<'l>(line: &'l str, echo: Echo<'_>) -> Cow<'l, str> {
    let line = cut::head(line, MAX_SEEN);
    let words = line.split_whitespace().map(|word| (cut::place_in(line, word), word));
    let words: Vec<(usize, &str)> = words.collect();
    let (mut own, mut at) = (Vec::new(), 0);
    while let Some((from, word)) = words.get(at) {
        let end = |last: usize| words[last].0 + words[last].1.len();
        let ends =
            (at..words.len()).take_while(|last| echo.asked.contains(&line[*from..end(*last)]));
        match ends.count() {
            0 => own.push(*word),
            1 if !is_target(word.trim_matches(|c: char| !c.is_alphanumeric())) => own.push(*word),
            repeated => at += repeated - 1,
        }
        at += 1;
    }
    if own.len() == words.len() || own.is_empty() && echo.kind == EchoKind::Printed {
        return line.into();
    }
    own.join(" ").into()
}

/// Whether a line states a failure in words of its own.
pub(super) fn states_newly(line: &str, echo: Echo<'_>) -> bool {
    states(line) && states(&own_words(line, echo))
}

/// The lines of both ends of an output that state a failure, of more than one word where there are such.
fn failures<'o>(output: &'o str, echo: Echo<'_>) -> Vec<&'o str> {
    let head = cut::head(output, MOST_SEEN);
    let tail = cut::tail(&output[head.len()..], MOST_SEEN);
    let lines = head.lines().chain(tail.lines()).map(str::trim);
    let mut all: Vec<&str> = lines.filter(|line| states_newly(line, echo)).collect();
    if all.iter().any(|line| line.contains(' ')) {
        all.retain(|line| line.contains(' '));
    }
    all
}

/// The first line that states a failure, in at most `most` bytes, and how many do.
pub(super) fn failure(output: &str, echo: Echo<'_>, most: usize) -> Option<String> {
    let all = failures(output, echo);
    let qualifier = if output.len() <= 2 * MOST_SEEN { "" } else { "at least " };
    first(&all, qualifier, most)
}

/// The first of some lines, in at most `most` bytes, and how many there are.
pub(super) fn first<T: AsRef<str>>(all: &[T], qualifier: &str, most: usize) -> Option<String> {
    let mut out = whole_words(all.first()?.as_ref(), most).into_owned();
    if all.len() > 1 {
        let _ = write!(out, " (1 of {qualifier}{} failures)", all.len());
    }
    Some(out)
}

/// The lines that name the tests that failed, as many as have room; else the first that states a failure.
pub(super) fn failed_tests<'a>(output: &'a str) -> Option<String> {
    let is_fail = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic());
        matches!(word, "FAIL" | "FAILED")
    };
    let name = |line: &'a str| {
        let line = line.trim();
        let crossed = line.strip_prefix(['✖', '✗', '✕', '×']).map(str::trim_start);
        let is_failure = || line.split(' ').any(is_fail) && tell(line) == Tell::Failure;
        let is_named = line.starts_with("not ok ") || is_failure() && !Tests::is_total(line);
        crossed.or_else(|| is_named.then_some(line))
    };
    let mut named: Vec<&str> = cut::tail(output, MOST_SEEN).lines().filter_map(name).collect();
    let mut seen = HashSet::new();
    named.retain(|line| seen.insert(*line));
    let stated = || failures(output, Echo::NONE).into_iter().find(|line| !Tests::is_total(line));
    let first = named.first().copied().or_else(stated)?;
    let mut out = whole_words(first, MOST_ERROR).into_owned();
    for line in named.iter().skip(1) {
        if out.len() + line.len() > MOST_ERROR {
            out.push_str(" / …");
            break;
        }
        let _ = write!(out, " / {}", whole_words(line, MOST_ERROR));
    }
    Some(out)
}

/// The first line behind all totals of tests that tells of a failure.
pub(super) fn behind_totals(output: &str) -> Option<&str> {
    let tail = cut::tail(output, MOST_SEEN).lines().rev().map(str::trim);
    let behind = tail.take_while(|line| !Tests::is_total(line));
    behind.filter(|line| matches!(tell(line), Tell::Mention | Tell::Failure)).last()
}
