//! What stands in a sentence that tells what it is.

use std::ops::Range;

use super::Change;
use super::language::{Cue, Phrase};
use super::lists::List;
use super::words::{Form, Words};

/// The cues of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Cues {
    seen: u64,
    /// How many phrases say what it is.
    pub(super) count: usize,
    /// Where verbs that say what something is stand, in order.
    pub(super) links: Vec<Range<usize>>,
    /// The words that are said to hold no longer.
    pub(super) gone: Option<Range<usize>>,
    /// Where a reason begins.
    reason: Option<usize>,
    /// Where it first announces something.
    pub(super) announces: Option<usize>,
    /// The words that take a rule back: `feel free to`; not those between `you can` and `now`.
    pub(super) lifts: Vec<Range<usize>>,
}

impl Phrase {
    /// Where its words stand that `at` spans, without those in its gap.
    fn around_gap(&self, at: Range<usize>) -> [Range<usize>; 2] {
        let gap = self.words.iter().position(|word| word.is_gap()).unwrap_or(self.words.len());
        let behind = (self.words.len() - gap).saturating_sub(1);
        [at.start..at.start + gap, at.end - behind..at.end]
    }
}

impl Cues {
    pub(super) fn of(text: &str, words: &Words) -> Self {
        let mut cues = Self::default();
        if let Some(cue) = box_of(text) {
            cues.see(cue, 0..0, words);
            cues.add(Cue::Boxed);
        }
        let mut leading = 0;
        for (at, word, _) in words.iter() {
            if word.form.is_value() {
                cues.add(Cue::Value);
            }
            if word.quoted {
                continue;
            }
            let known = words.known(at);
            if !known.may_begin(words.id(at + 1)) {
                continue;
            }
            for phrase in &known.phrases {
                let Some(end) = words.follows(at, &phrase.words) else { continue };
                if phrase.end.allows(words.get(end - 1)) {
                    cues.see(phrase.cue, at..end, words);
                    if phrase.cue == Cue::Lifts && cues.has(Cue::Lifts) {
                        cues.lifts.extend(phrase.around_gap(at..end));
                    }
                    // `From now on run the linter.`
                    if at == 0 && end > 1 && phrase.cue == Cue::Lasts {
                        leading = leading.max(end);
                    }
                }
            }
        }
        cues.gone = cues.gone.or_else(|| before_an_arrow(words));
        if (0..words.len()).any(|at| goes_on(words, at)) {
            cues.see(Cue::Underway, 0..0, words);
        }
        if (0..words.len()).any(|at| is_past(words, at)) {
            cues.see(Cue::Done, 0..0, words);
            cues.add(Cue::Reported);
        }
        if cues.has(Cue::Again) && cues.has(Cue::Allows) {
            cues.see(Cue::Lifts, 0..0, words);
        }
        // `Owner: Dana`; not `Note: Dana owns it`.
        let label = (1..words.len().min(9)).find(|&at| {
            words.get(at - 1).is_some_and(|word| matches!(word.after, ':' | '|' | '—'))
        });
        let notice = |at: usize| at == 1 && words.is(0, List::Notices);
        if let Some(label) = label.filter(|label| cues.links.is_empty() && !notice(*label)) {
            cues.links.push(label..label);
            cues.add(Cue::Labels);
        }
        if commands(words, leading) {
            cues.add(Cue::Commands);
        }
        cues
    }

    fn add(&mut self, cue: Cue) {
        self.seen |= 1 << cue as u64;
    }

