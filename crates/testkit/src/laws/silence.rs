//! Law 17: nothing vanishes in silence.

use epitome::Outcome;
use epitome::transcript::{Entry, Part, PartKind};
use epitome::view::{Fate, Put};

use super::log::Log;

/// What is hidden has a checkpoint, or a note in its own entry; and the checkpoint says which messages it stands for.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let transcript = &outcome.base.transcript;
    let Some(placed) = outcome.view.checkpoint() else {
        for (entry, fate) in transcript.entries().zip(outcome.view.fates()) {
            match fate {
                Fate::Fold(reason) | Fate::Drop(reason) => holds!(
                    says_nothing(entry),
                    "entry {} left without a word: {}",
                    entry.index,
                    reason.words()
                ),
                Fate::Edit(edits) => {
                    let is_note =
                        |put: &Put| matches!(put, Put::Text(text) if text.starts_with('['));
                    let is_noted = edits.iter().any(|edit| is_note(&edit.put));
                    let mut gone = edits.iter().filter(|edit| edit.put == Put::Nothing);
                    let lost = gone.find(|edit| says(&transcript.part(edit.at)));
                    holds!(
                        is_noted || lost.is_none(),
                        "entry {} lost {lost:?} without a word",
                        entry.index
                    );
                }
                Fate::Keep => {}
            }
        }
        return Ok(());
    };
    let log = Log::of(&placed.text);
    holds!(!log.messages().is_empty(), "the checkpoint doesn't say which messages it stands for");
    if !is_first(outcome) {
        return Ok(());
    }
    for (entry, fate) in transcript.entries().zip(outcome.view.fates()) {
        let stands = log.stands_for(entry.index);
        match fate {
            Fate::Keep | Fate::Edit(_) => {
                holds!(
                    !stands,
                    "the checkpoint says that it stands for {}, which is shown",
                    entry.index
                );
            }
            Fate::Fold(_) | Fate::Drop(_) => holds!(
                stands || says_nothing(entry),
                "the checkpoint doesn't say that it stands for {}",
                entry.index
            ),
        }
    }
    Ok(())
}

/// Whether numbers of messages are those of the entries: no checkpoint stands for some of before, and no repair moved any.
pub(super) fn is_first(outcome: &Outcome) -> bool {
    let entries = outcome.base.transcript.entries();
    let has_earlier =
        entries.flat_map(|entry| entry.parts()).any(|part| part.text().starts_with("<checkpoint "));
    let is_in_place = outcome.came_from.iter().enumerate().all(|(at, from)| *from == Some(at));
    !has_earlier && is_in_place
}

/// Whether nothing is lost where the entry is gone: it is empty, or reasoning.
pub(super) fn says_nothing(entry: Entry<'_>) -> bool {
    !entry.parts().any(|part| says(&part))
}

/// Whether something is lost where the part is gone. Reasoning and an entry's own id are no loss.
fn says(part: &Part<'_>) -> bool {
    match part.kind() {
        PartKind::Reasoning | PartKind::Link => false,
        PartKind::Text => !part.text().trim().is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::laws::made::{edited, made};
    use epitome::Format;
    use epitome::transcript::PartKind;
    use epitome::view::{Put, Reason};

    const TALK: &str = "user Begin.\nasst One.\nuser Two.\nasst Three.\nuser Four.\n";

    #[test]
    fn what_is_hidden_has_a_checkpoint_that_names_it() {
        for format in Format::ALL {
            let of = |fates, checkpoint| check(&made(format, TALK, fates, checkpoint).0);
            assert_eq!(of("kkkkk", None), Ok(()));
            assert_eq!(of("kfdfk", Some((4, "1–3"))), Ok(()));
            assert!(of("kkddk", None).expect_err("silence").contains("entry 2 left"), "{format}");
            assert!(
                of("kfffk", Some((4, "1–2"))).expect_err("3 is missing").contains("stands for 3")
            );
            assert!(
                of("kfffk", Some((4, "1–4"))).expect_err("4 is shown").contains("which is shown")
            );
            assert!(of("kfffk", Some((4, "some"))).is_err());
        }
    }

    #[test]
    fn a_part_that_leaves_has_a_note_in_its_entry() {
        let drawn = "user Begin.\nasst think* hm | Well. | call a Read {}\nres  a = {lines 9}\n";
        let (outcome, _) = made(Format::Anthropic, drawn, "kkk", None);
        let without = |kind| check(&edited(&outcome, 1, kind, &Put::Nothing, Reason::LastResort));
        assert_eq!(without(PartKind::Reasoning), Ok(()));
        assert!(without(PartKind::Text).expect_err("silence").contains("entry 1 lost"));
        let stub = Put::Text("[elided: 9 lines]".into());
        let stubbed = edited(&outcome, 2, PartKind::Result, &stub, Reason::OldOutput);
        assert_eq!(check(&stubbed), Ok(()));
    }
}
