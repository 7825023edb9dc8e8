//! How informative a single line is for a reader who looks for errors or results.
//!
//! A line of tool output is judged by its words: failures, exit codes and totals, warnings,
//! differences of an assertion, places in files. Lines that look like source code are not telling,
//! whatever they mention: a file that throws errors is no error. One pass over at most [`MAX_SEEN`]
//! bytes of the line.

use crate::word_list::words;

/// How telling a line is, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tell {
    /// Nothing in particular.
    Nothing,
    /// A place in a file: `src/main.rs:12`, `line 12`.
    Place,
    /// That something was done or finished.
    Note,
    /// One side of a difference: `left: 3`, `Expected: …`.
    Difference,
    /// A warning.
    Warning,
    /// A word of failure somewhere in the line.
    Mention,
    /// A total or an exit code: `12 passed, 3 failed`.
    Total,
    /// The statement of a failure: `error[E0308]: mismatched types`.
    Failure,
}

/// Bytes of a line that are looked at; the rest of a longer line is not judged.
pub const MAX_SEEN: usize = 320;

/// Judges one line.
pub fn tell(line: &str) -> Tell {
    let bytes = &line.as_bytes()[..line.len().min(MAX_SEEN)];
    let mut best = Tell::Nothing;
    let mut previous = 0..0;
    let mut at = 0;
    while at < bytes.len() {
        if !IS_WORD[bytes[at] as usize] {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && IS_WORD[bytes[at] as usize] {
            at += 1;
        }
        let word = &bytes[start..at];
        if !may_tell(word) {
            previous = start..at;
            continue;
        }
        let found = match kind(word) {
            Some(kind) => {
                // `0 errors`, `no errors`; not `(28,2): error`.
                let near = bytes[previous.end..start] == *b" ";
                let before = if near { &bytes[previous] } else { &[] };
                let before = (start > 0).then_some(before);
                weigh(kind, word, before, &bytes[at..])
            }
            None if word[0].is_ascii_digit() && is_place(bytes, start, at) => Tell::Place,
            None => Tell::Nothing,
        };
        best = best.max(found);
        previous = start..at;
    }
    let code =
        best > Tell::Place && (looks_like_code(bytes) || (best < Tell::Total && is_dense(bytes)));
    if code { Tell::Nothing } else { best }
}

/// Whether a text that starts like this reports a failure, strictly: its very first words say so.
pub fn opens_with_failure(text: &str) -> bool {
    let (word, rest) = first_word(text.trim_start().lines().next().unwrap_or_default());
    // `504 Gateway Time-out`; `512 Mails sent` is none.
    if word.parse().is_ok_and(|code: u16| (400..600).contains(&code)) {
        let reason = rest.strip_prefix(' ').unwrap_or_default();
        return HTTP_REASONS.iter().any(|known| reason.starts_with(known));
    }
    let named = word.len() > 5 && (word.ends_with("Error") || word.ends_with("Exception"));
    match word.to_ascii_lowercase().as_str() {
        "error" if says_none(rest) => false,
        "error" => {
            rest.starts_with([':', '[', '!', '"']) || rest.starts_with(' ') && says_what(rest)
        }
        "fatal" | "panic" => rest.starts_with([':', '!']),
        "traceback" => rest.starts_with(" (most recent"),
        "failed" if says_none(rest) => false,
        "failed" => rest.starts_with(':') || rest.starts_with(" to "),
        "tool_use_error" => true,
        _ => named && rest.starts_with(':'),
    }
}

/// The reason phrases of HTTP for failure codes (RFC 9110, sections 15.5 and 15.6, and later registrations).
const HTTP_REASONS: &[&str] = &[
    "Bad Request",
    "Unauthorized",
    "Payment Required",
    "Forbidden",
    "Not Found",
    "Method Not Allowed",
    "Not Acceptable",
    "Proxy Authentication",
    "Request Time",
    "Conflict",
    "Gone",
    "Length Required",
    "Precondition Failed",
    "Payload Too",
    "Content Too",
    "Request Entity",
    "URI Too",
    "Request-URI",
    "Unsupported Media",
    "Range Not",
    "Requested Range",
    "Expectation Failed",
    "Misdirected",
    "Unprocessable",
    "Locked",
    "Failed Dependency",
    "Too Early",
    "Upgrade Required",
    "Precondition Required",
    "Too Many",
    "Request Header",
    "Unavailable For",
    "Internal Server",
    "Not Implemented",
    "Bad Gateway",
    "Service Unavailable",
    "Service Temporarily",
    "Gateway Time",
    "HTTP Version",
    "Insufficient Storage",
    "Loop Detected",
    "Not Extended",
    "Network Authentication",
];

/// Whether the words behind `Error` name the error: `Error from server (NotFound): …`, `Error 1045: …`, `Error executing query:
/// …`; not `Error rate of web: 4 %`.
fn says_what(rest: &str) -> bool {
    const BEHIND: &[&str] = &words!("from in at on while during when");
    let Some((before, _)) = rest.split_once(": ") else { return false };
    let first = before.split_whitespace().next().unwrap_or_default();
    before.contains(|c: char| c.is_ascii_digit())
        || first.ends_with("ing")
        || BEHIND.contains(&first)
}

/// Whether the value behind `error` means that there is none: `error: null`, `"error":""`, `Error rate: 0`.
fn says_none(rest: &str) -> bool {
    let Some((label, value)) = rest.split_once(':') else { return false };
    if !label.bytes().all(|byte| matches!(byte, b' ' | b'"') || byte.is_ascii_alphabetic()) {
        return false;
    }
    let value = value.trim_start();
    let word = value.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(word, "null" | "None" | "none" | "false" | "0")
        || ["\"\"", "[]", "{}"].iter().any(|empty| value.starts_with(empty))
}

/// A line's first word, without the signs before it, and what stands behind it.
pub(super) fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(['<', '{', '[', '"', ' ', '*', '❌', '✗']);
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    line.split_at(end)
}

