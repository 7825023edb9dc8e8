//! The agent's words right before a human message that may be a bare answer: "Yes, go ahead."

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Gathered;
use crate::checkpoint::quotes::QuotedMessage;
use crate::specifics::specifics;
use crate::transcript::Entry;

/// The longest human message, in bytes, that may be a bare answer to a question though it names something: `2, and on port 8081`.
const MOST_REPLY: usize = 80;

impl Gathered {
    /// What the agent said right before words of the user's that are `quoted` or shown and name nothing: the newest of these words
    /// first, then the shortest.
    pub(in crate::checkpoint) fn answered(&self, quoted: &[QuotedMessage]) -> Vec<&QuotedMessage> {
        let quoted = quoted.iter().map(|word| (word.at, word.text.len()));
        let told: BTreeMap<usize, usize> =
            quoted.chain(self.shown_human.keys().map(|at| (*at, 0))).collect();
        let every = self.words.iter().map(|word| word.at).chain(self.shown_human.keys().copied());
        let every: BTreeSet<usize> = every.collect();
        let last = self.last_words();
        let reply = |asked: &QuotedMessage| {
            let at = *every.range(asked.at + 1..).next()?;
            let is_next = !self.unquoted.meets(asked.at..at);
            let length = told.get(&at).copied().filter(|_| is_next)?;
            Some((Some(&at) != every.last(), length))
        };
        let asked = self.answered.iter().chain(&self.followed);
        let asked = asked.filter(|asked| Some(*asked) != last);
        let mut asked: Vec<_> = asked.filter_map(|asked| Some((reply(asked)?, asked))).collect();
        asked.sort_by_key(|(reply, asked)| (*reply, Reverse(asked.at)));
        asked.into_iter().map(|(_, asked)| asked).collect()
    }

    /// What the agent said before the newest words of the user's.
    pub(in crate::checkpoint) fn newest_answered(&self) -> Option<&QuotedMessage> {
        let folded = self.words.iter().map(|word| word.at).chain(self.unquoted.last());
        let newest = folded.chain(self.shown_human.keys().copied()).max();
        let before = self.words.iter().map(|word| word.at).chain(self.shown_human.keys().copied());
        let before = before.filter(|at| Some(*at) != newest).max();
        let is_asked = |asked: &&QuotedMessage| Some(asked.at) > before && Some(asked.at) < newest;
        self.answered.iter().chain(&self.followed).rfind(is_asked)
    }

    /// Notes that a person speaks, and what they may answer.
    pub(super) fn see_human(&mut self, entry: Entry<'_>) {
        if entry.is_human() {
            let number = self.numbering.of(entry.index) as u32;
            self.newest_human = self.newest_human.max(Some(number));
            let asked = self.asked.take();
            let said = entry.human_text();
            let (is_short, is_bare) =
                (said.trim().len() <= MOST_REPLY, specifics(&said).next().is_none());
            // What was said before calls is answered by their results, unless it asks.
            let is_answered = |asked: &QuotedMessage| {
                let asks = asked.text.contains(['?', '？', '؟']);
                if asks { is_short || is_bare } else { is_short && is_bare && !asked.acted }
            };
            let (answered, followed) = match asked {
                Some(asked) if is_answered(&asked) => (Some(asked), None),
                other => (None, other.filter(|asked| asked.text.len() > MOST_REPLY)),
            };
            self.answered.extend(answered);
            self.followed = followed;
        }
    }
}
