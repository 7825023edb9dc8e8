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

use serde_json::{Value, json};
use testkit::server::{Api, ApiError, Call, Judge, Understood};

/// `body` with some keys set.
fn with(mut body: Value, keys: &[(&str, Value)]) -> Value {
    for (key, value) in keys {
        body[*key] = value.clone();
    }
    body
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
