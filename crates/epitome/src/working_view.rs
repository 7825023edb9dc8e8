//! The working view: what a plan has decided so far, with a running count.

mod edits;
mod fit;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::count::{Tally, TokenCounter, part_put_tokens};
use crate::tool::Call;
use crate::transcript::reasoning_links::{is_thought, ties};
use crate::transcript::{Entry, Marks, Part, PartKind, Slot, Transcript};
use crate::view::{Fate, PartEdit, Put, Reason, View};
use edits::Edits;
pub(crate) use fit::fit_part;

/// A change that a strategy proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A slot's payload is replaced.
    Put(PartEdit),
    /// Several slots are replaced, all of them or none: a call and its result.
    Together(Vec<PartEdit>),
    /// The entries (whole units) are stood for by the checkpoint.
    Fold(Range<usize>, Reason),
}

impl Edit {
    /// The slot, where it is one.
    pub(crate) fn slot(&self) -> Option<Slot> {
        match self {
            Edit::Put(put) => Some(put.at),
            Edit::Together(_) | Edit::Fold(..) => None,
        }
    }
}

/// What becomes of an entry, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Shown,
    Folded(Reason),
    /// All that it says left by itself: there is nothing to show again.
    Emptied(Reason),
}

/// With fewer tokens than this left, no excerpt is worth making longer.
const LEAST_ROOM: u64 = 16;
/// With more than this left, the newest excerpt is worth more than what is older, whole.
const MUCH_ROOM: u64 = 200;

/// With how many tokens a longer excerpt was tried.
type Tried = BTreeMap<Slot, u64>;

/// The working view of one plan.
#[derive(Clone, Debug)]
pub struct Draft {
    states: Vec<State>,
    edits: Edits,
    /// Tokens of each entry as edited, were it shown.
    tokens: Vec<u64>,
    total: u64,
    folded: usize,
    question: Arc<str>,
}

impl Draft {
    /// Everything is shown as it was said.
    pub fn new(transcript: &Transcript, tally: &Tally) -> Self {
        let newest = transcript.entries().rfind(Entry::is_human);
        Draft {
            states: vec![State::Shown; transcript.len()],
            edits: Edits::default(),
            tokens: (0..transcript.len()).map(|at| tally.entry(at)).collect(),
            total: tally.total().tokens,
            folded: 0,
            question: newest.map_or_else(String::new, |entry| entry.human_text()).into(),
        }
    }

    /// The newest words of the user's: what is asked now.
    pub(crate) fn question(&self) -> &str {
        &self.question
    }

    /// Tokens of what is shown, frame included, checkpoint apart.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether the entry is shown.
    pub fn is_shown(&self, entry: usize) -> bool {
        self.states[entry] == State::Shown
    }

    /// Whether the checkpoint stands for the entry.
    pub fn is_folded(&self, entry: usize) -> bool {
        matches!(self.states[entry], State::Folded(_))
    }

