//! A command that is asked: JSON on its stdin, JSON on its stdout. As a summarizer, and as a hook.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use epitome::summarize::{
    Answering, FailureKind, SummarizeError, Summarizer, Summary, SummaryRequest,
};
use epitome::text::cut;
use epitome::text::secrets::masked;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process;
use tokio::time::timeout;

/// The most bytes that are read of what it writes.
const MOST_BYTES: usize = 4 << 20;
/// How long what it leaves running may hold its output open, once it ended.
const GRACE: Duration = Duration::from_millis(500);

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Command {
    /// All of it as one line, without what looks like a secret: of two that run one program each is told.
    name: String,
    words: Vec<String>,
    /// How long it may take; then it is killed.
    timeout: Duration,
}

/// What it writes.
#[derive(Deserialize)]
struct Answer {
    version: u32,
    summary: String,
}

impl Summarizer for Command {
    fn name(&self) -> &str {
        self.name()
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        Box::pin(async move { read(&self.ask(&*request).await?) })
    }
}

/// The most characters of a name.
const LONGEST_NAME: usize = 80;

impl Command {
    /// The command of these words, of which there is at least one.
    pub(crate) fn new(words: &[String], timeout: Duration) -> Self {
        let line = shlex::try_join(words.iter().map(String::as_str));
        let line = line.expect("an argument holds no NUL");
        let name = cut::one_line(&masked(&line), LONGEST_NAME);
        Command { name, words: words.to_vec(), timeout }
    }

    /// What receipts and warnings call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What it writes when it is given `question`.
    pub(crate) async fn ask(&self, question: &impl Serialize) -> Result<Vec<u8>, SummarizeError> {
        let json = serde_json::to_string(question).expect("it is data");
        // Dropping what runs it kills it.
        timeout(self.timeout, self.run(json)).await.unwrap_or_else(|_| {
            let longest = format!("{} s", self.timeout.as_secs_f64());
            Err(SummarizeError::new(FailureKind::Timeout, longest))
        })
    }

    async fn run(&self, json: String) -> Result<Vec<u8>, SummarizeError> {
        let failed = |error: &std::io::Error| {
            SummarizeError::new(FailureKind::Command, format!("{}: {error}", self.words[0]))
        };
        let mut command = process::Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // What it starts is killed with it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        #[cfg(unix)]
        let group = Group::of(&child);
        let stdin = child.stdin.take();
        let give = async move {
            if let Some(mut stdin) = stdin {
                // Who needs no input need not read it.
                let _ = stdin.write_all(json.as_bytes()).await;
            }
        };
        let (mut out, mut complaints) = (Vec::new(), Vec::new());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let status = {
            let answer = written(stdout, &mut out, Beyond::Fails);
            let reading =
                async { tokio::try_join!(answer, written(stderr, &mut complaints, Beyond::Goes)) };
            tokio::pin!(reading);
            let ending = async {
                tokio::select! {
                    read = &mut reading => {
                        read?;
                        Ok(child.wait().await)
                    }
                    status = child.wait() => {
                        // What it leaves running holds them open, maybe.
                        timeout(GRACE, &mut reading).await.unwrap_or(Ok(((), ())))?;
                        Ok(status)
                    }
                }
            };
            tokio::pin!(ending);
            tokio::select! {
                ended = &mut ending => ended,
                () = give => ending.await,
            }?
        };
        #[cfg(unix)]
        group.has_ended();
        let status = status.map_err(|error| failed(&error))?;
        if !status.success() {
            let complaints = String::from_utf8_lossy(&complaints);
            let last = complaints.lines().rev().find(|line| !line.trim().is_empty());
            let last = last.map(|line| format!(": {line}"));
            let detail = format!("{status}{}", last.unwrap_or_default());
            return Err(SummarizeError::new(FailureKind::Command, detail));
        }
        Ok(out)
    }
}

/// A command and all that it started: killed when this is dropped, unless it ended by itself.
#[cfg(unix)]
struct Group(Option<nix::unistd::Pid>);

#[cfg(unix)]
impl Group {
    /// Of a command that leads a group of its own.
    fn of(child: &process::Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.map(nix::unistd::Pid::from_raw))
    }

    /// What it left running on purpose goes on.
    fn has_ended(mut self) {
        self.0 = None;
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Nobody is left: just as well.
            let _gone = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// What happens to what is beyond the most that is read.
#[derive(Clone, Copy)]
enum Beyond {
    /// There is no use for the rest.
    Fails,
    /// The end counts, the beginning goes.
    Goes,
}

/// Reads all that it writes into `out`.
async fn written(
    from: Option<impl AsyncRead + Unpin>,
    out: &mut Vec<u8>,
    beyond: Beyond,
) -> Result<(), SummarizeError> {
    let Some(mut from) = from else { return Ok(()) };
    let failed = |error: std::io::Error| {
        SummarizeError::new(FailureKind::Command, format!("its output: {error}"))
    };
    while from.read_buf(out).await.map_err(failed)? > 0 {
        match beyond {
            _ if out.len() <= MOST_BYTES => {}
            Beyond::Fails => return Err(malformed(format!("more than {MOST_BYTES} bytes"))),
            Beyond::Goes => drop(out.drain(..MOST_BYTES / 2)),
        }
    }
    Ok(())
}

pub(super) fn malformed(what: String) -> SummarizeError {
    SummarizeError::new(FailureKind::Malformed, what)
}

fn read(out: &[u8]) -> Result<Summary, SummarizeError> {
    let answer: Answer = serde_json::from_slice(out).map_err(|error| {
        let what = "stdout isn't {\"version\":1,\"summary\":\"…\"}";
        malformed(format!("{what}: {error}"))
    })?;
    match answer.version {
        1 => Ok(Summary::new(answer.summary)),
        version => Err(malformed(format!("version {version}, not 1"))),
    }
}
