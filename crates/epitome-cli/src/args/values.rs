//! What flags take: each value from its text.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use epitome::Target;
use epitome::budget::Stop;
use epitome::engine::Counting;
use epitome::strategy::{NAMES, Pipeline, UnknownStrategy};
use epitome::transcript::ContentId;
use epitome::wire::{RULES, RuleId};

use crate::formats;
use crate::meant::nearest;

pub(super) fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::names())
}

/// A rule of the table by its name.
pub(super) fn rule() -> impl TypedValueParser<Value = RuleId> {
    let names = PossibleValuesParser::new(RULES.iter().map(|rule| rule.id.0));
    names.map(|name| {
        let found = RULES.iter().find(|rule| rule.id.0 == name);
        found.expect("only these names are possible").id
    })
}

pub(super) fn counter_names() -> PossibleValuesParser {
    PossibleValuesParser::new(epitome::count::NAMES)
}

/// A number of tokens, as [`Target`] reads it.
pub(crate) fn window(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Target::Tokens(tokens)) => Ok(tokens),
        _ => Err("not a number of tokens (200000, 200k)".to_owned()),
    }
}

/// How many there are to be.
pub(super) fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "not a number from 1 on".to_owned())
}

/// When to compact, in range.
pub(crate) fn trigger(text: &str) -> Result<epitome::trigger::When, String> {
    let condition: epitome::trigger::Condition =
        text.parse().map_err(|error: epitome::trigger::TriggerError| error.to_string())?;
    Ok(condition.into())
}

/// The id of a checkpoint, as receipts write it.
pub(super) fn checkpoint(text: &str) -> Result<ContentId, String> {
    let is_nonce =
        text.len() == ContentId::SHORT && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let why = if is_nonce {
        // Whoever tries for long enough finds another text that has the same.
        "the 12 digits in a checkpoint's fence are no id, and too few to name it; its id has 64, and is \
         `checkpoint.id` in the receipt of that compaction (--continue RECEIPT reads it there)"
    } else {
        "not the id of a checkpoint (64 hexadecimal digits: `checkpoint.id` in the receipt of that compaction)"
    };
    serde_json::from_value(text.into()).map_err(|_| why.to_owned())
}

/// A list of strategies.
pub(super) fn strategies(text: &str) -> Result<Pipeline, String> {
    text.parse().map_err(|error: UnknownStrategy| {
        let meant = nearest(&error.name, NAMES.iter().copied());
        let meant = meant.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
        format!("{error}{meant}")
    })
}

pub(super) fn strategies_help() -> String {
    format!(
        "What is done, in order, as a list: {}. `ladder` is all of it, cheapest loss first, and what is done \
         unless something else is said; `none` does nothing. Their options stand in the settings: \
         strategies = [\"repeats\", {{ outputs = {{ min-gain = 500 }} }}], or \
         strategies = {{ failed = false }} for the ladder without one.",
        NAMES.join(", ")
    )
}

/// `at-target` or `at-end`.
pub(crate) fn stop(text: &str) -> Result<Stop, String> {
    match text {
        "at-target" => Ok(Stop::AtTarget),
        "at-end" => Ok(Stop::AtEnd),
        _ => Err("not `at-target` or `at-end`".to_owned()),
    }
}

/// `whole` or `sampled`.
pub(crate) fn counting(text: &str) -> Result<Counting, String> {
    match text {
        "whole" => Ok(Counting::Whole),
        "sampled" => Ok(Counting::Sampled),
        _ => Err("not `whole` or `sampled`".to_owned()),
    }
}

/// `keep` or `fold`.
pub(crate) fn task(text: &str) -> Result<epitome::Task, String> {
    match text {
        "keep" => Ok(epitome::Task::Keep),
        "fold" => Ok(epitome::Task::Fold),
        _ => Err("not `keep` or `fold`".to_owned()),
    }
}
