//! One part: an element with one data member.

use crate::json::{JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, PartKind, PartRow};
use crate::wire::flat::{marked, value};
use crate::wire::openai_chat::row;
use crate::word_list::words;

/// Reads one element and appends its rows: the data member's value, a result's media, a signature.
pub(super) fn read(scanner: &mut Scanner<'_>, rows: &mut Vec<PartRow>) -> Result<(), JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        rows.push(row(PartKind::Opaque, span, span));
        return Ok(());
    }
    let text = scanner.text();
    let mut element = Element::default();
    let span = scanner.object(|scanner, key| element.member(&unquote(key.of(text)), scanner))?;
    element.finish(text, span, rows);
    Ok(())
}

/// Members that say something about the data.
pub(super) const ABOUT: [&str; 7] = words!(
    "thought thoughtSignature videoMetadata mediaResolution mediaProcessing partMetadata \
     audioTranscription"
);

/// Members that are data.
pub(super) const DATA: [&str; 9] = words!(
    "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult \
     toolCall toolResponse"
);

/// What an element holds.
#[derive(Default)]
struct Element {
    /// The data member's row, and the media of a result.
    data: Option<PartRow>,
    nested: Vec<PartRow>,
    /// Its key, to tell duplicates from a second data member.
    key: &'static str,
    has_other_data: bool,
    /// Members that aren't known, which may be data.
    has_strangers: bool,
    is_thought: bool,
    signature: Span,
}

impl Element {
    fn member(&mut self, key: &str, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        let text = scanner.text();
        let mut nested = Vec::new();
        let start = scanner.peek();
        let read = match (camel(key), start) {
            ("thought", _) => {
                self.is_thought = scanner.value()?.of(text) == "true";
                return Ok(());
            }
            ("thoughtSignature", _) => {
                let value = scanner.value()?;
                self.signature = if value.of(text).len() > 2 && value.of(text).starts_with('"') {
                    value
                } else {
                    Span::NONE
                };
                return Ok(());
            }
            (key, start) if ABOUT.contains(&key) || start == Some(b'n') => {
                scanner.value()?;
                return Ok(());
            }
            ("text", Some(b'"')) => value(PartKind::Text, scanner.string()?, text),
            ("inlineData" | "fileData", Some(b'{')) => read_media(scanner)?,
            ("functionCall", Some(b'{')) => read_call(scanner)?,
            ("functionResponse", Some(b'{')) => read_response(scanner, &mut nested)?,
            (
                "executableCode" | "codeExecutionResult" | "toolCall" | "toolResponse",
                Some(b'{'),
            ) => read_server(camel(key), scanner)?,
            _ => {
                let span = scanner.value()?;
                row(PartKind::Opaque, span, span)
            }
        };
        let Some(key) = DATA.into_iter().find(|data| *data == camel(key)) else {
            self.has_strangers = true;
            return Ok(());
        };
        self.has_other_data |= self.data.is_some() && self.key != key;
        (self.data, self.nested, self.key) = (Some(read), nested, key);
        Ok(())
    }

    fn finish(mut self, text: &str, span: Span, rows: &mut Vec<PartRow>) {
        let signed = !self.signature.is_empty();
        let whole = |kind| row(kind, span, span);
        let is_known = self.data.is_some_and(|data| data.kind != PartKind::Opaque);
        let Some(mut data) = self.data.filter(|_| is_known && !self.has_other_data) else {
            let is_bare = self.data.is_none() && !self.has_strangers && signed;
            let mut part = whole(if is_bare { PartKind::Reasoning } else { PartKind::Opaque });
            if signed {
                part.marks = Marks::SIGNED;
            }
            if is_bare {
                part.body = self.signature;
            }
            return rows.push(part);
        };
        let is_text = data.kind == PartKind::Text;
        if is_text && (self.is_thought || signed && data.body.of(text) == "\"\"") {
            // A thought, or a signature that came in the stream with nothing to stand beside.
            let mut part = whole(PartKind::Reasoning);
            part.body = if self.is_thought { data.body } else { self.signature };
            part.marks = if self.is_thought { Marks::LITERAL } else { Marks::default() };
            if signed {
                part.marks = part.marks.with(Marks::SIGNED);
            }
            return rows.push(part);
        }
        if signed {
            data.marks = data.marks.with(Marks::SIGNED);
        }
        let mut seal = row(PartKind::Reasoning, self.signature, self.signature);
        seal.marks = Marks::SIGNED;
        let mut own = vec![data];
        own.append(&mut self.nested);
        // Slots are in the order of the bytes.
        let at = if signed && self.signature.start < data.span.start { 0 } else { own.len() };
        if signed {
            own.insert(at, seal);
        }
        rows.append(&mut own);
    }
}

