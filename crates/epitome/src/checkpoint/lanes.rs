//! The lanes of a checkpoint behind its header, each within its share of the room.

mod deeds;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

use super::activation::Mentioned;
use super::deeds::{Deed, Merging, merged};
use super::extract::Gathered;
use super::notes::{Line, Place, Taken, Texts};
use super::phrases::Phrases;
use super::quotes::{self, Lane, QuotedMessage, Room};
use super::ranges::Ranges;
use super::{LEAST_SUMMARY, LEAST_TOKENS, push_lane, titles};
use crate::count::TokenCounter;
use crate::specifics::{Class, specifics};
use crate::summarize::fitted;
use crate::text::{cut, secrets::masked};
use crate::transcript::{Origin, Transcript};

/// How many tokens each lane may have. What one leaves goes to those behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    room: u64,
    /// For all of people's words.
    words: u64,
    /// For what these answer.
    answered: u64,
    /// For reads.
    looks: u64,
    /// For the agent's last words.
    last: u64,
    /// For its own list.
    todo: u64,
    /// For a summary.
    pub(super) summary: u64,
}

impl Shares {
    /// Shares of this many tokens.
    pub(super) fn of(room: u64) -> Self {
        let percent = |share: u64| room * share / 100;
        Shares {
            room,
            words: percent(60),
            answered: percent(10),
            looks: percent(6),
            last: percent(12),
            todo: percent(8),
            summary: percent(45),
        }
    }

    /// The same, with more for people's words.
    pub(super) fn and_for_words(self, more: u64) -> Self {
        Shares { words: self.words + more, ..self }
    }
}

/// Calls that may have changed something.
pub(super) struct Calls {
    /// Those that say the same as one.
    pub(super) same: Vec<Deed>,
    /// As they were made, one after another.
    pub(super) in_order: Vec<Deed>,
}

/// What the lanes are written from.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) gathered: &'a Gathered,
    /// Calls before the newest human message.
    pub(super) old: &'a Calls,
    /// Calls since.
    pub(super) new: &'a Calls,
    pub(super) transcript: &'a Transcript,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) shares: Shares,
    pub(super) summary: Option<&'a str>,
}

/// Which lines notes are chosen from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoteSource {
    /// Those that say something exact.
    Specific,
    /// All that the agent said, too, the newest first.
    All,
}

/// A checkpoint's body.
#[derive(Default)]
pub(super) struct Written {
    pub(super) body: String,
    /// How the user's words came out.
    pub(super) words: Lane,
    /// The summary in it; empty if there is none.
    pub(super) summary: String,
    /// Whether a tool that changed something isn't named.
    pub(super) lacks_tools: bool,
}

/// Tokens of the gap between two lines of the model's that aren't neighbours.
const GAP_TOKENS: u64 = 3;
/// In fewer tokens, the end of a message doesn't show its question.
const LEAST_ANSWERED: u64 = 48;
/// The part of the room that what the newest words answer may take.
const MOST_ANSWERED: u64 = 4;
/// Tokens of the titles of two lanes.
pub(super) const TITLES_TOKENS: u64 = 12;
/// After this many lines or names in a row without room, the search ends.
const MISSES: u32 = 24;
/// Percent of the rest that lines get before names.
const NOTES_SHARE: u64 = 50;

