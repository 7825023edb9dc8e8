//! The rules that people gave in a transcript and that no pin protects.

use epitome::Request;
use epitome::ledger::{Kind, Ledger, Shown, Speaker};
use serde::Serialize;

/// A rule, as it was said.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rule {
    pub(crate) entry: u32,
    pub(crate) text: String,
}

/// Rules of persons that still hold and that none of `pins` speaks of, in the order they were said.
pub(super) fn unpinned(request: &Request, pins: &[String]) -> Vec<Rule> {
    let mut ledger = Ledger::default();
    for entry in request.transcript.entries() {
        ledger.observe_entry(&request.transcript, entry, |_| Shown::Elsewhere);
    }
    let holds = ledger.lines().iter().filter(|line| {
        let rules = matches!(line.kind, Kind::Constraint | Kind::Preference);
        line.who == Speaker::Human && rules && line.replaced.is_none()
    });
    let pinned =
        |text: &str| pins.iter().any(|pin| text.contains(pin.as_str()) || pin.contains(text));
    let rules = holds.filter(|line| !pinned(&line.text));
    rules.map(|line| Rule { entry: line.at, text: line.text.clone() }).collect()
}
