//! The one message that stands for the folded entries. It is a log, not an interpretation: it quotes and lists.
//!
//! Lanes, in fixed order and within one budget: the header; the user's words; what was done; where it stands; the summary, if
//! there is one; notes, which are lines of earlier messages; names. Everything is a copy or a mechanical extract.

mod activation;
mod attachments;
mod cues;
mod deeds;
mod ending;
mod extract;
mod failure_lines;
mod fence;
mod lanes;
mod least;
mod members;
mod notes;
mod numbers;
mod outcome;
mod phrases;
mod quotes;
mod ranges;
mod read;
mod rules;
mod said;
mod target;
mod titles;
mod todo;
mod told_kinds;

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::count::{TokenCounter, message_tokens};
use crate::transcript::{ContentId, Transcript};

pub use crate::tool::only_reads;
pub use cues::commands;
use deeds::Deed;
pub use extract::Gathered;
use fence::fenced;
pub use fence::{begins_like_one, disown, look_alikes, looks_like_one};
use lanes::{Calls, Lanes, Shares, Written};
pub use least::least_tokens;
pub use numbers::{numbering, numbers_within};
pub use quotes::{GAP, Quote, QuotedMessage};
pub use ranges::Ranges;
pub use read::{Contents, read};
pub use rules::{UserRule, rules};
use titles::{NO_AUTHORITY, STANDS_FOR};

/// In fewer tokens than this a checkpoint has one line for its header.
pub const LEAST_TOKENS: u64 = 240;
/// Tokens by which texts side by side may count less than each by itself.
const SLACK: u64 = 8;
/// In fewer tokens no more words are quoted.
const LEAST_SPARE: u64 = 16;
/// In fewer tokens than this nothing is summed up.
pub(crate) const LEAST_SUMMARY: u64 = 120;

/// A written checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The id of the whole text.
    pub id: ContentId,
    /// The whole message.
    pub text: Arc<str>,
    /// The summary in it, as it stands there.
    pub summary: Option<String>,
    /// Its tokens, as a message.
    pub tokens: u64,
    /// Human messages that it stands for and quotes in full.
    pub words_kept: usize,
    /// Human messages that it quotes in part.
    pub words_in_part: usize,
    /// Human messages that it stands for.
    pub words: usize,
}

/// Writes a checkpoint of at most `most` tokens, with `summary` in its lane. Tools that changed something are always named: if
/// they don't fit, the limit is `above`. If nothing else fits, the checkpoint is one line with the numbers of the messages that
/// it stands for; this line is written whatever `most` is.
pub fn write(
    gathered: &Gathered,
    transcript: &Transcript,
    (most, above): (u64, u64),
    summary: Option<&str>,
    counter: &dyn TokenCounter,
) -> Checkpoint {
    let head = if most < LEAST_TOKENS { Head::Short } else { Head::Full };
    let within = |most, head| within(gathered, transcript, (most, head), summary, counter);
    let written = within(most, head);
    let is_done = !written.lacks_tools || head == Head::Short && most >= above;
    let written = if is_done { written } else { within(most.max(above), Head::Short) };
    finished(written, gathered, counter)
}

/// What stands before the lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Full,
    Short,
}

