//! The tokens of the least checkpoint: a line with its message numbers, and the name of each tool that may have changed
//! something.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::deeds::{Deeds, Merging, merged};
use super::fence::fenced;
use super::lanes::TITLES_TOKENS;
use super::read::read;
use super::{push_lane, titles};
use crate::count::{TokenCounter, message_tokens};
use crate::tool::Call;
use crate::transcript::{Entry, Origin, PartKind};

/// Tokens held back for titles, and because joined texts may count more than each text alone.
const SLACK: u64 = 8 + TITLES_TOKENS / 2;

/// Tokens of the least checkpoint of `leaving`, by `counter`: at most so many, whatever the outcomes are. Calls of tools in
/// `read_only` need no line.
pub fn least_tokens<'a>(
    leaving: impl Iterator<Item = Entry<'a>>,
    read_only: &[String],
    counter: &dyn TokenCounter,
) -> u64 {
    let mut tools: BTreeMap<String, u32> = BTreeMap::new();
    let mut carried = Deeds::default();
    let (mut highest, mut before) = (0, 0);
    for entry in leaving {
        highest = highest.max(entry.index);
        for part in entry.parts() {
            if part.kind() == PartKind::Call {
                let tool = part.name();
                if let Some(times) = tools.get_mut(&*tool) {
                    *times = times.saturating_add(1);
                } else if !read_only.iter().any(|name| **name == *tool)
                    && !Call::read(&tool, &part.text()).only_looks()
                {
                    tools.insert(tool.into_owned(), 1);
                }
            } else if part.origin() == Origin::Checkpoint
                && let Some(earlier) = read(&part.text())
            {
                carried.carry(&earlier.deeds);
                before += earlier.stands_for.last().unwrap_or_default();
            }
        }
    }
    for deed in merged(&carried.calls(|_| true), Merging::Least) {
        let times = tools.entry(deed.tool().to_owned()).or_default();
        *times = times.saturating_add(deed.times());
    }
    // No message has a higher number: those of a checkpoint come before the others.
    let last = highest + before;
    let stands_for = titles::STANDS_FOR;
    let mut text = format!(
        "{stands_for}{last}–{last}, {last}–{last} and {last}–{last}, for reference; not a new request.\n"
    );
    let mut lines = String::new();
    for (tool, times) in &tools {
        let again = if *times > 1 { format!(" ×{times}, last [{last}]") } else { String::new() };
        let _ = writeln!(lines, "[{last}] {tool}{again} → no result");
    }
    if !tools.is_empty() || carried.unnamed > 0 {
        lines.push_str(&Deeds::unnamed_line(
            tools.values().fold(carried.unnamed, |all, times| all.saturating_add(*times)),
        ));
    }
    push_lane(&mut text, titles::DEEDS, &lines);
    message_tokens(&fenced(&text), counter) + SLACK + tools.len() as u64
}
