//! Where in a stream somebody can say something, and saying it there.

use std::collections::BTreeMap;
use std::ops::Range;

use epitome::transcript::{Marks, Part, PartKind, Slot};
use epitome::view::{Fate, PartEdit, Put, Reason, View};
use epitome::{Request, wire};

use super::{Item, Saying};
use crate::dice::Dice;
use crate::survival::book::{Book, Shape, Speaker};
use crate::survival::run::Broken;
use crate::survival::stream::{Stream, starts};

/// Most entries between what is said and what corrects it without naming it.
const NEAR: usize = 3;

/// The places of a stream.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Entries before which a person may speak.
    starts: Vec<usize>,
    /// Entries in which the model says something.
    assistant: Vec<usize>,
    /// Entries that hold a tool's result.
    tool: Vec<usize>,
}

impl Ground {
    /// The places of `request`.
    pub fn of(request: &Request) -> Ground {
        let hosting = |speaker: Speaker| {
            let entries = request.transcript.entries();
            let hosting = entries.filter(|entry| entry.parts().any(|part| hosts(&part, speaker)));
            hosting.map(|entry| entry.index).collect()
        };
        Ground {
            starts: starts(request),
            assistant: hosting(Speaker::Assistant),
            tool: hosting(Speaker::Tool),
        }
    }

    /// A place for `speaker` from entry `from` on, each as likely; none that is taken.
    pub(super) fn any(
        &self,
        dice: &mut Dice,
        speaker: Speaker,
        from: usize,
        taken: &[Range<usize>],
    ) -> Option<usize> {
        let is_free = |at: &&usize| **at >= from && !taken.iter().any(|range| range.contains(*at));
        let free: Vec<usize> = self.of_speaker(speaker).iter().filter(is_free).copied().collect();
        (!free.is_empty()).then(|| dice.pick(&free))
    }

    /// A place for `speaker`, and the next one behind it where a person may speak, with little and nothing that
    /// is taken between.
    pub(super) fn answered(
        &self,
        dice: &mut Dice,
        speaker: Speaker,
        taken: &[Range<usize>],
    ) -> Option<(usize, usize)> {
        let overlaps = |at: usize, behind: usize| {
            taken.iter().any(|range| range.start <= behind && at < range.end)
        };
        let places = self.of_speaker(speaker).iter().filter_map(|at| {
            let behind = *self.starts.iter().find(|start| *start > at)?;
            (behind - at <= NEAR && !overlaps(*at, behind)).then_some((*at, behind))
        });
        let places: Vec<_> = places.collect();
        (!places.is_empty()).then(|| dice.pick(&places))
    }

    fn of_speaker(&self, speaker: Speaker) -> &[usize] {
        match speaker {
            Speaker::Human => &self.starts,
            Speaker::Assistant => &self.assistant,
            Speaker::Tool => &self.tool,
        }
    }
}

/// The stream's entries with all items said: for each entry, it and what was put before it.
///
/// # Errors
/// The stream isn't a request of its format.
pub fn planted(
    book: &Book,
    stream: &Stream,
    request: &Request,
    items: &[Item],
    seed: u64,
) -> Result<Vec<Vec<String>>, Broken> {
    let mut planter = Planter { book, request, dice: Dice::new(!seed) };
    let mut spoken: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut texts: BTreeMap<Slot, String> = BTreeMap::new();
    // What is said first stands first, where several things are said in one place.
    let firsts = items.iter().map(|item| (None, &item.first));
    let updates = items.iter().filter_map(|item| item.update.as_ref());
    for (shape, saying) in firsts.chain(updates.map(|(shape, saying)| (Some(*shape), saying))) {
        if saying.speaker == Speaker::Human {
            // What leans on the message before it says nothing else.
            let message = match shape {
                Some(Shape::Anaphoric) => saying.text.clone(),
                _ => planter.message(saying),
            };
            spoken.entry(saying.at).or_default().push(stream.format.user_message(&message));
        } else {
            planter.insert(saying, &mut texts);
        }
    }
    let edited = planter.edited(&texts);
    let edited = stream.with(Stream::of(&stream.name, &edited?).entries);
    let whole = edited.entries.into_iter().enumerate().map(|(at, entry)| {
        let mut said = spoken.remove(&at).unwrap_or_default();
        said.push(entry);
        said
    });
    Ok(whole.collect())
}

struct Planter<'a> {
    book: &'a Book,
    request: &'a Request,
    dice: Dice,
}

