//! Anthropic's side of conversion.

use serde_json::{Value, json};

use super::{Anthropic, terms::TERMS, unsigned};
use crate::json::quote;
use crate::request::Request;
use crate::wire::Terms;
use crate::wire::conversion::{CallDemand, Conversion, Inside, Members, Seal, words};
use crate::wire::neutral::{
    self, CallOutcome, Data, Lost, Medium, Object, Parameters, ShownMedium, Tool, ToolAnswer,
    ToolCall, ToolChoice, ToolReader, text,
};

impl Conversion for Anthropic {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    fn again(&self, request: &Request, model: Option<&str>) -> (String, Vec<Lost>) {
        unsigned::without(request, model)
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        let source = &value["source"];
        let kind = if value["type"] == "image" { "image" } else { "application/pdf" };
        let text_of = |key: &str| text(&source[key]);
        let (kind, data) = match source["type"].as_str()? {
            "base64" => (text_of("media_type")?, Data::Base64(text_of("data")?)),
            "url" => (kind.to_owned(), Data::Url(text_of("url")?)),
            "text" => ("text/plain".to_owned(), Data::Text(text_of("data")?)),
            "file" => (kind.to_owned(), Data::Elsewhere(text_of("file_id")?)),
            "content" => {
                ("text/plain".to_owned(), Data::Text(neutral::of_blocks(&source["content"])?))
            }
            _ => return None,
        };
        Some(Medium { name: text(&value["title"]), ..Medium::new(kind, data) })
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        match item.text("type").as_deref() {
            None | Some("custom") => reader.function(item, item.get(&["input_schema"])),
            _ => reader.other(item),
        }
    }

    fn read_choice(&self, _name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        let only_one = value["disable_parallel_tool_use"].as_bool();
        parameters.parallel = only_one.map(|only_one| !only_one);
        let named = || ToolChoice::of_name(&value["name"]);
        parameters.choice = Some(ToolChoice::of_word(&value["type"]).or_else(named)?);
        Some(())
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        members.extend(tool.is_strict().then(|| r#""strict":true"#.to_owned()));
        members.push(format!(r#""input_schema":{}"#, tool.schema()));
        format!("{{{}}}", members.join(","))
    }

    fn can_limit_calls(&self, choice: Option<&ToolChoice>) -> bool {
        choice != Some(&ToolChoice::None)
    }

    fn choice(&self, wish: &CallDemand<'_>) -> Members {
        let Some(choice) = wish.choice.or(wish.parallel.map(|_| &ToolChoice::Auto)) else {
            return Vec::new();
        };
        let mut value = match choice {
            ToolChoice::Auto => json!({"type": "auto"}),
            ToolChoice::None => json!({"type": "none"}),
            ToolChoice::Any => json!({"type": "any"}),
            ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
        };
        if let Some(parallel) = wish.parallel {
            value["disable_parallel_tool_use"] = json!(!parallel);
        }
        vec![("tool_choice", value)]
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let kind = shown.kind;
        let source = match &shown.medium.data {
            Data::Text(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
            _ if !shown.is_image() && !shown.is_pdf() => return None,
            Data::Base64(data) => json!({"type": "base64", "media_type": kind, "data": data}),
            Data::Url(url) => json!({"type": "url", "url": url}),
            Data::Elsewhere(_) => return None,
        };
        if shown.is_image() && !matches!(shown.medium.data, Data::Text(_)) {
            return Some(json!({"type": "image", "source": source}));
        }
        let mut document = json!({"type": "document", "source": source});
        if let Some(name) = &shown.medium.name {
            document["title"] = json!(name);
        }
        Some(document)
    }

    /// It takes nothing but text in a result that is an error.
    fn shows_in_results(&self, outcome: CallOutcome) -> bool {
        outcome != CallOutcome::Failed
    }

    fn call(&self, call: &ToolCall, _seal: Seal) -> String {
        let (id, name, input) = (quote(&call.id), quote(&call.name), call.arguments());
        format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
    }

    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let id = quote(&answer.id);
        let content = match content {
            [] => String::new(),
            content => format!(r#","content":{}"#, words(self, content)),
        };
        let error = answer.if_failed(r#","is_error":true"#);
        format!(r#"{{"type":"tool_result","tool_use_id":{id}{content}{error}}}"#)
    }
}
