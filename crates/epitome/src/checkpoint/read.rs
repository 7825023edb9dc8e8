//! Reading a checkpoint back, lane by lane.
//!
//! Verbatim texts come with their number of lines, so that nothing in them can pass for another lane.

use super::quotes::{self, QuotedMessage};
use super::ranges::Ranges;
use super::{fence, titles};

/// The content of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Which messages it stands for.
    pub stands_for: Ranges,
    /// Messages before it that have more than one part, and how many.
    pub parts: Vec<(usize, usize)>,
    /// Standing instructions.
    pub instructions: Vec<QuotedMessage>,
    /// The user's words, oldest first.
    pub words: Vec<QuotedMessage>,
    /// Messages of the user's that it doesn't quote.
    pub unquoted: Ranges,
    /// How many more it doesn't quote or name.
    pub more_unquoted: usize,
    /// The deeds, a line each.
    pub deeds: String,
    /// What the agent said right before words of the user's that name nothing, oldest first.
    pub answered: Vec<QuotedMessage>,
    /// The agent's last words.
    pub last_words: Vec<QuotedMessage>,
    /// The agent's own to-do list, a line each; empty if there is none.
    pub todo: String,
    /// The summary; empty if there is none.
    pub summary: String,
    /// Lines of earlier messages, each with its source.
    pub notes: String,
    /// Further specifics, a line for each class.
    pub names: String,
}

/// Reads a checkpoint; `None` if its fence isn't intact. Anybody can write one.
pub fn read(text: &str) -> Option<Contents> {
    let body = fence::unfenced(text)?;
    let body = body.as_ref();
    let head = body.lines().find_map(|line| Some(line.split_once(titles::STANDS_FOR)?.1));
    let stands_for = head.and_then(|rest| {
        let ends = [". ", ", for"].iter().filter_map(|end| rest.find(end)).min();
        Ranges::read(&rest[..ends?])
    });
    let mut contents = Contents {
        stands_for: stands_for.unwrap_or_default(),
        parts: parts(body),
        ..Contents::default()
    };
    let mut rest = &body[body.find("\n\n").map_or(body.len(), |at| at + 2)..];
    while !rest.is_empty() {
        let (title, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = behind;
        let verbatim = match title {
            titles::INSTRUCTIONS => Some(&mut contents.instructions),
            titles::WORDS => Some(&mut contents.words),
            _ => None,
        };
        if let Some(into) = verbatim {
            let (found, behind) = quotes::read(rest);
            into.extend(found);
            rest = behind;
            if let Some((numbers, more, behind)) = quotes::read_unquoted(rest) {
                contents.unquoted.merge(&numbers);
                contents.more_unquoted += more;
                rest = behind;
            }
            continue;
        }
        match title {
            titles::ANSWERED => {
                let (found, behind) = quotes::read(rest);
                contents.answered = found;
                rest = behind;
            }
            titles::STATE => {
                let (found, behind) = quotes::read(rest);
                contents.last_words = found;
                rest = behind;
                if let Some(behind) = rest.strip_prefix(titles::TODO) {
                    let (lane, behind) = lane(behind);
                    lane.clone_into(&mut contents.todo);
                    rest = behind;
                }
            }
            titles::DEEDS | titles::SUMMARY | titles::NOTES | titles::NAMES => {
                let (lane, behind) = lane(rest);
                rest = behind;
                let into = match title {
                    titles::DEEDS => &mut contents.deeds,
                    titles::SUMMARY => &mut contents.summary,
                    titles::NOTES => &mut contents.notes,
                    _ => &mut contents.names,
                };
                lane.clone_into(into);
            }
            _ => {}
        }
    }
    Some(contents)
}

/// What the header says of messages of several parts.
fn parts(body: &str) -> Vec<(usize, usize)> {
    let head = body.split("\n\n").next().unwrap_or_default();
    let listed = head.split_once(titles::PARTS).and_then(|(_, rest)| rest.split_once(')'));
    let all = listed.iter().flat_map(|(listed, _)| listed.split(", "));
    all.filter_map(|one| {
        let (number, parts) = one.split_once('×')?;
        Some((number.parse().ok()?, parts.parse().ok()?))
    })
    .collect()
}

/// A lane up to the next title, without the blank line before it; and what follows.
fn lane(rest: &str) -> (&str, &str) {
    for (at, _) in rest.match_indices("\n\n") {
        let behind = &rest[at + 2..];
        if titles::ALL.contains(&behind.split('\n').next().unwrap_or_default()) {
            return (&rest[..=at], behind);
        }
    }
    (rest, "")
}
