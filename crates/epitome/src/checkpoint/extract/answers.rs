//! What the agent said right before words of the user's that may be a bare answer: "Yes, go ahead."

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Gathered;
use crate::checkpoint::quotes::QuotedMessage;

impl Gathered {
    /// What the agent said right before words of the user's that are `quoted` or shown and name nothing: the newest of these words
    /// first, then the shortest.
    pub(in crate::checkpoint) fn answered(&self, quoted: &[QuotedMessage]) -> Vec<&QuotedMessage> {
        let quoted = quoted.iter().map(|word| (word.at, word.text.len()));
        let told: BTreeMap<usize, usize> =
            quoted.chain(self.shown_human.iter().map(|at| (*at, 0))).collect();
        let every = self.words.iter().map(|word| word.at).chain(self.shown_human.iter().copied());
        let every: BTreeSet<usize> = every.collect();
        let last = self.last_words();
        let reply = |asked: &QuotedMessage| {
            let at = *every.range(asked.at + 1..).next()?;
            let is_next = !self.unquoted.meets(asked.at..at);
            let length = told.get(&at).copied().filter(|_| is_next)?;
            Some((Some(&at) != every.last(), length))
        };
        let asked = self.answered.iter().filter(|asked| Some(*asked) != last);
        let mut asked: Vec<_> = asked.filter_map(|asked| Some((reply(asked)?, asked))).collect();
        asked.sort_by_key(|(reply, asked)| (*reply, Reverse(asked.at)));
        asked.into_iter().map(|(_, asked)| asked).collect()
    }

    /// What the agent said before the newest words of the user's, if these may be a bare answer.
    pub(in crate::checkpoint) fn newest_answered(&self) -> Option<&QuotedMessage> {
        let folded = self.words.iter().map(|word| word.at).chain(self.unquoted.last());
        let newest = folded.chain(self.shown_human.iter().copied()).max();
        let before = self.words.iter().map(|word| word.at).chain(self.shown_human.iter().copied());
        let before = before.filter(|at| Some(*at) != newest).max();
        let is_asked = |asked: &&QuotedMessage| Some(asked.at) > before && Some(asked.at) < newest;
        self.answered.iter().rfind(is_asked)
    }
}
