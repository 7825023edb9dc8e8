//! What a view hides, read in pages, newest first.
//!
//! A transcript only grows, so a cursor stays good while entries are appended.

use std::ops::Range;

use crate::view::View;

/// Some of the entries before the first one that is kept.
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