/// A word's hint, before its surroundings are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HintKind {
    Failure,
    Hint,
    Warning,
    Difference,
    Count,
    Done,
    Exit,
}

/// Lower case; looked up by length and first letter.
const WORDS: &[(&[u8], HintKind)] = &[
    (b"abort", HintKind::Hint),
    (b"aborted", HintKind::Failure),
    (b"actual", HintKind::Difference),
    (b"assertion", HintKind::Hint),
    (b"cannot", HintKind::Hint),
    (b"changed", HintKind::Done),
    (b"completed", HintKind::Done),
    (b"conflict", HintKind::Hint),
    (b"conflicts", HintKind::Hint),
    (b"coverage", HintKind::Count),
    (b"crash", HintKind::Hint),
    (b"crashed", HintKind::Failure),
    (b"created", HintKind::Done),
    (b"deleted", HintKind::Done),
    (b"declined", HintKind::Hint),
    (b"denied", HintKind::Hint),
    (b"deprecated", HintKind::Warning),
    (b"err", HintKind::Failure),
    (b"error", HintKind::Failure),
    (b"errors", HintKind::Failure),
    (b"exception", HintKind::Failure),
    (b"exit", HintKind::Exit),
    (b"exit_code", HintKind::Exit),
    (b"exited", HintKind::Exit),
    (b"expected", HintKind::Difference),
    (b"fail", HintKind::Failure),
    (b"failed", HintKind::Failure),
    (b"failing", HintKind::Failure),
    (b"failure", HintKind::Failure),
    (b"failures", HintKind::Failure),
    (b"fatal", HintKind::Failure),
    (b"finished", HintKind::Done),
    (b"insertions", HintKind::Count),
    (b"invalid", HintKind::Hint),
    (b"killed", HintKind::Hint),
    (b"left", HintKind::Difference),
    (b"missing", HintKind::Hint),
    (b"modified", HintKind::Done),
    (b"panic", HintKind::Failure),
    (b"panicked", HintKind::Failure),
    (b"passed", HintKind::Count),
    (b"passing", HintKind::Count),
    (b"received", HintKind::Difference),
    (b"refused", HintKind::Hint),
    (b"rejected", HintKind::Hint),
    (b"right", HintKind::Difference),
    (b"segfault", HintKind::Failure),
    (b"skipped", HintKind::Count),
    (b"succeeded", HintKind::Done),
    (b"success", HintKind::Done),
    (b"successfully", HintKind::Done),
    (b"such", HintKind::Hint),
    (b"tests", HintKind::Count),
    (b"timeout", HintKind::Hint),
    (b"total", HintKind::Count),
    (b"traceback", HintKind::Hint),
    (b"unable", HintKind::Hint),
    (b"undefined", HintKind::Hint),
    (b"unexpected", HintKind::Hint),
    (b"unknown", HintKind::Hint),
    (b"unresolved", HintKind::Hint),
    (b"updated", HintKind::Done),
    (b"warn", HintKind::Warning),
    (b"warning", HintKind::Warning),
    (b"warnings", HintKind::Warning),
];

