//! The scripted model server: every rule with a body that breaks it, and the server as a whole.

#![expect(clippy::needless_pass_by_value, reason = "`json!(..)` reads best where it is passed")]

mod anthropic_thinking;
mod cache;
mod converse;
mod exchange;
mod responses;
mod rules;
#[cfg(feature = "serve")]
mod shell;
mod windows;

use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::{Api, ApiError, Call, Incoming, Judge, Payload, Server, Understood};

/// `body` with some keys set.
fn with(mut body: Value, keys: &[(&str, Value)]) -> Value {
    for (key, value) in keys {
        body[*key] = value.clone();
    }
    body
}

/// What a server answers as a whole, and with which status.
fn send(server: &mut Server, path: &str, body: &Value) -> (u16, Value) {
    let text = body.to_string();
    let incoming = Incoming { method: "POST", path, headers: &[], body: text.as_bytes() };
    let (answer, _) = server.answer(&incoming, Duration::ZERO);
    let Payload::Whole(whole) = answer.payload else { panic!("asked for a whole answer") };
    (answer.status, serde_json::from_str(&whole).expect("JSON"))
}

fn judged(
    api: Api,
    model: Option<&str>,
    betas: &[&str],
    body: &Value,
) -> Result<Understood, ApiError> {
    let betas: Vec<String> = betas.iter().map(|beta| (*beta).to_owned()).collect();
    Judge::default().validate(&Call { model, betas: &betas, ..Call::new(api, body) })
}

/// A schema that takes one text.
fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
}

/// A text of about this many tokens of the server's count.
fn words(tokens: usize) -> String {
    "word ".repeat(tokens)
}
