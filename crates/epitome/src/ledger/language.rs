//! The words that a ledger is read by, from a file of their language.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// English; what isn't English has no line, and stays in the user's words.
pub(super) fn english() -> &'static Language {
    static ENGLISH: LazyLock<Language> =
        LazyLock::new(|| Language::parse(include_str!("../../data/ledger/english.txt")));
    &ENGLISH
}

/// What a phrase says of its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum Cue {
    /// Something mustn't be: needs no other word.
    Forbids,
    /// Something must be: needs no other word.
    Demands,
    /// Holds from here on, or each time.
    Lasts,
    /// A demand only of somebody who may demand: `must`, `need to`, `should`.
    Ought,
    /// No, not: turns an [`Cue::Ought`] into a prohibition.
    Negates,
    /// A bound: at most, within, no more than.
    Bounds,
    /// Takes a rule back.
    Lifts,
    /// A choice was made.
    Decides,
    /// A choice between things, weaker than a decision.
    Picks,
    /// Somebody likes it so.
    Prefers,
    /// Where it is all to lead.
    Aims,
    /// Finished.
    Done,
    /// Can't go on.
    Blocked,
    /// Begun.
    Underway,
    /// Not begun, or left.
    Open,
    /// Nobody knows yet.
    Asks,
    /// What was before no longer holds.
    Changes,
    /// What was just said is meant otherwise: needs no subject.
    Anew,
    /// The same, where little else is said.
    AnewBriefly,
    /// The words behind it name what no longer holds.
    Instead,
    /// Why.
    Because,
    /// Says what something is: is, lives at, equals.
    Links,
    /// Only says what comes next, or is polite.
    Announces,
    /// Looks into something, which the next call shows.
    Probes,
    /// Asks politely.
    Courts,
    /// Speaks of people who decide.
    Social,
    /// Once more.
    Again,
    /// May be.
    Allows,
    /// Speaks to whoever makes summaries, or to what rules the model.
    Meddles,
    /// It gives an exact value.
    Value,
    /// It is a label and what stands behind it.
    Labels,
    /// A box or a word at its start says how far it is.
    Boxed,
    /// It begins with what is to be done.
    Commands,
    /// More than a single common word of change.
    Revises,
}

impl Cue {
    /// Those that phrases stand for.
    const ALL: [(&'static str, Self); 29] = [
        ("forbids", Self::Forbids),
        ("demands", Self::Demands),
        ("lasts", Self::Lasts),
        ("ought", Self::Ought),
        ("negates", Self::Negates),
        ("bounds", Self::Bounds),
        ("lifts", Self::Lifts),
        ("decides", Self::Decides),
        ("picks", Self::Picks),
        ("prefers", Self::Prefers),
        ("aims", Self::Aims),
        ("done", Self::Done),
        ("blocked", Self::Blocked),
        ("underway", Self::Underway),
        ("open", Self::Open),
        ("asks", Self::Asks),
        ("changes", Self::Changes),
        ("anew", Self::Anew),
        ("anew-briefly", Self::AnewBriefly),
        ("instead", Self::Instead),
        ("because", Self::Because),
        ("links", Self::Links),
        ("announces", Self::Announces),
        ("probes", Self::Probes),
        ("courts", Self::Courts),
        ("social", Self::Social),
        ("again", Self::Again),
        ("allows", Self::Allows),
        ("meddles", Self::Meddles),
    ];
}

/// A phrase, ready to be looked for.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) cue: Cue,
    pub(super) words: Box<[&'static str]>,
    /// A colon must follow.
    pub(super) labels: bool,
}

/// Words of the file. Strangers' words are looked up and never put in, so that a short hash does.
type Table<T> = HashMap<&'static str, T, BuildHasherDefault<Short>>;

/// FNV-1a: for keys of a few bytes.
#[derive(Default)]
struct Short(u64);

impl Hasher for Short {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        // The table looks at the upper bits too.
        self.0 ^ self.0.rotate_left(32)
    }
}

/// What a language says things with.
#[derive(Debug, Default)]
pub(super) struct Language {
    /// By their first word.
    phrases: Table<Vec<Phrase>>,
    /// Names of the lists of words, and for each word a bit for each list that it is in.
    sections: Vec<&'static str>,
    listed: Table<u16>,
    units: Table<&'static str>,
    alike: Table<&'static str>,
    owning: Vec<Box<[&'static str]>>,
}

impl Language {
    fn parse(text: &'static str) -> Self {
        let mut language = Self::default();
        let mut section = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
                continue;
            }
            let items = line.split(';').map(str::trim).filter(|item| !item.is_empty());
            items.for_each(|item| language.add(section, item));
        }
        language
    }

    fn add(&mut self, section: &'static str, item: &'static str) {
        if let Some((_, cue)) = Cue::ALL.iter().find(|(name, _)| *name == section) {
            let bare = item.trim_end_matches(':');
            let words: Box<[&str]> = bare.split(' ').collect();
            let first = words[0];
            let phrase = Phrase { cue: *cue, words, labels: bare != item };
            self.phrases.entry(first).or_default().push(phrase);
        } else if section == "units" {
            self.units.extend(item.split_once('='));
        } else if section == "alike" {
            let first = item.split('=').next().unwrap_or(item);
            self.alike.extend(item.split('=').map(|word| (word, first)));
        } else if section == "owning" {
            self.owning.push(item.split(' ').collect());
        } else {
            let at = self.sections.iter().position(|name| *name == section).unwrap_or_else(|| {
                self.sections.push(section);
                self.sections.len() - 1
            });
            *self.listed.entry(item).or_default() |= 1 << at;
        }
    }

    /// The phrases that begin with a word.
    pub(super) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }

    /// Whether a section has a word.
    pub(super) fn has(&self, section: &str, word: &str) -> bool {
        let Some(lists) = self.listed.get(word) else { return false };
        let at = self.sections.iter().position(|name| *name == section);
        at.is_some_and(|at| lists & (1 << at) != 0)
    }

    /// What kind of measure a unit is.
    pub(super) fn unit(&self, word: &str) -> Option<&'static str> {
        self.units.get(word).copied()
    }

    /// The word that stands for all of its meaning.
    pub(super) fn alike(&self, word: &str) -> Option<&'static str> {
        self.alike.get(word).copied()
    }

    /// What somebody does with what is theirs.
    pub(super) fn owning(&self) -> &[Box<[&'static str]>] {
        &self.owning
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    #[test]
    fn the_file_is_read_as_a_whole() {
        let english = english();
        for (name, cue) in Cue::ALL {
            let some = english.phrases.values().flatten().any(|phrase| phrase.cue == cue);
            assert!(some, "[{name}] has no phrase");
        }
        for section in
            ["commands", "numbers", "contrasts", "empty", "pronouns", "notices", "hints", "polite"]
        {
            assert!(english.sections.contains(&section), "[{section}] is empty");
        }
        assert_eq!(english.sections.len(), 8, "a section has a name that nothing reads");
        assert_eq!((english.unit("ms"), english.alike("deadline")), (Some("t"), Some("timeout")));
    }

    /// A phrase that its own words don't make is never found.
    #[test]
    fn every_phrase_can_be_found() {
        let phrases = english().phrases.values().flatten();
        let said = |phrase: &&Phrase| phrase.words.join(" ").replace('*', "something");
        let lost: Vec<String> = phrases
            .filter(|phrase| Words::of(&said(phrase)).follows(0, &phrase.words).is_none())
            .map(|phrase| phrase.words.join(" "))
            .collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
