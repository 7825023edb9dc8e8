//! The machine that decides: which conversation a request continues, what of it is shown, and when a compaction begins.
//!
//! It does no IO and knows no clock: its driver hands in requests and the time, sends the result, runs the compactions,
//! and reports their outcomes. Inside an epoch, the life of one view, a prompt only grows at its end; a compaction
//! begins the next epoch.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use epitome::session::{ChainKey, Outgoing, SessionOptions, Sessions};
//! use epitome::{Compactor, Options, count::counter, trigger, wire};
//!
//! let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
//! let options = SessionOptions::new(Arc::new(trigger::When::Tokens(100_000).build()?), ChainKey([1, 2, 3, 4]));
//! let mut sessions = Sessions::new(options, compactor)?;
//!
//! let body = r#"{"model":"gpt-6-sol","messages":[{"role":"user","content":"Fix the build."}]}"#;
//! let answer = sessions.observe("tenant", &wire::detect(body.to_owned())?, None, Duration::ZERO);
//! assert!(matches!(answer.send, Outgoing::AsItCame(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod breaker;
mod cache;
mod cleared;
mod commit;
mod conversation;
mod decide;
mod delivery;
mod epoch;
mod experience;
mod identity;
mod intake;
mod landing;
mod late_reply;
mod normalize;
mod options;
mod page;
mod part_path;
mod prompt;
mod reader;
mod reasoning_binding;
mod recent;
mod recipient;
mod saved;
mod sync;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::count::ByHash;
use crate::engine::{Compaction, Compactor};
use crate::receipt::Stats;
use crate::request::Request;
use crate::trigger::{Cause, Demand};
use crate::wire::{Format, WireError};
use conversation::Line;
use decide::Look;

pub use breaker::StallReason;
pub use cache::{CacheBreak, CacheReport, CacheUse, PromptReport};
pub use commit::{Awaited, Committed, Refusal};
pub use delivery::{RefusedPrompt, Retry, Sent};
pub use epoch::Epoch;
pub use experience::{Claim, Experience, SharedExperience};
pub use identity::{Chain, ChainKey, PrefixId};
pub use options::{AtLimit, Initiative, Landing, SessionOptions, SessionOptionsError};
pub use page::{CurrentView, Page, page};
pub use prompt::in_turns;
pub use reader::{Arrived, Reader};
pub use recipient::{Intent, Recipient};
pub use saved::{KeptPlace, Saved};
pub use sync::{RunCompaction, Settled};

/// A conversation, for as long as the machine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u64);

impl SessionId {
    /// The part of a machine ([`Sessions::parts`]), among this many, that knows it.
    ///
    /// # Panics
    /// Of no parts.
    pub fn part(self, of: usize) -> usize {
        (self.0 % of as u64) as usize
    }
}

/// A compaction that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The handling of a request.
#[derive(Debug)]
pub struct Handling {
    /// The conversation that it belongs to.
    pub session: SessionId,
    /// What to send.
    pub send: Outgoing,
    /// Statistics of the request as it came and as it is shown now, with the reason. `triggered` says that a compaction
    /// was begun.
    pub stats: Stats,
    /// Entries shortened on arrival. To survive a crash, save a session that shortened some, or that
    /// begins a new epoch ([`Saved`]), before its request is sent.
    pub taken_in: usize,
    /// Why the sent request doesn't continue the one sent before in the conversation, if so: the provider's cache holds
    /// only their common beginning.
    pub broke: Option<CacheBreak>,
    /// A compaction to run; [`Sessions::commit`] wants its outcome.
    pub begun: Option<Box<Begun>>,
    /// Why nothing is compacted although a trigger fires; told once.
    pub stall: Option<StallReason>,
    /// Why a due compaction isn't begun: nobody asked for it, or it wouldn't help.
    pub due: Option<Cause>,
    /// Why a due or awaited compaction failed: the request is sent without it.
    pub failure: Option<String>,
}

/// What to send to the provider. Report its size of the prompt with [`Sent`].
#[derive(Debug)]
pub enum Outgoing {
    /// The request, byte for byte.
    AsItCame(Sent),
    /// The view in force; [`in_turns`] makes its body.
    View(Box<Request>, Sent),
    /// Not before this compaction is committed; then [`Sessions::show`] has the prompt for the request that ran it, and
    /// [`Sessions::awaited`] for others.
    After(Ticket),
}

