//! Lines of earlier messages, chosen so that together they say as much as possible of what may be needed.
//!
//! Lines are taken greedily by the weight of the specifics that nothing else says yet, for each token (greedy budgeted maximum
//! coverage: Khuller, Moss & Naor, "The budgeted maximum coverage problem", 1999).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::activation::Mentions;
use super::fence::is_framing;
use super::target::is_ruler;
use crate::specifics::{Class, Specific};
use crate::text::cut;
use crate::text::keys::{ByKey, Key, key};
use crate::transcript::Origin;

/// A line that may be quoted: a stretch of a part's masked text.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The part that says it, and where; for a line that an earlier checkpoint quotes which of these it is.
    pub(super) at: Place,
    /// The number of its message.
    pub(super) number: u32,
    pub(super) who: Origin,
    /// About how many tokens it takes.
    tokens: f32,
    /// The hash of a line without numbers and ids; 0 if nothing is left.
    pattern: Key,
    /// Its specifics, among all of [`Lines::specifics`].
    first: u32,
    count: u32,
}

/// The masked texts of parts, by their slots: to mask one takes long.
pub(super) type Texts = BTreeMap<u32, String>;

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the masked text of the part in this slot.
    Part { slot: u32, start: u32, end: u32 },
    /// Among the notes of earlier checkpoints.
    Carried(u32),
}

/// The lines of folded entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    all: Vec<Line>,
    /// Lines of the model without specifics.
    plain: Vec<Line>,
    specifics: Vec<u32>,
    /// For each pattern, its last line and its count.
    patterns: ByKey<(Key, u32)>,
}

/// The longest line that is quoted, in bytes; a longer one is quoted in pieces that end where a word does.
const LONGEST: usize = 240;
/// Tokens of a line beside its text: most lines stand below one of the same source, and don't repeat it.
const FRAME: f32 = 2.0;
/// Lines of the model read better than tool output that says the same: so much more a tool's line has to say.
const TOOL_DISCOUNT: f32 = 0.5;
/// This many lines without specifics are enough: few fit.
const MOST_PLAIN: usize = 2_000;
/// Bytes that a token has here, about.
const BYTES: f32 = 3.6;

