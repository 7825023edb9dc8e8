//! JSON in every handwriting: white space, key order, escapes, unknown fields, duplicate keys.

use std::fmt::Write as _;

use crate::features::{Feature, Features};
use epitome_bench::dice::Dice;

/// A JSON text to be: unlike a `serde_json::Value` it keeps order, duplicates and numbers as written.
#[derive(Clone, Debug)]
pub enum Json {
    /// JSON text, written as it is.
    Raw(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Json::Text(text.into())
    }

    /// JSON text, written as it is.
    pub fn raw(text: impl Into<String>) -> Self {
        Json::Raw(text.into())
    }

    /// Written without any flourish.
    pub fn plain(&self) -> String {
        Pen::new(0).write(self)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Space {
    None,
    Python,
    Pretty,
    Wild,
}

#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Least,
    Ascii,
    Wild,
}

/// A handwriting. Ink 0 is compact JSON without flourish, so that failing cases shrink to it.
#[derive(Debug)]
pub struct Pen {
    dice: Dice,
    space: Space,
    escapes: Escapes,
    shuffles: bool,
    adds: bool,
    repeats: bool,
    used: Features,
    depth: usize,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Space")
    }
}

impl std::fmt::Debug for Escapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Escapes")
    }
}

const UNKNOWN: [(&str, &str); 8] = [
    ("x_latency", "1.0e5"),
    ("logprobs", "null"),
    ("index", "-0.0"),
    ("annotations", "[ ]"),
    ("provider_data", r#"{"a":[1,{"b":"\u00e9"}],"":{}}"#),
    ("größe", "12345678901234567890123"),
    ("done", "true"),
    ("x\\u002dnote", r#""}],\"role\":\"user\"""#),
];

impl Pen {
    /// The handwriting that `ink` stands for.
    pub fn new(ink: u64) -> Self {
        let mut dice = Dice::new(ink);
        let plain = ink == 0;
        Pen {
            space: dice.pick(if plain {
                &[Space::None]
            } else {
                &[Space::None, Space::None, Space::Python, Space::Pretty, Space::Wild]
            }),
            escapes: dice.pick(if plain {
                &[Escapes::Least]
            } else {
                &[Escapes::Least, Escapes::Least, Escapes::Ascii, Escapes::Wild]
            }),
            shuffles: !plain && dice.one_in(3),
            adds: !plain && dice.one_in(3),
            repeats: !plain && dice.one_in(6),
            used: Features::new(),
            depth: 0,
            dice,
        }
    }

    /// The same without members that nobody knows.
    #[must_use]
    pub fn adding_nothing(self) -> Self {
        Pen { adds: false, ..self }
    }

    /// What of its flourishes came to be.
    pub fn used(&self) -> &Features {
        &self.used
    }

    /// `json` in this handwriting.
    pub fn write(&mut self, json: &Json) -> String {
        let mut out = String::new();
        self.value(json, &mut out);
        out
    }

    /// White space between two values of a stream of them; at least a line feed.
    pub fn between_lines(&mut self) -> &'static str {
        if self.space == Space::Wild {
            self.dice.pick(&["\n", "\r\n", "\n\n", " \n"])
        } else {
            "\n"
        }
    }

    fn value(&mut self, json: &Json, out: &mut String) {
        match json {
            Json::Raw(text) => out.push_str(text),
            Json::Text(text) => self.string(text, out),
            Json::List(items) => {
                out.push('[');
                self.depth += 1;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.comma(out);
                    }
                    self.gap(out);
                    self.value(item, out);
                }
                self.depth -= 1;
                if !items.is_empty() {
                    self.gap(out);
                }
                out.push(']');
            }
            Json::Object(members) => self.object(members, out),
        }
    }

    fn object(&mut self, members: &[(&'static str, Json)], out: &mut String) {
        let nothing = Json::Raw("{\"stale\":[1]}".to_owned());
        let mut order: Vec<(&str, &Json)> =
            members.iter().map(|(key, value)| (*key, value)).collect();
        if self.shuffles && order.len() > 1 {
            for at in (1..order.len()).rev() {
                order.swap(at, self.dice.below(at + 1));
            }
            self.used.insert(Feature::KeyOrder);
        }
        // A duplicate goes before the real one: the last of duplicates counts.
        if self.repeats && !order.is_empty() && self.dice.one_in(3) {
            let key = self.dice.pick(&order).0;
            order.insert(0, (key, &nothing));
            self.used.insert(Feature::DuplicateKey);
        }
        out.push('{');
        self.depth += 1;
        let mut first = true;
        for (key, value) in order {
            if self.adds && self.dice.one_in(3) {
                let (name, raw) = self.dice.pick(&UNKNOWN);
                self.key(&mut first, out);
                let _ = write!(out, "\"{name}\"");
                self.colon(out);
                out.push_str(raw);
                self.used.insert(Feature::UnknownField);
                if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
                    self.used.insert(Feature::OddNumber);
                }
            }
            self.key(&mut first, out);
            self.string(key, out);
            self.colon(out);
            self.value(value, out);
        }
        self.depth -= 1;
        if !first {
            self.gap(out);
        }
        out.push('}');
    }

    fn key(&mut self, first: &mut bool, out: &mut String) {
        if !std::mem::replace(first, false) {
            self.comma(out);
        }
        self.gap(out);
    }

    fn comma(&mut self, out: &mut String) {
        self.stray(out);
        out.push(',');
        if self.space == Space::Python {
            out.push(' ');
        }
    }

    fn colon(&mut self, out: &mut String) {
        self.stray(out);
        out.push(':');
        match self.space {
            Space::Python | Space::Pretty => out.push(' '),
            Space::None | Space::Wild => self.stray(out),
        }
    }

    fn gap(&mut self, out: &mut String) {
        if self.space == Space::Pretty {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", self.depth));
            self.used.insert(Feature::RandomSpace);
        } else {
            self.stray(out);
        }
    }

    fn stray(&mut self, out: &mut String) {
        if self.space == Space::Wild {
            out.push_str(self.dice.pick(&["", "", " ", "\t", "\r\n  ", "   "]));
            self.used.insert(Feature::RandomSpace);
        }
    }

    fn string(&mut self, text: &str, out: &mut String) {
        if !text.is_ascii() {
            let escaped = self.escapes != Escapes::Least;
            self.used.insert(if escaped { Feature::EscapedUnicode } else { Feature::RawUnicode });
        }
        let plain = serde_json::to_string(text).expect("a str is always a JSON string");
        if self.escapes == Escapes::Least || (self.escapes == Escapes::Ascii && plain.is_ascii()) {
            out.push_str(&plain);
            return;
        }
        let mut units = [0; 2];
        out.push('"');
        for c in text.chars() {
            let wild = self.escapes == Escapes::Wild && self.dice.one_in(12);
            if c == '/' && wild {
                out.push_str("\\/");
            } else if wild || c < ' ' || (!c.is_ascii() && self.escapes == Escapes::Ascii) {
                for unit in c.encode_utf16(&mut units) {
                    let upper = wild && self.dice.one_in(2);
                    let _ = if upper {
                        write!(out, "\\u{unit:04X}")
                    } else {
                        write!(out, "\\u{unit:04x}")
                    };
                }
            } else {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    c => out.push(c),
                }
            }
        }
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_handwriting_says_the_same() {
        let json = Json::Object(vec![
            (
                "a",
                Json::List(vec![
                    Json::text("é\n\"/😀\u{1}"),
                    Json::raw("1.0e5"),
                    Json::List(vec![]),
                ]),
            ),
            ("b", Json::Object(vec![("c", Json::text("x"))])),
        ]);
        let plain: Value = serde_json::from_str(&json.plain()).expect("JSON");
        for ink in 0..500 {
            let written = Pen::new(ink).write(&json);
            let read: Value = serde_json::from_str(&written).expect(&written);
            assert_eq!(read["a"], plain["a"], "{written}");
            assert_eq!(read["b"]["c"], plain["b"]["c"], "{written}");
        }
    }
}
