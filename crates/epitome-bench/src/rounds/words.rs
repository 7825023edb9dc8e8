//! Words: templates of what people say, and what fills them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::dice::Dice;

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// `8442`
    Port,
    /// `375`
    Count,
    /// `$2,350`
    Money,
    /// `OPS-4711`
    Ticket,
    /// `QX7K2M`
    Code,
    /// `amber-falcon`
    Name,
    /// `4.12.7`
    Version,
    /// `2031-05-17`
    Date,
    /// `data/amber/falcon-12.json`
    File,
}

/// Templates and fillers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Rules.
    pub rules: Vec<String>,
    /// What tells the value of a subject.
    pub values: Vec<String>,
    /// What tells another value of it later.
    pub changes: Vec<String>,
    /// Precedes a labelled rule or value.
    pub labels: Vec<String>,
    /// Sentences that may stand before in the same message.
    pub before: Vec<String>,
    /// Sentences that may stand behind.
    pub behind: Vec<String>,
    /// Subjects, and what their values look like.
    pub subjects: Vec<(String, Shape)>,
    /// What fills the other places of templates, by the place.
    pub fillers: BTreeMap<String, Vec<String>>,
}

impl Words {
    /// Those of this crate.
    ///
    /// # Panics
    /// Never: tests read the file.
    pub fn shipped() -> &'static Words {
        static WORDS: LazyLock<Words> = LazyLock::new(|| {
            let text = include_str!("../../data/rounds/words.json");
            serde_json::from_str(text).expect("the file is right, tests read it")
        });
        &WORDS
    }

    /// The template with a filler in each place but those in `given`.
    pub fn filled(&self, template: &str, given: &[(&str, &str)], dice: &mut Dice) -> String {
        let mut text = template.to_owned();
        for (place, with) in given {
            text = text.replace(&format!("{{{place}}}"), with);
        }
        for (place, fillers) in &self.fillers {
            let place = format!("{{{place}}}");
            if text.contains(&place) {
                text = text.replace(&place, one(fillers, dice));
            }
        }
        text
    }
}

/// One of a list that has one.
pub fn one<'l>(list: &'l [String], dice: &mut Dice) -> &'l str {
    &list[dice.below(list.len())]
}

/// A value of a shape.
pub fn value(shape: Shape, dice: &mut Dice) -> String {
    const COLOURS: [&str; 8] =
        ["amber", "cobalt", "ivory", "crimson", "teal", "ochre", "slate", "violet"];
    const ANIMALS: [&str; 8] =
        ["falcon", "badger", "heron", "lynx", "otter", "raven", "bison", "gecko"];
    const LETTERS: [char; 12] = ['A', 'B', 'D', 'F', 'H', 'K', 'M', 'Q', 'R', 'T', 'X', 'Z'];
    const TEAMS: [&str; 5] = ["OPS", "PAY", "CORE", "WEB", "DATA"];
    let mut from = |low: usize, high: usize| low + dice.below(high - low);
    match shape {
        Shape::Port => from(2_000, 65_000).to_string(),
        Shape::Count => from(120, 9_900).to_string(),
        Shape::Money => format!("${},{:03}", from(2, 60), from(0, 1_000)),
        Shape::Ticket => format!("{}-{}", TEAMS[from(0, 5)], from(1_000, 9_999)),
        Shape::Code => {
            let letter = |at: usize| LETTERS[at];
            let (a, b, c, d) = (from(0, 12), from(0, 12), from(0, 12), from(0, 12));
            let (a, b, c, d) = (letter(a), letter(b), letter(c), letter(d));
            format!("{a}{b}{}{c}{}{d}", from(2, 10), from(2, 10))
        }
        Shape::Name => format!("{}-{}-{}", COLOURS[from(0, 8)], ANIMALS[from(0, 8)], from(2, 99)),
        Shape::Version => format!("{}.{}.{}", from(1, 30), from(0, 60), from(0, 60)),
        Shape::Date => format!("20{}-{:02}-{:02}", from(30, 60), from(1, 13), from(1, 29)),
        Shape::File => {
            format!("data/{}/{}-{}.json", COLOURS[from(0, 8)], ANIMALS[from(0, 8)], from(2, 999))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_filled() {
        let (words, mut dice) = (Words::shipped(), Dice::new(1));
        let templates = [&words.rules, &words.values, &words.changes].into_iter().flatten();
        for template in templates {
            let given = [("subject", "port"), ("value", "8442")];
            let text = words.filled(template, &given, &mut dice);
            assert!(!text.contains(['{', '}']), "{template}: {text}");
        }
        assert!(words.rules.len() >= 30 && words.subjects.len() >= 20);
    }
}
