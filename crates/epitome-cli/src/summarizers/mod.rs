//! Who can be asked for summaries, by the names that flags and settings give them.

pub(crate) mod books;
#[cfg(feature = "proxy")]
mod client;
mod command;
mod hook;
pub(crate) mod model;
mod paid;
#[cfg_attr(not(feature = "grpc"), path = "remote_absent.rs")]
pub(crate) mod remote;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use epitome::engine::delegate::{Compact, Compactors};
use epitome::engine::hook::{Hook, Hooks};
use epitome::summarize::{Brief, Clock, OnFailure, RestingSummarizer, Summaries, Summarizer};
use epitome_llm::{Cap, Purse, in_memory, origin};

use crate::args::{AroundArgs, SummaryArgs};
use crate::config::Settings;
use crate::failure::Failure;
use crate::input;
use crate::quoting::{name, operand};
use crate::reader;
use crate::values::{FORMS, Host, Line, Named, Spec};

pub(crate) use hook::After;

use books::{Kept, Span};
use command::Command;
use model::Keys;
use paid::Paid;

/// The default time limit of one answer.
pub(crate) const LONGEST: Duration = Duration::from_mins(2);

/// Who helps with a compaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Helpers {
    /// Before it, with a say in it.
    pub(crate) hooks: Hooks,
    /// Told of it.
    pub(crate) after: After,
    /// With all of it, before anybody else.
    pub(crate) compactors: Compactors,
    /// With a summary.
    pub(crate) summaries: Summaries,
    /// Whether one of them is the model that the agent runs with.
    pub(crate) is_agents: bool,
    /// Whether one of them asks as a proxy's client does.
    pub(crate) is_clients: bool,
    /// Whose session it is, once that is known: caps on spending count by it.
    pub(crate) session: Arc<OnceLock<String>>,
}

impl Helpers {
    /// Whether anybody has a say in a compaction.
    pub(crate) fn are_asked(&self) -> bool {
        let (hooks, compactors) = (&self.hooks.chain, &self.compactors.chain);
        !(hooks.is_empty() && compactors.is_empty() && self.summaries.chain.is_empty())
    }
}

/// Whether there are clients, whose own credentials may pay for summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clients {
    None,
    /// Those of a proxy.
    #[cfg(feature = "proxy")]
    OfProxy,
}

/// What arguments and settings ask for.
///
/// # Errors
/// A prompt that can't be read or says nothing; a model without a key, or at no address; flags about a
/// summary where nobody is asked for one; a whole compactor behind a summarizer.
pub(crate) fn helpers(
    args: &SummaryArgs,
    around: &AroundArgs,
    settings: &Settings,
    clients: Clients,
) -> Result<Helpers> {
    let said = args.timeout.or(settings.timeout);
    let lines = |flags: &[Line], set: &Option<Vec<Line>>| -> Vec<Vec<String>> {
        let lines =
            if flags.is_empty() { set.iter().flatten().collect() } else { Vec::from_iter(flags) };
        lines.into_iter().map(|line| line.0.clone()).collect()
    };
    let longest = said.unwrap_or(LONGEST);
    let before = lines(&around.hook_before, &settings.hook_before);
    let before = hook::commands(&before, longest);
    let before = before.map(|command| Arc::new(hook::Before(command)) as Arc<dyn Hook>);
    let hooks = Hooks { chain: before.collect() };
    let after = lines(&around.hook_after, &settings.hook_after);
    let after = After(hook::commands(&after, longest).map(Arc::new).collect());
    let is_hooked = !hooks.chain.is_empty() || !after.0.is_empty();
    let Some(specs) = args.chain().or_else(|| settings.summarizer.clone()) else {
        let mut needless = args.about_summaries();
        return match needless.find(|flag| *flag != "--timeout" || !is_hooked) {
            None => Ok(Helpers { hooks, after, ..Helpers::default() }),
            Some(flag) => {
                Err(Failure::usage(format!("{flag} needs a summarizer, and none is named"))
                    .hint(format!("--summarizer {FORMS}"))
                    .into())
            }
        };
    };
    // Code never fails: nobody behind it is asked.
    let specs = specs.split(|spec| *spec == Spec::Extractive).next().unwrap_or_default();
    let is_whole = |spec: &Spec| matches!(spec, Spec::Remote(_));
    let (whole, specs) = specs.split_at(specs.iter().take_while(|spec| is_whole(spec)).count());
    if let Some(late) = specs.iter().find(|spec| is_whole(spec)) {
        let what = format!("{late} does whole compactions, and is asked before any summarizer");
        bail!(Failure::usage(what).hint(format!("--summarizer {late} --then …")));
    }
    let is_clients = specs.iter().any(|spec| matches!(spec, Spec::Client(_)));
    if is_clients && clients == Clients::None {
        let what = "`client` is for `epitome serve` and `wrap`: here is no client with a key";
        bail!(Failure::usage(what).hint("--summarizer anthropic:MODEL, or another one with a key"));
    }
    let session = Arc::new(OnceLock::new());
    let purse = purse(args, settings, &session)?;
    let on_failure = args.on_failure.or(settings.on_failure).unwrap_or_default();
    let summaries = Summaries {
        chain: chain(specs, args.agent.as_ref(), longest, purse.as_ref(), settings)?,
        brief: Brief {
            focus: args.focus.clone(),
            prompt: args.prompt.as_deref().map(prompt).transpose()?,
            max_tokens: args.summary_tokens.or(settings.summary_tokens),
            ..Brief::default()
        },
        on_failure,
    };
    let wishes = summaries.brief.prompt.iter().chain(&summaries.brief.focus);
    let compactors = Compactors {
        instructions: wishes.cloned().collect(),
        chain: wholes(whole, said, purse.as_ref())?,
        // Where summarizers come next, it is theirs to fail.
        on_failure: if specs.is_empty() { on_failure } else { OnFailure::Extractive },
    };
    let is_agents = args.agent.is_some();
    // Whoever compacts more than once with them asks none again and again that fails.
    let begun = Instant::now();
    let clock: Clock = Arc::new(move || begun.elapsed());
    let compactors = compactors.resting(&clock);
    let summaries = Summaries { chain: rested(specs, summaries.chain, &clock), ..summaries };
    Ok(Helpers { hooks, after, compactors, summaries, is_agents, is_clients, session })
}

