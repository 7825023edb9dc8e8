//! The edits of a working view, found by their slots in one step: strategies ask of each part again and again. Each with its
//! tokens, which are counted once.

use std::ops::Range;

use crate::transcript::Slot;
use crate::view::PartEdit;

/// At most one edit for each slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    /// For each slot up to the last one that was edited which of `made` is its edit, counted from 1; 0 where none is.
    places: Vec<u32>,
    made: Vec<Made>,
}

#[derive(Clone, Debug)]
struct Made {
    edit: PartEdit,
    tokens: u64,
}

impl Edits {
    pub(super) fn get(&self, slot: Slot) -> Option<&PartEdit> {
        self.made_at(slot).map(|made| &made.edit)
    }

    /// Tokens of the part as it is edited.
    pub(super) fn tokens(&self, slot: Slot) -> Option<u64> {
        self.made_at(slot).map(|made| made.tokens)
    }

    fn made_at(&self, slot: Slot) -> Option<&Made> {
        let place = self.places.get(slot.0 as usize)?;
        self.made.get(place.checked_sub(1)? as usize)
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        self.places.get(slot.0 as usize).is_some_and(|place| *place > 0)
    }

    /// Makes an edit, in the place of the one that its slot has.
    pub(super) fn insert(&mut self, edit: PartEdit, tokens: u64) {
        let at = edit.at.0 as usize;
        let made = Made { edit, tokens };
        if self.places.len() <= at {
            self.places.resize(at + 1, 0);
        }
        match self.places[at] {
            0 => {
                self.made.push(made);
                self.places[at] = self.made.len() as u32;
            }
            place => self.made[place as usize - 1] = made,
        }
    }

    /// Takes the slot's edit back, and its tokens.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<(PartEdit, u64)> {
        let place = std::mem::take(self.places.get_mut(slot.0 as usize)?);
        let at = place.checked_sub(1)? as usize;
        let gone = self.made.swap_remove(at);
        if let Some(moved) = self.made.get(at) {
            self.places[moved.edit.at.0 as usize] = place;
        }
        Some((gone.edit, gone.tokens))
    }

    /// The edits of these slots, in their order.
    pub(super) fn of(&self, slots: Range<u32>) -> impl Iterator<Item = &PartEdit> {
        let end = self.places.len().min(slots.end as usize);
        let places = self.places.get(slots.start as usize..end).unwrap_or_default();
        let made = places.iter().filter_map(|place| self.made.get(place.checked_sub(1)? as usize));
        made.map(|made| &made.edit)
    }

    /// The slots that are edited, in order.
    pub(super) fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> {
        let places = self.places.iter().enumerate();
        places.filter(|(_, place)| **place > 0).map(|(at, _)| Slot(at as u32))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::view::{Put, Reason};
    use proptest::prelude::*;

    fn edit(at: u32, words: u8) -> PartEdit {
        let put = Put::Text(words.to_string().into());
        PartEdit { at: Slot(at), put, reason: Reason::OldOutput }
    }

    proptest! {
        #[test]
        fn edits_behave_like_a_map(steps in prop::collection::vec((0..12_u32, any::<u8>(), any::<bool>()), 0..40)) {
            let (mut edits, mut map) = (Edits::default(), BTreeMap::new());
            for (at, words, is_made) in steps {
                if is_made {
                    edits.insert(edit(at, words), u64::from(words));
                    map.insert(Slot(at), (edit(at, words), u64::from(words)));
                } else {
                    prop_assert_eq!(edits.remove(Slot(at)), map.remove(&Slot(at)));
                }
                prop_assert!(edits.slots().eq(map.keys().copied()));
                for at in 0..13 {
                    let made = edits.get(Slot(at)).cloned().zip(edits.tokens(Slot(at)));
                    prop_assert_eq!(made.as_ref(), map.get(&Slot(at)));
                    prop_assert_eq!(edits.has(Slot(at)), map.contains_key(&Slot(at)));
                    let behind = map.range(Slot(at)..).map(|(_, (edit, _))| edit);
                    prop_assert!(edits.of(at..13).eq(behind));
                }
            }
        }
    }
}
