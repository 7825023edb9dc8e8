//! What calls were done to, as their lines name it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::{BETWEEN, Deed, MOST_TARGET};
use crate::checkpoint::outcome::is_bad;
use crate::checkpoint::target::is_target;
use crate::specifics;
use crate::text::keys::{self, Key};
use crate::tool::{Command, FileDeed, runs_lines, words};

/// Bytes of what one call of several was given.
const MOST_DETAILS: usize = 80;
/// Bytes of a command, among others.
const MOST_PROGRAM: usize = 80;
/// Bytes of commands beside the names of the files that they change.
const MOST_SCRIPT: usize = 24;
/// How many commands of a line are shown.
const MOST_COMMANDS: usize = 3;

/// A hash of the flags, which tell calls apart: `dry_run=true`. 0 if there are none.
pub(super) fn flags(deed: &Deed) -> Key {
    let flags = arguments(inner(&deed.what)).into_iter().filter(|one| is_flag(one));
    let flags: Vec<&str> = flags.collect();
    if flags.is_empty() { 0 } else { keys::key(&flags.join(",")) }
}

pub(super) fn is_flag(argument: &str) -> bool {
    value(argument).is_some_and(|value| matches!(value, "true" | "false"))
}

/// The arguments of a call, between the parentheses: each has its name, and a command line is one. A value may have a comma.
pub(super) fn arguments(inner: &str) -> Vec<&str> {
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

/// The arguments that name a call's target: single words, no flags, and no numbers without a name. Without any, a call is like no
/// other: two payments of one amount may go to two accounts.
pub(super) fn short<'a>(all: &[&'a str]) -> Vec<&'a str> {
    let is_word = |word: &str| {
        let is_short = word.len() <= MOST_TARGET && !word.contains(char::is_whitespace);
        let is_list = word.starts_with(['[', '{']);
        let is_constant = matches!(word, "true" | "false" | "null");
        is_short && word.contains(char::is_alphabetic) && !is_list && !is_constant
    };
    let is_short = |one: &&&str| {
        value(one).is_some_and(|value| is_target(value) || is_word(value)) || is_numbered(one)
    };
    all.iter().filter(is_short).copied().collect()
}

/// Whether an argument is the number of something: `pull_number=41`, `userId=7`.
fn is_numbered(argument: &str) -> bool {
    let Some((name, value)) = argument.split_once('=') else { return false };
    let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    is_number && words(name).last().is_some_and(|last| matches!(&**last, "number" | "id"))
}

/// A call in at most `most` bytes: its first arguments, as many as fit; `None` where not even the first does.
pub(super) fn with_arguments(what: &str, most: usize) -> Option<String> {
    let tool = tool(what);
    let mut left = most.saturating_sub(tool.len() + "(, …)".len());
    let all = arguments(inner(what));
    // A value may have a comma, so the text behind an omitted value may be its rest.
    let fits = |one: &&&str| {
        let rest = left.checked_sub(one.len() + ", ".len());
        left = rest.unwrap_or_default();
        rest.is_some() && !matches!(**one, "" | "…")
    };
    let said: Vec<&str> = all.iter().take_while(fits).copied().collect();
    let cut = if said.len() < all.len() { ", …" } else { "" };
    (!said.is_empty()).then(|| format!("{tool}({}{cut})", said.join(", ")))
}

/// The targets of a call: of `edit(src/a.rs)` the file, of `book(id=JG7FMM, cabin=economy, n=2)` its short arguments together, of
/// `Bash(cd app && rm -f x.rs)` the program and the files that it changes.
pub(super) fn targets(deed: &Deed) -> Vec<Cow<'_, str>> {
    let found =
        deed.targets.0.get_or_init(|| found(deed).into_iter().map(Cow::into_owned).collect());
    found.iter().map(|target| Cow::Borrowed(&**target)).collect()
}

/// The targets of a call, found when they are first asked for: reading a command line costs more than all else that merging does.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetCache(OnceLock<Arc<[String]>>);

