//! Rows that say the same but for names and numbers are of one kind: what one row says otherwise than many tells how it went.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::activation::{ByKey, Key, key};
use super::target::whole_words;
use crate::text::cut;

/// What stands between two rows that are told.
pub(super) const OR: &str = " / ";
/// Fewer rows than this are no kind, and what fewer say at one place is a name there.
const LEAST_ALIKE: usize = 3;

/// An odd number that spreads bits.
const FACTOR: Key = 0x9e37_79b9_7f4a_7c15;

/// The words of a line, or the members of a record.
pub(super) type Row = Vec<Cell>;

/// What a row says at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    text: Key,
    /// The same for everything with a digit.
    masked: Key,
}

impl Cell {
    /// A member's value under its name; a word has none, but for the sign before it.
    pub(super) fn of(name: &str, text: &str) -> Self {
        let name = if name.is_empty() { 0 } else { key(name) };
        let said = key(text) ^ name;
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        Cell { text: said, masked: if has_digit { !name } else { said } }
    }
}

/// A line as its words, without the signs between them.
pub(super) fn words(line: &str) -> Row {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_negative = |word: &str| {
        let before = line[..cut::place_in(line, word)].strip_suffix('-');
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    };
    words.map(|word| Cell::of(if is_negative(word) { "-" } else { "" }, word)).collect()
}

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Kind {
    /// Where they stand.
    pub(super) rows: Vec<usize>,
    /// The cells of which all say the same, and others needn't.
    pub(super) told_by: Vec<usize>,
}

/// The kinds of some rows, the rarest and latest first. Rows are alike if they have as many cells, and say the same in half of them,
/// which many rows do, but for numbers.
pub(super) fn kinds(rows: &[Row]) -> Vec<Kind> {
    let mut sizes: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        sizes.entry(row.len()).or_default().push(at);
    }
    let mut kinds = Vec::new();
    for (cells, group) in sizes {
        // Many rows say one of few words there, or most say the same.
        let are_few = |said: &dyn Fn(&Cell) -> Key, cell: usize| {
            let mut all: ByKey<usize> = ByKey::default();
            for at in &group {
                *all.entry(said(&rows[*at][cell])).or_default() += 1;
            }
            let most = all.values().max().copied().unwrap_or_default();
            all.len() * LEAST_ALIKE <= group.len() || most * 2 > group.len()
        };
        let (mut told_by, mut masked) = (Vec::new(), Vec::new());
        for cell in 0..cells {
            if are_few(&|cell| cell.text, cell) {
                told_by.push(cell);
            } else if are_few(&|cell| cell.masked, cell) {
                masked.push(cell);
            }
        }
        let are_alike = (told_by.len() + masked.len()) * 2 >= cells && !told_by.is_empty();
        let mut alike: ByKey<Vec<usize>> = ByKey::default();
        for at in group {
            let said = told_by.iter().map(|cell| rows[at][*cell].text);
            let said = said.chain(masked.iter().map(|cell| rows[at][*cell].masked));
            let said = said.fold(0, |all: Key, one| all.wrapping_mul(FACTOR) ^ one);
            alike.entry(said).or_default().push(at);
        }
        for rows in alike.into_values() {
            if are_alike && rows.len() >= LEAST_ALIKE {
                kinds.push(Kind { rows, told_by: told_by.clone() });
            } else {
                kinds.extend(
                    rows.into_iter().map(|at| Kind { rows: vec![at], told_by: Vec::new() }),
                );
            }
        }
    }
    kinds.sort_by_key(|kind| (kind.rows.len(), Reverse(kind.last())));
    kinds
}

impl Kind {
    /// Where the last of them stands.
    pub(super) fn last(&self) -> usize {
        self.rows.last().copied().unwrap_or_default()
    }
}

/// As many of these kinds as have room in `most` bytes, in the order of the rows, each as `said` says it, with `qualifier` before how
/// many it has; and whether all have.
pub(super) fn told(
    kinds: &[Kind],
    most: usize,
    qualifier: &str,
    said: impl Fn(&Kind) -> Option<String>,
) -> (String, bool) {
    let mut told: Vec<(usize, String)> = Vec::new();
    let mut left = most + OR.len();
    for kind in kinds {
        let Some(text) = said(kind) else { continue };
        let mut text = whole_words(&text, most / 2).into_owned();
        if kind.rows.len() > 1 {
            let _ = write!(text, " ({qualifier}{} such)", kind.rows.len());
        }
        if let Some(rest) = left.checked_sub(text.len() + OR.len()) {
            left = rest;
            told.push((kind.last(), text));
        }
    }
    let is_whole = told.len() == kinds.len();
    told.sort();
    let told: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    (told.join(OR), is_whole)
}

/// Whether most of some rows are like others.
pub(super) fn are_most_alike(kinds: &[Kind]) -> bool {
    let (alike, all) = kinds.iter().fold((0, 0), |(alike, all), kind| {
        let rows = kind.rows.len();
        (alike + if rows > 1 { rows } else { 0 }, all + rows)
    });
    alike * 2 > all
}