    /// The entries that the checkpoint stands for, in order.
    pub fn folded(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.states.len()).filter(|at| self.is_folded(*at))
    }

    /// Whether the slot is edited.
    pub fn is_edited(&self, slot: Slot) -> bool {
        self.edits.has(slot)
    }

    /// Whether the slot's part leaves.
    pub fn is_gone(&self, slot: Slot) -> bool {
        self.edits.get(slot).is_some_and(|edit| edit.put == Put::Nothing)
    }

    /// Why the slot is edited, if it is.
    pub fn reason(&self, slot: Slot) -> Option<Reason> {
        self.edits.get(slot).map(|edit| edit.reason)
    }

    /// The stub that stands for the slot's result, if one does.
    pub fn stub(&self, slot: Slot) -> Option<&str> {
        let edit = self.edits.get(slot).filter(|edit| edit.reason.leaves_stub())?;
        match &edit.put {
            Put::Text(stub) => Some(stub),
            Put::Arguments(_) | Put::Nothing => None,
        }
    }

    /// The replacement of the slot's part.
    pub fn written(&self, slot: Slot) -> Option<&str> {
        match &self.edits.get(slot)?.put {
            Put::Text(text) | Put::Arguments(text) => Some(text),
            Put::Nothing => None,
        }
    }

    /// The replacements in `entry`.
    pub fn puts(&self, entry: Entry<'_>) -> impl Iterator<Item = &PartEdit> {
        self.edits.of(entry.slots()).filter(|edit| edit.put != Put::Nothing)
    }

    /// Tokens that the entry takes in the prompt.
    pub fn entry_tokens(&self, entry: usize) -> u64 {
        if self.is_shown(entry) { self.tokens[entry] } else { 0 }
    }

    /// Whether the checkpoint stands for any entry.
    pub fn folds(&self) -> bool {
        self.folded > 0
    }

    /// Tokens of a part as edited.
    pub fn part_tokens(&self, part: &Part<'_>, counts: &CountContext<'_>) -> u64 {
        self.edits.tokens(part.slot).unwrap_or_else(|| counts.part_tokens(part))
    }

    /// Characters of a part's own words as edited; media and ids say none.
    pub fn characters(&self, part: &Part<'_>) -> u64 {
        match self.edits.get(part.slot).map(|edit| &edit.put) {
            Some(Put::Nothing) => 0,
            Some(Put::Text(text) | Put::Arguments(text)) => text.chars().count() as u64,
            None if part.says_own_words() => part.text().chars().count() as u64,
            None => 0,
        }
    }

    /// Makes an edit; edits of entries that aren't shown have no effect.
    pub fn apply(&mut self, edit: &Edit, counts: &CountContext<'_>) {
        match edit {
            Edit::Put(put) => self.put(put, counts),
            Edit::Together(puts) => puts.iter().for_each(|put| self.put(put, counts)),
            Edit::Fold(entries, reason) => {
                entries.clone().for_each(|at| self.leave(at, State::Folded(*reason)));
            }
        }
    }

    fn leave(&mut self, entry: usize, state: State) {
        if self.is_shown(entry) {
            self.total -= self.tokens[entry];
            self.states[entry] = state;
            self.folded += usize::from(matches!(state, State::Folded(_)));
        }
    }

    fn put(&mut self, edit: &PartEdit, counts: &CountContext<'_>) {
        let at = counts.transcript.entry_of(edit.at);
        if !self.is_shown(at) {
            return;
        }
        let part = counts.transcript.part(edit.at);
        // It is spliced in as it is: what were no arguments would break the message, or rename the call.
        if !edit.put.suits(&part) {
            return;
        }
        if part.kind() == PartKind::Reasoning
            && edit.put == Put::Nothing
            && !self.untie(at, edit, counts)
        {
            return;
        }
        if part.is(Marks::NESTED) && self.is_edited(result_of(counts.transcript, edit.at)) {
            return;
        }
        let before = self.part_tokens(&part, counts);
        // A result replaced as a whole takes the edits of its sub-parts with it.
        if part.kind() == PartKind::Result {
            let inner: Vec<Slot> =
                nested(counts.transcript, edit.at).filter(|slot| self.edits.has(*slot)).collect();
            for slot in inner {
                let (_, is) = self.edits.remove(slot).expect("it was just found");
                self.change(at, is, counts.tally.part(slot));
            }
        }
        let after = Self::tokens_of(edit, counts);
        self.change(at, before, after);
        self.edits.insert(edit.clone(), after);
        // An entry that was nothing but a thought leaves for the thought's reason.
        let is_thought = is_thought(counts.transcript.entry(at));
        let why = if is_thought { edit.reason } else { Reason::Emptied };
        self.drop_if_emptied(at, why, counts.transcript);
    }

    /// Leaves out the ids that are tied to the reasoning in entry `at`; whether it may leave alone.
    fn untie(&mut self, at: usize, edit: &PartEdit, counts: &CountContext<'_>) -> bool {
        let Some(links) = ties(counts.transcript, at) else { return false };
        for link in links {
            if !self.edits.has(link) {
                let gone = PartEdit { at: link, put: Put::Nothing, reason: edit.reason };
                self.edits.insert(gone, 0);
            }
        }
        true
    }

    fn tokens_of(edit: &PartEdit, counts: &CountContext<'_>) -> u64 {
        let part = counts.transcript.part(edit.at);
        match &edit.put {
            Put::Nothing => 0,
            Put::Text(text) | Put::Arguments(text) => part_put_tokens(&part, text, counts.counter),
        }
    }

    fn change(&mut self, entry: usize, before: u64, after: u64) {
        self.tokens[entry] = self.tokens[entry] - before + after;
        self.total = self.total - before + after;
    }

    fn drop_if_emptied(&mut self, at: usize, why: Reason, transcript: &Transcript) {
        let says = |p: &Part<'_>| !p.is(Marks::NESTED) && p.kind() != PartKind::Link;
        let mut parts = transcript.entry(at).parts().filter(says);
        if parts.all(|part| self.is_gone(part.slot)) {
            self.leave(at, State::Emptied(why));
        }
    }

    /// Reverts edits, the newest first, as far as `room` tokens allow: some cuts made room that wasn't needed. Visible
    /// pins stay visible.
    pub fn give_back(&mut self, room: u64, counts: &CountContext<'_>, pinned: &[&str]) {
        let mut slots: Vec<Slot> = self.edits.slots().rev().collect();
        // What the law of pins would rather see whole comes first.
        slots.sort_by_key(|slot| self.reason(*slot) != Some(Reason::TooLarge));
        // What isn't worth a longer excerpt may give others back whole; what is left then is.
        let mut tried = Tried::new();
        let left = self.give_back_over(MUCH_ROOM, room, &slots, counts, pinned, &mut tried);
        self.give_back_over(LEAST_ROOM, left, &slots, counts, pinned, &mut tried);
    }

    /// The same, with longer excerpts where more than `much` is left; what is left in the end.
    fn give_back_over(
        &mut self,
        much: u64,
        room: u64,
        slots: &[Slot],
        counts: &CountContext<'_>,
        pinned: &[&str],
        tried: &mut Tried,
    ) -> u64 {
        let mut room = room;
        for slot in slots.iter().copied() {
            let Some(edit) = self.edits.get(slot) else { continue };
            let at = counts.transcript.entry_of(slot);
            // Folded messages are quoted in the checkpoint, or in an earlier one.
            let is_taken_up = matches!(edit.reason, Reason::OlderStep | Reason::LastResort);
            if !self.is_shown(at)
                || is_taken_up
                || matches!(edit.reason, Reason::OldReasoning | Reason::BoundReasoning)
            {
                continue;
            }
            let part = counts.transcript.part(slot);
            // A call and its result left together; neither comes back alone.
            let is_pair = matches!(part.kind(), PartKind::Call | PartKind::Result);
            if edit.put == Put::Nothing && is_pair {
                continue;
            }
            let before = counts.part_tokens(&part);
            let after = self.edits.tokens(slot).unwrap_or(0);
            if before.saturating_sub(after) <= room {
                room -= before.saturating_sub(after);
                self.edits.remove(slot);
                self.change(at, after, before);
                continue;
            }
            // What was tried with as much room is what it can be.
            if room > much && tried.get(&slot) != Some(&(after + room)) {
                tried.insert(slot, after + room);
                let longer = self.lengthen(slot, after, after + room, counts, pinned);
                room -= longer.map_or(0, |longer| longer - after);
            }
        }
        room
    }

    /// Puts the longest excerpt of at most `most` tokens where one of `before` tokens, of a text or of a tool's
    /// result, stands; its tokens, if it did.
    fn lengthen(
        &mut self,
        slot: Slot,
        before: u64,
        most: u64,
        counts: &CountContext<'_>,
        pinned: &[&str],
    ) -> Option<u64> {
        let part = counts.transcript.part(slot);
        let old = self.edits.get(slot)?;
        let is_excerpt = match part.kind() {
            PartKind::Result => !part.is(Marks::SERVER),
            PartKind::Text => true,
            _ => false,
        };
        let was = match &old.put {
            Put::Text(was) if is_excerpt => was,
            _ => return None,
        };
        let tokens = |text: &str| counts.put_tokens(&part, text);
        let (text, after) =
            fit_part(&part, &counts.part_text(&part), &self.question, most, tokens)?;
        let loses = pinned.iter().any(|words| was.contains(words) && !text.contains(words));
        if after <= before || loses {
            return None;
        }
        let edit = PartEdit { at: slot, put: Put::Text(text.into()), reason: Reason::TooLarge };
        self.change(counts.transcript.entry_of(slot), before, after);
        self.edits.insert(edit, after);
        Some(after)
    }

    /// The view, without its checkpoint.
    pub fn view(&self, transcript: &Transcript) -> View {
        let mut view = View::default();
        for (entry, state) in transcript.entries().zip(&self.states) {
            view.push(match state {
                State::Folded(reason) => Fate::Fold(*reason),
                State::Emptied(reason) => Fate::Drop(*reason),
                State::Shown => {
                    let edits: Box<[PartEdit]> = self.edits.of(entry.slots()).cloned().collect();
                    if edits.is_empty() { Fate::Keep } else { Fate::Edit(edits) }
                }
            });
        }
        view
    }

    /// Forgets the places, once a view has them. Counts of entries stay known.
    pub(crate) fn forget_edits(&mut self) {
        self.edits = Edits::default();
    }
}

