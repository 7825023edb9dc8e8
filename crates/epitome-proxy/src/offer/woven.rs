//! Replies to one request, woven into one.

use std::sync::Arc;

use bytes::Bytes;
use epitome::Format;
use epitome::model::overflow::PromptOverflow;
use epitome_tower::{Read, Reply as _};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::request::{lawful, messages, silenced};
use super::smaller::smaller;
use super::verbatim::Verbatim;
use super::voice::Voice;
use super::{MOST_ROUNDS, answered, voice};
use crate::asking::Asking;
use crate::exchange::{Inbound, Load, Prompted};
use crate::flow::{Collected, Flow, Onward, Weave};
use crate::ledger::Entered;
use crate::native::members::{Members, list_of, raw};
use crate::recall::Recall;
use crate::refusal::Refusal;
use crate::sending::send;
use crate::sse::Events;
use crate::stall::events;

/// The longest reply that is read: it is held in memory.
const LONGEST: usize = 64 << 20;

/// What is asked once more.
pub(crate) struct Followed {
    pub(crate) client: Asking,
    pub(crate) head: Parts,
    pub(crate) prompted: Prompted,
    pub(crate) recall: Arc<Recall>,
    pub(crate) owner: Arc<str>,
    /// Whose bill its rounds are on.
    pub(crate) entered: Option<Arc<Entered>>,
}

/// A stream in which calls for what was hidden are answered.
pub(crate) struct Woven {
    followed: Box<Followed>,
    voice: Box<dyn Voice>,
    events: Events,
    /// Bytes that came.
    heard: usize,
    rounds: usize,
}

impl Followed {
    fn format(&self) -> Format {
        self.prompted.format
    }

    /// Answers what was recalled, and asks again: for words alone where it is the last round.
    async fn ask(&mut self, voice: &mut dyn Voice, nth: usize) -> Option<Result<Inbound, Refusal>> {
        let round = voice.round()?;
        let (recall, owner) = (Arc::clone(&self.recall), Arc::clone(&self.owner));
        let calls = round.calls.clone();
        let answers = tokio::task::spawn_blocking(move || answered(&recall, &owner, calls)).await;
        let failed = || Err("The recall failed.".to_owned());
        let answers = answers
            .unwrap_or_else(|_| round.calls.into_iter().map(|call| (call, failed())).collect());
        let more =
            round.said.into_iter().chain(voice.answers(&answers).into_iter().map(Verbatim::from));
        let Some(body) = self.with(more, round.container, nth) else {
            let what = "what was sent can't be read again";
            return Some(Err(Refusal::new(StatusCode::BAD_GATEWAY, "recall", what)));
        };
        let mut reply = self.sent(body).await;
        if let Ok((_, Read::TooLong(told))) = &reply
            && let Some(body) = self.smaller(told.clone()).await
        {
            // Nobody has seen anything of this round.
            reply = self.sent(body).await;
        }
        let reply = reply.map(|(reply, _)| reply);
        let Some(entered) = self.entered.clone() else { return Some(reply) };
        let account = Box::new(move |billed| entered.billed_recall(billed));
        Some(reply.map(|reply| reply.accounted(account)))
    }

    async fn sent(&mut self, body: String) -> Result<(Inbound, Read), Refusal> {
        self.head.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        self.prompted = self.prompted.clone().retold(body.into());
        let load = Load::Seen(self.prompted.clone());
        Ok(send(&mut self.client, self.head.clone(), load).await?.read().await)
    }

    /// The round that was refused, made smaller.
    async fn smaller(&self, told: PromptOverflow) -> Option<String> {
        let prompted = self.prompted.clone();
        let make = move || smaller(prompted.format, prompted.text()?, &told);
        tokio::task::spawn_blocking(make).await.ok()?
    }

