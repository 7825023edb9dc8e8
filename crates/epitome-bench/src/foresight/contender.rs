//! Contenders: what makes a view of a cut session. All have the same room, in tokens.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use epitome::checkpoint::looks_like_one;
use epitome::count::Tally;
use epitome::transcript::PartKind;
use epitome::{Compactor, Options, Target};

use super::need::Need;
use super::scene::Scene;
use crate::Broken;
use crate::dice::Dice;
use crate::needle::{has_neighbours, mentions, says};
use crate::passage::{Passage, Who, passages};

/// The share of the room that the newest units get before outputs become stubs, in tenths.
const TAIL: u64 = 3;

/// What makes a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contender {
    /// The library, with its default options.
    Epitome,
    /// The newest units that fit.
    KeepRecent,
    /// Older outputs become one line, then the oldest units go.
    Stubs,
    /// Units drawn by lot.
    RandomUnits,
    /// The beginning of each message, in proportion.
    MessageHeads,
    /// Names of the needs, then excerpts that say them with their neighbours: it knows what comes.
    Oracle,
}

impl Contender {
    /// All of them, in the order of tables.
    pub const ALL: [Contender; 6] = [
        Contender::Epitome,
        Contender::KeepRecent,
        Contender::Stubs,
        Contender::RandomUnits,
        Contender::MessageHeads,
        Contender::Oracle,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Epitome => "epitome",
            Contender::KeepRecent => "keep-recent",
            Contender::Stubs => "stubbed outputs",
            Contender::RandomUnits => "random units",
            Contender::MessageHeads => "per-message cut",
            Contender::Oracle => "oracle",
        }
    }
}

/// What a view says, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// All of it, in lines.
    pub text: String,
    /// Its checkpoint.
    pub checkpoint: Option<String>,
    /// Its tokens.
    pub tokens: u64,
}

/// Contenders at one cut, with what they share between budgets.
#[derive(Debug)]
pub struct Stand<'s> {
    scene: &'s Scene,
}

impl<'s> Stand<'s> {
    /// The contenders at a cut.
    pub fn new(scene: &'s Scene) -> Self {
        Stand { scene }
    }

    /// What a contender shows in `room` tokens.
    ///
    /// # Errors
    /// The library refuses to compact.
    pub fn view(&self, contender: Contender, room: u64) -> Result<Shown, Broken> {
        Ok(match contender {
            Contender::Epitome => return self.epitome(room),
            Contender::KeepRecent => {
                let all = 0..self.scene.units.all().len();
                self.fitting(all.rev(), room)
            }
            Contender::RandomUnits => {
                let mut order: Vec<usize> = (0..self.scene.units.all().len()).collect();
                let mut dice = Dice::new(order.len() as u64);
                for at in (1..order.len()).rev() {
                    order.swap(at, dice.below(at + 1));
                }
                self.fitting(order.into_iter(), room)
            }
            Contender::Stubs => self.stubs(room),
            Contender::MessageHeads => self.heads(room),
            Contender::Oracle => self.oracle(room),
        })
    }

