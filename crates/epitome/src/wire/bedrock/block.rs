//! One content block: an element with one member.

use crate::json::{self, JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, PartKind, PartRow};
use crate::wire::flat::{marked, value};
use crate::wire::openai_chat::row;
use crate::word_list::words;

/// The members of a block, of which it has one.
pub(super) const BLOCKS: [&str; 14] = words!(
    "text image document video audio toolUse toolResult guardContent cachePoint reasoningContent \
     citationsContent searchResult toolAddition toolRemoval"
);

/// Reads one element and appends its row, and those of a result's blocks; `marks` go on the row.
pub(super) fn read(
    scanner: &mut Scanner<'_>,
    marks: Marks,
    rows: &mut Vec<PartRow>,
) -> Result<(), JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        let mut part = row(PartKind::Opaque, span, span);
        part.marks = marks;
        rows.push(part);
        return Ok(());
    }
    let text = scanner.text();
    let mut found: Option<(String, PartRow, Vec<PartRow>)> = None;
    let mut more = false;
    let span = scanner.object(|scanner, key| {
        let key = unquote(key.of(text));
        let mut nested = Vec::new();
        let part = match (key.as_ref(), scanner.peek()) {
            ("text", Some(b'"')) => Some(value(PartKind::Text, scanner.string()?, text)),
            ("image" | "document" | "video" | "audio", Some(b'{')) => Some(read_media(scanner)?),
            ("toolUse", Some(b'{')) => Some(read_use(scanner)?),
            ("toolResult", Some(b'{')) if !marks.has(Marks::NESTED) => {
                Some(read_result(scanner, &mut nested)?)
            }
            ("reasoningContent", Some(b'{')) => read_reasoning(scanner)?,
            ("guardContent" | "citationsContent", Some(b'{')) => read_words(scanner)?,
            (key, _) => {
                scanner.value()?;
                if !BLOCKS.contains(&key) {
                    return Ok(());
                }
                None
            }
        };
        more |= found.as_ref().is_some_and(|(other, ..)| *other != key);
        found = Some((
            key.into_owned(),
            part.unwrap_or(row(PartKind::Opaque, Span::NONE, Span::NONE)),
            nested,
        ));
        Ok::<_, JsonError>(())
    })?;
    let known = found.filter(|(_, part, _)| part.kind != PartKind::Opaque && !more);
    let Some((_, mut part, mut nested)) = known else {
        rows.push(opaque(text, span, marks));
        return Ok(());
    };
    part.marks = part.marks.with(marks);
    rows.push(part);
    rows.append(&mut nested);
    Ok(())
}

fn opaque(text: &str, span: Span, marks: Marks) -> PartRow {
    let mut part = row(PartKind::Opaque, span, span);
    part.marks = marks;
    let members = json::members(text, span).unwrap_or_default();
    let known = |(key, _): &&(Span, Span)| BLOCKS.contains(&unquote(key.of(text)).as_ref());
    if let Some((key, _)) = members.iter().find(known) {
        part.name = *key;
        if matches!(unquote(key.of(text)).as_ref(), "toolAddition" | "toolRemoval") {
            part.marks = part.marks.with(Marks::STATEFUL);
        }
    }
    part
}

/// A medium: its format is the name, its bytes or place the payload.
fn read_media(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut part = row(PartKind::Media, Span::NONE, Span::NONE);
    part.span = scanner.members(|key, value| match key {
        "format" => part.name = value,
        "source" => {
            let members = json::members(text, value).unwrap_or_default();
            part.body = members.last().map_or(value, |(_, data)| *data);
        }
        _ => {}
    })?;
    Ok(marked(part, text))
}

fn read_use(scanner: &mut Scanner<'_>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut call = row(PartKind::Call, Span::NONE, Span::NONE);
    call.span = scanner.members(|key, value| match key {
        "toolUseId" => call.id = value,
        "name" => call.name = value,
        "input" => call.body = value,
        "type" if value.of(text) != "null" => call.marks = Marks::SERVER,
        _ => {}
    })?;
    Ok(marked(call, text))
}

fn read_result(scanner: &mut Scanner<'_>, nested: &mut Vec<PartRow>) -> Result<PartRow, JsonError> {
    let text = scanner.text();
    let mut result = row(PartKind::Result, Span::NONE, Span::NONE);
    result.span = scanner.object(|scanner, key| {
        let key = unquote(key.of(text));
        if key == "content" {
            nested.clear();
            result.body = if scanner.peek() == Some(b'[') {
                scanner.array(|scanner| read(scanner, Marks::NESTED, nested))?
            } else {
                scanner.value()?
            };
            return Ok(());
        }
        let value = scanner.value()?;
        match key.as_ref() {
            "toolUseId" => result.id = value,
            "status" if value.of(text) == "\"error\"" => {
                result.marks = result.marks.with(Marks::ERROR);
            }
            "type" if value.of(text) != "null" => result.marks = result.marks.with(Marks::SERVER),
            _ => {}
        }
        Ok::<_, JsonError>(())
    })?;
    // One text is the result's words; a server tool's content is opaque.
    if let [only] = nested.as_slice()
        && only.kind == PartKind::Text
    {
        result.body = only.body;
        result.marks = result.marks.with(Marks::LITERAL);
        nested.clear();
    }
    if result.marks.has(Marks::SERVER) {
        nested.clear();
    }
    Ok(result)
}

/// What a person had guarded (`text.text`), or a reply with its sources (`content`, a list of texts): words if there is
/// one text, else `None`.
fn read_words(scanner: &mut Scanner<'_>) -> Result<Option<PartRow>, JsonError> {
    let text = scanner.text();
    let span = scanner.value()?;
    let inner = json::member(text, span, "text");
    let texts =
        json::member(text, span, "content").and_then(|list| json::elements(text, list).ok());
    let only = texts.filter(|texts| texts.len() == 1).map(|texts| texts[0]);
    let said = inner.or(only).and_then(|holder| {
        let is_object = holder.of(text).starts_with('{');
        is_object.then(|| json::member(text, holder, "text")).flatten()
    });
    let said = said.filter(|said| said.of(text).starts_with('"'));
    Ok(said.map(|said| marked(row(PartKind::Text, span, said), text)))
}

/// `None` where it is of a kind that isn't known.
fn read_reasoning(scanner: &mut Scanner<'_>) -> Result<Option<PartRow>, JsonError> {
    let text = scanner.text();
    let mut part = row(PartKind::Reasoning, Span::NONE, Span::NONE);
    part.span = scanner.members(|key, value| match key {
        "reasoningText" => {
            let said = json::member(text, value, "text");
            part.body = said.filter(|said| said.of(text).starts_with('"')).unwrap_or_default();
            let signature = json::member(text, value, "signature");
            let is_signed = signature.is_some_and(|signature| signature.len() > 2);
            part.marks = if is_signed { Marks::SIGNED } else { Marks::default() };
        }
        "redactedContent" => {
            part.body = value;
            part.marks = Marks::SIGNED;
        }
        _ => {}
    })?;
    Ok(Some(marked(part, text)).filter(|part| !part.body.is_empty()))
}
