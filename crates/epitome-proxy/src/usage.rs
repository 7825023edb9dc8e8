//! What a reply that passes through tells of the prompt's size.

use std::sync::Arc;

use bytes::Bytes;
use epitome::model::{Billed, UsageReport, reply_levels};
use epitome::session::PromptReport;
use epitome_tower::{Tell, heard};
use epitome_tracing::ModelCall;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use crate::encoding::Encoding;
use crate::unpacking::Unpacker;

/// The longest event or whole reply that is read; of longer ones nothing is learnt.
const LONGEST: usize = 1 << 20;

/// Takes what a reply says that it is billed.
pub(crate) type Account = Box<dyn FnOnce(Billed) + Send + Sync>;

/// Reads a reply as it passes, and reports its prompt's tokens when it is dropped: even if a reply ends early, its report
/// is true.
pub(crate) struct Usage {
    shape: Shape,
    /// What reads it where it is compressed.
    unpacker: Option<Unpacker>,
    /// The line, or the whole reply, as far as it came; `None` while it is too long.
    held: Option<Vec<u8>>,
    told: Option<PromptReport>,
    tell: Option<Tell>,
    billed: Option<Billed>,
    account: Option<Account>,
    /// The call whose span is told of it.
    call: Option<Arc<ModelCall>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Server-sent events, each with its data in one line.
    Events,
    /// One JSON value: a reply, or a list of its pieces.
    Whole,
}

impl Usage {
    /// `None` where a reply with such headers can't be read.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let unpacker = Unpacker::of(headers);
        if unpacker.is_none() && Encoding::of(headers) != Ok(Encoding::Identity) {
            return None;
        }
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim();
        let shape = match kind {
            "text/event-stream" => Shape::Events,
            "application/json" => Shape::Whole,
            _ => return None,
        };
        Some(Usage {
            shape,
            unpacker,
            held: Some(Vec::new()),
            told: None,
            tell: None,
            billed: None,
            account: None,
            call: None,
        })
    }

    /// Tells somebody the tokens of its prompt, once the reply is over.
    pub(crate) fn tell_prompt(&mut self, tell: Tell) {
        self.tell = Some(tell);
    }

    /// Tells a call who answers it and what that bills.
    pub(crate) fn tell_call(&mut self, call: Arc<ModelCall>) {
        self.call = Some(call);
    }

    /// Reports the billed usage, once the reply is over.
    pub(crate) fn tell_billed(&mut self, account: Account) {
        self.account = Some(account);
    }

    /// It isn't compressed any more where this reads it.
    pub(crate) fn unpacked(&mut self) {
        self.unpacker = None;
    }

    pub(crate) fn passes(&mut self, data: &Bytes) {
        match self.unpacker.as_mut().map(|unpacker| unpacker.unpack(data)) {
            None => self.reads(data),
            Some(Ok(data)) => self.reads(&data),
            // Nothing more of it can be read.
            Some(Err(_)) => self.held = None,
        }
    }

    fn reads(&mut self, data: &Bytes) {
        if self.shape == Shape::Whole {
            return self.hold(data);
        }
        let mut from = 0;
        for end in memchr::memchr2_iter(b'\r', b'\n', data) {
            self.hold(&data[from..end]);
            self.line();
            from = end + 1;
        }
        self.hold(&data[from..]);
    }

    fn hold(&mut self, data: &[u8]) {
        self.held.take_if(|held| held.len() + data.len() > LONGEST);
        if let Some(held) = &mut self.held {
            held.extend_from_slice(data);
        }
    }

    /// A line is there.
    fn line(&mut self) {
        let held = self.held.take().unwrap_or_default();
        // Most events are words of the reply.
        if held.starts_with(b"data:") && memchr::memmem::find(&held, b"\"usage").is_some() {
            self.says(&held[5..]);
        }
        self.held = Some(Vec::new());
    }
}

