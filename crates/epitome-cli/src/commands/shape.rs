//! How a command compacts: settings, target, trigger and whoever helps.

use std::sync::Arc;

use anyhow::{Result, bail};
use epitome::archive::{Archive, ArchiveError};
use epitome::checkpoint::look_alikes;
use epitome::summarize::AgentPrompt;
use epitome::transcript::{ContentId, Entry, Origin, PartKind};
use epitome::trigger::{Measurements, Trigger as _, When};
use epitome::{CompactError, Compactor, Options, Outcome, Request, Target};

use crate::args::HowArgs;
use crate::carried::Named;
use crate::config::{self, Settings};
use crate::continued;
use crate::failure::Failure;
use crate::input::{Opened, Prompt};
use crate::output::{self, Report};
use crate::progress::Progress;
use crate::reader::{Need, Reader};
use crate::receipt::{self, SaidTarget};
use crate::summarizers::Helpers;
use crate::terminal::{self, count};

/// The most tokens that any format puts around a message.
const AROUND: u64 = 12;

/// How often all of a transcript is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    One,
    Several,
}

/// How to compact, from all layers of settings.
#[derive(Debug)]
pub(super) struct Shape {
    settings: Settings,
    /// Checkpoints that are to be continued.
    continued: Vec<ContentId>,
    passes: Passes,
    /// By which the model can have back what it isn't shown.
    channel: Option<String>,
    pub(super) helpers: Helpers,
    /// The texts that an agent adds when a compaction is in its recording.
    announced: Option<String>,
}

/// A compaction that was done in memory.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// The target, as it was said.
    pub(super) target: SaidTarget,
    /// What counted, and for whom.
    pub(super) reader: Reader,
}

impl Shape {
    pub(super) fn new(how: &HowArgs) -> Result<Self> {
        let settings = Settings::resolve(how)?;
        let continued = continued::read(&how.shape.receipts)?;
        let helpers = Helpers::default();
        Ok(Shape {
            settings,
            continued,
            passes: Passes::One,
            channel: None,
            helpers,
            announced: None,
        })
    }

    /// The same, with the help of others.
    pub(super) fn helped_by(self, helpers: Helpers) -> Self {
        Shape { helpers, ..self }
    }

    /// The same, with room for the texts that an agent adds.
    pub(super) fn announced_as(self, announced: Option<String>) -> Self {
        Shape { announced, ..self }
    }

    /// The same, with what an archive pins, and the way to it.
    pub(super) fn with_archive(
        mut self,
        pins: impl IntoIterator<Item = String>,
        channel: Option<String>,
    ) -> Self {
        let mut pins = pins.into_iter().peekable();
        if pins.peek().is_some() {
            self.settings.pins.get_or_insert_default().extend(pins);
        }
        Shape { channel, ..self }
    }

    /// The same, for one who counts before and after too.
    pub(super) fn counting_again(self) -> Self {
        Shape { passes: Passes::Several, ..self }
    }

    /// Compacts in memory, and warns of what looks wrong.
    pub(super) fn compact(&self, opened: &Opened, report: Report) -> Result<Done> {
        self.compact_into(opened, None, report)
    }

    /// Compacts in memory, with what the view hides kept in an archive first, and warns.
    pub(super) fn compact_into(
        &self,
        opened: &Opened,
        archive: Option<&dyn Archive>,
        report: Report,
    ) -> Result<Done> {
        let done = self.attempt(opened, archive, report)?;
        if report == Report::Words {
            self.warn(opened, &done);
        }
        Ok(done)
    }

