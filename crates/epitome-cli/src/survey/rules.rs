//! The sentences in which people command or forbid.

use std::collections::HashSet;

use epitome::{Request, checkpoint};
use serde::Serialize;

/// A rule, as it was said, with secrets masked.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rule {
    /// The message.
    pub(crate) entry: u32,
    pub(crate) text: String,
}

/// Whose rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// What people said themselves.
    People,
    /// That, and files with rules of theirs that the client put in.
    PeopleAndFiles,
}

impl Rule {
    /// All rules of a transcript, the newest last. A repeated one stands at its last place.
    pub(crate) fn all(request: &Request, by: By) -> Vec<Rule> {
        let said = checkpoint::rules(&request.transcript).into_iter();
        let said = said.filter(|rule| by == By::PeopleAndFiles || !rule.in_file);
        let said = said.map(|rule| Rule { entry: rule.entry as u32, text: rule.text });
        let mut rules: Vec<Rule> = said.collect();
        let mut seen = HashSet::new();
        rules.reverse();
        rules.retain(|rule| seen.insert(rule.text.clone()));
        rules.reverse();
        rules
    }

    /// Those that none of `pins` protects.
    pub(super) fn unpinned(request: &Request, pins: &[String]) -> Vec<Rule> {
        let pinned =
            |text: &str| pins.iter().any(|pin| text.contains(pin.as_str()) || pin.contains(text));
        let mut rules = Rule::all(request, By::PeopleAndFiles);
        rules.retain(|rule| !pinned(&rule.text));
        rules
    }
}
