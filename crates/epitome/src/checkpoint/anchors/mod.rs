//! What is extracted mechanically, never by a model: files and how they were touched, commands and
//! how they went, errors, ids, addresses, figures, and the list of what is to be done.
//!
//! Anchors grow with the transcript and are merged from one compaction to the next: their rendering
//! can be read back, so what a checkpoint says is not lost when it is itself folded. Each kind is
//! bounded, ranked by use and recency, and rendered into a budget.

mod call;
mod entry;
mod figure;
mod lane;
mod note;
mod recent;
mod render;
mod scan;
mod shell;
mod tally;
#[cfg(test)]
mod tests;
mod todo;

use std::borrow::Cow;

pub(crate) use self::call::{Act, Asked, Call};
use self::lane::Lane;
use self::note::{Fix, Label, Runs, Slips, Touches};
use self::recent::Recent;
use self::scan::{Find, scan};
pub(crate) use self::shell::Deed as Done;
use self::shell::Deed;
use self::tally::Tests;
use self::todo::Todo;
use crate::text::arguments::{Arguments, Patched, patched_files};
use crate::text::outcome::judge;
use crate::text::split::lines;
use crate::text::telling::{Tell, opens_with_failure, tell};
use crate::text::{Outcome, cut};

/// Everything extracted from some entries. Values are exact and on one line; control characters are
/// left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchors {
    files: Lane<Touches>,
    commands: Lane<Runs>,
    errors: Lane<Slips>,
    ids: Lane<Label>,
    urls: Lane<()>,
    numbers: Lane<()>,
    todo: Todo,
    /// What earlier renderings only counted, for each of their sections.
    unlisted: [u32; render::Section::COUNT],
    /// The folder that most paths of a rendering stood below; decided anew once there are more
    /// files.
    root: Option<Box<str>>,
    /// The file that an editor with an open file works on.
    open: Option<Box<str>>,
    /// What was changed last.
    recent: Recent,
    /// The newest entry seen.
    now: u32,
}

/// Characters of a command, and of an error line.
const MAX_LINE: usize = 180;
/// Characters of an id, path, address or figure.
const MAX_VALUE: usize = 200;
/// Bytes at each end of an output or text that are looked at.
const WINDOW: usize = 48 * 1024;
/// Error lines taken from one output.
const MAX_ERRORS: usize = 6;
/// Ids, addresses and figures taken from one text.
const MAX_FINDS: usize = 24;

impl Default for Anchors {
    fn default() -> Self {
        Self {
            files: Lane::new(400),
            commands: Lane::new(240),
            errors: Lane::new(100),
            ids: Lane::new(240),
            urls: Lane::new(120),
            numbers: Lane::new(100),
            todo: Todo::default(),
            unlisted: [0; render::Section::COUNT],
            root: None,
            open: None,
            recent: Recent::default(),
            now: 0,
        }
    }
}

impl Anchors {
    /// Notes a tool call at entry `at`: the files it touches, the command it runs, the ids it is
    /// given.
    pub fn observe_call(&mut self, at: u32, tool: &str, arguments_json: &str) {
        self.ask(at, tool, arguments_json);
    }

    /// The same; what to [answer](Self::answer).
    pub(crate) fn ask(&mut self, at: u32, tool: &str, arguments_json: &str) -> Asked {
        self.now = self.now.max(at);
        let call = Call::read(tool, arguments_json);
        let may_list = call.act == Act::Idle || call.arguments.get(&[todo::PROGRESS]).is_some();
        let adds_todo = may_list && self.todo.take(tool, &call.arguments);
        self.touch_files(at, &call, arguments_json);
        if let Some(name) = &call.name {
            let runs = self.commands.see(name, at, if call.only_looks() { 1 } else { 2 });
            runs.times += 1;
            runs.minor = call.only_looks();
        }
        if let Some(line) = &call.line {
            self.take(at, cut::head(line, 2_048), Taken::Exact, 2);
        } else if !call.act.only_reads() {
            for (key, raw) in call.arguments.short(512) {
                // The key is the label of its value; JSON as it stands is what the scan
                // understands.
                self.take(at, &format!("\"{key}\": {raw}"), Taken::Exact, 3);
            }
        }
        Asked { adds_todo, ..Asked::from(call) }
    }

