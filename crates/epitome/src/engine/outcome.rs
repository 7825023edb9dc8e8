//! The outcome of a compaction, with its receipt.

use std::collections::HashMap;
use std::sync::Arc;

use super::prepare::{Base, Prepared};
use super::render::Finished;
use super::{Compactor, Outcome, Run, State};
use crate::archive::Original;
use crate::checkpoint::{self, Checkpoint};
use crate::count::{AROUND_MESSAGE, Tally};
use crate::delegate::Compact;
use crate::guard::KeepReason;
use crate::model::{Money, Rewrite};
use crate::plan::{Plan, Reached};
use crate::receipt::{
    Became, CheckpointReceipt, Edited, Excerpted, HumanMessages, KeptPrefix, Originals,
    RECEIPT_VERSION, Receipt, RequestSize,
};
use crate::request::Request;
use crate::transcript::{ContentId, Origin, Part};
use crate::trigger::{Asker, Cause, Demand};
use crate::view::{Fate, PartEdit, Reason, View};
use crate::wire::{self, Laid, Mended, Piece};

impl Outcome {
    /// The bytes that the model is sent.
    pub fn rendered(&self) -> &str {
        self.request.source()
    }

    /// The original of every entry that the view hides or edits.
    pub fn originals(&self) -> Vec<Original> {
        let hidden: Vec<bool> = self.view.fates().map(|fate| *fate != Fate::Keep).collect();
        Original::of(&self.base, |entry| hidden[entry])
    }
}

impl Prepared {
    /// The outcome, with its receipt.
    pub(super) fn finished(
        mut self: Box<Self>,
        (plan, checkpoint): (Plan, Option<Checkpoint>),
        (view, request): (View, Request),
        by: Option<Arc<dyn Compact>>,
        run: &mut Run,
    ) -> State {
        self.book_given("nothing is folded that it could stand for", run);
        let (base, tally, compactor) = (&self.base.request, &self.tally, &run.compactor);
        let laid = wire::layout(base, &view);
        let after = tally.in_kind(tokens(&plan, checkpoint.as_ref(), &laid));
        let triggered = plan.reached.is_compacted();
        let window = compactor.due.as_ref().and_then(|due| due.around.window);
        let most = if triggered { Some(self.target) } else { window };
        let kept = view.kept_prefix().min(self.first_mended()).min(first_shared(&laid));
        let kept_prefix = kept_prefix(base, tally, kept);
        let rewrite = Rewrite {
            before: tally.total().tokens,
            after: after.tokens,
            kept: kept_prefix.tokens,
            summary: run.log.spent().cost.unwrap_or(Money::ZERO),
        };
        let reader = compactor.reader(base).filter(|_| triggered);
        let shown = checkpoint.filter(|_| view.checkpoint().is_some());
        let fallbacks = std::mem::take(&mut run.log.fallbacks);
        let before = self.base.came.unwrap_or_else(|| RequestSize::of(base, tally.total()));
        // What isn't due isn't looked at.
        let is_looked_at = plan.reached != Reached::NotTriggered;
        let left = if is_looked_at { wire::inspect(&request, &[]) } else { Vec::new() };
        let receipt = Receipt {
            version: RECEIPT_VERSION,
            format: base.format,
            model: base.model(),
            counter: compactor.counter().name().to_owned(),
            triggered,
            strategy: compactor.called().to_owned(),
            reason: reason(compactor, &plan.reached, &fallbacks),
            cause: compactor.cause().cloned().or_else(|| {
                // Without a trigger, the caller wants it.
                let is_asked = triggered && compactor.due.is_none();
                is_asked.then(|| Cause::Asked(vec![Demand::new(Asker::Host, "")]))
            }),
            about: compactor.context().clone(),
            metadata: std::mem::take(&mut run.log.metadata),
            reached: reached(&plan, after.tokens, self.target),
            elsewhere: base.elsewhere(),
            target: self.target,
            floor: plan.floor.min(after.tokens),
            before,
            after: RequestSize::of(&request, after),
            kept_task: kept_task(base, &view),
            kept_recent: view.kept_suffix(),
            over_budget: most.is_some_and(|most| after.tokens > most),
            edits: edits(tally, &plan, &view),
            checkpoint: shown.as_ref().zip(view.checkpoint()).map(|(checkpoint, placed)| {
                CheckpointReceipt {
                    id: checkpoint.id,
                    before_entry: placed.before,
                    tokens: checkpoint.tokens,
                    human_messages: checkpoint.words,
                    human_messages_quoted: checkpoint.words_kept,
                }
            }),
            summary: run.log.summary.take(),
            human_messages: human_messages(base, &view, shown.as_ref()),
            excerpted: self.excerpted(&plan, &view),
            standing_checkpoints: self.standing_checkpoints(&view),
            kept_prefix,
            cost: reader.and_then(|model| model.cost(&rewrite)),
            unmatched_pins: self.guard.unmatched().to_vec(),
            unheld_pins: self.guard.unheld().to_vec(),
            steps: plan.steps,
            mending_took: before.count.tokens.saturating_sub(tally.total().tokens),
            mending_added: tally.total().tokens.saturating_sub(before.count.tokens),
            repaired: repaired(self.base.mended, &self.base.came_from, &view),
            left,
            fallbacks,
            originals: run.originals,
        };
        let summary = shown.and_then(|checkpoint| checkpoint.summary);
        let Base { request: base, came_from, .. } = self.base;
        let is_kept = view.is_whole() || run.originals == Originals::Caller;
        let outcome = Box::new(Outcome { base, came_from, view, request, summary, receipt });
        let finished = Finished { outcome, by };
        if is_kept { State::Finished(finished) } else { State::Keeping(finished) }
    }

