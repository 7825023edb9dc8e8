//! A record in a tool's output: what something is called and how it is, as fields side by side, `"name": "support line",
//! "value": "0800 22"`, on one line or on lines of their own; and a field that a difference changes.
//!
//! One field says what the record is about, in words; another one, by its name, what the record says of that. Fields that
//! programs name for themselves tell neither.

use memchr::memchr;

use super::Kind;
use super::cues::state_of;
use super::language::Cue;
use super::output::{Mix, without_number};

/// Fields that say what a record is about.
const ABOUT: [&str; 20] = [
    "name",
    "key",
    "label",
    "title",
    "field",
    "setting",
    "metric",
    "subject",
    "on",
    "item",
    "parameter",
    "topic",
    "task",
    "property",
    "option",
    "what",
    "measure",
    "summary",
    "issue",
    "todo",
];
/// Of these the ones whose state is a task's.
const TASKS: [&str; 7] = ["task", "todo", "issue", "item", "title", "summary", "subject"];
/// Fields of one record, and bytes of those.
const MOST_FIELDS: usize = 6;
const MAX_RECORD: usize = 240;
/// Longer values are texts.
const MAX_VALUE: usize = 120;
const MAX_NAME: usize = 12;
/// Longer labels of a field that was changed are sentences.
const MAX_LABEL: usize = 60;

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// Its fields, without what a format puts around them: `name: support line; value: 0800 22`.
    pub(super) text: String,
    /// The same as somebody says it: `support line: 0800 22`.
    pub(super) said: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field<'t> {
    name: &'t str,
    value: &'t str,
}

/// How many bytes at the beginning of `output` are a record.
pub(super) fn length(output: &str) -> Option<usize> {
    let bytes = output.as_bytes();
    if bytes.first() == Some(&b'-') && !matches!(bytes.get(1), Some(b' ' | b'-')) {
        return changed(output).map(|(_, length)| length);
    }
    let (fields, length) = fields(output)?;
    kind(&fields).map(|_| length)
}

/// What a record says, of its bytes.
pub(super) fn read(raw: &str) -> Option<Record> {
    if let Some((text, _)) = changed(raw) {
        return Some(Record { kind: Kind::Fact, said: text.clone(), text });
    }
    let (fields, _) = fields(raw)?;
    let kind = kind(&fields)?;
    // What parts fields parts no value.
    let all: Vec<String> = (fields.iter())
        .map(|field| format!("{}: {}", field.name, field.value.replace("; ", ", ")))
        .collect();
    let text = all.join("; ");
    let said = worded(&text)?;
    Some(Record { kind, text, said })
}

/// The text of a record as somebody says it, if it is one of fields.
pub(super) fn worded(text: &str) -> Option<String> {
    let parse = |part| {
        let (name, value) = str::split_once(part, ": ")?;
        Some(Field { name, value })
    };
    let fields: Vec<Field<'_>> = text.split("; ").map(parse).collect::<Option<_>>()?;
    kind(&fields).map(|_| said(&fields))
}

/// `upload size max: 40 MB`, so that it isn't taken for another field of the same; a value and a state need no name.
fn said(fields: &[Field<'_>]) -> String {
    let (about, rest) = (&fields[0], &fields[1..]);
    let name = rest.iter().find(|field| field.kind(about).is_some()).map_or("", |field| field.name);
    let name = match name {
        "value" | "current" | "status" | "state" => "",
        name => name,
    };
    let gap = if name.is_empty() { "" } else { " " };
    let values: Vec<&str> = rest.iter().map(|field| field.value).collect();
    format!("{}{gap}{name}: {}", about.value, values.join(", "))
}

/// What fields of which the first says what they are about say of it.
fn kind(fields: &[Field<'_>]) -> Option<Kind> {
    let (about, rest) = fields.split_first()?;
    if !ABOUT.contains(&about.name) || !is_said(about.value) {
        return None;
    }
    rest.iter().find_map(|field| field.kind(about))
}

/// Whether somebody would call something so: in words, not by a name of code.
fn is_said(value: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '\'' | '’' | ',' | '?');
    value.trim().contains(' ')
        && value.chars().all(is_plain)
        && Mix::of(value).letters() * 100 >= value.len() * 80
}

impl Field<'_> {
    /// What it says of what `about` names.
    fn kind(&self, about: &Field<'_>) -> Option<Kind> {
        if matches!(self.value, "null" | "none" | "None" | "undefined" | "~") {
            return None;
        }
        Some(match self.name {
            "value" | "current" | "answer" | "owner" | "assignee" => Kind::Fact,
            "max" | "min" | "maximum" | "minimum" | "limit" | "threshold" => Kind::Constraint,
            "target" | "goal" => Kind::Goal,
            "decision" | "resolution" | "chosen" => Kind::Decision,
            "preferred" | "preference" => Kind::Preference,
            "status" | "state" => match state_of(self.value)? {
                _ if !TASKS.contains(&about.name) => Kind::Fact,
                Cue::Done => Kind::Done,
                Cue::Underway => Kind::Underway,
                Cue::Blocked => Kind::Blocked,
                _ => Kind::Open,
            },
            _ => return None,
        })
    }

    /// Whether its value is a sentence, which says something by itself.
    fn is_sentence(&self) -> bool {
        self.value.ends_with(['.', '!']) && self.value.contains(' ')
    }
}

