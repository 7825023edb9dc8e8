//! How much of the needs a view still shows.

use std::collections::{BTreeMap, HashSet};
use std::ops::AddAssign;

use epitome::text::specifics::specifics;
use serde::Serialize;

use super::contender::Shown;
use super::scene::Scene;
use crate::Share;
use crate::needle::{has_neighbours, mentions};
use crate::passage::Who;

/// What one view, or several of a contender, still say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Needs that the view says.
    pub said: Share,
    /// Of those that point.
    pub pointing: Share,
    /// Needs that it says with their neighbours, of those that have any.
    pub neighbours: Share,
    /// By class.
    pub classes: BTreeMap<&'static str, Share>,
    /// People's words whose sentences stand in it verbatim.
    pub words: Share,
    /// Bytes of lines with specifics, none of which is needed.
    pub noise: Share,
    /// The same of its checkpoint.
    pub checkpoint_noise: Share,
    /// Files that are read again and that it shows.
    pub rereads: Share,
    /// Tokens of the view, of the room.
    pub tokens: Share,
    /// Views that are larger than the room.
    pub over: u64,
    /// Views that could not be made.
    pub failed: u64,
}

impl AddAssign<&Score> for Score {
    fn add_assign(&mut self, other: &Score) {
        self.said += other.said;
        self.pointing += other.pointing;
        self.neighbours += other.neighbours;
        for (class, share) in &other.classes {
            *self.classes.entry(class).or_default() += *share;
        }
        self.words += other.words;
        self.noise += other.noise;
        self.checkpoint_noise += other.checkpoint_noise;
        self.rereads += other.rereads;
        self.tokens += other.tokens;
        self.over += other.over;
        self.failed += other.failed;
    }
}

/// Scores a view that had `room` tokens.
pub fn score(scene: &Scene, shown: &Shown, room: u64) -> Score {
    let mut score = Score::default();
    let text = &shown.text;
    for need in &scene.needs {
        let found: Vec<_> = mentions(text, &need.text).collect();
        let is_said = !found.is_empty();
        score.said.add(is_said);
        score.classes.entry(need.class.plural()).or_default().add(is_said);
        if need.points {
            score.pointing.add(is_said);
        }
        if !need.neighbours.is_empty() {
            let around = &need.neighbours;
            let is_kept =
                found.iter().any(|at| around.iter().any(|words| has_neighbours(text, at, words)));
            score.neighbours.add(is_kept);
        }
    }
    let spoken = scene.passages.iter().filter(|passage| passage.who == Who::Person);
    for sentence in spoken.flat_map(|passage| sentences(&passage.text)) {
        let words = sentence.split_whitespace().count() as u64;
        score.words.all += words;
        score.words.of += if text.contains(sentence) { words } else { 0 };
    }
    score.noise = noise(scene, text);
    score.checkpoint_noise =
        shown.checkpoint.as_ref().map_or(Share::default(), |said| noise(scene, said));
    let lines: HashSet<&str> = text.lines().map(str::trim).collect();
    for reread in &scene.rereads {
        score.rereads.add(reread.is_shown(&lines));
    }
    score.tokens = Share { of: shown.tokens, all: room };
    score.over = u64::from(shown.tokens > room);
    score
}

/// Of the bytes of lines that hold specifics those of lines that say no need.
fn noise(scene: &Scene, text: &str) -> Share {
    let mut share = Share::default();
    let needed: HashSet<&str> = scene.needs.iter().map(|need| need.text.as_str()).collect();
    let mut useful = HashSet::new();
    for need in &scene.needs {
        for at in mentions(text, &need.text) {
            useful.insert(text[..at.start].rfind('\n').map_or(0, |end| end + 1));
        }
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut found = specifics(line).map(|specific| specific.text).peekable();
        if found.peek().is_some() {
            let is_useful = useful.contains(&start) || found.any(|text| needed.contains(text));
            share.all += line.len() as u64;
            share.of += if is_useful { 0 } else { line.len() as u64 };
        }
        start += line.len();
    }
    share
}

/// The sentences of a text: what ends with a line, or with `.`, `!` or `?` before white space.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let ends = rest.char_indices().zip(rest.chars().skip(1));
            let mut ends =
                ends.filter(|((_, c), next)| matches!(c, '.' | '!' | '?') && next.is_whitespace());
            let end = ends.next().map_or(rest.len(), |((at, _), _)| at + 1);
            let (sentence, more) = rest.split_at(end);
            rest = more;
            Some(sentence.trim())
        })
        .filter(|sentence| !sentence.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_with_marks_and_lines() {
        let text = "Use 1.5 of it. Never push!  Why?\n\n- a list item\nend";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(found, ["Use 1.5 of it.", "Never push!", "Why?", "- a list item", "end"]);
    }
}
