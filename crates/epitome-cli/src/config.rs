//! Settings and where they come from: flag, environment, project, user, default.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use epitome::{Options, Pin, Tail, Target, Task};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use crate::args::{self, CounterArg, CountingArgs, ShapeArgs};
use crate::failure::Failure;
use crate::output;
use crate::terminal::shell;

/// The settings of one layer, or of all of them; what is `None` wasn't said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
    /// What stays verbatim besides.
    pub(crate) pins: Option<Vec<String>>,
    /// Tools whose calls and results stay.
    pub(crate) preserved_tools: Option<Vec<String>>,
    /// The token counter.
    pub(crate) counter: Option<String>,
    /// The model that will read it.
    pub(crate) model: Option<String>,
    /// The model's context window, in tokens.
    #[serde(deserialize_with = "window")]
    pub(crate) window: Option<u64>,
}

/// The names of the settings in files; in the environment they are `EPITOME_` and the name.
const KEYS: [&str; 8] =
    ["target", "tail", "task", "pins", "preserved-tools", "counter", "model", "window"];

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
    pub(crate) fn resolve(
        shape: &ShapeArgs,
        counting: &CountingArgs,
        counter: &CounterArg,
    ) -> Result<Self> {
        let said = |texts: &Vec<String>| (!texts.is_empty()).then(|| texts.clone());
        let flags = Settings {
            target: shape.target,
            tail: shape.keep_recent,
            task: shape.task,
            pins: said(&shape.pin),
            preserved_tools: said(&shape.preserve_tool),
            counter: counter.counter.clone(),
            model: counting.model.clone(),
            window: shape.window,
        };
        let project = match &counting.config {
            Some(file) => Settings::file(file)?,
            None => {
                project_file().map(|file| Settings::file(&file)).transpose()?.unwrap_or_default()
            }
        };
        let user = user_file().map(|file| Settings::file(&file)).transpose()?.unwrap_or_default();
        let lower = Settings::environment()?.or(project).or(user);
        // A counter that was asked for nearer goes before a model that was asked for farther, and
        // the other way round.
        let lower = match (&flags.counter, &flags.model) {
            (None, Some(_)) => Settings { counter: None, ..lower },
            _ => lower,
        };
        Ok(flags.or(lower))
    }

    /// As the engine wants them, with `target` where none was said.
    pub(crate) fn options(&self, target: Target) -> Options {
        Options {
            target: self.target.unwrap_or(target),
            tail: self.tail.unwrap_or(Tail::Fitting),
            task: self.task.unwrap_or_default(),
            pins: self.pins.iter().flatten().cloned().map(Pin::Text).collect(),
            preserved_tools: self.preserved_tools.clone().unwrap_or_default(),
        }
    }

    /// These, and what they don't say from `lower`.
    fn or(self, lower: Settings) -> Self {
        Settings {
            target: self.target.or(lower.target),
            tail: self.tail.or(lower.tail),
            task: self.task.or(lower.task),
            pins: self.pins.or(lower.pins),
            preserved_tools: self.preserved_tools.or(lower.preserved_tools),
            counter: self.counter.or(lower.counter),
            model: self.model.or(lower.model),
            window: self.window.or(lower.window),
        }
    }

    fn file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::other(format!("the settings in {shown} can't be read: {error}"))
                .hint(format!("ls -l {}", shell(&path.to_string_lossy())))
        })?;
        toml::from_str(&text).map_err(|error| {
            let what = error.to_string();
            Failure::usage(format!("bad settings in {shown}: {}", what.trim_end()))
                .hint(format!("the keys are {}", KEYS.join(", ")))
                .into()
        })
    }

    fn environment() -> Result<Self> {
        let mut settings = Settings::default();
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix("EPITOME_")) else {
                continue;
            };
            let key = name.to_ascii_lowercase().replace('_', "-");
            let Some(value) = value.to_str().filter(|value| !value.trim().is_empty()) else {
                continue;
            };
            let bad = |error: String| {
                Failure::usage(format!("EPITOME_{name}: {error}"))
                    .hint(format!("unset EPITOME_{name}, or see epitome compact --help"))
            };
            match key.as_str() {
                "target" => settings.target = Some(parsed(value).map_err(bad)?),
                "tail" => settings.tail = Some(parsed(value).map_err(bad)?),
                "task" => settings.task = Some(args::task(value).map_err(bad)?),
                "window" => settings.window = Some(args::window(value).map_err(bad)?),
                "counter" => settings.counter = Some(value.to_owned()),
                "model" => settings.model = Some(value.to_owned()),
                "pins" => settings.pins = Some(listed(value, '\n')),
                "preserved-tools" => settings.preserved_tools = Some(listed(value, ',')),
                _ => output::warn(&format!(
                    "EPITOME_{name} in the environment is no setting; they are {}",
                    KEYS.join(", ")
                )),
            }
        }
        Ok(settings)
    }
}

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn listed(text: &str, between: char) -> Vec<String> {
    text.split(between).map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

/// `epitome.toml` of this folder or the nearest one above it.
fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("epitome.toml")).find(|file| file.is_file())
}

/// `epitome/config.toml` in the XDG configuration folder.
fn user_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(base.join("epitome/config.toml")).filter(|file| file.is_file())
}

/// A number, or a text that says more (`"30%"`, `"3steps"`).
fn amount<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    written(from)?.map(|text| text.parse().map_err(|e: T::Err| de::Error::custom(e))).transpose()
}

fn window<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    written(from)?.map(|text| args::window(&text).map_err(de::Error::custom)).transpose()
}

fn written<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    struct Written;

    impl Visitor<'_> for Written {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number or a text")
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(text.to_owned()))
        }
    }

    from.deserialize_any(Written)
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
