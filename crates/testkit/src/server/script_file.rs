//! Scripts as JSON, for real clients.
//!
//! ```json
//! {
//!   "replies": [
//!     {"think": "Look first.", "text": "I look.", "calls": [{"name": "bash", "input": {"command": "ls"}}]},
//!     {"fault": "rate_limited", "retry_after": 1},
//!     {"text": "Half of it", "pace_ms": 20, "after": 4, "fault": "overloaded"},
//!     {"text": "Nobody hears all of this.", "after": 3, "cut": true},
//!     {"fault": {"status": 402, "message": "Pay first."}},
//!     {"text": "Done."}
//!   ],
//!   "then": {"steps": 2, "parallel": 2, "tool": "bash", "input": {"command": "true"}, "finish": "Finished."}
//! }
//! ```
//!
//! `replies` are given one after the other, to requests with tools if any of them calls one; `then` is the loop that
//! answers everything else. Both may be left out, and a bare array is `replies`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::script::{Broken, Fault, Loop, Next, Queue, Reply, Say};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum File {
    Replies(Vec<Line>),
    Whole(Whole),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    replies: Vec<Line>,
    then: Option<Then>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Then {
    steps: Option<usize>,
    parallel: Option<usize>,
    tool: Option<String>,
    input: Option<Value>,
    think: Option<String>,
    finish: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Line {
    think: Option<String>,
    redacted: bool,
    text: Option<String>,
    search: Option<Search>,
    calls: Vec<Called>,
    stop: Option<String>,
    wait_ms: u64,
    pace_ms: u64,
    after: Option<usize>,
    cut: bool,
    fault: Option<Named>,
    retry_after: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Called {
    name: String,
    input: Value,
}

#[derive(Debug, Deserialize)]
struct Search {
    query: String,
    #[serde(default)]
    found: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Named {
    Known(Known),
    Other { status: u16, kind: Option<String>, code: Option<String>, message: String },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    RateLimited,
    Overloaded,
    Internal,
    Overflow,
}

/// The script that a file describes.
///
/// # Errors
/// Where it isn't one.
pub fn read(text: &str) -> Result<Queue, serde_json::Error> {
    let (replies, then) = match serde_json::from_str(text)? {
        File::Replies(replies) => (replies, None),
        File::Whole(whole) => (whole.replies, whole.then),
    };
    let usual = Loop::default();
    let then = match then {
        None if replies.is_empty() => usual,
        None => Loop { steps: 0, ..usual },
        Some(then) => Loop {
            steps: then.steps.unwrap_or(usual.steps),
            parallel: then.parallel.unwrap_or(usual.parallel),
            tool: then.tool,
            input: then.input,
            think: then.think.or(usual.think),
            finish: then.finish.unwrap_or(usual.finish),
        },
    };
    Ok(Queue::followed_by(replies.into_iter().map(next), then))
}

fn next(line: Line) -> Next {
    let retry_after = line.retry_after;
    let fault = line.fault.map(|named| match named {
        Named::Known(Known::RateLimited) => Fault::RateLimited { retry_after },
        Named::Known(Known::Overloaded) => Fault::Overloaded,
        Named::Known(Known::Internal) => Fault::Internal,
        Named::Known(Known::Overflow) => Fault::Overflow,
        Named::Other { status, kind, code, message } => {
            Fault::Other { status, kind, code, message }
        }
    });
    let broken = match (line.after, fault) {
        (None, Some(fault)) => return Next::Fault(fault),
        (after, fault) if fault.is_some() || line.cut => {
            Some(Broken { after: after.unwrap_or(1), fault })
        }
        _ => None,
    };
    let mut say: Vec<Say> = line.think.map(Say::Think).into_iter().collect();
    say.extend(line.redacted.then_some(Say::Redacted));
    say.extend(line.text.map(Say::Text));
    say.extend(line.search.map(|search| Say::Search { query: search.query, found: search.found }));
    say.extend(line.calls.into_iter().map(|call| Say::Call { name: call.name, input: call.input }));
    Next::Reply(Reply {
        say,
        stop: line.stop,
        wait: Duration::from_millis(line.wait_ms),
        pace: Duration::from_millis(line.pace_ms),
        broken,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_this_page_parses() {
        let page = include_str!("script_file.rs");
        let json = page.split("```").nth(1).expect("there is one").trim_start_matches("json");
        let json: String = json.lines().map(|line| line.trim_start_matches("//!")).collect();
        let script = format!("{:?}", read(&json).expect("legal"));
        for piece in [
            "RateLimited { retry_after: Some(1) }",
            "after: 4",
            "after: 3, fault: None",
            "Pay first.",
        ] {
            assert!(script.contains(piece), "{piece} in {script}");
        }
        assert!(read("[]").is_ok());
        assert!(read(r#"[{"says": "hello"}]"#).is_err());
    }
}
