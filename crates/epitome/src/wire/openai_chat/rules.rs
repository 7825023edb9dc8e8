//! What OpenAI Chat demands: calls answered at once, by tool messages that stand together.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::{self, Sought, Span};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role};
use crate::wire::clean::Past;
use crate::wire::id_charset::Letters;
use crate::wire::keys::may_have;
use crate::wire::pairing::{PairRules, Pairing, Scope};
use crate::wire::rules::{self, Finding, Mend, replaced, stranger};
use crate::wire::untyped;

static FUNCTION: Sought = LazyLock::new(|| Finder::new("function"));
static TOOL_CALLS: Sought = LazyLock::new(|| Finder::new("tool_calls"));
static CONTENT: Sought = LazyLock::new(|| Finder::new("\"content\""));

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let mut findings = Vec::from_iter(rules::nothing_said(request, rules::CHAT_NONE));
    let rules = PairRules {
        answered: rules::CHAT_ANSWERED,
        orphan: rules::CHAT_ORPHAN,
        duplicate: rules::CHAT_DUPLICATE,
        place: rules::CHAT_PLACE,
        reused: rules::CHAT_REUSED_ID,
        unique: Scope::Batch,
    };
    let mut pairing = Pairing::new(rules, past);
    for entry in past.rest(&request.transcript) {
        shape(entry, &mut findings);
        content(entry, &mut findings);
        names(request, entry, &mut findings);
        match entry.role() {
            Role::Assistant => {
                let calls = entry.parts().filter(|p| p.kind() == PartKind::Call && !is_function(p));
                pairing.batch(entry.index, calls);
            }
            // The older form has no ids; its result is only named like the call.
            Role::Tool if is_from_function(entry) => pairing.speak(),
            Role::Tool => {
                if let Some(result) = entry.parts().next() {
                    pairing.result(entry.index, &result);
                }
            }
            _ => pairing.speak(),
        }
    }
    findings.extend(pairing.end());
    findings
}

/// What the rules of entries ask the frame: which names its tools have.
pub(super) fn asked_of_frame(request: &Request) -> String {
    request.tools().unwrap_or_default().to_owned()
}

/// Whether a call is of the older form, `function_call`.
fn is_function(call: &Part<'_>) -> bool {
    let has = |key| json::member(call.raw(), Span::new(0..call.raw().len()), key).is_some();
    call.id().is_empty() && has("name") && !has("function")
}

fn is_from_function(entry: Entry<'_>) -> bool {
    let raw = entry.raw();
    // Few are, and to find the role of one all of it has to be read. It has a name and no id.
    let is_plain = entry.parts().next().is_some_and(|part| {
        let row = part.row();
        !row.id.is_empty() && row.name.is_empty()
    });
    if is_plain || !may_have(entry, &FUNCTION) {
        return false;
    }
    let role = json::member(raw, Span::new(0..raw.len()), "role");
    role.is_some_and(|role| json::unquote(role.of(raw)) == "function")
}

fn has_content(entry: Entry<'_>) -> bool {
    let raw = entry.raw();
    let content = json::member(raw, Span::new(0..raw.len()), "content");
    content.is_some_and(|content| !matches!(content.of(raw), "null" | "[]"))
}

/// Content that is neither words nor a list, and its repair: `or` if it is empty.
fn odd_content(entry: Entry<'_>, or: impl Fn(Span) -> Mend) -> Option<(&str, Mend)> {
    let raw = entry.raw();
    let (hole, value) = json::hole(raw, Span::new(0..raw.len()), "content")?;
    let said = value.of(raw);
    if said == "null" || said.starts_with(['"', '[']) {
        return None;
    }
    let (start, meant) = (entry.span().start, untyped::content(said, "text", |_| true));
    let written = |json| Mend::Overwrite { value: value.shifted_by(start), json };
    Some((said, meant.map_or_else(|| or(hole.shifted_by(start)), written)))
}

