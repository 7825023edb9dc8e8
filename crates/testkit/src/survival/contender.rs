//! What is measured: anything that makes a smaller request out of a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use epitome::count::TokenCounter;
use epitome::engine::Drive;
use epitome::summarize::{Summaries, Summarizer};
use epitome::transcript::ContentId;
use epitome::{Compactor, Options, Request, Target};

use super::run::Broken;
use crate::wait;

/// One conversation, compacted again and again.
pub trait Contender {
    /// The request in at most `target` tokens, or in as few as can be.
    ///
    /// # Errors
    /// It can't be compacted.
    fn compact(&mut self, request: &Request, target: u64) -> Result<Request, Broken>;
}

/// Keeps everything: what it loses, the judge is blind for.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl Contender for Everything {
    fn compact(&mut self, request: &Request, _: u64) -> Result<Request, Broken> {
        Ok(request.clone())
    }
}

/// The library with its default settings, continuing its own checkpoints and nobody else's.
#[derive(Clone, Debug)]
pub struct Epitome {
    counter: Arc<dyn TokenCounter>,
    known: BTreeSet<ContentId>,
    summaries: Summaries,
}

impl Epitome {
    /// A new conversation.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Epitome { counter, known: BTreeSet::new(), summaries: Summaries::default() }
    }

    /// The same, with summaries by somebody.
    #[must_use]
    pub fn summarized_by(self, by: &Arc<dyn Summarizer>) -> Self {
        let summaries = Summaries { chain: vec![Arc::clone(by)], ..Summaries::default() };
        Epitome { summaries, ..self }
    }

    /// The checkpoints that it wrote.
    pub fn known(&self) -> &BTreeSet<ContentId> {
        &self.known
    }
}

impl Contender for Epitome {
    fn compact(&mut self, request: &Request, target: u64) -> Result<Request, Broken> {
        let options = Options { target: Target::Tokens(target), ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&self.counter))?;
        let mut compactor = compactor.knowing(self.known.iter().copied());
        if !self.summaries.chain.is_empty() {
            compactor = compactor.summarized_by(self.summaries.clone())?;
        }
        let outcome = wait(Drive::new(compactor.begin(request)))?;
        self.known.extend(outcome.receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id));
        self.known.extend(outcome.receipt.standing_checkpoints.iter().copied());
        Ok(outcome.request)
    }
}
