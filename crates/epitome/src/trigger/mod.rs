//! When to act: a trigger looks at [`Measurements`] and says why it fires, or nothing.
//!
//! ```
//! use epitome::trigger::{Any, Cause, Measurements, Trigger, When};
//!
//! let full = When::Share(0.8).build()?;
//! let nightly = |measurements: &Measurements| (measurements.items > 400).then(|| Cause::Custom("nightly".into()));
//! let either = Any::of([full.boxed(), nightly.boxed()]);
//! let measurements = Measurements { items: 401, window: Some(200_000), ..Measurements::default() };
//! assert_eq!(either.fires(&measurements), Some(Cause::Custom("nightly".into())));
//! # Ok::<(), epitome::trigger::TriggerError>(())
//! ```

mod cause;
mod measurements;
mod parse;
mod when;

use std::fmt;
use std::sync::Arc;

pub use cause::{Asker, Cause, Demand};
pub use measurements::{
    Characters, Measurements, OverflowReport, ReportedPrompt, RoundCount, Rounds, Switch,
};
pub(crate) use when::asked;
pub use when::{Condition, TriggerError, When};

/// Decides when to act. Closures of the same shape are triggers too.
pub trait Trigger: Send + Sync {
    /// Why it is time to compact; `None` while it isn't.
    fn fires(&self, measurements: &Measurements) -> Option<Cause>;

    /// Why it would be time without the compactors that are asked on every call: what holds when none of them answers.
    fn fires_alone(&self, measurements: &Measurements) -> Option<Cause> {
        self.fires(measurements).filter(|cause| !cause.is_remote())
    }

    /// Whether it decides when to compact without those compactors. A trigger that only asks them doesn't, and leaves
    /// the decision to its siblings.
    fn decides_alone(&self) -> bool {
        true
    }

    /// The trigger on the heap, to stand in a list with others.
    fn boxed(self) -> Arc<dyn Trigger>
    where
        Self: Sized + 'static,
    {
        Arc::new(self)
    }
}

impl<F> Trigger for F
where
    F: Fn(&Measurements) -> Option<Cause> + Send + Sync,
{
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        self(measurements)
    }
}

impl Trigger for Arc<dyn Trigger> {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        self.as_ref().fires(measurements)
    }

    fn fires_alone(&self, measurements: &Measurements) -> Option<Cause> {
        self.as_ref().fires_alone(measurements)
    }

    fn decides_alone(&self) -> bool {
        self.as_ref().decides_alone()
    }
}

impl fmt::Debug for dyn Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trigger")
    }
}

/// Fires when any of its triggers does, for the first one's cause. An empty list never fires.
#[derive(Clone, Debug, Default)]
pub struct Any(Vec<Arc<dyn Trigger>>);

impl Any {
    /// Any of these, the first that fires first.
    pub fn of(triggers: impl IntoIterator<Item = Arc<dyn Trigger>>) -> Self {
        Any(triggers.into_iter().collect())
    }
}

impl Trigger for Any {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        self.0.iter().find_map(|trigger| trigger.fires(measurements))
    }

    fn fires_alone(&self, measurements: &Measurements) -> Option<Cause> {
        let is_left = self.decides_alone();
        let left = self.0.iter().filter(|trigger| trigger.decides_alone() || !is_left);
        left.into_iter().find_map(|trigger| trigger.fires_alone(measurements))
    }

    fn decides_alone(&self) -> bool {
        self.0.iter().any(Trigger::decides_alone)
    }
}

/// Fires when all of its triggers do, for all of their causes. An empty list never fires.
#[derive(Clone, Debug, Default)]
pub struct All(Vec<Arc<dyn Trigger>>);

impl All {
    /// All of these.
    pub fn of(triggers: impl IntoIterator<Item = Arc<dyn Trigger>>) -> Self {
        All(triggers.into_iter().collect())
    }
}

impl Trigger for All {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        let causes: Option<Vec<Cause>> =
            self.0.iter().map(|trigger| trigger.fires(measurements)).collect();
        Cause::all(causes?)
    }

    fn fires_alone(&self, measurements: &Measurements) -> Option<Cause> {
        let fired = self.0.iter().map(|trigger| Some((trigger, trigger.fires(measurements)?)));
        let fired: Option<Vec<_>> = fired.collect();
        // One that only asks others says nothing of what is done without them.
        let is_left = self.decides_alone();
        let left = fired?.into_iter().filter(|(trigger, _)| trigger.decides_alone() || !is_left);
        let alone = left.map(|(trigger, cause)| {
            if cause.is_remote() { trigger.fires_alone(measurements) } else { Some(cause) }
        });
        Cause::all(alone.collect::<Option<Vec<_>>>()?)
    }

    fn decides_alone(&self) -> bool {
        self.0.iter().any(Trigger::decides_alone)
    }
}
