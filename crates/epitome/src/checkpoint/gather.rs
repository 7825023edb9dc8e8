//! What the lanes are made of, gathered from the folded entries in one pass.
//!
//! Secrets are masked before anything is taken from a text: half a secret has no shape. Only what was pinned and
//! standing instructions are restated as they are, because that is what they are for.

use super::anchors::Anchors;
use super::narrative::{Said, Who};
use super::read::read;
use super::unfenced;
use super::words::{self, Word};
use std::collections::HashSet;
use std::mem::take;
use std::sync::Arc;

use crate::draft::part_text;
use crate::ledger::{self, Ledger, Made, Shown, spoken};
use crate::text::secrets::masked;
use crate::text::{Outcome, cut};
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Slot, Transcript};

/// The longest beginning of a text that the narrative looks at.
const SAID_BYTES: usize = 6 * 1024;
/// Tool output rarely tells more than its first and last lines; the anchors read all of it.
const TOOL_BYTES: usize = 1024;

/// Everything that a checkpoint may say.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    entries: usize,
    later: usize,
    words: Vec<Word>,
    instructions: Vec<Word>,
    pinned: Vec<Word>,
    anchors: Anchors,
    ledger: Ledger,
    /// The parts that are shown in full, where the ledger was read for another view.
    reread: Option<HashSet<Slot>>,
    said: Vec<(u32, Who, String)>,
    /// The texts of the entry that was added last, masked: the ledger reads them next.
    masked: Vec<(Slot, String)>,
    /// What calls were made with whose results are to come.
    called: Vec<(Slot, String)>,
    channel: Option<Arc<str>>,
}

impl Gathered {
    /// Nothing yet, for a model that can have it back in this way, if in any.
    pub fn recalled_by(channel: Option<Arc<str>>) -> Self {
        Gathered { channel, ..Gathered::default() }
    }

    /// Nothing yet but the ledger, which was read for another view of the same entries; none of them is a
    /// checkpoint, which would be carried over once more.
    pub(crate) fn again(channel: Option<Arc<str>>, ledger: Ledger) -> Self {
        Gathered { channel, ledger, reread: Some(HashSet::new()), ..Gathered::default() }
    }

    /// Only the ledger of it.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// By which the model can have back what it stands for.
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// Number of entries that it stands for.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// How many of them were said after the entry that is shown behind the checkpoint.
    pub fn later(&self) -> usize {
        self.later
    }

    /// The folded human messages, oldest first.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Folded system text.
    pub fn instructions(&self) -> &[Word] {
        &self.instructions
    }

    /// What was pinned and couldn't stay where it was said.
    pub fn pinned(&self) -> &[Word] {
        &self.pinned
    }

    /// Notes that a folded entry was pinned: it is restated verbatim.
    pub fn pin(&mut self, transcript: &Transcript, entry: Entry<'_>) {
        self.pinned.extend(restated(transcript, entry));
    }

    /// Leaves out entries of nothing but what people said, which are shown after all.
    pub(crate) fn spare(&mut self, entries: &[usize]) {
        self.entries -= entries.len();
        self.later = self.later.min(self.entries);
        self.words.retain(|word| !entries.contains(&word.at));
    }

    /// What was extracted from calls and results.
    pub fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// What was ruled, decided, found and left open.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The same with another ledger.
    pub(crate) fn with_ledger(&self, ledger: Ledger) -> Self {
        Gathered { ledger, ..self.clone() }
    }

    /// Hears what an entry says, `shown` tells how much of it is shown: it may replace what was said before,
    /// and what it said and no longer shows is to be listed. Of a folded one after [`Gathered::add`].
    pub fn see(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
    ) {
        let known = take(&mut self.masked);
        let Some(in_full) = &mut self.reread else {
            return self.ledger.observe_masked(transcript, entry, shown, &known);
        };
        let parts = entry.parts().filter(|part| shown(part) == Shown::InFull);
        in_full.extend(parts.map(|part| part.slot));
    }

    /// Makes the changes of the ledger that earlier compactions made and this entry bears out, once it was heard.
    pub(crate) fn change_again(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        made: &[Made],
    ) {
        // The ledger that was read for another view has them.
        if self.reread.is_some() {
            return;
        }
        let at = entry.index as u32;
        for made in made.iter().filter(|made| made.delta.sources.iter().max() == Some(&at)) {
            self.ledger.change_again(made, &|at| spoken(transcript, at));
        }
    }

    /// Once all was read, the same for lines that were carried over without the messages that bear them out.
    pub(crate) fn keep_changes(&mut self, made: &[Made]) {
        for made in made {
            self.ledger.keep_change(made);
        }
    }

