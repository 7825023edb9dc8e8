//! Long transcripts of a coding agent's kind, fast and from a seed: for time and memory, not for
//! odd cases.

use epitome::Request;
use epitome::wire::{Envelope, Format};

use crate::draft::{Block, Draft, Message, Shape, is_flat};
use crate::prose;
use crate::{interactions, responses};
use epitome_bench::dice::Dice;

/// How long a transcript is to be, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The wire format.
    pub format: Format,
    /// The least number of entries; the last step is finished.
    pub entries: usize,
    /// Model calls in a turn.
    pub steps: usize,
    /// Lines of a tool result, on average.
    pub lines: usize,
}

impl Size {
    /// A session of so many entries, as agents write them.
    pub fn entries(format: Format, entries: usize) -> Self {
        Size { format, entries, steps: 12, lines: 20 }
    }
}

/// A request body of this size: the same for the same seed.
pub fn generate(seed: u64, size: Size) -> String {
    draft(seed, size).write(0).0
}

/// The body of a request with its first entries alone.
pub fn beginning(all: &Request, entries: usize) -> String {
    let list = all.frame.list.range();
    let first: Vec<&str> =
        all.transcript.entries().take(entries).map(|entry| entry.raw()).collect();
    let source = all.source();
    format!("{}[{}]{}", &source[..list.start], first.join(","), &source[list.end..])
}

fn draft(seed: u64, size: Size) -> Draft {
    let mut dice = Dice::new(seed);
    let mut draft = Draft::new(size.format);
    draft.envelope = Envelope::Body;
    if size.format == Format::OpenaiChat {
        draft.messages.push(Message::new("system", vec![Block::Text(prose::lorem(60))]));
    } else {
        draft.system = Some(prose::lorem(60));
    }
    let mut ids = 0;
    while draft.messages.len() < size.entries.max(1) {
        let task = format!(
            "Please look at {} and {}.",
            prose::file(dice.roll()),
            prose::lorem(4 + dice.below(20))
        );
        draft.messages.push(Message::new("user", vec![Block::Text(task)]));
        for _ in 0..=dice.below(size.steps.max(1) * 2) {
            step(&mut draft, &mut dice, &mut ids, size.lines);
        }
        let done = format!("Done: {}.", prose::lorem(10 + dice.below(40)));
        draft.messages.push(Message::new("assistant", vec![Block::Text(done)]));
    }
    draft
}

fn step(draft: &mut Draft, dice: &mut Dice, ids: &mut usize, lines: usize) {
    let is_flat = is_flat(draft.format) || draft.format == Format::GeminiInteractions;
    let has_items = draft.format == Format::OpenaiResponses;
    let mut said = Vec::new();
    if dice.one_in(3) {
        if has_items {
            said.push(Block::Own(format!("rs_{ids}")));
        }
        said.push(if has_items {
            Block::Signed(prose::base64(prose::lorem(200).as_bytes()))
        } else if draft.format == Format::Anthropic {
            Block::Signed(prose::lorem(30))
        } else {
            Block::Think(prose::lorem(30))
        });
    }
    if dice.one_in(2) {
        said.push(Block::Text(format!("Let me check {}.", prose::file(dice.roll()))));
    }
    let mut results = Vec::new();
    for _ in 0..=(if dice.one_in(4) { dice.below(4) } else { 0 }) {
        *ids += 1;
        let id = format!(
            "{}_{ids:06}",
            if draft.format == Format::Anthropic { "toolu" } else { "call" }
        );
        let file = prose::file(dice.roll());
        let count = 1 + dice.below(lines.max(1) * 2);
        let (name, input, text) = match dice.below(3) {
            0 => (
                "Bash",
                format!(r#"{{"command":"cargo test -p {file} 2>&1 | tail -{count}"}}"#),
                prose::log(dice.roll(), count),
            ),
            1 => (
                "Grep",
                format!(r#"{{"pattern":"retry_{count}","path":"{file}"}}"#),
                prose::lines(count),
            ),
            _ => (
                "Read",
                format!(r#"{{"file_path":"{file}","limit":{count}}}"#),
                prose::code(dice.roll(), count),
            ),
        };
        if has_items {
            said.push(Block::Own(format!("fc_{ids}")));
        }
        said.push(Block::Call { id: id.clone(), name: name.to_owned(), input });
        if draft.format == Format::Gemini && results.is_empty() {
            said.push(Block::Signature(format!("{}{}", prose::lorem(40), *ids)));
        }
        results.push(Block::Result {
            id,
            failed: dice.one_in(15),
            shape: Shape::String,
            content: vec![Block::Text(text)],
        });
    }
    let said = Message::new("assistant", said);
    match draft.format {
        Format::OpenaiResponses => draft.messages.extend(responses::items(said)),
        Format::GeminiInteractions => draft.messages.extend(interactions::steps(said)),
        _ => draft.messages.push(said),
    }
    if is_flat {
        draft.messages.extend(results.into_iter().map(|result| Message::new("tool", vec![result])));
    } else {
        draft.messages.push(Message::new("user", results));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use epitome::wire;

    #[test]
    fn long_transcripts_are_valid_and_repeatable() {
        for format in [
            Format::OpenaiChat,
            Format::Anthropic,
            Format::Gemini,
            Format::OpenaiResponses,
            Format::GeminiInteractions,
        ] {
            let text = generate(5, Size::entries(format, 2000));
            assert_eq!(text, generate(5, Size::entries(format, 2000)));
            let request = wire::parse(format, text).expect("a request");
            assert!(request.transcript.len() >= 2000);
            assert!(wire::check(&request).is_empty());
            assert_eq!(crate::accepted::accepted(&request), Ok(()));
        }
    }
}
