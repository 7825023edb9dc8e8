//! What was done: calls that may have changed something, in order, with key arguments and outcome; and reads.
//!
//! Lines are read back, so that the next checkpoint continues them: `[35] Edit(src/a.rs) ×17, last [133] → ok`.

mod counts;
mod editor;
mod line;
mod looks;
mod merge;
mod targets;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::outcome::{has_failed, has_warned, is_bad, outcome, state};
use super::target::{asked_with, file_key, key, records, says_all, shown, target};
use crate::json::unquote_inner;
use crate::text::arguments::Arguments;
use crate::text::keys::{self, Key};
use crate::text::outcome::judge;
use crate::text::salience::{Tell, tell};
use crate::text::{CallStatus, cut};
use crate::tool::{Act, Call};

use editor::{Editor, Known, tells_of};
pub(super) use looks::LookRoom;
use looks::{Answer, LOOKS, Look};
pub(super) use merge::Merging;
use merge::{grouped, mended, shape};
use targets::{TargetCache, inner, value};

/// One call, or several that ask the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    /// The number of the message that made the first of them.
    first: u32,
    /// Of the last.
    last: u32,
    /// Where the last stands among all calls: one message may make several.
    place: u32,
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
    /// A key of the other arguments, which tells calls apart; 0 if they aren't known.
    given: Key,
    /// The outcome of the last one; empty until it is known.
    went: Box<str>,
    /// The same in more words, where there is more to say.
    in_full: Box<str>,
    /// For a single call, its full text; empty if `what` is as long.
    alone: Box<str>,
    /// Tells outcomes apart that differ in more than names and numbers.
    shape: Key,
    /// Whether `went` is how each of those that went well did.
    is_one: bool,
    /// Whether those that went well had other outcomes than `went`.
    differs: bool,
    /// What `what` says the call was done to.
    targets: TargetCache,
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
    changed: Changes,
    done_to: Changes,
    /// The newest call that made each id, by its place.
    made: HashMap<Key, usize>,
    editor: Editor,
    /// Calls that an earlier checkpoint counts and doesn't name.
    pub(super) unnamed: u32,
}

/// The message whose call changed a file last, or was done to a record: by the last part of its name.
type Changes = HashMap<Box<str>, HashMap<Box<str>, u32>>;

/// What a call was.
#[derive(Clone, Debug)]
enum Asked {
    Deed {
        deed: usize,
        act: Act,
        /// The tool and its arguments, as they mean.
        asked: Box<str>,
        known: Known,
        changes: Vec<Box<str>>,
        records: Vec<Box<str>>,
    },
    Look {
        number: u32,
        look: usize,
        targets: Vec<String>,
        act: Act,
        whole: Option<Box<str>>,
    },
}

