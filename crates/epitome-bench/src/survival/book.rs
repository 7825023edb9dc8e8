//! What is planted: phrasings with slots, what may stand in these, and how each is recognised.
//!
//! The files are in `crates/epitome-bench/data/survival`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::run::Broken;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// May be read by whoever writes rules.
    Open,
    /// Opened only to measure.
    HeldOut,
    /// A file that somebody names, to measure or to learn from.
    Given,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A prohibition or a limit.
    Constraint,
    /// What was decided, and why.
    Decision,
    /// What somebody likes.
    Preference,
    /// A value of something.
    Fact,
    /// What all of it is for.
    Goal,
    /// Work, and its state.
    Task,
    /// A question without an answer.
    Question,
}

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// A person.
    Human,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// How an item is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// The subject is named as before.
    Explicit,
    /// Right after, without the subject: "make that 40".
    Anaphoric,
    /// Later, the subject in other words.
    Renamed,
    /// A task comes into another state.
    State,
    /// A prohibition is lifted.
    Lifted,
    /// A question is answered.
    Answered,
}

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// What the file is.
    pub about: String,
    /// What may stand in slots that no matter fills.
    pub pools: BTreeMap<String, Vec<String>>,
    /// What is spoken of.
    pub matters: Vec<Matter>,
    /// In which words.
    pub phrasings: Vec<Phrasing>,
    /// In which words it is changed.
    pub corrections: Vec<Correction>,
    /// Sentences that say nothing, by speaker.
    pub fillers: BTreeMap<Speaker, Vec<String>>,
}

/// What an item is about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matter {
    /// What it is.
    pub kind: Kind,
    /// A subkind with phrasings of its own; empty if there is none.
    #[serde(default)]
    pub form: String,
    /// Words for its slots.
    pub slots: BTreeMap<String, String>,
    /// Words of which one must stand beside the value, in lower case; longer words may begin so.
    pub keys: Vec<String>,
    /// Its values, each said once in a session.
    #[serde(default)]
    pub values: Vec<String>,
    /// Reasons for them.
    #[serde(default)]
    pub why: Vec<String>,
    /// A matter of the same shape, with the same values, which it must not be taken for.
    pub rival: Option<Rival>,
}

/// A matter that differs in its subject only.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    /// Words for its slots.
    pub slots: BTreeMap<String, String>,
    /// Its keys.
    pub keys: Vec<String>,
}

/// A way to say an item.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phrasing {
    /// Its name.
    pub id: String,
    /// What it says.
    pub kind: Kind,
    /// The form of matter that it is for; of a task, its state.
    #[serde(default)]
    pub form: String,
    /// Whose words these are.
    pub voice: String,
    /// Who may say it.
    pub by: Vec<Speaker>,
    /// The words, with `{slots}`; `{Slots}` begin in upper case.
    pub text: String,
    /// What must be beside key and value: alternatives are separated by `|`; case doesn't count.
    #[serde(default)]
    pub must: Vec<String>,
}

/// A way to change an item.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// Its name.
    pub id: String,
    /// How.
    pub shape: Shape,
    /// Whose words these are.
    #[serde(default)]
    pub voice: String,
    /// Families of matters that it fits.
    pub kinds: Vec<String>,
    /// Who may say it.
    pub by: Vec<Speaker>,
    /// Whether one corrects oneself: "I meant …".
    #[serde(default)]
    pub own: bool,
    /// The words, with `{slots}`.
    pub text: String,
    /// As in a phrasing.
    #[serde(default)]
    pub must: Vec<String>,
}

impl Set {
    /// As it is said on command lines and in pages.
    pub fn name(self) -> &'static str {
        match self {
            Set::Open => "open",
            Set::HeldOut => "held-out",
            Set::Given => "given",
        }
    }
}

