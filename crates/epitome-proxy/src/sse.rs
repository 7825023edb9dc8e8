//! Server-sent events, as they are cut into pieces: a line ends with CR LF, LF or CR (HTML, 9.2.5 and 9.2.6).

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

/// The longest event that is looked at; behind a longer one the stream is passed on as it comes.
const LONGEST: usize = 64 << 20;

/// Cuts a stream into events, each with the empty line behind it. Joined they are the stream again.
#[derive(Debug, Default)]
pub(crate) struct Events {
    held: BytesMut,
    /// Where the line begins that isn't whole yet.
    line: usize,
    /// Up to where ends of lines were looked for.
    seen: usize,
    /// The last event ended with a CR, whose LF comes by itself, and another stood for it.
    wants_no_lf: bool,
    has_given_up: bool,
}

impl Events {
    /// Takes a piece, and passes each complete event through `turn`. An event for which `turn` returns `None` stays as
    /// it is.
    pub(crate) fn turned(
        &mut self,
        piece: &Bytes,
        mut turn: impl FnMut(&str) -> Option<String>,
    ) -> Bytes {
        if self.has_given_up {
            return piece.clone();
        }
        self.push(piece);
        let mut out = Vec::new();
        while let Some(one) = self.cut() {
            if std::mem::take(&mut self.wants_no_lf) && *one == *b"\n" {
                continue;
            }
            let turned = std::str::from_utf8(&one).ok().and_then(&mut turn);
            let told = turned.map_or_else(|| one.clone(), Bytes::from);
            self.wants_no_lf = one.ends_with(b"\r") && told != one;
            out.extend_from_slice(&told);
        }
        if self.held.len() > LONGEST {
            out.extend_from_slice(&self.give_up());
        }
        out.into()
    }

    /// Passes everything on from here, and first what is left.
    pub(crate) fn give_up(&mut self) -> Bytes {
        self.has_given_up = true;
        self.rest()
    }

    /// A piece came.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.held.extend_from_slice(piece);
    }

    /// The next event, if all of it is there. A stream in which a piece ends between CR and LF gives that LF by itself.
    pub(crate) fn cut(&mut self) -> Option<Bytes> {
        while let Some(found) = memchr2(b'\r', b'\n', &self.held[self.seen..]) {
            let end = self.seen + found;
            let is_second = end > 0 && end == self.line && self.held[end - 1..=end] == *b"\r\n";
            let is_first = self.held[end..].starts_with(b"\r\n");
            let next = end + 1 + usize::from(is_first);
            if end == self.line && !is_second {
                (self.line, self.seen) = (0, 0);
                return Some(self.held.split_to(next).freeze());
            }
            (self.line, self.seen) = (next, next);
        }
        self.seen = self.held.len();
        None
    }

    /// Bytes of the event that isn't whole yet.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// What is left.
    pub(crate) fn rest(&mut self) -> Bytes {
        (self.line, self.seen) = (0, 0);
        std::mem::take(&mut self.held).freeze()
    }
}

/// The lines of an event that aren't empty.
pub(crate) fn lines(event: &str) -> impl Iterator<Item = &str> {
    event.split(['\r', '\n']).filter(|line| !line.is_empty())
}

/// What an event carries: its lines of data.
pub(crate) fn data(event: &str) -> Option<String> {
    let mut data = lines(event).filter_map(|line| line.strip_prefix("data:")).peekable();
    data.peek()?;
    let bare = data.map(|line| line.strip_prefix(' ').unwrap_or(line));
    Some(bare.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(stream: &str, size: usize) -> Vec<String> {
        let mut events = Events::default();
        let mut out = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            events.push(piece);
            while let Some(event) = events.cut() {
                out.push(String::from_utf8_lossy(&event).into_owned());
            }
        }
        out.push(String::from_utf8_lossy(&events.rest()).into_owned());
        assert_eq!(out.concat(), stream, "{size}");
        out
    }

    #[test]
    fn each_end_of_a_line_counts_wherever_a_stream_is_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = format!(
                "event: a{end}data: 1{end}data:2{end}{end}: hello{end}{end}data: 3{end}{end}data: 4"
            );
            for size in 1..stream.len() {
                let told: Vec<String> =
                    cut(&stream, size).iter().filter_map(|it| data(it)).collect();
                assert_eq!(told, ["1\n2", "3", "4"], "{end:?} {size}");
            }
        }
    }

    #[test]
    fn of_a_turned_event_no_line_feed_is_left() {
        let turned = |pieces: &[&'static str]| {
            let mut events = Events::default();
            let one = |one: &str| one.starts_with("data").then(|| "data: 2\n\n".to_owned());
            let out = pieces.iter().flat_map(|piece| events.turned(&Bytes::from(*piece), one));
            String::from_utf8(out.collect()).expect("text")
        };
        assert_eq!(turned(&["data: 1\r\n\r", "\n"]), "data: 2\n\n");
        // A line that was sent by itself stays.
        assert_eq!(turned(&["data: 1\n\n", "\n"]), "data: 2\n\n\n");
    }
}
