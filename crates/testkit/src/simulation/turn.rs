//! What a request goes through, one small thing after another.

use epitome::Request;
use epitome::model::overflow::{AnswerKind, PromptOverflow, classify};
use epitome::session::{Begun, Handling, Outgoing, RefusedPrompt, Retry, Sent, SessionId, Ticket};
use epitome::trigger::Cause;
use epitome::wire;
use serde_json::Value;

use super::client::{Asked, Stage};
use super::flight::{Flight, State};
use super::laws::{self, Shown};
use super::{Landed, Violation, World};
use crate::server::prompt::Mismatch;
use crate::server::{Incoming, Noted, Payload};

/// Looks at one request after which the machine is in a circle.
const MOST_LOOKS: usize = 60;

impl World {
    /// The next thing that happens to a client.
    pub(super) fn turn(&mut self, at: usize) -> Result<(), Violation> {
        match std::mem::replace(&mut self.clients[at].stage, Stage::Idle) {
            Stage::Idle => {
                let client = &mut self.clients[at];
                client.speak(&mut self.dice);
                client.stage = Stage::Asked(client.ask(self.windows, &mut self.dice));
                Ok(())
            }
            Stage::Asked(asked) => self.look(at, asked, Look::Decide),
            Stage::Waiting(asked, ticket) => self.wait(at, asked, ticket),
            Stage::Ready { asked, shown, sent, epoch } => self.send(at, asked, &shown, sent, epoch),
            Stage::Answered { sent, prompt, said } => {
                if self.dice.one_in(20) {
                    self.score.lost += 1;
                    return Ok(());
                }
                self.sessions.reported(sent, prompt);
                self.clients[at].history.extend(said);
                Ok(())
            }
            Stage::Smaller(asked, refused, ticket) => self.smaller(at, asked, refused, ticket),
        }
    }

    fn look(&mut self, at: usize, mut asked: Asked, look: Look) -> Result<(), Violation> {
        asked.looks += 1;
        if asked.looks > MOST_LOOKS {
            return Err("the machine keeps a request for ever".to_owned());
        }
        let (tenant, to) = (self.clients[at].tenant.clone(), asked.to.clone());
        let answer = match look {
            Look::Decide => self.sessions.observe(&tenant, &asked.request, to, self.now),
            Look::Show => self.sessions.show(&tenant, &asked.request, to, self.now),
        };
        self.take(at, asked, answer)
    }

    fn take(&mut self, at: usize, asked: Asked, mut answer: Handling) -> Result<(), Violation> {
        let session = answer.session;
        let Some(epoch) = self.sessions.epoch(session).map(|epoch| epoch.number) else {
            return Err("an answer of a session that isn't known".to_owned());
        };
        let known = self.epochs.insert(session, epoch);
        // A model that binds its reasoning begins one, too.
        if known.is_some_and(|known| known > epoch || known + 1 < epoch) {
            return Err(format!(
                "law 10: epoch {known:?} of {session:?} became {epoch} without a commit"
            ));
        }
        self.score.stall += usize::from(answer.stall.is_some());
        if answer.taken_in > 0 {
            self.score.taken_in += answer.taken_in;
            self.unsaved.insert(session);
        }
        if let Some(begun) = answer.begun.take() {
            self.rests(&begun, session, epoch, &asked)?;
            self.begin(session, *begun, asked.to.window);
        }
        self.clients[at].stage = match answer.send {
            Outgoing::After(ticket) => Stage::Waiting(asked, ticket),
            Outgoing::AsItCame(sent) => {
                let shown = asked.request.clone();
                Stage::Ready { asked, shown, sent, epoch }
            }
            Outgoing::View(shown, sent) => Stage::Ready { asked, shown: *shown, sent, epoch },
        };
        Ok(())
    }

    /// Law 5: what was compacted to its target for a request isn't compacted again for it.
    fn rests(
        &self,
        begun: &Begun,
        session: SessionId,
        epoch: u32,
        asked: &Asked,
    ) -> Result<(), Violation> {
        let is_asked = matches!(begun.cause, Cause::Asked(_)) || !begun.cause.demands().is_empty();
        let (entries, window) = (asked.request.transcript.len(), asked.to.window);
        let is_known = self.landed.get(&session) == Some(&Landed { epoch, entries, window });
        if asked.looks > 1 && !is_asked && is_known {
            return Err(format!("law 5: compacted again, and nothing is new: {}", begun.cause));
        }
        Ok(())
    }

    fn begin(&mut self, session: SessionId, begun: Begun, window: Option<u64>) {
        self.score.begun += 1;
        let state = State::Flying(Box::new(begun.compaction));
        self.flights.push(Flight { session, ticket: begun.ticket, window, state });
    }

    fn wait(&mut self, at: usize, asked: Asked, ticket: Ticket) -> Result<(), Violation> {
        let is_flying = self.flights.iter().any(|flight| flight.ticket == ticket);
        if is_flying {
            self.clients[at].stage = Stage::Waiting(asked, ticket);
            return Ok(());
        }
        if !self.ended.contains_key(&ticket) {
            // Whoever ran it is gone; the machine gives it up after a while.
            self.now += std::time::Duration::from_secs(50);
        }
        let look = if self.dice.one_in(2) { Look::Decide } else { Look::Show };
        self.look(at, asked, look)
    }

