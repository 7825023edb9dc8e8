//! Bytes and addresses, as they stand in a body.

use super::{Reading, right, said};
use crate::json::{Span, member, quote, unquote};
use crate::text::data_url::DataUrl;
use crate::wire::rules::Mend;

impl Reading<'_> {
    /// A string of bytes, which is base64: of either alphabet, broken into lines or not.
    pub(super) fn data(&mut self, span: Span, name: &str) {
        let raw = span.of(self.source);
        let text = &raw[1..raw.len() - 1];
        if DataUrl::is_one(text) {
            let mend = match DataUrl::read(&unquote(raw)) {
                Some(url) => Mend::Overwrite { value: span, json: quote(url.data) },
                None => Mend::Nothing,
            };
            return self.find(self.shapes.value, format!("{name}: a data URL"), mend);
        }
        // What JSON escapes is a slash, or the end of a line.
        let is_of_it = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=\\ ".contains(byte);
        if text.is_empty() {
            self.find(self.shapes.value, format!("{name}: empty"), Mend::Nothing);
        } else if !text.as_bytes().iter().all(is_of_it) {
            let detail = format!("{name}: no base64: {}", said(text));
            self.find(self.shapes.value, detail, Mend::Nothing);
        }
    }

    /// An address, which has a scheme; an image in it is of one of these types.
    pub(super) fn address(&mut self, span: Span, images: &[&str], name: &str) {
        let raw = span.of(self.source);
        if raw.starts_with('{') {
            // Chat has it in an object.
            let url = member(self.source, span, "url").map(|url| url.of(self.source));
            let url = url.filter(|url| url.starts_with('"'));
            let mend = url.map(|url| Mend::Overwrite { value: span, json: url.to_owned() });
            let mend = mend.unwrap_or(Mend::Nothing);
            return self.find(self.shapes.value, format!("{name}: an object"), mend);
        }
        if raw == "null" {
            return;
        }
        let scheme = raw.strip_prefix('"').and_then(|url| url.split_once(':'));
        if !scheme.is_some_and(|(scheme, _)| is_scheme(scheme)) {
            return self.refuse(name, raw);
        }
        let address = unquote(raw);
        let Some(head) = address.strip_prefix("data:").filter(|head| is_image(head)) else {
            return;
        };
        let kind = head.split([';', ',']).next().unwrap_or_default();
        if images.contains(&kind) {
            return;
        }
        let mend = right(kind, images).map(|right| Mend::Overwrite {
            value: span,
            json: quote(&format!("data:{right}{}", &head[kind.len()..])),
        });
        let detail = format!("{name}: {kind}");
        self.find(self.shapes.value, detail, mend.unwrap_or(Mend::Nothing));
    }
}

fn is_scheme(text: &str) -> bool {
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_of_it)
}

pub(super) fn is_image(media_type: &str) -> bool {
    media_type.get(.."image/".len()).is_some_and(|head| head.eq_ignore_ascii_case("image/"))
}
