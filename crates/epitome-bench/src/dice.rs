//! Deterministic choices from a seed, or from a tape.

/// SplitMix64: small, seedable, and good enough to vary test data.
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
    /// What is thrown first, two bytes a throw, the last ones first.
    tape: Vec<u8>,
}

impl Dice {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Self {
        Dice { state: seed, tape: Vec::new() }
    }

    /// Throws what a fuzzer wrote, as long as that lasts.
    pub fn of_tape(tape: &[u8]) -> Self {
        Dice { state: 0, tape: tape.iter().rev().copied().collect() }
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        if let Some(byte) = self.tape.pop() {
            return (u64::from(byte) << 8) | u64::from(self.tape.pop().unwrap_or(0));
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number under `n` (which isn't 0).
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }

    /// True once in `n` times, on average (`n` isn't 0).
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
