//! A tool that the provider ran itself is two steps: the call's step precedes the result's step.

use std::collections::HashSet;

use crate::request::Request;
use crate::transcript::{Marks, PartKind};
use crate::wire::rules::{self, Finding};

pub(super) fn check(request: &Request) -> Vec<Finding> {
    // The rest may be where the history is.
    if request.keeper().is_some() {
        return Vec::new();
    }
    let mut asked: HashSet<String> = HashSet::new();
    let mut findings = Vec::new();
    for entry in request.transcript.entries() {
        for part in entry.parts().filter(|part| part.is(Marks::FIXED)) {
            let id = part.id().into_owned();
            match part.kind() {
                PartKind::Call => {
                    asked.insert(id);
                }
                PartKind::Result if !part.is(Marks::NESTED) && !asked.contains(&id) => {
                    let rule = rules::INTERACTIONS_SERVED;
                    findings.push(Finding::of_part(rule, entry.index, part.slot, id));
                }
                _ => {}
            }
        }
    }
    findings
}