fn shape(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    let says_something = entry.parts().any(|p| match p.kind() {
        PartKind::Reasoning | PartKind::Link => false,
        PartKind::Call => entry.role() == Role::Assistant,
        // Only an assistant refuses, or speaks in a member of its own.
        PartKind::Opaque => entry.role() == Role::Assistant || has_content(entry),
        PartKind::Text | PartKind::Media | PartKind::Result => true,
    });
    match entry.role() {
        Role::Other => find(rules::CHAT_SHAPE, None, "no known role", stranger(entry)),
        Role::Tool => {
            let result =
                entry.parts().next().filter(|p| matches!(p.raw_body(), "" | "null" | "[]"));
            if let Some(result) = result.filter(|_| !is_from_function(entry)) {
                let mend = Mend::Rewrite { slot: result.slot, json: "\"\"".to_owned() };
                find(rules::CHAT_EMPTY, Some(result.slot), "a result without content", mend);
            }
        }
        _ if !says_something => match odd_content(entry, |_| Mend::DropEntry) {
            Some((said, mend)) => find(rules::CHAT_CONTENT, None, said, mend),
            None => find(rules::CHAT_EMPTY, None, "nothing is said", Mend::DropEntry),
        },
        _ => {}
    }
    for call in entry.parts().filter(|p| p.kind() == PartKind::Call) {
        let body = call.raw_body();
        if !call.is(Marks::LITERAL) && !body.is_empty() {
            let mend = Mend::Rewrite { slot: call.slot, json: crate::json::quote(body) };
            find(rules::CHAT_ARGUMENTS, Some(call.slot), &call.name(), mend);
        }
    }
}

/// Content and calls are lists of objects, or content is a string.
fn content(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let raw = entry.raw();
    let start = entry.span().start;
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
    };
    let is_inside = |part: &Part<'_>| part.row().span != entry.span();
    let strange = |part: &Part<'_>| part.kind() == PartKind::Opaque && is_inside(part);
    for part in entry.parts().filter(strange) {
        let is_odd = !part.raw().starts_with('{') || part.name().is_empty();
        if is_odd && part.is_element() {
            let mend = replaced(part.slot, untyped::block(part.raw(), "text"));
            find(rules::CHAT_CONTENT, Some(part.slot), part.raw(), mend);
        }
    }
    let hole = |key| json::hole(raw, Span::new(0..raw.len()), key);
    let leave_out = |hole: Span| Mend::LeaveOut(hole.shifted_by(start));
    match entry.role() {
        Role::Tool => {
            let result = entry.parts().next().filter(|result| {
                !matches!(result.raw_body(), "" | "null")
                    && !result.raw_body().starts_with(['"', '['])
            });
            if let Some(result) = result {
                let said = result.raw_body();
                let meant = untyped::content(said, "text", |kind| kind == "text");
                let json = meant.unwrap_or_else(|| json::quote(said));
                let mend = Mend::Rewrite { slot: result.slot, json };
                find(rules::CHAT_CONTENT, Some(result.slot), "a result", mend);
            }
        }
        Role::Assistant => {
            let is_call = |part: &Part<'_>| part.kind() == PartKind::Call;
            // The legacy call is no element, and may stand before the list.
            let has_elements = entry.parts().filter(is_call).any(|call| call.is_element());
            if !has_elements && may_have(entry, &TOOL_CALLS) {
                let calls = hole("tool_calls").filter(|(_, value)| value.of(raw) != "null");
                if let Some((hole, value)) = calls {
                    let said = value.of(raw);
                    let in_list = || Mend::Overwrite {
                        value: value.shifted_by(start),
                        json: format!("[{said}]"),
                    };
                    let mend = if said.starts_with('{') { in_list() } else { leave_out(hole) };
                    find(rules::CHAT_CALLS, None, said, mend);
                }
            }
            // Where nothing but calls is there, content may be of a kind that isn't read.
            let is_bare = entry.parts().all(|p| is_call(&p) || p.kind() == PartKind::Reasoning);
            if is_bare
                && entry.parts().any(|part| is_call(&part))
                && may_have(entry, &CONTENT)
                && let Some((said, mend)) = odd_content(entry, Mend::LeaveOut)
            {
                find(rules::CHAT_CONTENT, None, said, mend);
            }
        }
        _ => {}
    }
}

/// What a called tool's name is made of (PROVIDERS.md B.3).
const NAME: Letters = Letters { others: "_-", longest: usize::MAX };

