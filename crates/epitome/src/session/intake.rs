//! A giant result is excerpted when it first arrives: the model hasn't seen it, so that nothing that it
//! was told changes.

use super::conversation::Line;
use super::identity::Chain;
use crate::count::{part_count, put_tokens};
use crate::engine::Compactor;
use crate::request::Request;
use crate::transcript::PartKind;
use crate::view::{Fate, PartEdit, Put};
use crate::working_view::nested;

/// An entry cut on arrival.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) link: usize,
    /// Each cut, with the tokens that it spares.
    pub(super) cuts: Vec<(PartEdit, u64)>,
}

/// What arrives with the links from `known` on, and is larger than `most`: as `intake` cuts it.
pub(super) fn arrivals(
    intake: &Compactor,
    most: u64,
    base: &Request,
    chain: &Chain,
    line: &Line,
    known: usize,
) -> Vec<Arrival> {
    if (known..chain.len()).all(|link| line.link_tokens(link) <= most) {
        return Vec::new();
    }
    // Entries that can't be cut legally arrive as they are.
    let Ok(outcome) = intake.compact(base) else { return Vec::new() };
    if outcome.request.transcript.len() != base.transcript.len() {
        return Vec::new();
    }
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    let counter = intake.counter();
    let spared = |edit: &PartEdit| {
        let part = base.transcript.part(edit.at);
        let Put::Text(text) = &edit.put else { return 0 };
        let left = put_tokens(part.kind(), text, &part.name(), counter);
        let inner = nested(&base.transcript, edit.at).map(|slot| base.transcript.part(slot));
        let inner = inner.filter(|_| part.kind() == PartKind::Result);
        let whole = inner.map(|part| part_count(&part, base.format, counter).tokens).sum::<u64>();
        (whole + part_count(&part, base.format, counter).tokens).saturating_sub(left)
    };
    let arrival = |link: usize| {
        let at = chain.entries()[link];
        // Entries that clients rewrite can't be kept as they were.
        if chain.restated().contains(&at) {
            return None;
        }
        let Fate::Edit(edits) = fates[at] else { return None };
        let cuts = edits.iter().map(|edit| (edit.clone(), spared(edit))).collect();
        Some(Arrival { link, cuts })
    };
    (known..chain.len()).filter_map(arrival).collect()
}
