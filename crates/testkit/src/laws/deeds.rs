//! Law 16: what was done since the newest human message is shown or named.

use std::collections::HashMap;

use epitome::checkpoint::only_reads;
use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, Marks, Part, PartKind, Role};
use epitome::view::{Fate, Put};
use epitome::{Compactor, Outcome};

use super::deed::Deed;
use super::log::{Lane, Log};
use super::room::has_room;

/// Every hidden call since the newest human message that may have changed something is named among what was done: its tool,
/// and what it was done to. Of older ones, unless they failed, the tool is.
///
/// What it was done to may be missing in a view that has no room for one more line, in a checkpoint without notes and names (see
/// [`has_room`]).
pub(super) fn check(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let transcript = &outcome.base.transcript;
    let newest = transcript.entries().rev().find(Entry::is_human).map_or(0, |entry| entry.index);
    let log = outcome.view.checkpoint().map(|placed| Log::of(&placed.text)).unwrap_or_default();
    let done = log.lane(Lane::Done).unwrap_or_default();
    let units = Units::of(transcript, outcome.base.format.instructions());
    let pairs = units.pairs().iter();
    let results: HashMap<_, _> = pairs.filter_map(|pair| Some((pair.call, pair.result?))).collect();
    let entries = transcript.entries().zip(outcome.view.fates());
    for (entry, fate) in entries.filter(|(entry, _)| entry.role() != Role::Other) {
        for call in entry.parts().filter(|part| part.kind() == PartKind::Call) {
            let is_hidden = match fate {
                Fate::Keep => false,
                Fate::Edit(edits) => {
                    edits.iter().any(|edit| edit.at == call.slot && edit.put == Put::Nothing)
                }
                Fate::Fold(_) | Fate::Drop(_) => true,
            };
            let deed = Deed::of(&call);
            if !is_hidden || deed.only_reads() {
                continue;
            }
            let result = results.get(&call.slot).map(|slot| transcript.part(*slot));
            let is_made = result.is_some_and(|result| !may_have_failed(&result));
            if is_made && matches!(fate, Fate::Fold(_)) && !only_reads(&call.name()) {
                let named = done.contains(&*call.name());
                holds!(named, "nothing names the tool of {deed}");
            }
            if entry.index <= newest || done.lines().any(|line| deed.is_named_in(line)) {
                continue;
            }
            let line = format!("[{}] {deed} → ok", entry.index);
            holds!(!has_room(outcome, compactor, &line), "nothing names {line}");
        }
    }
    Ok(())
}

/// Whether a result is an error, or its words are of one.
fn may_have_failed(result: &Part<'_>) -> bool {
    let text = result.text().to_lowercase();
    result.is(Marks::ERROR)
        || ["error", "fail", "exit", "not "].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::laws::made::made;
    use epitome::Format;

    const LOOP: &str = "user Book it.\nasst call a update_seat {\"id\":\"JG7FMM\"}\nres  a = {lorem 90}\n\nasst call b update_seat {\"id\":\"LQ940Q\"}\nres  b = {lorem 90}\n\nasst call c get_seat {\"id\":\"X7BYG1\"}\nres  c = {lorem 90}\n\nasst Done.\n";

    #[test]
    fn hidden_deeds_are_in_the_checkpoint() {
        let said = |lanes: &str| {
            format!("<checkpoint X>\nIt stands for messages 1–6.\n{lanes}</checkpoint X>")
        };
        let of = |lanes: &str, after: u64| {
            let text = said(lanes);
            let (mut outcome, compactor) =
                made(Format::OpenaiChat, LOOP, "kffffffk", Some((7, &text)));
            outcome.receipt.target = outcome.receipt.after.count.tokens + after;
            check(&outcome, &compactor)
        };
        let (one, two) = ("[1] update_seat(id=JG7FMM) → ok\n", "[3] update_seat(id=LQ940Q) → ok\n");
        let done = |lines: &str| format!("\nWhat was done\n{lines}");
        assert_eq!(of(&done(&format!("{one}{two}")), 900), Ok(()));
        assert!(of(&done(one), 900).expect_err("one is missing").contains("LQ940Q"));
        assert!(of("", 900).is_err());
        assert!(of("\nNotes\n[1] update_seat JG7FMM, LQ940Q\n", 900).is_err());
        // Without room for another line some are left out, but not while notes or names stand.
        assert_eq!(of(&done(one), 2), Ok(()));
        assert!(of(&format!("{}\nNotes\n[2] x\n", done(one)), 2).is_err());
        let (whole, compactor) = made(Format::OpenaiChat, LOOP, "kkkkkkkk", None);
        assert_eq!(check(&whole, &compactor), Ok(()));
    }
}
