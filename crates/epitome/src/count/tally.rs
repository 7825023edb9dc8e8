//! The tokens of a request, part by part, so that a view's count is a sum and nothing is counted
//! twice.

use std::borrow::Cow;

use super::sample::{self, Counted};
use super::{Count, TokenCounter, media, sealed};
use crate::json::{self, Span, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Slot};
use crate::wire::{self, Feature, Format};

/// Tokens around the contents: the cost of a message, a call and a reply beside their words.
///
/// OpenAI's cookbook ("How to count tokens with tiktoken"): 3 a message, 1 for a name, 3 to prime
/// the reply. No provider documents the rest; the same figures are used for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overhead {
    pub(super) entry: u64,
    pub(super) pair_part: u64,
    reply: u64,
}

pub(super) const OVERHEAD: Overhead = Overhead { entry: 3, pair_part: 3, reply: 3 };

/// The tokens of a request: frame, entries and parts.
#[derive(Clone, Debug)]
pub struct Tally {
    /// System prompt, tool definitions and reply priming.
    pub frame: FrameTally,
    entries: Vec<u64>,
    parts: Vec<u64>,
    /// Of all entries, and with the frame.
    sum: Count,
    total: Count,
    reach: Reach,
}

/// How much was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Whole,
    Sample,
}

/// The tokens around the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTally {
    /// The system prompt beside the transcript.
    pub system: Count,
    /// The tool definitions, and the form that the answer must have.
    pub tools: Count,
}

impl FrameTally {
    /// Counts a request's frame.
    pub fn of(request: &Request, counter: &dyn TokenCounter) -> Self {
        let system = request.system().map_or(Count::ZERO, |raw| system_count(raw, counter));
        let defined = wire::definitions(request).map(|raw| counter.text(&json::compact(raw)));
        let tools = defined.fold(Count::ZERO, |sum, count| sum + count);
        FrameTally { system, tools }
    }

    /// All of it, reply priming included.
    pub fn total(&self) -> Count {
        self.system + self.tools + Count::exact(OVERHEAD.reply)
    }
}

impl Tally {
    /// Counts the frame; entries are added with [`Tally::extend`].
    pub fn begin(request: &Request, counter: &dyn TokenCounter) -> Self {
        let frame = FrameTally::of(request, counter);
        let (entries, parts) = (Vec::new(), Vec::new());
        let (sum, total) = (Count::ZERO, frame.total());
        Tally { entries, parts, sum, total, frame, reach: Reach::Whole }
    }

    /// Counts a request by a sample, if it has [`SAMPLED_BYTES`](super::SAMPLED_BYTES) or more: the newest 256 KiB and all
    /// that isn't text in full, of the rest a chunk of 4 KiB in each 64. Counts of entries are right on average; the
    /// [total](Self::total) has the error band.
    pub fn sampled(request: &Request, counter: &dyn TokenCounter) -> Self {
        if request.source().len() < sample::LEAST_BYTES {
            return Tally::of(request, counter);
        }
        let frame = FrameTally::of(request, counter);
        let Counted { parts, entries, sum } = sample::counted(request, counter);
        Tally { frame, entries, parts, sum, total: frame.total() + sum, reach: Reach::Sample }
    }

    /// Whether only a sample was counted.
    pub fn is_sampled(&self) -> bool {
        self.reach == Reach::Sample
    }

    /// Counts all of a request.
    pub fn of(request: &Request, counter: &dyn TokenCounter) -> Self {
        let mut tally = Tally::begin(request, counter);
        while tally.extend(request, counter, usize::MAX) {}
        tally
    }

    /// Counts further entries, stopping after about `bytes`; whether any are left.
    pub fn extend(&mut self, request: &Request, counter: &dyn TokenCounter, bytes: usize) -> bool {
        let all = &request.transcript;
        let mut done = 0;
        while self.entries.len() < all.len() && done < bytes {
            let entry = all.entry(self.entries.len());
            done += entry.raw().len();
            let sum = count_into(&mut self.parts, entry, request.format, counter);
            self.push(sum);
        }
        self.entries.len() < all.len()
    }

