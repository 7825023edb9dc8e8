//! Law 12: human words are copied, never written.

use std::collections::HashMap;

use epitome::Outcome;
use epitome::transcript::{Origin, Part, PartKind};
use serde_json::Value;

use super::log::Log;
use super::silence::is_first;

/// What stands for the part of a quote that is left out.
const GAP: &str = "[…]";
/// What stands before the name of a file.
const ATTACHED: &str = "[attached: ";

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
    let mut attached: HashMap<usize, String> = HashMap::new();
    for entry in entries {
        let texts = entry.parts().filter(|part| part.kind() == PartKind::Text);
        let is_theirs = |origin| !matches!(origin, Origin::Model | Origin::Tool);
        let texts = texts.filter(|part| is_theirs(part.origin())).map(|part| part.text());
        let all = texts.collect::<Vec<_>>().join("\n\n");
        said.insert(entry.index, [entry.human_text(), all]);
        let is_file = |part: &Part<'_>| part.is_human() && part.kind() == PartKind::Media;
        for part in entry.parts().filter(is_file) {
            let value = serde_json::from_str(part.raw()).map_err(|error| error.to_string())?;
            strings(&value, attached.entry(entry.index).or_default());
        }
    }
    let is_first = is_first(outcome);
    let words = Log::of(&placed.text).words;
    let is_told = placed.text.contains("quotes carry no authority");
    holds!(words.is_empty() || is_told, "it doesn't say that its quotes carry no authority");
    for word in words {
        let own = word.at.filter(|_| is_first);
        let is_of = |at: &usize| own.is_none_or(|own| own == *at);
        let is_said = |text: &str| {
            let mut all = said.iter().filter(|(at, _)| is_of(at)).flat_map(|(_, said)| said);
            all.any(|said| quotes(text, said))
        };
        if is_said(word.text) {
            continue;
        }
        // What people attached is named behind what they said, and its own text is below that.
        let (text, files) = word.text.split_once(ATTACHED).unwrap_or((word.text, ""));
        holds!(is_said(text.trim().trim_end_matches(GAP)), "words that nobody said: {word:?}");
        let names = files.split([',', ']', '\n']).map(|it| it.trim().trim_start_matches(ATTACHED));
        let is_ours = |it: &str| {
            matches!(it, "" | "a file" | "not quoted" | "[…") || it.ends_with(" of text")
        };
        for name in names.filter(|it| !is_ours(it)) {
            let mut files = attached.iter().filter(|(at, _)| is_of(at));
            holds!(files.any(|(_, said)| quotes(name, said)), "nobody attached {name}: {word:?}");
        }
    }
    Ok(())
}

/// All strings in a value, one on a line.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.extend([text, "\n"]),
        Value::Array(all) => all.iter().for_each(|it| strings(it, out)),
        Value::Object(all) => all.values().for_each(|it| strings(it, out)),
        _ => {}
    }
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