/// The result that a sub-part belongs to; any other part itself.
pub(crate) fn result_of(transcript: &Transcript, nested: Slot) -> Slot {
    let mut slot = nested;
    while transcript.part(slot).is(Marks::NESTED) && slot.0 > 0 {
        slot.0 -= 1;
    }
    slot
}

/// The slots of a result's sub-parts.
pub(crate) fn nested(transcript: &Transcript, result: Slot) -> impl Iterator<Item = Slot> {
    let end = transcript.entry(transcript.entry_of(result)).slots().end;
    (result.0 + 1..end).map(Slot).take_while(|slot| transcript.part(*slot).is(Marks::NESTED))
}

/// The request and its counts.
#[derive(Clone, Copy, Debug)]
pub struct CountContext<'a> {
    /// What was said.
    pub transcript: &'a Transcript,
    /// What each part counts.
    pub tally: &'a Tally,
    /// The counter that decides.
    pub counter: &'a dyn TokenCounter,
}

impl<'a> CountContext<'a> {
    /// Tokens of a part as it was said, a result's sub-parts included.
    pub fn part_tokens(&self, part: &Part<'_>) -> u64 {
        let own = self.tally.part(part.slot);
        if part.kind() != PartKind::Result {
            return own;
        }
        own + nested(self.transcript, part.slot).map(|slot| self.tally.part(slot)).sum::<u64>()
    }

