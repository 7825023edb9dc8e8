//! The one machine that decides: which conversation a request goes on with, what of it is shown, and
//! when a compaction begins.
//!
//! It does no IO and knows no clock: whoever drives it hands in requests and the time, sends what it
//! is told to send, runs the compactions that it is given, and brings back how they went. Inside an
//! epoch, the life of one view, a prompt only grows at its end; a compaction begins the next.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use epitome::session::{ChainKey, Send, SessionOptions, Sessions};
//! use epitome::{Compactor, Options, count::counter, trigger, wire};
//!
//! let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
//! let options = SessionOptions::new(Arc::new(trigger::When::Tokens(100_000).build()?), ChainKey([1, 2, 3, 4]));
//! let mut sessions = Sessions::new(options, compactor)?;
//!
//! let body = r#"{"model":"gpt-6-sol","messages":[{"role":"user","content":"Fix the build."}]}"#;
//! let answer = sessions.observe("tenant", &wire::detect(body.to_owned())?, None, Duration::ZERO);
//! assert!(matches!(answer.send, Send::AsItCame));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod breaker;
mod chain;
mod commit;
mod epoch;
mod line;
mod options;
mod page;
mod recipient;
mod saved;
mod settle;
mod volatile;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::budget::Target;
use crate::count::{Count, FrameTally};
use crate::engine::{Compaction, Compactor};
use crate::guard::Pin;
use crate::model::Binding;
use crate::request::Request;
use crate::transcript::ContentId;
use crate::transcript::unit::Units;
use crate::trigger::{Cause, Demand, Gauge, Switch};
use crate::wire;
use breaker::Circumstances;
use line::{Flight, Line, Sent, Urgency};

pub use breaker::Stuck;
pub use chain::{Chain, ChainKey, PrefixId};
pub use commit::{Committed, Refusal, Told};
pub use epoch::Epoch;
pub use options::{Landing, SessionOptions, SessionOptionsError};
pub use page::{Page, page};
pub use recipient::Recipient;
pub use saved::Saved;
pub use settle::{Compacted, Settled};

/// A conversation, for as long as the machine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u64);

/// A compaction that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What is to be done with a request.
#[derive(Debug)]
pub struct Answer {
    /// The conversation that it belongs to.
    pub session: SessionId,
    /// What to send.
    pub send: Send,
    /// Tokens of the request as it came.
    pub whole: Count,
    /// Tokens of what is shown of it now.
    pub tokens: Count,
    /// A compaction to run; [`Sessions::commit`] wants its outcome.
    pub begun: Option<Box<Begun>>,
    /// Why nothing is compacted although a trigger fires; told once.
    pub stuck: Option<Stuck>,
}

/// What goes to the provider.
#[derive(Debug)]
pub enum Send {
    /// The request, byte for byte.
    AsItCame,
    /// The view in force.
    View(Box<Request>),
    /// Nothing before this compaction is committed; then [`Sessions::show`] tells.
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

/// How a request is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Triggers may fire.
    Decide,
    /// The view in force is shown, whatever triggers say.
    Show,
}

/// A request under consideration.
#[derive(Clone, Copy)]
struct Subject<'a> {
    id: SessionId,
    /// The request, mended.
    base: &'a Request,
    /// Tokens of what is shown of it, as counted.
    counted: u64,
    /// Tokens of its frame.
    frame: u64,
    now: Duration,
}

/// All conversations of one process.
#[derive(Debug)]
pub struct Sessions {
    options: SessionOptions,
    compactor: Compactor,
    lines: BTreeMap<SessionId, Line>,
    /// The line that had a link first.
    by_prefix: HashMap<PrefixId, SessionId>,
    /// Checkpoints that were written here, so that a client who sends one back is understood.
    checkpoints: HashSet<ContentId>,
    next: u64,
}

impl Sessions {
    /// No conversation is known yet. `compactor` says how to compact; where it lands, the options
    /// say.
    ///
    /// # Errors
    /// A setting that is out of range.
    pub fn new(options: SessionOptions, compactor: Compactor) -> Result<Self, SessionOptionsError> {
        options.validate()?;
        Ok(Sessions {
            options,
            compactor,
            lines: BTreeMap::new(),
            by_prefix: HashMap::new(),
            checkpoints: HashSet::new(),
            next: 0,
        })
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
    ) -> Answer {
        self.look(tenant, request, to.into(), now, Look::Decide)
    }

