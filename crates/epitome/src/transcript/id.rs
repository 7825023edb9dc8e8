//! The id of an entry's content: the same for the same content, however it was written.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// blake3 of canonical content (keys sorted, cache markers left out, numbers as written).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; 32]);

impl ContentId {
    /// The id of a text.
    pub fn of_text(text: &str) -> Self {
        ContentId(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// The id of an entry's JSON. Nested cache markers don't count; key order and white space
    /// don't either. Text that serde can't hold (nested too deep) is hashed as it is.
    pub fn of_entry(raw: &str) -> Self {
        ContentId::of_text(&canonical_json(raw))
    }

    /// The id of bytes that may not be text.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        ContentId(*blake3::hash(bytes).as_bytes())
    }

    /// The id that has this digest.
    pub fn from_bytes(digest: [u8; 32]) -> Self {
        ContentId(digest)
    }

    /// The digest itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hex digits of a short id.
    pub const SHORT: usize = 12;

    /// The first hex digits: enough to tell entries of a session apart for a reader.
    pub fn short(&self) -> String {
        self.to_string()[..Self::SHORT].to_owned()
    }
}

/// JSON with its keys sorted and without cache markers; a scalar, or what serde can't hold, as it is.
pub(crate) fn canonical_json(raw: &str) -> Cow<'_, str> {
    if !raw.starts_with(['{', '[']) {
        return Cow::Borrowed(raw);
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(mut value) => {
            strip_markers(&mut value);
            let mut canonical = String::with_capacity(raw.len());
            write_sorted(&value, &mut canonical);
            Cow::Owned(canonical)
        }
        Err(_) => Cow::Borrowed(raw),
    }
}

/// Moved from entry to entry by clients on every request (PROVIDERS.md B.7), so not content.
fn strip_markers(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(strip_markers);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_markers),
        _ => {}
    }
}

fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, value)) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&crate::json::quote(key));
                out.push(':');
                write_sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_sorted(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentId({})", self.short())
    }
}

impl Serialize for ContentId {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(from)?;
        blake3::Hash::from_hex(hex.as_bytes())
            .map(|hash| ContentId(*hash.as_bytes()))
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_writing_but_not_content() {
        let a = ContentId::of_entry(r#"{"role":"user","content":"h\u0069"}"#);
        let b = ContentId::of_entry(
            r#"{ "content": "hi", "role": "user", "cache_control": {"type":"ephemeral"} }"#,
        );
        assert_eq!(a, b);
        assert_ne!(a, ContentId::of_entry(r#"{"role":"user","content":"ho"}"#));
    }

    #[test]
    fn survives_serde() {
        let id = ContentId::of_text("x");
        let written = serde_json::to_string(&id).expect("serializable");
        assert_eq!(serde_json::from_str::<ContentId>(&written).expect("its own form"), id);
    }

    #[test]
    fn json_is_written_in_one_way_without_markers() {
        let raw = r#"{"b":[1,{"cache_control":{},"x":2},[]],"cache_control":{},"a":null,"c":"d"}"#;
        assert_eq!(canonical_json(raw), r#"{"a":null,"b":[1,{"x":2},[]],"c":"d"}"#);
    }

    #[test]
    fn an_id_shows_its_digest() {
        let id = ContentId::from_bytes([0xab; 32]);
        assert_eq!(id.as_bytes(), &[0xab; 32]);
        assert_eq!(format!("{id:?}"), "ContentId(abababababab)");
    }
}
