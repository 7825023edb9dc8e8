//! Anthropic's clearing edits: results of older calls (`clear_tool_uses_20250919`) and older thinking (`clear_thinking_20251015`).
//!
//! A request has the whole conversation each time, so what is cleared must follow from the conversation alone: its prompts are
//! replayed from the first to this one, and each clears as the edit says. A prompt's clearing stays the same, byte for byte,
//! until a later one reaches the threshold again; so the provider's cache stays warm in between.

use std::collections::HashMap;

use epitome::count::{FrameTally, TokenCounter};
use epitome::model::Binding;
use epitome::{Format, wire};
use serde_json::{Value, json};

use super::members::{Members, Raws, list_of, raw};

/// The beta that names them.
pub(super) const BETA: &str = "context-management-2025-06-27";

/// What stands in the place of a result that is cleared.
const CLEARED: &str = "[The result of this call was cleared from the context. The call was made.]";

const TOOL_USES: &str = "clear_tool_uses_20250919";
const THINKING: &str = "clear_thinking_20251015";

/// Tokens of a prompt above which it is cleared where nothing is said, and calls that are kept then.
const USUAL_TOKENS: u64 = 100_000;
const USUAL_KEPT: usize = 3;

/// What is to be cleared.
#[derive(Debug, Default)]
pub(super) struct Clearing {
    calls: Option<CallClearing>,
    /// So many turns keep their thinking.
    thinking: Option<usize>,
}

#[derive(Debug)]
struct CallClearing {
    over: Over,
    keep: usize,
    at_least: u64,
    excluded: Vec<String>,
    inputs: Inputs,
}

#[derive(Clone, Copy, Debug)]
enum Over {
    Tokens(u64),
    Uses(usize),
}

/// Whose arguments leave with their results.
#[derive(Debug)]
enum Inputs {
    Nobodys,
    Everybodys,
    Of(Vec<String>),
}

impl Inputs {
    fn of(&self, tool: &str) -> bool {
        match self {
            Inputs::Nobodys => false,
            Inputs::Everybodys => true,
            Inputs::Of(names) => names.iter().any(|name| name == tool),
        }
    }
}

/// What was cleared of a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedEdits {
    has_calls: bool,
    has_thinking: bool,
    uses: u64,
    turns: u64,
    /// Tokens that left with them, by count.
    by_calls: u64,
    by_thinking: u64,
}

impl AppliedEdits {
    /// As a reply says it.
    pub(super) fn told(&self) -> Value {
        let mut all = Vec::new();
        if self.has_thinking && self.turns > 0 {
            all.push(json!({"type": THINKING, "cleared_thinking_turns": self.turns, "cleared_input_tokens": self.by_thinking}));
        }
        if self.has_calls && self.uses > 0 {
            all.push(json!({"type": TOOL_USES, "cleared_tool_uses": self.uses, "cleared_input_tokens": self.by_calls}));
        }
        json!({"applied_edits": all})
    }

    /// As a count of so many tokens says it.
    pub(super) fn counted(&self, tokens: u64) -> Value {
        json!({"original_input_tokens": tokens + self.by_calls + self.by_thinking})
    }
}

/// Takes what a request asks for out of it. What can't be read is left to the upstream, which refuses it in its own words.
pub(super) fn ask(members: &mut Members) -> Option<Clearing> {
    let mut management: Value = members.get("context_management")?;
    let edits = management["edits"].as_array_mut()?;
    let mut clearing = Clearing::default();
    edits.retain(|edit| match edit["type"].as_str() {
        Some(TOOL_USES) => match calls(edit) {
            Some(calls) => {
                clearing.calls = Some(calls);
                false
            }
            None => true,
        },
        Some(THINKING) => match turns(edit) {
            Some(turns) => {
                clearing.thinking = Some(turns);
                false
            }
            None => true,
        },
        _ => true,
    });
    if clearing.calls.is_none() && clearing.thinking.is_none() {
        return None;
    }
    if edits.is_empty() {
        members.remove("context_management");
    } else {
        members.set("context_management", management.to_string());
    }
    Some(clearing)
}

