//! A whole compactor whose cost counts against the caps on spending.

use std::sync::Arc;

use epitome::compact::{Compact, Compacting, Job, Verdict};
use epitome::model::Money;
use epitome::summarize::{FailureKind, SummarizeError};
use epitome_llm::Purse;

/// It is asked as long as there is something left, and what it says that it took is booked.
#[derive(Debug)]
pub(super) struct Paid {
    pub(super) by: Arc<dyn Compact>,
    pub(super) purse: Arc<Purse>,
}

impl Compact for Paid {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn compact(self: Arc<Self>, job: Arc<Job>) -> Compacting {
        Box::pin(async move {
            // What it takes nobody knows before it says so.
            let hold = self.purse.hold(Money::ZERO);
            let mut hold = hold.map_err(|why| SummarizeError::new(FailureKind::SpendCap, why))?;
            let answer = Arc::clone(&self.by).compact(job).await;
            let cost = match &answer {
                Ok(Verdict::Compacted(compacted)) => compacted.spent.cost,
                Ok(Verdict::Skip(_)) => None,
                Err(error) => error.spent.cost,
            };
            if let Some(cost) = cost {
                hold.cost(cost);
            }
            answer
        })
    }
}
