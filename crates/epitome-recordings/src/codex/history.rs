//! What the model is shown: items, as compactions and rollbacks left them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use epitome::transcript::Origin;

use super::row::{Row, Rows, What, text_of};
use crate::append::MARK;
use crate::notes::{About, Notes};
use crate::object::Object;
use crate::recording::{Reach, Why};
use crate::usage::{Counted, Names, Usage};

/// Without a replacement, a compaction keeps so much of what people wrote: 20,000 tokens of four
/// bytes, newest first.
const KEPT_WORDS: usize = 80_000;

/// How far apart an event and the item with the same content may be.
const NEAR: usize = 24;

/// How messages in the user's role begin that aren't a turn of their own.
pub(super) const CONTEXT: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<skill",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<goal_context>",
];

/// Completed work of the model or its tools. Items repeat it; a file without items has nothing else.
fn untold(row: &Row<'_>) -> Option<String> {
    let kind = row.payload.object("item").text("type")?;
    (kind != "UserMessage").then(|| kind.into_owned())
}

/// The history at the end of the rollout.
pub(super) struct History<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    pub(super) model: Option<&'a str>,
    pub(super) instructions: Option<&'a str>,
    /// The lines of compactions.
    pub(super) compactions: Vec<usize>,
    /// The newest piece that the model made, if nothing has been replaced since.
    reply: Option<usize>,
}

/// An item of it.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) item: Cow<'a, str>,
    pub(super) origin: Option<Origin>,
    pub(super) usage: Option<Counted<'a>>,
    /// The line that it stands on.
    pub(super) line: usize,
    is_reply: bool,
    /// Of a message in the user's role, its text.
    said: Option<String>,
}

impl<'a> History<'a> {
    pub(super) fn of(rows: &Rows<'a>, reach: Reach, notes: &mut Notes) -> Self {
        let mut history = History {
            pieces: Vec::new(),
            model: None,
            instructions: None,
            compactions: Vec::new(),
            reply: None,
        };
        let told = Told::of(rows);
        let has_items = rows.all.iter().any(|row| row.what == What::Item);
        for (place, row) in rows.all.iter().enumerate() {
            match row.what {
                What::Meta => {
                    let text = row.payload.object("base_instructions").literal("text");
                    history.instructions = history.instructions.or(text);
                }
                What::Turn => {
                    history.model = row.payload.literal("model").or(history.model);
                }
                What::Item => {
                    let origin = told.human.contains(&place).then_some(Origin::Human);
                    history.item(row.line, row.raw, &row.payload, origin);
                }
                What::Event => match row.payload.text("type").unwrap_or_default().as_ref() {
                    "user_message" | "item_completed" => {
                        if let Some(words) = told.alone.get(&place) {
                            history.say(row.line, words, Origin::Human);
                        } else if let Some(kind) = untold(row).filter(|_| !has_items) {
                            notes.unknown(row.line, &format!("item_completed {kind}"));
                        }
                    }
                    "agent_message" if !has_items => {
                        if let Some(words) = row.payload.literal("message") {
                            history.reply(row.line, words);
                        }
                    }
                    "agent_message" if told.is_shown_only(&row.payload) => {
                        notes.take(row.line, About::ShownOnly);
                    }
                    "token_count" => history.count(&row.payload),
                    "thread_rolled_back" => history.roll_back(&row.payload, notes),
                    // Items say the same; where a file has none, nothing else does.
                    kind if !has_items => notes.unknown(row.line, &format!("event_msg {kind}")),
                    _ => {}
                },
                What::Usage => history.used(row.payload.get("usage")),
                What::Nothing => {}
                What::Compacted => history.compact(row, reach),
                What::Unworded => {
                    let kind = "a message from another agent or file".to_owned();
                    notes.take(row.line, About::Unworded { kind });
                }
            }
        }
        history
    }

    fn item(&mut self, line: usize, raw: &'a str, item: &Object<'a>, origin: Option<Origin>) {
        let kind = item.text("type").unwrap_or_default();
        let role = item.text("role").unwrap_or_default();
        if matches!(kind.as_ref(), "ghost_snapshot" | "other" | "compaction_trigger") {
            return;
        }
        let is_reply = is_by_model(&kind, &role);
        if is_reply {
            self.reply = Some(self.pieces.len());
        }
        let said = (kind == "message" && role == "user").then(|| text_of(item));
        let origin = origin.or_else(|| is_a_persons(item).then_some(Origin::Human));
        let item = as_sent(raw, item);
        self.pieces.push(Piece { item, origin, usage: None, line, is_reply, said });
    }

