//! The settings by their keys: a row for each.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use epitome::preset::Preset;
use serde::Serialize;

use super::Settings;
use super::written::{pipeline_words, specs, tail_words, trigger_words};
use crate::values::{self, Line};

/// A row is a key, its field, how its value is written, and how it is read in a variable.
macro_rules! settings {
    ($($key:literal $field:ident, $words:expr, $read:expr;)*) => {
        /// The names of the settings in files; in the environment they are `EPITOME_` and the name.
        pub(crate) const KEYS: &[&str] = &[$($key),*];

        impl Settings {
            /// What a key is set to, as a person would write it.
            pub(crate) fn said(&self, key: &str) -> Option<String> {
                match key {
                    $($key => self.$field.as_ref().map(|value| $words(value)),)*
                    _ => None,
                }
            }

            /// Sets a key as a variable says it; whether there is such a key.
            pub(super) fn read(&mut self, key: &str, text: &str) -> Result<bool, String> {
                match key {
                    $($key => self.$field = Some($read(text)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// These, and what they don't say from `lower`.
            pub(super) fn or(self, mut lower: Settings) -> Self {
                // A counter or window that was said of another model, farther away, isn't this one's.
                if self.model.is_some() {
                    (lower.counter, lower.window) = (None, None);
                }
                Settings {
                    $($field: self.$field.or(lower.$field),)*
                    pinned: self.pinned.or(lower.pinned),
                    own_models: self.own_models.or(lower.own_models),
                }
            }
        }
    };
}

settings! {
    "target" target, ToString::to_string, parsed;
    "tail" tail, tail_words, parsed;
    "task" task, word, values::task;
    "trigger" trigger, trigger_words, parsed;
    "preset" preset, String::clone, preset;
    "strategies" strategies, pipeline_words, parsed;
    "stop" stop, word, values::stop;
    "counting" counting, word, values::counting;
    "pins" pins, list, |text| Ok::<_, String>(split(text, '\n'));
    "preserved-tools" preserved_tools, list, |text| Ok::<_, String>(split(text, ','));
    "read-only" read_only, list, |text| Ok::<_, String>(split(text, ','));
    "counter" counter, String::clone, parsed;
    "model" model, String::clone, parsed;
    "window" window, ToString::to_string, values::window;
    "models" models, path, parsed;
    "summarizer" summarizer, list, |text| specs(&split(text, '\n'));
    "on-failure" on_failure, word, values::on_failure;
    "summary-tokens" summary_tokens, ToString::to_string, positive;
    "timeout" timeout, |time: &Duration| format!("{} s", time.as_secs_f64()), values::seconds;
    "spend" spend, ToString::to_string, values::dollars;
    "spend-session" spend_session, ToString::to_string, values::dollars;
    "spend-day" spend_day, ToString::to_string, values::dollars;
    "hook-before" hook_before, list, commands;
    "hook-after" hook_after, list, commands;
}

/// The name of a value that is one of a few.
fn word(value: &impl Serialize) -> String {
    toml::Value::try_from(value)
        .ok()
        .and_then(|it| Some(it.as_str()?.to_owned()))
        .unwrap_or_default()
}

fn list(all: &[impl Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn positive(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a number of tokens from 1")),
        Ok(number) => Ok(number),
    }
}

fn preset(name: &str) -> Result<String, String> {
    Preset::named(name, None).map(|preset| preset.name.to_owned()).map_err(|e| e.to_string())
}

fn commands(text: &str) -> Result<Vec<Line>, String> {
    split(text, '\n').iter().map(|line| Line::read(line)).collect()
}

fn split(text: &str, between: char) -> Vec<String> {
    text.split(between).map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}
