//! Hooks are asked before anything else is, and what they want is heeded.

use std::sync::Arc;

use super::delegation::Given;
use super::{Attempt, Compaction, State, Step};
use crate::budget::Stop;
use crate::count::Tally;
use crate::events::Event;
use crate::guard::Pin;
use crate::hook::{Hook, Proposal, Question, Wish};
use crate::summarize::{SummarizeError, SummarySource};
use crate::text::cut;

/// Characters of a reason.
const REASON: usize = 400;

/// A hook is asked.
#[derive(Debug)]
pub(super) struct Asking {
    tally: Tally,
    by: Arc<dyn Hook>,
    proposal: Arc<Proposal>,
    is_out: bool,
    pub(super) answer: Option<Result<Wish, SummarizeError>>,
}

impl Compaction {
    /// Whether something is to be done at all.
    pub(super) fn is_due(&self, tally: &Tally) -> bool {
        let is_small = tally.total().tokens <= self.target(tally);
        let is_due = !is_small || self.compactor.options().stop == Stop::AtEnd;
        self.attempt == Attempt::Asked && is_due && !self.request.transcript.is_empty()
    }

    /// Who is to be asked before anybody else, if anybody is.
    pub(super) fn next_hook(&self, tally: &Tally) -> Option<Arc<dyn Hook>> {
        let hooks = self.compactor.hooks()?;
        let next = hooks.chain.get(self.hooked).filter(|_| self.is_due(tally));
        next.map(Arc::clone)
    }

    pub(super) fn ask_hook(&mut self, tally: Tally, by: Arc<dyn Hook>) -> State {
        self.tell_considered(&tally);
        self.hooked += 1;
        let (_, plan) = self.draw_up(&tally);
        let proposal = Proposal {
            request: self.request.clone(),
            tokens: tally.total().tokens,
            target: self.target(&tally),
            cause: self.compactor.cause().cloned(),
            folds: (0..self.request.transcript.len())
                .filter(|at| plan.draft.is_folded(*at))
                .collect(),
            about: self.compactor.hooks().map(|hooks| hooks.about.clone()).unwrap_or_default(),
        };
        let proposal = Arc::new(proposal);
        State::Hook(Box::new(Asking { tally, by, proposal, is_out: false, answer: None }))
    }

    /// Asks, or goes on with what came back.
    pub(super) fn hooked(&mut self, mut asked: Box<Asking>) -> Result<State, Step> {
        let Some(answer) = asked.answer.take() else {
            let question =
                Question { by: Arc::clone(&asked.by), proposal: Arc::clone(&asked.proposal) };
            let was_out = std::mem::replace(&mut asked.is_out, true);
            self.state = State::Hook(asked);
            return Err(if was_out { Step::Wait } else { Step::Hook(question) });
        };
        let Asking { tally, by, .. } = *asked;
        match answer {
            Ok(wish) => self.heed(by.name(), wish),
            Err(error) => {
                let why = cut::one_line(&error.to_string(), REASON);
                self.tell(&Event::HookFailed { by: by.name().to_owned(), why: why.clone() });
                self.fallbacks.push(format!("{} wasn't heeded: {why}", by.name()));
            }
        }
        Ok(State::Plan(tally))
    }

    fn heed(&mut self, by: &str, wish: Wish) {
        let Wish { veto, summary, instructions, pins, unread } = wish;
        let unread = unread.iter().map(|why| format!("{by}: {}", cut::one_line(why, REASON)));
        self.fallbacks.extend(unread);
        if let Some(why) = veto {
            let why = if why.trim().is_empty() { "no reason given" } else { why.trim() };
            let why = cut::one_line(why, REASON);
            self.tell(&Event::Vetoed { by: by.to_owned(), why: why.clone() });
            self.fallbacks.push(format!("{by} vetoed: {why}"));
            self.attempt = Attempt::Declined;
            return;
        }
        if let Some(summary) = summary {
            let said = Some(SummarySource::default());
            self.given = Some(Given { by: by.to_owned(), summary, said });
        }
        let mut compactor = self.compactor.clone();
        let instructions = instructions.iter().filter(|wish| !wish.trim().is_empty());
        let instructions: Vec<String> =
            instructions.map(|wish| cut::one_line(wish, REASON)).collect();
        if !instructions.is_empty() {
            compactor = compactor.with_instructions(&instructions);
        }
        if !pins.is_empty() {
            let came = |pin| match pin {
                // Options speak of messages as they came.
                Pin::Entry(at) => self.came_from.get(at).copied().flatten().map(Pin::Entry),
                text @ Pin::Text(_) => Some(text),
            };
            let (all, pins) = (pins.len(), pins.into_iter().filter_map(came).collect::<Vec<_>>());
            if pins.len() < all {
                self.fallbacks.push(format!("{by}: it pins messages that aren't there"));
            }
            // A bad one costs no good one.
            for pin in pins {
                match compactor.clone().with_pins(vec![pin]) {
                    Ok(wishing) => compactor = wishing,
                    Err(error) => self.fallbacks.push(format!("{by}: {error}")),
                }
            }
        }
        self.compactor = compactor;
    }
}
