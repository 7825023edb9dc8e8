//! Messages to contents, as the agent sends them when it resumes a session.

use std::borrow::Cow;
use std::collections::HashSet;

use super::log::Message;
use crate::body::moment;
use crate::neutral::UNSIGNED;
use crate::notes::{About, Notes};
use crate::object::{Object, elements};
use crate::recording::Why;
use crate::usage::{Counted, Names, Usage};

/// Contents in the order of what was said.
#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    pub(super) all: Vec<Content<'a>>,
    /// Calls that have a result.
    answered: HashSet<String>,
}

/// A content.
#[derive(Debug)]
pub(super) struct Content<'a> {
    role: Role,
    parts: Vec<Cow<'a, str>>,
    /// As it stands, if it was saved so.
    saved: Option<&'a str>,
    pub(super) usage: Option<Counted<'a>>,
    /// When it was said, in milliseconds since 1970.
    pub(super) time: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Model,
}

impl<'a> Content<'a> {
    fn new(role: Role, parts: Vec<Cow<'a, str>>) -> Self {
        Content { role, parts, saved: None, usage: None, time: None }
    }

    /// The content as the request has it.
    pub(super) fn raw(&self) -> Cow<'a, str> {
        if let Some(saved) = self.saved {
            return Cow::Borrowed(saved);
        }
        let role = match self.role {
            Role::User => "user",
            Role::Model => "model",
        };
        Cow::Owned(format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", self.parts.join(",")))
    }

    /// Whether a person's turn begins here: text, and no result.
    fn begins_a_turn(&self) -> bool {
        let has = |name: &str| self.parts.iter().any(|part| Object::of(part).get(name).is_some());
        self.role == Role::User && has("text") && !has("functionResponse")
    }
}

