//! From a plan to a checked outcome with its receipt.

use super::{Compaction, Compactor, Outcome};
use crate::archive::Original;
use crate::checkpoint::{self, Checkpoint};
use crate::count::{AROUND_MESSAGE, Tally};
use crate::guard::KeepReason;
use crate::model::{Money, Rewrite};
use crate::plan::{Plan, Reached};
use crate::receipt::{
    Became, CheckpointReceipt, Edited, Excerpted, HumanMessages, KeptPrefix, RECEIPT_VERSION,
    Receipt, RequestSize,
};
use crate::request::Request;
use crate::transcript::{ContentId, Origin, Part};
use crate::view::{Fate, PartEdit, Reason, View};
use crate::wire::{self, Finding, Laid, Piece};

impl Outcome {
    /// The bytes that the model is sent.
    pub fn rendered(&self) -> &str {
        self.request.source()
    }

    /// Every entry that the view hides or edits, as it was.
    pub fn originals(&self) -> Vec<Original> {
        let hidden: Vec<bool> = self.view.fates().map(|fate| *fate != Fate::Keep).collect();
        Original::of(&self.base, |entry| hidden[entry])
    }
}

impl Compaction {
    pub(super) fn outcome(
        &self,
        tally: &Tally,
        plan: &Plan,
        checkpoint: Option<Checkpoint>,
        view: View,
    ) -> Result<Outcome, String> {
        let request = if view.is_whole() { self.request.clone() } else { self.rendered(&view)? };
        let own = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.tokens);
        let laid = wire::layout(&self.request, &view);
        let saved = wire::shared(&laid) as u64 * AROUND_MESSAGE;
        let after = tally.in_kind(plan.draft.total() + own - saved);
        let triggered = plan.reached.is_compacted();
        let target = self.target(tally);
        let window = self.compactor.due().and_then(|due| due.around.window);
        let most = if triggered { Some(target) } else { window };
        let kept = view.kept_prefix().min(self.first_mended()).min(first_shared(&laid));
        let kept_prefix = kept_prefix(&self.request, tally, kept);
        let rewrite = Rewrite {
            before: tally.total().tokens,
            after: after.tokens,
            kept: kept_prefix.tokens,
            summary: self.summary.as_ref().and_then(|s| s.spent.cost).unwrap_or(Money::ZERO),
        };
        let reader = self.compactor.reader(&self.request).filter(|_| triggered);
        let checkpoint_of = checkpoint.as_ref().filter(|_| view.checkpoint().is_some());
        let human_messages = human_messages(&self.request, &view, checkpoint_of);
        let receipt = Receipt {
            version: RECEIPT_VERSION,
            format: self.request.format,
            model: self.request.model(),
            counter: self.compactor.counter().name().to_owned(),
            triggered,
            strategy: self.compactor.called().to_owned(),
            reason: self.reason(&plan.reached),
            cause: self.compactor.cause().cloned(),
            reached: reached(plan, after.tokens, target),
            elsewhere: self.request.elsewhere(),
            target,
            floor: plan.floor.min(after.tokens),
            before: RequestSize::of(&self.request, tally.total()),
            after: RequestSize::of(&request, after),
            kept_task: kept_task(&self.request, &view),
            kept_recent: view.kept_suffix(),
            over_budget: most.is_some_and(|most| after.tokens > most),
            steps: plan.steps.clone(),
            edits: edits(tally, plan, &view),
            checkpoint: checkpoint.zip(view.checkpoint()).map(|(checkpoint, placed)| {
                CheckpointReceipt {
                    id: checkpoint.id,
                    before_entry: placed.before,
                    tokens: checkpoint.tokens,
                    human_messages: checkpoint.words,
                    human_messages_quoted: checkpoint.words_kept,
                }
            }),
            summary: self.summary.clone(),
            human_messages,
            excerpted: self.excerpted(tally, plan, &view),
            standing_checkpoints: self.standing_checkpoints(&view),
            kept_prefix,
            cost: reader.and_then(|model| model.cost(&rewrite)),
            repaired: self.mended.clone(),
            left: self.left.clone(),
            unmatched_pins: self.unmatched_pins.clone(),
            unheld_pins: self.unheld_pins.clone(),
            fallbacks: self.fallbacks.clone(),
            originals: self.originals,
        };
        let (base, came_from) = (self.request.clone(), self.came_from.clone());
        Ok(Outcome { base, came_from, view, request, receipt })
    }

    /// Why something was done, or nothing was.
    fn reason(&self, reached: &Reached) -> String {
        let cause = self.compactor.cause().map(ToString::to_string);
        let is_small = "at or under the target";
        match (reached, cause) {
            (Reached::NotTriggered, _) => "the trigger doesn't fire".to_owned(),
            (Reached::Declined, _) => match self.fallbacks.last() {
                Some(why) => why.clone(),
                None => "nobody wanted it".to_owned(),
            },
            (Reached::NothingToDo, Some(cause)) => format!("{cause}; {is_small}"),
            (Reached::NothingToDo, None) => is_small.to_owned(),
            (_, Some(cause)) => cause,
            (_, None) => "above the target".to_owned(),
        }
    }

    /// What was held for its own sake and isn't shown as it was said.
    fn excerpted(&self, tally: &Tally, plan: &Plan, view: &View) -> Vec<Excerpted> {
        let is_words = |edit: &PartEdit, at: usize| {
            let part = self.request.transcript.part(edit.at);
            let entry = self.request.transcript.entry(at);
            edit.reason == Reason::TooLarge && (part.is_human() || !entry.is_human())
        };
        let fates = view.fates().enumerate();
        let cut = fates.filter(|(at, fate)| match fate {
            Fate::Edit(edits) => edits.iter().any(|edit| is_words(edit, *at)),
            _ => false,
        });
        cut.filter_map(|(entry, _)| {
            let held = self.firm.get(&entry).copied()?;
            // The model's answer to the newest message is there to show that there is one, and what
            // stands for a task where no person gave one isn't anybody's words.
            let is_human = self.request.transcript.entry(entry).is_human();
            if matches!(held, KeepReason::Newest | KeepReason::Task) && !is_human {
                return None;
            }
            let (tokens, left) = (tally.entry(entry), plan.draft.entry_tokens(entry));
            Some(Excerpted { entry, held, tokens, left })
        })
        .collect()
    }

    fn standing_checkpoints(&self, view: &View) -> Vec<ContentId> {
        let shown = self.request.transcript.entries().zip(view.fates());
        let stands = |part: &Part<'_>, fate: &Fate| {
            let stays = match fate {
                Fate::Keep => true,
                Fate::Edit(edits) => edits.iter().all(|edit| edit.at != part.slot),
                Fate::Fold(_) | Fate::Drop(_) => false,
            };
            stays && part.origin() == Origin::Checkpoint
        };
        shown
            .flat_map(|(entry, fate)| entry.parts().filter(move |part| stands(part, fate)))
            .filter_map(|part| Compactor::continues(&part))
            .collect()
    }

    /// The first entry that isn't what it was when it came in; what is before it a cache knows.
    fn first_mended(&self) -> usize {
        let broken = self.mended.iter().map(|mended| mended.entry.unwrap_or(0)).min();
        let moved = (0..self.came_from.len()).find(|at| self.came_from[*at] != Some(*at));
        let all = self.came_from.len();
        broken.unwrap_or(all).min(moved.unwrap_or(all))
    }

    /// Renders the view and checks exactly what would be sent.
    fn rendered(&self, view: &View) -> Result<Request, String> {
        let request =
            wire::shown(&self.request, view).expect("spliced JSON is JSON of the same format");
        if request.transcript.is_empty() {
            return Err("the view would show nothing".to_owned());
        }
        let known = |finding: &Finding| self.left.iter().any(|left| left.rule == finding.rule);
        match wire::check(&request).into_iter().find(|finding| !known(finding)) {
            None => Ok(request),
            Some(Finding { rule, entry, detail, .. }) => {
                Err(format!("the view would break {rule} at message {entry} ({detail})"))
            }
        }
    }
}

