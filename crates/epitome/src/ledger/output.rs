//! What in a tool's output is somebody's sentence: neither code, nor a row, nor a log line.

use super::worth::operators;
use crate::text::begins_with_one;

pub(super) use super::stretch::prose;

/// Lines and strings longer than this are dumps.
const MAX_LONG: usize = 1_200;
/// Shorter ones say nothing by themselves.
pub(super) const MIN_LONG: usize = 16;
/// Longer rows hold more than one thing.
const MAX_ROW: usize = 240;
/// Longer names of fields are texts.
const MAX_NAME: usize = 60;

/// A row of a table whose cells are words, without what is around it.
pub(super) fn row(line: &str) -> Option<&str> {
    // Few lines have one.
    memchr::memchr(b'|', line.as_bytes())?;
    let is_framed = line.starts_with('|') && line.ends_with('|');
    if !is_framed && !line.contains(" | ") {
        return None;
    }
    let row = line.trim_matches(['|', ' ']);
    let is_worded = row.split('|').any(|cell| {
        let gaps = cell.trim().bytes().filter(|byte| *byte == b' ').count();
        let letters = Mix::of(cell).letters();
        gaps > 0 && letters * 100 >= cell.len() * 80
    });
    let is_short = (MIN_LONG..=MAX_ROW).contains(&row.len());
    (is_short && row.contains('|') && is_worded).then_some(row)
}

/// A field whose name is words, as somebody calls it: `"support line": "0800 22"`. Programs call theirs otherwise.
pub(super) fn field(line: &str) -> Option<&str> {
    let (name, value) = line.strip_prefix('"')?.split_once("\": ")?;
    let is_named = name.contains(' ')
        && name.len() <= MAX_NAME
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'-' | b'\''));
    let field = line.trim_end_matches(',');
    let is_whole = value.starts_with('"') == field.ends_with('"') && !value.contains("\": ");
    (is_named && is_whole && field.len() <= MAX_ROW && !value.starts_with(['{', '[']))
        .then_some(field)
}

/// Where a sentence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// By itself.
    Free,
    /// Before a list: it speaks of what follows.
    Lead,
    /// In a row of a table, with all its cells.
    Row,
    /// In fields that say together what something is.
    Record,
    /// In a comment of code: it speaks of the code, mostly.
    Comment,
    /// Behind `#`: a comment of a script or of settings, or a heading.
    Remark,
    /// In a line that is half words, half signs: of a log, a board, a list of settings.
    Worded,
}

/// Whether it is what a program puts around what it ran or printed: about the output, not in it.
pub(super) fn is_frame(line: &str) -> bool {
    const LABELS: [&str; 10] = [
        "chunk id",
        "wall time",
        "original token count",
        "total output lines",
        "process group pgid",
        "exit code",
        "process exited",
        "session id",
        "error",
        "current directory",
    ];
    let bare = line.trim_start_matches(['-', '*', ' ', '[']);
    let label = bare.split_once(':').map_or("", |(label, _)| label);
    let is_framed = LABELS.iter().any(|frame| label.eq_ignore_ascii_case(frame));
    // `(Open file: a.py)`; and a row of a difference or a listing that was pasted.
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0
        && [" - **", " + ", "\t", "→"].iter().any(|mark| line[digits..].starts_with(mark));
    let is_quoted =
        line.len() > 1 && line.starts_with('"') && line.ends_with('"') && field(line).is_none();
    // A step of a scenario, and an item of a menu.
    let steps = ["**Given**", "**When**", "**Then**", "**And**"];
    let is_step = begins_with_one(line, &steps);
    let is_choice = line.as_bytes().first_chunk::<3>().is_some_and(|[open, key, close]| {
        *open == b'[' && *close == b']' && key.is_ascii_lowercase() && *key != b'x'
    });
    is_framed
        || is_numbered
        || is_quoted
        || is_step
        || is_choice
        || line.starts_with('(') && line.ends_with(')') && line.contains(": ")
}

