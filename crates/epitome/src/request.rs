//! One body on the wire: a frame around a transcript.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::{self, JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, Part, PartKind, Transcript};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI Chat Completions and its compatibles.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// AWS Bedrock Converse.
    Bedrock,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini Interactions.
    GeminiInteractions,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [
        Format::OpenaiChat,
        Format::Anthropic,
        Format::Gemini,
        Format::OpenaiResponses,
        Format::Bedrock,
        Format::GeminiInteractions,
    ];

    /// The most permissive one, in which plain messages are read.
    pub(crate) const PLAIN: Format = Format::OpenaiChat;

    /// The name used on the command line and in receipts.
    pub fn name(self) -> &'static str {
        match self {
            Format::OpenaiChat => "openai-chat",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::Bedrock => "bedrock",
            Format::OpenaiResponses => "openai-responses",
            Format::GeminiInteractions => "gemini-interactions",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the entries are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// A whole request body: an object with a list of entries in it.
    Body,
    /// A bare array of entries.
    Array,
    /// One entry after the other (JSON Lines, or any white space between).
    Lines,
}

/// Model, tools, system, parameters: everything around the transcript, as ranges.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// How the entries are wrapped.
    pub envelope: Envelope,
    /// The list of entries: the array, or the whole text for lines.
    pub list: Span,
    /// The model's name, as a JSON literal.
    pub model: Span,
    /// The system prompt beside the transcript (a string or a list of blocks).
    pub system: Span,
    /// The tool definitions.
    pub tools: Span,
    /// The reasoning mode (Anthropic `thinking`).
    pub thinking: Span,
    /// Earlier history that the provider keeps, and where it says so.
    pub elsewhere: Option<(Keeper, Span)>,
}

/// History that a request only names: only the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// How it is kept.
    pub keeper: Keeper,
    /// Its name: its id, or the first of several.
    pub name: String,
}

/// How a provider keeps history that a request only names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Keeper {
    /// The response that this request goes on from (Responses `previous_response_id`).
    PreviousResponse,
    /// The interaction that this request goes on from (Interactions `previous_interaction_id`).
    PreviousInteraction,
    /// A conversation that the request's items are added to (Responses `conversation`).
    Conversation,
    /// A cache of the beginning (Gemini `cachedContent`).
    Cache,
    /// Items by their ids (Responses `item_reference`).
    Items,
    /// The answer that a message thread goes on from (Anthropic `thread.previous_message_id`).
    Thread,
}

impl Frame {
    /// A frame that holds nothing but the list.
    pub fn bare(envelope: Envelope, list: Span) -> Self {
        Frame {
            envelope,
            list,
            model: Span::NONE,
            system: Span::NONE,
            tools: Span::NONE,
            thinking: Span::NONE,
            elsewhere: None,
        }
    }

    /// Makes room for this many bytes at `at`, behind the last entry: everything behind it moves.
    pub(crate) fn make_room(&mut self, at: u32, bytes: u32) {
        let elsewhere = self.elsewhere.as_mut().map(|(_, name)| name);
        let fields = [&mut self.model, &mut self.system, &mut self.tools, &mut self.thinking];
        for span in fields.into_iter().chain(elsewhere).filter(|span| span.start >= at) {
            *span = span.shifted_by(bytes);
        }
        self.list.end += bytes;
    }
}

/// One body on the wire: a format, a frame and a transcript, as ranges of one buffer.
#[derive(Clone, Debug)]
pub struct Request {
    /// The wire format.
    pub format: Format,
    /// What stands around the transcript.
    pub frame: Frame,
    /// The transcript.
    pub transcript: Transcript,
    /// The model that the address names, where the caller knows it.
    pub(crate) addressed: Option<Arc<str>>,
}

impl Request {
    /// The same request to this model, whatever the body names: at Gemini and Bedrock the address does.
    #[must_use]
    pub fn addressed_to(mut self, model: &str) -> Self {
        self.addressed = Some(model.into());
        self
    }

    /// The same request to whichever model the caller addressed that one.
    #[must_use]
    pub fn addressed_as(self, other: &Request) -> Self {
        Request { addressed: other.addressed.clone(), ..self }
    }

    /// The model that will read it, if the caller or the body names it.
    pub(crate) fn reader(&self) -> Option<String> {
        self.addressed.as_deref().map(str::to_owned).or_else(|| self.model())
    }

    /// The buffer that all spans point into.
    pub fn source(&self) -> &Arc<String> {
        self.transcript.source()
    }

    /// The buffer alone.
    pub fn into_source(self) -> Arc<String> {
        self.transcript.into_source()
    }

    /// The model's name, if the request names one.
    pub fn model(&self) -> Option<String> {
        self.field(self.frame.model).map(|raw| unquote(raw).into_owned())
    }

    /// The system prompt beside the transcript, as JSON.
    pub fn system(&self) -> Option<&str> {
        self.field(self.frame.system)
    }

    /// Whether the system prompt beside the transcript says `words`, in one text.
    pub(crate) fn system_says(&self, words: &str) -> bool {
        self.system().is_some_and(|prompt| says(prompt, words))
    }

    /// The tool definitions, as JSON.
    pub fn tools(&self) -> Option<&str> {
        self.field(self.frame.tools)
    }

    /// The reasoning mode, as JSON.
    pub fn thinking(&self) -> Option<&str> {
        self.field(self.frame.thinking)
    }

