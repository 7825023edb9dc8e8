//! Gemini's Interactions.
//!
//! A thought goes where the step behind it goes, whose signature it has: it is told once that begins. A step comes in pieces, of
//! which the whole is made that goes back to the model.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::verbatim::Verbatim;
use super::voice::{RecallCall, Round, Voice, said, sent, summed, without_offer};

#[derive(Debug, Default)]
pub(super) struct Interactions {
    nth: usize,
    /// The id of the first interaction, which is that of all.
    id: Verbatim,
    /// The steps of this round, and the arguments of calls in it as they come.
    steps: BTreeMap<u64, Verbatim>,
    arguments: BTreeMap<u64, String>,
    /// Whose events are held back.
    silent: BTreeSet<u64>,
    held: Vec<Verbatim>,
    /// Places of steps in what the client is told.
    told: BTreeMap<u64, u64>,
    next: u64,
    /// What the client was told of rounds that are over.
    visible: Vec<Verbatim>,
    /// What this round reports, and the sum of those before.
    usage: Value,
    before: Value,
    /// The round ended as it should, and recalls.
    is_over: bool,
}

fn recall_call(step: &Verbatim) -> Option<RecallCall> {
    RecallCall::of(&step["id"], &step["name"], step["arguments"].to_string())
        .filter(|_| is_call(step))
}

/// Whether a step is a function's call: all other calls the provider makes itself.
fn is_call(step: &Verbatim) -> bool {
    step["type"] == "function_call"
}

fn is_thought(step: &Verbatim) -> bool {
    step["type"] == "thought"
}

/// Adds a piece to a step.
fn add(step: &mut Verbatim, piece: &Verbatim) {
    let contents = step.get_mut("content").and_then(Verbatim::as_list_mut);
    let text = contents.and_then(|all| all.last_mut()).filter(|last| last["type"] == "text");
    match (piece["type"].as_str(), text) {
        (Some("text"), Some(text)) => {
            if let Some(text) = text.entry("text") {
                text.append(piece["text"].as_str().unwrap_or_default());
            }
        }
        (Some("text_annotation_delta"), Some(text)) => {
            for one in piece["annotations"].values() {
                if let Some(annotations) = text.entry("annotations") {
                    annotations.push(one.clone());
                }
            }
        }
        // Nothing stands there that it could be of.
        (Some("text_annotation_delta"), None) => {}
        (Some("text" | "image" | "audio" | "document" | "video"), _) => {
            if let Some(content) = step.entry("content") {
                content.push(piece.clone());
            }
        }
        (Some("thought_summary"), _) if piece["content"].is_object() => {
            if let Some(summary) = step.entry("summary") {
                summary.push(piece["content"].clone());
            }
        }
        // A signature, or what the provider ran and what came of it.
        _ => {
            let members = piece.members();
            for (name, value) in members.filter(|(name, it)| *name != "type" && !it.is_null()) {
                step.set(name, value.clone());
            }
        }
    }
}

impl Interactions {
    fn recalls(&self) -> bool {
        self.steps.values().any(|step| recall_call(step).is_some())
    }

    /// The places of steps that the client is told; where the model recalls, all but calls and their thoughts.
    fn places(&self) -> Vec<u64> {
        if !self.recalls() {
            return self.steps.keys().copied().collect();
        }
        let (mut places, mut thoughts) = (Vec::new(), Vec::new());
        for (at, step) in &self.steps {
            if is_thought(step) {
                thoughts.push(*at);
            } else if is_call(step) {
                thoughts.clear();
            } else {
                places.append(&mut thoughts);
                places.push(*at);
            }
        }
        places
    }

    /// An event as the client is told it.
    fn placed(&mut self, mut event: Verbatim) -> String {
        if let Some(at) = event["index"].as_u64() {
            let next = &mut self.next;
            let place = *self.told.entry(at).or_insert_with(|| {
                *next += 1;
                *next - 1
            });
            event.set("index", place);
        }
        if self.nth > 0 {
            // It resumes a stream, and this one is of an interaction that the client doesn't know.
            event.remove("event_id");
            if let Some(id) = event.get_mut("interaction_id") {
                *id = self.id.clone();
            }
        }
        sent(event["event_type"].as_str().unwrap_or_default(), &event)
    }

    /// The held events; if the model recalls, those that the client gets.
    fn flush(&mut self) -> String {
        self.silent.clear();
        let mut held = std::mem::take(&mut self.held);
        if self.recalls() {
            let places: BTreeSet<u64> = self.places().into_iter().collect();
            held.retain(|event| event["index"].as_u64().is_some_and(|at| places.contains(&at)));
        }
        held.into_iter().map(|event| self.placed(event)).collect()
    }

