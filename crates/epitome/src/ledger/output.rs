//! What in a tool's output is somebody's sentence: neither code, nor a row, nor a log line.

use std::cell::LazyCell;

use memchr::memmem;

use super::stamp::unstamped;
use super::worth::operators;
use crate::text::begins_with_one;
use crate::text::split::lines;

/// Lines and strings longer than this are dumps.
const MAX_LONG: usize = 1_200;
const MIN_LONG: usize = 16;
/// Longer rows hold more than one thing.
const MAX_ROW: usize = 240;
/// Longer names of fields are texts.
const MAX_NAME: usize = 60;

/// The stretches of `output` that read as prose, in order, and how each stands there.
pub(super) fn prose(output: &str) -> impl Iterator<Item = (&str, Standing)> {
    // Items of a list need not begin like a sentence.
    let mut lists = false;
    let has_comments = LazyCell::new(|| {
        ["/*", "*/"].iter().any(|mark| memmem::find(output.as_bytes(), mark.as_bytes()).is_some())
    });
    lines(output).flat_map(move |line| {
        let in_block = is_starred(&output[line.clone()], || *has_comments);
        let trimmed = output[line].trim();
        let said = unstamped(trimmed);
        let line = if said.len() < trimmed.len() { message(said) } else { without_number(trimmed) };
        let (bare, standing) = match comment(line) {
            None if in_block => (line, Standing::Comment),
            Some(inside) if line.starts_with(['#', '<']) => (inside, Standing::Remark),
            Some(inside) => (inside, Standing::Comment),
            None => (line, Standing::Free),
        };
        let is_lead = (line.starts_with("# ") || bare.ends_with(':')) && bare.len() < 80;
        let is_item = bare.starts_with(['-', '*', '•']);
        let row = row(bare).or_else(|| field(bare)).map(|row| (row, Standing::Row));
        let lead = is_lead.then_some((bare, Standing::Lead));
        let mix = Mix::of(bare).without_operators(bare);
        let reads = match standing {
            Standing::Remark => is_prose(bare, mix) || mix.reads_on() && bare.len() >= MIN_LONG,
            _ if is_lead => false,
            _ => is_prose(bare, mix) || lists && is_item && mix.reads_on(),
        };
        let whole = if row.is_some() { row } else { reads.then_some((bare, standing)) };
        lists = is_lead || lists && is_item;
        let mut strings =
            (whole.or(lead).is_none()).then(|| strings(line)).into_iter().flatten().peekable();
        let is_worded =
            whole.or(lead).is_none() && strings.peek().is_none() && is_worded(bare, mix);
        let worded = is_worded.then_some((bare, Standing::Worded));
        // A remark is one by itself, and may stand before a list.
        let strings = strings.map(|text| (text, Standing::Free));
        whole.into_iter().chain(lead).chain(strings).chain(worded)
    })
}

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
fn field(line: &str) -> Option<&str> {
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
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 6 {
        return line;
    }
    let rest = &line[digits..];
    // `10:32` is a time.
    let behind = rest.strip_prefix(':').unwrap_or_default();
    let is_time = behind.bytes().take_while(u8::is_ascii_digit).count() == 2;
    ["→", "\t", "\\t", "|", ":"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark).filter(|_| !is_time))
        .map_or(line, str::trim_start)
}

/// What a line of a log says, of its fields: `level=info msg="so" rows=3`.
fn message(line: &str) -> &str {
    let quoted = [" msg=\"", " message=\""].iter().find_map(|field| line.split_once(field));
    let said = quoted.and_then(|(_, rest)| rest.split_once('"'));
    // What it quotes itself it cuts.
    said.filter(|(message, _)| !message.ends_with('\\')).map_or(line, |(message, _)| message)
}

/// Whether it is a line of a block of comment, ` * so`, behind the number of a listing or in an output that has such.
fn is_starred(line: &str, has_comments: impl Fn() -> bool) -> bool {
    let plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b' ' | 9..=13 | b'|' | b':');
    match line.bytes().find(|byte| !plain(byte)) {
        Some(b'*' | 0x80..) => {}
        _ => return false,
    }
    let numbering =
        |c: char| c.is_ascii_digit() || c.is_whitespace() || matches!(c, '→' | '|' | ':');
    let rest = line.trim_start_matches(numbering);
    let before = &line[..line.len() - rest.len()];
    let is_numbered = before.bytes().any(|byte| byte.is_ascii_digit());
    rest.starts_with("* ") && before.ends_with(' ') && (is_numbered || has_comments())
}

fn comment(line: &str) -> Option<&str> {
    if !line.starts_with(['/', '#', '-', '<', '"']) {
        return None;
    }
    let marks = ["///", "//!", "//", "/**", "/*", "#", "--", "<!--", "\"\"\""];
    let inside = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(inside.trim_start_matches('#').trim_end_matches("-->").trim())
}

/// The strings of a line of JSON that read as prose; those of code are what a program may print some day.
fn strings(line: &str) -> impl Iterator<Item = &str> {
    let is_json = line.starts_with(['"', '{', '[']);
    let line = if is_json && line.contains('"') { line } else { "" };
    line.split('"')
        .flat_map(|string| string.split("\\n"))
        .map(|text| without_number(text.trim()))
        .filter(|text| is_prose(text, Mix::of(text)))
}

/// How many bytes of a text are letters or spaces, signs of code, and spaces.
#[derive(Clone, Copy, Debug)]
struct Mix {
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
    fn of(text: &str) -> Self {
        let counts = text.bytes().map(|byte| COUNTS[usize::from(byte)]).sum();
        Mix { counts, length: text.len() }
    }

    /// Signs that stand between words as words do are none of code's: `memory <= 512 MB`.
    fn without_operators(self, text: &str) -> Self {
        if self.signs() == 0 || self.length > MAX_ROW {
            return self;
        }
        Mix { counts: self.counts - ((operators(text) as u64) << 20), ..self }
    }

    fn letters(self) -> usize {
        self.counts as usize & 0xf_ffff
    }

    fn signs(self) -> usize {
        (self.counts >> 20) as usize & 0xf_ffff
    }

    /// Whether it has so many gaps and so many letters, in percent.
    fn reads(self, least_gaps: usize, least_letters: usize) -> bool {
        (self.counts >> 40) as usize >= least_gaps
            && self.letters() * 100 >= self.length * least_letters
            && self.signs() * 25 <= self.length
    }

    /// Whether most of it is words.
    fn reads_on(self) -> bool {
        self.reads(2, 72)
    }

    /// Whether more than half of it is words, and few signs are code's.
    fn reads_loosely(self) -> bool {
        self.letters() * 100 >= self.length * 60 && self.signs() * 12 <= self.length
    }
}

fn is_prose(text: &str, mix: Mix) -> bool {
    if !(MIN_LONG..=MAX_LONG).contains(&text.len()) || text.ends_with([';', '{', ',', '\\']) {
        return false;
    }
    // Without the box of a task it may read better.
    if !mix.reads_on() && !text.contains('[') {
        return false;
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

/// Whether a line that doesn't read as prose has words in it that may say something.
fn is_worded(text: &str, mix: Mix) -> bool {
    let is_fit =
        (MIN_LONG..=MAX_ROW).contains(&text.len()) && !text.ends_with([';', '{', ',', '\\', '>']);
    is_fit && mix.reads_loosely() && {
        const AROUND: [char; 7] = ['"', '\'', '(', ')', ',', ':', '.'];
        let words = text.split(' ').map(|word| word.trim_matches(AROUND)).filter(|word| {
            word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
        });
        words.take(3).count() == 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
