//! What is said in a request, as all formats can say it, so that a converted one can be held against it; and
//! whether its new provider takes it.

use std::collections::{BTreeMap, HashMap};

use epitome::convert::{Converted, Goal};
use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, Marks, Part, PartKind, Role};
use epitome::wire::{self, Format, Request};
use serde_json::Value;

use crate::accepted::accepted;
use crate::server::{Api, Call, Judge};

/// What all formats can say: runs of one side, and the results by their calls. Ids don't count here, pairing
/// does; nor do the boundaries of messages within a run, blank words, reminders, notes of what couldn't be
/// carried over, how words are divided into blocks, and where between a reply's words its calls stand.
#[derive(Debug, Default, PartialEq)]
pub struct ConversationContent {
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// The results: by the number of their calls.
    pub results: BTreeMap<usize, Answer>,
}

/// What one side says in a row.
#[derive(Debug, Default, PartialEq)]
pub struct Run {
    side: &'static str,
    words: String,
    /// How many of the user's messages say words, where both formats let them stand apart.
    messages: usize,
    images: usize,
    documents: usize,
    calls: Vec<(String, Value)>,
}

/// What came of a call.
#[derive(Debug, PartialEq)]
pub struct Answer {
    failed: bool,
    words: String,
    images: usize,
}

/// What both formats of a way can say beside words and calls.
#[derive(Clone, Copy, Debug)]
pub struct Tongue {
    failures: bool,
    media_in_results: bool,
    messages: bool,
}

impl Tongue {
    /// Of a way from one format to another, or there and back.
    pub fn of(formats: [Format; 2]) -> Self {
        let has = |format| formats.contains(&format);
        Tongue {
            failures: !has(Format::OpenaiChat) && !has(Format::OpenaiResponses),
            media_in_results: !has(Format::OpenaiChat),
            messages: !has(Format::Bedrock),
        }
    }
}

/// What `request` says, as far as `tongue` can.
///
/// # Panics
/// If a result has no call; repair first.
pub fn said(request: &Request, tongue: Tongue) -> ConversationContent {
    let units = Units::of(&request.transcript, request.format.instructions());
    let mut calls = HashMap::new();
    let mut all = ConversationContent::default();
    for entry in request.transcript.entries() {
        let side = match entry.role() {
            Role::User | Role::Tool => "user",
            Role::Assistant => "model",
            // Where they may stand differs between formats.
            Role::System | Role::Developer | Role::Other => continue,
        };
        let parts: Vec<Part<'_>> = entry.parts().collect();
        let speaks = |p: &Part<'_>| {
            let is_said = p.kind() == PartKind::Text || written(p).is_some() || found(p).is_some();
            is_said && !p.is(Marks::NESTED) && !is_note(&p.text())
        };
        if tongue.messages && side == "user" && parts.iter().any(speaks) {
            all.run(side).messages += 1;
        }
        for (at, part) in parts.iter().enumerate() {
            if part.is(Marks::NESTED) || part.is(Marks::SERVER) {
                continue;
            }
            match part.kind() {
                PartKind::Text => all.words(side, &part.text()),
                PartKind::Opaque
                    if request.format == Format::OpenaiChat && part.raw().starts_with('"') =>
                {
                    all.words(side, &epitome::wire::json::unquote(part.raw()));
                }
                PartKind::Opaque if found(part).is_some() => {
                    all.words(side, &found(part).unwrap_or_default());
                }
                PartKind::Media if written(part).is_some() => {
                    all.words(side, &written(part).unwrap_or_default());
                }
                PartKind::Media if side == "user" && is_carried(part) => {
                    let run = all.run(side);
                    let media = if is_image(part) { &mut run.images } else { &mut run.documents };
                    *media += 1;
                }
                PartKind::Call => {
                    calls.insert(part.slot, calls.len());
                    let name = called(part, entry.raw());
                    all.run(side).calls.push((name, arguments(&part.text())));
                }
                PartKind::Result => {
                    let Some(call) = units.call_of(part.slot) else { continue };
                    let inner: Vec<_> =
                        parts[at + 1..].iter().take_while(|p| p.is(Marks::NESTED)).collect();
                    let images = inner.iter().filter(|p| is_shown(p)).count();
                    let answer = Answer {
                        failed: tongue.failures && part.is(Marks::ERROR),
                        words: words(request, part, &inner),
                        images: if tongue.media_in_results { images } else { 0 },
                    };
                    all.results.insert(calls[&call], answer);
                }
                _ => {}
            }
        }
    }
    all
}

