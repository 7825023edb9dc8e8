//! What may be spent, and what was.

use std::sync::{Mutex, PoisonError};

use epitome::model::Money;

/// A cap on what models cost together. It stops calls, not compactions.
#[derive(Debug)]
pub struct Purse {
    cap: Money,
    spent: Mutex<Money>,
}

impl Purse {
    /// At most `cap` may be spent.
    pub fn new(cap: Money) -> Self {
        Purse { cap, spent: Mutex::new(Money::ZERO) }
    }

    /// The cap.
    pub fn cap(&self) -> Money {
        self.cap
    }

    /// What was spent so far.
    pub fn spent(&self) -> Money {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `more` may still be spent.
    pub fn allows(&self, more: Money) -> bool {
        self.spent() + more <= self.cap
    }

    /// Books what was spent.
    pub fn book(&self, cost: Money) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += cost;
    }
}
