//! Amazon's binary event stream (`application/vnd.amazon.eventstream`), as the AWS SDKs read it.
//!
//! A message is: its length and that of its headers (four bytes each, big end first), the CRC-32 of those eight bytes,
//! headers, payload, and the CRC-32 of all before. A header is its name and a text, with a byte and two for their lengths.

use serde_json::Value;

/// The type of a header's value: text.
const TEXT: u8 = 7;
/// Lengths and sums around headers and payload.
const AROUND: usize = 16;

/// One event, or the exception that ends a stream, as a message. `name` is the event's or the exception's.
pub(crate) fn frame(name: &str, data: &Value) -> Vec<u8> {
    let payload = data.to_string().into_bytes();
    let kind = if name.ends_with("Exception") { "exception" } else { "event" };
    let named = format!(":{kind}-type");
    let mut headers = Vec::new();
    for (name, value) in
        [(named.as_str(), name), (":content-type", "application/json"), (":message-type", kind)]
    {
        headers.push(u8::try_from(name.len()).expect("names are short"));
        headers.extend(name.as_bytes());
        headers.push(TEXT);
        headers.extend(u16::try_from(value.len()).expect("values are short").to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let length = |len: usize| u32::try_from(len).expect("an event is small").to_be_bytes();
    let mut out = Vec::new();
    out.extend(length(headers.len() + payload.len() + AROUND));
    out.extend(length(headers.len()));
    out.extend(crc32fast::hash(&out).to_be_bytes());
    out.extend(headers);
    out.extend(payload);
    out.extend(crc32fast::hash(&out).to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lengths_and_sums_are_right() {
        let frame = frame("messageStart", &json!({"role": "assistant"}));
        let number = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().expect("four"));
        let end = frame.len() - 4;
        assert_eq!(number(0) as usize, frame.len());
        assert_eq!(number(8), crc32fast::hash(&frame[..8]));
        assert_eq!(number(end), crc32fast::hash(&frame[..end]));
        let payload = 12 + number(4) as usize;
        assert_eq!(&frame[payload..end], br#"{"role":"assistant"}"#);
        assert!(frame[12..].starts_with(b"\x0b:event-type\x07\x00\x0cmessageStart"));
    }
}