/// The files that are part of the project.
pub fn shipped() -> [(Set, &'static Book); 2] {
    static OPEN: LazyLock<Book> =
        LazyLock::new(|| own(include_str!("../../data/survival/open.json")));
    static HELD_OUT: LazyLock<Book> =
        LazyLock::new(|| own(include_str!("../../data/survival/held-out.json")));
    [(Set::Open, &OPEN), (Set::HeldOut, &HELD_OUT)]
}

fn own(text: &str) -> Book {
    Book::read(text).expect("the file is a book")
}

impl Book {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no book, two phrasings of it have one name, or something that is to stand somewhere isn't there.
    pub fn read(text: &str) -> Result<Book, Broken> {
        let book: Book = serde_json::from_str(text)?;
        let mut ids = BTreeSet::new();
        match book.phrasings.iter().find(|phrasing| !ids.insert(phrasing.id.as_str())) {
            Some(twice) => Err(Broken(format!("two phrasings are named {}", twice.id))),
            None => book.filled_throughout().map(|()| book),
        }
    }

    /// Whether every slot has something to stand in it, whoever says it of what.
    fn filled_throughout(&self) -> Result<(), Broken> {
        if let Some((name, _)) = self.pools.iter().find(|(_, pool)| pool.is_empty()) {
            return Err(Broken(format!("the pool {name} is empty")));
        }
        let is_mute = |by: &&Speaker| self.fillers.get(by).is_none_or(Vec::is_empty);
        if let Some(by) = Speaker::ALL.iter().find(is_mute) {
            return Err(Broken(format!("no fillers of a {by}")));
        }
        for matter in &self.matters {
            let phrasings = self.phrasings.iter().filter(|p| p.is_for(matter));
            let phrasings = phrasings.map(|p| (&p.id, &p.text, &p.must));
            let corrections = self.corrections_of(matter).into_iter();
            let corrections = corrections.map(|c| (&c.id, &c.text, &c.must));
            for (id, text, must) in phrasings.chain(corrections) {
                for words in must.iter().chain([text]) {
                    let missing = || format!("{id} of {}", matter.keys.join(" "));
                    let names = names(words);
                    let names =
                        names.ok_or_else(|| Broken(format!("{}: an open slot", missing())))?;
                    if let Some(name) = names.iter().find(|name| !self.fills(name, matter)) {
                        return Err(Broken(format!("{}: nothing fills {name}", missing())));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether something can stand in a slot where the matter is spoken of.
    fn fills(&self, name: &str, matter: &Matter) -> bool {
        let rival = matter.rival.as_ref().map(|rival| &rival.slots);
        let is_of_all = [Some(&matter.slots), rival]
            .into_iter()
            .flatten()
            .all(|slots| slots.contains_key(name));
        match name {
            "value" | "old" => !matter.values.is_empty(),
            "why" if !matter.why.is_empty() => true,
            _ => is_of_all || self.pools.contains_key(name),
        }
    }

    /// The phrasings for a matter that `speaker` may use; for a task, of any state.
    pub fn phrasings_of(&self, matter: &Matter, speaker: Speaker) -> Vec<&Phrasing> {
        let fits = |p: &&Phrasing| p.is_for(matter) && p.by.contains(&speaker);
        self.phrasings.iter().filter(fits).collect()
    }

    /// The corrections for a matter.
    pub fn corrections_of(&self, matter: &Matter) -> Vec<&Correction> {
        let fits = |c: &&Correction| c.kinds.iter().any(|kind| kind == matter.family());
        self.corrections.iter().filter(fits).collect()
    }
}

impl Phrasing {
    /// Whether it may say the matter; a task in any state.
    fn is_for(&self, matter: &Matter) -> bool {
        self.kind == matter.kind && (self.form == matter.form || self.kind == Kind::Task)
    }
}

impl Matter {
    /// What its corrections call it: its form, or else its kind.
    pub fn family(&self) -> &str {
        if self.form.is_empty() { self.kind.name() } else { &self.form }
    }
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Constraint,
        Kind::Decision,
        Kind::Preference,
        Kind::Fact,
        Kind::Goal,
        Kind::Task,
        Kind::Question,
    ];

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Constraint => "constraint",
            Kind::Decision => "decision",
            Kind::Preference => "preference",
            Kind::Fact => "fact",
            Kind::Goal => "goal",
            Kind::Task => "task",
            Kind::Question => "question",
        }
    }
}

impl Speaker {
    /// All speakers.
    pub const ALL: [Speaker; 3] = [Speaker::Human, Speaker::Assistant, Speaker::Tool];
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Speaker::Human => "human",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool result",
        })
    }
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 6] = [
        Shape::Explicit,
        Shape::Anaphoric,
        Shape::Renamed,
        Shape::State,
        Shape::Lifted,
        Shape::Answered,
    ];

    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Shape::Explicit => "subject named as before",
            Shape::Anaphoric => "right after, subject not named",
            Shape::Renamed => "later, subject in other words",
            Shape::State => "task in another state",
            Shape::Lifted => "prohibition lifted",
            Shape::Answered => "question answered",
        }
    }
}

