//! A model as a summarizer: what it is sent, how often, and what it may cost.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

use backon::{ExponentialBuilder, Retryable as _};
use epitome::model::{Model as Facts, Money};
use epitome::summarize::{
    AgentPrompt, Answering, FailureKind, SYSTEM, Spent, SummarizeError, Summarizer, Summary,
    SummaryRequest,
};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::body::{REASONING, body, is_without_reasoning, most_answer, most_output};
use crate::call::{Again, Call, Failed};
use crate::model::{Model, UNKNOWN_WINDOW};
use crate::purse::Reserved;

impl Model {
    /// Tokens of what is read.
    fn prompt(&self, request: &SummaryRequest) -> u64 {
        let tokens = |text: &str| self.counter.text(text).upper;
        match &request.body {
            Some(body) => tokens(body),
            None => tokens(SYSTEM) + tokens(&request.prompt()),
        }
    }

    /// A request with `besides` tokens for reasoning. Its cost is as if nothing were cached, since nobody promises that.
    fn writing(&self, request: &SummaryRequest, besides: u64) -> PreparedCall {
        let facts = self.facts.as_ref();
        let most = |besides| most_answer(request, &self.endpoint, facts, besides);
        let is_roomier = besides == 0 && is_without_reasoning(&self.endpoint, facts);
        let prompt = (is_roomier || facts.is_some()).then(|| self.prompt(request));
        let room = prompt.filter(|_| is_roomier).map(|prompt| {
            let window = facts.and_then(|facts| facts.window).unwrap_or(UNKNOWN_WINDOW);
            let left = window.saturating_sub(prompt.saturating_add(most(0)));
            most(left.min(REASONING)) - most(0)
        });
        let cost = facts.zip(prompt);
        let cost = cost.and_then(|(facts, prompt)| facts.summary_cost(prompt, 0, most(besides)));
        let body = body(request, &self.endpoint, facts, besides);
        PreparedCall { body, most: cost, room: room.unwrap_or_default() }
    }

    /// Sets aside what a try may cost, if the purse allows that and what is to follow it.
    async fn reserve(
        &self,
        request: &SummaryRequest,
        most: Option<Money>,
    ) -> Result<Option<Reserved<'_>>, SummarizeError> {
        let Some(purse) = &self.purse else { return Ok(None) };
        let Some(most) = most else {
            let what = format!("the price of {} isn't known", self.endpoint.model);
            return Err(SummarizeError::new(FailureKind::SpendCap, what));
        };
        let besides = most.times(u64::from(request.ahead));
        purse.reserve(most, besides, self.limits.total).await.map(Some)
    }

    /// The same on a thread of its own: over a long history it takes longer than a task may hold its runtime.
    async fn written(
        self: &Arc<Self>,
        request: &Arc<SummaryRequest>,
        besides: u64,
    ) -> PreparedCall {
        let (model, request) = (Arc::clone(self), Arc::clone(request));
        let written = spawn_blocking(move || model.writing(&request, besides)).await;
        written.unwrap_or_else(|error| resume_unwind(error.into_panic()))
    }

    /// The text of the answer to a request, which is sent again as long as that may help.
    async fn tried(
        &self,
        call: &Call<'_>,
        request: &SummaryRequest,
        PreparedCall { body, most, .. }: PreparedCall,
    ) -> Result<String, Failed> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.limits.pause)
            .with_max_times(self.limits.retries);
        // Each try is paid for, so each is asked about.
        let send = async || {
            let reserved = self.reserve(request, most).await.map_err(Failed::from)?;
            call.send(&body, most, reserved).await
        };
        let may_help = |failed: &Failed| matches!(failed.again, Again::Maybe | Again::After(_));
        let left = || call.until.saturating_duration_since(Instant::now());
        let tries = send.retry(pauses).when(may_help).adjust(|failed, pause| {
            // `None`: that was the last try.
            let pause = match failed.again {
                Again::After(time) => pause?.max(time),
                _ => pause?,
            };
            // Whoever is next in the chain is asked instead of waiting for what comes too late.
            Some(pause).filter(|pause| *pause < left())
        });
        tries.await.map_err(|failed| match failed.again {
            Again::After(time) if time >= left() => {
                let detail = format!("{}; not before {} s from now", failed.detail, time.as_secs());
                Failed { detail, ..failed }
            }
            _ => failed,
        })
    }

    /// The same, once more with room for reasoning where that left none for the answer.
    async fn asked(
        self: &Arc<Self>,
        call: &Call<'_>,
        request: &Arc<SummaryRequest>,
    ) -> Result<String, Failed> {
        let written = self.written(request, 0).await;
        let room = written.room;
        match self.tried(call, request, written).await {
            Err(failed) if failed.again == Again::Roomier && room > 0 => {
                let written = self.written(request, room).await;
                self.tried(call, request, written).await
            }
            answer => answer,
        }
    }

    async fn answer(
        self: Arc<Self>,
        request: Arc<SummaryRequest>,
    ) -> Result<Summary, SummarizeError> {
        let bill = Bill { spent: Mutex::default(), request: &request };
        let call = Call::new(&self, &bill.spent, self.until());
        let asked = timeout(self.limits.total, self.asked(&call, &request)).await;
        let text = if let Ok(text) = asked {
            text.map_err(|failed| failed.told(&self))
        } else {
            let longest = format!("{} s", self.limits.total.as_secs_f64());
            Err(SummarizeError::new(FailureKind::Timeout, longest))
        };
        let spent = bill.told();
        match text {
            Ok(text) => Ok(Summary { spent, ..Summary::new(self.spoken(&text)) }),
            Err(error) => Err(error.having(spent)),
        }
    }

    /// A text as it may be shown: without the key, which a server may have told its model.
    fn spoken(&self, text: &str) -> String {
        self.secrets.telling().left_out_of(text)
    }
}

/// A request as it is sent.
struct PreparedCall {
    body: String,
    /// What a try may cost at most, where its price is known.
    most: Option<Money>,
    /// Tokens that it may have more where reasoning took all.
    room: u64,
}

/// What an answer took: told with it, or written to the request's tab where nobody waited for it.
struct Bill<'a> {
    spent: Mutex<Spent>,
    request: &'a SummaryRequest,
}

impl Bill<'_> {
    fn told(&self) -> Spent {
        std::mem::take(&mut *self.spent.lock().expect("nothing panics while it is held"))
    }
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        let spent = self.told();
        if spent != Spent::default() {
            self.request.tab.book(spent);
        }
    }
}

impl Summarizer for Model {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn window(&self) -> Option<u64> {
        // It may turn out to reason.
        let Some(facts) = &self.facts else { return Some(UNKNOWN_WINDOW / 4 * 3) };
        let window = facts.input.or(facts.window)?;
        // What reasoning may take besides.
        Some(window.saturating_sub(most_output(0, Some(facts))).max(window / 2))
    }

    fn shares_cache(&self, prompt: &AgentPrompt) -> Option<&Facts> {
        let is_named = prompt.request.model().is_none_or(|model| {
            model.strip_prefix("models/").unwrap_or(&model) == self.endpoint.model
        });
        let is_same = self.is_agents && is_named && prompt.request.format == self.endpoint.format;
        self.facts.as_ref().filter(|_| is_same)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        Box::pin(self.answer(request))
    }
}