impl ConversationContent {
    fn run(&mut self, side: &'static str) -> &mut Run {
        if self.runs.last().is_none_or(|last| last.side != side) {
            self.runs.push(Run { side, ..Run::default() });
        }
        self.runs.last_mut().expect("one was just pushed")
    }

    fn words(&mut self, side: &'static str, text: &str) {
        if !is_note(text) {
            let run = self.run(side);
            run.words += unwrapped(text.trim());
            run.words.push('\n');
        }
    }
}

/// Blank, a reminder, or in place of something.
fn is_note(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with("<system-reminder>")
        || text.starts_with("[not carried over:")
        || text.starts_with("[no message stands before this one")
}

/// The words of a document that is plain text.
fn written(part: &Part<'_>) -> Option<String> {
    if part.kind() != PartKind::Media {
        return None;
    }
    let value: Value = serde_json::from_str(part.raw()).ok()?;
    let source = &value["source"];
    let words = if source["type"] == "text" { &source["data"] } else { &source["text"] };
    words.as_str().map(|words| words.trim().to_owned())
}

/// A search result, as it is said in words.
fn found(part: &Part<'_>) -> Option<String> {
    let value: Value = serde_json::from_str(part.raw()).ok()?;
    let is_result = part.kind() == PartKind::Opaque && value["type"] == "search_result";
    let block = if is_result { &value } else { value.get("searchResult")? };
    let texts = block["content"].as_array()?.iter().filter_map(|text| text["text"].as_str());
    let head = format!("{} ({})", block["title"].as_str()?, block["source"].as_str()?);
    Some([head.as_str()].into_iter().chain(texts).collect::<Vec<_>>().join("\n"))
}

/// A document's words where they stand as text.
fn unwrapped(text: &str) -> &str {
    let inside = text.strip_prefix("<document").and_then(|rest| rest.strip_suffix("\n</document>"));
    inside.and_then(|inside| inside.split_once(">\n")).map_or(text, |(_, words)| words.trim())
}

fn is_image(part: &Part<'_>) -> bool {
    let name = part.name();
    name.contains("image") || matches!(name.as_ref(), "png" | "jpeg" | "gif" | "webp")
}

/// An image or document with its bytes, which every format shows in what the user says.
fn is_carried(part: &Part<'_>) -> bool {
    is_shown(part) || part.kind() == PartKind::Media && plain(part).contains("JVBERi0")
}

/// An image with its bytes: those of a PNG.
fn is_shown(part: &Part<'_>) -> bool {
    part.kind() == PartKind::Media && plain(part).contains("iVBORw0KGgo")
}

/// The part without its author's escapes.
fn plain(part: &Part<'_>) -> String {
    serde_json::from_str::<Value>(part.raw()).map_or(String::new(), |value| value.to_string())
}

/// The arguments, whether they had to be put into an object or not.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Value::String(text.to_owned());
    };
    match &value {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(members) if members.len() == 1 => {
            match (members.get("input"), members.get("value")) {
                (Some(Value::String(inner)), _) | (_, Some(Value::String(inner))) => {
                    arguments(inner)
                }
                (_, Some(inner)) => inner.clone(),
                _ => value,
            }
        }
        Value::String(inner) => arguments(inner),
        _ => value,
    }
}

