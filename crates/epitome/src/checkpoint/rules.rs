//! The sentences in which people command or forbid.

use super::cues::commands;
use super::extract::is_rule_file;
use super::read::read;
use crate::text::secrets::masked;
use crate::text::sentence::sentences;
use crate::transcript::{Entry, Origin, Part, PartKind, Transcript};

/// A sentence in which a person commands or forbids, with secrets masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRule {
    /// The entry that says it.
    pub entry: usize,
    /// The sentence.
    pub text: String,
    /// Whether it stands in a file with the user's rules, which a client put in.
    pub in_file: bool,
}

/// The rules of a transcript, in order: from human messages, from quotes of checkpoints, and from rule files. Repeated rules
/// are repeated here.
///
/// ```
/// use epitome::{checkpoint::rules, wire};
///
/// let body = r#"{"model":"gpt-6-sol","messages":[{"role":"user","content":"Fix it. Never push to main."}]}"#;
/// let request = wire::detect(body.to_owned())?;
/// assert_eq!(rules(&request.transcript)[0].text, "Never push to main.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rules(transcript: &Transcript) -> Vec<UserRule> {
    let said = transcript.entries().filter(|entry| !entry.role().instructs());
    said.flat_map(|entry| of_entry(entry)).collect()
}

fn of_entry(entry: Entry<'_>) -> Vec<UserRule> {
    let mut rules = Vec::new();
    for part in entry.parts().filter(|part| part.kind() == PartKind::Text) {
        let in_file = part.origin() == Origin::Injected;
        for text in said(&part) {
            let text = masked(&text);
            let all = sentences(&text).into_iter().map(|range| &text[range]);
            let all = all.filter(|sentence| commands(sentence));
            let index = entry.index;
            rules.extend(all.map(|text| UserRule { entry: index, text: text.to_owned(), in_file }));
        }
    }
    rules
}

/// The human words of a part.
fn said(part: &Part<'_>) -> Vec<String> {
    let text = part.text();
    match part.origin() {
        Origin::Human => vec![text.into_owned()],
        Origin::Checkpoint => {
            let words = read(&text).unwrap_or_default().words;
            words.into_iter().map(|word| word.text).collect()
        }
        _ if is_rule_file(part, &text) => vec![text.into_owned()],
        _ => Vec::new(),
    }
}
