//! The neutral form as a body of a format.

use super::parameters;
use crate::json::quote;
use crate::wire::conversion::{Inside, Seal, SpokenPiece, message_of};
use crate::wire::neutral::{
    CallOutcome, ContentPiece, Data, Loss, Medium, Neutral, ShownMedium, Side, ToolAnswer, Turn,
};
use crate::wire::{Dialect, EMPTY_RESULT, Feature, Results};

/// Writes a body; what the format can't show is noted where it was, and listed.
pub(super) fn write(neutral: &mut Neutral, to: &dyn Dialect, model: Option<&str>) -> String {
    let turns = std::mem::take(&mut neutral.turns);
    let speaks =
        |piece: &ContentPiece| matches!(piece, ContentPiece::Text(_) | ContentPiece::Media(_));
    let current = turns
        .iter()
        .rposition(|turn| turn.side == Side::User && turn.pieces.iter().any(speaks))
        .map_or(0, |at| at + 1);
    let named =
        to.terms().model.zip(model).map(|(key, model)| format!(r#""{key}":{}"#, quote(model)));
    let mut writer = Writer { to, neutral, files: 0, out: Vec::new() };
    let mut members: Vec<String> = named.into_iter().collect();
    members.extend(writer.system());
    members.extend(parameters::write(writer.neutral, to, model));
    for (at, turn) in turns.iter().enumerate() {
        // The model's own calls would have signatures in the turn that is in progress.
        writer.turn(turn, if at >= current { Seal::Foreign } else { Seal::None });
    }
    members.push(format!(r#""{}":[{}]"#, to.terms().list, writer.out.join(",")));
    format!("{{{}}}", members.join(","))
}

/// Members by which formats call a file.
const NAMES: [&str; 3] = [r#""title":"#, r#""filename":"#, r#""name":"#];

struct Writer<'a> {
    to: &'a dyn Dialect,
    neutral: &'a mut Neutral,
    files: usize,
    out: Vec<String>,
}

impl Writer<'_> {
    fn system(&mut self) -> Option<String> {
        let mut system = std::mem::take(&mut self.neutral.system);
        if !self.to.has(Feature::BlankInstructions) {
            let said = system.len();
            system.retain(|said| !said.text.trim().is_empty());
            for _ in system.len()..said {
                self.neutral.lose(None, Loss::Blank, "of the system prompt");
            }
        }
        if system.is_empty() {
            return None;
        }
        let (member, messages) = self.to.system(&system);
        self.out.extend(messages);
        member
    }

    fn turn(&mut self, turn: &Turn, seal: Seal) {
        match turn.side {
            Side::Instructions => {
                for piece in &turn.pieces {
                    if let ContentPiece::Instruction(said) = piece {
                        self.out.push(said.message());
                    }
                }
            }
            Side::User => self.user(turn),
            Side::Model => self.model(turn, seal),
        }
    }

    /// Results first, in the order of the answers; then what the user says.
    fn user(&mut self, turn: &Turn) {
        let (mut results, mut elements, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for piece in &turn.pieces {
            if let ContentPiece::Result(answer) = piece {
                results.push(self.result(answer));
            } else if let Some(element) = self.element(piece, Side::User) {
                elements.push(element);
                said.push(piece);
            }
        }
        let terms = self.to.terms();
        match terms.results {
            Results::Apart => self.out.append(&mut results),
            Results::Together => self.out.extend(message_of(terms, Side::User, &results)),
            Results::First => {
                results.append(&mut elements);
                elements = results;
            }
        }
        let text = only(&said).filter(|_| elements.len() == 1);
        self.out.extend(match text.filter(|_| self.to.has(Feature::StringContent)) {
            Some(text) => Some(self.to.user_message(text)),
            None => message_of(terms, Side::User, &elements),
        });
    }

    fn model(&mut self, turn: &Turn, mut seal: Seal) {
        let (mut reply, mut said) = (Vec::new(), Vec::new());
        let (mut calls, mut is_late) = (0, false);
        for piece in &turn.pieces {
            if let ContentPiece::Call(call) = piece {
                // The first one's stands for all.
                reply.push(SpokenPiece::Call(
                    self.to.call(call, std::mem::replace(&mut seal, Seal::None)),
                ));
                calls += 1;
            } else {
                is_late |= calls > 0;
                said.push(piece);
                reply.extend(self.element(piece, Side::Model).map(SpokenPiece::Element));
            }
        }
        if is_late && !self.to.has(Feature::CallsAmongWords) {
            self.neutral.lose(None, Loss::Order, "");
        }
        self.out.extend(self.to.reply(reply, only(&said)));
    }

    fn text(&self, text: &str, side: Side) -> String {
        match side {
            Side::Model => self.to.model_text(text),
            Side::User | Side::Instructions => self.to.text_block(text),
        }
    }

    fn element(&mut self, piece: &ContentPiece, side: Side) -> Option<String> {
        match piece {
            ContentPiece::Text(text) if self.refuses(text) => {
                self.neutral.lose(None, Loss::Blank, "");
                None
            }
            ContentPiece::Text(words) => Some(self.text(words, side)),
            ContentPiece::Refusal(words)
                if side == Side::Model && self.to.has(Feature::Refusals) =>
            {
                Some(format!(r#"{{"type":"refusal","refusal":{}}}"#, quote(words)))
            }
            ContentPiece::Refusal(words) => {
                self.neutral.lose(None, Loss::Words, "refusal");
                Some(self.text(words, side))
            }
            ContentPiece::Media(medium) => {
                let can_show = side == Side::User || self.to.has(Feature::ModelMedia);
                Some(self.show(medium).filter(|_| can_show).unwrap_or_else(|| {
                    self.lose_medium(medium);
                    self.text(&medium.instead(), side)
                }))
            }
            ContentPiece::Call(_) | ContentPiece::Result(_) | ContentPiece::Instruction(_) => None,
        }
    }

    /// Whether a text is too blank for the format.
    fn refuses(&self, text: &str) -> bool {
        !self.to.has(Feature::BlankText) && text.trim().is_empty()
    }

    /// A medium as an element; `None` where the format can't show it.
    fn show(&mut self, medium: &Medium) -> Option<String> {
        self.files += 1;
        if matches!(medium.data, Data::Elsewhere(_)) {
            return None;
        }
        let shown = self.to.medium(&ShownMedium::new(medium, self.files))?.to_string();
        // Within a string quotes are written otherwise.
        let is_named = || NAMES.iter().any(|key| shown.contains(key));
        if let Some(name) = medium.name.as_ref().filter(|_| !is_named()) {
            self.neutral.lose(
                Some(medium.entry),
                Loss::Member,
                format!("the name {name} of a file"),
            );
        }
        Some(shown)
    }

    fn lose_medium(&mut self, medium: &Medium) {
        let what = if matches!(medium.data, Data::Text(_)) { Loss::Words } else { Loss::Medium };
        self.neutral.lose(Some(medium.entry), what, medium.kind.as_str());
    }

    /// A result, with media where the format shows them in results.
    fn result(&mut self, answer: &ToolAnswer) -> String {
        let mut inside = Vec::new();
        for piece in &answer.content {
            match piece {
                ContentPiece::Text(text) if self.refuses(text) => {
                    self.neutral.lose(None, Loss::Blank, "in a result");
                }
                ContentPiece::Text(text) | ContentPiece::Refusal(text) => {
                    inside.push(Inside::Text(text.clone()));
                }
                ContentPiece::Media(medium) => {
                    let can_show = self.to.shows_in_results(answer.outcome);
                    let shown = self.show(medium).filter(|_| can_show).map(Inside::Shown);
                    inside.push(shown.unwrap_or_else(|| {
                        self.lose_medium(medium);
                        Inside::Text(medium.instead())
                    }));
                }
                ContentPiece::Call(_) | ContentPiece::Result(_) | ContentPiece::Instruction(_) => {}
            }
        }
        let must_speak = answer.outcome == CallOutcome::Failed && !self.to.has(Feature::BlankText);
        if inside.is_empty() && must_speak {
            inside.push(Inside::Text(EMPTY_RESULT.to_owned()));
        }
        self.to.result(answer, &inside)
    }
}

/// The text, if it is a single one.
fn only<'a>(said: &[&'a ContentPiece]) -> Option<&'a str> {
    match said {
        [ContentPiece::Text(text)] => Some(text),
        _ => None,
    }
}
