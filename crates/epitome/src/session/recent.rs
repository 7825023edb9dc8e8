//! The newest requests, so that the next ones of their conversations are read and linked from where they go on.
//!
//! Clients send their whole history with each call, mostly in the same bytes. What is the same isn't read again; what it
//! was found to be is taken over. A client that writes its history anew is read as if it were new.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use super::identity::Chain;
use crate::request::Request;
use crate::wire::{self, Clean, Finding, Format, WireError};

/// Requests that are kept at most: each new one is held to all of them.
const MOST: usize = 256;

/// Of so many of them all bytes are compared, where none is plainly the one before.
const COMPARED: usize = 8;

/// Requests as they were read, the newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    known: VecDeque<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    tenant: String,
    request: Request,
    holder: Holder,
    /// Its chain; before that is known, that of so many of its first entries.
    chain: Option<(usize, Arc<Chain>)>,
    /// Whether nothing in it was mended.
    is_whole: bool,
    /// That it breaks no rule; before that is known, that the one with which it has so many of its first entries in
    /// common breaks none.
    clean: Option<(Clean, usize)>,
}

/// Who a request's bytes are kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Only for what goes on from it.
    Machine,
    /// The host, as long as it lasts.
    Host,
}

/// What is known of a request that is the very one that was read.
pub(super) struct Seen {
    /// The chain of so many of its first entries, handed over.
    pub(super) chain: Option<(usize, Arc<Chain>)>,
    /// Whether nothing in it is to be mended.
    pub(super) is_whole: bool,
}

impl Known {
    /// Nothing is known of it but what was read.
    fn new(tenant: &str, request: Request) -> Self {
        let tenant = tenant.to_owned();
        let holder = Holder::Machine;
        Known { tenant, request, holder, chain: None, is_whole: false, clean: None }
    }

    /// Bytes that are there for nobody else.
    fn bytes(&self) -> usize {
        let source = self.request.source();
        match self.holder {
            Holder::Host if Arc::strong_count(source) > 1 => 0,
            Holder::Host | Holder::Machine => source.len(),
        }
    }

    /// Whether it is the very one.
    fn is_of(&self, tenant: &str, request: &Request) -> bool {
        self.tenant == tenant && self.request.transcript.is(&request.transcript)
    }
}

impl Recent {
    /// Reads a request, and keeps it as long as no more than `most` bytes are kept.
    pub(super) fn read(
        &mut self,
        tenant: &str,
        format: Option<Format>,
        source: Arc<String>,
        most: usize,
    ) -> Result<Request, WireError> {
        let Some(format) = format else {
            return Ok(self.keep(Known::new(tenant, wire::detect(source)?), most));
        };
        let goes_on = |known: &Known| {
            let is_near = known.tenant == tenant && known.request.format == format;
            is_near && known.request.transcript.may_go_on_in(&source)
        };
        let next = self.known.iter().position(goes_on);
        let Some(at) = next.or_else(|| self.most_alike(tenant, format, &source)) else {
            return Ok(self.keep(Known::new(tenant, wire::parse(format, source)?), most));
        };
        let (entries, request) = wire::parse_on(&self.known[at].request, source)?;
        let before = &mut self.known[at];
        let whole = before.request.transcript.len();
        // It goes on with this one, and nobody else does.
        let is_next = entries + 1 >= whole;
        let chain = if is_next { before.chain.take() } else { before.chain.clone() };
        let chain = chain.filter(|(of, _)| *of == whole).map(|(_, chain)| {
            let first = match Arc::try_unwrap(chain) {
                Ok(chain) => chain.into_first(entries),
                Err(shared) => shared.of_first(entries),
            };
            (entries, Arc::new(first))
        });
        let clean = if is_next { before.clean.take() } else { before.clean.clone() };
        let clean = clean.map(|(clean, of)| (clean, of.min(entries)));
        if is_next {
            self.known.remove(at);
        }
        Ok(self.keep(Known { chain, clean, ..Known::new(tenant, request) }, most))
    }

