//! Attachments of people: a checkpoint names them, and quotes short texts among them.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::{self, Span, unquote};
use crate::text::figure;
use crate::transcript::{Entry, Part, PartKind};

/// The longest value that is shown beside others, in bytes.
const MOST_NAME: usize = 200;
/// The longest text that is quoted.
const MOST_TEXT: usize = 400;
/// The longest id; a longer value without words or dots is data.
const MOST_ID: usize = 64;
/// Levels of objects and lists that are looked into.
const DEEPEST: usize = 4;
/// Members about the transport, not the content.
const MANNERS: [&str; 3] = ["type", "detail", "ttl"];

/// What stands for the images, documents and files of a person's message, each on lines of its own.
pub(super) fn attachments(entry: Entry<'_>) -> Vec<String> {
    let all = entry.parts().filter(|part| part.is_human() && part.kind() == PartKind::Media);
    all.map(|part| attachment(&part)).collect()
}

/// `[attached: text/plain, rules.txt]`, and below it the text. A long text is somebody's page: it isn't quoted among people's
/// words.
pub(super) fn attachment(part: &Part<'_>) -> String {
    let raw = part.raw();
    let mut values = vec![part.name()];
    strings(raw, Span::new(0..raw.len()), DEEPEST, &mut values);
    let is_name = |value: &Cow<'_, str>| value.len() <= MOST_NAME && !value.contains('\n');
    let (mut names, texts): (Vec<_>, Vec<_>) = values.into_iter().partition(is_name);
    let mut said = HashSet::new();
    names.retain(|name| !name.is_empty() && said.insert(name.clone()));
    let names = if names.is_empty() { "a file".to_owned() } else { names.join(", ") };
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    match bytes {
        0 => format!("[attached: {names}]"),
        1..=MOST_TEXT => format!("[attached: {names}]\n{}", texts.join("\n")),
        _ => format!("[attached: {names}, {} of text, not quoted]", figure::size(bytes)),
    }
}

/// The texts in a value, but for data.
fn strings<'t>(text: &'t str, span: Span, levels: usize, out: &mut Vec<Cow<'t, str>>) {
    let raw = span.of(text);
    match raw.as_bytes().first() {
        Some(b'"') => {
            let is_data = raw.starts_with("\"data:")
                || raw.len() > MOST_ID && raw.is_ascii() && !raw.contains([' ', '.']);
            out.extend((!is_data).then(|| unquote(raw)));
        }
        Some(b'{') if levels > 0 => {
            let members = json::members(text, span).unwrap_or_default().into_iter();
            let says = |name: &Span| !MANNERS.contains(&&*unquote(name.of(text)));
            for (_, value) in members.filter(|(name, _)| says(name)) {
                strings(text, value, levels - 1, out);
            }
        }
        Some(b'[') if levels > 0 => {
            let elements = json::elements(text, span).unwrap_or_default();
            for value in elements {
                strings(text, value, levels - 1, out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    #[test]
    fn what_is_attached_is_named_and_what_is_text_is_said() {
        let data = "iVBORw0KGgo".repeat(40);
        let image = |source: &str| format!(r#"{{"type":"image","source":{source}}}"#);
        let inline = format!(r#"{{"type":"base64","media_type":"image/png","data":"{data}"}}"#);
        let url = r#"{"type":"url","url":"https://x.example/a.png"}"#;
        let rules = r#"{"type":"document","title":"rules.txt","source":{"type":"text","media_type":"text/plain","data":"Never use s2.\nNor s3."}}"#;
        let inside = r#"{"type":"document","context":"Page 2 holds.","source":{"type":"content","content":[{"type":"text","text":"Use s4."}]}}"#;
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":[{},{},{rules},{inside}]}}]}}"#,
            image(&inline),
            image(url),
        );
        let request = parse(Format::Anthropic, body).expect("messages");
        let told = attachments(request.transcript.entry(0)).join("\n");
        expect_test::expect![[r"
            [attached: image/png]
            [attached: image, https://x.example/a.png]
            [attached: text/plain, rules.txt]
            Never use s2.
            Nor s3.
            [attached: document, Page 2 holds., Use s4.]"]]
        .assert_eq(&told);
    }
}