/// Without the number that a listing puts before each line.
pub(super) fn without_number(line: &str) -> &str {
    let bytes = line.as_bytes();
    let digits = digits(bytes);
    if digits == 0 || digits > 6 {
        return line;
    }
    let mark = match &bytes[digits..] {
        [b'\t' | b'|', ..] => 1,
        // `10:32` is a time.
        [b':', behind @ ..] if self::digits(behind) != 2 => 1,
        [b'\\', b't', ..] => 2,
        [0xe2, 0x86, 0x92, ..] => '→'.len_utf8(),
        _ => return line,
    };
    trimmed(&line[digits + mark..], Ends::Start)
}

/// How many digits it begins with.
fn digits(bytes: &[u8]) -> usize {
    let mut digits = 0;
    while digits < bytes.len() && bytes[digits].is_ascii_digit() {
        digits += 1;
    }
    digits
}

/// Where white space is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Start,
    Both,
}

/// A line without the white space around it. Hardly one has other than ASCII there.
pub(super) fn trimmed(line: &str, ends: Ends) -> &str {
    let is_space = |byte: u8| matches!(byte, b' ' | 9..=13);
    let bytes = line.as_bytes();
    let (mut from, mut to) = (0, bytes.len());
    while from < to && is_space(bytes[from]) {
        from += 1;
    }
    while ends == Ends::Both && from < to && is_space(bytes[to - 1]) {
        to -= 1;
    }
    let inner = &line[from..to];
    let is_wide = |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii());
    match ends {
        Ends::Start if is_wide(inner.as_bytes().first()) => inner.trim_start(),
        Ends::Both if is_wide(inner.as_bytes().first()) || is_wide(inner.as_bytes().last()) => {
            inner.trim()
        }
        _ => inner,
    }
}

/// What a line of a log says, of its fields: `level=info msg="so" rows=3`.
pub(super) fn message(line: &str) -> &str {
    let quoted = [" msg=\"", " message=\""].iter().find_map(|field| line.split_once(field));
    let said = quoted.and_then(|(_, rest)| rest.split_once('"'));
    // What it quotes itself it cuts.
    said.filter(|(message, _)| !message.ends_with('\\')).map_or(line, |(message, _)| message)
}

/// Whether it is a line of a block of comment, ` * so`, behind the number of a listing or in an output that has such.
pub(super) fn is_starred(line: &str, has_comments: impl FnOnce() -> bool) -> bool {
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | 9..=13 | b'|' | b':');
    let (bytes, mut at) = (line.as_bytes(), 0);
    while at < bytes.len() && plain(bytes[at]) {
        at += 1;
    }
    if !matches!(bytes.get(at), Some(b'*' | 0x80..)) {
        return false;
    }
    let numbering =
        |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '→' | '|' | ':');
    let rest = line.trim_start_matches(numbering);
    let before = &line[..line.len() - rest.len()];
    let is_numbered = before.bytes().any(|byte| byte.is_ascii_digit());
    rest.starts_with("* ") && before.ends_with(' ') && (is_numbered || has_comments())
}

pub(super) fn comment(line: &str) -> Option<&str> {
    if !matches!(line.as_bytes().first(), Some(b'/' | b'#' | b'-' | b'<' | b'"')) {
        return None;
    }
    let marks = ["///", "//!", "//", "/**", "/*", "#", "--", "<!--", "\"\"\""];
    let inside = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(inside.trim_start_matches('#').trim_end_matches("-->").trim())
}

/// The strings of a line of JSON that read as prose; those of code are what a program may print some day.
pub(super) fn strings(line: &str) -> impl Iterator<Item = &str> {
    let is_json = matches!(line.as_bytes().first(), Some(b'"' | b'{' | b'['));
    let line = if is_json && line.contains('"') { line } else { "" };
    line.split('"')
        .flat_map(|string| string.split("\\n"))
        .map(|text| without_number(text.trim()))
        .filter(|text| is_prose(text, Mix::of(text)))
}

/// How many bytes of a text are letters or spaces, signs of code, and spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    /// 20 bits each: what is read of a text is shorter.
    counts: u64,
    length: usize,
}

