//! Many clients, one session machine, one provider, and everything that can go wrong between them,
//! from a seed.
//!
//! Each client runs an agent's loop over its own history: the machine decides what is sent, the
//! scripted model server judges it and answers. Answers get lost, clocks jump, clients fork, rewind and
//! re-write their history, models are switched, the machine crashes between any two steps. What must
//! hold in every state is checked as it happens.

mod client;

use std::collections::BTreeMap;
use std::time::Duration;

use epitome::Request;
use epitome::engine::{CompactError, Outcome, Step};
use epitome::model::overflow::Overflow;
use epitome::session::{Answer, Begun, Committed, Saved, Send, SessionId, Sessions};
use epitome::transcript::{PartKind, Role};
use epitome::wire;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::server::{Incoming, Model, Next, Payload, Seen, Server};
use client::{Client, closes, elements, reply};

/// One model binds its reasoning to the prefix, so that its clients may not change what they said;
/// the other doesn't, and its clients do.
const MODELS: [&str; 2] = ["claude-opus-5-5", "claude-opus-4-8"];

/// One world.
pub struct World {
    dice: Dice,
    sessions: Sessions,
    new_sessions: Box<dyn Fn() -> Sessions>,
    server: Server,
    model: &'static str,
    windows: [u64; 2],
    saved: BTreeMap<SessionId, Saved>,
    clients: Vec<Client>,
    now: Duration,
    /// The most tokens that a result may have when it is first sent, by the session's own counter, where the
    /// sessions take in what is larger.
    pub largest_arrival: Option<u64>,
    /// What happened, counted.
    pub score: Score,
}

/// What happened in a world.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Requests that the provider answered.
    pub answered: usize,
    /// Requests that were sent as a view.
    pub views: usize,
    /// Compactions begun.
    pub begun: usize,
    /// Compactions adopted.
    pub adopted: usize,
    /// Compactions that were overtaken, refused, lost or failed.
    pub dropped: usize,
    /// Prompts that the provider refused as too long.
    pub overflows: usize,
    /// Requests given up: nothing smaller was left to send.
    pub given_up: usize,
    /// Causes told why nothing is compacted.
    pub stuck: usize,
    /// Messages of which something giant was cut as it arrived.
    pub taken_in: usize,
}

impl Score {
    /// Adds what happened in another world.
    pub fn add(&mut self, other: &Score) {
        self.answered += other.answered;
        self.views += other.views;
        self.begun += other.begun;
        self.adopted += other.adopted;
        self.dropped += other.dropped;
        self.overflows += other.overflows;
        self.given_up += other.given_up;
        self.stuck += other.stuck;
        self.taken_in += other.taken_in;
    }
}

/// Something that never may be.
pub type Violation = String;