impl Lanes<'_> {
    /// All lanes behind `head`.
    pub(super) fn write(&self, head: &str) -> Written {
        let Shares { room, words, summary, .. } = self.shares;
        let mut out = head.to_owned();
        let mut left = room;
        // Commands and prohibitions get what deeds don't need: at least half, unless naming the deeds takes more. Other
        // words get only what deeds don't need.
        let [old, new] = [self.old, self.new]
            .map(|calls| self.total(&deeds::lines(&merged(&calls.same, Merging::Ordered))));
        let room_of = |deeds: u64| room.saturating_sub(deeds + TITLES_TOKENS);
        let least = self.least_of(self.all(), Merging::Least);
        let commands = room_of((new + old.min(room / 4)).min(room / 2).max(least));
        // What the newest words answer comes before older words.
        let most = self.shares.answered.max(LEAST_ANSWERED).max(room / MOST_ANSWERED);
        let asked = self.gathered.newest_answered();
        let asked = asked.and_then(|asked| quotes::end(asked, most, self.counter));
        let needed = asked.map(|asked| self.tokens(&asked.lines()) + TITLES_TOKENS);
        let answered = needed.filter(|needed| *needed <= room / MOST_ANSWERED).unwrap_or(0);
        let all = words.min(room_of((new + old.min(room / 4)).max(least) + answered));
        let words = quotes::lane(&self.gathered.words, Room { commands, all }, self.counter);
        let unquoted = self.unquoted(&words.quoted);
        // Where little fits, what names each tool goes first.
        let naming = self.tokens(&words.text) + self.tokens(&unquoted.text()) + TITLES_TOKENS;
        let words = if room >= LEAST_TOKENS || naming <= room_of(least) {
            words.naming(&unquoted, self.gathered.more_unquoted)
        } else {
            words
        };
        self.push(&mut out, titles::WORDS, &words.text, &mut left);
        let mut deeds = self.deeds(left.saturating_sub(answered));
        if !deeds.is_complete && answered > 0 {
            deeds = self.deeds(left);
        }
        let rest = left.saturating_sub(self.tokens(&deeds.text) + TITLES_TOKENS);
        let most = self.shares.answered.max(answered).max(LEAST_ANSWERED).min(rest);
        let answered = self.answered(&words.quoted, most);
        self.push(&mut out, titles::ANSWERED, &answered, &mut left);
        self.push(&mut out, titles::DEEDS, &deeds.text, &mut left);
        let state = self.state(left);
        self.push(&mut out, titles::STATE, &state, &mut left);
        let given = self.summary.unwrap_or(&self.gathered.summary);
        let summary = self.prose(given, summary.min(left));
        self.push(&mut out, titles::SUMMARY, &summary, &mut left);
        let mut is_said = vec![false; self.gathered.mentions.len()];
        for at in &self.gathered.shown {
            is_said[*at as usize] = true;
        }
        for found in specifics(&out[head.len()..]) {
            if let Some(at) = self.gathered.mentions.find(found.text) {
                is_said[at as usize] = true;
            }
        }
        // No deed and no rule is left out while notes or names have room.
        let lacks_tools = deeds.lacks_tools;
        if !deeds.is_complete || words.lacks_commands {
            return Written { body: out, words, summary, lacks_tools };
        }
        let share = left * NOTES_SHARE / 100;
        let mut said_by_notes = is_said.clone();
        let mut texts = Texts::new();
        let mut notes = self.notes(share, NoteSource::Specific, &mut said_by_notes, &mut texts);
        let for_names = left.saturating_sub(self.tokens(&notes));
        let above = Phrases::of(&out[head.len()..]);
        let mut names = self.names(for_names, &said_by_notes, &[&above, &Phrases::of(&notes)]);
        // What names leave goes back to the lines.
        let unused = for_names.saturating_sub(self.tokens(&names));
        if unused > left / 20 {
            let most = left.saturating_sub(for_names) + unused;
            notes = self.notes(most, NoteSource::All, &mut is_said, &mut texts);
            let for_names = left.saturating_sub(self.tokens(&notes));
            names = self.names(for_names, &is_said, &[&above, &Phrases::of(&notes)]);
        }
        self.push(&mut out, titles::NOTES, &notes, &mut left);
        self.push(&mut out, titles::NAMES, &names, &mut left);
        Written { body: out, words, summary, lacks_tools }
    }

    /// The user's messages that aren't quoted.
    fn unquoted(&self, quoted: &[QuotedMessage]) -> Ranges {
        let mut unquoted = self.gathered.unquoted.clone();
        let quoted: HashSet<usize> = quoted.iter().map(|word| word.at).collect();
        let missing = self.gathered.words.iter().filter(|word| !quoted.contains(&word.at));
        missing.for_each(|word| unquoted.add(word.at));
        unquoted
    }

    /// Tokens of lines.
    fn total(&self, lines: &[String]) -> u64 {
        lines.iter().map(|line| self.tokens(line) + 1).sum()
    }

    fn tokens(&self, text: &str) -> u64 {
        self.counter.text(text).tokens
    }

    /// Adds a lane, and subtracts its tokens from the rest.
    fn push(&self, out: &mut String, title: &str, lines: &str, left: &mut u64) {
        let before = out.len();
        push_lane(out, title, lines);
        *left = left.saturating_sub(self.tokens(&out[before..]));
    }

    /// The last of these lines that fit.
    fn newest(&self, lines: Vec<String>, most: u64) -> Vec<String> {
        let mut left = most;
        let fits = |line: &String| {
            let rest = left.checked_sub(self.tokens(line) + 1);
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let mut lines: Vec<String> = lines.into_iter().rev().take_while(fits).collect();
        lines.reverse();
        lines
    }

    /// The ends of what the user's words answer, each within its part of the room.
    fn answered(&self, quoted: &[QuotedMessage], mut left: u64) -> String {
        let asked = self.gathered.answered(quoted);
        let mut told = Vec::new();
        // What needs it most has room first.
        for (at, word) in asked.iter().enumerate() {
            // An answer such as "the second one" needs all that was offered.
            let share = (asked.len() - at).min(if at == 0 { 2 } else { usize::MAX });
            let part = (left / share as u64).max(LEAST_ANSWERED).min(left);
            let Some(end) = quotes::end(word, part, self.counter) else { continue };
            left = left.saturating_sub(self.tokens(&end.lines()));
            told.push(end);
        }
        told.sort_by_key(|word| word.at);
        quotes::lane_of(&told)
    }

    /// The agent's last words, and its list.
    fn state(&self, left: u64) -> String {
        // Where little fits, they go before notes.
        let most = self.shares.last.max(LEAST_SUMMARY.min(left / 2)).min(left);
        let last = self.gathered.last_words();
        let mut out =
            last.map_or_else(String::new, |last| quotes::agent_lane(last, most, self.counter));
        let left = left.saturating_sub(self.tokens(&out));
        // What is open is worth more than notes and names.
        let mut room = self.shares.todo.max(left / 2).min(left);
        let mut items = String::new();
        for item in self.gathered.todo() {
            let Some(rest) = room.checked_sub(self.tokens(&item) + 1) else { break };
            room = rest;
            items.push_str(&item);
            items.push('\n');
        }
        if !items.is_empty() {
            out.push_str(titles::TODO);
            out.push_str(&items);
        }
        out
    }

    /// A summary of at most `most` tokens. None of its lines can pass for a title or for somebody's words.
    fn prose(&self, summary: &str, most: u64) -> String {
        // A summarizer may repeat a secret.
        let summary = masked(summary.trim());
        if summary.is_empty() {
            return String::new();
        }
        let text = fitted(&summary, most, self.counter).unwrap_or_default();
        let titled = |line: &str| {
            if titles::ALL.contains(&line) { format!("{line}:\n") } else { format!("{line}\n") }
        };
        text.lines().map(titled).collect()
    }

    /// Lines of earlier messages in order, in at most `most` tokens. A line says its source unless the one above has the same.
    fn notes(
        &self,
        most: u64,
        from: NoteSource,
        is_said: &mut [bool],
        texts: &mut Texts,
    ) -> String {
        let Gathered { lines, mentions, .. } = self.gathered;
        let mut left = most.saturating_sub(4);
        let mut misses = 0;
        let mut picked: Vec<([u32; 4], String, String)> = Vec::new();
        let mut labels: BTreeSet<String> = BTreeSet::new();
        let mut takes = |line: &Line| {
            let (label, text) = self.note(line, texts);
            let label_tokens = if labels.contains(&label) { 1 } else { self.tokens(&label) };
            let gap = if line.who == Origin::Tool { 0 } else { GAP_TOKENS };
            let Some(rest) = left.checked_sub(self.tokens(&text) + label_tokens + gap) else {
                misses += 1;
                return if misses > MISSES { Taken::Full } else { Taken::No };
            };
            (left, misses) = (rest, 0);
            let place = match line.at {
                Place::Carried(at) => [line.number, 0, at, 0],
                Place::Part { slot, start, end } => [line.number, slot, start, end],
            };
            labels.insert(label.clone());
            picked.push((place, label, text));
            Taken::Yes
        };
        lines.choose(mentions, is_said, &mut takes);
        if from == NoteSource::All {
            let last = self.gathered.last_words().map(|last| last.at);
            let is_said = |line: &Line| last == Some(line.number as usize);
            lines.newest_plain(|line| if is_said(line) { Taken::No } else { takes(line) });
        }
        picked.sort();
        let mut out = String::new();
        let mut above = ("", 0, 0);
        for ([_, slot, start, end], label, text) in &picked {
            out.push_str(if above.0 == label { titles::CONTINUED } else { label });
            // A tool's lines are data; what the model wrote reads as whole.
            let is_told = label.ends_with("] ") && !label.trim_end().contains(' ');
            let is_below = is_told && above.1 == *slot && above.2 > 0 && *end > 0;
            let between = texts.get(slot).filter(|_| is_below);
            let between = between.and_then(|text| text.get(above.2 as usize..*start as usize));
            if between.is_some_and(|text| !text.trim().is_empty()) {
                out.push_str(quotes::GAP);
                out.push(' ');
            }
            out.push_str(text);
            above = (label, *slot, *end);
        }
        out
    }

    /// A line with its source: `[65] ` of the model, `[15 Read] ` of a tool's output.
    fn note(&self, line: &Line, texts: &mut Texts) -> (String, String) {
        let (slot, start, end) = match line.at {
            Place::Carried(at) => {
                let (label, text) = &self.gathered.carried_notes[at as usize];
                let changed = self.since(line.number, label);
                return (format!("[{label}{changed}] "), format!("{text}\n"));
            }
            Place::Part { slot, start, end } => (slot, start as usize, end as usize),
        };
        let text = texts.entry(slot).or_insert_with(|| self.gathered.said(self.transcript, slot));
        let is_whole = |at: Option<&u8>| at.is_none_or(|byte| *byte == b'\n');
        let begins = start == 0 || is_whole(text.as_bytes().get(start - 1));
        let before = if begins { "" } else { "… " };
        let behind = if is_whole(text.as_bytes().get(end)) { "" } else { " …" };
        let said = cut::one_line(text[start..end].trim(), usize::MAX);
        let tool = match line.who {
            Origin::Model | Origin::Human => String::new(),
            _ => {
                let tools = &self.gathered.tools;
                let known = tools.binary_search_by_key(&slot, |(slot, _)| *slot);
                format!(" {}", known.map_or("note", |at| &tools[at].1))
            }
        };
        let label = format!("{}{tool}", line.number);
        let changed = self.since(line.number, &label);
        (format!("[{label}{changed}] "), format!("{before}{said}{behind}\n"))
    }

    /// The label for a file or record that was changed or acted on after message `number`: the quoted text may be out of date.
    fn since(&self, number: u32, label: &str) -> &'static str {
        let name = label.splitn(3, ' ').nth(2);
        name.map_or("", |name| self.gathered.deeds.since(number, name))
    }

    /// Specifics that nothing else mentions, a line for each class, in at most `most` tokens. A substring of a longer string in
    /// the texts `above` counts as mentioned. A number that only tools mentioned means nothing by itself.
    fn names(&self, most: u64, is_said: &[bool], above: &[&Phrases<'_>]) -> String {
        let mentions = &self.gathered.mentions;
        let alike = self.gathered.lines.alike_by_specific(mentions.len());
        let is_told = |one: &Mentioned| one.class != Class::Number || one.is_used;
        let unsaid = (0..mentions.len() as u32)
            .filter(|at| !is_said[*at as usize] && is_told(mentions.get(*at)));
        let mut ranked: Vec<(f32, u32)> = unsaid
            .map(|at| {
                let one = mentions.get(at);
                let weight = one.weight / alike[at as usize];
                (weight / (2.0 + one.text.len() as f32 / 3.6), at)
            })
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut left = most.saturating_sub(8);
        let mut misses = 0;
        let mut lists: BTreeMap<Class, Vec<&str>> = BTreeMap::new();
        for (_, at) in ranked {
            let one = mentions.get(at);
            if above.iter().any(|text| text.say(&one.text)) {
                continue;
            }
            let title = if lists.contains_key(&one.class) { 0 } else { 4 };
            let Some(rest) = left.checked_sub(self.tokens(&one.text) + 2 + title) else {
                misses += 1;
                if misses > MISSES {
                    break;
                }
                continue;
            };
            (left, misses) = (rest, 0);
            lists.entry(one.class).or_default().push(&one.text);
        }
        let mut out = String::new();
        for (class, names) in lists {
            let mark = if class == Class::Quoted { "\"" } else { "" };
            let names: Vec<String> =
                names.iter().map(|name| format!("{mark}{name}{mark}")).collect();
            let _ = writeln!(out, "{}: {}", class.plural(), names.join(", "));
        }
        out
    }
}

/// Lines as a text.
fn unlines(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
