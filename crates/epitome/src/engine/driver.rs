//! Driving a compaction to its end, on any executor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::{Answer, CompactError, Compaction, Outcome, Step};
use crate::archive::{Archive, ArchiveError, Original};
use crate::delegate::{Compacting, Delegation};
use crate::hook::{Heeding, Question};
use crate::summarize::{Answering, Ask};

impl Compaction {
    /// Steps to the end without waiting: hooks, summarizers and whole compactors have to know their answers when they are asked. The
    /// caller holds the originals.
    ///
    /// # Errors
    /// [`CompactError::NotDriven`] if an answer has to be waited for; else see [`CompactError`]. Nothing was changed then.
    pub fn finish(self) -> Result<Box<Outcome>, CompactError> {
        self.finish_with(None)
    }

    /// The same, with what the view hides kept in `archive` first.
    pub(super) fn finish_into(self, archive: &dyn Archive) -> Result<Box<Outcome>, CompactError> {
        self.finish_with(Some(archive))
    }

    fn finish_with(mut self, archive: Option<&dyn Archive>) -> Result<Box<Outcome>, CompactError> {
        loop {
            let answered = match self.step() {
                Step::Yield => Ok(()),
                Step::Persist(originals) => {
                    self.supply(Answer::Persisted(keep(archive, &originals)));
                    Ok(())
                }
                Step::Summarize(asks) => {
                    asks.into_iter().try_for_each(|Ask { id, by, request }| {
                        let name = by.name().to_owned();
                        let answer = at_once(by.summarize(request), name)?;
                        self.supply(Answer::Summary(id, answer));
                        Ok(())
                    })
                }
                Step::Hook(Question { by, proposal }) => {
                    let name = by.name().to_owned();
                    at_once(by.before(proposal), name)
                        .map(|answer| self.supply(Answer::Hooked(answer)))
                }
                Step::Delegate(Delegation { by, job }) => {
                    let name = by.name().to_owned();
                    at_once(by.compact(job), name)
                        .map(|answer| self.supply(Answer::Delegated(answer)))
                }
                Step::Wait => Err(CompactError::NotDriven { by: "somebody".to_owned() }),
                Step::Done(done) => return done,
            };
            if let Err(error) = answered {
                self.fail(error);
            }
        }
    }
}

/// Keeps originals where there is an archive.
fn keep(archive: Option<&dyn Archive>, originals: &[Original]) -> Result<(), ArchiveError> {
    match archive {
        Some(archive) => archive.put(originals),
        None => Err(ArchiveError::Write { why: "there is no archive".to_owned() }),
    }
}

/// An answer that is ready.
fn at_once<T>(mut answer: Pin<Box<T>>, by: String) -> Result<T::Output, CompactError>
where
    T: Future + ?Sized,
{
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Ok(answer),
        Poll::Pending => Err(CompactError::NotDriven { by }),
    }
}

/// A compaction that asks its hooks, summarizers and whole compactors: a future that does one step at each turn and lets others go
/// first. Dropping it cancels what is under way; the old view stays.
///
/// ```
/// # use epitome::{Compactor, Options, count::counter, engine::Drive, wire};
/// # async fn compact(compactor: Compactor, request: epitome::Request) -> Result<(), epitome::CompactError> {
/// let outcome = Drive::new(compactor.begin(&request)).await?;
/// # Ok(())
/// # }
/// ```
pub struct Drive<'a> {
    compaction: Compaction,
    archive: Option<&'a dyn Archive>,
    answers: Vec<(u32, Answering)>,
    /// A hook that is asked.
    hooked: Option<Heeding>,
    /// A whole compaction that somebody else does.
    delegated: Option<Compacting>,
}

impl<'a> Drive<'a> {
    /// Drives a compaction whose originals the caller holds.
    pub fn new(compaction: Compaction) -> Self {
        Drive { compaction, archive: None, answers: Vec::new(), hooked: None, delegated: None }
    }

    /// The same, keeping originals in `archive`, for a compaction that asks for that.
    #[must_use]
    pub fn keeping_in(self, archive: &'a dyn Archive) -> Self {
        Drive { archive: Some(archive), ..self }
    }

    /// Takes answers that are there; whether there were any.
    fn take_answers(&mut self, context: &mut Context<'_>) -> bool {
        let hooked = self.hooked.as_mut().map(|hooked| hooked.as_mut().poll(context));
        if let Some(Poll::Ready(answer)) = hooked {
            self.hooked = None;
            self.compaction.supply(Answer::Hooked(answer));
            return true;
        }
        let delegated = self.delegated.as_mut().map(|delegated| delegated.as_mut().poll(context));
        if let Some(Poll::Ready(answer)) = delegated {
            self.delegated = None;
            self.compaction.supply(Answer::Delegated(answer));
            return true;
        }
        let compaction = &self.compaction;
        // Unwanted calls are cancelled.
        self.answers.retain(|(id, _)| compaction.wants(*id));
        let mut came = Vec::new();
        self.answers.retain_mut(|(id, answer)| match answer.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                came.push((*id, answer));
                false
            }
        });
        let any = !came.is_empty();
        for (id, answer) in came {
            self.compaction.supply(Answer::Summary(id, answer));
        }
        any
    }
}

impl Future for Drive<'_> {
    type Output = Result<Outcome, CompactError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let drive = &mut *self;
        if drive.take_answers(context) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match drive.compaction.step() {
            Step::Done(done) => return Poll::Ready(done.map(|outcome| *outcome)),
            Step::Summarize(asks) => {
                let begin = |Ask { id, by, request }: Ask| (id, by.summarize(request));
                drive.answers.extend(asks.into_iter().map(begin));
                context.waker().wake_by_ref();
            }
            Step::Hook(Question { by, proposal }) => {
                drive.hooked = Some(by.before(proposal));
                context.waker().wake_by_ref();
            }
            Step::Delegate(Delegation { by, job }) => {
                drive.delegated = Some(by.compact(job));
                context.waker().wake_by_ref();
            }
            Step::Persist(originals) => {
                let kept = keep(drive.archive, &originals);
                drive.compaction.supply(Answer::Persisted(kept));
                context.waker().wake_by_ref();
            }
            Step::Yield => context.waker().wake_by_ref(),
            // An answer wakes it.
            Step::Wait => {}
        }
        Poll::Pending
    }
}

impl fmt::Debug for Drive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("compaction", &self.compaction)
            .field("asked", &self.answers.len())
            .finish_non_exhaustive()
    }
}
