//! From a plan and its checkpoint to a view that is checked.

use std::sync::Arc;

use super::log::Log;
use super::outcome::tokens;
use super::planning::{Own, Planned, Planning, Purpose};
use super::prepare::Prepared;
use super::{Outcome, Run, State};
use crate::archive::Original;
use crate::checkpoint::Checkpoint;
use crate::delegate::Compact;
use crate::events::Event;
use crate::plan::Plan;
use crate::request::Request;
use crate::summarize::End;
use crate::view::{Placed, View};
use crate::wire::{self, Finding};

/// A plan and its checkpoint are made into a view, and checked.
#[derive(Debug)]
pub(super) struct Rendering {
    pub(super) prepared: Box<Prepared>,
    pub(super) plan: Plan,
    pub(super) by: Planned,
    pub(super) checkpoint: Option<Checkpoint>,
}

/// There is a view.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) outcome: Box<Outcome>,
    /// Whose plan it is, if it was made elsewhere.
    pub(super) by: Option<Arc<dyn Compact>>,
}

impl Rendering {
    /// The view; where it can't be used, the next way to one.
    pub(super) fn next(self: Box<Self>, run: &mut Run) -> State {
        let Rendering { prepared, mut plan, by, checkpoint } = *self;
        let base = &prepared.base.request;
        let mut view = plan.draft.view(&base.transcript);
        if let Some(checkpoint) = &checkpoint {
            view.place(Placed { before: plan.place, text: Arc::clone(&checkpoint.text) });
        }
        plan.draft.forget_edits();
        let request = if view.is_whole() { Ok(base.clone()) } else { prepared.rendered(&view) };
        match (request, by) {
            (Ok(request), Planned::Elsewhere(by, at)) => {
                let laid = wire::layout(base, &view);
                let tokens = tokens(&plan, checkpoint.as_ref(), &laid);
                if tokens >= prepared.tally.total().tokens || tokens > prepared.target {
                    let why = format!("its view has {tokens} tokens, which are too many");
                    return prepared.without_compactor(by.as_ref(), at, &why, run);
                }
                prepared.finished((plan, checkpoint), (view, request), Some(by), run)
            }
            (Ok(request), Planned::Here(_)) => {
                prepared.finished((plan, checkpoint), (view, request), None, run)
            }
            (Err(why), Planned::Elsewhere(by, at)) => {
                prepared.without_compactor(by.as_ref(), at, &why, run)
            }
            (Err(why), Planned::Here(own)) => {
                run.log.fell_back(&Event::FellBack { why: why.clone() }, why);
                // Spent money stays recorded; the next view may show no summary.
                run.log.shows_summary(None, 0);
                match own {
                    Own::Strategies => {
                        Planning::begin(prepared, Purpose::Compaction(Own::Oldest), run)
                    }
                    Own::Oldest => prepared.leave(run),
                }
            }
        }
    }
}

impl Finished {
    /// The originals that must be durable first.
    pub(super) fn originals(&self) -> Vec<Original> {
        self.outcome.originals()
    }

    pub(super) fn next(self, log: &mut Log) -> Box<Outcome> {
        if let Some(by) = &self.by {
            by.settled(End::Admitted);
        }
        log.finished(&self.outcome);
        self.outcome
    }
}

impl Prepared {
    /// Renders the view and checks exactly what would be sent.
    fn rendered(&self, view: &View) -> Result<Request, String> {
        let request =
            wire::shown(&self.base.request, view).expect("spliced JSON is JSON of the same format");
        if request.transcript.is_empty() {
            return Err("the view would show nothing".to_owned());
        }
        let known = |finding: &Finding| self.base.left.iter().any(|left| left.rule == finding.rule);
        match wire::check(&request).into_iter().find(|finding| !known(finding)) {
            None => Ok(request),
            Some(Finding { rule, entry, detail, .. }) => {
                Err(format!("the view would break {rule} at message {entry} ({detail})"))
            }
        }
    }
}