    /// Tokens of the part if its payload were `text`.
    pub fn put_tokens(&self, part: &Part<'_>, text: &str) -> u64 {
        part_put_tokens(part, text, self.counter)
    }

    /// The words of a part; of a result those of its sub-parts, media as notes.
    pub fn part_text(&self, part: &Part<'a>) -> Cow<'a, str> {
        part_text(self.transcript, part)
    }
}

/// Whether a part is a call that may change something.
pub(crate) fn may_act(part: &Part<'_>) -> bool {
    part.kind() == PartKind::Call && !Call::read(&part.name(), &part.text()).only_looks()
}

/// The words of a part; of a result those of its sub-parts, media as notes.
pub(crate) fn part_text<'a>(transcript: &'a Transcript, part: &Part<'a>) -> Cow<'a, str> {
    if part.kind() != PartKind::Result
        || !part.raw_body().starts_with('[')
        || part.is(Marks::SERVER)
    {
        return part.text();
    }
    // Empty values take no line, such as the errors of a command without any.
    let texts: Vec<Cow<'a, str>> = nested(transcript, part.slot)
        .map(|slot| transcript.part(slot))
        .map(|inner| match inner.kind() {
            PartKind::Media => format!("[{}]", inner.name()).into(),
            _ => inner.text(),
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n").into()
}