/// What a byte adds to each.
const COUNTS: [u64; 256] = {
    let mut counts = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() || b == b' ' || b >= 0x80 {
            counts[byte] = 1;
        }
        byte += 1;
    }
    let signs = b"{}[];=<>|\\&$#@^~";
    let mut at = 0;
    while at < signs.len() {
        counts[signs[at] as usize] = 1 << 20;
        at += 1;
    }
    counts[b' ' as usize] |= 1 << 40;
    counts
};

impl Mix {
    pub(super) fn of(text: &str) -> Self {
        let mut counts = 0;
        for byte in text.as_bytes() {
            counts += COUNTS[usize::from(*byte)];
        }
        Mix { counts, length: text.len() }
    }

    /// Signs that stand between words as words do are none of code's: `memory <= 512 MB`.
    pub(super) fn without_operators(self, text: &str) -> Self {
        if self.signs() == 0 || self.length > MAX_ROW {
            return self;
        }
        Mix { counts: self.counts - ((operators(text) as u64) << 20), ..self }
    }

    pub(super) fn letters(self) -> usize {
        self.counts as usize & 0xf_ffff
    }

    pub(super) fn signs(self) -> usize {
        (self.counts >> 20) as usize & 0xf_ffff
    }

    /// Whether it has so many gaps and so many letters, in percent.
    fn reads(self, least_gaps: usize, least_letters: usize) -> bool {
        (self.counts >> 40) as usize >= least_gaps
            && self.letters() * 100 >= self.length * least_letters
            && self.signs() * 25 <= self.length
    }

    /// Whether most of it is words.
    pub(super) fn reads_on(self) -> bool {
        self.reads(2, 72)
    }

    /// Whether more than half of it is words, and few signs are code's.
    fn reads_loosely(self) -> bool {
        self.letters() * 100 >= self.length * 60 && self.signs() * 12 <= self.length
    }
}

pub(super) fn is_prose(text: &str, mix: Mix) -> bool {
    let bytes = text.as_bytes();
    if !(MIN_LONG..=MAX_LONG).contains(&text.len())
        || matches!(bytes.last(), Some(b';' | b'{' | b',' | b'\\'))
    {
        return false;
    }
    // Without the box of a task it may read better.
    if !mix.reads_on() && (mix.signs() == 0 || !bytes.contains(&b'[')) {
        return false;
    }
    // Most begin with a word or a number.
    match bytes[0] {
        b'A'..=b'Z' | b'0'..=b'9' => return mix.reads_on(),
        b'a'..=b'z' => return mix.reads_on() && (mix.reads(5, 86) || has_label(bytes)),
        _ => {}
    }
    let start = text.trim_start_matches(['-', '*', '+', '•', ' ', '>', '(']);
    let boxed =
        ["[ ]", "[x]", "[X]", "[~]", "[-]"].iter().find_map(|mark| start.strip_prefix(mark));
    let mix = boxed.map_or(mix, |rest| Mix::of(rest).without_operators(rest));
    let is_ticked = start.starts_with(['✔', '✓', '✅', '☑', '☐', '⬜']);
    // `§ 4.2 Staff shall refrain from it.`
    let start = start.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric());
    let start = if boxed.is_some() || is_ticked { "A" } else { start.trim_start() };
    if !start.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '[')
        && !start.contains(": ")
    {
        return start.starts_with(|c: char| c.is_alphabetic()) && mix.reads(5, 86);
    }
    mix.reads_on()
}

/// Whether a colon and a space stand in it.
fn has_label(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b':', bytes).any(|at| bytes.get(at + 1) == Some(&b' '))
}

/// Whether a line that doesn't read as prose has words in it that may say something.
pub(super) fn is_worded(text: &str, mix: Mix) -> bool {
    let bytes = text.as_bytes();
    let is_fit = (MIN_LONG..=MAX_ROW).contains(&text.len())
        && !matches!(bytes.last(), Some(b';' | b'{' | b',' | b'\\' | b'>'));
    if !is_fit || !mix.reads_loosely() {
        return false;
    }
    has_words(bytes, 3)
}

