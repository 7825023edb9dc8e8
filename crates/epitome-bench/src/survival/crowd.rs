//! What the ledger makes of each correction among all other matters of a book: which line it finds, and whether it
//! leaves the others alone. No compaction; a moment.

use std::collections::BTreeMap;

use epitome::ledger::{Ledger, Shown};

use super::alone::{lane, said, slots};
use super::book::{Book, Kind, Matter, Phrasing, Shape, Speaker, filled};
use super::judge::Claim;
use super::plot::claim;

/// How often something was changed in one way by one speaker, and what became of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The correction, or the phrasing of a task's later state.
    pub id: String,
    /// How it changes.
    pub shape: Shape,
    /// Who changes it.
    pub speaker: Speaker,
    /// How often it was said: about each matter that it fits, of which the ledger lists what was said first.
    pub said: usize,
    /// How often what holds is listed.
    pub listed: usize,
    /// How often a line states what held before.
    pub stated: usize,
    /// How often it is stated, is all that is left, or a line says it without what holds.
    pub missed: usize,
    /// How often another matter's line went, or was said to be past.
    pub mixed: usize,
    /// Of the missed ones the first, and all that were mixed up.
    pub examples: Vec<String>,
}

/// Entries between two matters.
const APART: u32 = 3;
/// Examples of each row, but for what was mixed up.
const EXAMPLES: usize = 2;

/// Every correction of `book` and every later state of its tasks, by each of its speakers.
pub fn corrections(book: &Book) -> Vec<Row> {
    let mut rows = Vec::new();
    for correction in &book.corrections {
        for speaker in correction.by.iter().copied() {
            let of = |matter: &&Matter| correction.kinds.iter().any(|kind| kind == matter.family());
            let shapes: BTreeMap<Shape, Vec<&Matter>> =
                book.matters.iter().filter(of).fold(BTreeMap::new(), |mut shapes, matter| {
                    let shape = match matter.family() {
                        "deed" => Shape::Lifted,
                        "question" => Shape::Answered,
                        _ => correction.shape,
                    };
                    shapes.entry(shape).or_default().push(matter);
                    shapes
                });
            for (shape, matters) in shapes {
                let new = New { id: &correction.id, shape, speaker, text: &correction.text };
                let new = Said { own: correction.own, form: "", must: &correction.must, new };
                rows.push(row(book, &new, &matters));
            }
        }
    }
    for phrasing in book.phrasings.iter().filter(|p| p.kind == Kind::Task && p.form != "open") {
        for speaker in phrasing.by.iter().copied() {
            let (id, text) = (&phrasing.id, &phrasing.text);
            let new = New { id, shape: Shape::State, speaker, text };
            let new = Said { own: false, form: &phrasing.form, must: &phrasing.must, new };
            let tasks: Vec<&Matter> =
                book.matters.iter().filter(|matter| matter.kind == Kind::Task).collect();
            rows.push(row(book, &new, &tasks));
        }
    }
    rows.retain(|row| row.said > 0);
    rows
}

struct New<'a> {
    id: &'a str,
    shape: Shape,
    speaker: Speaker,
    text: &'a str,
}

struct Said<'a> {
    own: bool,
    form: &'a str,
    must: &'a [String],
    new: New<'a>,
}

