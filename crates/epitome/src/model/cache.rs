//! The rules of a provider's prompt cache (PROVIDERS.md B.1.6, B.2.4, B.4).
//!
//! A cache holds prefixes. It is read up to the end of the longest prefix that it shares with the prompt, and is
//! written up to the last mark, or to the end without marks.

use super::entry::{Billed, Cache, Scheme};

/// How long an entry that is written shall live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Life {
    /// The shorter time: 5 minutes at Anthropic, 30 at OpenAI.
    #[default]
    Short,
    /// The longer time, for a higher price: 1 hour at Anthropic, 12 at OpenAI.
    Long,
}

/// A place that the client marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How many blocks stand before it.
    pub after: usize,
    /// How long what stands before it shall live.
    pub life: Life,
}

/// A prompt as a cache sees it.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The tokens of each block: tools, system and contents, in the order that the provider reads them.
    pub blocks: &'a [u64],
    /// The marked blocks, from the front.
    pub marks: &'a [Mark],
}

impl Layout<'_> {
    fn tokens(&self, blocks: usize) -> u64 {
        self.blocks[..blocks.min(self.blocks.len())].iter().sum()
    }
}

impl Cache {
    /// How a prompt of `prompt` tokens is billed if the cache holds its first `known` tokens, and its end
    /// is marked for `life`. What can be read can't be known better without the blocks: see
    /// [`Cache::bill_blocks`].
    pub fn bill(&self, prompt: u64, known: u64, life: Life) -> Billed {
        let known = known.min(prompt);
        let blocks = [known, prompt - known];
        let marks = [Mark { after: 2, life }];
        self.bill_blocks(&Layout { blocks: &blocks, marks: &marks }, &[1])
    }

