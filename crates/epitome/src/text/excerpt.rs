//! A long text in fewer bytes: its beginning, its end and the lines between that tell something.
//!
//! Omissions are noted in their place: `[… 1,234 lines (56.7 kB) elided …]`. Everything else is copied byte for byte
//! and in order. A JSON array or object stays JSON: keys, first and last elements, long strings cut, `"… 97 more
//! items"` for the rest. A text that fits is returned as it is, so an excerpt of an excerpt is the same excerpt.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use memchr::memmem;

use super::kinds::words;
use super::odd::odd;
use super::outline::{Cutting, Limits, Outline, SMALL, ValueKind};
use super::salience::{Tell, tell};
use super::words::is_stop_word;
use super::{cut, figure};
use crate::specifics;

/// A text that was made to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The text, at most as long as was asked for.
    pub text: Cow<'a, str>,
    /// What was done to it.
    pub form: ExcerptForm,
}

/// What an excerpt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExcerptForm {
    /// The whole text: it fitted.
    Whole,
    /// Head, tail and telling lines.
    Lines,
    /// JSON of the same shape with less in it.
    Json,
    /// Only its beginning: there was no room for more.
    Stump,
}

/// `text` in at most `max_bytes` bytes.
///
/// The result is the text itself if that fits, and shorter than the text otherwise.
///
/// ```
/// use epitome::text::excerpt;
///
/// let log = "compiling\n".repeat(500) + "error: no such thing\n" + &"compiling\n".repeat(500);
/// let short = excerpt(&log, 400).text;
/// assert!(short.len() <= 400);
/// assert!(short.contains("lines (") && short.contains("\nerror: no such thing\n"));
/// ```
pub fn excerpt(text: &str, max_bytes: usize) -> Excerpt<'_> {
    excerpt_about(text, "", max_bytes)
}

/// The same, with the lines that say what few lines do and a question asks about.
///
/// ```
/// use epitome::text::excerpt::excerpt_about;
///
/// let page = "All of it is well.\n".repeat(500);
/// let page = format!("{page}## Parental leave\nSixteen weeks, paid in full.\n{page}");
/// let short = excerpt_about(&page, "How long is parental leave?", 400).text;
/// assert!(short.contains("## Parental leave\nSixteen weeks, paid in full.\n"));
/// ```
pub fn excerpt_about<'t>(text: &'t str, question: &str, max_bytes: usize) -> Excerpt<'t> {
    if text.len() <= max_bytes {
        return Excerpt { text: Cow::Borrowed(text), form: ExcerptForm::Whole };
    }
    excerpt_json(text, question, max_bytes)
        .unwrap_or_else(|| excerpt_text(text, question, max_bytes))
}

/// Rows of an array, members of an object and levels kept, from generous to the bare skeleton.
type Shape = (usize, usize, usize, usize);
const SHAPES: [Shape; 13] = [
    (96, 32, 400, 32),
    (48, 16, 200, 32),
    (24, 8, 100, 32),
    (12, 4, 80, 16),
    (8, 3, 64, 12),
    (5, 2, 64, 8),
    (3, 1, 64, 6),
    (2, 1, 64, 4),
    (1, 1, 48, 3),
    (1, 0, 48, 2),
    (0, 0, 32, 1),
    (0, 0, 8, 1),
    (0, 0, 0, 1),
];

/// What odd elements leave of the rest.
const LEAST_BESIDE_ODD: Shape = SHAPES[6];

/// Shapes that are worth having with readable strings before strings are cut to stumps.
const ROOMY: usize = 7;

fn excerpt_json<'t>(text: &'t str, question: &str, max_bytes: usize) -> Option<Excerpt<'t>> {
    let mut outline = Outline::read(text)?;
    debug_assert!(matches!(outline.kind(), ValueKind::Array | ValueKind::Object));
    let tries = SHAPES[..ROOMY].iter().flat_map(|shape| [(shape, 160), (shape, 64)]);
    let tries = tries.chain(SHAPES[5..].iter().flat_map(|shape| [(shape, 40), (shape, 16)]));
    // Strings are cut the cheap way until their length is settled.
    let of = |(first, last, members, depth): Shape, text, odd| Limits {
        text,
        first,
        last,
        odd,
        members,
        depth,
        small: SMALL,
        cutting: Cutting::Head,
    };
    // What says otherwise than the rest may take half of the room.
    let all_odd = outline.find_odd();
    let mut fewer = successors(Some(all_odd), |odd| (*odd > 0).then_some(odd / 2));
    let fits =
        |odd: &usize| outline.write(&of(LEAST_BESIDE_ODD, 64, *odd), max_bytes / 2).is_some();
    let odd = fewer.find(fits).unwrap_or(0);
    let mut shapes = tries.map(|(shape, text)| of(*shape, text, odd));
    let limits = shapes.find(|limits| outline.write(limits, max_bytes).is_some())?;
    let limits = with_more_members(&outline, limits, max_bytes);
    let (limits, plain) = widen(&outline, with_more_rows(&outline, limits, max_bytes), max_bytes)?;
    let text = limits.text;
    // Escapes may lie denser between than at the start.
    let telling =
        [text + 24, text, text * 7 / 8, text * 3 / 4, text / 2].into_iter().find_map(|text| {
            outline
                .write(&Limits { text, cutting: Cutting::Telling(question), ..limits }, max_bytes)
        });
    Some(Excerpt { text: Cow::Owned(telling.unwrap_or(plain)), form: ExcerptForm::Json })
}