    /// Notes the result of a call at entry `at`: how it went, its error lines, ids and addresses in
    /// it.
    pub fn observe_result(
        &mut self,
        at: u32,
        tool: &str,
        arguments_json: &str,
        output: &str,
        outcome: Outcome,
    ) {
        self.answer(at, &Asked::of(tool, arguments_json), output, outcome);
    }

    /// The same of a call that is understood.
    pub(crate) fn answer(&mut self, at: u32, asked: &Asked, output: &str, outcome: Outcome) {
        self.now = self.now.max(at);
        // What was read may well begin with the word error.
        let reported = if asked.act.only_reads() && outcome == Outcome::Unknown {
            Outcome::Ok
        } else {
            outcome
        };
        if asked.adds_todo {
            self.todo.answer(output);
        }
        let mut verdict = judge(output, reported);
        let name = asked.name.as_deref();
        let is_acting = !(asked.act.only_reads() || (asked.act == Act::Run && asked.only_looks));
        if let Some(name) = name {
            let tests = is_acting.then(|| Tests::of(cut::tail(output, 2 * WINDOW))).flatten();
            // Behind a pipe a run of tests ends well whatever they say.
            let may_hide = verdict.outcome == Outcome::Unknown || runs_tests(name);
            if may_hide && tests.is_some_and(|tests| !tests.are_well()) {
                verdict.outcome = Outcome::Error;
            }
            let went = Went {
                outcome: verdict.outcome,
                code: verdict.exit_code,
                is_reported: outcome != Outcome::Unknown,
                tests,
            };
            self.settle(at, name, went);
            if verdict.outcome == Outcome::Ok && !asked.only_looks && !asked.tells_changes {
                self.recent.command(at, name);
            }
        }
        if verdict.outcome == Outcome::Error
            && let Some(path) = &asked.path
        {
            self.untouch(path, asked.act);
        }
        let mut slips = 0;
        if is_acting {
            for window in windows(output) {
                slips += self.take_errors(at, window, verdict.outcome, name);
                self.take(at, window, Taken::Exact, 1);
            }
        }
        if slips == 0
            && let Some(line) = verdict.line.filter(|line| says_something(line))
        {
            self.slip(at, line, name);
        }
    }

    /// Notes what somebody said at entry `at`: paths, ids, addresses, figures.
    pub fn observe_text(&mut self, at: u32, text: &str) {
        self.now = self.now.max(at);
        for window in windows(text) {
            self.take(at, window, Taken::All, 2);
        }
    }

