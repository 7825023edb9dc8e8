//! OpenAI's Responses.
//!
//! Reasoning belongs to the item behind it, and goes where that goes: it is told once that item begins.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::verbatim::Verbatim;
use super::voice::{RecallCall, Round, Voice, said, sent, summed, without_offer};
use epitome::word_list::words;

#[derive(Debug, Default)]
pub(super) struct Responses {
    nth: usize,
    /// The id of the first response, which is that of all.
    id: Verbatim,
    /// The items of this round.
    items: BTreeMap<u64, Verbatim>,
    /// Whose events are held back.
    silent: BTreeSet<u64>,
    held: Vec<Verbatim>,
    /// Places of items in what the client is told, and what is there.
    told: BTreeMap<u64, usize>,
    visible: Vec<Verbatim>,
    /// The number of the next event.
    number: u64,
    usage: Value,
    before: Value,
    /// The round ended as it should.
    is_over: bool,
}

fn recall_call(item: &Verbatim) -> Option<RecallCall> {
    let arguments = item["arguments"].as_str().unwrap_or_default().to_owned();
    RecallCall::of(&item["call_id"], &item["name"], arguments)
        .filter(|_| item["type"] == "function_call")
}

/// Calls that the provider made itself, and that say what came of them.
const MADE: [&str; 5] =
    words!("code_interpreter_call file_search_call image_generation_call mcp_call web_search_call");

/// Whether an item asks somebody for something, who may be the client.
fn is_call(item: &Verbatim) -> bool {
    item["type"].as_str().is_some_and(|kind| kind.ends_with("_call") && !MADE.contains(&kind))
}

/// The places of items whose fate is `wanted`; reasoning has that of the item behind it.
fn places(items: &BTreeMap<u64, Verbatim>, wanted: impl Fn(Fate) -> bool) -> Vec<u64> {
    let mut places = Vec::new();
    let mut thoughts = Vec::new();
    for (at, item) in items {
        if item["type"] == "reasoning" {
            thoughts.push(*at);
        } else if wanted(Fate::of(item, items)) {
            places.append(&mut thoughts);
            places.push(*at);
        } else {
            thoughts.clear();
        }
    }
    places
}

/// What becomes of an item of a round that recalls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It goes back to the model alone.
    Recalls,
    /// Nobody has made it, and nobody will: the model asks again.
    Dropped,
    /// It was said or done.
    Told,
}

impl Fate {
    fn of(item: &Verbatim, items: &BTreeMap<u64, Verbatim>) -> Self {
        // What the provider ran has its output in the same reply.
        let answers = |other: &Verbatim| {
            other["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
                && other["call_id"] == item["call_id"]
        };
        match item {
            item if recall_call(item).is_some() => Fate::Recalls,
            item if is_call(item) && !items.values().any(answers) => Fate::Dropped,
            _ => Fate::Told,
        }
    }
}

impl Responses {
    fn recalls(&self) -> bool {
        self.items.values().any(|item| recall_call(item).is_some())
    }

    /// An event as the client is told it.
    fn placed(&mut self, mut event: Verbatim) -> String {
        if let Some(at) = event["output_index"].as_u64() {
            let visible = &mut self.visible;
            let place = *self.told.entry(at).or_insert_with(|| {
                visible.push(Verbatim::default());
                visible.len() - 1
            });
            if event["type"] == "response.output_item.done" {
                self.visible[place] = event["item"].clone();
            }
            event.set("output_index", place as u64);
        }
        event.set("sequence_number", self.number);
        self.number += 1;
        sent(event["type"].as_str().unwrap_or_default(), &event)
    }

    fn flush(&mut self) -> String {
        self.silent.clear();
        let held = std::mem::take(&mut self.held);
        held.into_iter().map(|event| self.placed(event)).collect()
    }

    /// The same of a round that recalls: what was said and done is told.
    fn flush_told(&mut self) -> String {
        let told = places(&self.items, |fate| fate == Fate::Told);
        self.held
            .retain(|event| event["output_index"].as_u64().is_some_and(|at| told.contains(&at)));
        self.flush()
    }

