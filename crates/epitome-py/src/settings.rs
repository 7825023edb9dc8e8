//! How to compact, as the caller says it, with the defaults of the command line.

use std::sync::Arc;

use epitome::count::{Tally, TokenCounter, counter};
use epitome::engine::{Counting, Options, OptionsError, Stop};
use epitome::model::{Model, Registry};
use epitome::preset::Preset;
use epitome::strategy::{BadOption, Pipeline, Strategy};
use epitome::summarize::{Brief, OnFailure};
use epitome::trigger::{Condition, Measurements, Trigger};
use epitome::wire::Format;
use epitome::{Compactor, Pin, Request, Tail, Target, Task};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::callbacks::{Callable, PythonCounter, PythonStrategy, PythonTrigger, raised};
use crate::error;
use crate::write::Written;

/// How to compact.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) target: Option<Target>,
    tail: Option<Tail>,
    task: Option<Task>,
    stop: Option<Stop>,
    counting: Option<Counting>,
    pins: Vec<Pin>,
    preserved_tools: Vec<String>,
    read_only: Vec<String>,
    preset: Option<String>,
    strategies: Option<Vec<Step>>,
    pub(crate) trigger: Option<When>,
    counter: Option<Arc<dyn TokenCounter>>,
    model: Option<String>,
    pub(crate) window: Option<u64>,
    pub(crate) brief: Brief,
    pub(crate) on_failure: OnFailure,
    pub(crate) channel: Option<String>,
    /// All functions among them.
    pub(crate) callables: Vec<Arc<Callable>>,
}

/// What is done: a strategy of our own, or one in Python.
#[derive(Debug)]
enum Step {
    Named(Pipeline),
    Python(Arc<PythonStrategy>),
}

/// When to compact.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Said(Condition),
    Python(Arc<PythonTrigger>),
}

/// Who will read a request.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) model: Option<Arc<Model>>,
    pub(crate) window: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a pin is a text in a message, or the message's index, from 0")]
enum SaidPin {
    Entry(usize),
    Text(String),
}

impl Reader {
    /// The same, with a window where none was known.
    pub(crate) fn within(self, window: Option<u64>) -> Self {
        Reader { window: self.window.or(window), ..self }
    }
}

impl Settings {
    /// The settings that a dict says.
    ///
    /// # Errors
    /// One that isn't there, or that makes no sense: its name is the exception's `field`.
    pub(crate) fn said(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut settings = Settings::default();
        for (name, value) in options.iter() {
            if !value.is_none() {
                settings.set(name.extract()?, &value)?;
            }
        }
        let py = options.py();
        settings.model.as_deref().map_or(Ok(()), |name| settings.named(py, name).map(drop))?;
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name {
            "target" => self.target = Some(target(name, value)?),
            "keep_recent" => self.tail = Some(read(name, value)?),
            "task" => self.task = Some(read(name, value)?),
            "stop" => self.stop = Some(read(name, value)?),
            "counting" => self.counting = Some(read(name, value)?),
            "pins" => {
                let pins: Vec<SaidPin> = read(name, value)?;
                self.pins = pins.into_iter().map(Pin::from).collect();
            }
            "preserved_tools" => self.preserved_tools = read(name, value)?,
            "read_only" => self.read_only = read(name, value)?,
            "preset" => {
                let preset: String = read(name, value)?;
                Preset::named(&preset, None)
                    .map_err(|error| error::option(value.py(), name, error))?;
                self.preset = Some(preset);
            }
            "strategies" => {
                let steps = self.strategies.insert(steps(name, value)?);
                self.callables.extend(steps.iter().filter_map(Step::callable));
            }
            "trigger" => {
                let when = self.trigger.insert(when(name, value)?);
                self.callables.extend(when.callable());
            }
            "counter" if value.is_callable() => {
                let counter = PythonCounter::new(value)?;
                self.callables.push(counter.callable());
                self.counter = Some(Arc::new(counter));
            }
            "counter" => {
                let named: String = read(name, value)?;
                let found = counter(&named);
                self.counter = Some(found.map_err(|fault| error::option(value.py(), name, fault))?);
            }
            "model" => self.model = Some(read(name, value)?),
            "window" => self.window = Some(tokens(name, value)?),
            "focus" => self.brief.focus = Some(read(name, value)?),
            "instructions" => self.brief.more = read(name, value)?,
            "sections" => self.brief.sections = Some(read(name, value)?),
            "summary_tokens" => self.brief.max_tokens = Some(tokens(name, value)?),
            "on_failure" => self.on_failure = read(name, value)?,
            "recall_channel" => self.channel = Some(read(name, value)?),
            _ => return Err(error::option(value.py(), name, "there is no such option")),
        }
        Ok(())
    }