/// The words of a result; lists by line.
fn words(request: &Request, part: &Part<'_>, inner: &[&Part<'_>]) -> String {
    let is_list = part.raw_body().starts_with('[') && !part.is(Marks::LITERAL);
    let texts: Vec<String> = if request.format == Format::Gemini || !is_list && inner.is_empty() {
        let text = part.text();
        let is_nothing = !part.is(Marks::LITERAL) && matches!(text.as_ref(), "null" | "{}");
        text.lines().filter(|_| !is_nothing).map(str::to_owned).collect()
    } else {
        let json = |part: &Part<'_>| {
            let value: Value = serde_json::from_str(part.raw()).ok()?;
            value.get("json").map(ToString::to_string)
        };
        let said = inner.iter().filter_map(|part| match part.kind() {
            PartKind::Text => Some(unwrapped(&part.text()).to_owned()),
            PartKind::Media => written(part),
            PartKind::Opaque if found(part).is_some() => found(part),
            PartKind::Opaque if request.format == Format::Bedrock => json(part),
            _ => None,
        });
        said.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let texts: Vec<&str> = texts.iter().map(|line| line.trim()).collect();
    let texts: Vec<&str> = texts.into_iter().filter(|line| !is_note(line)).collect();
    texts.join("\n")
}

/// A model of each provider that takes long prompts.
pub fn model(format: Format) -> &'static str {
    match format {
        Format::OpenaiChat => "gpt-4.1",
        Format::OpenaiResponses => "gpt-6-sol",
        Format::Gemini => "gemini-3.1-pro-preview",
        Format::GeminiInteractions => "gemini-3.8-flash",
        _ => "claude-sonnet-4-6",
    }
}

/// The one name of a tool that is called: Responses may have it in a namespace, which others have no member for.
fn called(call: &Part<'_>, item: &str) -> String {
    let item: serde_json::Value = serde_json::from_str(item).unwrap_or_default();
    let name = call.name().trim_end_matches("_call").to_owned();
    match item["namespace"].as_str().map(|space| space.trim_end_matches('_')) {
        Some(space) if !space.is_empty() => format!("{space}__{name}"),
        _ => name,
    }
}

/// Converts, and holds the result against the format's rules and the scripted server's.
///
/// # Errors
/// What any of them says against it.
pub fn converted(request: &Request, to: Format) -> Result<(Converted, Request), String> {
    let goal = Goal { model: Some(model(to)), max_output: Some(1024), ..Goal::from(to) };
    let converted = epitome::convert::convert(request, goal);
    let text = &converted.text;
    let written = wire::parse(to, text.clone()).map_err(|error| format!("{error}: {text}"))?;
    let found = wire::check(&written);
    if written.transcript.is_empty() {
        // Nothing in it can be said there, which is found.
        let is_told = found.len() == 1 && converted.left == found;
        return is_told.then_some((converted, written)).ok_or_else(|| format!("{found:?}"));
    }
    if !found.is_empty() || !converted.left.is_empty() {
        return Err(format!("{found:?} {:?}\n{text}", converted.left));
    }
    accepted(&written).map_err(|refusal| format!("{refusal}\n{text}"))?;
    // A provider answers only what asks for an answer.
    let asks = |entry: Entry<'_>| matches!(entry.role(), Role::User | Role::Tool);
    let last = written.transcript.entries().next_back();
    if last.is_some_and(asks) {
        answered(to, text).map_err(|refusal| format!("{refusal}\n{text}"))?;
    }
    Ok((converted, written))
}

/// Whether the scripted server would answer a body as it is.
fn answered(format: Format, text: &str) -> Result<(), String> {
    let api = Api::of_format(format.name()).expect("each format has an API");
    let body = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let call = Call { model: Some(model(format)), ..Call::new(api, &body) };
    Judge::default().validate(&call).map(|_| ()).map_err(|refusal| refusal.message)
}
