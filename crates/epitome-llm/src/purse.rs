//! What may be spent, and what was.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::model::Money;

/// Where it is kept what was spent: beyond a process, where a cap is for more than that.
pub trait Books: fmt::Debug + Send + Sync {
    /// What was spent so far.
    ///
    /// # Errors
    /// It can't be told; no call is made then.
    fn spent(&self) -> Result<Money, String>;

    /// Books what was spent.
    ///
    /// # Errors
    /// It can't be kept; no further call is made then.
    fn book(&self, cost: Money) -> Result<(), String>;
}

/// A cap, and what counts against it.
#[derive(Clone, Debug)]
pub struct Cap {
    /// The most.
    pub most: Money,
    /// What it is for, as complaints say it: `today`, `in this session`; it may be empty.
    pub span: String,
    /// What was spent.
    pub books: Arc<dyn Books>,
}

/// Caps on what models cost together. They stop calls, not compactions.
#[derive(Debug, Default)]
pub struct Purse {
    caps: Vec<Cap>,
    /// Why the books aren't what they should be.
    failed: Mutex<Option<String>>,
}

impl Purse {
    /// At most `cap` may be spent, from now on.
    pub fn new(cap: Money) -> Self {
        Purse::of(vec![Cap { most: cap, span: String::new(), books: in_memory() }])
    }

    /// None of `caps` may be exceeded.
    pub fn of(caps: Vec<Cap>) -> Self {
        Purse { caps, failed: Mutex::default() }
    }

    /// Why so much more may not be spent, if it may not.
    pub fn stops(&self, more: Money) -> Option<String> {
        if let Some(failed) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            return Some(failed.clone());
        }
        self.caps.iter().find_map(|cap| match cap.books.spent() {
            Err(error) => Some(error),
            Ok(spent) if spent + more > cap.most || spent >= cap.most => {
                let span = if cap.span.is_empty() { "" } else { " " };
                Some(format!("{more} more, {spent} of {} spent{span}{}", cap.most, cap.span))
            }
            Ok(_) => None,
        })
    }

    /// Books what was spent.
    pub fn book(&self, cost: Money) {
        for cap in &self.caps {
            if let Err(error) = cap.books.book(cost) {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    }
}

/// Books that last as long as they are held.
pub fn in_memory() -> Arc<dyn Books> {
    Arc::new(InMemory::default())
}

/// What this process spent.
#[derive(Debug, Default)]
struct InMemory(Mutex<Money>);

impl Books for InMemory {
    fn spent(&self) -> Result<Money, String> {
        Ok(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn book(&self, cost: Money) -> Result<(), String> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += cost;
        Ok(())
    }
}
