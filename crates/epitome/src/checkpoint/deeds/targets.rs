//! What calls were done to, as their lines name it.

use std::borrow::Cow;
use std::fmt::Write as _;
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
const MOST_PROGRAM: usize = 64;
/// How many words of a command are shown, without flags.
const MOST_WORDS: usize = 4;
/// How many flags of a command are shown.
const MOST_FLAGS: usize = 3;

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
    // `X=1 make` has no argument of that name.
    let is_line = all.len() == 1 && !deed.names_files && runs_lines(tool(&deed.what));
    let found: Vec<Cow<'_, str>> = match (&*short, &*all) {
        _ if is_line => inner.split(BETWEEN).flat_map(commanded).collect(),
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

/// The same with all short arguments of the call, and its product: `JG7FMM, economy, n=2: R-81`.
pub(super) fn detailed<'d>(deed: &'d Deed, targets: &[Cow<'d, str>]) -> Vec<Cow<'d, str>> {
    let inner = inner(&deed.what);
    if deed.names_files || runs_lines(tool(&deed.what)) {
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
    let is_line = !deed.names_files && runs_lines(tool(&deed.what));
    targets.get(usize::from(is_line)..).unwrap_or_default()
}

/// Exact strings by which a later call can undo this one: its targets, the ids among its arguments, and the first ids of its
/// answer.
pub(super) fn handles(deed: &Deed, targets: &[Cow<'_, str>]) -> Vec<Key> {
    let done_to = done_to(deed, targets);
    let mut handles: Vec<Key> = done_to.iter().map(|target| keys::key(target)).collect();
    if deed.names_files || runs_lines(tool(&deed.what)) {
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
    let is_bare = deed.times > 1 || deed.names_files || runs_lines(tool(&deed.what));
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

/// The programs of a command line that may change something, and the files that the line changes.
fn commanded(line: &str) -> Vec<Cow<'_, str>> {
    let (place, line) = place(line);
    let command = Command::read(line);
    let programs = programs(line, &command);
    let is_named = |path: &str| programs.split(' ').any(|word| word == path);
    let changed = command.deeds.iter();
    let changed = changed.filter(|(deed, path)| !looks(*deed) && !is_named(path));
    let changed: Vec<_> = changed.map(|(_, path)| path.clone().into()).collect();
    let programs = shortened(&format!("{place}{programs}"), MOST_PROGRAM).into_owned().into();
    [vec![programs], changed].concat()
}

/// The programs of a line, the last ones where not all have room: what was done last tells what the line was for.
fn programs(line: &str, command: &Command) -> String {
    let parts: Vec<(&str, Command)> = line
        .split(" && ")
        .map(|part| (part, Command::read(part)))
        .filter(|(_, it)| it.acts)
        .collect();
    // A quote may go on behind the sign.
    let are_whole = parts.iter().all(|(part, _)| {
        ['"', '\''].iter().all(|quote| part.matches(*quote).count().is_multiple_of(2))
    });
    if parts.len() < 2 || !are_whole {
        return program(line, command);
    }
    let mut said: Vec<String> =
        parts.iter().map(|(part, command)| program(part, command)).collect();
    let length = |said: &[String]| said.iter().map(|one| one.len() + " && ".len()).sum::<usize>();
    let all = said.len();
    while said.len() > 1 && length(&said) > MOST_PROGRAM {
        said.remove(0);
    }
    let cut = if said.len() < all { "… && " } else { "" };
    format!("{cut}{}", said.join(" && "))
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

/// The first program of a line that may change something, with up to three words behind it: its verbs and their objects. After
/// `run`, the program that it runs. Flags come last: `--dry-run` says that nothing is done.
fn program(line: &str, command: &Command) -> String {
    let first = || line.split("&&").map(str::trim).find(|one| !one.starts_with("cd "));
    // Only words that stand in the line count: quotes and escapes change the others.
    let acting: Vec<&str> = command.acting.iter().map(String::as_str).collect();
    let said = acting.iter().take_while(|word| line.contains(**word)).count();
    let all: Vec<&str> = match &acting[..said] {
        [] => first().unwrap_or(line).split(' ').collect(),
        said => said.to_vec(),
    };
    let is_flag = |word: &&str| word.len() > 1 && word.starts_with('-') && !word.contains(' ');
    // Before a verb a flag may be given a word: a cluster, a folder.
    let is_plain = |at: usize| !is_flag(&all[at]) && (at == 0 || !is_flag(&all[at - 1]));
    let last_verb = (1..all.len()).rfind(|at| is_plain(*at) && is_verb(all[*at]));
    let changes_files = command.deeds.iter().any(|(deed, _)| !looks(*deed));
    let mut said: Vec<&str> = Vec::new();
    let mut flags: Vec<String> = Vec::new();
    let mut is_over = false;
    for (at, word) in all.iter().copied().enumerate() {
        if is_flag(&word) {
            flags.push(told_flag(word));
            continue;
        }
        let is_number = is_count(word);
        let is_before_verb = said.len() == 1 && last_verb.is_some_and(|verb| at < verb);
        if let Some(flag) = flags.last_mut()
            && !is_plain(at)
            && (is_before_verb || is_number && flag.starts_with("--"))
        {
            let _ = write!(flag, " {word}");
            continue;
        }
        let is_first = said.len() == 1 && flags.is_empty();
        let is_said = is_first || is_verb(word) || said.last() == Some(&"run");
        let begins_well = word.starts_with(char::is_alphanumeric) && is_said;
        // Behind the verbs stands what they are about; files have their own names.
        let is_object =
            !changes_files && said.len() > 1 && is_plain(at) && !word.contains(char::is_whitespace);
        if !is_over && (said.is_empty() || begins_well || is_object) {
            said.push(word);
        }
        is_over |= said.len() == MOST_WORDS || !said[1..].is_empty() && !begins_well;
    }
    // Long targets are the most telling.
    let (long, short): (Vec<String>, Vec<String>) =
        flags.into_iter().partition(|flag| flag.starts_with("--"));
    let flags = long.into_iter().chain(short).take(MOST_FLAGS);
    said.into_iter().map(str::to_owned).chain(flags).collect::<Vec<_>>().join(" ")
}

/// A flag without its value, which differs between calls, unless it is a word or a count.
fn told_flag(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) if !is_verb(value) && !is_count(value) => name.to_owned(),
        _ => flag.to_owned(),
    }
}

/// How many: `--replicas=12`.
fn is_count(value: &str) -> bool {
    value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn looks(deed: FileDeed) -> bool {
    matches!(deed, FileDeed::Read | FileDeed::Search)
}

fn is_verb(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
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