fn calls(edit: &Value) -> Option<CallClearing> {
    let number =
        |value: &Value, kind: &str| value["value"].as_u64().filter(|_| value["type"] == kind);
    let names = |value: &Value| match value {
        Value::Null => Some(Vec::new()),
        value => serde_json::from_value::<Vec<String>>(value.clone()).ok(),
    };
    let over = match &edit["trigger"] {
        Value::Null => Over::Tokens(USUAL_TOKENS),
        said => match (number(said, "input_tokens"), number(said, "tool_uses")) {
            (Some(tokens), _) => Over::Tokens(tokens),
            (_, Some(uses)) => Over::Uses(usize::try_from(uses).ok()?),
            _ => return None,
        },
    };
    let keep = match &edit["keep"] {
        Value::Null => USUAL_KEPT,
        said => usize::try_from(number(said, "tool_uses")?).ok()?,
    };
    let at_least = match &edit["clear_at_least"] {
        Value::Null => 0,
        said => number(said, "input_tokens")?,
    };
    let inputs = match &edit["clear_tool_inputs"] {
        Value::Null | Value::Bool(false) => Inputs::Nobodys,
        Value::Bool(true) => Inputs::Everybodys,
        said => Inputs::Of(names(said)?),
    };
    Some(CallClearing { over, keep, at_least, excluded: names(&edit["exclude_tools"])?, inputs })
}

fn turns(edit: &Value) -> Option<usize> {
    match &edit["keep"] {
        Value::Null => Some(1),
        Value::String(all) if all == "all" => Some(usize::MAX),
        said if said["type"] == "all" => Some(usize::MAX),
        said if said["type"] == "thinking_turns" => said["value"]
            .as_u64()
            .and_then(|turns| usize::try_from(turns).ok())
            .filter(|it| *it > 0),
        _ => None,
    }
}

/// A message, and what of it leaves.
#[derive(Debug)]
struct Message {
    is_models: bool,
    /// Answers calls, and says nothing new.
    is_of_results: bool,
    /// Of a message in blocks.
    blocks: Option<Vec<Block>>,
    tokens: u64,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    tokens: u64,
    fate: Fate,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Use,
    Result,
    Thinking,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// Its content or its arguments are gone.
    Emptied,
    Leaves,
}

/// Where a call and its result stand: a message, and a block of it.
#[derive(Debug)]
struct CallPlace {
    name: String,
    call: (usize, usize),
    result: Option<(usize, usize)>,
}

/// What is gone through.
struct Walk<'a> {
    messages: Vec<Message>,
    calls: Vec<CallPlace>,
    counter: &'a dyn TokenCounter,
    applied: AppliedEdits,
    /// Tokens of what is shown so far.
    shown: u64,
}

impl Clearing {
    /// The messages as they are sent, and what was cleared of them; `None` where they can't be read.
    pub(super) fn of(
        &self,
        members: &Members,
        messages: &Raws,
        counter: &dyn TokenCounter,
    ) -> Option<(Raws, AppliedEdits)> {
        let mut bare = Members::read(&members.to_string())?;
        bare.set("messages", "[]".to_owned());
        let request = wire::parse(Format::Anthropic, bare.to_string()).ok()?;
        let frame = FrameTally::of(&request, counter).total().tokens;
        let mut walk = Walk::over(messages, counter)?;
        walk.shown = frame;
        walk.applied.has_calls = self.calls.is_some();
        walk.applied.has_thinking = self.thinking.is_some();
        walk.go(self, Binding::of(&request));
        Some((walk.rendered(messages)?, walk.applied))
    }
}

