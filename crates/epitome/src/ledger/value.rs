//! Exact values: numbers of a measure, days, names.

use std::cmp::Ordering;

use super::language::english;
use super::stem::stem;
use super::terms::digest;

/// An exact value. The same text of the same measure and size is the same value, with backticks or without.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Lower-cased, without what is written between thousands.
    pub(super) text: String,
    pub(super) sort: Sort,
    /// Which unit of its measure it counts, as [`size`] tells; 0 where that isn't said.
    size: u8,
    /// Of the text, as it stands in a bag.
    pub(super) digest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let measure = || self.measure().cmp(&other.measure());
        self.text.cmp(&other.text).then_with(measure).then(self.size.cmp(&other.size))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Value {
    pub(super) fn new(text: String, sort: Sort) -> Self {
        Self { digest: digest(&text), text, sort, size: 0 }
    }

    /// Whether it is as many of another unit: `20 GB`, where the other one is `20 MB`.
    pub(super) fn is_other_size_of(&self, other: &Self) -> bool {
        self.size != other.size && self.sort == other.sort && self.text == other.text
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

    /// What it measures, if it does.
    fn measure(&self) -> Option<&'static str> {
        match self.sort {
            Sort::Number(measure) => Some(measure),
            Sort::Day => Some("day"),
            Sort::Literal | Sort::Code => None,
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

impl Value {
    /// A text in lower case with a sign where the value stands as a word, or as several.
    pub(super) fn left_out_of(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            // No part of a longer number: `1,900`, `10:30`.
            let before = out.trim_end_matches([',', '.', ':']);
            let is_begun = out.ends_with(char::is_alphanumeric)
                || before.len() < out.len() && before.ends_with(|c: char| c.is_ascii_digit());
            let found = self.length_in(rest).filter(|length| *length > 0 && !is_begun);
            let length = found.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8));
            out.push_str(if found.is_some() { "…" } else { &rest[..length] });
            rest = &rest[length..];
        }
        out
    }

    /// How many bytes the text begins with of the value, as it may be written there: `1,900`.
    fn length_in(&self, text: &str) -> Option<usize> {
        let mut left = self.text.chars().peekable();
        let mut length = 0;
        for (at, c) in text.char_indices() {
            let is_between = length > 0 && matches!(self.sort, Sort::Number(_)) && is_dropped(c);
            if left.peek() == Some(&c) {
                left.next();
            } else if left.peek().is_none() {
                let next = text[at + c.len_utf8()..].bytes().next();
                let goes_on =
                    matches!(c, ',' | '.' | ':') && next.is_some_and(|b| b.is_ascii_digit());
                return (!c.is_alphanumeric() && !goes_on).then_some(length);
            } else if !is_between {
                return None;
            }
            length += c.len_utf8();
        }
        left.peek().is_none().then_some(length)
    }
}

/// What is written in a number and left out of its value.
fn is_dropped(c: char) -> bool {
    matches!(c, ',' | '_' | '$' | '€' | '£' | '~' | '<' | '>' | '=' | '≤' | '≥')
}

/// The value that a word with digits is, before the next one.
pub(super) fn number(low: &str, next: &str, in_words: bool) -> Value {
    let digits: String = low.chars().filter(|c| !is_dropped(*c)).collect();
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
    let size = match class {
        Some("t" | "d" | "b") if unit(suffix).is_some() => size(suffix),
        Some("t" | "d" | "b") => size(next),
        _ => 0,
    };
    Value { size, ..Value::new(digits, Sort::Number(class.unwrap_or(""))) }
}

/// Which one of the units of time, days or bytes it is, however it is written: the first letter tells, but of `ms`.
fn size(unit: &str) -> u8 {
    let is_thousandth = unit.starts_with("ms") || unit.starts_with("milli");
    if is_thousandth { b'i' } else { unit.as_bytes().first().copied().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_a_word_of_its_own() {
        let weight = Value::new("1900".to_owned(), Sort::Number("kg"));
        let bay = Value::new("9".to_owned(), Sort::Number(""));
        let text = "1,900 kg per beam in bay 9, not 11900 or 1900th; (1900)";
        assert_eq!(weight.left_out_of(text), "… kg per beam in bay 9, not 11900 or 1900th; (…)");
        assert_eq!(
            bay.left_out_of(text),
            "1,900 kg per beam in bay …, not 11900 or 1900th; (1900)"
        );
        let version = Value::new("v1.2".to_owned(), Sort::Literal);
        assert_eq!(version.left_out_of("use v1.2 of v1.2.3, or v1.2."), "use … of v1.2.3, or ….");
        let half = Value::new("30".to_owned(), Sort::Number(""));
        assert_eq!(half.left_out_of("at 10:30, for 30 minutes"), "at 10:30, for … minutes");
        let nothing = Value::new(String::new(), Sort::Literal);
        assert_eq!(nothing.left_out_of("no, nothing"), "no, nothing");
        let name = Value::new("ines caballero".to_owned(), Sort::Literal);
        assert_eq!(name.left_out_of("ask ines caballero."), "ask ….");
    }
}