/// A compaction to run.
#[derive(Debug)]
pub struct Begun {
    /// What to commit it under.
    pub ticket: Ticket,
    /// Why it was begun.
    pub cause: Cause,
    /// The machine to drive.
    pub compaction: Compaction,
}

/// All conversations of one process.
#[derive(Debug)]
pub struct Sessions {
    options: SessionOptions,
    compactor: Compactor,
    /// What takes giant results in, and from how many tokens on, if that is asked for.
    intake: Option<(Compactor, u64)>,
    experience: SharedExperience,
    reader: Reader,
    lines: BTreeMap<SessionId, Line>,
    /// The line that had a link first.
    by_prefix: ByHash<PrefixId, SessionId>,
    /// Conversations that all parts of the machine know.
    all: Arc<AtomicUsize>,
    /// The number of the next conversation or compaction, and what is between two: parts of a machine number in turn.
    next: u64,
    stride: u64,
}

impl Sessions {
    /// No conversation is known yet. `compactor` says how to compact; where it lands, the options
    /// say.
    ///
    /// # Errors
    /// A setting that is out of range.
    pub fn new(options: SessionOptions, compactor: Compactor) -> Result<Self, SessionOptionsError> {
        options.validate()?;
        let intake = compactor.taking_in();
        let reader = Reader::new(options.most_known, options.key);
        Ok(Sessions {
            options,
            compactor,
            intake,
            experience: SharedExperience::default(),
            reader,
            lines: BTreeMap::new(),
            by_prefix: ByHash::default(),
            all: Arc::default(),
            next: 0,
            stride: 1,
        })
    }

    /// The machine in this many parts, which can be asked at the same time. None has a conversation yet. A request's
    /// conversation is in the part that [`Arrived::part`] names, a known conversation in the part that [`SessionId::part`]
    /// names. Parts share learnt facts, read requests, and the bounds of both.
    ///
    /// # Panics
    /// Of no parts.
    pub fn parts(self, many: usize) -> Vec<Self> {
        assert!(many > 0, "a machine has a part");
        let part = |at: usize| Sessions {
            options: self.options.clone(),
            compactor: self.compactor.clone(),
            intake: self.intake.clone(),
            experience: self.experience.clone(),
            reader: self.reader.clone(),
            lines: BTreeMap::new(),
            by_prefix: ByHash::default(),
            all: Arc::clone(&self.all),
            next: at as u64,
            stride: many as u64,
        };
        (0..many).map(part).collect()
    }

