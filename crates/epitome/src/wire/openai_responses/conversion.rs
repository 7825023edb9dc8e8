//! Responses' side of conversion.

use serde_json::{Value, json};

use super::{OpenaiResponses, terms::TERMS};
use crate::json::{self, quote};
use crate::transcript::{Entry, Marks, Part, PartKind};
use crate::wire::Terms;
use crate::wire::conversion::{
    CallDemand, CallForm, Conversion, Inside, Members, Seal, SpokenPiece, message_of, words,
};
use crate::wire::neutral::{
    Data, Input, Instruction, Loss, Medium, Object, Parameters, Rank, ShownMedium, Side, Tool,
    ToolAnswer, ToolCall, ToolChoice, ToolInput, ToolReader, flat, list,
};
use crate::wire::openai_chat::conversion::{
    file_name, read_choice, read_medium, to_url, write_choice,
};

impl Conversion for OpenaiResponses {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    /// An item is described by its parts.
    fn is_block(&self, part: &Part<'_>) -> bool {
        !matches!(part.kind(), PartKind::Call | PartKind::Result)
    }

    fn call_form(&self, entry: Entry<'_>, _call: &Part<'_>) -> CallForm {
        match json::text_member(entry.raw(), "type").as_deref() {
            Some("function_call") => CallForm::Function,
            Some("custom_tool_call") => CallForm::Words,
            _ => CallForm::Own,
        }
    }

    fn call_name(&self, entry: Entry<'_>, call: &Part<'_>) -> String {
        let mut name = call.name().into_owned();
        if self.call_form(entry, call) == CallForm::Own {
            name.truncate(name.trim_end_matches("_call").len());
        }
        match json::text_member(entry.raw(), "namespace") {
            Some(space) => flat(&space, &name),
            None => name,
        }
    }

    fn is_served(&self, part: &Part<'_>) -> bool {
        part.is(Marks::SERVER)
            || part.kind() == PartKind::Media && part.name() == "image_generation_call"
    }

    fn model_text(&self, text: &str) -> String {
        format!(r#"{{"type":"output_text","text":{}}}"#, quote(text))
    }

    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"type":"input_text","text":{}}}"#, quote(text))
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        read_medium(value)
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        match item.text("type").as_deref() {
            Some("function") => reader.function(item, item.get(&["parameters"])),
            Some("custom") => reader.words(item),
            Some("namespace") => self.read_space(item, reader),
            _ => reader.other(item),
        }
    }

    fn read_choice(&self, name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        read_choice(name, value, parameters)
    }

    fn system(&self, system: &[Instruction]) -> (Option<String>, Vec<String>) {
        let (first, rest) = match system {
            [first, rest @ ..] if first.rank == Rank::System => (Some(first), rest),
            system => (None, system),
        };
        let member = first.map(|first| format!(r#""instructions":{}"#, quote(&first.text)));
        (member, rest.iter().map(Instruction::message).collect())
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        let kind = if let ToolInput::Words(form) = &tool.form {
            members.extend(form.as_deref().map(|form| format!(r#""format":{form}"#)));
            "custom"
        } else {
            // It is strict where nothing is said; the others aren't.
            members.push(format!(r#""strict":{}"#, tool.is_strict()));
            members.push(format!(r#""parameters":{}"#, tool.schema()));
            "function"
        };
        format!(r#"{{"type":"{kind}",{}}}"#, members.join(","))
    }

    fn can_limit_calls(&self, _choice: Option<&ToolChoice>) -> bool {
        true
    }

    fn choice(&self, wish: &CallDemand<'_>) -> Members {
        write_choice(wish, |kind, name| json!({"type": kind, "name": name}))
    }

    fn reply(&self, reply: Vec<SpokenPiece>, _only: Option<&str>) -> Vec<String> {
        let (mut items, mut elements) = (Vec::new(), Vec::new());
        for piece in reply {
            match piece {
                SpokenPiece::Element(text) => elements.push(text),
                SpokenPiece::Call(item) => {
                    items.extend(message_of(&TERMS, Side::Model, &std::mem::take(&mut elements)));
                    items.push(item);
                }
            }
        }
        items.extend(message_of(&TERMS, Side::Model, &elements));
        items
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let kind = shown.kind;
        Some(match &shown.medium.data {
            data if shown.is_image() => {
                let detail = shown.medium.detail.as_deref().unwrap_or("auto");
                json!({"type": "input_image", "detail": detail, "image_url": to_url(kind, data)?})
            }
            data @ Data::Base64(_) if shown.is_pdf() => {
                let data = to_url(kind, data)?;
                json!({"type": "input_file", "filename": file_name(shown), "file_data": data})
            }
            Data::Url(url) if shown.is_pdf() => json!({"type": "input_file", "file_url": url}),
            _ => return None,
        })
    }

    fn call(&self, call: &ToolCall, _seal: Seal) -> String {
        let (id, name) = (quote(&call.id), quote(&call.name));
        let (kind, key, input) = match &call.input {
            Input::Words(words) => ("custom_tool_call", "input", words),
            Input::Object(arguments) => ("function_call", "arguments", arguments),
        };
        let input = quote(input);
        format!(r#"{{"type":"{kind}","call_id":{id},"name":{name},"{key}":{input}}}"#)
    }

    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let kind = if answer.to_words { "custom_tool_call" } else { "function_call" };
        let (id, words) = (quote(&answer.id), words(self, content));
        format!(r#"{{"type":"{kind}_output","call_id":{id},"output":{words}}}"#)
    }
}

impl OpenaiResponses {
    /// Tools under one name: no other format has that, so each gets a name of both.
    fn read_space(&self, space: &Object<'_>, reader: &mut ToolReader<'_>) {
        let name = space.text("name").unwrap_or_default();
        if space.get(&["description"]).is_some() {
            reader.neutral.lose(None, Loss::Member, format!("description of {name}"));
        }
        let known = reader.neutral.tools.len();
        for tool in space.get(&["tools"]).into_iter().flat_map(list) {
            self.read_tool(&Object::of(tool), reader);
        }
        let mut spelled = Vec::new();
        for tool in &mut reader.neutral.tools[known..] {
            spelled.push(format!("{} of {name}", tool.name));
            tool.name = flat(&name, &tool.name);
        }
        for tool in spelled {
            reader.neutral.lose(None, Loss::ToolName, tool);
        }
    }
}