/// For each first letter, the lengths that occur: almost every word is turned away by one look.
const LENGTHS: [u16; 26] = {
    let mut lengths = [0_u16; 26];
    let mut at = 0;
    while at < WORDS.len() {
        let word = WORDS[at].0;
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Where the words of each letter begin, and where the last one ends.
const STARTS: [u8; 27] = {
    let mut starts = [WORDS.len() as u8; 27];
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        starts[letter] = starts[letter + 1];
        let mut at = WORDS.len();
        while at > 0 {
            at -= 1;
            if (WORDS[at].0[0] - b'a') as usize == letter {
                starts[letter] = at as u8;
            }
        }
    }
    starts
};

/// Words are ASCII letters, digits and `_`; bytes of other alphabets count as letters. A table, as
/// every byte of a long output is looked up in it.
const IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || byte as u8 == b'_' || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// A quick look: whether a word may be one of those, a kind of error, or a number.
fn may_tell(word: &[u8]) -> bool {
    let [first, .., last] = word else { return word[0].is_ascii_digit() };
    let initial = usize::from((first | 0x20).wrapping_sub(b'a'));
    let lengths = LENGTHS.get(initial).copied().unwrap_or(0);
    lengths & 1 << word.len().min(15) != 0 || matches!(last, b'r' | b'n') || first.is_ascii_digit()
}

fn kind(word: &[u8]) -> Option<HintKind> {
    let initial = word[0].to_ascii_lowercase().wrapping_sub(b'a') as usize;
    if initial < 26 && word.len() < 16 && LENGTHS[initial] & (1 << word.len()) != 0 {
        let alike = usize::from(STARTS[initial])..usize::from(STARTS[initial + 1]);
        for (known, kind) in &WORDS[alike] {
            // The last letters tell most apart.
            if known.len() == word.len()
                && known[known.len() - 1] == word[word.len() - 1] | 0x20
                && word.eq_ignore_ascii_case(known)
            {
                return Some(*kind);
            }
        }
    }
    let named = match word[word.len() - 1] {
        b'r' => word.len() > 5 && word.ends_with(b"Error"),
        b'n' => word.len() > 9 && word.ends_with(b"Exception"),
        _ => false,
    };
    named.then_some(HintKind::Failure)
}

/// `previous` is the word right before, empty if none is near; `None` where the line begins.
fn weigh(kind: HintKind, word: &[u8], previous: Option<&[u8]>, rest: &[u8]) -> Tell {
    let opens = previous.is_none();
    let previous = previous.unwrap_or_default();
    let counted = !previous.is_empty() && previous.iter().all(u8::is_ascii_digit);
    let none = counted && previous.iter().all(|&b| b == b'0')
        || [&b"no"[..], b"No", b"without", b"zero"].contains(&previous);
    match kind {
        HintKind::Failure if is_zero(rest) => Tell::Total,
        HintKind::Failure if none => {
            if counted {
                Tell::Total
            } else {
                Tell::Note
            }
        }
        HintKind::Failure if counted => Tell::Total,
        HintKind::Failure if states(word, rest) => Tell::Failure,
        // `npm error command failed`, `error Command failed`.
        HintKind::Failure if word == b"error" && (previous == b"npm" || opens && says(rest)) => {
            Tell::Failure
        }
        HintKind::Failure => Tell::Mention,
        HintKind::Hint if word.eq_ignore_ascii_case(b"such") => {
            if rest.starts_with(b" file") {
                Tell::Failure
            } else {
                Tell::Nothing
            }
        }
        HintKind::Hint => Tell::Mention,
        HintKind::Warning if none => Tell::Note,
        HintKind::Warning => Tell::Warning,
        HintKind::Difference if rest.first() == Some(&b':') => Tell::Difference,
        HintKind::Difference => Tell::Nothing,
        HintKind::Count if counted => Tell::Total,
        HintKind::Count if rest.first() == Some(&b':') => Tell::Total,
        HintKind::Count => Tell::Nothing,
        HintKind::Done => Tell::Note,
        HintKind::Exit if rest.iter().take(16).any(u8::is_ascii_digit) => Tell::Total,
        HintKind::Exit => Tell::Nothing,
    }
}

/// Whether a count of none stands behind a word: `Failures: 0`, `succeeded 151, failed 0, ignored 2`.
fn is_zero(rest: &[u8]) -> bool {
    if matches!(rest, b" 0" | [b' ', b'0', b',' | b';', ..]) {
        return true;
    }
    let value = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"="));
    let value = value.map(<[u8]>::trim_ascii_start).and_then(|value| value.strip_prefix(b"0"));
    value.is_some_and(|rest| {
        !rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
    })
}

