//! Which calls become one line, where not each has room for its own.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{BETWEEN, CUT, Deed, MOST_BRIEF, MOST_TARGET};
use crate::checkpoint::activation::{self, Key};
use crate::checkpoint::outcome::{brief as brief_outcome, is_bad};
use crate::checkpoint::target::{MOST_COMMAND, MOST_ERROR, is_target};
use crate::specifics;
use crate::tool::{Command, FileDeed, runs_lines};

/// How a call went: calls that went otherwise are no one line.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Went {
    Well,
    Badly,
    Unanswered,
}

impl Went {
    fn of(deed: &Deed) -> Self {
        if deed.went.is_empty() {
            Went::Unanswered
        } else if is_bad(&deed.went) {
            Went::Badly
        } else {
            Went::Well
        }
    }
}

/// Equal for outcomes that differ only in names and numbers; 0 for commands, edits and failures.
pub(super) fn shape(deed: &Deed) -> Key {
    if Went::of(deed) != Went::Well || deed.names_files || runs_lines(tool(&deed.what)) {
        return 0;
    }
    let is_sign = |c: char| !c.is_alphanumeric() && !"-_.".contains(c);
    let own: HashSet<&str> = deed.what.split(is_sign).collect();
    // That nothing was done is another outcome.
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word != "0";
    let words = deed.went.split(is_sign);
    let words = words.filter(|word| !word.is_empty() && !is_number(word) && !own.contains(word));
    activation::key(&words.collect::<Vec<_>>().join(" "))
}

/// The shapes of the outcomes of each tool's calls that went well.
fn shapes<'a>(deeds: &[&'a Deed]) -> HashMap<&'a str, HashSet<Key>> {
    let mut shapes: HashMap<&str, HashSet<Key>> = HashMap::new();
    for deed in deeds.iter().filter(|deed| Went::of(deed) == Went::Well) {
        shapes.entry(tool(&deed.what)).or_default().insert(deed.shape);
    }
    shapes
}

/// Calls that become one line.
pub(super) struct Group<'a> {
    /// What they have in common.
    pub(super) deed: Deed,
    targets: Vec<Target<'a>>,
    /// Whether an earlier checkpoint names only some.
    is_cut: bool,
    /// Where each stands among these.
    places: HashMap<Cow<'a, str>, usize>,
    /// How they went, each once, the last one last.
    outcomes: Vec<Outcome<'a>>,
    /// Whether these are the outcomes of all.
    is_known: bool,
    /// The shapes of these.
    shapes: HashSet<Key>,
}

/// How calls went.
struct Outcome<'a> {
    went: &'a str,
    in_full: &'a str,
    /// How many of them.
    times: u32,
}

/// Up to so many kinds of outcome have a line each; more share one.
const MOST_SHAPES: usize = 3;
/// What stands between outcomes.
const OR: &str = " / ";
/// More outcomes than this never fit a line.
const MOST_OUTCOMES: usize = MOST_COMMAND / OR.len() + 1;

/// What calls were done to.
struct Target<'a> {
    text: Cow<'a, str>,
    /// How many of the calls.
    calls: usize,
    /// Where it stands in the first of them.
    at: usize,
}

/// Calls in the groups that `merging` makes of them.
pub(super) fn grouped<'a>(
    deeds: impl Iterator<Item = &'a Deed>,
    merging: Merging,
) -> Vec<Group<'a>> {
    let deeds: Vec<&Deed> = deeds.collect();
    let depths = if merging == Merging::Short { depths(&deeds) } else { HashMap::new() };
    let shapes = if merging == Merging::Same { HashMap::new() } else { shapes(&deeds) };
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: HashMap<(Cow<'a, str>, Key, Went), usize> = HashMap::new();
    for deed in deeds {
        let what = merging.of(deed, &depths);
        let went = Went::of(deed);
        let few =
            || shapes.get(tool(&deed.what)).filter(|all| (2..=MOST_SHAPES).contains(&all.len()));
        let apart = match merging {
            // Failed edits of one file are one line only if they ask for the same.
            Merging::Same if went == Went::Badly && deed.names_files => deed.given,
            Merging::Same => deed.asks,
            _ if went == Went::Well && few().is_some() => deed.shape ^ flags(deed),
            _ => flags(deed),
        };
        let at = *places.entry((what.clone(), apart, went)).or_insert(groups.len());
        if at == groups.len() {
            let deed = deed.clone();
            let deed = Deed { what: what.into(), times: 0, failed: 0, warned: 0, ..deed };
            groups.push(Group {
                deed,
                targets: Vec::new(),
                is_cut: false,
                places: HashMap::new(),
                outcomes: Vec::new(),
                is_known: true,
                shapes: HashSet::new(),
            });
        }
        groups[at].add(deed, merging);
    }
    groups
}

