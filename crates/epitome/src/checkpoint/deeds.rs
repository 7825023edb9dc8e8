//! What was done: calls that may have changed something, with their key arguments and outcome, in order; and what was read.
//!
//! A line reads back what it says, so that the next checkpoint goes on from it: `[35] Edit(src/a.rs) ×17, last [133] → ok`.

mod editor;
mod merge;

use std::collections::HashMap;
use std::fmt::Write as _;

use super::activation::{self, Key};
use super::outcome::{has_failed, has_warned, is_bad, outcome};
use super::target::{file_key, key, records, says_all, shown, target};
use crate::text::CallStatus;
use crate::text::arguments::Arguments;
use crate::text::outcome::judge;
use crate::tool::{Act, Call};

use editor::{Editor, Known, tells_of};
pub(super) use merge::Merging;
use merge::{grouped, inner, mended, value};

/// One call, or several that ask the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    /// The number of the message that made the first of them.
    first: u32,
    /// Of the last.
    last: u32,
    times: u32,
    /// How many of them failed, and of how many only their output says so.
    failed: u32,
    warned: u32,
    /// Tool and key arguments: `Edit(src/a.rs)`.
    what: Box<str>,
    /// Whether `what` names files that it changed.
    names_files: bool,
    /// Tells calls apart whose lines say the same, because they are shortened; 0 for a whole line.
    asks: Key,
    /// How the last one went; empty while nobody said.
    went: Box<str>,
}

/// Calls of one tool that only read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    tool: Box<str>,
    times: u32,
    /// How many of them failed.
    failed: u32,
    /// What they asked for, the last asked last.
    targets: Vec<(Box<str>, Seen)>,
    /// Whether an earlier checkpoint named only some of it.
    is_cut: bool,
}

/// Whether what was asked for was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Nobody knows yet.
    Asked,
    /// It was, at least once.
    Read,
    /// It couldn't be.
    Missed,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    all: Vec<Deed>,
    looks: Vec<Look>,
    /// What calls are, whose results are to come: by their slots.
    open: Vec<(u32, Asked)>,
    /// The file or record that a call shows, by the call's slot.
    shown: HashMap<u32, Box<str>>,
    /// The message whose call changed a file last, or was done to a record.
    changed: HashMap<Box<str>, u32>,
    done_to: HashMap<Box<str>, u32>,
    editor: Editor,
    /// Calls that an earlier checkpoint counts and doesn't name.
    pub(super) unnamed: u32,
}

/// What a call was.
#[derive(Clone, Debug)]
enum Asked {
    Deed(usize, Act, Known, Vec<Change>),
    /// `is_line`: a command that finds nothing in a file fails, too.
    Look {
        look: usize,
        targets: Vec<String>,
        is_line: bool,
    },
}

/// A file that a call changes unless it fails, and the message that changed it before.
type Change = (Box<str>, Option<u32>);

/// Targets of one tool that are remembered, the newest.
const MOST_TARGETS: usize = 400;
/// What stands behind what a call that only reads could not read.
const MISSED: &str = " (failed)";
/// What stands before how a call went.
const WENT: &str = " → ";
/// What stands behind how many calls one line is, if all or some of them failed, or their output says so.
const ALL_FAILED: &str = " (all failed)";
const FAILED: &str = " failed";
const WARNED: &str = " report errors";
/// What stands before the number of calls that no line names.
const UNNAMED: &str = "[…] more calls, not named: ";
/// Bytes of a target among others, unless it is one exact string.
const MOST_TARGET: usize = 48;
/// Bytes that are said of how a call went where not every tool has a line.
const MOST_BRIEF: usize = 12;
const LOOKS: &str = "Only read: ";
pub(super) const BETWEEN: &str = " · ";
/// What stands before the targets that are left of more.
const CUT: &str = "… · ";

