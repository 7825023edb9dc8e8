//! Interactions' side of conversion.

use serde_json::{Value, json};

use super::{Interactions, terms::TERMS};
use crate::json::quote;
use crate::transcript::{Marks, Part, PartKind};
use crate::wire::Terms;
use crate::wire::conversion::{
    CallDemand, Conversion, Inside, Members, Seal, SpokenPiece, message_of, words,
};
use crate::wire::gemini::may_be_shown;
use crate::wire::neutral::{
    Data, Instruction, Medium, Object, Parameters, ShownMedium, Side, Tool, ToolAnswer, ToolCall,
    ToolChoice, ToolReader, by_name, text,
};

impl Conversion for Interactions {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    /// A step is described by its parts.
    fn is_block(&self, part: &Part<'_>) -> bool {
        !matches!(part.kind(), PartKind::Call | PartKind::Result)
    }

    fn is_served(&self, part: &Part<'_>) -> bool {
        part.is(Marks::FIXED)
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        let kind = text(&value["mime_type"]);
        let fallback = || text(&value["type"]).filter(|kind| kind == "image").unwrap_or_default();
        if let Some(data) = text(&value["data"]) {
            return Some(Medium::new(kind.unwrap_or_else(fallback), Data::Base64(data)));
        }
        let url = text(&value["uri"])?;
        let kind = kind.unwrap_or_else(|| by_name(&url).to_owned());
        Some(Medium::new(kind, Data::Url(url)))
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        match item.text("type").as_deref() {
            Some("function") => reader.function(item, item.get(&["parameters"])),
            _ => reader.other(item),
        }
    }

    fn read_choice(&self, _name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        let allowed = &value["allowed_tools"];
        parameters.choice = Some(match ToolChoice::of_word(value) {
            Some(choice) => choice,
            None => match (allowed["mode"].as_str()?, allowed["tools"].as_array()?.as_slice()) {
                ("any", [only]) => ToolChoice::of_name(only)?,
                _ => return None,
            },
        });
        Some(())
    }

    fn system(&self, system: &[Instruction]) -> (Option<String>, Vec<String>) {
        let texts: Vec<&str> = system.iter().map(|said| said.text.as_str()).collect();
        (Some(format!(r#""system_instruction":{}"#, quote(&texts.join("\n\n")))), Vec::new())
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        members.push(format!(r#""parameters":{}"#, tool.schema()));
        format!(r#"{{"type":"function",{}}}"#, members.join(","))
    }

    fn choice(&self, wish: &CallDemand<'_>) -> Members {
        let Some(choice) = wish.choice else { return Vec::new() };
        let choice = match choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Any => json!("any"),
            ToolChoice::Tool(name) => json!({"allowed_tools": {"mode": "any", "tools": [name]}}),
        };
        vec![("generation_config.tool_choice", choice)]
    }

    fn reply(&self, reply: Vec<SpokenPiece>, _only: Option<&str>) -> Vec<String> {
        let (mut steps, mut elements) = (Vec::new(), Vec::new());
        for piece in reply {
            match piece {
                SpokenPiece::Element(text) => elements.push(text),
                SpokenPiece::Call(step) => {
                    steps.extend(message_of(&TERMS, Side::Model, &std::mem::take(&mut elements)));
                    steps.push(step);
                }
            }
        }
        steps.extend(message_of(&TERMS, Side::Model, &elements));
        steps
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let kind = shown.kind;
        let kind_of = |kind: &str| match kind.split('/').next().filter(|_| may_be_shown(kind)) {
            Some(kind @ ("image" | "audio" | "video")) => Some(kind.to_owned()),
            _ if kind == "application/pdf" || kind == "text/csv" => Some("document".to_owned()),
            _ => None,
        };
        match &shown.medium.data {
            Data::Base64(data) => {
                Some(json!({"type": kind_of(kind)?, "mime_type": kind, "data": data}))
            }
            Data::Url(url) => {
                let named = if kind.contains('/') { kind } else { by_name(url) };
                Some(match named {
                    "" => json!({"type": kind_of(kind)?, "uri": url}),
                    named => json!({"type": kind_of(named)?, "mime_type": named, "uri": url}),
                })
            }
            Data::Text(_) | Data::Elsewhere(_) => None,
        }
    }

    fn call(&self, call: &ToolCall, _seal: Seal) -> String {
        let (id, name, arguments) = (quote(&call.id), quote(&call.name), call.arguments());
        format!(r#"{{"type":"function_call","id":{id},"name":{name},"arguments":{arguments}}}"#)
    }

    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let (id, name) = (quote(&answer.id), quote(&answer.name));
        let failed = answer.if_failed(r#""is_error":true,"#);
        let result = words(self, content);
        format!(
            r#"{{"type":"function_result","call_id":{id},"name":{name},{failed}"result":{result}}}"#
        )
    }
}