    /// How a prompt is billed. `held` are the prefixes that the cache holds, each by its number of blocks;
    /// those that the prompt doesn't begin with must not be among them.
    pub fn bill_blocks(&self, layout: &Layout<'_>, held: &[usize]) -> Billed {
        let total = layout.tokens(layout.blocks.len());
        let is_long_enough = |blocks: usize| {
            let tokens = layout.tokens(blocks);
            tokens > 0 && tokens >= self.minimum
        };
        let end = [Mark { after: layout.blocks.len(), life: Life::Short }];
        let marks: &[Mark] = match self.scheme {
            Scheme::Marked => layout.marks,
            Scheme::Open if !layout.marks.is_empty() => layout.marks,
            Scheme::Open | Scheme::Automatic => &end,
        };
        let most = self.breakpoints.map_or(usize::MAX, |most| most as usize);
        let marks = &marks[marks.len().saturating_sub(most)..];

        let reachable = |blocks: usize| match self.lookback {
            _ if self.scheme != Scheme::Marked => true,
            None => marks.iter().any(|mark| blocks <= mark.after),
            Some(back) => {
                marks.iter().any(|mark| blocks <= mark.after && mark.after - blocks < back as usize)
            }
        };
        let read = held
            .iter()
            .filter(|blocks| is_long_enough(**blocks) && reachable(**blocks))
            .map(|blocks| layout.tokens(*blocks))
            .max()
            .unwrap_or(0);

        let mut billed = Billed { read, ..Billed::default() };
        if self.scheme != Scheme::Automatic {
            let mut from = read;
            for mark in marks.iter().filter(|mark| is_long_enough(mark.after)) {
                let to = layout.tokens(mark.after).max(from);
                match mark.life {
                    Life::Short => billed.written += to - from,
                    Life::Long => billed.written_long += to - from,
                }
                from = to;
            }
        }
        billed.fresh = total - billed.read - billed.written - billed.written_long;
        billed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANTHROPIC: Cache = Cache {
        scheme: Scheme::Marked,
        minimum: 1024,
        ttl: Some(300),
        ttl_long: Some(3600),
        breakpoints: Some(4),
        lookback: Some(20),
    };
    const OPENAI: Cache = Cache {
        scheme: Scheme::Open,
        minimum: 1024,
        ttl: Some(1800),
        ttl_long: Some(43_200),
        breakpoints: Some(4),
        lookback: None,
    };
    const OLDER: Cache =
        Cache { scheme: Scheme::Automatic, ttl_long: None, breakpoints: None, ..OPENAI };

    fn short(after: usize) -> Mark {
        Mark { after, life: Life::Short }
    }

    /// `fresh`, `read`, `written`, `written_long`.
    fn bill(cache: Cache, blocks: &[u64], marks: &[Mark], held: &[usize]) -> [u64; 4] {
        let billed = cache.bill_blocks(&Layout { blocks, marks }, held);
        assert_eq!(billed.prompt(), blocks.iter().sum::<u64>(), "nothing is lost");
        [billed.fresh, billed.read, billed.written, billed.written_long]
    }

    #[test]
    fn only_what_is_marked_gets_in() {
        let blocks = [2000, 500, 500];
        assert_eq!(bill(ANTHROPIC, &blocks, &[], &[1]), [3000, 0, 0, 0]);
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(1)], &[]), [1000, 0, 2000, 0]);
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(1)], &[1]), [1000, 2000, 0, 0]);
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(1), short(3)], &[1]), [0, 2000, 1000, 0]);
    }

    #[test]
    fn short_prefixes_are_silently_not_cached() {
        assert_eq!(bill(ANTHROPIC, &[1023], &[short(1)], &[1]), [1023, 0, 0, 0]);
        assert_eq!(bill(ANTHROPIC, &[1024], &[short(1)], &[]), [0, 0, 1024, 0]);
        // The first mark stands too early, the second doesn't.
        assert_eq!(bill(ANTHROPIC, &[1000, 1000], &[short(1), short(2)], &[1]), [0, 0, 2000, 0]);
        assert_eq!(bill(OLDER, &[1023], &[], &[1]), [1023, 0, 0, 0]);
    }

    #[test]
    fn an_entry_is_found_twenty_blocks_back() {
        let blocks = [100; 60];
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(60)], &[41]), [0, 4100, 1900, 0]);
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(60)], &[40]), [0, 0, 6000, 0]);
        // Another mark on the way finds it.
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(50), short(60)], &[40]), [0, 4000, 2000, 0]);
        // OpenAI looks anywhere.
        assert_eq!(bill(OPENAI, &blocks, &[], &[12]), [0, 1200, 4800, 0]);
    }

    #[test]
    fn the_longest_entry_counts_and_only_four_marks() {
        let blocks = [2000; 6];
        assert_eq!(bill(ANTHROPIC, &blocks, &[short(6)], &[1, 5, 3]), [0, 10_000, 2000, 0]);
        let marks = [short(1), short(2), short(3), short(4), short(5)];
        assert_eq!(bill(ANTHROPIC, &blocks, &marks, &[]), [2000, 0, 10_000, 0]);
    }

    #[test]
    fn each_mark_is_written_for_its_life() {
        let marks = [Mark { after: 1, life: Life::Long }, short(3)];
        assert_eq!(bill(ANTHROPIC, &[5000, 600, 400], &marks, &[]), [0, 0, 1000, 5000]);
        assert_eq!(bill(ANTHROPIC, &[5000, 600, 400], &marks, &[1]), [0, 5000, 1000, 0]);
        assert_eq!(bill(ANTHROPIC, &[5000, 600, 400], &marks, &[2]), [0, 5600, 400, 0]);
    }

    #[test]
    fn openai_writes_by_itself_and_charges_for_it_or_not() {
        assert_eq!(bill(OPENAI, &[5000, 1000], &[], &[1]), [0, 5000, 1000, 0]);
        assert_eq!(bill(OPENAI, &[5000, 1000], &[short(1)], &[1]), [1000, 5000, 0, 0]);
        assert_eq!(bill(OLDER, &[5000, 1000], &[], &[1]), [1000, 5000, 0, 0]);
    }

    #[test]
    fn without_blocks_the_end_is_marked() {
        let billed = ANTHROPIC.bill(30_000, 10_000, Life::Long);
        assert_eq!((billed.read, billed.written_long, billed.fresh), (10_000, 20_000, 0));
        let billed = ANTHROPIC.bill(30_000, 1000, Life::Short);
        assert_eq!((billed.read, billed.written), (0, 30_000));
        assert_eq!(ANTHROPIC.bill(500, 500, Life::Short).fresh, 500);
    }
}
