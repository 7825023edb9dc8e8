//! What Gemini demands: as many responses as calls, in one content behind them; calls next to the
//! user's side only; data in every part; signatures in the current turn.

use std::ops::Range;

use super::pairs;
use super::part::{ABOUT, DATA, camel};
use crate::json::{self, Span, quote, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::arguments::as_object;
use crate::wire::clean::{Past, begins_reply};
use crate::wire::layout::joins;
use crate::wire::rules::{self, Finding, Mend, stranger};
use crate::wire::turns::runs;
use crate::wire::{members, tool_names, untyped};

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut findings = Vec::from_iter(rules::nothing_said(request, rules::GEMINI_NONE));
    for entry in past.rest(transcript) {
        members::of_entry(
            request.source(),
            entry,
            &["role", "parts"],
            rules::GEMINI_MEMBER,
            &mut findings,
        );
        shape(entry, &mut findings);
    }
    let runs = runs(transcript, past);
    opening(request, past, &mut findings);
    call_place(transcript, &runs, &mut findings);
    findings.extend(pairs::check(request, &runs));
    signatures(request, &mut findings);
    cached_frame(request, &mut findings);
    for key in ["functionDeclarations", "function_declarations"] {
        let path = ["tools", "", key, ""];
        findings.extend(tool_names::repeated(request, &path, rules::GEMINI_TOOL_NAMES));
    }
    findings
}

/// What the rules of entries ask the frame.
pub(super) fn asked_of_frame(request: &Request) -> String {
    format!("{:?}", request.keeper())
}

/// Notes where replies begin. Which calls were made there decides only how a breach is told.
pub(super) fn remember(transcript: &Transcript, past: &mut Past) {
    for at in past.entries..transcript.len() {
        if begins_reply(transcript, at) {
            past.seam(at);
        }
    }
}

/// In characters (SDK types of `FunctionDeclaration`).
const LONGEST_NAME: usize = 128;

/// A valid name for a call; `None` if its own is valid.
pub(super) fn lawful_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("unknown".to_owned());
    }
    (name.chars().count() > LONGEST_NAME).then(|| name.chars().take(LONGEST_NAME).collect())
}

fn shape(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    match entry.role() {
        Role::Other => {
            return find(rules::GEMINI_SHAPE, None, "no known role", stranger(entry));
        }
        Role::System => find(rules::GEMINI_SHAPE, None, "system", Mend::SpeakAsUser),
        _ => {}
    }
    if entry.parts().next().is_none() {
        return find(rules::GEMINI_EMPTY, None, "no parts", Mend::DropEntry);
    }
    for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
        let slot = Some(part.slot);
        match part.kind() {
            PartKind::Opaque => match data_members(part.raw()) {
                Data::One if !part.is_element() => {
                    let mend = rules::replaced(part.slot, untyped::keyed(&part));
                    find(rules::GEMINI_DATA, slot, "a part by itself", mend);
                }
                Data::None => {
                    let mend = rules::replaced(part.slot, untyped::keyed(&part));
                    find(rules::GEMINI_DATA, slot, "no data", mend);
                }
                Data::Several => find(rules::GEMINI_ONE_OF, slot, "", Mend::Nothing),
                Data::One => {}
            },
            PartKind::Text if part.raw_body() == "\"\"" => {
                find(rules::GEMINI_EMPTY_TEXT, slot, "", Mend::DropPart(part.slot));
            }
            PartKind::Call if !part.is(Marks::SERVER) => {
                if entry.role() != Role::Assistant {
                    find(rules::GEMINI_SIDE, slot, &part.name(), Mend::DropPart(part.slot));
                    continue;
                }
                if let Some(name) = lawful_name(&part.name()) {
                    find(rules::GEMINI_NAME, slot, "", Mend::CallTool { slot: part.slot, name });
                }
                if !part.raw_body().starts_with('{')
                    && let Some(json) = as_object(part.raw_body())
                {
                    let mend = Mend::Rewrite { slot: part.slot, json };
                    find(rules::GEMINI_ARGS, slot, &part.name(), mend);
                }
            }
            PartKind::Result if !part.is(Marks::SERVER) && !has_object(&part) => {
                let words = format!(r#"{{"output":{}}}"#, part.raw_body());
                let mend = Mend::Rewrite { slot: part.slot, json: words };
                find(rules::GEMINI_RESPONSE, slot, &part.name(), mend);
            }
            _ => {}
        }
    }
}

/// Whether the response is an object, or the one string in one, or not there.
fn has_object(result: &Part<'_>) -> bool {
    let body = result.raw_body();
    body.is_empty() || body.starts_with('{') || result.is(Marks::LITERAL)
}

enum Data {
    None,
    One,
    Several,
}

