//! What is taken from folded entries, each by itself.
//!
//! Secrets are masked before anything is taken from a text: half a secret has no shape. Only what was pinned and
//! standing instructions are restated as they are, because that is what they are for.

use std::collections::HashSet;
use std::sync::Arc;

use super::anchors::{Anchors, Asked};
use super::narrative::Who;
use super::read::read;
use super::words::{self, Word};
use super::{Following, enclosed, is_checkpoint};
use crate::draft::{Draft, part_text};
use crate::ledger;
use crate::text::secrets::{into_masked, masked};
use crate::text::{Outcome, cut};
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Numbering, Origin, Part, PartKind, Slot, Transcript};

/// The longest beginning of a text that the narrative looks at.
const SAID_BYTES: usize = 6 * 1024;
/// Tool output rarely tells more than its first and last lines; the anchors read all of it.
const TOOL_BYTES: usize = 1024;

/// All of a checkpoint but its ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folded {
    /// Messages, with those that earlier checkpoints stand for.
    pub(super) messages: usize,
    pub(super) numbering: Arc<Numbering>,
    /// Messages that left and that nothing of it speaks of.
    pub(super) dropped: usize,
    pub(super) following: Option<Following>,
    pub(super) words: Vec<Word>,
    /// Words that are shown after all.
    pub(super) spared: Vec<Word>,
    pub(super) instructions: Vec<Word>,
    pub(super) pinned: Vec<Word>,
    pub(super) anchors: Anchors,
    pub(super) said: Vec<(u32, Who, String)>,
    /// What calls asked for whose results are to come.
    called: Vec<(Slot, Asked)>,
}

/// What an entry leaves for the ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    /// Of earlier checkpoints what they quote and list.
    pub(super) earlier: Vec<Earlier>,
    /// Its texts, masked.
    pub(super) masked: Vec<(Slot, String)>,
}

/// What an earlier checkpoint quotes and lists.
#[derive(Clone, Debug)]
pub(super) struct Earlier {
    /// The part that it is.
    pub(super) slot: Slot,
    words: Vec<Word>,
    listed: Vec<ledger::Entry>,
    /// What all of these lines say.
    pub(super) texts: HashSet<String>,
}

impl Earlier {
    fn of(slot: Slot, words: Vec<Word>, listed: Vec<ledger::Entry>) -> Self {
        Earlier { slot, words, texts: ledger::texts(&listed), listed }
    }

    /// Takes out what was said before message `number`.
    pub(super) fn before(&mut self, number: usize) -> (Vec<Word>, Vec<ledger::Entry>) {
        let words = self.words.extract_if(.., |word| word.at < number).collect();
        let listed = self.listed.extract_if(.., |entry| (entry.at as usize) < number).collect();
        (words, listed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.listed.is_empty()
    }
}

impl Left {
    /// Makes the texts of an entry ready that isn't folded.
    pub(crate) fn take_texts(&mut self, transcript: &Transcript, entry: Entry<'_>) {
        self.masked = ledger::masked_texts(transcript, entry);
    }
}

impl Folded {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        // The anchors are bounded by themselves.
        const ANCHORS: usize = 256 << 10;
        let words = [&self.words, &self.spared, &self.instructions, &self.pinned];
        let words = words.into_iter().flatten().map(|word| size_of::<Word>() + word.text.len());
        let said = self.said.iter().map(|said| size_of_val(said) + said.2.len());
        let called = self.called.iter().map(|called| size_of_val(called) + called.1.bytes());
        ANCHORS + words.sum::<usize>() + said.sum::<usize>() + called.sum::<usize>()
    }

