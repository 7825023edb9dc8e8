//! What the requests of a session cost.

use epitome::model::{Billed, Model, Money, Price, Registry};
use epitome_recordings::{Reported, replay};
use serde::Serialize;

use super::history::Epoch;
use crate::billing::billed;

/// What was spent.
#[derive(Debug, Serialize)]
pub(super) struct Spent {
    /// Whether the provider counted the tokens, or they are reckoned here, with a cache that is kept warm and
    /// without replies.
    pub(super) reported: bool,
    /// Whose prices.
    pub(super) models: Vec<Priced>,
    /// Requests before the compactions that are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) earlier: Option<Sum>,
    pub(super) epochs: Vec<Sum>,
    pub(super) all: Sum,
}

/// A model whose prices are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Priced {
    pub(super) model: String,
    /// The day of its prices.
    pub(super) date: Option<String>,
}

/// What some requests cost.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sum {
    pub(super) requests: usize,
    #[serde(flatten)]
    pub(super) billed: Billed,
    /// In dollars; nothing where no price is known.
    pub(super) cost: Option<Money>,
    /// Requests to models whose price isn't known: they aren't in the cost.
    pub(super) unpriced: usize,
}

impl Sum {
    fn add(&mut self, billed: &Billed, price: Option<&Price>) {
        let cost = price.map(|price| price.of(billed));
        let unpriced = usize::from(cost.is_none());
        *self = self.with(Sum { requests: 1, billed: *billed, cost, unpriced });
    }

    /// Both; counts that nobody can have counted stay at the most that there is.
    fn with(self, other: Sum) -> Sum {
        let (one, two) = (self.billed, other.billed);
        Sum {
            requests: self.requests + other.requests,
            billed: Billed {
                fresh: one.fresh.saturating_add(two.fresh),
                read: one.read.saturating_add(two.read),
                written: one.written.saturating_add(two.written),
                written_long: one.written_long.saturating_add(two.written_long),
                output: one.output.saturating_add(two.output),
            },
            cost: match (self.cost, other.cost) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            },
            unpriced: self.unpriced + other.unpriced,
        }
    }
}

/// By whose prices requests are billed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices<'a> {
    pub(super) registry: &'a Registry,
    /// The model by which all are billed, if the user named one.
    pub(super) named: Option<&'a Model>,
    /// The model for requests whose own model the recording doesn't name.
    pub(super) newest: Option<&'a Model>,
}

impl<'a> Prices<'a> {
    fn of(&self, reported: &Reported) -> Option<&'a Model> {
        let own = || match &reported.model {
            Some(model) => self.registry.get(model),
            None => self.newest,
        };
        self.named.or_else(own)
    }
}

/// What all of it cost: the epochs, and what was reported before them.
pub(super) fn spent(epochs: &[Epoch], earlier: &[Reported], prices: Prices<'_>) -> Spent {
    let reported =
        epochs.iter().any(|epoch| own(epoch).next().is_some()) || earlier.iter().any(is_counted);
    let mut models: Vec<Priced> = Vec::new();
    let mut add = |sum: &mut Sum, billed: &Billed, model: Option<&Model>| {
        let known = model.and_then(|model| Some((model, model.price.as_ref()?)));
        sum.add(billed, known.map(|(_, price)| price));
        if let Some((model, _)) = known {
            let named = Priced { model: model.id.clone(), date: model.date.clone() };
            if !models.contains(&named) {
                models.push(named);
            }
        }
    };
    let mut before = Sum::default();
    for one in earlier.iter().filter(|one| is_counted(one)) {
        add(&mut before, &billed(one), prices.of(one));
    }
    let mut sums = Vec::new();
    for epoch in epochs {
        let mut sum = Sum::default();
        if reported {
            own(epoch).for_each(|one| add(&mut sum, &billed(one), prices.of(one)));
        } else if let Some(model) = prices.named.or(prices.newest) {
            reckoned(epoch, model).for_each(|billed| add(&mut sum, &billed, Some(model)));
        }
        sums.push(sum);
    }
    let all = sums.iter().fold(before, |all, sum| all.with(*sum));
    let earlier = (before.requests > 0).then_some(before);
    Spent { reported, models, earlier, epochs: sums, all }
}

/// What the provider reported of the requests of an epoch.
fn own(epoch: &Epoch) -> impl Iterator<Item = &Reported> {
    let own = epoch.reported.iter().filter(|reported| reported.reply.start >= epoch.carried);
    own.filter(|reported| is_counted(reported))
}

fn is_counted(reported: &Reported) -> bool {
    reported.usage.prompt() > 0
}

/// The cost of its requests, each with the one before it in the cache.
fn reckoned(epoch: &Epoch, model: &Model) -> impl Iterator<Item = Billed> {
    let frame = epoch.tally.frame.total().tokens;
    let mut sums = vec![frame];
    for at in 0..epoch.request.transcript.len() {
        sums.push(sums[at] + epoch.tally.entry(at));
    }
    let mut known = 0;
    let calls = replay::requests(&epoch.request).into_iter();
    calls.filter(|entries| *entries >= epoch.carried.max(1)).map(move |entries| {
        let prompt = sums[entries];
        let billed = model.bill(prompt, known);
        known = prompt;
        billed
    })
}
