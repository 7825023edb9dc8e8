//! Thinking without a signature. Claude refuses it, so it leaves where an Anthropic request is for Claude; other models behind
//! the same format have none.

use crate::json::{Splices, quote};
use crate::request::{Format, Request};
use crate::transcript::{Entry, Role};
use crate::view::{Fate, PartEdit, Put, Reason, View};
use crate::wire::neutral::{Loss, Lost};
use crate::wire::{parse, render};

/// The request's text without it, and what left.
pub(super) fn without(request: &Request, model: Option<&str>) -> (String, Vec<Lost>) {
    let named = model.map(str::to_owned).or_else(|| request.model());
    if named.is_some_and(|model| !model.contains("claude")) {
        return (request.source().to_string(), Vec::new());
    }
    let mut view = View::whole(0);
    let mut lost = Vec::new();
    for entry in request.transcript.entries() {
        let edits = unsigned(entry);
        lost.extend(edits.iter().map(|_| Lost::new(Some(entry.index), Loss::Reasoning, "")));
        view.push(match edits.len() {
            0 => Fate::Keep,
            all if all == entry.parts().len() => Fate::Drop(Reason::Emptied),
            _ => Fate::Edit(edits.into()),
        });
    }
    if lost.is_empty() {
        return (request.source().to_string(), lost);
    }
    let text = render(request, &view);
    match model.filter(|model| request.model().is_some_and(|own| own != *model)) {
        Some(model) => {
            lost.push(Lost::new(None, Loss::Model, request.model().unwrap_or_default()));
            (for_model(request.format, text, model), lost)
        }
        None => (text, lost),
    }
}

/// The same body for another model.
fn for_model(format: Format, text: String, model: &str) -> String {
    let named = parse(format, text).expect("what is written is JSON of the format");
    let mut splices = Splices::default();
    splices.replace(named.frame.model, quote(model));
    splices.apply(named.source())
}

fn unsigned(entry: Entry<'_>) -> Vec<PartEdit> {
    let speaks = entry.role() == Role::Assistant;
    let parts = entry.parts().filter(move |part| speaks && part.is_unsigned_reasoning());
    let gone = |at| PartEdit { at, put: Put::Nothing, reason: Reason::OldReasoning };
    parts.map(|part| gone(part.slot)).collect()
}