impl Deeds {
    /// Takes in a call of message `number`.
    pub(super) fn call(
        &mut self,
        number: u32,
        slot: u32,
        tool: &str,
        arguments: &str,
        reads: bool,
    ) {
        let call = Call::read(tool, arguments);
        if call.act == Act::Idle {
            return;
        }
        let changes = call.changes(arguments).into_iter().map(|(_, path)| {
            let path = Box::from(path);
            let before = self.changed.insert(Box::clone(&path), number);
            (path, before)
        });
        let changes = changes.collect();
        let known = self.editor.call(number, &call);
        if let Some(name) = shown(&call) {
            self.shown.insert(slot, name.into());
        }
        if reads || call.only_looks() {
            let targets = target(&call);
            let look = self.look(tool, targets.iter().map(|target| (&**target, Seen::Asked)));
            self.open.push((slot, Asked::Look { look, targets, is_line: call.line.is_some() }));
            return;
        }
        self.done_to.extend(records(&call).map(|record| (record.into(), number)));
        let what = key(tool, arguments, &call);
        let names_files = names_files(&what);
        // How long a command may take, and the like, is not what it does.
        let asked = call.line.as_deref().unwrap_or(arguments);
        self.open.push((slot, Asked::Deed(self.all.len(), call.act, known, changes)));
        self.all.push(Deed {
            first: number,
            last: number,
            times: 1,
            failed: 0,
            warned: 0,
            names_files,
            asks: if names_files || says_all(&what, &call) { 0 } else { activation::key(asked) },
            what: what.into(),
            went: "".into(),
        });
    }

    /// The file or record that the call in `slot` shows, if it shows one alone.
    pub(super) fn shown_by(&self, slot: u32) -> Option<&str> {
        self.shown.get(&slot).map(AsRef::as_ref)
    }

    /// What became after message `number` of a file or record, as a label says it.
    pub(super) fn since(&self, number: u32, name: &str) -> &'static str {
        let is_later =
            |of: &HashMap<Box<str>, u32>| of.get(name).is_some_and(|last| *last > number);
        match () {
            () if is_later(&self.changed) => ", changed since",
            () if is_later(&self.done_to) => ", acted on since",
            () => "",
        }
    }

    /// Takes in how the call in `slot` went. `is_new` tells exact strings that nothing before `output` says.
    pub(super) fn answer(
        &mut self,
        slot: u32,
        output: &str,
        reported: CallStatus,
        is_new: &dyn Fn(&str) -> bool,
    ) {
        let Some(at) = self.open.iter().rposition(|(of, _)| *of == slot) else { return };
        match self.open.swap_remove(at).1 {
            Asked::Deed(deed, act, known, changes) => {
                let mut went = outcome(act, output, reported, is_new);
                let was_made = |number: &u32| self.is_made(*number, &self.all[deed].what);
                let takes_back = known.takes_back.filter(|it| !is_bad(&went) && was_made(it));
                let deed = &mut self.all[deed];
                deed.failed = u32::from(has_failed(&went));
                // A command may fail after it changed something; nothing else does.
                let is_undone = deed.failed > 0 && act != Act::Run;
                for (path, before) in changes.into_iter().filter(|_| is_undone) {
                    match before {
                        Some(before) => self.changed.insert(path, before),
                        None => self.changed.remove(&path),
                    };
                }
                deed.warned = u32::from(has_warned(&went));
                if let Some(before) = takes_back {
                    let _ = write!(went, " (takes back [{before}])");
                }
                if let Some(path) = known.open.filter(|path| tells_of(output, path)) {
                    deed.what = file_key(&deed.what, &path).into();
                    deed.names_files = true;
                    deed.asks = 0;
                    if deed.failed == 0 {
                        self.changed.insert(path, deed.first);
                    }
                }
                deed.went = went.into();
            }
            Asked::Look { look, targets, is_line } => {
                let look = &mut self.looks[look];
                let has_failed = judge(output, reported).outcome == CallStatus::Error;
                look.failed = look.failed.saturating_add(u32::from(has_failed));
                let asked = |target: &str| targets.iter().any(|asked| **asked == *target);
                for (_, seen) in look.targets.iter_mut().filter(|(target, _)| asked(target)) {
                    *seen = match (has_failed, *seen) {
                        (false, _) => Seen::Read,
                        (true, Seen::Asked) if !is_line => Seen::Missed,
                        (true, seen) => seen,
                    };
                }
            }
        }
    }

    /// Whether what message `number` did went well, as far as its output tells.
    fn is_made(&self, number: u32, what: &str) -> bool {
        let mut same = self.all.iter().filter(|deed| deed.first == number && *deed.what == *what);
        same.any(|deed| !is_bad(&deed.went))
    }

    fn look<'t>(&mut self, tool: &str, targets: impl Iterator<Item = (&'t str, Seen)>) -> usize {
        let at = self.looks.iter().position(|look| *look.tool == *tool).unwrap_or_else(|| {
            self.looks.push(Look {
                tool: tool.into(),
                times: 0,
                failed: 0,
                targets: Vec::new(),
                is_cut: false,
            });
            self.looks.len() - 1
        });
        let look = &mut self.looks[at];
        look.times = look.times.saturating_add(1);
        for (target, seen) in targets {
            if let Some(known) = look.targets.iter().rposition(|(known, _)| **known == *target) {
                let known = look.targets.remove(known);
                look.targets.push(known);
                continue;
            }
            if look.targets.len() == MOST_TARGETS {
                look.targets.remove(0);
            }
            look.targets.push((target.into(), seen));
        }
        at
    }

    /// Takes over what an earlier checkpoint says, before anything newer is taken in.
    pub(super) fn carry(&mut self, lines: &str) {
        for line in lines.lines() {
            if let Some(count) = line.strip_prefix(UNNAMED) {
                self.unnamed = self.unnamed.saturating_add(count.parse().unwrap_or(0));
            } else if let Some(deed) = Deed::read(line) {
                self.all.push(deed);
            } else if let Some(look) = line.strip_prefix(LOOKS).and_then(Look::read) {
                let at = self
                    .look(&look.tool, look.targets.iter().map(|(target, seen)| (&**target, *seen)));
                let known = &mut self.looks[at];
                // Anybody can write such a line, with any count.
                known.times = known.times.saturating_add(look.times - 1);
                known.failed = known.failed.saturating_add(look.failed);
                known.is_cut |= look.is_cut;
            }
        }
    }

    /// What lines of an earlier checkpoint say, without their numbers.
    pub(super) fn words(lines: &str) -> String {
        let words = |line: &str| match Deed::read(line) {
            Some(deed) => format!("{} {}\n", deed.what, deed.went),
            None if line.starts_with(UNNAMED) => String::new(),
            None => format!("{line}\n"),
        };
        lines.lines().map(words).collect()
    }

    /// The lines of some of the calls.
    pub(super) fn lines(&self, is_of: impl Fn(&Deed) -> bool, merging: Merging) -> Vec<String> {
        self.merged(is_of, merging).iter().map(Deed::line).collect()
    }

    /// Some of the calls; those that `merging` takes for one and that went alike are one, in the order of the last of them.
    pub(super) fn merged(&self, is_of: impl Fn(&Deed) -> bool, merging: Merging) -> Vec<Deed> {
        let same = grouped(self.all.iter().filter(|deed| is_of(deed)), Merging::Same);
        let mut same: Vec<Deed> = same.into_iter().map(|group| group.deed).collect();
        same = mended(same);
        same.sort_by_key(|deed| deed.last);
        if merging == Merging::Same {
            return same;
        }
        let mut groups = grouped(same.iter(), merging);
        groups.sort_by_key(|group| group.deed.last);
        groups.iter().map(|group| group.merged(merging)).collect()
    }

    /// The line that counts calls which no other line names.
    pub(super) fn unnamed_line(count: u32) -> String {
        format!("{UNNAMED}{count}")
    }

    /// The line of each tool that only read, with its newest targets in at most so many `bytes` each.
    pub(super) fn looks(&self, bytes: usize) -> Vec<String> {
        self.looks.iter().map(|look| look.line(bytes)).collect()
    }
}

