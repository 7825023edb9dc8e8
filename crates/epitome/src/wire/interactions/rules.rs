//! What Interactions demand: steps of known shapes, calls answered at once, by results that stand together.

use super::step::CONTENTS;
use crate::json::{self, quote, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::arguments::as_object;
use crate::wire::clean::{Past, begins_reply};
use crate::wire::pairing::{PairRules, Pairing, Scope, Spoken};
use crate::wire::rules::{self, Finding, Mend};
use crate::wire::tool_names;
use crate::wire::turns::runs;
use crate::wire::untyped;

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let none = rules::nothing_said(request, rules::INTERACTIONS_NONE);
    let mut findings = Vec::from_iter(none.filter(|_| request.keeper().is_none()));
    for entry in past.rest(&request.transcript) {
        let is_whole = request.frame.list == entry.span();
        if entry.raw().starts_with('"') && !is_whole {
            findings.push(Finding::of_entry(
                rules::INTERACTIONS_SHAPE,
                entry.index,
                None,
                "no step",
                Mend::DropEntry,
            ));
            continue;
        }
        shape(entry, &mut findings);
    }
    findings.extend(pairs(request, past));
    findings.extend(tool_names::repeated(request, &["tools", ""], rules::INTERACTIONS_TOOL_NAMES));
    findings
}

/// Notes where replies begin, and which ids calls have.
pub(super) fn remember(transcript: &Transcript, past: &mut Past) {
    for at in past.entries..transcript.len() {
        if begins_reply(transcript, at) {
            past.seam(at);
        }
        let is_call = |part: &Part<'_>| part.kind() == PartKind::Call && !part.is(Marks::FIXED);
        for call in transcript.entry(at).parts().filter(is_call) {
            past.calls.add(at, &call.id());
        }
    }
}

/// In characters, as at `generateContent`.
const LONGEST_NAME: usize = 128;

fn shape(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    if entry.role() == Role::Other {
        let raw = entry.raw();
        let kind = json::text_member(raw, "type").filter(|_| raw.starts_with('{'));
        match kind {
            None if raw.starts_with('{') => {
                find(rules::INTERACTIONS_SHAPE, None, "no type", Mend::Nothing);
            }
            None => find(rules::INTERACTIONS_SHAPE, None, "no step", Mend::DropEntry),
            // Types that aren't known are carried.
            Some(_) => {}
        }
        return;
    }
    if entry.parts().next().is_none() {
        return find(rules::INTERACTIONS_EMPTY, None, "no content", Mend::DropEntry);
    }
    for part in entry.parts().filter(|part| !part.is(Marks::FIXED)) {
        let slot = Some(part.slot);
        match part.kind() {
            PartKind::Opaque => {
                let raw = part.raw();
                let kind = raw.starts_with('{').then(|| json::text_member(raw, "type")).flatten();
                let is_known = |kind: &String| CONTENTS.contains(&kind.as_str());
                if kind.as_ref().is_none_or(is_known) {
                    find(
                        rules::INTERACTIONS_CONTENT,
                        slot,
                        kind.as_deref().unwrap_or("no type"),
                        rules::replaced(
                            part.slot,
                            untyped::block(raw, "text").filter(|_| kind.is_none()),
                        ),
                    );
                }
            }
            PartKind::Call => {
                let name = part.name();
                if let Some(name) = lawful_name(&name) {
                    find(
                        rules::INTERACTIONS_NAME,
                        slot,
                        "",
                        Mend::CallTool { slot: part.slot, name },
                    );
                }
                if !part.raw_body().starts_with('{') {
                    let json = as_object(part.raw_body()).unwrap_or_else(|| "{}".to_owned());
                    let mend = Mend::Rewrite { slot: part.slot, json };
                    find(rules::INTERACTIONS_ARGUMENTS, slot, &name, mend);
                }
            }
            PartKind::Result if !part.raw_body().starts_with(['"', '[', '{']) => {
                let json = quote(&unquote(part.raw_body()));
                let mend = Mend::Rewrite { slot: part.slot, json };
                find(rules::INTERACTIONS_RESULT, slot, "", mend);
            }
            _ => {}
        }
    }
}

/// A valid name for a call; `None` if its own is valid.
fn lawful_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("unknown".to_owned());
    }
    (name.chars().count() > LONGEST_NAME).then(|| name.chars().take(LONGEST_NAME).collect())
}

