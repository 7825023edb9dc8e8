//! An archive in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Archive, ArchiveError, FoundOriginal, KeptView, Original, Shown};
use crate::text::rank::Bm25;
use crate::transcript::ContentId;

/// An archive in memory.
#[derive(Debug, Default)]
pub struct MemoryArchive(Mutex<Kepts>);

#[derive(Debug, Default)]
struct Kepts {
    originals: BTreeMap<ContentId, Original>,
    views: Vec<KeptView>,
    head: u64,
}

impl MemoryArchive {
    /// A panic leaves nothing half done: each change is the last step of a call.
    fn kept(&self) -> MutexGuard<'_, Kepts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kepts {
    fn follows(&self, parent: u64) -> Result<(), ArchiveError> {
        if parent == self.head {
            return Ok(());
        }
        Err(ArchiveError::Conflict { parent, head: self.head })
    }
}

impl Archive for MemoryArchive {
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        let mut kept = self.kept();
        for original in originals {
            kept.originals.entry(original.id).or_insert_with(|| original.clone());
        }
        Ok(())
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        Ok(self.kept().originals.get(&id).map(|original| original.bytes.clone()))
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundOriginal>, ArchiveError> {
        let kept = self.kept();
        let mut originals: Vec<&Original> = kept.originals.values().collect();
        originals.sort_by_key(|original| original.entry);
        let index = Bm25::new(originals.iter().map(|original| original.words.as_str()));
        let hits = index.search(words, limit);
        let found = hits.iter().map(|hit| FoundOriginal::new(originals[hit.index], hit.score));
        Ok(found.collect())
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        Ok(self.kept().head)
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        let mut kept = self.kept();
        kept.follows(parent)?;
        let number = kept.views.len() as u64 + 1;
        kept.views.push(KeptView { number, parent, shown: shown.clone() });
        kept.head = number;
        Ok(number)
    }

    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError> {
        let mut kept = self.kept();
        kept.follows(from)?;
        if to > kept.views.len() as u64 {
            return Err(ArchiveError::NoSuchView { view: to });
        }
        kept.head = to;
        Ok(())
    }

    fn view(&self, number: u64) -> Result<Option<KeptView>, ArchiveError> {
        let before = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        Ok(before.and_then(|at| self.kept().views.get(at).cloned()))
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        Ok(self.kept().views.iter().map(|view| (view.number, view.parent)).collect())
    }
}
