//! The hint added to a "too long" error while a compaction waits for consent.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::call::session;
use crate::ledger::Ledger;

/// Tells clients whose prompt is refused as too long that its compaction waits.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) api: &'static str,
}

impl Notice {
    fn line(&self) -> Option<String> {
        let name = self.ledger.name(&(self.api, session()?));
        Some(format!(
            "epitome: compactions need your consent here (--mode ask). Agree at /ui/{name} of the proxy, then send the request again."
        ))
    }

    /// A provider's error, in JSON, with a line behind its message.
    pub(crate) fn in_error(&self, error: &str) -> Option<String> {
        with_line(error, &self.line()?)
    }

    /// The same in the events of a stream.
    pub(crate) fn in_events(&self, events: &[u8]) -> Option<Bytes> {
        let (events, line) = (std::str::from_utf8(events).ok()?, self.line()?);
        let mut told = String::with_capacity(events.len() + line.len());
        for one in events.split_inclusive(['\r', '\n']) {
            let bare = one.trim_end_matches(['\r', '\n']);
            let name = ["data:", "error:"].into_iter().find(|name| bare.starts_with(name));
            let changed =
                name.and_then(|name| Some((name, with_line(&bare[name.len()..], &line)?)));
            match changed {
                Some((name, error)) => {
                    told.push_str(name);
                    told.push(' ');
                    told.push_str(&error);
                    told.push_str(&one[bare.len()..]);
                }
                None => told.push_str(one),
            }
        }
        Some(told.into())
    }
}

/// Where errors have their message.
const MESSAGES: [&str; 6] = [
    "/error/message",
    "/response/error/message",
    "/0/error/message",
    "/message",
    "/error",
    "/detail",
];

fn with_line(error: &str, line: &str) -> Option<String> {
    let mut error: Value = serde_json::from_str(error).ok()?;
    let place = MESSAGES.iter().find(|at| error.pointer(at).is_some_and(Value::is_string))?;
    let message = error.pointer_mut(place)?;
    *message = Value::from(format!("{}\n{line}", message.as_str()?));
    Some(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_that_has_words_gets_a_line_behind_them() {
        for error in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"too long"}}"#,
            r#"{"type":"response.failed","response":{"error":{"code":"x","message":"too long"}}}"#,
            r#"[{"error":{"code":400,"message":"too long"}}]"#,
            r#"{"type":"error","code":"x","message":"too long"}"#,
            r#"{"error":"too long"}"#,
            r#"{"detail":"too long"}"#,
        ] {
            let told = with_line(error, "Agree.").expect("it has words");
            assert!(told.contains(r"too long\nAgree."), "{told}");
        }
        for other in [r#"{"message":{"content":[]}}"#, "{}", "too long", "[]"] {
            assert_eq!(with_line(other, "Agree."), None, "{other}");
        }
    }
}
