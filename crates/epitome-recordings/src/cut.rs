//! A recording that is one JSON value and ends in the middle: a crash, or a copy that wasn't finished.

/// The text up to its last whole message, closed.
pub(crate) struct Closed {
    pub(crate) text: String,
    /// The place of the message that was cut off, from 1.
    pub(crate) row: usize,
}

/// What recordings call their lists of messages or events.
const LISTS: [&str; 5] = ["messages", "history", "traj", "events", "items"];

/// A list or an object that isn't closed yet.
struct Open {
    closes: u8,
    /// Whether its elements are messages, or runs.
    is_log: bool,
    /// How many objects in it are whole, and where the last one ends.
    whole: usize,
    end: usize,
}

/// Closes a text that ends within its list of messages; `None` if it ends elsewhere, is whole, or is broken in another way.
pub(crate) fn closed(text: &str) -> Option<Closed> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    let mut name = "";
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at)?;
                name = text.get(at + 1..end).unwrap_or_default();
                at = end;
            }
            opening @ (b'[' | b'{') => {
                let is_list = opening == b'[';
                let is_run = match &open[..] {
                    [_] => true,
                    [runs, _] => runs.closes == b']',
                    _ => false,
                };
                let is_log = is_list && (open.is_empty() || (is_run && LISTS.contains(&name)));
                let closes = if is_list { b']' } else { b'}' };
                open.push(Open { closes, is_log, whole: 0, end: at + 1 });
            }
            closing @ (b']' | b'}') => {
                open.pop().filter(|inner| inner.closes == closing)?;
                let outer = open.last_mut()?;
                if closing == b'}' && outer.closes == b']' {
                    outer.whole += 1;
                    outer.end = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let depth = open.iter().position(|list| list.is_log && list.whole > 0)?;
    let log = &open[depth];
    let mut text = text[..log.end].to_owned();
    text.extend(open[..=depth].iter().rev().map(|outer| outer.closes as char));
    Some(Closed { text, row: log.whole + 1 })
}

/// Where the string that begins at `start` ends, with the text at the latest; `None` if it holds what no string may.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None | Some(b'"') => return Some(at),
            Some(b'\\') => at += 2,
            Some(0..0x20) => return None,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_within_its_messages_is_closed_behind_the_last_whole_one() {
        for (text, want) in [
            (r#"[{"a":"]"},{"b":[{"c":1},{"d"#, r#"[{"a":"]"}]"#),
            (r#"[{"a":"\"]"}"#, r#"[{"a":"\"]"}]"#),
            (
                r#"{"id":"x","messages":[{"a":1},{"b":2},"#,
                r#"{"id":"x","messages":[{"a":1},{"b":2}]}"#,
            ),
            (r#"[{"traj":[{"a":1},{"b":"#, r#"[{"traj":[{"a":1}]}]"#),
            (r#"[{"traj":[{"a":1}]},{"traj":[{"b":"#, r#"[{"traj":[{"a":1}]}]"#),
        ] {
            assert_eq!(closed(text).map(|closed| closed.text).as_deref(), Some(want), "{text}");
        }
        for text in [
            r#"[{"a":1}]"#,
            r#"[{"a":1}}"#,
            r#"[{"a":"#,
            r#"{"content":[{"a":1},{"b":"#,
            r#"{"$set":{"messages":[{"a":1},{"b":"#,
            "{\"id\":\"m\",\"messages\":[{\"a\":1},{\"b\":\"x\n{}",
        ] {
            assert!(closed(text).is_none(), "{text}");
        }
    }
}
