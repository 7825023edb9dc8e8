//! Bedrock's side of conversion.

use serde_json::{Value, json};

use super::{Bedrock, terms::TERMS};
use crate::json::{self, Span, quote};
use crate::request::Request;
use crate::transcript::Part;
use crate::wire::Terms;
use crate::wire::conversion::{Conversion, Inside, Seal, elements};
use crate::wire::neutral::{
    self, Data, Loss, Medium, Object, Parameters, ShownMedium, TYPES, Tool, ToolAnswer, ToolCall,
    ToolChoice, ToolReader, mime, text,
};

impl Conversion for Bedrock {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    fn result_text(&self, part: &Part<'_>) -> Option<String> {
        let raw = part.raw();
        let value = json::member(raw, Span::new(0..raw.len()), "json")?;
        Some(value.of(raw).to_owned())
    }

    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"text":{}}}"#, quote(text))
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        let source = &value["source"];
        let place = || text(&source["s3Location"]["uri"]).map(Data::Elsewhere);
        let blocks = || neutral::of_blocks(&source["content"]);
        let words = || text(&source["text"]).or_else(blocks).map(Data::Text);
        let data = text(&source["bytes"]).map(Data::Base64).or_else(place).or_else(words)?;
        let kind = mime(value["format"].as_str().unwrap_or_default());
        Some(Medium { name: text(&value["name"]), ..Medium::new(kind, data) })
    }

    fn read_tools(&self, request: &Request, reader: &mut ToolReader<'_>) {
        let config = request.tools().map(Object::of);
        reader.list(self, config.and_then(|config| config.get(&["tools"])).unwrap_or_default());
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        if let Some(spec) = item.object("toolSpec") {
            let schema = spec.object("inputSchema");
            reader.function(&spec, schema.and_then(|schema| schema.get(&["json"])));
        } else if item.get(&["cachePoint"]).is_some() {
            reader.neutral.lose(None, Loss::CacheMarker, "of tools");
        } else {
            reader.other(item);
        }
    }

    fn read_choice(&self, _name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        parameters.choice = Some(match &value["toolChoice"] {
            // The configuration holds the tools, too.
            Value::Null => return Some(()),
            choice if choice["auto"].is_object() => ToolChoice::Auto,
            choice if choice["any"].is_object() => ToolChoice::Any,
            choice => ToolChoice::of_name(&choice["tool"]["name"])?,
        });
        Some(())
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        members.push(format!(r#""inputSchema":{{"json":{}}}"#, tool.schema()));
        format!(r#"{{"toolSpec":{{{}}}}}"#, members.join(","))
    }

    fn tools(&self, list: &str, choice: Option<&ToolChoice>) -> String {
        let choice = choice.and_then(|choice| match choice {
            ToolChoice::Auto => Some(json!({"auto": {}})),
            ToolChoice::Any => Some(json!({"any": {}})),
            ToolChoice::Tool(name) => Some(json!({"tool": {"name": name}})),
            ToolChoice::None => None,
        });
        let choice = choice.map(|one| format!(r#","toolChoice":{one}"#)).unwrap_or_default();
        format!(r#""toolConfig":{{"tools":[{list}]{choice}}}"#)
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let (kind, format, source) = match &shown.medium.data {
            Data::Base64(data) => {
                let (format, _) = TYPES.iter().find(|(_, known)| *known == shown.kind)?;
                (shown.kind, *format, json!({"bytes": data}))
            }
            Data::Text(text) => ("text/plain", "txt", json!({"text": text})),
            Data::Url(_) | Data::Elsewhere(_) => return None,
        };
        let kind = kind.split_once('/')?.0;
        if matches!(kind, "image" | "video" | "audio") {
            return Some(json!({kind: {"format": format, "source": source}}));
        }
        // Letters, digits, blanks, hyphens and brackets (the service model's documentation).
        let takes = |c: char| c.is_ascii_alphanumeric() || "-()[] ".contains(c);
        let name = shown.medium.name.as_deref().filter(|name| !name.is_empty());
        let name = name.map_or_else(
            || shown.numbered(),
            |name| name.chars().map(|c| if takes(c) { c } else { '-' }).collect(),
        );
        Some(json!({"document": {"format": format, "name": name, "source": source}}))
    }

    fn call(&self, call: &ToolCall, _seal: Seal) -> String {
        let (id, name, input) = (quote(&call.id), quote(&call.name), call.arguments());
        format!(r#"{{"toolUse":{{"toolUseId":{id},"name":{name},"input":{input}}}}}"#)
    }

    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let (id, elements) = (quote(&answer.id), elements(self, content));
        let status = answer.if_failed(r#","status":"error""#);
        format!(r#"{{"toolResult":{{"toolUseId":{id},"content":[{elements}]{status}}}}}"#)
    }
}
