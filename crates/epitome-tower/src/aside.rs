//! Work that takes longer than a task may hold its runtime, on the threads that the runtime keeps for such.

use std::future::poll_fn;
use std::task::Poll;

use epitome::CompactError;
use epitome::engine::delegate::Delegation;
use epitome::engine::events::ThreadScope;
use epitome::engine::hook::Question;
use epitome::engine::{Answer, Compaction, Outcome, Step};
use epitome::summarize::{Answering, Ask};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::caught::caught;

/// The result of `work`, done on a thread of the runtime's, or its panic message; `work` can ask whether somebody still
/// waits. If the executor isn't tokio's, it is done here.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, String> {
    let Ok(runtime) = Handle::try_current() else { return caught(|| work(&|| true)) };
    let (tell, told) = oneshot::channel();
    runtime.spawn_blocking(move || {
        let done = caught(|| work(&|| !tell.is_closed()));
        // Nobody may want it any more.
        drop(tell.send(done));
    });
    told.await.unwrap_or_else(|_| Err("its runtime ended".to_owned()))
}

/// Has `work` done on a thread of the runtime's, or here, where there is none.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(work)),
        Err(_) => work(),
    }
}

/// How many steps of a compaction are done at a time: as many as there are on a thread of its own, else one, and then others
/// come first.
fn at_a_time() -> usize {
    if Handle::try_current().is_ok() { usize::MAX } else { 1 }
}

/// Lets others go first.
async fn yielded() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Drives a compaction to its end: its own work aside, its questions here. It begins within `scope`. The caller holds the
/// originals.
pub(crate) async fn drive(
    mut compaction: Compaction,
    scope: ThreadScope,
) -> Result<Outcome, CompactError> {
    let mut scope = Some(scope);
    let mut asked: Vec<(u32, Answering)> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        let around = scope.take().unwrap_or_else(|| compaction.around());
        let most = at_a_time();
        let stretch = move |is_wanted: &dyn Fn() -> bool| {
            let mut step = Step::Yield;
            around(&mut || {
                answers.drain(..).for_each(|answer| compaction.supply(answer));
                let mut done = 0;
                while matches!(step, Step::Yield) && done < most && is_wanted() {
                    step = compaction.step();
                    done += 1;
                }
            });
            (compaction, step)
        };
        let (stepped, step) = aside(stretch).await.map_err(CompactError::Panicked)?;
        compaction = stepped;
        // What nobody wants any more is cancelled.
        asked.retain(|(id, _)| compaction.wants(*id));
        answers = match step {
            Step::Done(done) => return done.map(|outcome| *outcome),
            Step::Summarize(asks) => {
                let begin = |Ask { id, by, request }: Ask| (id, by.summarize(request));
                asked.extend(asks.into_iter().map(begin));
                Vec::new()
            }
            Step::Wait => vec![first(&mut asked).await],
            Step::Hook(Question { by, proposal }) => {
                vec![Answer::Hooked(by.before(proposal).await)]
            }
            Step::Delegate(Delegation { by, job }) => {
                vec![Answer::Delegated(by.compact(job).await)]
            }
            Step::Persist(_) => vec![Answer::Persisted(Ok(()))],
            Step::Yield => {
                yielded().await;
                Vec::new()
            }
            _ => Vec::new(),
        };
    }
}

/// The first answer that comes.
async fn first(asked: &mut Vec<(u32, Answering)>) -> Answer {
    poll_fn(|context| {
        let mut polls = asked.iter_mut().enumerate();
        let came = polls.find_map(|(at, (_, answer))| match answer.as_mut().poll(context) {
            Poll::Ready(answer) => Some((at, answer)),
            Poll::Pending => None,
        });
        let Some((at, answer)) = came else { return Poll::Pending };
        let (id, _) = asked.remove(at);
        Poll::Ready(Answer::Summary(id, answer))
    })
    .await
}
