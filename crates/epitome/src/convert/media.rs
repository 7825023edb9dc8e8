//! Images and documents, as each format writes them.

use serde_json::{Value, json};

use super::neutral::{Data, Medium};
use super::words;
use crate::transcript::Part;
use crate::wire::Format;

/// Reads a medium; `None` if it isn't of a form that is known.
pub(super) fn read(part: &Part<'_>, format: Format, entry: usize) -> Option<Medium> {
    let value: Value = serde_json::from_str(part.raw()).ok()?;
    let mut medium = match format {
        Format::OpenaiChat | Format::OpenaiResponses => openai(&value)?,
        Format::Anthropic => anthropic(&value)?,
        Format::Gemini => {
            let member =
                |camel: &str, snake: &str| text(&value[camel]).or_else(|| text(&value[snake]));
            let kind = member("mimeType", "mime_type").unwrap_or_default();
            if let Some(data) = text(&value["data"]) {
                medium(kind, Data::Base64(data))
            } else {
                let url = member("fileUri", "file_uri")?;
                let kind = if kind.is_empty() { by_name(&url).to_owned() } else { kind };
                medium(kind, Data::Url(url))
            }
        }
        Format::Bedrock => {
            let format = value["format"].as_str().unwrap_or_default();
            let source = &value["source"];
            let place = text(&source["s3Location"]["uri"]).map(Data::Elsewhere);
            let blocks = || words::of_blocks(&source["content"]);
            let words = text(&source["text"]).or_else(blocks).map(Data::Text);
            let data = text(&source["bytes"]).map(Data::Base64).or(place).or(words)?;
            Medium { name: text(&value["name"]), ..medium(mime(format), data) }
        }
    };
    medium.entry = entry;
    if let Data::Url(url) = &medium.data
        && (!url.starts_with("http") || url.contains("generativelanguage.googleapis.com"))
    {
        medium.data = Data::Elsewhere(url.clone());
    }
    Some(medium)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn medium(kind: impl Into<String>, data: Data) -> Medium {
    Medium { kind: kind.into(), data, name: None, detail: None, entry: 0 }
}

/// Both of OpenAI's formats: an image by its address, a file, a sound.
fn openai(value: &Value) -> Option<Medium> {
    let image = &value["image_url"];
    if let Some(url) = text(image).or_else(|| text(&image["url"])) {
        let (kind, data) = from_url(url);
        let detail = text(&image["detail"]).or_else(|| text(&value["detail"]));
        let detail = detail.filter(|detail| detail != "auto");
        return Some(Medium { detail, ..medium(kind.unwrap_or("image".to_owned()), data) });
    }
    if let Some(sound) = value["input_audio"].as_object() {
        let format = sound.get("format").and_then(Value::as_str).unwrap_or("wav");
        let data = sound.get("data").and_then(text)?;
        return Some(medium(format!("audio/{format}"), Data::Base64(data)));
    }
    let holder = if value["file"].is_object() { &value["file"] } else { value };
    let name = text(&holder["filename"]);
    if let Some(file) = text(&holder["file_data"]).or_else(|| text(&holder["file_url"])) {
        let (kind, data) = from_url(file);
        return Some(Medium { name, ..medium(kind.unwrap_or("application/pdf".to_owned()), data) });
    }
    let id = text(&holder["file_id"])?;
    let kind = if value["type"] == "input_image" { "image" } else { "" };
    Some(Medium { name, ..medium(kind, Data::Elsewhere(id)) })
}

fn anthropic(value: &Value) -> Option<Medium> {
    let source = &value["source"];
    let kind = if value["type"] == "image" { "image" } else { "application/pdf" };
    let read = match source["type"].as_str()? {
        "base64" => medium(text(&source["media_type"])?, Data::Base64(text(&source["data"])?)),
        "url" => medium(kind, Data::Url(text(&source["url"])?)),
        "text" => medium("text/plain", Data::Text(text(&source["data"])?)),
        "file" => medium(kind, Data::Elsewhere(text(&source["file_id"])?)),
        "content" => medium("text/plain", Data::Text(words::of_blocks(&source["content"])?)),
        _ => return None,
    };
    Some(Medium { name: text(&value["title"]), ..read })
}

/// A `data:` address as what it holds.
fn from_url(url: String) -> (Option<String>, Data) {
    let inside = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inside {
        Some((kind, data)) => (Some(kind.to_owned()), Data::Base64(data.to_owned())),
        None => (None, Data::Url(url)),
    }
}

fn to_url(kind: &str, data: &Data) -> Option<String> {
    match data {
        Data::Base64(data) => Some(format!("data:{kind};base64,{data}")),
        Data::Url(url) => Some(url.clone()),
        Data::Text(_) | Data::Elsewhere(_) => None,
    }
}

/// Bedrock's formats and the types that they are.
const FORMATS: [(&str, &str); 22] = [
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("mp4", "video/mp4"),
    ("mov", "video/quicktime"),
    ("mkv", "video/x-matroska"),
    ("webm", "video/webm"),
    ("mp3", "audio/mp3"),
    ("wav", "audio/wav"),
    ("flac", "audio/flac"),
    ("ogg", "audio/ogg"),
    ("aac", "audio/aac"),
];

fn mime(format: &str) -> &str {
    FORMATS.iter().find(|(name, _)| *name == format).map_or(format, |(_, kind)| kind)
}

/// The type that an address ends with; empty if it doesn't.
fn by_name(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    let end = if end == "jpg" { "jpeg" } else { end };
    FORMATS.iter().find(|(name, _)| *name == end).map_or("", |(_, kind)| kind)
}

/// Images that every format shows.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Sounds that OpenAI's chat takes, and what it calls them (the `InputAudio` of its SDKs knows no others).
const SOUNDS: [(&str, &str); 2] = [("audio/wav", "wav"), ("audio/mp3", "mp3")];

/// Writes a medium as an element of a content list; `None` where the format can't show it.
/// `number` tells documents of one request apart.
pub(super) fn write(medium: &Medium, format: Format, number: usize) -> Option<String> {
    let kind = match medium.kind.as_str() {
        "image/jpg" => "image/jpeg",
        "audio/mpeg" => "audio/mp3",
        "audio/wave" | "audio/x-wav" => "audio/wav",
        kind => kind,
    };
    let is_image = match medium.data {
        Data::Base64(_) => IMAGES.contains(&kind),
        _ => medium.is_image(),
    };
    let is_pdf = kind == "application/pdf";
    let file = || medium.name.clone().unwrap_or_else(|| format!("file-{number}.pdf"));
    let value = match (format, &medium.data) {
        (_, Data::Elsewhere(_)) => return None,
        (Format::OpenaiChat, _) if is_image => {
            let mut image = json!({"url": to_url(kind, &medium.data)?});
            if let Some(detail) = &medium.detail {
                image["detail"] = json!(detail);
            }
            json!({"type": "image_url", "image_url": image})
        }
        (Format::OpenaiChat, Data::Base64(data)) if kind.starts_with("audio/") => {
            let (_, format) = SOUNDS.iter().find(|(name, _)| *name == kind)?;
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        (Format::OpenaiChat, data @ Data::Base64(_)) if is_pdf => {
            let file = json!({"filename": file(), "file_data": to_url(kind, data)?});
            json!({"type": "file", "file": file})
        }
        (Format::OpenaiResponses, data) if is_image => {
            let detail = medium.detail.as_deref().unwrap_or("auto");
            json!({"type": "input_image", "detail": detail, "image_url": to_url(kind, data)?})
        }
        (Format::OpenaiResponses, data @ Data::Base64(_)) if is_pdf => {
            json!({"type": "input_file", "filename": file(), "file_data": to_url(kind, data)?})
        }
        (Format::OpenaiResponses, Data::Url(url)) if is_pdf => {
            json!({"type": "input_file", "file_url": url})
        }
        (Format::Anthropic, Data::Text(text)) => {
            let source = json!({"type": "text", "media_type": "text/plain", "data": text});
            titled(json!({"type": "document", "source": source}), medium)
        }
        (Format::Anthropic, data) if is_image || is_pdf => {
            let source = match data {
                Data::Base64(data) => json!({"type": "base64", "media_type": kind, "data": data}),
                Data::Url(url) => json!({"type": "url", "url": url}),
                _ => return None,
            };
            if is_image {
                json!({"type": "image", "source": source})
            } else {
                titled(json!({"type": "document", "source": source}), medium)
            }
        }
        (Format::Gemini, Data::Base64(data)) => {
            json!({"inlineData": {"mimeType": kind, "data": data}})
        }
        (Format::Gemini, Data::Url(url)) => {
            let kind = if kind.contains('/') { kind } else { by_name(url) };
            if kind.is_empty() {
                json!({"fileData": {"fileUri": url}})
            } else {
                json!({"fileData": {"mimeType": kind, "fileUri": url}})
            }
        }
        (Format::Bedrock, Data::Base64(data)) => {
            let (format, _) = FORMATS.iter().find(|(_, known)| *known == kind)?;
            bedrock(medium, kind, format, &json!({"bytes": data}), number)?
        }
        (Format::Bedrock, Data::Text(text)) => {
            bedrock(medium, "text/plain", "txt", &json!({"text": text}), number)?
        }
        _ => return None,
    };
    Some(value.to_string())
}

fn titled(mut document: Value, medium: &Medium) -> Value {
    if let Some(name) = &medium.name {
        document["title"] = json!(name);
    }
    document
}

fn bedrock(
    medium: &Medium,
    kind: &str,
    format: &str,
    source: &Value,
    number: usize,
) -> Option<Value> {
    Some(match kind.split_once('/')?.0 {
        "image" => json!({"image": {"format": format, "source": source}}),
        "video" => json!({"video": {"format": format, "source": source}}),
        "audio" => json!({"audio": {"format": format, "source": source}}),
        _ => {
            // Letters, digits, blanks, hyphens and brackets (the service model's documentation).
            let takes = |c: char| c.is_ascii_alphanumeric() || "-()[] ".contains(c);
            let name = medium.name.as_deref().filter(|name| !name.is_empty());
            let name = name.map_or_else(
                || format!("file-{number}"),
                |name| name.chars().map(|c| if takes(c) { c } else { '-' }).collect(),
            );
            json!({"document": {"format": format, "name": name, "source": source}})
        }
    })
}
