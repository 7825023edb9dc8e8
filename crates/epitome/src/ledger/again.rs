//! What was nothing before isn't judged again.
//!
//! Tools say most of what they say many times, and most of it comes to nothing. A sentence that by its own words alone
//! is none of what a ledger holds is so the next time, too, unless what stands around it may change what it says; and
//! where so many lines began alike that no more are taken there is nothing to look for.

use super::cues::Cues;
use super::observe::{MAX_LINE, unmarked};
use super::output::Standing;
use super::{Kind, Ledger, Line, Speaker};
use crate::text::cut;

/// Sentences that are remembered: of those that share a place the newest.
const PLACES: usize = 1 << 11;
/// With fewer words a sentence may mean what stands before it.
const LEAST_WORDS: usize = 4;
/// How a line begins, its figures left out, has so many characters; in bytes at most.
const FORM: usize = 20;
const FORM_BYTES: usize = 4 * FORM;
/// Lines of tools that begin alike.
const MAX_ALIKE: u32 = 3;
/// Bytes and words that a field's name and its value have less of.
const LABEL: usize = 40;
const VALUE: usize = 4;

/// Sentences that came to nothing by their own words alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Again {
    /// With who said it and where it stood.
    places: Vec<(u8, String)>,
    /// Whether the one that is read now has done so, as far as it was read.
    pub(super) is_nothing: bool,
}

impl Again {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.places.iter().map(|place| size_of_val(place) + place.1.capacity()).sum()
    }

    fn has(&self, kind: u8, raw: &str) -> bool {
        let known = self.places.get(place(kind, raw));
        known.is_some_and(|(of, text)| *of == kind && text == raw)
    }

    fn add(&mut self, kind: u8, raw: &str) {
        if raw.is_empty() || raw.len() > MAX_LINE {
            return;
        }
        if self.places.is_empty() {
            self.places.resize(PLACES, Default::default());
        }
        let (of, text) = &mut self.places[place(kind, raw)];
        *of = kind;
        text.clear();
        text.push_str(raw);
    }
}

impl Ledger {
    /// Whether tools say this again and again, with other figures at most: nobody meant it. The first
    /// ones stay.
    pub(super) fn is_boilerplate(&mut self, text: &str) -> bool {
        if self.said.contains_key(text) {
            return false;
        }
        let mut own = [0; FORM_BYTES];
        let form = form(text, &mut own);
        let Some(times) = self.forms.get_mut(form) else {
            self.forms.insert(form.to_owned(), 1);
            return false;
        };
        *times += 1;
        *times > MAX_ALIKE
    }

    /// Whether others begin alike.
    pub(super) fn is_one_of_many(&self, line: &Line) -> bool {
        let times = self.forms.get(form(&line.text, &mut [0; FORM_BYTES]));
        times.is_some_and(|times| *times > MAX_ALIKE)
    }

    /// Whether the sentence comes to nothing for sure, since it did before or no more of its form are taken.
    pub(super) fn is_nothing_again(
        &self,
        at: u32,
        (who, standing): (Speaker, Standing),
        raw: &str,
        lead: &Cues,
    ) -> bool {
        if raw.len() > MAX_LINE || self.is_led(at, lead) {
            return false;
        }
        self.again.has(kind(who, standing), raw) || who == Speaker::Tool && self.is_worn(raw)
    }

    /// Remembers a sentence that was read and came to nothing by its own words.
    pub(super) fn remember_nothing(
        &mut self,
        at: u32,
        (who, standing): (Speaker, Standing),
        raw: &str,
        lead: &Cues,
    ) {
        if self.again.is_nothing && !self.is_led(at, lead) {
            self.again.add(kind(who, standing), raw);
        }
    }

    /// Whether what was said before may change what a sentence of entry `at` says.
    fn is_led(&self, at: u32, lead: &Cues) -> bool {
        let goes_on = |(line, said): (usize, u32)| {
            use Kind::{Constraint, Decision, Preference, Question};
            let kind = self.lines[line].kind;
            said == at && matches!(kind, Question | Decision | Constraint | Preference)
        };
        self.withdrawn || lead.leads() || self.last.is_some_and(goes_on)
    }

    /// Whether a tool's sentence can be no line but one that is too much like others.
    fn is_worn(&self, raw: &str) -> bool {
        let text = unmarked(raw);
        // What isn't plain looks otherwise as a line.
        if !self.listed.is_empty() || !cut::is_plain(text.as_bytes()) {
            return false;
        }
        let times = self.forms.get(form(text, &mut [0; FORM_BYTES]));
        times.is_some_and(|times| *times > MAX_ALIKE)
            && has_words(text.as_bytes(), LEAST_WORDS)
            && !self.said.contains_key(text)
    }
}

fn kind(who: Speaker, standing: Standing) -> u8 {
    (who as u8) << 4 | standing as u8
}

