//! What a call was about and how it went, in few words. Strings are whole or left out.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::IgnoredAny;

use super::deeds::BETWEEN;
use crate::json::unquote;
use crate::specifics::{self, Class};
use crate::text::arguments::patched_files;
use crate::text::cut;
use crate::text::figure::counted;
use crate::text::outcome::{exit_code, judge, said};
use crate::text::salience::{Tell, tell};
use crate::text::{CallStatus, NO_RESULT};
use crate::tool::{Act, Call, FileDeed, Tests};

/// The longest argument that is said, and all of them, in bytes.
const MOST_VALUE: usize = 120;
const MOST_KEY: usize = 320;
/// Of a longer argument so much is said.
const MOST_HEAD: usize = 60;
/// The longest command line, error line and result.
const MOST_COMMAND: usize = 300;
const MOST_ERROR: usize = 140;
const MOST_RESULT: usize = 60;
/// Bytes of each end of an output in which a line that tells of a failure is looked for.
const MOST_SEEN: usize = 16 * 1024;
/// How a call went whose output is too long to be said.
pub(super) const ANSWERED: &str = "answered";
/// What stands before such a line where nothing else tells of a failure.
const SAYS: &str = "says: ";
/// What stands for it in few words.
const WARNED: &str = "with errors";

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
        let patched: Vec<_> = patched.into_iter().map(one_line).collect();
        return format!("{tool}({})", patched.join(BETWEEN));
    }
    if let (Act::Edit | Act::Write | Act::Delete, Some(path)) = (call.act, call.arguments.path()) {
        return format!("{tool}({})", one_line(&path));
    }
    let mut out = format!("{tool}({}", named(call));
    if call.arguments.is_empty() && !matches!(arguments.trim(), "" | "{}" | "null") {
        out.push_str(&whole_words(arguments, MOST_COMMAND));
    }
    out.push(')');
    out.strip_suffix("()").map(str::to_owned).unwrap_or(out)
}

/// A call that was said as `what`, by its tool and the file that it changed.
pub(super) fn file_key(what: &str, path: &str) -> String {
    let tool = what.split_once('(').map_or(what, |(tool, _)| tool);
    format!("{tool}({})", one_line(path))
}

/// A call's arguments by their names: short ones in full, of long ones the beginning. Short ones have room first. Those that are
/// an id, a path or an address stand first: they say what a call was done to.
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
            // An address of which a part is masked is still one.
            let most = MOST_HEAD.max(first_target(&value) + " […".len());
            let most = most.min(room_of_long.saturating_sub(name.len() + 3));
            Cow::Owned(whole_words(&value, most).into_owned())
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

/// The one file whose content comes back, if its name can stand in a label.
pub(super) fn shown_file(call: &Call<'_>) -> Option<String> {
    let own = call.arguments.path().map(Cow::into_owned);
    let shows = matches!(call.act, Act::Read | Act::Edit | Act::Write | Act::Delete);
    let mut read = call.shell.deeds.iter().filter(|(deed, _)| *deed == FileDeed::Read);
    let only = read.next().filter(|_| read.next().is_none()).map(|(_, path)| path.clone());
    let fits = |path: &String| {
        path.len() <= MOST_VALUE && !path.contains(|c: char| c.is_control() || c == ']')
    };
    own.filter(|_| shows).or(only).filter(fits)
}

/// What a call that only reads asked for: its files, else its first short argument.
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

