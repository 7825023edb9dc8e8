//! An archive whose finds somebody puts into a better order.

use std::collections::HashSet;
use std::fmt;

use super::{Archive, ArchiveError, Kept, Original, Shown};
use crate::recall::{Found, Reranker};
use crate::transcript::ContentId;

/// An archive that finds by words and has a [`Reranker`] say which of it answers best.
///
/// ```
/// use epitome::archive::{Archive, MemoryArchive, Reranked};
/// use epitome::recall::Found;
///
/// // What was said last answers best.
/// let newest_first = |_: &str, mut found: Vec<Found>| {
///     found.sort_by_key(|one| std::cmp::Reverse(one.entry));
///     found
/// };
/// let archive = Reranked::new(MemoryArchive::default(), newest_first, 50);
/// assert!(archive.search("port", 5)?.is_empty(), "nothing is kept yet");
/// # Ok::<(), epitome::archive::ArchiveError>(())
/// ```
pub struct Reranked<A, R> {
    archive: A,
    reranker: R,
    depth: usize,
}

impl<A: Archive, R: Reranker> Reranked<A, R> {
    /// `archive`, of whose finds the best `depth` are put into order by `reranker`; more where more are asked for.
    pub fn new(archive: A, reranker: R, depth: usize) -> Self {
        Reranked { archive, reranker, depth }
    }

    /// The archive itself.
    pub fn into_inner(self) -> A {
        self.archive
    }
}

impl<A: fmt::Debug, R> fmt::Debug for Reranked<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Reranked");
        shown.field("archive", &self.archive).field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl<A: Archive, R: Reranker> Archive for Reranked<A, R> {
    fn search(&self, words: &str, limit: usize) -> Result<Vec<Found>, ArchiveError> {
        let found = self.archive.search(words, limit.max(self.depth))?;
        let known: HashSet<ContentId> = found.iter().map(|one| one.id).collect();
        let mut best = self.reranker.rerank(words, found);
        // What nobody found isn't there to be had.
        best.retain(|one| known.contains(&one.id));
        best.truncate(limit);
        Ok(best)
    }

    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        self.archive.put(originals)
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        self.archive.get(id)
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        self.archive.head()
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        self.archive.commit(parent, shown)
    }

    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError> {
        self.archive.go(from, to)
    }

    fn view(&self, number: u64) -> Result<Option<Kept>, ArchiveError> {
        self.archive.view(number)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        self.archive.history()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{About, MemoryArchive};
    use crate::transcript::{Origin, Role};

    fn original(entry: usize, words: &str) -> Original {
        let about = About {
            role: Role::User,
            origin: Origin::Human,
            turn: 1,
            tool: None,
            at: None,
            recalled: Vec::new(),
        };
        let bytes = format!("{{\"content\":\"{words}\"}}");
        Original { id: ContentId::of_text(&bytes), entry, bytes, about, words: words.to_owned() }
    }

    #[test]
    fn the_reranker_decides_among_more_than_are_asked_for() {
        let archive = MemoryArchive::default();
        let said: Vec<Original> = (0..20)
            .map(|at| original(at, &format!("{} number {at}", "port ".repeat(20 - at))))
            .collect();
        archive.put(&said).expect("memory takes all");
        let by_words = archive.search("port", 2).expect("searchable");
        let newest = |_: &str, mut found: Vec<Found>| {
            found.sort_by_key(|one| std::cmp::Reverse(one.entry));
            found
        };
        let reranked = Reranked::new(archive, newest, 20);
        let found = reranked.search("port", 2).expect("searchable");
        assert_eq!(found.iter().map(|one| one.entry).collect::<Vec<_>>(), [19, 18]);
        assert_ne!(found, by_words);
        assert_eq!(reranked.search("port", 50).expect("searchable").len(), 20);
        assert_eq!(reranked.get(said[3].id).expect("readable"), Some(said[3].bytes.clone()));
    }

    #[test]
    fn what_was_not_found_is_not_told() {
        let archive = MemoryArchive::default();
        archive.put(&[original(1, "the port is 5433"), original(2, "other words")]).expect("kept");
        let invents = |_: &str, mut found: Vec<Found>| {
            found.push(Found::new(&original(9, "made up"), 99.0));
            found.reverse();
            found
        };
        let found = Reranked::new(archive, invents, 5).search("port", 5).expect("searchable");
        assert_eq!(found.iter().map(|one| one.entry).collect::<Vec<_>>(), [1]);
    }
}
