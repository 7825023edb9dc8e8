//! Scripts become messages: what a format doesn't allow at a place is left out there.

use epitome::wire::Format;

use crate::draft::{Block, Message, Shape, Thinking};
use crate::notation::reminder;
use crate::script::{
    Beat, Call, Dress, Media, Order, Outcome, Prose, Script, Splits, Step, TOOLS, Thought, UNKNOWN,
};

/// The messages of `script`, valid in its format.
pub(crate) fn play(script: &Script) -> Vec<Message> {
    Stage { script, ids: 0, messages: Vec::new() }.play()
}

/// A script being played: beats become messages where their format allows them.
struct Stage<'a> {
    script: &'a Script,
    ids: usize,
    messages: Vec<Message>,
}

impl Stage<'_> {
    fn play(mut self) -> Vec<Message> {
        let beats = &self.script.beats;
        if !self.is_anthropic()
            && let Some(system) = self.script.system.as_ref().filter(|_| !beats.is_empty())
        {
            self.messages.push(Message::new("system", vec![Block::Text(system.words())]));
        }
        for (index, beat) in beats.iter().enumerate() {
            let open = if index + 1 == beats.len() { self.script.open } else { 0 };
            self.beat(beat, usize::from(open));
        }
        if self.is_anthropic() {
            self.set_anthropic_order();
        }
        self.messages
    }

    fn is_anthropic(&self) -> bool {
        self.script.format == Format::Anthropic
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Block>, shape: Shape) {
        self.messages.push(Message { role, blocks, shape });
    }

    fn beat(&mut self, beat: &Beat, open: usize) {
        match beat {
            Beat::Human { text, media, dress } => {
                let text = text.words();
                let text = if matches!(dress, Dress::Cached) {
                    Block::Cached(text)
                } else {
                    Block::Text(text)
                };
                let medium = match media {
                    Media::None => None,
                    Media::Image(width, height) => Some(Block::Image(*width, *height)),
                    Media::Document => Some(Block::Document),
                };
                let shape =
                    if matches!(dress, Dress::String) { Shape::String } else { Shape::List };
                self.push("user", medium.into_iter().chain([text]).collect(), shape);
            }
            Beat::Injected { text, human } => {
                let human = human.as_ref().map(|text| Block::Text(text.words()));
                let blocks =
                    [Block::Text(reminder(&text.words()))].into_iter().chain(human).collect();
                self.push("user", blocks, Shape::String);
            }
            Beat::Step(step) => self.step(step, open),
            Beat::Instructions(text) => {
                let role = if self.is_anthropic() { "system" } else { "developer" };
                self.push(role, vec![Block::Text(text.words())], Shape::String);
            }
            Beat::Compaction(text) if self.is_anthropic() => {
                let text = text.as_ref().map(Prose::words);
                self.push("assistant", vec![Block::Compaction(text)], Shape::List);
            }
            Beat::Function { tool, text } if !self.is_anthropic() => {
                let name = TOOLS[*tool].to_owned();
                let call = Block::Function { name: name.clone(), input: "{}".to_owned() };
                self.push("assistant", vec![call], Shape::String);
                self.push(
                    "function",
                    vec![Block::FunctionResult { name, text: text.words() }],
                    Shape::String,
                );
            }
            Beat::Unknown(n) => {
                let blocks =
                    vec![Block::Opaque(UNKNOWN[*n].to_owned()), Block::Text("see?".to_owned())];
                self.push("user", blocks, Shape::List);
            }
            Beat::Compaction(_) | Beat::Function { .. } => {}
        }
    }

    fn step(&mut self, step: &Step, open: usize) {
        let mut said: Vec<Block> = self.thoughts(&step.thoughts);
        said.extend(step.say.as_ref().map(|text| Block::Text(text.words())));
        if self.is_anthropic()
            && let Some(text) = &step.serves
        {
            self.ids += 1;
            let (id, name) = (format!("srvtoolu_{:02}", self.ids), "web_search".to_owned());
            let input = r#"{"query":"x"}"#.to_owned();
            said.push(Block::ServerCall { id: id.clone(), name: name.clone(), input });
            said.push(Block::ServerResult { id, name, text: text.words() });
        }
        said.extend(step.unknown.map(|n| Block::Opaque(UNKNOWN[n].to_owned())));
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for (nth, call) in step.calls.iter().enumerate() {
            let (call, result) = self.call(call, nth, step.order);
            calls.push(call);
            results.push(result);
        }
        if matches!(step.order, Order::Reversed) {
            results.reverse();
        }
        results.truncate(results.len().saturating_sub(open));
        let only_thoughts =
            said.iter().all(|b| matches!(b, Block::Think(_) | Block::Signed(_) | Block::Redacted));
        if calls.is_empty() && only_thoughts {
            said.push(Block::Text("Done.".to_owned()));
        }
        let shape = if said.iter().any(|b| matches!(b, Block::Opaque(_))) {
            Shape::List
        } else {
            step.absent
        };
        self.assistant(said, calls, step.splits, shape);
        let is_whole = results.len() == step.calls.len();
        self.results(results, step.aside.as_ref().filter(|_| is_whole), step.splits);
    }

    /// Reasoning as the format has it; an open tool loop in manual mode has to begin with it.
    fn thoughts(&self, thoughts: &[Thought]) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for thought in thoughts {
            let block = match thought {
                Thought::Plain(text) => Block::Think(text.words()),
                Thought::Signed(text) => Block::Signed(text.words()),
                Thought::Redacted => Block::Redacted,
            };
            // A chat message has one member for plain reasoning.
            if !matches!((&block, blocks.last()), (Block::Think(_), Some(Block::Think(_)))) {
                blocks.push(block);
            }
        }
        if blocks.is_empty() && self.is_anthropic() && self.script.thinking == Thinking::Manual {
            blocks.push(Block::Signed("hm".to_owned()));
        }
        blocks
    }

    fn call(&mut self, call: &Call, nth: usize, order: Order) -> (Block, Block) {
        self.ids += 1;
        let id = match (self.is_anthropic(), order) {
            (true, _) => format!("toolu_{:02}", self.ids),
            (false, Order::SameIds) => format!("call_same_{nth}"),
            (false, _) => format!("call_{:02}", self.ids),
        };
        let argument = crate::pen::Json::text(call.argument.words()).plain();
        let input = match call.tool {
            0 => format!(r#"{{"file_path":{argument},"limit":1.0e2}}"#),
            1 => format!(r#"{{"command":{argument},"timeout":null}}"#),
            2 => "{}".to_owned(),
            _ => format!(r#"{{ "q" : [{argument}, {{"deep":{{}}}}] }}"#),
        };
        let text = Block::Text(call.result.words());
        let (shape, content) = match call.outcome {
            Outcome::Words | Outcome::Failed => (Shape::String, vec![text]),
            Outcome::List => (Shape::List, vec![text, Block::Text("(end)".to_owned())]),
            // No images in tool messages on OpenAI (PROVIDERS.md B.3).
            Outcome::Image(width, height) if self.is_anthropic() => {
                (Shape::List, vec![text, Block::Image(width, height)])
            }
            Outcome::Image(..) => (Shape::List, vec![text]),
            Outcome::Empty if self.is_anthropic() => (Shape::Absent, Vec::new()),
            Outcome::Empty => (Shape::String, Vec::new()),
        };
        let failed = matches!(call.outcome, Outcome::Failed);
        let name = TOOLS[call.tool].to_owned();
        (Block::Call { id: id.clone(), name, input }, Block::Result { id, failed, shape, content })
    }

    fn assistant(&mut self, said: Vec<Block>, calls: Vec<Block>, splits: Splits, shape: Shape) {
        let splits = matches!(splits, Splits::Assistant | Splits::Both);
        if !splits || said.is_empty() || calls.is_empty() {
            return self.push("assistant", said.into_iter().chain(calls).collect(), shape);
        }
        let only_thoughts =
            said.iter().all(|b| matches!(b, Block::Think(_) | Block::Signed(_) | Block::Redacted));
        if self.is_anthropic() {
            // The API merges them, so even one batch may be spread.
            self.push("assistant", said, Shape::List);
            for call in calls {
                self.push("assistant", vec![call], Shape::List);
            }
        } else if only_thoughts {
            self.push("assistant", said.into_iter().chain(calls).collect(), shape);
        } else {
            self.push("assistant", said, shape);
            self.push("assistant", calls, shape);
        }
    }

    fn results(&mut self, results: Vec<Block>, aside: Option<&Prose>, splits: Splits) {
        if !self.is_anthropic() {
            for result in results {
                self.push("tool", vec![result], Shape::String);
            }
            return;
        }
        let splits = matches!(splits, Splits::Results | Splits::Both);
        let mut last = Vec::new();
        for result in results {
            if splits && !last.is_empty() {
                self.push("user", std::mem::take(&mut last), Shape::List);
            }
            last.push(result);
        }
        if !last.is_empty() {
            // Results come first, words after them (PROVIDERS.md B.1.2).
            last.extend(aside.map(|text| Block::Text(text.words())));
            self.push("user", last, Shape::List);
        }
    }

    /// The user begins (or a compaction block does), and instructions stand between the user and
    /// the model.
    fn set_anthropic_order(&mut self) {
        let role = |messages: &[Message], at: usize| messages.get(at).map(|m| m.role);
        let mut at = 0;
        while at < self.messages.len() {
            let before = at.checked_sub(1).and_then(|before| role(&self.messages, before));
            let after = role(&self.messages, at + 1);
            let stands = before == Some("user") && matches!(after, None | Some("assistant"));
            if self.messages[at].role == "system" && !stands {
                self.messages.remove(at);
            } else {
                at += 1;
            }
        }
        let opens = |message: &Message| {
            message.role == "user" || matches!(message.blocks.first(), Some(Block::Compaction(_)))
        };
        if self.messages.first().is_some_and(|first| !opens(first)) {
            self.messages.insert(0, Message::new("user", vec![Block::Text("Begin.".to_owned())]));
        }
    }
}
