//! What must hold of everything that is sent.

use epitome::Request;
use epitome::session::{Chain, Epoch, SessionId, page};
use epitome::transcript::{PartKind, Role};
use epitome::view::Fate;
use epitome::wire;
use serde_json::Value;

use super::{KEY, Violation};

/// What a client was shown: under which epoch, of which session where that is known by its number, and all
/// elements, beside the client's own.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// None since a crash after which nobody had saved it: it is at its beginning then.
    pub(super) session: Option<SessionId>,
    pub(super) epoch: u32,
    pub(super) elements: Vec<Value>,
    pub(super) own: Vec<Value>,
}

/// Law 7: inside an epoch the prompt only grows at its end.
pub(super) fn prefix(before: &Shown, now: &Shown) -> Result<(), Violation> {
    let is_same = before.epoch == now.epoch
        && (before.session == now.session || before.session.is_none() && before.epoch == 0);
    if !is_same || !now.own.starts_with(&before.own) || now.elements.starts_with(&before.elements) {
        return Ok(());
    }
    let pairs = now.elements.iter().zip(&before.elements);
    let len = pairs.take_while(|(one, other)| one == other).count();
    Err(format!(
        "law 7: inside epoch {} the prompt changed at element {len}:\n{:?}\n{:?}",
        now.epoch,
        before.elements.get(len),
        now.elements.get(len)
    ))
}

/// Law 8: what isn't shown is still had from the client, entry by entry, and what is kept is shown byte for byte.
pub(super) fn returns(
    tenant: &str,
    epoch: &Epoch,
    request: &Request,
    shown: &Request,
) -> Result<(), Violation> {
    let base = wire::repair(request).request;
    let view = epoch.view(&base, &Chain::of(&base, tenant, KEY));
    if view.is_whole() {
        let is_whole = shown.source() == request.source() || shown.source() == base.source();
        return is_whole
            .then_some(())
            .ok_or_else(|| "law 8: all is kept, but not shown".to_owned());
    }
    let mut rest: &str = shown.source();
    for (entry, fate) in base.transcript.entries().zip(view.fates()) {
        if *fate != Fate::Keep {
            continue;
        }
        // What shares a message keeps its parts.
        for piece in pieces(&base, entry.index) {
            let Some(at) = rest.find(&piece) else {
                return Err(format!("law 8: a kept entry isn't shown: {piece:.200}"));
            };
            rest = &rest[at + piece.len()..];
        }
    }
    let (mut cursor, mut before) = (None, view.first_kept());
    loop {
        let pages = page(&view, cursor, 3);
        if pages.entries.end != before {
            return Err(format!("law 8: a page ends at {}, not at {before}", pages.entries.end));
        }
        before = pages.entries.start;
        cursor = pages.next;
        if cursor.is_none() {
            break;
        }
    }
    (before == 0).then_some(()).ok_or_else(|| format!("law 8: no page before entry {before}"))
}

/// The bytes that stay together where an entry is kept: all of it, or its parts where messages are shared.
fn pieces(base: &Request, entry: usize) -> Vec<String> {
    let entry = base.transcript.entry(entry);
    if base.format != wire::Format::Bedrock {
        return vec![entry.raw().to_owned()];
    }
    let is_top = |part: &epitome::transcript::Part<'_>| {
        !part.is(epitome::transcript::Marks::NESTED)
            && part.kind() != PartKind::Link
            && part.kind() != PartKind::Opaque
    };
    entry.parts().filter(is_top).map(|part| part.raw().to_owned()).collect()
}

/// What the model hasn't seen has no giant result.
pub(super) fn intake(shown: &Request, most: u64) -> Result<(), Violation> {
    let counter = epitome::count::counter("o200k").expect("a known name");
    let arrived = shown.transcript.entries().rev().take_while(|e| e.role() != Role::Assistant);
    for part in arrived.flat_map(|entry| entry.parts()) {
        let tokens = counter.text(&part.text()).tokens;
        if part.kind() == PartKind::Result && tokens > most {
            return Err(format!("intake: a result of {tokens} tokens in\n{}", shown.source()));
        }
    }
    Ok(())
}