    fn push(&mut self, sum: Count) {
        self.entries.push(sum.tokens);
        self.sum += sum;
        self.total += sum;
    }

    /// Entries counted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no entry was counted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tokens of entry `index`.
    pub fn entry(&self, index: usize) -> u64 {
        self.entries[index]
    }

    /// Tokens of the part in slot `slot`, sub-parts apart.
    pub fn part(&self, slot: Slot) -> u64 {
        self.parts[slot.0 as usize]
    }

    /// Tokens of the whole request.
    pub fn total(&self) -> Count {
        self.total
    }

    /// A count of `tokens` of this request's content, with its basis and share of error.
    pub fn in_kind(&self, tokens: u64) -> Count {
        self.total.in_kind(tokens)
    }
}

/// Tokens of one entry; those of its parts go to `parts`.
fn count_into(
    parts: &mut Vec<u64>,
    entry: Entry<'_>,
    format: Format,
    counter: &dyn TokenCounter,
) -> Count {
    let mut sum = around(entry, format, counter);
    for part in entry.parts() {
        let count = part_count(&part, format, counter);
        parts.push(count.tokens);
        sum += count;
    }
    sum
}

/// Tokens of one entry.
pub fn entry_count(entry: Entry<'_>, format: Format, counter: &dyn TokenCounter) -> Count {
    let parts = entry.parts().map(|part| part_count(&part, format, counter));
    around(entry, format, counter) + parts.sum::<Count>()
}

/// Tokens around an entry's content. A name takes one more (OpenAI's cookbook, "How to count tokens with tiktoken").
fn around(entry: Entry<'_>, format: Format, counter: &dyn TokenCounter) -> Count {
    let name = format.dialect().speaker(entry);
    let name = name.map(|name| Count::exact(1) + counter.text(&name));
    Count::exact(OVERHEAD.entry) + name.unwrap_or(Count::ZERO)
}

/// Tokens around a message, which what shares one is spared.
pub(crate) const AROUND_MESSAGE: u64 = OVERHEAD.entry;

/// Tokens of a whole user-role message that says `text`.
pub fn message_tokens(text: &str, counter: &dyn TokenCounter) -> u64 {
    OVERHEAD.entry + counter.text(text).tokens
}

/// Tokens of a part whose payload is `text`: what [`Tally`] would count for it.
pub fn put_tokens(kind: PartKind, text: &str, name: &str, counter: &dyn TokenCounter) -> u64 {
    let words = counter.text(text).tokens;
    match kind {
        PartKind::Call => words + counter.text(name).tokens + OVERHEAD.pair_part,
        PartKind::Result => words + OVERHEAD.pair_part,
        _ => words,
    }
}

/// Tokens of `part` if its payload were `text`.
pub(crate) fn part_put_tokens(part: &Part<'_>, text: &str, counter: &dyn TokenCounter) -> u64 {
    let is_json = part.kind() == PartKind::Call && !part.is(Marks::LITERAL);
    let text = if is_json { json::compact(text) } else { Cow::Borrowed(text) };
    put_tokens(part.kind(), &text, &part.name(), counter)
}

/// Tokens of one part, sub-parts apart.
pub(crate) fn part_count(part: &Part<'_>, format: Format, counter: &dyn TokenCounter) -> Count {
    let pair_part = Count::exact(OVERHEAD.pair_part);
    match part.kind() {
        PartKind::Link => Count::ZERO,
        PartKind::Text => counter.text(&part.text()),
        PartKind::Reasoning | PartKind::Opaque
            if format.dialect().has(Feature::EncryptedReasoning) && part.is(Marks::SIGNED) =>
        {
            sealed(part.raw_body().len().saturating_sub(2))
        }
        // A signature alone: encrypted thoughts in base64. No page says what they cost when sent
        // back. Counted as thoughts of four bytes a token, at most two.
        PartKind::Reasoning if part.is(Marks::SIGNED) && !part.is(Marks::LITERAL) => {
            let bytes = media::Document::from_base64(part.raw_body()).bytes;
            Count::estimated(bytes.div_ceil(4), bytes.div_ceil(2))
        }
        PartKind::Reasoning | PartKind::Opaque => counter.text(&words(part)),
        PartKind::Call => counter.text(&part.name()) + counter.text(&words(part)) + pair_part,
        // A list's elements are sub-parts and counted as such.
        PartKind::Result if part.raw_body().starts_with('[') && !part.is(Marks::SERVER) => {
            pair_part
        }
        PartKind::Result => counter.text(&words(part)) + pair_part,
        PartKind::Media => media_count(part, format, counter),
    }
}

