//! What is measured: anything that makes a smaller request out of a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use epitome::count::TokenCounter;
use epitome::transcript::ContentId;
use epitome::{Compactor, Options, Receipt, Request, Target};

use super::run::Broken;

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
}

impl Epitome {
    /// A new conversation.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        Epitome { counter, known: BTreeSet::new() }
    }

    /// What makes the conversation's next view.
    ///
    /// # Errors
    /// A target that is out of range.
    pub fn compactor(&self, target: u64) -> Result<Compactor, Broken> {
        let options = Options { target: Target::Tokens(target), ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&self.counter))?;
        Ok(compactor.knowing(self.known.iter().copied()))
    }

    /// From now on the checkpoints of that compaction are the conversation's.
    pub fn know(&mut self, receipt: &Receipt) {
        self.known.extend(receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id));
        self.known.extend(receipt.standing_checkpoints.iter().copied());
    }

    /// The checkpoints that it wrote.
    pub fn known(&self) -> &BTreeSet<ContentId> {
        &self.known
    }
}

impl Contender for Epitome {
    fn compact(&mut self, request: &Request, target: u64) -> Result<Request, Broken> {
        let outcome = self.compactor(target)?.compact(request)?;
        self.know(&outcome.receipt);
        Ok(outcome.request)
    }
}
