//! What was done: calls that may have changed something, with their key arguments and outcome, in order; and what was read.
//!
//! A line reads back what it says, so that the next checkpoint goes on from it: `[35] Edit(src/a.rs) ×17, last [133] → ok`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::activation::{self, Key};
use super::target::{is_bad, key, outcome, says_all, target, whole_words};
use crate::specifics;
use crate::text::Outcome;
use crate::text::arguments::Arguments;
use crate::tool::{Act, Call};

/// One call, or several that ask the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    /// The number of the message that made the first of them.
    first: u32,
    /// Of the last.
    last: u32,
    times: u32,
    /// Tool and key arguments: `Edit(src/a.rs)`.
    what: Box<str>,
    /// Whether `what` names files that it changed.
    names_files: bool,
    /// Tells calls apart whose lines say the same, because they are shortened; 0 for a whole line.
    asks: Key,
    /// How the last one went; empty while nobody said.
    went: Box<str>,
    /// How many failed or are unclear; none where they ask the same and the last one went well.
    bad: u32,
    /// Where the last one went well, the newest that didn't, and what it said.
    newest_bad: Option<At>,
}

/// The message of a call, and how it went.
type At = (u32, Box<str>);

/// Calls of one tool that only read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    tool: Box<str>,
    times: u32,
    /// What they asked for, the last asked last.
    targets: Vec<Box<str>>,
    /// Whether an earlier checkpoint named only some of it.
    is_cut: bool,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Deeds {
    all: Vec<Deed>,
    looks: Vec<Look>,
    /// What calls are, whose results are to come: by their slots.
    open: Vec<(u32, Asked)>,
}

/// What a call was.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Deed(usize, Act),
    Look,
}

/// Targets of one tool that are remembered, the newest.
const MOST_TARGETS: usize = 400;
/// What stands before how a call went.
const WENT: &str = " → ";
/// What stands between how many calls failed and the newest of them; and before how the last one went.
const BAD: &str = " failed or unclear, ";
const LAST: &str = "the last: ";
/// Bytes of a target among others, unless it is one exact string.
const MOST_TARGET: usize = 48;
/// Bytes that are said of how one of several calls went wrong.
const MOST_BAD: usize = 60;
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
        if reads || call.only_looks() {
            self.look(tool, target(&call).into_iter());
            self.open.push((slot, Asked::Look));
            return;
        }
        let what = key(tool, arguments, &call);
        let names_files = names_files(&what);
        // How long a command may take, and the like, is not what it does.
        let asked = call.line.as_deref().unwrap_or(arguments);
        self.open.push((slot, Asked::Deed(self.all.len(), call.act)));
        self.all.push(Deed {
            first: number,
            last: number,
            times: 1,
            names_files,
            asks: if names_files || says_all(&what, &call) { 0 } else { activation::key(asked) },
            what: what.into(),
            went: "".into(),
            bad: 0,
            newest_bad: None,
        });
    }

    /// Takes in how the call in `slot` went.
    pub(super) fn answer(&mut self, slot: u32, output: &str, reported: Outcome) {
        let Some(at) = self.open.iter().rposition(|(of, _)| *of == slot) else { return };
        if let (_, Asked::Deed(deed, act)) = self.open.swap_remove(at) {
            let deed = &mut self.all[deed];
            deed.went = outcome(act, output, reported).into();
            deed.bad = u32::from(is_bad(&deed.went));
        }
    }

    fn look(&mut self, tool: &str, targets: impl Iterator<Item = String>) {
        let at = self.looks.iter().position(|look| *look.tool == *tool).unwrap_or_else(|| {
            self.looks.push(Look {
                tool: tool.into(),
                times: 0,
                targets: Vec::new(),
                is_cut: false,
            });
            self.looks.len() - 1
        });
        let look = &mut self.looks[at];
        look.times += 1;
        for target in targets {
            if let Some(known) = look.targets.iter().rposition(|known| **known == *target) {
                let known = look.targets.remove(known);
                look.targets.push(known);
                continue;
            }
            if look.targets.len() == MOST_TARGETS {
                look.targets.remove(0);
            }
            look.targets.push(target.into());
        }
    }

    /// Takes over what an earlier checkpoint says, before anything newer is taken in.
    pub(super) fn carry(&mut self, lines: &str) {
        for line in lines.lines() {
            if let Some(deed) = Deed::read(line) {
                self.all.push(deed);
            } else if let Some(look) = line.strip_prefix(LOOKS).and_then(Look::read) {
                self.look(&look.tool, look.targets.iter().map(ToString::to_string));
                let known = self.looks.iter_mut().find(|known| known.tool == look.tool);
                let known = known.expect("it was just added");
                known.times += look.times - 1;
                known.is_cut |= look.is_cut;
            }
        }
    }

    /// The lines of some of the calls; those that `merging` takes for one are one line, in the order of the last of them.
    pub(super) fn lines(&self, is_of: impl Fn(&Deed) -> bool, merging: Merging) -> Vec<String> {
        let same = grouped(self.all.iter().filter(|deed| is_of(deed)), Merging::Same);
        let mut same: Vec<Deed> = same.into_iter().map(|group| group.deed).collect();
        same.sort_by_key(|deed| deed.last);
        if merging == Merging::Same {
            return same.iter().map(Deed::line).collect();
        }
        let mut groups = grouped(same.iter(), merging);
        groups.sort_by_key(|group| group.deed.last);
        groups.iter().map(|group| group.merged(merging).line()).collect()
    }

    /// The line of each tool that only read, with its newest targets in at most `bytes`.
    pub(super) fn looks(&self, bytes: usize) -> Vec<String> {
        self.looks.iter().map(|look| look.line(bytes)).collect()
    }
}

