//! How a call went, in few words. Strings are whole or left out.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write as _;

use super::deeds::BETWEEN;
use super::ending::{Ending, LineKinds};
use super::failure_lines::{
    Echo, EchoKind, behind_totals, failed_tests, failure, own_words, states_newly,
};
use super::members::{ANSWERED, Members};
use super::target::{
    MOST_COMMAND, MOST_ERROR, MOST_RESULT, one_line, plain_word, whole_ends, whole_words,
};
use crate::specifics::specifics;
use crate::text::cut;
use crate::text::outcome::{Verdict, exit_code, judge, said, untagged};
use crate::text::salience::{Tell, tell};
use crate::text::{CallStatus, NO_RESULT};
use crate::tool::{Act, Tests};

/// Precedes a line that reports a failure, if nothing else precedes it.
const SAYS: &str = "says: ";
/// Precedes other lines of the same output.
const BESIDE: &str = "; beside it: ";
const AFTER: &str = "; after it: ";
const BEFORE: &str = "; before it: ";
/// What stands for it in few words.
const WARNED: &str = "answered, with errors";

/// How detailed an outcome is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// What tells it soonest.
    Brief,
    /// Its own words, where there is room.
    Full,
}

impl Detail {
    /// The bytes for it.
    fn most(self) -> usize {
        match self {
            Detail::Brief => MOST_ERROR,
            Detail::Full => MOST_COMMAND,
        }
    }
}

/// How a call went, briefly and in full, from its masked output, in which the `is_new` strings occur for the first time.
/// `asked` is the tool with its arguments, masked.
pub(super) fn outcome(
    act: Act,
    asked: &str,
    output: &str,
    reported: CallStatus,
    is_new: &dyn Fn(&str) -> bool,
) -> (String, String) {
    let code = exit_code(output);
    let reported = reported.or_by(code).or_by_flag(output);
    let bare = said(output);
    let bare = bare.trim();
    let is_run = act == Act::Run;
    let answer = Answer {
        act,
        asked,
        bare,
        code,
        is_guessed: reported == CallStatus::Unknown,
        verdict: judge(bare, reported),
        tests: if is_run { Tests::of(cut::tail(bare, 64 * 1024)) } else { None },
        members: Members::read(bare),
        stated: OnceCell::new(),
        kinds: OnceCell::new(),
    };
    let of_tests = || answer.tests.map(|tests| answer.tested(tests));
    let told = |detail| {
        let known = answer.failed(detail).or_else(of_tests);
        let known = known.or_else(|| answer.data(detail, is_new));
        let known = known.or_else(|| answer.whole(detail));
        unmarked(known.unwrap_or_else(|| answer.told(detail)))
    };
    let brief = told(Detail::Brief);
    let in_full = if bare.len() > brief.len() { told(Detail::Full) } else { String::new() };
    // Words that read otherwise than the brief ones would change what is counted.
    let is_same = is_bad(&in_full) == is_bad(&brief);
    let in_full = if is_same && in_full != brief { in_full } else { String::new() };
    (brief, in_full)
}

/// How a call went, without the mark that stands before it in a line.
fn unmarked(went: String) -> String {
    if went.contains('→') {
        went.split(' ').map(plain_word).collect::<Vec<_>>().join(" ")
    } else {
        went
    }
}

/// Words of an output; those that begin as an outcome of ours does are told as an output.
fn quoted(words: Cow<'_, str>) -> String {
    let words = unmarked(words.into_owned());
    if is_bad(&words) { format!("output: {words}") } else { words }
}

/// A call's output, and its known status.
struct Answer<'a> {
    act: Act,
    asked: &'a str,
    /// The output, without a harness's wrapping.
    bare: &'a str,
    code: Option<i32>,
    /// Whether the status is a guess.
    is_guessed: bool,
    verdict: Verdict<'a>,
    tests: Option<Tests>,
    members: Option<Members<'a>>,
    /// The line that states a failure.
    stated: OnceCell<Option<String>>,
    /// Its lines, where most are like others.
    kinds: OnceCell<Option<LineKinds<'a>>>,
}

