//! Scripts become items.

use epitome::wire::Envelope;

use crate::draft::{Block, Message, Shape, Thinking};
use crate::pen::Json;
use crate::prose::reminder;
use crate::script::{
    Beat, Call, Dress, Order, Outcome, Prose, Script, Splits, Step, TOOLS, UNKNOWN,
};

/// The items of `script`, valid as they are.
pub(crate) fn play(script: &Script) -> Vec<Message> {
    let mut stage = Stage { script, ids: 0, thought: None, items: Vec::new() };
    if script.envelope == Envelope::Body && script.twist < 3 {
        let words =
            script.system.as_ref().map_or_else(|| "Fix the build.".to_owned(), Prose::words);
        let blocks = vec![Block::Text(words)];
        return vec![Message { role: "user", blocks, shape: Shape::String }];
    }
    stage.play();
    if stage.items.is_empty() {
        let blocks = vec![Block::Text("Begin.".to_owned())];
        stage.items.push(Message { role: "user", blocks, shape: Shape::String });
    }
    stage.items
}

/// PROVIDERS.md B.2.4.
const MOST_BREAKPOINTS: usize = 4;

struct Stage<'a> {
    script: &'a Script,
    ids: usize,
    /// The id of the thought that the model's next items are made with.
    thought: Option<String>,
    items: Vec<Message>,
}

