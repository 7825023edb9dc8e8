//! A strategy that leaves some entries alone, by what the caller says of them.

use std::ops::Range;
use std::sync::Arc;

use super::{Edit, Scene, Strategy};
use crate::guard::Predicate;

/// Proposes what another strategy does, without what touches the entries that are spared.
#[derive(Clone, Debug)]
pub struct Sparing {
    inner: Arc<dyn Strategy>,
    spared: Predicate,
}

impl Sparing {
    /// `inner`, sparing the entries of which `spared` is true.
    pub fn new(inner: impl Strategy + 'static, spared: Predicate) -> Self {
        Sparing { inner: Arc::new(inner), spared }
    }
}

impl Strategy for Sparing {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn takes_oldest(&self) -> bool {
        self.inner.takes_oldest()
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let transcript = scene.matter.transcript;
        let is_spared = |at: usize| self.spared.is_true_of(&transcript.entry(at));
        let any_spared = |entries: &Range<usize>| entries.clone().any(is_spared);
        let mut edits = self.inner.propose(scene);
        edits.retain(|edit| match edit {
            Edit::Put(put) => !is_spared(transcript.entry_of(put.at)),
            Edit::Together(puts) => !puts.iter().any(|put| is_spared(transcript.entry_of(put.at))),
            Edit::Fold(entries, _) | Edit::Drop(entries, _) => !any_spared(entries),
        });
        edits
    }
}
