//! What OpenAI Chat demands: calls answered at once, by tool messages that stand together.

use crate::request::Request;
use crate::transcript::{Entry, Marks, PartKind, Role};
use crate::wire::pairing::{PairRules, Pairing, Scope};
use crate::wire::rules::{self, Finding, Mend};

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut pairing = Pairing::new(PairRules {
        answered: rules::CHAT_ANSWERED,
        orphan: rules::CHAT_ORPHAN,
        duplicate: rules::CHAT_DUPLICATE,
        place: rules::CHAT_PLACE,
        reused: rules::CHAT_REUSED_ID,
        unique: Scope::Batch,
    });
    for entry in request.transcript.entries() {
        shape(entry, &mut findings);
        match entry.role() {
            Role::Assistant => {
                let calls = entry.parts().filter(|p| p.kind() == PartKind::Call);
                pairing.batch(entry.index, calls.map(|p| (p.id().into_owned(), p.slot)));
            }
            Role::Tool => {
                if let Some(result) = entry.parts().next() {
                    pairing.result(entry.index, result.id().into_owned(), result.slot);
                }
            }
            _ => pairing.speak(),
        }
    }
    findings.extend(pairing.end());
    findings
}

fn shape(entry: Entry<'_>, findings: &mut Vec<Finding>) {
    let mut find = |rule, slot, detail: &str, mend| {
        findings.push(Finding { rule, entry: entry.index, slot, detail: detail.to_owned(), mend });
    };
    let says_something = entry.parts().any(|p| p.kind() != PartKind::Reasoning);
    match entry.role() {
        Role::Other => find(rules::CHAT_SHAPE, None, "no known role", Mend::DropEntry),
        Role::Tool => {}
        _ if !says_something => find(rules::CHAT_EMPTY, None, "nothing is said", Mend::DropEntry),
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
