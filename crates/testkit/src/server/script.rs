//! What the model answers.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::error::ApiError;
use super::prompt::{Choice, Compacts, Takes, Tool, Understood};
use super::rules::Call;
use super::{Api, count};

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Say {
    /// Words.
    Text(String),
    /// Reasoning, if the request lets the model reason.
    Think(String),
    /// Reasoning that the client can't read (Anthropic's `redacted_thinking`).
    Redacted,
    /// A call; text for a tool that takes text.
    Call {
        /// Which tool.
        name: String,
        /// With what.
        input: Value,
    },
    /// A web search that the provider runs itself, with its hits: title and address.
    Search {
        /// For what.
        query: String,
        /// What was found.
        found: Vec<(String, String)>,
    },
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// In order.
    pub say: Vec<Say>,
    /// The provider's stop reason, where it isn't the one that follows from what is said.
    pub stop: Option<String>,
    /// Silence before the first byte.
    pub wait: Duration,
    /// Silence before each further event of a stream.
    pub pace: Duration,
    /// Where it ends badly.
    pub broken: Option<Broken>,
}

/// A bad end: after so many events of a stream, or in the middle of a whole body.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// Events that are sent before.
    pub after: usize,
    /// An error in the stream; without one the connection is cut.
    pub fault: Option<Fault>,
}

/// A refusal that has nothing to do with what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429.
    RateLimited {
        /// Seconds for the `retry-after` header.
        retry_after: Option<u64>,
    },
    /// 529 (503 where the provider has no 529).
    Overloaded,
    /// 500.
    Internal,
    /// The provider's own words for a prompt over the window, whatever its size.
    Overflow,
    /// Anything.
    Other {
        /// HTTP status.
        status: u16,
        /// `type`, `status` or exception, where it isn't the one that follows from the status.
        kind: Option<String>,
        /// OpenAI's `code`.
        code: Option<String>,
        /// The text.
        message: String,
    },
}

/// What happens next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// An answer.
    Reply(Reply),
    /// A refusal.
    Fault(Fault),
}

impl Reply {
    /// An answer of words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { say: vec![Say::Text(text.into())], ..Self::default() }
    }

    /// An answer that calls a tool.
    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_call(name, input)
    }

    /// And another call, at the same time.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, input: Value) -> Self {
        self.say.push(Say::Call { name: name.into(), input });
        self
    }

    /// With reasoning first.
    #[must_use]
    pub fn thinking(mut self, words: impl Into<String>) -> Self {
        self.say.insert(0, Say::Think(words.into()));
        self
    }
}

impl From<Reply> for Next {
    fn from(reply: Reply) -> Self {
        Next::Reply(reply)
    }
}

impl From<Fault> for Next {
    fn from(fault: Fault) -> Self {
        Next::Fault(fault)
    }
}

