//! Where a part stands in its entry, however a client writes that entry today.

use serde::{Deserialize, Serialize};

use crate::transcript::{Entry, Marks, Part, PartKind, Slot};

/// A part's place among its like: members of an object come in any order, and a list of one text may be a
/// string, so a number among all parts would be another's tomorrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spot {
    kind: PartKind,
    /// Among the entry's parts of this kind, those inside results apart.
    nth: u32,
    /// Inside that part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inner: Option<u32>,
}

impl Spot {
    /// Where `at` stands in its entry.
    pub(super) fn of(entry: Entry<'_>, at: Slot) -> Option<Spot> {
        spots(entry).find(|(_, part)| part.slot == at).map(|(spot, _)| spot)
    }

    /// The part at this place, if the entry has one.
    pub(super) fn slot(self, entry: Entry<'_>) -> Option<Slot> {
        spots(entry).find(|(spot, _)| *spot == self).map(|(_, part)| part.slot)
    }

    /// Whether it is a result, or is in one.
    pub(super) fn is_of_result(self) -> bool {
        self.kind == PartKind::Result
    }

    /// Whether both are in the same part, or are that part.
    pub(super) fn is_beside(self, other: Spot) -> bool {
        (self.kind, self.nth) == (other.kind, other.nth)
    }
}

/// The parts of an entry with their places, in the order in which they are written.
pub(super) fn spots(entry: Entry<'_>) -> impl Iterator<Item = (Spot, Part<'_>)> {
    let mut seen = [0_u32; KINDS];
    let mut inner = 0;
    let mut top = Spot { kind: PartKind::Opaque, nth: 0, inner: None };
    entry.parts().map(move |part| {
        if part.is(Marks::NESTED) {
            inner += 1;
            return (Spot { inner: Some(inner - 1), ..top }, part);
        }
        let nth = &mut seen[part.kind() as usize];
        top = Spot { kind: part.kind(), nth: *nth, inner: None };
        *nth += 1;
        inner = 0;
        (top, part)
    })
}

const KINDS: usize = PartKind::Link as usize + 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    #[test]
    fn a_place_is_found_again_however_the_entry_is_written() {
        let call = r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
        let written = |message: String| {
            parse(Format::OpenaiChat, format!(r#"{{"messages":[{message}]}}"#)).expect("a message")
        };
        let one = written(format!(
            r#"{{"role":"assistant","reasoning_content":"hm","content":"words","tool_calls":[{call}]}}"#
        ));
        let other = written(format!(
            r#"{{"tool_calls":[{call}],"content":"words","reasoning_content":"hm","role":"assistant"}}"#
        ));
        let (one, other) = (one.transcript.entry(0), other.transcript.entry(0));
        for part in one.parts() {
            let spot = Spot::of(one, part.slot).expect("it is a part of it");
            let again = spot.slot(other).expect("it has one too");
            let again = other.parts().find(|part| part.slot == again).expect("a slot of its own");
            assert_eq!((part.kind(), part.raw_body()), (again.kind(), again.raw_body()));
        }
        assert_eq!(one.parts().count(), 3);
    }

    #[test]
    fn what_is_inside_a_result_is_counted_there() {
        let text = r#"{"type":"text","text":"x"}"#;
        let result =
            format!(r#"{{"type":"tool_result","tool_use_id":"a","content":[{text},{text}]}}"#);
        let body =
            format!(r#"{{"messages":[{{"role":"user","content":[{result},{text},{result}]}}]}}"#);
        let request = parse(Format::Anthropic, body).expect("a message");
        let all: Vec<Spot> = spots(request.transcript.entry(0)).map(|(spot, _)| spot).collect();
        let places: Vec<_> = all.iter().map(|spot| (spot.kind, spot.nth, spot.inner)).collect();
        let (result, text) = (PartKind::Result, PartKind::Text);
        assert_eq!(
            places,
            [
                (result, 0, None),
                (result, 0, Some(0)),
                (result, 0, Some(1)),
                (text, 0, None),
                (result, 1, None),
                (result, 1, Some(0)),
                (result, 1, Some(1)),
            ]
        );
        assert!(all[0].is_beside(all[2]) && !all[0].is_beside(all[3]) && !all[0].is_beside(all[4]));
    }
}