    /// Appends a message to a request; what is known of it holds on.
    pub(super) fn append(
        &mut self,
        tenant: &str,
        request: &mut Request,
        message: &str,
        most: usize,
    ) -> Result<(), WireError> {
        let at = self.known.iter().position(|known| known.is_of(tenant, request));
        // Nobody else holds it then. No entry of before is another one, however many came since it was linked and checked.
        let (chain, clean) = match at.and_then(|at| self.known.remove(at)) {
            Some(Known { chain, clean, .. }) => (chain, clean),
            None => (None, None),
        };
        let appended = wire::append(request, message);
        let known = Known::new(tenant, request.clone());
        self.keep(Known { chain, clean, holder: Holder::Host, ..known }, most);
        appended
    }

    /// Of the newest ones the one that begins most alike: a fork goes on from there, and who moved a mark.
    fn most_alike(&self, tenant: &str, format: Format, source: &str) -> Option<usize> {
        let shared = |(at, known): (usize, &Known)| {
            let is_near = known.tenant == tenant && known.request.format == format;
            let entries = if is_near { known.request.transcript.shared_with(source) } else { 0 };
            (entries > 0).then_some((entries, at))
        };
        let newest = self.known.iter().take(COMPARED).enumerate().filter_map(shared);
        newest.max_by_key(|(entries, at)| (*entries, Reverse(*at))).map(|(_, at)| at)
    }

    fn keep(&mut self, known: Known, most: usize) -> Request {
        let request = known.request.clone();
        self.known.push_front(known);
        self.known.truncate(MOST);
        let mut bytes = 0;
        self.known.retain(|known| {
            let own = known.bytes();
            // One that is too large makes no room by leaving others none.
            let stays = own == 0 || bytes + own <= most;
            bytes += if stays { own } else { 0 };
            stays
        });
        request
    }

    /// What is known of `request`, if it was read here and not changed since; its chain comes back with
    /// [`note`](Self::note).
    pub(super) fn seen(&mut self, tenant: &str, request: &Request) -> Option<Seen> {
        let known = self.known.iter_mut().find(|known| known.is_of(tenant, request))?;
        Some(Seen { chain: known.chain.take(), is_whole: known.is_whole })
    }

    /// All breaches of rules in `request`. If it was read here and not changed since, what it has in common with one that
    /// was found to have none isn't looked at again.
    pub(super) fn check(&mut self, tenant: &str, request: &Request) -> Vec<Finding> {
        let Some(known) = self.known.iter_mut().find(|known| known.is_of(tenant, request)) else {
            return wire::check(request);
        };
        match wire::check_on(request, known.clean.take()) {
            Ok(clean) => {
                known.clean = Some((clean, request.transcript.len()));
                Vec::new()
            }
            Err(findings) => findings,
        }
    }

