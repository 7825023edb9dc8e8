//! Long texts are cut to head, tail and telling lines; JSON stays JSON-like.

use super::{Edit, LEAST_TEXT, Scene, Strategy, Which};
use crate::text::excerpt;
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};

/// Excerpts tool results and texts that are longer than a share of the target.
#[derive(Clone, Copy, Debug)]
pub struct Excerpts {
    /// The longest text that stays whole: the target divided by this.
    divisor: u64,
    which: Which,
    reason: Reason,
}

impl Excerpts {
    /// Old texts longer than a 24th of the target.
    pub fn old() -> Self {
        Excerpts { divisor: 24, which: Which::Old, reason: Reason::LongText }
    }

    /// Every text, cut to a 60th of the target: what is held leaves room for nothing else.
    pub fn last() -> Self {
        Excerpts { divisor: 60, which: Which::Last, reason: Reason::TooLarge }
    }

    /// Any text longer than a fifth of the target, however new: a result larger than the whole
    /// budget is cut, not looped over.
    pub fn oversized() -> Self {
        Excerpts { divisor: 5, which: Which::New, reason: Reason::TooLarge }
    }
}

impl Strategy for Excerpts {
    fn name(&self) -> &'static str {
        match self.which {
            Which::Old => "long-texts",
            Which::New => "oversized",
            Which::Last => "last-cuts",
        }
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let cap = (scene.budget.target / self.divisor).max(LEAST_TEXT);
        let parts = self.which.parts(scene);
        parts.iter().filter_map(|part| excerpted(scene, part, cap, self.reason)).collect()
    }
}

/// A cut of the part to at most `cap` tokens; `None` if it is short enough or can't be cut.
pub(super) fn excerpted<'a>(
    scene: &Scene<'a>,
    part: &Part<'a>,
    cap: u64,
    reason: Reason,
) -> Option<Edit> {
    let is_cuttable = match part.kind() {
        PartKind::Text => true,
        PartKind::Result => !part.is(Marks::SERVER) && !part.raw_body().is_empty(),
        _ => false,
    };
    if !is_cuttable || scene.tokens(part) <= cap {
        return None;
    }
    let text = scene.matter.part_text(part);
    let short = fit(&text, cap, |short| scene.matter.put_tokens(part, short))?;
    Some(Edit::Put(PartEdit { at: part.slot, put: Put::Text(short.into()), reason }))
}

/// The longest excerpt found of at most `cap` tokens; `None` if even a few bytes are too many.
pub(crate) fn fit(text: &str, cap: u64, tokens: impl Fn(&str) -> u64) -> Option<String> {
    // Four bytes a token is generous for most texts; each miss tells the real ratio.
    let mut bytes = (cap.saturating_mul(4)).min(text.len() as u64);
    for _ in 0..12 {
        let short = excerpt(text, bytes as usize).text;
        let count = tokens(&short);
        if count <= cap {
            return Some(short.into_owned());
        }
        bytes = (bytes * cap / count.max(1) * 9 / 10).min(bytes.saturating_sub(1));
        if bytes == 0 {
            break;
        }
    }
    None
}