impl World {
    /// A world from a seed, with sessions made anew after each crash.
    pub fn new(seed: u64, sessions: impl Fn() -> Sessions + 'static, windows: [u64; 2]) -> Self {
        let mut server = Server::default();
        let mut dice = Dice::new(seed);
        let mut script = Dice::new(dice.roll());
        server.play(move |_: &Seen<'_>| Next::Reply(reply(&mut script)));
        let clients = (0..=dice.below(4))
            .map(|n| Client {
                tenant: format!("tenant {}", n % 2),
                history: Vec::new(),
                window: 0,
                sent: None,
            })
            .collect();
        World {
            model: MODELS[dice.below(2)],
            sessions: sessions(),
            new_sessions: Box::new(sessions),
            dice,
            server,
            windows,
            saved: BTreeMap::new(),
            clients,
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
        for _ in 0..steps {
            self.now += Duration::from_secs(self.dice.below(40) as u64);
            match self.dice.below(40) {
                0 => self.now += Duration::from_hours(self.dice.below(30) as u64),
                1 => self.crash(),
                2 => self.switch(),
                3 => self.fork(),
                4 => self.rewind(),
                5 => self.rewrite(),
                _ => {
                    let at = self.dice.below(self.clients.len());
                    self.turn(at)?;
                }
            }
        }
        Ok(())
    }

    /// What was in memory is gone; the clients have their histories, the host what it saved.
    fn crash(&mut self) {
        self.sessions = (self.new_sessions)();
        for saved in std::mem::take(&mut self.saved).into_values() {
            let text = serde_json::to_string(&saved).expect("it is data");
            let session = self.sessions.load(serde_json::from_str(&text).expect("its own form"));
            self.saved.insert(session, saved);
        }
        self.clients.iter_mut().for_each(|client| client.sent = None);
    }

    fn switch(&mut self) {
        let at = self.dice.below(self.clients.len());
        self.clients[at].window = 1 - self.clients[at].window;
    }

    fn fork(&mut self) {
        if self.clients.len() < 6 {
            let at = self.dice.below(self.clients.len());
            self.clients.push(self.clients[at].clone());
        }
    }

    /// Back to some earlier answer.
    fn rewind(&mut self) {
        let at = self.dice.below(self.clients.len());
        let len = self.clients[at].history.len();
        if len == 0 {
            return;
        }
        let to = self.dice.below(len);
        let client = &mut self.clients[at];
        client.history.truncate(to);
        while client.history.last().is_some_and(|last| !closes(last)) {
            client.history.pop();
        }
    }

    /// A string becomes a list of one text, as clients do on resume (PROVIDERS.md B.7).
    fn rewrite(&mut self) {
        // Nobody knows whether that breaks a binding.
        if self.model == MODELS[0] {
            return;
        }
        let at = self.dice.below(self.clients.len());
        for message in &mut self.clients[at].history {
            if let Some(text) = message["content"].as_str() {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
        }
    }

    /// One request of a client, with its answer.
    fn turn(&mut self, at: usize) -> Result<(), Violation> {
        let client = &mut self.clients[at];
        client.speak(&mut self.dice);
        let request = client.request(self.model, &mut self.dice);
        let window = Some(self.windows[self.clients[at].window]);
        let tenant = self.clients[at].tenant.clone();
        let before = self.in_force(at);
        let mut answer = self.sessions.observe(&tenant, &request, window, self.now);
        self.score.stuck += usize::from(answer.stuck.is_some());
        if answer.taken_in > 0 {
            self.score.taken_in += answer.taken_in;
            self.save(answer.session);
        }
        let mut patience = 4;
        loop {
            let session = answer.session;
            let waits = matches!(answer.send, Send::After(_));
            if let Some(begun) = answer.begun.take_if(|_| waits) {
                self.score.begun += 1;
                // Until a commit the old view is in force.
                let now = self.in_force(at);
                if before.is_some() && before != now {
                    return Err(format!("law 10: {before:?} became {now:?} without a commit"));
                }
                self.compact(session, *begun)?;
            }
            if !waits {
                break;
            }
            patience -= 1;
            if patience < -20 {
                return Err("the machine begins compactions without end".to_owned());
            }
            if patience <= 0 {
                // Whoever ran it is gone.
                self.now += Duration::from_mins(10);
            }
            let decide = self.dice.one_in(2) || patience < 0;
            answer = if decide {
                self.sessions.observe(&tenant, &request, window, self.now)
            } else {
                self.sessions.show(&tenant, &request, window, self.now)
            };
        }
        let background = answer.begun.take();
        self.send(at, &request, &answer, 1)?;
        if let Some(begun) = background {
            self.score.begun += 1;
            // While it is prepared the conversation goes on.
            if self.dice.one_in(2) && self.clients[at].sent.is_some() {
                self.turn(at)?;
            }
            self.compact(answer.session, *begun)?;
        }
        Ok(())
    }

    /// The epoch that a client's request would be shown under, found without changing anything.
    fn in_force(&self, at: usize) -> Option<u32> {
        let (session, ..) = self.clients[at].sent.as_ref()?;
        self.sessions.epoch(*session).map(|epoch| epoch.number)
    }

    /// Runs a compaction, and brings it back, late, or never.
    fn compact(&mut self, session: SessionId, begun: Begun) -> Result<(), Violation> {
        if self.dice.one_in(10) {
            // Lost: the machine gives it up by itself.
            self.score.dropped += 1;
            return Ok(());
        }
        let mut compaction = begun.compaction;
        let outcome: Result<Box<Outcome>, CompactError> = loop {
            match compaction.step() {
                Step::Done(outcome) => break outcome,
                _ if self.dice.one_in(500) => {
                    compaction.supply(epitome::engine::Answer::Cancel);
                }
                _ => {}
            }
        };
        if self.dice.one_in(12) {
            self.now += Duration::from_secs(self.dice.below(400) as u64);
        }
        if let Ok(outcome) = &outcome
            && !outcome.receipt.fallbacks.is_empty()
        {
            return Err(format!("fell back: {:?}", outcome.receipt.fallbacks));
        }
        let outcome = outcome.as_ref().map(|outcome| &**outcome);
        match self.sessions.commit(session, begun.ticket, outcome, self.now) {
            Committed::Adopted { .. } => {
                self.score.adopted += 1;
                self.save(session);
            }
            _ => self.score.dropped += 1,
        }
        Ok(())
    }

    fn save(&mut self, session: SessionId) {
        self.saved.extend(self.sessions.save(session).map(|saved| (session, saved)));
    }

    /// Sends what the machine says, and takes the answer.
    fn send(
        &mut self,
        at: usize,
        request: &Request,
        answer: &Answer,
        retries: u32,
    ) -> Result<(), Violation> {
        let shown = match &answer.send {
            Send::AsItCame => request.clone(),
            Send::View(shown) => {
                self.score.views += 1;
                shown.as_ref().clone()
            }
            Send::After(_) => return Err("nothing to send".to_owned()),
        };
        self.laws(at, request, &shown, answer)?;
        self.judge_window(at);
        let headers = [("anthropic-version".to_owned(), "2023-06-01".to_owned())];
        let incoming = Incoming {
            method: "POST",
            path: "/v1/messages",
            headers: &headers,
            body: shown.source().as_bytes(),
        };
        let (reply, noted) = self.server.answer(&incoming, self.now);
        let Payload::Whole(text) = reply.payload else { return Err("a stream".to_owned()) };
        let reply: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        match noted.verdict {
            Ok(_) => {
                self.score.answered += 1;
                if let Some(usage) = noted.usage {
                    self.sessions.reported(answer.session, usage.prompt);
                }
                let message = json!({"role": "assistant", "content": reply["content"]});
                self.clients[at].history.push(message);
                Ok(())
            }
            Err(refusal) if refusal.message.starts_with("prompt is too long") => {
                self.score.overflows += 1;
                self.recover(at, request, &shown, &refusal.message, retries)
            }
            Err(refusal) => {
                Err(format!("the provider refuses: {}\n{}", refusal.message, shown.source()))
            }
        }
    }

    fn recover(
        &mut self,
        at: usize,
        request: &Request,
        shown: &Request,
        message: &str,
        retries: u32,
    ) -> Result<(), Violation> {
        let mut numbers = message
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|digits| digits.parse::<u64>().ok());
        let told = Overflow::of_tokens(numbers.next(), numbers.next());
        let tenant = self.clients[at].tenant.clone();
        let begun = self.sessions.overflowed(&tenant, request, &told, self.now);
        let Some((session, begun)) = begun.filter(|_| retries > 0) else {
            // The host tells its client.
            self.score.given_up += 1;
            self.clients[at].history.truncate(0);
            self.clients[at].sent = None;
            return Ok(());
        };
        self.score.begun += 1;
        self.compact(session, *begun)?;
        let window = Some(self.windows[self.clients[at].window]);
        let again = self.sessions.show(&tenant, request, window, self.now);
        if let Send::View(next) = &again.send
            && next.source().len() >= shown.source().len()
            && next.source() != shown.source()
        {
            return Err("an overflowing prompt was sent again, and not smaller".to_owned());
        }
        self.send(at, request, &again, retries - 1)
    }

    /// The provider's window is the one that the client believes in.
    fn judge_window(&mut self, at: usize) {
        let window = self.windows[self.clients[at].window];
        let mut model = Model::named(self.model).expect("in its table");
        model.window = window;
        self.model.clone_into(&mut model.name);
        self.server.judge.models.put(model);
    }

    /// What must hold of everything that is sent.
    fn laws(
        &mut self,
        at: usize,
        request: &Request,
        shown: &Request,
        answer: &Answer,
    ) -> Result<(), Violation> {
        let findings = wire::check(shown);
        if !findings.is_empty() {
            return Err(format!("law 2: {findings:?}\n{}", shown.source()));
        }
        if let Some(most) = self.largest_arrival {
            intake_law(shown, most)?;
        }
        let client = &self.clients[at];
        let window = Some(self.windows[client.window]);
        let again = self.sessions.show(&client.tenant, request, window, self.now);
        let same = match (&again.send, &answer.send) {
            (Send::View(one), Send::View(other)) => one.source() == other.source(),
            (Send::AsItCame, Send::AsItCame) => true,
            _ => false,
        };
        if !same {
            return Err("law 5: looked at again, something else is shown".to_owned());
        }
        let Some(epoch) = self.sessions.epoch(answer.session).map(|epoch| epoch.number) else {
            return Err("an answer of a session that isn't known".to_owned());
        };
        let (own, sent) = (elements(request), elements(shown));
        if let Some((session, in_epoch, before, own_before)) = &client.sent
            && *session == answer.session
            && *in_epoch == epoch
            && own.starts_with(own_before)
            && !sent.starts_with(before)
        {
            let len = sent.iter().zip(before).take_while(|(one, other)| one == other).count();
            return Err(format!(
                "law 7: inside epoch {epoch} the prompt changed at element {len}:\n{:?}\n{:?}",
                before.get(len),
                sent.get(len)
            ));
        }
        self.clients[at].sent = Some((answer.session, epoch, sent, own));
        Ok(())
    }
}

/// What the model hasn't seen has no giant result.
fn intake_law(shown: &Request, most: u64) -> Result<(), Violation> {
    let counter = epitome::count::counter("o200k").expect("a known name");
    let arrived = shown.transcript.entries().rev().take_while(|e| e.role() != Role::Assistant);
    for part in arrived.flat_map(|entry| entry.parts()) {
        let tokens = counter.text(&part.text()).tokens;
        if part.kind() == PartKind::Result && tokens > most {
            return Err(format!("intake: a result of {tokens} tokens"));
        }
    }
    Ok(())
}
