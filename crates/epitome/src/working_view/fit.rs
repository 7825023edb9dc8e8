//! The longest excerpt of a part that fits.

use crate::text::excerpt::excerpt_about;
use crate::transcript::{Origin, Part, PartKind, injected_mark};

/// The longest excerpt of a part, as [`fit`] finds it. A part that an agent marked as its own keeps the mark: without it
/// the rest would be taken for a person's words. In a result, text that matches `question` comes first.
pub(crate) fn fit_part(
    part: &Part<'_>,
    text: &str,
    question: &str,
    cap: u64,
    tokens: impl Fn(&str) -> u64,
) -> Option<(String, u64)> {
    let question = if part.kind() == PartKind::Result { question } else { "" };
    let (short, count) = fit(text, question, cap, &tokens)?;
    let is_marked = part.kind() == PartKind::Text && part.origin() == Origin::Injected;
    let mark = if is_marked { injected_mark(text) } else { None };
    let Some(mark) = mark.filter(|mark| !short.trim_start().starts_with(mark)) else {
        return Some((short, count));
    };
    let (_, rest) = text.split_once(mark)?;
    let (short, _) = fit(rest, question, cap.saturating_sub(tokens(mark)), &tokens)?;
    let marked = format!("{mark}{short}");
    let count = tokens(&marked);
    (count <= cap).then_some((marked, count))
}

/// The longest excerpt found of at most `cap` tokens, and its tokens; `None` if even a few bytes are too many.
fn fit(
    text: &str,
    question: &str,
    cap: u64,
    tokens: impl Fn(&str) -> u64,
) -> Option<(String, u64)> {
    let mut best = None;
    let (mut fits, mut exceeds) = (0, text.len() as u64 + 1);
    // Four bytes a token is generous for most texts; each try tells the real ratio.
    let mut bytes = cap.saturating_mul(4).min(text.len() as u64);
    for _ in 0..12 {
        let short = excerpt_about(text, question, bytes as usize).text;
        let count = tokens(&short);
        if count <= cap {
            let is_close = count >= cap - cap / 10 || short.len() == text.len();
            best = Some((short.into_owned(), count));
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
