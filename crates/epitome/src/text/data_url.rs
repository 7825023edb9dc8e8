//! Addresses that hold what they are of: `data:image/png;base64,…` (RFC 2397).

const SCHEME: &str = "data:";

/// What such an address holds, in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataUrl<'a> {
    /// Its type, without parameters; may be empty.
    pub(crate) kind: &'a str,
    /// The base64.
    pub(crate) data: &'a str,
}

impl<'a> DataUrl<'a> {
    /// Whether an address is one, whatever it holds. The scheme is written in any case (RFC 3986, section 3.1).
    pub(crate) fn is_one(url: &str) -> bool {
        url.get(..SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME))
    }

    /// Reads an address; `None` for any other, and for one whose data isn't base64.
    pub(crate) fn read(url: &'a str) -> Option<Self> {
        let (head, data) = url.split_once(',').filter(|_| Self::is_one(url))?;
        let head = &head[SCHEME.len()..];
        let (head, encoding) = head.rsplit_once(';')?;
        let kind = head.split(';').next().unwrap_or_default();
        encoding.trim().eq_ignore_ascii_case("base64").then_some(DataUrl { kind, data })
    }
}

/// The byte at `at` of the content of a base64 text.
pub(crate) fn decoded_byte(payload: &[u8], at: usize) -> Option<u8> {
    let sextet = |index: usize| match payload.get(index)? {
        byte @ b'A'..=b'Z' => Some(byte - b'A'),
        byte @ b'a'..=b'z' => Some(byte - b'a' + 26),
        byte @ b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let first = at / 3 * 4 + at % 3;
    let shift = 2 * (at % 3 + 1);
    let pair = u16::from(sextet(first)?) << 6 | u16::from(sextet(first + 1)?);
    // Twelve bits, of which the first `shift - 2` belong to the byte before.
    Some((pair >> (6 - shift.min(6))) as u8)
}

/// The type of the image file in a base64 text, by its first bytes.
pub(crate) fn image_type(base64: &str) -> Option<&'static str> {
    let is = |at: usize, name: &[u8]| {
        let mut bytes = name.iter().enumerate();
        bytes.all(|(index, wanted)| decoded_byte(base64.as_bytes(), at + index) == Some(*wanted))
    };
    match () {
        () if is(0, b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        () if is(0, b"\xFF\xD8\xFF") => Some("image/jpeg"),
        () if is(0, b"GIF8") => Some("image/gif"),
        () if is(0, b"RIFF") && is(8, b"WEBP") => Some("image/webp"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_head_may_say_more_than_a_type() {
        for (url, kind) in [
            ("data:image/png;base64,AA,", "image/png"),
            ("DATA:image/png;charset=utf-8;name=a.png;BASE64,AA,", "image/png"),
            ("data:;base64,AA,", ""),
        ] {
            assert_eq!(DataUrl::read(url), Some(DataUrl { kind, data: "AA," }), "{url}");
        }
        for other in [
            "data:text/plain,AA",
            "data:image/png;base64",
            "https://a/b;base64,AA",
            "dat",
            "däta:;base64,A",
        ] {
            assert_eq!(DataUrl::read(other), None, "{other}");
        }
    }
}
