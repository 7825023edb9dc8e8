//! Law 19: what a checkpoint holds is carried into the next one.

use epitome::engine::Tail;
use epitome::transcript::Role;
use epitome::view::Fate;
use epitome::{Compactor, Format, Options, Outcome, Request, Target, wire};
use serde_json::json;

use super::log::{Lane, Log};
use super::room::has_room;
use crate::prose::lorem;

/// Words by which a sentence commands or forbids.
const CUES: [&str; 7] = ["never", "always", "must", "don't", "do not", "don’t", "rule:"];
/// Most words of what is said between two compactions.
const MOST: u64 = 4_000;

/// The view, compacted to the same size once a little more was said, by somebody who doesn't know the receipt; `None` where
/// nothing can follow it, or nothing had a checkpoint.
///
/// # Errors
/// The second compaction fails.
pub(super) fn again(outcome: &Outcome, compactor: &Compactor) -> Result<Option<Outcome>, String> {
    let receipt = &outcome.receipt;
    if outcome.view.checkpoint().is_none() || receipt.target == 0 || !receipt.left.is_empty() {
        return Ok(None);
    }
    let free = receipt.target.saturating_sub(receipt.after.count.tokens);
    // So much that the first view can't stand as it is.
    let words = (free + 60).max(receipt.target / 3).min(MOST);
    let Some(request) = going_on(&outcome.request, words as usize) else { return Ok(None) };
    let options = Options {
        target: Target::Tokens(receipt.target),
        pins: Vec::new(),
        tail: Tail::Fitting,
        ..compactor.options().clone()
    };
    let second = crate::compactor(options, &receipt.counter).compact(&request);
    second.map(Some).map_err(|error| format!("compacted again: {error}"))
}

/// Each command and prohibition of a person that the first view's checkpoint quotes, and its summary, are in the second view,
/// and the second checkpoint stands for what the first one did.
///
/// A sentence is exempt where the second view has no room for one more line (see [`has_room`]).
pub(super) fn check(
    first: &Outcome,
    second: &Outcome,
    compactor: &Compactor,
) -> Result<(), String> {
    let Some(placed) = first.view.checkpoint() else { return Ok(()) };
    let texts = second.request.transcript.entries().flat_map(|entry| entry.parts());
    let texts: Vec<_> = texts.map(|part| part.text()).collect();
    let says = |words: &str| texts.iter().any(|text| text.contains(words));
    if says(&placed.text) {
        return Ok(());
    }
    let log = Log::of(&placed.text);
    for sentence in sentences(first, &log) {
        holds!(
            says(&sentence) || !has_room(second, compactor, &sentence),
            "forgotten: {sentence:?}"
        );
    }
    let summary = log.lane(Lane::Summary).unwrap_or_default();
    holds!(says(summary), "the summary is forgotten: {summary:?}");
    let now = second.view.checkpoint().map(|placed| Log::of(&placed.text)).unwrap_or_default();
    for range in log.messages() {
        let is_told = range.clone().all(|number| now.stands_for(number));
        holds!(is_told, "nothing stands for messages {range:?} any more: {:?}", now.messages());
    }
    Ok(())
}

/// The sentences that command or forbid of what the checkpoint quotes: as the hidden messages have them, or its lane.
fn sentences(first: &Outcome, log: &Log<'_>) -> Vec<String> {
    let placed = first.view.checkpoint().expect("it was looked at");
    let entries = first.base.transcript.entries().zip(first.view.fates());
    let hidden = entries.filter(|(_, fate)| matches!(fate, Fate::Fold(_) | Fate::Drop(_)));
    let hidden = hidden.map(|(entry, _)| entry.human_text());
    let quoted = log.words.iter().map(|word| word.text.to_owned());
    let mut found: Vec<String> = Vec::new();
    for text in hidden.chain(quoted) {
        let commands = text.lines().flat_map(|line| line.split_inclusive(". ")).map(str::trim);
        let commands = commands.filter(|sentence| {
            let low = sentence.to_lowercase();
            let is_cut = sentence.contains("[…") || sentence.contains("…]");
            !is_cut && CUES.iter().any(|cue| has_words(&low, cue))
        });
        found.extend(commands.filter(|said| placed.text.contains(said)).map(str::to_owned));
    }
    found
}

/// Whether words stand in a text, not in the middle of others.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// The request once more was said; `None` where its provider takes no more.
fn going_on(request: &Request, words: usize) -> Option<Request> {
    let format = request.format;
    let mut more = request.clone();
    let last = request.transcript.entries().rev().find(|entry| entry.role() != Role::Other)?;
    let mut said = vec![reply(format, &lorem(words)), format.user_message("Go on.")];
    if last.role() == Role::Assistant {
        said.insert(0, format.user_message("Well."));
    }
    for message in said {
        wire::append(&mut more, &message).ok()?;
    }
    (wire::check(request).is_empty() && wire::check(&more).is_empty()).then_some(more)
}

/// A message of the model.
fn reply(format: Format, text: &str) -> String {
    let message = match format {
        Format::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        Format::Bedrock => json!({"role": "assistant", "content": [{"text": text}]}),
        Format::GeminiInteractions => {
            json!({"type": "model_output", "content": [{"type": "text", "text": text}]})
        }
        _ => json!({"role": "assistant", "content": text}),
    };
    message.to_string()
}

#[cfg(test)]
mod tests {
    use super::{check, going_on};
    use crate::laws::made::made;
    use epitome::Format;

    const TALK: &str = "user Begin.\nasst One.\nuser Never push. Well.\nasst Three.\nuser Four.\n";

    fn checkpoint(messages: &str, lanes: &str) -> String {
        format!("<checkpoint X>\nIt stands for messages {messages}.\n{lanes}</checkpoint X>")
    }

    #[test]
    fn rules_summary_and_messages_are_carried() {
        let words = "\nUser's words\n[2] Never push. Well.\n";
        let summary = "\nSummary\nThe port is open.\n";
        let text = checkpoint("1–3", &format!("{words}{summary}"));
        let (first, compactor) = made(Format::OpenaiChat, TALK, "kfffk", Some((4, &text)));
        let then = |messages: &str, lanes: &str| {
            let drawn = "user Begin.\nasst Old.\nasst Five.\nuser Six.\n";
            let text = checkpoint(messages, lanes);
            let (mut second, _) = made(Format::OpenaiChat, drawn, "kffk", Some((3, &text)));
            second.receipt.target = 900;
            check(&first, &second, &compactor)
        };
        assert_eq!(then("1–5", &format!("{words}{summary}")), Ok(()));
        assert_eq!(
            then("1–3 and 5", &format!("\nUser's words\n[2] Never push.\n{summary}")),
            Ok(())
        );
        assert!(then("1–5", summary).expect_err("a rule is gone").contains("Never push."));
        assert!(then("1–5", words).expect_err("it is gone").contains("summary"));
        let lost = then("2–5", &format!("{words}{summary}"));
        assert!(lost.expect_err("1 is gone").contains("nothing stands for"));
    }

    #[test]
    fn every_format_goes_on() {
        for format in Format::ALL {
            for drawn in [TALK, "user Begin.\nasst One.\n"] {
                let request = crate::parse(format, drawn);
                let more = going_on(&request, 9).expect("it takes more");
                let added = more.transcript.len() - request.transcript.len();
                assert_eq!(added, if drawn == TALK { 2 } else { 3 }, "{format}");
            }
        }
    }
}
