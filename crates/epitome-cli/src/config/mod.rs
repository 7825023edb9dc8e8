//! Settings and where they come from: flag, environment, project, user, default.

mod keys;
mod layers;
mod written;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use epitome::engine::{Counting, Stop};
use epitome::model::Money;
use epitome::preset::Preset;
use epitome::strategy::Pipeline;
use epitome::summarize::OnFailure;
use epitome::trigger::Condition;
use epitome::{Options, Pin, Tail, Target, Task};
use serde::Deserialize;

use crate::args::HowArgs;
use crate::values::{Line, Spec};
use written::{amount, preset, spend, summarizer, timeout, window};

pub(crate) use keys::KEYS;
pub(crate) use layers::{Layers, Origin, models_file, not_taken, project_file, user_file};

/// The settings of one layer, or of all of them; `None` means unset.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// Where to land.
    #[serde(deserialize_with = "amount")]
    pub(crate) target: Option<Target>,
    /// The newest content that stays verbatim.
    #[serde(deserialize_with = "amount")]
    pub(crate) tail: Option<Tail>,
    /// What becomes of the first human message.
    pub(crate) task: Option<Task>,
    /// When to compact at all.
    pub(crate) trigger: Option<Condition>,
    /// The system to compact like.
    #[serde(deserialize_with = "preset")]
    pub(crate) preset: Option<String>,
    /// What is done, in which order.
    pub(crate) strategies: Option<Pipeline>,
    /// When enough is done.
    pub(crate) stop: Option<Stop>,
    /// How much is counted to know whether anything is due.
    pub(crate) counting: Option<Counting>,
    /// What stays verbatim besides.
    pub(crate) pins: Option<Vec<String>>,
    /// Tools whose calls and results stay.
    pub(crate) preserved_tools: Option<Vec<String>>,
    /// Tools whose calls change nothing.
    pub(crate) read_only: Option<Vec<String>>,
    /// The token counter.
    pub(crate) counter: Option<String>,
    /// The model that will read it.
    pub(crate) model: Option<String>,
    /// Messages that are pinned by their places, which no file can know.
    #[serde(skip)]
    pub(crate) pinned: Option<Vec<usize>>,
    /// The model's context window, in tokens.
    #[serde(deserialize_with = "window")]
    pub(crate) window: Option<u64>,
    /// A file of facts about models, over those that are built in.
    pub(crate) models: Option<PathBuf>,
    /// The same, where it isn't a project's file that names it.
    #[serde(skip)]
    pub(crate) own_models: Option<PathBuf>,
    /// Who is asked for summaries, in order.
    #[serde(deserialize_with = "summarizer")]
    pub(crate) summarizer: Option<Vec<Spec>>,
    /// What happens where none of them gives one.
    pub(crate) on_failure: Option<OnFailure>,
    /// The most tokens of a summary.
    pub(crate) summary_tokens: Option<u64>,
    /// The longest that an answer of theirs may take.
    #[serde(deserialize_with = "timeout")]
    pub(crate) timeout: Option<Duration>,
    /// The most that models may cost in one compaction.
    #[serde(deserialize_with = "spend")]
    pub(crate) spend: Option<Money>,
    /// The most that they may cost in one session.
    #[serde(deserialize_with = "spend")]
    pub(crate) spend_session: Option<Money>,
    /// The most that they may cost on one day.
    #[serde(deserialize_with = "spend")]
    pub(crate) spend_day: Option<Money>,
    /// Commands that are asked before a compaction.
    pub(crate) hook_before: Option<Vec<Line>>,
    /// Commands that are told of it.
    pub(crate) hook_after: Option<Vec<Line>>,
}

/// Of the target: what a window of `window` tokens allows. The other half is for the reply and the
/// next steps.
pub(crate) fn window_allows(window: u64) -> u64 {
    (window / 2).max(1)
}

impl Settings {
    /// All layers.
    ///
    /// # Errors
    /// A file that can't be read, an unknown key, a value that makes no sense.
    pub(crate) fn resolve(how: &HowArgs) -> Result<Self> {
        Ok(Layers::read(how)?.merged())
    }

    /// The preset, for a model with this window.
    pub(crate) fn preset(&self, window: Option<u64>) -> Option<Preset> {
        let name = self.preset.as_deref()?;
        Some(Preset::named(name, window).expect("it was checked when it was read"))
    }

    /// The value of a preset, if nothing else sets it.
    pub(crate) fn of(preset: &Preset) -> Self {
        let options = &preset.options;
        Settings {
            target: Some(options.target),
            tail: (options.tail != Tail::Fitting).then_some(options.tail),
            task: Some(options.task),
            trigger: Some(preset.trigger.clone().build().expect("a preset's own is in range")),
            preset: Some(preset.name.to_owned()),
            strategies: Some(options.strategies.clone()),
            stop: Some(options.stop),
            ..Settings::default()
        }
    }

    /// As the engine wants them, with `target` where none was said, for a model with this window.
    pub(crate) fn options(&self, target: Target, window: Option<u64>) -> Options {
        let preset = self.preset(window).map(|preset| preset.options).unwrap_or_default();
        let texts = self.pins.iter().flatten().cloned().map(Pin::Text);
        let places = self.pinned.iter().flatten().copied().map(Pin::Entry);
        Options {
            target: self.target.unwrap_or(target),
            tail: self.tail.unwrap_or(preset.tail),
            task: self.task.unwrap_or(preset.task),
            pins: texts.chain(places).collect(),
            preserved_tools: self.preserved_tools.clone().unwrap_or_default(),
            read_only: self.read_only.clone().unwrap_or_default(),
            strategies: self.strategies.clone().unwrap_or(preset.strategies),
            stop: self.stop.unwrap_or(preset.stop),
            counting: self.counting.unwrap_or(preset.counting),
            ..preset
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn files_say_amounts_as_flags_do() {
        let settings = read("target = \"25%\"\ntail = \"3steps\"\nwindow = 200000").expect("good");
        assert_eq!(settings.target, Some(Target::Percent(25)));
        assert_eq!(settings.tail, Some(Tail::Steps(3)));
        assert_eq!(settings.window, Some(200_000));
        assert_eq!(read("target = 20000").expect("good").target, Some(Target::Tokens(20_000)));
        assert!(read("target = 0").is_err() && read("tail = true").is_err());
    }

    #[test]
    fn unknown_keys_are_named() {
        let error = read("targte = 5").expect_err("no such key");
        assert!(error.contains("targte") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn nearer_layers_go_first() {
        let near = Settings { target: Some(Target::Tokens(1)), ..Settings::default() };
        let far = Settings {
            target: Some(Target::Tokens(2)),
            task: Some(Task::Fold),
            ..Settings::default()
        };
        let both = near.or(far);
        assert_eq!((both.target, both.task), (Some(Target::Tokens(1)), Some(Task::Fold)));
    }
}
