//! The target of a call, in few words. Strings are whole or left out.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::deeds::BETWEEN;
use crate::json::unquote;
use crate::specifics::{self, Class};
use crate::text::arguments::patched_files;
use crate::text::cut;
use crate::tool::{Act, Call, FileDeed};

/// The longest argument that is shown, and all of them, in bytes.
const MOST_VALUE: usize = 120;
const MOST_KEY: usize = 320;
/// How much of a longer argument is shown.
const MOST_ENDS: usize = 96;
/// The longest command line, error line and result.
pub(super) const MOST_COMMAND: usize = 300;
pub(super) const MOST_ERROR: usize = 140;
pub(super) const MOST_RESULT: usize = 60;
/// How many of a command's other arguments are shown.
const MOST_PLACES: usize = 3;
/// The longest name of a record that stands in a label, and of a place.
const MOST_RECORD: usize = 48;

/// A call by its tool and key arguments: `Edit(src/a.rs)`, `Bash(cargo test)`, `book(id=JG7FMM)`. `arguments` are masked.
pub(super) fn key(tool: &str, arguments: &str, call: &Call<'_>) -> String {
    let tool =
        if tool.trim().is_empty() { "unknown".to_owned() } else { cut::one_line(tool, usize::MAX) };
    if let Some(line) = &call.line {
        return format!("{tool}({}{})", places(call), ends(line, MOST_COMMAND));
    }
    let patch = call.arguments.patch();
    let patch = if call.arguments.is_empty() { Some(Cow::Borrowed(arguments)) } else { patch };
    let patched: Vec<&str> = patch
        .as_deref()
        .map(|patch| patched_files(patch).map(|(_, path)| path).collect())
        .unwrap_or_default();
    if !patched.is_empty() {
        let patched: Vec<_> = patched.into_iter().map(one_line).collect();
        return format!("{tool}({})", patched.join(BETWEEN));
    }
    if let (Act::Edit | Act::Write | Act::Delete, Some(path)) = (call.act, call.arguments.path()) {
        return format!("{tool}({})", one_line(&path));
    }
    let mut said = named(call);
    if call.arguments.is_empty() && !matches!(arguments.trim(), "" | "{}" | "null") {
        said.push_str(&whole_words(arguments, MOST_COMMAND));
    }
    if said.is_empty() { tool } else { format!("{tool}({said})") }
}

/// Arguments of a command beside its line, shown before it: a host, a cluster. Paths are left out, because the line names
/// them.
fn places(call: &Call<'_>) -> String {
    let texts = call.arguments.all().filter(|(name, raw)| {
        raw.starts_with('"') && !matches!(*name, "description" | "explanation" | "shell")
    });
    let is_place = |value: &str| {
        value.len() <= MOST_RECORD
            && value.starts_with(char::is_alphanumeric)
            && value.contains(char::is_alphabetic)
            && !value.contains(char::is_whitespace)
            && !matches!(value, "true" | "false" | "null")
    };
    let values = texts.map(|(_, raw)| unquote(raw));
    let values = values.filter(|value| is_place(value) && call.line.as_deref() != Some(value));
    values.take(MOST_PLACES).flat_map(|value| [value, ": ".into()]).collect()
}

/// A call shown as `what`, by its tool and the file that it changed.
pub(super) fn file_key(what: &str, path: &str) -> String {
    let tool = what.split_once('(').map_or(what, |(tool, _)| tool);
    format!("{tool}({})", one_line(path))
}

/// A call's arguments with their names: short ones in full, the beginning of long ones. Short ones get room first. Ids, paths
/// and addresses come first: they name the target.
fn named(call: &Call<'_>) -> String {
    let all = call.arguments.all().map(|(name, raw)| {
        let value = if raw.starts_with('"') { unquote(raw) } else { Cow::Borrowed(raw) };
        let most = if is_target(&value) { MOST_COMMAND } else { MOST_VALUE };
        let is_short = value.len() <= most && !value.contains('\n');
        (name, value, is_short)
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, value, is_short)| match first_target(value) {
        0 => 2,
        length if *is_short && length == value.len() => 0,
        _ => 1,
    });
    let short = all.iter().filter(|(.., is_short)| *is_short);
    let mut room_of_long =
        MOST_KEY.saturating_sub(short.map(|(name, value, _)| name.len() + value.len() + 3).sum());
    let mut out = String::new();
    let mut is_cut = false;
    for (name, value, is_short) in all {
        let name = one_line(name);
        let value: Cow<'_, str> = if is_short {
            Cow::Owned(one_line(&value).into_owned())
        } else {
            // A partly masked address is still one.
            let most = MOST_ENDS.max(first_target(&value) + " […".len());
            let most = most.min(room_of_long.saturating_sub(name.len() + 3));
            // The topic of a statement or a message may stand at its end.
            Cow::Owned(ends(&value, most))
        };
        if out.len() + name.len() + value.len() > MOST_KEY || value == "…" {
            is_cut = true;
            continue;
        }
        if !is_short {
            room_of_long = room_of_long.saturating_sub(name.len() + value.len() + 3);
        }
        let gap = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{gap}{name}={value}");
    }
    if is_cut {
        out.push_str(if out.is_empty() { "…" } else { ", …" });
    }
    out
}

