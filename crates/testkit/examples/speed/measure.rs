//! Times of this thread, of processes, and the best of some.

use std::hint::black_box;
use std::process::Command;

use cpu_time::ThreadTime;

use crate::Failed;

pub(crate) const ROUNDS: usize = 3;

/// One process's work: seconds of processor time, and bytes that it held at most.
#[derive(Clone, Copy)]
pub(crate) struct Ran {
    pub(crate) seconds: f64,
    pub(crate) peak: f64,
}

/// Runs a process that prints both.
fn ran(command: &mut Command) -> Result<Ran, Failed> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak) = text.trim().split_once(' ').ok_or("it printed something else")?;
    Ok(Ran { seconds: seconds.parse()?, peak: peak.parse()? })
}

/// The least of so many runs of a process that prints seconds and bytes.
pub(crate) fn least(rounds: usize, mut command: impl FnMut() -> Command) -> Result<Ran, Failed> {
    let mut least = ran(&mut command())?;
    for _ in 1..rounds {
        let next = ran(&mut command())?;
        least = Ran { seconds: least.seconds.min(next.seconds), peak: least.peak.min(next.peak) };
    }
    Ok(least)
}

/// This program, to be run as a process of its own.
pub(crate) fn another(arguments: &[&str]) -> Result<Command, Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// Seconds of this thread's work, and the result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64(), result)
}
