//! A whole compactor whose cost counts against the caps on spending.

use std::sync::Arc;
use std::time::Duration;

use epitome::engine::delegate::{Compact, Compacting, Decision, Job, ProposedView};
use epitome::model::Money;
use epitome_llm::Purse;

/// How long books are waited for that others hold.
const BOOKS: Duration = Duration::from_secs(10);

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
            // What it will take it says when it is over.
            let reserved = self.purse.reserve(Money::ZERO, Money::ZERO, BOOKS).await?;
            let answer = Arc::clone(&self.by).compact(job).await;
            let cost = match &answer {
                Ok(Decision::Compacted(ProposedView { summary, spent, .. })) => {
                    let mut spent = *spent;
                    spent += summary.as_ref().map(|summary| summary.spent).unwrap_or_default();
                    spent.cost
                }
                Ok(Decision::Skip(skip)) => skip.spent.cost,
                Err(error) => error.spent.cost,
            };
            reserved.settle(cost.unwrap_or(Money::ZERO));
            answer
        })
    }
}
