//! Attachments of people: a checkpoint names them, and quotes short texts among them.

use crate::text::figure;
use crate::transcript::media::names_and_texts;
use crate::transcript::{Entry, Part, PartKind};

/// The longest text that is quoted, in bytes.
const MOST_TEXT: usize = 400;

/// What stands for the images, documents and files of a person's message, each on lines of its own.
pub(super) fn attachments(entry: Entry<'_>) -> Vec<String> {
    let all = entry.parts().filter(|part| part.is_human() && part.kind() == PartKind::Media);
    all.map(|part| attachment(&part)).collect()
}

/// `[attached: text/plain, rules.txt]`, and below it the text. A long text is somebody's page: it isn't quoted among people's
/// words.
pub(super) fn attachment(part: &Part<'_>) -> String {
    let (names, texts) = names_and_texts(part);
    let names = if names.is_empty() { "a file" } else { &names };
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    match bytes {
        0 => format!("[attached: {names}]"),
        1..=MOST_TEXT => format!("[attached: {names}]\n{}", texts.join("\n")),
        _ => format!("[attached: {names}, {} of text, not quoted]", figure::size(bytes)),
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
