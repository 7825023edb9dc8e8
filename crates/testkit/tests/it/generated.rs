//! Generated transcripts, whose validity another oracle and the library's own rules know.

use epitome::wire::Format;
use proptest::prelude::*;
use serde_json::Value;
use testkit::generate::{Case, broken_in, cases, valid_in};
use testkit::oracle;
use testkit::server::{Api, Call, Judge, Strangers, dressed};

/// The formats that are judged; Bedrock's generated blocks and ids are of kinds that this server doesn't know, and its
/// conversations are judged in `accepted.rs` of the command line.
const JUDGED: [Format; 4] =
    [Format::OpenaiChat, Format::Anthropic, Format::Gemini, Format::OpenaiResponses];

const LISTS: [&str; 3] = ["messages", "input", "contents"];

/// What of the frame is sent; the generator writes keys beside it that nobody knows.
const FRAME: [&str; 16] = [
    "model",
    "max_tokens",
    "system",
    "tools",
    "thinking",
    "messages",
    "input",
    "instructions",
    "previous_response_id",
    "conversation",
    "store",
    "contents",
    "toolConfig",
    "systemInstruction",
    "stream",
    "temperature",
];

/// What this server minds and those transcripts don't: blocks of kinds that nobody has, blank words, and how many
/// cache markers there are.
const ELSEWHERE: [&str; 6] = [
    "A maximum of 4 blocks with cache_control",
    "does not match any of the expected tags",
    "non-whitespace",
    "Supported values are",
    "should have at most",
    "required oneof field",
];

fn body(case: &Case) -> Value {
    let lines = || serde_json::Deserializer::from_str(&case.text).into_iter::<Value>();
    match serde_json::from_str::<Value>(&case.text) {
        Ok(body) if body.is_array() || LISTS.iter().any(|key| !body[*key].is_null()) => body,
        _ => Value::Array(lines().map(|line| line.expect("drafts are well-formed")).collect()),
    }
}

/// What the server says to a request that carries this.
#[derive(Debug, PartialEq)]
enum Verdict {
    Taken,
    Refused(String),
    /// It minds something that the generator means to be ignored.
    Inconclusive,
}

fn verdict(case: &Case) -> Verdict {
    let name = case.format.name();
    let api = Api::of_format(name).unwrap_or_else(|| panic!("no API speaks {name}"));
    let mut body = body(case);
    let named = body["model"].as_str().unwrap_or("gemini-2.5-pro").to_owned();
    let model = match api {
        Api::Anthropic => "claude-opus-4-8",
        // Whether calls are signed depends on it.
        Api::Gemini => &named,
        Api::Converse => "anthropic.claude-opus-4-8",
        _ => "gpt-4.1",
    };
    if let Some(map) = body.as_object_mut() {
        map.retain(|key, _| FRAME.contains(&key.as_str()));
    }
    let list = LISTS.iter().find_map(|key| body[*key].as_array().or(body.as_array()));
    if list.is_none_or(Vec::is_empty) {
        return Verdict::Inconclusive;
    }
    let body = dressed(api, &body, model);
    let judge = Judge { strangers: Strangers::Welcome, ..Judge::default() };
    let betas = ["compact-2026-01-12".to_owned()];
    match judge.validate(&Call { model: Some(model), betas: &betas, ..Call::new(api, &body) }) {
        Ok(_) => Verdict::Taken,
        Err(refusal) if ELSEWHERE.iter().any(|known| refusal.message.contains(known)) => {
            Verdict::Inconclusive
        }
        Err(refusal) => Verdict::Refused(refusal.message),
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_is_valid_is_taken(case in valid_in(&JUDGED)) {
        let verdict = verdict(&case);
        prop_assert!(!matches!(verdict, Verdict::Refused(_)), "{:?}", verdict);
    }

    /// The other way round it needn't be: this server minds more.
    #[test]
    fn what_is_refused_elsewhere_is_refused_here(case in broken_in(&JUDGED)) {
        // Ids tell the oracle what the generator made from which thought; this server reads its own.
        let by_id = |why: &String| why.contains("without its required 'reasoning' item");
        if let Some(why) = oracle::accepts(case.format, &body(&case)).err().filter(|why| !by_id(why)) {
            prop_assert!(verdict(&case) != Verdict::Taken, "only the other oracle minds: {}", why);
        }
    }
}
