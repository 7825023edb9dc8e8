//! Many clients, one session machine, their providers, and everything that can go wrong between them,
//! from a seed.
//!
//! Each client runs an agent's loop over its own history, in one of the formats: the machine decides what
//! is sent, the scripted model server judges it and answers. One small thing happens at a time, to any of
//! them: a request comes in, a compaction does a step, is brought back, is saved, a request is sent, its
//! answer arrives. In between answers get lost, clocks jump, clients fork, rewind and re-write their
//! history, models are switched, the machine crashes. What must hold in every state is checked as it happens.

mod client;
mod dialect;
mod flight;
mod laws;
mod score;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use epitome::engine::plan::Reached;
use epitome::session::{ChainKey, Committed, Saved, SessionId, Sessions, Ticket};
use epitome::trigger::{Asker, Demand};

use crate::server::{Seen, Server};
use client::{Client, Stage};
use epitome_bench::dice::Dice;
use flight::{Flight, State};

pub use score::Score;

/// The key of every chain, by which what is shown is understood here too.
pub const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

/// One world.
pub struct World {
    dice: Dice,
    sessions: Sessions,
    new_sessions: Box<dyn Fn() -> Sessions>,
    server: Server,
    windows: [u64; 2],
    /// What outlives a crash.
    disk: BTreeMap<SessionId, Saved>,
    /// The epoch in which each session was saved last.
    kept: BTreeMap<SessionId, u32>,
    /// Sessions that began an epoch, or took something in, and aren't saved yet.
    unsaved: BTreeSet<SessionId>,
    clients: Vec<Client>,
    flights: Vec<Flight>,
    /// How compactions ended.
    ended: BTreeMap<Ticket, Committed>,
    /// The epoch of each session, as far as is known from commits.
    epochs: BTreeMap<SessionId, u32>,
    /// What was compacted to its target last.
    landed: BTreeMap<SessionId, Landed>,
    now: Duration,
    /// The most tokens that a result may have when it is first sent, by the session's own counter, where the
    /// sessions take in what is larger.
    pub largest_arrival: Option<u64>,
    /// What happened, counted.
    pub score: Score,
}

/// Something that never may be.
pub type Violation = String;

/// A compaction that reached its target: its epoch, how many entries it saw, and for which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Landed {
    epoch: u32,
    entries: usize,
    window: Option<u64>,
}

/// Clients at most.
const MOST_CLIENTS: usize = 7;

impl World {
    /// A world from a seed, with sessions made anew after each crash.
    pub fn new(seed: u64, sessions: impl Fn() -> Sessions + 'static, windows: [u64; 2]) -> Self {
        Self::of(Dice::new(seed), sessions, windows)
    }

    /// A world in which a fuzzer's bytes choose what happens, two for each choice, as long as they last.
    pub fn of_tape(
        tape: &[u8],
        sessions: impl Fn() -> Sessions + 'static,
        windows: [u64; 2],
    ) -> Self {
        Self::of(Dice::of_tape(tape), sessions, windows)
    }

