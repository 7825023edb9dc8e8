//! Keys that are told by what stands in their middle or by their length, as the table has them: `pat<a14>.<h64>`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::{Class, Secret, rows};

enum Piece {
    As(&'static str),
    Of(Class, RangeInclusive<usize>),
}

struct Pattern {
    name: &'static str,
    pieces: Vec<Piece>,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let patterns = rows().filter_map(|row| {
        let (name, drawn) = row.split_once(' ')?;
        (!drawn.contains(' '))
            .then(|| Pattern { name, pieces: pieces(drawn).expect("a test reads every row") })
    });
    patterns.collect()
});

fn pieces(drawn: &'static str) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    for piece in drawn.split_inclusive('>') {
        let (before, class) = piece.split_once('<').unwrap_or((piece, ""));
        if !before.is_empty() {
            all.push(Piece::As(before));
        }
        if let Some(class) = class.strip_suffix('>') {
            let (least, most) = class[1..].split_once('-').unwrap_or((&class[1..], &class[1..]));
            all.push(Piece::Of(
                Class::named(&class[..1])?,
                least.parse().ok()?..=most.parse().ok()?,
            ));
        }
    }
    Some(all)
}

/// What `text` begins with, if a pattern has it whole.
pub(super) fn patterned(text: &str) -> Option<Secret> {
    // Most patterns begin with one of few classes: how much of it the text begins with is found once.
    let mut begun: [Option<usize>; Class::ALL] = [None; Class::ALL];
    PATTERNS.iter().find_map(|pattern| {
        if let Some(Piece::Of(class, lengths)) = pattern.pieces.first() {
            let length = *begun[*class as usize].get_or_insert_with(|| class.beginning(text).len());
            if !lengths.contains(&length) {
                return None;
            }
        }
        let mut rest = text;
        for piece in &pattern.pieces {
            rest = match piece {
                Piece::As(text) => rest.strip_prefix(text)?,
                Piece::Of(class, lengths) => {
                    let length = class.beginning(rest).len();
                    lengths.contains(&length).then(|| &rest[length..])?
                }
            };
        }
        let is_whole = rest.bytes().next().is_none_or(|byte| !Class::Word.has(byte));
        let to = text.len() - rest.len();
        let has_digit = text[..to].bytes().any(|byte| byte.is_ascii_digit());
        (is_whole && has_digit).then_some(Secret { name: pattern.name, from: 0, to })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_read_and_matches_what_it_draws() {
        assert!(PATTERNS.len() >= 15, "{}", PATTERNS.len());
        for pattern in PATTERNS.iter() {
            let drawn = pattern.pieces.iter().map(|piece| match piece {
                Piece::As(text) => (*text).to_owned(),
                Piece::Of(_, lengths) => "7".repeat(*lengths.start()),
            });
            let text: String = drawn.collect();
            let whole = patterned(&format!("{text}, and more"))
                .is_some_and(|secret| secret.to == text.len());
            assert!(whole, "{}: {text}", pattern.name);
        }
    }
}
