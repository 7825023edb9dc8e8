//! OpenAI Responses: calls and outputs wherever they stand, items' own ids, thoughts, payloads.

use epitome::wire::{self, Format};
use expect_test::expect;

use super::check;

const ASK: &str = r#"{"role":"user","content":"Go."}"#;
const SAY: &str = r#"{"role":"assistant","content":"Well."}"#;

fn body(frame: &str, items: &[&str]) -> String {
    format!("{{{frame}\"input\":[{}]}}", items.join(","))
}

fn items(items: &[&str]) -> String {
    body("", items)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"function_call","call_id":{id},"name":"f","arguments":"{{}}"}}"#)
}

fn output(id: &str) -> String {
    format!(r#"{{"type":"function_call_output","call_id":{id},"output":"x"}}"#)
}

/// The API refuses a thought without a summary, so that no conversion and no compaction leaves it without.
#[test]
fn a_thought_has_a_summary() {
    for (odd, mended) in [
        (r#"{"type":"reasoning","encrypted_content":"x"}"#, r#"{"summary":[],"type":"#),
        (r#"{"type":"reasoning","summary":null,"encrypted_content":"x"}"#, r#""summary":[],"enc"#),
    ] {
        let request = wire::parse(Format::OpenaiResponses, items(&[ASK, odd, SAY])).expect("items");
        let found: Vec<_> = wire::inspect(&request, &[]).iter().map(|found| found.rule.0).collect();
        assert_eq!(found, ["responses/missing"]);
        let repaired = wire::repair(&request);
        assert!(repaired.request.source().contains(mended), "{}", repaired.request.source());
        assert_eq!(wire::inspect(&repaired.request, &[]), []);
    }
}

#[test]
fn a_call_is_over_when_somebody_spoke_since() {
    let (a, b) = (call(r#""a""#), call(r#""b""#));
    let (of_a, of_b) = (output(r#""a""#), output(r#""b""#));
    let summary = r#"{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"}"#;
    let screen =
        r#"{"type":"computer_call","call_id":"a","id":"cu_1","action":{"type":"screenshot"}}"#;
    let named = r#"{"type":"function_call_output","name":"f","output":"x"}"#;
    let reference = r#"{"type":"item_reference","id":"fc_9"}"#;
    check(
        Format::OpenaiResponses,
        &[
            ("open", items(&[ASK, &a])),
            ("open behind what came before", items(&[ASK, &a, &of_a, ASK, &b])),
            ("open beside something that asks nothing", items(&[ASK, &a, summary])),
            ("one of a batch is open", items(&[ASK, &a, &b, &of_b])),
            ("a person spoke", items(&[ASK, &a, ASK])),
            (
                "an approval came",
                items(&[
                    ASK,
                    &a,
                    r#"{"type":"mcp_approval_response","approval_request_id":"m","approve":true}"#,
                ]),
            ),
            ("the model spoke", items(&[ASK, &a, SAY])),
            ("a screenshot", items(&[ASK, screen, ASK])),
            ("a reference may be its output", items(&[ASK, &a, reference, ASK])),
            ("a reference before it can't be", items(&[ASK, reference, &a, ASK])),
            ("an output before its call", items(&[ASK, &of_a, &a])),
            ("an output without a call", items(&[ASK, &of_a])),
            ("an output whose call may be referred to", items(&[ASK, reference, &of_a])),
            ("an output of a tool that is named", items(&[ASK, named])),
            ("two outputs whose call may be referred to", items(&[ASK, reference, &of_a, &of_a])),
            ("an output of a call that comes later", items(&[ASK, reference, &of_a, &a, ASK])),
            (
                "an output before its call, which has one",
                items(&[ASK, reference, &of_a, &a, &of_a, ASK]),
            ),
            ("an output of nothing, behind a reference", items(&[ASK, reference, &output("null")])),
        ],
        &expect![[r#"
            open: sound
            open behind what came before: sound
            open beside something that asks nothing: sound
            one of a batch is open
              responses/answered in 1: `a` Answer(Slot(1))
            a person spoke
              responses/answered in 1: `a` Answer(Slot(1))
            an approval came
              responses/answered in 1: `a` Answer(Slot(1))
            the model spoke: sound
            a screenshot
              responses/answered in 1: `a` DropPart(Slot(2))
            a reference may be its output: sound
            a reference before it can't be
              responses/answered in 2: `a` Answer(Slot(3))
            an output before its call
              responses/output-place in 1: `a` comes before its call MoveResult { result: Slot(1), call: Slot(2) }
            an output without a call
              responses/orphan in 1: no call with call_id `a` DropPart(Slot(1))
            an output whose call may be referred to: sound
            an output of a tool that is named: sound
            two outputs whose call may be referred to
              responses/duplicate-output in 3: `a` is already answered DropPart(Slot(4))
            an output of a call that comes later
              responses/output-place in 2: `a` comes before its call MoveResult { result: Slot(3), call: Slot(4) }
            an output before its call, which has one
              responses/duplicate-output in 2: `a` is already answered DropPart(Slot(3))
            an output of nothing, behind a reference
              responses/orphan in 2: no call with call_id `` DropPart(Slot(3))
        "#]],
    );
}

#[test]
fn an_output_of_another_kind_keeps_what_it_says() {
    let custom = |id: &str| {
        format!(r#"{{"type":"custom_tool_call","call_id":"{id}","name":"f","input":"x"}}"#)
    };
    let of_custom =
        |id: &str| format!(r#"{{"type":"custom_tool_call_output","call_id":"{id}","output":"x"}}"#);
    let cases = [
        ("a function's for a custom call", items(&[ASK, &custom("a"), &output(r#""a""#), ASK])),
        ("a custom one for a function", items(&[ASK, &call(r#""a""#), &of_custom("a"), ASK])),
        ("before its call", items(&[ASK, &output(r#""a""#), &custom("a")])),
    ];
    check(
        Format::OpenaiResponses,
        &cases,
        &expect![[r#"
        a function's for a custom call
          responses/orphan in 2: `a` is answered by a custom_tool_call_output Overwrite { value: Span { start: 115, end: 137 }, json: "\"custom_tool_call_output\"" }
        a custom one for a function
          responses/orphan in 2: `a` is answered by a function_call_output Overwrite { value: Span { start: 117, end: 142 }, json: "\"function_call_output\"" }
        before its call
          responses/orphan in 1: no call with call_id `a` DropPart(Slot(1))
    "#]],
    );
    for (what, body) in &cases[..2] {
        let request = wire::parse(Format::OpenaiResponses, body.clone()).expect("a request");
        let repaired = wire::repair(&request).request;
        let text = repaired.source().to_string();
        assert!(
            text.contains(r#""output":"x""#) && !text.contains("interrupted"),
            "{what}: {text}"
        );
        assert!(wire::check(&repaired).is_empty(), "{what}: {text}");
    }
}

#[test]
fn words_that_were_the_models_keep_none_of_its_members() {
    let said = r#"{"role":"user","content":[{"type":"output_text","text":"hi","annotations":[]}]}"#;
    let request = wire::parse(Format::OpenaiResponses, items(&[said])).expect("a request");
    let repaired = wire::repair(&request).request;
    assert!(repaired.source().contains(r#"[{"type":"input_text","text":"hi"}]"#));
    assert_eq!(wire::inspect(&repaired, &[]), []);
}

#[test]
fn call_ids_are_strings_of_few_characters_used_once() {
    let of = |id: &str| items(&[ASK, &call(id), &output(id)]);
    let quoted = |letters: usize| format!("\"{}\"", "i".repeat(letters));
    let twice = |id: &str| items(&[ASK, &call(id), &output(id), &call(id), &output(id)]);
    check(
        Format::OpenaiResponses,
        &[
            ("as long as may be", of(&quoted(64))),
            ("longer", of(&quoted(65))),
            ("as long as may be, twice", twice(&quoted(64))),
            ("none", of(r#""""#)),
            ("a number in the call", items(&[ASK, &call("7"), &output(r#""7""#)])),
            ("a number in the output", items(&[ASK, &call(r#""7""#), &output("7")])),
            ("a number in both", of("7")),
        ],
        &expect![[r#"
            as long as may be: sound
            longer
              responses/long-call-id in 1: 65 characters Rename { slots: [Slot(1), Slot(2)], to: "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii_2" }
            as long as may be, twice
              responses/reused-call-id in 3: `iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii` again Rename { slots: [Slot(3), Slot(4)], to: "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii_2" }
            none
              responses/reused-call-id in 1: no call_id Rename { slots: [Slot(1), Slot(2)], to: "call_2" }
            a number in the call
              responses/reused-call-id in 1: the call_id `7` isn't a string Rename { slots: [Slot(1), Slot(2)], to: "7_2" }
            a number in the output
              responses/reused-call-id in 1: the call_id `7` isn't a string Rename { slots: [Slot(1), Slot(2)], to: "7_2" }
            a number in both
              responses/reused-call-id in 1: the call_id `7` isn't a string Rename { slots: [Slot(1), Slot(2)], to: "7_2" }
        "#]],
    );
}

#[test]
fn items_have_ids_of_their_kind_each_once() {
    let thought = |id: &str| {
        format!(r#"{{"type":"reasoning","id":"{id}","summary":[],"encrypted_content":"c2ln"}}"#)
    };
    let message = r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]}"#;
    let served = r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}"#;
    let reference = r#"{"type":"item_reference","id":"fc_9"}"#;
    check(
        Format::OpenaiResponses,
        &[
            ("a thought's", items(&[ASK, &thought("rs_1"), SAY])),
            ("not a thought's", items(&[ASK, &thought("zz_1"), SAY])),
            ("a thought twice", items(&[ASK, &thought("rs_1"), SAY, &thought("rs_1"), SAY])),
            ("a message twice", items(&[ASK, message, message])),
            ("what was served twice", items(&[ASK, served, SAY, served, SAY])),
            ("a reference twice", items(&[ASK, reference, reference])),
        ],
        &expect![[r#"
            a thought's: sound
            not a thought's
              responses/item-id in 1: zz_1 DropPart(Slot(1))
            a thought twice
              responses/duplicate-item in 3: rs_1 DropEntry
            a message twice
              responses/duplicate-item in 2: msg_1 DropPart(Slot(3))
            what was served twice
              responses/duplicate-item in 3: ws_1 DropPart(Slot(4))
            a reference twice
              responses/duplicate-item in 2: fc_9 DropEntry
        "#]],
    );
}

#[test]
fn what_is_not_stored_is_said_whole() {
    let thought = |more: &str| format!(r#"{{"type":"reasoning","id":"rs_1","summary":[]{more}}}"#);
    let unstored = |item: &str| body(r#""store":false,"#, &[ASK, item, SAY]);
    let reference = r#"{"type":"item_reference","id":"rs_9"}"#;
    check(
        Format::OpenaiResponses,
        &[
            ("an id alone", unstored(&thought(""))),
            ("stored", items(&[ASK, &thought(""), SAY])),
            ("sealed", unstored(&thought(r#","encrypted_content":"c2ln""#))),
            (
                "in the clear",
                unstored(&thought(r#","content":[{"type":"reasoning_text","text":"x"}]"#)),
            ),
            ("with an empty list", unstored(&thought(r#","content":[]"#))),
            ("with nothing", unstored(&thought(r#","content":null"#))),
            ("a reference", unstored(reference)),
        ],
        &expect![[r#"
            an id alone
              responses/stored in 1: only an id, and nothing is stored DropEntry
            stored: sound
            sealed: sound
            in the clear: sound
            with an empty list
              responses/stored in 1: only an id, and nothing is stored DropEntry
            with nothing
              responses/stored in 1: only an id, and nothing is stored DropEntry
            a reference
              responses/stored in 1: only an id, and nothing is stored Nothing
        "#]],
    );
}

#[test]
fn a_thought_with_its_id_is_followed_by_what_came_of_it() {
    let thought = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}"#;
    let nameless = thought.replace(r#""id":"rs_1","#, "");
    check(
        Format::OpenaiResponses,
        &[
            ("by words", items(&[ASK, thought, SAY])),
            (
                "by an item that isn't known",
                items(&[ASK, thought, r#"{"type":"future","id":"x_1"}"#]),
            ),
            ("by a trigger", items(&[ASK, thought, r#"{"type":"compaction_trigger"}"#])),
            (
                "by what a client sets",
                items(&[ASK, thought, r#"{"type":"configuration_update","reasoning":{}}"#, SAY]),
            ),
            ("by a person", items(&[ASK, thought, ASK])),
            ("by nothing", items(&[ASK, thought])),
            ("by nothing, without an id", items(&[ASK, &nameless])),
        ],
        &expect![[r#"
            by words: sound
            by an item that isn't known: sound
            by a trigger
              responses/reasoning-follows in 1: nothing of the model's follows DropEntry
            by what a client sets
              responses/reasoning-follows in 1: nothing of the model's follows DropEntry
            by a person
              responses/reasoning-follows in 1: nothing of the model's follows DropEntry
            by nothing
              responses/reasoning-follows in 1: nothing of the model's follows DropEntry
            by nothing, without an id: sound
        "#]],
    );
}

#[test]
fn payloads_are_of_their_kind() {
    let pair = |kind: &str, payload: &str| {
        let of_call = format!(r#"{{"type":"{kind}","call_id":"a","name":"f"{payload}}}"#);
        items(&[
            ASK,
            &of_call,
            &format!(r#"{{"type":"{kind}_output","call_id":"a","output":"x"}}"#),
        ])
    };
    let gave = |kind: &str, output: &str| {
        let action = r#","action":{"type":"exec","command":["ls"],"commands":["ls"]},"operation":{"type":"delete_file","path":"x"},"arguments":"{}","input":"x""#;
        let of_call = format!(r#"{{"type":"{kind}","call_id":"a","name":"f"{action}}}"#);
        items(&[ASK, &of_call, &format!(r#"{{"type":"{kind}_output","call_id":"a"{output}}}"#)])
    };
    let text =
        |kind: &str| format!(r#"{{"role":"user","content":[{{"type":"{kind}","text":"x"}}]}}"#);
    check(
        Format::OpenaiResponses,
        &[
            ("no arguments", pair("function_call", "")),
            ("no input", pair("custom_tool_call", "")),
            ("arguments that are no string", pair("function_call", r#","arguments":{"a":1}"#)),
            ("no output", gave("function_call", "")),
            (
                "an output that is a list",
                gave("function_call", r#","output":[{"type":"input_text","text":"x"}]"#),
            ),
            ("an output that is neither", gave("function_call", r#","output":{"a":1}"#)),
            ("a patch's list", gave("apply_patch_call", r#","output":[1]"#)),
            ("a patch's, without", gave("apply_patch_call", r#","status":"completed""#)),
            (
                "a shell's list",
                gave(
                    "shell_call",
                    r#","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]"#,
                ),
            ),
            ("a shell's words", gave("shell_call", r#","output":"x""#)),
            ("a model's text of a person's", items(&[&text("output_text")])),
            ("a person's text", items(&[&text("input_text")])),
        ],
        &expect![[r#"
            no arguments
              responses/arguments in 1: a Rewrite { slot: Slot(1), json: "\"{}\"" }
            no input
              responses/arguments in 1: a Rewrite { slot: Slot(1), json: "\"\"" }
            arguments that are no string
              responses/arguments in 1: a Rewrite { slot: Slot(1), json: "\"{\\\"a\\\":1}\"" }
            no output
              responses/output in 2: a Rewrite { slot: Slot(2), json: "\"\"" }
            an output that is a list: sound
            an output that is neither
              responses/output in 2: a Rewrite { slot: Slot(2), json: "\"{\\\"a\\\":1}\"" }
              responses/content-type in 2: {"a":1} DropPart(Slot(3))
            a patch's list
              responses/output in 2: a Rewrite { slot: Slot(2), json: "\"[1]\"" }
            a patch's, without: sound
            a shell's list: sound
            a shell's words
              responses/output in 2: a Rewrite { slot: Slot(2), json: "[{\"stdout\":\"x\",\"stderr\":\"\",\"outcome\":{\"type\":\"timeout\"}}]" }
            a model's text of a person's
              responses/content-type in 0: output_text Retype { slot: Slot(0), to: "input_text" }
            a person's text: sound
        "#]],
    );
}

#[test]
fn the_providers_own_compaction_begins_at_a_thousand_tokens() {
    let at = |tokens: u64| {
        body(
            &format!(
                r#""context_management":[{{"type":"compaction","compact_threshold":{tokens}}}],"#
            ),
            &[ASK],
        )
    };
    check(
        Format::OpenaiResponses,
        &[("999", at(999)), ("1000", at(1_000))],
        &expect![[r#"
        999
          responses/compact-threshold in 0: 999 tokens Nothing
        1000: sound
    "#]],
    );
}

/// Found by chance: nothing found them, and the view was refused.
#[test]
fn what_is_no_block_is_dropped() {
    let said = |content: &str| {
        format!(
            r#"{{"input":[{{"role":"user","content":[{content}]}},{{"role":"user","content":"hi"}}]}}"#
        )
    };
    let output = |output: &str| {
        let call = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
        format!(
            r#"{{"input":[{call},{{"type":"function_call_output","call_id":"c","output":[{output}]}}]}}"#
        )
    };
    let text = r#"{"type":"input_text","text":"x"}"#;
    check(
        Format::OpenaiResponses,
        &[
            ("a number", said("42")),
            ("a string", said(&format!(r#""x",{text}"#))),
            ("an object without a type", said(&format!(r#"{text},{{"a":1}}"#))),
            ("in an output", output(&format!(r#"{text},null"#))),
            ("all of an output", output("[]")),
        ],
        &expect![[r#"
            a number
              responses/content-type in 0: 42 DropPart(Slot(0))
            a string
              responses/content-type in 0: "x" DropPart(Slot(0))
            an object without a type
              responses/content-type in 0: {"a":1} DropPart(Slot(1))
            in an output
              responses/content-type in 1: null DropPart(Slot(3))
            all of an output
              responses/content-type in 1: [] DropPart(Slot(2))
        "#]],
    );
}