/// Whether so many words of two letters or more stand between spaces, with marks around them at most.
fn has_words(bytes: &[u8], least: usize) -> bool {
    let letter = |at: usize| bytes.get(at).is_some_and(|byte| COUNTS[usize::from(*byte)] == 1);
    let mark = |at: usize| bytes.get(at).is_some_and(|byte| IS_AROUND[usize::from(*byte)]);
    let (mut found, mut at) = (0, 0);
    while at < bytes.len() {
        while mark(at) {
            at += 1;
        }
        let from = at;
        while letter(at) {
            at += 1;
        }
        let is_long = at > from + 1;
        while mark(at) {
            at += 1;
        }
        if is_long && bytes.get(at).is_none_or(|byte| *byte == b' ') {
            found += 1;
            if found == least {
                return true;
            }
        }
        while at < bytes.len() && bytes[at] != b' ' {
            at += 1;
        }
        at += 1;
    }
    false
}

/// What may stand around a word.
const IS_AROUND: [bool; 256] = {
    let mut all = [false; 256];
    let marks = b"\"'(),:.";
    let mut at = 0;
    while at < marks.len() {
        all[marks[at] as usize] = true;
        at += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, word by word.
    fn words(bytes: &[u8]) -> usize {
        let is_around = |byte: &u8| b"\"'(),:.".contains(byte);
        let words = bytes.split(|byte| *byte == b' ').filter(|word| {
            let from = word.iter().take_while(|byte| is_around(byte)).count();
            let behind = word[from..].iter().rev().take_while(|byte| is_around(byte)).count();
            let word = &word[from..word.len() - behind];
            word.len() > 1 && word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
        });
        words.count()
    }

    proptest! {
        #[test]
        fn words_are_those_between_spaces(text in "[a-zé .:,'()\"1]{0,40}", least in 1usize..5) {
            prop_assert_eq!(has_words(text.as_bytes(), least), words(text.as_bytes()) >= least);
        }
    }

    fn check(output: &str, expected: &[&str]) {
        assert_eq!(prose(output).map(|(text, _)| text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn prose_is_found_between_code() {
        check(
            "fn main() {\n    12→The rate limit is 120 requests a minute.\n  let x = 3;\n// Must be called once first\nok\n",
            &["The rate limit is 120 requests a minute.", "Must be called once first"],
        );
        check(
            r#"{"note": "We never deploy on Fridays.\nAsk Dana.", "id": 3}"#,
            &["We never deploy on Fridays."],
        );
        check("Owner: Dana Whitfield\nsrc/a.rs:12: error\n", &["Owner: Dana Whitfield"]);
        // A log, a chat, a board.
        check(
            "[2026-03-04 10:12:33] INFO  Audit retention set to 90 days\n10:32 <dana> Audit logs stay for 90 days\n\
             2026-03-04T10:12:33Z level=info msg=\"Audit retention set to 90 days\" rows=3\n",
            &[
                "Audit retention set to 90 days",
                "Audit logs stay for 90 days",
                "Audit retention set to 90 days",
            ],
        );
        check(
            "\"support line\": \"0800 22\",\n\"supportLine\": \"0800 22\",\n\"a b\": {\n§ 4.2 Staff shall not share it.\n",
            &["\"support line\": \"0800 22\"", "§ 4.2 Staff shall not share it."],
        );
        check("- Texture memory <= 512 MB\n- (a < b) <= c > d\n", &["- Texture memory <= 512 MB"]);
    }

    #[test]
    fn an_indented_item_is_no_comment_unless_there_are_some() {
        let standings =
            |output: &str| prose(output).map(|(_, standing)| standing).collect::<Vec<_>>();
        let item = "Board\n  * Porting the leaderboard to Redis (Ilse, active)\n";
        assert_eq!(standings(item), [Standing::Free]);
        assert_eq!(standings(&format!("/**\n{item} */\n")), [Standing::Comment]);
        assert_eq!(standings(&item.replace("  *", "  12\t   *")), [Standing::Comment]);
    }
}
