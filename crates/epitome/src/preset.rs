//! How known systems compact, said in Epitome's terms: when they act, and what they leave.
//!
//! The laws hold for them as for anything else: pairs stay whole, the task and the newest human message stay,
//! what is folded is quoted and can be had back. Where that differs from the system, it is on purpose:
//! docs/parity.md says where, and its tests that it is so.

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

/// A system's trigger and what it does then.
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
    /// What was given.
    pub name: String,
}

/// Characters at which entelix's own example compacts.
const ENTELIX_CHARACTERS: u64 = 8_192;
/// Tokens that docker agent keeps of the tail at the most.
const DOCKER_TAIL: u64 = 20_000;

impl Preset {
    /// The preset of this name, for a model with a window of so many tokens.
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

    /// All of them, for a model with a window of so many tokens.
    pub fn all(window: Option<u64>) -> impl Iterator<Item = Preset> {
        NAMES.into_iter().map(move |name| Preset::named(name, window).expect("its own name"))
    }
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
