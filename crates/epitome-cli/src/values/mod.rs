//! What flags and settings take: each value from its text.

mod address;
mod format;
mod line;
mod spec;

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use epitome::engine::{Counting, Stop};
use epitome::model::Money;
use epitome::strategy::{NAMES, Pipeline, UnknownStrategy};
use epitome::summarize::OnFailure;
use epitome::wire::{RULES, RuleId};
use epitome::{Target, Task};

use serde::de::{self, Deserialize, IntoDeserializer as _};

use crate::formats;
use crate::meant::nearest;

pub(crate) use address::Address;
pub(crate) use format::{Destination, Purpose};
pub(crate) use line::Line;
pub(crate) use spec::{FORMS, Host, Named, Spec};

pub(crate) fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::names())
}

/// A rule of the table by its name.
pub(crate) fn rule() -> impl TypedValueParser<Value = RuleId> {
    let names = PossibleValuesParser::new(RULES.iter().map(|rule| rule.id.0));
    names.map(|name| {
        let found = RULES.iter().find(|rule| rule.id.0 == name);
        found.expect("only these names are possible").id
    })
}

pub(crate) fn counter_names() -> PossibleValuesParser {
    PossibleValuesParser::new(epitome::count::NAMES)
}

/// A number of tokens, as [`Target`] reads it.
pub(crate) fn window(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Target::Tokens(tokens)) => Ok(tokens),
        _ => Err("not a number of tokens (200000, 200k, 1m)".to_owned()),
    }
}

/// How many there are to be.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "not a number of 1 or more".to_owned())
}

/// When to compact, in range.
pub(crate) fn trigger(text: &str) -> Result<epitome::trigger::When, String> {
    let condition: epitome::trigger::Condition =
        text.parse().map_err(|error: epitome::trigger::TriggerError| error.to_string())?;
    Ok(condition.into())
}

/// A list of strategies.
pub(crate) fn strategies(text: &str) -> Result<Pipeline, String> {
    text.parse().map_err(|error: UnknownStrategy| {
        let meant = nearest(&error.name, NAMES.iter().copied());
        let meant = meant.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
        format!("{error}{meant}")
    })
}

pub(crate) fn strategies_help() -> String {
    format!(
        "The strategies, in order, as a list: {}. `ladder` is all of them, cheapest loss first, and the \
         default; `none` does nothing. Their options are settings: \
         strategies = [\"repeats\", {{ outputs = {{ min-gain = 500 }} }}], or \
         strategies = {{ failed = false }} for the ladder without one.",
        NAMES.join(", ")
    )
}

/// `at-target` or `at-end`.
pub(crate) fn stop(text: &str) -> Result<Stop, String> {
    one_of(text, "`at-target` or `at-end`")
}

/// `whole` or `sampled`.
pub(crate) fn counting(text: &str) -> Result<Counting, String> {
    one_of(text, "`whole` or `sampled`")
}

/// `keep` or `fold`.
pub(crate) fn task(text: &str) -> Result<Task, String> {
    one_of(text, "`keep` or `fold`")
}

/// What happens where nobody gives a summary.
pub(crate) fn on_failure(text: &str) -> Result<OnFailure, String> {
    one_of(text, "`extractive`, `skip` or `error`")
}

fn one_of<'t, T: Deserialize<'t>>(text: &'t str, names: &str) -> Result<T, String> {
    T::deserialize(text.into_deserializer()).map_err(|_: de::value::Error| format!("not {names}"))
}

/// A positive number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| *time >= Duration::from_millis(1))
        .ok_or_else(|| "not a positive number of seconds (120, 2.5)".to_owned())
}

/// An amount of money.
pub(crate) fn dollars(text: &str) -> Result<Money, String> {
    const MICRO: f64 = 1e6;
    let dollars: Option<f64> = text.trim().trim_start_matches('$').parse().ok();
    dollars
        .map(|dollars| (dollars * MICRO).round())
        .filter(|micro| *micro >= 1.0 && *micro <= 1e15)
        .map(|micro| Money::micro(micro as u64))
        .ok_or_else(|| "not a positive number of dollars (0.05, 2)".to_owned())
}

/// A number and its unit.
fn measured(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// An age.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("min", 60), ("h", 3600), ("d", 24 * 3600), ("w", 7 * 24 * 3600)];
    let seconds = measured(text, &units).filter(|seconds| *seconds > 0);
    let seconds = seconds.ok_or("not an age (30d, 12h, 90min)")?;
    Ok(Duration::from_secs(seconds))
}

/// A number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let units = [("b", 1), ("kb", 1000), ("mb", 1_000_000), ("gb", 1_000_000_000)];
    measured(text, &units).ok_or_else(|| "not a size (500mb, 2gb)".to_owned())
}
