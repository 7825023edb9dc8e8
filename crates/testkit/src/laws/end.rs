//! Law 15: the view ends as the input ends.

use epitome::model::Binding;
use epitome::transcript::unit::{Unit, Units};
use epitome::transcript::{Entry, Marks, PartKind, Role};
use epitome::view::{Fate, PartEdit, Put, Reason};
use epitome::{Outcome, Request};

/// The newest unit is shown; a result in it may be an excerpt, but neither a stub nor gone.
///
/// Instructions and stateful notes at the end are no unit of their own here. A turn that binds its thinking to all that
/// stands before it can't stay behind an edit: no provider takes it.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let base = &outcome.base;
    let units = Units::of(&base.transcript, base.format.instructions());
    let counts = |at: &usize| !is_aside(base.transcript.entry(*at));
    let last = units.all().iter().rev().find(|unit| unit.entries.clone().any(|at| counts(&at)));
    let Some(last) = last.filter(|unit| !is_bound(base, unit)) else { return Ok(()) };
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    for at in last.entries.clone().filter(counts) {
        match fates[at] {
            Fate::Keep => {}
            Fate::Edit(edits) => {
                let gone = edits.iter().find(|edit| is_lost(base, edit));
                holds!(gone.is_none(), "of the newest unit, entry {at} lost {gone:?}");
            }
            Fate::Fold(reason) | Fate::Drop(reason) => {
                let is_thought = super::silence::says_nothing(base.transcript.entry(at));
                holds!(
                    is_thought,
                    "entry {at} of {} is in the newest unit and isn't shown: {}",
                    base.transcript.len(),
                    reason.words()
                );
            }
        }
    }
    Ok(())
}

/// Whether it stands at the end without being what the input ends with.
fn is_aside(entry: Entry<'_>) -> bool {
    entry.role().instructs() || entry.role() == Role::Other && entry.is_stateful()
}

/// Whether the unit is in a turn whose signed thinking is bound to what stands before it, by hand.
fn is_bound(base: &Request, unit: &Unit) -> bool {
    let entries = || base.transcript.entries();
    let human = entries().rev().find(|entry| entry.is_human() && !entry.has_results());
    let from = human.map_or(0, |entry| entry.index);
    let is_signed = |entry: Entry<'_>| {
        entry.parts().any(|part| part.kind() == PartKind::Reasoning && part.is(Marks::SIGNED))
    };
    unit.is_step
        && Binding::of(base) == Binding::PrefixManual
        && entries().skip(from).any(is_signed)
}

/// Whether an edit takes words, a call or a result away, or leaves a stub of them.
fn is_lost(base: &Request, edit: &PartEdit) -> bool {
    let is_stub = matches!(
        edit.reason,
        Reason::OldOutput | Reason::Repeated | Reason::Superseded | Reason::FailedCall
    );
    let kind = base.transcript.part(edit.at).kind();
    matches!(kind, PartKind::Text | PartKind::Result | PartKind::Call)
        && (edit.put == Put::Nothing || is_stub)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::laws::made::{edited, made};
    use epitome::Format;
    use epitome::transcript::PartKind;
    use epitome::view::{Put, Reason};

    const LOOP: &str = "user Begin.\nasst call a Read {\"path\":\"x\"}\nres  a = {lines 9}\nasst call b Bash {}\nres  b = {lines 9}\n";

    #[test]
    fn the_newest_unit_is_shown() {
        for format in Format::ALL {
            assert_eq!(check(&made(format, LOOP, "kffkk", Some((3, "1 and 2"))).0), Ok(()));
            let gone = check(&made(format, LOOP, "kffff", Some((5, "1–4"))).0);
            assert!(gone.expect_err("it is folded").contains("entry 3 of 5"), "{format}");
        }
        let noted = format!("{LOOP}dev  Be brief.\n");
        assert_eq!(
            check(&made(Format::OpenaiChat, &noted, "kffkkk", Some((3, "1 and 2"))).0),
            Ok(())
        );
        assert!(check(&made(Format::OpenaiChat, &noted, "kffffk", Some((5, "1–4"))).0).is_err());
    }

    #[test]
    fn its_result_is_an_excerpt_at_most() {
        let (outcome, _) = made(Format::OpenaiChat, LOOP, "kkkkk", None);
        let with = |put: Put, reason| check(&edited(&outcome, 4, PartKind::Result, &put, reason));
        assert_eq!(with(Put::Text("lorem".into()), Reason::TooLarge), Ok(()));
        assert!(with(Put::Text("[elided: Bash → 9 lines]".into()), Reason::OldOutput).is_err());
        assert!(with(Put::Nothing, Reason::TooLarge).is_err());
    }
}
