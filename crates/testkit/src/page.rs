//! Pages of cases: text files that say what is given, and what comes of it.
//!
//! ```text
//! # Words about what follows
//!
//! a name
//! @ settings
//! given
//!   what comes of it
//! ```
//!
//! Settings and given are those of the case before where a case has none of its own; a body needs no name. `UPDATE_EXPECT=1` writes
//! what comes of each case anew.

use epitome::wire::{self, Format, Request};
use expect_test::ExpectFile;
use serde_json::{Deserializer, Value};

use crate::notation;

/// A case of a page.
#[derive(Debug, Default)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// How it is done.
    pub settings: String,
    /// To what.
    pub given: String,
}

impl Case {
    /// The format that the settings begin with, and the JSON behind it.
    ///
    /// # Panics
    /// If it isn't so.
    #[must_use]
    pub fn format(&self) -> (Format, Vec<Value>) {
        let (format, rest) = self.settings.split_once(' ').unwrap_or((&self.settings, ""));
        let rest = Deserializer::from_str(rest).into_iter().collect::<Result<_, _>>();
        (format.parse().expect("a format"), rest.expect("JSON"))
    }

    /// What is given: a body as JSON, or a transcript in the notation.
    ///
    /// # Panics
    /// If it is neither.
    #[must_use]
    pub fn request(&self, format: Format) -> Request {
        if self.given.starts_with(['{', '[']) {
            return wire::parse(format, self.given.clone()).expect("a body");
        }
        notation::parse(format, &self.given)
    }
}

/// Holds what `told` says of each case to what the page says.
///
/// # Panics
/// If they differ.
pub fn check(page: &ExpectFile, mut told: impl FnMut(&Case) -> String) {
    let text = page.data();
    let mut case = Case::default();
    let mut blocks = Vec::new();
    for block in text.trim_end().split("\n\n") {
        let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("  ")).collect();
        let mut block = lines.join("\n");
        if !block.starts_with("# ") {
            case.read(&lines);
            println!("{}", case.name);
            block.extend(told(&case).lines().map(|line| format!("\n  {line}")));
        }
        blocks.push(block);
    }
    page.assert_eq(&(blocks.join("\n\n") + "\n"));
}

impl Case {
    fn read(&mut self, lines: &[&str]) {
        let is_name = lines.first().is_some_and(|line| !line.starts_with(['@', '{', '[']));
        let (name, rest) = lines.split_at(usize::from(is_name));
        self.name = name.concat();
        let is_setting = |line: &&&str| line.starts_with("@ ");
        let (settings, given) = rest.split_at(rest.iter().take_while(is_setting).count());
        if let [settings, ..] = settings {
            settings[2..].clone_into(&mut self.settings);
        }
        if !given.is_empty() {
            self.given = given.join("\n");
        }
    }
}