/// Calls that become one line.
struct Group<'a> {
    /// What they have in common.
    deed: Deed,
    targets: Vec<Cow<'a, str>>,
    seen: HashSet<Cow<'a, str>>,
}

/// Calls in the groups that `merging` makes of them.
fn grouped<'a>(deeds: impl Iterator<Item = &'a Deed>, merging: Merging) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: HashMap<(Cow<'a, str>, Key), usize> = HashMap::new();
    for deed in deeds {
        let what = merging.of(deed);
        let asks = if merging == Merging::Same { deed.asks } else { 0 };
        let at = *places.entry((what.clone(), asks)).or_insert(groups.len());
        if at == groups.len() {
            let deed = deed.clone();
            let deed = Deed { what: what.into(), times: 0, bad: 0, newest_bad: None, ..deed };
            groups.push(Group { deed, targets: Vec::new(), seen: HashSet::new() });
        }
        groups[at].add(deed, merging);
    }
    groups
}

impl<'a> Group<'a> {
    fn add(&mut self, deed: &'a Deed, merging: Merging) {
        let known = &mut self.deed;
        if !is_bad(&deed.went) && is_bad(&known.went) && known.bad > 0 {
            known.newest_bad = Some((known.last, known.went.clone()));
        }
        known.times += deed.times;
        known.first = known.first.min(deed.first);
        known.last = known.last.max(deed.last);
        known.went = deed.went.clone();
        known.bad += deed.bad;
        if deed.newest_bad.is_some() {
            known.newest_bad.clone_from(&deed.newest_bad);
        }
        // The same call went well at last. Of others that says nothing.
        if merging == Merging::Same && deed.bad == 0 {
            (known.bad, known.newest_bad) = (0, None);
        }
        if let Merging::Targets(_) = merging {
            for target in targets(deed) {
                if self.seen.insert(target.clone()) {
                    self.targets.push(target);
                }
            }
        }
    }

    /// The line of all of them.
    fn merged(&self, merging: Merging) -> Deed {
        let mut deed = self.deed.clone();
        if merging == Merging::Brief {
            deed.went = whole_words(&deed.went, MOST_BRIEF).into();
        }
        if let Merging::Targets(most) = merging
            && most > 0
            && !self.targets.is_empty()
        {
            let newest = &self.targets[self.targets.len().saturating_sub(most)..];
            let before = if newest.len() < self.targets.len() { CUT } else { "" };
            deed.what = format!("{}({before}{})", deed.what, newest.join(BETWEEN)).into();
        }
        deed
    }
}

/// Which calls become one line. Where the others don't fit, the next one may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merging {
    /// Those that say the same.
    Same,
    /// Those of one tool with the same first arguments, so many.
    Arguments(usize),
    /// Those of one tool, which names its newest targets, at most so many.
    Targets(usize),
    /// Those of one tool, which says in a few words how the last one went.
    Brief,
}

impl Merging {
    /// Those on one target, which the first argument names.
    pub(super) const TARGET: Merging = Merging::Arguments(1);
    /// Those of one tool, which names all its targets.
    pub(super) const TOOL: Merging = Merging::Targets(usize::MAX);

    /// What stands for a call.
    fn of(self, deed: &Deed) -> Cow<'_, str> {
        let what = &*deed.what;
        let Some((tool, _)) = what.split_once('(') else { return what.into() };
        match self {
            Merging::Same => what.into(),
            Merging::Arguments(_) if deed.names_files => what.into(),
            Merging::Arguments(count) => {
                let all = arguments(inner(what));
                if all.len() > count {
                    format!("{tool}({}, …)", all[..count].join(", ")).into()
                } else {
                    what.into()
                }
            }
            Merging::Targets(_) | Merging::Brief => tool.into(),
        }
    }
}

/// The arguments of a call, between the parentheses: each has its name, and a command line is one. A value may have a comma.
fn arguments(inner: &str) -> Vec<&str> {
    if value(inner).is_none() {
        return vec![inner];
    }
    let mut all = Vec::new();
    let mut start = 0;
    for (at, _) in inner.match_indices(", ") {
        let next = &inner[at + 2..];
        if next == "…" || value(next).is_some() {
            all.push(&inner[start..at]);
            start = at + 2;
        }
    }
    all.push(&inner[start..]);
    all
}