/// The fields that `output` begins with, and how many bytes they take.
fn fields(output: &str) -> Option<(Vec<Field<'_>>, usize)> {
    let bytes = output.as_bytes();
    let mut indent = margin(output);
    while matches!(bytes.get(indent), Some(b'{' | b' ')) {
        indent += 1;
    }
    if bytes[indent..].starts_with(b"- ") {
        indent += 2;
    }
    let is_quoted = bytes.get(indent) == Some(&b'"');
    let from = indent + usize::from(is_quoted);
    let mut end = from;
    while end <= from + MAX_NAME && bytes.get(end).is_some_and(u8::is_ascii_lowercase) {
        end += 1;
    }
    // Most lines end here.
    if !matches!(bytes.get(end), Some(b'"' | b':')) || !ABOUT.contains(&&output[from..end]) {
        return None;
    }
    let (mut found, mut at) = (Vec::new(), indent);
    let mut end = 0;
    while found.len() < MOST_FIELDS {
        let parsed = if is_quoted { quoted(&output[at..]) } else { plain(&output[at..]) };
        let Some((field, length)) = parsed.filter(|(_, length)| at + length <= MAX_RECORD) else {
            break;
        };
        // Another record, or something that is said by itself.
        if found.iter().any(|known: &Field<'_>| known.name == field.name)
            || !found.is_empty() && field.is_sentence()
        {
            break;
        }
        found.push(field);
        end = at + length;
        // The next one, on the same line or as far in on the next.
        let rest = output[end..].trim_start_matches([',', ' ', '\r']);
        let gap = output.len() - end - rest.len();
        at = end + gap;
        let Some(next) = rest.strip_prefix('\n') else { continue };
        if margin(next) != indent {
            break;
        }
        at += 1 + indent;
    }
    (found.len() > 1).then_some((found, end))
}

/// How far in the first line of `text` begins, behind the number that a listing puts before it.
fn margin(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut spaces = 0;
    while matches!(bytes.get(spaces), Some(b' ' | b'\t')) {
        spaces += 1;
    }
    if !bytes.get(spaces).is_some_and(u8::is_ascii_digit) {
        return spaces;
    }
    let line = &text[..memchr(b'\n', bytes).unwrap_or(text.len())];
    line.len() - without_number(&line[spaces..]).len()
}

/// Whether what stands behind a name is one short value, not code, which ends and sets otherwise.
fn is_short(value: &str) -> bool {
    (1..=MAX_VALUE).contains(&value.len()) && !value.ends_with([';', ',', '{'])
}

/// `"name": "value"`, and how many bytes it takes.
fn quoted(text: &str) -> Option<(Field<'_>, usize)> {
    let (name, rest) = text.strip_prefix('"')?.split_once('"')?;
    let bare = rest.strip_prefix(':')?.trim_start_matches(' ');
    let (value, behind) = if let Some(inner) = bare.strip_prefix('"') {
        inner.split_once('"')?
    } else {
        let is_end = |c: char| matches!(c, ',' | '}' | ']' | '\n' | '\r' | ' ');
        bare.split_at(bare.find(is_end).unwrap_or(bare.len()))
    };
    let is_one = is_short(value) && !value.contains(['\\', '\n', '{', '[']) && !name.contains('\n');
    is_one.then_some((Field { name, value }, text.len() - behind.len()))
}

/// `name: value`, to the end of its line.
fn plain(text: &str) -> Option<(Field<'_>, usize)> {
    let line = text.split('\n').next()?;
    let (name, value) = line.split_once(": ")?;
    let is_name = !name.is_empty()
        && name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let value = value.trim();
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let value = inner.unwrap_or(value);
    let is_one = is_short(value) && !value.starts_with(['{', '[', '|', '>', '&', '*', '!']);
    (is_name && is_one).then_some((Field { name, value }, line.trim_end().len()))
}

/// A field in words that a difference changes, `-support line: 0800 22` before `+support line: 0900 11`, as what it is
/// and what it was; and how many bytes both lines take.
fn changed(output: &str) -> Option<(String, usize)> {
    let mut lines = output.splitn(3, '\n');
    let (old, new) = (lines.next()?, lines.next()?);
    let (label, was) = old.strip_prefix('-')?.split_once(": ")?;
    let (same, is) = new.strip_prefix('+')?.split_once(": ")?;
    let (was, is) = (was.trim(), is.trim());
    let calls = |value: &str| value.contains('(') && !value.contains(" (");
    let is_one = |value: &str| is_short(value) && !value.contains('=') && !calls(value);
    let is_field = label == same
        && label.len() <= MAX_LABEL
        && is_said(label)
        && is_one(was)
        && is_one(is)
        && was != is;
    is_field.then(|| {
        (format!("{}: {is} (was {was})", label.trim()), old.len() + 1 + new.trim_end().len())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(output: &str) -> Option<(Kind, String)> {
        let record = read(&output[..length(output)?])?;
        Some((record.kind, record.text))
    }

    #[test]
    fn what_it_is_about_and_what_it_says_make_a_record() {
        for (output, kind, text) in [
            (
                "  \"name\": \"support line\",\n  \"value\": \"0800 22\"\n}",
                Kind::Fact,
                "name: support line; value: 0800 22",
            ),
            (
                "{\"on\": \"upload size\", \"max\": 40, \"unit\": \"MB\"}",
                Kind::Constraint,
                "on: upload size; max: 40; unit: MB",
            ),
            (
                "  metric: checkout load time\n  target: 900 ms\nnext:\n",
                Kind::Goal,
                "metric: checkout load time; target: 900 ms",
            ),
            (
                "- task: port the lexer\n  status: blocked\n  needs: a review\n\n",
                Kind::Blocked,
                "task: port the lexer; status: blocked; needs: a review",
            ),
            (
                "title: Port the lexer\nstatus: in_progress\ntitle: Write the docs\nstatus: open\n",
                Kind::Underway,
                "title: Port the lexer; status: in_progress",
            ),
            (
                "{\"name\": \"Acme Europe\", \"status\": \"active\", \"note\": \"We never deploy on Fridays.\"}",
                Kind::Fact,
                "name: Acme Europe; status: active",
            ),
            (
                "task: mend the fence\nneeds: rope; nails\nstatus: blocked\n",
                Kind::Blocked,
                "task: mend the fence; needs: rope, nails; status: blocked",
            ),
            (
                "name: служба поддержки\nvalue: 0800 22\n",
                Kind::Fact,
                "name: служба поддержки; value: 0800 22",
            ),
            (
                "     9→  - name: support line\n    10→    value: 0800 22\n",
                Kind::Fact,
                "name: support line; value: 0800 22",
            ),
            (
                "-support line: 0800 22\n+support line: 0900 11\n",
                Kind::Fact,
                "support line: 0900 11 (was 0800 22)",
            ),
        ] {
            assert_eq!(self::text(output), Some((kind, text.to_owned())), "{output}");
        }
    }

    #[test]
    fn what_programs_name_for_themselves_is_none() {
        for output in [
            "\"name\": \"limit\",\n\"value\": \"0800 22\"",
            "\"name\": \"support line\",\n\"in\": \"query\"",
            "\"name\": \"support line\",\n    \"value\": \"0800 22\"",
            "name: support line\n",
            "title: The support line\nstatus: 200\n",
            "\"name\": \"support line\",\n\"owner\": null",
            "label: 'Save changes',\nvalue: 'save',",
            "\n\n\"name\": \"support line\",\n\"value\": \"0800 22\"",
            "name: support line\n\n\nvalue: 0800 22",
            "-let a: u8 = 1;\n+let a: u8 = 2;",
            "-support line: 0800 22\n+opening hours: 9 to 5\n",
            "---\n+++ support line: 2",
        ] {
            assert_eq!(text(output), None, "{output}");
        }
    }

    #[test]
    fn its_words_are_said_of_what_it_is_about() {
        let said = worded("name: support line; value: 0800 22");
        assert_eq!(said.as_deref(), Some("support line: 0800 22"));
        // Its least is not its most.
        let said = worded("on: upload size; unit: MB; max: 40");
        assert_eq!(said.as_deref(), Some("upload size max: MB, 40"));
        assert_eq!(worded("support line: 0800 22"), None);
        assert_eq!(worded("name: support line; and so on"), None);
    }

    proptest! {
        #[test]
        fn any_output_is_read(output in "([ {\"-]{0,3}(name|value|on|max|é|a b|: |\", \"|\": \"|\n){0,12})") {
            if let Some(length) = length(&output) {
                prop_assert!(read(&output[..length]).is_some());
            }
        }
    }
}