/// How many calls there were, how many of them failed, and of how many only the output says so: `×5 (4 failed)`,
/// `×9 (2 failed, 3 report errors)`.
fn times(times: u32, failed: u32, warned: u32) -> String {
    if failed == times {
        return format!("×{times}{ALL_FAILED}");
    }
    let counts = [(failed, FAILED), (warned, WARNED)].into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count}{what}")).collect();
    if counts.is_empty() {
        format!("×{times}")
    } else {
        format!("×{times} ({})", counts.join(", "))
    }
}

/// Reads back what [`times`] wrote behind its sign.
fn read_times(text: &str) -> Option<(u32, u32, u32)> {
    let counted = |text: &str| text.parse().ok().filter(|times| *times > 0);
    if let Some(all) = text.strip_suffix(ALL_FAILED) {
        return counted(all).map(|all| (all, all, 0));
    }
    let Some((times, counts)) = text.strip_suffix(')').and_then(|text| text.split_once(" ("))
    else {
        return Some((counted(text)?, 0, 0));
    };
    let (mut failed, mut warned) = (0, 0);
    for count in counts.split(", ") {
        match count.strip_suffix(FAILED) {
            Some(count) => failed = counted(count)?,
            None => warned = counted(count.strip_suffix(WARNED)?)?,
        }
    }
    Some((counted(times)?, failed, warned))
}

