//! Any request in the neutral form, and the content that it can't hold.

use std::collections::HashMap;

use serde_json::Value;

use super::ids::{Names, ids};
use super::{about, parameters};
use crate::json::{self, Scanner, Span, unquote};
use crate::request::Request;
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use crate::wire::conversion::{CallForm, is_refusal};
use crate::wire::neutral::{
    CallOutcome, ContentPiece, Data, Input, Instruction, Loss, Medium, Neutral, Rank, Side,
    ToolAnswer, ToolCall, ToolReader, Turn, words_of,
};
use crate::wire::{Dialect, FOREIGN_CALL, Feature, as_object};

/// Reads `request`, whose pairs are whole, on its way to the format `to`, for `model`.
pub(super) fn read(request: &Request, to: &dyn Dialect, model: Option<&str>) -> Neutral {
    let from = request.format.dialect();
    let mut neutral = Neutral::default();
    if let Some(raw) = request.system() {
        system(raw, &mut neutral);
    }
    parameters::read(request, to, &mut neutral);
    from.read_tools(request, &mut ToolReader { to, neutral: &mut neutral });
    let units = Units::of(&request.transcript, from.terms().instructions);
    let mut reader = Reader {
        request,
        from,
        to,
        units: &units,
        ids: ids(to, model),
        labels: HashMap::new(),
        links: 0,
        neutral,
    };
    request.transcript.entries().for_each(|entry| reader.entry(entry));
    let Reader { mut neutral, links, .. } = reader;
    if links > 0 {
        neutral.lose(None, Loss::ItemId, format!("{links} of them"));
    }
    neutral
}

/// A string, a list of text blocks, or (Gemini) a content with parts.
fn system(raw: &str, neutral: &mut Neutral) {
    let whole = Span::new(0..raw.len());
    let say = |neutral: &mut Neutral, text: &str| {
        let text = unquote(text).into_owned();
        neutral.system.push(Instruction { rank: Rank::System, text });
    };
    if raw.starts_with('"') {
        return say(neutral, raw);
    }
    if raw.starts_with('{') {
        return match json::member(raw, whole, "parts") {
            Some(parts) => system(parts.of(raw), neutral),
            None => neutral.lose(None, Loss::Part, "of the system prompt"),
        };
    }
    if !raw.starts_with('[') && raw != "null" {
        return neutral.lose(None, Loss::Part, "of the system prompt");
    }
    for block in json::elements(raw, whole).unwrap_or_default() {
        let member = |key| {
            let is_object = block.of(raw).starts_with('{');
            is_object.then(|| json::member(raw, block, key)).flatten()
        };
        match member("text").filter(|text| text.of(raw).starts_with('"')) {
            Some(text) => {
                say(neutral, text.of(raw));
                about::block(block.of(raw), |loss, name| {
                    let of = if name.is_empty() {
                        "of the system prompt".to_owned()
                    } else {
                        format!("{name} of the system prompt")
                    };
                    neutral.lose(None, loss, of);
                });
            }
            None if member("cachePoint").is_some() => {
                neutral.lose(None, Loss::CacheMarker, "of the system prompt");
            }
            None => match inner_text(block.of(raw)) {
                Some(text) => {
                    neutral.lose(None, Loss::Words, "of the system prompt");
                    neutral.system.push(Instruction { rank: Rank::System, text });
                }
                None => neutral.lose(None, Loss::Part, "of the system prompt"),
            },
        }
    }
}

/// The text in an object that one of a block's members is: `{"guardContent":{"text":{"text":"…"}}}`.
fn inner_text(block: &str) -> Option<String> {
    fn text(value: &Value) -> Option<&str> {
        let members = value.as_object()?;
        members.get("text").and_then(Value::as_str).or_else(|| members.values().find_map(text))
    }
    text(&serde_json::from_str(block).ok()?).map(str::to_owned)
}

/// Whether a message says nothing at all.
fn is_empty(parts: &[Part<'_>]) -> bool {
    parts.iter().all(|part| part.kind() == PartKind::Text)
}

struct Reader<'a> {
    request: &'a Request,
    from: &'a dyn Dialect,
    to: &'a dyn Dialect,
    units: &'a Units,
    ids: Names,
    /// The id that each call has now, and whether its input is words.
    labels: HashMap<Slot, (String, bool)>,
    links: usize,
    neutral: Neutral,
}