impl Fault {
    /// In the words of a provider.
    pub fn error(&self, api: Api, understood: &Understood) -> ApiError {
        let is_openai = matches!(api, Api::Responses | Api::Chat);
        match self {
            Fault::RateLimited { retry_after } => {
                let text = match api {
                    Api::Anthropic => {
                        "This request would exceed your account's rate limit. Please try again later."
                    }
                    Api::Gemini | Api::Interactions => {
                        "Resource has been exhausted (e.g. check quota)."
                    }
                    Api::Converse => "Too many requests, please wait before trying again.",
                    _ => "Rate limit reached for requests. Please try again later.",
                };
                let mut error = ApiError::new(api, 429, text);
                if is_openai {
                    "requests".clone_into(&mut error.kind);
                    error = error.code("rate_limit_exceeded");
                }
                error.retry_after = *retry_after;
                error
            }
            Fault::Overloaded => match api {
                Api::Anthropic => ApiError::new(api, 529, "Overloaded"),
                Api::Gemini | Api::Interactions => {
                    ApiError::new(api, 503, "The model is overloaded. Please try again later.")
                }
                _ => ApiError::new(
                    api,
                    503,
                    "The server is currently overloaded. Please try again later.",
                )
                .code("server_is_overloaded"),
            },
            Fault::Internal => match api {
                Api::Anthropic => ApiError::new(api, 500, "Internal server error"),
                Api::Gemini | Api::Interactions => {
                    ApiError::new(api, 500, "An internal error has occurred. Please retry.")
                }
                _ => ApiError::new(
                    api,
                    500,
                    "The server had an error while processing your request. Sorry about that!",
                )
                .code("server_error"),
            },
            Fault::Overflow => {
                let window = understood.model.window;
                let tokens = understood.prompt.tokens().max(window + 1);
                match api {
                    Api::Anthropic => {
                        ApiError::invalid(api, format!("prompt is too long: {tokens} tokens > {window} maximum"))
                    }
                    Api::Responses => ApiError::invalid(
                        api,
                        "Your input exceeds the context window of this model. Please adjust your input and try again.",
                    )
                    .code("context_length_exceeded")
                    .param("input"),
                    Api::Chat => ApiError::invalid(
                        api,
                        format!(
                            "This model's maximum context length is {window} tokens. However, your messages resulted in \
                             {tokens} tokens. Please reduce the length of the messages."
                        ),
                    )
                    .code("context_length_exceeded")
                    .param("messages"),
                    Api::Gemini | Api::Interactions => ApiError::invalid(
                        api,
                        format!(
                            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
                        ),
                    ),
                    Api::Converse => ApiError::invalid(api, "Input is too long for requested model."),
                }
            }
            Fault::Other { status, kind, code, message } => {
                let mut error = ApiError::new(api, *status, message);
                if let Some(kind) = kind {
                    error.kind.clone_from(kind);
                }
                error.code.clone_from(code);
                error
            }
        }
    }
}

/// What a script is told of a request.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The request.
    pub call: &'a Call<'a>,
    /// What was understood of it.
    pub understood: &'a Understood,
}

/// Says what the model answers next. Any closure over [`Seen`] is one.
pub trait Script: Send {
    /// The answer to this request.
    fn next(&mut self, seen: &Seen<'_>) -> Next;
}

impl<F> Script for F
where
    F: FnMut(&Seen<'_>) -> Next + Send,
{
    fn next(&mut self, seen: &Seen<'_>) -> Next {
        self(seen)
    }
}

/// Calls tools for some steps of each turn, then finishes: enough for the loop of any agent.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Steps with calls in each turn.
    pub steps: usize,
    /// Calls in each step.
    pub parallel: usize,
    /// The tool; the first that a client runs, where none is named.
    pub tool: Option<String>,
    /// What it is called with; made up from its schema, where nothing is given.
    pub input: Option<Value>,
    /// What is thought before each step, where the request lets the model reason.
    pub think: Option<String>,
    /// The last words of a turn.
    pub finish: String,
}

impl Default for Loop {
    fn default() -> Self {
        Self {
            steps: 3,
            parallel: 1,
            tool: None,
            input: None,
            think: Some("I look at what is there before I say anything.".to_owned()),
            finish: "Done: everything that was asked for is in place.".to_owned(),
        }
    }
}

impl Script for Loop {
    fn next(&mut self, seen: &Seen<'_>) -> Next {
        let understood = seen.understood;
        if understood.compacts == Compacts::Alone {
            return Next::Reply(Reply::default());
        }
        let mut say: Vec<Say> = self.think.iter().map(|words| Say::Think(words.clone())).collect();
        let steps = understood.talk.steps;
        let wanted = match (&understood.choice, &self.tool) {
            (Choice::None, _) => None,
            (Choice::Named(name), _) | (_, Some(name)) => {
                understood.tools.iter().find(|tool| tool.name == *name)
            }
            _ => understood.tools.iter().find(|tool| tool.takes != Takes::Nothing),
        };
        let is_forced = matches!(understood.choice, Choice::Any | Choice::Named(_));
        match wanted {
            Some(tool) if steps < self.steps || is_forced => {
                say.push(Say::Text(format!("Step {}: I use {}.", steps + 1, tool.name)));
                for n in 0..self.parallel.max(1) {
                    let number = steps * self.parallel + n + 1;
                    let input = self.input.clone().unwrap_or_else(|| made_up(tool, number));
                    say.push(Say::Call { name: tool.name.clone(), input });
                }
            }
            _ => say.push(Say::Text(self.finish.clone())),
        }
        Next::Reply(Reply { say, ..Reply::default() })
    }
}

/// Answers one after the other, then as another script says.
///
/// Agents ask for titles and summaries on the side, without tools; such requests are answered by the other
/// script and take nothing from the queue, if some answer in it calls a tool.
pub struct Queue {
    next: VecDeque<Next>,
    for_tools: bool,
    then: Box<dyn Script>,
}

impl Queue {
    /// These answers, then the default [`Loop`]'s last words.
    pub fn new(next: impl IntoIterator<Item = Next>) -> Self {
        Self::followed_by(next, Loop { steps: 0, ..Loop::default() })
    }