    /// Whether an event of an item is held back; with it what is told before it.
    fn of_item(&mut self, at: u64, event: &Verbatim) -> (bool, String) {
        let mut before = String::new();
        if event["type"] == "response.output_item.added" {
            let item = &event["item"];
            let held_calls = self.silent.iter().any(|at| self.items.get(at).is_some_and(is_call));
            if item["type"] == "reasoning" || is_call(item) || held_calls {
                self.silent.insert(at);
            } else {
                before = self.flush();
            }
        }
        if event["item"].is_object() {
            self.items.insert(at, event["item"].clone());
        }
        (self.silent.contains(&at), before)
    }
}

impl Voice for Responses {
    fn event(&mut self, one: &str) -> String {
        let Some(mut event) = said(one) else { return one.to_owned() };
        if let Some(response) = event.get_mut("response") {
            without_offer(response);
        }
        if let Some(at) = event["output_index"].as_u64() {
            let (is_held, before) = self.of_item(at, &event);
            if is_held {
                self.held.push(event);
                return before;
            }
            return format!("{before}{}", self.placed(event));
        }
        match event["type"].as_str() {
            Some("response.created" | "response.queued" | "response.in_progress") => {
                if self.nth > 0 {
                    return String::new();
                }
                self.id = event["response"]["id"].clone();
                self.placed(event)
            }
            Some("response.completed" | "response.incomplete") => {
                self.usage = event["response"]["usage"].value();
                if self.recalls() {
                    self.is_over = true;
                    return self.flush_told();
                }
                let calls = self.flush();
                if let Some(response) =
                    event.get_mut("response").filter(|it| self.nth > 0 && it.is_object())
                {
                    response.set("id", self.id.clone());
                    response.set("output", self.visible.clone());
                    response.set("usage", summed(&self.before, &self.usage));
                }
                format!("{calls}{}", self.placed(event))
            }
            Some("response.failed") => {
                let output = event.pointer_mut("/response/output");
                if let Some(output) = output.and_then(Verbatim::as_list_mut) {
                    output.retain(|item| recall_call(item).is_none());
                }
                format!("{}{}", self.rest(), self.placed(event))
            }
            _ => self.placed(event),
        }
    }

    fn whole(&mut self, mut reply: Verbatim) -> Option<Verbatim> {
        without_offer(&mut reply);
        if self.nth == 0 {
            self.id = reply["id"].clone();
        }
        self.usage = reply["usage"].value();
        self.items = (0..).zip(reply["output"].values().iter().cloned()).collect();
        let recalls = self.recalls();
        let told = places(&self.items, |fate| !recalls || fate == Fate::Told);
        self.visible.extend(told.iter().map(|at| self.items[at].clone()));
        if recalls {
            return None;
        }
        if self.nth > 0 {
            reply.set("id", self.id.clone());
            reply.set("output", self.visible.clone());
            reply.set("usage", summed(&self.before, &self.usage));
        }
        Some(reply)
    }

    fn recalls_wholly(&self) -> bool {
        self.is_over && self.recalls()
    }

    fn round(&mut self) -> Option<Round> {
        let calls: Vec<RecallCall> = self.items.values().filter_map(recall_call).collect();
        if calls.is_empty() {
            return None;
        }
        let mut items = std::mem::take(&mut self.items);
        let places = places(&items, |fate| fate != Fate::Dropped);
        let mut back: Vec<Verbatim> = places.iter().filter_map(|at| items.remove(at)).collect();
        back.retain(|item| match item["type"].as_str() {
            // Of reasoning that the provider doesn't keep all has to be there.
            Some("reasoning") => item["encrypted_content"].is_text(),
            Some("message") => item["content"].as_list().is_none_or(|said| !said.is_empty()),
            _ => true,
        });
        self.before = summed(&self.before, &self.usage.take());
        self.nth += 1;
        self.is_over = false;
        (self.silent, self.held, self.told) = Default::default();
        Some(Round { said: back, calls, container: None })
    }

    fn rest(&mut self) -> String {
        if self.recalls() { self.flush_told() } else { self.flush() }
    }

    fn answers(&self, calls: &[(RecallCall, Result<String, String>)]) -> Vec<Value> {
        let answer = |(call, answer): &(RecallCall, Result<String, String>)| {
            let words = answer.as_ref().unwrap_or_else(|why| why);
            json!({"type": "function_call_output", "call_id": call.id, "output": words})
        };
        calls.iter().map(answer).collect()
    }
}
