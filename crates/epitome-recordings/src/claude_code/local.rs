//! Commands that the agent ran itself (`/model opus`, `!ls`): typed by a person, but not said to
//! the model.

use std::collections::HashSet;

use epitome::wire::json::{Span, member, unquote};

use super::fields::Content;
use super::row::{Rows, What};

/// How a slash command is written.
const COMMAND: [&str; 2] = ["<command-name>", "<command-message>"];
/// What is said before commands that aren't for the model.
const CAVEAT: [&str; 2] = ["Caveat: The messages below were generated", "<local-command-caveat>"];
/// How their output is written.
const OUTPUT: [&str; 2] = ["<local-command-stdout>", "<local-command-stderr>"];

/// The rows in `order` that are such commands: a caveat stands before them, or output behind.
pub(super) fn commands(rows: &Rows<'_>, order: &[usize]) -> HashSet<usize> {
    let mut local = HashSet::new();
    for (place, &row) in order.iter().enumerate() {
        if rows.all[row].what != What::User || !opens(rows, row, &COMMAND) {
            continue;
        }
        let before = place.checked_sub(1).map(|before| order[before]);
        let behind = order.get(place + 1);
        if before.is_some_and(|before| opens(rows, before, &CAVEAT))
            || behind.is_some_and(|behind| opens(rows, *behind, &OUTPUT))
        {
            local.insert(row);
        }
    }
    local
}

/// Whether the row's text begins with one of `marks`.
fn opens(rows: &Rows<'_>, row: usize, marks: &[&str]) -> bool {
    let row_text = match &rows.all[row].content {
        Content::Text(literal) => Some(*literal),
        Content::Blocks(_) => rows.blocks(row).first().and_then(|block| {
            let whole = Span::new(0..block.raw.len());
            member(block.raw, whole, "text").map(|span| span.of(block.raw))
        }),
    };
    row_text.is_some_and(|literal| {
        let text = unquote(literal);
        marks.iter().any(|mark| text.trim_start().starts_with(mark))
    })
}