    fn epitome(&self, room: u64) -> Result<Shown, Broken> {
        let target = Target::Tokens(self.scene.standing + room);
        let options = Options { target, ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&self.scene.counter))?;
        let request = compactor.compact(&self.scene.prefix)?.request;
        let all = passages(&request);
        let said: Vec<&Passage> =
            all.iter().filter(|passage| passage.who != Who::Standing).collect();
        let checkpoint = said
            .iter()
            .find(|passage| passage.kind == PartKind::Text && looks_like_one(&passage.text));
        let checkpoint = checkpoint.map(|passage| passage.text.clone());
        let tokens = Tally::of(&request, self.scene.counter.as_ref()).total().tokens;
        let text = joined(said.iter().map(|passage| passage.text.as_str()));
        Ok(Shown { text, checkpoint, tokens: tokens.saturating_sub(self.scene.standing) })
    }

    /// Whole units, taken in `order` where they fit, shown in theirs.
    fn fitting(&self, order: impl Iterator<Item = usize>, room: u64) -> Shown {
        let (mut tokens, mut taken) = (0, BTreeSet::new());
        for unit in order {
            let more = self.scene.unit_tokens(unit);
            if tokens + more <= room {
                tokens += more;
                taken.insert(unit);
            }
        }
        let said =
            taken.iter().flat_map(|unit| self.scene.of_unit(*unit)).filter(|said| is_spoken(said));
        Shown { text: joined(said.map(|passage| passage.text.as_str())), checkpoint: None, tokens }
    }

    fn stubs(&self, room: u64) -> Shown {
        let units = self.scene.units.all().len();
        let (mut tokens, mut texts) = (0, Vec::new());
        let mut is_tail = true;
        for unit in (0..units).rev() {
            let whole = self.scene.unit_tokens(unit);
            is_tail = is_tail && tokens + whole <= room * TAIL / 10;
            let mut said: Vec<Cow<'_, str>> = Vec::new();
            let mut spared = 0;
            for passage in self.scene.of_unit(unit).iter().filter(|said| is_spoken(said)) {
                let stub = format!("[output, {} lines]", passage.text.lines().count());
                let (was, is) = (self.count(&passage.text), self.count(&stub));
                if !is_tail && passage.who == Who::Tool && is < was {
                    spared += was - is;
                    said.push(stub.into());
                } else {
                    said.push(passage.text.as_str().into());
                }
            }
            let more = whole.saturating_sub(spared);
            if tokens + more > room {
                break;
            }
            tokens += more;
            texts.push(said);
        }
        let texts = texts.iter().rev().flatten().map(Cow::as_ref);
        Shown { text: joined(texts), checkpoint: None, tokens }
    }

    fn heads(&self, room: u64) -> Shown {
        let said: Vec<&str> = self
            .scene
            .passages
            .iter()
            .filter(|said| is_spoken(said))
            .map(|said| said.text.as_str())
            .collect();
        let mut share = room as f64 / self.scene.tokens().max(1) as f64;
        loop {
            let heads = said.iter().map(|text| head(text, (text.len() as f64 * share) as usize));
            let shown = self.text(joined(heads));
            if shown.tokens <= room || shown.text.is_empty() {
                return shown;
            }
            share *= 0.97;
        }
    }

    /// As many needs as fit, the shortest first; then as many of them with their neighbours.
    fn oracle(&self, room: u64) -> Shown {
        let mut needs: Vec<&Need> = self.scene.needs.iter().collect();
        needs.sort_by_cached_key(|need| self.count(&need.text));
        let strings = needs.iter().map(|need| need.text.as_str());
        let mut lines = self.names(strings, room);
        let mut left = room.saturating_sub(self.count(&joined(lines.iter().copied())));
        let excerpts =
            needs.iter().filter_map(|need| need.excerpt.as_deref().map(|excerpt| (*need, excerpt)));
        let mut excerpts: Vec<(&Need, &str)> = excerpts.collect();
        excerpts.sort_by_cached_key(|(_, excerpt)| self.count(excerpt));
        for (need, excerpt) in excerpts {
            let tokens = self.count(excerpt) + 1;
            if tokens > left {
                break;
            }
            let text = joined(lines.iter().copied());
            let is_said =
                |at| need.neighbours.iter().any(|words| has_neighbours(&text, &at, words));
            if !mentions(&text, &need.text).any(is_said) {
                lines.push(excerpt);
                left -= tokens;
            }
        }
        self.text(joined(lines.into_iter()))
    }

    /// The first of `strings` that the others don't say and that fit in `room` together.
    fn names<'t>(&self, strings: impl Iterator<Item = &'t str>, room: u64) -> Vec<&'t str> {
        let (mut left, mut chosen, mut said) = (room, Vec::new(), String::new());
        for string in strings.filter(|string| !string.is_empty()) {
            let tokens = self.count(string) + 1;
            if tokens <= left && !says(&said, string) {
                left -= tokens;
                chosen.push(string);
                said.push('\n');
                said.push_str(string);
            }
        }
        chosen
    }

    fn text(&self, text: String) -> Shown {
        Shown { tokens: self.count(&text), checkpoint: None, text }
    }

    fn count(&self, text: &str) -> u64 {
        self.scene.counter.text(text).tokens
    }
}

fn is_spoken(passage: &Passage) -> bool {
    passage.who != Who::Standing
}

fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.fold(String::new(), |all, text| if text.is_empty() { all } else { all + text + "\n" })
}

fn head(text: &str, mut len: usize) -> &str {
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    &text[..len]
}