    /// These answers, then another script.
    pub fn followed_by(next: impl IntoIterator<Item = Next>, then: impl Script + 'static) -> Self {
        let next: VecDeque<Next> = next.into_iter().collect();
        let calls = |next: &Next| match next {
            Next::Reply(reply) => reply.say.iter().any(|say| matches!(say, Say::Call { .. })),
            Next::Fault(_) => false,
        };
        let for_tools = next.iter().any(calls);
        Self { next, for_tools, then: Box::new(then) }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Script for Queue {
    fn next(&mut self, seen: &Seen<'_>) -> Next {
        let is_aside = self.for_tools && seen.understood.tools.is_empty()
            || seen.understood.compacts == Compacts::Alone;
        let next = if is_aside { None } else { self.next.pop_front() };
        next.unwrap_or_else(|| self.then.next(seen))
    }
}

/// Input that a tool's schema allows: required properties only, the plainest value of each.
pub fn made_up(tool: &Tool, number: usize) -> Value {
    match &tool.takes {
        Takes::Json(schema) => match sample(schema, number, 0) {
            Value::Object(map) => Value::Object(map),
            _ => json!({}),
        },
        _ => json!(format!("input {number}")),
    }
}

fn sample(schema: &Value, number: usize, depth: usize) -> Value {
    if let Some(value) =
        schema.get("const").or_else(|| schema.get("default")).filter(|value| !value.is_null())
    {
        return value.clone();
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[key].as_array().and_then(|all| all.first()) {
            return sample(first, number, depth + 1);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        kind => kind.as_str().unwrap_or(if schema["properties"].is_object() {
            "object"
        } else {
            "string"
        }),
    };
    match kind.to_ascii_lowercase().as_str() {
        "object" => {
            let mut map = Map::new();
            for name in
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
            {
                if depth < 8 {
                    map.insert(
                        name.to_owned(),
                        sample(&schema["properties"][name], number, depth + 1),
                    );
                }
            }
            Value::Object(map)
        }
        "array" if schema["minItems"].as_u64().unwrap_or(1) > 0 && depth < 8 => {
            json!([sample(&schema["items"], number, depth + 1)])
        }
        "array" => json!([]),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(number)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!(format!("value {number}")),
    }
}

/// Tokens of what is said: all of it, and the reasoning in it.
pub(crate) fn tokens(say: &[Say], thinks: bool) -> (u64, u64) {
    let (mut all, mut reasoning) = (0, 0);
    for say in say {
        let own = match say {
            Say::Text(text) => count::text(text),
            Say::Think(text) if thinks => count::text(text),
            Say::Redacted if thinks => count::ELEMENT,
            Say::Think(_) | Say::Redacted => continue,
            Say::Call { name, input: Value::String(text) } => count::text(name) + count::text(text),
            Say::Call { name, input } => count::text(name) + count::text(&input.to_string()),
            Say::Search { query, .. } => count::text(query),
        };
        all += own;
        if matches!(say, Say::Think(_) | Say::Redacted) {
            reasoning += own;
        }
    }
    (all, reasoning)
}
