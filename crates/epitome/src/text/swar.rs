//! Eight bytes at once, in a number: what is asked of each is answered by its highest bit, which no sum of lower ones
//! gets past.

/// Eight bytes of a text, the first one lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octets(u64);

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

impl Octets {
    pub(crate) const SIZE: usize = 8;

    #[inline]
    pub(crate) fn of(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    /// Letters small; of bytes that are no letters some are others then.
    #[inline]
    pub(crate) fn folded(self) -> Self {
        Self(self.0 | (0x20 * EACH))
    }

    /// Those of ASCII.
    #[inline]
    pub(crate) fn ascii(self) -> Told {
        Told(!self.0 & HIGH)
    }

    /// Those between two of ASCII, both among them. Of others it says nothing that holds.
    #[inline]
    pub(crate) fn within(self, first: u8, last: u8) -> Told {
        let low = self.0 & !HIGH;
        let from = |least: u8| low + (0x80 - u64::from(least)) * EACH;
        Told(from(first) & !from(last + 1) & HIGH)
    }

    /// The bytes equal to this ASCII byte; unspecified for others.
    #[inline]
    pub(crate) fn are(self, sign: u8) -> Told {
        let differs = ((self.0 & !HIGH) ^ (u64::from(sign) * EACH)) + 0x7f * EACH;
        Told(!differs & HIGH)
    }
}

/// For each of eight bytes whether something holds: its highest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told(u64);

impl Told {
    #[inline]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline]
    pub(crate) fn not(self) -> Self {
        Self(!self.0 & HIGH)
    }

    /// The same of the bytes before each; of the first one as `before` says.
    #[inline]
    pub(crate) fn behind(self, before: Self) -> Self {
        Self(self.0 << 8 | before.0 >> 56)
    }

    #[inline]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// Of all eight the same.
    #[inline]
    pub(crate) const fn all() -> Self {
        Self(HIGH)
    }

    /// A bit for each, the first one lowest.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        // Each goes to a place of its own in the highest byte.
        (self.0 >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
}

/// A bit for each of 64 bytes of which it holds, the first one lowest.
#[inline]
pub(crate) fn bits(block: &[u8; 64], holds: impl Fn(Octets) -> Told) -> u64 {
    let (eights, _) = block.as_chunks();
    let told = eights.iter().enumerate();
    told.fold(0, |bits, (nth, eight)| bits | holds(Octets::of(*eight)).bits() << (8 * nth))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One answer for each byte, read one after the other.
    fn each(bytes: [u8; 8], holds: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(holds(*byte)))
    }

    proptest! {
        #[test]
        fn all_are_told_as_each_is(bytes: [u8; 8], first in 1u8..0x7f, length in 0u8..0x7f) {
            let (last, eight) = (first.saturating_add(length).min(0x7e), Octets::of(bytes));
            prop_assert_eq!(eight.ascii().bits(), each(bytes, |byte| byte.is_ascii()));
            let ascii = |told: Told| told.and(eight.ascii()).bits();
            if first <= last {
                let within = each(bytes, |byte| (first..=last).contains(&byte));
                prop_assert_eq!(ascii(eight.within(first, last)), within);
            }
            let sign = bytes[0] & 0x7f;
            prop_assert_eq!(ascii(eight.are(sign)), each(bytes, |byte| byte == sign));
            let letters = ascii(eight.folded().within(b'a', b'z'));
            prop_assert_eq!(letters, each(bytes, |byte| byte.is_ascii_alphabetic()));
            let (even, none) = (each(bytes, |byte| byte == sign), Told::all().not());
            prop_assert_eq!(eight.are(sign).and(eight.ascii()).behind(none).bits(), even << 1 & 0xff);
            prop_assert_eq!(eight.are(sign).not().and(eight.ascii()).behind(Told::all()).bits() & 1, 1);
        }
    }
}
