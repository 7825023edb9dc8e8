//! Private keys: blocks of PEM, with or without their first line.

use super::{LOOKED_AT, Secret};
use crate::text::cut;

const KEY: &str = "PRIVATE KEY";

/// How blocks begin and end.
const BLOCKS: [[&str; 3]; 2] =
    [["-----BEGIN ", "-----END ", "-----"], ["---- BEGIN ", "---- END ", " ----"]];

/// A program's strings have a key within this many bytes.
const MOST: usize = 16 * LOOKED_AT;

/// A shorter line of a block is its last one.
const LEAST_LINE: usize = 16;

/// The block that begins at `at`, or the rest of one that ends there and isn't `done`.
pub(super) fn private_key(text: &str, at: usize, done: usize) -> Option<Secret> {
    BLOCKS.iter().find_map(|marks| {
        whole(&text[at..], marks)
            .map(|secret| secret.behind(at))
            .or_else(|| end(text, at, done, marks))
    })
}

/// A block of PEM, or the rest of a cut one; in JSON no further than its string.
fn whole(text: &str, [begin, end, dashes]: &[&str; 3]) -> Option<Secret> {
    let after = begin.len() + title(text.strip_prefix(begin)?, dashes)?;
    let all = &text[after..];
    let quote = all.find(['"', '\'', '`']).unwrap_or(all.len());
    // A backslash before the quote belongs to it.
    let cut = all[..quote].trim_end_matches('\\');
    // A program's strings, one for each line. Between those of JSON are commas or colons.
    let seen = cut::head(all, MOST);
    let limit = seen.find([',', ':']).unwrap_or(seen.len());
    let is_end = |body: &str| Some(body.find(end)? + end.len());
    let closed = is_end(cut).or_else(|| is_end(&seen[..limit]));
    let to = closed
        .map_or(cut.len(), |end| all[end..].find(dashes).map_or(end, |at| end + at + dashes.len()));
    Some(Secret { name: "private-key", from: 0, to: after + to })
}

/// The bytes of a title and its dashes, if it is a private key's.
fn title(text: &str, dashes: &str) -> Option<usize> {
    let seen = cut::head(text, 48);
    let end = seen.find(dashes)?;
    seen[..end].contains(KEY).then_some(end + dashes.len())
}

/// What stands before the last line of a block.
fn end(text: &str, at: usize, done: usize, [_, end, dashes]: &[&str; 3]) -> Option<Secret> {
    let to = end.len() + title(text[at..].strip_prefix(end)?, dashes)?;
    let bytes = text.as_bytes();
    let mut from = at;
    loop {
        // A line's end before the line.
        let before = match &bytes[done..from] {
            [.., b'\r', b'\n'] | [.., b'\\', b'n'] => from - 2,
            [.., b'\n'] => from - 1,
            _ => break,
        };
        // In a string within a string its backslash is doubled.
        let escapes = bytes[done..before].iter().rev().take_while(|byte| **byte == b'\\').count();
        let before = before - escapes;
        let mut start = before;
        while start > done && is_base64(bytes[start - 1]) && !bytes[done..start].ends_with(b"\\n") {
            start -= 1;
        }
        // An escape is no part of a line, but no half of one is left.
        while start > done && bytes[start - 1] == b'\\' {
            start -= 1;
        }
        let is_last = from == at && start < before;
        if before - start < LEAST_LINE && !is_last {
            break;
        }
        from = start;
    }
    (from < at).then(|| Secret { name: "private-key", from, to: at + to })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
