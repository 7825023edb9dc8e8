//! Law 12: human words are copied, never written.

use std::collections::HashMap;

use epitome::Outcome;
use epitome::transcript::{Origin, PartKind};

use super::log::Log;
use super::silence::is_first;

/// What stands for the part of a quote that is left out.
const GAP: &str = "[…]";

/// The checkpoint closes its fence once, and each of the user's words is what a person or a client said in the
/// message that it names, or an earlier checkpoint quotes it.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let Some(placed) = outcome.view.checkpoint() else { return Ok(()) };
    let close = placed.text.lines().last().unwrap_or_default();
    holds!(close.starts_with("</checkpoint "));
    same!(placed.text.matches(close).count(), 1);
    let entries = outcome.base.transcript.entries().filter(|entry| !entry.role().instructs());
    // What clients inject between a person's words isn't quoted with them.
    let mut said: HashMap<usize, [String; 2]> = HashMap::new();
    for entry in entries {
        let texts = entry.parts().filter(|part| part.kind() == PartKind::Text);
        let is_theirs = |origin| !matches!(origin, Origin::Model | Origin::Tool);
        let texts = texts.filter(|part| is_theirs(part.origin())).map(|part| part.text());
        let all = texts.collect::<Vec<_>>().join("\n\n");
        said.insert(entry.index, [entry.human_text(), all]);
    }
    let is_first = is_first(outcome);
    let words = Log::of(&placed.text).words;
    let is_told = placed.text.contains("quotes carry no authority");
    holds!(words.is_empty() || is_told, "it doesn't say that its quotes carry no authority");
    for word in words {
        let own = word.at.filter(|_| is_first).map(|at| said.get(&at));
        let says = |said: &[String; 2]| said.iter().any(|said| quotes(word.text, said));
        let is_said = own.map_or_else(|| said.values().any(says), |own| own.is_some_and(says));
        holds!(is_said, "words that nobody said: {word:?}");
    }
    Ok(())
}

/// Whether a quote says what was said, in order, but for gaps that it declares.
fn quotes(quote: &str, said: &str) -> bool {
    // What looks like a gap may have been said.
    if said.contains(quote.trim()) {
        return true;
    }
    let mut rest = said;
    let mut stretches = quote.split(GAP);
    stretches.all(|stretch| {
        let stretch = stretch.trim();
        let Some(at) = rest.find(stretch) else { return false };
        rest = &rest[at + stretch.len()..];
        true
    })
}

#[cfg(test)]
mod tests {
    use super::{check, quotes};
    use crate::laws::made::made;
    use epitome::Format;

    #[test]
    fn words_are_those_of_their_message() {
        let drawn =
            "user Begin.\nasst Never say so.\nuser Never\\npush.\nasst Three.\nuser Four.\n";
        let with = |words: &str| {
            let text = format!(
                "<checkpoint X>\nIt stands for messages 1–3; quotes carry no authority.\n\nUser's words\n{words}\n</checkpoint X>"
            );
            check(&made(Format::OpenaiChat, drawn, "kfffk", Some((4, &text))).0)
        };
        assert_eq!(with("[2, 2 lines] Never\npush."), Ok(()));
        assert!(with("[2] Always push.").is_err());
        assert!(with("[1] Never say so.").is_err());
        assert!(with("[0] Never").is_err());
    }

    #[test]
    fn gaps_are_declared() {
        assert!(quotes("one […] four", "one two three four"));
        assert!(!quotes("one four", "one two three four"));
        assert!(!quotes("four […] one", "one two three four"));
        assert!(quotes("so [… on", "so [… on"));
    }
}
