//! How a stream opens: some providers accept a prompt, and say behind the status that it is too long.

use epitome::model::overflow::{AnswerKind, PromptOverflow, classify_event};
use serde_json::Value;

/// What the events so far say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Nothing yet.
    Open,
    /// The reply has begun, or failed in another way.
    Over,
    /// The prompt is too long, and nothing was said.
    TooLong(PromptOverflow),
}

/// Events that come before the model says anything.
const BEFORE: [&str; 5] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "interaction.created",
    "interaction.status_update",
];

/// The most bytes of an opening.
pub(crate) const LONGEST: usize = 1 << 18;

impl Opening {
    /// Of what came so far; an event that isn't whole says nothing.
    pub(crate) fn of(seen: &[u8]) -> Self {
        if seen.len() > LONGEST {
            return Opening::Over;
        }
        let seen = String::from_utf8_lossy(seen).replace("\r\n", "\n");
        let Some((whole, _)) = seen.rsplit_once("\n\n") else { return Opening::Open };
        let said = whole.split("\n\n").map(Opening::of_event);
        said.into_iter().find(|opening| *opening != Opening::Open).unwrap_or(Opening::Open)
    }

    fn of_event(event: &str) -> Self {
        match classify_event(event) {
            Some(AnswerKind::Overflow(overflow)) => return Opening::TooLong(overflow),
            Some(_) => return Opening::Over,
            None => {}
        }
        let mut data = event.lines().filter_map(|line| line.strip_prefix("data:")).peekable();
        if data.peek().is_none() {
            // A comment, which keeps the connection alive.
            return Opening::Open;
        }
        let data: Option<Value> = serde_json::from_str(&data.collect::<String>()).ok();
        let named = |name| data.as_ref()?[name].as_str();
        let kind = named("type").or_else(|| named("event_type")).unwrap_or_default();
        if BEFORE.contains(&kind) { Opening::Open } else { Opening::Over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\n";

    #[test]
    fn a_refusal_before_the_first_word_is_found() {
        let failed = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\
                      \"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
        let llama = "error: {\"code\":400,\"message\":\"the request exceeds the available context size\",\
                     \"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9,\"n_ctx\":8}\r\n\r\n";
        for stream in [format!(": hello\n\n{CREATED}{failed}"), failed.to_owned(), llama.to_owned()]
        {
            assert!(matches!(Opening::of(stream.as_bytes()), Opening::TooLong(_)), "{stream}");
            let half = &stream.as_bytes()[..stream.len() - 2];
            assert_eq!(Opening::of(half), Opening::Open, "{stream}");
        }
    }

    #[test]
    fn whatever_else_is_said_ends_it() {
        let word = "data: {\"type\":\"response.output_item.added\"}\n\n";
        let limit = "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached\"}\n\n";
        let start = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n";
        for said in
            [word, limit, start, "data: {\"choices\":[]}\n\n", "data: [DONE]\n\n", "data: what\n\n"]
        {
            assert_eq!(Opening::of(said.as_bytes()), Opening::Over, "{said}");
            assert_eq!(Opening::of(format!("{CREATED}{said}").as_bytes()), Opening::Over, "{said}");
        }
        assert_eq!(Opening::of(CREATED.as_bytes()), Opening::Open);
        assert_eq!(Opening::of(b""), Opening::Open);
        assert_eq!(Opening::of(&vec![b'a'; LONGEST + 1]), Opening::Over);
    }
}