    /// Who will read a request: the model that is named, else its own.
    ///
    /// # Errors
    /// A model that is named and isn't known, where nothing else says how to count for it.
    pub(crate) fn reader(&self, py: Python<'_>, request: &Request) -> PyResult<Reader> {
        let registry = Registry::built_in();
        let own = request.model();
        let tokenizer =
            self.model.as_ref().or(own.as_ref()).and_then(|name| registry.tokenizer(name));
        let model = match (&self.model, &own) {
            (Some(name), _) => Some(self.named(py, name)?),
            (None, Some(own)) => registry.get(own).cloned(),
            (None, None) => None,
        };
        let counter = match (&self.counter, tokenizer) {
            (Some(counter), _) => Arc::clone(counter),
            (None, Some(tokenizer)) => built_in(tokenizer.counter()),
            (None, None) => built_in(of_format(request.format)),
        };
        let window = self.window.or(model.as_ref().and_then(Model::most_input));
        Ok(Reader { counter, model: model.map(Arc::new), window })
    }

    /// The model of a name, presumed where it isn't known but something says how to count for it.
    ///
    /// # Errors
    /// Nothing does.
    fn named(&self, py: Python<'_>, name: &str) -> PyResult<Model> {
        let registry = Registry::built_in();
        match registry.find(name) {
            Ok(model) => Ok(model.clone()),
            Err(_) if self.counter.is_some() || registry.tokenizer(name).is_some() => {
                Ok(registry.presume(name))
            }
            Err(unknown) => Err(error::option(py, "model", unknown)),
        }
    }

    /// The compactor of this request. Without a target, a window allows at most half of it.
    pub(crate) fn compactor(
        &self,
        py: Python<'_>,
        reader: &Reader,
        request: &Request,
    ) -> PyResult<Compactor> {
        let preset = self.preset.as_ref().map(|name| {
            Preset::named(name, reader.window).expect("it was looked up when it was named").options
        });
        let target = match (self.target, &preset) {
            (Some(target), _) => target,
            (None, Some(preset)) => preset.target,
            (None, None) => {
                let target = py.detach(|| within_window(reader, request));
                raised().map_or(Ok(target), Err)?
            }
        };
        let preset = preset.unwrap_or_default();
        let listed = self.strategies.as_ref().map(|steps| match &steps[..] {
            [Step::Named(only)] => only.clone(),
            _ => Pipeline::List(Vec::new()),
        });
        let options = Options {
            target,
            tail: self.tail.unwrap_or(preset.tail),
            task: self.task.unwrap_or(preset.task),
            pins: self.pins.clone(),
            preserved_tools: self.preserved_tools.clone(),
            read_only: self.read_only.clone(),
            strategies: listed.unwrap_or(preset.strategies),
            stop: self.stop.unwrap_or(preset.stop),
            counting: self.counting.unwrap_or(preset.counting),
            ..preset
        };
        let compactor = Compactor::new(options, Arc::clone(&reader.counter))
            .map_err(|error| error::option(py, field(&error), error))?;
        let compactor = match &self.strategies {
            Some(steps) if steps.len() != 1 || matches!(steps[0], Step::Python(_)) => {
                compactor.with_strategies(built(py, steps)?)
            }
            _ => compactor,
        };
        let compactor = match &self.channel {
            Some(channel) => compactor.with_recall_channel(channel),
            None => compactor,
        };
        Ok(match &reader.model {
            Some(model) => compactor.with_model(Arc::clone(model)),
            None => compactor,
        })
    }

    /// The same, for a request that is compacted only when it is due.
    pub(crate) fn when_due(
        &self,
        py: Python<'_>,
        compactor: Compactor,
        reader: &Reader,
    ) -> PyResult<Compactor> {
        let Some(when) = &self.trigger else { return Ok(compactor) };
        when.suits(py, reader.window)?;
        if let When::Said(said) = when
            && !said.when().is_of_one_request()
        {
            let what =
                format!("`{}` can't fire for one request: a `Session` knows of that", said.when());
            return Err(error::option(py, "trigger", what));
        }
        let around = Measurements { window: reader.window, ..Measurements::default() };
        Ok(compactor.with_trigger(when.trigger(), around))
    }
}

impl Step {
    fn callable(&self) -> Option<Arc<Callable>> {
        match self {
            Step::Python(strategy) => Some(strategy.callable()),
            Step::Named(_) => None,
        }
    }
}

impl When {
    fn callable(&self) -> Option<Arc<Callable>> {
        match self {
            When::Python(trigger) => Some(trigger.callable()),
            When::Said(_) => None,
        }
    }

    /// As the engine asks it.
    pub(crate) fn trigger(&self) -> Arc<dyn Trigger> {
        match self {
            When::Said(said) => said.clone().boxed(),
            When::Python(trigger) => Arc::clone(trigger) as Arc<dyn Trigger>,
        }
    }