impl<'a> Walk<'a> {
    fn over(messages: &Raws, counter: &'a dyn TokenCounter) -> Option<Self> {
        let mut walk = Walk {
            messages: Vec::with_capacity(messages.len()),
            calls: Vec::new(),
            counter,
            applied: AppliedEdits::default(),
            shown: 0,
        };
        let mut open: HashMap<String, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            let members = Members::read(message.get())?;
            let is_models = members.get::<String>("role")? == "assistant";
            let Some(raws) = members.get::<Raws>("content") else {
                let tokens = counter.text(&members.get::<String>("content")?).tokens;
                walk.messages.push(Message {
                    is_models,
                    is_of_results: false,
                    blocks: None,
                    tokens,
                });
                continue;
            };
            let mut blocks = Vec::with_capacity(raws.len());
            for (nth, block) in raws.iter().enumerate() {
                let members = Members::read(block.get())?;
                let text = |name: &str| members.get::<String>(name).unwrap_or_default();
                let kind = match text("type").as_str() {
                    "tool_use" => {
                        open.insert(text("id"), walk.calls.len());
                        let (name, call) = (text("name"), (at, nth));
                        walk.calls.push(CallPlace { name, call, result: None });
                        Kind::Use
                    }
                    "tool_result" => {
                        if let Some(known) = open.remove(&text("tool_use_id")) {
                            walk.calls[known].result = Some((at, nth));
                        }
                        Kind::Result
                    }
                    "thinking" | "redacted_thinking" => Kind::Thinking,
                    _ => Kind::Other,
                };
                let tokens = counter.text(block.get()).tokens;
                blocks.push(Block { kind, tokens, fate: Fate::Stays });
            }
            let is_of_results =
                !blocks.is_empty() && blocks.iter().all(|block| block.kind == Kind::Result);
            let tokens = blocks.iter().map(|block| block.tokens).sum();
            walk.messages.push(Message { is_models, is_of_results, blocks: Some(blocks), tokens });
        }
        Some(walk)
    }

    /// Goes through all prompts, and clears what they ask for.
    fn go(&mut self, clearing: &Clearing, binding: Binding) {
        let empty = self.counter.text(CLEARED).tokens;
        // Turns with thinking: where they begin and end; the first of them that has it still.
        let (mut turns, mut first_turn): (Vec<(usize, usize)>, usize) = (Vec::new(), 0);
        let mut begins = 0;
        // Calls before these are cleared, or looked at; those before the second would be cleared next.
        let (mut done, mut known, mut reach, mut gain) = (0, 0, 0, 0);
        // Thinking up to here was made before what was cleared last.
        let mut unbound = 0;
        for at in 0..self.messages.len() {
            let message = &self.messages[at];
            self.shown += message.tokens;
            if message.is_models {
                let thinks =
                    |block: &Block| block.kind == Kind::Thinking && block.fate == Fate::Stays;
                if message.blocks.iter().flatten().any(thinks) {
                    match turns.last_mut() {
                        Some(turn) if turn.0 == begins => turn.1 = at + 1,
                        _ => turns.push((begins, at + 1)),
                    }
                }
                if at + 1 < self.messages.len() {
                    continue;
                }
            } else if !message.is_of_results {
                begins = at;
            }
            // A model is asked behind this message.
            if self.messages.get(at + 1).is_some_and(|next| !next.is_models) {
                continue;
            }
            while self.calls.get(known).is_some_and(|it| it.call.0 <= at) {
                known += 1;
            }
            if let Some(keep) = clearing.thinking {
                while turns.len() - first_turn > keep {
                    let (from, to) = turns[first_turn];
                    self.applied.by_thinking += self.forget_thinking(from, to);
                    self.applied.turns += 1;
                    first_turn += 1;
                }
            }
            let Some(calls) = &clearing.calls else { continue };
            while reach + calls.keep < known {
                if let Some(result) = self.clears(calls, reach) {
                    gain += self.messages[result.0].tokens_of(result.1).saturating_sub(empty);
                }
                reach += 1;
            }
            let is_over = match calls.over {
                Over::Tokens(tokens) => self.shown > tokens,
                Over::Uses(uses) => known - done > uses,
            };
            // By hand, thinking has to begin the turn that is under way.
            let is_fixed = binding == Binding::PrefixManual && self.messages[at].is_of_results;
            if !is_over || is_fixed || gain == 0 || gain < calls.at_least {
                continue;
            }
            let mut changed = None;
            for nth in done..reach {
                let Some(result) = self.clears(calls, nth) else { continue };
                self.applied.uses += 1;
                let saved = self.empty(result, empty);
                self.applied.by_calls += saved;
                let mut least = result.0;
                if calls.inputs.of(&self.calls[nth].name) {
                    let call = self.calls[nth].call;
                    self.applied.by_calls += self.empty(call, self.counter.text("{}").tokens);
                    least = call.0;
                }
                changed = changed.or(Some(least));
            }
            if let Some(changed) = changed.filter(|_| binding != Binding::Free) {
                self.applied.by_calls += self.forget_thinking(unbound.max(changed + 1), at + 1);
                unbound = at + 1;
            }
            (done, gain) = (reach, 0);
        }
    }

    /// The result of a call that may be cleared.
    fn clears(&self, calls: &CallClearing, nth: usize) -> Option<(usize, usize)> {
        let call = &self.calls[nth];
        call.result.filter(|_| !calls.excluded.contains(&call.name))
    }

    /// Takes thinking out of these messages; tokens that leave with it.
    fn forget_thinking(&mut self, from: usize, to: usize) -> u64 {
        let mut left = 0;
        for message in self.messages.get_mut(from..to).into_iter().flatten() {
            for block in message.blocks.iter_mut().flatten() {
                if block.kind == Kind::Thinking && block.fate == Fate::Stays {
                    block.fate = Fate::Leaves;
                    left += block.tokens;
                }
            }
        }
        self.shown = self.shown.saturating_sub(left);
        left
    }

    /// Empties a block, which has so many tokens then; those that leave.
    fn empty(&mut self, (at, nth): (usize, usize), tokens: u64) -> u64 {
        let Some(blocks) = &mut self.messages[at].blocks else { return 0 };
        blocks[nth].fate = Fate::Emptied;
        let left = blocks[nth].tokens.saturating_sub(tokens);
        self.shown = self.shown.saturating_sub(left);
        left
    }

    fn rendered(&self, messages: &Raws) -> Option<Raws> {
        let each = self.messages.iter().zip(messages);
        let each = each.map(|(message, came)| {
            let blocks = message.blocks.as_ref();
            let changed = blocks.filter(|all| all.iter().any(|one| one.fate != Fate::Stays));
            let Some(blocks) = changed else { return Some(Some(came.clone())) };
            let mut members = Members::read(came.get())?;
            let raws: Raws = members.get("content")?;
            let mut left: Raws = Vec::new();
            for (block, came) in blocks.iter().zip(&raws) {
                match block.fate {
                    Fate::Stays => left.push(came.clone()),
                    Fate::Leaves => {}
                    Fate::Emptied => {
                        let mut members = Members::read(came.get())?;
                        match block.kind {
                            Kind::Use => members.set("input", "{}".to_owned()),
                            _ => members.set("content", json!(CLEARED).to_string()),
                        }
                        left.push(raw(members.to_string()));
                    }
                }
            }
            // A message that only thought is none any more.
            if left.is_empty() {
                return Some(None);
            }
            members.set("content", list_of(&left));
            Some(Some(raw(members.to_string())))
        });
        let each: Option<Vec<_>> = each.collect();
        Some(each?.into_iter().flatten().collect())
    }
}

impl Message {
    fn tokens_of(&self, nth: usize) -> u64 {
        self.blocks.as_ref().and_then(|blocks| blocks.get(nth)).map_or(0, |block| block.tokens)
    }
}