/// What tells calls apart that were given other flags: `dry_run=true`. 0 where there is none.
fn flags(deed: &Deed) -> Key {
    let flags = arguments(inner(&deed.what)).into_iter().filter(|one| is_flag(one));
    let flags: Vec<&str> = flags.collect();
    if flags.is_empty() { 0 } else { activation::key(&flags.join(",")) }
}

fn is_flag(argument: &str) -> bool {
    value(argument).is_some_and(|value| matches!(value, "true" | "false"))
}

/// How many short arguments tell the calls of each tool apart; all, where none do.
fn depths<'a>(deeds: &[&'a Deed]) -> HashMap<&'a str, usize> {
    let mut calls: HashMap<&str, HashMap<&str, Vec<&str>>> = HashMap::new();
    for deed in deeds {
        if let Some((tool, _)) = deed.what.split_once('(') {
            let short = short(&arguments(inner(&deed.what)));
            calls.entry(tool).or_default().insert(&deed.what, short);
        }
    }
    let depth = |calls: HashMap<&str, Vec<&str>>| {
        let most = calls.values().map(Vec::len).max().unwrap_or(0);
        let are_apart = |depth: &usize| {
            let told: HashSet<_> =
                calls.values().map(|call| &call[..call.len().min(*depth)]).collect();
            told.len() == calls.len()
        };
        (1..=most).find(are_apart).unwrap_or(usize::MAX)
    };
    calls.into_iter().map(|(tool, calls)| (tool, depth(calls))).collect()
}

/// Counts a failed command or edit in the line of the same one that went well later. Other failed calls stay by themselves: they may
/// have done something.
pub(super) fn mended(same: Vec<Deed>, all: &[&Deed]) -> Vec<Deed> {
    let (bad, mut well): (Vec<Deed>, Vec<Deed>) =
        same.into_iter().partition(|deed| deed.failed == deed.times);
    let is_well = |deed: &Deed| Went::of(deed) == Went::Well;
    let places: HashMap<(Box<str>, Key), usize> = well
        .iter()
        .enumerate()
        .filter(|(_, deed)| is_well(deed))
        .map(|(at, deed)| ((deed.what.clone(), deed.asks), at))
        .collect();
    let again: HashMap<(&str, Key), u32> = all
        .iter()
        .filter(|deed| deed.given != 0 && is_well(deed))
        .map(|deed| ((&*deed.what, deed.given), deed.last))
        .collect();
    for deed in bad {
        let is_mended = if deed.names_files {
            again.get(&(&*deed.what, deed.given)).is_some_and(|last| *last > deed.last)
        } else {
            runs_lines(tool(&deed.what))
        };
        let later = places.get(&(deed.what.clone(), deed.asks)).filter(|_| is_mended);
        match later.map(|at| &mut well[*at]) {
            Some(later) if later.last > deed.last => later.count(&deed),
            _ => well.push(deed),
        }
    }
    well
}

impl<'a> Group<'a> {
    fn add(&mut self, deed: &'a Deed, merging: Merging) {
        let known = &mut self.deed;
        known.count(deed);
        known.last = known.last.max(deed.last);
        known.went = deed.went.clone();
        known.in_full = deed.in_full.clone();
        known.differs |= deed.differs;
        self.is_known &= deed.is_one;
        let times = deed.times.saturating_sub(deed.failed).saturating_sub(deed.warned);
        let mut outcome = Outcome { went: &deed.went, in_full: &deed.in_full, times };
        let is_same = |it: &Outcome<'_>| it.went == outcome.went && it.in_full == outcome.in_full;
        if let Some(at) = self.outcomes.iter().position(is_same) {
            outcome.times = outcome.times.saturating_add(self.outcomes.remove(at).times);
        }
        if self.outcomes.len() < MOST_OUTCOMES {
            self.outcomes.push(outcome);
        }
        self.shapes.insert(deed.shape);
        self.is_cut |= inner(&deed.what).starts_with(CUT);
        if let Some(most) = merging.targets() {
            // What several have in common is said once where not all have room.
            let is_apart = most < usize::MAX && !deed.names_files;
            for target in targets(deed) {
                let parts = if is_apart { apart(target) } else { vec![target] };
                for (at, text) in parts.into_iter().enumerate() {
                    let place = *self.places.entry(text.clone()).or_insert(self.targets.len());
                    if place == self.targets.len() {
                        self.targets.push(Target { text, calls: 0, at });
                    }
                    self.targets[place].calls += 1;
                }
            }
        }
    }

