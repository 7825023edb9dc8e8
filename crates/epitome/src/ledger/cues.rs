//! What stands in a sentence that tells what it is.

use std::ops::Range;

use super::Change;
use super::language::{Cue, List};
use super::words::Words;

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
}

impl Cues {
    pub(super) fn of(text: &str, words: &Words) -> Self {
        let mut cues = Self::default();
        if let Some(cue) = box_of(text) {
            cues.see(cue, 0..0, words);
            cues.add(Cue::Boxed);
        }
        for (at, word, _) in words.iter() {
            if word.form.is_value() {
                cues.add(Cue::Value);
            }
            if word.quoted {
                continue;
            }
            for phrase in &words.known(at).phrases {
                let Some(end) = words.follows(at, &phrase.words) else { continue };
                if !phrase.labels || words.get(end - 1).is_some_and(|word| word.after == ':') {
                    cues.see(phrase.cue, at..end, words);
                }
            }
        }
        // `is now moving`
        let goes_on = |at: usize| {
            let next = words.low(at + 1);
            matches!(words.low(at), "now" | "currently") && next.len() > 4 && next.ends_with("ing")
        };
        if (0..words.len()).any(goes_on) {
            cues.see(Cue::Underway, 0..0, words);
        }
        if cues.has(Cue::Again) && cues.has(Cue::Allows) {
            cues.see(Cue::Lifts, 0..0, words);
        }
        // `Owner: Dana`; not `Note: Dana owns it`.
        let label = (1..words.len().min(9))
            .find(|&at| words.get(at - 1).is_some_and(|word| word.after == ':'));
        let notice = |at: usize| at == 1 && words.is(0, List::Notices);
        if let Some(label) = label.filter(|label| cues.links.is_empty() && !notice(*label)) {
            cues.links.push(label..label);
            cues.add(Cue::Labels);
        }
        if commands(words) {
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
            // `40, not 30`; a plain `not` forbids or denies.
            Cue::Instead if words.low(at.start) == "not" && !is_aside(words, at.start) => return,
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
            Cue::Announces => {
                self.announces = Some(self.announces.map_or(at.start, |first| first.min(at.start)));
            }
            Cue::Because => {
                self.count += 1;
                self.reason = Some(self.reason.map_or(at.start, |first| first.min(at.start)));
            }
            Cue::Again | Cue::Allows | Cue::Social => {}
            _ => self.count += 1,
        }
        self.add(cue);
    }

    /// Takes over what the line before a list says of its items.
    pub(super) fn lead(&mut self, lead: &Self) {
        const KINDS: [Cue; 10] = [
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
        if !self.any(&KINDS) {
            self.seen |= lead.seen & KINDS.iter().fold(0, |all, cue| all | 1 << *cue as u64);
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
            || self.has(Cue::Revises)
        {
            Change::Said
        } else if self.has(Cue::Changes) || (self.has(Cue::Instead) && self.gone.is_some()) {
            Change::Hinted
        } else {
            Change::None
        }
    }

    pub(super) fn any(&self, cues: &[Cue]) -> bool {
        cues.iter().any(|cue| self.has(*cue))
    }
}

/// Whether the word stands aside: behind a comma, or `and`.
fn is_aside(words: &Words, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    words.low(before) == "and" || words.get(before).is_some_and(|word| word.after == ',')
}

/// Where what holds no longer ends: at a mark, or before the word that says what holds.
fn gone_up_to(words: &Words, from: usize) -> usize {
    const STOPS: [&str; 14] = [
        "to", "but", "use", "now", "and", "with", "it's", "anymore", "in", "for", "so", "is",
        "are", "→",
    ];
    let mut at = from;
    while at < words.len().min(from + 4) && !STOPS.contains(&words.low(at)) {
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

/// Whether it begins with what is to be done, polite words apart.
fn commands(words: &Words) -> bool {
    let polite = |at: usize| words.is(at, List::Notices) || words.is(at, List::Polite);
    let Some(start) = (0..words.len()).find(|at| !polite(*at)) else { return false };
    match words.low(start) {
        "no" => words.get(start).is_some_and(|word| word.after == ' ') && words.len() > start + 1,
        "do" => words.low(start + 1) == "not",
        _ => words.is(start, List::Commands),
    }
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
    BOXES.iter().find(|(start, _)| text.starts_with(start)).map(|(_, cue)| *cue)
}
