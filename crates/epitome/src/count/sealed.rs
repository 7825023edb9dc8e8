//! What encrypted content costs: reasoning and compactions that only the provider can read.

use super::Count;

/// Bytes of an encrypted item that aren't its text: the envelope of the encryption and the fields around
/// the text.
const ENVELOPE: u64 = 650;

/// Tokens of `base64` characters of encrypted content.
///
/// Three quarters of the characters are bytes, less an envelope of 650, at four bytes a token: the rule by which
/// Codex estimates such items (openai/codex, `context_manager/history.rs`). The provider counts what is
/// inside, which nobody else can see; counting the characters as text is 18 to 40 % too much
/// (linanwx/nagobot#86). Upper edge: nothing of it is envelope, at three bytes a token.
pub fn sealed(base64: usize) -> Count {
    let bytes = base64 as u64 * 3 / 4;
    Count::estimated(bytes.saturating_sub(ENVELOPE).div_ceil(4), bytes.div_ceil(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_costs_nothing() {
        assert_eq!(sealed(0), Count::estimated(0, 0));
        assert_eq!(sealed(800), Count::estimated(0, 200));
        // The mean item of the report above.
        assert_eq!(sealed(1568), Count::estimated(132, 392));
    }
}