    /// Once all was read: what people took back is no longer quoted as if it held.
    pub fn settle(&mut self) {
        if let Some(in_full) = self.reread.take() {
            self.ledger.show(|slot| {
                if in_full.contains(&slot) { Shown::InFull } else { Shown::Elsewhere }
            });
        }
        for (at, sentence, newer) in self.ledger.superseded() {
            for word in self.words.iter_mut().filter(|word| word.at == at as usize) {
                word.withdraw(sentence, newer);
            }
        }
    }

    /// What the narrative chooses from.
    pub(super) fn said(&self) -> Vec<Said<'_>> {
        self.said.iter().map(|(at, who, text)| Said { at: *at, who: *who, text }).collect()
    }

    /// Adds a folded entry; `next` is the first entry shown behind the checkpoint.
    pub fn add(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>, next: usize) {
        self.masked.clear();
        self.entries += 1;
        self.later += usize::from(entry.index > next);
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED)) {
            self.carry_over(&part);
        }
        let at = entry.index as u32;
        if entry.role().instructs() {
            let texts = entry.parts().map(|p| Word::new(entry.index, p.text().into_owned()));
            self.instructions.extend(texts);
            return;
        }
        if entry.is_human() {
            self.words.push(Word::new(entry.index, masked(&entry.human_text()).into_owned()));
        }
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED)) {
            match part.kind() {
                PartKind::Text if part.origin() == Origin::Checkpoint => {}
                PartKind::Text => {
                    let said = part.text();
                    // A checkpoint that nobody vouches for is quoted, its fence and labels aren't.
                    let bare = unfenced(&said).map(words::without_labels);
                    let text = masked(bare.as_deref().unwrap_or(&said)).into_owned();
                    self.anchors.observe_text(at, &text);
                    if let Some(who) = speaker(&part) {
                        self.said.push((at, who, cut::head(&text, SAID_BYTES).to_owned()));
                    }
                    if bare.is_none() {
                        self.masked.push((part.slot, text));
                    }
                }
                PartKind::Call => {
                    let arguments = masked(&part.text()).into_owned();
                    self.anchors.observe_call(at, &part.name(), &arguments);
                    self.called.push((part.slot, arguments));
                }
                PartKind::Result => self.result(transcript, units, &part, at),
                PartKind::Reasoning | PartKind::Media | PartKind::Opaque | PartKind::Link => {}
            }
        }
    }

    fn result(&mut self, transcript: &Transcript, units: &Units, part: &Part<'_>, at: u32) {
        let call = units.call_of(part.slot).map(|slot| transcript.part(slot));
        let name = call.map_or_else(|| part.name().into_owned(), |call| call.name().into_owned());
        let arguments = call.map(|call| self.arguments(&call)).unwrap_or_default();
        let outcome = if part.is(Marks::ERROR) { Outcome::Error } else { Outcome::Unknown };
        let text = part_text(transcript, part);
        let text = masked(&text).into_owned();
        self.anchors.observe_result(at, &name, &arguments, &text, outcome);
        self.said.push((at, Who::Tool, cut::head(&text, TOOL_BYTES).to_owned()));
        self.masked.push((part.slot, text));
    }

    /// What a call was made with, masked.
    fn arguments(&mut self, call: &Part<'_>) -> String {
        let known = self.called.iter().position(|(slot, _)| *slot == call.slot);
        match known {
            Some(at) => {
                self.called.drain(..=at).next_back().map_or_else(String::new, |(_, said)| said)
            }
            None => masked(&call.text()).into_owned(),
        }
    }

    /// Continues a text that is an earlier checkpoint: its words, ledger and anchors, never its prose.
    pub fn carry_over(&mut self, part: &Part<'_>) {
        let is_checkpoint = part.origin() == Origin::Checkpoint;
        let Some(earlier) = is_checkpoint.then(|| read(&part.text())).flatten() else { return };
        self.instructions.extend(earlier.instructions);
        self.pinned.extend(earlier.pinned);
        let said = earlier.words.iter().flat_map(|word| {
            let at = word.at as u32;
            word.stretches().map(move |text| (at, text))
        });
        self.ledger.resume(said, ledger::read(&earlier.ledger));
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
) -> impl Iterator<Item = Word> {
    let parts = entry.parts().filter(|p| !p.is(Marks::NESTED) && !p.is_human());
    let speaks =
        |p: &Part<'_>| matches!(p.kind(), PartKind::Text | PartKind::Call | PartKind::Result);
    let texts = parts.filter(speaks).map(|p| part_text(transcript, &p).into_owned());
    texts.map(move |text| Word::new(entry.index, text))
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