/// The spending limits, if any are set.
///
/// # Errors
/// There is no place where it could be kept what was spent.
fn purse(
    args: &SummaryArgs,
    settings: &Settings,
    session: &Arc<OnceLock<String>>,
) -> Result<Option<Arc<Purse>>> {
    let mut caps = Vec::new();
    if let Some(most) = args.spend.or(settings.spend) {
        caps.push(Cap { most, span: String::new(), books: in_memory() });
    }
    let spans = [
        (
            args.spend_session.or(settings.spend_session),
            Span::Session(Arc::clone(session)),
            "in this session",
        ),
        (args.spend_day.or(settings.spend_day), Span::Day, "today"),
    ];
    for (most, span, words) in spans {
        let Some(most) = most else { continue };
        let file = books::file().ok_or_else(|| {
            Failure::usage("there is no folder for the spending file")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        caps.push(Cap { most, span: words.to_owned(), books: Arc::new(Kept { file, span }) });
    }
    Ok((!caps.is_empty()).then(|| Arc::new(Purse::of(caps))))
}

fn wholes(
    specs: &[Spec],
    longest: Option<Duration>,
    purse: Option<&Arc<Purse>>,
) -> Result<Vec<Arc<dyn Compact>>> {
    let addresses = specs.iter().filter_map(|spec| match spec {
        Spec::Remote(address) => Some(address),
        _ => None,
    });
    addresses
        .map(|address| {
            let by = remote::compactor(address, longest)?;
            Ok(match purse {
                Some(purse) => Arc::new(Paid { by, purse: Arc::clone(purse) }),
                None => by,
            })
        })
        .collect()
}

fn chain(
    specs: &[Spec],
    agent: Option<&Spec>,
    longest: Duration,
    purse: Option<&Arc<Purse>>,
    settings: &Settings,
) -> Result<Vec<Arc<dyn Summarizer>>> {
    one_server(specs)?;
    if let Some(agent) = agent
        && !matches!(agent, Spec::Model(_) if specs.contains(agent))
    {
        let what = format!("--for {agent} isn't one of the summarizers");
        bail!(Failure::usage(what).hint(format!("--summarizer {agent}, or --then")));
    }
    let registry = reader::price_list(settings)?;
    let mut keys = Keys::default();
    let summarizer = |spec: &Spec| -> Result<Arc<dyn Summarizer>> {
        Ok(match spec {
            Spec::Command(line) => Arc::new(Command::new(&line.0, longest)),
            Spec::Model(named) => {
                let found = model::find(named, &mut keys)?;
                let model = model::model(named, found, longest, purse.cloned(), &registry)?;
                let is_agents = agent == Some(spec);
                Arc::new(if is_agents { model.asked_by_agent() } else { model })
            }
            Spec::Extractive => unreachable!("the chain ends before it"),
            Spec::Remote(_) => unreachable!("it does more than sum up"),
            #[cfg(feature = "proxy")]
            Spec::Client(model) => {
                let (name, model) = (spec.to_string(), model.clone());
                let registry = registry.clone().into_owned();
                Arc::new(client::OfClient::new(name, model, longest, purse.cloned(), registry))
            }
            #[cfg(not(feature = "proxy"))]
            Spec::Client(_) => unreachable!("there are no clients"),
        })
    };
    specs.iter().map(summarizer).collect()
}

/// Each resting when it fails again and again. Only who asks with many keys doesn't: one that fails keeps no other from being
/// asked.
fn rested(
    specs: &[Spec],
    chain: Vec<Arc<dyn Summarizer>>,
    clock: &Clock,
) -> Vec<Arc<dyn Summarizer>> {
    let each = specs.iter().zip(chain).map(|(spec, by)| -> Arc<dyn Summarizer> {
        if matches!(spec, Spec::Client(_)) {
            return by;
        }
        let (after, rest) = (RestingSummarizer::FAILURES, RestingSummarizer::REST);
        Arc::new(RestingSummarizer::around(by, after, rest, Arc::clone(clock)))
    });
    each.collect()
}

/// One key is for one server: it isn't sent to a second one.
fn one_server(specs: &[Spec]) -> Result<()> {
    let mut bases = specs.iter().filter_map(|spec| match spec {
        // What has no origin isn't asked.
        Spec::Model(Named { host: Host::Url(base), .. }) => origin(base),
        _ => None,
    });
    let Some(first) = bases.next() else { return Ok(()) };
    match bases.find(|base| *base != first) {
        Some(other) if model::has_own_key() => Err(Failure::usage(format!(
            "one key (EPITOME_API_KEY) for two servers, {first} and {other}"
        ))
        .hint("name only one of them, or unset the key if they need none")
        .into()),
        _ => Ok(()),
    }
}

fn prompt(path: &Path) -> Result<String> {
    let text = input::by_hand(path).map_err(|error| {
        Failure::other(format!("the prompt in {} can't be read: {error}", name(path)))
            .hint(format!("ls -l {}", operand(path)))
    })?;
    if text.trim().is_empty() {
        bail!(
            Failure::input(format!("--prompt {} is empty", name(path)))
                .hint("without --prompt the built-in one is used")
        );
    }
    Ok(text.trim_end().to_owned())
}
