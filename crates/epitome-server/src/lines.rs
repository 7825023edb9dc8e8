//! Lines in and lines out, of which those that are no JSON are answered here.
//!
//! `rmcp` passes over them, so that a client that waits for an answer waits forever; JSON-RPC has one for it.

use serde::de::IgnoredAny;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    DuplexStream, duplex,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

/// The longest line; `rmcp` drops longer ones.
const LONGEST: u64 = 16 << 20;

/// Bytes on their way between the two sides.
const ROOM: usize = 64 << 10;

/// A transport over `from` and `to`, and what ends when all of it is written.
pub(crate) fn screened(
    from: impl AsyncRead + Send + Unpin + 'static,
    to: impl AsyncWrite + Send + Unpin + 'static,
) -> ((DuplexStream, DuplexStream), JoinHandle<()>) {
    let (heard, inside) = duplex(ROOM);
    let (outside, said) = duplex(ROOM);
    let (lines, written) = channel(16);
    tokio::spawn(hear(BufReader::new(from), inside, lines.clone()));
    tokio::spawn(pass_on(BufReader::new(said), lines));
    ((heard, outside), tokio::spawn(write(written, to)))
}

/// Why a line is answered here.
fn refusal(code: i32, why: &str) -> Vec<u8> {
    let error = serde_json::json!({
        "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": why },
    });
    format!("{error}\n").into_bytes()
}

async fn hear(
    mut from: BufReader<impl AsyncRead + Unpin>,
    mut inside: DuplexStream,
    lines: Sender<Vec<u8>>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut from).take(LONGEST).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let refused = if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            skip_rest(&mut from).await;
            Some(refusal(-32600, "Invalid Request: a line of more than 16 MiB"))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            let read = serde_json::from_slice::<IgnoredAny>(&line);
            read.err().map(|error| refusal(-32700, &format!("Parse error: {error}")))
        };
        let passed = if let Some(refused) = refused {
            lines.send(refused).await.is_ok()
        } else {
            // The last one may have no end.
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            inside.write_all(&line).await.is_ok()
        };
        if !passed {
            return;
        }
    }
}

async fn skip_rest(from: &mut BufReader<impl AsyncRead + Unpin>) {
    while let Ok(buffer) = from.fill_buf().await {
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        from.consume(length);
        if end.is_some() || length == 0 {
            return;
        }
    }
}

/// Whole lines, so that none stands in another.
async fn pass_on(mut said: BufReader<DuplexStream>, lines: Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match said.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if lines.send(line).await.is_err() => return,
            Ok(_) => {}
        }
    }
}

async fn write(mut lines: Receiver<Vec<u8>>, mut to: impl AsyncWrite + Unpin) {
    while let Some(line) = lines.recv().await {
        let written = match to.write_all(&line).await {
            Ok(()) => to.flush().await,
            Err(error) => Err(error),
        };
        // Nobody listens any more.
        if written.is_err() {
            return;
        }
    }
}
