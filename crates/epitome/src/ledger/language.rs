//! The words that a ledger is read by, from a file of their language.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::lists::List;
use super::stem::{root, stem};
use super::terms::digest;
use super::words::Word;
use crate::text::words::STOP_WORDS;

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
    /// Speaks of what is so by now.
    Recent,
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
    /// Says that a question has its answer.
    Answers,
    /// Speaks to whoever makes summaries, or to what rules the model.
    Meddles,
    /// Tells what somebody says or thinks, or what would be.
    Hearsay,
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
    /// A verb in the past says that something was done.
    Reported,
}

impl Cue {
    /// Those that phrases stand for.
    const ALL: [(&'static str, Self); 32] = [
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
        ("recent", Self::Recent),
        ("instead", Self::Instead),
        ("because", Self::Because),
        ("links", Self::Links),
        ("announces", Self::Announces),
        ("probes", Self::Probes),
        ("courts", Self::Courts),
        ("social", Self::Social),
        ("again", Self::Again),
        ("allows", Self::Allows),
        ("answers", Self::Answers),
        ("meddles", Self::Meddles),
        ("hearsay", Self::Hearsay),
    ];
}

/// A word of the file, by its number; [`UNKNOWN`] for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Id(u32);

/// A word that no phrase and no list has.
const UNKNOWN: Id = Id(0);
/// `*` in a phrase: any one word.
const ANY: Id = Id(u32::MAX);
/// `...` in a phrase: a few words.
const SOME: Id = Id(u32::MAX - 1);

impl Id {
    /// Whether this part of a phrase means the word.
    pub(super) fn means(self, word: Self) -> bool {
        self == word || self == ANY
    }

    fn is_word(self) -> bool {
        self != ANY && self != SOME
    }

    fn bit(self) -> u64 {
        1 << (self.0 & 63)
    }

    /// Whether it stands for a few words.
    pub(super) fn is_gap(self) -> bool {
        self == SOME
    }
}

/// A phrase, ready to be looked for.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) cue: Cue,
    pub(super) words: Box<[Id]>,
    pub(super) end: End,
}

/// What must follow a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Anything,
    Colon,
    /// Any mark.
    Mark,
}

impl End {
    fn of(item: &str) -> Self {
        match item.as_bytes().last() {
            Some(b':') => Self::Colon,
            Some(b',') => Self::Mark,
            _ => Self::Anything,
        }
    }

    /// Whether a phrase may end with this word.
    pub(super) fn allows(self, word: Option<&Word>) -> bool {
        let after = word.map(|word| word.after);
        match self {
            Self::Anything => true,
            Self::Colon => after == Some(':'),
            Self::Mark => after != Some(' '),
        }
    }
}

/// What the language knows of a word.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The phrases that it begins.
    pub(super) phrases: Vec<Phrase>,
    /// A bit for each second word that one of them has, by its number; all if one has any.
    seconds: u64,
    /// What it begins that somebody does with what is theirs.
    pub(super) owning: Vec<Box<[Id]>>,
    /// A bit for each list that it is in.
    lists: u64,
    /// What kind of measure it is.
    unit: Option<&'static str>,
    /// The word that stands for all of its meaning.
    alike: Option<&'static str>,
    /// The first of the things of its kind, of which what is said of one is said of no other.
    opposite: Option<&'static str>,
}

impl Known {
    /// Whether a phrase that it begins may go on with the word `next`.
    pub(super) fn may_begin(&self, next: Id) -> bool {
        self.seconds & next.bit() != 0
    }

    /// Whether a list has it.
    pub(super) fn is(&self, list: List) -> bool {
        self.lists & list.bit() != 0
    }

    /// What kind of measure it is.
    pub(super) fn unit(&self) -> Option<&'static str> {
        self.unit
    }

    /// The first of the things of its kind, of which what is said of one is said of no other.
    pub(super) fn opposite(&self) -> Option<&'static str> {
        self.opposite
    }

    /// The word that stands for all of its meaning.
    pub(super) fn alike(&self) -> Option<&'static str> {
        self.alike
    }
}

/// By a word's first and last four bytes and its length. Strangers' words are looked up and never put in.
#[derive(Default)]
struct Short(u64);

impl Hasher for Short {
    fn write(&mut self, bytes: &[u8]) {
        let ends = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
        };
        let mixed = (ends ^ (bytes.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= mixed ^ mixed >> 29;
    }

    /// What ends a string.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        // The table looks at the upper bits too.
        self.0 ^ self.0.rotate_left(32)
    }
}

/// What a part of the file lists.
#[derive(Clone, Copy, Debug)]
enum Section {
    Phrases(Cue),
    Words(List),
    Units,
    Alike,
    Opposites,
    Deeds,
    Owning,
}

impl Section {
    fn named(name: &str) -> Option<Self> {
        let cue = Cue::ALL.iter().find(|(cue, _)| *cue == name);
        let list = List::ALL.iter().find(|list| list.name() == name);
        Some(match (cue, list, name) {
            (Some((_, cue)), ..) => Self::Phrases(*cue),
            (_, Some(list), _) => Self::Words(*list),
            (.., "units") => Self::Units,
            (.., "alike") => Self::Alike,
            (.., "opposites") => Self::Opposites,
            (.., "deeds") => Self::Deeds,
            (.., "owning") => Self::Owning,
            _ => return None,
        })
    }
}

/// Words that a file has about, for which room is made at once.
const WORDS: usize = 3 << 10;

/// What a language says things with.
#[derive(Debug)]
pub(super) struct Language {
    ids: HashMap<&'static str, Id, BuildHasherDefault<Short>>,
    /// By their ids.
    known: Vec<Known>,
    /// For each verb that rules forbid or demand the one that stands for its meaning.
    deeds: HashMap<u64, u64>,
}

