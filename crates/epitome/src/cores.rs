//! Two things side by side, where whoever compacts has a second core to give: the core of the library begins no threads.

use std::fmt::Debug;

/// Does two pieces of work at once, or one after the other. What comes out is the same.
///
/// ```
/// # use epitome::cores::Beside;
/// #[derive(Debug)]
/// struct Scoped;
///
/// impl Beside for Scoped {
///     fn both(&self, first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()) {
///         std::thread::scope(|scope| {
///             scope.spawn(first);
///             second();
///         });
///     }
/// }
/// ```
pub trait Beside: Debug + Send + Sync {
    /// Calls each once and comes back when both are done. `second` may wait for `first`, which is done or begun before it.
    fn both(&self, first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut());
}

/// Entries of fewer bytes aren't worth a thread.
const LEAST_BYTES: usize = 32 * 1024;

/// The helper for work on so many bytes, if it is worth it.
pub(crate) fn for_bytes(beside: Option<&dyn Beside>, bytes: usize) -> Option<&dyn Beside> {
    beside.filter(|_| bytes >= LEAST_BYTES)
}

/// Does both, and gives what they gave.
///
/// # Panics
/// If `beside` calls not both of them.
pub fn both<A: Send, B>(
    beside: &dyn Beside,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    let (mut first, mut second) = (Some(first), Some(second));
    let (mut there, mut here) = (None, None);
    let mut first = || there = first.take().map(|first| first());
    let mut second = || here = second.take().map(|second| second());
    beside.both(&mut first, &mut second);
    let done = "whoever does both calls both";
    (there.expect(done), here.expect(done))
}
