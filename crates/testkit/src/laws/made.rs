//! Outcomes made by hand, for the tests of the laws.

use epitome::transcript::PartKind;
use epitome::view::{Fate, PartEdit, Placed, Put, Reason, View};
use epitome::{Compactor, Format, Outcome, wire};

use crate::notation;

/// A view of what is drawn, with a letter for the fate of each entry (`k`eep, `f`old, `d`rop), and a checkpoint before
/// that entry: all of it, or where it has no fence the messages that its one line says it stands for.
pub(super) fn made(
    format: Format,
    drawn: &str,
    fates: &str,
    checkpoint: Option<(usize, &str)>,
) -> (Outcome, Compactor) {
    let request = notation::parse(format, drawn);
    let compactor = crate::compactor(crate::to_percent(100), "o200k");
    let mut outcome = compactor.compact(&request).expect("a view");
    let mut view = View::default();
    for fate in fates.chars() {
        view.push(match fate {
            'k' => Fate::Keep,
            'f' => Fate::Fold(Reason::OlderStep),
            'd' => Fate::Drop(Reason::LastResort),
            other => panic!("no such fate: {other}"),
        });
    }
    assert_eq!(view.len(), outcome.base.transcript.len(), "a fate for each entry");
    if let Some((before, text)) = checkpoint {
        let line = format!(
            "<checkpoint X>\nIt stands for messages {text}, for reference; not a new request.\n</checkpoint X>"
        );
        let text = if text.starts_with('<') { text.into() } else { line.into() };
        view.place(Placed { before, text });
    }
    render(&mut outcome, view);
    (outcome, compactor)
}

/// The same with one more edit of its view: of the first part of this kind in the entry.
pub(super) fn edited(
    outcome: &Outcome,
    entry: usize,
    kind: PartKind,
    put: &Put,
    reason: Reason,
) -> Outcome {
    let mut outcome = outcome.clone();
    let part = outcome.base.transcript.entry(entry).parts().find(|part| part.kind() == kind);
    let at = part.expect("the entry has such a part").slot;
    let mut view = View::default();
    for (at_entry, fate) in outcome.view.fates().enumerate() {
        let edits = [PartEdit { at, put: put.clone(), reason }];
        view.push(if at_entry == entry { Fate::Edit(Box::new(edits)) } else { fate.clone() });
    }
    if let Some(placed) = outcome.view.checkpoint() {
        view.place(placed.clone());
    }
    render(&mut outcome, view);
    outcome
}

/// Shows what the view says.
pub(super) fn render(outcome: &mut Outcome, view: View) {
    let text = wire::render(&outcome.base, &view);
    outcome.request = wire::parse(outcome.base.format, text).expect("a view is a request");
    outcome.view = view;
}
