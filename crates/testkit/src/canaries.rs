//! Made-up secrets of the shapes that providers and programs give theirs, as their documentation draws them, each
//! in the places where secrets stand. Written without looking at what [`epitome::text::secrets`] knows.

use epitome_bench::dice::Dice;

use crate::prose;

/// A secret, and a text that it stands in.
#[derive(Clone, Debug)]
pub struct Canary {
    /// Whose it is.
    pub kind: &'static str,
    /// Where it stands.
    pub place: &'static str,
    /// The text.
    pub said: String,
    /// What of the text must not be shown: every stretch of the secret that was drawn.
    pub drawn: Vec<String>,
}

/// Whose each kind of secrets is, and how it is written (the page's first lines say how that is said).
pub fn kinds() -> impl Iterator<Item = (&'static str, String)> {
    let rows = include_str!("../data/canaries.txt").lines().filter(|row| !row.starts_with("# "));
    rows.map(|row| {
        let (name, shape) = row.split_once('\t').expect("a name and a shape");
        (name, unescaped(shape))
    })
}

/// `\n`, `\t` and `\\` as what they stand for.
fn unescaped(row: &str) -> String {
    let mut out = String::new();
    let mut chars = row.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                other => out.extend(other),
            },
            c => out.push(c),
        }
    }
    out
}

/// Characters of a class: `a` letters and digits, `l` small letters and digits, `u` capitals and digits, `h` hexadecimal,
/// `d` digits, `w` letters, digits, `_` and `-`, `b` base64.
fn class(letter: char) -> &'static str {
    match letter {
        'a' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'l' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'h' => "0123456789abcdef",
        'd' => "0123456789",
        'w' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        other => unreachable!("{other} is no class"),
    }
}

/// A secret: what leads to it, itself and what follows it, and the stretches that were drawn.
struct Drawn {
    text: String,
    /// The bytes of `text` that are the secret.
    secret: std::ops::Range<usize>,
    stretches: Vec<String>,
}

/// Whether a class of characters and a number stand there.
fn is_class(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a' | b'l' | b'u' | b'h' | b'd' | b'w' | b'b', b'0'..=b'9', ..])
}

fn drawn(shape: &str, dice: &mut Dice) -> Drawn {
    let (mut text, mut stretches) = (String::new(), Vec::new());
    let (mut from, mut to) = (0, None);
    let mut chars = shape.chars();
    while let Some(c) = chars.next() {
        match c {
            '«' => from = text.len(),
            '»' => to = Some(text.len()),
            '<' if is_class(chars.as_str()) => {
                let of: Vec<char> = class(chars.next().expect("a class")).chars().collect();
                let count: String = chars.by_ref().take_while(|c| *c != '>').collect();
                let count: usize = count.parse().expect("a number");
                // What is drawn ends with no sign, as real ones nearly always do.
                let one: String = (0..count).map(|_| of[dice.below(of.len())]).collect();
                let one = one.trim_end_matches(['-', '_', '/', '+']).to_owned();
                let filled = format!("{one}{}", "7".repeat(count - one.len()));
                text.push_str(&filled);
                stretches.push(filled);
            }
            c => text.push(c),
        }
    }
    let to = to.unwrap_or(text.len());
    Drawn { secret: from..to, text, stretches }
}

/// JSON's escapes of a text.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Canaries of every kind in every place, `each` of both; the same `seed` gives the same.
pub fn canaries(seed: u64, each: usize) -> Vec<Canary> {
    let mut dice = Dice::new(seed);
    let mut all = Vec::new();
    for (kind, shape) in kinds() {
        for place in PLACES {
            for _ in 0..each {
                let Drawn { text, secret, stretches } = drawn(&shape, &mut dice);
                let said = said(place, &text, &text[secret]);
                // In base64 none of it stands as it is.
                let drawn = if place.contains("base64") {
                    let words =
                        said.split(|c: char| !c.is_ascii_alphanumeric() && !"+/".contains(c));
                    words.filter(|word| word.len() > 20).map(str::to_owned).collect()
                } else {
                    stretches.iter().filter(|one| one.len() >= 8).cloned().collect()
                };
                all.push(Canary { kind, place, said, drawn });
            }
        }
    }
    all
}

/// Texts that only look as if they held a secret, `each` of every kind; the same `seed` gives the same.
pub fn harmless(seed: u64, each: usize) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let rows = include_str!("../data/harmless.txt").lines().filter(|row| !row.starts_with("# "));
    rows.flat_map(|row| std::iter::repeat_n(row, each))
        .map(|row| unescaped(&drawn(row, &mut dice).text))
        .collect()
}

/// Where secrets stand.
pub const PLACES: &[&str] = &[
    "alone",
    "in a sentence",
    "in JSON",
    "in JSON in JSON",
    "in a shell command",
    "in a log, coloured",
    "in base64",
    "in base64 in JSON",
];

fn said(place: &str, text: &str, secret: &str) -> String {
    match place {
        "alone" => text.to_owned(),
        "in a sentence" => format!("Use this one for now: {text}, and I change it later. Thanks!"),
        "in JSON" => {
            format!("{{\"role\":\"user\",\"content\":\"first\\n{}\\nlast\"}}", escaped(text))
        }
        "in JSON in JSON" => {
            let inner = format!("{{\"command\":\"echo \\\"{}\\\"\"}}", escaped(&escaped(text)));
            format!("{{\"arguments\":\"{}\"}}", escaped(&inner))
        }
        "in a shell command" => format!("$ curl -H '{text}' https://api.example/v1 && echo done"),
        "in a log, coloured" => {
            let coloured = text.replace(secret, &format!("\u{1b}[1;33m{secret}\u{1b}[0m"));
            // Where a name tells it, colour between both hides neither.
            if text == secret {
                format!("INFO  {coloured}")
            } else {
                format!("INFO  \u{1b}[36m{text}\u{1b}[0m")
            }
        }
        "in base64" => format!("data: {}\n", prose::base64(format!("x: {text}\n").as_bytes())),
        "in base64 in JSON" => {
            format!(
                "{{\"content\":\"{}\",\"encoding\":\"base64\"}}",
                prose::base64(format!("x: {text}\n").as_bytes())
            )
        }
        other => unreachable!("{other} is no place"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_canaries_and_each_holds_its_secret() {
        assert!(kinds().count() >= 60, "{}", kinds().count());
        for canary in canaries(1, 1) {
            assert!(!canary.drawn.is_empty(), "{canary:?}");
            assert!(
                canary.drawn.iter().all(|one| canary.said.contains(one.as_str())),
                "{canary:?}"
            );
        }
    }
}
