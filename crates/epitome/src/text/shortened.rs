//! Whether a text is another one in fewer bytes, and says so: the check of an excerpt by somebody else.
//!
//! The words are those of the whole, in their order, and a note as `excerpt` writes it stands wherever something is
//! missing. Beginning and end may be cut at any word; the middle has whole lines only. A person's words are cut only
//! between sentences. Words that a reader couldn't tell from a sentence of the speaker's aren't an excerpt: `delete it`
//! of `I won't delete it`.

use std::ops::Range;

use serde_json::Value;

use super::excerpt::{LEAST_PIECE, marker};
use super::figure;
use super::sentence::sentences;
use crate::specifics;

/// What may stand between the beginning and the end, besides whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Whole sentences.
    Sentences,
    /// Words of a long line.
    Words,
}

/// A beginning this short with nothing behind it needs no more than an ellipsis.
const STUMP: usize = 64;
/// No note is longer.
const MAX_NOTE: usize = 64;

/// Whether `short` is an excerpt of `whole`; of JSON also JSON of the same shape.
pub(crate) fn is_excerpt(short: &str, whole: &str, between: Between) -> bool {
    !short.trim().is_empty()
        && (is_cut(short, whole, between) || is_smaller_json(short, whole, between))
}

/// Whether `short` is the JSON object `whole` with less in it: no value differs, and omissions are counted.
pub(crate) fn are_arguments(short: &str, whole: &str) -> bool {
    short.trim_start().starts_with('{') && is_smaller_json(short, whole, Between::Words)
}

fn is_smaller_json(short: &str, whole: &str, between: Between) -> bool {
    let read = |text: &str| -> Option<Value> {
        let value: Value = serde_json::from_str(text).ok()?;
        (value.is_object() || value.is_array()).then_some(value)
    };
    // Most texts are no JSON.
    let Some(short) = read(short) else { return false };
    read(whole).is_some_and(|whole| is_smaller(&short, &whole, between))
}

fn is_smaller(short: &Value, whole: &Value, between: Between) -> bool {
    match (short, whole) {
        (Value::String(short), Value::String(whole)) => {
            short == whole || is_head(short, whole) || is_cut(short, whole, between)
        }
        (Value::String(short), Value::Array(all)) => counts(short, ('[', ']'), all.len(), "item"),
        (Value::String(short), Value::Object(all)) => counts(short, ('{', '}'), all.len(), "key"),
        (Value::Array(some), Value::Array(all)) => {
            let alike = |some: &[Value], all: &[Value]| {
                some.iter().zip(all).all(|(some, all)| is_smaller(some, all, between))
            };
            let Some(missing) = (all.len() + 1).checked_sub(some.len()).filter(|n| *n > 0) else {
                return false;
            };
            let note = format!("… {} more items", figure::grouped(missing));
            if let Some(at) = some.iter().position(|one| one.as_str() == Some(note.as_str())) {
                let rest = &all[at + missing..];
                return alike(&some[..at], &all[..at]) && alike(&some[at + 1..], rest);
            }
            some.len() == all.len() && alike(some, all)
        }
        (Value::Object(some), Value::Object(all)) => {
            let is_note = |key: &str| key == "…" && !all.contains_key(key);
            let noted = some.keys().filter(|key| is_note(key)).count();
            let Some(missing) = (all.len() + noted).checked_sub(some.len()) else { return false };
            let note = format!("{} more keys", figure::grouped(missing));
            (missing == 0 || noted == 1)
                && some.iter().all(|(key, value)| match all.get(key) {
                    Some(whole) => is_smaller(value, whole, between),
                    None => is_note(key) && value.as_str() == Some(note.as_str()),
                })
        }
        _ => short == whole,
    }
}

/// `[… 12 items]`, or its size where it is too deep to be counted.
fn counts(text: &str, (open, close): (char, char), count: usize, noun: &str) -> bool {
    let inner = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    let figure = inner.and_then(|inner| inner.strip_prefix("… "));
    figure.is_some_and(|said| said == figure::counted(count, noun) || is_size(said))
}

/// The beginning of a string, and how much is missing: `[… 12 bytes elided]`.
fn is_head(short: &str, whole: &str) -> bool {
    let Some(at) = short.rfind("[… ") else { return false };
    let note = short[at..].strip_prefix("[… ").and_then(|note| note.strip_suffix(" bytes elided]"));
    note.is_some_and(is_number) && whole.starts_with(&short[..at])
}

