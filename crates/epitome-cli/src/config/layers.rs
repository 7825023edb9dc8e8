//! The layers of settings, and the files that hold two of them.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{KEYS, Settings};
use crate::args::HowArgs;
use crate::failure::Failure;
use crate::folders;
use crate::input;
use crate::meant;
use crate::output;
use crate::quoting::{name, operand, shell};

/// All layers, the nearest first.
#[derive(Debug)]
pub(crate) struct Layers {
    layers: Vec<(Origin, Settings)>,
    /// What a project's file says and isn't its to say.
    refused: Vec<(&'static str, PathBuf)>,
}

/// Where a layer is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The command line.
    Flag,
    /// A variable.
    Environment,
    /// The project's file, or the one that was named.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
}

impl Layers {
    /// Reads all layers.
    ///
    /// # Errors
    /// A file that can't be read, an unknown key, a value that makes no sense; a project's file that says what
    /// isn't its to say.
    pub(crate) fn read(how: &HowArgs) -> Result<Self> {
        let layers = Layers::with_strangers(how)?;
        match layers.refused.first() {
            Some((key, file)) => Err(not_taken(key, file).into()),
            None => Ok(layers),
        }
    }

    /// The same, without what a project's file says and isn't its to say: that is told apart.
    pub(crate) fn with_strangers(how: &HowArgs) -> Result<Self> {
        let HowArgs { shape, counting, counter } = how;
        let said = |texts: &Vec<String>| (!texts.is_empty()).then(|| texts.clone());
        let flags = Settings {
            target: shape.target,
            tail: shape.keep_recent,
            task: shape.task,
            trigger: shape.trigger.clone().map(|when| when.build().expect("the flag was checked")),
            preset: shape.preset.clone(),
            strategies: shape.strategy.clone(),
            stop: shape.stop,
            counting: shape.counting,
            pins: said(&shape.pin),
            pinned: (!shape.pin_message.is_empty()).then(|| shape.pin_message.clone()),
            preserved_tools: said(&shape.preserve_tool),
            read_only: said(&shape.read_only),
            counter: counter.counter.clone(),
            model: counting.model.clone(),
            window: shape.window,
            models: counting.models.clone(),
            // A command that asks for summaries has flags of its own.
            ..Settings::default()
        };
        let mut refused = Vec::new();
        let mut layers = vec![
            (Origin::Flag, flags.own()),
            (Origin::Environment, Settings::environment()?.own()),
        ];
        if let Some(file) = &counting.config {
            let settings = Settings::file(file)?.own();
            layers.push((Origin::Project(file.clone()), settings));
        } else if let Some(file) = project_file() {
            let mut settings = Settings::file(&file)?;
            refused.extend(settings.forget_a_strangers().map(|key| (key, file.clone())));
            layers.push((Origin::Project(file), settings));
        }
        if let Some(file) = user_file().filter(|file| file.is_file()) {
            let settings = Settings::file(&file)?.own();
            layers.push((Origin::User(file), settings));
        }
        Ok(Layers { layers, refused })
    }

    /// What a project's file says and isn't its to say, and the file.
    pub(crate) fn refused(&self) -> &[(&'static str, PathBuf)] {
        &self.refused
    }

    /// What all of them say together.
    pub(crate) fn merged(&self) -> Settings {
        let layers = self.layers.iter().map(|(_, settings)| settings.clone());
        layers.reduce(Settings::or).unwrap_or_default()
    }

    /// The layer that a key's value is from; `None` if it is the default.
    pub(crate) fn origin(&self, key: &str) -> Option<&Origin> {
        let value = self.merged().said(key)?;
        let says =
            |(_, settings): &&(Origin, Settings)| settings.said(key).as_ref() == Some(&value);
        self.layers.iter().find(says).map(|(origin, _)| origin)
    }
}

impl Settings {
    /// What a file says.
    pub(crate) fn file(path: &Path) -> Result<Self> {
        let shown = name(path);
        let text = input::by_hand(path).map_err(|error| {
            Failure::other(format!("the settings in {shown} can't be read: {error}"))
                .hint(format!("ls -l {}", operand(path)))
        })?;
        let read: Result<Settings, _> = toml::from_str(&text);
        let mut settings = read.map_err(|error| {
            let what = error.to_string();
            let keys = format!("the keys are {}", KEYS.join(", "));
            let hint = meant::hint(error.message());
            let hint = hint.map_or(keys.clone(), |meant| format!("{meant} {keys}"));
            Failure::usage(format!("bad settings in {shown}: {}", what.trim_end())).hint(hint)
        })?;
        // A path in a file is meant from where the file is.
        let folder = path.parent().unwrap_or(Path::new(""));
        settings.models = settings.models.map(|models| folder.join(models));
        Ok(settings)
    }

    /// Said by who uses the program.
    fn own(self) -> Self {
        Settings { own_models: self.models.clone(), ..self }
    }

    /// A project's file may come with a clone or an archive. So it can't name a program to run or a server for the
    /// transcript, and can't raise a spending limit, nor can its prices. Returns the keys that it sets and that aren't
    /// allowed.
    fn forget_a_strangers(&mut self) -> impl Iterator<Item = &'static str> + use<> {
        let said: Vec<&'static str> =
            ["summarizer", "spend", "spend-session", "spend-day", "hook-before", "hook-after"]
                .into_iter()
                .filter(|key| self.said(key).is_some())
                .collect();
        self.summarizer = None;
        (self.spend, self.spend_session, self.spend_day) = (None, None, None);
        (self.hook_before, self.hook_after) = (None, None);
        said.into_iter()
    }

    /// What variables say.
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
            // Secrets, and no settings.
            if ["api-key", "api-key-file", "rpc-token", "rpc-token-file", "rpc-ca"].contains(&&*key)
            {
                continue;
            }
            let is_known = settings.read(&key, value).map_err(|error| {
                let variable = format!("EPITOME_{name}");
                Failure::usage(format!("{variable}: {error}"))
                    .hint(format!("unset {}, or see epitome compact --help", shell(variable)))
            })?;
            if !is_known {
                output::warn(&format!(
                    "EPITOME_{name} in the environment isn't a setting; the settings are {}",
                    KEYS.join(", ")
                ));
            }
        }
        Ok(settings)
    }
}

/// That a key in a project's own file isn't taken.
pub(crate) fn not_taken(key: &str, file: &Path) -> Failure {
    let what = format!("`{key}` in {} isn't allowed in a project's own file", name(file));
    Failure::usage(what).hint(format!(
        "put it into your own (epitome config path), or name this one: --config {}",
        operand(file)
    ))
}

/// `epitome.toml` of this folder or the nearest one above it.
pub(crate) fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("epitome.toml")).find(|file| file.is_file())
}

/// `epitome/config.toml` in the XDG configuration folder, whether or not it is there.
pub(crate) fn user_file() -> Option<PathBuf> {
    Some(folders::configuration()?.join("config.toml"))
}

/// `epitome/models.json` beside it.
pub(crate) fn models_file() -> Option<PathBuf> {
    Some(folders::configuration()?.join("models.json"))
}