/// How many kinds of data an element holds; a member that isn't known counts as one.
fn data_members(raw: &str) -> Data {
    let Ok(members) = json::members(raw, Span::new(0..raw.len())) else { return Data::None };
    let mut keys: Vec<String> = members
        .iter()
        .filter(|(_, value)| value.of(raw) != "null")
        .map(|(key, _)| camel(&unquote(key.of(raw))).to_owned())
        .filter(|key| !ABOUT.contains(&key.as_str()))
        .collect();
    keys.sort();
    keys.dedup();
    let known = keys.iter().filter(|key| DATA.contains(&key.as_str())).count();
    match (keys.len(), known) {
        (0, _) => Data::None,
        (_, 2..) => Data::Several,
        _ => Data::One,
    }
}

fn opening(request: &Request, past: &Past, findings: &mut Vec<Finding>) {
    let first = past.rest(&request.transcript).next().filter(|first| first.index == 0);
    let Some(first) = first else { return };
    // Behind cached content the first is not the first.
    let calls = first.role() == Role::Assistant && first.has_calls();
    if calls && request.keeper().is_none() {
        findings.push(Finding::of_entry(
            rules::GEMINI_OPENING,
            0,
            None,
            "begins with calls",
            Mend::LeadIn,
        ));
    }
}

/// A run of the model's contents in which anything is called must be one content.
fn call_place(transcript: &Transcript, runs: &[Range<usize>], findings: &mut Vec<Finding>) {
    for run in runs {
        let is_model = transcript.entry(run.start).role() == Role::Assistant;
        let calls = |at: usize| transcript.entry(at).has_calls();
        if !is_model || !run.clone().any(calls) {
            continue;
        }
        findings.extend(joins(transcript, run, "parts").map(|(entry, mend)| {
            Finding::of_entry(
                rules::GEMINI_CALL_PLACE,
                entry,
                None,
                "behind another content of the model's",
                mend,
            )
        }));
    }
}

/// "Validation is enforced for all function calls in the current turn": what follows the newest content
/// of the user's that isn't only responses. In each step the first call must be signed.
fn signatures(request: &Request, findings: &mut Vec<Finding>) {
    if !request.reader().is_some_and(|model| demands_signatures(&model)) {
        return;
    }
    let transcript = &request.transcript;
    let says = |entry: &Entry<'_>| {
        let speaks = |p: &Part<'_>| {
            !p.is(Marks::NESTED) && !matches!(p.kind(), PartKind::Result | PartKind::Call)
        };
        entry.role() != Role::Assistant && entry.parts().any(|part| speaks(&part))
    };
    let start = transcript.entries().rev().find(says).map_or(0, |entry| entry.index);
    for entry in transcript.entries().skip(start).filter(|e| e.role() == Role::Assistant) {
        let before = entry.index.checked_sub(1).map(|at| transcript.entry(at).role());
        let follows = before == Some(Role::Assistant);
        let is_call = |p: &Part<'_>| p.kind() == PartKind::Call && !p.is(Marks::SERVER);
        let Some(call) = entry.parts().find(is_call) else { continue };
        // What will be joined to the content before is judged then.
        if !call.is(Marks::SIGNED) && !follows {
            findings.push(Finding::of_entry(
                rules::GEMINI_SIGNATURE,
                entry.index,
                Some(call.slot),
                call.name().into_owned(),
                Mend::Sign(call.slot),
            ));
        }
    }
}

/// Whether the model is of the third generation or later, image models apart: they demand nothing.
fn demands_signatures(model: &str) -> bool {
    let Some((_, version)) = model.rsplit_once("gemini-") else { return false };
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|number| number >= 3) && !version.contains("image")
}

fn cached_frame(request: &Request, findings: &mut Vec<Finding>) {
    let calls = ["toolConfig", "tool_config"].iter().any(|name| request.value(&[name]).is_some());
    let is_set = request.system().is_some() || request.tools().is_some() || calls;
    if request.keeper().is_some() && is_set && !request.transcript.is_empty() {
        let (rule, member) = (rules::GEMINI_CACHED, "cachedContent");
        findings.push(Finding::of_member(rule, member, quote(member)));
    }
}

#[cfg(test)]
mod tests {
    use super::demands_signatures;

    #[test]
    fn models_of_the_third_generation_demand_signatures() {
        for (model, demands) in [
            ("models/gemini-3-pro-preview", true),
            ("gemini-3.1-flash", true),
            ("google/gemini-4-argon", true),
            ("gemini-2.5-pro", false),
            ("gemini-3-pro-image-preview", false),
            ("gemini-pro", false),
            ("claude-opus-4-8", false),
        ] {
            assert_eq!(demands_signatures(model), demands, "{model}");
        }
    }
}
