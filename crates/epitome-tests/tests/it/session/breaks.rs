//! What a client changes of the prompt that its provider's cache has.

use epitome::session::CacheBreak;

use super::*;

fn asked(model: &str, settings: &str, input: &str) -> Request {
    let body = format!(
        r#"{{"model":"{model}",{settings}"max_tokens":9,"messages":[{{"role":"user","content":"Fix it."}},
        {{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"run","input":{input}}}]}},
        {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"done"}}]}}]}}"#
    );
    epitome::wire::parse(Format::Anthropic, body).expect("a request")
}

#[test]
fn model_settings_and_order_of_members_break_what_is_cached() {
    let first = asked("claude-opus-5-5", "", r#"{"a":1,"b":{"c":2,"d":3}}"#);
    let (model, plain) = ("claude-opus-5-5", r#"{"a":1,"b":{"c":2,"d":3}}"#);
    let frame = Some(CacheBreak::Frame);
    for (model, settings, input, broke) in [
        (model, "", plain, None),
        (model, r#""temperature":1,"#, r#"{ "a": 1, "b": {"c": 2, "d": 3} }"#, None),
        ("claude-sonnet-5-5", "", plain, frame),
        (model, r#""tool_choice":{"type":"any"},"#, plain, frame),
        (model, r#""thinking":{"type":"adaptive"},"#, plain, frame),
        (model, r#""speed":"fast","#, plain, frame),
        (model, "", r#"{"a":1,"b":{"d":3,"c":2}}"#, Some(CacheBreak::Rewritten)),
    ] {
        let options = SessionOptions::new(trigger(When::Share(0.8)), ChainKey([1, 2, 3, 4]));
        let mut sessions = sessions(options);
        let before = sessions.observe("", &first, None, START);
        assert_eq!(before.broke, None);
        let next = asked(model, settings, input);
        let answer = sessions.observe("", &next, None, START);
        assert_eq!((answer.session, answer.broke), (before.session, broke), "{settings} {input}");
        let again = sessions.observe("", &next, None, START);
        assert_eq!(again.broke, None, "it goes on as it is now");
    }
}
