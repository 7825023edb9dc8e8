//! What an editor was about where its call doesn't say it: the file that it has open, and an earlier edit that it takes back.

use std::collections::HashMap;

use crate::json::unquote;
use crate::text::keys::{self, Key};
use crate::tool::{Act, Call};

/// The edits so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Editor {
    /// The file that a call named last.
    named: Option<Box<str>>,
    /// Edits of each file: the message of each, and its arguments.
    edits: HashMap<Box<str>, Vec<(u32, Vec<Argument>)>>,
}

/// An argument's name and value, by their keys.
type Argument = (Key, Key);

/// The facts about an edit when its call is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The file that may be open, where the call names none.
    pub(super) open: Option<Box<str>>,
    /// The message with the edit that it takes back.
    pub(super) takes_back: Option<u32>,
}

impl Editor {
    /// Takes in a call of message `number`.
    pub(super) fn call(&mut self, number: u32, call: &Call<'_>) -> Known {
        let path = call.arguments.path();
        let edits = matches!(call.act, Act::Edit | Act::Write);
        let Some(path) = path else {
            let open = self.named.clone().filter(|_| edits && call.arguments.patch().is_none());
            return Known { open, takes_back: None };
        };
        self.named = Some(path.as_ref().into());
        if call.act != Act::Edit {
            return Known::default();
        }
        let arguments: Vec<Argument> = call
            .arguments
            .all()
            .filter(|(_, raw)| raw.starts_with('"'))
            .map(|(name, raw)| (keys::key(name), keys::key(&unquote(raw))))
            .collect();
        let earlier = self.edits.entry(path.as_ref().into()).or_default();
        let undone = earlier.iter().rposition(|(_, before)| swaps(before, &arguments));
        // An undone edit isn't undone again, nor is the edit that undid it.
        let takes_back = undone.map(|at| earlier.remove(at).0);
        if takes_back.is_none() {
            earlier.push((number, arguments));
        }
        Known { open: None, takes_back }
    }
}

/// Whether of two edits with the same arguments one puts back what the other replaced: two values have changed places.
fn swaps(one: &[Argument], other: &[Argument]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let of = |name: Key| other.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let mut changed = Vec::new();
    for (name, value) in one {
        match of(*name) {
            None => return false,
            Some(same) if same == *value => {}
            Some(now) => changed.push((*value, now)),
        }
    }
    matches!(changed[..], [(a, b), (c, d)] if a == d && b == c)
}

/// Whether an output tells of this file: its name stands there, whatever folder stands before it.
pub(super) fn tells_of(output: &str, path: &str) -> bool {
    let is_apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    output.match_indices(path).any(|(at, _)| {
        let before = output[..at].chars().next_back();
        let behind = output[at + path.len()..].chars().next();
        before.is_none_or(is_apart) && behind.is_none_or(|c| is_apart(c) && c != '/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, old: &str, new: &str) -> String {
        format!(r#"{{"path":"{path}","old_string":"{old}","new_string":"{new}"}}"#)
    }

    #[test]
    fn an_edit_that_puts_back_says_which_one() {
        let mut editor = Editor::default();
        let mut call = |number, arguments: &str| {
            editor.call(number, &Call::read("Edit", arguments)).takes_back
        };
        assert_eq!(call(1, &edit("a", "x", "y")), None);
        assert_eq!(call(2, &edit("b", "y", "x")), None, "another file");
        assert_eq!(call(3, &edit("a", "y", "z")), None);
        assert_eq!(call(4, &edit("a", "y", "x")), Some(1));
        assert_eq!(call(5, &edit("a", "y", "x")), None, "once");
    }

    #[test]
    fn a_file_is_told_of_by_its_whole_name() {
        assert!(tells_of("[File: /app/src/a.rs (3 lines)]", "src/a.rs"));
        assert!(!tells_of("src/a.rs.bak and xsrc/a.rs", "src/a.rs"));
    }
}