fn row(book: &Book, change: &Said<'_>, matters: &[&Matter]) -> Row {
    let New { id, shape, speaker, text } = change.new;
    let (id, examples) = (id.to_owned(), Vec::new());
    let mut row =
        Row { id, shape, speaker, said: 0, listed: 0, stated: 0, missed: 0, mixed: 0, examples };
    // Nobody is overruled from below; and who corrects oneself said it.
    let firsts: Vec<Speaker> = Speaker::ALL
        .into_iter()
        .filter(|first| if change.own { *first == speaker } else { speaker <= *first })
        .filter(|first| shape != Shape::Anaphoric || *first <= Speaker::Assistant)
        .collect();
    for (turn, matter) in matters.iter().copied().enumerate() {
        let takes_value = !matter.values.is_empty() && matter.kind != Kind::Question;
        if takes_value && matter.values.len() < 2 || firsts.is_empty() {
            continue;
        }
        let first = firsts[turn % firsts.len()];
        let Some(phrasing) = phrasing(book, matter, first, change.form, turn) else { continue };
        let old = takes_value.then(|| &matter.values[0]);
        let next = if takes_value { matter.values.get(1) } else { matter.values.first() };
        let mut own = slots(book, matter, old, turn);
        let (before, former) = said(phrasing, matter, old, &own);
        own.extend(own.get("value").cloned().map(|old| ("old".to_owned(), old)));
        own.extend(next.map(|next| ("value".to_owned(), next.clone())));
        let holds = claim(&matter.keys, next, change.must, &own);
        let after = filled(text, &own);
        let others = others(book, matter, old, phrasing, turn);
        let behind = if shape == Shape::Anaphoric { others.len() } else { others.len() / 2 };
        let mut at = 0;
        let mut ledger = Ledger::default();
        let mut tell = |ledger: &mut Ledger, speaker: Speaker, text: &str, on: u32| {
            at += on;
            ledger.observe(at, speaker.into(), Shown::Elsewhere, text);
        };
        for (speaker, text, _) in &others[..behind] {
            tell(&mut ledger, *speaker, text, APART);
        }
        tell(&mut ledger, first, &before, APART);
        for (speaker, text, _) in &others[behind..] {
            tell(&mut ledger, *speaker, text, APART);
        }
        let shown = lane(&ledger.render(usize::MAX));
        if !former.is_in(&shown) {
            continue;
        }
        let others: Vec<_> = others
            .into_iter()
            .filter(|(_, _, claim)| {
                claim.windows(&shown).iter().any(|window| !shown.is_marked(window))
            })
            .collect();
        tell(&mut ledger, speaker, &after, if shape == Shape::Anaphoric { 1 } else { APART });
        let shown = lane(&ledger.render(usize::MAX));
        let is_listed = match shape {
            Shape::Anaphoric => holds.is_told_by(&shown.text),
            _ => holds.is_in(&shown),
        };
        let windows = former.windows(&shown);
        let without: Vec<_> = windows
            .into_iter()
            .filter(|window| !holds.is_told_by(&shown.text[window.clone()]))
            .collect();
        let is_stated = without.iter().any(|window| !shown.is_marked(window));
        let is_missed = !without.is_empty();
        row.said += 1;
        row.listed += usize::from(is_listed);
        row.stated += usize::from(is_stated);
        row.missed += usize::from(is_missed);
        let lost = others.iter().find(|(_, _, claim)| {
            claim.windows(&shown).iter().all(|window| shown.is_marked(window))
        });
        row.mixed += usize::from(lost.is_some());
        if lost.is_some() || is_missed && row.examples.len() < EXAMPLES {
            let lost = lost.map(|(_, text, _)| format!("!! {text}\n    ")).unwrap_or_default();
            let is = |line: &&str| {
                let line = lane(line);
                former.is_in(&line)
                    || holds.is_told_by(&line.text)
                    || line.text.contains(" message ")
            };
            let lines: Vec<&str> = shown.text.lines().filter(is).collect();
            row.examples.push(format!(
                "{lost}{first}: {}\n    {speaker}: {}\n      → {}",
                before.replace('\n', "⏎"),
                after.replace('\n', "⏎"),
                lines.join("\n      → ")
            ));
        }
    }
    row
}

/// In which words a matter is said first; a task in a state before `form`.
fn phrasing<'a>(
    book: &'a Book,
    matter: &Matter,
    speaker: Speaker,
    form: &str,
    turn: usize,
) -> Option<&'a Phrasing> {
    let is_before = |first: &str| match form {
        "" => true,
        "done" => first != "done",
        "blocked" => matches!(first, "open" | "in-progress"),
        _ => matches!(first, "open" | "blocked"),
    };
    let mut all = book.phrasings_of(matter, speaker);
    all.retain(|phrasing| matter.kind != Kind::Task || is_before(&phrasing.form));
    (!all.is_empty()).then(|| all[(turn * 7 + 3) % all.len()])
}

/// The other matters, and the twin of this one in the same words; who says them, how, and how they are found.
fn others(
    book: &Book,
    matter: &Matter,
    old: Option<&String>,
    same: &Phrasing,
    turn: usize,
) -> Vec<(Speaker, String, Claim)> {
    let mut others = Vec::new();
    for (at, other) in book.matters.iter().enumerate() {
        if std::ptr::eq(other, matter) {
            continue;
        }
        let speaker = Speaker::ALL[(at + turn) % 3];
        let Some(phrasing) = phrasing(book, other, speaker, "", at + turn) else { continue };
        let value = other.values.first().filter(|_| other.kind != Kind::Question);
        let (text, claim) = said(phrasing, other, value, &slots(book, other, value, at));
        others.push((speaker, text, claim));
    }
    if let Some(rival) = &matter.rival {
        let value = old.and(matter.values.last());
        let mut own = slots(book, matter, value, turn);
        own.extend(rival.slots.clone());
        let twin = claim(&rival.keys, value, &same.must, &own);
        others.insert(others.len() / 2, (same.by[0], filled(&same.text, &own), twin));
    }
    others
}
