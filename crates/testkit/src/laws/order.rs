//! Law 14: everything shown after the checkpoint is newer than everything that the checkpoint stands for.

use std::ops::Range;

use epitome::Outcome;
use epitome::transcript::{PartKind, Slot, Transcript};
use epitome::view::Fate;

use super::fidelity::keeps_bytes;

/// Every entry shown after the checkpoint is newer than every folded one, and what is kept stands on its side of it.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let Some(placed) = outcome.view.checkpoint() else { return Ok(()) };
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    let newest = fates.iter().rposition(|fate| matches!(fate, Fate::Fold(_))).unwrap_or(0);
    // Where nothing is shown between them, it stands behind what is folded all the same.
    let older = (placed.before..newest).find(|at| fates[*at].is_shown());
    holds!(
        older.is_none(),
        "entry {newest} is folded into a checkpoint that stands before {older:?}"
    );
    let shown = &outcome.request.transcript;
    let slots = 0..shown.part_count() as u32;
    let is_checkpoint = |slot: &u32| {
        let part = shown.part(Slot(*slot));
        part.kind() == PartKind::Text && part.text() == *placed.text
    };
    let found: Vec<u32> = slots.clone().filter(is_checkpoint).collect();
    let [place] = found[..] else {
        return Err(format!("the checkpoint stands {} times in the request", found.len()));
    };
    let end = fates.len();
    for (side, entries, slots) in [
        ("before", 0..placed.before, 0..place),
        ("after", placed.before..end, place + 1..slots.end),
    ] {
        let kept = entries.filter(|at| matches!(fates[*at], Fate::Keep));
        let missing = missing(&outcome.base.transcript, kept, shown, slots);
        holds!(missing.is_none(), "entry {missing:?} doesn't stand {side} the checkpoint");
    }
    Ok(())
}

/// The first entry of which some part doesn't stand, in order, in these slots of what is shown.
fn missing(
    base: &Transcript,
    mut entries: impl Iterator<Item = usize>,
    shown: &Transcript,
    slots: Range<u32>,
) -> Option<usize> {
    let mut slots = slots.map(|slot| shown.part(Slot(slot)));
    entries.find(|at| {
        !base.entry(*at).parts().all(|part| slots.any(|other| keeps_bytes(&part, &other)))
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::laws::made::made;
    use epitome::Format;

    const TALK: &str = "user Begin.\nasst One.\nuser Two.\nasst Three.\nuser Four.\n";

    #[test]
    fn what_is_folded_is_older_than_what_follows() {
        for format in Format::ALL {
            assert_eq!(check(&made(format, TALK, "kfffk", Some((4, "1–3"))).0), Ok(()), "{format}");
            assert_eq!(check(&made(format, TALK, "kfkfk", Some((4, "1 and 3"))).0), Ok(()));
            let early = check(&made(format, TALK, "kffkf", Some((3, "1, 2 and 4"))).0);
            assert!(early.expect_err("it is folded later").contains("before Some(3)"));
        }
    }

    #[test]
    fn the_request_has_the_order_of_the_view() {
        let (mut outcome, _) = made(Format::OpenaiChat, TALK, "kfffk", Some((4, "1–3")));
        let (other, _) = made(Format::OpenaiChat, TALK, "kfffk", Some((0, "1–3")));
        outcome.request = other.request;
        assert!(check(&outcome).expect_err("it stands too early").contains("doesn't stand before"));
        let (whole, _) = made(Format::OpenaiChat, TALK, "kkkkk", None);
        outcome.request = whole.request;
        assert!(check(&outcome).expect_err("it is gone").contains("0 times"));
    }
}
