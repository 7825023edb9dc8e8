//! A summarizer's text in the narrative lane. Every other lane stays as it is without one; telling lines take
//! what room is left.

use super::narrative::Narrative;
use super::{Checkpoint, Gathered, NARRATIVE, SUMMARY, fenced, push_lines, unfenced};
use crate::count::{TokenCounter, message_tokens};
use crate::summarize::fitted;
use crate::text::secrets::masked;
use crate::transcript::ContentId;

/// In fewer tokens than this nothing is summed up.
pub(crate) const LEAST_SUMMARY: u64 = 120;

/// Where a summary stands in a checkpoint that was written without one.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    checkpoint: Checkpoint,
    /// Everything before the narrative.
    before: String,
    /// Tokens that the whole checkpoint may have.
    most: u64,
    /// Tokens of that for the summary.
    pub(crate) room: u64,
}

impl Seat {
    /// In `checkpoint`, which was written from `gathered` and may have `most` tokens; `None` if it has no room
    /// for a summary, or if the room is needed for people's words.
    pub(crate) fn of(
        checkpoint: &Checkpoint,
        gathered: &Gathered,
        most: u64,
        counter: &dyn TokenCounter,
    ) -> Option<Seat> {
        if checkpoint.words_missing() > 0 {
            return None;
        }
        let body = unfenced(&checkpoint.text)?;
        let before = without_narrative(body, gathered).to_owned();
        let taken = message_tokens(&fenced(&format!("{before}{SUMMARY}")), counter);
        let most = most.max(checkpoint.tokens);
        let room = most.saturating_sub(taken);
        (room >= LEAST_SUMMARY).then(|| Seat { checkpoint: checkpoint.clone(), before, most, room })
    }

    /// The checkpoint with `summary`; `None` if nothing of it fits.
    pub(crate) fn take(
        &self,
        summary: &str,
        gathered: &Gathered,
        counter: &dyn TokenCounter,
    ) -> Option<(Checkpoint, u64)> {
        let tokens = |body: &str| message_tokens(&fenced(body), counter);
        // Whoever sums up may repeat one.
        let summary = &masked(summary);
        let mut room = self.room;
        let (mut body, own) = loop {
            let lines = fitted(summary, room, counter)?;
            let mut body = format!("{}{SUMMARY}", self.before);
            push_lines(&mut body, &lines);
            // Texts side by side may count a little more than each by itself.
            match tokens(&body).saturating_sub(self.most) {
                0 => break (body, counter.text(&lines).tokens),
                over => room = room.checked_sub(over)?,
            }
        };
        let narrative = Narrative::without(&gathered.said(), gathered.ledger().outdated());
        let mut bytes = self.most.saturating_sub(tokens(&body)).saturating_mul(4) as usize;
        while bytes > NARRATIVE.len() {
            let lines = narrative.render(bytes - NARRATIVE.len());
            if lines.is_empty() {
                break;
            }
            let longer = format!("{body}{NARRATIVE}{lines}");
            if tokens(&longer) <= self.most {
                body = longer;
                break;
            }
            bytes = bytes * 9 / 10;
        }
        let text = fenced(&body);
        let checkpoint = Checkpoint {
            id: ContentId::of_text(&text),
            tokens: message_tokens(&text, counter),
            text: text.into(),
            ..self.checkpoint.clone()
        };
        Some((checkpoint, own))
    }
}

/// `body` up to its telling lines, if it has any: what merely looks like them isn't what would be quoted.
fn without_narrative<'a>(body: &'a str, gathered: &Gathered) -> &'a str {
    let Some(at) = body.rfind(NARRATIVE) else { return body };
    let lines = &body[at + NARRATIVE.len()..];
    let own = Narrative::without(&gathered.said(), gathered.ledger().outdated());
    let is_own = own.render(lines.len()) == lines;
    if is_own { &body[..at] } else { body }
}
