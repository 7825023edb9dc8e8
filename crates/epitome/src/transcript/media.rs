//! What images, documents and files are called, by what stands in their blocks.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Part;
use crate::json::{self, Span, unquote};

/// The longest value that is a name, in bytes.
const MOST_NAME: usize = 200;
/// The longest id; what is longer and has neither words nor dots is data.
const MOST_ID: usize = 64;
/// Levels of objects and lists that are looked into.
const DEEPEST: usize = 4;
/// Members that say how something is sent, and not what it is.
const MANNERS: [&str; 3] = ["type", "detail", "ttl"];

/// The names of a medium, `image/png` or `text/plain, rules.txt`; empty where it has none. And its texts.
pub(crate) fn names_and_texts<'a>(media: &Part<'a>) -> (String, Vec<Cow<'a, str>>) {
    let raw = media.raw();
    let mut values = vec![media.name()];
    strings(raw, Span::new(0..raw.len()), DEEPEST, &mut values);
    let is_name = |value: &Cow<'_, str>| value.len() <= MOST_NAME && !value.contains('\n');
    let (mut names, texts): (Vec<_>, Vec<_>) = values.into_iter().partition(is_name);
    let mut said = HashSet::new();
    names.retain(|name| !name.is_empty() && said.insert(name.clone()));
    (names.join(", "), texts)
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
