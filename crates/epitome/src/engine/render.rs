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
        let request =
            if view.is_whole() { Ok(base.clone()) } else { prepared.rendered(&view, &by) };
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
                match own.next() {
                    Some(next) => Planning::begin(prepared, Purpose::Compaction(next), run),
                    None => prepared.leave(run),
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
    /// Renders the view and checks exactly what would be sent: it breaks no rule that the request doesn't break.
    fn rendered(&self, view: &View, by: &Planned) -> Result<Request, String> {
        let base = &self.base.request;
        let request = wire::shown(base, view).expect("spliced JSON is JSON of the same format");
        if request.transcript.is_empty() {
            return Err("the view would show nothing".to_owned());
        }
        let is_new =
            |found: &Finding, left: &[Finding]| left.iter().all(|it| it.rule != found.rule);
        let checked =
            wire::check(&request).into_iter().find(|found| is_new(found, &self.base.left));
        let inspected = || {
            let dialect = base.format.dialect();
            let mut found = dialect.inspect(&request).into_iter().peekable();
            let left = found.peek().map(|_| dialect.inspect(base))?;
            found.find(|found| is_new(found, &left))
        };
        let found = match by {
            Planned::Here(Own::Uninspected) => checked,
            _ => checked.or_else(inspected),
        };
        match found {
            None => Ok(request),
            Some(Finding { rule, entry, detail, .. }) => {
                Err(format!("the view would break {rule} at message {entry} ({detail})"))
            }
        }
    }
}
