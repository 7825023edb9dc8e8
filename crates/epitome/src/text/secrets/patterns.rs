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
    /// Beginnings of words of which one stands before, if it takes one to tell.
    told: Vec<&'static str>,
    pieces: Vec<Piece>,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let patterns = rows().filter_map(|row| {
        let (name, drawn) = row.split_once(' ')?;
        (!drawn.contains(' ')).then_some(())?;
        // Behind a class it is the key's own.
        let told = drawn.split_once('~').filter(|(told, _)| !told.contains('<'));
        let (told, drawn) = told.unwrap_or(("", drawn));
        let told = told.split(',').filter(|word| !word.is_empty()).collect();
        Some(Pattern { name, told, pieces: pieces(drawn).expect("a test reads every row") })
    });
    patterns.collect()
});

/// The patterns with which a text may begin, by its first byte, as bits of their places.
static BY_FIRST: LazyLock<[u64; 256]> = LazyLock::new(|| {
    assert!(PATTERNS.len() <= 64, "a bit for each pattern");
    let mut by_first = [0; 256];
    for (byte, patterns) in (0..=u8::MAX).zip(&mut by_first) {
        for (at, pattern) in PATTERNS.iter().enumerate() {
            let may_begin = match &pattern.pieces[0] {
                Piece::As(text) => text.as_bytes()[0] == byte,
                Piece::Of(class, _) => class.has(byte),
            };
            *patterns |= u64::from(may_begin) << at;
        }
    }
    by_first
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

/// So much before a key is looked at for the word that tells it.
const BEFORE: usize = 96;

/// Whether a word before begins with one of those.
fn is_told(before: &str, told: &[&str]) -> bool {
    let bytes = &before.as_bytes()[before.len().saturating_sub(BEFORE)..];
    let firsts = told.iter().fold(0_u32, |all, it| all | 1 << (it.as_bytes()[0] & 31));
    let is_start = |at: usize| at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    let begins = |at: usize, it: &str| {
        bytes.get(at..at + it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it.as_bytes()))
    };
    // What stands in a path is rather an id.
    told.is_empty()
        || !before.ends_with('/')
            && (0..bytes.len())
                .filter(|at| firsts & 1 << (bytes[*at] & 31) != 0 && is_start(*at))
                .any(|at| told.iter().any(|it| begins(at, it)))
}

/// What `whole` has from `at` on, if a pattern has it whole.
pub(super) fn patterned(whole: &str, at: usize) -> Option<Secret> {
    let text = &whole[at..];
    let begun = BY_FIRST[usize::from(*text.as_bytes().first()?)];
    if begun == 0 {
        return None;
    }
    // What a pattern draws first mostly ends before a sign: how long that is tells most texts.
    let run = Class::Alphanumeric.beginning(text).len();
    let fits = |pattern: &&Pattern| match &pattern.pieces[..] {
        [Piece::Of(_, lengths), Piece::As(next), ..]
            if !next.as_bytes()[0].is_ascii_alphanumeric() =>
        {
            lengths.contains(&run)
        }
        [Piece::Of(Class::Symbols, lengths)] => {
            let has = |at: usize| text.as_bytes().get(at).is_some_and(|b| Class::Symbols.has(*b));
            has(lengths.start() - 1) && !has(*lengths.end())
        }
        [Piece::Of(_, lengths)] => lengths.contains(&run),
        [Piece::Of(_, lengths), ..] => run >= *lengths.start(),
        _ => true,
    };
    let patterns = places(begun).map(|at| &PATTERNS[at]);
    patterns.filter(fits).find_map(|pattern| {
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
        (is_whole && has_digit && is_told(&whole[..at], &pattern.told)).then_some(Secret {
            name: pattern.name,
            from: 0,
            to,
        })
    })
}

/// The places of the bits that are set, lowest first.
fn places(mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(at)
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
            let told = pattern.told.first().map_or(String::new(), |word| format!("{word} "));
            let whole = patterned(&format!("{told}{text}, and more"), told.len())
                .is_some_and(|secret| secret.to == text.len());
            assert!(whole, "{}: {text}", pattern.name);
        }
    }
}
