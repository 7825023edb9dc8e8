//! Which items are planted, said by whom, and where.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::book::{Book, Kind, Matter, Phrasing, Rival, Shape, Speaker, filled};
use super::judge::Claim;
use super::stream::Stream;
use crate::dice::Dice;

mod place;

pub use place::{Ground, planted};

/// Bytes of the stream for each item, roughly fifteen hundred tokens each.
const BYTES_PER_ITEM: usize = 20_000;
/// Fewer would measure nothing; more than that no book has to say.
const ITEMS: Range<usize> = 12..32;

/// Something that is said, and how it is found again.
#[derive(Clone, Debug)]
pub struct Saying {
    /// The phrasing.
    pub id: String,
    /// Who says it.
    pub speaker: Speaker,
    /// In which words.
    pub text: String,
    /// How it is found.
    pub claim: Claim,
    /// The entry in which, or before which, it is said.
    pub at: usize,
}

/// An item with what becomes of it.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// How it was said first.
    pub first: Saying,
    /// How it was changed later.
    pub update: Option<(Shape, Saying)>,
    /// The item, by its index, that has the same shape and another subject.
    pub rival: Option<usize>,
}

/// An item as it stands at some time.
#[derive(Clone, Copy, Debug)]
pub struct Current<'a> {
    /// What holds.
    pub saying: &'a Saying,
    /// What held before, and how it was changed.
    pub former: Option<(Shape, &'a Saying)>,
}

impl Item {
    /// How it stands once the first `entries` of the stream were said.
    pub fn after(&self, entries: usize) -> Option<Current<'_>> {
        if self.first.at >= entries {
            return None;
        }
        match &self.update {
            Some((shape, update)) if update.at < entries => {
                Some(Current { saying: update, former: Some((*shape, &self.first)) })
            }
            _ => Some(Current { saying: &self.first, former: None }),
        }
    }
}

/// What is planted in `stream`; the same for the same seed.
pub fn plot(book: &Book, stream: &Stream, ground: &Ground, seed: u64) -> Vec<Item> {
    let bytes: usize = stream.entries.iter().map(String::len).sum();
    let wanted = (bytes / BYTES_PER_ITEM).clamp(ITEMS.start, ITEMS.end);
    let mut plotter = Plotter { book, ground, dice: Dice::new(seed), taken: Vec::new() };
    let mut items: Vec<Item> = Vec::new();
    // Those that need the room right behind them come first.
    let mut drafts = plotter.drafts(wanted);
    drafts.sort_by_key(|draft| draft.shape != Some(Shape::Anaphoric));
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for draft in drafts {
        let number = draft.number;
        let pair = draft.pair;
        if let Some(item) = plotter.item(draft) {
            places.insert(number, items.len());
            items.push(Item { rival: pair, ..item });
        }
    }
    // What didn't find a place has no rival.
    for item in &mut items {
        item.rival = item.rival.and_then(|number| places.get(&number).copied());
    }
    items
}

/// An item without a place.
struct Draft<'a> {
    number: usize,
    matter: &'a Matter,
    rival: Option<&'a Rival>,
    values: Vec<&'a String>,
    shape: Option<Shape>,
    pair: Option<usize>,
}

struct Plotter<'a> {
    book: &'a Book,
    ground: &'a Ground,
    dice: Dice,
    taken: Vec<Range<usize>>,
}

/// Kinds in the order in which they are planted, by how often people say them.
const KINDS: [Kind; 10] = [
    Kind::Fact,
    Kind::Constraint,
    Kind::Task,
    Kind::Decision,
    Kind::Preference,
    Kind::Fact,
    Kind::Task,
    Kind::Goal,
    Kind::Question,
    Kind::Constraint,
];

