//! How links were written when they came before: what comes in the same bytes again needn't be understood
//! again.

use std::sync::Arc;

use super::alike::Linked;
use super::chain::{Chain, ChainKey, Hash, PrefixId, link};
use crate::count::ByHash;
use crate::request::Request;
use crate::transcript::Entry;

/// The bytes of an entry behind a link, hashed with the machine's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ByteKey(u128);

impl ByteKey {
    fn of(key: ChainKey, before: PrefixId, entry: Entry<'_>) -> Self {
        ByteKey(Hash::new(key).follow(before).text(entry.raw()).number())
    }
}

/// The links that entries were found to be, by their bytes. What wasn't met for long is forgotten: cache
/// markers move, so an entry is written in more than one way.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    young: ByHash<ByteKey, PrefixId>,
    old: ByHash<ByteKey, PrefixId>,
}

/// Links that may be remembered besides the known ones.
const SPARE: usize = 1_024;

impl Written {
    /// The chain of a request, in a machine that knows `links` links, that of its first entries, and `linked` requests.
    pub(super) fn chain(
        &mut self,
        request: &Request,
        tenant: &str,
        key: ChainKey,
        (links, first, mut linked): (usize, Option<(usize, Arc<Chain>)>, Linked<'_>),
    ) -> Arc<Chain> {
        let (known, first) = first.unwrap_or_default();
        let find = |place, before, entry: Entry<'_>| {
            if let Some(known) = linked.link(place, before, request.format, entry) {
                return known;
            }
            let bytes = ByteKey::of(key, before, entry);
            if let Some(known) = self.young.get(&bytes) {
                return *known;
            }
            let known = self.old.remove(&bytes);
            let id = known.unwrap_or_else(|| link(key, before, request.format, entry));
            self.young.insert(bytes, id);
            id
        };
        let chain = Arc::unwrap_or_clone(first).going_on(known, request, tenant, key, find);
        if self.young.len() > links.max(chain.len()) + SPARE {
            self.old = std::mem::take(&mut self.young);
        }
        Arc::new(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

    fn request(words: &[String]) -> Request {
        let messages: Vec<String> =
            words.iter().map(|word| format!(r#"{{"role":"user","content":"{word}"}}"#)).collect();
        parse(Format::OpenaiChat, format!("[{}]", messages.join(","))).expect("messages")
    }

    #[test]
    fn bytes_that_came_before_are_the_same_links_and_others_may_be() {
        let mut written = Written::default();
        let words = ["a", "b", "c"].map(str::to_owned);
        let first = written.chain(&request(&words), "", KEY, (0, None, Linked::default()));
        assert_eq!(first.ids(), Chain::of(&request(&words), "", KEY).ids());
        assert_eq!(written.young.len(), 3);
        assert_eq!(
            written.chain(&request(&words), "", KEY, (3, None, Linked::default())).ids(),
            first.ids()
        );
        assert_eq!(written.young.len(), 3, "nothing new was met");
        let escaped = ["a", "\\u0062", "c"].map(str::to_owned);
        assert_eq!(
            written.chain(&request(&escaped), "", KEY, (3, None, Linked::default())).ids(),
            first.ids()
        );
        assert_eq!(written.young.len(), 4, "one was written otherwise");
        assert_ne!(
            written.chain(&request(&words), "other", KEY, (3, None, Linked::default())).ids(),
            first.ids()
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut written = Written::default();
        for round in 0..40 {
            let words: Vec<String> = (0..100).map(|word| format!("{round}/{word}")).collect();
            let request = request(&words);
            let chain = written.chain(&request, "", KEY, (0, None, Linked::default()));
            assert_eq!(chain.ids(), Chain::of(&request, "", KEY).ids());
        }
        assert!(written.young.len() + written.old.len() <= 2 * (100 + SPARE + 100));
        assert!(!written.old.is_empty());
    }
}