    /// Hears an event of a step; whether it is held back, and what is told before it.
    fn of_step(&mut self, at: u64, event: &Verbatim) -> (bool, String) {
        let mut before = String::new();
        match event["event_type"].as_str() {
            Some("step.start") => {
                let step = &event["step"];
                let held_calls =
                    self.silent.iter().any(|at| self.steps.get(at).is_some_and(is_call));
                if is_thought(step) || is_call(step) || held_calls {
                    self.silent.insert(at);
                } else {
                    before = self.flush();
                }
                let step = Some(step).filter(|step| step.is_object());
                self.steps.insert(at, step.cloned().unwrap_or_default());
            }
            Some("step.delta") => {
                let delta = &event["delta"];
                if delta["type"] == "arguments_delta" {
                    let more = delta["arguments"].as_str().unwrap_or_default();
                    self.arguments.entry(at).or_default().push_str(more);
                } else if let Some(step) = self.steps.get_mut(&at) {
                    add(step, delta);
                }
            }
            _ => {
                if let Some(arguments) = self.arguments.get(&at)
                    && let Some(step) = self.steps.get_mut(&at)
                    && let Some(arguments) = Verbatim::read(arguments).filter(Verbatim::is_object)
                {
                    step.set("arguments", arguments);
                }
            }
        }
        (self.silent.contains(&at), before)
    }

    /// The round is over, as its interaction says.
    fn end(&mut self, interaction: &Verbatim) {
        self.usage = interaction["usage"].value();
        let places = self.places();
        self.visible.extend(places.iter().map(|at| self.steps[at].clone()));
    }

    /// Makes the last interaction one with those before.
    fn finish(&self, interaction: &mut Verbatim) {
        if interaction.is_object() && self.nth > 0 {
            interaction.set("id", self.id.clone());
            interaction.set("usage", summed(&self.before, &self.usage));
            if let Some(steps) = interaction.get_mut("steps") {
                *steps = self.visible.clone().into();
            }
        }
    }
}

impl Voice for Interactions {
    fn event(&mut self, one: &str) -> String {
        let Some(mut event) = said(one) else {
            // Only the last round's end is told.
            return if self.is_over { String::new() } else { one.to_owned() };
        };
        if let Some(at) = event["index"].as_u64() {
            let (is_held, before) = self.of_step(at, &event);
            if is_held {
                self.held.push(event);
                return before;
            }
            return before + &self.placed(event);
        }
        if let Some(interaction) = event.get_mut("interaction") {
            without_offer(interaction);
        }
        match event["event_type"].as_str() {
            // A later round begins.
            Some("interaction.created" | "interaction.status_update")
                if self.nth > 0 && self.steps.is_empty() =>
            {
                String::new()
            }
            Some("interaction.created") => {
                self.id = event["interaction"]["id"].clone();
                self.placed(event)
            }
            Some("interaction.completed") => {
                self.end(&event["interaction"]);
                self.is_over = self.recalls();
                let rest = self.flush();
                if self.is_over {
                    return rest;
                }
                if let Some(interaction) = event.get_mut("interaction") {
                    self.finish(interaction);
                }
                rest + &self.placed(event)
            }
            Some("error") => self.flush() + &self.placed(event),
            // That it waits for calls may be said of ours.
            _ if !self.silent.is_empty() => {
                self.held.push(event);
                String::new()
            }
            _ => self.placed(event),
        }
    }

    fn whole(&mut self, mut reply: Verbatim) -> Option<Verbatim> {
        without_offer(&mut reply);
        if self.nth == 0 {
            self.id = reply["id"].clone();
        }
        self.steps = (0..).zip(reply["steps"].values().iter().cloned()).collect();
        self.end(&reply);
        if self.recalls() {
            return None;
        }
        if self.nth > 0 {
            reply.set("steps", Vec::new());
        }
        self.finish(&mut reply);
        Some(reply)
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> = self.steps.values().filter_map(recall_call).collect();
        if calls.is_empty() {
            return None;
        }
        let is_said = |step: &Verbatim| match step["type"].as_str() {
            Some("function_call") => recall_call(step).is_some(),
            Some("model_output") => {
                step["content"].values().iter().any(|content| content["text"] != "")
            }
            kind => kind.is_some(),
        };
        let steps = std::mem::take(&mut self.steps);
        let said = steps.into_values().filter(is_said).collect();
        self.before = summed(&self.before, &self.usage.take());
        self.nth += 1;
        self.is_over = false;
        (self.arguments, self.silent, self.held, self.told) = Default::default();
        Some(Round { said, calls, container: None })
    }

