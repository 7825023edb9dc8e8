//! What Anthropic demands: calls answered in the next user message, results first, thinking whole.
//!
//! The API merges consecutive messages of one role, so the rules speak of turns of the wire: runs
//! of entries of one role.

use std::ops::Range;

use super::{blocks, frame, markers};
use crate::json::{self, Span};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::arguments::as_object;
use crate::wire::clean::{Past, begins_reply};
use crate::wire::id_charset::{Letters, ids};
use crate::wire::pairing::{PairRules, Scope};
use crate::wire::rules::{self, Finding, Mend, replaced, stranger};
use crate::wire::turns::{pairs, runs, thinking_first};
use crate::wire::untyped;

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut findings = Vec::from_iter(rules::nothing_said(request, rules::ANTHROPIC_NONE));
    for entry in past.rest(transcript) {
        let place = if entry.index + 1 == transcript.len() { Place::Last } else { Place::Before };
        shape(entry, place, &mut findings);
    }
    let runs = runs(transcript, past);
    first_role(transcript, past, &mut findings);
    system_place(transcript, &runs, &mut findings);
    findings.extend(thinking_first(request, rules::ANTHROPIC_THINKING_FIRST));
    let pair_rules = PairRules {
        answered: rules::ANTHROPIC_ANSWERED,
        orphan: rules::ANTHROPIC_ORPHAN,
        duplicate: rules::ANTHROPIC_DUPLICATE,
        place: rules::ANTHROPIC_PLACE,
        reused: rules::ANTHROPIC_REUSED_ID,
        unique: Scope::Transcript,
    };
    findings.extend(pairs(request, &runs, pair_rules, past));
    findings.extend(ids(transcript, ID, rules::ANTHROPIC_ID, past));
    findings.extend(markers::check(request, past));
    findings.extend(frame::check(request));
    findings.extend(blocks::check(request, past));
    findings.extend(blocks::frame(request));
    findings
}

/// Notes where replies begin, ids and markers.
pub(super) fn remember(transcript: &Transcript, past: &mut Past) {
    for at in past.entries..transcript.len() {
        if begins_reply(transcript, at) {
            past.seam(at);
        }
        let entry = transcript.entry(at);
        for call in entry.parts().filter(|part| part.kind() == PartKind::Call) {
            past.calls.add(at, &call.id());
        }
        if markers::may_be_in(entry) {
            past.mark(at);
        }
    }
}

/// What ids of calls are made of (PROVIDERS.md B.1.2).
const ID: Letters = Letters { others: "_-", longest: usize::MAX };

/// In characters (PROVIDERS.md B.1.2).
const LONGEST_NAME: usize = 200;

/// Where an entry stands, as far as the rules care.
#[derive(Clone, Copy)]
enum Place {
    /// Something follows.
    Before,
    /// At the end, where the assistant's message may still be empty.
    Last,
}

fn shape(entry: Entry<'_>, place: Place, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    let may_be_empty = matches!(place, Place::Last) && entry.role() == Role::Assistant;
    if entry.role() == Role::Other {
        return find(rules::ANTHROPIC_SHAPE, None, "no known role", stranger(entry));
    }
    for part in entry.parts() {
        if part.kind() == PartKind::Call && !part.is(Marks::SERVER) {
            let name = part.name();
            if name.is_empty() || name.chars().count() > LONGEST_NAME {
                let cut: String = name.chars().take(LONGEST_NAME).collect();
                let name = if cut.is_empty() { "unknown".to_owned() } else { cut };
                let mend = Mend::CallTool { slot: part.slot, name };
                find(rules::ANTHROPIC_NAME, Some(part.slot), "", mend);
            }
        }
        match part.kind() {
            PartKind::Text if part.raw_body() == "\"\"" && part.raw() != part.raw_body() => {
                find(rules::ANTHROPIC_EMPTY_TEXT, Some(part.slot), "", Mend::DropPart(part.slot));
            }
            PartKind::Text if part.raw_body() == "\"\"" && !may_be_empty => {
                // A string content that is empty is the whole message's fault.
                find(rules::ANTHROPIC_EMPTY, None, "the content is empty", Mend::DropEntry);
            }
            PartKind::Text if is_blank(&part) => {
                let is_block = part.raw() != part.raw_body();
                let mend = if is_block { Mend::DropPart(part.slot) } else { Mend::DropEntry };
                find(rules::ANTHROPIC_BLANK_TEXT, Some(part.slot), "", mend);
            }
            PartKind::Opaque if !part.raw().starts_with('{') || part.name().is_empty() => {
                let meant = if part.is_element() {
                    untyped::block(part.raw(), "text")
                } else {
                    untyped::content(part.raw(), "text", |_| true)
                };
                let mend = replaced(part.slot, meant);
                find(rules::ANTHROPIC_CONTENT, Some(part.slot), part.raw(), mend);
            }
            PartKind::Opaque if part.name() == "text" => {
                let mend = replaced(part.slot, untyped::block(part.raw(), "text"));
                find(rules::ANTHROPIC_TEXT, Some(part.slot), "a text block without text", mend);
            }
            PartKind::Opaque if part.name() == "compaction" && has_empty_content(&part) => {
                let mend = Mend::DropPart(part.slot);
                find(rules::ANTHROPIC_COMPACTION, Some(part.slot), "", mend);
            }
            PartKind::Call if !part.is(Marks::SERVER) && entry.role() != Role::Assistant => {
                find(
                    rules::ANTHROPIC_SIDE,
                    Some(part.slot),
                    &part.name(),
                    Mend::DropPart(part.slot),
                );
            }
            PartKind::Call if !part.raw_body().starts_with('{') => {
                let json = as_object(part.raw_body()).unwrap_or_else(|| "{}".to_owned());
                let mend = Mend::Rewrite { slot: part.slot, json };
                find(rules::ANTHROPIC_INPUT, Some(part.slot), &part.name(), mend);
            }
            _ => {}
        }
    }
    let says_nothing = may_be_empty || states_effort(&entry);
    if entry.parts().next().is_none() && !(says_nothing && has_list(entry)) {
        find(rules::ANTHROPIC_EMPTY, None, "no content", Mend::DropEntry);
    }
}