    /// Compacts in memory.
    pub(super) fn attempt(
        &self,
        opened: &Opened,
        archive: Option<&dyn Archive>,
        report: Report,
    ) -> Result<Done> {
        let mut said = opened.request.transcript.entries().filter(Entry::is_human);
        if let Some(first) = said.next() {
            let id = ContentId::of_text(&first.human_text()).to_string();
            self.helpers.session.get_or_init(|| id);
        }
        let reader = self.reader(&opened.request, Need::Window)?;
        let mut progress = Progress::new(report);
        let (target, said) = self.target(opened, &reader, &mut progress);
        let mut options = self.settings.options(target, reader.window);
        if let Some(announced) = &self.announced {
            let total = progress.count(&opened.request, reader.counter.as_ref()).total().tokens;
            let wanted = options.target.resolve(total);
            // A small enough input stays as it is.
            if total > wanted {
                let added = reader.counter.text(announced).tokens + AROUND;
                options.target = Target::Tokens(wanted.saturating_sub(added).max(1));
            }
        }
        let compactor = self.compacting(&reader, options)?;
        let compactor = match &self.settings.trigger {
            None => compactor,
            Some(trigger) => {
                let window = due(trigger.when(), &reader, &self.helpers)?;
                compactor.with_trigger(
                    trigger.clone().boxed(),
                    Measurements {
                        window,
                        reported: opened.source.reported.map(Prompt::reported),
                        ..Measurements::default()
                    },
                )
            }
        };
        let Helpers { hooks, compactors, summaries, is_agents, .. } = self.helpers.clone();
        let compactor = compactor
            .with_summaries(summaries)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let compactor = compactor.with_compactors(compactors).with_hooks(hooks);
        let compactor = match opened.source.recording {
            None if is_agents => {
                compactor.with_agent_prompt(AgentPrompt::of(opened.request.clone()))
            }
            _ => compactor,
        };
        let outcome = progress.compact(&compactor, &opened.request, archive)?.map_err(|error| {
            let what = format!("nothing was changed, because the compaction failed: {error}");
            match error {
                CompactError::Summary { spent, .. } | CompactError::Delegated { spent, .. } => {
                    Failure::upstream(format!("{what}{}", receipt::paid(&spent)))
                        .hint("--on-failure extractive compacts without a model")
                }
                CompactError::Archive(ArchiveError::Damaged { .. }) => {
                    Failure::input(what).hint("take the archive from a backup")
                }
                _ => Failure::other(what).hint(opened.source.command("check")),
            }
        })?;
        Ok(Done { outcome, target: said, reader })
    }

    /// Warns of settings that do nothing, and of a result that no window takes.
    pub(super) fn warn(&self, opened: &Opened, done: &Done) {
        if self.helpers.is_agents && opened.source.recording.is_some() {
            output::warn("--for does nothing: a recording isn't the request that the agent sends");
        }
        self.warn_of_tools(&opened.request);
        done.reader.warn_of_unknown();
        continued::warn(&self.continued, &done.outcome);
        warn_of_changed(&done.outcome);
        let upper = done.outcome.receipt.after.count.upper;
        if let Some(window) = done.reader.window.filter(|window| upper > *window) {
            let (upper, window) = (count(upper), count(window));
            output::warn(&format!("up to {upper} tokens don't fit in a window of {window}"));
        }
    }

    /// The same without the help of others, and their help.
    pub(super) fn without_help(mut self) -> (Self, Helpers) {
        let helpers = std::mem::take(&mut self.helpers);
        (self, helpers)
    }

    /// Where to land, if that was said as a share of the input.
    pub(super) fn share_of_input(&self) -> Option<Target> {
        self.settings.target.filter(|target| matches!(target, Target::Percent(_)))
    }

    /// The same, landing at so many tokens.
    pub(super) fn landing_at(self, tokens: u64) -> Self {
        let settings = Settings { target: Some(Target::Tokens(tokens)), ..self.settings };
        Shape { settings, ..self }
    }

    /// The same for another reader, as far as none was asked for.
    pub(super) fn read_by(self, named: Named) -> Self {
        let mut settings = self.settings;
        match named {
            _ if settings.model.is_some() || settings.counter.is_some() => {}
            Named::Model(model) => settings.model = Some(model),
            Named::Counter(counter) => settings.counter = Some(counter.to_owned()),
        }
        Shape { settings, ..self }
    }

    /// What compacts for `reader`, to `target` where the settings say none.
    pub(super) fn compactor(&self, reader: &Reader, target: Target) -> Result<Compactor> {
        self.compacting(reader, self.settings.options(target, reader.window))
    }

    fn compacting(&self, reader: &Reader, options: Options) -> Result<Compactor> {
        let compactor = Compactor::new(options, Arc::clone(&reader.counter))
            .map_err(|error| Failure::usage(error.to_string()).hint("epitome compact --help"))?;
        let compactor = match &self.channel {
            Some(channel) => compactor.with_recall_channel(channel),
            None => compactor,
        };
        Ok(match &reader.model {
            Some(model) => compactor.with_model(Arc::clone(model)),
            None => compactor,
        })
    }

    /// What all layers say.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A tool that nothing calls is most likely misspelt.
    fn warn_of_tools(&self, request: &Request) {
        let tools = [&self.settings.preserved_tools, &self.settings.read_only];
        for name in tools.into_iter().flatten().flatten() {
            let mut parts = request.transcript.entries().flat_map(|entry| entry.parts());
            if !parts.any(|part| part.kind() == PartKind::Call && part.name() == *name) {
                output::warn(&format!("no message calls the tool {:?}", terminal::line(name, 60)));
            }
        }
    }

