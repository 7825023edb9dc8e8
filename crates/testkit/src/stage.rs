//! Scripts become messages: what a format doesn't allow at a place is left out there.

use epitome::wire::Format;

use crate::draft::{Block, Message, Shape, Thinking};
use crate::interactions;
use crate::prose::reminder;
use crate::script::{
    Beat, Call, Dress, Order, Outcome, Prose, Script, Splits, Step, TOOLS, Thought, UNKNOWN,
};

/// Anthropic's (PROVIDERS.md B.1.6).
const MOST_MARKERS: usize = 4;

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
        if self.script.format == Format::OpenaiChat
            && let Some(system) = self.script.system.as_ref().filter(|_| !beats.is_empty())
        {
            self.messages.push(Message::new("system", vec![Block::Text(system.words())]));
        }
        for (index, beat) in beats.iter().enumerate() {
            let open = if index + 1 == beats.len() { self.script.open } else { 0 };
            self.beat(beat, usize::from(open));
        }
        match self.script.format {
            Format::Anthropic => self.set_anthropic_order(),
            Format::Gemini => self.set_gemini_order(),
            Format::Bedrock => self.set_bedrock_order(),
            Format::GeminiInteractions => {
                let messages = std::mem::take(&mut self.messages);
                self.messages = messages.into_iter().flat_map(interactions::steps).collect();
            }
            _ => {}
        }
        if self.messages.is_empty() {
            self.messages.push(Message::new("user", vec![Block::Text("Begin.".to_owned())]));
        }
        self.messages
    }

    fn is_gemini(&self) -> bool {
        self.script.format == Format::Gemini
    }

    fn is_bedrock(&self) -> bool {
        self.script.format == Format::Bedrock
    }

    fn is_interactions(&self) -> bool {
        self.script.format == Format::GeminiInteractions
    }

    /// Results are parts of the user's messages.
    fn has_blocks(&self) -> bool {
        self.is_anthropic() || self.is_gemini() || self.is_bedrock()
    }

    fn is_anthropic(&self) -> bool {
        self.script.format == Format::Anthropic
    }

    /// Whether one more cache marker may stand in the request.
    fn takes_marker(&self) -> bool {
        let is_marked = |block: &&Block| matches!(block, Block::Cached(_));
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        let has_markers = !self.is_gemini() && !self.is_interactions();
        has_markers && blocks.filter(is_marked).count() < MOST_MARKERS
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Block>, shape: Shape) {
        self.messages.push(Message { role, blocks, shape });
    }

    fn beat(&mut self, beat: &Beat, open: usize) {
        match beat {
            Beat::Human { text, media, dress } => {
                let text = text.words();
                let is_marked = matches!(dress, Dress::Cached) && self.takes_marker();
                let text = if is_marked { Block::Cached(text) } else { Block::Text(text) };
                let blocks = media.block().into_iter().chain([text]);
                self.push("user", blocks.collect(), dress.shape());
            }
            Beat::Injected { text, human } => {
                let human = human.as_ref().map(|text| Block::Text(text.words()));
                let blocks =
                    [Block::Text(reminder(&text.words()))].into_iter().chain(human).collect();
                self.push("user", blocks, Shape::String);
            }
            Beat::Step(step) => self.step(step, open),
            Beat::Instructions(_)
                if self.is_gemini() || self.is_bedrock() || self.is_interactions() => {}
            Beat::Instructions(text) => {
                let role = if self.is_anthropic() { "system" } else { "developer" };
                self.push(role, vec![Block::Text(text.words())], Shape::String);
            }
            Beat::Compaction(text) if self.is_anthropic() => {
                let text = text.as_ref().map(Prose::words);
                self.push("assistant", vec![Block::Compaction(text)], Shape::List);
            }
            Beat::Function { tool, text }
                if !self.is_anthropic() && !self.is_bedrock() && !self.is_interactions() =>
            {
                self.ids += 1;
                let name = TOOLS[*tool].to_owned();
                let call = Block::Function { name: name.clone(), input: "{}".to_owned() };
                self.push("assistant", self.signed(vec![call]), Shape::String);
                self.push(
                    if self.is_gemini() { "user" } else { "function" },
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
        if self.has_blocks()
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
        // Who answers a part of a batch must answer all of it.
        if open > 0 {
            results.clear();
        }
        let only_thoughts =
            said.iter().all(|b| matches!(b, Block::Think(_) | Block::Signed(_) | Block::Redacted));
        if calls.is_empty() && only_thoughts {
            said.push(Block::Text("Done.".to_owned()));
        }
        if self.is_gemini() {
            said = Self::sealed(said, step);
            calls = self.signed(calls);
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

    /// Gemini: some steps that call nothing are signed at their end.
    fn sealed(mut said: Vec<Block>, step: &Step) -> Vec<Block> {
        let is_signed = step.thoughts.iter().any(|thought| matches!(thought, Thought::Signed(_)));
        if is_signed && step.calls.is_empty() && matches!(said.last(), Some(Block::Text(_))) {
            said.push(Block::Signature("said".to_owned()));
        }
        said
    }

    /// Gemini: the first call of a step is signed where the model demands it, and elsewhere at times.
    fn signed(&self, mut calls: Vec<Block>) -> Vec<Block> {
        let is_due = self.script.thinking == Thinking::Manual || self.ids.is_multiple_of(3);
        if self.is_gemini() && is_due && !calls.is_empty() {
            calls.insert(1, Block::Signature(format!("call {}", self.ids)));
        }
        calls
    }

    /// Reasoning as the format has it; an open tool loop in manual mode has to begin with it.
    fn thoughts(&self, thoughts: &[Thought]) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for thought in thoughts {
            let block = thought.block();
            // A chat message has one member for plain reasoning.
            if !matches!((&block, blocks.last()), (Block::Think(_), Some(Block::Think(_)))) {
                blocks.push(block);
            }
        }
        let binds = self.is_anthropic() || self.is_bedrock();
        if blocks.is_empty() && binds && self.script.thinking == Thinking::Manual {
            blocks.push(Block::Signed("hm".to_owned()));
        }
        blocks
    }

    fn call(&mut self, call: &Call, nth: usize, order: Order) -> (Block, Block) {
        self.ids += 1;
        if self.is_gemini() && matches!(order, Order::SameIds) {
            let name = TOOLS[call.tool].to_owned();
            let text = call.result.words();
            let call = Block::Function { name: name.clone(), input: "{}".to_owned() };
            return (call, Block::FunctionResult { name, text });
        }
        let id = match (self.is_anthropic(), order) {
            (true, _) => format!("toolu_{:02}", self.ids),
            (false, _) if self.is_interactions() => format!("call_{:02}", self.ids),
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
            Outcome::Image(width, height) if self.has_blocks() => {
                (Shape::List, vec![text, Block::Image(width, height)])
            }
            Outcome::Image(..) => (Shape::List, vec![text]),
            Outcome::Empty if self.has_blocks() => (Shape::Absent, Vec::new()),
            Outcome::Empty => (Shape::String, Vec::new()),
        };
        let failed = matches!(call.outcome, Outcome::Failed);
        let name = TOOLS[call.tool].to_owned();
        (Block::Call { id: id.clone(), name, input }, Block::Result { id, failed, shape, content })
    }

    fn assistant(&mut self, said: Vec<Block>, calls: Vec<Block>, splits: Splits, shape: Shape) {
        let splits = matches!(splits, Splits::Assistant | Splits::Both);
        if !splits || self.is_gemini() || said.is_empty() || calls.is_empty() {
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
        if !self.has_blocks() {
            for result in results {
                self.push("tool", vec![result], Shape::String);
            }
            return;
        }
        let splits = matches!(splits, Splits::Results | Splits::Both) && !self.is_gemini();
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

    /// Bedrock: the user begins, both take turns, and nothing is blank.
    fn set_bedrock_order(&mut self) {
        for message in &mut self.messages {
            message.blocks.iter_mut().for_each(not_blank);
        }
        if self.messages.first().is_some_and(|first| first.role == "assistant") {
            self.messages.insert(0, Message::new("user", vec![Block::Text("Begin.".to_owned())]));
        }
        let mut merged: Vec<Message> = Vec::new();
        for message in std::mem::take(&mut self.messages) {
            match merged.last_mut().filter(|last| last.role == message.role) {
                Some(last) => last.blocks.extend(message.blocks),
                None => merged.push(message),
            }
        }
        self.messages = merged;
    }

    /// Calls stand behind the user's side, and first of all comes the user.
    fn set_gemini_order(&mut self) {
        let said = |text: &str| Message::new("user", vec![Block::Text(text.to_owned())]);
        if self.messages.first().is_some_and(|first| first.role == "assistant") {
            self.messages.insert(0, said("Begin."));
        }
        for at in (1..self.messages.len()).rev() {
            let pair = &self.messages[at - 1..=at];
            let is_model = pair.iter().all(|message| message.role == "assistant");
            if is_model && pair.iter().any(Message::calls) {
                self.messages.insert(at, said("Go on."));
            }
        }
    }

    /// The user begins (or a compaction block does), and instructions stand between the user and
    /// the model.
    fn set_anthropic_order(&mut self) {
        self.messages.iter_mut().flat_map(|message| &mut message.blocks).for_each(not_blank);
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

/// Blank words say something, for formats that refuse them.
fn not_blank(block: &mut Block) {
    match block {
        Block::Text(text) | Block::Cached(text) if text.trim().is_empty() => text.push('.'),
        Block::Result { content, .. } => content.iter_mut().for_each(not_blank),
        _ => {}
    }
}
