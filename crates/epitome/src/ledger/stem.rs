//! Words by their stems, as subjects are compared by them.

use super::language::{Id, english};
use super::lists::List;
use super::terms::digest;

/// A word that says something of a subject, by its stem or by the word that stands for all of its meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) digest: u64,
    /// Whether it tells things of one shape apart.
    pub(super) contrasts: bool,
    /// Whether it only says what kind of thing it is.
    pub(super) is_generic: bool,
}

impl Term {
    /// A word of the sentence; `id` is the language's number of it.
    pub(super) fn of(low: &str, id: Id) -> Option<Self> {
        let known = english().known(id);
        if low.len() < 2
            || known.is(List::Common)
            || known.is(List::Empty)
            || !low.contains(char::is_alphanumeric)
        {
            return None;
        }
        let stem = stem(low);
        let of_stem =
            if stem.len() == low.len() { known } else { english().known(english().id(stem)) };
        if of_stem.unit().is_some_and(|class| class != "n") || of_stem.is(List::Empty) {
            return None;
        }
        let first = of_stem.alike().or_else(|| known.alike());
        let of_first = first.map_or(of_stem, |first| english().known(english().id(first)));
        Some(Self {
            digest: digest(first.unwrap_or_else(|| root(stem))),
            contrasts: of_first.is(List::Contrasts),
            is_generic: of_first.is(List::Generic) || known.is(List::Generic),
        })
    }

    /// The same of a word that doesn't stand in the sentence so.
    pub(super) fn is_one(low: &str) -> bool {
        Self::of(low, english().id(low)).is_some()
    }
}

/// A word without its ending, where that is cheap to see.
pub(super) fn stem(low: &str) -> &str {
    let low = low.strip_suffix("'s").unwrap_or(low);
    if !low.is_ascii() || low.len() < 4 {
        return low;
    }
    let vowel = |text: &str| text.bytes().any(|b| b"aeiouy".contains(&b));
    for ending in ["ing", "ed", "es", "s"] {
        let Some(rest) = low.strip_suffix(ending) else { continue };
        let keeps = match ending {
            "s" => low.ends_with("ss") || low.ends_with("us") || low.ends_with("is"),
            // `uses`, `caches`: only the s goes, so that they meet `use` and `cache` with it.
            "es" => !["sh", "ch", "ss", "x", "z"].iter().any(|end| rest.ends_with(end)),
            _ => rest.len() < 3 || !vowel(rest),
        };
        if keeps {
            continue;
        }
        let bytes = rest.as_bytes();
        let doubled = bytes.len() > 3
            && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
            && !b"lse".contains(&bytes[bytes.len() - 1]);
        return if doubled && ending != "s" { &rest[..rest.len() - 1] } else { rest };
    }
    low
}

/// A stem as it is compared: `retiring` and `retire` are one, `moving` and `move`, `policies` and `policy`, `migration` and
/// `migrate`, `flakiness` and `flaky`.
pub(super) fn root(stem: &str) -> &str {
    if !stem.is_ascii() {
        return stem;
    }
    let without =
        |ending: &str, least: usize| stem.strip_suffix(ending).filter(|rest| rest.len() >= least);
    let noun = match stem.as_bytes() {
        [.., b'i', b'o', b'n'] => without("ation", 4).or_else(|| without("ion", 5)),
        [.., b'a', b't', b'e'] => without("ate", 4),
        [.., b'a', b't'] if stem != "format" => without("at", 4),
        [.., b'n', b'e', b's', b's'] => without("ness", 5),
        _ => None,
    };
    let bare = noun.unwrap_or(stem);
    let rest = bare.strip_suffix("ie").or_else(|| bare.strip_suffix(['e', 'y', 'i']));
    rest.filter(|rest| rest.len() > 2).unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_are_compared_as_one() {
        let of = |word: &'static str| root(stem(word));
        for (one, other) in [
            ("adding", "add"),
            ("moving", "move"),
            ("retired", "retire"),
            ("policies", "policy"),
            ("migrating", "migration"),
            ("migrate", "migration"),
            ("configuration", "configure"),
            ("flakiness", "flaky"),
            ("caches", "cache"),
        ] {
            assert_eq!(of(one), of(other), "{one}, {other}");
        }
        for (one, other) in
            [("format", "form"), ("station", "state"), ("day", "date"), ("test", "tests/")]
        {
            assert_ne!(of(one), of(other), "{one}, {other}");
        }
    }
}
