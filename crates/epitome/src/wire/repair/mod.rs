//! Mending a request the least way: each breach by no more than its offending parts.

mod ends;
mod frame;
mod lists;
mod patch;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::breach::place;
use super::inspect::{Spans, taken};
use super::rules::Mend;
use super::{Finding, RuleId, check_except, inspect, parse};
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Slot};
use patch::Patch;

/// A breach that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mended {
    /// The rule that was broken.
    pub rule: RuleId,
    /// Index of the offending entry, in the request as it came.
    pub entry: Option<usize>,
    /// Where around the entries it was: the path of a member of the body.
    pub member: Option<String>,
    /// What was found.
    pub detail: String,
    /// What was done.
    pub mend: Cow<'static, str>,
}

impl Mended {
    /// Where it was, as a path into the request as it came; `None` in an entry that a mend made.
    pub fn place(&self) -> Option<String> {
        let known = self.member.is_some() || self.entry.is_some();
        known.then(|| place(self.member.as_deref(), self.entry.unwrap_or_default()))
    }
}

/// A request without the breaches that can be mended.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The mended request; the very same if nothing was broken.
    pub request: Request,
    /// What was mended, in order.
    pub mended: Vec<Mended>,
    /// What only the author can mend.
    pub left: Vec<Finding>,
    /// For each entry of the mended request, the entry it was.
    pub came_from: Vec<Option<usize>>,
}

/// One mend can lay bare another breach (a dropped part empties its message); a chain is short.
const MOST_ROUNDS: usize = 16;

/// Mends what can be mended.
pub fn repair(request: &Request) -> Repaired {
    repair_except(request, &[])
}

/// Mends what can be mended, but for breaches of the rules that are waived.
pub fn repair_except(request: &Request, waived: &[RuleId]) -> Repaired {
    mend(request, check_except(request, waived), |request| check_except(request, waived))
}

/// Mends what can be mended of all that [`inspect`] finds, but for breaches of the rules that are waived.
pub fn repair_inspected(request: &Request, waived: &[RuleId]) -> Repaired {
    mend(request, inspect(request, waived), |request| inspect(request, waived))
}

/// Mends what can be mended of what [`check`](super::check) found.
pub(crate) fn repair_found(request: &Request, findings: Vec<Finding>) -> Repaired {
    mend(request, findings, |request| check_except(request, &[]))
}

fn mend(
    request: &Request,
    mut findings: Vec<Finding>,
    check: impl Fn(&Request) -> Vec<Finding>,
) -> Repaired {
    let mut current = request.clone();
    let mut came_from: Vec<Option<usize>> = (0..request.transcript.len()).map(Some).collect();
    let mut mended = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let (open, left): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.mend != Mend::Nothing);
        if open.is_empty() {
            return Repaired { request: current, mended, left, came_from };
        }
        // What stands around the entries is mended by itself; the rest is found again.
        let (frame, inside): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|finding| frame::is_of(&current, &finding.mend));
        let (inside, moved) = beside_moves(&current, inside);
        let (open, mut rest) = if frame.is_empty() { (inside, frame) } else { (frame, inside) };
        rest.extend(moved);
        let (text, origins) = match frame::mended(&current, &open) {
            Some(text) => (text, (0..current.transcript.len()).map(Some).collect()),
            None => Patch::of(&current, &open).apply(&current),
        };
        // A request of nothing is no request, nor is what can't be read, so the last breaches stay.
        let next = Some(text).filter(|_| !origins.is_empty());
        let Some(next) = next.and_then(|text| parse(current.format, text).ok()) else {
            let mut left: Vec<_> = open.into_iter().chain(rest).chain(left).collect();
            for finding in &mut left {
                finding.mend = Mend::Nothing;
            }
            return Repaired { request: current, mended, left, came_from };
        };
        for finding in open {
            mended.push(Mended {
                rule: finding.rule,
                // What stands around the entries is of none.
                entry: came_from
                    .get(finding.entry)
                    .copied()
                    .flatten()
                    .filter(|_| finding.member.is_none()),
                member: finding.member,
                detail: finding.detail,
                mend: words(&finding.mend).into(),
            });
        }
        came_from = origins.into_iter().map(|origin| origin.and_then(|at| came_from[at])).collect();
        current = Request { addressed: request.addressed.clone(), ..next };
        keep_origins(request, &mut current, &came_from);
        findings = check(&current);
    }
    Repaired { request: current, mended, left: findings, came_from }
}