    /// Who will read it.
    pub(super) fn reader(&self, request: &Request, need: Need) -> Result<Reader> {
        let reader = Reader::new(&self.settings, request, need)?;
        // A window's target depends on the input, so the input may be counted first.
        let is_counted = need == Need::Window
            && self.settings.target.is_none()
            && reader.window.is_some_and(|window| !surely_allows(window, request));
        let is_one = self.passes == Passes::One && !is_counted;
        Ok(if is_one { reader } else { reader.remembering() })
    }

    /// Where to land, and how that was said.
    fn target(
        &self,
        opened: &Opened,
        reader: &Reader,
        progress: &mut Progress,
    ) -> (Target, SaidTarget) {
        let preset = self.settings.preset(reader.window);
        if let (Some(preset), None) = (&preset, self.settings.target) {
            return (
                preset.options.target,
                SaidTarget::asked(format!("of the preset {}", preset.name)),
            );
        }
        match (self.settings.target, reader.window) {
            (Some(target @ Target::Percent(_)), _) => {
                (target, SaidTarget::asked(format!("{target} of the input")))
            }
            (Some(target), _) => (target, SaidTarget::asked("as asked".to_owned())),
            (None, Some(window)) if surely_allows(window, &opened.request) => {
                (Target::DEFAULT, by_default())
            }
            (None, Some(window)) => {
                let allowed = config::window_allows(window);
                let total = progress.count(&opened.request, reader.counter.as_ref()).total().tokens;
                if Target::DEFAULT.resolve(total) <= allowed {
                    (Target::DEFAULT, by_default())
                } else {
                    let words = format!("half of the window of {}", count(window));
                    (Target::Tokens(allowed), SaidTarget::default(words))
                }
            }
            (None, None) => (Target::DEFAULT, by_default()),
        }
    }
}

/// A checkpoint that somebody changed isn't continued.
fn warn_of_changed(outcome: &Outcome) {
    let transcript = &outcome.base.transcript;
    let changed = look_alikes(transcript).find(|part| part.origin() != Origin::Checkpoint);
    if let Some(part) = changed {
        let at = transcript.entry_of(part.slot);
        output::warn(&format!(
            "messages[{at}] looks like the checkpoint of an earlier compaction, but was changed since it was \
             written, so it is plain text"
        ));
    }
}

/// The window that the trigger looks at, if it is one that a single request can make fire.
fn due(when: &When, reader: &Reader, helpers: &Helpers) -> Result<Option<u64>> {
    if *when == When::Remote && helpers.compactors.chain.is_empty() {
        let what = "the trigger `remote` asks a whole compactor, and none is named";
        bail!(Failure::usage(what).hint("--summarizer grpc:URL#NAME"));
    }
    if !when.is_of_one_request() {
        let what = format!("the trigger `{when}` can't fire here: it needs a live session");
        bail!(Failure::usage(what).hint("say a size: --trigger 80%, 120k, 100items"));
    }
    if when.needs_window() && reader.window.is_none() {
        let what = format!("the trigger `{when}` needs the window of a model, and none is known");
        bail!(Failure::usage(what).hint("say --window 200k, or --model ID"));
    }
    let reserve = reserved(when);
    if let Some(window) =
        reader.window.filter(|window| reserve.is_some_and(|reserve| reserve >= *window))
    {
        let what = format!(
            "the trigger `{when}` would always fire: it leaves nothing of a window of {}",
            count(window)
        );
        bail!(Failure::usage(what).hint("name the tokens to keep free: --trigger window-20k"));
    }
    Ok(reader.window)
}

/// The most tokens that a trigger wants free beside the prompt.
fn reserved(when: &When) -> Option<u64> {
    match when {
        When::Reserve(reserve) => Some(*reserve),
        When::Any(all) | When::All(all) => all.iter().filter_map(reserved).max(),
        _ => None,
    }
}

/// Whether the default target is allowed by a window even if every byte is a token.
fn surely_allows(window: u64, request: &Request) -> bool {
    Target::DEFAULT.resolve(request.source().len() as u64) <= config::window_allows(window)
}

fn by_default() -> SaidTarget {
    SaidTarget::default(format!("{} of the input, the default", Target::DEFAULT))
}
