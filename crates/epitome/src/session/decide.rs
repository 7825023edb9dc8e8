//! The decision about a request: what of it is shown, and whether a compaction begins.

use std::sync::Arc;
use std::time::Duration;

use super::breaker::Circumstances;
use super::conversation::{Asks, Flight, Line, Manner, Urgency, Weight};
use super::experience::{Experience, PromptEstimate};
use super::landing::within;
use super::{
    Arrived, AtLimit, Begun, Chain, Handling, Initiative, Intent, Landing, Outgoing, Recipient,
    Sent, SessionId, Sessions, StallReason, Ticket, intake,
};
use crate::budget::Target;
use crate::context::JobContext;
use crate::count::Count;
use crate::engine::kept_task;
use crate::guard::Pin;
use crate::model::Binding;
use crate::receipt::{RequestSize, Stats};
use crate::request::Request;
use crate::summarize::AgentPrompt;
use crate::trigger::{Any, Cause, Measurements, Switch, Trigger as _, asked};
use crate::view::View;
use crate::wire;

/// How a request is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Triggers may fire.
    Decide,
    /// The view in force is shown, whatever triggers say.
    Show,
}

/// A request under consideration.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) id: SessionId,
    /// The repaired request.
    pub(super) base: &'a Request,
    /// The model that it is for.
    pub(super) model: &'a str,
    /// How far counts of that model's prompts are off.
    pub(super) counts: &'a Experience,
    /// Tokens of what is shown of it, as counted.
    pub(super) counted: u64,
    /// Tokens of its frame.
    pub(super) frame: u64,
    /// Counted tokens of the whole request as it came.
    pub(super) whole: u64,
    /// The shown part, how many of its messages were sent before, and how long ago.
    pub(super) prompt: Option<(&'a Request, usize, Option<Duration>)>,
    /// The caller's context.
    pub(super) about: &'a JobContext,
    pub(super) intent: Intent,
    pub(super) now: Duration,
}

/// The decision about a request.
#[derive(Debug)]
struct Decision {
    stats: Stats,
    /// What it waits for.
    wait: Option<Ticket>,
    begun: Option<Box<Begun>>,
    stall: Option<StallReason>,
    due: Option<Cause>,
    failure: Option<String>,
}

/// A request as its conversation takes it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) session: SessionId,
    /// The repaired request.
    pub(super) base: Request,
    pub(super) chain: Arc<Chain>,
    /// The model's name.
    model: String,
    taken_in: usize,
    idle: Option<Duration>,
    pub(super) weight: Weight,
    /// The request under the newest epoch.
    pub(super) estimate: PromptEstimate,
    /// Its tokens, corrected by reports.
    tokens: Count,
}

impl Subject<'_> {
    pub(super) fn circumstances(&self, window: Option<u64>) -> Circumstances {
        Circumstances { tokens: self.counted, window, frame: self.frame }
    }
}

impl Sessions {
    /// Finds the conversation of a request, and adds its new entries.
    pub(super) fn see(&mut self, arrived: Arrived, to: &Recipient, now: Duration) -> Seen {
        let Arrived { tenant, base, chain, .. } = arrived;
        let model = to.model.clone().or_else(|| base.model()).unwrap_or_default();
        let session = self.find(&base, &chain, &tenant, now);
        let taken_in = self.extend(session, &base, &chain);
        self.bind(session, &base, &chain);
        self.count_cleared(session, &base, &chain);
        let counter = self.compactor.counter();
        let line = self.lines.get_mut(&session).expect("it was just found");
        let idle = (line.requests > 0).then(|| now.saturating_sub(line.seen));
        line.seen = now;
        let weight = line.weigh(&base, &chain, counter, self.options.key);
        line.set_for(&model, &base, self.options.key);
        let anchor = line.anchor_of(&model);
        let estimate = line.estimate(&weight, anchor.as_ref());
        let notes = self.experience.get().corrected(&model, weight.notes);
        let tokens = self.experience.get().count(&model, anchor, &estimate) + notes;
        Seen { session, base, chain, model, taken_in, idle, weight, estimate, tokens }
    }