    /// Adds a folded entry.
    pub(crate) fn add(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) -> Left {
        let mut left = Left::default();
        self.messages += usize::from(!is_checkpoint(entry));
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED)) {
            self.carry_over(&part, &mut left);
        }
        let at = entry.index as u32;
        if entry.role().instructs() {
            let word = |p: Part<'_>| Word::of(entry.index, &self.numbering, p.text().into_owned());
            self.instructions.extend(entry.parts().map(word));
            return left;
        }
        if entry.is_human() {
            let said = masked(&entry.human_text()).into_owned();
            self.words.push(Word::of(entry.index, &self.numbering, said));
        }
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED)) {
            match part.kind() {
                PartKind::Text if part.origin() == Origin::Checkpoint => {}
                PartKind::Text => {
                    let said = part.text();
                    // A checkpoint that nobody vouches for is quoted, its fence and labels aren't.
                    let bare = enclosed(&said).map(words::without_labels);
                    let text = masked(bare.as_deref().unwrap_or(&said)).into_owned();
                    self.anchors.observe_text(at, &text);
                    if let Some(who) = speaker(&part) {
                        self.said.push((at, who, cut::head(&text, SAID_BYTES).to_owned()));
                    }
                    if bare.is_none() {
                        left.masked.push((part.slot, text));
                    }
                }
                PartKind::Call => self.call(&part, at),
                PartKind::Result => {
                    let (slot, text) = self.answer(transcript, units, &part, at);
                    self.said.push((at, Who::Tool, cut::head(&text, TOOL_BYTES).to_owned()));
                    left.masked.push((slot, text));
                }
                PartKind::Reasoning | PartKind::Media | PartKind::Opaque | PartKind::Link => {}
            }
        }
        left
    }

    /// Adds what leaves of an entry that isn't folded: its calls and how they went.
    pub(crate) fn leave_out(
        &mut self,
        transcript: &Transcript,
        units: &Units,
        entry: Entry<'_>,
        draft: &Draft,
        left: &mut Left,
    ) {
        let is_shown = draft.is_shown(entry.index);
        self.dropped += usize::from(!is_shown);
        let leaves = |part: &Part<'_>| !is_shown || draft.is_gone(part.slot);
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED) && leaves(p)) {
            match part.kind() {
                PartKind::Call => self.call(&part, entry.index as u32),
                PartKind::Result => {
                    left.masked.push(self.answer(transcript, units, &part, entry.index as u32));
                }
                _ => self.carry_over(&part, left),
            }
        }
    }

    /// Notes that a folded entry was pinned: it is restated verbatim.
    pub(crate) fn pin(&mut self, transcript: &Transcript, entry: Entry<'_>) {
        let word = |text| Word::of(entry.index, &self.numbering, text);
        self.pinned.extend(restated(transcript, entry).map(word));
    }

    /// Leaves out entries of nothing but what people said, which are shown after all.
    pub(super) fn spare(&mut self, entries: &[usize]) {
        self.messages -= entries.len();
        let words = std::mem::take(&mut self.words).into_iter();
        let is_shown = |word: &Word| word.entry.is_some_and(|at| entries.contains(&at));
        let (spared, words): (Vec<_>, _) = words.partition(is_shown);
        self.spared.extend(spared);
        self.words = words;
    }

    fn call(&mut self, part: &Part<'_>, at: u32) {
        let asked = self.anchors.ask(at, &part.name(), &into_masked(part.text()));
        self.called.push((part.slot, asked));
    }

    /// Takes in how a call went; its result, masked.
    fn answer(
        &mut self,
        transcript: &Transcript,
        units: &Units,
        part: &Part<'_>,
        at: u32,
    ) -> (Slot, String) {
        let call = units.call_of(part.slot).map(|slot| transcript.part(slot));
        let asked = call.map_or_else(|| Asked::of(&part.name(), ""), |call| self.asked(&call));
        let outcome = if part.is(Marks::ERROR) { Outcome::Error } else { Outcome::Unknown };
        let text = into_masked(part_text(transcript, part));
        self.anchors.answer(at, &asked, &text, outcome);
        (part.slot, text)
    }

    /// What a call asked for.
    fn asked(&mut self, call: &Part<'_>) -> Asked {
        let known = self.called.iter().position(|(slot, _)| *slot == call.slot);
        let known = known.and_then(|at| self.called.drain(..=at).next_back());
        known.map_or_else(|| Asked::of(&call.name(), &into_masked(call.text())), |(_, asked)| asked)
    }

    /// Continues a text that is an earlier checkpoint: its words, ledger and anchors, never its prose.
    fn carry_over(&mut self, part: &Part<'_>, left: &mut Left) {
        let is_checkpoint = part.origin() == Origin::Checkpoint;
        let Some(earlier) = is_checkpoint.then(|| read(&part.text())).flatten() else { return };
        self.messages += earlier.messages;
        self.instructions.extend(earlier.instructions);
        self.pinned.extend(earlier.pinned);
        let (words, listed) = (earlier.words.clone(), ledger::read(&earlier.ledger));
        left.earlier.push(Earlier::of(part.slot, words, listed));
        self.words.extend(earlier.words);
        if let Some(older) =
            Anchors::parse(&earlier.anchors).filter(|_| !earlier.anchors.is_empty())
        {
            self.anchors.merge(older);
        }
    }
}

/// What is restated of a pinned entry; what a person says in it is quoted among the user's words.
pub(super) fn restated<'a>(
    transcript: &'a Transcript,
    entry: Entry<'a>,
) -> impl Iterator<Item = String> {
    let parts = entry.parts().filter(|p| !p.is(Marks::NESTED) && !p.is_human());
    let speaks =
        |p: &Part<'_>| matches!(p.kind(), PartKind::Text | PartKind::Call | PartKind::Result);
    parts.filter(speaks).map(|p| part_text(transcript, &p).into_owned())
}

fn speaker(part: &Part<'_>) -> Option<Who> {
    match part.origin() {
        Origin::Model => Some(Who::Model),
        Origin::Tool => Some(Who::Tool),
        // Notes of the agent's, summaries of its own among them: quoted like any output.
        Origin::Injected => Some(Who::Tool),
        // Quoted in their own lane.
        Origin::Human | Origin::Checkpoint => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_words_stay_where_a_message_of_their_number_is_shown() {
        let (before, here) = ("Never push to main.".to_owned(), "Go on.".to_owned());
        let words = vec![Word::new(3, before), Word::of(3, &Numbering::default(), here)];
        let mut folded = Folded { messages: 2, words: words.clone(), ..Folded::default() };
        folded.spare(&[3]);
        assert_eq!((folded.words, folded.spared), (words[..1].to_vec(), words[1..].to_vec()));
    }
}
