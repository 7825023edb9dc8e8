//! What a line is worth of a budget: by what it is, who says it, how exact it is, and how it reads.

use super::cues::Cues;
use super::language::Cue;
use super::lists::List;
use super::stamp::untagged;
use super::words::{Form, Words};
use super::{Kind, Speaker};
use crate::text::begins_with_one;

/// Bytes of a line that cost a point.
const BYTES: usize = 20;

/// The worth of a sentence that was judged to be of `kind`; most are between 0 and 60.
pub(super) fn worth(text: &str, words: &Words, cues: &Cues, kind: Kind, who: Speaker) -> i32 {
    let points = |holds: bool, points: i32| if holds { points } else { 0 };
    let is_persons = matches!(who, Speaker::Human | Speaker::System);
    let start = text.trim_start_matches(['-', '*', '+', '•', ' ']);
    let said = 2 * i32::try_from(cues.count.min(4)).unwrap_or(0);
    let for_it = said
        + points(cues.has(Cue::Value), if is_exact(words) { 6 } else { 2 })
        + points(speaks_for_many(words), 5)
        + points(cues.has(Cue::Because) && kind == Kind::Decision, 4)
        + points(cues.has(Cue::Lasts), 3)
        + points(cues.has(Cue::Boxed), 4)
        + points(names_its_topic(words, cues), if words.len() < 14 { 8 } else { 4 });
    let length = i32::try_from(text.len() / BYTES).unwrap_or(i32::MAX).min(30);
    let mut against = length + points(text.trim_end().ends_with('?') && kind != Kind::Question, 6);
    if !is_persons {
        against += points(words.low(0) == "if" || words.low(0) == "when", 8)
            + points(speaks_to_reader(words), 6)
            + points(text.trim_end().ends_with('!'), 6)
            + points(start.starts_with("**") || start.contains(". **"), 6)
            + points(!start.starts_with(|c: char| c.is_ascii()), 6)
            + points(kind == Kind::Fact && names_a_field(cues), 10)
            + points(leans_on_context(words), 6)
            + 4 * code_names(words).min(3);
    }
    kind.weight() + who.weight() + for_it - against - reads_as_code(text)
}

/// Whether somebody speaks for more than himself.
pub(super) fn speaks_for_many(words: &Words) -> bool {
    words.iter().any(|(at, word, _)| !word.quoted && words.is(at, List::Many))
}

/// Whether it gives a value that isn't just a name in code.
pub(super) fn is_exact(words: &Words) -> bool {
    words.iter().any(|(at, word, _)| {
        matches!(word.form, Form::Name | Form::Place | Form::Code | Form::Number)
            || words.is(at, List::Numbers)
    })
}

/// How many names of code it has: what they are the code says, and can be asked again.
pub(super) fn code_names(words: &Words) -> i32 {
    let of_code = |form: Form| matches!(form, Form::Identifier);
    let names = words.iter().filter(|(_, word, _)| of_code(word.form)).count();
    i32::try_from(names).unwrap_or(i32::MAX)
}

/// Whether one must know what was said before it.
pub(super) fn leans_on_context(words: &Words) -> bool {
    words.is(0, List::Leaning)
}

/// Whether a reader is spoken to, as manuals and assistants do.
pub(super) fn speaks_to_reader(words: &Words) -> bool {
    words.iter().any(|(_, _, low)| matches!(low, "you" | "your" | "you'd" | "you'll"))
}

/// Whether it says of what it speaks in words of its own: `Staging port: 8443`, `the owner of billing is Dana`.
pub(super) fn names_its_topic(words: &Words, cues: &Cues) -> bool {
    let Some(link) = cues.links.first() else { return false };
    let plain = |at: &usize| {
        let low = words.low(*at);
        let is_plain =
            words.get(*at).is_some_and(|word| matches!(word.form, Form::Plain | Form::Name));
        is_plain && !words.is(*at, List::Empty) && low.len() > 2
    };
    (0..link.start).filter(plain).count() > 1 && cues.has(Cue::Value)
}

/// Whether it is a field and what stands in it: `category: BudgetCategory`.
fn names_a_field(cues: &Cues) -> bool {
    let label = cues.links.first().filter(|link| link.is_empty());
    cues.has(Cue::Labels) && label.is_some_and(|label| label.start < 2)
}