/// The one file or record whose content comes back, if its name can stand in a label.
pub(super) fn shown(call: &Call<'_>) -> Option<String> {
    let own = call.arguments.path().map(Cow::into_owned);
    let shows = matches!(call.act, Act::Read | Act::Edit | Act::Write | Act::Delete);
    let mut read = call.shell.deeds.iter().filter(|(deed, _)| *deed == FileDeed::Read);
    let only = read.next().filter(|_| read.next().is_none()).map(|(_, path)| path.clone());
    let mut records = records(call);
    let record = records.next().filter(|one| records.next().is_none() && one.len() <= MOST_RECORD);
    let fits = |name: &String| {
        name.len() <= MOST_VALUE && !name.contains(|c: char| c.is_control() || c == ']')
    };
    own.filter(|_| shows).or(only).or(record).filter(fits)
}

/// The arguments of a call that are an id, a path, an address or a name: its target. A command line has none.
pub(super) fn records(call: &Call<'_>) -> impl Iterator<Item = String> {
    let values = call.arguments.all().map(|(_, raw)| raw).filter(|raw| raw.starts_with('"'));
    let values = values.filter(|_| call.line.is_none()).map(|raw| unquote(raw).into_owned());
    values.filter(|value| is_target(value))
}

/// The target of a reading call: its files, else its first short argument.
pub(super) fn target(call: &Call<'_>) -> Vec<String> {
    let read = call
        .shell
        .deeds
        .iter()
        .filter(|(deed, _)| matches!(deed, FileDeed::Read | FileDeed::Search));
    let mut files: Vec<String> = read.map(|(_, path)| one_line(path).into_owned()).collect();
    if let Some(line) = &call.line {
        if files.is_empty() {
            files.push(whole_words(line, MOST_VALUE).into_owned());
        }
        return files;
    }
    if let Some(path) = call.arguments.path().filter(|_| call.act == Act::Read) {
        return vec![one_line(&path).into_owned()];
    }
    let values = call
        .arguments
        .all()
        .map(|(_, raw)| if raw.starts_with('"') { unquote(raw) } else { Cow::Borrowed(raw) });
    let short =
        |value: &Cow<'_, str>| (2..=MOST_VALUE).contains(&value.len()) && !value.contains('\n');
    values.filter(short).take(1).map(|value| one_line(&value).into_owned()).collect()
}

/// The short arguments of a call that only asks, together.
pub(super) fn asked_with(call: &Call<'_>) -> Option<String> {
    let values = call.arguments.all().map(|(_, raw)| unquote(raw));
    let short = |value: &Cow<'_, str>| !value.contains('\n') && value.len() <= MOST_VALUE;
    let values: Vec<_> = values.filter(short).collect();
    let whole = one_line(&values.join(", ")).into_owned();
    (values.len() > 1 && call.line.is_none() && whole.len() <= MOST_VALUE).then_some(whole)
}

/// Whether `what`, the [`key`] of a call, has all of its arguments verbatim.
pub(super) fn says_all(what: &str, call: &Call<'_>) -> bool {
    let is_said = |value: &str| what.contains(value);
    match &call.line {
        Some(line) => is_said(line),
        None => call.arguments.all().all(|(_, raw)| is_said(&unquote(raw))),
    }
}

/// Whether a value is nothing but one id, path, address or name.
pub(super) fn is_target(value: &str) -> bool {
    !value.is_empty() && first_target(value) == value.len()
}

/// Bytes of the id, path, address or name that a value begins with; 0 where it begins with none.
fn first_target(value: &str) -> usize {
    let is = |class| !matches!(class, Class::Number | Class::Quoted | Class::Error);
    let first = specifics::specifics(value).next();
    first.filter(|one| one.at == 0 && is(one.class)).map_or(0, |one| one.text.len())
}

/// A text on one line, whatever its length.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    whole_words(text, usize::MAX)
}

/// A word that is no mark of this lane: `->` for an arrow, `x3` for `×3`.
pub(super) fn plain_word(word: &str) -> Cow<'_, str> {
    match word.strip_prefix('×') {
        Some(rest) => format!("x{rest}").into(),
        None if word.trim_end_matches([',', ':']) == "→" => word.replace('→', "->").into(),
        None => word.into(),
    }
}

