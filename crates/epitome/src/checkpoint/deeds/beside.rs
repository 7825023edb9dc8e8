//! What a command is given beside its line: the host that it runs on, a cluster, a folder.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Deed, MOST_TARGET};
use crate::json::unquote;
use crate::tool::Call;

/// Arguments of commands, as far as they tell calls of one tool apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside(HashMap<(Box<str>, Box<str>), Option<Constant>>);

/// What all calls so far were given under one name.
#[derive(Clone, Debug)]
struct Constant {
    value: Box<str>,
    /// Which calls.
    deeds: Vec<usize>,
}

/// Names of one call that are looked at.
const MOST_NAMES: usize = 8;

impl Beside {
    /// The next call, said as `what`, with what tells it from others before its line; once calls differ, `earlier` ones have that,
    /// too.
    pub(super) fn told(
        &mut self,
        tool: &str,
        call: &Call<'_>,
        mut what: String,
        earlier: &mut [Deed],
    ) -> String {
        let Some(line) = &call.line else { return what };
        let arguments = call.arguments.all().filter(|(_, raw)| raw.starts_with('"'));
        let words = arguments.map(|(name, raw)| (name, unquote(raw)));
        let words = words.filter(|(_, value)| is_word(value) && value != line);
        for (name, value) in words.take(MOST_NAMES) {
            match self.0.entry((tool.into(), name.into())) {
                Entry::Vacant(place) => {
                    let deeds = vec![earlier.len()];
                    place.insert(Some(Constant { value: (&*value).into(), deeds }));
                }
                Entry::Occupied(mut place) => match place.get_mut() {
                    Some(constant) if *constant.value == *value => {
                        constant.deeds.push(earlier.len());
                    }
                    known => {
                        if let Some(constant) = known.take() {
                            for deed in constant.deeds {
                                let what = &mut earlier[deed].what;
                                *what = before(&constant.value, what).into();
                            }
                        }
                        what = before(&value, &what);
                    }
                },
            }
        }
        what
    }
}

/// Whether a value says where, or as what: one word, no path from the root, no flag, no number.
fn is_word(value: &str) -> bool {
    value.len() <= MOST_TARGET
        && value.starts_with(char::is_alphanumeric)
        && value.contains(char::is_alphabetic)
        && !value.contains(char::is_whitespace)
        && !matches!(value, "true" | "false" | "null")
}

/// A call with a word before its line: `ssh(db03: uptime)`.
fn before(word: &str, what: &str) -> String {
    match what.split_once('(') {
        Some((tool, line)) => format!("{tool}({word}: {line}"),
        None => what.to_owned(),
    }
}