/// Names that the request defines itself are between its author and a compatible that takes them.
fn names(request: &Request, entry: Entry<'_>, findings: &mut Vec<Finding>) {
    for call in entry.parts().filter(|p| p.kind() == PartKind::Call) {
        let name = call.name();
        let is_defined = |tools: &str| tools.contains(&json::quote(&name));
        let is_right = NAME.are_those_of(&name) && !name.is_empty();
        // The tools of a custom kind have names of their own manner.
        if is_right || request.tools().is_some_and(is_defined) || is_custom(&call) {
            continue;
        }
        let lawful = match name.as_ref() {
            "" => "unknown".to_owned(),
            name => NAME.lawful(name, usize::MAX),
        };
        findings.push(Finding::of_entry(
            rules::CHAT_NAME,
            entry.index,
            Some(call.slot),
            format!("`{name}`"),
            Mend::CallTool { slot: call.slot, name: lawful },
        ));
    }
}

fn is_custom(call: &Part<'_>) -> bool {
    json::member(call.raw(), Span::new(0..call.raw().len()), "custom").is_some()
}

#[cfg(test)]
mod tests {
    use crate::wire::{Format, RuleId, check, parse, rules};

    const USER: &str = r#"{"role":"user","content":"x"}"#;
    const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;

    fn found(messages: &[&str]) -> Vec<(usize, RuleId)> {
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let request = parse(Format::OpenaiChat, body).expect("it is JSON");
        check(&request).into_iter().map(|found| (found.entry, found.rule)).collect()
    }

    #[test]
    fn a_call_without_an_id_is_not_one_of_the_older_form() {
        let call = CALL.replace(r#""id":"a","#, "");
        assert_eq!(found(&[USER, &call]), [(1, rules::CHAT_REUSED_ID)]);
        let older = r#"{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}"#;
        assert_eq!(found(&[USER, older]), []);
    }

    #[test]
    fn a_functions_result_is_of_the_older_form_unless_it_has_an_id_alone() {
        let result = |members: &str| format!(r#"{{"role":"function",{members}"content":"x"}}"#);
        let older = r#"{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}"#;
        for members in [r#""name":"f","#, "", r#""name":"f","tool_call_id":"a","#] {
            assert_eq!(found(&[USER, older, &result(members)]), [], "{members}");
        }
        assert_eq!(found(&[USER, CALL, &result(r#""tool_call_id":"a","#)]), []);
    }

    #[test]
    fn an_element_is_an_object_of_some_type() {
        for element in ["7", "{}"] {
            let message =
                format!(r#"{{"role":"user","content":[{{"type":"text","text":"x"}},{element}]}}"#);
            assert_eq!(found(&[&message]), [(0, rules::CHAT_CONTENT)], "{element}");
        }
    }

    #[test]
    fn only_an_assistant_says_anything_by_a_refusal() {
        for (role, rule) in [("system", true), ("user", true), ("assistant", false)] {
            let message = format!(r#"{{"role":"{role}","refusal":"No."}}"#);
            let rules: &[_] = if rule { &[(1, rules::CHAT_EMPTY)] } else { &[] };
            assert_eq!(found(&[USER, &message]), rules, "{role}");
        }
        let odd = r#"{"role":"user","content":[{"type":"odd"}]}"#;
        assert_eq!(found(&[USER, odd]), []);
    }

    #[test]
    fn odd_content_beside_calls_is_found_where_reasoning_stands_too() {
        let odd = CALL.replacen('{', r#"{"reasoning_content":"hm","content":7,"#, 1);
        assert_eq!(found(&[USER, &odd]), [(1, rules::CHAT_CONTENT)]);
    }

    #[test]
    fn names_are_of_letters_that_all_take_but_those_of_custom_tools() {
        for name in ["", "a b"] {
            let call = CALL.replace(r#""name":"f""#, &format!(r#""name":"{name}""#));
            assert_eq!(found(&[USER, &call]), [(1, rules::CHAT_NAME)], "{name}");
        }
        let custom = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"a b","input":"x"}}]}"#;
        assert_eq!(found(&[USER, custom]), []);
    }
}