/// How a call went, by its masked output.
pub(super) fn outcome(act: Act, output: &str, reported: CallStatus) -> String {
    let code = exit_code(output);
    let reported = reported.or_by(code);
    let bare = said(output);
    let bare = bare.trim();
    let verdict = judge(bare, reported);
    let tests = Tests::of(cut::tail(bare, 64 * 1024));
    let totals = tests.map(Tests::note).unwrap_or_default();
    // Totals say more than the first words do, and less than a status.
    let is_guessed = reported == CallStatus::Unknown;
    // Of several lines of commands the first needn't be how they went.
    let is_one = act != Act::Run || !bare.contains('\n');
    let is_bad = match tests {
        Some(tests) if is_guessed || !tests.are_well() => !tests.are_well(),
        _ => verdict.outcome == CallStatus::Error && (!is_guessed || is_one),
    };
    let is_zero = code == Some(0);
    let code = code.filter(|code| *code != 0);
    if is_bad || code.is_some() {
        let mut out = match code {
            Some(code) => format!("exit {code}"),
            None => "failed".to_owned(),
        };
        out.push_str(&totals);
        let reason = match act {
            _ if !totals.is_empty() => None,
            // Without an exit code the last words may say what ended it.
            Act::Run => {
                reason(bare, bare.lines().next_back().filter(|_| !is_guessed && code.is_none()))
            }
            // What a tool says of its failure is the reason.
            _ => verdict.line.map(|line| whole_words(line, MOST_ERROR).into_owned()),
        };
        if let Some(reason) = reason {
            let _ = write!(out, ": {reason}");
        }
        return out;
    }
    if bare.len() < 2 * NO_RESULT.len() && bare.contains(NO_RESULT) {
        return "no result".to_owned();
    }
    if let Some(tests) = tests {
        // What came behind them, nobody reported on.
        let behind = Some(bare).filter(|_| is_guessed && act == Act::Run).and_then(behind_totals);
        return match behind {
            Some(line) => {
                format!("{SAYS}{} (behind {} passed)", whole_words(line, MOST_ERROR), tests.passed)
            }
            None => format!("ok{totals}"),
        };
    }
    if !bare.is_empty()
        && bare.len() <= MOST_RESULT
        && !bare.contains('\n')
        && !bare.contains(" → ")
    {
        return cut::one_line(bare, MOST_RESULT);
    }
    let says = |line, most| format!("{SAYS}{}", whole_words(line, most));
    // Of a command's many lines none is the outcome, wherever it stands; of others the first tells.
    let is_data = bare.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(bare).is_ok();
    let first = if act == Act::Run && !is_data { None } else { bare.lines().next().map(str::trim) };
    let told = first.filter(|line| tell(line) >= Tell::Mention);
    // An editor shows the file behind that.
    if matches!(act, Act::Edit | Act::Write | Act::Delete) {
        return told.map_or("ok".to_owned(), |line| says(line, MOST_ERROR));
    }
    // Of others no status tells, as of a command in a pipe: their own words do, a failure's first.
    if let Some(line) = failure(bare, MOST_COMMAND) {
        let code = if is_zero { " (exit 0)" } else { "" };
        return format!("{SAYS}{line}{code}");
    }
    if let Some(line) = told {
        return says(line, MOST_COMMAND);
    }
    match first {
        // Of an object the first words say nothing of how it went.
        Some(_) if is_data => ANSWERED.to_owned(),
        Some(line) => whole_words(line, MOST_RESULT).into_owned(),
        None if verdict.outcome == CallStatus::Ok => "ok".to_owned(),
        None => Ending::of(bare).map_or("no output".to_owned(), |ending| ending.told()),
    }
}

/// Why a command failed, as far as its lines tell, the last one of which may say what ended it.
fn reason(output: &str, last: Option<&str>) -> Option<String> {
    let Some(mut reason) = failure(output, MOST_ERROR) else {
        let ending = Ending::of(output)?;
        return Some(if ending.is_all { ending.text } else { ending.told() });
    };
    let last = last.map(str::trim).filter(|last| !reason.starts_with(last));
    if let Some(last) = last {
        let _ = write!(reason, " / {}", whole_words(last, MOST_RESULT));
    }
    Some(reason)
}

/// The first line that states a failure, in at most `most` bytes, and how many do.
fn failure(output: &str, most: usize) -> Option<String> {
    let head = cut::head(output, MOST_SEEN);
    let tail = cut::tail(&output[head.len()..], MOST_SEEN);
    let lines = head.lines().chain(tail.lines()).map(str::trim);
    let mut failures = lines.filter(|line| tell(line) == Tell::Failure);
    let mut out = whole_words(failures.next()?, most).into_owned();
    let more = failures.count();
    if more > 0 {
        let is_seen = head.len() + tail.len() == output.len();
        let least = if is_seen { "" } else { "at least " };
        let _ = write!(out, " (1 of {least}{} such lines)", more + 1);
    }
    Some(out)
}

