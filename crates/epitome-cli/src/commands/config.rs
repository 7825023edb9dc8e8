//! `config`: the settings and where they are from.

use anyhow::Result;
use serde::Serialize;

use crate::args::{ConfigCommand, HowArgs};
use crate::config::{
    KEYS, Layers, Origin, Settings, models_file, not_taken, project_file, user_file,
};
use crate::failure::Exit;
use crate::output::{self, Report};
use crate::quoting::name;
use crate::terminal::{FAINT, STRONG, left, line, paint, put};

/// All settings, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Shown {
    version: u32,
    settings: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Serialize)]
struct Setting {
    key: &'static str,
    /// As a file or variable would say it; what the default is in words.
    value: String,
    /// `flag`, `environment`, `project`, `user`, `preset` or `default`.
    origin: &'static str,
    /// The file, variable or preset.
    from: Option<String>,
}

/// The files, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Paths {
    version: u32,
    files: Vec<FileOf>,
}

/// A file of settings.
#[derive(Debug, Serialize)]
struct FileOf {
    what: &'static str,
    path: Option<String>,
    is_there: bool,
}

/// Shows settings or files.
pub(crate) fn run(command: &ConfigCommand, report: Report) -> Result<Exit> {
    match command {
        ConfigCommand::Show(args) => show(args, report),
        ConfigCommand::Path => path(report),
    }
}

fn show(args: &HowArgs, report: Report) -> Result<Exit> {
    let layers = Layers::with_strangers(args)?;
    let merged = layers.merged();
    let preset = merged.preset(merged.window).map(|preset| Settings::of(&preset));
    let setting = |key| setting(&layers, key, merged.said(key), preset.as_ref());
    let settings = KEYS.iter().copied().map(setting).collect();
    let shown = Shown { version: 1, settings };
    match report {
        Report::Json => output::json(&shown)?,
        Report::Words => output::words(&words(&shown))?,
    }
    // Whoever compacts here is told the same, as a failure.
    for (key, file) in layers.refused() {
        output::warn(&not_taken(key, file).to_string());
    }
    Ok(Exit::Ok)
}

fn setting(
    layers: &Layers,
    key: &'static str,
    value: Option<String>,
    preset: Option<&Settings>,
) -> Setting {
    let of_preset = preset.filter(|_| value.is_none()).and_then(|preset| preset.said(key));
    let (origin, from) = match layers.origin(key) {
        Some(Origin::Flag) => ("flag", None),
        Some(Origin::Environment) => {
            let variable = key.to_ascii_uppercase().replace('-', "_");
            ("environment", Some(format!("EPITOME_{variable}")))
        }
        Some(Origin::Project(file)) => ("project", Some(name(file))),
        Some(Origin::User(file)) => ("user", Some(name(file))),
        None if of_preset.is_some() => ("preset", preset.and_then(|preset| preset.preset.clone())),
        None => ("default", None),
    };
    let value = value.or(of_preset).unwrap_or_else(|| default(key).to_owned());
    Setting { key, value, origin, from }
}

/// What holds where nothing is said.
fn default(key: &str) -> &'static str {
    match key {
        "target" => "30%, at most half of the window",
        "tail" => "what fits",
        "task" => "keep",
        "strategies" => "ladder",
        "stop" => "at-target",
        "counting" => "whole",
        "counter" => "the model's",
        "model" => "the request's own",
        "window" => "the model's",
        "summarizer" | "on-failure" => "extractive",
        "timeout" => "120 s",
        _ => "none",
    }
}

fn words(shown: &Shown) -> String {
    let mut out = String::new();
    for setting in &shown.settings {
        // All of it: whoever looks here wants to know what holds.
        let value = line(&setting.value, usize::MAX);
        let value = match setting.origin {
            "default" => paint(FAINT, left(&value, 32)),
            _ => paint(STRONG, left(&value, 32)),
        };
        let from = setting.from.as_deref().map(|from| format!(" {from}")).unwrap_or_default();
        put!(out, "{} {value} {}{from}", left(setting.key, 16), setting.origin);
    }
    out
}

fn path(report: Report) -> Result<Exit> {
    let files = [("project", project_file()), ("user", user_file()), ("models", models_file())];
    let files = files.map(|(what, path)| FileOf {
        what,
        is_there: path.as_ref().is_some_and(|path| path.is_file()),
        path: path.as_deref().map(name),
    });
    let paths = Paths { version: 1, files: files.into() };
    match report {
        Report::Json => output::json(&paths)?,
        Report::Words => {
            let mut out = String::new();
            for file in &paths.files {
                let path = file.path.as_deref().unwrap_or("no epitome.toml here or above");
                let state = if file.path.is_none() || file.is_there { "" } else { " (not there)" };
                put!(out, "{} {path}{}", left(file.what, 8), paint(FAINT, state));
            }
            output::words(&out)?;
        }
    }
    Ok(Exit::Ok)
}
