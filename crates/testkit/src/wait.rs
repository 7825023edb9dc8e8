//! Futures that are ready as soon as they are asked often enough.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls until it is ready: for compactions whose summarizers, hooks and compactors answer by themselves.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
