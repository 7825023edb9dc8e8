//! Connections of clients, on which what can't be read is answered in words.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use hyper::rt::{Read, ReadBufCursor, Write};

/// The server's own answers to a head that it can't read: the status, without a body.
const BARE: &[u8] = b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Those statuses, and the words to send.
const SAID: [(&[u8], &str); 3] = [
    (b"HTTP/1.1 400 Bad Request", "the head of the request can't be read"),
    (b"HTTP/1.1 414 URI Too Long", "the address is too long"),
    (b"HTTP/1.1 431 Request Header Fields Too Large", "the headers are too large, or too many"),
];

/// A connection to a client.
#[derive(Debug)]
pub(crate) struct Heard<S> {
    stream: S,
    /// What is written in place of an answer without words, as far as it isn't yet.
    said: Option<Bytes>,
}

impl<S> Heard<S> {
    pub(crate) fn new(stream: S) -> Self {
        Heard { stream, said: None }
    }
}

/// The answer with words, in place of one without.
fn in_words(written: &[u8]) -> Option<Bytes> {
    let status = written.strip_suffix(BARE)?;
    let (_, what) = SAID.iter().find(|(known, _)| *known == status)?;
    let body = format!(
        r#"{{"error":{{"message":"epitome: {what} (head)","type":"invalid_request_error","param":null,"code":"head"}}}}"#
    );
    let length = body.len();
    let headers = format!(
        "\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    Some([status, headers.as_bytes(), body.as_bytes()].concat().into())
}

impl<S: Write + Unpin> Heard<S> {
    /// Writes what it says instead of `bytes`, if it does.
    fn poll_said(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<Option<usize>>> {
        if self.said.is_none() {
            self.said = in_words(bytes);
        }
        let Some(said) = &mut self.said else { return Poll::Ready(Ok(None)) };
        while said.has_remaining() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, said))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            said.advance(count);
        }
        self.said = None;
        Poll::Ready(Ok(Some(bytes.len())))
    }
}

impl<S: Read + Unpin> Read for Heard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Write + Unpin> Write for Heard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(count) = ready!(self.poll_said(context, bytes))? {
            return Poll::Ready(Ok(count));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [bytes] = slices
            && let Some(count) = ready!(self.poll_said(context, bytes))?
        {
            return Poll::Ready(Ok(count));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