    /// What reads requests for it, apart from it.
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// A number that nothing has yet.
    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += self.stride;
        number
    }

    /// Reads a request of `tenant`'s as [`wire::parse`](crate::wire::parse) does, or as
    /// [`wire::detect`](crate::wire::detect) if its format isn't known. Bytes that it shares with an earlier one aren't
    /// read again, and [`observe`](Self::observe) recognises them; [`SessionOptions::most_known`] limits what is kept
    /// for that.
    ///
    /// # Errors
    /// No JSON, or no request of that format.
    pub fn read(
        &mut self,
        tenant: &str,
        format: Option<Format>,
        source: impl Into<Arc<String>>,
    ) -> Result<Request, WireError> {
        self.reader.read(tenant, format, source)
    }

    /// Appends one message to a request of `tenant`'s, for a host that holds the conversation itself. The result is what
    /// [`read`](Self::read) would make of the longer request, in time proportional to the message. A clone of the
    /// request that another owner holds stays as it was, and costs a copy.
    ///
    /// # Errors
    /// The message isn't JSON, or the request has no list of messages. The request is unchanged then.
    pub fn append(
        &mut self,
        tenant: &str,
        request: &mut Request,
        message: &str,
    ) -> Result<(), WireError> {
        self.reader.append(tenant, request, message)
    }

    /// Looks at a request that a client wants to send at time `now` (since any fixed moment), and
    /// decides. A host that has been idle may show the newest request again, so that a trigger may fire
    /// before the provider's cache forgets it.
    pub fn observe(
        &mut self,
        tenant: &str,
        request: &Request,
        to: impl Into<Recipient>,
        now: Duration,
    ) -> Handling {
        let arrived = self.reader.arrive(tenant, request);
        self.decide(arrived, to, now)
    }

    /// The same of a request that its [`Reader`] has found out all about.
    pub fn decide(
        &mut self,
        arrived: Arrived,
        to: impl Into<Recipient>,
        now: Duration,
    ) -> Handling {
        self.look(arrived, to.into(), now, Look::Decide)
    }

    /// The request under the view in force: after a commit, or when nothing may begin.
    pub fn show(
        &mut self,
        tenant: &str,
        request: &Request,
        to: impl Into<Recipient>,
        now: Duration,
    ) -> Handling {
        let arrived = self.reader.arrive(tenant, request);
        self.look(arrived, to.into(), now, Look::Show)
    }

    /// Asks for a compaction of a conversation at its next request in which every call has its result, whatever the triggers
    /// look at; whether the conversation is known.
    pub fn demand(&mut self, session: SessionId, demand: Demand) -> bool {
        let line = self.lines.get_mut(&session);
        line.map(|line| line.demands.push(demand)).is_some()
    }

    /// What use taught of models so far, to be kept.
    pub fn experience(&self) -> Experience {
        self.experience.known()
    }

    /// The same, with facts learnt before.
    #[must_use]
    pub fn experienced(self, experience: Experience) -> Self {
        *self.experience.get() = experience;
        self
    }

    /// The same, for a caller that stores it: it includes later facts.
    pub fn shared_experience(&self) -> SharedExperience {
        self.experience.clone()
    }

    /// The newest epoch of a conversation.
    pub fn epoch(&self, session: SessionId) -> Option<&Epoch> {
        self.lines.get(&session).map(Line::epoch)
    }

    /// Number of conversations known.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The conversation that the chain continues: the one with the longest common beginning, forked where they differ.
    fn find(&mut self, base: &Request, chain: &Chain, tenant: &str, now: Duration) -> SessionId {
        let Some((id, links)) = self.continued(base, chain) else {
            let new = SessionId(self.number());
            let mut line = Line::new(new, tenant);
            line.seen = now;
            self.insert(line);
            self.forget_some(new);
            return new;
        };
        let line = &self.lines[&id];
        let is_cleared = line.ids[links - 1] != chain.ids()[links - 1];
        if line.ids.len() == links {
            if is_cleared {
                self.clear(id, chain, links);
            }
            return id;
        }
        let new = SessionId(self.next);
        let fork = line.fork(new, links);
        self.number();
        self.insert(fork);
        if is_cleared {
            self.clear(new, chain, links);
        }
        if links == chain.len() {
            // A conversation that continues from here continues the newest one.
            self.by_prefix.insert(chain.ids()[links - 1], new);
        }
        self.forget_some(new);
        new
    }

    /// The conversation that has the longest beginning in common with a chain, by these ids of its links.
    fn longest(&self, chain: &Chain, ids: &[PrefixId]) -> Option<(SessionId, usize)> {
        // Who has only instructions in common has nothing in common.
        let least = chain.len().min(chain.instructions() + 1).max(1);
        let known = |links: usize| {
            let id = *self.by_prefix.get(&ids[links - 1])?;
            self.lines.contains_key(&id).then_some((id, links))
        };
        (least..=chain.len()).rev().find_map(known)
    }

    fn insert(&mut self, line: Line) {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.lines.insert(line.id, line);
    }

    /// Forgets the least recently used conversations of this part, but not `newest`, if all parts together have too many.
    fn forget_some(&mut self, newest: SessionId) {
        while self.all.load(Ordering::Relaxed) > self.options.most_sessions {
            let others = self.lines.values().filter(|line| line.id != newest);
            let Some(oldest) = others.min_by_key(|line| (line.seen, line.id)).map(|line| line.id)
            else {
                return;
            };
            let line = self.lines.remove(&oldest).expect("it was just found");
            self.all.fetch_sub(1, Ordering::Relaxed);
            for prefix in line.ids.into_iter().chain(line.outlines) {
                if self.by_prefix.get(&prefix) == Some(&oldest) {
                    self.by_prefix.remove(&prefix);
                }
            }
        }
    }
}
