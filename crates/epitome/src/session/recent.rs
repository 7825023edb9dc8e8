//! The newest requests, so that the next ones of their conversations are read and linked incrementally.
//!
//! Clients send their whole history with each call, mostly in the same bytes. The known beginning isn't read again; its
//! parse is reused. A history that a client rewrites is read as new.

use std::collections::VecDeque;
use std::sync::Arc;

use super::identity::Chain;
use crate::request::Request;
use crate::wire::{self, Clean, Format, WireError};

/// Requests that are kept at most: each new one is held to all of them.
const MOST: usize = 256;

/// How many candidates are compared byte for byte, if none is clearly the predecessor.
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
    /// Its chain; before that is known, that of its first entries, this many.
    chain: Option<(usize, Arc<Chain>)>,
    /// Whether it needed no repair.
    is_whole: bool,
    /// Proof that it breaks no rule, or that an earlier request with this many of its first entries breaks none.
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

/// The facts about a request that was read before in the same bytes.
#[derive(Default)]
pub(super) struct Seen {
    /// The chain of its first entries, this many, handed over.
    pub(super) chain: Option<(usize, Arc<Chain>)>,
    /// Whether it needs no repair.
    pub(super) is_whole: bool,
    /// Else its seams, and for how many of its first entries, handed over.
    pub(super) clean: Option<(Clean, usize)>,
}

/// A request that another one may continue.
pub(super) enum Before {
    /// This one, plainly.
    Next(Request),
    /// The one of these, the newest first, that begins most alike, if any does.
    Newest(Vec<Request>),
}

impl Before {
    /// The request that `source` continues: of several the one with the longest common beginning, for forks and moved cache
    /// markers.
    pub(super) fn of(self, source: &str) -> Option<Request> {
        match self {
            Before::Next(next) => Some(next),
            Before::Newest(newest) => {
                let shared = newest.into_iter().rev().map(|request| {
                    let entries = request.transcript.shared_with(source);
                    (entries, request)
                });
                // Of equals the newest, which comes last.
                let most =
                    shared.filter(|(entries, _)| *entries > 0).max_by_key(|(entries, _)| *entries);
                most.map(|(_, request)| request)
            }
        }
    }
}

impl Known {
    /// Nothing is known of it but what was read.
    fn new(tenant: &str, request: Request) -> Self {
        let tenant = tenant.to_owned();
        let holder = Holder::Machine;
        Known { tenant, request, holder, chain: None, is_whole: false, clean: None }
    }

    /// Bytes with no other owner.
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
    /// Requests that a request may continue: the clear predecessor, or the newest ones.
    pub(super) fn before(&self, tenant: &str, format: Format, source: &str) -> Before {
        let near = || {
            let is_near = |known: &&Known| known.tenant == tenant && known.request.format == format;
            self.known.iter().filter(is_near).map(|known| &known.request)
        };
        match near().find(|known| known.transcript.may_go_on_in(source)) {
            Some(next) => Before::Next(next.clone()),
            None => Before::Newest(near().take(COMPARED).cloned().collect()),
        }
    }

    /// Keeps a request that was read by itself, as long as no more than `most` bytes are kept.
    pub(super) fn read_alone(&mut self, tenant: &str, request: Request, most: usize) -> Request {
        self.keep(Known::new(tenant, request), most)
    }

    /// Keeps a request that was read as a continuation of another one, with this many shared entries. If another request has
    /// continued that one by now, nothing is shared.
    pub(super) fn read_on(
        &mut self,
        tenant: &str,
        (from, entries): (&Request, usize),
        request: Request,
        most: usize,
    ) -> Request {
        let Some(at) = self.known.iter().position(|known| known.is_of(tenant, from)) else {
            return self.read_alone(tenant, request, most);
        };
        let before = &mut self.known[at];
        let whole = before.request.transcript.len();
        // This request continues it, and no other does.
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
        self.keep(Known { chain, clean, ..Known::new(tenant, request) }, most)
    }

    /// Requests that are known, and the bytes that are kept for them.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.known.len(), self.known.iter().map(Known::bytes).sum())
    }

    /// Appends a message to a request; its known facts stay valid.
    pub(super) fn append(
        &mut self,
        tenant: &str,
        request: &mut Request,
        message: &str,
        most: usize,
    ) -> Result<(), WireError> {
        let at = self.known.iter().position(|known| known.is_of(tenant, request));
        // The request then has one owner. Earlier entries are unchanged, however many came since it was linked and
        // checked.
        let (chain, clean) = match at.and_then(|at| self.known.remove(at)) {
            Some(Known { chain, clean, .. }) => (chain, clean),
            None => (None, None),
        };
        let appended = wire::append(request, message);
        let known = Known::new(tenant, request.clone());
        self.keep(Known { chain, clean, holder: Holder::Host, ..known }, most);
        appended
    }

    fn keep(&mut self, known: Known, most: usize) -> Request {
        let request = known.request.clone();
        self.known.push_front(known);
        self.known.truncate(MOST);
        let mut bytes = 0;
        self.known.retain(|known| {
            let own = known.bytes();
            // A request that is too large evicts no others.
            let stays = own == 0 || bytes + own <= most;
            bytes += if stays { own } else { 0 };
            stays
        });
        request
    }

    /// The facts about `request`, if it was read here and not changed since; its chain comes back with
    /// [`note`](Self::note).
    pub(super) fn seen(&mut self, tenant: &str, request: &Request) -> Option<Seen> {
        let known = self.known.iter_mut().find(|known| known.is_of(tenant, request))?;
        let clean = if known.is_whole { None } else { known.clean.take() };
        Some(Seen { chain: known.chain.take(), is_whole: known.is_whole, clean })
    }

    /// Records the chain of a request without repairs, and that it breaks no rule, if it was read here and not changed
    /// since.
    pub(super) fn note(
        &mut self,
        tenant: &str,
        request: &Request,
        chain: &Arc<Chain>,
        clean: Option<Clean>,
    ) {
        if let Some(known) = self.known.iter_mut().find(|known| known.is_of(tenant, request)) {
            known.is_whole = true;
            let entries = request.transcript.len();
            known.chain = Some((entries, Arc::clone(chain)));
            known.clean = clean.map(|clean| (clean, entries)).or(known.clean.take());
        }
    }
}