/// Whether a system message sets the effort from there on, for which it needs no words.
fn states_effort(entry: &Entry<'_>) -> bool {
    let raw = entry.raw();
    let whole = Span::new(0..raw.len());
    entry.role() == Role::System && json::member(raw, whole, "output_config").is_some()
}

/// Whether a text is white space, and not nothing.
fn is_blank(text: &Part<'_>) -> bool {
    // Most texts show at their first byte that they say something.
    let first = text.raw_body().as_bytes().get(1);
    first.is_some_and(|byte| !byte.is_ascii_graphic() || *byte == b'\\')
        && text.text().trim().is_empty()
}

fn has_empty_content(block: &Part<'_>) -> bool {
    let raw = block.raw();
    let content = json::member(raw, Span::new(0..raw.len()), "content");
    content.is_some_and(|content| content.of(raw) == "\"\"")
}

fn has_list(entry: Entry<'_>) -> bool {
    let content = json::member(entry.raw(), Span::new(0..entry.raw().len()), "content");
    content.is_some_and(|content| content.of(entry.raw()).starts_with('['))
}

fn first_role(transcript: &Transcript, past: &Past, findings: &mut Vec<Finding>) {
    let Some(first) = past.rest(transcript).next().filter(|first| first.index == 0) else { return };
    let is_compaction = first.parts().next().is_some_and(|p| p.name() == "compaction");
    if first.role() == Role::Assistant && !is_compaction {
        findings.push(Finding::of_entry(
            rules::ANTHROPIC_FIRST,
            0,
            None,
            "assistant",
            Mend::LeadIn,
        ));
    }
}

fn system_place(transcript: &Transcript, runs: &[Range<usize>], findings: &mut Vec<Finding>) {
    let role = |index: Option<usize>| {
        index.and_then(|i| runs.get(i)).map(|r| transcript.entry(r.start).role())
    };
    for (index, run) in runs.iter().enumerate() {
        if transcript.entry(run.start).role() != Role::System {
            continue;
        }
        let follows = match role(index.checked_sub(1)) {
            Some(Role::User) => true,
            Some(Role::Assistant) => {
                let before = transcript.entry(runs[index - 1].end - 1);
                before.parts().next_back().is_some_and(|p| p.is(Marks::SERVER))
            }
            _ => false,
        };
        let is_followed = matches!(role(Some(index + 1)), None | Some(Role::Assistant));
        if follows && is_followed {
            continue;
        }
        findings.extend(run.clone().map(|entry| {
            Finding::of_entry(
                rules::ANTHROPIC_SYSTEM,
                entry,
                None,
                "a system message stands where none may",
                Mend::SpeakAsUser,
            )
        }));
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::{Format, RuleId, check, parse, rules};

    const USER: &str = r#"{"role":"user","content":"x"}"#;

    fn found(messages: &[&str]) -> Vec<(usize, RuleId)> {
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let request = parse(Format::Anthropic, body).expect("it is JSON");
        check(&request).into_iter().map(|found| (found.entry, found.rule)).collect()
    }

    /// What is found in a message of the user's with these blocks.
    fn in_blocks(blocks: &str) -> Vec<(usize, RuleId)> {
        found(&[&format!(r#"{{"role":"user","content":[{blocks}]}}"#)])
    }

    #[test]
    fn only_the_models_last_message_may_say_nothing() {
        for nothing in [r#""""#, "[]"] {
            let reply = format!(r#"{{"role":"assistant","content":{nothing}}}"#);
            assert_eq!(found(&[USER, &reply]), []);
            assert_eq!(found(&[USER, &reply, USER]), [(1, rules::ANTHROPIC_EMPTY)]);
        }
        let null = r#"{"role":"assistant","content":null}"#;
        assert_eq!(found(&[USER, null]), [(1, rules::ANTHROPIC_EMPTY)]);
    }

    #[test]
    fn a_block_is_an_object_of_some_type() {
        let text = r#"{"type":"text","text":"x"}"#;
        for block in ["7", "{}"] {
            assert_eq!(in_blocks(&format!("{text},{block}")), [(0, rules::ANTHROPIC_CONTENT)]);
        }
    }

    #[test]
    fn white_space_is_blank_however_it_is_written() {
        for text in [" ", r"\n", r"\t\n"] {
            let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
            assert_eq!(in_blocks(&block), [(0, rules::ANTHROPIC_BLANK_TEXT)], "{text}");
        }
        assert_eq!(in_blocks(r#"{"type":"text","text":"\nx"}"#), []);
    }

    #[test]
    fn system_text_may_follow_what_a_servers_tool_gave() {
        let served = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}"#;
        let (system, reply) = (USER.replace("user", "system"), USER.replace("user", "assistant"));
        assert_eq!(found(&[USER, served, &system, &reply]), []);
        assert_eq!(found(&[USER, &reply, &system, &reply]), [(2, rules::ANTHROPIC_SYSTEM)]);
    }
}
