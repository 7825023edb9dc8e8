//! What triggers look at: sizes and times as plain data. Nothing is measured here but a request.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::count::{Basis, Count, Sums as _, Tally};
use crate::request::Request;
use crate::transcript::unit::{Instructions, Unit, Units};
use crate::transcript::{Part, Transcript};

use super::cause::Demand;

/// What triggers look at. Times are handed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// Entries.
    pub items: usize,
    /// Steps, turns and calls without a result.
    pub rounds: Rounds,
    /// Tokens of the whole request, frame included. Thresholds act on the estimate ([`Measurements::size`]); the upper edge
    /// counts only against the window itself ([`When::Reserve`](super::When::Reserve), [`When::Full`](super::When::Full)).
    pub tokens: Count,
    /// Characters of what was said: texts, reasoning, arguments, results.
    pub characters: Characters,
    /// Bytes on the wire.
    pub bytes: u64,
    /// The model, as requests call it; empty where that isn't known.
    pub model: String,
    /// The model's context window, in tokens, if it is known.
    pub window: Option<u64>,
    /// Tokens that the reply may take of the window (`max_tokens` and its like); 0 if nothing says.
    pub output_reserve: u64,
    /// Time since the last request, if there was one.
    pub idle: Option<Duration>,
    /// How long the provider's cache remembers a prompt after a request, if it does.
    pub cache_ttl: Option<Duration>,
    /// What the provider reported of a prompt that this one begins with: it takes the place of the estimate for as much.
    pub reported: Option<ReportedPrompt>,
    /// The model is about to change.
    pub switch: Option<Switch>,
    /// The provider refused the last request as too large.
    pub overflow: Option<OverflowReport>,
    /// Compactions that were asked for and not made yet, oldest first.
    pub demands: Vec<Demand>,
}

/// A prompt's size, as the provider reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedPrompt {
    /// Entries of it, from the first on.
    pub entries: usize,
    /// Tokens of it, frame included.
    pub tokens: u64,
}

/// From one model's window to another's, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The window so far.
    pub from: u64,
    /// The window to come.
    pub to: u64,
}

/// What a provider's refusal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverflowReport {
    /// The window, in tokens, if the error names it.
    pub window: Option<u64>,
    /// The request's tokens, if the error names them.
    pub tokens: Option<u64>,
}

/// A number of characters (Unicode scalar values), counted when somebody asks: hardly any trigger does, and it takes a
/// look at every byte.
#[derive(Clone, Default)]
pub struct Characters {
    counted: Arc<OnceLock<u64>>,
    of: Option<Transcript>,
}

impl Characters {
    /// The characters of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        Characters { counted: Arc::default(), of: Some(transcript.clone()) }
    }

    /// How many they are.
    pub fn count(&self) -> u64 {
        *self.counted.get_or_init(|| {
            let parts = self.of.iter().flat_map(|of| of.entries().flat_map(|entry| entry.parts()));
            parts.filter(Part::says_own_words).map(|part| part.characters() as u64).sum()
        })
    }
}

impl From<u64> for Characters {
    fn from(count: u64) -> Self {
        Characters { counted: Arc::new(OnceLock::from(count)), of: None }
    }
}

impl PartialEq for Characters {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count()
    }
}

impl fmt::Debug for Characters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counted.get().fmt(f)
    }
}

/// How many steps, turns and open calls there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCount {
    /// Model calls, each with the results of its calls.
    pub steps: usize,
    /// Human messages, each with what follows it.
    pub turns: usize,
    /// Calls without a result: while there are any, what was asked for waits.
    pub open_calls: usize,
}

/// Steps, turns and open calls, counted when somebody asks: hardly any trigger does, and all calls have to be paired with
/// their results for it.
#[derive(Clone, Default)]
pub struct Rounds {
    counted: Arc<OnceLock<RoundCount>>,
    of: Option<(Transcript, Instructions)>,
}

impl Rounds {
    /// Those of a request.
    pub fn of(request: &Request) -> Self {
        let of = (request.transcript.clone(), request.format.instructions());
        Rounds { counted: Arc::default(), of: Some(of) }
    }

    /// How many they are.
    pub fn count(&self) -> RoundCount {
        *self.counted.get_or_init(|| {
            let Some((transcript, instructions)) = &self.of else { return RoundCount::default() };
            let units = Units::of(transcript, *instructions);
            let all = |is: fn(&Unit) -> bool| units.all().iter().filter(|unit| is(unit)).count();
            RoundCount {
                steps: all(|unit| unit.is_step),
                turns: all(|unit| unit.is_turn),
                open_calls: units.pairs().iter().filter(|pair| pair.result.is_none()).count(),
            }
        })
    }
}

impl From<RoundCount> for Rounds {
    fn from(count: RoundCount) -> Self {
        Rounds { counted: Arc::new(OnceLock::from(count)), of: None }
    }
}

impl PartialEq for Rounds {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count()
    }
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counted.get().fmt(f)
    }
}

impl Default for Measurements {
    fn default() -> Self {
        Measurements {
            items: 0,
            rounds: Rounds::default(),
            tokens: Count::ZERO,
            characters: Characters::default(),
            bytes: 0,
            model: String::new(),
            window: None,
            output_reserve: 0,
            idle: None,
            cache_ttl: None,
            reported: None,
            switch: None,
            overflow: None,
            demands: Vec::new(),
        }
    }
}

impl Measurements {
    /// The tokens that thresholds are compared with: the estimate. Of a sample it is the upper edge, because what a
    /// sample finds too small isn't counted again.
    pub fn size(&self) -> u64 {
        match self.tokens.basis {
            Basis::Sampled => self.tokens.upper,
            _ => self.tokens.tokens,
        }
    }

    /// The sizes of a request; the rest is for the caller to add.
    pub fn of(request: &Request, tokens: Count) -> Self {
        Measurements::default().around(request, tokens)
    }

    /// The tokens of a request that `tally` counted: as many as were [reported](Self::reported), and the estimate of the rest.
    pub fn corrected(&self, tally: &Tally) -> Count {
        let total = tally.total();
        let Some((prompt, counted)) =
            self.reported.and_then(|prompt| Some((prompt, tally.first(prompt.entries)?)))
        else {
            return total;
        };
        let tokens = prompt.tokens;
        let reported = Count { tokens, upper: tokens, basis: Basis::Reported };
        if tally.is_sampled() {
            // How far the sample of the rest may be off isn't known: as far as that of all.
            let (tokens, spare) =
                (tokens + total.tokens.saturating_sub(counted), total.upper - total.tokens);
            return Count { tokens, upper: tokens + spare, ..total };
        }
        match total.tokens.saturating_sub(counted) {
            0 => reported,
            rest => reported + total.in_kind(rest),
        }
    }

    /// The same times and circumstances, with the sizes of a request.
    #[must_use]
    pub fn around(&self, request: &Request, tokens: Count) -> Self {
        Measurements {
            items: request.transcript.len(),
            rounds: Rounds::of(request),
            tokens,
            characters: Characters::of(&request.transcript),
            bytes: request.source().len() as u64,
            output_reserve: request.format.dialect().reply_limit(request).unwrap_or(0),
            ..self.clone()
        }
    }
}