impl PartialEq for TargetCache {
    /// It follows from the call.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for TargetCache {}

fn found(deed: &Deed) -> Vec<Cow<'_, str>> {
    let inner = inner(&deed.what);
    let all = arguments(inner);
    let short = short(&all);
    let found: Vec<Cow<'_, str>> = match (&*short, &*all) {
        _ if is_line(deed) => inner.split(BETWEEN).flat_map(commanded).collect(),
        _ if inner.contains(BETWEEN) => inner.split(BETWEEN).map(brief).collect(),
        ([_, ..], [_, _, ..]) => {
            let values = short.iter().filter_map(|one| named(one));
            let flags = all.iter().copied().filter(|one| is_flag(one)).map(Cow::Borrowed);
            vec![values.chain(flags).collect::<Vec<_>>().join(", ").into()]
        }
        (_, [one]) if let Some(value) = named(one) => vec![value],
        _ => inner.split(BETWEEN).map(brief).collect(),
    };
    found.into_iter().filter(|target| !matches!(&**target, "" | "…")).collect()
}

/// Whether a call gave a command line to a shell. A statement or a program text has the name of its argument before it, and names of
/// the shell's variables are capitals: `sql=DROP TABLE a`, `CC=clang make`.
pub(super) fn is_line(deed: &Deed) -> bool {
    let inner = inner(&deed.what);
    let is_argument = value(inner).is_some() && inner.starts_with(|c: char| c.is_ascii_lowercase());
    !deed.names_files && !is_argument && runs_lines(tool(&deed.what))
}

/// The same with all short arguments of the call, and its product: `JG7FMM, economy, n=2: R-81`.
pub(super) fn detailed<'d>(deed: &'d Deed, targets: &[Cow<'d, str>]) -> Vec<Cow<'d, str>> {
    let inner = inner(&deed.what);
    if deed.names_files || is_line(deed) {
        return targets.to_vec();
    }
    if inner.contains(BETWEEN) {
        return inner.split(BETWEEN).filter(|one| *one != "…").map(Cow::Borrowed).collect();
    }
    let mut said = String::new();
    for one in arguments(inner) {
        let is_word = |value: &&str| value.contains(char::is_alphabetic) && !is_flag(one);
        let value = brief(value(one).filter(is_word).unwrap_or(one));
        let gap = if said.is_empty() { "" } else { ", " };
        if value != "…" && said.len() + gap.len() + value.len() <= MOST_DETAILS {
            said.push_str(gap);
            said.push_str(&value);
        }
    }
    match (&*said, made(deed)) {
        ("", _) => targets.to_vec(),
        (said, Some(made)) => vec![format!("{said}: {made}").into()],
        (_, None) => vec![said.into()],
    }
}

/// The targets of a call, whichever tool it uses; for a command line, the files that it changes.
pub(super) fn done_to<'t, 'd>(deed: &Deed, targets: &'t [Cow<'d, str>]) -> &'t [Cow<'d, str>] {
    targets.get(usize::from(is_line(deed))..).unwrap_or_default()
}

/// Exact strings by which a later call can undo this one: its targets, the ids among its arguments, and the first ids of its
/// answer.
pub(super) fn handles(deed: &Deed, targets: &[Cow<'_, str>]) -> Vec<Key> {
    let done_to = done_to(deed, targets);
    let mut handles: Vec<Key> = done_to.iter().map(|target| keys::key(target)).collect();
    if deed.names_files || is_line(deed) {
        return handles;
    }
    let is_id = |name: &&str| {
        let has = |is: fn(char) -> bool| name.contains(is);
        has(|c| c.is_ascii_digit()) && has(char::is_alphabetic) && !has(char::is_whitespace)
    };
    let values = arguments(inner(&deed.what)).into_iter().flat_map(|one| one.split(BETWEEN));
    let values = values.map(|one| value(one).unwrap_or(one));
    let named = values.flat_map(|value| value.split(", ")).flat_map(|value| value.split(": "));
    let made = Some(&*deed.went).filter(|went| !is_bad(went)).unwrap_or_default();
    let made = made.split(|c: char| !c.is_alphanumeric() && !"-_./@".contains(c));
    handles.extend(named.chain(made).filter(is_id).map(keys::key));
    handles
}

/// The beginning of an argument's value; a number says nothing without its name.
fn named(argument: &str) -> Option<Cow<'_, str>> {
    if is_numbered(argument) { Some(Cow::Borrowed(argument)) } else { value(argument).map(brief) }
}

