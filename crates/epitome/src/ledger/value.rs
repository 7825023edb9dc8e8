//! Exact values: numbers of a measure, days, names.

use super::language::english;
use super::stem::stem;
use super::terms::digest;

/// An exact value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value {
    /// Lower-cased, without what is written between thousands.
    pub(super) text: String,
    pub(super) sort: Sort,
    /// Of the text, as it stands in a bag.
    pub(super) digest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// A number of this measure; empty if none is said.
    Number(&'static str),
    /// A day or a month.
    Day,
    /// A name, a path, an identifier, a hash.
    Literal,
    /// A name in code, or whatever stands in backticks.
    Code,
}

impl Value {
    pub(super) fn new(text: String, sort: Sort) -> Self {
        Self { digest: digest(&text), text, sort }
    }

    /// Whether one of the two may stand in the other's place.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self.sort, other.sort) {
            (Sort::Number(a), Sort::Number(b)) => {
                a.is_empty() || b.is_empty() || a == b || matches!((a, b), ("t", "d") | ("d", "t"))
            }
            (a, b) => a == b || (self.is_literal() && other.is_literal()),
        }
    }

    /// Whether it is written in signs that mean nothing else.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self.sort, Sort::Literal | Sort::Code)
    }
}

impl Value {
    /// Whether both are written alike: digits where digits are, letters where letters are.
    pub(super) fn has_shape_of(&self, other: &Self) -> bool {
        let shape = |text: &str| {
            let kind = |c: char| match c {
                '0'..='9' => '0',
                c if c.is_alphabetic() => 'a',
                c => c,
            };
            let mut shape: Vec<char> = text.chars().map(kind).collect();
            shape.dedup();
            shape
        };
        shape(&self.text) == shape(&other.text)
    }
}

/// The value that a word with digits is, before the next one.
pub(super) fn number(low: &str, next: &str, in_words: bool) -> Value {
    let digits: String = low
        .chars()
        .filter(|c| !matches!(c, ',' | '_' | '$' | '€' | '£' | '~' | '<' | '>' | '=' | '≤' | '≥'))
        .collect();
    if in_words && english().unit(stem(next)).is_none() && low.len() > 5 && !low.ends_with('y')
        || low.ends_with("day")
        || low.ends_with("days")
    {
        return Value::new(digits, Sort::Day);
    }
    let suffix = digits.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ':' | '-' | '+' | '#' | 'x')
    });
    let unit = |word: &str| english().unit(word);
    let class = if low.starts_with(['$', '€', '£']) {
        Some("$")
    } else if digits.contains(':') || suffix == "am" || suffix == "pm" || suffix == "z" {
        Some("clock")
    } else if digits.matches('-').count() == 2 {
        Some("date")
    } else if digits.matches('.').count() > 1 {
        Some("version")
    } else {
        unit(suffix).or_else(|| unit(stem(next)))
    };
    Value::new(digits, Sort::Number(class.unwrap_or("")))
}