    /// Puts words into the user's role, given as a literal.
    fn say(&mut self, line: usize, words: &'a str, origin: Origin) {
        let text = format!("{{\"type\":\"input_text\",\"text\":{words}}}");
        let item = format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":[{text}]}}");
        let said = Some(epitome::wire::json::unquote(words).into_owned());
        let item = Cow::Owned(item);
        let origin = Some(origin);
        self.pieces.push(Piece { item, origin, usage: None, line, is_reply: false, said });
    }

    /// Puts words into the model's role, given as a literal.
    fn reply(&mut self, line: usize, words: &'a str) {
        self.reply = Some(self.pieces.len());
        let text = format!("{{\"type\":\"output_text\",\"text\":{words}}}");
        let item = format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{text}]}}");
        let item = Cow::Owned(item);
        let origin = None;
        self.pieces.push(Piece { item, origin, usage: None, line, is_reply: true, said: None });
    }

    fn count(&mut self, event: &Object<'a>) {
        self.used(event.object("info").get("last_token_usage"));
    }

    fn used(&mut self, usage: Option<&'a str>) {
        if let (Some(reply), Some(usage)) = (self.reply, usage) {
            let usage = Usage::read(usage, Names::CODEX).map(|usage| usage.by(self.model));
            self.pieces[reply].usage = usage.or(self.pieces[reply].usage);
        }
    }

    /// Takes the newest turns off.
    fn roll_back(&mut self, event: &Object<'a>, notes: &mut Notes) {
        let turns = event.get("num_turns").and_then(|turns| turns.parse::<usize>().ok());
        let starts: Vec<usize> =
            (0..self.pieces.len()).filter(|at| self.pieces[*at].starts_a_turn()).collect();
        let turns = turns.unwrap_or(0).min(starts.len());
        let Some(&first) = starts.get(starts.len() - turns) else { return };
        for piece in self.pieces.drain(first..) {
            notes.skip(piece.line, Why::OtherBranch);
        }
        self.reply = None;
    }

    fn compact(&mut self, row: &Row<'a>, reach: Reach) {
        self.compactions.push(row.line);
        let summary = row.payload.literal("message").filter(|text| *text != "\"\"");
        self.reply = None;
        if reach == Reach::Whole {
            // Applied rows only repeat earlier messages.
            if let Some(summary) = summary.filter(|_| row.payload.get(MARK).is_none()) {
                self.say(row.line, summary, Origin::Injected);
            }
            return;
        }
        let before = std::mem::take(&mut self.pieces);
        let Some(replacement) = row.payload.list("replacement_history") else {
            self.pieces = newest_words(before);
            if let Some(summary) = summary {
                self.say(row.line, summary, Origin::Injected);
            }
            return;
        };
        let human: HashSet<&str> = before
            .iter()
            .filter(|piece| piece.origin == Some(Origin::Human))
            .filter_map(|piece| piece.said.as_deref())
            .collect();
        let summary = summary.map(epitome::wire::json::unquote);
        for raw in replacement {
            let envelope = Object::of(raw);
            // Newer versions may wrap the item once more.
            let (raw, item) = match envelope.get("item") {
                Some(inner) if envelope.get("type").is_none() => (inner, Object::of(inner)),
                _ => (raw, envelope),
            };
            let said = text_of(&item);
            let origin = match &summary {
                Some(summary) if *summary == said => Some(Origin::Injected),
                _ => human.contains(said.as_str()).then_some(Origin::Human),
            };
            self.item(row.line, raw, &item, origin);
        }
        self.reply = None;
    }
}

impl Piece<'_> {
    /// Whether the model made it.
    pub(super) fn is_reply(&self) -> bool {
        self.is_reply
    }

    /// Whether it is a message in the user's role that isn't about the surroundings.
    fn starts_a_turn(&self) -> bool {
        let Some(said) = &self.said else { return false };
        self.origin == Some(Origin::Human)
            || self.origin.is_none()
                && !CONTEXT.iter().any(|mark| said.trim_start().starts_with(mark))
    }
}

/// What people wrote, as much as a compaction keeps; the message that exceeds it is still kept.
fn newest_words(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut room = KEPT_WORDS;
    let mut kept = Vec::new();
    for piece in pieces.into_iter().rev().filter(Piece::starts_a_turn) {
        if room == 0 {
            break;
        }
        room = room.saturating_sub(piece.said.as_ref().map_or(0, String::len));
        kept.push(piece);
    }
    kept.reverse();
    kept
}

/// What the agent keeps with an item and doesn't send.
pub(super) const KEPT_BACK: &str = "internal_chat_message_metadata_passthrough";

