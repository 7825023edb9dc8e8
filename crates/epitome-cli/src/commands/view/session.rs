//! A session as turns with their messages, and the compactions between them.

use std::ops::Range;

use epitome::text::cut;
use epitome::transcript::{ContentId, Entry, PartKind};

use crate::args::ReadingArgs;
use crate::commands::report::{Compaction, Epoch, Lived, Quoting};
use crate::input::Opened;
use crate::progress::Progress;
use crate::reader::Reader;
use crate::said::says;
use crate::terminal::{count, line, percent};

/// What is walked through.
#[derive(Debug)]
pub(super) struct Session {
    /// The first words of the first person.
    pub(super) title: String,
    /// Whose it is, and how large.
    pub(super) about: String,
    /// What was counted.
    pub(super) lived: Lived,
    /// In the order of what happened; one at least.
    pub(super) blocks: Vec<Block>,
    /// Tokens in the context after so many messages of all that were said.
    pub(super) growth: Vec<(usize, u64)>,
    /// Messages that were said in all.
    pub(super) said: usize,
}

/// A line of the list that may have others below it.
#[derive(Debug)]
pub(super) enum Block {
    /// Messages from one of a person's to the next.
    Turn(Turn),
    /// The compaction at this place of [`Lived::compactions`].
    Compaction(usize),
}

/// Messages of an epoch.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) epoch: usize,
    pub(super) entries: Range<usize>,
    pub(super) tokens: u64,
    pub(super) words: String,
}

/// A line of the list: a block, or a message of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) block: usize,
    /// The message, by its place in its epoch.
    pub(super) entry: Option<usize>,
}

/// Columns of what a line of the list says.
const WORDS: usize = 200;

impl Session {
    /// Reads and counts the session in a file that says `now` at its end.
    pub(super) fn read(
        bytes: &[u8],
        now: &Opened,
        how: &ReadingArgs,
        reader: &Reader,
        progress: &mut Progress,
    ) -> Self {
        let counter = reader.counter.as_ref();
        let lived = Lived::read(bytes, now, how, counter, Quoting::Masked, progress);
        let newest = lived.epochs.last().expect("there is one at least");
        let tokens = newest.tally.total().tokens;
        let kind = now.source.recording.as_deref().unwrap_or(now.request.format.name());
        let mut about = vec![kind.to_owned()];
        about.extend(now.request.model().map(|model| line(&model, 40)));
        about.push(format!("{} tokens now", count(tokens)));
        about.extend(
            reader.window.map(|window| {
                format!("{} of a window of {}", percent(tokens, window), count(window))
            }),
        );
        Session::of(lived, about.join(" · "))
    }

    fn of(lived: Lived, about: String) -> Self {
        let mut blocks = Vec::new();
        let mut growth = Vec::new();
        for (at, epoch) in lived.epochs.iter().enumerate() {
            if at > 0 {
                blocks.push(Block::Compaction(at - 1));
            }
            blocks.extend(turns(at, epoch).into_iter().map(Block::Turn));
            let points = epoch.points().into_iter();
            growth
                .extend(points.map(|(said, sums)| (epoch.said_before + said, sums.total().tokens)));
        }
        let mut said = lived.epochs.iter().flat_map(|epoch| epoch.request.transcript.entries());
        let first = said.find(Entry::is_human).map(|entry| line(&entry.human_text(), WORDS));
        drop(said);
        let newest = lived.epochs.last().expect("there is one at least");
        let said = newest.said_before + newest.said();
        Session {
            title: first.unwrap_or_else(|| "nobody said anything".to_owned()),
            about,
            said,
            growth,
            blocks,
            lived,
        }
    }

    /// The epoch of a turn.
    pub(super) fn epoch(&self, turn: &Turn) -> &Epoch {
        &self.lived.epochs[turn.epoch]
    }

    /// A compaction by its place.
    pub(super) fn compaction(&self, at: usize) -> &Compaction {
        &self.lived.compactions[at]
    }

    /// The message of an item.
    pub(super) fn entry(&self, item: Item) -> Option<(&Epoch, Entry<'_>)> {
        match (&self.blocks[item.block], item.entry) {
            (Block::Turn(turn), Some(entry)) => {
                let epoch = self.epoch(turn);
                Some((epoch, epoch.request.transcript.entry(entry)))
            }
            _ => None,
        }
    }

    /// Messages that were said up to an item, itself among them.
    pub(super) fn said_at(&self, item: Item) -> usize {
        match &self.blocks[item.block] {
            Block::Turn(turn) => {
                let entry = item.entry.unwrap_or(turn.entries.start);
                number(self.epoch(turn), entry)
            }
            Block::Compaction(at) => self.compaction(*at).at,
        }
    }

    /// The messages that say `words`, in the order of the list; upper and lower case don't matter.
    pub(super) fn find(&self, words: &str) -> Vec<Item> {
        let words = words.to_lowercase();
        let mut found = Vec::new();
        for (block, turn) in self.turns() {
            let transcript = &self.epoch(turn).request.transcript;
            let says = |at: &usize| {
                transcript.entry(*at).parts().any(|part| {
                    let is_call = part.kind() == PartKind::Call;
                    part.text().to_lowercase().contains(&words)
                        || is_call && part.name().to_lowercase().contains(&words)
                })
            };
            found.extend(
                turn.entries.clone().filter(says).map(|at| Item { block, entry: Some(at) }),
            );
        }
        found
    }

    /// All turns, with their places among the blocks.
    pub(super) fn turns(&self) -> impl Iterator<Item = (usize, &Turn)> {
        self.blocks.iter().enumerate().filter_map(|(at, block)| match block {
            Block::Turn(turn) => Some((at, turn)),
            Block::Compaction(_) => None,
        })
    }
}

/// The id by which an archive gives a message back.
pub(super) fn recall_id(entry: &Entry<'_>) -> String {
    ContentId::of_text(entry.raw()).short()
}

/// Which message of the whole conversation it is, from 1, as checkpoints count them.
pub(super) fn number(epoch: &Epoch, entry: usize) -> usize {
    epoch.said_before + (entry + 1).saturating_sub(epoch.carried)
}

/// What was said in an epoch, turn by turn.
fn turns(at: usize, epoch: &Epoch) -> Vec<Turn> {
    let transcript = &epoch.request.transcript;
    let mut turns: Vec<Turn> = Vec::new();
    for entry in (epoch.carried..transcript.len()).map(|at| transcript.entry(at)) {
        let index = entry.index;
        if turns.is_empty() || entry.is_human() {
            let words = if entry.is_human() {
                line(cut::head(&entry.human_text(), WORDS * 8), WORDS)
            } else {
                says(&entry, WORDS)
            };
            turns.push(Turn { epoch: at, entries: index..index, tokens: 0, words });
        }
        let turn = turns.last_mut().expect("one was begun");
        turn.entries.end = index + 1;
        turn.tokens += epoch.tally.entry(index);
    }
    turns
}