impl Answer<'_> {
    /// Of a failure its code, totals and reason.
    fn failed(&self, detail: Detail) -> Option<String> {
        let code = self.code.filter(|code| *code != 0);
        // Of several lines of commands the first needn't be how they went.
        let is_one = self.act != Act::Run || !self.bare.contains('\n');
        let refuses = self.act != Act::Run && self.members.as_ref().is_some_and(Members::refuses);
        // Totals say more than the first words do, and less than a status.
        let is_bad = match self.tests {
            Some(tests) if self.is_guessed || !tests.are_well() => !tests.are_well(),
            _ => {
                refuses || self.verdict.outcome == CallStatus::Error && (!self.is_guessed || is_one)
            }
        };
        if !is_bad && code.is_none() {
            return None;
        }
        let mut out = code.map_or("failed".to_owned(), |code| format!("exit {code}"));
        out.push_str(&self.tests.map(Tests::note).unwrap_or_default());
        let reason = match self.act {
            _ if self.tests.is_some() => failed_tests(self.bare),
            Act::Run => self.reason(detail),
            // A tool's error text is the reason; a comment on it may follow.
            _ if detail == Detail::Full && self.verdict.line.is_some() => {
                Some(whole_ends(untagged(self.bare), detail.most()))
            }
            // The first line of an object says nothing.
            _ if let Some(members) = &self.members => {
                let whole = || whole_words(&one_line(self.bare), MOST_ERROR).into_owned();
                let failure = || members.failure(self.asked);
                let is_told_whole = self.bare.len() <= MOST_ERROR && members.says_more();
                Some(if is_told_whole { whole() } else { failure().unwrap_or_else(whole) })
            }
            _ => self.verdict.line.map(|line| whole_words(line, MOST_ERROR).into_owned()),
        };
        if let Some(reason) = reason {
            let _ = write!(out, ": {reason}");
        }
        Some(out)
    }

    /// For successful tests, their totals and the output behind them, which has no status.
    fn tested(&self, tests: Tests) -> String {
        let is_open = self.is_guessed && self.act == Act::Run;
        match Some(self.bare).filter(|_| is_open).and_then(behind_totals) {
            Some(line) => {
                format!("{SAYS}{} (behind {} passed)", whole_words(line, MOST_ERROR), tests.passed)
            }
            None => format!("ok{}", tests.note()),
        }
    }

    /// The content of JSON without a status.
    fn data(&self, detail: Detail, is_new: &dyn Fn(&str) -> bool) -> Option<String> {
        let members = self.members.as_ref()?;
        let most = detail.most();
        let failure = members.failure(self.asked);
        let is_short = self.bare.len() <= most;
        let bare = || one_line(self.bare).into_owned();
        let says = |line: String| format!("{SAYS}{line}{}", self.although());
        let mut told = match failure {
            None if is_short => return Some(bare()),
            None => ANSWERED.to_owned(),
            // Of a command's streams, and of an edit, the line that states a failure says enough.
            Some(line) if self.act == Act::Run || self.edits() => return Some(says(line)),
            Some(_) if is_short => return Some(says(bare())),
            Some(line) => says(line),
        };
        let gap = if told == ANSWERED { ": " } else { ", " };
        let room = most.saturating_sub(told.len() + gap.len());
        let said = if told == ANSWERED { "" } else { &told };
        let summary = members.summary((self.asked, said), room, is_new);
        if !summary.is_empty() {
            told.push_str(gap);
            told.push_str(&summary);
        }
        Some(told)
    }

    /// Follows words of a failure if the exit code contradicts them.
    fn although(&self) -> &'static str {
        if self.code == Some(0) { " (exit 0)" } else { "" }
    }

    /// The whole output where it is short.
    fn whole(&self, detail: Detail) -> Option<String> {
        let bare = self.bare;
        if bare.len() < 2 * NO_RESULT.len() && bare.contains(NO_RESULT) {
            return Some("no result".to_owned());
        }
        // An editor's long output is the new content of the file.
        let most = if self.edits() { MOST_RESULT } else { detail.most() };
        let is_short = !bare.is_empty() && bare.len() <= most;
        let is_line = is_short && !bare.contains('\n');
        is_line.then(|| quoted(Cow::Owned(cut::one_line(bare, most))))
    }

    /// The content of a longer one.
    fn told(&self, detail: Detail) -> String {
        let says = |line: &str, most| format!("{SAYS}{}", whole_words(line, most));
        // If a command prints many lines, none of them is the outcome; otherwise the first line is.
        let first = self.bare.lines().next().map(str::trim).filter(|_| self.act != Act::Run);
        let warns = first.filter(|line| tell(&own_words(line, self.echo())) >= Tell::Mention);
        // An editor shows the file behind that.
        if self.edits() {
            return match (warns, first) {
                (Some(line), _) => says(line, MOST_ERROR),
                (_, Some(_)) if !self.is_done() => quoted(whole_ends(self.bare, MOST_ERROR).into()),
                _ => "ok".to_owned(),
            };
        }
        // Of others no status tells, as of a command in a pipe: their own words do, a failure's first.
        if let Some(line) = self.stated(self.echo()).or(warns) {
            return format!("{SAYS}{}{}", self.around(line, self.echo(), detail), self.although());
        }
        let ending = || Ending::of(self.bare, self.kinds(), detail.most());
        match first {
            Some(_) if self.kinds().is_none() => {
                quoted(whole_ends(self.bare, detail.most()).into())
            }
            // A command's output may say more than its exit code.
            None if self.verdict.outcome == CallStatus::Ok && detail == Detail::Brief => {
                self.code.map_or("ok", |_| "exit 0").to_owned()
            }
            _ => ending().map_or("no output".to_owned(), |ending| ending.told()),
        }
    }

    /// Why a command failed, as far as its lines tell.
    fn reason(&self, detail: Detail) -> Option<String> {
        if let Some(line) = self.stated(Echo::NONE) {
            return Some(self.around(line, Echo::NONE, detail));
        }
        let ending = Ending::of(self.bare, self.kinds(), detail.most())?;
        Some(if ending.is_all { ending.text } else { ending.told() })
    }

    /// A line that states a failure, with its context: earlier steps stay done, and a retry may have succeeded. A short output is
    /// shown whole.
    fn around(&self, line: &str, echo: Echo<'_>, detail: Detail) -> String {
        let most = detail.most();
        let is_short = self.bare.len() <= most;
        let whole = is_short.then(|| Ending::of(self.bare, None, most)).flatten();
        if let Some(whole) = whole.filter(|ending| ending.is_all) {
            return whole.text;
        }
        let said = whole_words(line, most * 3 / 5);
        let room = most.saturating_sub(said.len() + BESIDE.len());
        let is_told = |line: &str| !states_newly(line, echo);
        if let Some((beside, _)) = self.kinds().and_then(|kinds| kinds.told(room, is_told)) {
            return format!("{said}{BESIDE}{beside}");
        }
        // The text after it tells the result, the text before it what was done.
        let at = self.bare.find(cut::head(line, MOST_RESULT)).unwrap_or_default();
        let (before, rest) = self.bare.split_at(at);
        let after = rest.split_once('\n').map_or("", |(_, after)| after);
        // Their last lines are looked at.
        let end = |text| Ending::of(cut::tail(text, 4 * MOST_COMMAND), None, room);
        let after = end(after).map(|ending| (AFTER, ending));
        let before = || end(before).map(|ending| (BEFORE, ending));
        match after.or_else(before) {
            Some((mark, ending)) => format!("{said}{mark}{}", ending.text),
            None => said.into_owned(),
        }
    }

    /// The line that states a failure; `echo` is the same for both details.
    fn stated(&self, echo: Echo<'_>) -> Option<&str> {
        self.stated.get_or_init(|| failure(self.bare, echo, MOST_COMMAND)).as_deref()
    }

    fn kinds(&self) -> Option<&LineKinds<'_>> {
        self.kinds.get_or_init(|| LineKinds::of(self.bare)).as_ref()
    }

    /// What the output may repeat.
    fn echo(&self) -> Echo<'_> {
        let kind = if self.act == Act::Run { EchoKind::Printed } else { EchoKind::Given };
        Echo { asked: self.asked, kind }
    }

    /// Whether an edit was done: the output says so, or shows the requested text or numbered lines of the file.
    fn is_done(&self) -> bool {
        let shows = |line: &str| {
            let line = line.trim();
            let code = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_numbered =
                code.len() < line.len() && code.starts_with(['\t', '→', '|', ':', ' ']);
            is_numbered || line.len() >= 8 && self.asked.contains(line)
        };
        self.verdict.outcome == CallStatus::Ok || self.bare.lines().skip(1).any(shows)
    }

    fn edits(&self) -> bool {
        matches!(self.act, Act::Edit | Act::Write | Act::Delete)
    }
}

