//! The material of a checkpoint, gathered in one pass over the conversation.
//!
//! Secrets are masked before anything is taken from a text: half a secret has no shape. Only pins and standing
//! instructions are restated unmasked, because that is their purpose.

mod answers;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::activation::{Mentions, weight};
use super::attachments::{attachment, attachments};
use super::deeds::Deeds;
use super::notes::Lines;
use super::numbers::is_checkpoint;
use super::numbers::numbers_within;
use super::quotes::QuotedMessage;
use super::ranges::Ranges;
use super::read::{Contents, read};
use super::said::{Said, said, says_something, told, told_json};
use super::titles;
use super::todo::Todo;
use crate::specifics::{Class, Specific, specifics};
use crate::text::arguments::Arguments;
use crate::text::outcome::judge;
use crate::text::shortened::note;
use crate::text::{CallStatus, STUB, cut};
use crate::tool::keeps_list;
use crate::transcript::unit::Units;
use crate::transcript::{
    ContentId, Entry, Marks, Numbering, Origin, Part, PartKind, Slot, Transcript,
};
use crate::word_list::words;
use crate::working_view::{Draft, part_text};

/// Names of files with rules of the user's, which clients put into the conversation.
const RULE_FILES: [&str; 7] = words!(
    "AGENTS.md CLAUDE.md GEMINI.md .cursorrules copilot-instructions.md CONVENTIONS.md \
     <user_instructions>"
);
/// Bytes at the beginning of an injected text in which the name must stand.
const NAMED_WITHIN: usize = 800;
/// Bytes before a number in which a note of ours begins.
const NOTE: usize = 48;
/// Bytes of one part whose specifics are noted, from each end: more is data.
const MOST_BYTES: usize = 256 * 1024;

/// Everything that a checkpoint may say.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    numbering: Arc<Numbering>,
    channel: Option<Arc<str>>,
    read_only: Arc<[String]>,
    pub(super) stands_for: Ranges,
    pub(super) words: Vec<QuotedMessage>,
    pub(super) instructions: Vec<QuotedMessage>,
    pub(super) deeds: Deeds,
    /// The agent's last words.
    last_words: Option<QuotedMessage>,
    /// Its last words, unless the view shows them.
    asked: Option<QuotedMessage>,
    /// The agent's words right before a human message that may be a bare answer: it names nothing, or is short and follows a
    /// question.
    answered: Vec<QuotedMessage>,
    /// What the newest words follow, if they don't answer it.
    followed: Option<QuotedMessage>,
    todo: Todo,
    /// Whether the view shows the newest list itself.
    shows_todo: bool,
    pub(super) summary: String,
    /// Earlier checkpoints that it continues: one that occurs twice counts once.
    carried: Vec<ContentId>,
    /// Notes of earlier checkpoints, each with its source.
    pub(super) carried_notes: Vec<(Box<str>, Box<str>)>,
    pub(super) mentions: Mentions,
    pub(super) lines: Lines,
    /// Folded parts that are quoted verbatim, by their slots.
    own: Vec<u32>,
    /// Specifics that the view shows beside the checkpoint.
    pub(super) shown: Vec<u32>,
    /// The number of the newest human message.
    pub(super) newest_human: Option<u32>,
    /// Entries right behind the folded ones of which the view shows nothing.
    gone: usize,
    /// Entries that are new, not carried from an earlier checkpoint.
    folded: usize,
    /// Calls that the provider runs itself, by their ids, until they are answered.
    served: HashMap<Box<str>, Slot>,
    /// Tools that answer calls of folded entries, and the file that each shows, by the slots of their results.
    pub(super) tools: Vec<(u32, Box<str>)>,
    /// Human messages that the view shows, and how many parts of each.
    pub(super) shown_human: BTreeMap<usize, usize>,
    /// Human messages that earlier checkpoints stand for and don't quote.
    pub(super) unquoted: Ranges,
    /// How many more these are.
    pub(super) more_unquoted: usize,
}

impl Gathered {
    /// Empty, for a model that can look up hidden content by `channel`, if there is one.
    pub(crate) fn new(
        channel: Option<Arc<str>>,
        numbering: &Arc<Numbering>,
        read_only: Arc<[String]>,
    ) -> Self {
        Gathered { channel, numbering: Arc::clone(numbering), read_only, ..Gathered::default() }
    }

    /// The material of a checkpoint for a whole transcript.
    pub fn of(transcript: &Transcript, units: &Units) -> Self {
        let mut gathered = Gathered::default();
        for entry in transcript.entries() {
            gathered.fold(transcript, units, entry);
        }
        gathered
    }

