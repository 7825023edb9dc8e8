//! Law 2, from the outside: what is broken is mended by no more than its offending parts, and the
//! scripted provider, which was written without a look at the rules, agrees.

use std::collections::HashSet;

use epitome::transcript::PartKind;
use epitome::wire::{self, Finding, Format, Mend, Repaired, Request, RuleId};
use expect_test::expect_file;
use proptest::prelude::*;
use testkit::generate::{broken, cases, valid};
use testkit::{accepted, show};

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

/// What is mended, what can't be, and what it is then: in the notation if it was given so.
#[test]
fn what_is_mended_is_as_the_page_says() {
    testkit::page::check(&expect_file!["repairs.txt"], |case| {
        let (format, _) = case.format();
        let Repaired { request, mended, left, .. } = wire::repair(&case.request(format));
        let again = wire::check(&request);
        assert_eq!(again.len(), left.len(), "{again:?}");
        assert!(left.iter().all(|left| left.mend == Mend::Nothing), "{left:?}");
        let mended = mended.iter().map(|mended| format!("mended: {}\n", mended.rule));
        let left = left.iter().map(|left| format!("left: {}\n", left.rule));
        let drawn = if case.given.starts_with(['{', '[']) {
            request.source().to_string()
        } else {
            show(&request)
        };
        mended.chain(left).chain([drawn]).collect()
    });
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
