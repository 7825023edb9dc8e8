//! What differs between wire formats: each is one folder, and implements [`Dialect`].

use super::clean::{Past, begins_reply};
use super::rules::Finding;
use super::{Opening, splice};
use crate::json::{JsonError, Scanner, Splices, quote};
use crate::request::{Keeper, Request};
use crate::transcript::unit::Instructions;
use crate::transcript::{Entry, Part, PartKind, PartRow, Role, Transcript};
use crate::view::PartEdit;

/// A member of the body that says something about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The model's name.
    Model,
    /// The system prompt beside the transcript.
    System,
    /// The tool definitions.
    Tools,
    /// The reasoning mode.
    Thinking,
    /// Earlier history that the provider keeps.
    Elsewhere(Keeper),
}

/// What differs between formats whose entries are messages in a list.
pub(crate) trait Dialect: Sync {
    /// The body member that holds the entries.
    fn list_key(&self) -> &'static str;
    /// Members of which every entry has one; a line without them isn't one.
    fn entry_keys(&self) -> &'static [&'static str] {
        &["role"]
    }
    /// Whether only an entry has this member, although it may also have the list's.
    fn is_of_entry(&self, _key: &str, _value: &str) -> bool {
        false
    }
    /// What the body member `key` says, if it says something.
    fn field(&self, key: &str) -> Option<Field> {
        match key {
            "model" => Some(Field::Model),
            "system" => Some(Field::System),
            "tools" => Some(Field::Tools),
            "thinking" => Some(Field::Thinking),
            _ => None,
        }
    }
    /// Reads one entry; appends its parts, in order.
    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError>;
    /// A text element for a content list.
    fn text_block(&self, text: &str) -> String;
    /// A user-role message.
    fn user_message(&self, text: &str) -> String;
    /// The entry's member that holds its parts.
    fn content_key(&self) -> &'static str {
        "content"
    }
    /// A user-role message of these elements, separated by commas.
    fn user_blocks(&self, blocks: &str) -> String {
        format!(r#"{{"role":"user","{}":[{blocks}]}}"#, self.content_key())
    }
    /// What a result's payload is replaced by where it isn't a string, to say `text`.
    fn result_words(&self, _result: &Part<'_>, text: &str) -> String {
        quote(text)
    }
    /// Whether user and assistant must take turns, so that messages of one role can't stand side by side.
    fn alternates(&self) -> bool {
        false
    }
    /// The replacements that make `edits`, relative to the entry's own bytes.
    fn splices(&self, entry: Entry<'_>, edits: &[PartEdit]) -> Splices {
        splice::splices(self.as_dialect(), entry, edits)
    }
    /// Where system text may stand in mid-conversation.
    fn instructions(&self) -> Instructions {
        Instructions::Anywhere
    }
    /// Who must speak first.
    fn opening(&self) -> Opening {
        Opening::User
    }
    /// A medium's type, and its data or address.
    fn media(&self, part: &Part<'_>) -> (String, String) {
        (part.name().into_owned(), part.text().into_owned())
    }
    /// Whether a document's data may be plain text, or blocks of it.
    fn has_text_documents(&self) -> bool {
        false
    }
    /// Whether signed reasoning comes back encrypted, so that its bytes are no text.
    fn encrypts_reasoning(&self) -> bool {
        false
    }
    /// Whether Chat's `reasoning_content` carries reasoning back.
    fn has_reasoning_content(&self) -> bool {
        false
    }
    /// Whether reasoning is asked for by Anthropic's modes.
    fn has_thinking_modes(&self) -> bool {
        false
    }
    /// The `type` in the reasoning mode, where the format has Anthropic's modes.
    fn thinking_type(&self, _mode: &str) -> Option<String> {
        None
    }
    /// Whether the URL names the model, not the body.
    fn has_model_in_url(&self) -> bool {
        false
    }
    /// Which reasoning must come back while a tool loop is open.
    fn reasoning_kept(&self) -> ReasoningKept {
        ReasoningKept::NewestStep
    }
    /// Tokens of the longest reply that the request allows.
    fn reply_limit(&self, request: &Request) -> Option<u64>;
    /// Whether the model must call a tool.
    fn forces_call(&self, request: &Request) -> bool;
    /// Whether the reply must have a certain form.
    fn demands_form(&self, request: &Request) -> bool;
    /// Whether a compaction item hides what stands before it.
    fn compaction_hides(&self) -> bool {
        true
    }
    /// Whether a request may go on from items that the provider keeps.
    fn has_kept_items(&self) -> bool {
        false
    }
    /// Whether calls must stand right behind the user's side.
    fn calls_follow_user(&self) -> bool {
        false
    }
    /// Whether the part is volatile: a signature that a client may replace.
    fn is_replaceable_signature(&self, _part: &Part<'_>) -> bool {
        false
    }
    /// Whether the part only marks where a prompt cache ends.
    fn is_cache_marker(&self, _part: &Part<'_>) -> bool {
        false
    }
    /// The member with a call's id, or with the id of the call that a result answers.
    fn id_key(&self, kind: PartKind) -> &'static str;
    /// Whether all results of a turn must stand in one message.
    fn gathers_results(&self) -> bool {
        false
    }
    /// Itself, for what works on any dialect.
    fn as_dialect(&self) -> &dyn Dialect;
    /// A result that says that its call was never answered: a message of its own, or an element.
    fn missing_result(&self, id: &str, name: &str) -> MissingResult;
    /// The same for the call in `entry`.
    fn missing_answer(&self, _entry: Entry<'_>, call: &Part<'_>) -> MissingResult {
        self.missing_result(&call.id(), &call.name())
    }
    /// The member that holds a part's payload, where it has none yet.
    fn payload_key(&self, _entry: Entry<'_>, _part: &Part<'_>) -> &'static str {
        "content"
    }
    /// All breaches of the format's rules by the frame and the entries behind `past`.
    fn check(&self, request: &Request, past: &Past) -> Vec<Finding>;
    /// What the rules of entries ask the frame, as a text.
    fn asked_of_frame(&self, request: &Request) -> String;
    /// Notes what the rules must know of the entries behind `past`, in which nothing was found.
    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        for at in past.entries..transcript.len() {
            if begins_reply(transcript, at) {
                past.seam(at);
            }
        }
    }
}

/// The documented signature of a call that the model didn't make (PROVIDERS.md B.4).
pub(crate) const FOREIGN_CALL: &str = "skip_thought_signature_validator";

/// Where a format puts a result that has to be made up.
pub(crate) enum MissingResult {
    /// A message of its own.
    Message(String),
    /// An element of the next user message's content.
    Block(String),
}

/// Which reasoning must come back while a tool loop is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningKept {
    /// That of the newest step.
    NewestStep,
    /// That of all steps of the loop.
    Loop,
    /// That of the whole turn.
    Turn,
}
