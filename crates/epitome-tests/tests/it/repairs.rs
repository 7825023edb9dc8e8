//! Law 2, from the outside: what is broken is mended by no more than its offending parts, and the
//! scripted provider, which was written without a look at the rules, agrees.

use std::collections::HashSet;

use epitome::transcript::PartKind;
use epitome::wire::{self, Finding, Format, Mend, Repaired, Request, RuleId};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use testkit::generate::{broken, cases, valid};
use testkit::{accepted, parse, show};

/// What no mend may lose: every part that isn't a call or result, wherever no breach is named.
fn touches_nothing_else(before: &Request, repaired: &Repaired) -> Result<(), TestCaseError> {
    let named: HashSet<usize> = repaired.mended.iter().filter_map(|mended| mended.entry).collect();
    let kept: HashSet<usize> = repaired.came_from.iter().flatten().copied().collect();
    prop_assert_eq!(repaired.came_from.len(), repaired.request.transcript.len());
    for entry in before.transcript.entries().filter(|entry| !named.contains(&entry.index)) {
        prop_assert!(kept.contains(&entry.index), "entry {} left without a word", entry.index);
    }
    for (after, from) in repaired.request.transcript.entries().zip(&repaired.came_from) {
        let Some(from) = from.filter(|from| !named.contains(from)) else { continue };
        let before = before.transcript.entry(from);
        // A batch that was named may be answered or renamed in the entry behind it.
        for part in before.parts().filter(|part| part.kind() != PartKind::Result) {
            let body = part.raw_body();
            prop_assert!(after.raw().contains(body), "{} became {}", before.raw(), after.raw());
        }
        // What follows in the same role may have been joined to it.
        let takes_more = before.parts().len() < after.parts().len();
        if !before.has_results() && !takes_more && before.raw() != after.raw() {
            prop_assert!(after.has_results(), "{} became {}", before.raw(), after.raw());
        }
    }
    Ok(())
}

/// What is drawn although the provider refuses it: thoughts that nobody signed.
fn is_drawn(rule: RuleId) -> bool {
    rule.0 == "anthropic/signature"
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn nothing_is_wrong_with_valid_ones(case in valid()) {
        let request = case.request();
        let (drawn, findings): (Vec<_>, Vec<_>) =
            wire::check(&request).into_iter().partition(|found| is_drawn(found.rule));
        prop_assert!(findings.is_empty(), "{:?}", findings);
        if !drawn.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(accepted(&request), Ok(()));
        let repaired = wire::repair(&request);
        prop_assert_eq!(repaired.request.source().as_str(), case.text.as_str());
        prop_assert!(repaired.mended.is_empty() && repaired.left.is_empty());
    }

    #[test]
    fn check_and_provider_agree(case in broken()) {
        let request = case.request();
        // The scripted provider takes an empty signature of nobody's.
        let findings = wire::check_except(&request, &[RuleId("anthropic/signature")]);
        let verdict = accepted(&request);
        prop_assert_eq!(findings.is_empty(), verdict.is_ok(), "{:?} but {:?}", findings, verdict);
    }

    #[test]
    fn broken_ones_are_mended(case in broken()) {
        let request = case.request();
        let repaired = wire::repair(&request);
        let left = wire::check(&repaired.request);
        prop_assert_eq!(left.len(), repaired.left.len());
        let is_over = |finding: &Finding| finding.mend == Mend::Nothing;
        prop_assert!(repaired.left.iter().all(is_over), "{:?}", repaired.left);
        // A request of which nothing would be left stays as it is.
        let would_be_empty = !repaired.left.is_empty();
        prop_assert!(left.iter().all(is_over) || would_be_empty, "{:?}", left);
        if left.is_empty() {
            let verdict = accepted(&repaired.request);
            prop_assert_eq!(verdict, Ok(()), "{}", repaired.request.source());
        }
        let again = wire::repair(&repaired.request);
        prop_assert!(again.mended.is_empty(), "{:?}", again.mended);
        prop_assert_eq!(again.request.source(), repaired.request.source());
        touches_nothing_else(&request, &repaired)?;
    }
}

/// The notation of what `repair` makes of `before`.
fn check(format: Format, before: &str, after: &Expect) {
    after.assert_eq(&show(&wire::repair(&parse(format, before)).request));
}