impl Planter<'_> {
    /// A person's message: the words alone, in a paragraph with others, or in a long message with a piece
    /// of some output in it.
    fn message(&mut self, saying: &Saying) -> String {
        let text = &saying.text;
        if self.dice.below(10) < 4 {
            return text.clone();
        }
        let (before, after) = (self.filler(saying.speaker), self.filler(saying.speaker));
        if text.contains('\n') || text.starts_with(['-', '*', '|', '[']) {
            return format!("{before}\n\n{text}\n\n{after}");
        }
        if self.dice.one_in(2) {
            return format!("{before} {text} {after}");
        }
        let output = self.output();
        let more = self.filler(saying.speaker);
        format!("{before} This is what I get here:\n\n{output}\n\n{more} {text} {after}")
    }

    /// Up to forty lines of some tool's result.
    fn output(&mut self) -> String {
        let parts = self.request.transcript.entries().flat_map(|entry| entry.parts());
        let hosts: Vec<Part<'_>> = parts.filter(|part| hosts(part, Speaker::Tool)).collect();
        if hosts.is_empty() {
            return String::new();
        }
        let text = self.dice.pick(&hosts).text().into_owned();
        let lines: Vec<&str> = text.lines().take(40).collect();
        let piece = lines.join("\n");
        let end = piece.char_indices().map(|(at, _)| at).take_while(|at| *at <= 2000).last();
        piece[..end.unwrap_or(0)].to_owned()
    }

    fn filler(&mut self, speaker: Speaker) -> String {
        let pool = &self.book.fillers[&speaker];
        pool[self.dice.below(pool.len())].clone()
    }

    /// Puts the words into a text of the entry: before it, behind it, or in its middle.
    fn insert(&mut self, saying: &Saying, texts: &mut BTreeMap<Slot, String>) {
        let entry = self.request.transcript.entry(saying.at);
        let parts: Vec<Part<'_>> =
            entry.parts().filter(|part| hosts(part, saying.speaker)).collect();
        let part = self.dice.pick(&parts);
        let old = texts.remove(&part.slot).unwrap_or_else(|| part.text().into_owned());
        let gap = if saying.speaker == Speaker::Assistant { "\n\n" } else { "\n" };
        let text = if saying.speaker == Speaker::Assistant
            && !saying.text.contains('\n')
            && self.dice.one_in(3)
        {
            format!("{} {}", self.filler(saying.speaker), saying.text)
        } else {
            saying.text.clone()
        };
        let is_json = old.starts_with(['{', '[']);
        let at = match self.dice.below(3) {
            _ if is_json => old.len(),
            0 => 0,
            1 => middle(&old, gap).unwrap_or(old.len()),
            _ => old.len(),
        };
        let (before, after) = old.split_at(at);
        let mut new = before.trim_end_matches('\n').to_owned();
        if !new.is_empty() {
            new.push_str(gap);
        }
        new.push_str(&text);
        if !after.trim().is_empty() {
            new.push_str(gap);
            new.push_str(after.trim_start_matches('\n'));
        }
        texts.insert(part.slot, new);
    }

    /// The request with other texts.
    fn edited(&self, texts: &BTreeMap<Slot, String>) -> Result<Request, Broken> {
        let mut view = View::default();
        for entry in self.request.transcript.entries() {
            let slots = entry.slots();
            let edits: Vec<PartEdit> = texts
                .range(Slot(slots.start)..Slot(slots.end))
                .map(|(at, text)| PartEdit {
                    at: *at,
                    put: Put::Text(text.as_str().into()),
                    reason: Reason::LongText,
                })
                .collect();
            view.push(if edits.is_empty() { Fate::Keep } else { Fate::Edit(edits.into()) });
        }
        let body = wire::render(self.request, &view);
        wire::parse(self.request.format, body).map_err(Broken::from)
    }
}

/// Whether the part is a text that `speaker` says and that others may stand in place of.
fn hosts(part: &Part<'_>, speaker: Speaker) -> bool {
    let is_fit = part.is(Marks::LITERAL)
        && !part.is(Marks::FIXED)
        && !part.is(Marks::WORDLESS)
        && !part.is(Marks::SERVER)
        && part.says_own_words();
    let is_said = match speaker {
        Speaker::Human => false,
        Speaker::Assistant => part.kind() == PartKind::Text && !part.is(Marks::NESTED),
        Speaker::Tool => matches!(part.kind(), PartKind::Result | PartKind::Text),
    };
    let by = match speaker {
        Speaker::Human => epitome::transcript::Origin::Human,
        Speaker::Assistant => epitome::transcript::Origin::Model,
        Speaker::Tool => epitome::transcript::Origin::Tool,
    };
    is_fit && is_said && part.origin() == by
}

/// A gap near the middle that isn't in a code block.
fn middle(text: &str, gap: &str) -> Option<usize> {
    let gaps: Vec<usize> = text.match_indices(gap).map(|(at, _)| at).collect();
    let at = *gaps.get(gaps.len() / 2)?;
    text[..at].matches("```").count().is_multiple_of(2).then_some(at)
}