    fn see(&mut self, cue: Cue, at: Range<usize>, words: &Words) {
        match cue {
            // What stands in a reason says nothing of the topic.
            Cue::Links if self.reason.is_some() => return,
            Cue::Links => {
                if self.links.last().is_none_or(|last| last.end <= at.start) {
                    self.links.push(at);
                }
            }
            // `40, not 30`, `Not 30, 40`; a plain `not` forbids or denies.
            Cue::Instead
                if words.low(at.start) == "not"
                    && !is_aside(words, at.start)
                    && !is_put_right(words, at.start) =>
            {
                return;
            }
            // `from Denver to Houston`; not `changed from Dana to Priya`.
            Cue::Instead
                if words.low(at.start) == "from"
                    && words.get(at.end).is_some_and(|word| word.form == Form::Name) => {}
            // `was 40`; not `was slow on Fridays`.
            Cue::Instead
                if matches!(words.low(at.start), "was" | "were")
                    && !(at.end..words.len().min(at.end + 2)).any(|at| {
                        words.get(at).is_some_and(|word| word.form.is_value())
                            || words.is(at, List::Numbers)
                    }) => {}
            Cue::Instead => {
                let gone = at.end..gone_up_to(words, at.end);
                if self.gone.is_none() && !gone.is_empty() {
                    self.gone = Some(gone);
                }
            }
            Cue::Changes if words.matches(at.start, "is out").is_some() => {
                self.add(Cue::Revises);
                self.gone = Some(at.start.saturating_sub(2)..at.start);
            }
            Cue::Changes => {
                self.count += 1;
                let first = words.low(at.start);
                let hint = words.is(at.start, List::Hints) && (at.len() == 1 || first == "turns");
                if !hint {
                    self.add(Cue::Revises);
                }
            }
            // `As you can see, it works now`
            Cue::Lifts if at.start > 0 && words.low(at.start - 1) == "as" => return,
            Cue::Lifts => self.count += 1,
            Cue::Announces => {
                self.announces = Some(self.announces.map_or(at.start, |first| first.min(at.start)));
            }
            Cue::Because => {
                self.count += 1;
                self.reason = Some(self.reason.map_or(at.start, |first| first.min(at.start)));
            }
            // `The answer is API 26; Wen confirmed it this morning`: the value is what is said.
            Cue::Done if is_behind_a_value(words, at.start) => return,
            // `done` may be meant otherwise, `done and dusted` isn't.
            Cue::Done if at.len() > 1 => {
                self.count += 1;
                self.add(Cue::Reported);
            }
            // `Hang on 5 minutes`
            Cue::AnewBriefly
                if matches!(words.low(at.start), "hang" | "hold")
                    && words.get(at.end - 1).is_some_and(|word| word.after == ' ') =>
            {
                return;
            }
            // `I don't know the number, sorry` takes nothing back.
            Cue::AnewBriefly
                if at.start > 2
                    && !LATE.iter().any(|late| words.matches(at.start, late).is_some()) =>
            {
                return;
            }
            // `Some colour correction` corrects nothing.
            Cue::Anew if at.start > 0 && at.len() == 1 && words.low(at.start) == "correction" => {
                return;
            }
            Cue::Again | Cue::Allows | Cue::Social | Cue::Answers | Cue::Hearsay | Cue::Recent => {}
            _ => self.count += 1,
        }
        self.add(cue);
    }

    /// Whether, before a list, it says anything of its items.
    pub(super) fn leads(&self) -> bool {
        self.seen & KINDS != 0
    }

    /// Takes over what the line before a list says of its items.
    pub(super) fn lead(&mut self, lead: &Self) {
        if !self.leads() {
            let before = self.seen;
            self.seen |= lead.seen & KINDS;
            // It says so of all of them.
            self.count += if self.seen == before { 0 } else { 2 };
            if lead.has(Cue::Done) {
                self.add(Cue::Boxed);
            }
            if lead.has(Cue::Asks) {
                self.add(Cue::Social);
            }
        }
    }

    pub(super) fn has(&self, cue: Cue) -> bool {
        self.seen & (1 << cue as u64) != 0
    }

    /// Whether a word as `actually` means what was just said: little else is.
    pub(super) fn is_brief_change(&self, words: &Words) -> bool {
        let exact = self.has(Cue::Value) || self.gone.is_some();
        self.has(Cue::AnewBriefly) && words.len() < 10 && exact
    }

    /// How surely it takes something back.
    pub(super) fn change(&self) -> Change {
        if self.has(Cue::Anew) {
            Change::OfLast
        } else if self.has(Cue::Lifts)
            || (self.has(Cue::Instead) && self.gone.is_some() && self.has(Cue::Changes))
            || (!self.has(Cue::Instead) && self.gone.is_some())
            || self.has(Cue::Revises)
        {
            Change::Said
        } else if self.has(Cue::Changes) || (self.has(Cue::Instead) && self.gone.is_some()) {
            Change::Hinted
        } else {
            Change::None
        }
    }

    /// Whether it says what must be or mustn't.
    pub(super) fn rules(&self) -> bool {
        self.any(&[Cue::Forbids, Cue::Demands]) || self.has(Cue::Negates) && self.has(Cue::Commands)
    }

    pub(super) fn any(&self, cues: &[Cue]) -> bool {
        cues.iter().any(|cue| self.has(*cue))
    }
}

/// What a line before a list may say of all its items.
const KINDS: u64 = {
    const ALL: [Cue; 10] = [
        Cue::Forbids,
        Cue::Demands,
        Cue::Decides,
        Cue::Prefers,
        Cue::Aims,
        Cue::Done,
        Cue::Blocked,
        Cue::Underway,
        Cue::Open,
        Cue::Asks,
    ];
    let (mut bits, mut at) = (0, 0);
    while at < ALL.len() {
        bits |= 1 << ALL[at] as u64;
        at += 1;
    }
    bits
};