/// The same shape with as many rows as fit, three at the start for each at the end.
fn with_more_rows<'q>(outline: &Outline<'_>, limits: Limits<'q>, max_bytes: usize) -> Limits<'q> {
    let of = |first: usize| Limits { first, last: limits.last.max(first / 3), ..limits };
    let fits = |first: usize| outline.write(&of(first), max_bytes).is_some();
    of(widest(limits.first, max_bytes + 1, fits))
}

/// The same shape with as many members as fit: the count of an object's keys alone tells nothing.
fn with_more_members<'q>(
    outline: &Outline<'_>,
    limits: Limits<'q>,
    max_bytes: usize,
) -> Limits<'q> {
    const MOST: usize = 64;
    let of = |members| Limits { members, depth: limits.depth.max(1), ..limits };
    let fits = |members: &usize| outline.write(&of(*members), max_bytes).is_some();
    (limits.members + 1..=MOST).take_while(fits).last().map_or(limits, of)
}

/// The same shape with small containers spelled out and strings left as long as fits, in this
/// order; nothing if not even the shape fits.
pub(super) fn widen<'q>(
    outline: &Outline<'_>,
    limits: Limits<'q>,
    max_bytes: usize,
) -> Option<(Limits<'q>, String)> {
    let room = max_bytes + 1;
    let small = widest(limits.small, room.min(1_000), |small| {
        outline.write(&Limits { small, ..limits }, max_bytes).is_some()
    });
    let limits = Limits { small, ..limits };
    let text = widest(limits.text, room, |text| {
        outline.write(&Limits { text, ..limits }, max_bytes).is_some()
    });
    let limits = Limits { text, ..limits };
    Some((limits, outline.write(&limits, max_bytes)?))
}

/// The greatest number found that fits, if `fits` does. Not every number is tried: the last digit
/// of precision is not worth another pass.
fn widest(mut fits: usize, mut too_long: usize, does_fit: impl Fn(usize) -> bool) -> usize {
    while too_long.saturating_sub(fits) > 8 + fits / 16 {
        let number = fits.midpoint(too_long);
        if does_fit(number) {
            fits = number;
        } else {
            too_long = number;
        }
    }
    fits
}

/// Less room than this is not shared between head, telling lines and tail.
const MIN_SHARED: usize = 240;
/// The lines of a longer text aren't compared with each other.
const MOST_COMPARED: usize = 4 << 20;
/// Fewer bytes of a long line aren't taken by themselves.
pub(super) const LEAST_PIECE: usize = 8;

/// A run of the text that is kept or left out as one: a line with its end, or a piece of a very
/// long line.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
    kept: bool,
}

/// As [`excerpt`], for text that is not looked at as JSON.
pub(super) fn excerpt_text<'t>(text: &'t str, question: &str, max_bytes: usize) -> Excerpt<'t> {
    if text.len() <= max_bytes {
        return Excerpt { text: Cow::Borrowed(text), form: ExcerptForm::Whole };
    }
    if max_bytes < MIN_SHARED {
        return ends(text, max_bytes);
    }
    let mut choice = Choice::new(text, max_bytes);
    let telling = choice.telling(question);
    let share = if telling.is_empty() { 48 } else { 24 };
    choice.grow_head(max_bytes * share / 100);
    choice.grow_tail(max_bytes * share / 100);
    for at in telling {
        choice.keep(at, max_bytes * 9 / 10);
    }
    choice.grow_both();
    let written = choice.write();
    if written.len() > max_bytes {
        // Markers are bounded; this is for a bound that is wrong, not for a case that is known.
        return ends(text, max_bytes);
    }
    Excerpt { text: Cow::Owned(written), form: ExcerptForm::Lines }
}