    pub(super) fn look(
        &mut self,
        arrived: Arrived,
        to: Recipient,
        now: Duration,
        look: Look,
    ) -> Handling {
        let bytes = arrived.bytes;
        let seen = self.see(arrived, &to, now);
        let Seen { session: id, base, chain, model, taken_in, idle, weight, estimate, tokens } =
            seen;
        let flight = self.lines[&id].flight.as_ref();
        let is_overdue = flight.is_some_and(|flight| self.is_overdue(flight, now));
        let line = self.lines.get_mut(&id).expect("it was just seen");
        // An answer that doesn't come any more; if it does, it is too late.
        line.flight.take_if(|_| is_overdue);
        let window = self.experience.get().window(&line.tenant, &model, to.window);
        let switch = line.window.zip(window).filter(|(from, to)| from != to);
        line.window = window;
        let view = line.epoch().view(&base, &chain);
        let (whole, shown) = if view.is_whole() {
            (tokens, base.clone())
        } else {
            let shown = wire::shown(&base, &view).expect("spliced JSON is JSON of the same format");
            (self.experience.get().corrected(&model, weight.total()), shown)
        };
        let stats = self.stats(
            window,
            RequestSize::of(&base, whole),
            RequestSize::of(&shown, tokens),
            &base,
            &view,
        );
        let failure = self.lines[&id].breaker.failure().filter(|_| look == Look::Show);
        let failure = failure.map(str::to_owned);
        let mut decision =
            Decision { stats, wait: None, begun: None, stall: None, due: None, failure };
        if look == Look::Decide {
            let line = self.lines.get_mut(&id).expect("it was found before");
            line.requests += 1;
            let around = Measurements {
                model: model.clone(),
                window,
                idle,
                cache_ttl: to.cache_ttl,
                switch: switch.map(|(from, to)| Switch { from, to }),
                demands: line.demands.clone(),
                ..Measurements::default()
            };
            let measurements = around.around(&shown, tokens);
            let counted = estimate.total.tokens + weight.notes.tokens;
            let (frame, whole) = (weight.frame.tokens, weight.total().tokens);
            let sent = self.lines[&id].sent(&base, &chain, shown.transcript.len());
            let prompt = Some((&shown, sent, idle));
            let (base, model, about) = (&base, model.as_str(), &to.about);
            let (counts, intent) = (&self.experience.get().of_counts(model), to.intent);
            let subject = Subject {
                id,
                base,
                model,
                counts,
                counted,
                frame,
                whole,
                prompt,
                about,
                intent,
                now,
            };
            self.begin_if_due(&subject, &measurements, &mut decision);
        }
        let Decision { stats, wait, begun, stall, due, failure } = decision;
        let mut broke = None;
        let send = wait.map_or_else(
            || {
                let line = self.lines.get_mut(&id).expect("it was found before");
                line.send(chain.len());
                let (why, expects) = line.forward(&chain, idle, to.cache_ttl, to.intent);
                broke = why;
                let sent = Sent {
                    session: id,
                    epoch: line.epoch().number,
                    to,
                    model,
                    estimate,
                    tokens,
                    bytes: if view.is_whole() { bytes } else { shown.source().len() },
                    retry_of: None,
                    expects,
                };
                if view.is_whole() {
                    Outgoing::AsItCame(sent)
                } else {
                    Outgoing::View(Box::new(shown), sent)
                }
            },
            Outgoing::After,
        );
        Handling { session: id, send, stats, taken_in, broke, begun, stall, due, failure }
    }

    /// Takes the links that are new, giant results among them cut as is asked for. How many that were.
    fn extend(&mut self, id: SessionId, base: &Request, chain: &Chain) -> usize {
        let line = self.lines.get_mut(&id).expect("the caller found it");
        let (known, outlined) = (line.ids.len(), line.outlines.len());
        line.extend(base, chain, self.compactor.counter(), self.options.key);
        for prefix in chain.ids()[known..].iter().chain(&chain.outlines()[outlined..]) {
            self.by_prefix.insert(*prefix, id);
        }
        let Some((compactor, most)) = &self.intake else { return 0 };
        let arrivals = intake::arrivals(compactor, *most, base, chain, line, known);
        for arrival in &arrivals {
            let entry = base.transcript.entry(chain.entries()[arrival.link]);
            line.newest_epoch().take_in(arrival, entry);
        }
        arrivals.len()
    }

