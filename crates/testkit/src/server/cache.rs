//! The provider's prompt cache: exact prefixes, markers, minimum sizes, time to live (PROVIDERS.md B.1.6, B.2.4, B.4).
//!
//! Requests are served one after the other, so an entry can always be used by the next one. The clock is handed in.

use std::collections::HashMap;
use std::time::Duration;

use super::Api;
use super::digest::{self, Digest};
use super::models::{Model, Price, Trait};
use super::prompt::{Prompt, Ttl};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// How many elements a marker looks back, itself included (Anthropic).
const LOOKBACK: usize = 20;
/// How many breakpoints are considered (GPT-5.6 and later).
const BREAKPOINTS: usize = 80;

/// What a request used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt, cached or not.
    pub prompt: u64,
    /// Of it, read from the cache.
    pub read: u64,
    /// Of it, written for the short time to live.
    pub write: u64,
    /// Of it, written for the long one.
    pub write_long: u64,
    /// The answer, reasoning included.
    pub output: u64,
    /// Of it, reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Of the prompt, neither read nor written.
    pub fn plain(&self) -> u64 {
        self.prompt - self.read - self.write - self.write_long
    }

    /// US dollars.
    pub fn cost(&self, price: &Price) -> f64 {
        let (mut input, mut output) = (price.input, price.output);
        if let Some((above, more_in, more_out)) = price.cliff
            && self.prompt > above
        {
            input *= more_in;
            output *= more_out;
        }
        let units = self.plain() as f64
            + self.read as f64 * price.read
            + self.write as f64 * price.write
            + self.write_long as f64 * price.write_long;
        (units * input + self.output as f64 * output) / 1e6
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ttl: Ttl,
    until: Duration,
    written: Duration,
}

/// All cached prefixes.
#[derive(Clone, Debug, Default)]
pub struct PromptCache {
    entries: HashMap<(Digest, Digest), Entry>,
}

/// How a provider caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Only at markers, and read only near them.
    Marked,
    /// At markers, read however far back.
    Breakpoints,
    /// Every prefix, by itself and for nothing.
    Automatic,
}

impl PromptCache {
    /// Reads and writes what a prompt reads and writes at `now`.
    pub fn serve(
        &mut self,
        api: Api,
        who: &str,
        model: &Model,
        prompt: &Prompt,
        now: Duration,
    ) -> Usage {
        let manner = match api {
            Api::Anthropic | Api::Converse => Manner::Marked,
            _ if model.has(Trait::WriteFee) => Manner::Breakpoints,
            _ => Manner::Automatic,
        };
        let scope = digest::of_text(&format!("{who} {api} {}", model.name));
        self.entries.retain(|_, entry| entry.until > now);
        let ends: Vec<u64> = prompt
            .elements
            .iter()
            .scan(0, |sum, element| {
                *sum += element.tokens;
                Some(*sum)
            })
            .collect();
        let at = |n: usize| (scope, prompt.elements[n].prefix);
        let hit =
            candidates(manner, prompt).into_iter().find(|n| self.entries.contains_key(&at(*n)));
        let mut usage = Usage { prompt: prompt.tokens(), ..Usage::default() };
        if let Some(n) = hit {
            usage.read = ends[n];
            let entry = self.entries.get_mut(&at(n)).expect("it was found");
            entry.until = now + life(api, model, entry.ttl);
        }
        let mut written = usage.read;
        for (n, element) in prompt.elements.iter().enumerate() {
            let Some(ttl) = element.mark.or((manner == Manner::Automatic).then_some(Ttl::Short))
            else {
                continue;
            };
            if ends[n] < model.min_cached {
                continue;
            }
            if ends[n] > written {
                match ttl {
                    _ if manner == Manner::Automatic => {}
                    Ttl::Short => usage.write += ends[n] - written,
                    Ttl::Long => usage.write_long += ends[n] - written,
                }
                written = ends[n];
            }
            let until = now + life(api, model, ttl);
            self.entries.insert(at(n), Entry { ttl, until, written: now });
        }
        if manner == Manner::Breakpoints {
            self.forget(scope);
        }
        usage
    }

    /// Only the latest breakpoints of a scope are considered.
    fn forget(&mut self, scope: Digest) {
        let mut written: Vec<(Duration, Digest)> = self
            .entries
            .iter()
            .filter(|((of, _), _)| *of == scope)
            .map(|((_, at), e)| (e.written, *at))
            .collect();
        written.sort_unstable_by(|a, b| b.cmp(a));
        for (_, at) in written.into_iter().skip(BREAKPOINTS) {
            self.entries.remove(&(scope, at));
        }
    }
}

/// Where a cached prefix may end, the longest first.
fn candidates(manner: Manner, prompt: &Prompt) -> Vec<usize> {
    let len = prompt.elements.len();
    if manner != Manner::Marked {
        return (0..len).rev().collect();
    }
    let marks = (0..len).rev().filter(|n| prompt.elements[*n].mark.is_some());
    let mut near: Vec<usize> = marks.flat_map(|n| (n + 1).saturating_sub(LOOKBACK)..=n).collect();
    near.sort_unstable_by(|a, b| b.cmp(a));
    near.dedup();
    near
}

/// Times to live. Of automatic caching OpenAI says five to ten minutes, Google nothing.
fn life(api: Api, model: &Model, ttl: Ttl) -> Duration {
    Duration::from_secs(match (api, ttl) {
        (Api::Anthropic | Api::Converse, Ttl::Short) => 5 * MINUTE,
        (Api::Anthropic | Api::Converse, Ttl::Long) => HOUR,
        _ if !model.has(Trait::WriteFee) => 10 * MINUTE,
        (_, Ttl::Short) => 30 * MINUTE,
        (_, Ttl::Long) => 12 * HOUR,
    })
}
