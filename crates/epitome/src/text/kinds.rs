//! Rows that say the same but for names and numbers are of one kind: what one row says otherwise than many tells how it went.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::cut;
use super::keys::{ByKey, Key, key};

/// Fewer rows than this are no kind, and what fewer say at one place is a name there.
pub(super) const LEAST_ALIKE: usize = 3;

/// An odd number that spreads bits.
const FACTOR: Key = 0x9e37_79b9_7f4a_7c15;

/// The words of a line, or the members of a record.
pub(crate) type Row = Vec<Cell>;

/// A row's word in one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(super) text: Key,
    /// The same for everything with a digit.
    pub(super) masked: Key,
}

impl Cell {
    /// A member's value under its name; a word has none, but for the sign before it.
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let name = if name.is_empty() { 0 } else { key(name) };
        let said = key(text) ^ name;
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        Cell { text: said, masked: if has_digit { !name } else { said } }
    }
}

/// A line as its words, without the signs between them.
pub(crate) fn words(line: &str) -> Row {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_negative = |word: &str| {
        let before = line[..cut::place_in(line, word)].strip_suffix('-');
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    };
    words.map(|word| Cell::of(if is_negative(word) { "-" } else { "" }, word)).collect()
}

/// Rows of one kind.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Where they stand.
    pub(crate) rows: Vec<usize>,
    /// The columns whose cells are all the same in a kind.
    pub(crate) told_by: Vec<usize>,
}

/// How many of a group of rows say each of what they say.
pub(super) fn counts(rows: &[Row], group: &[usize], said: impl Fn(&Row) -> Key) -> ByKey<usize> {
    let mut counts: ByKey<usize> = ByKey::default();
    for at in group {
        *counts.entry(said(&rows[*at])).or_default() += 1;
    }
    counts
}

/// Whether many of this many rows have one of few words, or most have the same.
pub(super) fn are_few(counts: &ByKey<usize>, rows: usize) -> bool {
    let most = counts.values().max().copied().unwrap_or_default();
    counts.len() * LEAST_ALIKE <= rows || most * 2 > rows
}

/// The kinds of some rows, the rarest and latest first. Rows are alike if they have as many cells, and say the same in half of them,
/// which many rows do, but for numbers.
pub(crate) fn kinds(rows: &[Row]) -> Vec<Kind> {
    let mut sizes: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        sizes.entry(row.len()).or_default().push(at);
    }
    let mut kinds = Vec::new();
    for (cells, group) in sizes {
        let are_few = |said: &dyn Fn(&Cell) -> Key, cell: usize| {
            are_few(&counts(rows, &group, |row| said(&row[cell])), group.len())
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
    pub(crate) fn last(&self) -> usize {
        self.rows.last().copied().unwrap_or_default()
    }
}

/// Whether most of some rows are like others.
pub(crate) fn are_most_alike(kinds: &[Kind]) -> bool {
    let (alike, all) = kinds.iter().fold((0, 0), |(alike, all), kind| {
        let rows = kind.rows.len();
        (alike + if rows > 1 { rows } else { 0 }, all + rows)
    });
    alike * 2 > all
}
