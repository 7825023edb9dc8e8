//! The same sentence with something else in one place: `Bob owns billing now` behind `Alice owns billing`.
//!
//! What both say may be nothing but words that many lines have, so that the older one is found by how it begins or ends.
//! Another thing before the verb is spoken of by itself (`Alice is away`, `Bob is away now`), unless only one can have or do
//! that; and of two rules both hold. It is a note and strikes nothing.

use std::collections::HashMap;

use super::apart::meaning;
use super::behind::words;
use super::judge::asks;
use super::language::english;
use super::lists::List;
use super::terms::digest;
use super::update::{LOOK_BACK, may_replace};
use super::{Kind, Ledger, Line, Speaker};

/// Words of the two at most, those apart that only say when or are mere determiners.
const MOST: usize = 12;
/// Words that both say, at least; at the beginning and the end.
const LEAST: usize = 2;
/// Words of the older one that others may stand for, and of the newer, which may say from when.
const SLOT: usize = 3;
const SLOT_ANEW: usize = 5;

/// How lines begin and end.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(HashMap<u64, Vec<u32>>);

impl Frames {
    /// Takes up a line, if it is one that may be said again.
    pub(super) fn take(&mut self, line: &Line, own: usize) {
        if line.who < Speaker::Model {
            return;
        }
        for key in Frame::of(&line.text).iter().flat_map(Frame::keys) {
            self.0.entry(key).or_default().push(own as u32);
        }
    }

    /// The lines that begin or end alike, the newest first.
    fn alike(&self, frame: &Frame) -> impl Iterator<Item = usize> {
        let of = frame.keys().map(|key| self.0.get(&key));
        let lines = of.into_iter().flatten().flat_map(|lines| lines.iter().rev().take(LOOK_BACK));
        let mut lines: Vec<usize> = lines.map(|at| *at as usize).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().rev()
    }
}

impl Ledger {
    /// The line that says the same as `new`, which says that something changed, but for one place.
    pub(super) fn framed(&self, new: &Line) -> Option<usize> {
        let says = new.says_so() || new.kind == Kind::Done;
        if new.who < Speaker::Model || !says || new.text.ends_with(':') || asks(&new.text) {
            return None;
        }
        let frame = Frame::of(&new.text)?;
        self.frames.alike(&frame).find(|at| {
            let old = &self.lines[*at];
            let (own, theirs) = (&new.subject, &old.subject);
            let goes_on = !new.kind.is_task() || new.kind != old.kind;
            let are_rules = new.kind == Kind::Constraint && old.kind == Kind::Constraint;
            let may = old.replaced.is_none() && may_replace(new, old) && !new.is_said_with(old);
            // A value stands for another one.
            let fits = !own.gives_any() && !theirs.gives_any() || own.stands_for(theirs);
            may && goes_on
                && !are_rules
                && fits
                && !new.adds_to(old)
                && !asks(&old.text)
                && !theirs.is_hearsay
                && (!own.contrasts(theirs) || own.stands_for(theirs))
                && Frame::of(&old.text).is_some_and(|old| frame.differs_in_one_place(&old))
        })
    }
}

/// The words of a sentence, and what they mean, without those that only say when or that tell no two things apart.
struct Frame {
    words: Vec<String>,
    meanings: Vec<u64>,
}

impl Frame {
    fn of(text: &str) -> Option<Self> {
        let says = |word: &String| {
            !english().has(List::Fillers, word) && !english().has(List::Determiners, word)
        };
        let words: Vec<String> = words(text).filter(says).take(MOST + 1).collect();
        let meanings = words.iter().map(|word| meaning(word)).collect();
        (LEAST < words.len() && words.len() <= MOST).then_some(Self { words, meanings })
    }

    /// What it is found by: its first words, and its last.
    fn keys(&self) -> [u64; 2] {
        let key = |place: &str, words: &[u64]| digest(&format!("{place}{words:x?}"));
        let (first, last) = (LEAST, self.meanings.len() - LEAST);
        [key("first", &self.meanings[..first]), key("last", &self.meanings[last..])]
    }

    /// Whether some words of the older one have others in their place, and all others are the same. What stands before
    /// the verb is another thing's, unless only one can have or do it.
    fn differs_in_one_place(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.meanings[..], &old.meanings[..]);
        let first = own.iter().zip(theirs).take_while(|(a, b)| a == b).count();
        let (own, theirs) = (&own[first..], &theirs[first..]);
        let last = own.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
        let (own, theirs) = (&own[..own.len() - last], &theirs[..theirs.len() - last]);
        let (before, behind) = (&self.words[..first], &self.words[self.words.len() - last..]);
        let is_before_verb =
            before.is_empty() || behind.iter().any(|word| english().has(List::Predicates, word));
        let is_alone = || before.iter().chain(behind).any(|word| english().has(List::Alone, word));
        first + last >= LEAST
            && (1..=SLOT_ANEW).contains(&own.len())
            && (1..=SLOT).contains(&theirs.len())
            && !own.iter().any(|word| theirs.contains(word))
            && (!is_before_verb || is_alone())
    }
}

#[cfg(test)]
mod tests {
    use super::Frame;

    #[test]
    fn one_place_is_told_from_two() {
        let differs = |old: &str, new: &str| {
            let of = |text: &str| Frame::of(text).expect("some words");
            of(new).differs_in_one_place(&of(old))
        };
        assert!(differs("Alice owns billing.", "Bob owns billing now."));
        assert!(differs("We need Node 18.", "We need Node 20 now."));
        assert!(differs("The build is broken.", "The build is green again."));
        assert!(differs("We deploy on Fridays.", "We deploy on Tuesdays from now on."));
        assert!(!differs("Alice owns billing.", "Bob owns search now."));
        assert!(!differs("Alice is on vacation.", "Bob is on vacation now."));
        assert!(!differs("The flight to Rome is booked.", "The flight to Paris is booked now."));
        assert!(!differs("We need Node 18.", "We need Node 18 now."));
        assert!(!differs("Server A has 16 GB.", "Server B has 32 GB now."));
    }
}