/// Whether the word, with what follows, is the statement itself and not a mention: `error:`,
/// `error[E0308]`, `error TS2345`, `FAILED`, `npm ERR!`, `panicked at`.
fn states(word: &[u8], rest: &[u8]) -> bool {
    let shouted = word.len() > 3 && word.iter().all(u8::is_ascii_uppercase);
    let coded = rest.len() > 2 && rest[0] == b' ' && rest[1].is_ascii_uppercase() && {
        let code = rest[1..].iter().take_while(|b| b.is_ascii_uppercase()).count();
        rest.get(1 + code).is_some_and(u8::is_ascii_digit)
    };
    shouted
        || coded
        || matches!(rest, [b':' | b'!', ..] | [b'=', b'1'..=b'9', ..])
        || rest.starts_with(b"[E")
        || (word.eq_ignore_ascii_case(b"panicked") && rest.starts_with(b" at"))
}

/// Whether a sentence follows.
fn says(rest: &[u8]) -> bool {
    matches!(rest, [b' ', first, ..] if first.is_ascii_uppercase())
}

/// Whether the number `bytes[start..end]` follows a file's name: `a.rs:12`, `a.ts(12,3)`, or the
/// word `line`.
fn is_place(bytes: &[u8], start: usize, end: usize) -> bool {
    if !bytes[start].is_ascii_digit()
        || start < 3
        || !bytes[start..end].iter().all(u8::is_ascii_digit)
    {
        return false;
    }
    match bytes[start - 1] {
        b':' | b'(' => {
            let name = &bytes[..start - 1];
            let suffix = name.iter().rev().take_while(|b| b.is_ascii_alphanumeric()).count();
            (1..=5).contains(&suffix)
                && name.len() > suffix + 1
                && name[name.len() - suffix - 1] == b'.'
                && !name[name.len() - 1].is_ascii_digit()
        }
        b' ' => bytes[..start].ends_with(b"line "),
        _ => false,
    }
}

/// Statements and definitions of the usual languages, and lines that only open or close a block.
fn looks_like_code(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii();
    // Numbered listings (`  12→…`, `12:…`, `12\t…`) are looked at behind the number.
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let line = match (digits, &line[digits..]) {
        (1.., [b':' | b'\t' | b'-', rest @ ..]) => rest.trim_ascii_start(),
        (1.., [0xe2, 0x86, 0x92, rest @ ..]) => rest.trim_ascii_start(),
        _ => line,
    };
    let opens = [
        &b"//"[..],
        b"/*",
        b"* ",
        b"import ",
        b"export ",
        b"const ",
        b"let ",
        b"var ",
        b"return ",
        b"throw ",
        b"if (",
        b"if !",
        b"} ",
        b"fn ",
        b"pub ",
        b"def ",
        b"class ",
        b"function ",
        b"raise ",
        b"except ",
        b"catch",
        b"assert",
        b"console.",
        b"print(",
        b"async ",
        b"await ",
        b"type ",
        b"interface ",
        b"logger.",
        b"elif ",
        b"case ",
        b"self.",
        b"this.",
        b"try",
        b"use ",
    ];
    let Some(first) = line.first() else { return false };
    matches!(line.last(), Some(b'{' | b';' | b'(' | b','))
        || opens.iter().any(|open| open[0] == *first && line.starts_with(open))
        || memchr::memchr_iter(b'>', line)
            .any(|at| at > 0 && line[at - 1] == b'=' && line.get(at + 1) == Some(&b' '))
        || memchr::memchr_iter(b'w', line)
            .any(|at| line[..at].ends_with(b"thro") && line[at..].starts_with(b"w new"))
}

