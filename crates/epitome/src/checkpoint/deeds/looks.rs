//! Calls that only read: what they asked for, and what came back where that is short.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::counts::CallCounts;
use super::{BETWEEN, CUT, WENT};

/// Targets of one tool that are remembered, the newest.
const MOST_TARGETS: usize = 400;
/// Follows the targets that a reading call could not read.
const MISSED: &str = " (failed)";
/// What stands before them.
pub(super) const LOOKS: &str = "Only read: ";

/// Calls of one tool that only read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) tool: Box<str>,
    times: u32,
    /// How many of them failed.
    failed: u32,
    /// What they asked for, the last asked last.
    targets: Vec<LookTarget>,
    /// Whether an earlier checkpoint named only some of the targets.
    is_cut: bool,
}

/// Bytes that a tool's line has for what came back, and for what else was asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::checkpoint) struct LookRoom {
    pub(in crate::checkpoint) answers: usize,
    pub(in crate::checkpoint) targets: usize,
}

/// What came back of a call.
pub(super) struct Answer {
    /// Whether it was a command line: one that finds nothing in a file fails, too.
    pub(super) is_line: bool,
    pub(super) has_failed: bool,
    /// All that was asked with, where that is more than the targets say.
    pub(super) whole: Option<Box<str>>,
    /// What it says of a state.
    pub(super) state: Option<String>,
}

/// The target of a read, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LookTarget {
    /// A file, or the first short argument.
    name: Box<str>,
    /// All that was asked with, where that is more.
    whole: Option<Box<str>>,
    seen: Seen,
}

/// Whether the target was read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// Not known yet.
    Asked,
    /// It was, at least once.
    Read,
    /// The last answer, if it is short or a state.
    Said(Box<str>),
    /// It couldn't be.
    Missed,
}

impl LookTarget {
    /// Whether the other was asked for with the same; one of an earlier checkpoint has its name alone.
    fn is_of(&self, other: &LookTarget) -> bool {
        let is_carried = self.whole.is_none() && other.whole.as_ref() == Some(&self.name);
        self.name == other.name && self.whole == other.whole || is_carried
    }

    /// The text of the look: all arguments that tell it from others of its name, and the object of a state.
    fn told(&self, shared: &HashSet<&str>) -> String {
        let LookTarget { name, whole, seen } = self;
        let is_whole = matches!(seen, Seen::Said(_)) || shared.contains(&**name);
        let target = whole.as_ref().filter(|_| is_whole).unwrap_or(name);
        match seen {
            Seen::Missed if target.is_empty() => String::new(),
            Seen::Missed => format!("{target}{MISSED}"),
            Seen::Said(said) => format!("{target}{WENT}{said}").trim_start().to_owned(),
            Seen::Asked | Seen::Read => target.to_string(),
        }
    }
}

impl Look {
    pub(super) fn of(tool: &str) -> Self {
        Look { tool: tool.into(), times: 0, failed: 0, targets: Vec::new(), is_cut: false }
    }

