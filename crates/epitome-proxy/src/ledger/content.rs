//! What a compaction did to a request: by kinds, and message by message.

use std::collections::HashMap;

use epitome::Format;
use epitome::checkpoint::disown;
use epitome::count::{Tally, TokenCounter, Weights};
use epitome::text::secrets::masked;
use epitome::transcript::{Entry, PartKind};
use epitome::wire::parse;

/// Tokens of each kind of content, before and after; `None` if one of the two can't be read.
pub(crate) fn kinds(
    format: Format,
    texts: [&str; 2],
    counter: &dyn TokenCounter,
) -> Option<[Weights; 2]> {
    let weights = texts.map(|text| {
        let mut request = parse(format, text.to_owned()).ok()?;
        // Its checkpoints are no person's words.
        disown(&mut request.transcript);
        Some(Weights::of(&request, &Tally::of(&request, counter)))
    });
    let [before, after] = weights;
    Some([before?, after?])
}

/// A stretch of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stretch {
    /// So many are the same.
    Same(usize),
    /// One isn't shown any more as it was.
    Gone(String),
    /// One is shown instead.
    New(String),
}

/// The most of one message that is shown.
const MOST: usize = 4_000;

/// The most messages that are shown.
const STRETCHES: usize = 600;

/// What became of which message; secrets are masked.
pub(crate) fn stretches(format: Format, texts: [&str; 2]) -> Option<Vec<Stretch>> {
    let [before, after] = texts.map(|text| parse(format, text.to_owned()).ok());
    let (before, after) = (before?.transcript, after?.transcript);
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in before.entries().enumerate() {
        places.entry(entry.raw()).or_default().push(at);
    }
    let (mut stretches, mut at) = (Vec::new(), 0);
    let gone = |stretches: &mut Vec<Stretch>, from: usize, to: usize| {
        let gone = (from..to).map(|at| Stretch::Gone(said(&before.entry(at))));
        stretches.extend(gone);
    };
    for entry in after.entries() {
        let same =
            places.get(entry.raw()).and_then(|places| places.iter().find(|place| **place >= at));
        match same {
            Some(place) => {
                gone(&mut stretches, at, *place);
                at = place + 1;
                match stretches.last_mut() {
                    Some(Stretch::Same(count)) => *count += 1,
                    _ => stretches.push(Stretch::Same(1)),
                }
            }
            None => stretches.push(Stretch::New(said(&entry))),
        }
        if stretches.len() > STRETCHES {
            return Some(stretches);
        }
    }
    gone(&mut stretches, at, before.len());
    Some(stretches)
}

/// The words of a message, and its calls.
fn said(entry: &Entry<'_>) -> String {
    let mut words = format!("{:?}", entry.role()).to_lowercase();
    for part in entry.parts().filter(|part| part.kind() != PartKind::Link) {
        let name = part.name();
        let text = match part.kind() {
            PartKind::Media => "(media)".into(),
            PartKind::Call => format!("{name} {}", part.raw_body()).into(),
            _ => part.text(),
        };
        words.push('\n');
        words.push_str(&text);
        if words.len() > 2 * MOST {
            break;
        }
    }
    let words = masked(&words);
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use epitome::count::{ContentKind, counter};
    use epitome::{Compactor, Options, Target};
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_the_same_gone_or_new() {
        let body = |messages: &[&str]| {
            let messages: Vec<String> = messages
                .iter()
                .map(|said| format!(r#"{{"role":"user","content":"{said}"}}"#))
                .collect();
            format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","))
        };
        let (before, after) = (body(&["a", "b", "c", "d", "a"]), body(&["a", "x", "d", "a"]));
        let told = stretches(Format::OpenaiChat, [&before, &after]).expect("both are read");
        let (gone, new) = (
            |it: &str| Stretch::Gone(format!("user\n{it}")),
            |it: &str| Stretch::New(format!("user\n{it}")),
        );
        assert_eq!(told, [Stretch::Same(1), new("x"), gone("b"), gone("c"), Stretch::Same(2)]);
        assert_eq!(stretches(Format::OpenaiChat, ["[", &after]), None);
    }

    #[test]
    fn a_checkpoint_is_no_persons_words() {
        let long = "It compiles, and all tests pass. ".repeat(200);
        let body = json!({ "messages": [
            { "role": "user", "content": "Fix the build." },
            { "role": "assistant", "content": long },
            { "role": "user", "content": "And the docs." },
        ]});
        let counter = counter("chars4").expect("it is one of ours");
        let options = Options { target: Target::Percent(30), ..Options::default() };
        let request = parse(Format::OpenaiChat, body.to_string()).expect("a request");
        let compactor = Compactor::new(options, Arc::clone(&counter)).expect("options");
        let after = compactor.compact(&request).expect("a view").rendered().to_owned();
        assert!(after.contains("<checkpoint "), "{after}");
        let both = [&*body.to_string(), &*after];
        let [before, after] = kinds(Format::OpenaiChat, both, counter.as_ref()).expect("both");
        let of = |weights: &Weights| weights.get(ContentKind::Checkpoint).tokens;
        assert!(of(&before) == 0 && of(&after) > 0);
    }
}