/// Head and tail of a text that is longer than `max_bytes`, where there is hardly room for both.
fn ends(text: &str, max_bytes: usize) -> Excerpt<'_> {
    // 24 bytes of marker and at most 27 of digits.
    if max_bytes < 64 {
        let mark = if max_bytes >= 8 { "…" } else { "" };
        let head = cut::head(text, max_bytes - mark.len());
        let stump = format!("{}{mark}", &text[..specifics::floor(text, head.len())]);
        return Excerpt { text: Cow::Owned(stump), form: ExcerptForm::Stump };
    }
    let room = max_bytes - 48;
    let head = cut::head(text, room * 3 / 5).len();
    let head = text[..specifics::floor(text, head)].trim_end_matches(' ');
    let tail = text.len() - cut::tail(text, room - head.len()).len();
    let tail = text[specifics::ceil(text, tail)..].trim_start_matches(' ');
    let elided = figure::size(text.len() - head.len() - tail.len());
    let written = format!("{head} [… {elided} elided …] {tail}");
    debug_assert!(written.len() <= max_bytes, "{} > {max_bytes}", written.len());
    Excerpt { text: Cow::Owned(written), form: ExcerptForm::Lines }
}

/// Words of a question that are looked for, and how many pieces may have one.
const MOST_ASKED: usize = 16;
const MOST_HELD: usize = 4;

/// The words of a question that show its topic.
fn asked_words(question: &str) -> impl Iterator<Item = &str> {
    let words = question.split(|c: char| !c.is_alphanumeric() && !"-_./".contains(c));
    let words = words.map(|word| word.trim_matches(['-', '.', '/']));
    words.filter(|word| word.len() > 3 && !is_stop_word(&word.to_lowercase())).take(MOST_ASKED)
}

/// A word as a heading may have it.
fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Which pieces of a text are kept, and how many bytes that takes.
#[derive(Debug)]
struct Choice<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    max: usize,
    /// No marker of this text is longer.
    marker: usize,
    used: usize,
    /// Pieces before this one are kept.
    head: usize,
    /// Pieces from this one on are kept.
    tail: usize,
}

impl<'a> Choice<'a> {
    fn new(text: &'a str, max: usize) -> Self {
        let pieces = pieces(text, (max / 6).clamp(24, 400));
        let tail = pieces.len();
        // As many lines as there are, and room for the longest size: `999.9 kB` beside `1.0 MB`.
        let marker = marker(text, true, true).len() + 3;
        // Everything is one gap at first.
        Self { text, pieces, max, marker, used: marker, head: 0, tail }
    }

    /// The pieces that are asked about, those that tell something, most telling first, and those that say otherwise than most; of
    /// lines that differ only in digits, the first one.
    fn telling(&self, question: &str) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut found: Vec<(Tell, usize)> = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            let line = &self.text[piece.start..piece.end];
            let tell = tell(line);
            if tell > Tell::Nothing && seen.insert(likeness(line)) {
                found.push((tell, at));
            }
        }
        found.sort_by_key(|&(tell, at)| (std::cmp::Reverse(tell), at));
        let rows = self.pieces.iter().map(|piece| words(&self.text[piece.start..piece.end]));
        let odd = if self.text.len() > MOST_COMPARED {
            Vec::new()
        } else {
            odd(&rows.collect::<Vec<_>>())
        };
        let telling = found.into_iter().map(|(_, at)| at).chain(odd);
        self.asked(question).into_iter().chain(telling).collect()
    }

    /// The pieces with words of a question that few pieces have, most of them first; behind each what follows, since the words may
    /// stand in a heading.
    fn asked(&self, question: &str) -> Vec<usize> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for word in asked_words(question) {
            let forms = [word.to_lowercase(), capitalized(word), word.to_owned()];
            let forms: BTreeSet<&str> = forms.iter().map(String::as_str).collect();
            let places = forms.into_iter().flat_map(|form| {
                memmem::find_iter(self.text.as_bytes(), form)
                    .take(MOST_HELD + 1)
                    .collect::<Vec<_>>()
            });
            let pieces: BTreeSet<usize> = places
                .map(|place| self.pieces.partition_point(|piece| piece.end <= place))
                .collect();
            if pieces.len() <= MOST_HELD {
                let share = 1.0 / pieces.len() as f64;
                for at in pieces {
                    *scores.entry(at).or_default() += share;
                }
            }
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        let with_next = found.into_iter().flat_map(|(at, _)| [at, at + 1]);
        with_next.filter(|at| *at < self.pieces.len()).collect()
    }

    /// Keeps a piece if that stays within `limit`. Whether it is kept.
    fn keep(&mut self, at: usize, limit: usize) -> bool {
        let Piece { start, end, kept } = self.pieces[at];
        if kept {
            return true;
        }
        // A piece in the middle of a gap splits it, one at its edge doesn't, one that fills it closes it.
        let before = at > 0 && !self.pieces[at - 1].kept;
        let after = at + 1 < self.pieces.len() && !self.pieces[at + 1].kept;
        let gaps = usize::from(before) + usize::from(after);
        let used = self.used + (end - start) + self.marker * gaps - self.marker;
        if used > limit {
            return false;
        }
        self.used = used;
        self.pieces[at].kept = true;
        true
    }

    fn grow_head(&mut self, room: usize) -> bool {
        let (from, limit) = (self.head, (self.used + room).min(self.max));
        while self.head < self.tail && self.keep(self.head, limit) {
            self.head += 1;
        }
        self.head > from
    }

    fn grow_tail(&mut self, room: usize) -> bool {
        let (from, limit) = (self.tail, (self.used + room).min(self.max));
        while self.tail > self.head && self.keep(self.tail - 1, limit) {
            self.tail -= 1;
        }
        self.tail < from
    }

    /// Gives the rest of the room to both ends.
    fn grow_both(&mut self) {
        let rest = self.max.saturating_sub(self.used);
        self.grow_tail(rest / 2);
        while self.grow_head(self.max) || self.grow_tail(self.max) {}
    }

    fn write(&self) -> String {
        let mut out = String::with_capacity(self.max);
        let mut at = 0;
        while at < self.pieces.len() {
            let from = at;
            let kept = self.pieces[from].kept;
            while at < self.pieces.len() && self.pieces[at].kept == kept {
                at += 1;
            }
            let run = &self.text[self.pieces[from].start..self.pieces[at - 1].end];
            if kept {
                out.push_str(run);
                continue;
            }
            let whole_lines = out.is_empty() || out.ends_with('\n');
            let marker = marker(run, whole_lines, at == self.pieces.len());
            out.push_str(if run.len() <= marker.len() { run } else { &marker });
        }
        out
    }
}