    /// Notes the chain of a request in which nothing was mended, if it was read here and not changed since.
    pub(super) fn note(&mut self, tenant: &str, request: &Request, chain: &Arc<Chain>) {
        if let Some(known) = self.known.iter_mut().find(|known| known.is_of(tenant, request)) {
            known.is_whole = true;
            known.chain = Some((request.transcript.len(), Arc::clone(chain)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ChainKey;

    const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

    fn body(words: &[&str], behind: &str) -> Arc<String> {
        let messages: Vec<String> =
            words.iter().map(|word| format!(r#"{{"role":"user","content":"{word}"}}"#)).collect();
        Arc::new(format!(r#"{{"model":"m","messages":[{}]{behind}}}"#, messages.join(",")))
    }

    fn rows(request: &Request) -> String {
        let parts =
            request.transcript.entries().flat_map(|entry| entry.parts().collect::<Vec<_>>());
        let parts: Vec<String> = parts.map(|part| format!("{:?}", part.row())).collect();
        let entries: Vec<_> = request.transcript.entries().map(|e| (e.span(), e.role())).collect();
        format!("{entries:?} {parts:?} {:?}", request.frame)
    }

    /// Reads it as the machine does, and holds it to what is read of it alone.
    fn read(recent: &mut Recent, source: &Arc<String>, most: usize) -> Option<Seen> {
        let format = Format::OpenaiChat;
        let read = recent.read("t", Some(format), Arc::clone(source), most).expect("messages");
        let alone = wire::parse(format, Arc::clone(source)).expect("messages");
        assert_eq!(rows(&read), rows(&alone));
        let seen = recent.seen("t", &read);
        recent.note("t", &read, &Arc::new(Chain::of(&read, "t", KEY)));
        seen
    }

    #[test]
    fn what_goes_on_is_read_from_there() {
        let mut recent = Recent::default();
        assert!(read(&mut recent, &body(&["a", "b"], ""), 1_000).expect("kept").chain.is_none());
        let more = body(&["a", "b", "c"], r#","tools":[]"#);
        let (entries, chain) = read(&mut recent, &more, 1_000).expect("kept").chain.expect("known");
        // The last one may have gone on.
        assert_eq!((entries, chain.len(), recent.known.len()), (1, 1, 1));
        // The last message grew, and another one is behind it.
        let grown = body(&["a", "b", "cc", "d"], r#","tools":[1]"#);
        let (entries, chain) =
            read(&mut recent, &grown, 1_000).expect("kept").chain.expect("known");
        assert_eq!((entries, chain.len(), recent.known.len()), (2, 2, 1));
        // Who goes another way leaves what was there.
        let fork = body(&["a", "x"], "");
        assert_eq!(read(&mut recent, &fork, 1_000).expect("kept").chain.map(|(at, _)| at), Some(1));
        assert_eq!(recent.known.len(), 2);
    }

    #[test]
    fn tenants_are_apart_and_memory_is_bounded() {
        let mut recent = Recent::default();
        let source = body(&["a", "b"], "");
        read(&mut recent, &source, 1_000);
        let format = Some(Format::OpenaiChat);
        let other = recent.read("o", format, Arc::clone(&source), 1_000).expect("messages");
        assert!(recent.seen("o", &other).expect("kept").chain.is_none());
        assert!(recent.seen("t", &other).is_none());
        for word in 0..100 {
            read(&mut recent, &body(&[&word.to_string()], ""), 500);
        }
        let bytes: usize = recent.known.iter().map(|known| known.request.source().len()).sum();
        assert!((400..=500).contains(&bytes), "{bytes}");
        assert!(read(&mut recent, &body(&["z"], ""), 0).is_none(), "nothing is kept");
    }

    #[test]
    fn what_the_host_holds_is_known_however_long_it_is() {
        let mut recent = Recent::default();
        let format = Some(Format::OpenaiChat);
        let mut held = recent.read("t", format, body(&["a"], ""), 10).expect("messages");
        assert!(recent.known.is_empty(), "it is longer than that");
        let answer = r#"{"role":"assistant","content":"b"}"#;
        recent.append("t", &mut held, answer, 10).expect("a message");
        recent.note("t", &held, &Arc::new(Chain::of(&held, "t", KEY)));
        let before = held.source().as_ptr();
        assert!(recent.append("t", &mut held, "{", 10).is_err());
        assert_eq!((held.source().as_ptr(), held.transcript.len()), (before, 2));
        recent.append("t", &mut held, answer, 10).expect("a message");
        recent.read("u", format, body(&["somebody else's"], ""), 10).expect("messages");
        let seen = recent.seen("t", &held).expect("held");
        assert_eq!(seen.chain.map(|(of, _)| of), Some(2), "through a refusal, too");
        drop(held);
        recent.read("t", format, body(&["c"], ""), 10).expect("messages");
        assert!(recent.known.is_empty(), "nobody holds it any more");
    }

    #[test]
    fn the_same_bytes_in_another_format_are_another_request() {
        let mut recent = Recent::default();
        let source = body(&["a", "b"], "");
        for format in [Format::OpenaiChat, Format::Anthropic, Format::OpenaiChat] {
            let read = recent.read("t", Some(format), Arc::clone(&source), 1_000);
            assert_eq!(read.expect("messages").format, format);
        }
    }
}
