//! A compactor's configuration, and the ways to drive it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{CompactError, Compaction, Options, OptionsError, Outcome};
use crate::archive::Archive;
use crate::budget::{Stop, Target};
use crate::checkpoint::looks_like_one;
use crate::context::JobContext;
use crate::count::TokenCounter;
use crate::delegate::Compactors;
use crate::events::{CompactionId, Observer};
use crate::guard::{OpenLoop, Pin, Predicate, Preserved};
use crate::hook::Hooks;
use crate::model::{Binding, Model, Registry};
use crate::receipt::Originals;
use crate::request::Request;
use crate::strategy::{Fold, Head, Named, Pipeline, Strategy};
use crate::summarize::{AgentPrompt, Summaries};
use crate::transcript::{ContentId, Part};
use crate::trigger::{Cause, Measurements, Trigger};

/// When to compact at all.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) trigger: Arc<dyn Trigger>,
    /// The trigger's measurements besides the request's sizes.
    pub(super) around: Arc<Measurements>,
}

/// The observers, and the number of compactions so far.
#[derive(Debug)]
struct Watch {
    observer: Arc<dyn Observer>,
    told: AtomicU64,
}

/// Compacts requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Compactor {
    options: Arc<Options>,
    pub(super) counter: Arc<dyn TokenCounter>,
    pub(super) strategies: Arc<[Arc<dyn Strategy>]>,
    chosen: Option<Predicate>,
    /// `ladder`, or the names of the strategies.
    called: Arc<str>,
    pub(super) due: Option<Due>,
    cause: Option<Arc<Cause>>,
    /// What the caller says.
    about: Arc<JobContext>,
    /// Why it is done here if no compactor answers that is asked on every call.
    cause_alone: Option<Arc<Cause>>,
    watch: Option<Arc<Watch>>,
    hooks: Option<Arc<Hooks>>,
    model: Option<Arc<Model>>,
    /// The model's way to find hidden content.
    pub(super) channel: Option<Arc<str>>,
    summaries: Option<Arc<Summaries>>,
    /// What the agent sends by itself, if that is known.
    pub(super) prompt: Option<Arc<AgentPrompt>>,
    compactors: Option<Arc<Compactors>>,
    /// What becomes of a loop in progress that is bound to the prefix.
    pub(super) open_loop: OpenLoop,
}

impl Compactor {
    /// A compactor with the strategies that its options say.
    ///
    /// # Errors
    /// A setting that is out of range; it never means "off".
    pub fn new(options: Options, counter: Arc<dyn TokenCounter>) -> Result<Self, OptionsError> {
        options.check()?;
        let strategies = options.strategies.build()?.into();
        let called = match &options.strategies {
            Pipeline::Ladder(_) => "ladder".into(),
            Pipeline::List(list) => called(list.iter().map(Named::name)),
        };
        Ok(Compactor {
            options: Arc::new(options),
            called,
            due: None,
            counter,
            strategies,
            chosen: None,
            cause: None,
            about: Arc::default(),
            cause_alone: None,
            watch: None,
            hooks: None,
            model: None,
            channel: None,
            summaries: None,
            prompt: None,
            compactors: None,
            open_loop: OpenLoop::Stays,
        })
    }

    /// The same, landing at `target`.
    ///
    /// # Errors
    /// A target that is out of range.
    pub fn with_target(self, target: Target) -> Result<Self, OptionsError> {
        let options = Options { target, ..self.options.as_ref().clone() };
        self.with_options(options)
    }

    /// The same, keeping `pins`, too.
    ///
    /// # Errors
    /// A pin that is out of range.
    pub fn with_pins(self, pins: Vec<Pin>) -> Result<Self, OptionsError> {
        let mut options = self.options.as_ref().clone();
        options.pins.extend(pins);
        self.with_options(options)
    }

