//! Which entries of one transcript are which of another.
//!
//! Three times the same step, the longest run in which positions rise on both sides, found by patience
//! in n log n: over equal content, then between those over equal calls, and over shared lines. Diff
//! libraries start from Myers, which is quadratic where nothing is shared, or stop at a deadline, so
//! that the answer would depend on the machine.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use epitome::Transcript;
use epitome::transcript::{ContentId, Entry, Role};

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

/// Equal ones that are tried for each other; a transcript of nothing but "ok" isn't worth more.
const MOST_TWINS: usize = 32;

/// Aligns two transcripts: equal content first, then, between those, what answers the same call or
/// shares half of its lines.
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

/// A longest common subsequence, as pairs of positions.
fn common(a: &[ContentId], b: &[ContentId]) -> Vec<(usize, usize)> {
    let mut places = Places::default();
    for (at, id) in b.iter().enumerate() {
        places.note(id, at);
    }
    // With `a` on the right, of its twins the newest stays.
    let run = rising(a.iter().map(|id| places.of(id).to_vec()));
    run.into_iter().map(|(at_b, at_a)| (at_a, at_b)).collect()
}

/// Where things are, each in a few places at most.
struct Places<K>(HashMap<K, Vec<usize>>);

impl<K> Default for Places<K> {
    fn default() -> Self {
        Places(HashMap::new())
    }
}

impl<K: Eq + Hash + Clone> Places<K> {
    fn note(&mut self, what: &K, at: usize) {
        match self.0.get_mut(what) {
            Some(twins) if twins.len() >= MOST_TWINS => {}
            Some(twins) => twins.push(at),
            None => {
                self.0.insert(what.clone(), vec![at]);
            }
        }
    }

    fn of(&self, what: &K) -> &[usize] {
        self.0.get(what).map_or(&[], Vec::as_slice)
    }

    /// Whether there may be more places than are known.
    fn is_common(&self, what: &K) -> bool {
        self.of(what).len() >= MOST_TWINS
    }
}