    /// Takes in a call, with all that it was asked with, where that is more than the targets say.
    pub(super) fn ask<'t>(
        &mut self,
        targets: impl IntoIterator<Item = &'t str>,
        whole: Option<&str>,
    ) {
        self.times = self.times.saturating_add(1);
        for name in targets {
            self.add(LookTarget {
                name: name.into(),
                whole: whole.map(Into::into),
                seen: Seen::Asked,
            });
        }
    }

    fn add(&mut self, target: LookTarget) {
        if let Some(known) = self.targets.iter().rposition(|known| known.is_of(&target)) {
            let before = self.targets.remove(known).seen;
            let seen = if target.seen == Seen::Asked { before } else { target.seen };
            self.targets.push(LookTarget { seen, ..target });
            return;
        }
        if self.targets.len() == MOST_TARGETS {
            self.targets.remove(0);
        }
        self.targets.push(target);
    }

    /// Takes in what came back of a call for these targets.
    pub(super) fn answer(&mut self, asked: &[String], answer: &Answer) {
        self.failed = self.failed.saturating_add(u32::from(answer.has_failed));
        let is_asked = |target: &&mut LookTarget| {
            target.whole == answer.whole && asked.iter().any(|asked| **asked == *target.name)
        };
        for LookTarget { seen, .. } in self.targets.iter_mut().filter(is_asked) {
            *seen = match (&answer.state, &seen) {
                (Some(state), _) => Seen::Said(state.as_str().into()),
                _ if !answer.has_failed => Seen::Read,
                (_, Seen::Asked) if !answer.is_line => Seen::Missed,
                _ => continue,
            };
        }
    }

    /// Continues the line of an earlier checkpoint, with any counts: anybody can write such a line.
    pub(super) fn carry(&mut self, earlier: Look) {
        self.times = self.times.saturating_add(earlier.times);
        self.failed = self.failed.saturating_add(earlier.failed);
        self.is_cut |= earlier.is_cut;
        earlier.targets.into_iter().for_each(|target| self.add(target));
    }

    pub(super) fn line(&self, room: LookRoom) -> String {
        let mut line = format!("{LOOKS}{}", self.tool);
        if self.times > 1 || self.failed > 0 {
            let Look { times, failed, .. } = *self;
            let _ =
                write!(line, " {}", CallCounts { times, failed, ..CallCounts::default() }.told());
        }
        let LookRoom { mut answers, mut targets } = room;
        let mut is_cut = self.is_cut;
        let mut names = HashSet::new();
        let all = self.targets.iter().map(|target| &*target.name);
        let shared: HashSet<&str> = all.filter(|name| !names.insert(*name)).collect();
        let fits = |target: &LookTarget| {
            let told = Some(target.told(&shared)).filter(|told| !told.is_empty())?;
            let is_said = matches!(target.seen, Seen::Said(_));
            let left = if is_said { &mut answers } else { &mut targets };
            let rest = left.checked_sub(told.len() + BETWEEN.len());
            *left = rest.unwrap_or(*left);
            is_cut |= rest.is_none();
            rest.map(|_| told)
        };
        let mut targets: Vec<String> = self.targets.iter().rev().filter_map(fits).collect();
        targets.reverse();
        if !targets.is_empty() {
            let before = if is_cut { CUT } else { "" };
            let _ = write!(line, ": {before}{}", targets.join(BETWEEN));
        }
        line
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let (head, targets) = line.split_once(": ").unwrap_or((line, ""));
        let (tool, times, failed) = match head.rsplit_once(" ×") {
            Some((tool, said)) => {
                let CallCounts { times, failed, .. } = CallCounts::read(said)?;
                (tool, times, failed)
            }
            None => (head, 1, 0),
        };
        let is_cut = targets.starts_with(CUT);
        let targets = targets.split(BETWEEN).filter(|target| !matches!(*target, "" | "…"));
        let targets = targets.map(|target| {
            let (name, seen) = match target.strip_suffix(MISSED) {
                Some(target) => (target, Seen::Missed),
                None => match target.split_once(WENT.trim_start()) {
                    Some((target, said)) => (target.trim_end(), Seen::Said(said.into())),
                    None => (target, Seen::Read),
                },
            };
            LookTarget { name: name.into(), whole: None, seen }
        });
        let targets = targets.collect();
        Some(Look { tool: tool.into(), times, failed, targets, is_cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::deeds::Deeds;
    use crate::text::CallStatus;

    #[test]
    fn the_last_answer_is_told_where_it_is_short_or_a_state() {
        let mut deeds = Deeds::default();
        let long = format!(r#"{{"status": "FAILED", "log": "{}"}}"#, "it went on ".repeat(20));
        let calls = [
            ("get_job", r#"{"id":"J-1"}"#, r#"{"status": "RUNNING"}"#),
            ("get_job", r#"{"id":"J-1"}"#, &long),
            ("list_item", r#"{"title":"a bike"}"#, "Listing L-44120 is live."),
            ("list_item", r#"{"title":"a car"}"#, "There is nothing to say."),
            ("get_approval", "{}", "refused"),
            ("Read", r#"{"file_path":"a.rs"}"#, "word"),
        ];
        for (number, (tool, arguments, output)) in (1..).zip(calls) {
            deeds.call(number, number, tool, arguments, false);
            deeds.answer(number, output, CallStatus::Unknown, &|_| true);
        }
        let lines = [
            "Only read: get_job ×2: J-1 → status=FAILED",
            "Only read: list_item ×2: a bike → Listing L-44120 is live. · a car",
            "Only read: get_approval: → refused",
            "Only read: Read: a.rs",
        ];
        let room = |answers, targets| LookRoom { answers, targets };
        assert_eq!(deeds.looks(room(100, 100)), lines);
        assert_eq!(deeds.looks(room(0, 100))[1], "Only read: list_item ×2: … · a car");
        let mut next = Deeds::default();
        next.carry(&lines.join("\n"));
        assert_eq!(next.looks(room(100, 100)), lines);
        let (places, ride) = (r#"{"from":"home","to":"airport"}"#, "Ride R-1200 is ordered.");
        let again = [("get_approval", "{}", "approved"), ("fetch_ride", places, ride)];
        for (number, (tool, arguments, output)) in (1..).zip(again) {
            next.call(number, number, tool, arguments, false);
            next.answer(number, output, CallStatus::Unknown, &|_| true);
        }
        let lines = next.looks(room(100, 100));
        assert_eq!(lines[2], "Only read: get_approval ×2: → approved");
        assert_eq!(lines[4], "Only read: fetch_ride: home, airport → Ride R-1200 is ordered.");
    }

    #[test]
    fn what_tells_calls_apart_is_named() {
        let mut deeds = Deeds::default();
        for (number, day) in (1..).zip(["05-01", "05-02", "05-01"]) {
            let arguments = format!(r#"{{"from":"MAD","day":"{day}"}}"#);
            deeds.call(number, number, "search_flights", &arguments, false);
        }
        let room = LookRoom { answers: 100, targets: 100 };
        assert_eq!(deeds.looks(room), ["Only read: search_flights ×3: MAD, 05-02 · MAD, 05-01"]);
    }
}