    /// How the model can look up hidden content.
    pub(super) fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// The quotable text of a folded part, masked, which is slow.
    pub(super) fn said(&self, transcript: &Transcript, slot: u32) -> String {
        let part = transcript.part(Slot(slot));
        match self.own.binary_search(&slot) {
            Ok(_) => part_text(transcript, &part).into_owned(),
            Err(_) => said(transcript, &part).text,
        }
    }

    /// The numbers of its messages, with those of earlier checkpoints.
    pub fn stands_for(&self) -> &Ranges {
        &self.stands_for
    }

    /// The human messages that stand before the checkpoint and are newer than some that it stands for; empty if none are. Those of
    /// several parts say of how many.
    pub(super) fn newer_above(&self) -> String {
        let (oldest, newest) = (self.stands_for.first(), self.stands_for.last());
        let is_between = |at: usize| oldest < Some(at) && Some(at) < newest;
        let shown = self.shown_human.iter().filter(|(at, _)| is_between(**at));
        let mut above = Ranges::default();
        shown.clone().for_each(|(at, _)| above.add(*at));
        let several = shown.filter(|(_, parts)| **parts > 1);
        let several: Vec<String> = several.map(|(at, parts)| format!("{at}×{parts}")).collect();
        match &*several {
            [] => above.text(),
            several => format!("{}{}{})", above.text(), titles::PARTS, several.join(", ")),
        }
    }

