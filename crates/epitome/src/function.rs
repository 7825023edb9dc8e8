//! A function under a name. Each trait that a function may stand for says in its own module how.

use std::fmt;

/// A function, by the name that receipts give it.
pub(crate) struct Function<F> {
    pub(crate) name: String,
    pub(crate) call: F,
}

impl<F> fmt::Debug for Function<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).finish_non_exhaustive()
    }
}
