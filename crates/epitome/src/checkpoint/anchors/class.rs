//! What each byte may be in a token.

pub(super) const END: u16 = 1;
pub(super) const WIDE: u16 = 1 << 1;
pub(super) const DIGIT: u16 = 1 << 2;
/// `a` to `f`.
pub(super) const HEX: u16 = 1 << 3;
/// `g` to `z`.
pub(super) const LOWER: u16 = 1 << 4;
pub(super) const UPPER: u16 = 1 << 5;
pub(super) const SLASH: u16 = 1 << 6;
pub(super) const DOT: u16 = 1 << 7;
pub(super) const DASH: u16 = 1 << 8;
pub(super) const UNDER: u16 = 1 << 9;
pub(super) const COLON: u16 = 1 << 10;
pub(super) const MARK: u16 = 1 << 11;

pub(super) const CLASSES: [u16; 256] = {
    let mut table = [END; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => HEX,
            b'g'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'/' => SLASH,
            b'.' => DOT,
            b'-' => DASH,
            b'_' => UNDER,
            b':' => COLON,
            b'#' | b'@' | b'+' | b'%' | b'~' | b'&' | b'$' | b'!' | b'?' => MARK,
            0x80..=0xff => WIDE,
            _ => END,
        };
        byte += 1;
    }
    table
};