/// Whether a call changes files, and names nothing else: `edit(src/a.rs)`, `apply_patch(a.rs · b.rs)`.
fn names_files(what: &str) -> bool {
    let Some((tool, _)) = what.split_once('(') else { return false };
    // What a tool of this name does to a file.
    let act = Act::of(tool, &Arguments::read(r#"{"path":"a"}"#));
    matches!(act, Act::Edit | Act::Write | Act::Delete)
        && inner(what).split(BETWEEN).all(|file| !matches!(file, "" | "…") && value(file).is_none())
}

impl Deed {
    /// The message that made the last of these calls.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Counts calls of another line among these.
    fn count(&mut self, other: &Deed) {
        self.times = self.times.saturating_add(other.times);
        self.failed = self.failed.saturating_add(other.failed);
        self.warned = self.warned.saturating_add(other.warned);
        self.first = self.first.min(other.first);
    }

    /// The tool that was called.
    pub(super) fn tool(&self) -> &str {
        merge::tool(&self.what)
    }

    /// How many calls it is.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// Whether none of these calls went well, as far as their outputs tell.
    pub(super) fn has_failed(&self) -> bool {
        self.failed == self.times
    }

    /// Whether it says which files it changed.
    pub(super) fn names_files(&self) -> bool {
        self.names_files
    }

    pub(super) fn line(&self) -> String {
        let Deed { first, last, times, failed, warned, what, went, .. } = self;
        let mut line = format!("[{first}] {what}");
        if *times > 1 {
            let _ = write!(line, " {}, last [{last}]", self::times(*times, *failed, *warned));
        }
        if !went.is_empty() {
            let _ = write!(line, "{WENT}{went}");
        }
        line
    }

    fn read(line: &str) -> Option<Self> {
        let (first, rest) = line.strip_prefix('[')?.split_once("] ")?;
        let first = first.parse().ok()?;
        let (what, went) = rest.rsplit_once(WENT).unwrap_or((rest, ""));
        let again = || {
            let (what, again) = what.rsplit_once(" ×")?;
            let (times, last) = again.strip_suffix(']')?.split_once(", last [")?;
            Some((what, read_times(times)?, last.parse().ok()?))
        };
        let counts = (1, u32::from(has_failed(went)), u32::from(has_warned(went)));
        let (what, (times, failed, warned), last) = again().unwrap_or((what, counts, first));
        Some(Deed {
            first,
            last,
            times,
            failed,
            warned,
            names_files: names_files(what),
            what: what.into(),
            asks: 0,
            went: went.into(),
        })
    }
}

impl Look {
    fn line(&self, bytes: usize) -> String {
        let mut line = format!("{LOOKS}{}", self.tool);
        if self.times > 1 || self.failed > 0 {
            let _ = write!(line, " {}", times(self.times, self.failed, 0));
        }
        let mut left = bytes;
        let said = |(target, seen): &(Box<str>, Seen)| match seen {
            Seen::Missed => format!("{target}{MISSED}"),
            _ => target.to_string(),
        };
        let fits = |target: &String| {
            let rest = left.checked_sub(target.len() + BETWEEN.len());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let mut targets: Vec<String> = self.targets.iter().rev().map(said).filter(fits).collect();
        targets.reverse();
        if !targets.is_empty() {
            let is_cut = self.is_cut || targets.len() < self.targets.len();
            let before = if is_cut { CUT } else { "" };
            let _ = write!(line, ": {before}{}", targets.join(BETWEEN));
        }
        line
    }

    fn read(line: &str) -> Option<Self> {
        let (head, targets) = line.split_once(": ").unwrap_or((line, ""));
        let (tool, times, failed) = match head.rsplit_once(" ×") {
            Some((tool, said)) => {
                let (times, failed, _) = read_times(said)?;
                (tool, times, failed)
            }
            None => (head, 1, 0),
        };
        let is_cut = targets.starts_with(CUT);
        let targets = targets.split(BETWEEN).filter(|target| !matches!(*target, "" | "…"));
        let targets = targets.map(|target| match target.strip_suffix(MISSED) {
            Some(target) => (target.into(), Seen::Missed),
            None => (target.into(), Seen::Read),
        });
        let targets = targets.collect();
        Some(Look { tool: tool.into(), times, failed, targets, is_cut })
    }
}

#[cfg(test)]
mod tests;
