//! What was spent on answers that nobody waited for in the end.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use epitome::engine::{Answer, Step};
use epitome::model::Money;
use epitome::summarize::{
    Answering, FailureKind, OnFailure, Spent, Summaries, SummarizeError, Summarizer, SummaryRequest,
};
use epitome::{CompactError, Compaction, Outcome};

use super::{compactor, run, session, with};

/// Fails the first part, and is paid for the others when they are given up.
#[derive(Debug)]
struct Paid {
    asked: Mutex<usize>,
}

const PRICE: Money = Money::micro(20);

impl Summarizer for Paid {
    fn name(&self) -> &'static str {
        "paid"
    }

    fn window(&self) -> Option<u64> {
        Some(5_000)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        struct Bill(Arc<SummaryRequest>);
        impl Drop for Bill {
            fn drop(&mut self) {
                let spent = Spent { requests: 1, cost: Some(PRICE), ..Spent::default() };
                self.0.tab.book(spent);
            }
        }
        let mut asked = self.asked.lock().expect("nobody panics");
        *asked += 1;
        if *asked == 1 {
            let failed = SummarizeError::new(FailureKind::Rejected, "on purpose");
            return Box::pin(std::future::ready(Err(failed)));
        }
        Box::pin(async move {
            let _bill = Bill(request);
            std::future::pending().await
        })
    }
}

/// Drives as one does who lets go only between stretches of steps.
fn by_hand(mut compaction: Compaction) -> Result<Outcome, CompactError> {
    let mut asked: Vec<(u32, Answering)> = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let step = loop {
            match compaction.step() {
                Step::Yield => {}
                step => break step,
            }
        };
        asked.retain(|(id, _)| compaction.wants(*id));
        match step {
            Step::Done(done) => return done.map(|outcome| *outcome),
            Step::Summarize(asks) => {
                asked.extend(asks.into_iter().map(|ask| (ask.id, ask.by.summarize(ask.request))));
            }
            step => assert!(matches!(step, Step::Wait), "{step:?}"),
        }
        asked.retain_mut(|(id, answer)| match answer.as_mut().poll(&mut context) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                compaction.supply(Answer::Summary(*id, answer));
                false
            }
        });
    }
}

#[test]
fn what_given_up_calls_took_is_in_the_receipt() {
    let summaries = |on_failure| Summaries {
        on_failure,
        ..with(vec![Arc::new(Paid { asked: Mutex::new(0) })])
    };
    let receipt = run(summaries(OnFailure::Extractive)).expect("a view").receipt;
    assert_eq!(receipt.fallbacks, ["paid: the request was refused: on purpose"]);
    let told = receipt.summary.expect("asked");
    assert_eq!((told.spent.requests, told.spent.cost), (3, Some(PRICE.times(3))));
    let whys: Vec<_> = told.calls.iter().filter_map(|call| call.why.as_deref()).collect();
    let given_up = "nobody waits for its answer";
    assert_eq!(whys, ["the request was refused: on purpose", given_up, given_up, given_up]);
    let failed = run(summaries(OnFailure::Error)).expect_err("it was to fail");
    let CompactError::Summary { spent, .. } = failed else { panic!("{failed}") };
    assert_eq!(spent.cost, Some(PRICE.times(3)));
    let compactor = compactor().with_summaries(summaries(OnFailure::Extractive)).expect("in range");
    let outcome = by_hand(compactor.begin(&session())).expect("a view");
    assert_eq!(outcome.receipt.summary.expect("asked").spent.cost, Some(PRICE.times(3)));
}