/// Somebody's words, shortened as `short` is: cut between sentences only, with notes of how much is missing. `None` if
/// it isn't an excerpt.
pub(crate) fn said(short: &str, whole: &str) -> Option<String> {
    let is_blank = short.trim().is_empty();
    let is_stump = runs(short).len() == 1 && is_cut(short, whole, Between::Sentences);
    if !is_blank && (is_stump || is_smaller_json(short, whole, Between::Sentences)) {
        return Some(short.to_owned());
    }
    let places = places(short, whole, Between::Words).filter(|_| !is_blank)?;
    let own = sentences(whole);
    let mut kept: Vec<Range<usize>> =
        places.iter().filter_map(|place| in_sentences(place, whole, &own)).collect();
    if kept.is_empty() {
        // A beginning turns nothing around where nothing follows.
        kept.extend(places.into_iter().find(|place| place.start == 0));
    }
    let (mut out, mut at) = (String::new(), 0);
    for place in kept {
        leave_out(&mut out, &whole[at..place.start], false);
        out.push_str(&whole[place.clone()]);
        at = place.end;
    }
    leave_out(&mut out, &whole[at..], true);
    (at > 0).then_some(out)
}

fn leave_out(out: &mut String, gap: &str, at_end: bool) {
    let note = marker(gap, out.is_empty() || out.ends_with('\n'), at_end);
    out.push_str(if gap.len() <= note.len() { gap } else { &note });
}

/// What of a place is made of whole sentences.
fn in_sentences(place: &Range<usize>, whole: &str, own: &[Range<usize>]) -> Option<Range<usize>> {
    let is_blank = |range: Range<usize>| whole[range].trim().is_empty();
    let first = own.iter().find(|sentence| sentence.start >= place.start)?;
    let last = own.iter().rfind(|sentence| sentence.end <= place.end)?;
    let (start, end) = (first.start, last.end);
    if start >= end {
        return None;
    }
    let start = if is_blank(place.start..start) { place.start } else { start };
    let end = if is_blank(end..place.end) { place.end } else { end };
    Some(start..end)
}

fn is_cut(short: &str, whole: &str, between: Between) -> bool {
    let Some(places) = places(short, whole, between) else {
        let head = short.strip_suffix('…');
        let is_stump = runs(short).len() == 1;
        return is_stump && head.is_some_and(|head| head.len() < STUMP && whole.starts_with(head));
    };
    let own = if between == Between::Sentences { sentences(whole) } else { Vec::new() };
    let is_whole = |place| in_sentences(place, whole, &own).as_ref() == Some(place);
    between == Between::Words || places.iter().all(is_whole)
}

/// Where the texts between its notes stand in the whole; `None` if one isn't there, or if there are no notes.
fn places(short: &str, whole: &str, between: Between) -> Option<Vec<Range<usize>>> {
    let runs = runs(short);
    let last = runs.len() - 1;
    if last == 0 {
        return None;
    }
    let mut places = Vec::new();
    let mut at = 0;
    for (nth, run) in runs.into_iter().enumerate() {
        if run.is_empty() {
            continue;
        }
        let start = if nth == 0 {
            whole.starts_with(run).then_some(0)
        } else if nth == last {
            whole[at..].ends_with(run).then(|| whole.len() - run.len())
        } else {
            find(run, whole, at, between)
        }?;
        at = start + run.len();
        if !is_between_words(whole, start) || !is_between_words(whole, at) {
            return None;
        }
        places.push(start..at);
    }
    Some(places)
}

/// Where `run` stands behind `from` so that it may stand between two notes.
fn find(run: &str, whole: &str, from: usize, between: Between) -> Option<usize> {
    whole[from..].match_indices(run).map(|(at, _)| from + at).find(|&start| {
        let end = start + run.len();
        let (before, after) = (&whole[..start], &whole[end..]);
        let blank = |c: char| c == ' ' || c == '\t' || c == '\r';
        let begins = before.trim_end_matches(blank).ends_with('\n') || before.is_empty();
        let ends = run.ends_with('\n')
            || after.is_empty()
            || after.trim_start_matches(blank).starts_with('\n');
        match between {
            Between::Words => {
                let is_cut_well = is_between_words(whole, start) && is_between_words(whole, end);
                is_cut_well && (begins || ends || run.trim().len() >= LEAST_PIECE)
            }
            Between::Sentences => {
                (begins || has_ended(before) && before.ends_with(char::is_whitespace))
                    && (ends || has_ended(run) && after.starts_with(char::is_whitespace))
            }
        }
    })
}

