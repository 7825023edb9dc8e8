//! What the ledger makes of each phrasing that is said by itself, and of each correction right behind what
//! it corrects: no session, no compaction, no budget. It takes a moment, so that rules can be tried.

use std::collections::BTreeMap;

use epitome::ledger::{self, Ledger, Shown};

use super::book::{Book, Correction, Kind, Matter, Phrasing, Shape, Speaker, filled};
use super::judge::{Block, Claim, Place};
use super::plot::claim;

/// How often something was said in one way by one speaker, and what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The phrasing or correction.
    pub id: String,
    /// What it says: a kind with its form, or how it corrects.
    pub of: String,
    /// Who says it.
    pub speaker: Speaker,
    /// How often it was said: about each matter that it fits.
    pub said: usize,
    /// How often the ledger lists what holds, all that belongs to it in one line.
    pub listed: usize,
    /// How often as what it is; of a correction, without what held before.
    pub right: usize,
    /// How often a correction made another matter's line go.
    pub mixed: usize,
    /// The least that such a line is worth of a budget.
    pub least: Option<i32>,
    /// Of those that aren't right the first.
    pub example: Option<String>,
}

/// Every phrasing of `book`, by each of its speakers.
pub fn phrasings(book: &Book) -> Vec<Row> {
    let row_of = |phrasing: &Phrasing, speaker: Speaker| {
        let mut row = Row::new(&phrasing.id, named(phrasing.kind, &phrasing.form), speaker);
        for (turn, matter) in matters(book, phrasing).enumerate() {
            let value = matter.values.first().filter(|_| matter.kind != Kind::Question);
            let slots = slots(book, matter, value, turn);
            let (text, claim) = said(phrasing, matter, value, &slots);
            let mut ledger = Ledger::default();
            ledger.observe(0, speaker.into(), Shown::Elsewhere, &text);
            let is_right = |line: &ledger::Line| {
                expected(phrasing).contains(&line.kind) && claim.is_in(&lane(&line.text))
            };
            row.said += 1;
            row.listed += usize::from(claim.is_in(&lane(&ledger.render(usize::MAX))));
            let found = ledger.lines().iter().find(|line| is_right(line));
            row.right += usize::from(found.is_some());
            if let Some(line) = found {
                row.least = Some(row.least.map_or(line.weight, |least| least.min(line.weight)));
            } else {
                row.miss(&[&text], &ledger);
            }
        }
        row
    };
    let each = |phrasing: &Phrasing| -> Vec<Row> {
        phrasing.by.iter().map(|speaker| row_of(phrasing, *speaker)).collect()
    };
    book.phrasings.iter().flat_map(each).collect()
}

/// Every correction of `book`, by each of its speakers, behind phrasings that the ledger knows.
pub fn corrections(book: &Book) -> Vec<Row> {
    let each = |correction: &Correction| -> Vec<Row> {
        correction.by.iter().map(|speaker| corrected(book, correction, *speaker)).collect()
    };
    book.corrections.iter().flat_map(each).filter(|row| row.said > 0).collect()
}

fn corrected(book: &Book, correction: &Correction, speaker: Speaker) -> Row {
    let mut row = Row::new(&correction.id, correction.shape.words().to_owned(), speaker);
    for (turn, matter) in book.matters.iter().enumerate() {
        let values = &matter.values;
        let is_fit = correction.kinds.iter().any(|kind| kind == matter.family());
        let needed = match matter.family() {
            "deed" => 0,
            "question" => 1,
            _ => 2,
        };
        let known = known(book, matter, speaker);
        if !is_fit || values.len() < needed || known.is_empty() {
            continue;
        }
        let phrasing = known[turn % known.len()];
        let is_valued = needed == 2;
        let old = is_valued.then(|| &values[0]);
        let new = if is_valued { values.get(1) } else { values.first() };
        let mut slots = slots(book, matter, old, turn);
        let (first, former) = said(phrasing, matter, old, &slots);
        slots.extend(slots.get("value").cloned().map(|old| ("old".to_owned(), old)));
        slots.extend(new.map(|new| ("value".to_owned(), new.clone())));
        let holds = claim(&matter.keys, new, &correction.must, &slots);
        let second = filled(&correction.text, &slots);
        // Its twin is said before, in the same words.
        let twin = matter.rival.as_ref().map(|rival| {
            let value = old.and(values.last());
            let mut slots = slots.clone();
            slots.extend(rival.slots.clone());
            slots.extend(value.map(|value| ("value".to_owned(), value.clone())));
            let claim = claim(&rival.keys, value, &phrasing.must, &slots);
            (filled(&phrasing.text, &slots), claim)
        });
        let mut ledger = Ledger::default();
        if let Some((text, _)) = &twin {
            ledger.observe(0, speaker.into(), Shown::Elsewhere, text);
        }
        ledger.observe(9, speaker.into(), Shown::Elsewhere, &first);
        ledger.observe(11, speaker.into(), Shown::Elsewhere, &second);
        let shown = lane(&ledger.render(usize::MAX));
        let is_listed = match correction.shape {
            Shape::Anaphoric => holds.is_told_by(&shown.text),
            _ => holds.is_in(&shown),
        };
        let is_stated = former.windows(&shown).into_iter().any(|window| {
            !holds.is_told_by(&shown.text[window.clone()]) && !shown.is_marked(&window)
        });
        row.said += 1;
        row.listed += usize::from(is_listed);
        row.right += usize::from(is_listed && !is_stated);
        let lost = twin.filter(|(_, claim)| !claim.is_in(&shown));
        row.mixed += usize::from(lost.is_some());
        if let Some((twin, _)) = &lost {
            row.miss(&[twin, &first, &second], &ledger);
        } else if !is_listed || is_stated {
            row.miss(&[&first, &second], &ledger);
        }
    }
    row
}

