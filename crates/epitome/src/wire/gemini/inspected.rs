//! What the provider ran itself: what came of it stands behind it.

use crate::request::Request;
use crate::transcript::{Marks, PartKind, Role};
use crate::wire::rules::{self, Finding, Mend};

/// Results of the provider's code and tools that nothing was run for, in what the model said in a row.
pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for entry in request.transcript.entries() {
        if entry.role() != Role::Assistant {
            open.clear();
        }
        for part in entry.parts().filter(|part| part.is(Marks::SERVER)) {
            let id = part.id();
            match part.kind() {
                PartKind::Call => open.push(id.into_owned()),
                PartKind::Result => {
                    // Older replies have no ids.
                    let is_asked =
                        |asked: &String| id.is_empty() || *asked == id || asked.is_empty();
                    match open.iter().position(is_asked) {
                        Some(at) => drop(open.remove(at)),
                        None => findings.push(Finding {
                            rule: rules::GEMINI_SERVED,
                            entry: entry.index,
                            slot: Some(part.slot),
                            detail: id.into_owned(),
                            mend: Mend::Nothing,
                        }),
                    }
                }
                _ => {}
            }
        }
    }
    findings
}
