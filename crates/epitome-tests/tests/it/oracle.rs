//! Counts against `bpe-openai`, an independent implementation of the same encodings.

use std::fmt::Write as _;

use epitome::count::{Basis, Bpe, TokenCounter};
use testkit::dice::Dice;

/// Ours and theirs, for both encodings.
fn pairs() -> [(Bpe, &'static bpe_openai::Tokenizer); 2] {
    [(Bpe::o200k(), bpe_openai::o200k_base()), (Bpe::cl100k(), bpe_openai::cl100k_base())]
}

#[track_caller]
fn check(ours: &Bpe, theirs: &bpe_openai::Tokenizer, text: &str) {
    let count = ours.text(text);
    let wanted = theirs.count(text) as u64;
    assert_eq!(
        (count.tokens, count.upper, count.basis),
        (wanted, wanted, Basis::Exact),
        "{} {text:?}",
        ours.name()
    );
}

/// Writes each point in each context. A line end keeps the contexts apart, so a text that agrees
/// stands for all of them, unless two mistakes cancel out.
fn sweep(contexts: &[&str], points: impl Iterator<Item = u32>) {
    const BATCH: usize = 256;
    let points: Vec<char> = points.filter_map(char::from_u32).collect();
    let batches = points.chunks(BATCH).map(|batch| {
        let mut text = String::new();
        for context in contexts {
            for point in batch {
                let _ = writeln!(text, "{}", context.replace('@', point.encode_utf8(&mut [0; 4])));
            }
        }
        text
    });
    let texts: Vec<String> = batches.collect();
    std::thread::scope(|scope| {
        for (ours, theirs) in pairs() {
            let texts = &texts;
            scope.spawn(move || texts.iter().for_each(|text| check(&ours, theirs, text)));
        }
    });
}

const CONTEXTS: &[&str] = &[
    "@", "@@", "a@b", "A@B", "a@B", "A@b", " @", "'@", "a'@", " @a", "@7", "7@", "  @ ", "!@/",
    "!@!", "@'s", "\t@", "\n@",
];

/// Every one that is assigned, and some of the planes in which none is or each is private.
#[test]
fn every_code_point_in_four_contexts() {
    let (all, some) = (0..0x3_4000, (0x3_4000..=0x10_FFFF).step_by(61));
    sweep(&["@", "a@B", " @@", "a'@7"], all.chain(some).chain(0xE_0000..0xE_0200));
}

#[test]
fn every_code_point_of_mixed_blocks_in_all_contexts() {
    sweep(
        CONTEXTS,
        (0..0x3400).chain(0xA000..0xAC00).chain(0xFA00..0x1_2000).chain(0x1_D000..0x2_0000),
    );
}

#[test]
#[ignore = "takes a minute; the two above cover all but its combinations"]
fn every_code_point_in_all_contexts() {
    for plane in 0..=0x10 {
        sweep(CONTEXTS, plane << 16..(plane + 1) << 16);
    }
}

const FRAGMENTS: &[&str] = &[
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{85}",
    "'",
    "'s",
    "'LL",
    "'\u{17f}",
    "\u{2019}",
    "/",
    "//",
    ".",
    ",",
    "!",
    "-",
    "_",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "(",
    ":",
    ";",
    "=",
    "==",
    "<|endoftext|>",
    "<|",
    "|>",
    "0",
    "7",
    "42",
    "2024",
    "\u{663}",
    "\u{2168}",
    "\u{bd}",
    "\u{301}",
    "\u{20dd}",
    "\u{200d}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{fffd}",
    "\0",
    "a",
    "A",
    "b",
    "the",
    "The",
    "THE",
    "getElementById",
    "HTTPServer",
    "naïve",
    "Straße",
    "\u{130}",
    "\u{1c5}",
    "\u{2b0}",
    "ª",
    "ー",
    "한국어",
    "日本語",
    "東京",
    "你好世界",
    "Привет",
    "МОСКВА",
    "γειά",
    "שלום",
    "مرحبا",
    "नमस्ते",
    "สวัสดี",
    "தமிழ்",
    "😀",
    "👨‍👩‍👧",
    "🇩🇪",
    "𝒜",
    "𐐀",
    "\u{10ffff}",
    "\u{e000}",
    "\u{378}",
    "antidisestablishmentarianism",
    "aGVsbG8gd29ybGQ",
    "deadbeef",
];

#[test]
fn random_mixtures_of_scripts() {
    std::thread::scope(|scope| {
        for (seed, (ours, theirs)) in (1..).zip(pairs()) {
            scope.spawn(move || {
                let mut dice = Dice::new(0x2545_F491_4F6C_DD1D * seed);
                for _ in 0..200_000 {
                    let mut text = String::new();
                    for _ in 0..=dice.below(12) {
                        match dice.below(8) {
                            0 => text.extend(char::from_u32(dice.below(0x11_0000) as u32)),
                            1 => text.extend(char::from_u32(dice.below(0x500) as u32)),
                            _ => text.push_str(dice.pick(FRAGMENTS)),
                        }
                    }
                    check(&ours, theirs, &text);
                }
            });
        }
    });
}

/// Runs without a place to split, which are encoded window by window.
#[test]
fn long_runs() {
    let mut dice = Dice::new(88_172_645_463_325_252);
    let alphabets: [&[char]; 16] = [
        &[' '],
        &['\n'],
        &['a'],
        &['='],
        &['\0'],
        &['😀'],
        &['\u{301}'],
        &['a', 'b'],
        &['A', 'b', 'ー'],
        &['a', 'c', 'g', 't'],
        &['-', '=', '*', '#'],
        &[' ', '\t'],
        &['日', '本', '語', '中', '国', '人'],
        &['😀', '😂', '\u{200d}', '👨'],
        &['e', 't', 'a', 'o', 'i', 'n', 's', 'h', 'r'],
        &['न', 'म', 'स', '\u{94d}', 'त', '\u{947}'],
    ];
    for (ours, theirs) in pairs() {
        for alphabet in alphabets {
            for len in [15, 16, 17, 120, 128, 200, 255, 256, 257, 258, 400, 1000, 5000, 20_000] {
                let text: String = (0..len).map(|_| dice.pick(alphabet)).collect();
                check(&ours, theirs, &text);
                check(&ours, theirs, &format!("x{text}x"));
            }
            for period in 2..60 {
                let unit: String = (0..period).map(|_| dice.pick(alphabet)).collect();
                check(&ours, theirs, &unit.repeat(3000 / unit.len()));
            }
        }
    }
}

/// One piece of everything: no split pattern would do this, but no token boundary is safe from it.
#[test]
fn words_joined_without_a_break() {
    let mut dice = Dice::new(0x9E37_79B9_7F4A_7C15);
    for (ours, theirs) in pairs() {
        for _ in 0..300 {
            let mut text = String::new();
            while text.len() < 3000 {
                let token = theirs.bpe.token_bytes(dice.below(theirs.bpe.num_tokens()) as u32);
                if let Ok(token) = std::str::from_utf8(token) {
                    text.extend(token.chars().filter(|point| point.is_lowercase()));
                }
            }
            check(&ours, theirs, &text);
        }
    }
}