    /// History that the model reads and that isn't in the body, so that counts are too low. `None` if all of it is
    /// here.
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        if let Some((keeper, name)) = self.frame.elsewhere {
            let raw = name.of(self.source());
            let id = json::member(raw, Span::new(0..raw.len()), "id").map(|id| id.of(raw));
            let name = unquote(id.unwrap_or(raw)).into_owned();
            return Some(Elsewhere { keeper, name });
        }
        let references = |part: &Part<'_>| {
            part.kind() == PartKind::Opaque && part.is(Marks::STATEFUL) && !part.row().id.is_empty()
        };
        let mut parts = self.transcript.entries().flat_map(|entry| entry.parts());
        let first = parts.find(references)?;
        Some(Elsewhere { keeper: Keeper::Items, name: first.id().into_owned() })
    }

    /// How the provider keeps earlier history that it puts before this one.
    pub(crate) fn keeper(&self) -> Option<Keeper> {
        self.frame.elsewhere.map(|(keeper, _)| keeper)
    }

    /// The body without its long members: `null` stands for the entries, the system prompt and the tools. Use it only
    /// to look up other members.
    pub(crate) fn slim(&self) -> String {
        let source = self.source().trim_start_matches('\u{feff}');
        let shift = self.source().len() - source.len();
        let mut long = [self.frame.list, self.frame.system, self.frame.tools].map(Span::range);
        long.sort_by_key(|range| range.start);
        let (mut out, mut at) = (String::new(), 0);
        for range in long.into_iter().filter(|range| !range.is_empty()) {
            out.push_str(&source[at..range.start - shift]);
            out.push_str("null");
            at = range.end - shift;
        }
        out.push_str(&source[at..]);
        out
    }

    /// The value of the body's last member called `name`. Long members are skipped.
    pub(crate) fn member(&self, name: &str) -> Option<Span> {
        let [found] = self.members([name]);
        found
    }

    /// The same of several, in one walk.
    pub(crate) fn members<const N: usize>(&self, names: [&str; N]) -> [Option<Span>; N] {
        let mut found = [None; N];
        if self.frame.envelope != Envelope::Body {
            return found;
        }
        let source = self.source();
        let long = [self.frame.list, self.frame.system, self.frame.tools];
        let start = source.len() - source.trim_start_matches('\u{feff}').len();
        let mut scanner = Scanner::starting_at(source, start as u32);
        let walked = scanner.object(|scanner, key| {
            let here = scanner.position() as u32;
            let value = match long.iter().find(|span| span.start == here && !span.is_empty()) {
                Some(known) => {
                    scanner.go_on_at(known.end);
                    *known
                }
                None => scanner.value()?,
            };
            for (found, name) in found.iter_mut().zip(names) {
                if json::key_is(source, key, name) {
                    *found = Some(value);
                }
            }
            Ok::<_, JsonError>(())
        });
        if walked.is_ok() { found } else { [None; N] }
    }

    /// The raw value at a path of members of the body; `None` where it is `null` or not there.
    pub(crate) fn value(&self, path: &[&str]) -> Option<&str> {
        let (first, deeper) = path.split_first()?;
        let source = self.source();
        let mut at = self.member(first)?;
        for name in deeper {
            at = Some(at).filter(|at| at.of(source).starts_with('{'))?;
            at = json::member(source, at, name)?;
        }
        Some(at.of(source)).filter(|raw| *raw != "null")
    }

    /// The number at a path of members of the body.
    pub(crate) fn number(&self, path: &[&str]) -> Option<u64> {
        unquote(self.value(path)?).parse().ok()
    }

    /// Whether the value at a path of members of the body is another one than these.
    pub(crate) fn says_other(&self, path: &[&str], known: &[&str]) -> bool {
        self.value(path).is_some_and(|raw| !known.contains(&unquote(raw).as_ref()))
    }

    /// What stands before the first entry.
    pub(crate) fn head(&self) -> &str {
        let end = match self.transcript.entries().next() {
            Some(first) => first.span().start,
            None if self.frame.envelope == Envelope::Lines => self.frame.list.end,
            None => self.frame.list.start + 1,
        };
        &self.source()[..end as usize]
    }

    /// What stands after the last entry.
    pub(crate) fn tail(&self) -> &str {
        let start = match self.transcript.entries().next_back() {
            Some(last) => last.span().end as usize,
            None => self.head().len(),
        };
        &self.source()[start..]
    }

    /// What stands between entry `index - 1` and entry `index`.
    pub(crate) fn separator(&self, index: usize) -> &str {
        if index == 0 || index >= self.transcript.len() {
            return self.plain_separator();
        }
        let start = self.transcript.entry(index - 1).span().end as usize;
        let end = self.transcript.entry(index).span().start as usize;
        &self.source()[start..end]
    }

    /// A separator in the manner of this request, for entries that it doesn't have yet.
    pub(crate) fn plain_separator(&self) -> &str {
        match self.frame.envelope {
            _ if self.transcript.len() > 1 => self.separator(1),
            Envelope::Lines => "\n",
            Envelope::Body | Envelope::Array => ",",
        }
    }

    fn field(&self, span: Span) -> Option<&str> {
        (!span.is_empty()).then(|| span.of(self.source())).filter(|raw| *raw != "null")
    }
}

/// Whether a prompt says `words`: a string, or a list of texts, which Gemini calls `parts`.
fn says(prompt: &str, words: &str) -> bool {
    let is_object = |at: Span| at.of(prompt).starts_with('{');
    let member = |at: Span, name: &str| json::member(prompt, at, name).filter(|_| is_object(at));
    let whole = Span::new(0..prompt.len());
    let list = member(whole, "parts").unwrap_or(whole);
    let is_list = list.of(prompt).starts_with('[');
    let elements = || json::elements(prompt, list).unwrap_or_default();
    let texts = if is_list { elements() } else { vec![list] };
    let mut said = texts.into_iter().map(|text| member(text, "text").unwrap_or(text));
    said.any(|text| unquote(text.of(prompt)).contains(words))
}