/// What an answer says of a state: its status in JSON, a single word, or a short line with an exact string that `is_new`.
pub(super) fn state(output: &str, is_new: &dyn Fn(&str) -> bool) -> Option<String> {
    let bare = said(output);
    let bare = bare.trim();
    let is_line = !bare.is_empty() && bare.len() <= MOST_RESULT && !bare.contains('\n');
    let is_told = || !bare.contains(' ') || specifics(bare).any(|found| is_new(found.text));
    let state = match Members::read(bare) {
        Some(members) => members.state().filter(|state| state.len() <= MOST_RESULT),
        None => (is_line && is_told()).then(|| one_line(bare).into_owned()),
    };
    state.map(unmarked).filter(|state| !state.is_empty() && !state.contains(BETWEEN.trim()))
}

/// Whether what [`outcome`] said is no success.
pub(super) fn is_bad(went: &str) -> bool {
    has_warned(went) || went == "no result" || has_failed(went)
}

/// Whether the output reports a failure without a status.
pub(super) fn has_warned(went: &str) -> bool {
    // Earlier checkpoints have other words for it.
    went.starts_with(SAYS) || went == WARNED || went == "reports errors"
}

/// Whether it is a failure: `failed`, `failed, 2 passed: why`, `exit 1: why`.
pub(super) fn has_failed(went: &str) -> bool {
    let kind = went.split([',', ':']).next().unwrap_or_default();
    let code = kind.strip_prefix("exit ").and_then(|code| code.parse::<i32>().ok());
    kind == "failed" || code.is_some_and(|code| code != 0)
}