    /// Whether it can fire with what is known.
    ///
    /// # Errors
    /// It is a share of a window that nobody knows.
    pub(crate) fn suits(&self, py: Python<'_>, window: Option<u64>) -> PyResult<()> {
        match self {
            When::Said(said) if said.when().needs_window() && window.is_none() => {
                let what = format!(
                    "the trigger `{}` needs the window of a model, and none is known: say window=200_000, or model=…",
                    said.when()
                );
                Err(error::option(py, "window", what))
            }
            _ => Ok(()),
        }
    }
}

impl From<SaidPin> for Pin {
    fn from(pin: SaidPin) -> Pin {
        match pin {
            SaidPin::Entry(at) => Pin::Entry(at),
            SaidPin::Text(text) => Pin::Text(text),
        }
    }
}

/// Where a compaction lands by default.
fn within_window(reader: &Reader, request: &Request) -> Target {
    let Some(allowed) = reader.window.map(|window| (window / 2).max(1)) else {
        return Target::DEFAULT;
    };
    // Even if every byte is a token.
    if Target::DEFAULT.resolve(request.source().len() as u64) <= allowed {
        return Target::DEFAULT;
    }
    let total = Tally::of(request, reader.counter.as_ref()).total().tokens;
    if Target::DEFAULT.resolve(total) <= allowed {
        Target::DEFAULT
    } else {
        Target::Tokens(allowed)
    }
}

/// What counts where no model is known.
fn of_format(format: Format) -> &'static str {
    match format {
        Format::Anthropic | Format::Bedrock => "claude",
        Format::Gemini | Format::GeminiInteractions => "gemini",
        _ => "o200k",
    }
}

fn built_in(name: &str) -> Arc<dyn TokenCounter> {
    counter(name).expect("the table of models and formats names counters that are built in")
}

/// A value, as a settings file would say it.
fn read<T: DeserializeOwned>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    if value.is_instance_of::<PyInt>() && value.lt(0)? {
        return Err(error::option(value.py(), name, format!("{value} is less than 0")));
    }
    let json = Written::value(value).map_err(|fault| error::option(value.py(), name, fault))?;
    serde_json::from_slice(&json).map_err(|fault| {
        let said = fault.to_string();
        let what = said.split(" at line ").next().unwrap_or(&said);
        error::option(value.py(), name, what)
    })
}

/// A text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| error::option(value.py(), name, "expected a text"))
}

/// A number, or a text as a flag has it.
fn target(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Target> {
    let text = match value.extract::<u64>() {
        Ok(tokens) if !value.is_instance_of::<PyBool>() => tokens.to_string(),
        Err(_) if value.is_instance_of::<PyInt>() => {
            let what =
                format!("{value} isn't a number of tokens: expected 1 or more, within 64 bits");
            return Err(error::option(value.py(), name, what));
        }
        _ => read(name, value)?,
    };
    text.parse().map_err(|fault| error::option(value.py(), name, fault))
}

fn tokens(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match target(name, value)? {
        Target::Tokens(tokens) => Ok(tokens),
        Target::Percent(_) => Err(error::option(
            value.py(),
            name,
            "expected a number of tokens (200_000, \"200k\", \"1m\")",
        )),
    }
}

fn when(name: &str, value: &Bound<'_, PyAny>) -> PyResult<When> {
    if value.is_callable() {
        return Ok(When::Python(Arc::new(PythonTrigger::new(value))));
    }
    let text: String = read(name, value)?;
    let said: Condition = text.parse().map_err(|fault| error::option(value.py(), name, fault))?;
    Ok(When::Said(said))
}

/// A list of strategies, as settings say it; functions among them.
fn steps(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Step>> {
    let listed = match value.cast::<PyList>() {
        Ok(list) => list.clone(),
        Err(_) => PyList::new(value.py(), [value])?,
    };
    if !listed.iter().any(|step| step.is_callable()) {
        return Ok(vec![Step::Named(read(name, value)?)]);
    }
    let step = |step: Bound<'_, PyAny>| {
        Ok(if step.is_callable() {
            Step::Python(Arc::new(PythonStrategy::new(&step)))
        } else {
            Step::Named(read(name, PyList::new(step.py(), [step])?.as_any())?)
        })
    };
    listed.iter().map(step).collect()
}

/// Which option it is about.
fn field(error: &OptionsError) -> &'static str {
    match error {
        OptionsError::Target(_) => "target",
        OptionsError::EmptyPin => "pins",
        OptionsError::Strategy(BadOption { option: "keep-recent", .. }) => "keep_recent",
        _ => "strategies",
    }
}

fn built(py: Python<'_>, steps: &[Step]) -> PyResult<Vec<Arc<dyn Strategy>>> {
    let mut all: Vec<Arc<dyn Strategy>> = Vec::new();
    for step in steps {
        match step {
            Step::Python(strategy) => all.push(Arc::clone(strategy) as Arc<dyn Strategy>),
            Step::Named(named) => {
                let built = named.build();
                all.extend(built.map_err(|error| error::option(py, "strategies", error))?);
            }
        }
    }
    Ok(all)
}