/// All broken pairs: what the model does in a row is one turn.
fn pairs(request: &Request, past: &Past) -> Vec<Finding> {
    let transcript = &request.transcript;
    let rules = PairRules {
        answered: rules::INTERACTIONS_ANSWERED,
        orphan: rules::INTERACTIONS_ORPHAN,
        duplicate: rules::INTERACTIONS_DUPLICATE,
        place: rules::INTERACTIONS_PLACE,
        reused: rules::INTERACTIONS_REUSED_ID,
        unique: Scope::Transcript,
    };
    let mut pairing = Pairing::new(rules, past);
    let is_client = |part: &Part<'_>, kind| part.kind() == kind && !part.is(Marks::FIXED);
    let mut spoken = Spoken::Nothing;
    let mut is_kept = request.keeper().is_some() && past.entries == 0;
    for run in runs(transcript, past) {
        let entries = run.clone().map(|at| transcript.entry(at));
        match transcript.entry(run.start).role() {
            Role::Assistant => {
                let parts = entries.flat_map(|entry| entry.parts());
                let calls: Vec<_> = parts.filter(|part| is_client(part, PartKind::Call)).collect();
                is_kept = false;
                pairing.batch(run.start, calls);
            }
            Role::Tool => {
                for (at, part) in run
                    .clone()
                    .flat_map(|at| transcript.entry(at).parts().map(move |part| (at, part)))
                {
                    if !is_client(&part, PartKind::Result) {
                        continue;
                    }
                    if is_kept {
                        pairing.result_elsewhere(at, &part, spoken);
                    } else {
                        pairing.result(at, &part);
                    }
                }
            }
            _ => {
                spoken = Spoken::Something;
                pairing.speak();
            }
        }
    }
    let mut findings = pairing.end();
    for finding in &mut findings {
        // A batch is spread over steps.
        finding.entry = finding.slot.map_or(finding.entry, |slot| transcript.entry_of(slot));
    }
    findings
}

#[cfg(test)]
mod tests {
    use crate::wire::{Format, check, detect, parse, repair};

    const ASK: &str = r#"{"type":"user_input","content":[{"type":"text","text":"Go."}]}"#;
    const THOUGHT: &str = r#"{"type":"thought","signature":"c2ln"}"#;
    const CALL: &str = r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#;
    const RESULT: &str = r#"{"type":"function_result","call_id":"a","name":"f","result":"x"}"#;
    const SAID: &str = r#"{"type":"model_output","content":[{"type":"text","text":"Done."}]}"#;

    fn found(steps: &[&str]) -> Vec<(usize, &'static str)> {
        let body = format!(r#"{{"model":"gemini-3.8-flash","input":[{}]}}"#, steps.join(","));
        let request = parse(Format::GeminiInteractions, body).expect("steps");
        check(&request).into_iter().map(|found| (found.entry, found.rule.0)).collect()
    }

    #[test]
    fn pairs_stand_together() {
        assert_eq!(found(&[ASK, THOUGHT, CALL, RESULT, SAID]), []);
        assert_eq!(found(&[ASK, CALL]), [], "an open call");
        assert_eq!(found(&[ASK, CALL, ASK]), [(1, "interactions/answered")]);
        assert_eq!(found(&[ASK, RESULT]), [(1, "interactions/orphan")]);
        assert_eq!(found(&[ASK, CALL, RESULT, RESULT]), [(3, "interactions/duplicate-result")]);
        assert_eq!(found(&[ASK, CALL, ASK, RESULT]), [(3, "interactions/result-place")]);
        assert_eq!(found(&[ASK, CALL, RESULT, CALL, RESULT]), [(3, "interactions/reused-id")]);
        assert_eq!(found(&[ASK, r#"{"type":"hologram"}"#]), [], "what isn't known is carried");
        assert_eq!(found(&[]), [(0, "interactions/no-input")]);
    }

    #[test]
    fn what_can_be_mended_is() {
        let odd = CALL.replace("{}}", "7}");
        let steps = [ASK, &odd, ASK, "7", r#"{"type":"model_output","content":[]}"#].join(",");
        let body = format!(r#"{{"model":"m","input":[{steps}]}}"#);
        let repaired = repair(&parse(Format::GeminiInteractions, body).expect("steps"));
        assert!(repaired.left.is_empty(), "{:?}", repaired.left);
        let text = repaired.request.source();
        assert!(
            text.contains(r#""is_error":true"#) && repaired.request.transcript.len() == 4,
            "{text}"
        );
    }

    #[test]
    fn the_input_may_be_words_or_contents_and_history_may_be_elsewhere() {
        for (body, entries) in [
            (r#"{"model":"m","input":"Go.","system_instruction":"x"}"#, 1),
            (
                r#"{"model":"m","input":[{"type":"text","text":"Go."},{"type":"image","data":"AAAA","mime_type":"image/png"}]}"#,
                2,
            ),
        ] {
            let request = detect(body.to_owned()).expect("a request");
            assert_eq!(
                (request.format, request.transcript.len()),
                (Format::GeminiInteractions, entries)
            );
            assert_eq!(check(&request), []);
        }
        let body =
            format!(r#"{{"model":"m","previous_interaction_id":"v1_x","input":[{RESULT}]}}"#);
        let request = detect(body).expect("a request");
        assert_eq!(request.elsewhere().map(|kept| kept.name).as_deref(), Some("v1_x"));
        assert_eq!(check(&request), []);
    }
}
