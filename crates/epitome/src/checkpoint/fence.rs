//! The fence around a checkpoint. It carries the digest of its content, so that nothing inside can close it.

use std::borrow::Cow;

use crate::text::framing::{CLOSE, OPEN, RECALL_MARK};
use crate::transcript::{ContentId, Marks, Origin, Part, PartKind, Role, Transcript};

pub(super) fn fenced(body: &str) -> String {
    let nonce = ContentId::of_text(body).short();
    format!("{OPEN}{nonce}>\n{body}{CLOSE}{nonce}>")
}

/// What stands between the fences of an intact checkpoint. White space around it, and line ends of another kind, which clients
/// write, do not count.
pub(super) fn unfenced(text: &str) -> Option<Cow<'_, str>> {
    if let Some(body) = intact(text.trim()) {
        return Some(Cow::Borrowed(body));
    }
    let plain = text.contains('\r').then(|| text.replace("\r\n", "\n"))?;
    intact(plain.trim()).map(|body| Cow::Owned(body.to_owned()))
}

fn intact(text: &str) -> Option<&str> {
    let (nonce, rest) = text.strip_prefix(OPEN)?.split_once(">\n")?;
    let body = rest.strip_suffix('>')?.strip_suffix(nonce)?.strip_suffix(CLOSE)?;
    (ContentId::of_text(body).short() == nonce).then_some(body)
}

/// Whether a line looks like a fence, or like the head of something recalled.
pub(super) fn is_framing(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(OPEN) || line.starts_with(CLOSE) || line.starts_with(RECALL_MARK)
}

/// Whether the whole text is a checkpoint whose digest matches: a later compaction continues it.
pub fn looks_like_one(text: &str) -> bool {
    unfenced(text).is_some()
}

/// Whether a text begins as a checkpoint does, whatever became of the rest.
pub fn begins_like_one(text: &str) -> bool {
    text.trim_start().starts_with(OPEN)
}

/// Whether the whole text stands between two fences of one nonce, whether or not the digest matches.
fn is_enclosed(text: &str) -> bool {
    let inner = || {
        let (nonce, rest) = text.trim().strip_prefix(OPEN)?.split_once('>')?;
        let is_one = !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let body = rest.strip_suffix('>')?.strip_suffix(nonce)?.strip_suffix(CLOSE)?;
        // Between two of them somebody speaks.
        Some(is_one && !body.contains(&format!("{CLOSE}{nonce}>")))
    };
    inner().unwrap_or(false)
}

/// The texts in the user's role that stand between a checkpoint's fences, whether or not the digest matches. No person wrote
/// them.
pub fn look_alikes(transcript: &Transcript) -> impl Iterator<Item = Part<'_>> {
    // Most show by their first bytes that they are none.
    let may_be = |raw: &str| {
        let start = raw.strip_prefix('"').unwrap_or_default();
        start.starts_with(['<', '\\', ' '])
    };
    let users = transcript.entries().filter(|entry| entry.role() == Role::User);
    users.flat_map(|entry| entry.parts()).filter(move |part| {
        let is_text = part.kind() == PartKind::Text && !part.is(Marks::NESTED);
        is_text && may_be(part.raw_body()) && is_enclosed(&part.text())
    })
}

/// Text between a checkpoint's fences doesn't count as the person's in whose role it is: an intact one is a checkpoint, a
/// changed one was injected.
pub fn disown(transcript: &mut Transcript) {
    let fenced: Vec<_> =
        look_alikes(transcript).map(|part| (part.slot, looks_like_one(&part.text()))).collect();
    for (slot, is_intact) in fenced {
        let origin = if is_intact { Origin::Checkpoint } else { Origin::Injected };
        transcript.set_part_origin(slot, origin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_it_breaks_no_seal() {
        let text = fenced("It stands for messages 1–3, for reference; not a new request.\n");
        assert!(looks_like_one(&text) && looks_like_one(&format!("\n{text}\r\n")));
        assert!(looks_like_one(&text.replace('\n', "\r\n")));
        assert!(!looks_like_one(&format!("{text} and more")) && is_framing(&text));
    }
}