/// The one exact string that a call made: that of its outcome which the call doesn't name.
pub(super) fn made(deed: &Deed) -> Option<&str> {
    // Words and flags of an answer aren't made by it.
    let is_bare = deed.times > 1 || deed.names_files || is_line(deed);
    if is_bare || is_bad(&deed.went) || deed.went.contains("false") {
        return None;
    }
    let named = specifics::specifics(&deed.went).map(|found| found.text);
    let is_id = |name: &str| is_target(name) && name.contains(|c: char| c.is_ascii_digit());
    let mut new = named.filter(|name| is_id(name) && !deed.what.contains(name));
    new.next().filter(|_| new.next().is_none())
}

/// Splits a joined target: `S-1, A1`. Numbers mean nothing without their names (`amount=100, to=105`), and a created id stands
/// beside the target: `S-1, A1: T-9`.
pub(super) fn apart(target: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    if !target.contains(", ") || target.contains('=') || target.contains(": ") {
        return vec![target];
    }
    target.split(", ").map(|one| one.to_owned().into()).collect()
}

/// The beginning of a target, among others.
fn brief(target: &str) -> Cow<'_, str> {
    shortened(target, MOST_TARGET)
}

fn shortened(target: &str, most: usize) -> Cow<'_, str> {
    let most = specifics::floor(target, most.min(target.len()));
    let short = target[..most].trim_end();
    let is_cut = !short.is_empty() && short.len() < target.trim_end().len();
    if is_cut { format!("{short}…").into() } else { Cow::Borrowed(target) }
}

/// The commands of a line that may change something, and the files that the line changes.
fn commanded(line: &str) -> Vec<Cow<'_, str>> {
    let (place, line) = place(line);
    let command = Command::read(line);
    let acting = acting(line, &command);
    let changed =
        command.deeds.iter().filter(|(deed, path)| !looks(*deed) && !acting.contains(path));
    let changed: Vec<Cow<'_, str>> = changed.map(|(_, path)| path.clone().into()).collect();
    // The files say more than a long script does.
    let most = if changed.is_empty() { acting.len() } else { MOST_SCRIPT };
    let acting = shortened(&acting, most);
    [vec![format!("{place}{acting}").into()], changed].concat()
}

/// The commands of a line that may change something, as they stand there: each its beginning, and the last ones where not all have
/// room. What was done last tells what the line was for.
fn acting(line: &str, command: &Command) -> String {
    let mut acting: Vec<&str> =
        command.acting.iter().map(|span| told(&line[span.clone()])).collect();
    if acting.is_empty() {
        acting.push(line.trim());
    }
    let last = acting.len().saturating_sub(MOST_COMMANDS);
    let most = MOST_PROGRAM / (acting.len() - last);
    let all: usize = acting.iter().map(|one| one.len() + "; ".len()).sum();
    if all <= MOST_PROGRAM {
        return acting.join("; ");
    }
    let said: Vec<_> = acting[last..].iter().map(|one| shortened(one, most)).collect();
    let cut = if last > 0 { "…; " } else { "" };
    format!("{cut}{}", said.join("; "))
}

/// A command without what says only where its errors are printed.
fn told(command: &str) -> &str {
    let command = command.trim();
    command.strip_suffix("2>&1").unwrap_or(command).trim_end()
}

/// What stands before a line, and the line: `db03: `, `uptime`.
fn place(line: &str) -> (&str, &str) {
    let mut at = 0;
    while let Some((word, _)) = line[at..].split_once(": ").filter(|(word, _)| !word.contains(' '))
    {
        at += word.len() + ": ".len();
    }
    line.split_at(at)
}

fn looks(deed: FileDeed) -> bool {
    matches!(deed, FileDeed::Read | FileDeed::Search)
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