    fn with_options(self, options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Compactor { options: Arc::new(options), ..self })
    }

    /// The same with other strategies, in order.
    #[must_use]
    pub fn with_strategies(self, strategies: Vec<Arc<dyn Strategy>>) -> Self {
        let called = called(strategies.iter().map(|strategy| strategy.name()));
        Compactor { strategies: strategies.into(), called, ..self }
    }

    /// The same, also keeping every entry for which `chosen` is true.
    #[must_use]
    pub fn with_preserved(self, chosen: Predicate) -> Self {
        Compactor { chosen: Some(chosen), ..self }
    }

    /// The same, compacting only when `trigger` fires, for its cause. It looks at the request's sizes, and
    /// at the window, times and wishes of `around`. Where it doesn't fire the request passes as it came,
    /// byte for byte, with a receipt of the same shape.
    #[must_use]
    pub fn with_trigger(self, trigger: Arc<dyn Trigger>, around: Measurements) -> Self {
        Compactor { due: Some(Due { trigger, around: Arc::new(around) }), ..self }
    }

    /// The same, for this cause: strategies see it, and the receipt tells it.
    #[must_use]
    pub fn with_cause(self, cause: Cause) -> Self {
        Compactor { cause: Some(Arc::new(cause)), ..self }
    }

    /// The same, with the caller's context for this request: strategies, hooks, summarizers, compactors, observers and the
    /// receipt get it.
    #[must_use]
    pub fn with_context(self, about: JobContext) -> Self {
        Compactor { about: Arc::new(about), ..self }
    }

    /// The same, for this cause if it falls to the compactor itself: [`Cause::Remote`] is a reason to ask others only. Without
    /// one nothing is compacted here then.
    #[must_use]
    pub(crate) fn with_cause_alone(self, cause: Option<Cause>) -> Self {
        Compactor { cause_alone: cause.map(Arc::new), ..self }
    }

    /// The same, telling `observer` what happens.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        let watch = Watch { observer, told: AtomicU64::new(0) };
        Compactor { watch: Some(Arc::new(watch)), ..self }
    }

    /// The same, asking hooks before it compacts. Its driver brings their answers, as [`Drive`](super::Drive) does;
    /// without one, only immediate answers count.
    #[must_use]
    pub fn with_hooks(self, hooks: impl Into<Hooks>) -> Self {
        let hooks = hooks.into();
        let hooks = (!hooks.chain.is_empty()).then(|| Arc::new(hooks));
        Compactor { hooks, ..self }
    }

    /// The same, with further instructions for summarizers and compactors.
    pub(super) fn with_instructions(mut self, more: &[String]) -> Self {
        Arc::make_mut(&mut self.about).instructions.extend_from_slice(more);
        self
    }

    /// The same, for a model that can have back what it isn't shown, in this way: checkpoints say so, in
    /// a sentence that begins with it.
    #[must_use]
    pub fn with_recall_channel(self, channel: &str) -> Self {
        Compactor { channel: Some(channel.into()), ..self }
    }

    /// The same, for requests that `model` will read, whatever they say: its binding of reasoning and its
    /// prices count. Without it, the built-in table is asked for the request's own model.
    #[must_use]
    pub fn with_model(self, model: Arc<Model>) -> Self {
        Compactor { model: Some(model), ..self }
    }

    /// The same, with summaries in its checkpoints. The driver has to bring their answers, as [`Drive`](super::Drive)
    /// does.
    ///
    /// # Errors
    /// A summary of no tokens.
    pub fn with_summaries(self, summaries: impl Into<Summaries>) -> Result<Self, OptionsError> {
        let summaries = summaries.into();
        if summaries.brief.max_tokens == Some(0) {
            return Err(OptionsError::NoSummary);
        }
        let summaries = (!summaries.chain.is_empty()).then(|| Arc::new(summaries));
        Ok(Compactor { summaries, ..self })
    }

    /// The same, with the agent's own next request: a summarizer that is the agent's model may extend it, if that
    /// costs less than a separate transcript.
    #[must_use]
    pub fn with_agent_prompt(self, prompt: AgentPrompt) -> Self {
        Compactor { prompt: Some(Arc::new(prompt)), ..self }
    }

    /// The same, but other compactors are asked first for the whole compaction; its own strategies and
    /// summarizers run if none of them gives a view that obeys the laws. The driver has to bring their
    /// answers, as [`Drive`](super::Drive) does.
    #[must_use]
    pub fn with_compactors(self, compactors: impl Into<Compactors>) -> Self {
        let compactors = compactors.into();
        let compactors = (!compactors.chain.is_empty()).then(|| Arc::new(compactors));
        Compactor { compactors, ..self }
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The counter that decides.
    pub fn counter(&self) -> &dyn TokenCounter {
        self.counter.as_ref()
    }

    /// The same, only excerpting giant results that the model hasn't seen, and from how many tokens on;
    /// `None` where its strategies don't have that.
    pub(crate) fn taking_in(&self) -> Option<(Self, u64)> {
        let setting = match &self.options.strategies {
            Pipeline::Ladder(ladder) => ladder.intake,
            Pipeline::List(list) => list.iter().find_map(|named| match named {
                Named::Intake(setting) => Some(*setting),
                _ => None,
            })?,
        };
        let most = setting.on()?.max_tokens;
        let list = Pipeline::List(vec![Named::Intake(setting)]);
        let strategies = list.build().expect("it was built before");
        let options = Options {
            target: Target::Percent(100),
            strategies: list,
            stop: Stop::AtEnd,
            ..self.options.as_ref().clone()
        };
        Some((
            // Taking in alone is no compaction: nobody is asked or told.
            Compactor { options: Arc::new(options), watch: None, ..self.clone().asking_nobody() }
                .with_strategies(strategies),
            most,
        ))
    }

    /// The same, able to make anything smaller: what its strategies leave is folded, and dropped at last.
    #[must_use]
    pub(crate) fn with_last_resort(self) -> Self {
        if self.strategies.last().is_some_and(|last| last.name() == "head") {
            return self;
        }
        let mut strategies = self.strategies.to_vec();
        let last: [Arc<dyn Strategy>; 2] = [Arc::new(Fold), Arc::new(Head::default())];
        strategies.extend(last);
        Compactor { strategies: strategies.into(), ..self }
    }

    /// Begins a compaction whose originals the caller holds.
    pub fn begin(&self, request: &Request) -> Compaction {
        Compaction::new(self.clone(), request.clone(), Originals::Caller)
    }

    /// Begins a compaction whose originals have to be kept ([`Step::Persist`](super::Step::Persist)) before
    /// there is a view.
    pub fn begin_kept(&self, request: &Request) -> Compaction {
        Compaction::new(self.clone(), request.clone(), Originals::Archive)
    }

    /// Compacts `request`; the caller, who has it, holds the originals. Summarizers and hooks have to answer at once;
    /// with others, drive it by [`Drive`](super::Drive).
    ///
    /// # Errors
    /// [`CompactError::NotDriven`] if an answer has to be waited for; else see [`CompactError`]. Nothing was changed
    /// then.
    pub fn compact(&self, request: &Request) -> Result<Outcome, CompactError> {
        self.begin(request).finish().map(|outcome| *outcome)
    }

    /// Compacts `request`, with what the view hides kept in `archive` first.
    ///
    /// # Errors
    /// See [`CompactError`]; nothing was changed then.
    pub fn compact_into(
        &self,
        request: &Request,
        archive: &dyn Archive,
    ) -> Result<Outcome, CompactError> {
        self.begin_kept(request).finish_into(archive).map(|outcome| *outcome)
    }

    /// What stays for what it is.
    pub fn preserved(&self) -> Preserved<'_> {
        Preserved {
            tools: &self.options.preserved_tools,
            origins: &self.options.preserved_origins,
            roles: &self.options.preserved_roles,
            chosen: self.chosen.as_ref(),
        }
    }

    /// Its strategies in short: `ladder`, or their names.
    pub fn called(&self) -> &str {
        &self.called
    }

    /// The caller's context, with the wishes of hooks.
    pub fn context(&self) -> &JobContext {
        &self.about
    }

    pub(super) fn cause(&self) -> Option<&Cause> {
        self.cause.as_deref()
    }

    /// Goes on without other compactors; returns whether anything is to be done.
    pub(super) fn go_on_alone(&mut self) -> bool {
        if !self.cause().is_some_and(Cause::is_remote) {
            return true;
        }
        let alone = self.cause_alone.take();
        let is_due = alone.is_some();
        self.cause = alone.or_else(|| self.cause.take());
        is_due
    }

    /// The same without hooks, summarizers and other compactors, for callers that can't wait.
    pub(crate) fn asking_nobody(self) -> Self {
        Compactor { hooks: None, summaries: None, prompt: None, compactors: None, ..self }
    }

    /// The same, for a view whose loop in progress is bound to what isn't shown any more.
    pub(crate) fn with_loop_closed(self) -> Self {
        Compactor { open_loop: OpenLoop::MayLeave, ..self }
    }

    /// The strategies, in order.
    pub fn strategies(&self) -> &[Arc<dyn Strategy>] {
        &self.strategies
    }

    /// Who will read the request, as far as that is known.
    pub(super) fn reader(&self, request: &Request) -> Option<&Model> {
        match &self.model {
            Some(model) => Some(model),
            None => Registry::built_in().get(&request.model()?),
        }
    }

    /// Whether the reasoning in the request is bound to what stands before it.
    pub(super) fn binding(&self, request: &Request) -> Binding {
        match &self.model {
            Some(model) => Binding::under(request, model.bound()),
            None => Binding::of(request),
        }
    }

    /// The summarizers, if there are any.
    pub fn summaries(&self) -> Option<&Arc<Summaries>> {
        self.summaries.as_ref()
    }

    /// The whole compactors, if there are any.
    pub fn compactors(&self) -> Option<&Arc<Compactors>> {
        self.compactors.as_ref()
    }

    /// The hooks, if there are any.
    pub fn hooks(&self) -> Option<&Arc<Hooks>> {
        self.hooks.as_ref()
    }

    /// The observers, and the number of this compaction.
    pub(super) fn observer(&self) -> Option<(Arc<dyn Observer>, CompactionId)> {
        let watch = self.watch.as_ref()?;
        let number = CompactionId(watch.told.fetch_add(1, Ordering::Relaxed));
        Some((Arc::clone(&watch.observer), number))
    }

    /// The id of a text that is a checkpoint, where it is one that is continued: a whole text whose digest matches.
    pub(super) fn continues(part: &Part<'_>) -> Option<ContentId> {
        let text = part.text();
        looks_like_one(&text).then(|| ContentId::of_text(&text))
    }
}

fn called<'a>(names: impl Iterator<Item = &'a str>) -> Arc<str> {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".into() } else { names.join(",").into() }
}
