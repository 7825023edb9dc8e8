//! JSON without white space between its tokens.

use std::borrow::Cow;

use memchr::memchr2;

/// The same JSON without white space outside of strings; as it stands where it has none.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut text = String::new();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b' ' | b'\n' | b'\r' | b'\t' => {
                text.push_str(&json[from..at]);
                while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
                    at += 1;
                }
                from = at;
            }
            _ => at += 1,
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    text.push_str(&json[from..]);
    Cow::Owned(text)
}

/// One past the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(found) = memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_but_in_strings() {
        for (text, same) in [
            (
                "{\n  \"a b\" : [ 1 , \"c \\\" d\" ],\t\"e\\\\\" : {} }\r\n",
                r#"{"a b":[1,"c \" d"],"e\\":{}}"#,
            ),
            (" 1 ", "1"),
            ("\"a b", "\"a b"),
            ("\"a \\", "\"a \\"),
            ("", ""),
        ] {
            assert_eq!(compact(text), same, "{text}");
            assert!(matches!(compact(same), Cow::Borrowed(_)), "{same}");
        }
    }
}
