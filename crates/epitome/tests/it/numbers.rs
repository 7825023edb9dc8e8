//! What a checkpoint calls a message: by its number in the whole conversation, however often that was compacted.

use epitome::checkpoint;
use epitome::count::counter;
use epitome::wire::{Format, parse};
use epitome::{Compactor, Options, Target};
use testkit::prose::lorem;

const TARGET: u64 = 900;

/// Message `n`, of a person where it is even.
fn message(n: usize) -> serde_json::Value {
    let (role, text) = match n % 2 {
        0 => ("user", format!("The width of panel p{n} is {}.5 px.", 1000 + n)),
        _ => ("assistant", format!("We settled on colour c{n} for it. {}", lorem(900))),
    };
    serde_json::json!({"role": role, "content": text})
}

/// The number of the message that says so: `p12`, `c13`.
fn named_in(text: &str) -> Option<usize> {
    let at = text.find("panel p").map(|at| at + 7).or(text.find("colour c").map(|at| at + 8))?;
    let digits = text[at..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[test]
fn messages_keep_their_numbers_through_compactions() {
    for format in [Format::OpenaiChat, Format::Anthropic] {
        let options = Options { target: Target::Tokens(TARGET), ..Options::default() };
        let counter = counter("o200k").expect("known");
        let compactor = Compactor::new(options, counter).expect("in range");
        let mut messages: Vec<serde_json::Value> = Vec::new();
        let mut known = Vec::new();
        for round in 0..4 {
            messages.extend((round * 30..(round + 1) * 30).map(message));
            let body = serde_json::json!({"model": "m", "max_tokens": 9, "messages": messages});
            let request = parse(format, body.to_string()).expect("messages");
            let compactor = compactor.clone().knowing(known.iter().copied());
            let outcome = compactor.compact(&request).expect("a view");
            let placed = outcome
                .view
                .checkpoint()
                .unwrap_or_else(|| panic!("no checkpoint in {}", outcome.rendered()));
            known.push(outcome.receipt.checkpoint.as_ref().expect("the same").id);
            let body: serde_json::Value =
                serde_json::from_str(outcome.rendered()).expect("a request");
            messages = body["messages"].as_array().expect("messages").clone();

            let contents = checkpoint::read(&placed.text).expect("an intact fence");
            let shown =
                messages.iter().filter(|said| !said.to_string().contains(&placed.text[..20]));
            assert_eq!(contents.messages + shown.count(), (round + 1) * 30, "{}", placed.text);
            let lines = epitome::ledger::read(&contents.ledger);
            let listed = lines.iter().map(|line| (line.at as usize, line.text.as_str()));
            let quoted = contents.words.iter().map(|word| (word.at, word.text.as_str()));
            let mut told = 0;
            for (number, text) in listed.chain(quoted) {
                if let Some(named) = named_in(text) {
                    assert_eq!(number, named, "{format} {round}: {text}\n{}", placed.text);
                    told += 1;
                }
            }
            assert!(told > 5, "{format} {round}: {}", placed.text);
        }
    }
}
