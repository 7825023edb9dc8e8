//! Panics of code that the caller gave (a strategy, a trigger, a counter, a summarizer): what was asked of it
//! failed, no more. Where panics abort the process there is nothing to catch.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The result, or the panic message.
///
/// Work under way is given up: nobody sees it half done, except the session machine, which is consistent after each
/// step.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words(panic.as_ref()))
}

/// The same of a future.
pub(crate) async fn caught_in<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

fn words(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    words.unwrap_or_else(|| "it says nothing".to_owned())
}
