//! Cuts of held entries that don't all fit: the one exception of the law of pins.
//!
//! Pins, the task and the newest human message stay whole while other entries can make room for them. Their
//! companions (results and calls, the model's answer to the newest message) are cut first, to the room that
//! is left beside human words. Human words that stay only for the provider's rules are cut next.

use super::PlanInput;
use crate::checkpoint::{Contents, read};
use crate::guard::KeepReason;
use crate::strategy::{Edit, QUOTE, is_stub, level, shorter_call};
use crate::transcript::{Entry, Marks, Origin, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};
use crate::working_view::{Draft, fit_part, may_act, result_of};

/// The most that what can be cut of one held entry may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    /// Of entries held for their own sake.
    firm: u64,
    /// Companions of human words.
    spoken: u64,
    /// Of anything else that is held beside it.
    soft: u64,
}

/// How strictly a held entry's words stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// They were to stay: cut last.
    Firm,
    /// A person's, which stay beside others.
    Spoken,
    /// They stay beside others.
    Soft,
}

/// The least that words of a person are cut to.
const LEAST_WORDS: u64 = 80;
/// A text isn't cut to less.
const LEAST_EXCERPT: u64 = 40;
/// A call isn't cut to less.
const LEAST_CALL: u64 = 96;
/// The maximum tokens of a call and of its outcome in a line.
const DEED: u64 = 80;
const OUTCOME: u64 = 24;

