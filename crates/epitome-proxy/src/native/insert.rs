//! A reply that begins with a compaction: it is inserted before the model's words, event by event.

use bytes::Bytes;
use epitome::Format;
use serde_json::Value;

use super::clearing::AppliedEdits;
use super::members::{Members, Raws, list_of, raw};
use super::{anthropic, event, responses};
use crate::sse::{Events, data};

/// Where a reply says which edits were made.
const MANAGEMENT: &str = "context_management";

/// Puts a block or an item first, and says which edits were made.
pub(crate) struct Insert {
    format: Format,
    first: Option<Value>,
    edits: Option<AppliedEdits>,
    /// What came of an event that isn't whole yet.
    events: Events,
    is_in: bool,
    /// Events that are more than came.
    more: u64,
}

impl Insert {
    pub(super) fn of(format: Format, first: Option<Value>, edits: Option<AppliedEdits>) -> Self {
        let events = Events::default();
        Insert { format, first, edits, events, is_in: false, more: 0 }
    }

    /// A reply that is whole, if it can be read.
    pub(crate) fn into_whole(self, reply: &[u8]) -> Option<String> {
        let mut members = Members::read(std::str::from_utf8(reply).ok()?)?;
        if let Some(edits) = &self.edits {
            let counted = members.get::<u64>("input_tokens");
            let told = counted.map_or_else(|| edits.told(), |counted| edits.counted(counted));
            members.set(MANAGEMENT, told.to_string());
        }
        if let Some(first) = self.first {
            let name = if self.format == Format::Anthropic { "content" } else { "output" };
            let mut all: Raws = members.get(name)?;
            all.insert(0, raw(first.to_string()));
            members.set(name, list_of(&all));
        }
        Some(members.to_string())
    }

    /// What becomes of a piece of a stream: whole events.
    pub(crate) fn passes(&mut self, piece: &Bytes) -> Bytes {
        let mut events = std::mem::take(&mut self.events);
        let out = events.turned(piece, |one| self.turned(one));
        self.events = events;
        out
    }

    /// What is left at the end.
    pub(crate) fn rest(&mut self) -> Bytes {
        self.events.rest()
    }

    /// The event as it is sent on, with insertions before or behind it; `None` if nothing changes.
    fn turned(&mut self, one: &str) -> Option<String> {
        let mut members = Members::read(&data(one)?)?;
        let kind: String = members.get("type")?;
        if self.format == Format::Anthropic {
            return self.of_message(one, &kind, members);
        }
        let first = self.first.as_ref()?;
        let is_before = ["response.created", "response.queued", "response.in_progress"];
        if is_before.contains(&kind.as_str()) || kind == "error" {
            return None;
        }
        let number: u64 = members.get("sequence_number").unwrap_or_default();
        let mut before = String::new();
        if !std::mem::replace(&mut self.is_in, true) {
            let events = responses::events(first, number);
            self.more = events.len() as u64;
            before = events.iter().map(event).collect();
        }
        if members.raw("sequence_number").is_some() {
            members.set("sequence_number", (number + self.more).to_string());
        }
        if let Some(index) = members.get::<u64>("output_index") {
            members.set("output_index", (index + 1).to_string());
        }
        if let Some(mut response) = members.get::<Members>("response")
            && let Some(mut output) = response.get::<Raws>("output")
        {
            output.insert(0, raw(first.to_string()));
            response.set("output", list_of(&output));
            members.set("response", response.to_string());
        }
        Some(format!("{before}{}", sent(&kind, &members)))
    }

    fn of_message(&mut self, one: &str, kind: &str, mut members: Members) -> Option<String> {
        if kind == "message_delta"
            && let Some(edits) = &self.edits
        {
            members.set(MANAGEMENT, edits.told().to_string());
            return Some(sent(kind, &members));
        }
        let first = self.first.as_ref()?;
        if kind == "message_start" && !self.is_in {
            self.is_in = true;
            let events: String = anthropic::events(first).iter().map(event).collect();
            // The event ends with an empty line, be it one that ends with CR.
            return Some(format!("{one}{events}"));
        }
        let index: u64 = members.get("index").filter(|_| self.is_in)?;
        members.set("index", (index + 1).to_string());
        Some(sent(kind, &members))
    }
}

fn sent(kind: &str, members: &Members) -> String {
    format!("event: {kind}\ndata: {members}\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The data of the events that come of a stream in pieces of so many bytes.
    fn turned(format: Format, stream: &str, size: usize) -> Vec<Value> {
        let bare = turned_by(format, &stream.replace("\r\n", "\n").replace('\n', "\r"), size);
        let told = turned_by(format, stream, size);
        assert_eq!(told, bare);
        told
    }

    fn turned_by(format: Format, stream: &str, size: usize) -> Vec<Value> {
        let first = json!({"type": "compaction", "content": "so far", "id": "cmp_1"});
        let mut insert = Insert::of(format, Some(first), None);
        let mut out = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            out.extend_from_slice(&insert.passes(&Bytes::copy_from_slice(piece)));
        }
        out.extend_from_slice(&insert.rest());
        let out = String::from_utf8(out).expect("text");
        let data = crate::sse::lines(&out).filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
    }

    #[test]
    fn the_compaction_comes_first_wherever_a_stream_is_cut() {
        let stream = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{}}\r\n\r\n\
                      data: {\"type\":\"ping\"}\n\n\
                      data: {\"type\":\"content_block_start\",\"index\":0}\n\n: comment\n\n\
                      data: {\"type\":\"content_block_delta\",\"index\":1}\n\ndata: {\"type\":\"message_stop\"}\n\n";
        for size in 1..80 {
            let events = turned(Format::Anthropic, stream, size);
            let told: Vec<_> = events
                .iter()
                .map(|event| (event["type"].as_str().expect("a type"), event["index"].as_u64()))
                .collect();
            let expected = [
                ("message_start", None),
                ("content_block_start", Some(0)),
                ("content_block_delta", Some(0)),
                ("content_block_stop", Some(0)),
                ("ping", None),
                ("content_block_start", Some(1)),
                ("content_block_delta", Some(2)),
                ("message_stop", None),
            ];
            assert_eq!(told, expected, "{size}");
            assert_eq!(events[2]["delta"]["content"], "so far");
        }
    }

    #[test]
    fn numbers_and_places_of_a_response_move_on() {
        let stream = "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"output\":[]}}\n\n\
                      data: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"m\"}}\n\n\
                      data: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"output\":[{\"id\":\"m\"}]}}\n\n";
        for size in 1..80 {
            let events = turned(Format::OpenaiResponses, stream, size);
            let numbers: Vec<_> =
                events.iter().map(|event| event["sequence_number"].as_u64()).collect();
            assert_eq!(numbers, (0..6).map(Some).collect::<Vec<_>>(), "{size}");
            assert_eq!(events[4]["output_index"], 1);
            assert_eq!(events[5]["response"]["output"][0]["id"], "cmp_1");
            assert_eq!(events[5]["response"]["output"][1]["id"], "m");
        }
    }
}
