//! Markers of a prompt's cache, where the messages fold that have them.

use epitome::count::counter;
use epitome::{Compactor, Format, Options, Request, Target, wire};
use serde_json::{Value, json};

/// A conversation of Anthropic's, in which the messages at these places have a marker of this life.
fn session(marked: &[(usize, &str)]) -> Request {
    let step = |n: usize| {
        let lines: Vec<String> =
            (0..40).map(|line| format!("fn f{n}_{line}() {{ todo!() }}\n")).collect();
        let output = lines.concat();
        let id = format!("toolu_{n}");
        let input = json!({"file_path": format!("src/m{n}.rs")});
        [
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Read", "input": input}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
        ]
    };
    let task = json!({"role": "user", "content": [{"type": "text", "text": "Fix the build."}]});
    let mut messages: Vec<Value> = [task].into_iter().chain((0..30).flat_map(step)).collect();
    for (at, ttl) in marked {
        messages[*at]["content"][0]["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
    }
    let body = json!({"model": "claude-opus-5-5", "max_tokens": 9, "messages": messages});
    wire::parse(Format::Anthropic, body.to_string()).expect("a request")
}

/// Where the view has markers, and of which life.
fn shown(marked: &[(usize, &str)]) -> Vec<(&'static str, String)> {
    let options = Options { target: Target::Tokens(1_500), ..Options::default() };
    let compactor = Compactor::new(options, counter("claude").expect("known")).expect("in range");
    let outcome = compactor.compact(&session(marked)).expect("it compacts");
    let body: Value = serde_json::from_str(outcome.rendered()).expect("JSON");
    let messages = body["messages"].as_array().expect("a list");
    let blocks = messages.iter().enumerate().flat_map(|(at, message)| {
        let blocks = message["content"].as_array().into_iter().flatten();
        blocks.map(move |block| (at, block))
    });
    let found =
        blocks.filter(|(_, block)| block["cache_control"].is_object()).map(|(at, block)| {
            let text = block["text"].as_str().unwrap_or_default();
            let place = match at {
                _ if text.starts_with("<checkpoint") => "checkpoint",
                0 => "task",
                _ => "tail",
            };
            (place, block["cache_control"]["ttl"].as_str().expect("a life").to_owned())
        });
    // It is read as one again.
    let again = wire::parse(Format::Anthropic, outcome.rendered().to_owned()).expect("a request");
    let again = compactor.clone().compact(&again).expect("it compacts");
    assert_eq!(again.rendered().matches("<checkpoint").count(), 1);
    found.collect()
}

#[test]
fn the_newest_marker_that_folds_is_the_checkpoints() {
    let is = |marked: &[(usize, &str)], expected: &[(&str, &str)]| {
        let found = shown(marked);
        let found: Vec<(&str, &str)> = found.iter().map(|(at, ttl)| (*at, ttl.as_str())).collect();
        assert_eq!(found, expected, "{marked:?}");
    };
    is(&[], &[]);
    is(&[(2, "1h"), (8, "5m")], &[("checkpoint", "5m")]);
    is(&[(0, "1h"), (8, "1h")], &[("task", "1h"), ("checkpoint", "1h")]);
    is(&[(0, "1h")], &[("task", "1h")]);
    // What lives as long ends all that is before it, too.
    is(&[(8, "1h"), (60, "1h")], &[("tail", "1h")]);
    is(&[(8, "1h"), (60, "5m")], &[("checkpoint", "1h"), ("tail", "5m")]);
}