fn within(
    gathered: &Gathered,
    transcript: &Transcript,
    (most, head): (u64, Head),
    summary: Option<&str>,
    counter: &dyn TokenCounter,
) -> Written {
    let tokens = |body: &str| message_tokens(&fenced(body), counter);
    let is_new = |deed: &Deed| gathered.newest_human.is_none_or(|since| deed.last() > since);
    let deeds = &gathered.deeds;
    let old =
        Calls { same: deeds.calls(|it| !is_new(it)), in_order: deeds.in_order(|it| !is_new(it)) };
    let new = Calls { same: deeds.calls(is_new), in_order: deeds.in_order(is_new) };
    let behind = |above: &str| {
        let mut room = most.saturating_sub(tokens(above));
        // Texts side by side may count a little more or less than each by itself. Where few fit, one line less is much.
        room += if head == Head::Short { SLACK } else { 0 };
        for attempt in 0_u32..12 {
            let shares = Shares::of(room);
            let lanes =
                Lanes { gathered, old: &old, new: &new, transcript, counter, shares, summary };
            let written = lanes.write(above);
            match tokens(&written.body).saturating_sub(most) {
                0 => {
                    // What nothing else needs is people's.
                    let spare = most - tokens(&written.body);
                    let lacks_words = written.words.whole < gathered.words.len();
                    if !lacks_words || spare < LEAST_SPARE {
                        return written;
                    }
                    let more = Lanes { shares: shares.and_for_words(spare), ..lanes };
                    let more = more.write(above);
                    return if tokens(&more.body) <= most { more } else { written };
                }
                // A little less room may change nothing.
                over => {
                    room = room.saturating_sub((over + over / 4 + 1) << attempt.saturating_sub(4));
                }
            }
        }
        let lacks_tools = !old.same.is_empty() || !new.same.is_empty();
        Written { body: line(gathered), lacks_tools, ..Written::default() }
    };
    if head == Head::Full {
        return behind(&header(gathered));
    }
    let newer = newer_words(gathered);
    let written = behind(&short_header(gathered, &newer));
    // Tools have names first.
    if newer.is_empty() || !written.lacks_tools {
        return written;
    }
    behind(&short_header(gathered, ""))
}

/// Tokens for a summary in a checkpoint of at most `most` tokens; `None` if it has no room for one.
pub(crate) fn summary_room(
    most: u64,
    gathered: &Gathered,
    counter: &dyn TokenCounter,
) -> Option<u64> {
    let head = message_tokens(&fenced(&header(gathered)), counter);
    let room = most.checked_sub(head)?;
    Some(Shares::of(room).summary).filter(|room| *room >= LEAST_SUMMARY)
}

fn finished(written: Written, gathered: &Gathered, counter: &dyn TokenCounter) -> Checkpoint {
    let Written { body, words, summary, .. } = written;
    let text = fenced(&body);
    Checkpoint {
        summary: Some(summary).filter(|summary| !summary.is_empty()),
        id: ContentId::of_text(&text),
        tokens: message_tokens(&text, counter),
        text: text.into(),
        words_kept: words.whole,
        words_in_part: words.quoted.len() - words.whole,
        words: gathered.words.len(),
    }
}

/// The first sentences, and standing instructions, which are restated in full.
fn header(gathered: &Gathered) -> String {
    let mut out = format!(
        "Earlier part of this conversation, for reference; not a new request. {STANDS_FOR}{}. A higher [number] holds over a \
         lower one; {NO_AUTHORITY} of their own. Look up any exact value that is not here.\n",
        gathered.stands_for.text()
    );
    let above = gathered.newer_above();
    if !above.is_empty() {
        let _ = writeln!(
            out,
            "Newer user messages shown above: {above}. They override quotes below with a lower number."
        );
    }
    if let Some(channel) = gathered.channel() {
        out.push_str(channel);
        out.push_str(" finds what is not shown, word for word.\n");
    }
    push_lane(&mut out, titles::INSTRUCTIONS, &quotes::lane_of(&gathered.instructions));
    out
}

/// What stands before lanes in little room.
fn short_header(gathered: &Gathered, newer: &str) -> String {
    let stands_for = gathered.stands_for.text();
    format!("{STANDS_FOR}{stands_for}, for reference; {NO_AUTHORITY}.{newer}\n")
}

/// Names the messages shown above that override quotes; empty if there are none.
fn newer_words(gathered: &Gathered) -> String {
    let above = gathered.newer_above();
    if above.is_empty() {
        return String::new();
    }
    format!(" Newer user messages shown above: {above}.")
}

/// The least checkpoint, which quotes nothing.
fn line(gathered: &Gathered) -> String {
    format!("{STANDS_FOR}{}, for reference; not a new request.\n", gathered.stands_for.text())
}

/// Adds a lane under its title, if it says anything.
fn push_lane(out: &mut String, title: &str, lines: &str) {
    if lines.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(title);
    out.push('\n');
    out.push_str(lines);
    if !lines.ends_with('\n') {
        out.push('\n');
    }
}
