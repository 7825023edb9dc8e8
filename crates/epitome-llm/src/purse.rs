//! Spending limits, and the amounts spent.
//!
//! The maximum cost of a call is booked before the call, in one step with the check of the limits, so that caps hold
//! over concurrent calls and processes. Afterwards the real cost replaces it. A killed process leaves the estimate: the
//! call may have been paid for.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use epitome::model::Money;
use epitome::summarize::{FailureKind, SummarizeError};
use tokio::time::{sleep, timeout};

/// Where it is kept what was spent: beyond a process, where a cap is for more than that. Nothing here waits.
pub trait Books: fmt::Debug + Send + Sync {
    /// Books `cost` if no more than `most` is booked then, `besides` with it, and something is left before; else
    /// nothing is.
    ///
    /// # Errors
    /// Why nothing was booked.
    fn take(&self, cost: Money, besides: Money, most: Money) -> Result<Entry, Unbooked>;

    /// Books `cost` instead of what was taken.
    ///
    /// # Errors
    /// It can't be kept; what was taken stays booked.
    fn settle(&self, entry: Entry, cost: Money) -> Result<(), Unbooked>;
}

/// What was booked for a call that isn't over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How much.
    pub cost: Money,
    /// On which page of the books, as they count them.
    pub page: u64,
}

/// Why nothing was booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbooked {
    /// It would be too much: this was booked before.
    Above(Money),
    /// Somebody else holds the books; in a moment they may be free.
    Busy,
    /// It can't be told what was spent, or not be kept.
    Unknown(String),
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
    /// What calls took that isn't booked yet, because others held the books.
    owed: Mutex<Vec<Owed>>,
    /// Why the books say less than was spent.
    failed: Mutex<Option<String>>,
}

/// What is set aside for a call. Unless it is settled it counts as spent.
#[derive(Debug)]
pub struct Reserved<'a> {
    purse: &'a Purse,
    /// One for each cap.
    entries: Vec<Entry>,
    /// Whether all of it is there, so that a call may be made.
    is_whole: bool,
}

/// The amount to book instead of the one set aside.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// Which of the caps.
    cap: usize,
    entry: Entry,
    cost: Money,
}

/// Between two looks whether the books are free.
const PAUSE: Duration = Duration::from_millis(10);
/// Looks at books that others hold, before what was set aside is left there in the end.
const LOOKS: usize = 20;

impl Purse {
    /// At most `cap` may be spent, from now on.
    pub fn new(cap: Money) -> Self {
        Purse::of(vec![Cap { most: cap, span: String::new(), books: in_memory() }])
    }

    /// None of `caps` may be exceeded.
    pub fn of(caps: Vec<Cap>) -> Self {
        Purse { caps, owed: Mutex::default(), failed: Mutex::default() }
    }

    /// Sets `cost` aside, if that and `besides`, which is to follow, may be spent. Books that others hold are
    /// waited for, no longer than `longest`.
    ///
    /// # Errors
    /// A cap that would be exceeded, or books that can't be read or written.
    pub async fn reserve(
        &self,
        cost: Money,
        besides: Money,
        longest: Duration,
    ) -> Result<Reserved<'_>, SummarizeError> {
        self.pay();
        if let Some(failed) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            return Err(SummarizeError::new(FailureKind::Unbooked, failed.clone()));
        }
        // What is given up half-way is given back.
        let mut reserved = Reserved { purse: self, entries: Vec::new(), is_whole: false };
        for cap in &self.caps {
            let taken = timeout(longest, async {
                loop {
                    match cap.books.take(cost, besides, cap.most) {
                        Err(Unbooked::Busy) => sleep(PAUSE).await,
                        taken => return taken,
                    }
                }
            });
            let refused = match taken.await {
                Ok(Ok(entry)) => {
                    reserved.entries.push(entry);
                    continue;
                }
                Ok(Err(Unbooked::Above(spent))) => {
                    let span = if cap.span.is_empty() { "" } else { " " };
                    let more = cost + besides;
                    let what =
                        format!("{more} more, {spent} of {} spent{span}{}", cap.most, cap.span);
                    SummarizeError::new(FailureKind::SpendCap, what)
                }
                Ok(Err(Unbooked::Unknown(why))) => SummarizeError::new(FailureKind::Unbooked, why),
                Ok(Err(Unbooked::Busy)) | Err(_) => SummarizeError::new(
                    FailureKind::Unbooked,
                    format!(
                        "another process has held the spending file for {} s",
                        longest.as_secs_f64()
                    ),
                ),
            };
            return Err(refused);
        }
        reserved.is_whole = true;
        Ok(reserved)
    }

    /// Books what is owed, as far as nobody else holds the books; whether all of it is.
    fn pay(&self) -> bool {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.retain(|Owed { cap, entry, cost }| {
            let settled = self.caps[*cap].books.settle(*entry, *cost);
            let is_busy = settled == Err(Unbooked::Busy);
            // The estimate stays; if it was too low, no more calls are allowed.
            if settled.is_err() && !is_busy && *cost > entry.cost {
                let what = format!("{cost} was spent and couldn't be recorded");
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
            }
            is_busy
        });
        owed.is_empty()
    }
}

impl Drop for Purse {
    /// Nobody comes after it who could book what is owed.
    fn drop(&mut self) {
        for _ in 1..LOOKS {
            if self.pay() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Reserved<'_> {
    /// Books what the call took instead.
    pub fn settle(mut self, cost: Money) {
        self.book(cost);
    }

    fn book(&mut self, cost: Money) {
        let entries = std::mem::take(&mut self.entries).into_iter().enumerate();
        let mut owed = self.purse.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.extend(entries.map(|(cap, entry)| Owed { cap, entry, cost }));
        drop(owed);
        self.purse.pay();
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            self.book(Money::ZERO);
        }
    }
}

/// Books that last as long as they are held.
pub fn in_memory() -> Arc<InMemory> {
    Arc::new(InMemory::default())
}

/// What this process spent.
#[derive(Debug, Default)]
pub struct InMemory(Mutex<Money>);

impl InMemory {
    /// What was spent so far, what is set aside included.
    pub fn spent(&self) -> Money {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books for InMemory {
    fn take(&self, cost: Money, besides: Money, most: Money) -> Result<Entry, Unbooked> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *spent + cost + besides > most || *spent >= most {
            return Err(Unbooked::Above(*spent));
        }
        *spent += cost;
        Ok(Entry { cost, page: 0 })
    }

    fn settle(&self, entry: Entry, cost: Money) -> Result<(), Unbooked> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = spent.less(entry.cost) + cost;
        Ok(())
    }
}
