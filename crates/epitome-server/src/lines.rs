//! Lines in and lines out, of which those that `rmcp` can't read are answered here.
//!
//! It passes over them, or answers nobody in particular, so that a client that waits for an answer waits forever;
//! JSON-RPC has one for it.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;
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

/// The member of a line that shows that an answer is expected. Other members are ignored.
#[derive(Default, Deserialize)]
struct Call {
    #[serde(default)]
    id: Value,
    method: Option<IgnoredAny>,
}

/// Why a line is answered here, and by which code: where a call is in it, under the call's id.
fn refusal((code, why): (i32, &str), line: &[u8]) -> Vec<u8> {
    let Call { id, method } = serde_json::from_slice(line).unwrap_or_default();
    let id = if method.is_some() { id } else { Value::Null };
    let error = serde_json::json!({
        "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why },
    });
    format!("{error}\n").into_bytes()
}

/// The answer to a line that `rmcp` can't read, but for what it answers or passes over rightly.
fn refused(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let error = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line).err()?;
    match error.classify() {
        Category::Syntax | Category::Eof => {
            Some(refusal((-32_700, &format!("Parse error: {error}")), line))
        }
        // Its answer to these is under no id.
        Category::Data | Category::Io => {
            let call: Call = serde_json::from_slice(line).ok()?;
            let is_waiting = call.method.is_some() && !call.id.is_null();
            is_waiting.then(|| refusal((-32_600, &format!("Invalid Request: {error}")), line))
        }
    }
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
        let answer = if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
            skip_rest(&mut from).await;
            Some(refusal((-32_600, "Invalid Request: a line of more than 16 MiB"), b""))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            refused(&line)
        };
        let passed = if let Some(answer) = answer {
            lines.send(answer).await.is_ok()
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
