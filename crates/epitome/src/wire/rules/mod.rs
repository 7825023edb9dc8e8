//! What providers demand of a transcript, as a table; each rule's check names its mend.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::Format;
pub(super) use super::breach::{Finding, Mend, Taken, fresh_id, nothing_said, replaced, stranger};

pub(super) use crate::text::NO_RESULT;

/// What a result says that must say something.
pub(crate) const EMPTY_RESULT: &str = "[empty result]";

/// What a made-up first message says, where a format must begin with the user.
pub(super) const NO_BEGINNING: &str = "[no message stands before this one]";

/// A rule's name, as `check` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let rule = RULES.iter().find(|rule| rule.id.0 == name);
        rule.map(|rule| rule.id)
            .ok_or_else(|| de::Error::custom(format!("no rule `{name}` is known")))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Rules of a single provider, and names, which are fitted to the target: breaches may be carried over as they are.
pub(crate) const OWN: &[RuleId] = &[
    CHAT_NAME,
    ANTHROPIC_MEMBER,
    ANTHROPIC_MEDIA,
    ANTHROPIC_ERROR_MEDIA,
    ANTHROPIC_EMPTY_ERROR,
    ANTHROPIC_SIGNATURE,
    GEMINI_MEMBER,
    BEDROCK_MEMBER,
    BEDROCK_EMPTY_ERROR,
    CHAT_JSON,
    RESPONSES_JSON,
    ANTHROPIC_JSON,
    GEMINI_JSON,
    INTERACTIONS_JSON,
    BEDROCK_JSON,
];

/// A provider's rule.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rule {
    /// Its name: format and subject.
    pub id: RuleId,
    /// Whose rule it is.
    pub format: Format,
    /// What it demands.
    pub demand: &'static str,
    /// How a breach is mended; empty where only its author can.
    pub repair: &'static str,
    /// The provider's own error text, ids and positions replaced by `…`.
    pub error: &'static str,
    /// Where the rule is written down; `[BK]` marks what no provider's page confirms yet.
    pub source: &'static str,
}

/// A table of rules, and a name for each.
macro_rules! rules {
    ($($name:ident = $format:ident $id:literal: $demand:literal, repair $repair:literal, error $error:literal, source $source:literal;)*) => {
        $(pub(crate) const $name: RuleId = RuleId($id);)*
        pub(super) const TABLE: &[Rule] = &[$(Rule {
            id: $name,
            format: Format::$format,
            demand: $demand,
            repair: $repair,
            error: $error,
            source: $source,
        }),*];
    };
}

mod anthropic;
mod bedrock;
mod google;
mod openai;

pub(crate) use anthropic::*;
pub(crate) use bedrock::*;
pub(crate) use google::*;
pub(crate) use openai::*;

const TABLES: [&[Rule]; 4] = [openai::TABLE, anthropic::TABLE, google::TABLE, bedrock::TABLE];

/// Every rule that [`check`](super::check) knows.
pub const RULES: &[Rule] = &all::<{ len() }>();

const fn len() -> usize {
    let (mut table, mut len) = (0, 0);
    while table < TABLES.len() {
        len += TABLES[table].len();
        table += 1;
    }
    len
}

const fn all<const LEN: usize>() -> [Rule; LEN] {
    let mut all = [TABLES[0][0]; LEN];
    let (mut table, mut at) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            all[at] = TABLES[table][row];
            (row, at) = (row + 1, at + 1);
        }
        table += 1;
    }
    all
}