/// The first line behind all totals of tests that tells of a failure.
fn behind_totals(output: &str) -> Option<&str> {
    let tail = cut::tail(output, MOST_SEEN).lines().rev().map(str::trim);
    let behind = tail.take_while(|line| Tests::of(line).is_none());
    behind.filter(|line| matches!(tell(line), Tell::Mention | Tell::Failure)).last()
}

/// The last lines of an output that have room: what stands at the very end may be said behind every output.
struct Ending {
    text: String,
    /// Lines of the whole output.
    lines: usize,
    /// Whether the text is all of them, of equal neighbours one.
    is_all: bool,
}

impl Ending {
    fn of(output: &str) -> Option<Self> {
        // A shell that waits for the next command says nothing of this one.
        let is_prompt = |line: &str| line.ends_with(['$', '#']) && !line.contains(' ');
        let says = |line: &&str| {
            let is_code = line.len() <= MOST_RESULT && exit_code(line).is_some();
            !line.is_empty() && !is_code && !is_prompt(line)
        };
        let mut said: Vec<&str> = output.lines().map(str::trim).filter(says).collect();
        let lines = said.len();
        said.dedup();
        let mut text = whole_words(said.last()?, MOST_RESULT).into_owned();
        let mut shown = 1;
        for line in said.iter().rev().skip(1) {
            if line.len() + " / ".len() + text.len() > MOST_ERROR {
                break;
            }
            text.insert_str(0, &format!("{} / ", whole_words(line, MOST_ERROR)));
            shown += 1;
        }
        Some(Ending { text, lines, is_all: shown == said.len() })
    }

    fn told(&self) -> String {
        let of = if self.is_all { "" } else { ", last" };
        format!("{} of output{of}: {}", counted(self.lines, "line"), self.text)
    }
}

/// Whether what was said of a call by [`key`] is all of it, verbatim. Of a file that was changed its name is.
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
fn one_line(text: &str) -> Cow<'_, str> {
    whole_words(text, usize::MAX)
}

/// Whether what [`outcome`] said is no success.
pub(super) fn is_bad(went: &str) -> bool {
    went.starts_with(SAYS) || matches!(went, WARNED | "no result") || has_failed(went)
}

/// Whether what [`outcome`] said is a failure.
pub(super) fn has_failed(went: &str) -> bool {
    ["failed", "exit "].iter().any(|start| went.starts_with(start))
}

/// The same in at most `most` bytes, where words have no room.
pub(super) fn brief(went: &str, most: usize) -> &str {
    // Of a failure the words behind the colon may leave; of an output a part says something else.
    let kind = went.split_once(": ").map_or(went, |(kind, _)| kind);
    match went {
        _ if went.starts_with(SAYS) => WARNED,
        _ if has_failed(kind) && kind.len() <= most => kind,
        _ if went.len() <= most => went,
        _ => ANSWERED,
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
    let words = words.filter(|word| !word.is_empty() && *word != "→" && !word.starts_with('×'));
    let mut out = String::new();
    for word in words {
        let gap = if out.is_empty() { "" } else { " " };
        let room = most.saturating_sub(out.len() + gap.len() + " …".len());
        if word.len() <= room {
            out.push_str(gap);
            out.push_str(word);
            continue;
        }
        // JSON has no spaces: its first strings are whole, too.
        let head = &word[..specifics::floor(word, room)];
        if head.len() <= room && !head.is_empty() {
            out.push_str(gap);
            out.push_str(head);
        }
        out.push_str(if out.is_empty() { "…" } else { " …" });
        break;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_show_their_beginning() {
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
            "calculate(expression=5244.75 + 5244.75 + 5244.75 + 5244.75 + 5244.75 + …)"
        );
        let long = "x".repeat(400);
        assert_eq!(of("send", &format!(r#"{{"to":"mia","body":"{long}"}}"#)), "send(to=mia, …)");
    }
}