    /// What was sent, and more behind it.
    fn with(
        &self,
        more: impl Iterator<Item = Verbatim>,
        container: Option<String>,
        nth: usize,
    ) -> Option<String> {
        let mut members = Members::read(self.prompted.text()?)?;
        let name = self.format().list();
        let mut all = messages(self.format(), members.raw(name)?)?;
        let more = more.map(|entry| raw(entry.to_string())).collect();
        all.extend(lawful(self.format(), more));
        members.set(name, list_of(&all));
        if nth == MOST_ROUNDS {
            silenced(self.format(), &mut members);
        }
        if let Some(id) = container {
            // One with skills is an object.
            let asked = members.get::<Value>("container").filter(Value::is_object);
            let with_id = |mut asked: Value| {
                asked["id"] = Value::from(id.clone());
                asked
            };
            let container = asked.map_or_else(|| Value::from(id.clone()), with_id);
            members.set("container", container.to_string());
        }
        Some(members.to_string())
    }
}

/// A model that recalls even where it may only speak.
fn circling() -> Refusal {
    let what = format!("the model recalled {MOST_ROUNDS} times and gave no answer");
    Refusal::new(StatusCode::BAD_GATEWAY, "recall", what)
}

impl Woven {
    pub(crate) fn new(followed: Followed) -> Self {
        let voice = voice(followed.format());
        Woven {
            followed: Box::new(followed),
            voice,
            events: Events::default(),
            heard: 0,
            rounds: 0,
        }
    }
}

impl Weave for Woven {
    fn passes(&mut self, piece: &Bytes) -> Bytes {
        let before = self.heard;
        self.heard = before.saturating_add(piece.len());
        if before <= LONGEST && self.heard > LONGEST {
            let voice = self.voice.rest();
            return [voice.as_bytes(), &self.events.give_up(), piece].concat().into();
        }
        self.events.turned(piece, |one| Some(self.voice.event(one)))
    }

    fn over(mut self: Box<Self>) -> Onward {
        let format = self.followed.format();
        if self.heard > LONGEST {
            return Onward::Over(Bytes::new());
        }
        if self.events.held() > 0 {
            // It breaks off in an event.
            let rest = [self.voice.rest().as_bytes(), &self.events.rest()].concat();
            return Onward::Over(rest.into());
        }
        if self.rounds == MOST_ROUNDS {
            let is_circling = self.voice.round().is_some();
            let rest = self.voice.rest().into();
            return Onward::Over(if is_circling { circling().event(format) } else { rest });
        }
        self.rounds += 1;
        if !self.voice.recalls_wholly() {
            return Onward::Over(self.voice.rest().into());
        }
        Onward::Next(Box::pin(async move {
            match self.followed.ask(&mut *self.voice, self.rounds).await {
                Some(answer) => events(format, answer).await.woven(self),
                None => Flow::from(Bytes::from(self.voice.rest())),
            }
        }))
    }
}

/// A reply that is whole, with what was recalled on the way.
pub(crate) async fn whole(mut reply: Inbound, mut followed: Followed) -> Result<Inbound, Refusal> {
    let mut voice = voice(followed.format());
    for nth in 0..=MOST_ROUNDS {
        let (mut head, flow) = reply.reply.into_parts();
        let inbound = |head, flow| Inbound::from(http::Response::from_parts(head, flow));
        if !head.status.is_success() || head.headers.contains_key(CONTENT_ENCODING) {
            return Ok(inbound(head, flow));
        }
        // What is told of the prompt is told once it is read.
        let mut left = LONGEST;
        let room = |bytes: usize| {
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let bytes = match flow.collect(room).await {
            Collected::Whole(bytes) => bytes,
            Collected::Long(flow) | Collected::Broken(flow) => return Ok(inbound(head, flow)),
        };
        let read = std::str::from_utf8(&bytes).ok().and_then(Verbatim::read);
        let read = read.filter(Verbatim::is_object);
        let Some(read) = read else {
            return Ok(inbound(head, Flow::from(bytes)));
        };
        match voice.whole(read.clone()) {
            Some(told) => {
                let bytes = if told == read { bytes } else { Bytes::from(told.to_string()) };
                head.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
                return Ok(inbound(head, Flow::from(bytes)));
            }
            None if nth == MOST_ROUNDS => break,
            None => match followed.ask(&mut *voice, nth + 1).await {
                Some(answer) => reply = answer?,
                None => return Ok(inbound(head, Flow::from(bytes))),
            },
        }
    }
    Err(circling())
}
