//! Cases in which something is said that must not count as a person's word, or that must not be lost.
//!
//! Each becomes a conversation that is compacted, goes on, and is compacted again. A ledger is read by its
//! lines alone: one that names a person as its source is taken for that person's word.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use epitome::checkpoint::read;
use epitome::count::TokenCounter;
use epitome::wire::{self, Goal};
use epitome::{Format, Request};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Broken;
use super::book::Speaker;
use super::contender::{Contender, Epitome};
use super::judge::{Block, Place, blocks};
use super::stream::Stream;
use crate::prose;

/// What is said, and what must hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// What makes it bad.
    pub group: String,
    /// Who says what.
    pub said: Vec<(Speaker, String)>,
    /// A person's words that the request must say, verbatim.
    #[serde(default)]
    pub kept: Vec<String>,
    /// What no lane may give as a person's word.
    #[serde(default)]
    pub not_users: Vec<String>,
    /// What no line of the ledger may say.
    #[serde(default)]
    pub no_line: Vec<String>,
    /// A line of the ledger with the first says the second too.
    #[serde(default)]
    pub only_with: Vec<(String, String)>,
    /// What the checkpoint must not come to say, however its lines are broken.
    #[serde(default)]
    pub never_joined: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    cases: Vec<Case>,
}

/// All cases.
pub fn cases() -> &'static [Case] {
    static FILE: LazyLock<File> = LazyLock::new(|| {
        let text = include_str!("../../data/survival/bad-input.json");
        serde_json::from_str(text).expect("the file is a list of cases")
    });
    &FILE.cases
}

/// The size that conversations are compacted to, in tokens.
const TARGET: u64 = 1_500;
/// Steps before each compaction, which alone are several times as long.
const STEPS: usize = 48;

impl Case {
    /// Compacts the conversation twice in `format`.
    ///
    /// # Errors
    /// What doesn't hold.
    pub fn check(&self, format: Format, counter: &Arc<dyn TokenCounter>) -> Result<(), Broken> {
        let mut messages =
            vec![json!({"role": "user", "content": "Work through the modules one by one."})];
        steps(&mut messages, 0..2);
        for (at, (speaker, text)) in self.said.iter().enumerate() {
            match speaker {
                Speaker::Human => messages.push(json!({"role": "user", "content": text})),
                Speaker::Assistant => messages.push(json!({"role": "assistant", "content": text})),
                Speaker::Tool => called(&mut messages, &format!("call_said_{at}"), text),
            }
            steps(&mut messages, 2 + at..3 + at);
        }
        steps(&mut messages, 10..10 + STEPS);
        messages.push(json!({"role": "user", "content": "Go on with the next part."}));
        let mut contender = Epitome::new(Arc::clone(counter));
        let mut stream = stream(format, &messages)?;
        for round in 1..=2 {
            let compacted = contender.compact(&stream.request()?, TARGET)?;
            if contender.known().is_empty() {
                return Err(Broken(format!("{}: nothing was folded", self.id)));
            }
            self.judge(&compacted).map_err(|broken| {
                Broken(format!("{} in {format}, round {round}: {broken}", self.id))
            })?;
            let mut more = Vec::new();
            steps(&mut more, 100..100 + STEPS);
            more.push(json!({"role": "user", "content": "And the part after that."}));
            stream = Stream::of(&self.id, &compacted);
            stream.entries.extend(self::stream(format, &more)?.entries);
        }
        Ok(())
    }

    /// Whether all holds of a request.
    fn judge(&self, request: &Request) -> Result<(), Broken> {
        let blocks = blocks(request);
        let fail = |what: &str, text: &str, block: Option<&Block>| {
            let mut words = format!("{what}: {text:?}");
            if let Some(block) = block {
                let _ = write!(words, "\n{block:?}");
            }
            Err(Broken(words))
        };
        for kept in &self.kept {
            if !blocks.iter().any(|block| block.text.contains(kept)) {
                return fail("a person's words are lost", kept, None);
            }
        }
        for text in &self.not_users {
            let users = |block: &&Block| {
                let mut lines = block.text.lines();
                is_a_persons(block) && block.text.contains(text)
                    || block.is_in_ledger()
                        && lines.any(|line| line.contains(text) && names_a_person(line, text))
            };
            if let Some(block) = blocks.iter().find(users) {
                return fail("put into a person's mouth", text, Some(block));
            }
        }
        let ledger = || blocks.iter().filter(|block| block.is_in_ledger());
        for text in &self.no_line {
            if let Some(block) = ledger().find(|block| block.text.contains(text)) {
                return fail("a line of the ledger", text, Some(block));
            }
        }
        for (text, with) in &self.only_with {
            let mut lines = ledger().flat_map(|block| block.text.lines());
            if lines.any(|line| line.contains(text) && !line.contains(with)) {
                return fail("out of its context", text, None);
            }
        }
        let checkpoint = blocks.iter().filter(|block| block.place != Place::Entry);
        let words: Vec<&str> = checkpoint.flat_map(|block| block.text.split_whitespace()).collect();
        let words = words.join(" ");
        for text in &self.never_joined {
            if words.contains(text) {
                return fail("pieces that were joined", text, None);
            }
        }
        self.words_are_peoples(request)
    }

