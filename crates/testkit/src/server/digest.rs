//! A name for a JSON value that doesn't change with white space or the order of keys.

use serde_json::Value;

/// The name of a value, or of a row of values.
pub type Digest = [u8; 16];

/// `before` followed by `value`.
pub fn after(before: Digest, value: &Value) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before);
    feed(&mut hasher, value);
    short(&hasher)
}

/// `before` followed by `text`.
pub fn after_text(before: Digest, text: &str) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before);
    hasher.update(text.as_bytes());
    short(&hasher)
}

/// The digest of a text.
pub fn of_text(text: &str) -> Digest {
    after_text([0; 16], text)
}

/// Lower-case hexadecimal digits of the first `len` bytes.
pub fn hex(digest: &Digest, len: usize) -> String {
    use std::fmt::Write as _;
    digest[..len].iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("a string takes everything");
        out
    })
}

/// The digest that these 32 digits are of.
pub fn of_hex(digits: &str) -> Digest {
    let mut digest = [0; 16];
    for (byte, pair) in digest.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).unwrap_or_default();
        *byte = u8::from_str_radix(pair, 16).unwrap_or_default();
    }
    digest
}

fn short(hasher: &blake3::Hasher) -> Digest {
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
}

/// Each value with its kind and length first, so that no two rows of values read the same.
fn feed(hasher: &mut blake3::Hasher, value: &Value) {
    let text = |hasher: &mut blake3::Hasher, kind: u8, text: &str| {
        hasher.update(&[kind]);
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    match value {
        Value::Null => text(hasher, b'n', ""),
        Value::Bool(yes) => text(hasher, b'b', if *yes { "1" } else { "" }),
        Value::Number(number) => text(hasher, b'#', &number.to_string()),
        Value::String(string) => text(hasher, b's', string),
        Value::Array(list) => {
            hasher.update(b"[");
            hasher.update(&(list.len() as u64).to_le_bytes());
            for item in list {
                feed(hasher, item);
            }
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            hasher.update(b"{");
            hasher.update(&(keys.len() as u64).to_le_bytes());
            for key in keys {
                text(hasher, b'k', key);
                feed(hasher, &map[key]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_of_keys_is_nothing_and_order_of_items_is() {
        let of = |text: &str| after([0; 16], &serde_json::from_str(text).expect("JSON"));
        assert_eq!(of(r#"{"a":1,"b":[2,3]}"#), of(r#"{ "b": [2, 3], "a": 1 }"#));
        assert_ne!(of("[2,3]"), of("[3,2]"));
        assert_ne!(of(r#"["ab"]"#), of(r#"["a","b"]"#));
        assert_ne!(after(of("1"), &json!(2)), after(of("2"), &json!(1)));
        assert_eq!(of_hex(&hex(&of("1"), 16)), of("1"));
    }
}
