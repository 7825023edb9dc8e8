//! Changes of a ledger that were made: where another transcript bears them out, and made there again.
//!
//! A change cites messages by their positions, which hold for the transcript that it was made over. The next one may be what
//! a view left of that, or the whole of which that was a view: there the same messages stand elsewhere, and are told by
//! what they say.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::judge::Verdict;
use super::lane::LEAST;
use super::quote::quoted;
use super::{Delta, Ledger, Op, Proposed, REPLACING, Refused, Spoken, spoken};
use crate::text::cut;
use crate::transcript::{ContentId, Transcript};

/// A line of a change that was made before is worth so much at least: it was listed, and stays so.
const KEPT: i32 = LEAST + 15;

/// A change that was made, and the messages that bear it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The change. Its sources are positions in the transcript of the compaction that tells of it; none where an
    /// earlier checkpoint alone says it there.
    #[serde(flatten)]
    pub delta: Delta,
    /// The messages that it cites, as they came and as they were shown
    /// ([`Entry::content_id`](crate::transcript::Entry::content_id)): by these they are found where they stand elsewhere.
    /// Where there are none the positions count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<ContentId>,
}

impl From<Delta> for Made {
    /// One of which nothing but the positions is known.
    fn from(delta: Delta) -> Self {
        Made { delta, messages: Vec::new() }
    }
}

impl Made {
    /// Whether it is the same change, wherever it is borne out.
    pub fn is_same(&self, other: &Made) -> bool {
        let what = |made: &Made| {
            let Delta { op, kind, text, line, .. } = made.delta.clone();
            (op, kind, text, line)
        };
        what(self) == what(other)
    }

    /// Takes over where the same change is borne out by what another compaction tells of it.
    pub fn also(&mut self, other: Made) {
        self.delta.sources = other.delta.sources;
        self.borne_out_by(other.messages);
    }

    pub(crate) fn borne_out_by(&mut self, messages: impl IntoIterator<Item = ContentId>) {
        for message in messages {
            if !self.messages.contains(&message) {
                self.messages.push(message);
            }
        }
    }
}

