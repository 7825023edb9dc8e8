//! What the lanes are made of, gathered from the folded entries in one pass.

use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;

use super::anchors::Anchors;
use super::folded::{Folded, Left};
use super::following::Following;
use super::heard::Heard;
use super::narrative::Said;
use super::words::Word;
use crate::ledger::{Ledger, Line, Made, Shown, Whence};
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Numbering, Part, Slot, Transcript};

/// Everything that a checkpoint may say.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    folded: Folded,
    heard: Heard,
    /// Of the entry that was added last, what is heard next.
    left: Left,
    channel: Option<Arc<str>>,
}

impl Gathered {
    /// Nothing yet, for a model that can have it back in this way, if in any.
    pub fn recalled_by(channel: Option<Arc<str>>) -> Self {
        Gathered { channel, ..Gathered::default() }
    }

    /// Nothing yet but the ledger, which has read the first `read` entries for another view of them.
    pub(crate) fn again(channel: Option<Arc<str>>, ledger: Ledger, read: usize) -> Self {
        let heard = Heard { ledger, read, ..Heard::default() };
        Gathered { heard, channel, ..Gathered::default() }
    }

    /// The same, with what was taken from those of the first entries that are folded.
    pub(crate) fn with_folded(self, folded: &Folded) -> Self {
        let mut folded = folded.clone();
        folded.numbering = self.folded.numbering;
        Gathered { folded, ..self }
    }

    /// The same, its messages counted in the whole conversation.
    pub(crate) fn numbered(mut self, numbering: &Arc<Numbering>) -> Self {
        self.folded.numbering = Arc::clone(numbering);
        self.heard.numbering = Arc::clone(numbering);
        self
    }

    /// Which messages of the whole conversation its entries are.
    pub(super) fn numbering(&self) -> &Numbering {
        &self.folded.numbering
    }

    /// Entries that the ledger had read before.
    pub(crate) fn read_before(&self) -> usize {
        self.heard.read
    }

    /// What was taken from the folded entries.
    pub(crate) fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Only the ledger of it.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.heard.ledger
    }

    /// By which the model can have back what it stands for.
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// Number of messages that it stands for or that left without it, with those of earlier checkpoints.
    pub fn messages(&self) -> usize {
        self.folded.messages + self.folded.dropped
    }

    /// Whether it stands for any.
    pub(crate) fn is_empty(&self) -> bool {
        self.folded.messages == 0
    }

    /// Says which messages stand behind the checkpoint, where their places don't tell.
    pub(crate) fn follow(&mut self, following: Option<Following>) {
        self.folded.following = following;
    }

    /// Which messages stand behind the checkpoint, where their places don't tell.
    pub(super) fn following(&self) -> Option<&Following> {
        self.folded.following.as_ref()
    }

    /// The folded human messages, oldest first.
    pub fn words(&self) -> &[Word] {
        &self.folded.words
    }

    /// What people said in entries that are shown after all.
    pub(super) fn spared(&self) -> &[Word] {
        &self.folded.spared
    }

    /// Folded system text.
    pub fn instructions(&self) -> &[Word] {
        &self.folded.instructions
    }

    /// What was pinned and couldn't stay where it was said.
    pub fn pinned(&self) -> &[Word] {
        &self.folded.pinned
    }

    /// What was extracted from calls and results.
    pub fn anchors(&self) -> &Anchors {
        &self.folded.anchors
    }

    /// What was ruled, decided, found and left open.
    pub fn ledger(&self) -> &Ledger {
        &self.heard.ledger
    }

    /// The messages in which people said something that holds and no task speaks of: rules, decisions, facts; and how much
    /// of it.
    pub(crate) fn holding(&self) -> HashMap<Whence, u64> {
        let mut holding = HashMap::new();
        for line in self.ledger().lines().iter().filter(|line| line.holds_by_a_person()) {
            *holding.entry(line.whence()).or_default() += 1;
        }
        holding
    }

    /// What the narrative chooses from.
    pub(super) fn said(&self) -> Vec<Said<'_>> {
        let said = self.folded.said.iter();
        said.map(|(at, who, text)| Said { at: *at, who: *who, text }).collect()
    }

    /// Leaves out entries of nothing but what people said, which are shown after all.
    pub(crate) fn spare(&mut self, entries: &[usize]) {
        self.folded.spare(entries);
    }

    /// The same with another ledger.
    pub(crate) fn with_ledger(&self, ledger: Ledger) -> Self {
        let heard = Heard { ledger, ..self.heard.clone() };
        Gathered { heard, ..self.clone() }
    }

    /// Both of its halves, which may be filled side by side: what is left of each entry goes from the first to the
    /// second.
    pub(crate) fn halves(&mut self) -> (&mut Folded, &mut Heard) {
        (&mut self.folded, &mut self.heard)
    }

    /// Adds a folded entry. What an earlier checkpoint in it remembers is there once the entry is [seen](Self::see), and
    /// what it stands for was said.
    pub fn add(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) {
        self.left = self.folded.add(transcript, units, entry);
    }

    /// Adds a folded entry of nothing but what people said, of which the ledger has heard, behind others that come after
    /// it.
    pub(crate) fn add_late(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) {
        self.folded.add(transcript, units, entry);
    }

    /// Hears what an entry says, `shown` tells how much of it is shown: it may replace what was said before,
    /// and what it said and no longer shows is to be listed. Of a folded one after [`Gathered::add`].
    pub fn see(
        &mut self,
        transcript: &Transcript,
        entry: Entry<'_>,
        shown: impl Fn(&Part<'_>) -> Shown,
    ) {
        self.heard.see(transcript, entry, shown, take(&mut self.left));
    }

    /// Once all was read, makes the changes of earlier compactions for lines that were carried over without the
    /// messages that bear them out.
    pub(crate) fn keep_changes(&mut self, made: &[Made]) {
        self.heard.keep_changes(made);
    }

    /// Once all was read, tells what of it is shown to a ledger that has read some of it for another view.
    pub(crate) fn show(&mut self, shown: impl Fn(Slot) -> Shown) {
        self.heard.show(shown);
    }

    /// Once all was read, hears what earlier checkpoints remember of what was said last.
    pub(crate) fn end(&mut self) {
        self.heard.end();
    }

    /// Once all was read: what people took back is no longer quoted as if it held.
    pub fn settle(&mut self) {
        self.end();
        // Where some are shown behind a checkpoint, these come after what it quotes.
        self.folded.words.sort_by_key(|word| word.at);
        // By message, each with where to look for its next sentence: they come in order.
        let mut said: HashMap<Whence, Vec<(&mut Word, usize)>> = HashMap::new();
        for word in &mut self.folded.words {
            said.entry(word.whence()).or_default().push((word, 0));
        }
        let number = |line: &Line| line.whence().number(&self.folded.numbering);
        for (line, newest) in self.heard.ledger.taken_back() {
            for (word, from) in said.get_mut(&line.whence()).into_iter().flatten() {
                *from = word.withdraw(line.source(), number(newest), *from);
            }
        }
        said.values_mut().flatten().for_each(|(_, from)| *from = 0);
        for (line, newest) in self.heard.ledger.overtaken() {
            for (word, from) in said.get_mut(&line.whence()).into_iter().flatten() {
                *from = word.point(line.source(), number(newest), *from);
            }
        }
    }
}