impl<'a> Reader<'a> {
    fn entry(&mut self, entry: Entry<'a>) {
        let at = entry.index;
        about::members(self.from, entry, &mut self.neutral);
        let (listed, links) = (self.neutral.lost.len(), self.links);
        let parts: Vec<Part<'a>> = entry.parts().collect();
        let mut pieces = Vec::new();
        let mut from = 0;
        while let Some(part) = parts.get(from) {
            let nested = parts[from + 1..].iter().take_while(|part| part.is(Marks::NESTED)).count();
            let inner = &parts[from + 1..=from + nested];
            pieces.extend(self.part(at, part, inner));
            from += 1 + nested;
        }
        let is_listed = self.neutral.lost.len() > listed || self.links > links;
        if pieces.is_empty() && !is_listed && is_empty(&parts) {
            self.lose(at, Loss::Blank, "an empty message");
        }
        match entry.role() {
            Role::User | Role::Tool => self.say(Side::User, pieces),
            Role::Assistant => self.say(Side::Model, pieces),
            Role::System => self.instructions(at, Rank::System, pieces),
            Role::Developer => self.instructions(at, Rank::Developer, pieces),
            // Its parts were listed; other members aren't known.
            Role::Other => {
                let speaks = pieces.iter().any(|piece| matches!(piece, ContentPiece::Text(_)));
                if speaks || parts.is_empty() {
                    self.lose(at, Loss::Part, "a message of an unknown role");
                }
            }
        }
    }

    /// What the model says in a row is one reply, and results in a row are one answer; a user's messages
    /// stay apart where they may.
    fn say(&mut self, side: Side, pieces: Vec<ContentPiece>) {
        if pieces.is_empty() {
            return;
        }
        let is_result = |piece: &ContentPiece| matches!(piece, ContentPiece::Result(_));
        let merges = |last: &&mut Turn| {
            let in_row = last.pieces.iter().all(is_result) && pieces.iter().all(is_result);
            last.side == side && (side == Side::Model || self.to.has(Feature::Alternates) || in_row)
        };
        match self.neutral.turns.last_mut().filter(merges) {
            Some(turn) => turn.pieces.extend(pieces),
            None => self.neutral.turns.push(Turn { side, pieces }),
        }
    }

    fn instructions(&mut self, at: usize, rank: Rank, pieces: Vec<ContentPiece>) {
        for piece in pieces {
            let ContentPiece::Text(text) = piece else { continue };
            if self.neutral.turns.is_empty() {
                self.neutral.system.push(Instruction { rank, text });
            } else if self.to.has(Feature::InstructionMessages) {
                let said = ContentPiece::Instruction(Instruction { rank, text });
                self.neutral.turns.push(Turn { side: Side::Instructions, pieces: vec![said] });
            } else {
                let said = format!("<system-reminder>\n{text}\n</system-reminder>");
                self.say(Side::User, vec![ContentPiece::Text(said)]);
                self.lose(at, Loss::Instructions, "");
            }
        }
    }

    fn lose(&mut self, entry: usize, what: Loss, name: impl Into<String>) {
        self.neutral.lose(Some(entry), what, name);
    }

