//! Compressed bodies, read within bounds.

use std::io::Read;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// Why a body can't be read; it is forwarded as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecoded {
    /// In a way that isn't known, or in several one over the other.
    Unknown,
    /// It isn't what its header says.
    Broken,
    /// It is larger than allowed.
    Large,
}

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Undecoded> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Ok(Encoding::Identity) };
        if values.next().is_some() {
            return Err(Undecoded::Unknown);
        }
        let name = value.to_str().map_err(|_| Undecoded::Unknown)?.trim().to_ascii_lowercase();
        Ok(match name.as_str() {
            "" | "identity" => Encoding::Identity,
            "gzip" | "x-gzip" => Encoding::Gzip,
            "deflate" => Encoding::Deflate,
            "br" => Encoding::Brotli,
            "zstd" => Encoding::Zstd,
            _ => return Err(Undecoded::Unknown),
        })
    }

    /// What is in it, at most `most` bytes.
    pub(crate) fn decode(self, body: &[u8], most: usize) -> Result<Vec<u8>, Undecoded> {
        match self {
            Encoding::Identity => bounded(body, most),
            Encoding::Gzip => bounded(flate2::read::MultiGzDecoder::new(body), most),
            Encoding::Deflate => bounded(flate2::read::ZlibDecoder::new(body), most),
            Encoding::Brotli => {
                bounded(brotli_decompressor::Decompressor::new(body, 1 << 14), most)
            }
            Encoding::Zstd => {
                let mut decoder = zstd::Decoder::new(body).map_err(|_| Undecoded::Broken)?;
                decoder.window_log_max(ZSTD_WINDOW).map_err(|_| Undecoded::Broken)?;
                bounded(decoder, most)
            }
        }
    }
}

/// The largest window of a frame: 8 MiB, which RFC 8878 asks every decoder to allow.
pub(crate) const ZSTD_WINDOW: u32 = 23;

fn bounded(from: impl Read, most: usize) -> Result<Vec<u8>, Undecoded> {
    let mut read = Vec::new();
    let limit = most as u64 + 1;
    from.take(limit).read_to_end(&mut read).map_err(|_| Undecoded::Broken)?;
    if read.len() > most { Err(Undecoded::Large) } else { Ok(read) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn packed(encoding: Encoding, plain: &[u8]) -> Vec<u8> {
        let why = "memory takes everything";
        match encoding {
            Encoding::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::default());
                packer.write_all(plain).expect(why);
                packer.finish().expect(why)
            }
            Encoding::Deflate => {
                let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
                packer.write_all(plain).expect(why);
                packer.finish().expect(why)
            }
            Encoding::Zstd => zstd::encode_all(plain, 3).expect(why),
            _ => plain.to_vec(),
        }
    }

    #[test]
    fn what_was_packed_is_read_up_to_the_bound() {
        let plain = b"words and words and words".repeat(100);
        for encoding in [Encoding::Identity, Encoding::Gzip, Encoding::Deflate, Encoding::Zstd] {
            let packed = packed(encoding, &plain);
            assert_eq!(encoding.decode(&packed, plain.len()).as_deref(), Ok(&plain[..]));
            assert_eq!(encoding.decode(&packed, plain.len() - 1), Err(Undecoded::Large));
        }
        // "hello" as the reference encoder writes it.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(Encoding::Brotli.decode(&brotli, 5).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(Encoding::Brotli.decode(&brotli, 4), Err(Undecoded::Large));
    }

    #[test]
    fn what_is_broken_is_found_out() {
        let plain = b"words".repeat(100);
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Brotli, Encoding::Zstd] {
            assert_eq!(
                encoding.decode(b"{\"messages\":[]}", 1 << 20),
                Err(Undecoded::Broken),
                "{encoding:?}"
            );
            let mut packed = packed(encoding, &plain);
            packed.truncate(packed.len() / 2);
            assert_eq!(encoding.decode(&packed, 1 << 20), Err(Undecoded::Broken), "{encoding:?}");
        }
    }
}