impl PlanInput<'_> {
    /// The held entries, each at its least size.
    pub(super) fn floor(&self) -> u64 {
        let mut draft = Draft::new(&self.request.transcript, self.tally);
        for at in 0..self.request.transcript.len() {
            if self.guard.may_leave(at) {
                draft.apply(&Edit::Fold(at..at + 1, Reason::LastResort), &self.counts());
            }
        }
        let line = if draft.folds() { self.least } else { 0 };
        if draft.total() + line > self.budget.asked {
            for edit in self.checkpoints(&draft, Reason::LastResort) {
                draft.apply(&edit, &self.counts());
            }
        }
        if draft.total() + line > self.budget.asked {
            for edit in self.cuts(&draft, self.shares()) {
                draft.apply(&edit, &self.counts());
            }
        }
        draft.total() + line
    }

    /// The least size of one held entry.
    pub(super) fn shares(&self) -> Levels {
        let share = self.budget.share();
        let words = share.max(LEAST_WORDS);
        Levels { firm: words, spoken: words, soft: share.max(LEAST_EXCERPT) }
    }

    /// The most that the cuttable parts of one held entry may take so that all fit beside human words; at
    /// least their share.
    pub(super) fn levels(&self) -> Levels {
        let transcript = &self.request.transcript;
        let target = self.budget.target;
        let mut fixed = self.tally.frame.total().tokens;
        let (mut firm, mut spoken, mut soft) = (Vec::new(), Vec::new(), Vec::new());
        let mut said = 0;
        let mut leaves = false;
        for entry in transcript.entries() {
            let tokens = self.tally.entry(entry.index);
            if self.guard.may_leave(entry.index) {
                leaves = true;
                said += self.words(entry, &earlier(entry));
                continue;
            }
            let Some(cut) = self.cut(entry.index) else {
                fixed += tokens;
                continue;
            };
            let sum = |of: &dyn Fn(&Part<'_>) -> bool| -> u64 {
                let parts = entry.parts().filter(|p| !p.is(Marks::NESTED) && of(p));
                parts.map(|part| self.counts().part_tokens(&part)).sum()
            };
            let leaving = sum(&|part| self.came_later(part));
            let rigid = sum(&|part| !self.came_later(part) && !self.is_cuttable(part));
            fixed += rigid;
            let beside = self.beside(entry, cut, &|part| self.counts().part_tokens(part));
            soft.extend((beside > 0).then_some(beside));
            let own = tokens - leaving - rigid - beside;
            match cut {
                Cut::Firm => firm.push(own),
                Cut::Spoken => spoken.push(own),
                Cut::Soft => soft.push(own),
            }
        }
        let sum = |sizes: &[u64]| sizes.iter().sum::<u64>();
        let (whole, words) = (sum(&firm), sum(&spoken));
        let held = fixed + whole + words + sum(&soft);
        let others = if leaves { said + self.least } else { 0 };
        let checkpoint = self.budget.share().max(self.least.min(self.budget.asked / 2));
        let is_tight = leaves && held + self.least > target;
        let reserve = if is_tight { others.max(checkpoint) } else { others };
        let least = self.shares();
        let cut_to =
            |sizes: &[u64], most: u64| sizes.iter().map(|size| (*size).min(most)).sum::<u64>();
        let whole_or = |sizes: &[u64], room: u64, least: u64| {
            let most = if sum(sizes) <= room { u64::MAX } else { level(sizes, room).unwrap_or(0) };
            most.max(least)
        };
        let room = target.saturating_sub(fixed + whole + words + reserve);
        // A fold needs room, too: half of what is left beside the uncuttable parts.
        let half = target.saturating_sub(fixed) / 2;
        let room = if leaves { room.min(half) } else { room };
        let soft_level = level(&soft, room).unwrap_or(0).max(least.soft);
        let fixed = fixed + cut_to(&soft, soft_level);
        let room = target.saturating_sub(fixed + whole);
        let spoken_level = whole_or(&spoken, room, least.spoken);
        let room = target.saturating_sub(fixed + cut_to(&spoken, spoken_level));
        let firm_level = whole_or(&firm, room, least.firm);
        Levels { firm: firm_level, spoken: spoken_level, soft: soft_level }
    }

    /// The room that people's words need which an entry says, or quotes in `earlier` checkpoints.
    fn words(&self, entry: Entry<'_>, earlier: &[Contents]) -> u64 {
        if entry.is_human() {
            return self.tally.entry(entry.index).min(QUOTE);
        }
        let words = earlier.iter().flat_map(|it| &it.words);
        words.map(|word| self.counter.text(&word.text).tokens.min(QUOTE)).sum()
    }

    /// Cuts results and answers that stay, so that the checkpoint has room to name folded actions and to quote people: half of
    /// the target at most. Read content can be read again; an unnamed action is repeated. If the newest calls act, an eighth: no
    /// model has read their results yet.
    pub(super) fn cuts_for_deeds(&self, draft: &Draft) -> Vec<Edit> {
        let entries = || self.request.transcript.entries();
        let mut newest = entries().filter(|entry| self.guard.is_newest(entry.index));
        let acted = newest.any(|entry| entry.parts().any(|part| may_act(&part)));
        let wanted = self.budget.asked / if acted { 8 } else { 2 };
        let left = self.budget.target.checked_sub(draft.total() + self.least);
        let Some(left) = left.filter(|left| draft.folds() && *left < wanted) else {
            return Vec::new();
        };
        let folded = entries().filter(|entry| draft.is_folded(entry.index));
        let needed = |entry: Entry<'_>| {
            let earlier = earlier(entry);
            let carried = earlier.iter().map(|it| self.counter.text(&it.deeds).tokens);
            let calls = entry.parts().filter(may_act);
            let calls = calls.map(|call| self.counts().part_tokens(&call).min(DEED) + OUTCOME);
            carried.chain(calls).sum::<u64>() + self.words(entry, &earlier)
        };
        let missing = wanted.min(folded.map(needed).sum()).saturating_sub(left);
        if missing == 0 {
            return Vec::new();
        }
        let shown = entries().filter(|entry| draft.is_shown(entry.index));
        let shown_tokens = |part: &Part<'_>| draft.part_tokens(part, &self.counts());
        let soft = shown.filter_map(|entry| match self.cut(entry.index)? {
            Cut::Soft => Some(draft.entry_tokens(entry.index)),
            cut => Some(self.beside(entry, cut, &shown_tokens)).filter(|beside| *beside > 0),
        });
        let sizes: Vec<u64> = soft.collect();
        let room = sizes.iter().sum::<u64>().saturating_sub(missing);
        let soft = level(&sizes, room).unwrap_or(0).max(LEAST_EXCERPT);
        self.cuts(draft, Levels { firm: u64::MAX, spoken: u64::MAX, soft })
    }

    /// How the entry may be cut; `None` if not at all.
    fn cut(&self, entry: usize) -> Option<Cut> {
        // Most may leave: what else is asked is asked of the others.
        let held = self.guard.held(entry)?;
        let is_excerptable = self.guard.excerptable().contains_key(&entry);
        let is_human = self.request.transcript.entry(entry).is_human();
        match held {
            KeepReason::State | KeepReason::Instructions => None,
            KeepReason::Companion | KeepReason::Elsewhere => {
                Some(if is_human { Cut::Spoken } else { Cut::Soft })
            }
            KeepReason::Last if !is_human => is_excerptable.then_some(Cut::Soft),
            _ => is_excerptable.then_some(Cut::Firm),
        }
    }

    /// How a part is cut in an entry whose words are cut as `of` says: tool output beside human words is cut before them.
    fn cut_of(&self, part: &Part<'_>, of: Cut) -> Cut {
        let entry = self.request.transcript.entry(self.request.transcript.entry_of(part.slot));
        let is_beside = self.guard.held(entry.index).is_some_and(|held| {
            use KeepReason::{Companion, Elsewhere, Last, Newest, Task};
            matches!(held, Task | Newest | Last | Companion | Elsewhere)
        });
        let is_tools = part.kind() == PartKind::Result || part.is(Marks::NESTED);
        if is_beside && is_tools && entry.is_human() { Cut::Soft } else { of }
    }

    /// Tokens of the tool output beside human words in an entry that is cut so, from the tokens of each part.
    fn beside(&self, entry: Entry<'_>, of: Cut, tokens: &dyn Fn(&Part<'_>) -> u64) -> u64 {
        let is_beside = |part: &Part<'_>| {
            !part.is(Marks::NESTED)
                && of != Cut::Soft
                && self.is_cuttable(part)
                && self.cut_of(part, of) == Cut::Soft
        };
        entry.parts().filter(is_beside).map(|part| tokens(&part)).sum()
    }

    fn came_later(&self, part: &Part<'_>) -> bool {
        self.guard.came_later().contains(&part.slot)
    }

    /// Earlier checkpoints leave the messages that they share with what must stay, and what came later the task's.
    pub(super) fn checkpoints(&self, draft: &Draft, reason: Reason) -> Vec<Edit> {
        let held = self
            .request
            .transcript
            .entries()
            .filter(|entry| draft.is_shown(entry.index) && !self.guard.may_leave(entry.index));
        held.flat_map(|entry| entry.parts())
            .filter(|part| part.origin() == Origin::Checkpoint || self.came_later(part))
            .filter(|part| !draft.is_edited(part.slot))
            .map(|part| Edit::Put(PartEdit { at: part.slot, put: Put::Nothing, reason }))
            .collect()
    }

    /// Cuts of held entries that are larger than they may be.
    pub(super) fn cuts(&self, draft: &Draft, most: Levels) -> Vec<Edit> {
        let counts = self.counts();
        let context = self.context(draft, 0);
        let transcript = &self.request.transcript;
        let mut edits = Vec::new();
        for entry in transcript.entries().filter(|e| draft.is_shown(e.index)) {
            let Some(of) = self.cut(entry.index) else { continue };
            let pinned = self.guard.excerptable().get(&entry.index);
            let beside = self.beside(entry, of, &|part| counts.part_tokens(part));
            // The most that each part may take that is cut so, if all of them may take as much as `most`.
            let each = |cut: Cut| {
                let (most, whole) = match cut {
                    Cut::Soft if of != Cut::Soft => (most.soft, beside),
                    Cut::Firm => (most.firm, self.tally.entry(entry.index) - beside),
                    Cut::Spoken => (most.spoken, self.tally.entry(entry.index) - beside),
                    Cut::Soft => (most.soft, self.tally.entry(entry.index)),
                };
                if whole <= most {
                    return u64::MAX;
                }
                // Results of calls at once are one entry: together they take no more, nor do notes that stand for media.
                let own = || entry.parts().filter(|p| !p.is(Marks::NESTED));
                let is_note = |p: &Part<'_>| {
                    p.kind() == PartKind::Media && draft.is_edited(p.slot) && cut == of
                };
                let notes = own().filter(is_note).map(|note| draft.part_tokens(&note, &counts));
                let texts = own().filter(|p| self.is_cuttable(p) && self.cut_of(p, of) == cut);
                let texts = texts.map(|text| counts.part_tokens(&text));
                let sizes: Vec<u64> = texts.chain(notes).collect();
                level(&sizes, most).map_or(most, |each| each.max(LEAST_EXCERPT).min(most))
            };
            let (own, others) = (each(of), each(Cut::Soft));
            for part in entry.parts().filter(|part| self.is_cuttable(part)) {
                let most = if self.cut_of(&part, of) == of { own } else { others };
                if counts.part_tokens(&part) <= most || is_stub(&context, &part) {
                    continue;
                }
                let current = draft.part_tokens(&part, &counts);
                let put = |put| {
                    let reason = Reason::TooLarge;
                    Edit::Put(PartEdit { at: part.slot, put, reason })
                };
                if part.kind() == PartKind::Call {
                    let cap = most.max(LEAST_CALL);
                    // Else the next compaction would cut it again.
                    let short = shorter_call(&counts, &part, cap);
                    let short = short.filter(|(tokens, _)| *tokens < current && *tokens <= cap);
                    edits.extend(short.map(|(_, short)| put(Put::Arguments(short.into()))));
                    continue;
                }
                let text = counts.part_text(&part);
                let words: Vec<&String> = pinned
                    .into_iter()
                    .flatten()
                    .filter(|words| text.contains(words.as_str()))
                    .collect();
                let tokens = |text: &str| counts.put_tokens(&part, text);
                let short = excerpt_around(&part, &text, draft.question(), &words, most, tokens);
                let short = short.filter(|short| tokens(short) < current);
                edits.extend(short.map(|short| put(Put::Text(short.into()))));
            }
        }
        edits
    }

    /// Whether an excerpt may replace the part: the output of a server's tool goes back unchanged. Arguments are cut if they
    /// alone take half of the target.
    fn is_cuttable(&self, part: &Part<'_>) -> bool {
        let has_words = match part.kind() {
            PartKind::Text | PartKind::Result => true,
            PartKind::Call => {
                let tokens = self.counts().part_tokens(part);
                !part.is(Marks::SIGNED) && tokens > (self.budget.asked / 2).max(LEAST_CALL)
            }
            _ => false,
        };
        has_words
            && !part.is(Marks::SERVER)
            && !part.is(Marks::FIXED)
            && !part.raw_body().is_empty()
            && part.origin() != Origin::Checkpoint
            && !self.came_later(part)
            && !self.is_preserved(part)
    }

    /// Whether a result is one of a preserved tool, whoever else speaks in its message, and fits.
    fn is_preserved(&self, part: &Part<'_>) -> bool {
        let call = self.units.call_of(result_of(&self.request.transcript, part.slot));
        let transcript = &self.request.transcript;
        let is_tools = call.is_some_and(|call| {
            self.guard.held(transcript.entry_of(call)) == Some(KeepReason::Tool)
        });
        let beside = || transcript.entry(transcript.entry_of(part.slot)).parts();
        let results = || beside().filter(|part| part.kind() == PartKind::Result);
        let tokens = || results().map(|part| self.counts().part_tokens(&part)).sum::<u64>();
        is_tools && tokens() <= self.budget.target
    }
}

/// What earlier checkpoints in an entry say.
fn earlier(entry: Entry<'_>) -> Vec<Contents> {
    let checkpoints = entry.parts().filter(|part| part.origin() == Origin::Checkpoint);
    checkpoints.filter_map(|part| read(&part.text())).collect()
}

/// An excerpt that says the pinned words, whatever else it leaves out.
fn excerpt_around(
    part: &Part<'_>,
    text: &str,
    question: &str,
    words: &[&String],
    most: u64,
    tokens: impl Fn(&str) -> u64,
) -> Option<String> {
    let (short, _) = fit_part(part, text, question, most, &tokens)?;
    let lost: Vec<&str> =
        words.iter().map(|w| w.as_str()).filter(|w| !short.contains(*w)).collect();
    if lost.is_empty() {
        return Some(short);
    }
    let lost = lost.join("\n[…]\n");
    let rest = most.saturating_sub(tokens(&lost) + 4);
    let around = fit_part(part, text, question, rest, &tokens)
        .filter(|(short, _)| short.contains(char::is_alphanumeric))
        .map_or(lost.clone(), |(short, _)| format!("{short}\n[…]\n{lost}"));
    Some(if tokens(&around) <= most { around } else { lost })
}

#[cfg(test)]
mod tests;