impl Lines {
    /// Takes in a text with its specifics, which `mentions` knows. Lines with none are kept of the model alone.
    pub(super) fn add(
        &mut self,
        (slot, number, who): (u32, u32, Origin),
        text: &str,
        found: &[(Specific<'_>, u32)],
    ) {
        let mut next = 0;
        let mut above = 0;
        while next < found.len() {
            let (line_start, line_end) = line_around(text, found[next].0.at);
            self.add_plain((slot, number, who), text, (above, line_start));
            above = line_end;
            let mut behind = next;
            while behind < found.len() && found[behind].0.at < line_end {
                behind += 1;
            }
            // A fence inside a checkpoint would be taken for its own, and a mark of recalls for a find.
            if !is_framing(&text[line_start..line_end]) {
                let line = (line_start, line_end);
                self.add_line((slot, number, who), text, line, &found[next..behind]);
            }
            next = behind;
        }
        self.add_plain((slot, number, who), text, (above, text.len()));
    }

    /// Adds the lines of a stretch in which no specific stands.
    fn add_plain(
        &mut self,
        (slot, number, who): (u32, u32, Origin),
        text: &str,
        (start, end): (usize, usize),
    ) {
        if who != Origin::Model {
            return;
        }
        let mut at = start;
        for line in text[start..end].split_inclusive('\n') {
            let (from, said) = (at, line.trim());
            at += line.len();
            if is_ruler(said) || is_framing(said) {
                continue;
            }
            let head = cut::head(said, LONGEST).len();
            let begin = from + line.len() - line.trim_start().len();
            let to = match word_end(text, begin, begin + head) {
                // The line's end, so that nothing seems to be left out.
                _ if head == said.len() => from + line.trim_end_matches('\n').len(),
                to if to == begin => begin + head,
                to => to,
            };
            if self.plain.len() >= 2 * MOST_PLAIN {
                self.plain.drain(..MOST_PLAIN);
            }
            self.plain.push(Line {
                at: Place::Part { slot, start: from as u32, end: to as u32 },
                number,
                who,
                tokens: FRAME + (to - from) as f32 / BYTES,
                pattern: 0,
                first: 0,
                count: 0,
            });
        }
    }

    /// The newest lines without any specific, until `takes` has no room for more.
    pub(super) fn newest_plain(&self, takes: impl FnMut(&Line) -> Taken) {
        let _ = self.plain.iter().rev().map(takes).find(|taken| *taken == Taken::Full);
    }

    /// Adds a line, in pieces if it is long.
    fn add_line(
        &mut self,
        of: (u32, u32, Origin),
        text: &str,
        (start, end): (usize, usize),
        found: &[(Specific<'_>, u32)],
    ) {
        if end - start <= LONGEST {
            return self.push(of, text, (start, end), found);
        }
        let mut next = 0;
        while next < found.len() {
            // A piece from some words before the first specific to some behind the last one that fits.
            let first = found[next].0.at;
            let from = word_start(text, first.saturating_sub(LONGEST / 4).max(start), first);
            let mut behind = next + 1;
            let reach = |index: usize| found[index].0.at + found[index].0.text.len();
            while behind < found.len() && reach(behind) <= from + LONGEST * 3 / 4 {
                behind += 1;
            }
            let last = reach(behind - 1);
            let to = word_end(text, last, (from + LONGEST).max(last).min(end));
            self.push(of, text, (from, to), &found[next..behind]);
            next = behind;
        }
    }

    fn push(
        &mut self,
        (slot, number, who): (u32, u32, Origin),
        text: &str,
        (start, end): (usize, usize),
        found: &[(Specific<'_>, u32)],
    ) {
        let line = &text[start..end];
        let pattern = pattern(line);
        if pattern != 0 {
            let this = key(line);
            let (last, count) = self.patterns.entry(pattern).or_insert((this, 1));
            if *last != this {
                (*last, *count) = (this, *count + 1);
            }
        }
        let first = self.specifics.len() as u32;
        self.specifics.extend(found.iter().map(|(_, at)| *at));
        self.all.push(Line {
            pattern,
            at: Place::Part { slot, start: start as u32, end: end as u32 },
            number,
            who,
            // Names alone are never quoted, but show which lines are alike.
            tokens: if says_more(line, found) {
                FRAME + (end - start) as f32 / BYTES
            } else {
                f32::INFINITY
            },
            first,
            count: found.len() as u32,
        });
    }

    /// Adds a line that an earlier checkpoint quotes.
    pub(super) fn carry(
        &mut self,
        (index, number, who): (u32, u32, Origin),
        bytes: usize,
        found: &[u32],
    ) {
        let first = self.specifics.len() as u32;
        self.specifics.extend_from_slice(found);
        self.all.push(Line {
            pattern: 0,
            at: Place::Carried(index),
            number,
            who,
            tokens: FRAME + bytes as f32 / BYTES,
            first,
            count: found.len() as u32,
        });
    }

    fn specifics(&self, line: &Line) -> &[u32] {
        &self.specifics[line.first as usize..(line.first + line.count) as usize]
    }

    /// What quoting the line adds, for each token.
    fn gain(&self, line: &Line, mentions: &Mentions, is_said: &[bool]) -> f32 {
        let specifics = self.specifics(line);
        let mut sum = 0.0;
        for (index, at) in specifics.iter().enumerate() {
            if !is_said[*at as usize] && !specifics[..index].contains(at) {
                sum += mentions.get(*at).weight;
            }
        }
        let by =
            if matches!(line.who, Origin::Model | Origin::Human) { 1.0 } else { TOOL_DISCOUNT };
        sum * by / line.tokens / self.alike(line)
    }

    /// How many lines say the same but for numbers and ids: rows of a table, or a tool's wrapping.
    fn alike(&self, line: &Line) -> f32 {
        self.patterns.get(&line.pattern).map_or(1.0, |(_, count)| *count as f32)
    }

    /// For each of the first `known` specifics, the number of lines like the one that has it: the smallest of several, 1 if no
    /// line has it.
    pub(super) fn alike_by_specific(&self, known: usize) -> Vec<f32> {
        let mut alike = vec![f32::INFINITY; known];
        for line in &self.all {
            let of_line = self.alike(line);
            for at in self.specifics(line) {
                let one = &mut alike[*at as usize];
                *one = one.min(of_line);
            }
        }
        alike.into_iter().map(|one| if one.is_finite() { one } else { 1.0 }).collect()
    }

    /// The best lines until `takes` has no room: it gets each line and returns whether it took it. Specifics of a taken line
    /// are marked as said.
    pub(super) fn choose(
        &self,
        mentions: &Mentions,
        is_said: &mut [bool],
        mut takes: impl FnMut(&Line) -> Taken,
    ) {
        let gain = |at: usize, is_said: &[bool]| Candidate {
            gain: self.gain(&self.all[at], mentions, is_said),
            at,
        };
        let mut heap: BinaryHeap<Candidate> = (0..self.all.len())
            .map(|at| gain(at, is_said))
            .filter(|candidate| candidate.gain > 0.0)
            .collect();
        while let Some(best) = heap.pop() {
            let now = gain(best.at, is_said);
            if now.gain <= 0.0 {
                continue;
            }
            // Lines taken since may have made it worth less than the next one.
            if heap.peek().is_some_and(|next| now < *next) {
                heap.push(now);
                continue;
            }
            let line = &self.all[best.at];
            match takes(line) {
                Taken::Yes => {
                    for at in self.specifics(line) {
                        is_said[*at as usize] = true;
                    }
                }
                Taken::No => {}
                Taken::Full => return,
            }
        }
    }
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// It has no room; a shorter one may.
    No,
    /// Nothing more has room.
    Full,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    gain: f32,
    at: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of two that are worth the same the later one comes first.
        self.gain.total_cmp(&other.gain).then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The line around `at`, without its end.
fn line_around(text: &str, at: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(text.len(), |end| at + end);
    (start, end)
}

/// Whether a line says anything beside its specifics, which names say in less room: words, or which of several go together.
fn says_more(line: &str, found: &[(Specific<'_>, u32)]) -> bool {
    const LEAST: usize = 3;
    if found.len() >= LEAST {
        return true;
    }
    let exact = found.iter().filter(|(one, _)| one.class != Class::Quoted);
    let needed = LEAST + exact.map(|(one, _)| letters(one.text).count()).sum::<usize>();
    letters(line).nth(needed - 1).is_some()
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphabetic())
}

/// A hash of a line's words without digits; 0 if there are none.
fn pattern(line: &str) -> Key {
    let has_digits = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digits(line) {
        return 0;
    }
    let words = line.split_ascii_whitespace().filter(|word| !has_digits(word));
    words.fold(1, |pattern: Key, word| pattern.rotate_left(7) ^ key(word))
}

/// Where the first word at or behind `from` begins; `until` at the latest.
fn word_start(text: &str, from: usize, until: usize) -> usize {
    let bytes = text.as_bytes();
    if from == 0 || bytes[from - 1].is_ascii_whitespace() {
        return from;
    }
    let space = bytes[from..until].iter().position(u8::is_ascii_whitespace);
    space.map_or(until, |space| from + space + 1)
}

/// Where the last word before `until` ends; `from` at the earliest.
fn word_end(text: &str, from: usize, until: usize) -> usize {
    let bytes = text.as_bytes();
    if until == text.len() || bytes[until].is_ascii_whitespace() {
        return until;
    }
    let space = bytes[from..until].iter().rposition(u8::is_ascii_whitespace);
    space.map_or(from, |space| from + space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specifics::specifics;

    #[test]
    fn a_line_says_something_beside_its_specifics() {
        let says = |line: &str| {
            let found: Vec<_> = specifics(line).map(|found| (found, 0)).collect();
            says_more(line, &found)
        };
        for line in ["12:30:15", "<EditSvg />", "1.2.3, a/b.rs", "  9→ }"] {
            assert!(!says(line), "{line}");
        }
        for line in [
            "see src/a.rs",
            "api-7f-17 0/1 CrashLoopBackOff 10.2.4.17",
            "const gitBranch = 1;",
            r#"echo "git stash pop""#,
        ] {
            assert!(says(line), "{line}");
        }
    }

    #[test]
    fn what_the_model_said_is_kept_by_its_lines() {
        let text = "s2 measured half cells.\n---\n\nSee src/a.rs.\n  We must not use s2.\n";
        let found: Vec<_> = specifics("src/a.rs")
            .map(|found| (Specific { at: text.find("src").expect("there"), ..found }, 0))
            .collect();
        let mut lines = Lines::default();
        lines.add((1, 1, Origin::Model), text, &found);
        lines.add((2, 2, Origin::Tool), "of a tool", &[]);
        let mut told = Vec::new();
        lines.newest_plain(|line| {
            let Place::Part { start, end, .. } = line.at else { unreachable!("it is of a part") };
            told.push(&text[start as usize..end as usize]);
            Taken::Yes
        });
        assert_eq!(told, ["  We must not use s2.", "s2 measured half cells."]);
    }

    #[test]
    fn numbers_make_no_other_pattern() {
        assert_eq!(pattern("Chunk ID: 91ed74"), pattern("Chunk ID: 7ab31c"));
        assert_ne!(pattern("Chunk ID: 91ed74"), pattern("Chunk of 91ed74"));
        assert_eq!(pattern("no digits"), 0);
    }
}
