//! The cost of a request, and when a rewrite pays off.
//!
//! Only prompts are counted: replies cost about the same with and without a compaction.

use serde::{Deserialize, Serialize};

use super::cache::Life;
use super::entry::{Billed, Model};
use super::money::Money;

/// The form of [`Cost`]; it changes when a field changes its meaning or leaves.
pub const COST_VERSION: u32 = 1;

/// A prompt that is rewritten. In tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// The whole prompt.
    pub before: u64,
    /// The prompt as it will be.
    pub after: u64,
    /// Of these, the tokens before the first change, which a cache may hold.
    pub kept: u64,
    /// What making the summary costs; nothing without a model.
    pub summary: Money,
}

/// What one prompt costs, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Without any of it in the cache, all of it is written.
    pub cold: Money,
    /// With all of it in the cache.
    pub warm: Money,
}

/// The cost and the savings of a rewrite, in dollars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// [`COST_VERSION`].
    pub version: u32,
    /// The model, by its vendor's id.
    pub model: String,
    /// Where the prices are from.
    pub source: String,
    /// The day of the source.
    pub date: Option<String>,
    /// The request before.
    pub before: Prompt,
    /// The request after.
    pub after: Prompt,
    /// The first request after the rewrite, if the cache was warm.
    pub rewrite: Money,
    /// The summary.
    pub summary: Money,
    /// What every later request saves, from a warm cache.
    pub saved: Money,
    /// How many such requests earn back the rewrite and the summary, in hundredths; `None` if they never do.
    pub break_even: Option<f64>,
    /// The prompt length above which all of a request costs more, if the rewrite gets under it.
    pub cliff: Option<u64>,
}

impl Model {
    /// How a prompt is billed when the cache holds `known` of its tokens.
    pub fn bill(&self, prompt: u64, known: u64) -> Billed {
        match &self.cache {
            Some(cache) => cache.bill(prompt, known, Life::Short),
            None => Billed { fresh: prompt, ..Billed::default() },
        }
    }

    /// The cost of a prompt when the cache holds `known` of its tokens.
    pub fn prompt_cost(&self, prompt: u64, known: u64) -> Option<Money> {
        Some(self.price.as_ref()?.of(&self.bill(prompt, known)))
    }

    /// The cost of a call that summarizes a conversation of `prompt` tokens, of which the cache holds `known`, in
    /// `reply` tokens.
    pub fn summary_cost(&self, prompt: u64, known: u64, reply: u64) -> Option<Money> {
        let billed = Billed { output: reply, ..self.bill(prompt, known) };
        Some(self.price.as_ref()?.of(&billed))
    }

    /// The cost and the savings of a rewrite; `None` without known prices.
    pub fn cost(&self, rewrite: &Rewrite) -> Option<Cost> {
        let prompt = |tokens: u64| {
            let cold = self.prompt_cost(tokens, 0)?;
            Some(Prompt { cold, warm: self.prompt_cost(tokens, tokens)? })
        };
        let (before, after) = (prompt(rewrite.before)?, prompt(rewrite.after)?);
        let first = self.prompt_cost(rewrite.after, rewrite.kept)?;
        let saved = before.warm.less(after.warm);
        let cliffs = &self.price.as_ref()?.above;
        Some(Cost {
            version: COST_VERSION,
            model: self.id.clone(),
            source: self.source.clone(),
            date: self.date.clone(),
            before,
            after,
            rewrite: first,
            summary: rewrite.summary,
            saved,
            break_even: requests(first + rewrite.summary, saved),
            cliff: cliffs
                .iter()
                .map(|cliff| cliff.tokens)
                .find(|tokens| rewrite.before > *tokens && rewrite.after <= *tokens),
        })
    }
}

impl Cost {
    /// Whether the next request is cheaper at once, the cache being cold.
    pub fn pays_at_once(&self) -> bool {
        self.summary + self.after.cold < self.before.cold
    }
}

/// How often `saved` goes into `once`, to hundredths.
fn requests(once: Money, saved: Money) -> Option<f64> {
    let (once, saved) = (u128::from(once.pico), u128::from(saved.pico));
    (saved > 0).then(|| ((once * 100 + saved / 2) / saved) as f64 / 100.0)
}
