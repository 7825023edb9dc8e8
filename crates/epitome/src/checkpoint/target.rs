//! What a call was about and how it went, in few words. Strings are whole or left out.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::json::unquote;
use crate::text::arguments::patched_files;
use crate::text::cut;
use crate::text::outcome::judge;
use crate::text::telling::{Tell, tell};
use crate::text::{Outcome, secrets::masked};
use crate::tool::{Act, Call, FileDeed, Tests};

/// The longest argument that is said, and all of them, in bytes.
const MOST_VALUE: usize = 120;
const MOST_KEY: usize = 320;
/// The longest command line, error line and result.
const MOST_COMMAND: usize = 300;
const MOST_ERROR: usize = 140;
const MOST_RESULT: usize = 60;

/// A call by its tool and key arguments: `Edit(src/a.rs)`, `Bash(cargo test)`, `book(id=JG7FMM)`. `arguments` are masked.
pub(super) fn key(tool: &str, arguments: &str, call: &Call<'_>) -> String {
    let tool =
        if tool.trim().is_empty() { "unknown".to_owned() } else { cut::one_line(tool, usize::MAX) };
    if let Some(line) = &call.line {
        return format!("{tool}({})", whole_words(line, MOST_COMMAND));
    }
    let patch = call.arguments.patch();
    let patch = if call.arguments.is_empty() { Some(Cow::Borrowed(arguments)) } else { patch };
    let patched: Vec<&str> = patch
        .as_deref()
        .map(|patch| patched_files(patch).map(|(_, path)| path).collect())
        .unwrap_or_default();
    if !patched.is_empty() {
        return format!("{tool}({})", patched.join(", "));
    }
    if let (Act::Edit | Act::Write | Act::Delete, Some(path)) = (call.act, call.arguments.path()) {
        return format!("{tool}({path})");
    }
    let mut out = format!("{tool}(");
    let mut gap = "";
    let mut is_cut = false;
    for (name, raw) in call.arguments.all() {
        let value = if raw.starts_with('"') { unquote(raw) } else { Cow::Borrowed(raw) };
        let is_short = value.len() <= MOST_VALUE && !value.contains('\n');
        if !is_short || out.len() + name.len() + value.len() > MOST_KEY {
            is_cut = true;
            continue;
        }
        let _ = write!(out, "{gap}{name}={value}");
        gap = ", ";
    }
    if is_cut {
        let _ = write!(out, "{gap}…");
    }
    if call.arguments.is_empty() && !matches!(arguments.trim(), "" | "{}" | "null") {
        out.push_str(&whole_words(arguments, MOST_COMMAND));
    }
    out.push(')');
    out.strip_suffix("()").map(str::to_owned).unwrap_or(out)
}

/// What a call that only reads asked for: its files, else its first short argument.
pub(super) fn target(call: &Call<'_>) -> Vec<String> {
    let read = call
        .shell
        .deeds
        .iter()
        .filter(|(deed, _)| matches!(deed, FileDeed::Read | FileDeed::Search));
    let mut files: Vec<String> = read.map(|(_, path)| path.clone()).collect();
    if let Some(line) = &call.line {
        if files.is_empty() {
            files.push(whole_words(line, MOST_VALUE).into_owned());
        }
        return files;
    }
    if let Some(path) = call.arguments.path().filter(|_| call.act == Act::Read) {
        return vec![path.into_owned()];
    }
    let values = call
        .arguments
        .all()
        .map(|(_, raw)| if raw.starts_with('"') { unquote(raw) } else { Cow::Borrowed(raw) });
    let short =
        |value: &Cow<'_, str>| (2..=MOST_VALUE).contains(&value.len()) && !value.contains('\n');
    values.filter(short).take(1).map(Cow::into_owned).collect()
}

/// How a call went, by its masked output.
pub(super) fn outcome(output: &str, reported: Outcome) -> String {
    let verdict = judge(output, reported);
    let tests = Tests::of(cut::tail(output, 64 * 1024));
    let totals = tests.map(Tests::note).unwrap_or_default();
    let is_bad = verdict.outcome == Outcome::Error || tests.is_some_and(|tests| !tests.are_well());
    let code = verdict.exit_code.filter(|code| *code != 0);
    if is_bad || code.is_some() {
        let mut out = match code {
            Some(code) => format!("exit {code}"),
            None => "failed".to_owned(),
        };
        out.push_str(&totals);
        let says = |line: &&str| totals.is_empty() && tell(line) >= Tell::Warning;
        if let Some(line) = verdict.line.filter(says) {
            let _ = write!(out, ": {}", whole_words(line, MOST_ERROR));
        }
        return out;
    }
    let bare = output.trim();
    if !totals.is_empty() {
        return format!("ok{totals}");
    }
    if !bare.is_empty()
        && bare.len() <= MOST_RESULT
        && !bare.contains('\n')
        && !bare.contains(" → ")
    {
        return cut::one_line(bare, MOST_RESULT);
    }
    "ok".to_owned()
}

/// The beginning of a text on one line, in at most `most` bytes; it ends where a word does, and says so.
pub(super) fn whole_words(text: &str, most: usize) -> Cow<'_, str> {
    let text = text.trim();
    let is_plain = text.len() <= most && !text.contains(|c: char| c.is_control());
    if is_plain && !text.contains(" → ") && !text.contains(" ×") {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for word in
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
    {
        if matches!(word, "→") || word.starts_with('×') {
            continue;
        }
        if out.len() + word.len() + 3 > most {
            out.push_str(if out.is_empty() { "…" } else { " …" });
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

/// A call's arguments, with secrets masked.
pub(super) fn masked_arguments(arguments: &str) -> Cow<'_, str> {
    masked(arguments)
}