    fn of(mut dice: Dice, sessions: impl Fn() -> Sessions + 'static, windows: [u64; 2]) -> Self {
        let mut server = Server::default();
        let mut script = Dice::new(dice.roll());
        server.play(move |seen: &Seen<'_>| client::next(&mut script, seen));
        let many = 2 + dice.below(3);
        let clients = (0..many).map(|nth| Client::new(&mut dice, nth)).collect();
        World {
            sessions: sessions(),
            new_sessions: Box::new(sessions),
            dice,
            server,
            windows,
            disk: BTreeMap::new(),
            kept: BTreeMap::new(),
            unsaved: BTreeSet::new(),
            clients,
            flights: Vec::new(),
            ended: BTreeMap::new(),
            epochs: BTreeMap::new(),
            landed: BTreeMap::new(),
            now: Duration::from_secs(1_000),
            largest_arrival: None,
            score: Score::default(),
        }
    }

    /// Lets so many things happen.
    ///
    /// # Errors
    /// The law that is broken, and how.
    pub fn run(&mut self, steps: usize) -> Result<(), Violation> {
        for step in 0..steps {
            self.now += Duration::from_millis(self.dice.below(9_000) as u64);
            self.tick()
                .and_then(|()| self.epochs_stand())
                .map_err(|why| format!("step {step}: {why}"))?;
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Violation> {
        let at = self.dice.below(self.clients.len());
        match self.dice.below(240) {
            0 | 1 => self.jump(),
            2 | 3 => return self.crash(),
            4..=6 => self.clients[at].switch(&mut self.score),
            7 | 8 => self.fork(at),
            9 => self.rewind(at),
            10 => self.resume(at),
            11 | 12 => self.demand(at),
            // The client goes away in the middle.
            13 => self.clients[at].stage = Stage::Idle,
            14..=110 if !self.flights.is_empty() => {
                let flight = self.dice.below(self.flights.len());
                return self.fly(flight);
            }
            _ => return self.turn(at),
        }
        Ok(())
    }

    /// Clocks go forward a day, or back a while.
    fn jump(&mut self) {
        self.score.jumps += 1;
        if self.dice.one_in(2) {
            self.now += Duration::from_hours(self.dice.below(30) as u64);
        } else {
            self.now = self.now.saturating_sub(Duration::from_secs(self.dice.below(4_000) as u64));
        }
    }

    /// What was in memory is gone; the clients have their histories, the host what it saved.
    fn crash(&mut self) -> Result<(), Violation> {
        self.score.crashes += 1;
        self.score.crashes_inside += usize::from(!self.flights.is_empty());
        self.score.crashes_unsaved += usize::from(!self.unsaved.is_empty());
        self.flights.clear();
        self.unsaved.clear();
        self.epochs.clear();
        self.landed.clear();
        self.sessions = (self.new_sessions)();
        let mut anew = BTreeMap::new();
        for (before, saved) in std::mem::take(&mut self.disk) {
            let text = serde_json::to_string(&saved).expect("it is data");
            let session = self.sessions.load(serde_json::from_str(&text).expect("its own form"));
            if self.sessions.save(session).as_ref() != Some(&saved) {
                return Err(format!("law 10: {before:?} isn't what was saved of it"));
            }
            anew.insert(before, session);
            self.disk.insert(session, saved);
        }
        let kept = std::mem::take(&mut self.kept);
        self.kept = kept
            .into_iter()
            .filter_map(|(before, epoch)| Some((*anew.get(&before)?, epoch)))
            .collect();
        for client in &mut self.clients {
            client.stage = Stage::Idle;
            if let Some(sent) = &mut client.sent {
                sent.session = sent.session.and_then(|before| anew.get(&before).copied());
            }
        }
        Ok(())
    }

    fn fork(&mut self, at: usize) {
        if self.clients.len() < MOST_CLIENTS {
            self.score.forks += 1;
            self.clients.push(self.clients[at].fork());
        }
    }

    /// Back to some earlier answer.
    fn rewind(&mut self, at: usize) {
        let client = &mut self.clients[at];
        if matches!(client.stage, Stage::Idle) && !client.history.is_empty() {
            self.score.rewinds += 1;
            client.rewind(self.dice.below(client.history.len()));
        }
    }

    /// A session is taken up again: its history is written otherwise.
    fn resume(&mut self, at: usize) {
        let client = &mut self.clients[at];
        if matches!(client.stage, Stage::Idle) && client.pair.habit == dialect::Habit::Sloppy {
            client.dialect.resume(&mut client.history);
        }
    }

    /// Somebody asks for a compaction.
    fn demand(&mut self, at: usize) {
        let Some(session) = self.clients[at].sent.as_ref().and_then(|sent| sent.session) else {
            return;
        };
        self.score.demands += 1;
        let by = self.dice.pick(&[Asker::Host, Asker::Model]);
        self.sessions.demand(session, Demand::new(by, "it is late"));
    }

    /// A compaction goes on, ends, or is brought back, late or never.
    fn fly(&mut self, at: usize) -> Result<(), Violation> {
        let flight = &mut self.flights[at];
        if let State::Flying(_) = flight.state {
            if self.dice.one_in(150) {
                flight.cancel();
            }
            // Each strategy is a step: a flight has two dozen or so.
            flight.fly(1 + self.dice.below(18));
            return Ok(());
        }
        let Flight { session, ticket, window, state } = self.flights.swap_remove(at);
        let State::Landed(outcome) = state else { return Ok(()) };
        if let Ok(outcome) = &outcome
            && !outcome.receipt.fallbacks.is_empty()
        {
            return Err(format!("fell back: {:?}", outcome.receipt.fallbacks));
        }
        if self.dice.one_in(12) {
            // Lost: the machine gives it up by itself.
            self.score.dropped += 1;
            return Ok(());
        }
        let brought = outcome.as_ref().map(|outcome| &**outcome);
        let committed = self.sessions.commit(session, ticket, brought, self.now);
        match committed {
            Committed::Adopted { epoch } => {
                self.score.adopted += 1;
                self.unsaved.insert(session);
                self.epochs.insert(session, epoch);
                self.landed.remove(&session);
                let done =
                    outcome.as_ref().ok().filter(|done| done.receipt.reached == Reached::Target);
                let entries = done.map(|done| done.base.transcript.len());
                self.landed
                    .extend(entries.map(|entries| (session, Landed { epoch, entries, window })));
            }
            _ => self.score.dropped += 1,
        }
        self.ended.insert(ticket, committed);
        Ok(())
    }

    /// Law 10: whatever happened, the view in force is the one that was committed last.
    fn epochs_stand(&self) -> Result<(), Violation> {
        for (session, epoch) in &self.epochs {
            let now = self.sessions.epoch(*session).map(|epoch| epoch.number);
            if now != Some(*epoch) {
                return Err(format!(
                    "law 10: epoch {epoch} of {session:?} became {now:?} without a commit"
                ));
            }
        }
        Ok(())
    }

    /// Before anything is sent under an epoch, or in a session, that isn't saved yet.
    fn save(&mut self, session: SessionId) {
        let is_epoch =
            |saved: u32| self.sessions.epoch(session).is_some_and(|now| now.number == saved);
        let is_known = self.kept.get(&session).is_some_and(|saved| is_epoch(*saved));
        let is_new = !is_known && !is_epoch(0);
        if self.unsaved.remove(&session) || is_new {
            self.kept.extend(self.sessions.epoch(session).map(|now| (session, now.number)));
            self.disk.extend(self.sessions.save(session).map(|saved| (session, saved)));
        }
    }
}
