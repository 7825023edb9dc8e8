//! Words by their stems, as subjects are compared by them.

use std::borrow::Cow;

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
            digest: first.map_or_else(|| digest(&form(low)), digest),
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
            _ => rest.len() < 4 || !vowel(rest),
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

/// A stem as it is compared: `retiring` and `retire` are one.
pub(super) fn root(stem: &str) -> &str {
    stem.strip_suffix('e').filter(|rest| rest.len() > 3 && stem.is_ascii()).unwrap_or(stem)
}

/// A word as subjects are compared by it: its root, and the verb or the singular that a shorter one comes from
/// (`moving`, `add`ing, `policies`).
fn form(low: &str) -> Cow<'_, str> {
    if low.is_ascii() {
        let plural = low.strip_suffix("ies").filter(|rest| rest.len() > 2);
        if let Some(rest) = plural.filter(|_| !OWN_PLURALS.contains(&low)) {
            return Cow::Owned(format!("{rest}y"));
        }
        let verb = low.strip_suffix("ing").or_else(|| low.strip_suffix("ed"));
        if let Some(rest) = verb.filter(|rest| rest.len() == 3 && !NOUNS.contains(&low)) {
            let is_vowel = |at: usize| b"aeiou".contains(&rest.as_bytes()[at]);
            let ends = |marks: &[u8]| marks.contains(&rest.as_bytes()[2]);
            match [is_vowel(0), is_vowel(1), is_vowel(2)] {
                _ if ends(b"y") => return Cow::Borrowed(rest),
                // `mov` is of `move`: another one were doubled.
                [false, true, false] if !ends(b"wx") => return Cow::Owned(format!("{rest}e")),
                [false, false, false] | [_, _, true] => {}
                _ => return Cow::Borrowed(rest),
            }
        }
    }
    Cow::Borrowed(root(stem(low)))
}

/// What is called by a verb and is another thing than that: a rating, a rate.
const NOUNS: [&str; 7] = ["rating", "timing", "dating", "coding", "filing", "wiring", "piping"];
/// Plurals of words that end in `ie` themselves.
const OWN_PLURALS: [&str; 7] =
    ["cookies", "movies", "calories", "zombies", "selfies", "rookies", "series"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_are_compared_as_one() {
        for (one, other) in [
            ("adding", "add"),
            ("acted", "act"),
            ("moving", "move"),
            ("named", "name"),
            ("fixing", "fix"),
            ("trying", "try"),
            ("retired", "retire"),
            ("policies", "policy"),
            ("caches", "cache"),
        ] {
            assert_eq!(form(one), form(other), "{one}, {other}");
        }
        for (one, other) in [
            ("registry", "registration"),
            ("rate", "rating"),
            ("time", "timing"),
            ("node", "nod"),
            ("party", "part"),
            ("cookies", "cook"),
            ("mary", "marie"),
            ("string", "stre"),
        ] {
            assert_ne!(form(one), form(other), "{one}, {other}");
        }
    }
}