/// Findings outside of what others move, and those inside, which are found again after the move.
fn beside_moves(request: &Request, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Finding>) {
    let moved = |found: &Finding| match &found.mend {
        Mend::Lead(result) | Mend::MoveResult { result, .. } => {
            let entry = request.transcript.entry(request.transcript.entry_of(*result));
            let is_message = entry.role() == Role::Tool;
            let part = request.transcript.part(*result).row().span;
            Some(if is_message { entry.span() } else { part })
        }
        _ => None,
    };
    let moved = Spans::of(findings.iter().filter_map(moved).collect());
    findings.into_iter().partition(|found| {
        let taken = taken(request, found);
        taken.is_empty() || !taken.iter().all(|span| moved.hold(*span))
    })
}

/// The request without these parts, and for each of its entries the entry it was; `None` if nothing would be left.
pub(crate) fn without(request: &Request, slots: &[Slot]) -> Option<(Request, Vec<Option<usize>>)> {
    let (text, origins) = Patch::without(request, slots).apply(request);
    let next = parse(request.format, text).ok().filter(|_| !origins.is_empty())?;
    Some((Request { addressed: request.addressed.clone(), ..next }, origins))
}

/// Whether nothing would be left of a request from which all leaves that the findings let leave.
pub(super) fn leaves_nothing(request: &Request, findings: &[Finding]) -> bool {
    let (len, patch) = (request.transcript.len(), Patch::of(request, findings));
    let is_made_up = || patch.apply(request).1.iter().all(Option::is_none);
    len > 0 && patch.dropped().len() == len && is_made_up()
}

/// Entries whose speaker a recording knew keep their speaker.
pub(crate) fn keep_origins(from: &Request, to: &mut Request, came_from: &[Option<usize>]) {
    for (index, origin) in came_from.iter().enumerate() {
        let Some(old) = origin.map(|at| from.transcript.entry(at)) else { continue };
        let speaks = |p: &Part<'_>| {
            matches!(p.kind(), PartKind::Text | PartKind::Media) && !p.is(Marks::NESTED)
        };
        let was: Vec<_> = old.parts().filter(speaks).map(|p| (p.raw(), p.origin())).collect();
        let now: Vec<_> =
            to.transcript.entry(index).parts().filter(speaks).map(|p| p.slot).collect();
        // Parts may have left; what stays says the same.
        let mut was = was.into_iter();
        for slot in now {
            let raw = to.transcript.part(slot).raw();
            if let Some((_, origin)) = was.find(|(old, _)| *old == raw) {
                to.transcript.set_part_origin(slot, origin);
            }
        }
    }
}

