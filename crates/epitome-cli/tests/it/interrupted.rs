//! Being asked to end: while a summary is waited for, after it, and where signals are ignored.

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt as _;

use crate::bench::Ran;
use crate::places::is_ignored;
use crate::summarizers::{bench, good};

/// Whether a process still runs; one that nobody has waited for doesn't.
pub(crate) fn runs(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

pub(crate) fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_is_interrupted_leaves_nothing_behind() {
    for signal in [Signal::SIGINT, Signal::SIGTERM].into_iter().filter(|it| !is_ignored(*it)) {
        let bench = bench("sleep 300 &\necho $! > new && mv new child\nwait\n");
        let words = ["compact", "in.jsonl", "--target", "10%", "-o", "out", "--summarizer"];
        let words: Vec<&str> = words.into_iter().chain(["cmd:sh script"]).collect();
        let mut command = bench.command(&words);
        let command = command.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
        soon("it asks", || bench.path("child").exists());
        let id = i32::try_from(command.id()).expect("an id");
        kill(Pid::from_raw(id), signal).expect("it runs");
        let ran = Ran::of(&command.wait_with_output().expect("it ends")).ends(130);
        assert!(ran.err.contains("interrupted") && !bench.path("out").exists(), "{}", ran.err);
        let child = bench.read("child");
        soon("it is killed", || !runs(&child));
    }
}

#[test]
fn signals_after_the_summary_end_the_program() {
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let bench = bench(&good());
        let words = ["compact", "in.jsonl", "--target", "60%", "--summarizer", "cmd:sh script"];
        let mut command = bench.command(&words);
        let mut command =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut out = command.stdout.take().expect("piped");
        // It writes, and nobody reads on.
        out.read_exact(&mut [0]).expect("it answers");
        let id = i32::try_from(command.id()).expect("an id");
        kill(Pid::from_raw(id), signal).expect("it runs");
        soon("it ends", || command.try_wait().is_ok_and(|ended| ended.is_some()));
        let ended = command.wait().expect("it ended");
        assert_eq!(ended.signal(), Some(signal as i32), "{ended:?}");
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let bench = bench(&format!("kill -HUP $PPID\nsleep 0.4\n{}", good()));
    let line = "trap '' HUP; exec \"$0\" compact in.jsonl --target 10% -o out --summarizer 'cmd:sh script'";
    let epitome = env!("CARGO_BIN_EXE_epitome");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line, epitome]).current_dir(bench.path(".")).stdin(Stdio::null());
    let ran = Ran::of(&command.output().expect("it runs")).ends(0);
    assert!(
        ran.err.contains("tokens by sh script (1 call)") && bench.path("out").exists(),
        "{}",
        ran.err
    );
}
