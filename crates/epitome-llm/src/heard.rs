//! What a model's answer says, event by event or at once, in each format.

use epitome::Format;
use epitome::model::Billed;
use epitome::summarize::FailureKind;
use serde_json::Value;

/// What was heard so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    /// What else it was: a call, a refusal, an error.
    pub(crate) fault: Option<(FailureKind, String)>,
    /// It said that this is all.
    pub(crate) is_over: bool,
    pub(crate) billed: Billed,
}

impl Heard {
    /// Takes one event of a stream in.
    pub(crate) fn event(&mut self, format: Format, event: &Value) {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return self.error(error);
        }
        match format {
            Format::OpenaiResponses => self.responses(event),
            Format::Anthropic => self.anthropic(event),
            Format::Gemini => self.gemini(event),
            _ => self.chat(event, "delta"),
        }
    }

    /// Takes an answer in that came at once, though a stream was asked for.
    pub(crate) fn whole(&mut self, format: Format, answer: &Value) {
        if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
            return self.error(error);
        }
        match format {
            Format::OpenaiResponses => self.responses_whole(answer),
            Format::Anthropic => {
                self.anthropic_usage(&answer["usage"]);
                for block in list(&answer["content"]) {
                    self.anthropic_block(block);
                }
                self.anthropic_stop(&answer["stop_reason"]);
            }
            Format::Gemini => match answer.as_array() {
                Some(chunks) => chunks.iter().for_each(|chunk| self.event(format, chunk)),
                None => self.gemini(answer),
            },
            _ => self.chat(answer, "message"),
        }
    }

    pub(crate) fn error(&mut self, error: &Value) {
        let says = |key: &str| error[key].as_str().unwrap_or_default();
        let kinds = ["type", "code", "status"].map(says).join(" ").to_lowercase();
        let kind = match kinds {
            kinds if kinds.contains("rate_limit") || kinds.contains("exhausted") => {
                FailureKind::RateLimited
            }
            kinds if kinds.contains("auth") || kinds.contains("permission") => {
                FailureKind::Unauthorized
            }
            kinds if kinds.contains("invalid") => FailureKind::Rejected,
            _ => FailureKind::Upstream,
        };
        let message =
            error["message"].as_str().or(error.as_str()).unwrap_or("an error without a message");
        self.fault(kind, message);
    }

    fn fault(&mut self, kind: FailureKind, detail: &str) {
        self.fault.get_or_insert_with(|| (kind, detail.to_owned()));
    }

    fn say(&mut self, text: &Value) {
        self.text.push_str(text.as_str().unwrap_or_default());
    }

    fn chat(&mut self, event: &Value, at: &str) {
        let usage = &event["usage"];
        if usage.is_object() {
            let read = number(&usage["prompt_tokens_details"]["cached_tokens"]);
            self.billed.fresh = number(&usage["prompt_tokens"]).saturating_sub(read);
            self.billed.read = read;
            self.billed.output = number(&usage["completion_tokens"]);
        }
        let Some(choice) = list(&event["choices"]).first() else { return };
        let said = &choice[at];
        self.say(&said["content"]);
        if let Some(refusal) = said["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
            self.fault(FailureKind::Refusal, refusal);
        }
        if !list(&said["tool_calls"]).is_empty() || said["function_call"].is_object() {
            self.fault(FailureKind::ToolCall, "");
        }
        match choice["finish_reason"].as_str() {
            Some("content_filter") => self.fault(FailureKind::Refusal, "content_filter"),
            Some(_) => self.is_over = true,
            None => {}
        }
    }

    fn responses(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.say(&event["delta"]),
            "response.refusal.done" => {
                self.fault(FailureKind::Refusal, event["refusal"].as_str().unwrap_or_default());
            }
            "response.output_item.added" => self.responses_item(&event["item"]),
            "response.completed" | "response.incomplete" => {
                self.responses_usage(&event["response"]["usage"]);
                self.is_over = true;
            }
            "response.failed" => {
                self.responses_usage(&event["response"]["usage"]);
                self.error(&event["response"]["error"]);
            }
            "error" => self.error(event),
            _ => {}
        }
    }

    fn responses_whole(&mut self, answer: &Value) {
        self.responses_usage(&answer["usage"]);
        for item in list(&answer["output"]) {
            self.responses_item(item);
            for part in list(&item["content"]) {
                self.say(&part["text"]);
                if let Some(refusal) = part["refusal"].as_str() {
                    self.fault(FailureKind::Refusal, refusal);
                }
            }
        }
        self.is_over = true;
    }

    fn responses_item(&mut self, item: &Value) {
        if item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) {
            self.fault(FailureKind::ToolCall, "");
        }
    }

    fn responses_usage(&mut self, usage: &Value) {
        let read = number(&usage["input_tokens_details"]["cached_tokens"]);
        self.billed.fresh = number(&usage["input_tokens"]).saturating_sub(read);
        self.billed.read = read;
        self.billed.output = number(&usage["output_tokens"]);
    }

    fn anthropic(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.anthropic_usage(&event["message"]["usage"]),
            "content_block_start" => self.anthropic_block(&event["content_block"]),
            "content_block_delta" => self.say(&event["delta"]["text"]),
            "message_delta" => {
                self.billed.output =
                    number(&event["usage"]["output_tokens"]).max(self.billed.output);
                self.anthropic_stop(&event["delta"]["stop_reason"]);
            }
            "message_stop" => self.is_over = true,
            _ => {}
        }
    }

    fn anthropic_block(&mut self, block: &Value) {
        match block["type"].as_str().unwrap_or_default() {
            "text" => self.say(&block["text"]),
            "tool_use" | "server_tool_use" => self.fault(FailureKind::ToolCall, ""),
            _ => {}
        }
    }

    fn anthropic_stop(&mut self, reason: &Value) {
        match reason.as_str() {
            Some("refusal") => self.fault(FailureKind::Refusal, ""),
            Some(_) => self.is_over = true,
            None => {}
        }
    }

    fn anthropic_usage(&mut self, usage: &Value) {
        self.billed.fresh = number(&usage["input_tokens"]);
        self.billed.read = number(&usage["cache_read_input_tokens"]);
        self.billed.written = number(&usage["cache_creation_input_tokens"]);
        self.billed.output = number(&usage["output_tokens"]);
    }

    fn gemini(&mut self, chunk: &Value) {
        let usage = &chunk["usageMetadata"];
        if usage.is_object() {
            let read = number(&usage["cachedContentTokenCount"]);
            self.billed.fresh = number(&usage["promptTokenCount"]).saturating_sub(read);
            self.billed.read = read;
            self.billed.output =
                number(&usage["candidatesTokenCount"]) + number(&usage["thoughtsTokenCount"]);
        }
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.fault(FailureKind::Refusal, reason);
        }
        let Some(candidate) = list(&chunk["candidates"]).first() else { return };
        for part in list(&candidate["content"]["parts"]) {
            if part["functionCall"].is_object() {
                self.fault(FailureKind::ToolCall, "");
            } else if part["thought"] != Value::Bool(true) {
                self.say(&part["text"]);
            }
        }
        match candidate["finishReason"].as_str() {
            Some("STOP" | "MAX_TOKENS") => self.is_over = true,
            Some(reason) => self.fault(FailureKind::Refusal, reason),
            None => {}
        }
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_no_summary() {
        let call = json!({"type": "tool_use", "id": "a", "name": "Read", "input": {}});
        let chat = json!({"tool_calls": [{"id": "a"}]});
        let part = json!({"functionCall": {"name": "Read", "args": {}}});
        let item = json!({"type": "function_call", "name": "Read"});
        for (format, answer) in [
            (Format::Anthropic, json!({"content": [call]})),
            (Format::OpenaiChat, json!({"choices": [{"message": chat}]})),
            (Format::Gemini, json!({"candidates": [{"content": {"parts": [part]}}]})),
            (Format::OpenaiResponses, json!({"output": [item]})),
        ] {
            let mut heard = Heard::default();
            heard.whole(format, &answer);
            let kind = heard.fault.expect("a call is found").0;
            assert_eq!(kind, FailureKind::ToolCall, "{format}");
        }
    }
}
