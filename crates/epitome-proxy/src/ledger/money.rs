//! What the prompts of a conversation cost, and what they would have cost uncompacted.

use epitome::model::{Billed, Model, Money, Registry};

/// What prompts cost, as far as their model's prices are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reckoning {
    /// Prompts for which the provider reported the billed tokens.
    pub(crate) measured: u64,
    /// By the provider's counts.
    pub(crate) paid: Money,
    /// Of that, writes to the cache.
    pub(crate) writes: Money,
    /// What the same prompts would have cost as they came; an estimate.
    pub(crate) without: Money,
}

/// A prompt that went out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Estimated tokens, as it came and as it was sent.
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The one before it, as it came.
    pub(crate) last: u64,
    /// Whether it is the first that shows a compaction, so that the cache holds only its beginning.
    pub(crate) is_break: bool,
}

impl Reckoning {
    /// Adds a prompt, and what the provider bills for it.
    pub(crate) fn add(&mut self, model: &str, prompt: &Prompt, billed: &Billed) {
        let Some(model) = Registry::built_in().get(model) else { return };
        let Some((paid, writes)) = paid(model, billed) else { return };
        // The provider's tokens for the proxy's.
        let scaled = |tokens: u64| match prompt.after {
            0 => tokens,
            after => (u128::from(tokens) * u128::from(billed.prompt()) / u128::from(after)) as u64,
        };
        // A cache that was warm would have been so without the break.
        let is_warm = billed.read > 0 || prompt.is_break;
        let known = if is_warm { scaled(prompt.last.min(prompt.before)) } else { 0 };
        let Some(without) = model.prompt_cost(scaled(prompt.before), known) else { return };
        self.measured += 1;
        self.paid += paid;
        self.writes += writes;
        self.without += if prompt.before == prompt.after { paid } else { without };
    }

    /// Adds a round in which the model recalled: uncompacted there would have been none.
    pub(crate) fn add_recall(&mut self, model: &str, billed: &Billed) {
        let priced = Registry::built_in().get(model).and_then(|model| paid(model, billed));
        let Some((paid, writes)) = priced else { return };
        self.measured += 1;
        self.paid += paid;
        self.writes += writes;
    }

    pub(crate) fn add_all(&mut self, other: &Reckoning) {
        self.measured += other.measured;
        self.paid += other.paid;
        self.writes += other.writes;
        self.without += other.without;
    }

    /// What compacting saved, in dollars; negative where the writes cost more.
    pub(crate) fn net(&self) -> f64 {
        self.without.dollars() - self.paid.dollars()
    }
}

/// What a prompt costs, and what of that is for writes.
fn paid(model: &Model, billed: &Billed) -> Option<(Money, Money)> {
    let price = model.price.as_ref()?;
    let rates = price.rates(billed.prompt());
    let writes = rates.write.of(billed.written) + rates.write_long.of(billed.written_long);
    Some((price.of(&Billed { output: 0, ..*billed }), writes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "claude-opus-5-5";

    #[test]
    fn a_break_costs_and_what_follows_saves() {
        let mut money = Reckoning::default();
        let same = Prompt { before: 150_000, after: 150_000, last: 149_000, is_break: false };
        money.add(
            MODEL,
            &same,
            &Billed { fresh: 10, read: 149_000, written: 990, ..Billed::default() },
        );
        assert!(money.net().abs() < 1e-9 && money.paid > Money::ZERO);
        let broken = Prompt { before: 151_000, after: 60_000, last: 150_000, is_break: true };
        money.add(
            MODEL,
            &broken,
            &Billed { fresh: 10, read: 5_000, written: 54_990, ..Billed::default() },
        );
        assert!(money.net() < 0.0, "{money:?}");
        for n in 0..20 {
            let later = Prompt {
                before: 152_000 + n,
                after: 61_000 + n,
                last: 151_000 + n,
                is_break: false,
            };
            money.add(
                MODEL,
                &later,
                &Billed { fresh: 10, read: 60_000, written: 990, ..Billed::default() },
            );
        }
        assert!(money.net() > 0.0 && money.measured == 22, "{money:?}");
        money.add("nobody knows it", &same, &Billed { fresh: 10, ..Billed::default() });
        assert_eq!(money.measured, 22);
    }
}
