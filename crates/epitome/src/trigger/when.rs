//! The triggers that ship, as data: from a file, a flag or code, checked by [`When::build`].

use std::fmt;
use std::time::Duration;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::Trigger;
use super::cause::{Asker, Cause, Demand};
use super::measurements::Measurements;

/// A condition under which to compact, as files and flags say it. [`When::build`] checks it.
///
/// In a file each is a name (`"overflow"`), a short form ([`When::from_str`](std::str::FromStr)), or
/// a table of one key (`{ share = 0.8 }`, `{ any = ["80%", "overflow"] }`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum When {
    /// More entries than this.
    Items(usize),
    /// More model calls than this.
    Steps(usize),
    /// More human turns than this.
    Turns(usize),
    /// At least so many tokens.
    Tokens(u64),
    /// At least so many characters.
    Characters(u64),
    /// At least so many bytes on the wire.
    Bytes(u64),
    /// At least this share of the window, from 0 to 1: tokens `>= trunc(window × share)`.
    Share(f64),
    /// More than this share of the window: tokens `> trunc(window × share)`.
    ShareAbove(f64),
    /// The upper edge of the count exceeds the window less a reply of this many tokens: `> window − reserve`. A reserve
    /// as large as the window fires always.
    Reserve(u64),
    /// The same with the reserve that the request itself asks for.
    Full,
    /// Anybody asked for it, and every call has its result.
    Asked,
    /// The host asked for it, and every call has its result.
    AskedByHost,
    /// The model asked for it, and every call has its result.
    AskedByModel,
    /// The next model's window is smaller, and at least this share of it would be filled.
    ModelSwitch(f64),
    /// The provider refused the last request as too large.
    Overflow,
    /// So many seconds or less before the provider's cache forgets the prompt, and not later.
    Idle(u64),
    /// On every call: whole compactors are asked, and decide. Without their answer, the other triggers of the same condition
    /// decide, or the default share of the window if there are none.
    Remote,
    /// Any of these, the first that fires first.
    Any(Vec<When>),
    /// All of these.
    All(Vec<When>),
}

impl Default for When {
    /// Eight tenths of the window.
    fn default() -> Self {
        When::Share(When::DEFAULT_SHARE)
    }
}

impl When {
    /// The share of the window at which to compact unless something else is said.
    pub const DEFAULT_SHARE: f64 = 0.8;
    /// Seconds before the cache forgets, unless something else is said: time for one summary.
    pub const DEFAULT_LEAD: u64 = 30;

    /// The trigger.
    ///
    /// # Errors
    /// A share outside 0 to 1, no steps or turns, or a list of nothing: a setting out of range never means "off".
    pub fn build(self) -> Result<Condition, TriggerError> {
        self.check()?;
        Ok(Condition(self))
    }

    fn check(&self) -> Result<(), TriggerError> {
        let share = |option: &'static str, share: f64| {
            let is_share = (0.0..=1.0).contains(&share);
            if is_share { Ok(()) } else { Err(TriggerError::Share { option, share }) }
        };
        let list = |option: &'static str, list: &[When]| match list {
            [] => Err(TriggerError::Empty { option }),
            list => list.iter().try_for_each(When::check),
        };
        match self {
            When::Share(given) => share("share", *given),
            When::ShareAbove(given) => share("share-above", *given),
            When::ModelSwitch(given) => share("model-switch", *given),
            When::Any(given) => list("any", given),
            When::All(given) => list("all", given),
            When::Steps(0) => Err(TriggerError::Zero { option: "steps" }),
            When::Turns(0) => Err(TriggerError::Zero { option: "turns" }),
            _ => Ok(()),
        }
    }

    /// The same without [`When::Remote`]; `None` if nothing else is left.
    fn alone(&self) -> Option<When> {
        let each = |list: &[When]| list.iter().filter_map(When::alone).collect::<Vec<_>>();
        match self {
            When::Remote => None,
            When::Any(list) => Some(each(list)).filter(|left| !left.is_empty()).map(When::Any),
            When::All(list) => Some(each(list)).filter(|left| !left.is_empty()).map(When::All),
            when => Some(when.clone()),
        }
    }

    /// Whether it can't be told without the model's window.
    pub fn needs_window(&self) -> bool {
        match self {
            When::Share(_) | When::ShareAbove(_) | When::Reserve(_) | When::Full => true,
            When::Any(list) | When::All(list) => list.iter().any(When::needs_window),
            _ => false,
        }
    }

    /// Whether a single request can make it fire. A provider's reports, demands and times need a session.
    pub fn is_of_one_request(&self) -> bool {
        match self {
            When::Overflow
            | When::Idle(_)
            | When::ModelSwitch(_)
            | When::Asked
            | When::AskedByHost
            | When::AskedByModel => false,
            When::Any(list) => list.iter().any(When::is_of_one_request),
            When::All(list) => list.iter().all(When::is_of_one_request),
            _ => true,
        }
    }
}

/// What isn't a trigger.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TriggerError {
    /// A share of the window outside 0 to 1.
    #[error("trigger `{option}`: {share} is out of range: a share from 0 to 1")]
    Share {
        /// The option.
        option: &'static str,
        /// What was given.
        share: f64,
    },
    /// A number of steps or turns that every session has.
    #[error("trigger `{option}`: 0 is out of range: 1 or more")]
    Zero {
        /// The option.
        option: &'static str,
    },
    /// A list of nothing.
    #[error("trigger `{option}`: the list is empty")]
    Empty {
        /// The option.
        option: &'static str,
    },
    /// A short form that can't be read.
    #[error("`{text}` isn't a trigger: {expected}")]
    Unknown {
        /// What was given.
        text: String,
        /// What would have been right.
        expected: &'static str,
    },
}

