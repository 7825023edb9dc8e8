//! The neutral form as a body of a format.

use super::lost::Loss;
use super::neutral::{
    Answer, Call, CallOutcome, Data, Input, Instruction, Medium, Neutral, Piece, Rank, Side, Turn,
};
use super::{media, parameters, result, tools};
use crate::json::quote;
use crate::wire::{FOREIGN_CALL, Format};

/// Writes a body; what the format can't show is noted where it was, and listed.
pub(super) fn write(neutral: &mut Neutral, to: Format, model: Option<&str>) -> String {
    let turns = std::mem::take(&mut neutral.turns);
    let speaks = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Media(_));
    let current = turns
        .iter()
        .rposition(|turn| turn.side == Side::User && turn.pieces.iter().any(speaks))
        .map_or(0, |at| at + 1);
    let key = match to {
        Format::Bedrock => Some("modelId"),
        Format::Gemini => None,
        _ => Some("model"),
    };
    let named = key.zip(model).map(|(key, model)| format!(r#""{key}":{}"#, quote(model)));
    let mut writer = Writer { to, neutral, files: 0, out: Vec::new() };
    let mut members: Vec<String> = named.into_iter().collect();
    members.extend(writer.frame());
    for (at, turn) in turns.iter().enumerate() {
        writer.turn(turn, if at >= current { Time::Current } else { Time::Past });
    }
    let list = match to {
        Format::OpenaiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    };
    members.push(format!(r#""{list}":[{}]"#, writer.out.join(",")));
    format!("{{{}}}", members.join(","))
}

/// Whether a turn is the one in progress.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Past,
    Current,
}

pub(super) struct Writer<'a> {
    pub(super) to: Format,
    pub(super) neutral: &'a mut Neutral,
    pub(super) files: usize,
    out: Vec<String>,
}

impl Writer<'_> {
    /// Instructions, tools and parameters.
    fn frame(&mut self) -> Vec<String> {
        let mut members = self.system();
        let (parameters, choice) = parameters::write(self.neutral, self.to);
        members.extend(tools::write(&self.neutral.tools, self.to, choice.as_ref()));
        members.extend(parameters);
        members
    }

    fn system(&mut self) -> Vec<String> {
        let mut system = std::mem::take(&mut self.neutral.system);
        if !matches!(self.to, Format::OpenaiChat | Format::OpenaiResponses) {
            let said = system.len();
            system.retain(|said| !said.text.trim().is_empty());
            for _ in system.len()..said {
                self.neutral.lose(None, Loss::Blank, "of the system prompt");
            }
        }
        let texts = |system: &[Instruction]| {
            let texts: Vec<String> =
                system.iter().map(|said| text(self.to, &said.text, Side::User)).collect();
            texts.join(",")
        };
        let member = match (self.to, system.as_slice()) {
            (_, []) => None,
            (Format::OpenaiResponses, [first, rest @ ..]) if first.rank == Rank::System => {
                self.out.extend(rest.iter().map(instruction));
                Some(format!(r#""instructions":{}"#, quote(&first.text)))
            }
            (Format::OpenaiChat | Format::OpenaiResponses, system) => {
                self.out.extend(system.iter().map(instruction));
                None
            }
            (Format::Anthropic, [only]) => Some(format!(r#""system":{}"#, quote(&only.text))),
            (Format::Gemini, system) => {
                Some(format!(r#""systemInstruction":{{"parts":[{}]}}"#, texts(system)))
            }
            (_, system) => Some(format!(r#""system":[{}]"#, texts(system))),
        };
        member.into_iter().collect()
    }

    fn turn(&mut self, turn: &Turn, time: Time) {
        match turn.side {
            Side::Instructions => {
                for piece in &turn.pieces {
                    if let Piece::Instruction(said) = piece {
                        self.out.push(instruction(said));
                    }
                }
            }
            Side::User => self.user(turn),
            Side::Model => self.model(turn, time),
        }
    }

    /// Results first, in the order of the answers; then what the user says.
    fn user(&mut self, turn: &Turn) {
        let mut results = Vec::new();
        let mut said = Vec::new();
        for piece in &turn.pieces {
            match piece {
                Piece::Result(answer) => results.push(self.result(answer)),
                piece => said.extend(self.element(piece, Side::User)),
            }
        }
        match self.to {
            Format::OpenaiChat | Format::OpenaiResponses => self.out.append(&mut results),
            Format::Gemini => self.message("user", &std::mem::take(&mut results)),
            Format::Anthropic | Format::Bedrock => {
                results.append(&mut said);
                said = results;
            }
        }
        let is_result = |piece: &&Piece| matches!(piece, Piece::Result(_));
        let is_said = |piece: &&Piece| match piece {
            Piece::Text(text) => !self.refuses(text),
            piece => !is_result(piece),
        };
        let words: Vec<&Piece> = turn.pieces.iter().filter(is_said).collect();
        let is_only = self.to == Format::OpenaiChat
            || self.to == Format::Anthropic && !turn.pieces.iter().any(|piece| is_result(&piece));
        if let (true, [Piece::Text(text)]) = (is_only, words.as_slice()) {
            self.out.push(format!(r#"{{"role":"user","content":{}}}"#, quote(text)));
            return;
        }
        self.message("user", &said);
    }

    fn model(&mut self, turn: &Turn, time: Time) {
        let mut elements = Vec::new();
        let mut calls = Vec::new();
        let mut is_late = false;
        for piece in &turn.pieces {
            match piece {
                Piece::Call(call) => {
                    let seal = self.to == Format::Gemini && time == Time::Current;
                    let seal = if seal && calls.is_empty() { Seal::Foreign } else { Seal::None };
                    let call = self.call(call, seal);
                    calls.push(call.clone());
                    match self.to {
                        Format::OpenaiChat => {}
                        Format::OpenaiResponses => {
                            self.message("assistant", &std::mem::take(&mut elements));
                            self.out.push(call);
                        }
                        _ => elements.push(call),
                    }
                }
                piece => {
                    is_late |= !calls.is_empty();
                    elements.extend(self.element(piece, Side::Model));
                }
            }
        }
        match self.to {
            Format::OpenaiChat => {
                if is_late {
                    self.neutral.lose(None, Loss::Order, "");
                }
                self.chat(turn, &elements, &calls);
            }
            Format::Gemini => self.message("model", &elements),
            _ => self.message("assistant", &elements),
        }
    }

    fn chat(&mut self, turn: &Turn, elements: &[String], calls: &[String]) {
        let said: Vec<&Piece> =
            turn.pieces.iter().filter(|piece| !matches!(piece, Piece::Call(_))).collect();
        let content = match (said.as_slice(), elements) {
            ([Piece::Text(text)], _) => quote(text),
            (_, []) => "null".to_owned(),
            (_, elements) => format!("[{}]", elements.join(",")),
        };
        if calls.is_empty() && content == "null" {
            return;
        }
        let calls = match calls {
            [] => String::new(),
            calls => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        self.out.push(format!(r#"{{"role":"assistant","content":{content}{calls}}}"#));
    }

    /// A message of these elements, if there are any.
    fn message(&mut self, role: &str, elements: &[String]) {
        if elements.is_empty() {
            return;
        }
        let elements = elements.join(",");
        self.out.push(match self.to {
            Format::Gemini => format!(r#"{{"role":"{role}","parts":[{elements}]}}"#),
            Format::OpenaiResponses => {
                format!(r#"{{"type":"message","role":"{role}","content":[{elements}]}}"#)
            }
            _ => format!(r#"{{"role":"{role}","content":[{elements}]}}"#),
        });
    }

    fn element(&mut self, piece: &Piece, side: Side) -> Option<String> {
        match piece {
            Piece::Text(text) if self.refuses(text) => {
                self.neutral.lose(None, Loss::Blank, "");
                None
            }
            Piece::Text(words) => Some(text(self.to, words, side)),
            Piece::Refusal(words) if side == Side::Model && has_refusals(self.to) => {
                Some(format!(r#"{{"type":"refusal","refusal":{}}}"#, quote(words)))
            }
            Piece::Refusal(words) => {
                self.neutral.lose(None, Loss::Words, "refusal");
                Some(text(self.to, words, side))
            }
            Piece::Media(medium) => Some(self.medium(medium, side)),
            Piece::Call(_) | Piece::Result(_) | Piece::Instruction(_) => None,
        }
    }

    /// Whether a text is too blank for the format.
    pub(super) fn refuses(&self, text: &str) -> bool {
        matches!(self.to, Format::Anthropic | Format::Bedrock) && text.trim().is_empty()
    }

    /// The model's own images are Gemini's alone.
    fn medium(&mut self, medium: &Medium, side: Side) -> String {
        self.files += 1;
        let can_show = side == Side::User || self.to == Format::Gemini;
        let shown = can_show.then(|| media::write(medium, self.to, self.files)).flatten();
        shown.unwrap_or_else(|| {
            self.lose_medium(medium);
            text(self.to, &medium.instead(), side)
        })
    }

    pub(super) fn lose_medium(&mut self, medium: &Medium) {
        let what = if matches!(medium.data, Data::Text(_)) { Loss::Words } else { Loss::Medium };
        self.neutral.lose(Some(medium.entry), what, medium.kind.as_str());
    }

    fn call(&self, call: &Call, seal: Seal) -> String {
        let (id, name) = (quote(&call.id), quote(&call.name));
        let arguments = match &call.input {
            Input::Object(arguments) => arguments,
            Input::Words(words) => {
                let words = quote(words);
                return if self.to == Format::OpenaiChat {
                    format!(
                        r#"{{"id":{id},"type":"custom","custom":{{"name":{name},"input":{words}}}}}"#
                    )
                } else {
                    format!(
                        r#"{{"type":"custom_tool_call","call_id":{id},"name":{name},"input":{words}}}"#
                    )
                };
            }
        };
        match self.to {
            Format::OpenaiChat => format!(
                r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{}}}}}"#,
                quote(arguments)
            ),
            Format::OpenaiResponses => format!(
                r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{}}}"#,
                quote(arguments)
            ),
            Format::Anthropic => {
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{arguments}}}"#)
            }
            Format::Bedrock => {
                format!(r#"{{"toolUse":{{"toolUseId":{id},"name":{name},"input":{arguments}}}}}"#)
            }
            Format::Gemini => {
                let seal = match seal {
                    Seal::Foreign => format!(r#","thoughtSignature":{}"#, quote(FOREIGN_CALL)),
                    Seal::None => String::new(),
                };
                format!(
                    r#"{{"functionCall":{{"id":{id},"name":{name},"args":{arguments}}}{seal}}}"#
                )
            }
        }
    }

    fn result(&mut self, answer: &Answer) -> String {
        let content = result::inside(self, answer);
        result::write(self.to, answer, &content)
    }
}

/// Whether the model's refusals are told apart from its other words.
fn has_refusals(format: Format) -> bool {
    matches!(format, Format::OpenaiChat | Format::OpenaiResponses)
}

/// A text element of a content list.
pub(super) fn text(to: Format, text: &str, side: Side) -> String {
    let text = quote(text);
    match (to, side) {
        (Format::Gemini | Format::Bedrock, _) => format!(r#"{{"text":{text}}}"#),
        (Format::OpenaiResponses, Side::Model) => {
            format!(r#"{{"type":"output_text","text":{text}}}"#)
        }
        (Format::OpenaiResponses, _) => format!(r#"{{"type":"input_text","text":{text}}}"#),
        _ => format!(r#"{{"type":"text","text":{text}}}"#),
    }
}

/// Whether a call has the signature of calls that the model didn't make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seal {
    None,
    Foreign,
}

/// OpenAI's both formats have the same form for it.
fn instruction(said: &Instruction) -> String {
    let role = match said.rank {
        Rank::System => "system",
        Rank::Developer => "developer",
    };
    format!(r#"{{"role":"{role}","content":{}}}"#, quote(&said.text))
}

/// Whether a call failed, as Anthropic and Bedrock say it.
pub(super) fn failed(outcome: CallOutcome, word: &'static str) -> &'static str {
    if outcome == CallOutcome::Failed { word } else { "" }
}
