//! Long texts are cut to head, tail and telling lines; JSON stays JSON-like.

use super::outputs::is_stub;
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
    if !is_cuttable || scene.tokens(part) <= cap || is_stub(scene, part) {
        return None;
    }
    let text = scene.matter.part_text(part);
    let short = fit(&text, cap, |short| scene.matter.put_tokens(part, short))?;
    Some(Edit::Put(PartEdit { at: part.slot, put: Put::Text(short.into()), reason }))
}

/// The longest excerpt found of at most `cap` tokens; `None` if even a few bytes are too many.
pub(crate) fn fit(text: &str, cap: u64, tokens: impl Fn(&str) -> u64) -> Option<String> {
    let mut best = None;
    let (mut fits, mut exceeds) = (0, text.len() as u64 + 1);
    // Four bytes a token is generous for most texts; each try tells the real ratio.
    let mut bytes = cap.saturating_mul(4).min(text.len() as u64);
    for _ in 0..12 {
        let short = excerpt(text, bytes as usize).text;
        let count = tokens(&short);
        if count <= cap {
            let is_close = count >= cap - cap / 10 || short.len() == text.len();
            best = Some(short.into_owned());
            fits = bytes;
            if is_close {
                break;
            }
        } else {
            exceeds = bytes;
        }
        if exceeds - fits <= 1 {
            break;
        }
        let aim = bytes.saturating_mul(cap) / count.max(1) * 19 / 20;
        bytes = aim.clamp(fits + 1, exceeds - 1);
    }
    best
}