/// Bytes of a call's arguments in which what its output repeats is looked for.
const MOST_ARGUMENTS: usize = 4096;
/// What stands before how a call went.
const WENT: &str = " → ";
/// What stands between how a call went and what became of it.
const THEN: &str = " (then [";
/// What stands before the number of calls that no line names.
const UNNAMED: &str = "[…] more calls, not named: ";
/// Bytes of a target among others, unless it is one exact string.
const MOST_TARGET: usize = 48;
/// Bytes for an outcome if not every tool has a line.
const MOST_BRIEF: usize = 12;
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
        let changes = call.changes(arguments).into_iter().map(|(_, path)| Box::from(path));
        let changes: Vec<Box<str>> = changes.collect();
        let known = self.editor.call(number, &call);
        if let Some(name) = shown(&call) {
            self.shown.insert(slot, name.into());
        }
        if reads || call.only_looks() {
            note(&mut self.changed, changes, number);
            let mut targets = target(&call);
            if targets.is_empty() {
                targets.push(String::new());
            }
            let look = self.look(tool);
            let act = if call.line.is_some() { Act::Run } else { call.act };
            // Of a file its name says enough.
            let whole =
                asked_with(&call).filter(|_| matches!(act, Act::Ask | Act::Look | Act::Other));
            let whole = whole.filter(|whole| targets[0] != *whole);
            self.looks[look].ask(targets.iter().map(String::as_str), whole.as_deref());
            let whole = whole.map(Into::into);
            self.open.push((slot, Asked::Look { number, look, targets, act, whole }));
            return;
        }
        let records = records(&call).map(Box::from).collect();
        let what = key(tool, arguments, &call);
        let names_files = names_files(&what);
        // Limits such as timeouts say nothing about what a command does.
        let asked = call.line.as_deref().unwrap_or(arguments);
        let given = unquote_inner(cut::head(arguments, MOST_ARGUMENTS));
        self.open.push((
            slot,
            Asked::Deed {
                deed: self.all.len(),
                act: call.act,
                asked: format!("{tool} {given}").into(),
                known,
                changes,
                records,
            },
        ));
        let says_all = says_all(&what, &call);
        self.all.push(Deed {
            first: number,
            last: number,
            place: self.all.len() as u32,
            times: 1,
            failed: 0,
            warned: 0,
            names_files,
            asks: if names_files || says_all { 0 } else { keys::key(asked) },
            given: keys::key(asked),
            what: what.into(),
            went: "".into(),
            in_full: "".into(),
            alone: "".into(),
            shape: 0,
            is_one: true,
            differs: false,
            targets: TargetCache::default(),
        });
    }

    /// The file or record that the call in `slot` shows, if it shows one alone.
    pub(super) fn shown_by(&self, slot: u32) -> Option<&str> {
        self.shown.get(&slot).map(AsRef::as_ref)
    }

    /// What became after message `number` of a file or record, as a label says it.
    pub(super) fn since(&self, number: u32, name: &str) -> &'static str {
        let is_later = |of: &Changes| {
            let mut known = of.get(last_part(name)).into_iter().flatten();
            known.any(|(known, last)| *last > number && is_same(known, name))
        };
        // The outcome of a call without a result isn't known.
        let open = self.open.iter().filter_map(|(_, asked)| match asked {
            Asked::Deed { deed, changes, records, .. } if self.all[*deed].first > number => {
                Some((changes, records))
            }
            _ => None,
        });
        let names = |all: &[Box<str>]| all.iter().any(|one| is_same(one, name));
        if is_later(&self.changed) || open.clone().any(|(changes, _)| names(changes)) {
            ", changed since"
        } else if is_later(&self.done_to) || open.clone().any(|(_, records)| names(records)) {
            ", acted on since"
        } else {
            ""
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
            Asked::Deed { deed, act, asked, known, changes, records } => {
                let (mut went, in_full) = outcome(act, &asked, output, reported, is_new);
                let was_made = |number: &u32| self.is_made(*number, &self.all[deed].what);
                let takes_back = known.takes_back.filter(|it| !is_bad(&went) && was_made(it));
                let at = deed;
                let deed = &mut self.all[at];
                deed.failed = u32::from(has_failed(&went));
                deed.warned = u32::from(has_warned(&went));
                let open = known.open.filter(|path| tells_of(output, path));
                if let Some(path) = &open {
                    deed.what = file_key(&deed.what, path).into();
                    deed.targets = TargetCache::default();
                    deed.names_files = true;
                    deed.asks = 0;
                }
                // What isn't an edit may fail after it did something.
                if deed.failed == 0 || matches!(act, Act::Run | Act::Other) {
                    note(&mut self.changed, changes.into_iter().chain(open), deed.first);
                    note(&mut self.done_to, records, deed.first);
                }
                deed.in_full = in_full.into();
                if let Some(before) = takes_back {
                    let _ = write!(went, " (takes back [{before}])");
                    deed.in_full = "".into();
                }
                deed.went = went.into();
                deed.shape = shape(deed);
                self.note_made(at);
            }
            Asked::Look { number, look, targets, act, whole } => {
                let verdict = judge(output, reported);
                // Of a search that found nothing, or of files that differ, 1 is the code (POSIX, grep and diff).
                let says_no = act == Act::Run
                    && verdict.exit_code == Some(1)
                    && verdict.line.is_none_or(|line| tell(line) < Tell::Mention);
                let has_failed = verdict.outcome == CallStatus::Error && !says_no;
                let asks = matches!(act, Act::Ask | Act::Other) && !has_failed;
                let state = Some(output).filter(|_| asks).and_then(|said| state(said, is_new));
                if let Some(state) = &state {
                    for id in &targets {
                        self.became(number, id, state);
                    }
                }
                let is_line = act == Act::Run;
                self.looks[look].answer(&targets, &Answer { is_line, has_failed, whole, state });
            }
        }
    }

    /// Notes the ids that the outcome of a call tells and the call doesn't.
    fn note_made(&mut self, at: usize) {
        let Deed { what, went, .. } = &self.all[at];
        let is_sign = |c: char| !c.is_alphanumeric() && !"-_.".contains(c);
        let asked: HashSet<&str> = what.split(is_sign).collect();
        let is_id = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
        let made = went.split(is_sign).filter(|word| is_id(word) && !asked.contains(word));
        let made: Vec<Key> = made.map(keys::key).collect();
        self.made.extend(made.into_iter().map(|id| (id, at)));
    }

    /// Says beside the call that made `id` what message `number` found of it: a job that was queued may have failed since.
    fn became(&mut self, number: u32, id: &str, state: &str) {
        let Some(deed) = self.made.get(&keys::key(id)).map(|at| &mut self.all[*at]) else { return };
        let was = deed.went.split(THEN).next().unwrap_or_default();
        if was.contains(state) {
            return;
        }
        deed.went = format!("{was}{THEN}{number}]: {state})").into();
        if !deed.in_full.is_empty() {
            let was = deed.in_full.split(THEN).next().unwrap_or_default();
            deed.in_full = format!("{was}{THEN}{number}]: {state})").into();
        }
        deed.targets = TargetCache::default();
        deed.shape = shape(deed);
    }

    /// Whether what message `number` did went well, as far as its output tells.
    fn is_made(&self, number: u32, what: &str) -> bool {
        let mut same = self.all.iter().filter(|deed| deed.first == number && *deed.what == *what);
        same.any(|deed| !is_bad(&deed.went))
    }

    /// Where the calls of a tool are that only reads.
    fn look(&mut self, tool: &str) -> usize {
        self.looks.iter().position(|look| *look.tool == *tool).unwrap_or_else(|| {
            self.looks.push(Look::of(tool));
            self.looks.len() - 1
        })
    }

    /// Takes over what an earlier checkpoint says, before anything newer is taken in.
    pub(super) fn carry(&mut self, lines: &str) {
        for line in lines.lines() {
            if let Some(count) = line.strip_prefix(UNNAMED) {
                self.unnamed = self.unnamed.saturating_add(count.parse().unwrap_or(0));
            } else if let Some(deed) = Deed::read(line) {
                self.all.push(Deed { place: self.all.len() as u32, ..deed });
                self.note_made(self.all.len() - 1);
            } else if let Some(look) = line.strip_prefix(LOOKS).and_then(Look::read) {
                let at = self.look(&look.tool);
                self.looks[at].carry(look);
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

    /// Some of the calls; those that say the same and went alike are one, in the order of the last of them.
    pub(super) fn calls(&self, is_of: impl Fn(&Deed) -> bool) -> Vec<Deed> {
        let all: Vec<&Deed> = self.all.iter().filter(|deed| is_of(deed)).collect();
        let same = grouped(all.iter().copied(), Merging::Same);
        let same = same.iter().map(|group| group.merged(Merging::Same)).collect();
        let mut same = mended(same, &all);
        same.sort_by_key(Deed::order);
        same
    }

    /// The same, but only those that follow each other are one.
    pub(super) fn in_order(&self, is_of: impl Fn(&Deed) -> bool) -> Vec<Deed> {
        let all: Vec<&Deed> = self.all.iter().filter(|deed| is_of(deed)).collect();
        let runs = all.chunk_by(|one, next| one.what == next.what && one.asks == next.asks);
        let runs = runs.flat_map(|run| merged(run.iter().copied(), Merging::Same)).collect();
        let mut calls = mended(runs, &all);
        calls.sort_by_key(Deed::order);
        calls
    }

    /// The line that counts calls which no other line names.
    pub(super) fn unnamed_line(count: u32) -> String {
        format!("{UNNAMED}{count}")
    }

    /// The line of each tool that only read, within the room of each.
    pub(super) fn looks(&self, room: LookRoom) -> Vec<String> {
        self.looks.iter().map(|look| look.line(room)).collect()
    }
}

/// Of these calls, those that `merging` takes for one and that went alike are one, in the order of the last of them.
pub(super) fn merged<'d>(calls: impl IntoIterator<Item = &'d Deed>, merging: Merging) -> Vec<Deed> {
    let mut groups = grouped(calls.into_iter(), merging);
    groups.sort_by_key(|group| group.deed.order());
    groups.iter().map(|group| group.merged(merging)).collect()
}

/// Whether two names may be of one file: one of them is the other behind a folder.
fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let short = short.strip_prefix("./").unwrap_or(short);
    long.strip_suffix(short).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// Notes that message `number` changed these, unless a later one did.
fn note(of: &mut Changes, names: impl IntoIterator<Item = Box<str>>, number: u32) {
    for name in names {
        let alike = of.entry(last_part(&name).into()).or_default();
        let last = alike.entry(name).or_insert(number);
        *last = number.max(*last);
    }
}

/// Of a path the file's own name.
fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
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

    /// When the last of them was made.
    pub(super) fn order(&self) -> (u32, u32) {
        (self.last, self.place)
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
        targets::tool(&self.what)
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
}

#[cfg(test)]
mod tests;