fn words(mend: &Mend) -> &'static str {
    match mend {
        Mend::Nothing => "left as it is",
        Mend::DropPart(_) => "dropped the part",
        Mend::DropEntry => "dropped the message",
        Mend::Answer(_) => "added a result that says that there is none",
        Mend::MoveResult { .. } => "moved the result behind its call",
        Mend::Lead(_) => "moved the result to the front",
        Mend::Rename { .. } => "gave the call and its result a fresh id",
        Mend::CallTool { .. } => "gave the call's tool a name that is allowed",
        Mend::Retype { .. } => "gave it the type demanded",
        Mend::Replace(..) => "put a block of the format's own in its place",
        Mend::Rewrite { .. } => "rewrote the arguments in the form demanded",
        Mend::Label { .. } => "gave the result its call's name",
        Mend::Sign(_) => "gave the call the signature of calls that the model didn't make",
        Mend::Join { .. } => "joined the message to the one before it",
        Mend::DefineTools => "defined the tools that were called",
        Mend::Unmark(_) => "left out the cache marker",
        Mend::LeaveOut(_) => "left it out",
        Mend::Overwrite { .. } => "wrote the value in the form demanded",
        Mend::AddMember { .. } => "added the member",
        Mend::Shorten(_) => "made the cache marker one for five minutes",
        Mend::LeadIn => "put a note in the user's role first",
        Mend::SpeakAsUser => "changed the role to the user's",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Origin;
    use crate::wire::Format;

    fn read(format: Format, list: &str, messages: &[&str]) -> Request {
        let body = format!(r#"{{"{list}":[{}]}}"#, messages.join(","));
        parse(format, body).expect("it is JSON")
    }

    fn done(repaired: &Repaired) -> Vec<&str> {
        repaired.mended.iter().map(|mended| &*mended.mend).collect()
    }

    fn raws(repaired: &Repaired) -> Vec<&str> {
        repaired.request.transcript.entries().map(|entry| entry.raw()).collect()
    }

    const USER: &str = r#"{"role":"user","content":"x"}"#;
    const CALL: &str =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    const REPLY: &str = r#"{"role":"assistant","content":"y"}"#;

    #[test]
    fn nothing_goes_into_a_message_that_leaves() {
        let empty = r#"{"role":"user","content":""}"#;
        let orphan =
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}"#;
        for leaving in [empty, orphan] {
            let messages = [USER, CALL, leaving, REPLY, USER];
            let repaired = repair(&read(Format::Anthropic, "messages", &messages));
            assert_eq!(repaired.mended.len(), 2, "{:?}", repaired.mended);
            assert_eq!(repaired.came_from, [Some(0), Some(1), None, Some(3), Some(4)]);
            assert!(repaired.left.is_empty(), "{:?}", repaired.left);
        }
    }

    #[test]
    fn what_would_leave_nothing_is_not_promised() {
        let empty = r#"{"role":"user","content":""}"#;
        for format in [Format::OpenaiChat, Format::Anthropic] {
            let alone = read(format, "messages", &[r#"{"role":"user","content":null}"#]);
            let found = check_except(&alone, &[]);
            assert!(found.iter().all(|found| found.mend == Mend::Nothing), "{found:?}");
            assert!(!found.is_empty());
            let repaired = repair(&alone);
            assert_eq!((repaired.mended.len(), repaired.left), (0, found));
            let nothing = check_except(&read(format, "messages", &[]), &[]);
            assert!(nothing[0].rule.0.ends_with("/no-messages"), "{nothing:?}");
        }
        let beside = check_except(&read(Format::Anthropic, "messages", &[empty, USER]), &[]);
        assert!(beside.iter().any(|found| found.mend != Mend::Nothing), "{beside:?}");
    }

    #[test]
    fn who_spoke_is_remembered() {
        let orphan = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"text","text":"note"}]}"#;
        let mut request = read(Format::Anthropic, "messages", &[USER, REPLY, orphan]);
        let note = request.transcript.entry(2).parts().next_back().expect("the note").slot;
        request.transcript.set_part_origin(note, Origin::Injected);
        let repaired = repair(&request);
        assert_eq!(done(&repaired), ["dropped the part"]);
        let origins = repaired
            .request
            .transcript
            .entries()
            .map(|entry| entry.parts().map(|part| part.origin()).collect::<Vec<_>>());
        let origins: Vec<_> = origins.flatten().collect();
        assert_eq!(origins, [Origin::Human, Origin::Model, Origin::Injected]);
    }

    #[test]
    fn what_drops_all_of_a_message_drops_it_at_once() {
        for block in [
            r#"{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"x"}]}"#,
            r#"{"type":"text","text":""}"#,
        ] {
            let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
            let repaired = repair(&read(Format::Anthropic, "messages", &[USER, REPLY, &message]));
            assert_eq!(raws(&repaired), [USER, REPLY]);
            assert_eq!(done(&repaired), ["dropped the part"], "{block}");
        }
    }

    #[test]
    fn a_result_loses_an_element_and_stays() {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
        let result =
            r#"{"role":"tool","tool_call_id":"a","content":[7,{"type":"text","text":"x"}]}"#;
        let repaired = repair(&read(Format::OpenaiChat, "messages", &[USER, call, result]));
        assert_eq!(raws(&repaired)[2], result.replace("7,", ""));
    }

    #[test]
    fn an_answer_goes_into_the_message_behind_the_models_turn() {
        let repaired = repair(&read(Format::Anthropic, "messages", &[USER, CALL, REPLY, USER]));
        assert_eq!(repaired.came_from, [Some(0), Some(1), Some(2), Some(3)]);
        assert!(repaired.request.transcript.entry(3).has_results());
    }

    #[test]
    fn an_answer_has_a_message_of_its_own_where_the_next_one_is_no_users() {
        let system = r#"{"role":"system","content":"note"}"#;
        let repaired = repair(&read(Format::Anthropic, "messages", &[USER, CALL, system, USER]));
        assert_eq!(repaired.came_from[..3], [Some(0), Some(1), None]);
        assert!(repaired.request.transcript.entry(2).has_results());
        let behind = repaired.request.transcript.entry(3);
        assert_eq!(behind.role(), Role::User);
        assert!(behind.raw().contains(r"<system-reminder>\nnote\n</system-reminder>"));
    }

    #[test]
    fn a_name_that_is_there_is_replaced() {
        let task = r#"{"role":"user","parts":[{"text":"x"}]}"#;
        let call = r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]}"#;
        let result =
            r#"{"role":"user","parts":[{"functionResponse":{"id":"a","name":"","response":{}}}]}"#;
        let repaired = repair(&read(Format::Gemini, "contents", &[task, call, result]));
        assert_eq!(raws(&repaired)[2], result.replace(r#""name":"""#, r#""name":"f""#));
    }

    /// On Bedrock, where messages of one side are joined and results stand in one message.
    #[test]
    fn what_leaves_is_not_joined_and_a_last_result_gets_a_message() {
        let said = |text: &str| format!(r#"{{"role":"user","content":[{{"text":"{text}"}}]}}"#);
        let (task, blank) = (said("x"), said(""));
        let repaired = repair(&read(Format::Bedrock, "messages", &[&task, &blank]));
        assert_eq!(raws(&repaired), [&task]);
        let both = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}},{"toolResult":{"toolUseId":"a","content":[{"text":"y"}]}}]}"#;
        let repaired = repair(&read(Format::Bedrock, "messages", &[&task, both]));
        assert_eq!(repaired.came_from, [Some(0), Some(1), None]);
        assert!(repaired.request.transcript.entry(2).has_results());
    }

    #[test]
    fn an_answer_stands_before_what_the_providers_tool_gave() {
        let task = r#"{"role":"user","content":[{"text":"x"}]}"#;
        let call =
            |id: &str| format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"f","input":{{}}}}}}"#);
        let result = |id: &str| {
            format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"y"}}]}}}}"#)
        };
        let served = r#"{"toolResult":{"toolUseId":"s","type":"web_search_tool_result","content":[{"text":"z"}]}}"#;
        let calls = format!(r#"{{"role":"assistant","content":[{},{}]}}"#, call("a"), call("b"));
        let beside =
            |blocks: &[&str]| format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","));
        let (a, b) = (result("a"), result("b"));
        // Missing, behind it, and one on each side.
        for message in [beside(&[served]), beside(&[served, &a, &b]), beside(&[&a, served, &b])] {
            let repaired = repair(&read(Format::Bedrock, "messages", &[task, &calls, &message]));
            assert!(repaired.left.is_empty(), "{:?}", repaired.left);
            let ids: Vec<String> = repaired
                .request
                .transcript
                .entry(2)
                .parts()
                .filter(|part| part.kind() == PartKind::Result)
                .map(|part| part.id().into_owned())
                .collect();
            assert_eq!(ids, ["a", "b", "s"], "{message}");
        }
    }

    #[test]
    fn a_result_that_shows_a_medium_and_says_nothing_is_left_as_it_is() {
        let task = r#"{"role":"user","parts":[{"text":"x"}]}"#;
        let call = r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]}"#;
        let shown = r#"{"functionResponse":{"id":"a","name":"f","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}"#;
        let orphan = r#"{"functionResponse":{"id":"b","name":"g","response":{}}}"#;
        let results = format!(r#"{{"role":"user","parts":[{shown},{orphan}]}}"#);
        let repaired = repair(&read(Format::Gemini, "contents", &[task, call, &results]));
        assert!(repaired.left.is_empty(), "{:?}", repaired.left);
        let left = raws(&repaired)[2];
        assert!(left.contains(r#""inlineData""#) && !left.contains(r#""b""#), "{left}");
    }

    #[test]
    fn a_signature_that_is_none_is_written_anew_where_it_stands() {
        let task = r#"{"role":"user","parts":[{"text":"x"}]}"#;
        for none in [
            r#""thoughtSignature":null"#,
            r#""thought_signature":[]"#,
            r#""thoughtSignature":"","thoughtSignature":7"#,
        ] {
            let call = format!(
                r#"{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{{}}}},{none}}}]}}"#
            );
            let shown =
                r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
            let body =
                format!(r#"{{"model":"gemini-3-pro-preview","contents":[{task},{call},{shown}]}}"#);
            let request = crate::wire::parse(Format::Gemini, body).expect("a request");
            let repaired = repair(&request);
            assert!(repaired.left.is_empty(), "{:?}", repaired.left);
            let said = repaired.request.source();
            assert_eq!(
                said.matches("ignature\":").count(),
                none.matches("ignature\":").count(),
                "{said}"
            );
            assert_eq!(
                said.matches(crate::wire::FOREIGN_CALL).count(),
                none.matches("ignature\":").count()
            );
        }
    }
}
