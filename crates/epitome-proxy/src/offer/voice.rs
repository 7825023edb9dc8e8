//! What the replies of an API have in common for whoever weaves several of them into one.

use serde_json::Value;

use super::is_ours;
use super::verbatim::Verbatim;
use crate::sse::data;

/// A call of the model's for what was hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecallCall {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON.
    pub(super) arguments: String,
}

impl RecallCall {
    /// Of a call, if it is one.
    pub(super) fn of(id: &Verbatim, name: &Verbatim, arguments: String) -> Option<Self> {
        let text = |value: &Verbatim| value.as_str().unwrap_or_default().to_owned();
        let name = text(name);
        is_ours(&name).then(|| RecallCall { id: text(id), name, arguments })
    }
}

/// A model's round that recalls: the items that go back to it, and the calls to answer.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(super) said: Vec<Verbatim>,
    pub(super) calls: Vec<RecallCall>,
    /// Where the provider ran code in it, and goes on.
    pub(super) container: Option<String>,
}

/// The replies of one API to one request of a client, heard one after the other. The client is told one reply.
pub(crate) trait Voice: Send + Sync {
    /// An event came; what the client is told.
    fn event(&mut self, one: &str) -> String;

    /// A whole reply came; what the client is told, unless it recalls.
    fn whole(&mut self, reply: Verbatim) -> Option<Verbatim>;

    /// Whether the round ended properly, and recalls.
    fn recalls_wholly(&self) -> bool;

    /// What was said since it was asked last, if it recalls.
    fn round(&mut self) -> Option<Round>;

    /// Events that are held back.
    fn rest(&mut self) -> String;

    /// The items that go back to the model after its own: an answer to each call.
    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value>;
}

/// What an event says, if it is an object.
pub(super) fn said(event: &str) -> Option<Verbatim> {
    Verbatim::read(&data(event)?).filter(Verbatim::is_object)
}

/// Takes the tools of recall out of a reply, which may say all that were offered.
pub(super) fn without_offer(reply: &mut Verbatim) {
    let is_offered = |tool: &Verbatim| tool["name"].as_str().is_some_and(is_ours);
    if reply["tools"].values().iter().any(is_offered)
        && let Some(tools) = reply.get_mut("tools").and_then(Verbatim::as_list_mut)
    {
        tools.retain(|tool| !is_offered(tool));
    }
}

/// The sum of two reports: numbers add up, of all else the newer one holds.
pub(super) fn summed(one: &Value, two: &Value) -> Value {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let mut all = one.clone();
            for (name, value) in two {
                let sum = summed(one.get(name).unwrap_or(&Value::Null), value);
                all.insert(name.clone(), sum);
            }
            Value::Object(all)
        }
        (Value::Number(one), Value::Number(two)) => match (one.as_u64(), two.as_u64()) {
            (Some(one), Some(two)) => Value::from(one.saturating_add(two)),
            _ => Value::from(one.as_f64().unwrap_or(0.0) + two.as_f64().unwrap_or(0.0)),
        },
        (one, Value::Null) => one.clone(),
        (_, two) => two.clone(),
    }
}

/// What stands between the words of two rounds, which are one text to the client.
pub(super) fn parting(before: &str, words: &str) -> &'static str {
    let is_apart = before.ends_with(char::is_whitespace) || words.starts_with(char::is_whitespace);
    if before.is_empty() || words.is_empty() || is_apart { "" } else { "\n\n" }
}

/// An event with its data, of which each line is one of the event's.
pub(super) fn sent(name: &str, data: &Verbatim) -> String {
    let data = data.to_string().replace('\n', "\ndata: ");
    if name.is_empty() {
        return format!("data: {data}\n\n");
    }
    format!("event: {name}\ndata: {data}\n\n")
}