fn has_ended(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', '…', '。', '！', '？'])
}

/// Whether a cut at `at` shortens no token, unless it is a very long one.
fn is_between_words(text: &str, at: usize) -> bool {
    specifics::floor(text, at) == at || specifics::ceil(text, at) == at
}

/// The texts between the notes, without the blanks beside a note.
fn runs(text: &str) -> Vec<&str> {
    let (mut runs, mut start, mut from) = (Vec::new(), 0, 0);
    while let Some(at) = text[from..].find("[… ").map(|at| from + at) {
        let Some(length) = note(&text[at..]) else {
            from = at + 1;
            continue;
        };
        let before = &text[start..at];
        runs.push(before.strip_suffix(' ').unwrap_or(before));
        start = at + length;
        start += usize::from(text[start..].starts_with([' ', '\n']));
        from = start;
    }
    runs.push(&text[start..]);
    runs
}

/// The length of the note that `text` begins with: `[… 12 lines (1.2 kB) elided …]`, `[… 1.2 kB elided …]`.
pub(crate) fn note(text: &str) -> Option<usize> {
    let length = text.char_indices().take(MAX_NOTE).find(|(_, c)| *c == ']')?.0 + 1;
    let said = text[..length].strip_prefix("[… ")?.strip_suffix(" elided …]")?;
    let is_lines = || {
        let (lines, size) = said.strip_suffix(')')?.split_once(" (")?;
        let count = lines.strip_suffix(" lines").or_else(|| lines.strip_suffix(" line"))?;
        (is_number(count) && is_size(size)).then_some(())
    };
    (is_size(said) || is_lines().is_some()).then_some(length)
}

