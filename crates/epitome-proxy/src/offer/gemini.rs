//! Gemini's contents.
//!
//! A piece of a stream has whole parts. Those from the first call on are told once the round is there: only then is it known
//! whether the model recalls.

use serde_json::{Value, json};

use super::verbatim::Verbatim;
use super::voice::{RecallCall, Round, Voice, parting, said, sent, summed};

#[derive(Debug, Default)]
pub(super) struct Contents {
    nth: usize,
    /// The id of the first reply, which is that of all.
    id: Verbatim,
    /// What was said in this round.
    parts: Vec<Verbatim>,
    /// Parts from the first call on.
    held: Vec<Verbatim>,
    /// What the client was told, of whole replies.
    visible: Vec<Verbatim>,
    /// The words of this round, and of those before.
    words: String,
    told: String,
    /// What this round reports, and the sum of those before.
    usage: Value,
    before: Value,
    /// The round ended as it should.
    is_over: bool,
}

/// What the provider takes for the signature of a call that it didn't sign (PROVIDERS.md B.4).
const UNSIGNED: &str = "skip_thought_signature_validator";
const SIGNATURE: &str = "thoughtSignature";
const PARTS: &str = "/candidates/0/content/parts";

fn recall_call(part: &Verbatim) -> Option<RecallCall> {
    let call = part.get("functionCall")?;
    let arguments = call.get("args").map(ToString::to_string).unwrap_or_default();
    RecallCall::of(&call["id"], &call["name"], arguments)
}

fn is_call(part: &Verbatim) -> bool {
    part["functionCall"].is_object()
}

fn is_thought(part: &Verbatim) -> bool {
    part["thought"].is_true()
}

/// The words of a part that are the answer's.
fn words(part: &Verbatim) -> Option<&str> {
    part["text"].as_str().filter(|text| !is_thought(part) && !text.is_empty())
}

impl Contents {
    fn recalls(&self) -> bool {
        self.parts.iter().any(|part| recall_call(part).is_some())
    }

    /// A reply or a piece of one came: its parts, as the client may be told them.
    fn hear(&mut self, reply: &mut Verbatim) -> Vec<Verbatim> {
        if self.nth == 0 && self.id.is_null() {
            self.id = reply["responseId"].clone();
        }
        if reply["usageMetadata"].is_object() {
            self.usage = reply["usageMetadata"].value();
        }
        self.is_over |= reply.pointer("/candidates/0/finishReason").is_some_and(Verbatim::is_text);
        let mut parts = reply.pointer(PARTS).map_or(&[][..], Verbatim::values).to_vec();
        for part in &mut parts {
            self.add(part.clone());
            let Some(more) = words(part).map(str::to_owned) else { continue };
            let parting = if self.words.is_empty() { parting(&self.told, &more) } else { "" };
            if !parting.is_empty() {
                part.set("text", &*[parting, &more].concat());
            }
            self.words.push_str(&more);
        }
        // Thoughts behind a recall belong to a history that the client doesn't have.
        parts.retain(|part| self.nth == 0 || !is_thought(part));
        parts
    }

    /// Adds a part to the round: pieces of one text are one.
    fn add(&mut self, part: Verbatim) {
        let is_same = |last: &&mut Verbatim| {
            last["text"].is_text()
                && last[SIGNATURE].is_null()
                && is_thought(last) == is_thought(&part)
        };
        match (part["text"].as_str(), self.parts.last_mut().filter(is_same)) {
            (Some(more), Some(last)) => {
                if let Some(text) = last.get_mut("text") {
                    text.append(more);
                }
                if !part[SIGNATURE].is_null() {
                    last.set(SIGNATURE, part[SIGNATURE].clone());
                }
            }
            _ => self.parts.push(part),
        }
    }

    /// A reply, or a piece of one, with these parts, as one of the first reply's.
    fn placed(&self, mut reply: Verbatim, parts: Vec<Verbatim>) -> Verbatim {
        if let Some(place) = reply.pointer_mut(PARTS) {
            *place = parts.into();
        }
        if self.nth > 0 {
            if !self.id.is_null() {
                reply.set("responseId", self.id.clone());
            }
            if reply["usageMetadata"].is_object() {
                let usage = summed(&self.before, &reply["usageMetadata"].value());
                reply.set("usageMetadata", usage);
            }
        }
        reply
    }

