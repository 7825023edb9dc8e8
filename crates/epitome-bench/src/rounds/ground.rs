//! A session with its plants.

use std::ops::Range;

use epitome::Request;
use epitome::transcript::{Marks, PartKind};
use epitome::wire::json::quote;

use super::judge::{Order, RequestText};
use super::plant::{Manner, Plant, Saying, plants};
use super::run::Kept;
use super::stream::{Stream, starts};
use super::words::{Words, one};
use crate::Broken;
use crate::dice::Dice;
use crate::needle::says;

/// A session with its plants.
#[derive(Debug)]
pub(super) struct Ground<'s> {
    pub(super) stream: &'s Stream,
    plants: Vec<Plant>,
    /// The entries of each segment, plants among them.
    pub(super) segments: Vec<Vec<String>>,
}

impl<'s> Ground<'s> {
    pub(super) fn of(stream: &'s Stream, seed: u64) -> Result<Self, Broken> {
        let request = stream.request(&stream.entries)?;
        let text = RequestText::by(&request);
        let segments = stream.segments()?;
        let words = Words::shipped();
        let mut dice = Dice::new(seed);
        let plants = plants(words, &mut dice, |string| says(text.text(), string));
        let starts = starts(&request);
        let mut planted = Vec::new();
        for (at, range) in segments.into_iter().enumerate() {
            let mut entries: Vec<String> = stream.entries[range.clone()].to_vec();
            let places: Vec<usize> =
                starts.iter().filter(|at| range.contains(at)).map(|at| at - range.start).collect();
            let human = spoken(&request, range.clone());
            let mut own: Vec<(usize, usize, String)> = Vec::new();
            let mut sayings: Vec<&Saying> = plants.iter().flat_map(Plant::sayings).collect();
            sayings.retain(|saying| saying.segment == at);
            sayings.sort_by_key(|saying| saying.place);
            for (number, saying) in sayings.into_iter().enumerate() {
                let place = places[(places.len() * saying.place / 1_000).min(places.len() - 1)];
                let text = match saying.manner {
                    Manner::Alone => saying.text(),
                    Manner::Within => {
                        // In a message that a person wrote between this place and the one before, if there is one.
                        let wrote = human.iter().rfind(|spoken| spoken.entry < place);
                        let before = places.iter().rfind(|other| **other < place);
                        let near =
                            wrote.filter(|spoken| before.is_none_or(|at| spoken.entry >= *at));
                        if let Some(near) = near
                            && entries[near.entry] == stream.entries[range.start + near.entry]
                        {
                            entries[near.entry] = near.with(&saying.text());
                            continue;
                        }
                        let before = one(&words.before, &mut dice);
                        let behind = one(&words.behind, &mut dice);
                        format!("{before} {} {behind}", saying.text())
                    }
                };
                own.push((place, number, stream.message(&text)));
            }
            // From the end, so that places hold.
            for (place, _, message) in own.into_iter().rev() {
                entries.insert(place, message);
            }
            planted.push(entries);
        }
        Ok(Ground { stream, plants, segments: planted })
    }

    /// How much is left of the strings that were planted up to a round.
    pub(super) fn kept(&self, said: &RequestText, round: usize) -> Kept {
        let mut kept = Kept::default();
        for plant in &self.plants {
            match plant {
                Plant::Rule(saying) => {
                    let share = if plant.is_labelled() {
                        &mut kept.labelled_rules
                    } else {
                        &mut kept.bare_rules
                    };
                    share.add(said.says(&saying.sentence));
                }
                Plant::Value { subject, value, change: Some((new, saying)), .. }
                    if saying.segment < round =>
                {
                    let order = said.order(subject, value, new);
                    kept.replaced.add(matches!(order, Order::InOrder | Order::NewOnly));
                    kept.old_last.add(order == Order::OldLast);
                }
                Plant::Value { subject, value, .. } => {
                    let share = if plant.is_labelled() {
                        &mut kept.labelled_values
                    } else {
                        &mut kept.bare_values
                    };
                    share.add(said.last(subject, value).is_some());
                }
            }
        }
        kept
    }
}

/// A text that a person wrote.
struct Spoken {
    /// The entry in its segment.
    entry: usize,
    raw: String,
    /// Where the text stands in the entry, and the text.
    body: Range<usize>,
    text: String,
}

impl Spoken {
    /// The entry with a sentence behind its text.
    fn with(&self, sentence: &str) -> String {
        let text = self.text.trim_end();
        let full = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
        let text = quote(&format!("{text}{full} {sentence}"));
        format!("{}{text}{}", &self.raw[..self.body.start], &self.raw[self.body.end..])
    }
}

fn spoken(request: &Request, segment: Range<usize>) -> Vec<Spoken> {
    let mut found = Vec::new();
    for at in segment.clone() {
        let entry = request.transcript.entry(at);
        let mut parts = entry.parts().filter(|part| {
            part.is_human() && part.kind() == PartKind::Text && part.is(Marks::LITERAL)
        });
        if let Some(part) = parts.next() {
            let start = entry.span().start;
            let body = part.row().body;
            found.push(Spoken {
                entry: at - segment.start,
                raw: entry.raw().to_owned(),
                body: (body.start - start) as usize..(body.end - start) as usize,
                text: part.text().into_owned(),
            });
        }
    }
    found
}
