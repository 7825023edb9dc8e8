//! How long texts take that were made to take long, beside prose:
//! `cargo run --release -p testkit --example hostile -- [--size BYTES]`
//!
//! Each text, a megabyte if nothing else is said, stands in the words of a human, in a result and in a reply, and goes
//! the whole way: parse, check, count with a counter that has seen nothing, compact to 30 %, render. A ratio is time per
//! byte of text against that of prose (the papers of this repository) at the same place; processor time, the best of some rounds.
//! Exits with 1 if one is over five.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use cpu_time::ThreadTime;
use epitome::count::counter;
use epitome::{Compactor, Format, Options, Target, wire};
use serde_json::json;

/// At most this often the time of prose.
const LIMIT: f64 = 5.0;
/// Rounds at first, and at most, while a ratio is over the limit.
const ROUNDS: (usize, usize) = (2, 7);
const PLACES: [&str; 3] = ["words", "result", "reply"];
const COUNTERS: [&str; 2] = ["o200k", "claude"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let size = match words[..] {
        [] => 1 << 20,
        ["--size", size] => size.parse()?,
        _ => {
            eprintln!("usage: hostile [--size BYTES]");
            return Ok(ExitCode::from(2));
        }
    };
    let prose = filled(&prose()?, size);
    let texts: Vec<(&str, String)> =
        hostile().into_iter().map(|(name, text)| (name, filled(&text, size))).collect();
    let mut worst = 0.0_f64;
    for name in COUNTERS {
        worst = worst.max(report(name, &prose, &texts)?);
    }
    let is_within = worst <= LIMIT;
    let verdict = if is_within { "within" } else { "OVER" };
    println!("largest ratio: {worst:.1}, {verdict} the limit of {LIMIT}");
    Ok(if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures and prints one counter; its largest ratio.
fn report(name: &str, prose: &str, texts: &[(&str, String)]) -> Result<f64, Box<dyn Error>> {
    print!("{name:<24}");
    for place in PLACES {
        print!("{place:>14}{:>6}", "×");
    }
    println!();
    let mut usual = [f64::INFINITY; PLACES.len()];
    for (place, usual) in usual.iter_mut().enumerate() {
        *usual = best(name, place, prose, 0.0)?;
    }
    let mut worst = 0.0_f64;
    for (what, text) in std::iter::once(&("prose", prose.to_owned())).chain(texts) {
        print!("{what:<24}");
        for (place, usual) in usual.iter().enumerate() {
            let time = best(name, place, text, usual * LIMIT)?;
            let ratio = time / usual;
            worst = worst.max(ratio);
            print!("{time:>8.2} ms/MB{ratio:>6.2}");
        }
        println!();
    }
    Ok(worst)
}

/// Milliseconds a megabyte, the best of as many rounds as it takes to be under `enough`.
fn best(name: &str, place: usize, text: &str, enough: f64) -> Result<f64, Box<dyn Error>> {
    let source = Arc::new(request(place, text));
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && (best <= enough || enough <= 0.0) {
            break;
        }
        let begun = ThreadTime::now();
        black_box(whole(name, &source)?);
        best = best.min(begun.elapsed().as_secs_f64() * 1e9 / text.len() as f64);
    }
    Ok(best)
}

/// From bytes to bytes, nothing known before.
fn whole(name: &str, source: &Arc<String>) -> Result<usize, Box<dyn Error>> {
    let request = wire::parse(Format::OpenaiChat, Arc::clone(source))?;
    let findings = wire::check(&request);
    assert!(findings.is_empty(), "{findings:?}");
    let options = Options { target: Target::Percent(30), ..Options::default() };
    let outcome = Compactor::new(options, counter(name)?)?.compact(&request)?;
    Ok(outcome.rendered().len())
}

/// A short session in which `text` stands somewhere in the middle.
fn request(place: usize, text: &str) -> String {
    let at = |which: usize, usual: &'static str| if which == place { text } else { usual };
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "Bash", "arguments": "{\"command\":\"make\"}"}});
    json!([
        {"role": "user", "content": "Make the build work, and keep src/main.rs as it is."},
        {"role": "assistant", "content": "I'll look at it."},
        {"role": "user", "content": at(0, "Here is what I have.")},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": at(1, "ok")},
        {"role": "assistant", "content": at(2, "It was built.")},
        {"role": "user", "content": "What is left?"},
        {"role": "assistant", "content": "Nothing that I know of."},
        {"role": "user", "content": "Go on."},
    ])
    .to_string()
}