impl Usage {
    /// A whole reply, an event of one, or a list of its pieces.
    fn says(&mut self, json: &[u8]) {
        let Ok(json) = std::str::from_utf8(json) else { return };
        self.told = match self.shape {
            Shape::Events => heard(self.told, json.trim()),
            Shape::Whole => prompt(json),
        };
        if self.account.is_none() && self.call.is_none() {
            return;
        }
        let pieces = match serde_json::from_str(json) {
            Ok(Value::Array(pieces)) => pieces,
            Ok(piece) => vec![piece],
            Err(_) => return,
        };
        let told = pieces.iter().filter_map(UsageReport::of).map(|report| report.billed);
        self.billed = self.billed.into_iter().chain(told).reduce(Billed::and_then);
        let model = pieces
            .iter()
            .flat_map(reply_levels)
            .find_map(|said| said.get("model").or(said.get("modelVersion"))?.as_str());
        if let Some((call, model)) = self.call.as_ref().zip(model) {
            call.answered_by(model);
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        match self.shape {
            Shape::Events => self.line(),
            Shape::Whole => {
                let held = self.held.take().unwrap_or_default();
                self.says(&held);
            }
        }
        if let (Some(tell), Some(told)) = (self.tell.take(), self.told) {
            tell(told);
        }
        let Some(billed) = self.billed else { return };
        if let Some(account) = self.account.take() {
            account(billed);
        }
        if let Some(call) = self.call.take() {
            call.billed(billed);
        }
    }
}

/// What a reply, or the last of a list of pieces, reports of its prompt.
fn prompt(json: &str) -> Option<PromptReport> {
    let json = json.trim();
    if !json.starts_with('[') {
        return heard(None, json);
    }
    let pieces: Vec<Value> = serde_json::from_str(json).ok()?;
    pieces.iter().rev().find_map(|piece| heard(None, &piece.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use http::HeaderValue;

    use super::*;

    /// The usage of a reply that comes in pieces of this many bytes.
    fn told(kind: &'static str, reply: &str, size: usize) -> Option<u64> {
        let told = Arc::new(Mutex::new(None));
        let book = Arc::clone(&told);
        let tell = Box::new(move |told: PromptReport| {
            *book.lock().expect("nobody panicked") = Some(told.tokens);
        });
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        let mut usage = Usage::of(&headers)?;
        usage.tell_prompt(tell);
        for piece in reply.as_bytes().chunks(size) {
            usage.passes(&Bytes::copy_from_slice(piece));
        }
        drop(usage);
        let told = told.lock().expect("nobody panicked");
        *told
    }

    const EVENTS: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn tokens_are_read_wherever_a_reply_is_cut() {
        let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\
                        \"cache_read_input_tokens\":5}}}\n\nevent: ping\ndata: {}\n\n";
        let chat = "data: {\"choices\":[]}\r\n\r\ndata: {\"usage\":{\"prompt_tokens\":12}}\r\n\r\ndata: [DONE]\r\n\r\n";
        let responses = "data: {\"response\":{\"usage\":null}}\n\ndata: {\"response\":{\"usage\":{\"input_tokens\":12}}}";
        let array = "[{\"usageMetadata\":{\"promptTokenCount\":12}},\r\n{\"candidates\":[]}]";
        let bare = chat.replace("\r\n", "\r");
        for size in 1..60 {
            for reply in [messages, chat, responses, &bare] {
                assert_eq!(told(EVENTS, reply, size), Some(12), "{size}: {reply}");
            }
            assert_eq!(told("application/json", array, size), Some(12), "{size}");
        }
    }

    #[test]
    fn what_is_too_long_is_left_out_and_the_next_line_is_read() {
        let long = format!(
            "data: {{\"usage\":{{\"prompt_tokens\":1}},\"x\":\"{}\"}}\n\n",
            "a".repeat(LONGEST)
        );
        assert_eq!(told(EVENTS, &long, 1000), None);
        assert_eq!(
            told(EVENTS, &format!("{long}data: {{\"usage\":{{\"prompt_tokens\":2}}}}\n"), 1000),
            Some(2)
        );
        assert_eq!(told("text/html", "data: {\"usage\":{\"prompt_tokens\":2}}\n", 9), None);
    }
}