/// Brief words of change that also stand behind what they change.
const LATE: [&str; 4] = ["instead", "actually", "make it", "correction"];

/// What stands before an arrow, from a mark on: `retries: 3 → 5`, `tests: unittest -> pytest`; not `decided: storage ->
/// DynamoDB`, which gives a value to what is none.
fn before_an_arrow(words: &Words) -> Option<Range<usize>> {
    const MOST: usize = 4;
    let arrow = words.find("→")?.start;
    let begin = (0..arrow).rev().take(MOST + 1);
    let begin = begin.filter(|at| words.get(*at).is_some_and(|word| word.after != ' ')).max()? + 1;
    let is_value = |at: usize| words.get(at).is_some_and(|word| word.form.is_value());
    let is_change = (begin..arrow).any(is_value) || !is_value(arrow + 1);
    (begin < arrow && arrow + 1 < words.len() && is_change).then_some(begin..arrow)
}

/// Whether the word stands behind a semicolon, and a value before that.
fn is_behind_a_value(words: &Words, at: usize) -> bool {
    let mut before = (0..at).rev();
    let end = before.find(|at| words.get(*at).is_some_and(|word| word.after == ';'));
    let is_value = |at: usize| words.get(at).is_some_and(|word| word.form.is_value());
    end.is_some_and(|end| (0..=end).any(is_value))
}

/// Whether the word stands aside: behind a comma, or `and`.
fn is_aside(words: &Words, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    words.low(before) == "and" || words.get(before).is_some_and(|word| word.after == ',')
}

/// Whether a value stands between the `not` that it begins with and a comma or a stop, and another one behind that.
fn is_put_right(words: &Words, at: usize) -> bool {
    let is_value = |at: usize| words.get(at).is_some_and(|word| word.form.is_value());
    let end = gone_up_to(words, at + 1);
    let is_closed = words.get(end - 1).is_some_and(|word| matches!(word.after, ',' | '.' | '!'));
    at == 0 && is_value(1) && is_closed && (end..words.len()).any(is_value)
}

/// Where what holds no longer ends: at a mark, or before the word that says what holds.
fn gone_up_to(words: &Words, from: usize) -> usize {
    let mut at = from;
    while at < words.len().min(from + 4) && !words.is(at, List::GoneEnds) {
        at += 1;
        if words
            .get(at - 1)
            .is_some_and(|word| matches!(word.after, ',' | ';' | '.' | ':' | '!' | ')'))
        {
            break;
        }
    }
    at
}

/// Whether it begins with what is to be done, behind word `from`, polite words apart.
fn commands(words: &Words, from: usize) -> bool {
    let polite = |at: usize| words.is(at, List::Notices) || words.is(at, List::Polite);
    let Some(start) = (from..words.len()).find(|at| !polite(*at)) else { return false };
    match words.low(start) {
        "no" => words.get(start).is_some_and(|word| word.after == ' ') && words.len() > start + 1,
        "do" => words.low(start + 1) == "not",
        _ => words.is(start, List::Commands),
    }
}

/// `is now moving`, `I'm porting`, `Dana is porting`.
fn goes_on(words: &Words, at: usize) -> bool {
    let next = words.low(at + 1);
    if next.len() < 6 || !next.ends_with("ing") {
        return false;
    }
    let named = || {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        before.is_some_and(|before| before.form == Form::Name)
    };
    let goes = match words.low(at) {
        "now" | "currently" | "i'm" | "im" | "we're" | "today" => true,
        "am" => at > 0 && words.low(at - 1) == "i",
        "is" | "are" | "been" => named() || at == 0,
        _ => false,
    };
    goes && !words.is(at + 1, List::OngoingNot)
}

/// `I've moved`, `has already ported`, `Moved the cron`.
fn is_past(words: &Words, at: usize) -> bool {
    let past = |at: usize| {
        let low = words.low(at);
        let is_plain = words.get(at).is_some_and(|word| word.form == Form::Plain && !word.quoted);
        is_plain && low.len() > 4 && low.ends_with("ed") && !words.is(at, List::PastNot)
    };
    let low = words.low(at);
    if at > 0 && !matches!(low.as_bytes().first(), Some(b'i' | b'w' | b'h')) {
        return false;
    }
    match low {
        "i've" | "we've" => past(at + 1) || past(at + 2),
        "have" | "has" => past(at + 1) || (words.low(at + 1) == "already" && past(at + 2)),
        // `Noted: the port is 8080` did nothing.
        _ => {
            let is_notice = words.is(0, List::Notices);
            at == 0 && past(0) && !is_notice && words.len() > 3 && !words.is(1, List::NotDone)
        }
    }
}