/// Percent of a text that are signs of code.
fn signs(text: &str) -> usize {
    let text = untagged(text.trim_start_matches(['-', '*', '+', ' ']));
    let is_row = has(text, '|', " | ");
    let mut all = 0;
    for byte in text.bytes() {
        all += usize::from(is_sign(byte));
    }
    if is_row {
        all -= memchr::memchr_iter(b'|', text.as_bytes()).count();
    }
    if all == 0 {
        return 0;
    }
    (all - operators(text)) * 100 / text.len()
}

/// Bytes of signs that stand between words like words, `<=`, `->`: at most one comparison or arrow, for code has several.
pub(super) fn operators(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is = |at: usize, signs: &[u8]| bytes.get(at).is_some_and(|byte| signs.contains(byte));
    let mut found = memchr::memchr2_iter(b'<', b'>', bytes).filter_map(|at| {
        let start = at - usize::from(at > 0 && is(at - 1, b"-="));
        let end = at + 1 + usize::from(is(at + 1, b"="));
        let is_word = start > 0 && is(start - 1, b" ") && is(end, b" ");
        is_word.then(|| bytes[start..end].iter().filter(|byte| is_sign(**byte)).count())
    });
    let first = found.next().unwrap_or(0);
    if found.next().is_some() { 0 } else { first }
}

/// Whether it has the words, of which `sign` is the one that few texts have.
fn has(text: &str, sign: char, words: &str) -> bool {
    text.as_bytes().contains(&(sign as u8)) && text.contains(words)
}

fn is_sign(byte: u8) -> bool {
    IS_SIGN[usize::from(byte)]
}

const IS_SIGN: [bool; 256] = {
    let mut all = [false; 256];
    let signs = b"{}[];=<>|\\&^~";
    let mut at = 0;
    while at < signs.len() {
        all[signs[at] as usize] = true;
        at += 1;
    }
    all
};

/// Points that a sentence loses for looking like code or data.
pub(super) fn reads_as_code(text: &str) -> i32 {
    match signs(text) {
        0..2 => 0,
        2..4 => 6,
        4..6 => 16,
        _ => 30,
    }
}

/// Whether a line of a tool's output is code or settings of a program, not said by anybody.
pub(super) fn is_printed_code(text: &str) -> bool {
    const STARTS: [&str; 12] = [
        "private ",
        "public ",
        "protected ",
        "static ",
        "async ",
        "await ",
        "const ",
        "let ",
        "var ",
        "export ",
        "type ",
        "interface ",
    ];
    let declares = begins_with_one(text, &STARTS)
        && (text.contains(['=', ';', '(', '{']) || text.contains(": "));
    declares
        || text.starts_with([')', '}', ']', '{'])
        || text.ends_with(['(', '{', '[', ',', ';', '='])
        // `npm run check # lint`; what is forbidden may name a flag.
        || text.starts_with(|c: char| c.is_ascii_lowercase()) && is_remarked(text)
        || has(text, '?', "?: ")
        || is_arrow(text)
        || has(text, ';', "; //")
        || is_code(text)
}

/// `npm run check # lint`; not the remark behind a setting, `memory: 512 MB  # as agreed`.
fn is_remarked(text: &str) -> bool {
    let remarked = has(text, '#', " # ").then(|| text.split_once(" # ")).flatten();
    remarked.is_some_and(|(before, _)| !before.contains(": "))
}

/// `(a, b) => a`, `Some(x) => x`; not `the limit => 20 Hz`.
fn is_arrow(text: &str) -> bool {
    let sides = has(text, '>', " => ").then(|| text.split_once(" => ")).flatten();
    sides.is_some_and(|(left, right)| {
        !left.contains(' ')
            || left.ends_with(')')
            || !right.starts_with(|c: char| c.is_alphanumeric())
    })
}

/// Whether it is a line of code that somebody pasted.
pub(super) fn is_code(text: &str) -> bool {
    const STARTS: [&str; 18] = [
        "//",
        "/*",
        "*/",
        "#include",
        "import ",
        "const ",
        "let ",
        "var ",
        "return ",
        "function ",
        "class ",
        "export ",
        "throw ",
        "if (",
        "for (",
        "def ",
        "pub fn ",
        "<",
    ];
    let imports =
        || text.contains(" from '") || text.contains(" from \"") || text.ends_with([';', '{', '}']);
    let starts = begins_with_one(text, &STARTS);
    let weak = begins_with_one(text, &["let ", "return ", "import "]);
    let signs = signs(text);
    (starts && (!weak || signs > 1 || imports())) || signs > 8
}