/// The beginning of a text on one line, in at most `most` bytes; it ends where a word does, and says so. It holds no mark that
/// a line of this lane is read back by.
pub(super) fn whole_words(text: &str, most: usize) -> Cow<'_, str> {
    let text = text.trim();
    let is_plain = text.len() <= most && !text.contains(|c: char| c.is_control());
    if is_plain && !text.contains(" → ") && !text.contains(" ×") {
        return Cow::Borrowed(text);
    }
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty()).map(plain_word);
    let mut out = String::new();
    for word in words {
        let gap = if out.is_empty() { "" } else { " " };
        let room = most.saturating_sub(out.len() + gap.len() + " …".len());
        if word.len() <= room {
            out.push_str(gap);
            out.push_str(&word);
            continue;
        }
        // JSON has no spaces: its first strings are whole, too.
        let head = &word[..specifics::floor(&word, room)];
        if head.len() <= room && !head.is_empty() {
            out.push_str(gap);
            out.push_str(head);
        }
        out.push_str(if out.is_empty() { "…" } else { " …" });
        break;
    }
    Cow::Owned(out)
}

/// The beginning and the end of a text on one line, without rulers and repeats, in at most `most` bytes: the last words may
/// matter most.
pub(super) fn whole_ends(text: &str, most: usize) -> String {
    // In so much of each end both ends of the line stand.
    let head = cut::head(text, 8 * MOST_COMMAND);
    let tail = cut::tail(&text[head.len()..], 8 * MOST_COMMAND);
    let lines = head.lines().chain(tail.lines()).map(settled).filter(|line| !is_ruler(line));
    let mut lines: Vec<&str> = lines.collect();
    lines.dedup();
    if lines.is_empty() {
        return whole_words(text, most).into_owned();
    }
    let text = one_line(&lines.join(" / ")).into_owned();
    if text.len() <= most && tail.is_empty() {
        return text;
    }
    first_and_last(&text, most, " / ")
}

/// The first and the last words of a text on one line, in at most `most` bytes. Both may be needed: a command's target stands in its
/// end, that of a statement, too.
fn ends(text: &str, most: usize) -> String {
    let head = cut::head(text, 8 * MOST_COMMAND);
    let tail = cut::tail(&text[head.len()..], 8 * MOST_COMMAND);
    let text = [one_line(head), one_line(tail)].concat();
    if text.len() <= most && tail.is_empty() { text } else { first_and_last(&text, most, " ") }
}

/// The beginning of a line, and as much of its end as `most` bytes have room for: from behind a `gap`, else a space.
fn first_and_last(line: &str, most: usize, gap: &str) -> String {
    let head = whole_words(line, most * 3 / 5);
    let tail = cut::tail(line, most.saturating_sub(head.len() + gap.len()));
    // Words of two lines make no third.
    let behind = |gap: &str| tail.split_once(gap).map(|(_, rest)| format!("{gap}{rest}"));
    let tail = behind(gap).or_else(|| behind(" ")).unwrap_or_default();
    format!("{head}{tail}").trim_end().to_owned()
}

/// Whether a line is nothing but signs and strokes.
pub(super) fn is_ruler(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_punctuation() || ('\u{2500}'..='\u{257f}').contains(&c))
}

/// What a terminal shows of the line in the end: a carriage return overwrites the text before it.
pub(super) fn settled(line: &str) -> &str {
    let line = line.trim();
    line.rsplit('\r').next().unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_show_their_ends() {
        let of = |tool: &str, arguments: &str| key(tool, arguments, &Call::read(tool, arguments));
        let flights = r#"[{"flight_number":"HAT276","date":"2024-05-21"},{"flight_number":"HAT279","date":"2024-05-22"},
            {"flight_number":"HAT280","date":"2024-05-23"}]"#;
        let arguments = format!(r#"{{"flights":{flights},"id":"JG7FMM","cabin":"economy"}}"#);
        assert_eq!(
            of("update_flights", &arguments),
            r#"update_flights(id=JG7FMM, flights=[{"flight_number":"HAT276","date":"2024-05-21"},{" …, cabin=economy)"#
        );
        let sum = vec!["5244.75"; 40].join(" + ");
        assert_eq!(
            of("calculate", &format!(r#"{{"expression":"{sum}"}}"#)),
            "calculate(expression=5244.75 + 5244.75 + 5244.75 + 5244.75 + 5244.75 + … + 5244.75 + 5244.75 + 5244.75 + 5244.75)"
        );
        let columns = ["reviewed_by = 'agent-7'"; 9].join(", ");
        let update = format!("UPDATE customers SET {columns} WHERE region = 'EU'");
        assert_eq!(
            of("run_sql", &serde_json::json!({ "sql": update }).to_string()),
            "run_sql(sql=UPDATE customers SET reviewed_by = 'agent-7', … reviewed_by = 'agent-7' WHERE region = 'EU')"
        );
        let long = "x".repeat(400);
        assert_eq!(of("send", &format!(r#"{{"to":"mia","body":"{long}"}}"#)), "send(to=mia, …)");
    }
}