/// A trigger that was checked: [`When::build`] makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "When", into = "When")]
pub struct Condition(When);

impl Condition {
    /// What it was made from.
    pub fn when(&self) -> &When {
        &self.0
    }
}

impl From<Condition> for When {
    fn from(condition: Condition) -> Self {
        condition.0
    }
}

impl TryFrom<When> for Condition {
    type Error = TriggerError;

    fn try_from(when: When) -> Result<Self, TriggerError> {
        when.build()
    }
}

impl Trigger for Condition {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        fires(&self.0, measurements)
    }

    fn fires_alone(&self, measurements: &Measurements) -> Option<Cause> {
        fires(&self.0.alone().unwrap_or_default(), measurements)
    }

    fn decides_alone(&self) -> bool {
        self.0.alone().is_some()
    }
}

fn fires(when: &When, measurements: &Measurements) -> Option<Cause> {
    let tokens = measurements.size();
    let share = |share: f64, window: u64| (window as f64 * share).trunc() as u64;
    let window = |limit: u64, window: u64| Cause::Window { tokens, limit, window };
    match *when {
        When::Items(most) => {
            let items = measurements.items;
            (items > most).then_some(Cause::Items { items, most })
        }
        When::Steps(most) => {
            let steps = measurements.rounds.count().steps;
            (steps > most).then_some(Cause::Steps { steps, most })
        }
        When::Turns(most) => {
            let turns = measurements.rounds.count().turns;
            (turns > most).then_some(Cause::Turns { turns, most })
        }
        When::Tokens(limit) => (tokens >= limit).then_some(Cause::Tokens { tokens, limit }),
        When::Characters(limit) => {
            let characters = measurements.characters.count();
            (characters >= limit).then_some(Cause::Characters { characters, limit })
        }
        When::Bytes(limit) => {
            let bytes = measurements.bytes;
            (bytes >= limit).then_some(Cause::Bytes { bytes, limit })
        }
        When::Share(of) => measurements.window.and_then(|all| {
            let limit = share(of, all);
            (tokens >= limit).then(|| window(limit, all))
        }),
        When::ShareAbove(of) => measurements.window.and_then(|all| {
            let limit = share(of, all);
            (tokens > limit).then(|| window(limit, all))
        }),
        When::Reserve(reserve) => beside(reserve, measurements),
        When::Full => beside(measurements.output_reserve, measurements),
        When::Asked => asked(measurements, |_| true),
        When::AskedByHost => asked(measurements, |by| by == Asker::Host),
        When::AskedByModel => asked(measurements, |by| by == Asker::Model),
        When::ModelSwitch(of) => measurements.switch.and_then(|switch| {
            let fires = switch.to < switch.from && tokens >= share(of, switch.to);
            fires.then_some(Cause::Switch { tokens, from: switch.from, to: switch.to })
        }),
        When::Overflow => measurements.overflow.map(|told| Cause::Overflow { window: told.window }),
        When::Idle(lead) => {
            let (idle, ttl) = measurements.idle.zip(measurements.cache_ttl)?;
            let left = ttl.checked_sub(idle).filter(|left| !left.is_zero())?;
            (left <= Duration::from_secs(lead))
                .then_some(Cause::Idle { idle: idle.as_secs(), left: left.as_secs() })
        }
        When::Remote => Some(Cause::Remote),
        When::Any(ref list) => list.iter().find_map(|when| fires(when, measurements)),
        When::All(ref list) => {
            let causes: Option<Vec<Cause>> =
                list.iter().map(|when| fires(when, measurements)).collect();
            Cause::all(causes?)
        }
    }
}

/// A request that, with a reply of `reserve` tokens, may not fit in the window any more: here the upper edge of the count
/// decides, because the provider refuses what is larger. What fits exactly does.
fn beside(reserve: u64, measurements: &Measurements) -> Option<Cause> {
    let window = measurements.window?;
    let limit = window.saturating_sub(reserve);
    let tokens = measurements.tokens.upper;
    (tokens > limit || reserve >= window).then_some(Cause::Window { tokens, limit, window })
}

/// What was asked for by these, at a safe point: every call has its result.
pub(crate) fn asked(measurements: &Measurements, by: impl Fn(Asker) -> bool) -> Option<Cause> {
    let due: Vec<Demand> = measurements.demands.iter().filter(|d| by(d.by)).cloned().collect();
    (!due.is_empty() && measurements.rounds.count().open_calls == 0).then_some(Cause::Asked(due))
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        When::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WhenVisitor;
        impl<'de> Visitor<'de> for WhenVisitor {
            type Value = When;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a trigger: a name, a short form, or a table of one key")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<When, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<When, A::Error> {
                let when = When::deserialize(MapAccessDeserializer::new(&mut map))?;
                match map.next_key::<String>()? {
                    None => Ok(when),
                    Some(key) => {
                        map.next_value::<IgnoredAny>()?;
                        let why = "one trigger a table; `any` or `all` of several";
                        Err(A::Error::custom(format!("`{key}` is one too many: {why}")))
                    }
                }
            }
        }
        from.deserialize_any(WhenVisitor)
    }
}

/// The variant of a name, as files spell it.
pub(super) fn named(name: &str) -> Option<When> {
    When::deserialize(StrDeserializer::<serde::de::value::Error>::new(name)).ok()
}
