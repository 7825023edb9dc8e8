//! What a fuzz target puts streams through.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use epitome::Format;
use epitome::session::PromptReport;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use crate::offer::voice;
use crate::sse::{Events, data};
use crate::usage::Usage;

/// Reads a stream that comes in pieces of these sizes, over and over, in every way that the proxy reads one.
///
/// # Panics
/// A byte was lost or moved, or something else was read than where the stream comes in one piece.
pub fn stream(stream: &[u8], sizes: &[usize]) {
    let pieces = || {
        let mut left = stream;
        let mut sizes = sizes.iter().copied().chain([1]).cycle();
        std::iter::from_fn(move || {
            let size = sizes.next()?.max(1).min(left.len());
            let (piece, rest) = left.split_at(size);
            left = rest;
            (size > 0).then(|| Bytes::copy_from_slice(piece))
        })
    };
    let whole = || std::iter::once(Bytes::copy_from_slice(stream));
    assert_eq!(said(pieces()), said(whole()));
    assert_eq!(told(pieces()), told(whole()));

    let mut events = Events::default();
    let mut out: Vec<u8> = pieces().flat_map(|piece| events.turned(&piece, |_| None)).collect();
    out.extend_from_slice(&events.rest());
    assert_eq!(out, stream);

    for format in [
        Format::Anthropic,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Gemini,
        Format::GeminiInteractions,
    ] {
        let mut voice = voice(format);
        for event in cut(pieces()).iter().filter_map(|event| std::str::from_utf8(event).ok()) {
            voice.event(event);
            if voice.recalls_wholly() {
                voice.round();
            }
        }
        voice.rest();
    }
}

fn cut(pieces: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    let mut events = Events::default();
    let mut all = Vec::new();
    for piece in pieces {
        events.push(&piece);
        all.extend(std::iter::from_fn(|| events.cut()));
    }
    all
}

/// What the events carry.
fn said(pieces: impl Iterator<Item = Bytes>) -> Vec<String> {
    let text = |event: &Bytes| data(std::str::from_utf8(event).ok()?);
    cut(pieces).iter().filter_map(text).collect()
}

/// The tokens of the prompt that are read from it.
fn told(pieces: impl Iterator<Item = Bytes>) -> Option<PromptReport> {
    let told = Arc::new(Mutex::new(None));
    let book = Arc::clone(&told);
    let tell = Box::new(move |told| *book.lock().expect("nobody panicked") = Some(told));
    let kind = (CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let mut usage = Usage::of(&HeaderMap::from_iter([kind])).expect("a stream");
    usage.tell_prompt(tell);
    pieces.for_each(|piece| usage.passes(&piece));
    drop(usage);
    told.lock().expect("nobody panicked").take()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_is_read_alike_wherever_it_is_cut(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "\n", "\r", "\r\n", "\n\n", "data:", "data: ", "event: ", ":", "é", "{\"type\":\"message_start\",\"message\":",
                "{\"usage\":{\"input_tokens\":7}}", "}", "[DONE]", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}",
            ]), 0..24),
            sizes in prop::collection::vec(1_usize..9, 0..4),
        ) {
            super::stream(pieces.concat().as_bytes(), &sizes);
        }
    }
}