/// The same in at most `most` bytes, where words have no room.
pub(super) fn brief(went: &str, most: usize) -> Cow<'_, str> {
    // Of a failure its reason may leave, and then its totals; of an output a part says something else.
    let reason = went.split_once(": ").map_or(went, |(kind, _)| kind);
    let kind = went.split([',', ':']).next().unwrap_or_default();
    // The agent also needs the id or address of a created object.
    let made = went.starts_with(ANSWERED).then(|| went.split(", ").next()).flatten();
    let said = match went {
        _ if let Some(state) = went.strip_prefix(SAYS).and_then(stated) => {
            return format!("{SAYS}{state}").into();
        }
        _ if has_warned(went) => WARNED,
        _ if has_failed(went) => {
            if reason.len() <= most {
                reason
            } else {
                kind
            }
        }
        _ if went.len() <= most => went,
        _ if let Some(state) = Members::read(went).and_then(|members| members.state()) => {
            let state = format!("{ANSWERED}: {state}");
            return if state.len() <= MOST_RESULT { state } else { ANSWERED.to_owned() }.into();
        }
        _ => made.filter(|made| made.len() <= MOST_RESULT).unwrap_or(ANSWERED),
    };
    said.into()
}

/// The state of a failure that an answer tells, where it is short: `status=failed`.
fn stated(said: &str) -> Option<String> {
    let read = || Members::read(said)?.state();
    let first =
        || said.split([',', ' ']).next().filter(|word| word.contains('=')).map(str::to_owned);
    read().or_else(first).filter(|state| state.len() <= MOST_RESULT)
}

#[cfg(test)]
mod tests;
