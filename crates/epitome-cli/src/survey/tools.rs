//! What each tool weighs: its definition, its calls, its results.

use std::collections::BTreeMap;

use epitome::Request;
use epitome::count::{Tally, TokenCounter, ToolWeight, tool_weights};
use epitome::transcript::unit::Units;
use epitome::wire;
use epitome::wire::json::{self, Span, unquote};
use serde::Serialize;

use crate::terminal::line;

/// A tool and what it weighs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) weight: ToolWeight,
    /// 0 where the request doesn't define it.
    pub(crate) definition_tokens: u64,
}

impl Tool {
    /// All that it weighs in the transcript.
    pub(crate) fn tokens(&self) -> u64 {
        self.weight.argument_tokens + self.weight.result_tokens
    }
}

/// The definitions of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Definitions {
    pub(crate) tools: usize,
    pub(crate) tokens: u64,
    pub(crate) bytes: usize,
    /// Tools that are defined and were never called.
    pub(crate) unused: usize,
    pub(crate) unused_tokens: u64,
}

/// Longest tool name that is shown; longer ones are somebody's joke.
const NAME: usize = 80;

/// All tools that are called, the heaviest first, and the definitions.
pub(super) fn weigh(
    request: &Request,
    units: &Units,
    tally: &Tally,
    counter: &dyn TokenCounter,
) -> (Vec<Tool>, Definitions) {
    let mut tools: BTreeMap<String, Tool> = tool_weights(request, units, tally)
        .into_iter()
        .map(|(name, weight)| (name, Tool { weight, ..Tool::default() }))
        .collect();
    let definitions = define(request, tally, counter, &mut tools);
    let mut tools: Vec<Tool> = tools
        .into_iter()
        .map(|(name, tool)| {
            let name = line(&name, NAME);
            Tool { name: if name.is_empty() { "(unnamed)".to_owned() } else { name }, ..tool }
        })
        .collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens()));
    (tools, definitions)
}

fn define(
    request: &Request,
    tally: &Tally,
    counter: &dyn TokenCounter,
    tools: &mut BTreeMap<String, Tool>,
) -> Definitions {
    let mut definitions =
        Definitions { tokens: tally.frame.tools.tokens, ..Definitions::default() };
    let mut defined = Vec::new();
    for raw in wire::definitions(request) {
        definitions.bytes += raw.len();
        // The form of the answer is an object, and no tool.
        let elements = json::elements(raw, Span::new(0..raw.len())).unwrap_or_default();
        defined.extend(elements.into_iter().map(|element| (raw, element)));
    }
    definitions.tools = defined.len();
    for (raw, element) in defined {
        // OpenAI's stand a level deeper.
        let inner = json::member(raw, element, "function").unwrap_or(element);
        let name = json::member(raw, inner, "name").map(|name| unquote(name.of(raw)).into_owned());
        let tokens = counter.text(element.of(raw)).tokens;
        if let Some(tool) = name.and_then(|name| tools.get_mut(&name)) {
            tool.definition_tokens += tokens;
        } else {
            definitions.unused += 1;
            definitions.unused_tokens += tokens;
        }
    }
    definitions
}
