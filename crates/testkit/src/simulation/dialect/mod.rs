//! What a client writes in each format, and how it takes what it is answered.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod interactions;
mod responses;

use epitome::wire::Format;
use serde_json::Value;

use epitome_bench::dice::Dice;

/// How a client treats what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// It says the same again, because some model of its binds its reasoning to it.
    Careful,
    /// It writes parts of it anew with every request.
    Sloppy,
}

/// How its model reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As the model likes.
    Adaptive,
    /// Enabled by hand: an open loop starts with reasoning.
    Manual,
}

/// Two models that a client switches between: the first has the larger window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) models: [&'static str; 2],
    pub(super) habit: Habit,
    pub(super) mode: Mode,
}

const fn pair(models: [&'static str; 2], habit: Habit) -> Pair {
    Pair { models, habit, mode: Mode::Adaptive }
}

/// A call that nobody answered yet.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) id: String,
    pub(super) name: String,
}

/// A request as a client is about to write it.
pub(super) struct Page<'a> {
    pub(super) model: &'a str,
    pub(super) pair: Pair,
    pub(super) history: &'a [Value],
}

/// A format, as clients speak it.
pub(super) trait Dialect: Sync {
    fn format(&self) -> Format;

    /// Where requests for `model` go.
    fn path(&self, model: &str) -> String;

    fn pairs(&self) -> &'static [Pair];

    /// A message of the user's.
    fn words(&self, words: String) -> Value;

    /// Results of calls, and what the user says besides.
    fn results(&self, results: Vec<(Open, String)>, words: Option<String>) -> Vec<Value>;

    /// Whether the model said it.
    fn is_reply(&self, message: &Value) -> bool {
        message["role"] == "assistant"
    }

    /// Whether a history without open calls may end with it.
    fn closes(&self, message: &Value) -> bool {
        self.is_reply(message)
    }

    /// The calls in a message of the model's.
    fn calls(&self, message: &Value) -> Vec<Open>;

    /// What an answer adds to the history.
    fn said(&self, answer: &Value) -> Vec<Value>;

    /// The request: with markers, notes and nonces, as clients put them.
    fn body(&self, page: &Page<'_>, dice: &mut Dice) -> Value;

    /// Tools, system and messages of a request, without what clients change for one request only.
    fn elements(&self, body: &Value) -> Vec<Value>;

    /// What becomes of a history when a session is taken up again: the same, written otherwise.
    fn resume(&self, history: &mut [Value]);
}

/// All formats.
pub(super) const DIALECTS: [&dyn Dialect; 6] = [
    &anthropic::Anthropic,
    &chat::Chat,
    &responses::Responses,
    &gemini::Gemini,
    &converse::Converse,
    &interactions::Interactions,
];

/// The members of a list that is somewhere in `value`.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The blocks of a content: a string is a list of one text, which `block` makes.
fn blocks(content: &Value, block: impl Fn(&str) -> Value) -> Value {
    match content.as_str() {
        Some(words) => Value::Array(vec![block(words)]),
        None => content.clone(),
    }
}