/// Whether the first human message, if there is one, is shown byte for byte.
pub(crate) fn kept_task(request: &Request, view: &View) -> bool {
    let mut shown = request.transcript.entries().zip(view.fates());
    let task = shown.find(|(entry, _)| entry.is_human());
    task.is_none_or(|(_, fate)| *fate == Fate::Keep)
}

fn human_messages(
    request: &Request,
    view: &View,
    checkpoint: Option<&Checkpoint>,
) -> HumanMessages {
    let mut sum = HumanMessages::default();
    let mut folded = 0;
    for (entry, fate) in request.transcript.entries().zip(view.fates()) {
        let said = match entry.origin() {
            Origin::Human => 1,
            Origin::Checkpoint => entry
                .parts()
                .filter_map(|part| checkpoint::read(&part.text()))
                .map(|contents| contents.words.len())
                .sum(),
            _ => continue,
        };
        sum.all += said;
        match fate {
            Fate::Keep | Fate::Edit(_) => sum.shown += said,
            Fate::Fold(_) => folded += said,
            Fate::Drop(_) => sum.lost += said,
        }
    }
    if let Some(checkpoint) = checkpoint {
        sum.quoted = checkpoint.words_kept;
        sum.quoted_in_part = checkpoint.words_in_part;
    }
    sum.lost += folded - (sum.quoted + sum.quoted_in_part).min(folded);
    sum
}

/// The first entry whose message holds something besides.
fn first_shared(laid: &[Laid]) -> usize {
    let shares = |pair: &&[Laid]| pair[0].message == pair[1].message;
    match laid.windows(2).find(shares).map(|pair| pair[0].piece) {
        Some(Piece::Entry(at)) => at,
        // Nothing is kept behind a checkpoint.
        Some(Piece::Checkpoint) | None => usize::MAX,
    }
}

/// Where the plan lands, now that messages are shared.
fn reached(plan: &Plan, tokens: u64, target: u64) -> Reached {
    match &plan.reached {
        Reached::Short | Reached::Unreachable { .. } if tokens <= target => Reached::Target,
        reached => reached.clone(),
    }
}

fn kept_prefix(request: &Request, tally: &Tally, entries: usize) -> KeptPrefix {
    let bytes = match entries.checked_sub(1) {
        Some(last) => request.transcript.entry(last).span().end as usize,
        None => request.head().len(),
    };
    let tokens = tally.frame.total().tokens + (0..entries).map(|at| tally.entry(at)).sum::<u64>();
    KeptPrefix { entries, bytes, tokens }
}

fn edits(tally: &Tally, plan: &Plan, view: &View) -> Vec<Edited> {
    let mut runs: Vec<Edited> = Vec::new();
    for (at, fate) in view.fates().enumerate() {
        let (became, reason): (Became, Reason) = match fate {
            Fate::Keep => continue,
            Fate::Edit(edits) => (Became::Edit, edits[0].reason),
            Fate::Fold(reason) => (Became::Fold, *reason),
            Fate::Drop(reason) => (Became::Drop, *reason),
        };
        let saved = tally.entry(at).saturating_sub(plan.draft.entry_tokens(at));
        match runs.last_mut() {
            Some(run) if run.to + 1 == at && run.fate == became && run.reason == reason => {
                run.to = at;
                run.saved += saved;
            }
            _ => runs.push(Edited { from: at, to: at, fate: became, reason, saved }),
        }
    }
    runs
}