/// The item as it is sent.
fn as_sent<'a>(raw: &'a str, item: &Object<'a>) -> Cow<'a, str> {
    if item.members().all(|(name, _)| name != KEPT_BACK) {
        return Cow::Borrowed(raw);
    }
    let members = item.members().filter(|(name, _)| *name != KEPT_BACK);
    let members: Vec<String> = members
        .map(|(name, value)| format!("{}:{value}", epitome::wire::json::quote(name)))
        .collect();
    Cow::Owned(format!("{{{}}}", members.join(",")))
}

/// Whether newer versions say that a person wrote the item.
fn is_a_persons(item: &Object<'_>) -> bool {
    let kinds = item.object(KEPT_BACK).list("content_item_kinds").unwrap_or_default();
    item.says("role", "user") && kinds.iter().any(|kind| kind.starts_with("\"user."))
}

/// Whether the model made the item.
fn is_by_model(kind: &str, role: &str) -> bool {
    match kind {
        "message" => role == "assistant",
        "reasoning" => true,
        kind => kind.ends_with("_call"),
    }
}

fn is_reply(row: &Row<'_>) -> bool {
    let member = |name| row.payload.text(name).unwrap_or_default();
    row.what == What::Item && is_by_model(&member("type"), &member("role"))
}

/// The words of an event that tells what a person said, as a literal.
fn told_by<'a>(row: &Row<'a>) -> Option<&'a str> {
    if row.what != What::Event {
        return None;
    }
    if row.payload.says("type", "user_message") {
        return row.payload.literal("message");
    }
    // Newer versions tell of each item that is complete.
    let item = row.payload.object("item");
    let is_persons = row.payload.says("type", "item_completed") && item.says("type", "UserMessage");
    let blocks = item.list("content").filter(|_| is_persons)?;
    blocks.into_iter().find_map(|block| Object::of(block).literal("text"))
}

/// What the events tell of people's words.
struct Told<'a> {
    /// Items that a person wrote.
    human: HashSet<usize>,
    /// Events that no item repeats, with their words as literals.
    alone: HashMap<usize, &'a str>,
    /// What the model's own messages say.
    replies: HashSet<String>,
}

impl<'a> Told<'a> {
    fn of(rows: &Rows<'a>) -> Self {
        let said = |place: usize| -> Option<String> {
            let row = &rows.all[place];
            let is_users = row.what == What::Item && row.payload.says("role", "user");
            is_users.then(|| text_of(&row.payload))
        };
        let said: Vec<Option<String>> = (0..rows.all.len()).map(said).collect();
        let replies = rows.all.iter().filter(|row| is_reply(row)).map(|row| text_of(&row.payload));
        let mut told = Told {
            human: HashSet::new(),
            alone: HashMap::new(),
            replies: replies.map(|said| said.trim().to_owned()).collect(),
        };
        for (place, row) in rows.all.iter().enumerate() {
            let Some(literal) = told_by(row) else { continue };
            let words = epitome::wire::json::unquote(literal);
            let words = words.trim();
            let is_same = |at: &usize| {
                !told.human.contains(at)
                    && said[*at].as_ref().is_some_and(|said| said.contains(words))
            };
            // The model's work stands between human messages.
            let is_reply = |at: &usize| is_reply(&rows.all[*at]);
            let before = (0..place).rev().take(NEAR).take_while(|at| !is_reply(at));
            let behind = (place..rows.all.len()).take(NEAR).take_while(|at| !is_reply(at));
            let same = before.chain(behind).find(is_same);
            match same {
                Some(item) => {
                    told.human.insert(item);
                }
                None if words.is_empty() => {}
                None => {
                    told.alone.insert(place, literal);
                }
            }
        }
        told
    }

    /// Whether an event tells of a reply that no message of the model's says. (Its thoughts are told of, too.)
    fn is_shown_only(&self, event: &Object<'_>) -> bool {
        let words = event.text("message").unwrap_or_default();
        let words = words.trim();
        !words.is_empty() && !self.replies.iter().any(|said| said.contains(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_back_is_not_sent_and_nothing_else_changes() {
        for (raw, want) in [
            (r#"{"a": 1, "b": null}"#, r#"{"a": 1, "b": null}"#),
            (
                r#"{"a": 1.0e5, "internal_chat_message_metadata_passthrough": {"t": 1}, "c":"é"}"#,
                r#"{"a":1.0e5,"c":"é"}"#,
            ),
        ] {
            assert_eq!(as_sent(raw, &Object::of(raw)), want);
        }
    }
}
