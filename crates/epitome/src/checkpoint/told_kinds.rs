//! What stands for many rows: one of each kind.

use std::fmt::Write as _;

use super::target::whole_words;
use crate::text::kinds::Kind;

/// What stands between two rows that are told.
pub(super) const OR: &str = " / ";

/// As many kinds as fit in `most` bytes, in the order of the rows. `said` writes each kind and the text before its count. Also
/// returns whether all fit.
pub(super) fn told(
    kinds: &[Kind],
    most: usize,
    said: impl Fn(&Kind) -> Option<(String, String)>,
) -> (String, bool) {
    let mut told: Vec<(usize, String)> = Vec::new();
    let mut left = most + OR.len();
    for kind in kinds {
        let Some((text, qualifier)) = said(kind) else { continue };
        let mut text = whole_words(&text, most / 2).into_owned();
        if kind.rows.len() > 1 {
            let _ = write!(text, " ({qualifier}{} such)", kind.rows.len());
        }
        if let Some(rest) = left.checked_sub(text.len() + OR.len()) {
            left = rest;
            told.push((kind.last(), text));
        }
    }
    let is_whole = told.len() == kinds.len();
    told.sort();
    let told: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    (told.join(OR), is_whole)
}