    /// The facts before any decision.
    fn stats(
        &self,
        window: Option<u64>,
        before: RequestSize,
        after: RequestSize,
        base: &Request,
        view: &View,
    ) -> Stats {
        let reason = if view.is_whole() { "below the trigger" } else { "the view in force" };
        Stats {
            triggered: false,
            strategy: self.compactor.called().to_owned(),
            reason: reason.to_owned(),
            before,
            after,
            kept_task: kept_task(base, view),
            kept_recent: view.kept_suffix(),
            over_budget: window.is_some_and(|window| after.count.tokens > window),
        }
    }

    /// Whether a compaction begins, and whether the request waits for it.
    fn begin_if_due(
        &mut self,
        subject: &Subject<'_>,
        measurements: &Measurements,
        decision: &mut Decision,
    ) {
        let Subject { id, frame, now, intent, .. } = *subject;
        let begins_itself = self.options.initiative == Initiative::Automatic;
        // What is to be summed up by its client is compacted only where it doesn't fit.
        let is_step = intent == Intent::Step;
        let soft = self.options.soft.as_ref().filter(|_| begins_itself && is_step);
        // What doesn't fit is refused, whatever the trigger looks at.
        let over = measurements.window.filter(|window| measurements.tokens.tokens > *window);
        let over = over.map(|window| Cause::Window {
            tokens: measurements.tokens.tokens,
            limit: window,
            window,
        });
        let hard = Some(&self.options.trigger).filter(|_| is_step);
        let hard = hard.and_then(|hard| hard.fires(measurements)).or_else(|| over.clone());
        // A reply that comes while a compaction is prepared can't be stripped inside its loop.
        let soft = soft.filter(|_| Binding::of(subject.base) != Binding::PrefixManual);
        let prepared = soft.and_then(|soft| soft.fires(measurements));
        // Demands don't depend on the triggers' measurements; some triggers say whether a demand waits.
        let is_heard =
            |cause: &Option<Cause>| cause.as_ref().is_some_and(|cause| !cause.demands().is_empty());
        let asked = asked(measurements, |_| is_step).filter(|_| !is_heard(&hard));
        let asked = asked.filter(|_| hard.is_some() || !is_heard(&prepared));
        let hard = asked.or(hard);
        let cause = hard.clone().or(prepared);
        if !begins_itself && !is_heard(&hard) && self.lines[&id].flight.is_none() {
            if hard.is_some() {
                "nobody has asked for a compaction".clone_into(&mut decision.stats.reason);
            }
            decision.due = hard;
            return;
        }
        let most = measurements.window.map(|window| subject.counts.counted(subject.model, window));
        let line = self.lines.get_mut(&id).expect("the caller found it");
        let Some(cause) = cause else { return };
        let asks = match self.options.at_limit {
            AtLimit::Extractive if hard.as_ref().is_some_and(|hard| !hard.is_remote()) => {
                Asks::Nobody
            }
            _ => Asks::Others,
        };
        // An extractive compaction doesn't wait for one that asks a summarizer.
        if let Some(flight) = line
            .flight
            .as_ref()
            .filter(|flight| flight.asks == Asks::Nobody || asks == Asks::Others)
        {
            if hard.is_some() {
                decision.wait = Some(flight.ticket);
            }
            "a compaction is under way".clone_into(&mut decision.stats.reason);
            return;
        }
        let tokens = subject.counted;
        let is = subject.circumstances(measurements.window);
        // What doesn't fit is refused anyway: nothing that may help is held back.
        let fits = measurements.window.is_none_or(|window| measurements.tokens.tokens <= window);
        let is_economic = is_automatic(&cause) && fits;
        if is_automatic(&cause) {
            let bare = Measurements {
                tokens: Count::exact(frame),
                bytes: subject.base.head().len() as u64,
                model: measurements.model.clone(),
                window: measurements.window,
                output_reserve: measurements.output_reserve,
                ..Measurements::default()
            };
            let is_floor = line.floor.is_some_and(|floor| tokens <= floor + floor / 8);
            // The last compaction landed above the window: another one won't help either.
            let is_hopeless = line.floor.zip(most).is_some_and(|(floor, most)| floor > most)
                && !line.breaker.has_changed(is);
            if is_floor
                || is_hopeless
                || self.options.trigger.fires(&bare).is_some_and(|c| is_automatic(&c))
            {
                line.breaker.stop(StallReason::Overhead, is);
            }
            let since = (line.epoch().number > 0).then_some(line.requests);
            if line.breaker.allows(now, is) {
                line.breaker.fires(since, is);
            }
            if !line.breaker.allows(now, is) {
                decision.stall = line.breaker.tell();
                if is_economic || is_hopeless || line.breaker.cools(now) {
                    let why =
                        line.breaker.stall(now).map_or("a compaction failed", StallReason::words);
                    why.clone_into(&mut decision.stats.reason);
                    let failure = line.breaker.failure().filter(|_| line.breaker.cools(now));
                    decision.failure = failure.map(str::to_owned).filter(|_| hard.is_some());
                    decision.due = hard;
                    return;
                }
            }
        }
        line.demands.clear();
        let target = self.landing(subject, measurements.window);
        let is_small = target.resolve(tokens) >= tokens;
        let target = match (self.options.landing, measurements.window) {
            (Landing::Window(_) | Landing::Turns(_), _)
                if is_small && !cause.demands().is_empty() =>
            {
                self.options.landing.target(None)
            }
            (_, Some(window)) if !fits => within(subject, window, target),
            _ => target,
        };
        decision.stats.triggered = true;
        decision.stats.reason = cause.to_string();
        let urgency = if is_economic { Urgency::Economy } else { Urgency::Must };
        let both = [Some(&self.options.trigger), soft].into_iter().flatten().cloned();
        let alone = Any::of(both).fires_alone(measurements).or(over);
        let manner = Manner { urgency, asks, alone };
        let begun = self.begin(subject, cause, target, measurements.window, manner);
        if hard.is_some() {
            decision.wait = Some(begun.ticket);
        }
        decision.begun = Some(Box::new(begun));
    }

