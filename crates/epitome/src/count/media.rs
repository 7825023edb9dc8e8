//! What images and documents cost, by the rules that providers publish.
//!
//! All of it is an estimate: rules differ between models of one provider and change more often than
//! tokenizers do. The upper edge covers the models that charge most, except where said.

use super::Count;
use crate::text::data_url::{DataUrl, decoded_byte};

/// Width and height in pixels, neither of them 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PixelSize {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// The known facts about an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// `None` if only the provider can see it (an address, a file id) or the format isn't known.
    pub size: Option<PixelSize>,
    /// Length of the image file, 0 if unknown.
    pub bytes: u64,
}

/// The known facts about a PDF document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Document {
    /// Pages, if known.
    pub pages: Option<u32>,
    /// Length of the file, 0 if unknown.
    pub bytes: u64,
}

/// A provider's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaRule {
    /// Width times height by 750, after scaling down to a long edge of 1568 pixels and at most about
    /// 1,600 tokens (Anthropic's "Vision" guide). Upper edge: one token for each 28×28 patch, long
    /// edge 2576, at most 4,784 tokens, as models with high-resolution vision charge. A page of a PDF
    /// is 1,500 to 3,000 tokens of text and an image (the "PDF support" guide).
    Anthropic,
    /// 85 and 170 for each 512-pixel tile, after scaling down to fit 2048×2048 and to a short edge of
    /// 768 ("Images and vision" guide, high detail). Upper edge: models that charge 32×32 patches, at
    /// most 1,536, times the greatest published factor, 2.46. Not covered: gpt-4o-mini, which
    /// charges 33 times the tiles.
    OpenAi,
    /// 258 for each 768-pixel tile, 258 in all if both edges are at most 384 ("Understand and count
    /// tokens"), after scaling down to fit 3072×3072. Upper edge: at least the 1,120 that Gemini 3 takes by default ("Media resolution").
    /// A page of a PDF is one image.
    Gemini,
    /// The most that any other rule gives.
    Unknown,
}

const KNOWN_RULES: [MediaRule; 3] = [MediaRule::Anthropic, MediaRule::OpenAi, MediaRule::Gemini];

impl MediaRule {
    /// Tokens of an image. One of unknown size counts as a large one.
    pub fn image(self, image: &Image) -> Count {
        let Some(size) = image.size else {
            return match self {
                Self::Anthropic => Count::estimated(1_600, 4_784),
                Self::OpenAi => Count::estimated(1_445, 3_779),
                Self::Gemini => Count::estimated(1_032, 3_096),
                Self::Unknown => most(|rule| rule.image(image)),
            };
        };
        match self {
            Self::Anthropic => {
                let standard = size.within(1568);
                let high = size.within(2576);
                Count::estimated(
                    standard.area().div_ceil(750).min(1_600),
                    high.tiles(28).min(4_784),
                )
            }
            Self::OpenAi => {
                let scaled = size.within(2048).short_edge_within(768);
                Count::estimated(
                    85 + 170 * scaled.tiles(512),
                    (size.tiles(32).min(1_536) * 246).div_ceil(100),
                )
            }
            Self::Gemini => {
                let is_small = size.width.max(size.height) <= 384;
                let tiles = if is_small { 1 } else { size.within(3072).tiles(768) };
                Count::estimated(258 * tiles, 1_120)
            }
            Self::Unknown => most(|rule| rule.image(image)),
        }
    }

