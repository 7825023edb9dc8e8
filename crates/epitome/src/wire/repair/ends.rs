//! Where runs of entries end.

use crate::transcript::{Entry, Transcript};

/// For each entry the end of the run that it is in: found once, since each of many calls may ask for it.
pub(super) struct Ends(Vec<usize>);

impl Ends {
    /// Of the runs of entries that are all so.
    pub(super) fn of(transcript: &Transcript, is_so: impl Fn(Entry<'_>) -> bool) -> Self {
        let mut end = transcript.len();
        let mut ends = vec![end; transcript.len() + 1];
        for entry in transcript.entries().rev() {
            if !is_so(entry) {
                end = entry.index;
            }
            ends[entry.index] = end;
        }
        Ends(ends)
    }

    /// The first entry behind `at` that isn't so, or how many there are.
    pub(super) fn behind(&self, at: usize) -> usize {
        self.0[at + 1]
    }
}