const IS_MARK: [bool; 256] = {
    let mut table = [false; 256];
    let marks = b"{}()=<>;$&|[]?\"";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

/// Whether there are more brackets and operators in the line than in a sentence.
fn is_dense(bytes: &[u8]) -> bool {
    let mut marks = 0;
    for byte in bytes {
        marks += usize::from(IS_MARK[usize::from(*byte)]);
    }
    marks > 2 + bytes.len() / 16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_tell_what_they_should() {
        let cases = [
            ("error[E0308]: mismatched types", Tell::Failure),
            ("src/a.ts(28,2): error TS2739: Type 'x'", Tell::Failure),
            ("ValueError: invalid literal", Tell::Failure),
            ("test foo::bar ... FAILED", Tell::Failure),
            ("thread 'main' panicked at src/main.rs:3:5:", Tell::Failure),
            ("npm ERR! code ELIFECYCLE", Tell::Failure),
            ("npm error command failed", Tell::Failure),
            ("error Command failed with exit code 1.", Tell::Failure),
            ("error handling of the last Command", Tell::Mention),
            ("the error Command failed with", Tell::Mention),
            ("cat: x: No such file or directory", Tell::Failure),
            ("test result: ok. 12 passed; 0 failed", Tell::Total),
            ("12 passed, 3 failed in 0.2s", Tell::Total),
            ("Process exited with code 1", Tell::Total),
            ("0 errors, 0 warnings", Tell::Total),
            ("Tests: succeeded 151, failed 0, ignored 2", Tell::Total),
            ("the build failed because of it", Tell::Mention),
            ("warning: unused variable", Tell::Warning),
            ("  left: 3", Tell::Difference),
            ("   --> src/main.rs:12:5", Tell::Place),
            ("  File \"x.py\", line 12, in f", Tell::Place),
            ("no errors found", Tell::Note),
            ("Successfully replaced text", Tell::Note),
            ("\tthrow new Error(\"x\");", Tell::Nothing),
            ("   12→    } catch (error) {", Tell::Nothing),
            ("nothing here at 12:30", Tell::Nothing),
            ("", Tell::Nothing),
        ];
        for (line, expected) in cases {
            assert_eq!(tell(line), expected, "{line}");
        }
    }

    #[test]
    fn failing_starts_are_strict() {
        for text in [
            "Error: user not found",
            "  error: no",
            "Traceback (most recent call last):\n",
            "KeyError: 'x'",
            "504 Gateway Time-out",
            "Error from server (NotFound): no pod of that name",
            "Error 1045: access denied",
            "Failed to reach the host",
        ] {
            assert!(opens_with_failure(text), "{text}");
        }
        for text in [
            "error handling is easy",
            "The error: x",
            "",
            "{\"a\": 1}",
            "500 rows",
            "200 OK",
            "512 Mails sent to list spring.",
            "Failed payments retried: 14 of 14 succeeded.",
            "Error budget of web was set to 0.1 %",
            "Error rate for web: 0.2 %",
            "412 Content items updated",
        ] {
            assert!(!opens_with_failure(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_passes_over_nothing_that_tells(word in "[a-zA-Z_0-9é]{1,17}|[A-Z]?[a-z]{2,10}(Error|Exception)", at in 0..WORDS.len()) {
            for word in [word.as_bytes(), WORDS[at].0, &WORDS[at].0.to_ascii_uppercase()] {
                let tells = kind(word).is_some() || word[0].is_ascii_digit();
                prop_assert!(!tells || may_tell(word), "{word:?}");
            }
        }

        #[test]
        fn any_line_can_be_judged(line in "\\PC*") {
            let _ = tell(&line);
            let _ = opens_with_failure(&line);
        }
    }
}