/// What fuzzing found: an absent member is as wrong as one that is something else.
#[test]
fn a_call_without_input_is_given_one() {
    let body = |block: &str| {
        format!(
            r#"[{{"role":"user","content":"hi"}},{{"role":"assistant","content":[{block}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"x"}}]}}]"#
        )
    };
    let without = body(r#"{"type":"tool_use","id":"a","name":"f"}"#);
    let request = wire::parse(Format::Anthropic, without).expect("it is JSON");
    let found: Vec<&str> = wire::check(&request).iter().map(|found| found.rule.0).collect();
    assert_eq!(found, ["anthropic/input"]);
    let mended = body(r#"{"input":{},"type":"tool_use","id":"a","name":"f"}"#);
    assert_eq!(wire::repair(&request).request.source().as_str(), mended);
}

#[test]
fn an_unanswered_call_is_answered() {
    let before = "
        user Fix it.
        asst call a Read | call b Read
        res  b = text
        user Go on.";
    check(
        Format::OpenaiChat,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {} | call b Read {}
        res  b = text
        res  a = [no result: this call was interrupted before its result was recorded]
        user Go on.
    "#]],
    );
    check(
        Format::Anthropic,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {} | call b Read {}
        res! a = [no result: this call was interrupted before its result was recorded]
        res  b = text
        user Go on.
    "#]],
    );
}

#[test]
fn an_open_batch_at_the_end_is_normal() {
    let before = "
        user Fix it.
        asst call a Read | call b Read";
    check(
        Format::OpenaiChat,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {} | call b Read {}
    "#]],
    );
}

#[test]
fn a_batch_answered_in_part_is_answered_whole() {
    let before = "
        user Fix it.
        asst call a Read | call b Read
        res  b = text";
    for format in [Format::OpenaiChat, Format::Anthropic] {
        let after = show(&wire::repair(&parse(format, before)).request);
        assert!(after.contains(" a = [no result:"), "{after}");
    }
}

#[test]
fn results_come_back_to_their_calls() {
    let before = "
        user Fix it.
        asst call a Read | res a = on the wrong side | Well then.
        user Go on.
        asst call b Read
        user Wait! | res b = late";
    check(
        Format::Anthropic,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {} | Well then.
        res  a = on the wrong side | Go on.
        asst call b Read {}
        res  b = late | Wait!
    "#]],
    );
}

#[test]
fn calls_without_an_id_get_one() {
    let before = r#"
        user Fix it.
        raw  {"role":"assistant","content":[{"type":"tool_use","name":"Read","input":{}}]}
        raw  {"role":"user","content":[{"type":"tool_result","content":"text"}]}"#;
    check(
        Format::Anthropic,
        before,
        &expect![[r#"
        user Fix it.
        asst call call_2 Read {}
        res  call_2 = text
    "#]],
    );
    let before = r#"
        user Fix it.
        raw  {"role":"assistant","tool_calls":[{"function":{"name":"Read","arguments":"{}"}}]}
        raw  {"role":"tool","content":null}"#;
    check(
        Format::OpenaiChat,
        before,
        &expect![[r#"
        user Fix it.
        asst call call_2 Read {}
        res  call_2 =
    "#]],
    );
}

#[test]
fn calls_of_the_older_form_need_none() {
    let before = "
        user Fix it.
        asst call a Read
        asst fn Read
        res  fn Read = text";
    check(
        Format::OpenaiChat,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {}
        res  a = [no result: this call was interrupted before its result was recorded]
        asst fn Read {}
        res  fn Read = text
    "#]],
    );
}

/// Results of the older form answer no id: what is added stands before them, right behind its call.
#[test]
fn a_result_is_added_before_one_of_the_older_form() {
    let before = "
        user Fix it.
        asst call a Read
        res  fn Read = text
        user Go on.";
    check(
        Format::OpenaiChat,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {}
        res  a = [no result: this call was interrupted before its result was recorded]
        res  fn Read = text
        user Go on.
    "#]],
    );
}

/// What is left of a message decides whether a result goes into it, so that no call is answered twice.
#[test]
fn no_result_goes_into_a_message_that_leaves() {
    let before = "
        user Fix it.
        asst call a Read
        res  zzz = text
        asst Done.
        user Go on.";
    let repaired = wire::repair(&parse(Format::Anthropic, before));
    let mended: Vec<&str> = repaired.mended.iter().map(|mended| mended.rule.0).collect();
    assert_eq!(mended, ["anthropic/answered", "anthropic/orphan"]);
    expect![[r#"
        user Fix it.
        asst call a Read {}
        res! a = [no result: this call was interrupted before its result was recorded]
        asst Done.
        user Go on.
    "#]]
    .assert_eq(&show(&repaired.request));
}

/// What the model said in several messages is one to its provider.
#[test]
fn a_result_is_added_behind_all_that_the_model_said() {
    let before = "
        user Fix it.
        asst call a Read
        asst Well.
        user Go on.";
    check(
        Format::Anthropic,
        before,
        &expect![[r#"
        user Fix it.
        asst call a Read {}
        asst Well.
        res! a = [no result: this call was interrupted before its result was recorded] | Go on.
    "#]],
    );
    // What stands behind it leaves.
    let before = before.replace("user Go on.", "res  zzz = text\nasst Done.\nuser Go on.");
    check(
        Format::Anthropic,
        &before,
        &expect![[r#"
        user Fix it.
        asst call a Read {}
        asst Well.
        res! a = [no result: this call was interrupted before its result was recorded]
        asst Done.
        user Go on.
    "#]],
    );
}

#[test]
fn human_words_keep_their_bytes_behind_an_added_result() {
    let body = r#"[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":"caf\u00e9"}]"#;
    let request = wire::parse(Format::Anthropic, body.to_owned()).expect("a request");
    let repaired = wire::repair(&request).request;
    assert!(repaired.source().contains(r#"{"type":"text","text":"caf\u00e9"}"#));
}

#[test]
fn lines_are_never_mended_to_nothing() {
    let line = r#"{"role":"user","content":[]}"#;
    let request = wire::parse(Format::Anthropic, line.to_owned()).expect("a request");
    let repaired = wire::repair(&request);
    assert_eq!(repaired.request.source().as_str(), line);
    assert_eq!(repaired.left.len(), 1);
}

#[test]
fn an_id_that_is_no_string_is_given_another_on_both_sides() {
    for id in ["7", "null", "1.5", "true"] {
        for (format, body) in [
            (
                Format::OpenaiChat,
                r#"[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"type":"function","id":@,"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":@,"content":"x"}]"#,
            ),
            (
                Format::Anthropic,
                r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":@,"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":@,"content":"x"}]}]"#,
            ),
            (
                Format::OpenaiResponses,
                r#"[{"role":"user","content":"a"},{"type":"function_call","call_id":@,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":@,"output":"x"}]"#,
            ),
        ] {
            let request = wire::parse(format, body.replace('@', id)).expect("a list");
            assert!(!wire::check(&request).is_empty(), "{format} {id}");
            let repaired = wire::repair(&request);
            assert_eq!(repaired.mended.len(), 1, "{format} {id}");
            let request = repaired.request;
            assert_eq!(wire::check(&request), [], "{}", request.source());
            let all = request.transcript.entries().flat_map(|entry| entry.parts());
            let ids: Vec<_> = all.map(|p| p.id()).filter(|id| !id.is_empty()).collect();
            assert!(ids.len() == 2 && ids[0] == ids[1], "{}", request.source());
        }
    }
}

#[test]
fn odd_content_is_dropped_and_nothing_else() {
    let mended = |format, body: &str| {
        let request = wire::parse(format, body.to_owned()).expect("a list");
        let repaired = wire::repair(&request);
        assert!(!repaired.mended.is_empty() && repaired.left.is_empty(), "{body}: {repaired:?}");
        repaired.request.source().to_string()
    };
    let chat = |body: &str| mended(Format::OpenaiChat, body);
    let user = r#"{"role":"user","content":"hi"}"#;
    assert_eq!(
        chat(r#"[{"role":"user","content":[1,null,{"type":"text","text":"x"}]}]"#),
        r#"[{"role":"user","content":[{"type":"text","text":"x"}]}]"#
    );
    assert_eq!(
        chat(&format!(r#"[{user},{{"role":"assistant","content":"a","tool_calls":"y"}}]"#)),
        format!(r#"[{user},{{"role":"assistant","content":"a"}}]"#)
    );
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
    let all = format!("[{user},{call},{result}]");
    assert_eq!(chat(&all.replace("null", "7")), all.replace(r#""content":null,"#, ""));
    assert_eq!(
        chat(&all.replace(r#""content":"x""#, r#""content":{"a":1}"#)),
        all.replace(r#""x""#, r#""{\"a\":1}""#)
    );
    assert_eq!(
        chat(&all.replace(r#""name":"f","#, "")),
        all.replace(r#""name":"f","#, r#""name":"unknown","#)
    );
    assert_eq!(
        mended(
            Format::Anthropic,
            &format!(r#"[{user},{{"role":"user","content":[7,{{"type":"text","text":"x"}}]}}]"#)
        ),
        format!(r#"[{user},{{"role":"user","content":[{{"type":"text","text":"x"}}]}}]"#)
    );
}

#[test]
fn words_that_stand_for_a_list_stay_words() {
    let bodies = [
        (r#"[{"role":"user","content":"hi"}]"#, r#"[{"role":"user","content":[{"text":"hi"}]}]"#),
        (r#"[{"role":"user","content":["hi"]}]"#, r#"[{"role":"user","content":[{"text":"hi"}]}]"#),
        // A list and none of one role are one message in the end.
        (
            r#"[{"role":"user","content":"hi"},{"role":"user","content":[{"text":"x"}]}]"#,
            r#"[{"role":"user","content":[{"text":"hi"},{"text":"x"}]}]"#,
        ),
    ];
    for (before, after) in bodies {
        let request = wire::parse(Format::Bedrock, before.to_owned()).expect("a list");
        assert_eq!(wire::repair(&request).request.source().as_str(), after);
    }
}

#[test]
fn escaped_keys_of_cache_markers_are_found() {
    let block = r#"{"type":"text","text":"x","cache\u005fcontrol":{"type":"ephemeral"}}"#;
    let body = format!(r#"[{{"role":"user","content":[{}]}}]"#, [block; 5].join(","));
    let request = wire::parse(Format::Anthropic, body).expect("a list");
    let repaired = wire::repair(&request);
    assert_eq!(repaired.mended.len(), 1);
    assert!(wire::check(&repaired.request).is_empty());
}

/// Several members into an object that has none.
#[test]
fn an_empty_call_is_given_all_that_it_lacks() {
    let bodies = [
        (
            Format::OpenaiChat,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{}]}]}"#,
        ),
        (
            Format::Bedrock,
            r#"{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{}}]},{"role":"assistant","content":[{"text":"c"}]}]}"#,
        ),
        (
            Format::Anthropic,
            r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use"}]}]}"#,
        ),
        (
            Format::Gemini,
            r#"{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{}}]}]}"#,
        ),
    ];
    for (format, body) in bodies {
        let request = wire::parse(format, body.to_owned()).expect("JSON");
        let mended = wire::repair(&request);
        assert!(
            mended.left.iter().all(|left| left.mend == Mend::Nothing),
            "{format:?}: {:?}",
            mended.left
        );
        let again = wire::check(&mended.request);
        assert_eq!(again.len(), mended.left.len(), "{format:?}: {again:?}");
    }
}

#[test]
fn a_system_message_that_sets_the_effort_needs_no_words() {
    let body = |system: &str| {
        format!(
            r#"{{"model":"claude-opus-5-5","messages":[{{"role":"user","content":"Go."}},{system},{{"role":"assistant","content":"Gone."}},{{"role":"user","content":"On."}}]}}"#
        )
    };
    let found = |system: &str| {
        let request = wire::parse(Format::Anthropic, body(system)).expect("a request");
        wire::check(&request).iter().map(|finding| finding.rule.0).collect::<Vec<_>>()
    };
    let sets = r#"{"role":"system","content":[],"output_config":{"effort":"medium"}}"#;
    assert_eq!(found(sets), Vec::<&str>::new());
    assert_eq!(found(r#"{"role":"system","content":[]}"#), ["anthropic/empty"]);
}