    /// Whether it stands for any entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.folded == 0 && self.stands_for.is_empty()
    }

    /// The human messages that it stands for, oldest first.
    pub fn words(&self) -> &[QuotedMessage] {
        &self.words
    }

    /// The summary of an earlier checkpoint; empty if there is none.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The agent's last words, unless the user said something since that doesn't stand behind the checkpoint.
    pub(super) fn last_words(&self) -> Option<&QuotedMessage> {
        self.last_words.as_ref().filter(|word| self.is_last(word))
    }

    /// Whether a message is newer than all of the user's that stand in the checkpoint or before it.
    fn is_last(&self, word: &QuotedMessage) -> bool {
        let newest = self.stands_for.last().unwrap_or_default();
        let above = self.shown_human.keys().copied().filter(|at| *at < newest).max();
        let folded = self.words.last().map(|word| word.at).max(self.unquoted.last());
        above.max(folded).is_none_or(|human| word.at > human)
    }

    /// The to-do list, unless the view shows it.
    pub(super) fn todo(&self) -> Vec<String> {
        if self.shows_todo { Vec::new() } else { self.todo.lines() }
    }

    /// Adds an entry that the view shows, as `draft` has it.
    pub(crate) fn show(
        &mut self,
        transcript: &Transcript,
        units: &Units,
        entry: Entry<'_>,
        draft: &Draft,
    ) {
        self.see_human(entry);
        let number = self.numbering.of(entry.index);
        let later = numbers_within(entry);
        let shown = entry.parts().filter(|part| part.kind() != PartKind::Link);
        let shown = shown.filter(|part| !part.is(Marks::NESTED) && !draft.is_gone(part.slot));
        for part in shown.filter(|part| part.origin() != Origin::Checkpoint && entry.is_human()) {
            let own = later.iter().find(|(slot, _)| *slot == part.slot);
            *self.shown_human.entry(own.map_or(number, |(_, own)| *own)).or_default() += 1;
        }
        let is_next = self.stands_for.last().is_some_and(|last| number == last + self.gone + 1);
        if is_next && entry.parts().all(|part| draft.is_gone(part.slot)) {
            self.gone += 1;
        }
        let age = units.all().len() - units.index_of(entry.index);
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            let own = later.iter().find(|(slot, _)| part.is_human() && *slot == part.slot);
            if let Some((_, number)) = own {
                self.newest_human = self.newest_human.max(Some(*number as u32));
                if draft.is_gone(part.slot) {
                    self.said_later(*number, &part);
                }
            }
            if draft.is_gone(part.slot) {
                // An earlier checkpoint left a message that it shared.
                if part.origin() == Origin::Checkpoint {
                    self.carry(&part, units.all().len());
                }
                continue;
            }
            if part.kind() == PartKind::Call && self.takes_list(&part) {
                self.shows_todo = !self.todo.is_by_item();
            }
            if !says_something(&part) {
                continue;
            }
            let Said { text, .. } = said(transcript, &part);
            if part.origin() == Origin::Model && part.kind() == PartKind::Text {
                // Newer words follow here.
                (self.asked, self.last_words) = (None, None);
            }
            let found = self.mention(&text, &part, weight(part.origin(), age));
            match draft.written(part.slot) {
                Some(written) => {
                    let said = specifics(written).filter_map(|one| self.mentions.find(one.text));
                    self.shown.extend(said);
                }
                None => self.shown.extend(found.iter().map(|(_, at)| *at)),
            }
        }
    }

    /// Adds an entry that the checkpoint stands for.
    pub(crate) fn fold(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) {
        self.see_human(entry);
        let number = self.numbering.of(entry.index);
        if !is_checkpoint(entry) {
            self.folded += 1;
            self.stands_for.add_behind(number, std::mem::take(&mut self.gone));
        }
        if entry.role().instructs() {
            let words =
                entry.parts().map(|part| QuotedMessage::new(number, part.text().into_owned()));
            self.instructions.extend(words);
            return;
        }
        if entry.is_human() {
            let said = [vec![entry.human_text()], attachments(entry)].concat();
            let said = said.join("\n");
            let said = told(said.trim_start_matches('\n')).trim_end_matches('\n').to_owned();
            self.words.push(QuotedMessage::new(number, said));
        }
        let age = units.all().len() - units.index_of(entry.index);
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            if part.origin() == Origin::Checkpoint {
                self.carry(&part, units.all().len());
                continue;
            }
            if !says_something(&part) {
                continue;
            }
            let Said { text, json, is_own } = said(transcript, &part);
            self.own.extend(is_own.then_some(part.slot.0));
            let known = self.mentions.len() as u32;
            let found = self.mention(&text, &part, weight(part.origin(), age));
            let source = (part.slot.0, number as u32, part.origin());
            match part.kind() {
                PartKind::Call => {
                    self.call(&part, number as u32);
                    if part.is(Marks::SERVER) {
                        self.served.insert(part.id().into(), part.slot);
                    }
                    // It has no other result.
                    if part.is(Marks::ERROR) {
                        self.deeds.answer(part.slot.0, "", CallStatus::Error, &|_| false);
                    }
                }
                PartKind::Result => {
                    let reported =
                        if part.is(Marks::ERROR) { CallStatus::Error } else { CallStatus::Unknown };
                    let call = units.call_of(part.slot);
                    let call = call.or_else(|| self.served.remove(&*part.id()));
                    let output = json.as_deref().unwrap_or(&text);
                    if let Some(call) = call {
                        let tool = transcript.part(call).name();
                        if keeps_list(&tool) {
                            match judge(output, reported).outcome {
                                CallStatus::Error => self.todo.fail(call.0),
                                _ => self.todo.answer(call.0, output),
                            }
                        }
                        let is_new =
                            |said: &str| self.mentions.find(said).is_some_and(|at| at >= known);
                        self.deeds.answer(call.0, output, reported, &is_new);
                        let path = self.deeds.shown_by(call.0);
                        let source =
                            path.map_or_else(|| tool.to_string(), |it| format!("{tool} {it}"));
                        self.tools.push((part.slot.0, source.into()));
                    }
                    // A stub says less than the call.
                    if !text.starts_with(STUB) {
                        self.lines.add(source, &text, &found);
                    }
                }
                _ if part.is_human() => {}
                _ if is_rule_file(&part, &text) => {
                    self.words
                        .push(QuotedMessage::new(number, text.trim_end_matches('\n').to_owned()));
                }
                _ => {
                    if part.origin() == Origin::Model && !text.trim().is_empty() {
                        self.last_words = Some(QuotedMessage::new(number, text.trim().to_owned()));
                        self.asked.clone_from(&self.last_words);
                    }
                    self.lines.add(source, &text, &found);
                }
            }
        }
    }

    /// Quotes words that leave a message which stays, because they are newer.
    fn said_later(&mut self, number: usize, part: &Part<'_>) {
        let text = match part.kind() {
            PartKind::Media => attachment(part),
            _ => told(&part.text()).into_owned(),
        };
        self.stands_for.add(number);
        if let Some(word) = self.words.iter_mut().find(|word| word.at == number) {
            word.text.push('\n');
            word.text.push_str(&text);
        } else {
            self.words.push(QuotedMessage::new(number, text));
            self.words.sort_by_key(|word| word.at);
        }
    }

    /// Notes the specifics of a text that `part` says.
    fn mention<'t>(
        &mut self,
        text: &'t str,
        part: &Part<'_>,
        weight: f32,
    ) -> Vec<(Specific<'t>, u32)> {
        let head = cut::head(text, MOST_BYTES);
        let tail = cut::tail(&text[head.len()..], MOST_BYTES);
        let behind = text.len() - tail.len();
        let late = specifics(tail).map(|found| Specific { at: found.at + behind, ..found });
        let mut all = Vec::new();
        // Names of members are the tool's, not somebody's words.
        let is_key = |found: &Specific<'_>| {
            text[..found.at].ends_with('"')
                && text[found.at + found.text.len()..].starts_with("\":")
        };
        // Counts in our own notes were never said.
        let is_noted = |found: &Specific<'_>| {
            let before = cut::tail(&text[..found.at], NOTE);
            let begins = before.rfind("[… ").map(|at| before.len() - at);
            let ends = begins.and_then(|bytes| note(&text[found.at - bytes..]));
            begins < ends
        };
        // A listing numbers its lines: `  12\tlet x`, `  12→let x`.
        let is_line_number = |found: &Specific<'_>| {
            let before = text[..found.at].trim_end_matches(' ');
            let is_first = before.len() < found.at && (before.is_empty() || before.ends_with('\n'));
            let behind = &text[found.at + found.text.len()..];
            let is_numbered = ["\t", "→", "  "].iter().any(|gap| behind.starts_with(gap));
            found.class == Class::Number && is_first && is_numbered
        };
        // Every text among arguments stands in quotes, what an edit replaces, too.
        let is_argument =
            |found: &Specific<'_>| part.kind() == PartKind::Call && found.class == Class::Quoted;
        let is_said = |found: &Specific<'_>| {
            !is_key(found) && !is_noted(found) && !is_line_number(found) && !is_argument(found)
        };
        for found in specifics(head).chain(late).filter(is_said) {
            let at = self.mentions.mention(&found, (part.slot.0, part.origin()), weight);
            all.push((found, at));
        }
        all
    }

    /// Applies a call to the agent's own list; returns whether it is a call of a list.
    fn takes_list(&mut self, part: &Part<'_>) -> bool {
        let text = part.text();
        let (tool, arguments) = (part.name(), Arguments::read(&text));
        self.todo.take(part.slot.0, &tool, &arguments)
    }

    fn call(&mut self, part: &Part<'_>, number: u32) {
        let (tool, arguments) = (part.name(), part.text());
        let arguments = told_json(&arguments);
        if self.todo.take(part.slot.0, &tool, &Arguments::read(&arguments)) {
            self.shows_todo = false;
        }
        for word in [&mut self.last_words, &mut self.asked].into_iter().flatten() {
            word.acted = true;
        }
        let reads = self.read_only.iter().any(|name| **name == *tool);
        self.deeds.call(number, part.slot.0, &tool, &arguments, reads);
    }

    /// Goes on from an earlier checkpoint.
    fn carry(&mut self, part: &Part<'_>, age: usize) {
        let text = part.text();
        let id = ContentId::of_text(&text);
        let Some(earlier) = read(&text).filter(|_| !self.carried.contains(&id)) else { return };
        self.carried.push(id);
        let Contents {
            stands_for,
            parts: _,
            instructions,
            words,
            unquoted,
            more_unquoted,
            answered,
            deeds,
            last_words,
            todo,
            summary,
            notes,
            names,
        } = earlier;
        self.stands_for.merge(&stands_for);
        self.instructions.extend(instructions);
        for word in &words {
            self.newest_human = self.newest_human.max(Some(word.at as u32));
        }
        self.words.extend(words);
        let newest = unquoted.last().map(|at| at as u32);
        self.newest_human = self.newest_human.max(newest);
        self.unquoted.merge(&unquoted);
        self.more_unquoted += more_unquoted;
        // A newer message may stand before the checkpoint.
        self.instructions.sort_by_key(|word| word.at);
        self.words.sort_by_key(|word| word.at);
        self.deeds.carry(&deeds);
        self.answered.extend(answered);
        self.answered.sort_by_key(|word| word.at);
        let mut last = last_words.into_iter().filter(|word| self.is_last(word));
        if let Some(last) = last.next_back() {
            self.asked = Some(last.clone());
            self.last_words = Some(last);
        }
        self.todo.carry(&todo);
        if !summary.is_empty() {
            self.summary = summary;
        }
        let light = weight(Origin::Tool, age);
        self.mention(&Deeds::words(&deeds), part, light);
        let mut label = "";
        for line in notes.lines() {
            let labelled = line.strip_prefix('[').and_then(|line| line.split_once("] "));
            let continued = line.strip_prefix(titles::CONTINUED).filter(|_| !label.is_empty());
            let Some((own, text)) = labelled.or(continued.map(|text| (label, text))) else {
                continue;
            };
            label = own;
            let number =
                label.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default();
            // A tool's label names the tool.
            let who = if label.contains(' ') { Origin::Tool } else { Origin::Model };
            let found = self.mention(text, part, weight(who, age));
            let found: Vec<u32> = found.into_iter().map(|(_, at)| at).collect();
            let place = (self.carried_notes.len() as u32, number, who);
            self.lines.carry(place, text.len(), &found);
            self.carried_notes.push((label.into(), text.into()));
        }
        for line in names.lines() {
            self.mention(line.split_once(": ").map_or(line, |(_, names)| names), part, light);
        }
    }
}

/// Whether an injected text is a file with rules of the user's.
pub(super) fn is_rule_file(part: &Part<'_>, text: &str) -> bool {
    let head = cut::head(text, NAMED_WITHIN);
    part.kind() == PartKind::Text
        && part.origin() == Origin::Injected
        && RULE_FILES.iter().any(|name| head.contains(name))
}