/// The longest run of pairs whose positions rise on both sides: `found` holds, for each position on the
/// right, the positions on the left that it may be paired with, in order.
fn rising(found: impl Iterator<Item = Vec<usize>>) -> Vec<(usize, usize)> {
    // Each pair with the one before it on its run; the last pair of the best run of each length.
    let mut pairs: Vec<(usize, usize, Option<usize>)> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    for (right, lefts) in found.enumerate() {
        // Backwards, so that one position isn't used twice on a run.
        for left in lefts.into_iter().rev() {
            let length = ends.partition_point(|end| pairs[*end].0 < left);
            let before = length.checked_sub(1).map(|shorter| ends[shorter]);
            pairs.push((left, right, before));
            match ends.get_mut(length) {
                Some(end) => *end = pairs.len() - 1,
                None => ends.push(pairs.len() - 1),
            }
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        let (left, right, before) = pairs[at];
        run.push((left, right));
        next = before;
    }
    run.reverse();
    run
}

/// Rows for what lies between two kept entries.
fn gap(
    a: &Transcript,
    b: &Transcript,
    in_a: Range<usize>,
    in_b: Range<usize>,
    rows: &mut Vec<Row>,
) {
    let (mut next_a, mut next_b) = (in_a.start, in_b.start);
    for (at_a, at_b) in edits(a, b, in_a.clone(), in_b.clone()) {
        rows.extend((next_b..at_b).map(Row::New));
        rows.extend((next_a..at_a).map(Row::Gone));
        rows.push(Row::Edited(at_a, at_b));
        (next_a, next_b) = (at_a + 1, at_b + 1);
    }
    rows.extend((next_b..in_b.end).map(Row::New));
    rows.extend((next_a..in_a.end).map(Row::Gone));
}

/// What became of what: the same calls or results, or half of the lines.
fn edits(
    a: &Transcript,
    b: &Transcript,
    in_a: Range<usize>,
    in_b: Range<usize>,
) -> Vec<(usize, usize)> {
    if in_a.is_empty() || in_b.is_empty() {
        return Vec::new();
    }
    let mut ids: Places<(Role, String)> = Places::default();
    let mut lines: Places<(Role, u64)> = Places::default();
    for at in in_a {
        let entry = a.entry(at);
        for id in call_ids(&entry) {
            ids.note(&(entry.role(), id), at);
        }
        for line in line_hashes(&entry) {
            lines.note(&(entry.role(), line), at);
        }
    }
    let found = in_b.clone().map(|at| {
        let entry = b.entry(at);
        let mut of_ids = call_ids(&entry).peekable();
        if of_ids.peek().is_none() {
            return alike(&entry, &lines);
        }
        let same = of_ids.flat_map(|id| ids.of(&(entry.role(), id)).to_vec());
        let mut same: Vec<usize> = same.collect();
        same.sort_unstable();
        same.dedup();
        same
    });
    rising(found).into_iter().map(|(left, right)| (left, in_b.start + right)).collect()
}

/// Where most of an entry's lines stand, if half of them stand in one place.
fn alike(entry: &Entry<'_>, lines: &Places<(Role, u64)>) -> Vec<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut telling = 0;
    for line in line_hashes(entry) {
        let line = (entry.role(), line);
        // What stands everywhere tells nothing.
        if !lines.is_common(&line) {
            telling += 1;
            for at in lines.of(&line) {
                *votes.entry(*at).or_insert(0) += 1;
            }
        }
    }
    let most = votes.values().max().copied().unwrap_or(0);
    if most == 0 || most * 2 < telling {
        return Vec::new();
    }
    let mut places: Vec<usize> =
        votes.into_iter().filter(|(_, votes)| *votes == most).map(|(at, _)| at).collect();
    places.sort_unstable();
    places.truncate(MOST_TWINS);
    places
}

fn call_ids<'a>(entry: &Entry<'a>) -> impl Iterator<Item = String> + use<'a> {
    entry.parts().map(|part| part.id().into_owned()).filter(|id| !id.is_empty())
}

/// Hashes of the lines that say something. Where two collide, a row may be called edited.
fn line_hashes(entry: &Entry<'_>) -> HashSet<u64> {
    let texts: Vec<_> = entry.parts().map(|part| part.text()).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    let hash = |line: &str| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    };
    lines.filter(|line| !line.is_empty()).map(hash).collect()
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

    #[test]
    fn edits_keep_their_order() {
        let call = |id: &str, text: &str| serde_json::json!({"role": "tool", "tool_call_id": id, "content": text});
        let of = |messages: &[serde_json::Value]| {
            wire::detect(serde_json::to_string(messages).expect("JSON"))
                .expect("messages")
                .transcript
        };
        let a = of(&[call("1", "long one"), call("2", "long two"), call("3", "long three")]);
        let b = of(&[call("3", "three"), call("1", "one"), call("2", "two")]);
        assert_eq!(
            align(&a, &b),
            [Row::New(0), Row::Edited(0, 1), Row::Edited(1, 2), Row::Gone(2)],
            "the longest run of them"
        );
    }

    /// Ten times the length takes at most thirteen times as long by the law; more here, because caches
    /// are shared, where comparing all with all would take a hundred times.
    #[test]
    fn nothing_in_common_is_seen_fast() {
        let time = |count: usize| {
            let texts = |side: &str| -> Vec<String> {
                (0..count).map(|at| format!("{side} {at}\nand {side} again {at}\ndone")).collect()
            };
            let of = |texts: &[String]| {
                transcript(&texts.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let (a, b) = (of(&texts("left")), of(&texts("right")));
            let timed = (0..3).map(|_| {
                let begun = cpu_time::ThreadTime::now();
                assert_eq!(align(&a, &b).len(), 2 * count);
                begun.elapsed()
            });
            timed.min().expect("three").as_secs_f64()
        };
        let (short, long) = (time(2000), time(20_000));
        assert!(long < short * 23.0, "{short} s, then {long} s");
    }
}
