//! Work that takes longer than a task may hold its runtime, on threads of its own.

use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use epitome::CompactError;
use epitome::engine::delegate::Delegation;
use epitome::engine::hook::Question;
use epitome::engine::{Answer, Compaction, Outcome, Step};
use epitome::summarize::{Answering, Ask};
use tokio::sync::oneshot;

use crate::caught::caught;

/// What `work` gives, done on a thread, or what it said as it panicked; `work` is told how to find out whether
/// somebody still waits. Where the system gives no thread, it is done here.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, String> {
    let (tell, told) = oneshot::channel();
    let work = move || {
        let done = caught(|| work(&|| !tell.is_closed()));
        // Nobody may want it any more.
        drop(tell.send(done));
    };
    elsewhere(work);
    told.await.unwrap_or_else(|_| Err("its thread ended".to_owned()))
}

/// Has `work` done on a thread, or here, where the system gives none.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    // A thread that can't be had would take the work along.
    let (hand, handed) = mpsc::sync_channel(1);
    let worker =
        move || handed.recv().into_iter().for_each(|work: Box<dyn FnOnce() + Send>| work());
    let is_there = thread::Builder::new().name("epitome".to_owned()).spawn(worker).is_ok();
    if is_there {
        hand.send(Box::new(work)).expect("it waits for its work");
    } else {
        work();
    }
}

/// Drives a compaction to its end: what it does by itself on a thread, what it asks others here. The caller
/// holds the originals.
pub(crate) async fn drive(mut compaction: Compaction) -> Result<Outcome, CompactError> {
    let mut asked: Vec<(u32, Answering)> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        let around = compaction.around();
        let stretch = move |is_wanted: &dyn Fn() -> bool| {
            let mut step = Step::Yield;
            around(&mut || {
                answers.drain(..).for_each(|answer| compaction.supply(answer));
                while matches!(step, Step::Yield) && is_wanted() {
                    step = compaction.step();
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