/// These changes, citing the messages of `transcript` that bear them out: those that they are known to cite; where none
/// of them is there, whoever says the same at the same position.
pub(crate) fn placed(all: &[Made], transcript: &Transcript) -> Vec<Made> {
    let id = |at: u32| {
        let at = at as usize;
        (at < transcript.len()).then(|| transcript.entry(at).content_id())
    };
    let mut places: Option<HashMap<ContentId, u32>> = None;
    let mut sources = |made: &Made| {
        let is_known = |at: &u32| id(*at).is_some_and(|id| made.messages.contains(&id));
        let same = &made.delta.sources;
        if !same.is_empty() && same.iter().all(is_known) {
            return same.clone();
        }
        if made.messages.is_empty() {
            return Vec::new();
        }
        // Of those that say the same the newest.
        let places = places.get_or_insert_with(|| {
            transcript.entries().map(|entry| (entry.content_id(), entry.index as u32)).collect()
        });
        let mut found: Vec<u32> =
            made.messages.iter().filter_map(|id| places.get(id).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let says = |at: &u32, made: &Made| {
        let text = cut::one_line(&made.delta.text, usize::MAX);
        let all = spoken(transcript, *at).unwrap_or_default();
        all.iter().any(|(who, said)| quoted(&text, *who, said).is_some())
    };
    all.iter()
        .map(|made| {
            let mut sources = sources(made);
            if sources.is_empty() {
                let same = made.delta.sources.iter().copied();
                sources = same.filter(|at| says(at, made)).collect();
            }
            Made { delta: Delta { sources, ..made.delta.clone() }, ..made.clone() }
        })
        .collect()
}

impl Ledger {
    /// Makes a change that an earlier compaction made, when the message that bears it out was just heard: what was
    /// said later may still replace it.
    pub(crate) fn change_again(&mut self, made: &Made, said: &dyn Fn(u32) -> Option<Spoken>) {
        match self.change(&made.delta, said) {
            Ok(()) => {
                let line = self.lines.last_mut().expect("it was just appended");
                line.weight = line.weight.max(KEPT);
                let own = self.changes.last_mut().expect("it was just made");
                own.messages.clone_from(&made.messages);
            }
            // Once all was heard it is told what became of the line.
            Err(Refused::Known) => {}
            Err(refused) => self.lose(made, refused),
        }
    }

    /// Keeps a line that an earlier compaction listed for such a change, and that was carried over, worth as much. Where
    /// there is none the change is lost; one that was replaced since is settled.
    pub(crate) fn keep_change(&mut self, made: &Made) {
        if self.changes.iter().any(|known| known.is_same(made)) {
            return;
        }
        let text = cut::one_line(&made.delta.text, usize::MAX);
        let Some(at) = self.said.get(&text).map(|at| *at as usize) else {
            return self.lose(made, Refused::Source);
        };
        self.lost.retain(|lost| lost.delta != made.delta);
        let line = &mut self.lines[at];
        if line.replaced.is_some() {
            return;
        }
        let replaces = if made.delta.op == Op::Add { 0 } else { REPLACING };
        line.weight = line.weight.max(Verdict::of(line.kind, line.who).weight + replaces).max(KEPT);
        self.changes.push(made.clone());
    }

    fn lose(&mut self, made: &Made, why: Refused) {
        if !self.lost.iter().any(|lost| lost.delta == made.delta) {
            self.lost.push(Proposed { delta: made.delta.clone(), refused: Some(why) });
        }
    }

    /// Changes that were made, now and before, with the messages of the transcript that bear them out.
    pub(crate) fn changes_in(&self, transcript: &Transcript) -> Vec<Made> {
        let id = |at: &u32| transcript.entry(*at as usize).content_id();
        let with_messages = |made: &Made| {
            let mut made = made.clone();
            let cited: Vec<ContentId> = made.delta.sources.iter().map(id).collect();
            made.borne_out_by(cited);
            made
        };
        self.changes.iter().map(with_messages).collect()
    }

    /// Changes of before that couldn't be made again, each with why.
    pub(crate) fn lost(&self) -> &[Proposed] {
        &self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Kind, Shown, Speaker, read};
    use crate::wire::{Format, parse};

    const SAID: [(Speaker, &str); 3] = [
        (Speaker::Human, "The port is 5020."),
        (Speaker::Model, "I look at it."),
        (Speaker::Tool, "version = 1.4.2"),
    ];

    fn said(at: u32) -> Option<Spoken> {
        SAID.get(at as usize).map(|(who, text)| vec![(*who, (*text).to_owned())])
    }

    fn add(text: &str, at: u32) -> Made {
        let kind = Some(Kind::Fact);
        Delta { op: Op::Add, kind, text: text.to_owned(), line: None, sources: vec![at] }.into()
    }

    #[test]
    fn what_was_changed_is_changed_again_and_gives_way_to_what_comes_later() {
        let version = add("version = 1.4.2", 2);
        let mut ledger = Ledger::default();
        ledger.change_again(&version, &said);
        let port = add("The port is 5020.", 0);
        ledger.change_again(&port, &said);
        let lane = ledger.render(4_000);
        assert!(lane.contains("- [2 tool] version = 1.4.2"), "{lane}");
        assert!(lane.contains("- [0 user] The port is 5020."), "{lane}");
        assert_eq!(ledger.changes, [version.clone(), port]);
        ledger.observe(3, Speaker::Human, Shown::Elsewhere, "Actually, the port is 6020 now.");
        let lane = ledger.render(4_000);
        assert!(!lane.contains("5020") && lane.contains("6020"), "{lane}");
        assert_eq!(ledger.lost(), []);
        // What is carried over is known without the message.
        let mut carried = Ledger::default();
        carried.resume(std::iter::empty(), read("Facts:\n- [2 tool] version = 1.4.2\n"));
        carried.change_again(&version, &|_| None);
        carried.keep_change(&version);
        assert!(carried.render(4_000).contains("version = 1.4.2"));
        assert_eq!(carried.changes, std::slice::from_ref(&version));
        assert_eq!(carried.lost(), []);
        // What nobody said isn't.
        let mut none = Ledger::default();
        none.change_again(&version, &|_| None);
        none.keep_change(&version);
        assert_eq!(none.changes, []);
        let lost = Proposed { delta: version.delta, refused: Some(Refused::Source) };
        assert_eq!(none.lost(), [lost]);
    }

    #[test]
    fn a_line_that_is_carried_over_is_known_by_all_of_it() {
        let mut ledger = Ledger::default();
        ledger.change(&add("The port is 5020", 0).delta, &said).expect("it says so");
        let [made] = &ledger.changes[..] else { panic!("{:?}", ledger.changes) };
        let mut carried = Ledger::default();
        carried.resume(std::iter::empty(), read(&ledger.render(4_000)));
        carried.keep_change(made);
        assert_eq!((&carried.changes[..], carried.lost()), (std::slice::from_ref(made), &[][..]));
    }

    fn transcript(texts: &[&str]) -> Transcript {
        let message = |text: &&str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
        let all: Vec<String> = texts.iter().map(message).collect();
        let body = format!("{{\"messages\":[{}]}}", all.join(","));
        parse(Format::OpenaiChat, body).expect("messages").transcript
    }

    #[test]
    fn messages_are_found_where_they_stand_now() {
        const PORT: &str = "The port is 5020.";
        let before = transcript(&["Go.", "Well.", PORT, "On."]);
        let id = |at| before.entry(at).content_id();
        let made = Made { messages: vec![id(2)], ..add(PORT, 2) };
        let sources = |made: &Made, texts: &[&str]| {
            let placed = placed(std::slice::from_ref(made), &transcript(texts));
            placed[0].delta.sources.clone()
        };
        assert_eq!(sources(&made, &["Go.", "Well.", PORT]), [2]);
        assert_eq!(sources(&made, &["Go.", PORT, "On.", PORT]), [3], "the newest");
        assert_eq!(sources(&made, &[PORT, "On.", PORT, PORT]), [2], "where it was");
        assert_eq!(sources(&made, &["Go.", "On."]), [0_u32; 0]);
        // It was shortened, and says as much.
        assert_eq!(sources(&made, &["Go.", "On.", "The port is 5020. Yes."]), [2]);
        assert_eq!(sources(&made, &["Go.", "On.", "The port is 6020."]), [0_u32; 0]);
        // Of several those that are there.
        let both = Made { messages: vec![id(0), id(2)], ..made.clone() };
        assert_eq!(sources(&both, &["Well.", PORT]), [1]);
        // By the position alone, where no more is known.
        let bare = add(PORT, 2);
        assert_eq!(sources(&bare, &["Go.", "Well.", PORT]), [2]);
        assert_eq!(sources(&bare, &["Go.", PORT, "On."]), [0_u32; 0]);
    }
}