/// The phrasings for a matter that the ledger lists, said by themselves.
fn known<'a>(book: &'a Book, matter: &Matter, speaker: Speaker) -> Vec<&'a Phrasing> {
    let is_known = |phrasing: &&Phrasing| {
        let value = matter.values.first().filter(|_| matter.kind != Kind::Question);
        let slots = slots(book, matter, value, 0);
        let (text, claim) = said(phrasing, matter, value, &slots);
        let mut ledger = Ledger::default();
        ledger.observe(0, speaker.into(), Shown::Elsewhere, &text);
        claim.is_in(&lane(&ledger.render(usize::MAX)))
    };
    let of_form = |phrasing: &&Phrasing| phrasing.kind != Kind::Task;
    let fitting = book.phrasings_of(matter, speaker).into_iter().filter(of_form);
    fitting.filter(is_known).collect()
}

impl Row {
    fn new(id: &str, of: String, speaker: Speaker) -> Self {
        let (id, example, least) = (id.to_owned(), None, None);
        Row { id, of, speaker, said: 0, listed: 0, right: 0, mixed: 0, least, example }
    }

    fn miss(&mut self, said: &[&str], ledger: &Ledger) {
        if self.example.is_none() {
            let lines = ledger.render(usize::MAX);
            self.example = Some(format!("{}\n    → {}", said.join("\n    "), lines.trim_end()));
        }
    }
}

impl From<Speaker> for ledger::Speaker {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::Human => ledger::Speaker::Human,
            Speaker::Assistant => ledger::Speaker::Model,
            Speaker::Tool => ledger::Speaker::Tool,
        }
    }
}

fn named(kind: Kind, form: &str) -> String {
    if form.is_empty() { kind.name().to_owned() } else { format!("{}/{form}", kind.name()) }
}

/// What a ledger calls it.
fn expected(phrasing: &Phrasing) -> &'static [ledger::Kind] {
    use epitome::ledger::Kind as Line;
    match (phrasing.kind, phrasing.form.as_str()) {
        (Kind::Constraint, _) => &[Line::Constraint],
        (Kind::Decision, _) => &[Line::Decision],
        (Kind::Preference, _) => &[Line::Preference],
        (Kind::Fact, _) => &[Line::Fact],
        (Kind::Goal, _) => &[Line::Goal],
        (Kind::Question, _) => &[Line::Question],
        (Kind::Task, "open") => &[Line::Open],
        (Kind::Task, "done") => &[Line::Done],
        (Kind::Task, "blocked") => &[Line::Blocked],
        (Kind::Task, _) => &[Line::Underway],
    }
}

fn matters<'a>(book: &'a Book, phrasing: &'a Phrasing) -> impl Iterator<Item = &'a Matter> {
    book.matters.iter().filter(|matter| {
        matter.kind == phrasing.kind && (matter.form == phrasing.form || matter.kind == Kind::Task)
    })
}

pub(super) fn slots(
    book: &Book,
    matter: &Matter,
    value: Option<&String>,
    turn: usize,
) -> BTreeMap<String, String> {
    let mut slots = matter.slots.clone();
    let pools = book.pools.iter().filter(|(_, pool)| !pool.is_empty());
    slots.extend(pools.map(|(name, pool)| (name.clone(), pool[turn % pool.len()].clone())));
    slots.extend(value.map(|value| ("value".to_owned(), value.clone())));
    let why = matter.why.get(turn % matter.why.len().max(1));
    slots.extend(why.map(|why| ("why".to_owned(), why.clone())));
    slots
}

pub(super) fn said(
    phrasing: &Phrasing,
    matter: &Matter,
    value: Option<&String>,
    slots: &BTreeMap<String, String>,
) -> (String, Claim) {
    let claim = claim(&matter.keys, value, &phrasing.must, slots);
    (filled(&phrasing.text, slots), claim)
}

pub(super) fn lane(text: &str) -> Block {
    Block { place: Place::Lane("ledger".to_owned()), whole: false, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::book::shipped;

    /// The share of sayings that are listed, in percent.
    fn listed(rows: &[Row]) -> usize {
        let (said, listed) =
            rows.iter().fold((0, 0), |(said, listed), row| (said + row.said, listed + row.listed));
        listed * 100 / said
    }

    #[test]
    fn open_phrasings_are_listed_and_twins_stay() {
        let [(_, open), _] = shipped();
        let (first, second) = (phrasings(open), corrections(open));
        assert!(listed(&first) >= 90, "{} %", listed(&first));
        let mixed: Vec<&Row> = second.iter().filter(|row| row.mixed > 0).collect();
        assert!(mixed.is_empty(), "{mixed:#?}");
    }
}
