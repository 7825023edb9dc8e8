//! An archive that keeps no secrets.

use super::{Archive, ArchiveError, FoundOriginal, KeptView, Original, Shown};
use crate::text::secrets::{masked, masked_document};
use crate::transcript::ContentId;

/// An archive that masks secrets before it keeps anything. A text with a secret comes back with other bytes and
/// another id.
#[derive(Clone, Debug)]
pub struct Redacted<A>(pub A);

impl Original {
    /// The same with its secrets masked, under the id of what is left.
    #[must_use]
    pub fn redacted(&self) -> Original {
        let bytes = masked_document(&self.bytes).into_owned();
        let id = ContentId::of_text(&bytes);
        Original { id, bytes, words: masked(&self.words).into_owned(), ..self.clone() }
    }
}

impl Shown {
    /// The same with its secrets masked.
    #[must_use]
    pub fn redacted(&self) -> Shown {
        let [text, receipt] =
            [&self.text, &self.receipt].map(|json| masked_document(json).into_owned());
        Shown { text, receipt, ..self.clone() }
    }
}

impl<A: Archive> Archive for Redacted<A> {
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        self.0.put(&originals.iter().map(Original::redacted).collect::<Vec<_>>())
    }

    fn commit(&self, parent: u64, shown: &Shown) -> Result<u64, ArchiveError> {
        self.0.commit(parent, &shown.redacted())
    }

    fn get(&self, id: ContentId) -> Result<Option<String>, ArchiveError> {
        self.0.get(id)
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<FoundOriginal>, ArchiveError> {
        self.0.search(words, limit)
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        self.0.head()
    }

    fn go(&self, from: u64, to: u64) -> Result<(), ArchiveError> {
        self.0.go(from, to)
    }

    fn view(&self, number: u64) -> Result<Option<KeptView>, ArchiveError> {
        self.0.view(number)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        self.0.history()
    }
}
