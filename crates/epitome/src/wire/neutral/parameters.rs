//! How the model is to answer, by what is said of it in more than one format.

use serde_json::{Value, json};

use crate::wire::{Feature, Terms};

/// Parameters, each by its key.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) values: Vec<(ParameterKey, Value)>,
    pub(crate) choice: Option<ToolChoice>,
    /// The required form of the answer: an object with a `type`, and the members beside a schema. As written, since the model
    /// reads a schema's members in order.
    pub(crate) form: Option<String>,
    /// Whether several tools may be called at once.
    pub(crate) parallel: Option<bool>,
}

/// A parameter that several formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKey {
    /// The most tokens of an answer.
    Most,
    Temperature,
    TopP,
    TopK,
    /// Words that end the answer.
    Stop,
    Seed,
    Presence,
    Frequency,
    Stream,
    /// How long to think.
    Effort,
    /// Whether the provider keeps the answer.
    Store,
    /// What takes any value, under one name.
    Shared(&'static str),
}

/// Which tool is to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    Auto,
    None,
    Any,
    Tool(String),
}

impl ToolChoice {
    /// Of a word for it.
    pub(crate) fn of_word(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some("auto") => Some(ToolChoice::Auto),
            Some("none") => Some(ToolChoice::None),
            Some("required" | "any") => Some(ToolChoice::Any),
            _ => None,
        }
    }

    /// Of a tool's name.
    pub(crate) fn of_name(value: &Value) -> Option<Self> {
        value.as_str().map(|name| ToolChoice::Tool(name.to_owned()))
    }
}

impl ParameterKey {
    /// Whether a format takes a value for this parameter that another took.
    pub(crate) fn takes(self, value: &Value, terms: &Terms) -> bool {
        match self {
            ParameterKey::Most => value.as_u64().is_some_and(|most| most >= terms.least_limit),
            ParameterKey::Temperature => {
                value.as_f64().is_some_and(|warmth| terms.temperatures.contains(&warmth))
            }
            ParameterKey::TopP | ParameterKey::Presence | ParameterKey::Frequency => {
                value.is_number()
            }
            ParameterKey::TopK | ParameterKey::Seed => value.is_i64() || value.is_u64(),
            ParameterKey::Stop => {
                let is_said = |one: &Value| one.as_str().is_none_or(|word| !word.trim().is_empty());
                let must_say = terms.features.contains(&Feature::SpokenStops);
                value.as_array().is_some_and(|all| {
                    (1..=terms.most_stops).contains(&all.len())
                        && (!must_say || all.iter().all(is_said))
                })
            }
            ParameterKey::Stream | ParameterKey::Store => value.is_boolean(),
            ParameterKey::Effort => value.is_string(),
            ParameterKey::Shared(_) => true,
        }
    }
}

impl Parameters {
    /// The tool that is named, where one must be called.
    pub(crate) fn named_mut(&mut self) -> Option<&mut String> {
        match &mut self.choice {
            Some(ToolChoice::Tool(name)) => Some(name),
            _ => None,
        }
    }

    /// Sets the maximum length of an answer, if none is set.
    pub(crate) fn at_most(&mut self, tokens: Option<u64>) {
        if let Some(tokens) = tokens.filter(|_| !self.says_most()) {
            self.values.push((ParameterKey::Most, json!(tokens)));
        }
    }

    /// Whether it is said how long an answer may be.
    pub(crate) fn says_most(&self) -> bool {
        self.values.iter().any(|(key, _)| *key == ParameterKey::Most)
    }
}
