//! The model that will read a request: what counts its tokens, how much it takes, what it costs.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::Result;
use epitome::Request;
use epitome::count::{Count, TokenCounter};
use epitome::model::{Model, Prompt, Registry, UnknownModel};
use epitome::wire::Format;
use serde::Serialize;

use crate::config::{Settings, models_file};
use crate::counters::{named, remembering};
use crate::failure::Failure;
use crate::input;
use crate::output;
use crate::quoting::{name, operand};
use crate::terminal::{count, line, percent};

/// What is known of who will read the request.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// What counts.
    pub(crate) counter: Arc<dyn TokenCounter>,
    /// The model, if it is in the registry.
    pub(crate) model: Option<Arc<Model>>,
    /// Most tokens of a prompt: as set, or the model's.
    pub(crate) window: Option<u64>,
    /// That the model was named and isn't known: then `model` is what its family tells.
    pub(crate) unknown: Option<UnknownModel>,
}

/// What a command must know of a model that the user names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// What counts its tokens.
    Counter,
    /// That, and how much it takes.
    Window,
}

/// What a model makes of a request's size, for reports.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reading {
    /// The model, by its vendor's id.
    model: String,
    /// Most tokens of a prompt.
    window: Option<u64>,
    /// What the prompt costs, in dollars.
    cost: Option<Prompt>,
    /// Where that is from.
    source: String,
    /// Of which day.
    date: Option<String>,
}

impl Reader {
    /// The model that the settings name, else the request's own.
    ///
    /// # Errors
    /// A model or counter that was asked for and isn't known, or of which too little is.
    pub(crate) fn new(settings: &Settings, request: &Request, need: Need) -> Result<Self> {
        let registry = registry(settings)?;
        let own = request.model();
        let mut unknown = None;
        let model = match (&settings.model, &own) {
            (Some(model), _) => match registry.find(model) {
                Ok(model) => Some(model.clone()),
                Err(error) => {
                    enough(settings, &registry, &error, need)?;
                    unknown = Some(error);
                    // The cost of the request's own model says nothing about this one.
                    Some(registry.presume(model))
                }
            },
            (None, Some(own)) => registry.get(own).cloned(),
            (None, None) => None,
        };
        let family = settings.model.as_ref().or(own.as_ref());
        let tokenizer = family.and_then(|name| registry.tokenizer(name));
        let counter = match (&settings.counter, tokenizer) {
            (Some(name), _) => named(name)?,
            (None, Some(tokenizer)) => named(tokenizer.counter())?,
            (None, None) => named(of_format(request.format))?,
        };
        let window = settings.window.or(model.as_ref().and_then(Model::most_input));
        Ok(Reader { counter, model: model.map(Arc::new), window, unknown })
    }

    /// The same, counting each text once: see [`remembering`].
    #[must_use]
    pub(crate) fn remembering(self) -> Self {
        Reader { counter: remembering(self.counter), ..self }
    }

    /// A model that was named and isn't known is most likely misspelt.
    pub(crate) fn warn_of_unknown(&self) {
        if let Some(unknown) = &self.unknown {
            output::warn(&format!("{unknown}: its window and prices aren't known"));
        }
    }

    /// What the model makes of a prompt of this size.
    pub(crate) fn reading(&self, size: Count) -> Option<Reading> {
        let known = self.model.as_ref().filter(|_| self.unknown.is_none());
        let model = known?;
        let cost = |cached| model.prompt_cost(size.tokens, cached);
        let cost = cost(0).zip(cost(size.tokens)).map(|(cold, warm)| Prompt { cold, warm });
        Some(Reading {
            model: model.id.clone(),
            window: self.window,
            cost,
            source: model.source.clone(),
            date: model.date.clone(),
        })
    }
}

impl Reading {
    /// In a line.
    pub(crate) fn words(&self, size: Count) -> String {
        let mut said = Vec::new();
        if let Some(window) = self.window {
            let share = percent(size.tokens, window);
            said.push(format!("{share} of the {} that it takes", count(window)));
        }
        if let Some(cost) = &self.cost {
            let warm = format!(", {} from a warm cache", cost.warm);
            let warm = if cost.warm == cost.cold { "" } else { &warm };
            said.push(format!("{} a request{warm}", cost.cold));
        }
        format!("{}: {}", line(&self.model, 60), said.join("; "))
    }
}

/// The registry, with the user's own facts over it.
///
/// # Errors
/// A file of theirs that can't be read.
pub(crate) fn registry(settings: &Settings) -> Result<Cow<'static, Registry>> {
    overlaid(settings.models.as_ref())
}

/// The registry for spending: prices of a project's file don't count.
pub(crate) fn price_list(settings: &Settings) -> Result<Cow<'static, Registry>> {
    overlaid(settings.own_models.as_ref())
}

fn overlaid(file: Option<&std::path::PathBuf>) -> Result<Cow<'static, Registry>> {
    let own = models_file().filter(|file| file.is_file());
    let Some(file) = file.cloned().or(own) else {
        return Ok(Cow::Borrowed(Registry::built_in()));
    };
    let shown = name(&file);
    let text = input::by_hand(&file).map_err(|error| {
        Failure::other(format!("the models in {shown} can't be read: {error}"))
            .hint(format!("ls -l {}", operand(&file)))
    })?;
    let registry = Registry::built_in().overlaid(&text, &shown).map_err(|error| {
        Failure::usage(format!("bad models in {shown}: {error}"))
            .hint("epitome models claude-opus-5-5 --json shows the keys")
    })?;
    Ok(Cow::Owned(registry))
}

/// The failure that a model isn't known, with what to try next.
pub(crate) fn unknown(unknown: &UnknownModel) -> Failure {
    let what = match &unknown.nearest[..] {
        [] => format!("the model {:?} isn't known", line(&unknown.name, 80)),
        nearest => {
            let nearest = nearest.join(", ");
            format!("the model {:?} isn't known; nearest: {nearest}", line(&unknown.name, 80))
        }
    };
    Failure::usage(what)
}

/// Whether the settings say what the registry doesn't.
fn enough(
    settings: &Settings,
    registry: &Registry,
    model: &UnknownModel,
    need: Need,
) -> Result<(), Failure> {
    let lands = settings.window.is_some() || settings.target.is_some() || need == Need::Counter;
    let counts = registry.tokenizer(&model.name).is_some();
    if settings.counter.is_some() || counts && lands {
        return Ok(());
    }
    let hint =
        "epitome models lists the known ones; or name its limits: --window 200k --counter o200k";
    Err(unknown(model).hint(hint))
}

/// What counts where no model is known.
pub(crate) fn of_format(format: Format) -> &'static str {
    match format {
        Format::Anthropic | Format::Bedrock => "claude",
        Format::Gemini | Format::GeminiInteractions => "gemini",
        _ => "o200k",
    }
}
