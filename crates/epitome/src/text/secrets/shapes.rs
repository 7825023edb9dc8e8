//! Keys that are recognised by their beginning and their characters, from the table.

use std::sync::LazyLock;

use super::{Secret, values};

/// A shape of secrets.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) prefix: &'static str,
    pub(super) rest: Class,
    pub(super) least: usize,
}

/// The characters of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Alphanumeric,
    Capitals,
    Hexadecimal,
    Word,
    Dotted,
    Symbols,
    Numbers,
    Small,
    Lines,
    Printed,
}

impl Class {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "a" => Class::Alphanumeric,
            "u" => Class::Capitals,
            "h" => Class::Hexadecimal,
            "w" => Class::Word,
            "d" => Class::Dotted,
            "s" => Class::Symbols,
            "n" => Class::Numbers,
            "l" => Class::Small,
            "b" => Class::Lines,
            "p" => Class::Printed,
            _ => return None,
        })
    }

    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Class::Alphanumeric => byte.is_ascii_alphanumeric(),
            Class::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Hexadecimal => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Class::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Class::Dotted => Class::Word.has(byte) || byte == b'.',
            Class::Symbols => Class::Dotted.has(byte) || matches!(byte, b'/' | b'+' | b'=' | b'~'),
            Class::Numbers => byte.is_ascii_digit(),
            Class::Small => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Class::Lines => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'/' | b'+' | b'=' | b'\n' | b'\r' | b'\\')
            }
            Class::Printed => Class::Symbols.has(byte) || matches!(byte, b'$' | b'%' | b':' | b'@'),
        }
    }

    /// The part of `text` in these characters.
    pub(super) fn length(self, text: &str) -> usize {
        text.bytes().position(|byte| !self.has(byte)).unwrap_or(text.len())
    }

    /// The beginning of `text` that is of it, as far as is looked at to tell a secret.
    pub(super) fn beginning(self, text: &str) -> &str {
        let seen = text.bytes().take(LOOKED_AT);
        &text[..seen.take_while(|byte| self.has(*byte)).count()]
    }
}

pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |row: &'static str| {
        let mut cells = row.split(' ');
        let (name, prefix) = (cells.next()?, cells.next()?);
        let (rest, least) = (Class::named(cells.next()?)?, cells.next()?.parse().ok()?);
        Some(Shape { name, prefix, rest, least })
    };
    let shapes = rows().filter(|row| row.matches(' ').count() > 1);
    shapes.map(|row| shape(row).expect("a test reads every row")).collect()
});

pub(super) fn rows() -> impl Iterator<Item = &'static str> {
    let table = include_str!("../../../data/secrets.txt");
    table.lines().filter(|row| !row.starts_with('#') && !row.is_empty())
}

/// The shapes by their first two bytes, which few words have.
pub(super) static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut by_first = ByFirst { places: vec![0; 1 << 14], shapes: vec![Vec::new()] };
    for (at, shape) in SHAPES.iter().enumerate() {
        let pair = ByFirst::pair(shape.prefix.as_bytes()).expect("no prefix is shorter");
        let place = &mut by_first.places[pair];
        if *place == 0 {
            *place = by_first.shapes.len() as u8;
            by_first.shapes.push(Vec::new());
        }
        by_first.shapes[usize::from(*place)].push(at);
    }
    by_first
});

pub(super) struct ByFirst {
    /// For each pair where its shapes are; 0 without any.
    places: Vec<u8>,
    shapes: Vec<Vec<usize>>,
}

impl ByFirst {
    pub(super) fn pair(text: &[u8]) -> Option<usize> {
        let [first, second, ..] = text else { return None };
        (first | second).is_ascii().then_some(usize::from(*first) << 7 | usize::from(*second))
    }

    /// The shapes that begin with the first two bytes of `text`.
    pub(super) fn of(&self, text: &[u8]) -> &[usize] {
        Self::pair(text).map_or(&[], |pair| &self.shapes[usize::from(self.places[pair])])
    }

    /// Whether `text` begins as one of them does.
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        self.of(text).iter().any(|at| text.starts_with(SHAPES[*at].prefix.as_bytes()))
    }
}

pub(super) fn shaped(text: &str) -> Option<Secret> {
    BY_FIRST.of(text.as_bytes()).iter().find_map(|at| {
        let shape = &SHAPES[*at];
        let rest = text.strip_prefix(shape.prefix)?;
        if shape.rest == Class::Lines {
            return lines(shape, text);
        }
        let body = shape.rest.beginning(rest).trim_end_matches('.');
        let is_one = body.len() >= shape.least && is_none_of_words(body);
        is_one.then(|| {
            let body = rest[..shape.rest.length(rest)].trim_end_matches('.');
            Secret { name: shape.name, from: 0, to: shape.prefix.len() + body.len() }
        })
    })
}

/// Whether a key's rest isn't made of an identifier's words: it has a digit, or its letters change case as only random
/// ones do.
fn is_none_of_words(rest: &str) -> bool {
    let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
    has_digit || values::is_random(rest) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A shape whose rest goes on over lines.
pub(super) fn lines(shape: &Shape, text: &str) -> Option<Secret> {
    let rest = &text[shape.prefix.len()..];
    let space = rest.bytes().take_while(|byte| *byte == b' ').count();
    let all = &rest[space..][..shape.rest.length(&rest[space..])];
    // A word on a line that isn't a block's whole line.
    let all = if rest[space + all.len()..].starts_with(['-', ' ', ':', '.']) {
        &all[..all.rfind('\n').or_else(|| all.rfind("\\n")).unwrap_or(all.len())]
    } else {
        all.trim_end_matches(['\n', '\r', '\\'])
    };
    let to = shape.prefix.len() + space + all.len();
    (all.len() >= shape.least).then_some(Secret { name: shape.name, from: 0, to })
}

/// In so many characters it shows whether something is a secret. Beginnings follow one another without a
/// gap in what is made for that, so that looking at all that follows each would never end.
pub(super) const LOOKED_AT: usize = 256;