impl<'a> Plotter<'a> {
    /// Matters by turns of kind, in random order, half of those that have a rival with it.
    fn drafts(&mut self, wanted: usize) -> Vec<Draft<'a>> {
        let mut left: Vec<&Matter> = self.book.matters.iter().collect();
        for at in (1..left.len()).rev() {
            left.swap(at, self.dice.below(at + 1));
        }
        let mut drafts: Vec<Draft<'a>> = Vec::new();
        for kind in KINDS.iter().cycle().take(wanted * 2) {
            let Some(at) = left.iter().position(|matter| matter.kind == *kind) else { continue };
            let matter = left.swap_remove(at);
            let mut values: Vec<&String> = matter.values.iter().collect();
            for at in (1..values.len()).rev() {
                values.swap(at, self.dice.below(at + 1));
            }
            let rival = matter.rival.as_ref().filter(|_| self.dice.one_in(2));
            let of_rival = rival.and_then(|_| values.pop());
            let number = drafts.len();
            let shape = if self.dice.below(5) < 2 { self.shape(matter, &values) } else { None };
            let pair = rival.map(|_| number + 1);
            drafts.push(Draft { number, matter, rival: None, values, shape, pair });
            if let Some(value) = of_rival {
                let (values, shape) = (vec![value], None);
                let pair = Some(number);
                drafts.push(Draft { number: number + 1, matter, rival, values, shape, pair });
            }
            if drafts.len() >= wanted {
                break;
            }
        }
        drafts
    }

    /// How a matter is to be changed: each way that fits is as likely.
    fn shape(&mut self, matter: &Matter, values: &[&String]) -> Option<Shape> {
        if matter.kind == Kind::Task {
            return Some(Shape::State);
        }
        if matter.kind != Kind::Question && matter.form != "deed" && values.len() < 2 {
            return None;
        }
        let corrections = self.book.corrections_of(matter);
        let shapes: BTreeSet<Shape> =
            corrections.iter().map(|correction| shape(correction.shape, matter)).collect();
        let shapes: Vec<Shape> = shapes.into_iter().collect();
        (!shapes.is_empty()).then(|| self.dice.pick(&shapes))
    }

    /// The item in its place; `None` where the stream has none for it.
    fn item(&mut self, draft: Draft<'_>) -> Option<Item> {
        let Draft { matter, rival, values, shape: wanted, .. } = draft;
        let speaker = match self.dice.below(12) {
            _ if wanted == Some(Shape::Anaphoric) => {
                self.dice.pick(&[Speaker::Human, Speaker::Assistant])
            }
            // Corrections are mostly a person's, so that items begin less often with one.
            0..3 => Speaker::Human,
            3..7 => Speaker::Assistant,
            _ => Speaker::Tool,
        };
        let mut slots = self.slots(matter, rival);
        let keys = rival.map_or(&matter.keys, |rival| &rival.keys);
        let takes_value = !matter.values.is_empty() && matter.kind != Kind::Question;
        let value = values.first().filter(|_| takes_value);
        slots.extend(value.map(|value| ("value".to_owned(), (*value).clone())));
        let states: &[&str] = match wanted {
            Some(Shape::State) => &["open", "in-progress", "blocked"],
            _ => &["open", "in-progress", "blocked", "done"],
        };
        let fits = |p: &&Phrasing| p.kind != Kind::Task || states.contains(&p.form.as_str());
        let phrasings: Vec<&Phrasing> =
            self.book.phrasings_of(matter, speaker).into_iter().filter(fits).collect();
        // A book needn't let everybody say everything.
        if phrasings.is_empty() {
            return None;
        }
        let phrasing = self.dice.pick(&phrasings);
        let claim = claim(keys, value.copied(), &phrasing.must, &slots);
        let text = filled(&phrasing.text, &slots);
        let after = if wanted == Some(Shape::Anaphoric) {
            let (at, mut behind) = self.ground.answered(&mut self.dice, speaker, &self.taken)?;
            if speaker == Speaker::Human && self.dice.one_in(2) {
                // Before the model says anything.
                behind = at;
            }
            self.taken.push(at..behind + 1);
            Some((at, behind))
        } else {
            None
        };
        let at = match after {
            Some((at, _)) => at,
            None => self.ground.any(&mut self.dice, speaker, 0, &self.taken)?,
        };
        let first = Saying { id: phrasing.id.clone(), speaker, text, claim, at };
        let behind = after.map(|(_, behind)| behind);
        let update = wanted.and_then(|shape| {
            let next = if takes_value { values.get(1).copied() } else { values.first().copied() };
            let former = (phrasing, &first);
            Some((shape, self.update(shape, matter, keys, next, &slots, former, behind)?))
        });
        Some(Item { kind: matter.kind, first, update, rival: None })
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of the item so far")]
    fn update(
        &mut self,
        wanted: Shape,
        matter: &Matter,
        keys: &[String],
        value: Option<&String>,
        slots: &BTreeMap<String, String>,
        (phrasing, first): (&Phrasing, &Saying),
        behind: Option<usize>,
    ) -> Option<Saying> {
        // Nobody is overruled from below: a person by people only, a tool's result by all.
        let mut speakers: Vec<Speaker> =
            Speaker::ALL.into_iter().filter(|speaker| *speaker <= first.speaker).collect();
        if wanted == Shape::Anaphoric {
            // Where it is said a person speaks.
            speakers = vec![Speaker::Human];
        }
        let mut slots = slots.clone();
        if let Some(old) = slots.remove("value") {
            slots.insert("old".to_owned(), old);
        }
        slots.extend(value.map(|value| ("value".to_owned(), value.clone())));
        let (id, text, must, by) = if wanted == Shape::State {
            let later = |form: &str| match phrasing.form.as_str() {
                "open" => form != "open",
                "in-progress" => matches!(form, "done" | "blocked"),
                _ => matches!(form, "done" | "in-progress"),
            };
            let fits = |p: &&Phrasing| {
                p.kind == Kind::Task
                    && later(&p.form)
                    && p.by.iter().any(|speaker| speakers.contains(speaker))
            };
            let fitting: Vec<&Phrasing> = self.book.phrasings.iter().filter(fits).collect();
            if fitting.is_empty() {
                return None;
            }
            let chosen = self.dice.pick(&fitting);
            (&chosen.id, &chosen.text, &chosen.must, &chosen.by)
        } else {
            let mut fitting = self.book.corrections_of(matter);
            fitting.retain(|c| {
                shape(c.shape, matter) == wanted
                    && c.by.iter().any(|by| speakers.contains(by))
                    && (!c.own || c.by.contains(&first.speaker))
            });
            if fitting.is_empty() {
                return None;
            }
            let chosen = self.dice.pick(&fitting);
            (&chosen.id, &chosen.text, &chosen.must, &chosen.by)
        };
        let by: Vec<Speaker> = by.iter().copied().filter(|by| speakers.contains(by)).collect();
        let speaker = self.dice.pick(&by);
        let claim = claim(keys, value, must, &slots);
        let at = match behind {
            Some(behind) => behind,
            None => self.ground.any(&mut self.dice, speaker, first.at + 1, &self.taken)?,
        };
        Some(Saying { id: id.clone(), speaker, text: filled(text, &slots), claim, at })
    }

    fn slots(&mut self, matter: &Matter, rival: Option<&Rival>) -> BTreeMap<String, String> {
        let mut slots = rival.map_or(&matter.slots, |rival| &rival.slots).clone();
        for (name, pool) in &self.book.pools {
            slots.insert(name.clone(), pool[self.dice.below(pool.len())].clone());
        }
        if !matter.why.is_empty() {
            let why = matter.why[self.dice.below(matter.why.len())].clone();
            slots.insert("why".to_owned(), why);
        }
        slots
    }
}

/// What a correction does to this matter.
fn shape(said: Shape, matter: &Matter) -> Shape {
    match matter.family() {
        "deed" => Shape::Lifted,
        "question" => Shape::Answered,
        _ => said,
    }
}

pub(super) fn claim(
    keys: &[String],
    value: Option<&String>,
    must: &[String],
    slots: &BTreeMap<String, String>,
) -> Claim {
    let needs = must.iter().map(|one_of| {
        let one_of = filled(one_of, slots);
        one_of.split('|').map(str::to_owned).collect()
    });
    Claim { keys: keys.to_vec(), value: value.cloned(), needs: needs.collect() }
}