impl<'a> Contents<'a> {
    /// Takes contents as they stand.
    pub(super) fn saved(&mut self, contents: &[&'a str]) {
        let contents = contents.iter().filter(|content| content.starts_with('{'));
        self.all.extend(contents.map(|content| Content {
            saved: Some(content),
            ..Content::new(Role::User, Vec::new())
        }));
    }

    /// Appends a message; `is_answered` if the model's follows.
    pub(super) fn message(&mut self, message: &Message<'a>, is_answered: bool, notes: &mut Notes) {
        let before = self.all.len();
        self.said(message, is_answered, notes);
        let time = moment(message.fields.get("timestamp"));
        for content in &mut self.all[before..] {
            content.time = time;
        }
    }

    fn said(&mut self, message: &Message<'a>, is_answered: bool, notes: &mut Notes) {
        let parts = parts(message.fields.get("content"));
        if message.is_reply() {
            return self.reply(message, parts, notes);
        }
        // The agent writes results twice: with the calls, and as a message.
        let all = parts.len();
        let parts: Vec<Cow<'a, str>> =
            parts.into_iter().filter(|part| self.is_news(part)).collect();
        if parts.is_empty() && all > 0 {
            return;
        }
        let words: String = parts.iter().filter_map(|part| Object::of(part).text("text")).collect();
        let is_blank = words.trim().is_empty() && parts.iter().all(|part| is_text(part));
        // What begins so is for the agent, unless the model was asked all the same.
        let is_command = words.trim_start().starts_with(['/', '?']) && !is_answered;
        if is_blank || is_command {
            let why = if is_blank { Why::NoContent } else { Why::Command };
            return notes.skip(message.row, why);
        }
        self.all.push(Content::new(Role::User, parts));
    }

    fn reply(&mut self, message: &Message<'a>, content: Vec<Cow<'a, str>>, notes: &mut Notes) {
        let fields = &message.fields;
        let calls: Vec<Object<'a>> =
            fields.list("toolCalls").unwrap_or_default().into_iter().map(Object::of).collect();
        let has = |name: &str| content.iter().any(|part| Object::of(part).get(name).is_some());
        // Newer messages may have all parts as they were sent; then their calls are told twice.
        let is_whole = has("functionCall") || has("thought");
        if has("thought") || fields.list("thoughts").is_some_and(|thoughts| !thoughts.is_empty()) {
            notes.take(message.row, About::UnsentReasoning);
        }
        let said = content.into_iter().filter(|part| !is_blank(part) && !is_thought(part));
        let made = calls.iter().filter(|_| !is_whole).filter_map(call).map(Cow::Owned);
        let parts: Vec<Cow<'a, str>> = said.chain(made).collect();
        if parts.is_empty() {
            return notes.skip(message.row, Why::NoContent);
        }
        let usage = fields.get("tokens").and_then(|raw| Usage::read(raw, Names::GEMINI_CLI));
        let usage = usage.map(|usage| usage.by(fields.literal("model")));
        self.all.push(Content { usage, ..Content::new(Role::Model, parts) });
        let results: Vec<Cow<'a, str>> = calls.iter().flat_map(|call| self.results(call)).collect();
        if !results.is_empty() {
            self.all.push(Content::new(Role::User, results));
        }
    }

    /// The parts that answer a call.
    fn results(&mut self, call: &Object<'a>) -> Vec<Cow<'a, str>> {
        let Some(result) = call.get("result") else { return Vec::new() };
        if result.starts_with('"') {
            let response = format!("{{\"output\":{result}}}");
            let part =
                format!("{{\"functionResponse\":{{{}\"response\":{response}}}}}", names(call));
            return if self.is_news(&part) { vec![Cow::Owned(part)] } else { Vec::new() };
        }
        // All results of a turn may stand with each of its calls.
        let parts = parts(Some(result));
        parts.into_iter().filter(|part| self.is_news(part)).collect()
    }

    /// Whether a part isn't a result that is there already.
    fn is_news(&mut self, part: &str) -> bool {
        let response = Object::of(part).object("functionResponse");
        response.literal("id").is_none_or(|id| self.answered.insert(id.to_owned()))
    }

    /// Marks the calls of the newest turn that have no signature, as the agent does: the provider
    /// wants one with the first call of each message.
    pub(super) fn sign_open_loop(&mut self) {
        let Some(start) = self.all.iter().rposition(Content::begins_a_turn) else { return };
        for content in self.all[start..].iter_mut().filter(|content| content.role == Role::Model) {
            let is_call = |part: &&mut Cow<'a, str>| Object::of(part).get("functionCall").is_some();
            let Some(first) = content.parts.iter_mut().find(is_call) else { continue };
            if Object::of(first).literal("thoughtSignature").is_some() {
                continue;
            }
            if let Some(open) = first.strip_suffix('}') {
                *first = Cow::Owned(format!("{open},\"thoughtSignature\":{UNSIGNED}}}"));
            }
        }
    }
}

/// A content's parts: a string, a part, or a list of either.
fn parts(content: Option<&str>) -> Vec<Cow<'_, str>> {
    let part = |raw: &str| format!("{{\"text\":{raw}}}");
    let one = |raw| match str::as_bytes(raw).first() {
        Some(b'"') => Some(Cow::Owned(part(raw))),
        Some(b'{') => Some(Cow::Borrowed(raw)),
        _ => None,
    };
    match content {
        None => Vec::new(),
        Some(content) => match elements(content) {
            Some(parts) => parts.into_iter().filter_map(one).collect(),
            None => one(content).into_iter().collect(),
        },
    }
}

fn is_text(part: &str) -> bool {
    Object::of(part).get("text").is_some()
}

fn is_blank(part: &str) -> bool {
    Object::of(part).text("text").is_some_and(|text| text.trim().is_empty())
}

/// The agent doesn't send the model's thoughts again.
fn is_thought(part: &str) -> bool {
    Object::of(part).holds("thought")
}

fn call(fields: &Object<'_>) -> Option<String> {
    fields.literal("name")?;
    let args = fields.get("args").filter(|args| args.starts_with('{')).unwrap_or("{}");
    Some(format!("{{\"functionCall\":{{{}\"args\":{args}}}}}", names(fields)))
}

/// The members that name a call.
fn names(fields: &Object<'_>) -> String {
    let member = |name: &str| fields.literal(name).map(|value| format!("\"{name}\":{value},"));
    ["id", "name"].into_iter().filter_map(member).collect()
}
