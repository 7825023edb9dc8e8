//! The hidden entries of a view, read in pages, newest first.
//!
//! A transcript only grows, so a cursor stays good while entries are appended.

use std::ops::Range;

use super::reader::Arrived;
use super::{SessionId, Sessions};
use crate::request::Request;
use crate::view::View;
use crate::wire;

/// A request as the view in force shows it.
#[derive(Clone, Debug)]
pub struct CurrentView {
    /// Its conversation.
    pub session: SessionId,
    /// The number of the view's epoch; 0 before anything was compacted.
    pub epoch: u32,
    /// The request as it came, repaired if it was broken.
    pub request: Request,
    /// The shown request.
    pub view: View,
}

impl CurrentView {
    /// The request as it would go out.
    ///
    /// # Panics
    /// Never: a view in force can be rendered.
    pub fn shown(&self) -> Request {
        wire::shown(&self.request, &self.view).expect("spliced JSON is JSON of the same format")
    }

    /// At most `size` of the messages before those that are kept, newest first: see [`page`].
    ///
    /// # Panics
    /// If a page is to hold nothing.
    pub fn page(&self, cursor: Option<usize>, size: usize) -> Page {
        page(&self.view, cursor, size)
    }
}

impl Sessions {
    /// The request as the view in force shows it; `None` if its conversation isn't known. Nothing is recorded.
    pub fn current(&self, arrived: &Arrived) -> Option<CurrentView> {
        let (session, links) = self.continued(&arrived.base, &arrived.chain)?;
        let line = self.lines.get(&session)?;
        // Of an earlier state what was shown then.
        let of = |epoch: &super::Epoch| match line.ids.len() {
            all if all == links => Some(epoch.clone()),
            _ => epoch.of_first(links),
        };
        let mut epoch = line.epochs.iter().rev().find_map(of)?;
        epoch.forget_edits(&line.cleared_since(&arrived.chain));
        let view = epoch.view(&arrived.base, &arrived.chain);
        let (request, epoch) = (arrived.base.clone(), epoch.number);
        Some(CurrentView { session, epoch, request, view })
    }
}

/// Some of the entries before the first kept one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The entries, by their index in the transcript.
    pub entries: Range<usize>,
    /// Where the next page (of older entries) ends; `None` if there is none.
    pub next: Option<usize>,
}

/// At most `size` entries that end before `cursor`; the first page ends before the first entry that
/// is kept for good.
///
/// # Panics
/// If a page is to hold nothing.
pub fn page(view: &View, cursor: Option<usize>, size: usize) -> Page {
    assert!(size > 0, "a page of nothing has no end");
    let end = cursor.unwrap_or_else(|| view.first_kept()).min(view.first_kept());
    let start = end.saturating_sub(size);
    Page { entries: start..end, next: (start > 0).then_some(start) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Fate, Reason};

    fn view(fates: &str) -> View {
        let mut view = View::default();
        for fate in fates.chars() {
            view.push(match fate {
                'f' => Fate::Fold(Reason::OlderStep),
                _ => Fate::Keep,
            });
        }
        view
    }

    #[test]
    fn pages_go_back_from_the_first_kept_entry_and_outlive_appends() {
        let now = view("kfffkk");
        assert_eq!(now.first_kept(), 4);
        let first = page(&now, None, 3);
        assert_eq!(first, Page { entries: 1..4, next: Some(1) });
        let later = view("kfffkkkkk");
        assert_eq!(page(&later, first.next, 3), Page { entries: 0..1, next: None });
        assert_eq!(page(&view("kk"), None, 3), Page { entries: 0..0, next: None });
    }
}
