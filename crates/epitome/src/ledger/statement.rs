//! What says something in none of the words that tell what it is.
//!
//! Nobody can list all ways to say a rule or a result. A whole sentence with a verb of its own that gives an exact
//! value, or speaks of people and what they do, is kept behind all lines that are surely something, where there is
//! room: it is quoted, and nothing is said of what it is.

use super::Speaker;
use super::cues::Cues;
use super::language::Cue;
use super::lists::List;
use super::observe::unmarked;
use super::words::{Form, Words};
use super::worth::{
    code_names, is_exact, leans_on_context, names_its_topic, reads_as_code, speaks_for_many,
    speaks_to_reader,
};

/// What it is worth before anything speaks for or against it.
const BASE: i32 = 6;
/// Bytes of a sentence that cost a point.
const BYTES: usize = 20;
/// Fewer words say nothing by themselves.
const LEAST_WORDS: usize = 4;

/// What tells a kind only beside something else, or of persons.
const WEAK: [Cue; 10] = [
    Cue::Ought,
    Cue::Negates,
    Cue::Lasts,
    Cue::Bounds,
    Cue::Forbids,
    Cue::Demands,
    Cue::Aims,
    Cue::Asks,
    Cue::Blocked,
    Cue::Open,
];

/// The worth of a sentence that is none of what a ledger holds; `None` if it isn't one, or says nothing.
pub(super) fn worth(raw: &str, words: &Words, cues: &Cues, who: Speaker) -> Option<i32> {
    let text = unmarked(raw).trim_end();
    let is_persons = matches!(who, Speaker::Human | Speaker::System);
    let states = cues.has(Cue::Labels) || has_verb(words);
    if words.len() < LEAST_WORDS
        || text.ends_with(':')
        || cues.has(Cue::Meddles)
        || !is_persons && cues.has(Cue::Courts)
    {
        return None;
    }
    let points = |holds: bool, points: i32| if holds { points } else { 0 };
    let exact = cues.has(Cue::Value) && is_exact(words);
    let for_it = points(exact, 6)
        + points(cues.has(Cue::Value) && !exact, 2)
        + points(speaks_for_many(words), 4)
        + points(cues.has(Cue::Social), 3)
        + points(cues.has(Cue::Because), 2)
        + points(cues.any(&WEAK), 3)
        + points(names_its_topic(words, cues), 3)
        + points(is_persons, 6)
        + points(who == Speaker::Model, 1);
    let length = i32::try_from(text.len() / BYTES).unwrap_or(i32::MAX).min(30);
    let mut against = length;
    if !is_persons {
        against += points(!states, 3)
            + points(cues.has(Cue::Announces), 5)
            + points(speaks_to_reader(words), 4)
            + points(leans_on_context(words), 4)
            + points(text.ends_with('!'), 4)
            + points(text.ends_with('?'), 4)
            + points(!text.starts_with(|c: char| c.is_ascii()), 3)
            + 3 * code_names(words).min(3);
    }
    Some(BASE + for_it - against - reads_as_code(text))
}

fn has_verb(words: &Words) -> bool {
    let is_past = |at: usize, low: &str| {
        at > 0
            && low.len() > 4
            && low.ends_with("ed")
            && words.get(at).is_some_and(|word| word.form == Form::Plain)
            && !words.is(at, List::Empty)
    };
    words
        .iter()
        .any(|(at, word, low)| !word.quoted && (words.is(at, List::Verbs) || is_past(at, low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, who: Speaker) -> Option<i32> {
        let words = Words::of(unmarked(text));
        worth(text, &words, &Cues::of(text, &words), who)
    }

    #[test]
    fn what_states_something_exact_is_worth_more() {
        let exact = of("Legal drew a line at 512 MB for texture memory.", Speaker::Model);
        let vague = of("Lawyers drew a line somewhere for texture memory.", Speaker::Model);
        let spoken = of("Our team drew a line somewhere for texture memory.", Speaker::Model);
        assert!(exact > vague && spoken > vague, "{exact:?} {spoken:?} {vague:?}");
        assert!(of("Legal drew a line at 512 MB for texture memory.", Speaker::Human) > exact);
    }

    #[test]
    fn a_label_or_a_weak_sign_of_a_kind_speaks_for_it() {
        for (more, less) in [
            (
                "Off the menu: the sluice on the tablet",
                "Away from the menu the sluice on the tablet",
            ),
            ("The sluice is forbidden on tablets.", "The sluice is available on tablets."),
        ] {
            assert!(of(more, Speaker::Model) > of(less, Speaker::Model), "{more}");
        }
    }

    #[test]
    fn talk_code_and_leads_are_worth_little_or_nothing() {
        for nothing in ["Yes, 3 do.", "These are the 3 steps that follow:"] {
            assert_eq!(of(nothing, Speaker::Tool), None, "{nothing}");
        }
        let says = of("The importer reads 40 rows at once.", Speaker::Tool);
        for less in [
            "You can read 40 rows at once with your importer!",
            "let rows = importer.read(40) => {done; [x]}",
            "This then is what it reads, 40 rows at once.",
        ] {
            assert!(of(less, Speaker::Tool) < says, "{less}");
        }
    }
}
