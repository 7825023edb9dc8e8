//! A sign of life on work that takes over a second, on a terminal only.

use std::future::Future as _;
use std::io::IsTerminal;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use epitome::archive::Archive;
use epitome::count::{Tally, TokenCounter};
use epitome::engine::Drive;
use epitome::{CompactError, Compactor, Outcome, Request};
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::output::Report;
use crate::signals::{Asked, Heed};

/// Work that is quicker than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two signs of life.
const TICK: Duration = Duration::from_millis(100);

/// Bytes counted between two looks at the clock.
const STRIDE: usize = 1 << 20;

/// Shows that something is being done.
#[derive(Debug)]
pub(crate) struct Progress {
    wanted: bool,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing is shown yet.
    pub(crate) fn new(report: Report) -> Self {
        let wanted = report == Report::Words && std::io::stderr().is_terminal();
        Progress { wanted, begun: Instant::now(), bar: None }
    }

    /// Says that work goes on.
    pub(crate) fn tick(&mut self, what: &'static str) {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            ProgressBar::new_spinner().with_style(style.expect("a good template"))
        });
        bar.set_message(what);
        bar.tick();
    }

    /// Compacts, step by step, and waits for summarizers; what the view hides is kept first, where there is an
    /// archive.
    ///
    /// # Errors
    /// The system gives nothing to wait with.
    pub(crate) fn compact(
        &mut self,
        compactor: &Compactor,
        request: &Request,
        archive: Option<&dyn Archive>,
    ) -> Result<Result<Outcome, CompactError>> {
        let drive = match archive {
            Some(archive) => Drive::new(compactor.begin_kept(request)).keeping_in(archive),
            None => Drive::new(compactor.begin(request)),
        };
        let asks_nobody = compactor.summaries().is_none()
            && compactor.compactors().is_none()
            && compactor.hooks().is_none();
        if asks_nobody {
            return Ok(self.at_once(drive));
        }
        // Commands run in groups of their own and don't hear of it: they are killed with what waits for them.
        let asked = Asked::listen(Heed::All);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("no answers can be waited for")?;
        runtime.block_on(async {
            let mut drive = pin!(drive);
            let mut ticks = tokio::time::interval(TICK);
            loop {
                tokio::select! {
                    biased;
                    _ = ticks.tick() => self.tick("compacting"),
                    done = &mut drive => return Ok(done),
                }
                if asked.to_end() {
                    let kept = if archive.is_some() { "; the archive keeps the input" } else { "" };
                    let what = "interrupted while waiting for an answer: no output was written";
                    bail!(Failure::interrupted(format!("{what}{kept}")));
                }
            }
        })
    }

    /// Without summarizers nothing is waited for.
    fn at_once(&mut self, drive: Drive<'_>) -> Result<Outcome, CompactError> {
        let mut drive = pin!(drive);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(done) = drive.as_mut().poll(&mut context) {
                return done;
            }
            self.tick("compacting");
        }
    }

    /// Counts, piece by piece.
    pub(crate) fn count(&mut self, request: &Request, counter: &dyn TokenCounter) -> Tally {
        let mut tally = Tally::begin(request, counter);
        while tally.extend(request, counter, STRIDE) {
            self.tick("counting");
        }
        tally
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