    /// What the library itself reads as people's words was said by people.
    fn words_are_peoples(&self, request: &Request) -> Result<(), Broken> {
        const OURS: [&str; 3] = [
            "Work through the modules one by one.",
            "Go on with the next part.",
            "And the part after that.",
        ];
        let people = self.said.iter().filter(|(speaker, _)| *speaker == Speaker::Human);
        let said: Vec<&str> = people.map(|(_, text)| text.as_str()).chain(OURS).collect();
        for part in request.transcript.entries().flat_map(|entry| entry.parts()) {
            let Some(contents) = read(&part.text()) else { continue };
            for word in contents.words.iter().chain(&contents.pinned).chain(&contents.instructions)
            {
                let is_said = said.iter().any(|said| {
                    word.text.len() < word.whole && !word.text.is_empty()
                        || said.contains(&word.text)
                });
                if !is_said {
                    return Err(Broken(format!("nobody said {:?}", word.text)));
                }
            }
        }
        Ok(())
    }
}

/// Whether the lane's words count as a person's.
fn is_a_persons(block: &Block) -> bool {
    matches!(&block.place, Place::Lane(name) if matches!(name.as_str(), "user's words" | "pinned" | "instructions"))
}

/// Whether a line says, besides the text itself, that a person is its source.
fn names_a_person(line: &str, text: &str) -> bool {
    let besides = line.replace(text, "").to_lowercase();
    let words = besides.split(|c: char| !c.is_alphanumeric());
    let names = words.filter(|word| matches!(*word, "user" | "users" | "human" | "person"));
    let others = besides.split(|c: char| !c.is_alphanumeric());
    names.count() > 0
        && others.filter(|word| matches!(*word, "tool" | "model" | "assistant")).count() == 0
}

fn called(messages: &mut Vec<Value>, id: &str, result: &str) {
    let function = json!({"name": "read", "arguments": format!("{{\"of\":{:?}}}", id)});
    messages.extend([
        json!({"role": "assistant", "content": null,
               "tool_calls": [{"id": id, "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": id, "content": result}),
    ]);
}

fn steps(messages: &mut Vec<Value>, numbers: std::ops::Range<usize>) {
    for number in numbers {
        called(messages, &format!("call_{number}"), &prose::log(number as u64, 24));
    }
}

fn stream(format: Format, messages: &[Value]) -> Result<Stream, Broken> {
    let body = json!({"messages": messages}).to_string();
    let chat = wire::parse(Format::OpenaiChat, body)?;
    if format == Format::OpenaiChat {
        return Ok(Stream::of("", &chat));
    }
    let converted = wire::convert(&chat, Goal::from(format));
    Ok(Stream::of("", &wire::parse(format, converted.text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(checkpoint: &str) -> Result<(), Broken> {
        let case: Case = serde_json::from_value(json!({
            "id": "x", "group": "x",
            "said": [["human", "Never use port 1."], ["tool", "the user likes red"], ["tool", "a lot"]],
            "kept": ["Never use port 1."],
            "not_users": ["likes red"],
            "no_line": ["a lot"],
            "only_with": [["use port 1", "Never"]],
            "never_joined": ["the user likes red a lot"],
        }))
        .expect("a case");
        let body = format!("Reference.\n{checkpoint}");
        let nonce = epitome::transcript::ContentId::of_text(&body).short();
        let text = format!("<checkpoint {nonce}>\n{body}</checkpoint {nonce}>");
        let body = json!({"messages": [{"role": "user", "content": text}]}).to_string();
        case.judge(&wire::parse(Format::OpenaiChat, body).expect("a request"))
    }

    #[test]
    fn what_must_not_be_is_found() {
        const WORDS: &str =
            "## The user's words (verbatim)\n[message 1, 17 bytes]\nNever use port 1.\n";
        for (more, is_fine) in [
            ("", true),
            (
                "## Ledger\n- Never use port 1. (user, message 1)\n- the user likes red (tool, message 2)\n",
                true,
            ),
            ("## Ledger\n- use port 1. (user, message 1)\n", false),
            ("## Ledger\n- the user likes red (user, message 2)\n", false),
            ("## Ledger\n- a lot\n", false),
            ("[message 2, 18 bytes]\nthe user likes red\n", false),
            ("[message 2, 5 bytes]\nOther\n", false),
            ("## Telling lines (quoted, in order)\n- the user likes red\na lot\n", false),
        ] {
            let found = judged(&format!("{WORDS}{more}"));
            assert_eq!(found.is_ok(), is_fine, "{more}: {found:?}");
        }
        assert!(judged("").is_err(), "the words are lost");
    }
}
