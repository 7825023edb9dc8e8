//! What a model's answer says, event by event or at once, in each format.

use epitome::Format;
use epitome::model::{Billed, UsageReport};
use epitome::summarize::FailureKind;
use serde_json::Value;

/// What was heard so far.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is said by itself, in any order")]
pub(crate) struct Heard {
    pub(crate) text: String,
    /// What else it was: a call, a refusal, an error.
    pub(crate) fault: Option<(FailureKind, String)>,
    /// It said that this is all.
    pub(crate) is_over: bool,
    /// Nothing comes behind it, not even what it took.
    pub(crate) is_last: bool,
    /// It ended because it had as many tokens as it may have.
    pub(crate) is_at_limit: bool,
    /// There was reasoning besides the text.
    pub(crate) has_reasoning: bool,
    pub(crate) billed: Billed,
}

impl Heard {
    /// Whether all that was said is reasoning.
    pub(crate) fn is_only_reasoning(&self) -> bool {
        let text = self.text.trim();
        let unclosed = text.strip_prefix("<think>").is_some_and(|rest| !rest.contains("</think>"));
        unclosed || (self.has_reasoning && text.is_empty())
    }

    /// Whether its usage is known: the answer is complete, and the tokens read were reported.
    pub(crate) fn is_accounted(&self) -> bool {
        self.is_over && self.billed.prompt() > 0
    }