    pub(super) fn begin(
        &mut self,
        subject: &Subject<'_>,
        cause: Cause,
        target: Target,
        window: Option<u64>,
        manner: Manner,
    ) -> Begun {
        let Manner { urgency, asks, alone } = manner;
        let Subject { id, base, about, now, .. } = *subject;
        let ticket = Ticket(self.number());
        let line = self.lines.get_mut(&id).expect("the caller found it");
        let epoch = line.epoch().number;
        let shows_all = line.epoch().shows_all();
        let is = subject.circumstances(window);
        line.flight =
            Some(Flight { ticket, since: now, urgency, asks, epoch, is, late: Vec::new() });
        let demands = cause.demands();
        let target = demands.iter().find_map(|demand| demand.target).unwrap_or(target);
        let pins: Vec<Pin> = demands.iter().flat_map(|demand| demand.pins.clone()).collect();
        let compactor = self.compactor.clone().with_cause(cause.clone()).with_cause_alone(alone);
        let compactor =
            if about.is_empty() { compactor } else { compactor.with_context(about.clone()) };
        let compactor = match urgency {
            Urgency::Economy => compactor,
            Urgency::Must => compactor.with_last_resort(),
        };
        // A demand that is out of range is as good as none.
        let demanded = compactor.clone().with_target(target).and_then(|it| it.with_pins(pins));
        let compactor = demanded.unwrap_or(compactor);
        let compactor = match asks {
            Asks::Others => compactor,
            Asks::Nobody => compactor.asking_nobody(),
        };
        // A loop in progress is bound to the shown prompt, not to the one that came.
        let compactor = if shows_all { compactor } else { compactor.with_loop_closed() };
        let prompt = subject.prompt.filter(|_| compactor.summaries().is_some());
        let compactor = match prompt {
            Some((shown, sent, idle)) => {
                compactor.with_agent_prompt(AgentPrompt { request: shown.clone(), sent, idle })
            }
            None => compactor,
        };
        Begun { ticket, cause, compaction: compactor.begin(base) }
    }
}

impl Line {
    /// Its newest report, if that is of this model.
    fn anchor_of(&self, model: &str) -> Option<crate::count::Anchor> {
        self.anchor.as_ref().filter(|(of, _)| of == model).map(|(_, anchor)| *anchor)
    }
}

/// Whether nobody asked for it, so that it must be worth its while.
pub(super) fn is_automatic(cause: &Cause) -> bool {
    match cause {
        Cause::Overflow { .. } | Cause::Asked(_) | Cause::Remote => false,
        Cause::All(causes) => causes.iter().all(is_automatic),
        _ => true,
    }
}