    /// How all of them went, as `said` says it, in at most `most` bytes; `None` where that isn't all.
    fn told(&self, said: impl Fn(&Outcome<'a>) -> &'a str, most: usize) -> Option<String> {
        let mut told: Vec<(&str, u32)> = Vec::new();
        for outcome in &self.outcomes {
            let went = said(outcome);
            if is_bad(went) || went.contains(OR) {
                return None;
            }
            match told.iter_mut().find(|(known, _)| *known == went) {
                Some((_, times)) => *times = times.saturating_add(outcome.times),
                None => told.push((went, outcome.times)),
            }
        }
        let is_whole = self.is_known && told.len() == self.outcomes.len();
        let told: Vec<String> = told
            .iter()
            .map(|(went, times)| match times {
                1 => (*went).to_owned(),
                times => format!("{went} ({times} times)"),
            })
            .collect();
        let told = told.join(OR);
        (is_whole && told.len() <= most).then_some(told)
    }

    /// The line of all of them.
    pub(super) fn merged(&self, merging: Merging) -> Deed {
        let mut deed = self.deed.clone();
        deed.is_one = self.is_known && self.outcomes.len() == 1;
        let is_brief = matches!(merging, Merging::Brief(_) | Merging::Exact);
        if self.outcomes.len() > 1 && is_brief {
            deed.differs |= self.shapes.len() > 1;
        } else if self.outcomes.len() > 1 {
            let told = self.told(|outcome| outcome.went, MOST_ERROR);
            deed.in_full = self
                .told(|it| if it.in_full.is_empty() { it.went } else { it.in_full }, MOST_COMMAND)
                .unwrap_or_default()
                .into();
            deed.differs |= told.is_none() && self.shapes.len() > 1;
            deed.went = told.map_or(deed.went, Into::into);
        }
        if is_brief {
            deed.went = brief_outcome(&deed.went, MOST_BRIEF).into();
        }
        if let Some(most) = merging.targets()
            && most > 0
            && !self.targets.is_empty()
        {
            // What tells calls apart says most, then what stands first in one.
            let mut told: Vec<usize> = (0..self.targets.len()).collect();
            if merging == Merging::Exact {
                told.retain(|place| is_target(&self.targets[*place].text));
            }
            told.sort_by_key(|place| {
                let Target { calls, at, .. } = self.targets[*place];
                (calls, at, Reverse(*place))
            });
            told.truncate(most);
            told.sort_unstable();
            let is_cut = self.is_cut || told.len() < self.targets.len();
            let before = if is_cut { CUT } else { "" };
            let told: Vec<&str> = told.iter().map(|at| &*self.targets[*at].text).collect();
            if told.is_empty() {
                return deed;
            }
            deed.what = format!("{}({before}{})", deed.what, told.join(BETWEEN)).into();
        }
        deed
    }
}

/// Which calls become one line. Where the others don't fit, the next one may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checkpoint) enum Merging {
    /// Those that say the same.
    Same,
    /// Those of one tool whose short arguments are the same. As few of these are said as tell calls apart.
    Short,
    /// Those of one tool, which names its newest targets, at most so many.
    Targets(usize),
    /// The same, which says in a few words how the last one went.
    Brief(usize),
    /// The same, which names one exact string and no other target.
    Exact,
}

impl Merging {
    /// Those of one tool, which names all its targets.
    pub(in crate::checkpoint) const TOOL: Merging = Merging::Targets(usize::MAX);
    /// Those of one tool in the fewest words.
    pub(in crate::checkpoint) const LEAST: Merging = Merging::Brief(0);

    /// How many targets of a tool it names.
    fn targets(self) -> Option<usize> {
        match self {
            Merging::Same | Merging::Short => None,
            Merging::Targets(most) | Merging::Brief(most) => Some(most),
            Merging::Exact => Some(1),
        }
    }

    /// What stands for a call.
    fn of<'d>(self, deed: &'d Deed, depths: &HashMap<&str, usize>) -> Cow<'d, str> {
        let what = &*deed.what;
        let Some((tool, _)) = what.split_once('(') else { return what.into() };
        match self {
            Merging::Same => what.into(),
            Merging::Short if deed.names_files => what.into(),
            Merging::Short => {
                let all = arguments(inner(what));
                let mut short = short(&all);
                short.truncate(depths.get(tool).copied().unwrap_or(usize::MAX));
                short.extend(all.iter().filter(|one| is_flag(one)));
                if short.is_empty() || short.len() == all.len() {
                    what.into()
                } else {
                    format!("{tool}({}, …)", short.join(", ")).into()
                }
            }
            Merging::Targets(_) | Merging::Brief(_) | Merging::Exact => tool.into(),
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

/// The arguments that tell what a call was done to: those with one word, no number or flag. Where there is none, a call is like no
/// other: of two payments with one amount nobody knows that they went to one account.
fn short<'a>(all: &[&'a str]) -> Vec<&'a str> {
    let is_word = |word: &str| {
        let is_short = word.len() <= MOST_TARGET && !word.contains(char::is_whitespace);
        is_short && word.contains(char::is_alphabetic) && !matches!(word, "true" | "false" | "null")
    };
    let is_short = |one: &&&str| value(one).is_some_and(|value| is_target(value) || is_word(value));
    all.iter().filter(is_short).copied().collect()
}