/// `text` again and again, up to so many bytes.
fn filled(text: &str, size: usize) -> String {
    let mut filled = text.repeat(size / text.len() + 1);
    let end = (0..=size).rev().find(|end| filled.is_char_boundary(*end)).unwrap_or(0);
    filled.truncate(end);
    filled
}

/// What people wrote: the papers of this repository.
fn prose() -> Result<String, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let papers =
        ["DESIGN.md", "ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/PROVIDERS.md"];
    let mut prose = String::new();
    for paper in papers {
        prose += &std::fs::read_to_string(root.join(paper))?;
    }
    Ok(prose)
}

/// What nobody writes, and each is awkward for something.
fn hostile() -> Vec<(&'static str, String)> {
    let random = |alphabet: &str| random(alphabet, 1 << 20);
    let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    vec![
        ("one letter", "a".to_owned()),
        ("one sign", "=".to_owned()),
        ("one quote", "\"".to_owned()),
        ("one backslash", "\\".to_owned()),
        ("one digit", "7".to_owned()),
        ("one emoji", "😀".to_owned()),
        ("one accent", "\u{301}".to_owned()),
        ("one joiner", "\u{200d}".to_owned()),
        ("spaces", " ".to_owned()),
        ("tabs", "\t".to_owned()),
        ("line ends", "\n".to_owned()),
        ("carriage returns", "\r\n".to_owned()),
        ("zero bytes", "\0".to_owned()),
        ("one random word", random("abcdefghijklmnopqrstuvwxyz")),
        ("base64", random(base64)),
        ("base64 in lines", lines(&random(base64), 76)),
        ("hexadecimal", random("0123456789abcdef")),
        ("digits", random("0123456789")),
        ("punctuation", random("!@#$%^&*()-=+[]{};:,.<>?/\\|\"'`~_")),
        ("white space", random(" \t\n\r")),
        ("one word a line", lines(&random("abcdefghijklmnopqrstuvwxyz"), 7)),
        ("one letter a line", "a\n".to_owned()),
        ("one letter, a space", "a ".to_owned()),
        ("full stops", "A. ".to_owned()),
        ("brackets open", "[".to_owned()),
        ("objects open", "{\"a\":".to_owned()),
        ("paths", "/a".to_owned()),
        ("long paths", "/usr/lib/x.rs:1:2: error: ".to_owned()),
        ("links", "https://a.b/".to_owned()),
        ("ids", "0f8fad5b-d9cb-469f-a165-70867728950e ".to_owned()),
        ("tags", "<a>".to_owned()),
        ("fences", "```\n".to_owned()),
        ("secrets begun", "sk-ant-".to_owned()),
        (
            "Chinese",
            random("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子"),
        ),
        ("scripts mixed", random("aяא的あ한ไ😀éß漢ع़ð🏳️‍🌈🇩🇪 ")),
        ("emoji", random("😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙😚🙂🤗🤩🤔🤨😐😑😶🙄😏😣😥")),
        ("rules", "You must never do it. ".to_owned()),
        ("questions", "Why? ".to_owned()),
        ("corrections", (1000..).map(|n| format!("No, {n}. ")).take(100_000).collect()),
    ]
}

fn lines(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(width).map(|line| line.iter().collect::<String>() + "\n").collect()
}

/// `size` bytes of characters of an alphabet, the same in every run.
fn random(alphabet: &str, size: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut text = String::new();
    while text.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push(letters[(state >> 20) as usize % letters.len()]);
    }
    text
}
