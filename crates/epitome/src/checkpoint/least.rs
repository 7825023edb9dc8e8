//! How many tokens the least checkpoint needs: one line for what it stands for, and the name of each tool that may have changed
//! something.

use std::collections::BTreeSet;

use super::deeds::{Deeds, Merging};
use super::fence::fenced;
use super::read::read;
use super::{push_lane, titles};
use crate::count::{TokenCounter, message_tokens};
use crate::tool::Call;
use crate::transcript::{Entry, Origin, PartKind};

/// Tokens by which texts side by side may count more than each by itself.
const SLACK: u64 = 8;

/// Tokens of the least checkpoint of `leaving`, by `counter`: at most so many, whatever the calls' numbers and outcomes are. Calls
/// of tools in `read_only` need no line.
pub fn least_tokens<'a>(
    leaving: impl Iterator<Item = Entry<'a>>,
    read_only: &[String],
    counter: &dyn TokenCounter,
) -> u64 {
    let mut tools = BTreeSet::new();
    let mut carried = Deeds::default();
    for part in leaving.flat_map(|entry| entry.parts()) {
        if part.kind() == PartKind::Call {
            let tool = part.name();
            let is_known = tools.contains(&*tool) || read_only.iter().any(|name| **name == *tool);
            if !is_known && !Call::read(&tool, &part.text()).only_looks() {
                tools.insert(tool.into_owned());
            }
        } else if part.origin() == Origin::Checkpoint
            && let Some(earlier) = read(&part.text())
        {
            carried.carry(&earlier.deeds);
        }
    }
    tools
        .extend(carried.merged(|_| true, Merging::Brief).iter().map(|deed| deed.tool().to_owned()));
    // As many tokens as a nonce, runs of numbers and counts may have.
    let stands_for = titles::STANDS_FOR;
    let mut text = format!(
        "{stands_for}10001–10002, 10004–20005 and 20007–99999, for reference; not a new request.\n"
    );
    let line = |tool: &String| format!("[10001] {tool} ×1000, last [20001] → no result\n");
    let mut lines: String = tools.iter().map(line).collect();
    if !tools.is_empty() || carried.unnamed > 0 {
        lines.push_str(&Deeds::unnamed_line(carried.unnamed + 1000));
    }
    push_lane(&mut text, titles::DEEDS, &lines);
    message_tokens(&fenced(&text), counter) + SLACK
}