/// The camelCase spelling of a member that is known in both.
pub(super) fn camel(key: &str) -> &str {
    match key {
        "inline_data" => "inlineData",
        "file_data" => "fileData",
        "mime_type" => "mimeType",
        "file_uri" => "fileUri",
        "function_call" => "functionCall",
        "function_response" => "functionResponse",
        "executable_code" => "executableCode",
        "code_execution_result" => "codeExecutionResult",
        "tool_call" => "toolCall",
        "tool_response" => "toolResponse",
        "tool_type" => "toolType",
        "thought_signature" => "thoughtSignature",
        "video_metadata" => "videoMetadata",
        "media_resolution" => "mediaResolution",
        "media_processing" => "mediaProcessing",
        "part_metadata" => "partMetadata",
        "audio_transcription" => "audioTranscription",
        other => other,
    }
}

/// A blob or a file: its type is the name, its data or address the payload.
fn read_media(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut part = row(PartKind::Media, Span::NONE, Span::NONE);
    part.span = scanner.members(|key, value| match camel(key) {
        "mimeType" => part.name = value,
        "data" | "fileUri" => part.body = value,
        _ => {}
    })?;
    Ok(marked(part, text))
}

fn read_call(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut call = row(PartKind::Call, Span::NONE, Span::NONE);
    call.span = scanner.members(|key, value| match key {
        "id" => call.id = not_null(value, text),
        "name" => call.name = value,
        "args" => call.body = not_null(value, text),
        _ => {}
    })?;
    Ok(call)
}

fn read_response(
    scanner: &mut Scanner<'_>,
    nested: &mut Vec<PartRow>,
) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut result = row(PartKind::Result, Span::NONE, Span::NONE);
    result.span = scanner.object(|scanner, key| {
        let key = unquote(key.of(text));
        if key == "parts" {
            nested.clear();
            if scanner.peek() == Some(b'[') {
                scanner.array(|scanner| read_response_part(scanner, nested))?;
                return Ok(());
            }
        }
        if key == "response" && scanner.peek() == Some(b'{') {
            (result.body, result.marks) = read_words(scanner)?;
            return Ok(());
        }
        let value = scanner.value()?;
        match key.as_ref() {
            "id" => result.id = not_null(value, text),
            "name" => result.name = value,
            "response" => (result.body, result.marks) = (not_null(value, text), Marks::default()),
            _ => {}
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(result)
}

/// An element of a response's `parts`: media only, so no words can stand in its place.
fn read_response_part(
    scanner: &mut Scanner<'_>,
    nested: &mut Vec<PartRow>,
) -> Result<(), JsonError> {
    let mut rows = Vec::new();
    read(scanner, &mut rows)?;
    for mut part in rows {
        part.marks = part.marks.with(Marks::NESTED).with(Marks::WORDLESS);
        nested.push(part);
    }
    Ok(())
}

/// A response's payload: the one string in it, or all of it; and whether it reports an error.
fn read_words(scanner: &mut Scanner<'_>) -> Result<(Span, Marks), JsonError> {
    let text = scanner.text();
    let (mut members, mut last, mut marks) = (0, Span::NONE, Marks::default());
    let whole = scanner.members(|key, value| {
        (members, last) = (members + 1, value);
        if key == "error" && last.of(text) != "null" {
            marks = Marks::ERROR;
        }
    })?;
    let is_words = members == 1 && last.of(text).starts_with('"');
    Ok(if is_words { (last, marks.with(Marks::LITERAL)) } else { (whole, marks) })
}

/// Code and tools that the provider runs itself, and their results. Paired inside its own entry.
fn read_server(kind: &str, scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let is_call = matches!(kind, "executableCode" | "toolCall");
    let mut part =
        row(if is_call { PartKind::Call } else { PartKind::Result }, Span::NONE, Span::NONE);
    part.marks = Marks::SERVER;
    let mut failed = false;
    part.span = scanner.members(|key, value| match camel(key) {
        "id" => part.id = not_null(value, text),
        "language" | "toolType" => part.name = value,
        "code" | "output" | "args" | "response" => part.body = not_null(value, text),
        "outcome" => failed = !matches!(value.of(text), "\"OUTCOME_OK\"" | "null" | "1"),
        _ => {}
    })?;
    if part.body.is_empty() {
        part.body = part.span;
    }
    if failed {
        part.marks = part.marks.with(Marks::ERROR);
    }
    Ok(marked(part, text))
}

fn not_null(value: Span, text: &str) -> Span {
    if value.of(text) == "null" { Span::NONE } else { value }
}
