//! Texts in base64, as in configurations, headers and `kubectl get secret`: secrets inside are masked, too.

use super::{LINE_ENDS, Secret, Secrets, Unwrapping};

/// Shorter runs hide nothing that has a shape.
pub(super) const LEAST: usize = 24;

/// In so many characters it shows whether a run is text.
const TOLD_BY: usize = 64;

/// In so few most others show that they aren't.
const TOLD_MOSTLY_BY: usize = 8;

/// Characters of a line in base64 that is broken into lines.
const LINES: [usize; 2] = [64, 76];

/// The beginning of a text.
pub(super) enum Run {
    /// No text in base64.
    None,
    /// Decoded text of this many bytes without a secret.
    Harmless(usize),
    /// Text that hides a secret.
    Hides(Secret),
}

/// How many bytes from the first on may be base64.
pub(super) fn length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| IS_DIGIT[usize::from(**byte)]).count()
}

/// What [`digit`] knows. A table, as much of every path is looked up in it.
const IS_DIGIT: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = digit(byte as u8).is_some();
        byte += 1;
    }
    all
};

/// Looks at the run of base64 with which `text` begins.
pub(super) fn looked_into(text: &str) -> Run {
    let bytes = text.as_bytes();
    let first = &bytes[..bytes.len().min(TOLD_BY)];
    let first = &first[..length(first)];
    // Paths look like base64 too: most show at once that they hide no text.
    let is_text_to = |end: usize| is_text(&decoded(&first[..end]));
    if first.len() < LEAST || !is_text_to(TOLD_MOSTLY_BY) || !is_text_to(first.len() / 4 * 4) {
        return Run::None;
    }
    let (digits, length) = run(bytes);
    let inner = decoded(&digits);
    let inner = String::from_utf8_lossy(&inner);
    let found = Secrets::of(&inner, Unwrapping::Not).next();
    found.map_or(Run::Harmless(length), |secret| {
        Run::Hides(Secret { name: secret.name, from: 0, to: length })
    })
}

/// The digits of a run, line ends left out, and its length with them.
fn run(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut digits = Vec::new();
    let mut at = 0;
    loop {
        let line = length(&bytes[at..]);
        digits.extend_from_slice(&bytes[at..at + line]);
        at += line;
        let end = LINE_ENDS.into_iter().find(|end| bytes[at..].starts_with(end.as_bytes()));
        let end = end.map_or(0, str::len);
        let goes_on = bytes.get(at + end).is_some_and(|byte| digit(*byte).is_some());
        if !LINES.contains(&line) || end == 0 || !goes_on {
            break;
        }
        at += end;
    }
    at += bytes[at..].iter().take(2).take_while(|byte| **byte == b'=').count();
    (digits, at)
}

/// Six bits, in either alphabet.
const fn digit(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    } as u32)
}

fn decoded(digits: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let all = group.iter().filter_map(|byte| digit(*byte)).fold(0, |all, six| all << 6 | six);
        let all = all << (6 * (4 - group.len()));
        out.extend_from_slice(&all.to_be_bytes()[1..group.len().max(1)]);
    }
    out
}

/// Whether bytes are text; a character may be cut off at their end.
fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::super::masked;
    use super::*;

    #[test]
    fn digits_are_bytes_again() {
        for (digits, text) in [
            ("aGVsbG8", "hello"),
            ("aGVsbG8h", "hello!"),
            ("aGVsbG8hIQ", "hello!!"),
            ("Pz8_Pz8-", "??\u{3f}??>"),
        ] {
            assert_eq!(decoded(digits.as_bytes()), text.as_bytes());
        }
    }

    #[test]
    fn what_is_wrapped_is_masked_whole() {
        // "DATABASE_PASSWORD=Xk29fjQ0pzLm"
        let said = "data: REFUQUJBU0VfUEFTU1dPUkQ9WGsyOWZqUTBwekxt and more";
        assert_eq!(masked(said), "data: [masked: secret] and more");
        // "token ghp_0123456789abcdefghijABCDEFGHIJ012345, please\n", in lines of 64.
        let said =
            "dG9rZW4gZ2hwXzAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0hJSjAxMjM0NSwg\ncGxlYXNlCg==\nrest";
        assert_eq!(masked(said), "[masked: github-token]\nrest");
        assert_eq!(masked(&said.replace('\n', "\\n")), "[masked: github-token]\\nrest", "in JSON");
    }

    #[test]
    fn what_hides_nothing_stays() {
        for said in [
            "VGhpcyBpcyBub3RoaW5nIGJ1dCBhIHNlbnRlbmNlLg==",
            "/usr/local/lib/python3/dist/packages/numpy/core",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
            "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
        ] {
            assert_eq!(masked(said), said);
        }
    }
}
