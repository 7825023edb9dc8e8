//! What may be spent, and what was.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::model::Money;

/// Where it is kept what was spent: beyond a process, where a cap is for more than that.
pub trait Books: fmt::Debug + Send + Sync {
    /// What was spent so far, what is set aside among it.
    ///
    /// # Errors
    /// It can't be told; no call is made then.
    fn spent(&self) -> Result<Money, String>;

    /// Sets `most` aside, if with that no more than `cap` is spent, whoever else does so meanwhile.
    ///
    /// # Errors
    /// It can't be kept; no call is made then.
    fn set_aside(&self, most: Money, cap: Money) -> Result<Aside, String>;

    /// Books what it cost in the place of what was set aside on `page`.
    ///
    /// # Errors
    /// It can't be kept; no further call is made then.
    fn book(&self, page: Page, aside: Money, cost: Money) -> Result<(), String>;
}

/// Where in the books something was set aside: a day's page must be found again on the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page(pub u64);

/// What became of setting something aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// It is set aside on this page.
    On(Page),
    /// So much is spent that the cap would be exceeded.
    Over(Money),
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

    /// Sets aside what a call may cost at the most; what it did cost takes its place ([`Hold::cost`]). A call that
    /// nobody tells the end of, because its process was killed, counts as what it might have cost.
    ///
    /// # Errors
    /// Why so much more may not be spent.
    pub fn hold(self: &Arc<Self>, most: Money) -> Result<Hold, String> {
        if let Some(failed) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            return Err(failed.clone());
        }
        let mut hold = Hold { purse: Arc::clone(self), most, pages: Vec::new(), cost: Money::ZERO };
        for cap in &self.caps {
            match cap.books.set_aside(most, cap.most)? {
                Aside::On(page) => hold.pages.push(page),
                Aside::Over(spent) => {
                    let span = if cap.span.is_empty() { "" } else { " " };
                    let of = format!("{} spent{span}{}", cap.most, cap.span);
                    return Err(format!("{most} more, {spent} of {of}"));
                }
            }
        }
        Ok(hold)
    }
}

/// What is set aside for a call. What it cost is booked when this is dropped, however the call ends.
#[derive(Debug)]
pub struct Hold {
    purse: Arc<Purse>,
    most: Money,
    /// Of each cap, as far as they were asked.
    pages: Vec<Page>,
    cost: Money,
}

impl Hold {
    /// Says what the call cost.
    pub fn cost(&mut self, cost: Money) {
        self.cost = cost;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        for (cap, page) in self.purse.caps.iter().zip(&self.pages) {
            if let Err(error) = cap.books.book(*page, self.most, self.cost) {
                *self.purse.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
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

    fn set_aside(&self, most: Money, cap: Money) -> Result<Aside, String> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *spent >= cap || *spent + most > cap {
            return Ok(Aside::Over(*spent));
        }
        *spent += most;
        Ok(Aside::On(Page::default()))
    }

    fn book(&self, _page: Page, aside: Money, cost: Money) -> Result<(), String> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = spent.less(aside) + cost;
        Ok(())
    }
}
