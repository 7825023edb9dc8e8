//! What the lanes are made of, gathered from the folded entries in one pass.

use super::anchors::Anchors;
use super::narrative::{Said, Who};
use super::{ANCHORS, INSTRUCTIONS, NARRATIVE, WORDS, unfenced};
use crate::draft::part_text;
use crate::text::{Outcome, cut};
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Transcript};

/// The longest beginning of a text that the narrative looks at.
const SAID_BYTES: usize = 6 * 1024;
/// Tool output rarely tells more than its first and last lines; the anchors read all of it.
const TOOL_BYTES: usize = 1024;

/// One human message that is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Index of its entry, counted in the transcript where it was said.
    pub at: usize,
    /// The words, verbatim.
    pub text: String,
}

impl Word {
    /// The line before the words: which message, and how long, so that the lane can be read back.
    pub(super) fn label(&self) -> String {
        format!("[message {}, {} bytes]\n", self.at, self.text.len())
    }
}

/// Everything that a checkpoint may say.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    entries: usize,
    words: Vec<Word>,
    instructions: Vec<String>,
    anchors: Anchors,
    said: Vec<(u32, Who, String)>,
}

impl Gathered {
    /// Number of entries that it stands for.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The folded human messages, oldest first.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Folded system text.
    pub fn instructions(&self) -> &[String] {
        &self.instructions
    }

    /// What was extracted from calls and results.
    pub fn anchors(&self) -> &Anchors {
        &self.anchors
    }

    /// What the narrative chooses from.
    pub(super) fn said(&self) -> Vec<Said<'_>> {
        self.said.iter().map(|(at, who, text)| Said { at: *at, who: *who, text }).collect()
    }

    /// Adds a folded entry.
    pub fn add(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) {
        self.entries += 1;
        if entry.origin() == Origin::Checkpoint {
            return self.carry_over(&entry.parts().map(|p| p.text()).collect::<String>());
        }
        let at = entry.index as u32;
        if entry.role().instructs() {
            self.instructions.extend(entry.parts().map(|p| p.text().into_owned()));
            return;
        }
        if entry.is_human() {
            self.words.push(Word { at: entry.index, text: entry.human_text() });
        }
        for part in entry.parts().filter(|p| !p.is(Marks::NESTED)) {
            match part.kind() {
                PartKind::Text => {
                    let text = part.text();
                    self.anchors.observe_text(at, &text);
                    if let Some(who) = speaker(&part) {
                        self.said.push((at, who, cut::head(&text, SAID_BYTES).to_owned()));
                    }
                }
                PartKind::Call => self.anchors.observe_call(at, &part.name(), &part.text()),
                PartKind::Result => self.result(transcript, units, &part, at),
                PartKind::Reasoning | PartKind::Media | PartKind::Opaque => {}
            }
        }
    }

    fn result(&mut self, transcript: &Transcript, units: &Units, part: &Part<'_>, at: u32) {
        let call = units.call_of(part.slot).map(|slot| transcript.part(slot));
        let name = call.map_or_else(|| part.name().into_owned(), |call| call.name().into_owned());
        let arguments = call.map(|call| call.text().into_owned()).unwrap_or_default();
        let outcome = if part.is(Marks::ERROR) { Outcome::Error } else { Outcome::Unknown };
        let text = part_text(transcript, part);
        self.anchors.observe_result(at, &name, &arguments, &text, outcome);
        self.said.push((at, Who::Tool, cut::head(&text, TOOL_BYTES).to_owned()));
    }

    /// Continues an earlier checkpoint: its words and anchors, never its prose.
    fn carry_over(&mut self, text: &str) {
        let Some(body) = unfenced(text) else { return };
        for lane in body.split(INSTRUCTIONS).skip(1) {
            let end = [WORDS, ANCHORS, NARRATIVE].iter().filter_map(|next| lane.find(next)).min();
            let text = &lane[..end.unwrap_or(lane.len())];
            self.instructions.push(text.strip_suffix('\n').unwrap_or(text).to_owned());
        }
        if let Some((_, words)) = body.split_once(WORDS) {
            self.words.extend(read_words(words));
        }
        if let Some((_, rest)) = body.split_once(ANCHORS) {
            let lane = rest.split_once(NARRATIVE).map_or(rest, |(lane, _)| lane);
            if let Some(older) = Anchors::parse(lane) {
                self.anchors.merge(older);
            }
        }
    }
}

fn speaker(part: &Part<'_>) -> Option<Who> {
    match part.origin() {
        Origin::Model => Some(Who::Model),
        Origin::Tool => Some(Who::Tool),
        // Notes of the agent's, summaries of its own among them: quoted like any output.
        Origin::Injected => Some(Who::Tool),
        // Quoted in their own lane.
        Origin::Human | Origin::Checkpoint => None,
    }
}

/// Reads a lane of words back: each label tells how many bytes follow.
fn read_words(lane: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = lane;
    loop {
        let parsed = (|| {
            let (label, tail) = rest.strip_prefix("[message ")?.split_once(" bytes]\n")?;
            let (at, len) = label.split_once(", ")?;
            let (at, len): (usize, usize) = (at.parse().ok()?, len.parse().ok()?);
            let text = tail.get(..len)?.to_owned();
            Some((Word { at, text }, tail.get(len..)?.strip_prefix('\n')?))
        })();
        let Some((word, tail)) = parsed else { return words };
        words.push(word);
        rest = tail;
    }
}