/// The note that stands for `run`: behind a whole line, and at the end of the text.
pub(super) fn marker(run: &str, whole_lines: bool, at_end: bool) -> String {
    let size = figure::size(run.len());
    let lines = figure::lines(run);
    if whole_lines && (run.ends_with('\n') || at_end) {
        format!("[… {} ({size}) elided …]\n", figure::counted(lines, "line"))
    } else if lines > 1 && run.ends_with('\n') {
        format!(" [… {} ({size}) elided …]\n", figure::counted(lines, "line"))
    } else {
        format!(" [… {size} elided …] ")
    }
}

/// Lines with their ends; lines over `max` bytes in pieces that end at a space where there is one
/// near.
fn pieces(text: &str, max: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line_end = memchr::memchr(b'\n', &text.as_bytes()[start..])
            .map_or(text.len(), |at| start + at + 1);
        while line_end - start > max {
            let window = &text[start..cut::floor(text, start + max).max(start)];
            let space =
                memchr::memrchr(b' ', window.as_bytes()).filter(|at| at * 2 > max).map(|at| at + 1);
            let place = start + space.unwrap_or(window.len());
            // A token stays whole, and a run of marks longer than a piece can't be cut well, but has to be cut.
            let says =
                |floor| text.get(start..floor).is_some_and(|p| p.trim().len() >= LEAST_PIECE);
            let end = match specifics::floor(text, place) {
                floor if says(floor) => floor,
                _ => specifics::ceil(text, text.ceil_char_boundary((start + max).min(line_end)))
                    .min(line_end),
            };
            pieces.push(Piece { start, end, kept: false });
            start = end;
        }
        if line_end > start {
            pieces.push(Piece { start, end: line_end, kept: false });
            start = line_end;
        }
    }
    pieces
}