    /// Sends what the machine says, after whatever must be kept is kept.
    fn send(
        &mut self,
        at: usize,
        asked: Asked,
        shown: &Request,
        sent: Sent,
        epoch: u32,
    ) -> Result<(), Violation> {
        let session = sent.session();
        self.save(session);
        self.laws(at, &asked, shown, session, epoch)?;
        if let Some(before) = asked.refused
            && shown.source().len() >= before
        {
            return Err("an overflowing prompt was sent again, and not smaller".to_owned());
        }
        let (noted, status, body) = self.ask_provider(&asked, shown)?;
        let client = &mut self.clients[at];
        let format = shown.format.name();
        match noted.verdict {
            Ok(understood) if status == 200 => {
                let moved = understood.misplaced.iter().find(|out| out.why == Mismatch::Prefix);
                if let Some(out) = moved {
                    return Err(format!(
                        "reasoning is bound elsewhere: {out:?}\n{}",
                        shown.source()
                    ));
                }
                *self.score.answered.entry(format).or_default() += 1;
                let is_view = shown.source() != asked.request.source();
                *self.score.views.entry(format).or_default() += usize::from(is_view);
                let answer: Value = serde_json::from_str(&body).map_err(|e| e.to_string())?;
                let said = client.dialect.said(&answer);
                let prompt = noted.usage.map(|usage| usage.prompt).unwrap_or_default();
                client.stage = Stage::Answered { sent, prompt, said };
                Ok(())
            }
            // The provider has no time: the client asks again.
            Ok(_) => {
                self.score.lost += 1;
                Ok(())
            }
            Err(refusal) => match classify(status, &body) {
                AnswerKind::Overflow(told) => {
                    self.score.overflows += 1;
                    self.recover(at, asked, shown, sent, &told);
                    Ok(())
                }
                _ => Err(format!("the provider refuses: {}\n{}", refusal.message, shown.source())),
            },
        }
    }

    fn ask_provider(
        &mut self,
        asked: &Asked,
        shown: &Request,
    ) -> Result<(Noted, u16, String), Violation> {
        let name = asked.to.model.as_deref().unwrap_or_default();
        // The provider's window is the one that the client believes in.
        let mut model = self.server.judge.models.get(name).ok_or("no such model")?;
        model.window = asked.to.window.unwrap_or(model.window);
        self.server.judge.models.put(model);
        let headers = [("anthropic-version".to_owned(), "2023-06-01".to_owned())];
        let body = shown.source().as_bytes();
        let incoming = Incoming { method: "POST", path: &asked.path, headers: &headers, body };
        let (reply, noted) = self.server.answer(&incoming, self.now);
        let Payload::Whole(text) = reply.payload else { return Err("a stream".to_owned()) };
        Ok((noted, reply.status, text))
    }

    fn recover(
        &mut self,
        at: usize,
        asked: Asked,
        shown: &Request,
        sent: Sent,
        told: &PromptOverflow,
    ) {
        let tenant = self.clients[at].tenant.clone();
        let retry = self.sessions.overflowed(&tenant, &asked.request, sent, told, self.now);
        let Some(Retry { session, begun, refused }) = retry else {
            self.give_up(at);
            return;
        };
        let ticket = begun.ticket;
        self.begin(session, *begun, asked.to.window);
        let asked = Asked { refused: Some(shown.source().len()), ..asked };
        self.clients[at].stage = Stage::Smaller(asked, refused, ticket);
    }

    /// The request once more, if it is smaller now.
    fn smaller(
        &mut self,
        at: usize,
        asked: Asked,
        refused: RefusedPrompt,
        ticket: Ticket,
    ) -> Result<(), Violation> {
        if self.flights.iter().any(|flight| flight.ticket == ticket) {
            self.clients[at].stage = Stage::Smaller(asked, refused, ticket);
            return Ok(());
        }
        let tenant = &self.clients[at].tenant;
        let retry = self.sessions.retry(tenant, &asked.request, refused, self.now);
        if let Some(answer) = retry {
            return self.take(at, asked, answer);
        }
        self.give_up(at);
        Ok(())
    }

    /// The host tells its client, who begins anew.
    fn give_up(&mut self, at: usize) {
        self.score.given_up += 1;
        self.clients[at].start_over();
    }

    /// What must hold of everything that is sent.
    fn laws(
        &mut self,
        at: usize,
        asked: &Asked,
        shown: &Request,
        session: SessionId,
        epoch: u32,
    ) -> Result<(), Violation> {
        let findings = wire::check(shown);
        if !findings.is_empty() {
            return Err(format!("law 2: {findings:?}\n{}", shown.source()));
        }
        if let Some(most) = self.largest_arrival {
            laws::intake(shown, most)?;
        }
        let client = &self.clients[at];
        let in_force = self.sessions.epoch(session).filter(|now| now.number == epoch);
        if let Some(in_force) = in_force {
            laws::returns(&client.tenant, in_force, &asked.request, shown)?;
            let again =
                self.sessions.show(&client.tenant, &asked.request, asked.to.clone(), self.now);
            looks_the_same(&again, session, asked, shown)?;
        }
        let (own, elements) =
            (self.clients[at].elements(&asked.request), self.clients[at].elements(shown));
        let now = Shown { session: Some(session), epoch, elements, own };
        if let Some(before) = self.clients[at].sent.replace(now.clone()) {
            laws::prefix(&before, &now)?;
        }
        Ok(())
    }
}

/// Law 5: looked at again, the same is shown.
fn looks_the_same(
    again: &Handling,
    session: SessionId,
    asked: &Asked,
    shown: &Request,
) -> Result<(), Violation> {
    let source = match &again.send {
        Outgoing::View(view, _) => view.source(),
        Outgoing::AsItCame(_) => asked.request.source(),
        Outgoing::After(_) => return Err("law 5: what is only shown waits".to_owned()),
    };
    // Two clients may have one history, until another of them says more.
    if again.session == session && source != shown.source() {
        return Err("law 5: looked at again, something else is shown".to_owned());
    }
    Ok(())
}

/// How a request is looked at.
#[derive(Clone, Copy)]
enum Look {
    Decide,
    Show,
}