    /// Tokens of a PDF document. Where the pages aren't known, one is taken to be 50 kB, and 5 kB at
    /// the upper edge; there is no source for these two. Where nothing is known of it there is no upper edge.
    pub fn document(self, document: &Document) -> Count {
        let (tokens, upper) = match self {
            Self::Anthropic => (3_000, 7_784),
            Self::OpenAi => (1_800, 4_500),
            Self::Gemini => (258, 1_120),
            Self::Unknown => return most(|rule| rule.document(document)),
        };
        let (pages, most_pages) = match document.pages {
            Some(pages) => (u64::from(pages), u64::from(pages)),
            None => (document.bytes.div_ceil(50_000).max(1), document.bytes.div_ceil(5_000).max(1)),
        };
        let count =
            Count::estimated(pages.saturating_mul(tokens), most_pages.saturating_mul(upper));
        let is_unseen = document.pages.is_none() && document.bytes == 0;
        if is_unseen { count.unbounded() } else { count }
    }
}

/// The cost of sound and films: tokens a second, bytes a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// 32 tokens a second (Gemini's "Understand and count tokens"; no other provider says).
    Sound,
    /// 263 tokens a second (the same page).
    Film,
}

impl Pace {
    /// The pace of a media type, or of a bare file format; `None` if it stands still.
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            _ if kind.starts_with("audio/") => Some(Self::Sound),
            _ if kind.starts_with("video/") => Some(Self::Film),
            "mp3" | "wav" | "aac" | "flac" | "ogg" | "opus" | "m4a" => Some(Self::Sound),
            "mp4" | "mkv" | "mov" | "webm" | "flv" | "mpeg" | "mpg" | "wmv" | "three_gp" => {
                Some(Self::Film)
            }
            _ => None,
        }
    }

    /// Tokens of a file whose length in bytes is known and whose length in time isn't: 16 kB a second
    /// of sound and 250 kB of film are common; there is no source for these two. It may last any longer.
    pub fn count(self, file: &Document) -> Count {
        let (tokens, bytes) = match self {
            Self::Sound => (32, 16_000),
            Self::Film => (263, 250_000),
        };
        let seconds: u64 = file.bytes.div_ceil(bytes).max(1);
        let tokens = seconds.saturating_mul(tokens);
        Count::estimated(tokens, tokens).unbounded()
    }
}

fn most(count: impl Fn(MediaRule) -> Count) -> Count {
    KNOWN_RULES.map(count).into_iter().fold(Count::estimated(0, 0), |most, count| {
        let tokens = most.tokens.max(count.tokens);
        let basis = most.basis.max(count.basis);
        Count { basis, ..Count::estimated(tokens, most.upper.max(count.upper)) }
    })
}

/// The longest edge that a JPEG can have. No provider takes an image near it.
const LONGEST_EDGE: u32 = 65_535;

impl PixelSize {
    fn new(width: u32, height: u32) -> Option<Self> {
        (width > 0 && height > 0).then_some(Self { width, height })
    }

    /// Whether an image can have this size; a header that says otherwise is junk.
    fn is_possible(self) -> bool {
        self.width.max(self.height) <= LONGEST_EDGE
    }

    fn area(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// How many squares of this edge cover it.
    fn tiles(self, edge: u32) -> u64 {
        u64::from(self.width.div_ceil(edge)) * u64::from(self.height.div_ceil(edge))
    }

    /// Scaled down so that the long edge is at most this long.
    fn within(self, longest: u32) -> Self {
        self.scaled(longest, self.width.max(self.height))
    }

    /// Scaled down so that the short edge is at most this long.
    fn short_edge_within(self, longest: u32) -> Self {
        self.scaled(longest, self.width.min(self.height))
    }

    /// Scaled so that an edge of length `from` gets length `to`, unless that is larger.
    fn scaled(self, to: u32, from: u32) -> Self {
        if from <= to {
            return self;
        }
        let edge = |edge: u32| (u64::from(edge) * u64::from(to)).div_ceil(u64::from(from)) as u32;
        Self { width: edge(self.width), height: edge(self.height) }
    }
}

impl Image {
    /// What the base64 text of an image file (or a `data:` address that holds it) tells. Only the
    /// header is decoded. The text must be one unbroken run of either alphabet.
    pub fn from_base64(text: &str) -> Self {
        let payload = payload(text);
        let size = size_of(|at| decoded_byte(payload, at)).filter(|size| size.is_possible());
        Self { size, bytes: decoded_len(payload) }
    }