/// The countable text of a part: its words, or equivalent JSON without white space.
fn words<'a>(part: &Part<'a>) -> Cow<'a, str> {
    if part.is(Marks::LITERAL) { part.text() } else { json::compact(part.raw_body()) }
}

fn media_count(part: &Part<'_>, format: Format, counter: &dyn TokenCounter) -> Count {
    let dialect = format.dialect();
    let (kind, data) = dialect.media(part);
    let is_document = kind.contains("pdf")
        || kind.contains("document")
        || matches!(kind.as_str(), "file" | "input_file");
    if dialect.has(Feature::TextDocuments) && part.raw_body().starts_with('[') {
        blocks_count(part.raw_body(), counter)
    } else if dialect.has(Feature::TextDocuments) && is_said(&kind, &data) {
        counter.text(&data)
    } else if is_document || data.starts_with("data:application/pdf") {
        counter.document(&media::Document::from_base64(&data))
    } else if let Some(pace) = media::Pace::of(&kind) {
        pace.count(&media::Document::from_base64(&data))
    } else if kind.starts_with("text/") && dialect.has(Feature::TextDocuments) {
        counter.text(&data)
    } else if kind.starts_with("text/") || OFFICE.contains(&kind.as_str()) {
        // Text in base64: four characters a token, and the band of that.
        let bytes = media::Document::from_base64(&data).bytes;
        Count::estimated(bytes.div_ceil(4), bytes.div_ceil(2))
    } else {
        counter.media(&media::Image::from_base64(&data))
    }
}

/// Images with impossible sizes in their headers: the place of the entry, and the size. They are counted as large ones.
pub fn impossible_images(request: &Request) -> impl Iterator<Item = (usize, media::PixelSize)> {
    let dialect = request.format.dialect();
    request.transcript.entries().flat_map(move |entry| {
        let media = entry.parts().filter(|part| part.kind() == PartKind::Media);
        let sizes = media.filter_map(|part| media::Image::impossible_size(&dialect.media(&part).1));
        sizes.map(move |size| (entry.index, size)).collect::<Vec<_>>()
    })
}

/// Whether a document's payload is its words, not an address or a file id.
fn is_said(kind: &str, data: &str) -> bool {
    kind == "document" && !data.starts_with("http") && !data.starts_with("file_")
}

/// A document that is made of blocks: texts and images.
fn blocks_count(raw: &str, counter: &dyn TokenCounter) -> Count {
    let member = |block, name| json::member(raw, block, name);
    let image = |block| {
        let source = member(block, "source").filter(|source| source.of(raw).starts_with('{'))?;
        let data = member(source, "data").map_or("".into(), |data| unquote(data.of(raw)));
        Some(counter.media(&media::Image::from_base64(&data)))
    };
    let count = |block: Span| {
        let is_object = block.of(raw).starts_with('{');
        let text = is_object.then(|| member(block, "text")).flatten();
        match text {
            Some(text) => counter.text(&unquote(text.of(raw))),
            None => is_object
                .then(|| image(block))
                .flatten()
                .unwrap_or_else(|| counter.text(&json::compact(block.of(raw)))),
        }
    };
    let blocks = json::elements(raw, Span::new(0..raw.len())).unwrap_or_default();
    blocks.into_iter().map(count).sum()
}

/// Bedrock's names of documents that are read as text.
const OFFICE: [&str; 8] = ["csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"];