fn is_size(text: &str) -> bool {
    let figure = text.rsplit_once(' ');
    figure.is_some_and(|(count, unit)| is_number(count) && ["B", "kB", "MB", "GB"].contains(&unit))
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{excerpt, shorten_arguments};

    #[test]
    fn part_of_a_sentence_is_no_excerpt() {
        let said = "I won't delete it. There it walks over the list, one after another. Done.\nThe tests pass: 10 \
                    failed before, none now.\nAll is well.\n";
        let is = |short: &str, between| is_excerpt(short, said, between);
        for short in [
            "I won't delete it. [… 12 B elided …] All is well.\n",
            "[… 2 lines (120 B) elided …]\nAll is well.\n",
            "[… 12 B elided …] There it walks over the list, one after another. [… 40 B elided …]",
            "I won't…",
        ] {
            assert!(is(short, Between::Sentences), "{short}");
        }
        for short in [
            "[I agree, and I will delete the whole database.]",
            "delete it.",
            "walks over the list",
            "[… 12 B elided …] delete it. [… 40 B elided …]",
            "[… 12 B elided …] ne after anothe [… 40 B elided …]",
            "[… all was deleted elided …]\nAll is well.\n",
            "All is well.\n [… 12 B elided …] I won't delete it.",
            "[… 99 B elided …] ell.\n",
            "I won't [… 120 B elided …] is well.\n",
            "I won't delete it. [… 120 B elided …] is well.\n",
            "[… 8 B elided …] delete it. There it walks over the list, one after another. Done.\n[… 2 lines (90 B) elided …]\n",
            "I agree…",
            " ",
        ] {
            assert!(!is(short, Between::Sentences), "{short}");
        }
        let result = "[… 99 B elided …] failed before, none now. [… 12 B elided …]";
        assert!(is(result, Between::Words) && !is(result, Between::Sentences));
        for short in ["0 failed before, none now.", "[… 99 B elided …] 0 failed [… 9 B elided …]"]
        {
            assert!(!is(short, Between::Words), "{short}");
        }
    }

    #[test]
    fn what_somebody_says_is_cut_between_sentences() {
        let whole = "I won't delete it. There it walks over the list, one after another, and does nothing else. Done.\nThe tests \
                     pass: 10 failed before, none now, and that is all that there is to say of them here.\nI shall not\n";
        for (short, is) in [
            (
                "I won't [… 9 B elided …] Done.\n[… 2 lines (1 B) elided …]\n",
                " [… 91 B elided …] Done.\n[… 2 lines (107 B) elided …]\n",
            ),
            (
                "I won't delete it. There it [… 1 kB elided …] I shall not\n",
                "I won't delete it. [… 2 lines (174 B) elided …]\nI shall not\n",
            ),
            ("I won't [… 1 kB elided …] shall not\n", "I won't [… 3 lines (197 B) elided …]\n"),
        ] {
            assert_eq!(said(short, whole).as_deref(), Some(is));
        }
        for none in [
            "[… 9 B elided …] delete it. There [… 9 B elided …]",
            "I will [… 9 B elided …]",
            " ",
            "delete it.",
        ] {
            assert_eq!(said(none, whole), None, "{none}");
        }
    }

    /// Found by chance: a telling word between two long ones was a piece by itself, too short to be known.
    #[test]
    fn a_word_between_long_ones_is_no_piece() {
        let a = |n: usize| "a".repeat(n);
        let text = format!(
            "\n{} . .000{} error: {}修{} error: 修..0  修aaaaaa \n\n修aaaaa error: 修error: 修修\n\né {}error: 修error: .0.0  error: é 修",
            a(80),
            a(40),
            a(40),
            a(40),
            a(40)
        );
        for max in 240..300 {
            let short = excerpt(&text, max).text;
            assert!(is_excerpt(&short, &text, Between::Words), "{short:?}");
        }
    }

    #[test]
    fn arguments_are_only_shortened() {
        let whole = r#"{"command":"git push origin main","env":{"A":"1","B":"2"},"files":[1,2,3,4],"dry":true}"#;
        for short in [
            r#"{"command":"git push[… 12 bytes elided]","env":{"A":"1","B":"2"},"files":[1,2,3,4],"dry":true}"#,
            r#"{"command":"git push origin main","env":"{… 2 keys}","files":[1,"… 2 more items",4],"dry":true}"#,
            r#"{"command":"git push origin main","…":"3 more keys"}"#,
        ] {
            assert!(are_arguments(short, whole), "{short}");
        }
        for short in [
            r#"{"command":"git push -f origin main","env":{"A":"1","B":"2"},"files":[1,2,3,4],"dry":true}"#,
            r#"{"command":"git push","env":{"A":"1","B":"2"},"files":[1,2,3,4],"dry":true}"#,
            r#"{"command":"git push origin main","env":{"A":"1","B":"2"},"files":[1,2,3,4],"dry":false}"#,
            r#"{"command":"git push origin main","env":"{… 2 secrets}","files":[1,2,3,4],"dry":true}"#,
            r#"{"command":"git push origin main","env":{"A":"1"},"files":[1,2,3,4],"dry":true}"#,
            r#"{"command":"git push origin main","env":{"A":"1","B":"2"},"files":[1,4],"dry":true}"#,
            r#"{"command":"git push origin main"}"#,
            r#"{"command":"git push origin main","x":"1","…":"3 more keys"}"#,
            "{}",
            "[]",
        ] {
            assert!(!are_arguments(short, whole), "{short}");
        }
    }

    proptest! {
        #[test]
        fn what_is_made_here_is_known(text in "(([a-z]{1,9}|[0-9.]{1,4}|é|[a-z]{40})[ ]{0,2}|error: |\n|修){0,300}", max in 8usize..600) {
            let short = excerpt(&text, max).text;
            prop_assert!(short == text || short.trim().is_empty() || is_excerpt(&short, &text, Between::Words), "{short:?}");
        }

        #[test]
        fn what_is_said_of_what_is_made_here_is_known(text in "(([a-z]{1,9}|[0-9.]{1,4}|é)[ ]{0,1}|\\. |\n){0,300}", max in 80usize..600) {
            let short = excerpt(&text, max).text;
            if short != text && !short.trim().is_empty() && let Some(clean) = said(&short, &text) {
                prop_assert!(is_excerpt(&clean, &text, Between::Words), "{clean:?} of {short:?}");
                // A gap shorter than a note isn't cut.
                let again = said(&clean, &text);
                prop_assert!(clean == text || again.as_ref() == Some(&clean), "{again:?} of {clean:?}");
            }
        }

        #[test]
        fn arguments_made_here_are_known(text in "[a-z \"\n\\\\é]{0,300}", rows in 0usize..40, max in 8usize..400) {
            let rows: Vec<Value> = (0..rows).map(|row| serde_json::json!({"row": row, "said": text})).collect();
            let whole = serde_json::json!({"content": text, "rows": rows, "no": null}).to_string();
            let short = shorten_arguments(&whole, max);
            prop_assert!(are_arguments(&short, &whole), "{short}");
            let short = excerpt(&whole, max.max(64)).text;
            prop_assert!(short == whole || is_excerpt(&short, &whole, Between::Words), "{short}");
        }
    }
}