/// Words for the state that a task is in.
const STATES: [(&str, Cue); 34] = [
    ("not started", Cue::Open),
    ("planned", Cue::Open),
    ("stalled", Cue::Blocked),
    ("paused", Cue::Blocked),
    ("delivered", Cue::Done),
    ("finished", Cue::Done),
    ("complete", Cue::Done),
    ("ongoing", Cue::Underway),
    ("to do", Cue::Open),
    ("todo", Cue::Open),
    ("open", Cue::Open),
    ("new", Cue::Open),
    ("backlog", Cue::Open),
    ("ready", Cue::Open),
    ("pending", Cue::Open),
    ("unassigned", Cue::Open),
    ("closed", Cue::Done),
    ("done", Cue::Done),
    ("resolved", Cue::Done),
    ("merged", Cue::Done),
    ("fixed", Cue::Done),
    ("shipped", Cue::Done),
    ("completed", Cue::Done),
    ("in progress", Cue::Underway),
    ("in review", Cue::Underway),
    ("doing", Cue::Underway),
    ("started", Cue::Underway),
    ("wip", Cue::Underway),
    ("active", Cue::Underway),
    ("draft", Cue::Underway),
    ("blocked", Cue::Blocked),
    ("halted", Cue::Blocked),
    ("on hold", Cue::Blocked),
    ("waiting", Cue::Blocked),
];

/// The state that a field names: `in_progress`.
pub(super) fn state_of(name: &str) -> Option<Cue> {
    let name = name.replace(['_', '-'], " ");
    STATES.iter().find(|(state, _)| name.eq_ignore_ascii_case(state)).map(|(_, cue)| *cue)
}

/// What a ticket or a row says of its task, behind its number: `OPS-12  Closed  port it`.
fn status_of(text: &str) -> Option<Cue> {
    let is_state = |text: &str| {
        let state = text.trim().trim_matches(['[', ']', '*', '(', ')', '`']);
        STATES.iter().find(|(name, _)| state.eq_ignore_ascii_case(name)).map(|(_, cue)| *cue)
    };
    if let Some((state, _)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return is_state(state);
    }
    if let Some(cue) = text.contains(" | ").then(|| text.split('|').find_map(is_state)).flatten() {
        return Some(cue);
    }
    let (number, rest) = text.split_once([' ', '|', '\t', ':'])?;
    let number = number.trim_start_matches(['#', '[', '(']).trim_end_matches([']', ')', ':']);
    let is_ticket = number.len() < 14
        && number.bytes().any(|b| b.is_ascii_digit())
        && number.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !is_ticket {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '|', '\t', ':', '[', '(']);
    let begins = |state: &&(&str, Cue)| {
        let is_there = rest.get(..state.0.len()).is_some_and(|s| s.eq_ignore_ascii_case(state.0));
        let behind = rest.get(state.0.len()..).unwrap_or("");
        let mut marks = behind.chars();
        let ends = matches!(
            (marks.next(), marks.next()),
            (Some(']' | ')' | '|' | ':' | '\t'), _) | (Some(' '), Some(' ' | '|' | '-' | '—'))
        );
        is_there && ends
    };
    STATES.iter().find(begins).map(|(_, cue)| *cue)
}

/// What a box or a word in front of a task says of it.
fn box_of(text: &str) -> Option<Cue> {
    const BOXES: [(&str, Cue); 22] = [
        ("[ ]", Cue::Open),
        ("☐", Cue::Open),
        ("⬜", Cue::Open),
        ("TODO", Cue::Open),
        ("OPEN ", Cue::Open),
        ("FIXME", Cue::Open),
        ("PENDING", Cue::Open),
        ("[x]", Cue::Done),
        ("[X]", Cue::Done),
        ("✅", Cue::Done),
        ("☑", Cue::Done),
        ("✔", Cue::Done),
        ("✓", Cue::Done),
        ("DONE", Cue::Done),
        ("CLOSED ", Cue::Done),
        ("MERGED", Cue::Done),
        ("[~]", Cue::Underway),
        ("[-]", Cue::Underway),
        ("IN PROGRESS", Cue::Underway),
        ("WIP", Cue::Underway),
        ("BLOCKED", Cue::Blocked),
        ("ON HOLD", Cue::Blocked),
    ];
    let text = text.trim_start_matches(['-', '*', '+', '•', ' ']);
    // Few lines begin with a first byte of theirs.
    let first = text.as_bytes().first();
    let begins = |start: &str| start.as_bytes().first() == first && text.starts_with(start);
    let found = BOXES.iter().find(|(start, _)| begins(start)).map(|(_, cue)| *cue);
    found.or_else(|| status_of(text))
}