/// A system prompt's words, be it a string, a list of text blocks or (Gemini) a content with parts.
fn system_count(raw: &str, counter: &dyn TokenCounter) -> Count {
    if raw.starts_with('{') {
        let parts = json::member(raw, Span::new(0..raw.len()), "parts").map(|parts| parts.of(raw));
        return match parts {
            Some(parts) if parts.starts_with('[') => system_count(parts, counter),
            _ => counter.text(&json::compact(raw)),
        };
    }
    if !raw.starts_with('[') {
        return counter.text(&unquote(raw));
    }
    let blocks = json::elements(raw, Span::new(0..raw.len())).unwrap_or_default();
    blocks
        .into_iter()
        .map(|block| match json::member(raw, block, "text") {
            Some(text) => counter.text(&unquote(text.of(raw))),
            None => counter.text(&json::compact(block.of(raw))),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    use crate::count::CharsPer;

    #[test]
    fn all_definitions_are_counted() {
        let schema = json::quote(&"a long word ".repeat(40));
        let counter = CharsPer::new(NonZeroU32::new(4).expect("not 0"));
        let tools = |format: Format, with: &str| {
            let body = format!(r#"{{"{}":[]{with}}}"#, format.list());
            let request = wire::parse(format, body).expect("a request");
            FrameTally::of(&request, &counter).tools.tokens
        };
        for (format, with) in [
            (Format::OpenaiChat, r#","functions":[{"name":"f","parameters":SCHEMA}]"#),
            (Format::OpenaiChat, r#","response_format":{"json_schema":{"schema":SCHEMA}}"#),
            (Format::Anthropic, r#","output_config":{"format":{"schema":SCHEMA}}"#),
            (Format::Anthropic, r#","output_format":{"schema":SCHEMA}"#),
            (Format::Gemini, r#","generationConfig":{"responseSchema":SCHEMA}"#),
            (Format::Gemini, r#","generationConfig":{"responseJsonSchema":SCHEMA}"#),
            (Format::OpenaiResponses, r#","text":{"format":{"schema":SCHEMA}}"#),
            (
                Format::Bedrock,
                r#","outputConfig":{"textFormat":{"structure":{"jsonSchema":{"schema":SCHEMA}}}}"#,
            ),
        ] {
            let most = tools(format, &with.replace("SCHEMA", &schema));
            assert!(most > tools(format, "") + 100, "{with}");
        }
    }

    fn tokens(source: &str) -> u64 {
        let block = format!(r#"{{"type":"document","source":{source}}}"#);
        let body = format!(r#"{{"messages":[{{"role":"user","content":[{block}]}}]}}"#);
        let request = wire::parse(Format::Anthropic, body).expect("a request");
        let part = request.transcript.entry(0).parts().next().expect("a part");
        part_count(&part, Format::Anthropic, &CharsPer::new(NonZeroU32::new(4).expect("not 0")))
            .tokens
    }

    #[test]
    fn documents_of_words_cost_their_words() {
        let counter = CharsPer::new(NonZeroU32::new(4).expect("not 0"));
        let words = "The port is 9444 and nobody logs in as root. ".repeat(40);
        let said = counter.text(&words).tokens;
        let of = |kind: &str, key: &str, payload: &str| {
            tokens(&format!(r#"{{"type":"{kind}","{key}":{payload}}}"#))
        };
        let quoted = json::quote(&words);
        let text = format!(r#"{{"type":"text","text":{quoted}}}"#);
        assert_eq!(of("content", "content", &quoted), said);
        assert_eq!(of("content", "content", &format!("[{text},{text}]")), 2 * said);
        assert_eq!(of("text", r#"media_type":"text/plain","data"#, &quoted), said);
        let page = counter.document(&media::Document { pages: None, bytes: 0 }).tokens;
        assert_eq!(of("url", "url", r#""https://example.org/a""#), page);
        assert_eq!(of("file", "file_id", r#""file_011""#), page);
        let image =
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}"#;
        let large = counter.media(&media::Image { size: None, bytes: 3 }).tokens;
        assert_eq!(of("content", "content", &format!("[{text},{image}]")), said + large);
    }
}
