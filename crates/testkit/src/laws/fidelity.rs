//! What is kept keeps its bytes.

use epitome::Outcome;
use epitome::transcript::{Marks, Part, PartKind};
use epitome::view::{Fate, PartEdit, Put};
use epitome::wire::{self, Piece};

/// Law 3: kept entries keep their bytes, edited ones differ in edited slots only; in a message that is shared
/// both keep their elements.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let (base, shown) = (&outcome.base.transcript, &outcome.request.transcript);
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    let laid = wire::layout(&outcome.base, &outcome.view);
    let mut messages = 0;
    for pieces in laid.chunk_by(|a, b| a.message == b.message) {
        same!(pieces[0].message, messages);
        let out = shown.entry(messages);
        messages += 1;
        let mut parts = out.parts().peekable();
        for piece in pieces.iter().map(|laid| laid.piece) {
            let count = elements(outcome, piece);
            let mut own: Vec<Part<'_>> = Vec::new();
            for _ in 0..count {
                own.extend(parts.next());
                own.extend(std::iter::from_fn(|| parts.next_if(|part| part.is(Marks::NESTED))));
            }
            match piece {
                Piece::Checkpoint => {
                    let text = outcome.view.checkpoint().map(|placed| placed.text.to_string());
                    same!(own.first().map(|part| part.text().into_owned()), text);
                }
                Piece::Entry(at) => match fates[at] {
                    Fate::Edit(edits) => edited(base.entry(at).parts(), own.into_iter(), edits)?,
                    _ if pieces.len() == 1 => same!(base.entry(at).raw(), out.raw()),
                    _ => {
                        let kept: Vec<Part<'_>> = base.entry(at).parts().collect();
                        same!(kept.len(), own.len());
                        let mut pairs = kept.iter().zip(&own);
                        let strange = pairs.find(|(part, shown)| !keeps_bytes(part, shown));
                        let raw = strange.map(|(part, _)| part.raw());
                        holds!(raw.is_none(), "{raw:?} has changed in a message that is shared");
                    }
                },
            }
        }
        if pieces.len() > 1 {
            holds!(parts.next().is_none(), "nothing is in a message that isn't shown");
        }
    }
    same!(shown.len(), messages);
    Ok(())
}

/// Whether a part keeps its bytes: what was a whole string may stand as a text among others.
pub(super) fn keeps_bytes(base: &Part<'_>, shown: &Part<'_>) -> bool {
    let is_string = base.raw() == base.raw_body();
    base.raw() == shown.raw() || (is_string && base.raw() == shown.raw_body())
}

/// How many elements a piece has in its message; those of a result are in it.
fn elements(outcome: &Outcome, piece: Piece) -> usize {
    let Piece::Entry(at) = piece else { return 1 };
    let fate = outcome.view.fates().nth(at).expect("it is shown");
    let is_gone = |part: &Part<'_>| match fate {
        Fate::Edit(edits) => {
            edits.iter().any(|edit| edit.at == part.slot && edit.put == Put::Nothing)
        }
        _ => false,
    };
    let parts = outcome.base.transcript.entry(at).parts();
    parts.filter(|part| !part.is(Marks::NESTED) && !is_gone(part)).count()
}

fn edited<'a>(
    before: impl Iterator<Item = Part<'a>>,
    after: impl Iterator<Item = Part<'a>>,
    edits: &[PartEdit],
) -> Result<(), String> {
    // Whether an item's own id stands before its result or behind depends on the result's shape.
    let is_link = |part: &Part<'_>| part.kind() == PartKind::Link;
    let (links, before): (Vec<_>, Vec<_>) = before.partition(is_link);
    let (links_after, after): (Vec<_>, Vec<_>) = after.partition(is_link);
    let stays = |part: &&Part<'_>| edits.iter().all(|edit| edit.at != part.slot);
    let links: Vec<&str> = links.iter().filter(stays).map(Part::raw).collect();
    same!(links, links_after.iter().map(Part::raw).collect::<Vec<_>>());
    let mut after = after.into_iter().peekable();
    let mut in_replaced = false;
    // Where a list of one text is the only way to say words, what was left of a list may be one.
    let mut single: Option<Part<'_>> = None;
    for part in before {
        let edit = edits.iter().find(|edit| edit.at == part.slot);
        if part.is(Marks::NESTED) && in_replaced {
            continue;
        }
        if !part.is(Marks::NESTED) {
            in_replaced = edit.is_some() && part.kind() == PartKind::Result;
            single = None;
        }
        if edit.is_some_and(|edit| edit.put == Put::Nothing) {
            continue;
        }
        if let Some(result) = &single {
            let said = match edit.map(|edit| &edit.put) {
                Some(Put::Text(text)) => text.to_string(),
                _ => part.text().into_owned(),
            };
            same!(said, result.text());
            continue;
        }
        let out = after.next();
        holds!(out.is_some(), "a part is missing");
        let out = out.expect("it was just looked at");
        match edit.map(|edit| &edit.put) {
            Some(Put::Text(text)) => {
                let mut said = out.text().into_owned();
                // A shell's output says words as a list.
                if out.kind() == PartKind::Result && !part.is(Marks::LITERAL) {
                    let nested: String = std::iter::from_fn(|| {
                        after.next_if(|next| next.is(Marks::NESTED)).map(|next| next.text())
                    })
                    .collect();
                    said = if nested.is_empty() { said } else { nested };
                }
                same!(said, text.to_string());
            }
            Some(_) => {}
            None if part.kind() == PartKind::Result => {
                same!(part.id(), out.id());
                single = (out.is(Marks::LITERAL) && !part.is(Marks::LITERAL)).then_some(out);
            }
            None => same!(part.raw(), out.raw()),
        }
    }
    Ok(())
}