/// The targets of a call: of `edit(src/a.rs)` the file, of `book(id=JG7FMM, …)` the first value, of `Bash(cd app && cargo test)`
/// the program and what it is told first.
fn targets(deed: &Deed) -> impl Iterator<Item = Cow<'_, str>> {
    let inner = inner(&deed.what);
    let first = arguments(inner)[0];
    first.split(BETWEEN).filter_map(|target| {
        let target = match value(target) {
            Some(value) => value,
            None if deed.names_files => target,
            None => program(target),
        };
        let most = specifics::floor(target, MOST_TARGET.min(target.len()));
        let short = target[..most].trim_end();
        let is_cut = !short.is_empty() && short.len() < target.trim_end().len();
        let target = if is_cut { format!("{short}…").into() } else { Cow::Borrowed(target) };
        (!target.is_empty() && target != "…").then_some(target)
    })
}

/// The program that a command line runs in the folder that it goes to, and its first word where that is no flag.
fn program(line: &str) -> &str {
    let goes = |command: &&str| !command.starts_with("cd ");
    let command = line.split("&&").map(str::trim).find(goes).unwrap_or(line);
    let ends = command.match_indices(' ').map(|(at, _)| at).chain([command.len()]);
    let mut ends = ends.take(2);
    let program = ends.next().unwrap_or(command.len());
    let word = ends.next().map(|end| &command[program..end]);
    match word.map(str::trim) {
        Some(word) if word.starts_with(char::is_alphanumeric) => {
            &command[..program + 1 + word.len()]
        }
        _ => &command[..program],
    }
}

/// What stands between the parentheses.
fn inner(what: &str) -> &str {
    what.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest))
}

/// Of `id=JG7FMM` what stands behind the name.
fn value(argument: &str) -> Option<&str> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    argument.split_once('=').filter(|(name, _)| is_name(name)).map(|(_, value)| value)
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

    /// Whether it says which files it changed.
    pub(super) fn names_files(&self) -> bool {
        self.names_files
    }

    fn line(&self) -> String {
        let Deed { first, last, times, what, went, bad, newest_bad, .. } = self;
        let mut line = format!("[{first}] {what}");
        if *times > 1 {
            let _ = write!(line, " ×{times}, last [{last}]");
        }
        let said = match newest_bad {
            Some((at, said)) if *bad > 0 && !is_bad(went) => {
                let said = whole_words(said, MOST_BAD);
                let went = if went.is_empty() { "not answered" } else { went };
                format!("{bad}{BAD}[{at}] {said}; {LAST}{went}")
            }
            _ if *bad > 1 => format!("{bad}{BAD}{LAST}{went}"),
            _ => went.to_string(),
        };
        if !said.is_empty() {
            let _ = write!(line, "{WENT}{said}");
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
            Some((what, times.parse().ok()?, last.parse().ok()?))
        };
        let (what, times, last) = again().unwrap_or((what, 1, first));
        let (bad, newest_bad, went) =
            failures(went, times).unwrap_or((u32::from(is_bad(went)), None, went));
        Some(Deed {
            first,
            last,
            times,
            names_files: names_files(what),
            what: what.into(),
            asks: 0,
            went: went.into(),
            bad,
            newest_bad,
        })
    }
}

/// How many of `times` calls failed, the newest of them where the last one went well, and how that went. An output that says
/// the like of a single call is no count.
fn failures(went: &str, times: u32) -> Option<(u32, Option<At>, &str)> {
    let (bad, said) = went.split_once(BAD)?;
    let bad = bad.parse().ok().filter(|bad| *bad <= times && times > 1)?;
    if let Some(went) = said.strip_prefix(LAST) {
        return Some((bad, None, went));
    }
    let (said, went) = said.rsplit_once(LAST)?;
    let (at, said) = said.strip_suffix("; ")?.strip_prefix('[')?.split_once("] ")?;
    Some((bad, Some((at.parse().ok()?, said.into())), went))
}

impl Look {
    fn line(&self, bytes: usize) -> String {
        let mut line = format!("{LOOKS}{}", self.tool);
        if self.times > 1 {
            let _ = write!(line, " ×{}", self.times);
        }
        let mut left = bytes;
        let fits = |target: &&str| {
            let rest = left.checked_sub(target.len() + BETWEEN.len());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let mut targets: Vec<&str> =
            self.targets.iter().rev().map(AsRef::as_ref).filter(fits).collect();
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
        let (tool, times) = match head.rsplit_once(" ×") {
            Some((tool, times)) => (tool, times.parse().ok().filter(|times| *times > 0)?),
            None => (head, 1),
        };
        let is_cut = targets.starts_with(CUT);
        let targets = targets.split(BETWEEN).filter(|target| !matches!(*target, "" | "…"));
        let targets = targets.map(Into::into).collect();
        Some(Look { tool: tool.into(), times, targets, is_cut })
    }
}

#[cfg(test)]
mod tests;
