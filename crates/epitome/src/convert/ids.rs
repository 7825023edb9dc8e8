//! Ids that the target takes: its letters, its length, each used once.

use std::collections::{HashMap, HashSet};

use crate::wire::neutral::{ContentPiece, Loss, Neutral};
use crate::wire::{Dialect, Feature, NameLimits};

/// Ids that a format takes, and the model that is to read them; the same wish twice gives two.
pub(super) fn ids(to: &dyn Dialect, model: Option<&str>) -> Names {
    let length = model.and_then(|model| to.id_length(model));
    Names { length, ..Names::new(to.terms().ids, "call") }
}

/// Gives tools names that `to` takes; those that it takes already stay.
pub(super) fn label(neutral: &mut Neutral, to: &dyn Dialect) {
    let mut names = Names::new(to.terms().tool_names, "tool");
    names.opening = to.has(Feature::LetteredNames).then_some('_');
    let mut lost = Vec::new();
    for tool in &mut neutral.tools {
        names.rename(&mut tool.name, &mut lost);
    }
    for piece in neutral.turns.iter_mut().flat_map(|turn| &mut turn.pieces) {
        match piece {
            ContentPiece::Call(call) => names.rename(&mut call.name, &mut lost),
            ContentPiece::Result(answer) => names.rename(&mut answer.name, &mut lost),
            _ => {}
        }
    }
    if let Some(name) = neutral.parameters.named_mut() {
        names.rename(name, &mut lost);
    }
    for name in lost {
        neutral.lose(None, Loss::ToolName, name);
    }
}

/// Names given so far.
pub(super) struct Names {
    demand: NameLimits,
    /// Replaces an empty name.
    default: &'static str,
    /// Precedes a name that doesn't begin with a letter.
    opening: Option<char>,
    /// All have this many letters and digits.
    length: Option<usize>,
    taken: HashSet<String>,
    given: HashMap<String, String>,
    /// The number to try next behind a name.
    next: HashMap<String, usize>,
}

impl Names {
    fn new(demand: NameLimits, default: &'static str) -> Self {
        Names {
            demand,
            default,
            opening: None,
            length: None,
            taken: HashSet::new(),
            given: HashMap::new(),
            next: HashMap::new(),
        }
    }

    /// The same name for the same name, every time.
    fn rename(&mut self, name: &mut String, lost: &mut Vec<String>) {
        if name.is_empty() {
            return;
        }
        if let Some(given) = self.given.get(name) {
            given.clone_into(name);
            return;
        }
        let fresh = self.fresh(name);
        if fresh != *name {
            lost.push(name.clone());
        }
        self.given.insert(std::mem::replace(name, fresh.clone()), fresh);
    }

    /// An unused name.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        if let Some(length) = self.length {
            return self.fresh_of(wish, length);
        }
        let NameLimits { letters, longest } = self.demand;
        let takes = |c: char| c.is_ascii_alphanumeric() || letters.contains(c);
        let is_bare = !wish.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let opening = self.opening.filter(|_| is_bare && !wish.is_empty());
        let letters = wish.chars().map(|c| if takes(c) { c } else { '_' });
        let mut lawful: String = opening.into_iter().chain(letters).take(longest).collect();
        if lawful.is_empty() {
            self.default.clone_into(&mut lawful);
        }
        if self.taken.insert(lawful.clone()) {
            return lawful;
        }
        let next = self.next.entry(lawful.clone()).or_insert(2);
        loop {
            let number = format!("_{next}");
            *next += 1;
            let stem: String = lawful.chars().take(longest - number.len()).collect();
            let numbered = stem + &number;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

impl Names {
    /// The same of `length` letters and digits: the wish if it is one, else a number.
    fn fresh_of(&mut self, wish: &str, length: usize) -> String {
        let is_one = wish.len() == length && wish.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_one && self.taken.insert(wish.to_owned()) {
            return wish.to_owned();
        }
        let next = self.next.entry(String::new()).or_insert(1);
        loop {
            let digits = length - self.default.len();
            let numbered = format!("{}{next:0digits$}", self.default);
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lawful_and_unique() {
        let mut names = Names::new(NameLimits { letters: "_", longest: 6 }, "call");
        let given: Vec<String> = ["a", "a", "a/b", "a_b", "abcdefgh", "abcdef", "", ""]
            .map(|wish| names.fresh(wish))
            .into();
        assert_eq!(given, ["a", "a_2", "a_b", "a_b_2", "abcdef", "abcd_2", "call", "call_2"]);
    }

    #[test]
    fn ids_of_one_length_are_unique() {
        let names = Names::new(NameLimits { letters: "_", longest: 40 }, "call");
        let mut names = Names { length: Some(9), ..names };
        let given: Vec<String> = ["toolu_1", "aB3dE6gH9", "call00002", "toolu_1", "aB3dE6gH9", ""]
            .map(|wish| names.fresh(wish))
            .into();
        let want = ["call00001", "aB3dE6gH9", "call00002", "call00003", "call00004", "call00005"];
        assert_eq!(given, want);
    }
}
