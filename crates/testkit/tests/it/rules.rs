//! What each provider's rules say of a body, and in which words.

use expect_test::expect_file;
use serde::Deserialize;
use serde_json::json;
use testkit::page;
use testkit::server::{Api, Call, Endpoint, Judge};

use crate::judged;

/// What stands around a body.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Around {
    model: Option<String>,
    betas: Vec<String>,
}

#[test]
fn bodies_are_judged_as_the_pages_say() {
    for (api, file) in [
        (Api::Anthropic, expect_file!["anthropic.txt"]),
        (Api::Chat, expect_file!["chat.txt"]),
        (Api::Gemini, expect_file!["gemini.txt"]),
        (Api::Responses, expect_file!["responses.txt"]),
    ] {
        page::check(&file, |case| {
            let Around { model, betas } = serde_json::from_str(&case.settings).expect("settings");
            let betas: Vec<&str> = betas.iter().map(String::as_str).collect();
            let body = serde_json::from_str(&case.given).expect("JSON");
            let Err(refusal) = judged(api, model.as_deref(), &betas, &body) else {
                return "taken".to_owned();
            };
            let code = refusal.code.map(|code| format!(" {code}")).unwrap_or_default();
            let param = refusal.param.map(|param| format!(" at {param}")).unwrap_or_default();
            format!("{} {}{code}{param}: {}", refusal.status, refusal.kind, refusal.message)
        });
    }
}

#[test]
fn counting_needs_no_end() {
    let body =
        json!({"model": "claude-opus-5-5", "messages": [{"role": "user", "content": "Go."}]});
    let count = Call { endpoint: Endpoint::Count, ..Call::new(Api::Anthropic, &body) };
    let counted = Judge::default().validate(&count).expect("counting takes it");
    assert_eq!(counted.prompt.tokens(), 4 + testkit::server::count::text("Go."));
}
