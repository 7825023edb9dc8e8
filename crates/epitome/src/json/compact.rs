//! JSON as it says the same in the fewest characters.

use std::borrow::Cow;

use memchr::memchr2;

use super::literal::{escape, needs_escape};

/// The same JSON without white space outside of strings and without needless escapes; borrowed if it has none.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut text = String::new();
    let (mut from, mut at) = (0, 0);
    let mut in_string = false;
    while at < bytes.len() {
        if in_string {
            let Some(next) = memchr2(b'"', b'\\', &bytes[at..]) else { break };
            at += next;
            if bytes[at] == b'"' {
                (in_string, at) = (false, at + 1);
                continue;
            }
            let (length, said) = escape(&json[at..]);
            if !needs_escape(said) {
                text.push_str(&json[from..at]);
                text.push(said);
                from = at + length;
            }
            at += length;
            continue;
        }
        match bytes[at] {
            b'"' => (in_string, at) = (true, at + 1),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_needless_escapes_go() {
        for (text, same) in [
            (
                "{\n  \"a b\" : [ 1 , \"c \\\" d\" ],\t\"e\\\\\" : {} }\r\n",
                r#"{"a b":[1,"c \" d"],"e\\":{}}"#,
            ),
            (r#"["\u65e5\u672c", "\ud83d\ude00", "a\/b"]"#, r#"["日本","😀","a/b"]"#),
            (r#"["\n\u0007\u0022\ud800 x"]"#, r#"["\n\u0007\u0022\ud800 x"]"#),
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