/// The targets of a call: of `edit(src/a.rs)` the file, of `book(id=JG7FMM, cabin=economy, n=2)` its short arguments together, of
/// `Bash(cd app && rm -f x.rs)` the program and the files that it changes.
fn targets(deed: &Deed) -> Vec<Cow<'_, str>> {
    let inner = inner(&deed.what);
    let all = arguments(inner);
    let short = short(&all);
    // `X=1 make` has no argument of that name.
    let is_line = all.len() == 1 && !deed.names_files && runs_lines(tool(&deed.what));
    let found: Vec<Cow<'_, str>> = match (&*short, &*all) {
        _ if is_line => inner.split(BETWEEN).flat_map(commanded).collect(),
        ([_, _, ..], _) => {
            let values = short.iter().filter_map(|one| value(one)).map(brief);
            let flags = all.iter().copied().filter(|one| is_flag(one)).map(Cow::Borrowed);
            vec![values.chain(flags).collect::<Vec<_>>().join(", ").into()]
        }
        ([one], [_, _, ..]) if let Some(value) = value(one) => {
            let flags = all.iter().copied().filter(|one| is_flag(one)).map(Cow::Borrowed);
            vec![[brief(value)].into_iter().chain(flags).collect::<Vec<_>>().join(", ").into()]
        }
        ([one], _) | ([], [one]) if let Some(value) = value(one) => vec![brief(value)],
        _ => inner.split(BETWEEN).map(brief).collect(),
    };
    found.into_iter().filter(|target| !matches!(&**target, "" | "…")).collect()
}

/// What stands together as a target, each for itself: `S-1, A1`. Numbers say nothing without their names: `amount=100, to=105`.
fn apart(target: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    if !target.contains(", ") || target.contains('=') {
        return vec![target];
    }
    target.split(", ").map(|one| one.to_owned().into()).collect()
}

/// The beginning of a target, among others.
fn brief(target: &str) -> Cow<'_, str> {
    let most = specifics::floor(target, MOST_TARGET.min(target.len()));
    let short = target[..most].trim_end();
    let is_cut = !short.is_empty() && short.len() < target.trim_end().len();
    if is_cut { format!("{short}…").into() } else { Cow::Borrowed(target) }
}

/// The program of a command line, and the files that the line changes.
fn commanded(line: &str) -> Vec<Cow<'_, str>> {
    let program = brief(program(line));
    let is_named = |path: &str| program.split(' ').any(|word| word == path);
    let looks = |deed| matches!(deed, FileDeed::Read | FileDeed::Search);
    let changed = Command::read(line).deeds.into_iter();
    let changed = changed.filter(|(deed, path)| !looks(*deed) && !is_named(path));
    let changed: Vec<_> = changed.map(|(_, path)| path.into()).collect();
    [vec![program], changed].concat()
}

/// The program that a command line runs in the folder that it goes to, and its first word where that is no flag; behind `run` what
/// it runs.
fn program(line: &str) -> &str {
    let goes = |command: &&str| !command.starts_with("cd ");
    let command = line.split("&&").map(str::trim).find(goes).unwrap_or(line);
    let mut end = 0;
    for (at, word) in command.split(' ').enumerate().take(3) {
        let is_said = at == 0
            || word.starts_with(char::is_alphanumeric)
                && (at == 1 || command[..end].ends_with(" run"));
        if !is_said {
            break;
        }
        end += word.len() + usize::from(at > 0);
    }
    &command[..end]
}

/// What stands before them.
pub(super) fn tool(what: &str) -> &str {
    what.split_once('(').map_or(what, |(tool, _)| tool)
}

/// What stands between the parentheses.
pub(super) fn inner(what: &str) -> &str {
    what.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest))
}

/// Of `id=JG7FMM` what stands behind the name.
pub(super) fn value(argument: &str) -> Option<&str> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    argument.split_once('=').filter(|(name, _)| is_name(name)).map(|(_, value)| value)
}
