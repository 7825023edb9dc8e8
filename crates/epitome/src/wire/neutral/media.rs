//! Images, documents and sounds.

use serde_json::Value;

use super::{Data, Medium};
use crate::text::cut;
use crate::text::data_url::DataUrl;

/// Characters that are said of the address of a file that isn't carried over.
const MOST_NAME: usize = 200;

/// Endings of files, and the types that they are.
pub(crate) const TYPES: [(&str, &str); 22] = [
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

/// The type of an ending; itself if it isn't known.
pub(crate) fn mime(format: &str) -> &str {
    TYPES.iter().find(|(name, _)| *name == format).map_or(format, |(_, kind)| kind)
}

/// The type that an address ends with; empty if it doesn't.
pub(crate) fn by_name(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    let end = if end == "jpg" { "jpeg" } else { end };
    TYPES.iter().find(|(name, _)| *name == end).map_or("", |(_, kind)| kind)
}

/// Images that every format shows.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A medium as a format is to show it.
pub(crate) struct ShownMedium<'a> {
    pub(crate) medium: &'a Medium,
    /// Its type, by its usual name.
    pub(crate) kind: &'a str,
    /// Tells documents of one request apart.
    number: usize,
}

impl<'a> ShownMedium<'a> {
    pub(crate) fn new(medium: &'a Medium, number: usize) -> Self {
        let kind = match medium.kind.as_str() {
            "image/jpg" => "image/jpeg",
            "audio/mpeg" => "audio/mp3",
            "audio/wave" | "audio/x-wav" => "audio/wav",
            kind => kind,
        };
        ShownMedium { medium, kind, number }
    }

    /// Whether it is an image that every format shows.
    pub(crate) fn is_image(&self) -> bool {
        match self.medium.data {
            Data::Base64(_) => IMAGES.contains(&self.kind),
            _ => self.medium.is_image(),
        }
    }

    pub(crate) fn is_pdf(&self) -> bool {
        self.kind == "application/pdf"
    }

    /// A name for a file that has none.
    pub(crate) fn numbered(&self) -> String {
        format!("file-{}", self.number)
    }
}

/// A string's value.
pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl Medium {
    pub(crate) fn new(kind: impl Into<String>, data: Data) -> Self {
        Medium { kind: kind.into(), data, name: None, detail: None, entry: 0 }
    }

    /// The same without the head of a data URL before its data, which no format has there; `None` where the URL's data
    /// isn't base64.
    pub(crate) fn bare(mut self) -> Option<Self> {
        if let Data::Base64(data) = &mut self.data {
            let mut bare = data.as_str();
            while DataUrl::is_one(bare) {
                let url = DataUrl::read(bare)?;
                if matches!(self.kind.as_str(), "" | "image") {
                    url.kind.clone_into(&mut self.kind);
                }
                bare = url.data;
            }
            let head = data.len() - bare.len();
            data.drain(..head);
        }
        Some(self)
    }

    /// The same where only its provider can read the address.
    pub(crate) fn elsewhere(mut self) -> Self {
        if let Data::Url(url) = &self.data
            && (!url.starts_with("http") || url.contains("generativelanguage.googleapis.com"))
        {
            self.data = Data::Elsewhere(url.clone());
        }
        self
    }

    /// Its replacement if it can't be shown: its words, or a note.
    pub(crate) fn instead(&self) -> String {
        let kind = if self.kind.is_empty() { "a file" } else { &self.kind };
        match &self.data {
            Data::Text(words) => {
                let quoted = |name: &String| format!(" title={:?}", name.replace('"', "'"));
                let title = self.name.as_ref().map(quoted).unwrap_or_default();
                format!("<document{title}>\n{words}\n</document>")
            }
            Data::Base64(data) => format!("[not carried over: {kind}, {} bytes]", data.len()),
            Data::Url(name) | Data::Elsewhere(name) => {
                format!("[not carried over: {kind}, {}]", cut::one_line(name, MOST_NAME))
            }
        }
    }

    pub(crate) fn is_image(&self) -> bool {
        self.kind.starts_with("image")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a copy for each head such a medium takes minutes.
    #[test]
    fn heads_of_urls_are_taken_off_at_once() {
        let url = |heads: usize| "data:image;base64,".repeat(heads) + "data:image/png;base64,AAAA";
        for heads in [0, 1, 200_000] {
            let bare = Medium::new("", Data::Base64(url(heads))).bare().expect("it is base64");
            assert!(matches!(&bare.data, Data::Base64(data) if data == "AAAA"), "{heads}");
            assert_eq!(bare.kind, "image/png");
        }
        assert!(Medium::new("", Data::Base64("data:text/plain,a".to_owned())).bare().is_none());
        let plain = Medium::new("image/gif", Data::Base64("AAAA".to_owned())).bare();
        assert_eq!(plain.map(|medium| medium.kind).as_deref(), Some("image/gif"));
    }
}
