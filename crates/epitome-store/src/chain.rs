//! What a transcript is up to each of its entries: how a longer one is known again.

use epitome::Request;
use epitome::transcript::ContentId;

/// The digest of everything up to an entry.
pub(crate) type Link = [u8; 16];

/// What a transcript is up to each of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain(pub(crate) Vec<Link>);

impl Chain {
    /// That of a request's transcript.
    pub fn of(request: &Request) -> Self {
        let mut before = blake3::hash(request.format.name().as_bytes());
        let links = request.transcript.entries().map(|entry| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(before.as_bytes());
            // Clients move cache markers about; that makes no other conversation.
            hasher.update(entry.content_id().as_bytes());
            before = hasher.finalize();
            *before.as_bytes().first_chunk().expect("a digest is longer")
        });
        Chain(links.collect())
    }
}

/// The name of a conversation that begins so, read again or not.
pub(crate) fn name(links: &[Link], raw: &[u8]) -> String {
    match links.last() {
        Some(link) => ContentId::of_bytes(link).short(),
        None => ContentId::of_bytes(raw).short(),
    }
}