    /// What was held back; where the model recalls, all but calls.
    fn flush(&mut self) -> Vec<Verbatim> {
        let mut held = std::mem::take(&mut self.held);
        let recalls = self.recalls();
        held.retain(|part| !(recalls && is_call(part)));
        held
    }

    /// A piece of a stream with these parts and nothing else; empty without any.
    fn piece(&self, parts: Vec<Verbatim>) -> String {
        if parts.is_empty() {
            return String::new();
        }
        let content = json!({"role": "model", "parts": []});
        let mut piece = Verbatim::from(json!({"candidates": [{"content": content, "index": 0}]}));
        if !self.id.is_null() {
            piece.set("responseId", self.id.clone());
        }
        sent("", &self.placed(piece, parts))
    }
}

impl Voice for Contents {
    fn event(&mut self, one: &str) -> String {
        let Some(came) = said(one) else { return one.to_owned() };
        if came["error"].is_object() {
            return self.rest() + one;
        }
        let mut reply = came.clone();
        let mut parts = self.hear(&mut reply);
        let at = if self.held.is_empty() { parts.iter().position(is_call) } else { Some(0) };
        self.held.extend(parts.split_off(at.unwrap_or(parts.len())));
        if self.is_over {
            parts.extend(self.flush());
            if self.recalls() {
                return self.piece(parts);
            }
        } else if at.is_some() {
            return self.piece(parts);
        }
        let mut before = String::new();
        if reply.pointer(PARTS).is_none() {
            before = self.piece(std::mem::take(&mut parts));
        } else if parts.is_empty() && !self.is_over && self.nth > 0 {
            // Nothing but thoughts.
            return before;
        }
        let told = self.placed(reply, parts);
        before + &if told == came { one.to_owned() } else { sent("", &told) }
    }

    fn whole(&mut self, mut reply: Verbatim) -> Option<Verbatim> {
        let parts = self.hear(&mut reply);
        if self.recalls() {
            self.visible.extend(parts.into_iter().filter(|part| !is_call(part)));
            return None;
        }
        let parts = [std::mem::take(&mut self.visible), parts].concat();
        if !parts.is_empty()
            && reply.pointer(PARTS).is_none()
            && let Some(candidate) = reply.pointer_mut("/candidates/0")
            && candidate.is_object()
        {
            candidate.set("content", json!({"role": "model", "parts": []}));
        }
        Some(self.placed(reply, parts))
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over && self.recalls()
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> = self.parts.iter().filter_map(recall_call).collect();
        if calls.is_empty() {
            return None;
        }
        let mut parts = std::mem::take(&mut self.parts);
        let is_signed =
            parts.iter().find(|part| is_call(part)).is_some_and(|part| !part[SIGNATURE].is_null());
        parts.retain(|part| !is_call(part) || recall_call(part).is_some());
        // The first call of a step is signed, and it may be one of the client's.
        let first = parts.iter_mut().find(|part| is_call(part));
        if let Some(first) = first.filter(|first| is_signed && first[SIGNATURE].is_null()) {
            first.set(SIGNATURE, UNSIGNED);
        }
        let words = std::mem::take(&mut self.words);
        self.told.push_str(parting(&self.told, &words));
        self.told.push_str(&words);
        self.before = summed(&self.before, &self.usage.take());
        self.nth += 1;
        self.is_over = false;
        self.held.clear();
        let said = vec![Verbatim::object([("role", "model".into()), ("parts", parts.into())])];
        Some(Round { said, calls, container: None })
    }

    fn rest(&mut self) -> String {
        let held = self.flush();
        self.piece(held)
    }

    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value> {
        let parts = calls.iter().map(|(call, answer)| {
            let response = match answer {
                Ok(found) => json!({"output": found}),
                Err(why) => json!({"error": why}),
            };
            let mut part = json!({"functionResponse": {"name": call.name, "response": response}});
            if !call.id.is_empty() {
                part["functionResponse"]["id"] = json!(call.id);
            }
            part
        });
        vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
    }
}