impl Language {
    fn parse(text: &'static str) -> Self {
        let ids = HashMap::with_capacity_and_hasher(WORDS, BuildHasherDefault::default());
        let mut known = Vec::with_capacity(WORDS);
        known.push(Known::default());
        let mut language = Self { ids, known, deeds: HashMap::new() };
        let mut section = None;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = Section::named(name);
                continue;
            }
            let Some(section) = section else { continue };
            let items = line.split(';').map(str::trim).filter(|item| !item.is_empty());
            items.for_each(|item| language.add(section, item));
        }
        for word in STOP_WORDS {
            let word = language.number(word);
            language.known_mut(word).lists |= List::Common.bit();
        }
        language
    }

    fn add(&mut self, section: Section, item: &'static str) {
        match section {
            Section::Phrases(cue) => {
                let words = self.numbered(item.trim_end_matches([':', ',']));
                let first = words[0];
                let phrase = Phrase { cue, words, end: End::of(item) };
                let known = self.known_mut(first);
                known.seconds |= match phrase.words.get(1) {
                    Some(second) if second.is_word() => second.bit(),
                    _ => u64::MAX,
                };
                known.phrases.push(phrase);
            }
            Section::Words(list) => {
                let word = self.number(item);
                self.known_mut(word).lists |= list.bit();
            }
            Section::Units => {
                let Some((word, class)) = item.split_once('=') else { return };
                let word = self.number(word);
                self.known_mut(word).unit = Some(class);
            }
            Section::Alike => {
                let first = item.split('=').next();
                for word in item.split('=') {
                    let word = self.number(word);
                    self.known_mut(word).alike = first;
                }
            }
            Section::Opposites => {
                let first = item.split('=').next();
                for word in item.split('=') {
                    let word = self.number(word);
                    self.known_mut(word).opposite = first;
                }
            }
            Section::Deeds => {
                let of = |verb: &str| digest(root(stem(verb)));
                let first = item.split('=').next().map(of);
                self.deeds.extend(item.split('=').filter_map(|verb| Some((of(verb), first?))));
            }
            Section::Owning => {
                let words = self.numbered(item);
                self.known_mut(words[0]).owning.push(words);
            }
        }
    }

    /// The numbers of a phrase's words.
    fn numbered(&mut self, phrase: &'static str) -> Box<[Id]> {
        phrase.split(' ').map(|word| self.number(word)).collect()
    }

    fn number(&mut self, word: &'static str) -> Id {
        match word {
            "*" => return ANY,
            "..." => return SOME,
            _ => {}
        }
        *self.ids.entry(word).or_insert_with(|| {
            self.known.push(Known::default());
            Id(self.known.len() as u32 - 1)
        })
    }

    fn known_mut(&mut self, word: Id) -> &mut Known {
        &mut self.known[word.0 as usize]
    }

    /// A word's number.
    pub(super) fn id(&self, word: &str) -> Id {
        self.ids.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// What is known of a word.
    pub(super) fn known(&self, word: Id) -> &Known {
        &self.known[word.0 as usize]
    }

    /// Whether a word says nothing of a subject.
    pub(super) fn says_nothing(&self, word: &str) -> bool {
        let known = self.known(self.id(word));
        known.is(List::Common) || known.is(List::Empty)
    }

    /// What a verb says is done, in whatever form: `raising`, `increased`.
    pub(super) fn deed(&self, low: &str) -> Option<u64> {
        self.deeds.get(&digest(root(stem(low)))).copied()
    }

    /// Whether a list has a word.
    pub(super) fn has(&self, list: List, word: &str) -> bool {
        self.known(self.id(word)).is(list)
    }

    /// What kind of measure a unit is.
    pub(super) fn unit(&self, word: &str) -> Option<&'static str> {
        self.known(self.id(word)).unit
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    impl Language {
        fn phrases(&self) -> impl Iterator<Item = &Phrase> {
            self.known.iter().flat_map(|known| &known.phrases)
        }

        fn spelled(&self, phrase: &Phrase) -> String {
            let word =
                |id: &Id| self.ids.iter().find(|(_, other)| *other == id).map(|(word, _)| *word);
            let words: Vec<&str> =
                phrase.words.iter().map(|id| word(id).unwrap_or("something")).collect();
            words.join(" ")
        }
    }

    #[test]
    fn the_file_is_read_as_a_whole() {
        let english = english();
        for (name, cue) in Cue::ALL {
            assert!(english.phrases().any(|phrase| phrase.cue == cue), "[{name}] has no phrase");
        }
        for list in List::ALL {
            let is_said = english.known.iter().any(|known| known.is(*list));
            assert!(is_said, "[{}] is empty", list.name());
        }
        let names = Cue::ALL.iter().map(|(name, _)| *name);
        let names: Vec<&str> = names
            .chain(List::ALL.iter().map(|list| list.name()))
            .chain(["units", "alike", "opposites", "deeds", "owning"])
            .collect();
        let lines = include_str!("../../data/ledger/english.txt").lines();
        for name in lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')) {
            assert!(names.contains(&name), "nothing reads [{name}]");
        }
        assert_eq!(
            (english.unit("ms"), english.known(english.id("deadline")).alike()),
            (Some("t"), Some("timeout"))
        );
    }

    /// A phrase that its own words don't make is never found.
    #[test]
    fn every_phrase_can_be_found() {
        let lost: Vec<String> = english()
            .phrases()
            .map(|phrase| (phrase, english().spelled(phrase)))
            .filter(|(phrase, said)| Words::of(said).follows(0, &phrase.words).is_none())
            .map(|(_, said)| said)
            .collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
