//! What the requests of a session cost.

use epitome::model::{Billed, Model, Money};
use epitome_recordings::replay;
use serde::Serialize;

use super::history::Epoch;

/// What was spent.
#[derive(Debug, Serialize)]
pub(super) struct Spent {
    /// Whether the provider said so, or it is reckoned here, with a cache that is kept warm and without replies.
    pub(super) reported: bool,
    /// Whose prices, and of which day.
    pub(super) model: Option<String>,
    pub(super) priced: Option<String>,
    pub(super) epochs: Vec<Sum>,
    pub(super) all: Sum,
}

/// What the requests between two compactions cost.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sum {
    pub(super) requests: usize,
    #[serde(flatten)]
    pub(super) billed: Billed,
    /// In dollars; nothing where no price is known.
    pub(super) cost: Option<Money>,
}

impl Sum {
    fn add(&mut self, billed: &Billed, model: Option<&Model>) {
        let price = model.and_then(|model| model.price.as_ref());
        self.requests += 1;
        self.billed.fresh += billed.fresh;
        self.billed.read += billed.read;
        self.billed.written += billed.written;
        self.billed.written_long += billed.written_long;
        self.billed.output += billed.output;
        self.cost = price.map(|price| self.cost.unwrap_or_default() + price.of(billed));
    }
}

/// What all of it cost.
pub(super) fn spent(epochs: &[Epoch], model: Option<&Model>) -> Spent {
    let reported = epochs.iter().any(|epoch| own(epoch).next().is_some());
    let mut sums = Vec::new();
    for epoch in epochs {
        let mut sum = Sum::default();
        if reported {
            own(epoch).for_each(|billed| sum.add(&billed, model));
        } else if let Some(model) = model {
            reckoned(epoch, model).for_each(|billed| sum.add(&billed, Some(model)));
        }
        sums.push(sum);
    }
    let mut all = Sum::default();
    for sum in &sums {
        all.requests += sum.requests;
        all.billed.fresh += sum.billed.fresh;
        all.billed.read += sum.billed.read;
        all.billed.written += sum.billed.written;
        all.billed.written_long += sum.billed.written_long;
        all.billed.output += sum.billed.output;
        all.cost = match (all.cost, sum.cost) {
            (Some(all), Some(sum)) => Some(all + sum),
            (one, other) => one.or(other),
        };
    }
    let priced = model.filter(|model| model.price.is_some());
    Spent {
        reported,
        model: priced.map(|model| model.id.clone()),
        priced: priced.and_then(|model| model.date.clone()),
        epochs: sums,
        all,
    }
}

/// What the provider reported of the requests of an epoch.
fn own(epoch: &Epoch) -> impl Iterator<Item = Billed> {
    let own = epoch.reported.iter().filter(|reported| reported.reply.start >= epoch.carried);
    own.filter(|reported| reported.usage.prompt() > 0).map(|reported| Billed {
        fresh: reported.usage.input,
        read: reported.usage.cache_read,
        written: reported.usage.cache_write,
        output: reported.usage.output,
        ..Billed::default()
    })
}

/// What its requests would be billed, each finding in the cache what the one before it sent.
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
