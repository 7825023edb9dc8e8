//! Whether a text says a string, as a whole or inside a longer one.

use crate::text::keys::{ByKey, key};

/// The places of a text's words.
pub(super) struct Phrases<'t> {
    text: &'t str,
    /// By keys: two words with one key are told apart where they stand.
    places: ByKey<Vec<u32>>,
}

/// How many places of a word are looked at, which bounds the time for frequent words.
const MOST_PLACES: usize = 200;

impl<'t> Phrases<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut places: ByKey<Vec<u32>> = ByKey::default();
        for (at, word) in words(text) {
            let places = places.entry(key(word)).or_default();
            if places.len() < MOST_PLACES {
                places.push(at as u32);
            }
        }
        Phrases { text, places }
    }

    /// Whether the text has the string at word borders.
    pub(super) fn say(&self, phrase: &str) -> bool {
        // The longest word is the rarest, as a rule.
        let Some((before, word)) = words(phrase).max_by_key(|(_, word)| word.len()) else {
            return false;
        };
        let says = |at: &u32| {
            let start = (*at as usize).checked_sub(before)?;
            let rest = self.text.get(start..)?.strip_prefix(phrase)?;
            let last = self.text[..start].chars().next_back();
            let goes_on = |one: Option<char>, other: Option<char>| {
                one.is_some_and(is_in_word) && other.is_some_and(is_in_word)
            };
            let is_whole = !goes_on(last, phrase.chars().next())
                && !goes_on(phrase.chars().next_back(), rest.chars().next());
            is_whole.then_some(())
        };
        self.places.get(&key(word)).is_some_and(|places| places.iter().any(|at| says(at).is_some()))
    }
}

/// The words of a text, and where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|c| !is_in_word(c)).filter(|word| !word.is_empty());
    words.map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_inside_a_longer_one_is_said() {
        let text = Phrases::of("bash(git stash) → ok; edit(a/src/main.rs): this.agent.state, ~/.x");
        for said in ["git stash", "src/main.rs", "a/src", "this.agent", ".x", "~/.x"] {
            assert!(text.say(said), "{said}");
        }
        for unsaid in ["git st", "rc/main.rs", "agent.sta", "--ok", "stash pop", "…"] {
            assert!(!text.say(unsaid), "{unsaid}");
        }
    }
}