    /// The size in the header of an image file in base64, if no image is as large.
    pub fn impossible_size(text: &str) -> Option<PixelSize> {
        let payload = payload(text);
        size_of(|at| decoded_byte(payload, at)).filter(|size| !size.is_possible())
    }

    /// What an image file tells.
    pub fn from_file(bytes: &[u8]) -> Self {
        let size = size_of(|at| bytes.get(at).copied()).filter(|size| size.is_possible());
        Self { size, bytes: bytes.len() as u64 }
    }
}

impl Document {
    /// What the base64 text of a PDF file (or a `data:` address that holds it) tells: its length.
    pub fn from_base64(text: &str) -> Self {
        Self { pages: None, bytes: decoded_len(payload(text)) }
    }
}

fn payload(text: &str) -> &[u8] {
    match text.split_once(',').filter(|_| DataUrl::is_one(text)) {
        Some((_, payload)) => payload.as_bytes(),
        // Any other address says nothing of the file.
        None if text.get(..8).is_some_and(|start| start.contains(':')) => &[],
        None => text.as_bytes(),
    }
}

fn decoded_len(payload: &[u8]) -> u64 {
    let padding = payload.iter().rev().take(2).filter(|byte| **byte == b'=').count();
    (payload.len() - padding) as u64 * 3 / 4
}

/// The size in the header of a PNG, GIF, WebP or JPEG file.
fn size_of(byte: impl Fn(usize) -> Option<u8>) -> Option<PixelSize> {
    let little = |at: usize, len: usize| {
        (0..len).rev().try_fold(0, |number, index| Some(number << 8 | u32::from(byte(at + index)?)))
    };
    let big = |at: usize, len: usize| {
        (0..len).try_fold(0, |number, index| Some(number << 8 | u32::from(byte(at + index)?)))
    };
    let is = |at: usize, name: &[u8]| {
        name.iter().enumerate().all(|(index, wanted)| byte(at + index) == Some(*wanted))
    };
    if is(0, b"\x89PNG\r\n\x1a\n") {
        PixelSize::new(big(16, 4)?, big(20, 4)?)
    } else if is(0, b"GIF8") {
        PixelSize::new(little(6, 2)?, little(8, 2)?)
    } else if is(0, b"RIFF") && is(8, b"WEBPVP8X") {
        PixelSize::new(little(24, 3)? + 1, little(27, 3)? + 1)
    } else if is(0, b"RIFF") && is(8, b"WEBPVP8L") {
        let bits = little(21, 4)?;
        PixelSize::new((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    } else if is(0, b"RIFF") && is(8, b"WEBPVP8 ") {
        PixelSize::new(little(26, 2)? & 0x3FFF, little(28, 2)? & 0x3FFF)
    } else if is(0, b"\xFF\xD8") {
        jpeg_size(&byte, big)
    } else {
        None
    }
}

/// Walks the segments of a JPEG file to the frame header.
fn jpeg_size(
    byte: impl Fn(usize) -> Option<u8>,
    big: impl Fn(usize, usize) -> Option<u32>,
) -> Option<PixelSize> {
    /// More segments than this come before no real frame header.
    const SEGMENTS: usize = 512;
    let mut at = 2;
    for _ in 0..SEGMENTS {
        if byte(at)? != 0xFF {
            return None;
        }
        match byte(at + 1)? {
            0xFF => at += 1, // padding
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return PixelSize::new(big(at + 7, 2)?, big(at + 5, 2)?);
            }
            _ => at += 2 + big(at + 2, 2)? as usize,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base64(bytes: &[u8]) -> String {
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
                << (8 * (3 - chunk.len()));
            for index in 0..4 {
                let sextet = ALPHABET[(bits >> (18 - 6 * index) & 63) as usize];
                text.push(if index <= chunk.len() { char::from(sextet) } else { '=' });
            }
        }
        text
    }

    fn check(file: &[u8], width: u32, height: u32) {
        let image = Image { size: Some(PixelSize { width, height }), bytes: file.len() as u64 };
        assert_eq!(Image::from_file(file), image);
        assert_eq!(Image::from_base64(&base64(file)), image);
        assert_eq!(Image::from_base64(&format!("data:image/x;base64,{}", base64(file))), image);
        for len in 0..file.len() {
            let _ = Image::from_base64(&base64(&file[..len])); // must not panic
        }
    }

    #[test]
    fn headers_tell_the_size() {
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\xB0\0\0\x03\x20\x08\x06", 1200, 800);
        check(b"GIF89a\x80\x02\xE0\x01\xF7", 640, 480);
        check(b"RIFF....WEBPVP8X\x0A\0\0\0\x10\0\0\0\x7F\x02\0\xDF\x01\0", 640, 480);
        check(b"RIFF....WEBPVP8L\x09\0\0\0\x2F\x7F\xC2\x77\0", 640, 480);
        check(b"RIFF....WEBPVP8 \x09\0\0\0\0\0\0\x9D\x01\x2A\x80\x02\xE0\x01", 640, 480);
        check(b"\xFF\xD8\xFF\xE0\0\x04ab\xFF\xFF\xC2\0\x11\x08\x01\xE0\x02\x80\x03", 640, 480);
    }

    #[test]
    fn what_is_no_image_has_no_size() {
        for text in [
            "",
            "=",
            "====",
            "data:",
            "data:image/png;base64,",
            "aGVsbG8=",
            "\u{e9}\u{e9}\u{e9}",
            "/9j/",
        ] {
            assert_eq!(Image::from_base64(text).size, None, "{text}");
        }
    }

    #[test]
    fn published_examples() {
        let tokens = |rule: MediaRule, width, height| {
            rule.image(&Image { size: PixelSize::new(width, height), bytes: 0 }).tokens
        };
        assert_eq!(tokens(MediaRule::Anthropic, 200, 200), 54);
        assert_eq!(tokens(MediaRule::Anthropic, 1000, 1000), 1334);
        assert_eq!(tokens(MediaRule::Anthropic, 8000, 8000), 1600);
        assert_eq!(tokens(MediaRule::OpenAi, 1024, 1024), 765);
        assert_eq!(tokens(MediaRule::OpenAi, 2048, 4096), 1105);
        assert_eq!(tokens(MediaRule::Gemini, 384, 384), 258);
        assert_eq!(tokens(MediaRule::Gemini, 960, 540), 516);
        assert_eq!(tokens(MediaRule::Unknown, 1000, 1000), 1334);
    }

    #[test]
    fn extreme_sizes_stay_finite() {
        for size in [PixelSize::new(1, u32::MAX), PixelSize::new(u32::MAX, u32::MAX), None] {
            for rule in
                [MediaRule::Anthropic, MediaRule::OpenAi, MediaRule::Gemini, MediaRule::Unknown]
            {
                let count = rule.image(&Image { size, bytes: 0 });
                assert!(count.tokens > 0 && count.tokens <= count.upper);
            }
        }
    }

    #[test]
    fn documents_cost_by_the_page() {
        let document = |pages, bytes| MediaRule::Anthropic.document(&Document { pages, bytes });
        assert_eq!(document(Some(3), 9).tokens, 9_000);
        assert_eq!(document(None, 120_000).tokens, 9_000);
        assert_eq!(document(None, 0).tokens, 3_000);
        assert!(document(None, 120_000).most().is_some() && document(None, 0).most().is_none());
        let unseen = MediaRule::Unknown.document(&Document { pages: None, bytes: 0 });
        assert_eq!(unseen.most(), None);
    }
}