    /// What is shown of a request by the view in force: after a commit, or when nothing may begin.
    pub fn show(
        &mut self,
        tenant: &str,
        request: &Request,
        to: impl Into<Recipient>,
        now: Duration,
    ) -> Answer {
        self.look(tenant, request, to.into(), now, Look::Show)
    }

    /// Asks for a compaction of a conversation at its next request.
    pub fn demand(&mut self, session: SessionId, demand: Demand) {
        if let Some(line) = self.lines.get_mut(&session) {
            line.demands.push(demand);
        }
    }

    /// The provider reported the tokens of the prompt that was sent last: later counts are corrected
    /// by it.
    pub fn reported(&mut self, session: SessionId, prompt: u64) {
        let Some(line) = self.lines.get_mut(&session) else { return };
        if let Some(sent) = line.sent.filter(|sent| sent.tokens > 0 && prompt > 0) {
            line.correct(prompt, sent.tokens);
        }
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

    fn look(
        &mut self,
        tenant: &str,
        request: &Request,
        to: Recipient,
        now: Duration,
        look: Look,
    ) -> Answer {
        let base = wire::repair(request).request;
        let chain = Chain::of(&base, tenant, self.options.key);
        let id = self.find(&chain, tenant, now);
        let counter = self.compactor.counter();
        let line = self.lines.get_mut(&id).expect("it was just found");
        let known = line.ids.len();
        line.extend(&base, &chain, counter);
        for prefix in &chain.ids()[known..] {
            self.by_prefix.insert(*prefix, id);
        }
        let idle = (line.requests > 0).then(|| now.saturating_sub(line.seen));
        line.seen = now;
        if line.flight.as_ref().is_some_and(|f| now.saturating_sub(f.since) > self.options.patience)
        {
            // An answer that doesn't come any more; if it does, it is too late.
            line.flight = None;
        }
        let window = line.learnt.into_iter().chain(to.window).min();
        let switch = line.window.zip(window).filter(|(from, to)| from != to);
        line.window = window;
        let whole = line.whole(&base, &chain, counter);
        let own = line.shown(whole);
        let (whole, tokens) = (line.corrected(whole), line.corrected(own));
        let shown = if line.epoch().is_whole() {
            base.clone()
        } else {
            let view = line.epoch().view(&base, &chain);
            wire::parse(base.format, wire::render(&base, &view))
                .expect("spliced JSON is JSON of the same format")
        };
        let mut answer =
            Answer { session: id, send: Send::AsItCame, whole, tokens, begun: None, stuck: None };
        if look == Look::Decide {
            line.requests += 1;
            let frame = FrameTally::of(&base, counter).total().tokens;
            let units = Units::of(&shown.transcript, shown.format.instructions());
            let gauge = Gauge {
                window,
                idle,
                cache_ttl: to.cache_ttl,
                switch: switch.map(|(from, to)| Switch { from, to }),
                demands: line.demands.clone(),
                ..Gauge::of(&shown, &units, tokens)
            };
            let subject = Subject { id, base: &base, counted: own.tokens, frame, now };
            self.decide(&subject, &gauge, &mut answer);
            if matches!(answer.send, Send::After(_)) {
                return answer;
            }
        }
        let line = self.lines.get_mut(&id).expect("it was found before");
        if !line.epoch().is_whole() {
            answer.send = Send::View(Box::new(shown));
        }
        let retried = line.sent.is_some_and(|sent| sent.retried && sent.links == chain.len());
        line.sent = Some(Sent { links: chain.len(), tokens: own.tokens, retried });
        line.send(chain.len());
        answer
    }

    /// Whether a compaction begins, and whether the request waits for it.
    fn decide(&mut self, subject: &Subject<'_>, gauge: &Gauge, answer: &mut Answer) {
        let Subject { id, frame, now, .. } = *subject;
        let soft = self.options.soft.as_ref();
        let hard = self.options.trigger.fires(gauge);
        // A reply that comes while a compaction is prepared can't be stripped inside its loop.
        let soft = soft.filter(|_| Binding::of(subject.base) != Binding::PrefixManual);
        let cause = hard.clone().or_else(|| soft.and_then(|soft| soft.fires(gauge)));
        let line = self.lines.get_mut(&id).expect("the caller found it");
        let Some(cause) = cause else { return };
        if let Some(flight) = &line.flight {
            if hard.is_some() {
                answer.send = Send::After(flight.ticket);
            }
            return;
        }
        let tokens = subject.counted;
        let is = Circumstances { tokens, window: gauge.window, frame };
        if is_automatic(&cause) {
            let bare = Gauge { tokens: Count::exact(frame), ..gauge.clone() };
            let is_floor = line.floor.is_some_and(|floor| tokens <= floor + floor / 8);
            if is_floor || self.options.trigger.fires(&bare).is_some_and(|c| is_automatic(&c)) {
                line.breaker.stop(Stuck::Overhead, is);
            }
            let since = (line.epoch().number > 0).then_some(line.requests);
            if line.breaker.allows(now, is) {
                line.breaker.fires(since, is);
            }
            if !line.breaker.allows(now, is) {
                answer.stuck = line.breaker.tell();
                return;
            }
        }
        line.demands.clear();
        let target = self.options.landing.target(gauge.window);
        let begun = self.begin(subject, cause, target, gauge.window);
        if hard.is_some() {
            answer.send = Send::After(begun.ticket);
        }
        answer.begun = Some(Box::new(begun));
    }

    fn begin(
        &mut self,
        subject: &Subject<'_>,
        cause: Cause,
        target: Target,
        window: Option<u64>,
    ) -> Begun {
        let Subject { id, base, frame, now, .. } = *subject;
        let ticket = Ticket(self.next);
        self.next += 1;
        let line = self.lines.get_mut(&id).expect("the caller found it");
        let epoch = line.epoch().number;
        let urgency = if is_automatic(&cause) { Urgency::Economy } else { Urgency::Must };
        let is = Circumstances { tokens: subject.counted, window, frame };
        line.flight = Some(Flight { ticket, since: now, urgency, epoch, is, late: Vec::new() });
        let demands = cause.demands();
        let target = demands.iter().find_map(|demand| demand.target).unwrap_or(target);
        let pins: Vec<Pin> = demands.iter().flat_map(|demand| demand.pins.clone()).collect();
        let compactor = self.compactor.clone();
        // A demand that is out of range is as good as none.
        let compactor = compactor.clone().wishing(target, pins).unwrap_or(compactor);
        let compactor = compactor.knowing(self.checkpoints.iter().copied());
        Begun { ticket, cause, compaction: compactor.begin(base) }
    }

    /// The conversation that the chain goes on with: the one with the longest beginning in common,
    /// forked where it goes another way.
    fn find(&mut self, chain: &Chain, tenant: &str, now: Duration) -> SessionId {
        // Who has only instructions in common has nothing in common.
        let least = chain.len().min(chain.instructions() + 1).max(1);
        let longest = (least..=chain.len())
            .rev()
            .find_map(|links| self.by_prefix.get(&chain.ids()[links - 1]).map(|id| (*id, links)));
        if let Some((id, links)) = longest
            && let Some(line) = self.lines.get(&id)
        {
            if line.ids.len() == links {
                return id;
            }
            let new = SessionId(self.next);
            self.next += 1;
            let fork = line.fork(new, links);
            self.lines.insert(new, fork);
            self.forget_some(new);
            return new;
        }
        let new = SessionId(self.next);
        self.next += 1;
        let mut line = Line::new(new, tenant);
        line.seen = now;
        self.lines.insert(new, line);
        self.forget_some(new);
        new
    }

    /// Forgets conversations that weren't heard of longest, but not `newest`.
    fn forget_some(&mut self, newest: SessionId) {
        while self.lines.len() > self.options.most_sessions {
            let others = self.lines.values().filter(|line| line.id != newest);
            let Some(oldest) = others.min_by_key(|line| (line.seen, line.id)).map(|line| line.id)
            else {
                return;
            };
            let line = self.lines.remove(&oldest).expect("it was just found");
            for prefix in line.ids {
                if self.by_prefix.get(&prefix) == Some(&oldest) {
                    self.by_prefix.remove(&prefix);
                }
            }
        }
    }
}

/// Whether nobody asked for it, so that it must be worth its while.
fn is_automatic(cause: &Cause) -> bool {
    match cause {
        Cause::Overflow { .. } | Cause::Asked(_) => false,
        Cause::All(causes) => causes.iter().all(is_automatic),
        _ => true,
    }
}