impl Stage<'_> {
    fn play(&mut self) {
        let script = self.script;
        // What a request that goes on answers first of all.
        let is_continued = script.envelope == Envelope::Body
            && script.thinking != Thinking::Unset
            && script.system.is_none();
        if is_continued && !script.beats.is_empty() {
            self.push("tool", vec![Block::result("call_elsewhere", "found it")], Shape::String);
        }
        match script.twist {
            6 | 7 => self.odd_call(3, &Prose::Short(0)),
            8 => self.unknown(1),
            9 => self.unknown(3),
            _ => {}
        }
        for (index, beat) in script.beats.iter().enumerate() {
            let is_last = index + 1 == script.beats.len();
            let is_open = is_last && script.open > 0;
            self.beat(beat, is_open, is_last);
        }
        let is_asked = |item: &Message| matches!(item.blocks.as_slice(), [Block::Opaque(raw)] if raw.contains("trigger"));
        let is_open = script.open > 0 || self.items.last().is_some_and(is_asked);
        if matches!(script.twist, 3..=5) && !is_open && !self.items.is_empty() {
            self.raw(r#"{"type":"compaction_trigger"}"#);
        }
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Block>, shape: Shape) {
        if role != "assistant" {
            self.thought = None;
        }
        self.items.push(Message { role, blocks, shape });
    }

    fn raw(&mut self, json: impl Into<String>) {
        self.push("", vec![Block::Opaque(json.into())], Shape::List);
    }

    fn next(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    /// An item's own id, where ids are sent; what it was made with is part of it.
    fn own(&mut self, prefix: &str) -> Option<String> {
        let n = self.next();
        let of = self.thought.as_ref().map_or_else(String::new, |thought| format!("_of_{thought}"));
        (self.script.thinking != Thinking::Unset).then(|| format!("{prefix}_{n}{of}"))
    }

    /// Whether one more cache breakpoint may stand in the request, beside the provider's own.
    fn takes_breakpoint(&self) -> bool {
        let blocks = self.items.iter().flat_map(|item| &item.blocks);
        blocks.filter(|block| matches!(block, Block::Cached(_))).count() < MOST_BREAKPOINTS - 1
    }

    /// An item of the model's.
    fn made(&mut self, prefix: &str, blocks: Vec<Block>, shape: Shape) {
        let own = self.own(prefix).map(Block::Own);
        self.push("assistant", own.into_iter().chain(blocks).collect(), shape);
    }

    fn beat(&mut self, beat: &Beat, is_open: bool, is_last: bool) {
        match beat {
            Beat::Human { text, media, dress } => {
                let text = text.words();
                let text = match dress {
                    Dress::Cached if self.takes_breakpoint() => Block::Cached(text),
                    Dress::Cached | Dress::String | Dress::List => Block::Text(text),
                };
                let blocks = media.block().into_iter().chain([text]);
                self.push("user", blocks.collect(), dress.shape());
            }
            Beat::Injected { text, human } => {
                let human = human.as_ref().map(|text| Block::Text(text.words()));
                let note = Block::Text(reminder(&text.words()));
                self.push("user", [note].into_iter().chain(human).collect(), Shape::String);
            }
            Beat::Step(step) => self.step(step, is_open),
            Beat::Instructions(text) => {
                self.push("developer", vec![Block::Text(text.words())], Shape::String);
            }
            Beat::Compaction(_) if is_last => self.raw(r#"{"type":"compaction_trigger"}"#),
            Beat::Compaction(Some(text)) => {
                let blocks = vec![Block::Own(format!("cmp_{}", self.next()))];
                let compaction = Block::Compaction(Some(text.words()));
                self.push("user", blocks.into_iter().chain([compaction]).collect(), Shape::List);
            }
            Beat::Compaction(None) => self.setting(),
            Beat::Function { tool, text } => self.odd_call(*tool, text),
            Beat::Unknown(n) => self.unknown(*n),
        }
    }

    fn setting(&mut self) {
        if self.next().is_multiple_of(2) {
            self.raw(r#"{"type":"configuration_update","reasoning":{"effort":"high"}}"#);
        } else {
            self.raw(
                r#"{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"late"}]}"#,
            );
        }
    }

    fn unknown(&mut self, n: usize) {
        let id = self.next();
        match n {
            0 => self.raw(r#"{"type":"hologram","frames":[1.0e5,{"a":null}]}"#),
            1 if id.is_multiple_of(2) => self.raw(format!(r#"{{"id":"msg_ref_{id}"}}"#)),
            1 => self.raw(format!(r#"{{"type":"item_reference","id":"msg_ref_{id}"}}"#)),
            2 => self.setting(),
            _ => {
                self.raw(format!(
                    r#"{{"type":"mcp_approval_request","id":"mcpr_{id}","name":"delete","arguments":"{{}}","server_label":"s"}}"#
                ));
                self.raw(format!(
                    r#"{{"type":"mcp_approval_response","approval_request_id":"mcpr_{id}","approve":true}}"#
                ));
            }
        }
    }

    /// Calls of the rarer kinds, each with its output.
    fn odd_call(&mut self, tool: usize, text: &Prose) {
        let n = self.next();
        let said = Block::Text(text.words());
        let argument = Json::text(text.words().chars().take(60).collect::<String>()).plain();
        let (prefix, own, input, content) = match tool {
            0 => {
                let action =
                    format!(r#"{{"type":"exec","command":["bash","-lc",{argument}],"env":{{}}}}"#);
                ("lsh", None, action, said)
            }
            1 => ("find", Some("tsc"), format!(r#"{{"query":{argument}}}"#), said),
            2 => {
                let side = 8 + text.words().len() as u32 % 1500;
                ("comp", None, r#"{"type":"screenshot"}"#.to_owned(), Block::Image(side, 400))
            }
            3 => return self.program(n, &argument, said),
            _ => {
                let patch =
                    format!(r#"{{"type":"update_file","path":"src/x.rs","diff":{argument}}}"#);
                ("patch", Some("apc"), patch, said)
            }
        };
        let id = format!("{prefix}_{n}");
        let call = Block::Call { id: id.clone(), name: prefix.to_owned(), input };
        match own {
            Some(own) => self.made(own, vec![call], Shape::List),
            None => self.push("assistant", vec![call], Shape::List),
        }
        let content = vec![content];
        let result =
            Block::Result { id, failed: n.is_multiple_of(4), shape: Shape::String, content };
        self.push("tool", vec![result], Shape::String);
    }

    /// A program that the provider runs, and a call that it makes.
    fn program(&mut self, n: usize, code: &str, said: Block) {
        self.raw(format!(
            r#"{{"type":"program","id":"prg_{n}","call_id":"prog_{n}","code":{code},"fingerprint":"f{n}"}}"#
        ));
        let id = format!("call_{n}");
        let call = Block::Call { id: id.clone(), name: "Read".to_owned(), input: "{}".to_owned() };
        self.made("fc", vec![call], Shape::List);
        let content = vec![said];
        let result = Block::Result { id, failed: false, shape: Shape::String, content };
        self.push("tool", vec![result], Shape::String);
        self.raw(format!(
            r#"{{"type":"program_output","id":"pro_{n}","call_id":"prog_{n}","result":"done","status":"completed"}}"#
        ));
    }

    fn step(&mut self, step: &Step, is_open: bool) {
        self.thought = None;
        for thought in &step.thoughts {
            let block = thought.block();
            let id = format!("rs_{}", self.next());
            let is_sent = self.script.thinking != Thinking::Unset;
            let own = is_sent.then(|| Block::Own(id.clone()));
            self.push("assistant", own.into_iter().chain([block]).collect(), Shape::List);
            self.thought = is_sent.then_some(id);
        }
        let text = step.say.as_ref().map(|text| Block::Text(text.words()));
        let unknown = step.unknown.map(|n| Block::Opaque(UNKNOWN[n].to_owned()));
        let said: Vec<Block> = text.into_iter().chain(unknown).collect();
        // The model may call first and speak then.
        let is_late = matches!(step.splits, Splits::Assistant | Splits::Both);
        if !said.is_empty() && !is_late {
            self.said(said.clone(), step.absent);
        }
        if let Some(text) = &step.serves {
            self.served(text);
        }
        let mut outputs: Vec<Block> = step.calls.iter().map(|call| self.call(call)).collect();
        if is_late && !said.is_empty() {
            self.said(said, step.absent);
        } else if said.is_empty() && step.calls.is_empty() && step.serves.is_none() {
            self.said(vec![Block::Text("Done.".to_owned())], step.absent);
        }
        if is_open || outputs.is_empty() {
            return;
        }
        if matches!(step.order, Order::Reversed) {
            outputs.reverse();
        }
        match step.splits {
            Splits::Results => {
                let note = Block::Text(reminder("the build is slow today"));
                self.push("user", vec![note], Shape::String);
            }
            Splits::Both => self.setting(),
            Splits::Nothing | Splits::Assistant => {}
        }
        for output in outputs {
            self.push("tool", vec![output], Shape::String);
        }
        if let Some(aside) = &step.aside {
            self.push("user", vec![Block::Text(aside.words())], Shape::String);
        }
    }

    fn said(&mut self, blocks: Vec<Block>, shape: Shape) {
        let is_plain = matches!(blocks.as_slice(), [Block::Text(_)]);
        let shape = if is_plain && shape == Shape::String { Shape::String } else { Shape::List };
        self.made("msg", blocks, shape);
    }

    fn served(&mut self, text: &Prose) {
        let name = super::SERVED[self.ids % super::SERVED.len()];
        let of = self.thought.as_ref().map_or_else(String::new, |thought| format!("_of_{thought}"));
        let id = format!("srv_{}{of}", self.next());
        let call = Block::ServerCall {
            id: id.clone(),
            name: name.to_owned(),
            input: r#"{"query":"x"}"#.to_owned(),
        };
        let result = Block::ServerResult { id, name: name.to_owned(), text: text.words() };
        if name == "web_search" {
            self.made("ws", vec![call, result], Shape::List);
        } else {
            self.push("assistant", vec![call, result], Shape::List);
        }
    }

    /// Makes a call; returns its output.
    fn call(&mut self, call: &Call) -> Block {
        let n = self.next();
        let words = call.argument.words();
        let argument = Json::text(words.clone()).plain();
        let (prefix, own, input) = match call.tool {
            0 => ("call", "fc", format!(r#"{{"file_path":{argument},"limit":1.0e2}}"#)),
            1 => ("shell", "sh", format!(r#"{{"commands":[{argument}],"timeout_ms":null}}"#)),
            2 => ("cust", "ctc", words),
            _ => ("call", "fc", format!(r#"{{ "q" : [{argument}, {{"deep":{{}}}}] }}"#)),
        };
        let id = format!("{prefix}_{n}");
        let text = Block::Text(call.result.words());
        let (shape, content) = match call.outcome {
            Outcome::Words | Outcome::Failed => (Shape::String, vec![text]),
            Outcome::List => (Shape::List, vec![text, Block::Text("(end)".to_owned())]),
            Outcome::Image(width, height) => (Shape::List, vec![text, Block::Image(width, height)]),
            Outcome::Empty => (Shape::String, Vec::new()),
        };
        let name = TOOLS[call.tool].to_owned();
        self.made(own, vec![Block::Call { id: id.clone(), name, input }], Shape::List);
        let failed = matches!(call.outcome, Outcome::Failed);
        Block::Result { id, failed, shape, content }
    }
}
