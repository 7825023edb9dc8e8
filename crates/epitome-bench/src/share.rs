//! Shares: so many of so many.

use std::ops::AddAssign;

use serde::Serialize;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// So many.
    pub of: u64,
    /// Of so many.
    pub all: u64,
}

impl Share {
    /// Counts one more, and whether it is so.
    pub fn add(&mut self, is_so: bool) {
        self.of += u64::from(is_so);
        self.all += 1;
    }

    /// In percent, if there is anything.
    pub fn percent(self) -> Option<f64> {
        (self.all > 0).then(|| self.of as f64 * 100.0 / self.all as f64)
    }

    /// In percent, as tables show it.
    pub fn shown(self) -> String {
        self.percent().map_or_else(|| "-".to_owned(), |share| format!("{share:.1}"))
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.of += other.of;
        self.all += other.all;
    }
}
