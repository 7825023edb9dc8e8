//! The lane of what was done: which calls have lines of their own, and which are told together.

use super::{Calls, Lanes, TITLES_TOKENS, unlines};
use crate::checkpoint::deeds::{Deed, Deeds, LookRoom, Merging, merged};

/// A call's line, in more words.
type Longer = fn(&Deed) -> String;

/// What each call was given comes before all that is known of the newest.
const ARGUMENTS_FIRST: [Longer; 2] = [Deed::line_with_arguments, Deed::line_in_full];
/// Where lines say in a few words how calls went, that comes first.
const OUTCOMES_FIRST: [Longer; 2] = [Deed::line_with_outcome, Deed::line_in_full];

/// Percent of their room that calls may take more if each stands where it was made.
const FOR_ORDER: u64 = 30;

/// What was done, as lines.
pub(super) struct DeedLane {
    pub(super) text: String,
    /// Whether all calls that may have changed something are named.
    pub(super) is_complete: bool,
    /// Whether a tool that may have changed something isn't.
    pub(super) lacks_tools: bool,
}

impl Lanes<'_> {
    /// All calls that may have changed something.
    pub(super) fn all(&self) -> impl Iterator<Item = &Deed> {
        self.old.same.iter().chain(&self.new.same)
    }

    /// What was done, calls since the newest human message before all else, then those before it.
    pub(super) fn deeds(&self, left: u64) -> DeedLane {
        let deeds = &self.gathered.deeds;
        let total = |lines: &[String]| self.total(lines);
        // Calls that an earlier checkpoint counts stay counted.
        let counted = match deeds.unnamed {
            0 => 0,
            calls => self.tokens(&Deeds::unnamed_line(calls)) + 1,
        };
        let left = left.saturating_sub(TITLES_TOKENS / 2 + counted);
        let least = |calls: &Calls, by| self.least_of(&calls.same, by);
        let [old, new] = [self.old, self.new].map(|calls| least(calls, Merging::Least));
        let (calls, is_complete, unnamed) = if old + new > left {
            let all: Vec<Deed> = self.all().cloned().collect();
            let (lines, unnamed) = self.by_tool(&all, left);
            (lines, false, unnamed)
        } else {
            // Of what was done before, each tool is named, with what one call was done to if new calls say as much.
            let named = left.saturating_sub(least(self.old, Merging::Newest));
            let is_named = named >= least(self.new, Merging::Newest);
            let for_new = if is_named { named } else { left - old };
            let part = |percent| for_new * percent / 100;
            let (new, new_complete, unnamed) =
                self.fitting(self.new, [part(70), part(85), for_new]);
            let left = left.saturating_sub(total(&new));
            let (old, old_complete, more) = self.fitting(self.old, [left / 2, left * 3 / 4, left]);
            ([old, new].concat(), old_complete && new_complete, unnamed.saturating_add(more))
        };
        let left = left.saturating_sub(total(&calls));
        let looks = if is_complete { self.looks(left) } else { Vec::new() };
        let others = deeds.unnamed.saturating_add(unnamed);
        let others = (others > 0).then(|| Deeds::unnamed_line(others));
        let others = others.filter(|line| self.tokens(line) < left + counted);
        let lines = [others.into_iter().collect(), calls, looks].concat();
        let lacks_tools = unnamed > 0;
        DeedLane { text: unlines(&lines), is_complete, lacks_tools }
    }

    /// Tokens of the lines that name these calls by tool.
    pub(super) fn least_of<'d>(
        &self,
        calls: impl IntoIterator<Item = &'d Deed>,
        by: Merging,
    ) -> u64 {
        self.total(&lines(&merged(calls, by)))
    }

    /// Some of the calls, whether all of them are named, and those that aren't. Where that takes little more, they stand as they were
    /// made: the same call may do another thing after others. Calls that say the same become one line; where
    /// that is more than the second of these `rooms`, those whose short arguments are the same; then the older ones of one tool;
    /// then all of it. All that is known of a call is told within the first one.
    fn fitting(
        &self,
        Calls { same: calls, in_order }: &Calls,
        [in_full, apart, most]: [u64; 3],
    ) -> (Vec<String>, bool, u32) {
        let total = |calls: &[Deed]| self.total(&lines(calls));
        let more = total(in_order).saturating_sub(total(calls));
        if more <= most * FOR_ORDER / 100
            && let Some(lines) = self.filled(in_order, in_full, in_full)
        {
            return (lines, true, 0);
        }
        let within = |merging, most| self.filled(&merged(calls, merging), in_full, most);
        let fitting = self
            .filled(calls, in_full, apart)
            .or_else(|| within(Merging::Short, apart))
            .or_else(|| self.newest_apart(calls, [in_full, apart], Merging::Made))
            .or_else(|| self.newest_apart(calls, [in_full, apart], Merging::Ordered))
            .or_else(|| within(Merging::Made, most))
            .or_else(|| within(Merging::Ordered, most))
            .or_else(|| {
                let named = merged(calls, Merging::Named);
                self.lengthened(&named, OUTCOMES_FIRST, most, most)
            });
        if let Some(lines) = fitting {
            return (lines, true, 0);
        }
        let (lines, unnamed) = self.by_tool(calls, most);
        (lines, false, unnamed)
    }

    /// The lines of these calls in at most `most` tokens; as many of the newest as fit in `in_full` say what they were given, and then
    /// all that is known of them.
    fn filled(&self, deeds: &[Deed], in_full: u64, most: u64) -> Option<Vec<String>> {
        self.lengthened(deeds, ARGUMENTS_FIRST, in_full, most)
    }

    fn lengthened(
        &self,
        deeds: &[Deed],
        longer: [Longer; 2],
        in_full: u64,
        most: u64,
    ) -> Option<Vec<String>> {
        let mut lines = lines(deeds);
        let needed = self.total(&lines);
        if needed > most {
            return None;
        }
        let mut left = in_full.saturating_sub(needed);
        for longer in longer {
            for (line, deed) in lines.iter_mut().zip(deeds).rev() {
                let longer = longer(deed);
                let more = self.tokens(&longer).saturating_sub(self.tokens(line));
                if let Some(rest) = left.checked_sub(more) {
                    (left, *line) = (rest, longer);
                }
            }
        }
        Some(lines)
    }

    /// The newest of these calls as they are, as many as fit in `most` tokens with what `merging` makes of the others; `None` where no
    /// call has room for its own.
    fn newest_apart(
        &self,
        calls: &[Deed],
        [in_full, most]: [u64; 2],
        merging: Merging,
    ) -> Option<Vec<String>> {
        let apart = lines(calls);
        let tokens: Vec<u64> = apart.iter().map(|line| self.tokens(line) + 1).collect();
        // How many of the older ones are told together.
        let counts: Vec<usize> = (1..calls.len()).collect();
        let together = |older: usize| merged(&calls[..older], merging);
        let is_more = |older: &usize| {
            let apart: u64 = tokens[*older..].iter().sum();
            apart > most || apart + self.total(&lines(&together(*older))) > most
        };
        let older = *counts.get(counts.partition_point(is_more))?;
        self.filled(&[together(older), calls[older..].to_vec()].concat(), in_full, most)
    }

    /// As much of these calls as fits in `most` tokens, and those without a line: the newest by themselves and each tool's older ones
    /// in one line, or each tool's calls with what they were done to; what says more. A line of older calls names none of them: it
    /// would stand behind what was done to them since.
    fn by_tool(&self, calls: &[Deed], most: u64) -> (Vec<String>, u32) {
        let apart = |merging| self.newest_apart(calls, [most, most], merging);
        let (told, unnamed) = self.named_by_tool(calls, most);
        let newest = apart(Merging::Newest).or_else(|| apart(Merging::Least));
        match newest.filter(|newest| self.total(newest) > self.total(&told)) {
            Some(newest) => (newest, 0),
            None => (told, unnamed),
        }
    }

    /// The calls of each tool, with what they were done to where that fits, else with what the last was done to. Where not every tool
    /// has a line, those that name changed files and the newest have one first, those that failed last; the others are counted.
    fn named_by_tool(&self, calls: &[Deed], most: u64) -> (Vec<String>, u32) {
        let mut chosen = merged(calls, Merging::Least);
        chosen.sort_by_key(|deed| (!deed.has_failed(), deed.names_files()));
        // Each tool has a line before one has two.
        let again: Vec<bool> = (0..chosen.len())
            .map(|at| chosen[at + 1..].iter().any(|later| later.tool() == chosen[at].tool()))
            .collect();
        let mut ranked: Vec<(bool, Deed)> = again.into_iter().zip(chosen).collect();
        ranked.sort_by_key(|(again, deed)| (!deed.has_failed(), !again));
        let mut chosen: Vec<Deed> = ranked.into_iter().map(|(_, deed)| deed).collect();
        let tokens = |deed: &Deed| self.tokens(&deed.line()) + 1;
        let mut needed: u64 = chosen.iter().map(tokens).sum();
        let mut missing = 0;
        if needed > most {
            // What is left out is counted.
            needed += self.tokens(&Deeds::unnamed_line(count(&chosen))) + 1;
        }
        while needed > most && missing < chosen.len() {
            needed -= tokens(&chosen[missing]);
            missing += 1;
        }
        let unnamed = count(&chosen[..missing]);
        let tools: Vec<String> =
            chosen[missing..].iter().rev().map(|deed| deed.tool().to_owned()).collect();
        chosen.drain(..missing);
        let longer = [Merging::Named, Merging::Newest].map(|merging| merged(calls, merging));
        let mut left = most.saturating_sub(needed);
        for (at, tool) in tools.iter().enumerate().filter(|_| missing == 0) {
            if tools[..at].contains(tool) {
                continue;
            }
            let of = |deeds: &[Deed]| -> Vec<Deed> {
                deeds.iter().filter(|deed| deed.tool() == tool).cloned().collect()
            };
            let total = |deeds: &[Deed]| deeds.iter().map(tokens).sum::<u64>();
            let now = total(&of(&chosen));
            let fits = |deeds: &Vec<Deed>| total(deeds) <= left + now;
            if let Some(longer) = longer.iter().map(|deeds| of(deeds)).find(fits) {
                left = (left + now).saturating_sub(total(&longer));
                chosen.retain(|deed| deed.tool() != tool);
                chosen.extend(longer);
            }
        }
        chosen.sort_by_key(Deed::order);
        (lines(&chosen), unnamed)
    }

    /// What was only read, with as many targets as fit: tools that name few leave their room to the others. What came back goes
    /// first, and has more room.
    fn looks(&self, left: u64) -> Vec<String> {
        let deeds = &self.gathered.deeds;
        let fitting = |most: u64, lines: &dyn Fn(usize) -> Vec<String>| {
            let mut bytes = most as usize * 4;
            while bytes > 0 && self.total(&lines(bytes)) > most {
                bytes = bytes * 3 / 4;
            }
            bytes
        };
        // A third of the room beside the tools' names: what came back may say that something failed since.
        let bare = self.total(&deeds.looks(LookRoom { answers: 0, targets: 0 }));
        let most = (bare + left / 3).min(left);
        let answers = fitting(most, &|answers| deeds.looks(LookRoom { answers, targets: 0 }));
        let lines = |targets| deeds.looks(LookRoom { answers, targets });
        let least = if answers > 0 { self.total(&lines(0)) } else { 0 };
        let most = self.shares.looks.max(least).min(left);
        let targets = fitting(most, &lines);
        if answers.max(targets) > 0 { lines(targets) } else { self.newest(lines(0), most) }
    }
}

/// How many calls these are.
fn count(deeds: &[Deed]) -> u32 {
    deeds.iter().map(Deed::times).fold(0, u32::saturating_add)
}

pub(super) fn lines(deeds: &[Deed]) -> Vec<String> {
    deeds.iter().map(Deed::line).collect()
}