    fn part(&mut self, at: usize, part: &Part<'a>, inner: &[Part<'a>]) -> Option<ContentPiece> {
        about::part(self.from, at, part, &mut self.neutral);
        let is_served = self.from.is_served(part);
        if !is_served && part.kind() != PartKind::Reasoning && has_half_character(part.raw_body()) {
            self.lose(at, Loss::HalfCharacter, "");
        }
        match part.kind() {
            PartKind::Text if is_refusal(part) => {
                Some(ContentPiece::Refusal(part.text().into_owned()))
            }
            PartKind::Text => Some(part.text().into_owned())
                .filter(|text| !text.is_empty())
                .map(ContentPiece::Text),
            // It says that there is no signature.
            PartKind::Reasoning if unquote(part.raw_body()) == FOREIGN_CALL => None,
            PartKind::Reasoning => {
                let what =
                    if part.is(Marks::SIGNED) { Loss::SignedReasoning } else { Loss::Reasoning };
                self.lose(at, what, "");
                None
            }
            PartKind::Link => {
                self.links += 1;
                None
            }
            PartKind::Call | PartKind::Result | PartKind::Media if is_served => {
                self.lose(at, Loss::ServedTool, part.name());
                None
            }
            PartKind::Call => Some(self.call(at, part)),
            PartKind::Result => self.result(at, part, inner),
            PartKind::Media => self.medium(at, part),
            PartKind::Opaque => self.opaque(at, part),
        }
    }

    fn opaque(&mut self, at: usize, part: &Part<'a>) -> Option<ContentPiece> {
        let name = part.name();
        if let Some(refusal) = self.from.refusal(part) {
            return Some(refusal).filter(|text| !text.is_empty()).map(ContentPiece::Refusal);
        }
        if let Some(said) = words_of(part) {
            self.lose(at, Loss::Words, name);
            return Some(ContentPiece::Text(said));
        }
        let what = match name.as_ref() {
            "cachePoint" => Loss::CacheMarker,
            "compaction" => Loss::Compaction,
            "" | "item_reference" if !part.row().id.is_empty() => Loss::History,
            _ if part.is(Marks::SERVER) => Loss::ServedTool,
            _ => Loss::Part,
        };
        self.lose(at, what, name);
        None
    }

    fn medium(&mut self, at: usize, part: &Part<'a>) -> Option<ContentPiece> {
        // A content by itself is its entry; the part, its data.
        let is_data = part.raw().starts_with('"') && self.from.has(Feature::FlatEntries);
        let raw = if is_data { self.entry_of(part).raw() } else { part.raw() };
        let value = serde_json::from_str(raw).ok();
        let medium = value.and_then(|value| self.from.read_medium(&value));
        let Some(medium) = medium.and_then(Medium::bare) else {
            self.lose(at, Loss::Part, part.name());
            return None;
        };
        let medium = Medium { entry: at, ..medium.elsewhere() };
        if let Data::Elsewhere(name) = &medium.data {
            self.lose(at, Loss::ProviderFile, name.as_str());
            return Some(ContentPiece::Text(medium.instead()));
        }
        if let Some(detail) = medium.detail.as_ref().filter(|_| !self.to.has(Feature::ImageDetail))
        {
            self.lose(at, Loss::Member, format!("detail {detail} of an image"));
        }
        Some(ContentPiece::Media(medium))
    }

    fn call(&mut self, at: usize, part: &Part<'a>) -> ContentPiece {
        let id = self.ids.fresh(&part.id());
        let entry = self.entry_of(part);
        let form = self.from.call_form(entry, part);
        let is_words = form == CallForm::Words && part.is(Marks::LITERAL);
        let to_words = is_words && self.to.has(Feature::WordTools);
        self.labels.insert(part.slot, (id.clone(), to_words));
        let text = part.text();
        let name = self.from.call_name(entry, part);
        if part.name().is_empty() && part.raw_body().is_empty() {
            // Other members aren't read.
            self.lose(at, Loss::Part, "a call without a name and arguments");
        }
        if to_words {
            return ContentPiece::Call(ToolCall {
                id,
                name,
                input: Input::Words(text.into_owned()),
            });
        }
        if form != CallForm::Function {
            self.lose(at, Loss::CallKind, part.name());
        }
        let object = match text.trim() {
            _ if is_words => format!(r#"{{"input":{}}}"#, json::quote(&text)),
            "" | "null" => "{}".to_owned(),
            object if is_object(object) => object.to_owned(),
            _ => {
                if form == CallForm::Function {
                    self.lose(at, Loss::Arguments, name.as_str());
                }
                as_object(part.raw_body()).unwrap_or_else(|| "{}".to_owned())
            }
        };
        ContentPiece::Call(ToolCall { id, name, input: Input::Object(object) })
    }

    fn entry_of(&self, part: &Part<'_>) -> Entry<'a> {
        let transcript = &self.request.transcript;
        transcript.entry(transcript.entry_of(part.slot))
    }

    fn result(&mut self, at: usize, part: &Part<'a>, inner: &[Part<'a>]) -> Option<ContentPiece> {
        let call = self.units.call_of(part.slot);
        let Some((call, (id, to_words))) =
            call.and_then(|slot| Some((slot, self.labels.get(&slot)?.clone())))
        else {
            // Its call isn't here.
            self.lose(at, Loss::History, part.id());
            return None;
        };
        let outcome = if part.is(Marks::ERROR) { CallOutcome::Failed } else { CallOutcome::Fine };
        if outcome == CallOutcome::Failed && !self.to.has(Feature::Failure) {
            self.lose(at, Loss::Failure, "");
        }
        let is_list = part.raw_body().starts_with('[') && !part.is(Marks::LITERAL);
        let is_said_inside =
            !self.from.has(Feature::PayloadBesideMedia) && (is_list || !inner.is_empty());
        let mut content = Vec::new();
        if !is_said_inside {
            let text = part.text();
            let is_nothing = text.is_empty()
                || !part.is(Marks::LITERAL) && matches!(text.as_ref(), "null" | "{}");
            content.extend((!is_nothing).then(|| ContentPiece::Text(text.into_owned())));
        }
        for part in inner {
            let is_object = part.kind() == PartKind::Opaque && part.raw().starts_with('{');
            match is_object.then(|| self.from.result_text(part)).flatten() {
                Some(text) => content.push(ContentPiece::Text(text)),
                None => content.extend(self.part(at, part, &[])),
            }
        }
        let call = self.request.transcript.part(call);
        let name = self.from.call_name(self.entry_of(&call), &call);
        Some(ContentPiece::Result(ToolAnswer { id, name, to_words, outcome, content }))
    }
}

fn is_object(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    text.starts_with('{') && scanner.value().is_ok() && scanner.end().is_ok()
}

/// Whether a JSON literal has half of a surrogate pair, which no text can hold.
fn has_half_character(raw: &str) -> bool {
    let unit = |at: usize| -> Option<u32> {
        let digits = raw.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = raw.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => return true,
            (Some(_), _) => at += 6,
            (None, _) => at += 2,
        }
    }
    false
}