/// A text with its slots filled.
///
/// # Panics
/// If a slot has nothing to stand in it: the data is wrong.
pub fn filled(text: &str, slots: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let (name, after) = tail.split_once('}').expect("a slot is closed");
        let lower = uncapitalised(name);
        let words = slots.get(&lower).unwrap_or_else(|| panic!("nothing fills {name} in {text}"));
        out.push_str(before);
        out.push_str(&if lower == name { words.clone() } else { capitalised(words) });
        rest = after;
    }
    out + rest
}

/// The slots of a text; `None` where one isn't closed.
fn names(text: &str) -> Option<Vec<String>> {
    text.split('{')
        .skip(1)
        .map(|rest| rest.split_once('}').map(|(name, _)| uncapitalised(name)))
        .collect()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.as_str().chars()).collect()
}

fn uncapitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    first.chain(chars.as_str().chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_eight_phrasings_and_every_speaker_some() {
        let forms = [
            (Kind::Fact, &[""][..]),
            (Kind::Decision, &[""]),
            (Kind::Preference, &[""]),
            (Kind::Goal, &[""]),
            (Kind::Question, &[""]),
            (Kind::Constraint, &["deed", "limit"]),
            (Kind::Task, &["open", "in-progress", "done", "blocked"]),
        ];
        for (_, book) in shipped() {
            for (kind, forms) in forms {
                for form in forms {
                    let of: Vec<_> = book
                        .phrasings
                        .iter()
                        .filter(|p| p.kind == kind && p.form == *form)
                        .collect();
                    assert!(of.len() >= 8, "{}: {kind:?} {form}", book.about);
                    let others = of.iter().filter(|p| p.by != [Speaker::Human]).count();
                    assert!(others * 2 >= of.len(), "{}: {kind:?} {form}", book.about);
                    for speaker in Speaker::ALL {
                        assert!(of.iter().any(|p| p.by.contains(&speaker)), "{kind:?} {form}");
                    }
                }
            }
            for shape in [Shape::Explicit, Shape::Anaphoric, Shape::Renamed] {
                let of = book.corrections.iter().filter(|c| c.shape == shape);
                assert!(of.count() >= 8, "{}: {shape:?}", book.about);
            }
            assert!(book.matters.iter().filter(|m| m.rival.is_some()).count() >= 8);
        }
    }

    #[test]
    fn the_held_out_file_is_another_ones() {
        let [open, held_out] = shipped().map(|(_, book)| book);
        let texts = |book: &Book| -> BTreeSet<String> {
            book.phrasings.iter().map(|p| p.text.to_lowercase()).collect()
        };
        assert!(texts(open).is_disjoint(&texts(held_out)));
        assert!(held_out.phrasings.len() >= open.phrasings.len());
        let values = |book: &'static Book| -> BTreeSet<&str> {
            book.matters.iter().flat_map(|m| m.values.iter().map(String::as_str)).collect()
        };
        assert!(values(open).is_disjoint(&values(held_out)));
    }

    #[test]
    fn slots_are_filled() {
        let slots = BTreeMap::from([("do".to_owned(), "go".to_owned())]);
        assert_eq!(filled("{Do}: never {do}.", &slots), "Go: never go.");
    }
}
