//! The main line and the sub-agents' lines that stand in the same file.

use std::collections::HashMap;

use epitome::wire::json::unquote;

use super::fields::Pairs;
use super::row::{Row, Rows, What};

/// The rows of one conversation.
#[derive(Default)]
pub(super) struct Line {
    /// The agent's id, or that of its first row.
    pub(super) id: String,
    pub(super) members: Vec<usize>,
}

/// All conversations, the main one first. In a sub-agent's own file that is the first one there.
pub(super) fn split(rows: &Rows<'_>) -> Vec<Line> {
    let mut main = Line::default();
    let mut sides: Vec<Line> = Vec::new();
    let mut of_agent: HashMap<&str, usize> = HashMap::new();
    let mut of_uuid: HashMap<&str, usize> = HashMap::new();
    for (index, row) in rows.all.iter().enumerate() {
        if !row.is_sidechain {
            main.members.push(index);
            continue;
        }
        let known = match row.agent {
            Some(agent) => of_agent.get(agent),
            None => row.parent.and_then(|parent| of_uuid.get(parent)),
        };
        let side = match known {
            Some(side) => *side,
            // Without an agent's id, only a prompt can begin a line.
            None if row.agent.is_none() && !sides.is_empty() && !begins(rows, index) => {
                sides.len() - 1
            }
            None => {
                sides.push(Line { id: name(row), members: Vec::new() });
                sides.len() - 1
            }
        };
        sides[side].members.push(index);
        of_agent.extend(row.agent.map(|agent| (agent, side)));
        of_uuid.extend(row.uuid.map(|uuid| (uuid, side)));
    }
    if !main.members.iter().any(|row| rows.all[*row].what.is_message()) && !sides.is_empty() {
        return sides;
    }
    sides.insert(0, main);
    sides
}

fn begins(rows: &Rows<'_>, index: usize) -> bool {
    let is_prompt = matches!(rows.all[index].what, What::User | What::Injected);
    is_prompt && !rows.blocks(index).iter().any(|block| matches!(block.pairs, Pairs::Result(_)))
}

fn name(row: &Row<'_>) -> String {
    match row.agent.or(row.uuid) {
        Some(literal) => unquote(literal).into_owned(),
        None => format!("row-{}", row.line),
    }
}