    /// Takes one event of a stream in.
    pub(crate) fn event(&mut self, format: Format, event: &Value) {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return self.error(error);
        }
        self.bill(event);
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
        self.bill(answer);
        match format {
            Format::OpenaiResponses => self.responses_whole(answer),
            Format::Anthropic => {
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

    fn bill(&mut self, said: &Value) {
        if let Some(report) = UsageReport::of(said) {
            self.billed = self.billed.and_then(report.billed);
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

    /// It ended at the limit that it was given: what there is isn't all.
    fn limit(&mut self) {
        self.is_over = true;
        self.is_at_limit = true;
    }

    /// It ended because of what it said or was asked.
    fn refuse(&mut self, why: &str) {
        self.is_over = true;
        self.fault(FailureKind::Refusal, why);
    }

    fn say(&mut self, text: &Value) {
        self.text.push_str(text.as_str().unwrap_or_default());
    }

    fn chat(&mut self, event: &Value, at: &str) {
        let Some(choice) = list(&event["choices"]).first() else { return };
        let said = &choice[at];
        self.say(&said["content"]);
        let reasoning = [&said["reasoning_content"], &said["reasoning"]];
        let is_said = |text: &&Value| text.as_str().is_some_and(|text| !text.is_empty());
        self.has_reasoning |= reasoning.iter().any(is_said);
        if let Some(refusal) = said["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
            self.fault(FailureKind::Refusal, refusal);
        }
        if !list(&said["tool_calls"]).is_empty() || said["function_call"].is_object() {
            self.fault(FailureKind::ToolCall, "");
        }
        match choice["finish_reason"].as_str() {
            Some("content_filter") => self.refuse("content_filter"),
            Some("length") => self.limit(),
            Some("error") => self.fault(FailureKind::Upstream, "it stopped with an error"),
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
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.responses_end(&event["response"]);
                self.is_last = true;
            }
            "error" => self.error(event),
            _ => {}
        }
    }

    /// How it ended; one that came at once and doesn't say is all there is.
    fn responses_end(&mut self, response: &Value) {
        match response["status"].as_str().unwrap_or("completed") {
            "completed" => self.is_over = true,
            "incomplete" => match response["incomplete_details"]["reason"].as_str() {
                Some("content_filter") => self.refuse("content_filter"),
                Some("max_output_tokens") | None => self.limit(),
                Some(other) => self.fault(FailureKind::CutShort, other),
            },
            "failed" => self.error(&response["error"]),
            other => self.fault(FailureKind::CutShort, other),
        }
    }

    fn responses_whole(&mut self, answer: &Value) {
        for item in list(&answer["output"]) {
            self.responses_item(item);
            for part in list(&item["content"]) {
                if part["type"].as_str().is_none_or(|kind| kind == "output_text") {
                    self.say(&part["text"]);
                }
                if let Some(refusal) = part["refusal"].as_str() {
                    self.fault(FailureKind::Refusal, refusal);
                }
            }
        }
        self.responses_end(answer);
    }

    fn responses_item(&mut self, item: &Value) {
        if item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")) {
            self.fault(FailureKind::ToolCall, "");
        }
    }

    fn anthropic(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => self.anthropic_block(&event["content_block"]),
            "content_block_delta" => self.say(&event["delta"]["text"]),
            "message_delta" => self.anthropic_stop(&event["delta"]["stop_reason"]),
            "message_stop" => (self.is_over, self.is_last) = (true, true),
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
            Some("refusal") => self.refuse(""),
            Some("max_tokens" | "model_context_window_exceeded") => self.limit(),
            Some("pause_turn") => self.fault(FailureKind::CutShort, "pause_turn"),
            Some(_) => self.is_over = true,
            None => {}
        }
    }

    fn gemini(&mut self, chunk: &Value) {
        if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.refuse(reason);
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
            Some("STOP") => self.is_over = true,
            Some("MAX_TOKENS") => self.limit(),
            Some(reason) => self.refuse(reason),
            None => {}
        }
        // What it took comes with the last chunk.
        self.is_last = self.is_over && chunk["usageMetadata"].is_object();
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each way to say that it isn't all, streamed and at once.
    #[test]
    fn what_stopped_at_its_limit_or_at_a_filter_is_no_answer() {
        let chat = |stop: &str| {
            let choice =
                |at: &str| json!({"choices": [{at: {"content": "a"}, "finish_reason": stop}]});
            (Format::OpenaiChat, choice("delta"), choice("message"))
        };
        let responses = |why: &str| {
            let details = json!({"reason": why});
            let whole =
                json!({"status": "incomplete", "incomplete_details": details, "output": []});
            let event = json!({"type": "response.incomplete", "response": whole});
            (Format::OpenaiResponses, event, whole)
        };
        let anthropic = |stop: &str| {
            let event = json!({"type": "message_delta", "delta": {"stop_reason": stop}});
            (Format::Anthropic, event, json!({"content": [], "stop_reason": stop}))
        };
        let gemini = |stop: &str| {
            let chunk = json!({"candidates": [{"finishReason": stop}]});
            (Format::Gemini, chunk.clone(), chunk)
        };
        let heard = |(format, event, whole): &(Format, Value, Value)| {
            let (mut streamed, mut at_once) = (Heard::default(), Heard::default());
            streamed.event(*format, event);
            at_once.whole(*format, whole);
            [streamed, at_once]
        };
        let context = "model_context_window_exceeded";
        for case in [
            chat("length"),
            responses("max_output_tokens"),
            anthropic("max_tokens"),
            anthropic(context),
            gemini("MAX_TOKENS"),
        ] {
            for heard in heard(&case) {
                assert!(heard.is_over && heard.is_at_limit && heard.fault.is_none(), "{case:?}");
            }
        }
        for case in [
            chat("content_filter"),
            responses("content_filter"),
            anthropic("refusal"),
            gemini("SAFETY"),
        ] {
            for heard in heard(&case) {
                let kind = heard.fault.expect("it refuses").0;
                assert!(heard.is_over && kind == FailureKind::Refusal, "{case:?}");
            }
        }
        for (status, kind) in [
            ("failed", FailureKind::RateLimited),
            ("cancelled", FailureKind::CutShort),
            ("in_progress", FailureKind::CutShort),
        ] {
            let error = json!({"code": "rate_limit_exceeded", "message": "m"});
            let whole = json!({"status": status, "output": [], "error": error});
            let mut heard = Heard::default();
            heard.responses_whole(&whole);
            assert_eq!(heard.fault.expect("it isn't all").0, kind, "{status}");
        }
    }

    /// What was written to the cache is billed, in each format, once.
    #[test]
    fn all_is_billed_that_is_told() {
        let chat = json!({"prompt_tokens": 12, "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2}});
        let begun = json!({"input_tokens": 7, "cache_creation_input_tokens": 9,
            "cache_creation": {"ephemeral_1h_input_tokens": 9}, "output_tokens": 1});
        let over = json!({"input_tokens": 7, "cache_creation_input_tokens": 9, "output_tokens": 3});
        let of = |fresh, read, written, written_long| Billed {
            fresh,
            read,
            written,
            written_long,
            output: 3,
        };
        for (format, events, billed) in [
            (Format::OpenaiChat, vec![json!({"usage": chat})], of(5, 5, 2, 0)),
            (
                Format::Anthropic,
                vec![
                    json!({"type": "message_start", "message": {"usage": begun}}),
                    json!({"type": "message_delta", "usage": over}),
                ],
                of(7, 0, 0, 9),
            ),
        ] {
            let mut heard = Heard::default();
            for event in &events {
                heard.event(format, event);
            }
            assert_eq!(heard.billed, billed, "{format}");
        }
    }

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
