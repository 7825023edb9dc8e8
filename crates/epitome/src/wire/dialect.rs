//! What differs between wire formats: each is one folder, and implements [`Dialect`].

use std::borrow::Cow;

use super::Feature;
use super::clean::{Past, begins_reply};
use super::conversion::{Conversion, message};
use super::neutral::{ParameterKey, Side};
use super::rules::Finding;
use super::shape::Shapes;
use crate::json::{JsonError, Scanner, quote};
use crate::request::{Keeper, Request};
use crate::transcript::{Entry, Part, PartKind, PartRow, Role, Transcript};
use crate::view::View;

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

/// Whether user and assistant must take turns, so that no messages of one role may stand side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// They needn't.
    Free,
    /// They must: no view sets any side by side.
    Demanded,
    /// Some of the format's models demand it, and this one may be one of them.
    Unknown,
}

/// What differs between formats whose entries are messages in a list.
pub(crate) trait Dialect: Conversion {
    /// Members of which every entry has one; a line without them isn't one.
    fn entry_keys(&self) -> &'static [&'static str] {
        &["role"]
    }
    /// Whether only an entry has this member, although it may also have the list's.
    fn is_of_entry(&self, _key: &str, _value: &str) -> bool {
        false
    }
    /// Reads one entry; appends its parts, in order.
    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError>;
    /// Whether user and assistant must take turns.
    fn turns(&self, _request: &Request) -> Turns {
        if self.has(Feature::Alternates) { Turns::Demanded } else { Turns::Free }
    }
    /// A user-role message.
    fn user_message(&self, text: &str) -> String {
        if self.has(Feature::StringContent) {
            return format!(r#"{{"role":"user","content":{}}}"#, quote(text));
        }
        self.user_blocks(&self.text_block(text))
    }
    /// A user-role message of these elements, separated by commas.
    fn user_blocks(&self, blocks: &str) -> String {
        message(self.terms(), Side::User, blocks)
    }
    /// What a result's payload is replaced by where it isn't a string, to say `text`.
    fn result_words(&self, _result: &Part<'_>, text: &str) -> String {
        quote(text)
    }
    /// A medium's type, and its data or address.
    fn media(&self, part: &Part<'_>) -> (String, String) {
        (part.name().into_owned(), part.text().into_owned())
    }
    /// The name of who speaks, where the format has one beside the role.
    fn speaker<'a>(&self, _entry: Entry<'a>) -> Option<Cow<'a, str>> {
        None
    }
    /// The `type` in the reasoning mode, where the format has Anthropic's modes.
    fn thinking_type(&self, _mode: &str) -> Option<String> {
        None
    }
    /// Tokens of the longest reply that the request allows.
    fn reply_limit(&self, request: &Request) -> Option<u64> {
        let limits = self.terms().parameters.iter().filter(|(key, _)| *key == ParameterKey::Most);
        let path = |path: &str| request.number(&path.split('.').collect::<Vec<_>>());
        limits.into_iter().find_map(|(_, limit)| path(limit))
    }
    /// Whether the model must call a tool.
    fn forces_call(&self, request: &Request) -> bool;
    /// Whether the reply must have a certain form.
    fn demands_form(&self, request: &Request) -> bool;
    /// Whether the part is volatile: a signature that a client may replace.
    fn is_replaceable_signature(&self, _part: &Part<'_>) -> bool {
        false
    }
    /// Whether the part only marks where a prompt cache ends.
    fn is_cache_marker(&self, _part: &Part<'_>) -> bool {
        false
    }
    /// The marker that a view's checkpoint takes over, as JSON: what it ended in the prompt's cache is folded.
    fn folded_marker<'a>(&self, _request: &'a Request, _view: &View) -> Option<&'a str> {
        None
    }
    /// A user-role message with such a marker.
    fn marked_message(&self, text: &str, _marker: &str) -> String {
        self.user_message(text)
    }
    /// The member with a call's id, or with the id of the call that a result answers.
    fn id_key(&self, kind: PartKind) -> &'static str;
    /// The member of a body that defines the tools that were called, where they must be defined.
    fn called_tools(&self, _transcript: &Transcript) -> Option<String> {
        None
    }
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
    /// The body that its provider's SDK would send; `None` if the request is for a server that accepts others.
    fn shapes(&self, _request: &Request) -> Option<&'static Shapes> {
        None
    }
    /// Breaches that only a look at a request asks for.
    fn inspect(&self, _request: &Request) -> Vec<Finding> {
        Vec::new()
    }
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
