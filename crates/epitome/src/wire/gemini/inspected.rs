//! Tools that the provider ran itself: the result follows the call.

use std::collections::HashMap;

use crate::request::Request;
use crate::transcript::{Marks, PartKind, Role};
use crate::wire::rules::{self, Finding};

/// Results of the provider's code and tools that nothing was run for, in what the model said in a row.
pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open = Open::default();
    for entry in request.transcript.entries() {
        if entry.role() != Role::Assistant {
            open = Open::default();
        }
        for part in entry.parts().filter(|part| part.is(Marks::SERVER)) {
            let id = part.id().into_owned();
            match part.kind() {
                PartKind::Call => open.call(id),
                PartKind::Result if !open.answer(&id) => {
                    let rule = rules::GEMINI_SERVED;
                    findings.push(Finding::of_part(rule, entry.index, part.slot, id));
                }
                _ => {}
            }
        }
    }
    findings
}

/// What was run and has no result yet. Older replies have no ids: a result without one is of any.
#[derive(Default)]
struct Open {
    by_id: HashMap<String, usize>,
    all: usize,
}

impl Open {
    fn call(&mut self, id: String) {
        *self.by_id.entry(id).or_default() += 1;
        self.all += 1;
    }

    fn answer(&mut self, id: &str) -> bool {
        if !id.is_empty() {
            let own = if self.by_id.get(id).is_some_and(|often| *often > 0) { id } else { "" };
            match self.by_id.get_mut(own).filter(|often| **often > 0) {
                Some(often) => *often -= 1,
                None => return false,
            }
        }
        let is_open = self.all > 0;
        self.all = self.all.saturating_sub(1);
        is_open
    }
}