    /// The same without figures that `is_outdated` says nobody goes by any more.
    pub(crate) fn without_figures(&self, is_outdated: impl Fn(&str) -> bool) -> Cow<'_, Self> {
        if !self.numbers.items().iter().any(|item| is_outdated(&item.text)) {
            return Cow::Borrowed(self);
        }
        let mut anchors = self.clone();
        anchors.numbers.retain(|text| !is_outdated(text));
        Cow::Owned(anchors)
    }

    /// Adds what an earlier compaction knew; what is in both counts as used here.
    pub fn merge(&mut self, older: Anchors) {
        if !older.files.is_empty() && !self.files.is_empty() {
            self.root = None;
        } else if self.root.is_none() {
            self.root = older.root;
        }
        for (own, older) in self.unlisted.iter_mut().zip(older.unlisted) {
            *own = own.saturating_add(older);
        }
        self.files.merge(older.files);
        self.commands.merge(older.commands);
        self.errors.merge(older.errors);
        self.ids.merge(older.ids);
        self.urls.merge(older.urls);
        self.numbers.merge(older.numbers);
        self.todo.merge(older.todo);
        self.open = self.open.take().or(older.open);
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.commands.is_empty()
            && self.errors.is_empty()
            && self.ids.is_empty()
            && self.urls.is_empty()
            && self.numbers.is_empty()
            && self.todo.is_empty()
    }

    fn touch_files(&mut self, at: u32, call: &Call<'_>, arguments_json: &str) {
        let (act, arguments) = (call.act, &call.arguments);
        if let Some(line) = &call.line {
            self.touch_patched(at, line);
            for (deed, path) in &call.shell.deeds {
                match deed {
                    Deed::Read => self.touch(path, at, 2).read += 1,
                    Deed::Write if self.is_there(path) => self.change(path, at).edited += 1,
                    Deed::Write => self.change(path, at).created += 1,
                    Deed::Edit => self.change(path, at).edited += 1,
                    Deed::Delete => self.change(path, at).deleted += 1,
                    Deed::Search => self.touch(path, at, 1).seen += 1,
                }
            }
            return;
        }
        if arguments.is_empty() {
            return self.touch_patched(at, arguments_json);
        }
        if let Some(patch) = arguments.patch() {
            return self.touch_patched(at, &patch);
        }
        let Some(path) = self.path_of(arguments, act).filter(|path| is_file(path)) else { return };
        match act {
            Act::Read => self.touch(&path, at, 2).read += 1,
            Act::Write if self.is_there(&path) => self.change(&path, at).edited += 1,
            Act::Write => self.change(&path, at).created += 1,
            Act::Edit => self.change(&path, at).edited += 1,
            Act::Delete => self.change(&path, at).deleted += 1,
            Act::Look => self.touch(&path, at, 1).seen += 1,
            Act::Run | Act::Idle | Act::Other | Act::Ask => {}
        }
    }

    /// The file of a call; for an edit that names none, the one that was opened.
    fn path_of<'a>(&mut self, arguments: &Arguments<'a>, act: Act) -> Option<Cow<'a, str>> {
        if let Some(path) = arguments.path() {
            if matches!(act, Act::Read | Act::Write) {
                self.open = Some(path.as_ref().into());
            }
            return Some(path);
        }
        (act == Act::Edit).then(|| self.open.as_deref().map(|open| Cow::Owned(open.to_owned())))?
    }

    fn touch_patched(&mut self, at: u32, patch: &str) {
        for (what, path) in patched_files(patch) {
            let touches = self.change(path, at);
            match what {
                Patched::Added => touches.created += 1,
                Patched::Updated => touches.edited += 1,
                Patched::Deleted => touches.deleted += 1,
            }
        }
    }

    /// Whether a file is known to be there.
    fn is_there(&mut self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files
            .get(path)
            .is_some_and(|touches| touches.read + touches.created + touches.edited > 0)
    }

    /// Notes that a file is changed.
    fn change(&mut self, path: &str, at: u32) -> &mut Touches {
        self.recent.file(at, path);
        self.touch(path, at, 4)
    }

    fn touch(&mut self, path: &str, at: u32, weight: u32) -> &mut Touches {
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        self.root = None;
        self.files.see(&cut::one_line(path, MAX_VALUE), at, weight)
    }

    /// Takes back a touch by a call that failed.
    fn untouch(&mut self, path: &str, act: Act) {
        if matches!(act, Act::Edit | Act::Write | Act::Delete) {
            self.recent.not_file(path);
        }
        let Some(touches) = self.files.get(path.strip_prefix("./").unwrap_or(path)) else { return };
        let count = match act {
            Act::Read => &mut touches.read,
            Act::Edit => &mut touches.edited,
            Act::Write if touches.edited > 0 => &mut touches.edited,
            Act::Write => &mut touches.created,
            Act::Delete => &mut touches.deleted,
            _ => return,
        };
        *count = count.saturating_sub(1);
    }

    /// Notes how a command went. Errors of a command that goes well again are fixed.
    fn settle(&mut self, at: u32, name: &str, went: Went) {
        let Went { mut outcome, code, is_reported, tests } = went;
        let runs = self.commands.see(name, at, 0);
        runs.times = runs.times.max(1);
        let failed = runs.last == Outcome::Error;
        // Harnesses that report failures often report nothing else. Tests that failed say themselves that they don't.
        let says_enough = runs.tests.is_none_or(Tests::are_well) || tests.is_some();
        if failed && !is_reported && outcome == Outcome::Unknown && says_enough {
            outcome = Outcome::Ok;
        }
        let failed_at = runs.failed_at;
        (runs.last, runs.tests) = (outcome, tests);
        runs.code = code.filter(|&code| code != 0 && outcome == Outcome::Error);
        if outcome == Outcome::Error {
            runs.failed_at = Some(at);
        }
        if outcome == Outcome::Ok && failed {
            runs.recovered = true;
            let fix = self.recent.fix(failed_at, name);
            for error in self.errors.items_mut() {
                if error.note.command.as_deref() != Some(name) || error.note.fix != Fix::Open {
                    continue;
                }
                // What wasn't said any more by the last run that failed was mended before.
                let is_last = Some(error.last) == failed_at;
                error.note.fix = if is_last { fix.clone() } else { Fix::Done };
            }
        }
    }

    fn slip(&mut self, at: u32, line: &str, command: Option<&str>) {
        let line = cut::one_line(line, MAX_LINE);
        if line.is_empty() {
            return;
        }
        let slips = self.errors.see(&line, at, 1);
        slips.times += 1;
        slips.fix = Fix::Open;
        slips.command = command.map(Into::into);
    }

    /// Notes the error lines of an output; how many. Where the call went well, only lines that are
    /// nothing else.
    fn take_errors(
        &mut self,
        at: u32,
        output: &str,
        outcome: Outcome,
        command: Option<&str>,
    ) -> usize {
        let failures = lines(output).map(|line| &output[line]).filter(|line| {
            tell(line) == Tell::Failure
                // Its numbers stand with the command, and what fails stands beneath its title.
                && !line.starts_with("test result: ")
                && *line != "failures:"
                && (outcome == Outcome::Error
                    || opens_with_failure(line)
                    || line.contains("): error "))
        });
        failures.take(MAX_ERRORS).map(|line| self.slip(at, line, command)).count()
    }

    fn take(&mut self, at: u32, text: &str, taken: Taken, weight: u32) {
        let mut left = MAX_FINDS;
        scan(text, taken, |find| {
            match find {
                Find::Id { label, id } => {
                    let known = self.ids.see(id, at, weight);
                    known.0 = known.0.take().or_else(|| label.map(Into::into));
                }
                Find::Url(url) => {
                    self.urls.see(&cut::one_line(url, MAX_VALUE), at, weight);
                }
                Find::Path(path) => self.touch(path, at, 1).seen += 1,
                Find::Number(number) => {
                    self.numbers.see(&cut::one_line(number, MAX_VALUE), at, 1);
                }
            }
            left -= 1;
            left > 0
        });
    }
}

/// How a command went.
#[derive(Debug, Clone, Copy)]
struct Went {
    outcome: Outcome,
    code: Option<i32>,
    /// Whether somebody said so who isn't the output itself.
    is_reported: bool,
    tests: Option<Tests>,
}

/// What is taken of the finds in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// Ids and addresses.
    Exact,
    /// Also paths and figures: somebody chose to write them.
    All,
}

/// Whether a path can be a file's, and not the folder that everything is in.
fn is_file(path: &str) -> bool {
    path.bytes().any(|b| b.is_ascii_alphanumeric() || b >= 0x80)
}

/// Whether a command runs tests, by its name.
fn runs_tests(name: &str) -> bool {
    ["test", "spec", "jest", "mocha", "tox"].iter().any(|word| name.contains(word))
}

/// Whether a line is more than a harness's "it failed".
fn says_something(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() > 8 && tell(line) >= Tell::Warning
}

/// A text, or its two ends where it is very long.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let head = cut::head(text, WINDOW);
    let tail = cut::tail(&text[head.len()..], WINDOW);
    [head, tail].into_iter().filter(|window| !window.is_empty())
}