/// Where a sentence is remembered.
fn place(kind: u8, raw: &str) -> usize {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let bytes = raw.as_bytes();
    let mut hash = u64::from(kind) ^ (bytes.len() as u64) << 8;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    // The last eight once more, as far as there are so many.
    let rest = match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => rest.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte)),
    };
    mix(hash, rest) as usize % PLACES
}

/// Whether there are so many of what surely counts as a word each.
fn has_words(text: &[u8], least: usize) -> bool {
    let (mut words, mut is_word) = (0, false);
    for byte in text {
        if byte.is_ascii_alphanumeric() && !is_word {
            (words, is_word) = (words + 1, true);
            if words == least {
                return true;
            }
        } else if byte.is_ascii_whitespace() {
            is_word = false;
        }
    }
    least == 0
}

/// How a line begins, its figures left out; of a field its name.
fn form<'t>(text: &'t str, form: &'t mut [u8; FORM_BYTES]) -> &'t str {
    let bytes = text.as_bytes();
    let mut colons = memchr::memchr_iter(b':', &bytes[..bytes.len().min(LABEL)]);
    if let Some(label) = colons.find(|at| bytes.get(at + 1) == Some(&b' '))
        && text[label + 2..].split(' ').take(VALUE).count() < VALUE
    {
        return &text[..label];
    }
    // Hardly one has other letters than ASCII there.
    let (mut length, mut at) = (0, 0);
    while length < FORM && at < bytes.len() && bytes[at].is_ascii() {
        if !bytes[at].is_ascii_digit() {
            form[length] = bytes[at];
            length += 1;
        }
        at += 1;
    }
    if length == FORM || at == bytes.len() {
        return std::str::from_utf8(&form[..length]).expect("whole characters");
    }
    length = 0;
    for c in text.chars().filter(|c| !c.is_ascii_digit()).take(FORM) {
        length += c.encode_utf8(&mut form[length..]).len();
    }
    std::str::from_utf8(&form[..length]).expect("whole characters")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Shown;
    use super::super::words::Words;
    use super::*;

    proptest! {
        #[test]
        fn forms_are_names_of_fields_or_beginnings(text in "[a-cé0-9]{0,9}(: |:|\\PC{0,9}){0,5}[a-zß1 ]{0,30}") {
            let mut own = [0; FORM_BYTES];
            let form = form(&text, &mut own);
            let begins = text.chars().filter(|c| !c.is_ascii_digit()).take(FORM).eq(form.chars());
            let names = text.split_once(": ").is_some_and(|(label, value)| {
                label == form && label.len() < LABEL && value.split(' ').count() < VALUE
            });
            prop_assert!(names || begins, "{form:?}");
        }

        #[test]
        fn what_counts_as_a_word_is_one(text in "[ -~]{0,60}") {
            let words = text.split_ascii_whitespace();
            let words = words.filter(|word| word.contains(|c: char| c.is_ascii_alphanumeric())).count();
            prop_assert!(words <= Words::of(&text).len());
            prop_assert!(has_words(text.as_bytes(), words) && !has_words(text.as_bytes(), words + 1));
        }

        /// Whatever was said before, and however often: a ledger that remembers is one that doesn't.
        #[test]
        fn what_is_remembered_changes_no_line(
            said in prop::collection::vec((0u32..6, prop::sample::select(vec![
                (Speaker::Tool, "Copied 3 files to the old folder again."),
                (Speaker::Tool, "Copied 4 files to the old folder again."),
                (Speaker::Tool, "Copied 5 files to the old folder again."),
                (Speaker::Tool, "Owner of billing: Dana\nThat is what it says here."),
                (Speaker::Tool, "What must stay:\n- the first and last of them\n- nothing else of it"),
                (Speaker::Tool, "The limit is 40 MB for each of them.\nBecause of the old disks we have."),
                (Speaker::Tool, "Who owns billing?\nYes and no says the old board."),
                (Speaker::Model, "We decided to use Postgres. Because of the old disks we have."),
                (Speaker::Model, "Because of the old disks we have. The sun is out there."),
                (Speaker::Human, "Scratch that. The sun is out there."),
                (Speaker::Human, "Never mind. Because of the old disks we have."),
                (Speaker::Human, "Done:\n- the sun is out there\n- of the old disks"),
                (Speaker::Human, "- the sun is out there\n- of the old disks"),
            ])), 0..40),
        ) {
            let (mut knows, mut forgets) = (Ledger::default(), Ledger::default());
            let mut at = 0;
            for (gap, (who, text)) in said {
                at += gap;
                knows.observe(at, who, Shown::Elsewhere, text);
                forgets.again = Again::default();
                forgets.observe(at, who, Shown::Elsewhere, text);
            }
            prop_assert_eq!(knows.lines(), forgets.lines());
        }
    }
}
