//! How known systems compact, said in Epitome's terms: when they act, and what they leave.
//!
//! The laws hold for presets, too: pairs stay whole, the task and the newest human message stay, folded entries are
//! quoted and can be restored. Such differences from the system are on purpose: docs/parity.md lists them, and its
//! tests prove them.
//!
//! The main example of each system, here:
//!
//! **A compactor of one's own** (Planck's behaviour `Compactor`) decides about each message. What breaks a law isn't shown,
//! and the built-in strategies do it then.
//!
//! ```
//! # use std::sync::Arc;
//! # use epitome::{Compactor, Options, Target, count::counter, view::{Fate, Reason}, wire};
//! # use epitome::engine::delegate::{Decision, Job, ProposedView, from_fn};
//! # let request = wire::detect(epitome::preset::example().to_owned())?;
//! let mine = from_fn("mine", |job: Arc<Job>| async move {
//!     let fold = |may_leave: bool| if may_leave { Fate::Fold(Reason::Delegated) } else { Fate::Keep };
//!     let fates = job.entries.iter().map(|entry| fold(entry.may_leave)).collect();
//!     Ok(Decision::Compacted(ProposedView { fates, ..ProposedView::default() }))
//! });
//! let options = Options { target: Target::Percent(60), ..Options::default() };
//! let compactor = Compactor::new(options, counter("o200k")?)?.with_compactors(mine);
//! let outcome = compactor.compact(&request)?;
//! # assert!(outcome.receipt.fallbacks.is_empty() && outcome.receipt.after.count.tokens < outcome.receipt.before.count.tokens);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A model that summarizes** (entelix `SummaryCompactor`). [`Drive`](crate::engine::Drive) waits for it, on any executor.
//!
//! ```
//! # use epitome::{Compactor, Options, Target, count::counter, engine::Drive, summarize::from_fn, wire};
//! # let request = wire::detect(epitome::preset::example().to_owned())?;
//! # let options = Options { target: Target::Percent(70), ..Options::default() };
//! # async fn ask(_prompt: String) -> String { "## Goal\nThe build is to pass.".to_owned() }
//! let model = from_fn("my-model", |request| async move { Ok(ask(request.prompt()).await) });
//! let compactor = Compactor::new(options, counter("o200k")?)?.with_summaries(model)?;
//! let outcome = Drive::new(compactor.begin(&request)); // .await
//! # let outcome = compactor.compact(&request)?;
//! # assert!(outcome.receipt.summary.is_some(), "{:?}", outcome.receipt);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A summary with a focus, and a hook that may forbid it** (docker agent `/compact FOCUS`).
//!
//! ```
//! # use epitome::{Compactor, Options, Target, count::counter, wire};
//! # use epitome::engine::hook::{self, Wish};
//! # use epitome::summarize::{Brief, Summaries, from_fn};
//! # let request = wire::detect(epitome::preset::example().to_owned())?;
//! # let options = Options { target: Target::Percent(70), ..Options::default() };
//! # async fn ask(prompt: String) -> String { assert!(prompt.contains("the failing test")); String::new() }
//! let model = from_fn("my-model", |request| async move { Ok(ask(request.prompt()).await) });
//! let brief = Brief { focus: Some("the failing test".to_owned()), ..Brief::default() };
//! let summaries = Summaries { brief, ..model.into() };
//! let careful = hook::from_fn("careful", |proposal| async move {
//!     let is_small = proposal.tokens < 50;
//!     Ok(Wish { veto: is_small.then(|| "small enough".to_owned()), ..Wish::default() })
//! });
//! let compactor = Compactor::new(options, counter("o200k")?)?.with_hooks(careful);
//! let outcome = compactor.with_summaries(summaries)?.compact(&request)?;
//! # assert!(outcome.receipt.triggered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A trim** (PtcRunner `Compaction`): the first human message and the last three steps stay.
//!
//! ```
//! # use std::sync::Arc;
//! # use epitome::{Compactor, count::counter, preset::Preset, trigger::Measurements, wire};
//! # let request = wire::detect(epitome::preset::example().to_owned())?;
//! let Preset { trigger, options, .. } = Preset::named("ptc-runner", None)?;
//! let compactor = Compactor::new(options, counter("o200k")?)?;
//! let compactor = compactor.with_trigger(Arc::new(trigger.build()?), Measurements::default());
//! let outcome = compactor.compact(&request)?;
//! # assert!(outcome.receipt.triggered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **A pipeline** (agentkit-compaction), each strategy built by hand.
//!
//! ```
//! # use std::sync::Arc;
//! # use epitome::{Compactor, Options, Tail, count::counter, wire};
//! # use epitome::strategy::{Failed, OldReasoning, Recent, RecentOptions, Strategy};
//! # use epitome::trigger::{Measurements, When};
//! # let request = wire::detect(epitome::preset::example().to_owned())?;
//! let strategies: Vec<Arc<dyn Strategy>> = vec![
//!     Arc::new(OldReasoning::default()),
//!     Arc::new(Failed),
//!     Arc::new(Recent::new(RecentOptions { keep: Tail::Items(24) })?),
//! ];
//! let compactor = Compactor::new(Options::default(), counter("o200k")?)?.with_strategies(strategies);
//! let compactor = compactor.with_trigger(Arc::new(When::Items(32).build()?), Measurements::default());
//! let outcome = compactor.compact(&request)?;
//! # assert!(outcome.receipt.triggered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::budget::{Stop, Tail, Target};
use crate::engine::Options;
use crate::strategy::{
    Emptied, FoldOptions, HeadOptions, HeadRoom, Named, Pipeline, ReasoningOptions, RecentOptions,
    Setting,
};
use crate::transcript::{Origin, Role};
use crate::trigger::When;