/// A hash that is the same for lines that differ only in their digits.
fn likeness(line: &str) -> u64 {
    line.bytes().filter(|b| !b.is_ascii_digit()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn log(lines: usize) -> String {
        (0..lines).fold(String::new(), |log, line| {
            log + &format!("   Compiling crate-{line} v0.{line}.0\n")
        })
    }

    #[test]
    fn telling_lines_survive_between_head_and_tail() {
        let text = format!(
            "$ cargo build\n{}error[E0308]: mismatched types\n  --> src/main.rs:12:5\n{}warning: unused\n{}done\n",
            log(200),
            log(200),
            log(50)
        );
        expect![[r"
            $ cargo build
               Compiling crate-0 v0.0.0
               Compiling crate-1 v0.1.0
               Compiling crate-2 v0.2.0
               Compiling crate-3 v0.3.0
               Compiling crate-4 v0.4.0
            [… 195 lines (6.0 kB) elided …]
            error[E0308]: mismatched types
              --> src/main.rs:12:5
            [… 200 lines (6.1 kB) elided …]
            warning: unused
            [… 46 lines (1.3 kB) elided …]
               Compiling crate-46 v0.46.0
               Compiling crate-47 v0.47.0
               Compiling crate-48 v0.48.0
               Compiling crate-49 v0.49.0
            done
        "]]
        .assert_eq(&excerpt(&text, 480).text);
    }

    #[test]
    fn a_single_long_line_keeps_its_ends() {
        let text = "word ".repeat(2_000);
        let short = excerpt(&text, 300);
        assert_eq!(short.form, ExcerptForm::Lines);
        assert!(short.text.starts_with("word word ") && short.text.ends_with("word "));
        assert!(short.text.contains("elided …]"), "{}", short.text);
        assert!(short.text.len() > 200);
    }

    #[test]
    fn json_stays_json_of_the_same_shape() {
        let rows: Vec<_> = (0..200)
            .map(|row| serde_json::json!({ "id": row, "name": format!("row {row}"), "note": "n".repeat(500) }))
            .collect();
        let text = serde_json::json!({ "count": 200, "rows": rows, "next": null }).to_string();
        let short = excerpt(&text, 700);
        assert_eq!(short.form, ExcerptForm::Json);
        let value: serde_json::Value =
            serde_json::from_str(&short.text).expect("an excerpt of JSON is JSON");
        assert_eq!(value["count"], 200);
        assert_eq!(value["rows"][0]["id"], 0);
        assert!(short.text.contains(" more items\""), "{}", short.text);
    }

    #[test]
    fn a_long_string_in_json_keeps_its_telling_lines() {
        let output = format!("{}error: it broke\n{}", log(300), log(300));
        let text = serde_json::json!({ "output": output, "exit_code": 1 }).to_string();
        let short = excerpt(&text, 900);
        assert_eq!(short.form, ExcerptForm::Json);
        assert!(
            short.text.contains("error: it broke") && short.text.contains("lines ("),
            "{}",
            short.text
        );
        assert!(short.text.len() > 700, "the room is used: {}", short.text.len());
    }

    #[test]
    fn the_one_record_that_is_otherwise_is_shown() {
        let record = |n: usize| {
            let state = if n == 777 { "frozen" } else { "active" };
            serde_json::json!({ "id": n, "owner": format!("u{}", n % 37), "state": state })
        };
        let records: Vec<_> = (0..2_000).map(record).collect();
        let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
        let answer = serde_json::json!({ "total": 2_000, "accounts": records }).to_string();
        for text in [lines.join("\n"), answer] {
            let short = excerpt(&text, 1_500).text;
            assert!(short.contains(r#"{"id":777,"owner":"u0","state":"frozen"}"#), "{short}");
            assert!(short.contains(r#""id":0,"#), "{short}");
        }
    }

    #[test]
    fn hardly_any_room_is_still_respected() {
        let text = "0123456789".repeat(100);
        for max in 0..300 {
            assert!(excerpt(&text, max).text.len() <= max, "{max}");
        }
        assert_eq!(excerpt("日本語日本語日本語日本語", 14).text, "日本語…");
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i32>().prop_map(Into::into),
            ".{0,40}".prop_map(Into::into),
            "[a-z\n ]{200,600}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 120, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Into::into),
                prop::collection::vec(("[a-zé]{1,8}", inner), 0..8)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_text_fits_and_stays_itself_when_asked_again(
            text in prop_oneof![any::<String>(), "(error: x|ok [0-9]{1,4}|é|\u{301}|\r\n|\n|[a-z ]{1,300}){0,60}"],
            max in 0_usize..900,
        ) {
            let short = excerpt(&text, max).text.into_owned();
            prop_assert!(short.len() <= max.min(text.len()));
            prop_assert_eq!(excerpt(&short, max).form, ExcerptForm::Whole);
            prop_assert_eq!(excerpt(&text, max).text, short);
        }

        #[test]
        fn any_json_fits_and_is_json_where_a_skeleton_fits(value in json(), max in 0_usize..900) {
            let text = value.to_string();
            let short = excerpt(&text, max);
            prop_assert!(short.text.len() <= max.min(text.len()));
            if matches!(short.form, ExcerptForm::Whole | ExcerptForm::Json) || (text.starts_with(['[', '{']) && max > 64) {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&short.text);
                prop_assert!(parsed.is_ok(), "{}", short.text);
            }
        }
    }
}
