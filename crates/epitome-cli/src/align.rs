//! Which entries of one transcript are which of another.

use std::collections::{HashMap, HashSet};

use epitome::Transcript;
use epitome::transcript::{ContentId, Entry};

/// A row of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The same content in both.
    Kept(usize, usize),
    /// Of the same call or text, but changed.
    Edited(usize, usize),
    /// Only in the first.
    Gone(usize),
    /// Only in the second.
    New(usize),
}

/// Equal entries that are tried for each other; a transcript of nothing but "ok" isn't worth more.
const MOST_TWINS: usize = 32;

/// Texts that are compared for each unmatched entry.
const MOST_LOOKS: usize = 64;

/// Aligns two transcripts: equal content first (the longest common run of ids), then, between those,
/// what answers the same call or shares most of its lines.
pub(crate) fn align(a: &Transcript, b: &Transcript) -> Vec<Row> {
    let ids = |of: &Transcript| of.entries().map(|entry| entry.content_id()).collect::<Vec<_>>();
    let mut rows = Vec::with_capacity(a.len().max(b.len()));
    let (mut from_a, mut from_b) = (0, 0);
    let kept = common(&ids(a), &ids(b));
    for (at_a, at_b) in
        kept.into_iter().map(Some).chain([None]).map(|pair| pair.unwrap_or((a.len(), b.len())))
    {
        gap(a, b, from_a..at_a, from_b..at_b, &mut rows);
        if at_a < a.len() {
            rows.push(Row::Kept(at_a, at_b));
        }
        (from_a, from_b) = (at_a + 1, at_b + 1);
    }
    rows
}

/// A longest common subsequence, as pairs of positions: the longest increasing run of matches, found
/// by patience, since most ids occur once.
fn common(a: &[ContentId], b: &[ContentId]) -> Vec<(usize, usize)> {
    let mut places: HashMap<ContentId, Vec<usize>> = HashMap::new();
    for (at, id) in b.iter().enumerate() {
        let twins = places.entry(*id).or_default();
        if twins.len() < MOST_TWINS {
            twins.push(at);
        }
    }
    // Each match with the one before it on its run; the last match of the best run of each length.
    let mut matches: Vec<(usize, usize, Option<usize>)> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    for (at_a, id) in a.iter().enumerate() {
        // Backwards, so that one entry isn't used twice on a run.
        for at_b in places.get(id).into_iter().flatten().rev().copied() {
            let length = ends.partition_point(|end| matches[*end].1 < at_b);
            let before = length.checked_sub(1).map(|shorter| ends[shorter]);
            matches.push((at_a, at_b, before));
            match ends.get_mut(length) {
                Some(end) => *end = matches.len() - 1,
                None => ends.push(matches.len() - 1),
            }
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        let (at_a, at_b, before) = matches[at];
        run.push((at_a, at_b));
        next = before;
    }
    run.reverse();
    run
}

fn gap(
    a: &Transcript,
    b: &Transcript,
    in_a: std::ops::Range<usize>,
    in_b: std::ops::Range<usize>,
    rows: &mut Vec<Row>,
) {
    let mut next = in_a.start;
    for at_b in in_b {
        let entry = b.entry(at_b);
        let lines = entry_lines(&entry);
        let candidates = (next..in_a.end).map(|at| a.entry(at));
        let found = candidates
            .enumerate()
            .find(|(looks, old)| is_edit(old, &entry, (*looks < MOST_LOOKS).then_some(&lines)))
            .map(|(_, old)| old.index);
        match found {
            Some(at_a) => {
                rows.extend((next..at_a).map(Row::Gone));
                rows.push(Row::Edited(at_a, at_b));
                next = at_a + 1;
            }
            None => rows.push(Row::New(at_b)),
        }
    }
    rows.extend((next..in_a.end).map(Row::Gone));
}

/// Whether `new` is what became of `old`: the same calls or results, or half of its lines.
fn is_edit(old: &Entry<'_>, new: &Entry<'_>, lines: Option<&HashSet<String>>) -> bool {
    if old.role() != new.role() {
        return false;
    }
    let ids = |entry: &Entry<'_>| -> HashSet<String> {
        entry.parts().map(|part| part.id().into_owned()).filter(|id| !id.is_empty()).collect()
    };
    let new_ids = ids(new);
    if !new_ids.is_empty() {
        return !new_ids.is_disjoint(&ids(old));
    }
    lines.is_some_and(|lines| {
        let old = entry_lines(old);
        !lines.is_empty() && lines.intersection(&old).count() * 2 >= lines.len()
    })
}

fn entry_lines(entry: &Entry<'_>) -> HashSet<String> {
    let texts: Vec<_> = entry.parts().map(|part| part.text()).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use epitome::wire;

    use super::*;

    fn transcript(texts: &[&str]) -> Transcript {
        let messages: Vec<_> =
            texts.iter().map(|text| serde_json::json!({"role": "user", "content": text})).collect();
        let body = serde_json::to_string(&messages).expect("JSON");
        wire::detect(body).expect("messages").transcript
    }

    #[test]
    fn rows_cover_both_sides_in_order() {
        let a = transcript(&["x", "one\ntwo\nthree", "gone", "y", "ok", "ok"]);
        let b = transcript(&["x", "one\ntwo\n[…]", "new", "y", "ok"]);
        assert_eq!(
            align(&a, &b),
            [
                Row::Kept(0, 0),
                Row::Edited(1, 1),
                Row::New(2),
                Row::Gone(2),
                Row::Kept(3, 3),
                // Of twins the newest is the one that stays.
                Row::Gone(4),
                Row::Kept(5, 4),
            ]
        );
    }

    #[test]
    fn nothing_in_common_is_all_gone_and_new() {
        let rows = align(&transcript(&["a"]), &transcript(&["b", "c"]));
        assert_eq!(rows, [Row::New(0), Row::New(1), Row::Gone(0)]);
        assert_eq!(align(&transcript(&[]), &transcript(&[])), []);
    }

    #[test]
    fn the_common_run_is_the_longest() {
        let ids = |text: &str| {
            text.chars().map(|c| ContentId::of_text(&c.to_string())).collect::<Vec<_>>()
        };
        let run = |a: &str, b: &str| common(&ids(a), &ids(b)).len();
        assert_eq!(run("abcdef", "xbdyf"), 3);
        assert_eq!(run("aaaa", "aa"), 2);
        assert_eq!(run("abc", "cba"), 1);
    }
}
