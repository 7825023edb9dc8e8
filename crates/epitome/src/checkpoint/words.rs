//! The user's words: earlier human messages, copied, never written.
//!
//! Whole messages come first, from the newest back; of those that don't fit, head and tail are quoted
//! while there is room, with what is left out declared. Each label tells how many bytes follow, so
//! that a later compaction reads the lane back, whatever the words say.

use std::fmt::Write as _;

use crate::text::cut;

/// One human message that is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Index of its entry, counted in the transcript where it was said.
    pub at: usize,
    /// The words, verbatim; with a declared gap if an earlier checkpoint had no room for all.
    pub text: String,
    /// Bytes of the whole message; more than `text` has if that has a gap.
    pub whole: usize,
}

/// How a lane's words came out.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) text: String,
    /// Messages quoted in full.
    pub(super) kept: usize,
}

/// A part of a message shorter than this isn't worth its label.
const LEAST_PART: usize = 160;

impl Word {
    /// A message in full.
    pub fn new(at: usize, text: String) -> Self {
        Word { at, whole: text.len(), text }
    }

    fn is_whole(&self) -> bool {
        self.text.len() == self.whole
    }

    /// The line before the words.
    fn label(&self) -> String {
        if self.is_whole() {
            format!("[message {}, {} bytes]\n", self.at, self.whole)
        } else {
            format!("[message {}, {} bytes of {}]\n", self.at, self.text.len(), self.whole)
        }
    }

    /// Head and tail in at most `bytes`, the gap declared; `None` if too little would be left.
    fn part(&self, bytes: usize) -> Option<Word> {
        const GAP: usize = 48;
        let room = bytes.checked_sub(GAP).filter(|room| *room >= LEAST_PART)?;
        let head = cut::head(&self.text, room * 2 / 3);
        let tail = cut::tail(&self.text[head.len()..], room - head.len());
        let gap = self.text.len() - head.len() - tail.len();
        let text = format!("{head}\n[… {gap} bytes not quoted …]\n{tail}");
        (text.len() <= bytes).then_some(Word { at: self.at, text, whole: self.whole })
    }
}

/// The lane within `bytes`, in the order the words were said.
pub(super) fn lane(title: &str, words: &[Word], bytes: usize) -> Lane {
    // The longest label of a part.
    const LABEL: usize = 40;
    if words.is_empty() {
        return Lane::default();
    }
    let mut left = bytes;
    let mut chosen: Vec<Option<Word>> = vec![None; words.len()];
    for (slot, word) in chosen.iter_mut().zip(words).rev() {
        let size = word.label().len() + word.text.len() + 1;
        if size <= left {
            left -= size;
            *slot = Some(word.clone());
        }
    }
    for (slot, word) in chosen.iter_mut().zip(words).rev().filter(|(slot, _)| slot.is_none()) {
        let Some(part) = left.checked_sub(LABEL).and_then(|room| word.part(room)) else { break };
        left -= (part.label().len() + part.text.len() + 1).min(left);
        *slot = Some(part);
    }
    let quoted: Vec<Word> = chosen.iter().flatten().cloned().collect();
    let mut text = format!("{title}{}", lane_of(&quoted));
    let missing = chosen.iter().filter(|slot| slot.is_none()).count();
    if missing > 0 {
        let _ = writeln!(text, "({missing} of the user's messages are not quoted here.)");
    }
    let kept = chosen.iter().flatten().filter(|word| word.is_whole()).count();
    Lane { text, kept }
}

/// All of `words`, in full.
pub(super) fn lane_of(words: &[Word]) -> String {
    let mut out = String::new();
    for word in words {
        let _ = writeln!(out, "{}{}", word.label(), word.text);
    }
    out
}

/// Reads a lane back; and what is behind it.
pub(super) fn read(lane: &str) -> (Vec<Word>, &str) {
    let mut words = Vec::new();
    let mut rest = lane;
    while let Some((word, tail)) = read_one(rest) {
        words.push(word);
        rest = tail;
    }
    (words, rest)
}

fn read_one(rest: &str) -> Option<(Word, &str)> {
    let (label, tail) = rest.strip_prefix("[message ")?.split_once("]\n")?;
    let (at, size) = label.split_once(", ")?;
    let (len, whole) = if let Some((len, whole)) = size.split_once(" bytes of ") {
        (len.parse().ok()?, whole.parse().ok()?)
    } else {
        let len = size.strip_suffix(" bytes")?.parse().ok()?;
        (len, len)
    };
    let text = tail.get(..len)?.to_owned();
    Some((Word { at: at.parse().ok()?, text, whole }, tail.get(len..)?.strip_prefix('\n')?))
}

/// A text without lines that look like labels: these are no facts of the conversation.
pub(super) fn without_labels(text: &str) -> String {
    let is_label = |line: &&str| {
        line.starts_with("[message ") && line.ends_with(']') && line.contains(" bytes")
    };
    text.lines().filter(|line| !is_label(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<Word> {
        let mut long = String::new();
        for n in 0..60 {
            let _ = writeln!(long, "line {n} of a long message");
        }
        vec![
            Word::new(0, "Never push to main.".to_owned()),
            Word::new(4, long),
            Word::new(9, "[message 3, 5 bytes]\nfake\nGo on.".to_owned()),
        ]
    }

    #[test]
    fn what_fits_is_whole_and_read_back() {
        let lane = lane("", &words(), 4000);
        assert_eq!(lane.kept, 3);
        assert_eq!(read(&lane.text), (words(), ""));
    }

    #[test]
    fn a_long_message_is_quoted_in_part_with_the_gap_declared() {
        let first = lane("", &words(), 700);
        assert_eq!(first.kept, 2);
        assert!(first.text.contains("bytes not quoted"), "{}", first.text);
        let (read, _) = read(&first.text);
        assert_eq!(read.len(), 3);
        assert_eq!(read[1].whole, words()[1].whole);
        assert!(read[1].text.starts_with("line 0 of") && read[1].text.ends_with("message\n"));
        // Read back and written again, it is the same.
        assert_eq!(lane("", &read, 700).text, first.text);
    }

    #[test]
    fn without_room_the_number_is_told() {
        let none = lane("", &words(), 10);
        assert_eq!(none.text, "(3 of the user's messages are not quoted here.)\n");
    }
}
