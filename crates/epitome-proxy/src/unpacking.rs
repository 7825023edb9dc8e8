//! Compressed replies, read piece by piece as they come.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;

use crate::encoding::{Encoding, Undecoded, ZSTD_WINDOW};

/// Reads what is in the pieces of a compressed reply.
pub(crate) struct Unpacker(Decoder);

enum Decoder {
    Gzip(MultiGzDecoder<Sink>),
    Deflate(ZlibDecoder<Sink>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Sink>>),
    Zstd(zstd::stream::write::Decoder<'static, Sink>),
}

/// Bytes that are unpacked at a time, and what may come of them: a reply that is nothing but one byte again and again isn't one.
const AT_ONCE: usize = 1 << 12;
const MOST_AT_ONCE: usize = 8 << 20;

/// Takes what comes of a piece, up to a bound.
#[derive(Default)]
struct Sink(Vec<u8>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_AT_ONCE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Unpacker {
    /// For a reply with such headers; `None` where it isn't compressed, or nobody here knows how.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let decoder = match Encoding::of(headers).ok()? {
            Encoding::Identity => return None,
            Encoding::Gzip => Decoder::Gzip(MultiGzDecoder::new(Sink::default())),
            Encoding::Deflate => Decoder::Deflate(ZlibDecoder::new(Sink::default())),
            Encoding::Brotli => {
                let decoder =
                    brotli_decompressor::DecompressorWriter::new(Sink::default(), 1 << 12);
                Decoder::Brotli(Box::new(decoder))
            }
            Encoding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(Sink::default()).ok()?;
                decoder.window_log_max(ZSTD_WINDOW).ok()?;
                Decoder::Zstd(decoder)
            }
        };
        Some(Unpacker(decoder))
    }

    /// What is known to be in it now that this piece is there.
    pub(crate) fn unpack(&mut self, piece: &[u8]) -> Result<Bytes, Undecoded> {
        let mut all = Vec::new();
        for piece in piece.chunks(AT_ONCE) {
            let (written, sink) = match &mut self.0 {
                Decoder::Gzip(decoder) => (written(decoder, piece), decoder.get_mut()),
                Decoder::Deflate(decoder) => (written(decoder, piece), decoder.get_mut()),
                Decoder::Brotli(decoder) => (written(decoder, piece), decoder.get_mut()),
                Decoder::Zstd(decoder) => (written(decoder, piece), decoder.get_mut()),
            };
            written.map_err(|_| Undecoded::Broken)?;
            all.append(&mut sink.0);
        }
        Ok(all.into())
    }
}

fn written(decoder: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    decoder.write_all(piece)?;
    decoder.flush()
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use http::HeaderValue;
    use http::header::CONTENT_ENCODING;

    use super::*;

    fn unpacker(name: &'static str) -> Unpacker {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(name))]);
        Unpacker::of(&headers).expect("it is known")
    }

    /// Two events, each of them flushed by who packs them.
    fn packed(name: &str) -> Vec<Vec<u8>> {
        fn both<W: Write>(mut packer: W, taken: impl Fn(&mut W) -> Vec<u8>) -> Vec<Vec<u8>> {
            let pieces = ["data: one\n\n", "data: two\n\n"].map(|event| {
                packer.write_all(event.as_bytes()).and_then(|()| packer.flush()).expect("memory");
                taken(&mut packer)
            });
            pieces.into()
        }
        match name {
            "gzip" => both(GzEncoder::new(Vec::new(), Compression::default()), |packer| {
                std::mem::take(packer.get_mut())
            }),
            "deflate" => both(ZlibEncoder::new(Vec::new(), Compression::default()), |packer| {
                std::mem::take(packer.get_mut())
            }),
            _ => both(zstd::Encoder::new(Vec::new(), 3).expect("memory"), |packer| {
                std::mem::take(packer.get_mut())
            }),
        }
    }

    #[test]
    fn each_event_is_there_with_its_piece_wherever_that_is_cut() {
        for name in ["gzip", "deflate", "zstd"] {
            let pieces = packed(name);
            let mut whole = unpacker(name);
            for (piece, event) in pieces.iter().zip(["data: one\n\n", "data: two\n\n"]) {
                assert_eq!(whole.unpack(piece).as_deref(), Ok(event.as_bytes()), "{name}");
            }
            let (mut slow, mut read) = (unpacker(name), Vec::new());
            for byte in pieces.concat() {
                read.extend_from_slice(&slow.unpack(&[byte]).expect("it is sound"));
            }
            assert_eq!(read, b"data: one\n\ndata: two\n\n", "{name}");
        }
        // "hello" as the reference encoder writes it.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(unpacker("br").unpack(&brotli).as_deref(), Ok(&b"hello"[..]));
    }

    #[test]
    fn bombs_and_what_is_no_packing_are_given_up() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..1 << 14 {
            packer.write_all(&[0; 1 << 12]).expect("memory takes everything");
        }
        let bomb = packer.finish().expect("memory takes everything");
        let mut unpacker_of_bomb = unpacker("gzip");
        let unpacked: usize = bomb
            .chunks(64)
            .map_while(|it| unpacker_of_bomb.unpack(it).ok())
            .map(|it| it.len())
            .sum();
        assert_eq!(unpacked, 1 << 26, "bit by bit it is a long reply");
        for name in ["gzip", "deflate", "br", "zstd"] {
            assert!(unpacker(name).unpack(b"{\"messages\":[]}").is_err(), "{name}");
        }
        let none = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("x, y"))]);
        assert!(Unpacker::of(&none).is_none() && Unpacker::of(&HeaderMap::new()).is_none());
    }
}