    /// Held entries that aren't shown verbatim.
    fn excerpted(&self, plan: &Plan, view: &View) -> Vec<Excerpted> {
        let firm = self.guard.firm();
        let is_words = |edit: &PartEdit, at: usize| {
            let part = self.base.request.transcript.part(edit.at);
            let entry = self.base.request.transcript.entry(at);
            edit.reason == Reason::TooLarge && (part.is_human() || !entry.is_human())
        };
        let fates = view.fates().enumerate();
        let cut = fates.filter(|(at, fate)| match fate {
            Fate::Edit(edits) => edits.iter().any(|edit| is_words(edit, *at)),
            _ => false,
        });
        cut.filter_map(|(entry, _)| {
            let held = firm.get(&entry).copied()?;
            // Two held entries are left out: the model's answer to the newest message, and the task
            // if no person gave one.
            let is_human = self.base.request.transcript.entry(entry).is_human();
            if matches!(held, KeepReason::Last | KeepReason::Task) && !is_human {
                return None;
            }
            let (tokens, left) = (self.tally.entry(entry), plan.draft.entry_tokens(entry));
            Some(Excerpted { entry, held, tokens, left })
        })
        .collect()
    }

    fn standing_checkpoints(&self, view: &View) -> Vec<ContentId> {
        let shown = self.base.request.transcript.entries().zip(view.fates());
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

    /// The first entry that differs from the input; a cache knows those before it.
    fn first_mended(&self) -> usize {
        let broken = self.base.mended.iter().map(|mended| mended.entry.unwrap_or(0)).min();
        let moved = (0..self.base.came_from.len()).find(|at| self.base.came_from[*at] != Some(*at));
        let all = self.base.came_from.len();
        broken.unwrap_or(all).min(moved.unwrap_or(all))
    }
}

/// Tokens of a view that is laid out so.
pub(super) fn tokens(plan: &Plan, checkpoint: Option<&Checkpoint>, laid: &[Laid]) -> u64 {
    let own = checkpoint.map_or(0, |checkpoint| checkpoint.tokens);
    plan.draft.total() + own - wire::shared(laid) as u64 * AROUND_MESSAGE
}

/// The repairs, and whether each message is hidden since.
fn repaired(mut mended: Vec<Mended>, came_from: &[Option<usize>], view: &View) -> Vec<Mended> {
    if mended.is_empty() {
        return mended;
    }
    let fates: HashMap<usize, &Fate> = came_from
        .iter()
        .zip(view.fates())
        .filter_map(|(from, fate)| Some(((*from)?, fate)))
        .collect();
    for one in &mut mended {
        let since = match one.entry.and_then(|entry| fates.get(&entry)) {
            Some(Fate::Fold(_)) => "the message was folded since",
            Some(Fate::Drop(_)) => "the message was dropped since",
            _ => continue,
        };
        one.mend = format!("{}; {since}", one.mend).into();
    }
    mended
}

/// Why something was done, or nothing was.
fn reason(compactor: &Compactor, reached: &Reached, fallbacks: &[String]) -> String {
    let cause = compactor.cause().map(ToString::to_string);
    let is_small = "at or under the target";
    match (reached, cause) {
        (Reached::NotTriggered, _) => "the trigger doesn't fire".to_owned(),
        (Reached::Declined, _) => match fallbacks.last() {
            Some(why) => why.clone(),
            None => "nobody wanted it".to_owned(),
        },
        (Reached::NothingToDo, Some(cause)) => format!("{cause}; {is_small}"),
        (Reached::NothingToDo, None) => is_small.to_owned(),
        (_, Some(cause)) => cause,
        (_, None) => "above the target".to_owned(),
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

/// The first entry that shares its message.
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