/// The names of the presets.
pub const NAMES: [&str; 6] =
    ["planck", "entelix-summary", "entelix-head", "docker-agent", "ptc-runner", "agentkit"];

/// A system's trigger and options.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Its name, as flags and files spell it.
    pub name: &'static str,
    /// The system that it is like.
    pub system: &'static str,
    /// When to act.
    pub trigger: When,
    /// What to do.
    pub options: Options,
}

/// A name that no preset has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no preset `{name}`; they are {}", NAMES.join(", "))]
pub struct UnknownPreset {
    /// The given name.
    pub name: String,
}

/// Characters at which entelix's own example compacts.
const ENTELIX_CHARACTERS: u64 = 8_192;
/// Tokens that docker agent keeps of the tail at the most.
const DOCKER_TAIL: u64 = 20_000;

impl Preset {
    /// The preset of this name, for a model with a window of this many tokens.
    ///
    /// Where a system has a limit of its own, the target is under it, so that it isn't reached again at once:
    /// what stays by number is then folded further. Without a window, or a limit in
    /// tokens, only what stays by number counts.
    ///
    /// # Errors
    /// A name that no preset has.
    pub fn named(name: &str, window: Option<u64>) -> Result<Self, UnknownPreset> {
        let under = |tenths: u64| window.map(|window| (share(window, tenths)).max(1));
        match name {
            "planck" => Ok(Preset {
                name: "planck",
                system: "Planck `Compactor`",
                trigger: When::Share(0.8),
                // It acts at the share itself, so that less than that has to be left.
                options: options(
                    vec![recent(Tail::Items(10)), fold(), head(HeadRoom::Target)],
                    under(8).map(|tokens| (tokens - 1).max(1)),
                ),
            }),
            "entelix-summary" => Ok(Preset {
                name: "entelix-summary",
                system: "entelix `SummaryCompactor`",
                trigger: When::Characters(ENTELIX_CHARACTERS),
                options: options(vec![recent(Tail::Units(4))], None),
            }),
            "entelix-head" => Ok(Preset {
                name: "entelix-head",
                system: "entelix `HeadDropCompactor`",
                trigger: When::Characters(ENTELIX_CHARACTERS),
                options: Options {
                    task: crate::guard::Task::Fold,
                    ..options(vec![head(HeadRoom::Characters(ENTELIX_CHARACTERS - 1))], None)
                },
            }),
            "docker-agent" => Ok(Preset {
                name: "docker-agent",
                system: "docker agent `compactor`",
                trigger: When::Any(vec![When::ShareAbove(0.9), When::Overflow, When::Asked]),
                options: options(
                    vec![recent(Tail::Tokens(docker_tail(window))), fold(), head(HeadRoom::Target)],
                    under(9),
                ),
            }),
            "ptc-runner" => Ok(Preset {
                name: "ptc-runner",
                system: "PtcRunner `Compaction`",
                trigger: When::Steps(8),
                options: options(vec![recent(Tail::Steps(3))], None),
            }),
            "agentkit" => Ok(Preset {
                name: "agentkit",
                system: "agentkit-compaction",
                trigger: When::Items(32),
                options: Options {
                    preserved_roles: vec![Role::System, Role::Developer],
                    preserved_origins: vec![Origin::Injected],
                    ..options(
                        vec![
                            Named::Reasoning(Setting::On(ReasoningOptions {
                                emptied: Emptied::Drop,
                            })),
                            Named::Failed(Setting::default()),
                            recent(Tail::Items(24)),
                            recent(Tail::Items(8)),
                        ],
                        None,
                    )
                },
            }),
            _ => Err(UnknownPreset { name: name.to_owned() }),
        }
    }

    /// All of them, for a model with a window of this many tokens.
    pub fn all(window: Option<u64>) -> impl Iterator<Item = Preset> {
        NAMES.into_iter().map(move |name| Preset::named(name, window).expect("its own name"))
    }
}

/// A short session, for the examples of this page.
#[doc(hidden)]
pub fn example() -> String {
    let step = |at: usize| {
        format!(
            r#"{{"role":"assistant","content":"Test {at} fails; I look at it.","tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"Read","arguments":"{{\"path\":\"tests/t{at}.rs\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c{at}","content":"{}"}}"#,
            format!("assert_eq!(parse({at}), expected); ").repeat(40)
        )
    };
    let steps: Vec<String> = (0..24).map(step).collect();
    let task = r#"{"role":"user","content":"Make the build pass."}"#;
    format!(r#"{{"model":"gpt-6-sol","messages":[{task},{}]}}"#, steps.join(","))
}

fn share(window: u64, tenths: u64) -> u64 {
    (u128::from(window) * u128::from(tenths) / 10) as u64
}

fn docker_tail(window: Option<u64>) -> u64 {
    window.map_or(DOCKER_TAIL, |window| DOCKER_TAIL.min(window / 5))
}

fn options(list: Vec<Named>, target: Option<u64>) -> Options {
    Options {
        target: target.map_or(Target::Percent(100), Target::Tokens),
        strategies: Pipeline::List(list),
        stop: Stop::AtEnd,
        ..Options::default()
    }
}

fn recent(keep: Tail) -> Named {
    Named::Recent(Setting::On(RecentOptions { keep }))
}

fn fold() -> Named {
    Named::Fold(Setting::On(FoldOptions {}))
}

fn head(room: HeadRoom) -> Named {
    Named::Head(Setting::On(HeadOptions { room }))
}