    fn rest(&mut self) -> String {
        self.flush()
    }

    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value> {
        let answer = |(call, answer): &(RecallCall, Result<String, String>)| {
            let words = answer.as_ref().unwrap_or_else(|why| why);
            let mut result = json!({"type": "function_result", "call_id": call.id, "name": call.name, "result": words});
            if answer.is_err() {
                result["is_error"] = json!(true);
            }
            result
        };
        calls.iter().map(answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step as it begins, and a piece of it.
    fn step(kind: &str, name: &str) -> [Value; 2] {
        let begun = json!({"type": kind, "id": name, "name": name, "signature": ""});
        let piece = match kind {
            "thought" => json!({"type": "thought_signature", "signature": name}),
            "model_output" => json!({"type": "text", "text": name}),
            "function_call" => json!({"type": "arguments_delta", "arguments": "{\"query\":7}"}),
            _ => json!({"type": kind, "result": [name], "signature": name}),
        };
        [begun, piece]
    }

    /// The events of an interaction, each with an id.
    fn events(id: &str, steps: &[[Value; 2]]) -> Vec<String> {
        let status = |status: &str| json!({"event_type": "interaction.status_update", "interaction_id": id, "status": status});
        let interaction = |of: Value| json!({"id": id, "tools": [{"name": "Read"}, {"name": "recall_get"}], "usage": of});
        let mut all = vec![
            json!({"event_type": "interaction.created", "interaction": interaction(Value::Null)}),
            status("in_progress"),
        ];
        for (at, [begun, piece]) in steps.iter().enumerate() {
            all.push(json!({"event_type": "step.start", "index": at, "step": begun}));
            all.push(json!({"event_type": "step.delta", "index": at, "delta": piece}));
            all.push(json!({"event_type": "step.stop", "index": at}));
        }
        all.push(status("requires_action"));
        let usage = json!({"total_output_tokens": 5});
        all.push(json!({"event_type": "interaction.completed", "interaction": interaction(usage)}));
        let with_id = |(nth, mut event): (usize, Value)| {
            event["event_id"] = json!(format!("{id}:{nth}"));
            sent("", &event.into())
        };
        let events = all.into_iter().enumerate().map(with_id);
        events.chain(["event: done\ndata: [DONE]\n\n".to_owned()]).collect()
    }

    #[test]
    fn an_annotation_of_no_text_is_no_member_of_its_step() {
        let annotation = json!({"type": "text_annotation_delta", "annotations": [7]});
        let annotation = Verbatim::from(annotation);
        let mut step = Verbatim::from(json!({"type": "model_output"}));
        add(&mut step, &annotation);
        assert_eq!(step.value(), json!({"type": "model_output"}));
        add(&mut step, &json!({"type": "text", "text": "a"}).into());
        add(&mut step, &annotation);
        let content = json!([{"type": "text", "text": "a", "annotations": [7]}]);
        assert_eq!(step.value(), json!({"type": "model_output", "content": content}));
    }

    #[test]
    fn two_rounds_are_one_stream() {
        let first = [
            step("thought", "a"),
            step("google_search_call", "g"),
            step("google_search_result", "g"),
            step("thought", "b"),
            step("model_output", "Let me look."),
            step("thought", "c"),
            step("function_call", "Read"),
            step("model_output", "Behind it."),
            step("model_output", ""),
            step("function_call", "recall_search"),
        ];
        let second = [step("thought", "d"), step("function_call", "Read")];
        let mut voice = Interactions::default();
        let mut out: String = events("v1_a", &first).iter().map(|it| voice.event(it)).collect();
        assert!(voice.recalls_wholly());
        let said = voice.round().expect("it recalls").said;
        let said: Vec<Value> = said.iter().map(Verbatim::value).collect();
        let names: Vec<&Value> = said.iter().map(|step| &step["name"]).collect();
        assert_eq!(names, ["a", "g", "g", "b", "Let me look.", "c", "Behind it.", "recall_search"]);
        assert_eq!((&said[0]["signature"], &said[2]["result"]), (&json!("a"), &json!(["g"])));
        assert_eq!(said[4]["content"], json!([{"type": "text", "text": "Let me look."}]));
        assert_eq!(said[7]["arguments"], json!({"query": 7}));
        out.extend(events("v1_b", &second).iter().map(|it| voice.event(it)));

        let told: Vec<Value> = out
            .split_inclusive("\n\n")
            .filter_map(super::said)
            .map(|event| event.value())
            .collect();
        let places: Vec<u64> = told.iter().filter_map(|event| event["index"].as_u64()).collect();
        assert_eq!(places, (0..9).flat_map(|at| [at; 3]).collect::<Vec<_>>());
        let names: Vec<&str> = told.iter().filter_map(|it| it["step"]["name"].as_str()).collect();
        assert_eq!(names, ["a", "g", "g", "b", "Let me look.", "Behind it.", "", "d", "Read"]);
        let others = told.iter().filter(|event| event["index"].is_null());
        let kinds: Vec<&str> = others.filter_map(|event| event["event_type"].as_str()).collect();
        let ends = ["created", "status_update", "status_update", "completed"];
        assert_eq!(kinds, ends.map(|kind| format!("interaction.{kind}")));
        let ids: Vec<&str> = told.iter().filter_map(|it| it["event_id"].as_str()).collect();
        assert_eq!(ids, (0..17).chain(23..29).map(|nth| format!("v1_a:{nth}")).collect::<Vec<_>>());
        assert!(!out.contains("recall") && !out.contains("v1_b"), "{out}");
        assert!(out.contains(r#""usage":{"total_output_tokens":10}"#), "{out}");
        assert!(out.ends_with("data: [DONE]\n\n") && out.matches("[DONE]").count() == 1, "{out}");
    }
}
