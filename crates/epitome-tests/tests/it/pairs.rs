//! Law 2, from the inside: units cover a transcript and cut no pair.

use epitome::transcript::{
    Marks, PartKind, Transcript,
    unit::{Instructions, Units},
};
use epitome::view::View;
use epitome::{Format, Request, wire};
use proptest::prelude::*;
use testkit::generate::{Case, broken, cases, valid};

fn units_cover_and_cut_no_pair(case: &Case) -> Result<(), TestCaseError> {
    let request = case.request();
    let transcript = &request.transcript;
    for instructions in [Instructions::Anywhere, Instructions::BetweenUserAndReply] {
        these_cover_and_cut_no_pair(transcript, &Units::of(transcript, instructions))?;
    }
    Ok(())
}

fn these_cover_and_cut_no_pair(
    transcript: &Transcript,
    units: &Units,
) -> Result<(), TestCaseError> {
    let covered: Vec<usize> = units.all().iter().flat_map(|unit| unit.entries.clone()).collect();
    prop_assert_eq!(&covered, &(0..transcript.len()).collect::<Vec<_>>());
    for unit in units.all() {
        prop_assert!(!unit.entries.is_empty());
        prop_assert!(unit.entries.clone().all(|entry| units.all()[units.index_of(entry)] == *unit));
    }
    for pair in units.pairs() {
        let call = transcript.entry_of(pair.call);
        prop_assert_eq!(transcript.part(pair.call).kind(), PartKind::Call);
        let Some(result) = pair.result else { continue };
        prop_assert_eq!(units.call_of(result), Some(pair.call));
        let (from, to) = (transcript.part(pair.call), transcript.part(result));
        if from.id().is_empty() || to.id().is_empty() {
            prop_assert_eq!(from.name(), to.name());
        } else {
            prop_assert_eq!(from.id(), to.id());
        }
        prop_assert_eq!(units.index_of(call), units.index_of(transcript.entry_of(result)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn of_valid_transcripts(case in valid()) {
        units_cover_and_cut_no_pair(&case)?;
        // In a valid transcript every result has its call.
        let request = case.request();
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        // Or has it where the history is.
        if request.elsewhere().is_some() {
            return Ok(());
        }
        for entry in request.transcript.entries() {
            for part in entry.parts().filter(|p| p.kind() == PartKind::Result && !p.is(Marks::SERVER)) {
                prop_assert!(units.call_of(part.slot).is_some(), "{}", part.raw());
            }
        }
    }

    #[test]
    fn of_broken_transcripts(case in broken()) {
        units_cover_and_cut_no_pair(&case)?;
    }
}

/// A thread that Anthropic keeps: whether there is such a call nobody here knows, but nobody may answer it twice.
#[test]
fn a_call_elsewhere_is_answered_once() {
    let body = |results: &str| {
        format!(
            r#"{{"model":"claude-opus-5-5","max_tokens":64,"thread":{{"type":"continue","previous_message_id":"msg_1"}},
"messages":[{{"role":"user","content":[{results}]}}]}}"#
        )
    };
    let one = r#"{"type":"tool_result","tool_use_id":"toolu_01","content":"ok"}"#;
    let other = r#"{"type":"tool_result","tool_use_id":"toolu_02","content":"ok"}"#;
    let sound = wire::parse(Format::Anthropic, body(&format!("{one},{other}"))).expect("a body");
    assert_eq!(wire::check(&sound), []);
    let twice = body(&format!("{one},{other},{one}"));
    let request = wire::parse(Format::Anthropic, twice).expect("a body");
    let found: Vec<String> = wire::check(&request).iter().map(|f| f.rule.to_string()).collect();
    assert_eq!(found, ["anthropic/duplicate-result"]);
    let mended = wire::repair(&request).request;
    let whole = |request: &Request| wire::render(request, &View::whole(1));
    assert_eq!(whole(&mended), whole(&sound));
    // One that names none answers nothing.
    let nameless = r#"{"type":"tool_result","content":"ok"}"#;
    let request =
        wire::parse(Format::Anthropic, body(&format!("{one},{nameless},{other},{nameless}")));
    let request = request.expect("a body");
    let found: Vec<String> = wire::check(&request).iter().map(|f| f.rule.to_string()).collect();
    assert_eq!(found, ["anthropic/orphan", "anthropic/orphan"]);
    assert_eq!(whole(&wire::repair(&request).request), whole(&sound));
}

/// Results of calls that the thread made elsewhere come before anything else, also in a later message of the turn.
#[test]
fn results_of_a_continued_thread_lead_the_turn() {
    let body = |messages: &str| {
        format!(
            r#"{{"model":"claude-opus-5-5","max_tokens":64,"thread":{{"type":"continue","previous_message_id":"msg_1"}},
"messages":[{messages}]}}"#
        )
    };
    let user = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    let (text, odd) = (r#"{"type":"text","text":"Go on."}"#, r#"{"type":"t/ol_result","x":1}"#);
    let result = r#"{"type":"tool_result","tool_use_id":"toolu_01","content":"ok"}"#;
    let whole = |request: &Request| wire::render(request, &View::whole(request.transcript.len()));
    for (messages, mended) in [
        (user(&format!("{odd},{result}")), user(&format!("{result},{odd}"))),
        (user(&format!("{text},{odd},{result}")), user(&format!("{result},{text},{odd}"))),
        (format!("{},{}", user(text), user(result)), user(&format!("{result},{text}"))),
    ] {
        let request = wire::parse(Format::Anthropic, body(&messages)).expect("a body");
        let found: Vec<String> = wire::check(&request).iter().map(|f| f.rule.to_string()).collect();
        assert_eq!(found, ["anthropic/result-place"], "{messages}");
        assert_eq!(whole(&wire::repair(&request).request), body(&mended));
    }
}
