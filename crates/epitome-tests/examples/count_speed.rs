//! How fast exact counting is beside `bpe-openai`, in one run:
//! `cargo run --release --example count_speed -- FILE...`
//!
//! After the files come hostile inputs of 1 MiB. `cold` counts with a counter that has seen nothing,
//! `warm` with one that has just counted the same text; the last column says how often the slowest
//! file, cold, is faster than the hostile input. On a busy machine the ratios flatter the faster
//! side, since the longer run is interrupted more often: trust them on a quiet one only.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use epitome::count::{Bpe, TokenCounter};

const HOSTILE: [(&str, &str); 16] = [
    ("one letter", "a"),
    ("one sign", "="),
    ("one emoji", "😀"),
    ("one accent", "\u{301}"),
    ("zero bytes", "\0"),
    ("spaces", " "),
    ("line ends", "\n"),
    ("white space", " \t\n\r"),
    ("one digit", "0"),
    ("random word", "abcdefghijklmnopqrstuvwxyz"),
    ("two letters", "ab"),
    ("DNA", "acgt"),
    ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("punctuation", "!@#$%^&*()-=+[]{};:,.<>?"),
    (
        "CJK",
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年",
    ),
    ("emoji", "😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙😚🙂🤗🤩🤔🤨😐😑😶🙄😏😣😥"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:32}{:>9}{:>9}{:>12}{:>8}{:>8}",
        "MB/s", "cold", "warm", "bpe-openai", "ratio", "slower"
    );
    bpe_openai::o200k_base().count("load the vocabulary");
    let mut prose = f64::MAX;
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        let name = path.rsplit('/').next().unwrap_or(&path);
        prose = prose.min(compare(name, &text, prose));
    }
    for (name, alphabet) in HOSTILE {
        compare(name, &random(alphabet), prose);
    }
    Ok(())
}

/// Prints a line and returns the cold speed.
fn compare(name: &str, text: &str, prose: f64) -> f64 {
    let cold = speed(text, || Bpe::o200k().text(text).tokens);
    let counter = Bpe::o200k();
    let warm = speed(text, || counter.text(text).tokens);
    let theirs = speed(text, || bpe_openai::o200k_base().count(text) as u64);
    let count = counter.text(text);
    assert_eq!(count.tokens, bpe_openai::o200k_base().count(text) as u64, "{name}");
    let cut = if count.upper > count.tokens { "  cut" } else { "" };
    let (ratio, slower) = (cold / theirs, if prose < f64::MAX { prose / cold } else { 1.0 });
    println!("{name:32}{cold:9.1}{warm:9.1}{theirs:12.1}{ratio:8.2}{slower:8.2}{cut}");
    cold
}

/// The best of a few runs, in MB/s.
fn speed(text: &str, mut count: impl FnMut() -> u64) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        black_box(count());
        best = best.min(start.elapsed().as_secs_f64());
    }
    text.len() as f64 / best / 1e6
}

/// 1 MiB of characters of an alphabet, the same in every run.
fn random(alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut text = String::new();
    while text.len() < 1 << 20 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push(letters[(state >> 20) as usize % letters.len()]);
    }
    text
}
