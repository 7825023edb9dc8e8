//! Compactions that a request asks of its provider, done in the provider's place where that one doesn't do them: by code,
//! in the documented shapes.

mod anthropic;
mod clearing;
mod insert;
mod item;
pub(crate) mod members;
mod responses;

use std::sync::Arc;

use epitome::count::{Tally, counter};
use epitome::model::Registry;
use epitome::session::Landing;
use epitome::transcript::unit::Units;
use epitome::{Compactor, Format, Options, Target, wire};
use epitome_tracing::Traced;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

pub(crate) use insert::Insert;
use members::{Members, Raws, list_of};

use crate::options::{InternalErrors, ProxyOptions};
use crate::when::set_for;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ask {
    /// Above so many tokens; at once where that isn't said.
    over: Option<u64>,
    /// Nothing else is asked for then.
    is_alone: bool,
}

/// A conversation so far, packed.
struct Packed {
    sealed: String,
    /// What people may read of it.
    words: String,
}

/// What a body is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An answer of a model.
    Answer,
    /// The tokens of a prompt.
    Count,
    /// A compaction and nothing else.
    Compact,
}

/// What is done instead of forwarding a body as it came.
pub(crate) enum Instead {
    /// This one is sent.
    Send(String),
    /// This one is sent, and the reply begins with what was compacted.
    SendThenInsert(String, Insert),
    /// It is answered here: in a body of that type.
    Answer(&'static str, String),
    /// It is answered with an error, as its provider would.
    Refuse(Invalid),
}

/// Why a provider refuses a request, with status 400.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// In one word, for programs.
    pub(crate) cause: &'static str,
    pub(crate) what: String,
}

fn invalid(cause: &'static str, what: String) -> Invalid {
    Invalid { cause, what }
}

/// Why a conversation passes of which a part is at the provider, in a word for meters.
pub(crate) fn kept_elsewhere(text: &str) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct Kept {
        previous_response_id: Option<IgnoredAny>,
        conversation: Option<IgnoredAny>,
    }
    let Kept { previous_response_id, conversation } = serde_json::from_str(text).ok()?;
    let previous = previous_response_id.map(|_| "previous-response");
    previous.or(conversation.map(|_| "conversation"))
}

/// Does what providers would.
pub(crate) struct Native {
    /// For Anthropic's messages and OpenAI's responses.
    compactors: [Compactor; 2],
    landing: Landing,
    window: Option<u64>,
    windows: Vec<(String, u64)>,
    /// The most bytes of a conversation.
    most: usize,
    pub(crate) internal_errors: InternalErrors,
}

/// How the names begin that a body has which concerns this; of a name in a text the quote is escaped.
const NAMES: [&[u8]; 2] = [b"\"compact", b"\"clear_t"];

/// The default target.
const USUAL_SHARE: f64 = 0.3;

/// The type of a stream.
const EVENTS: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";

/// What a block says in words where nothing is left out of the conversation that it holds.
const WHOLE: &str = "Nothing of the conversation so far is left out.";
/// The same, where something is and no checkpoint tells what.
const IN_PART: &str = "Parts of the conversation so far are left out.";

impl Native {
    pub(crate) fn new(options: &ProxyOptions) -> Self {
        let compactor = |name| {
            let counter = counter(name).expect("it is one of ours");
            let compactor = Compactor::new(Options::default(), counter);
            compactor.expect("defaults are in range").with_observer(Arc::new(Traced::default()))
        };
        Native {
            compactors: ["claude", "o200k"].map(compactor),
            landing: options.landing,
            window: options.window,
            windows: options.windows.clone(),
            most: options.limits.body,
            internal_errors: options.internal_errors,
        }
    }

    /// Whether there may be anything to do.
    pub(crate) fn concerns(format: Format, text: &str, purpose: Purpose) -> bool {
        let is_one = matches!(format, Format::Anthropic | Format::OpenaiResponses);
        let is_named =
            || NAMES.iter().any(|name| memchr::memmem::find(text.as_bytes(), name).is_some());
        is_one && (purpose == Purpose::Compact || is_named())
    }

    /// What is done with a body; `None` if it is forwarded unchanged. If the provider compacts itself, only our own items
    /// are taken apart.
    pub(crate) fn instead(
        &self,
        format: Format,
        text: &str,
        purpose: Purpose,
        has_native: &dyn Fn(&str) -> bool,
        betas: &[String],
    ) -> Option<Instead> {
        let mut members = Members::read(text)?;
        let model = members.get::<String>("model").unwrap_or_default();
        let has_native = has_native(&model);
        let (name, at) = if format == Format::Anthropic { ("messages", 0) } else { ("input", 1) };
        // The rest of it is at the provider.
        if ["previous_response_id", "conversation"].iter().any(|name| members.raw(name).is_some()) {
            return None;
        }
        let mut all = match format {
            Format::Anthropic => members.get(name)?,
            _ => responses::input(&members)?,
        };
        let unnamed = match format {
            Format::Anthropic if !has_native => {
                let unfit = || anthropic::unfit(&members).filter(|_| purpose == Purpose::Answer);
                anthropic::unnamed(&members, betas).or_else(unfit)
            }
            _ => None,
        };
        let asked = match format {
            _ if has_native => None,
            Format::Anthropic => anthropic::ask(&mut members),
            _ => responses::ask(&mut members, &mut all),
        };
        let clearing = (format == Format::Anthropic && !has_native)
            .then(|| clearing::ask(&mut members))
            .flatten();
        if let Some(refusal) = unnamed.filter(|_| asked.is_some() || clearing.is_some()) {
            return Some(Instead::Refuse(refusal));
        }
        let came = all;
        let expanded = match format {
            Format::Anthropic => anthropic::expanded(&came, has_native, self.most),
            _ => responses::expanded(&came, self.most),
        };
        let expanded = match expanded {
            Ok(expanded) => expanded,
            Err(refusal) => return Some(Instead::Refuse(refusal)),
        };
        let is_compact = purpose == Purpose::Compact && !has_native;
        if expanded.is_none() && asked.is_none() && clearing.is_none() && !is_compact {
            return None;
        }
        let all = expanded.as_ref().unwrap_or(&came);
        let counter = self.compactors[at].counter();
        let cleared = match &clearing {
            Some(clearing) => Some(clearing.of(&members, all, counter)?),
            None => None,
        };
        let (cleared, edits) = cleared.unzip();
        let all = cleared.as_ref().unwrap_or(all);
        members.set(name, list_of(all));
        let send = |members: &Members, first: Option<Value>| {
            if first.is_none() && edits.is_none() {
                return Instead::Send(members.to_string());
            }
            Instead::SendThenInsert(members.to_string(), Insert::of(format, first, edits.clone()))
        };
        let asked = match purpose {
            Purpose::Count => None,
            Purpose::Compact => is_compact.then_some(Ask { over: None, is_alone: true }),
            Purpose::Answer => asked,
        };
        let Some(ask) = asked else { return Some(send(&members, None)) };
        if ask.is_alone
            && let Some(id) = open_call(format, &members)
        {
            return Some(Instead::Refuse(incomplete(format, all.len(), &id)));
        }
        let compacted = self.compacted(&self.compactors[at], format, &members, ask, &model);
        let (list, words) = match compacted {
            Some(compacted) => compacted,
            None if ask.over.is_some() => return Some(send(&members, None)),
            // It is asked for, and nothing can be left out.
            None => (all.clone(), WHOLE.to_owned()),
        };
        let kept =
            if format == Format::Anthropic { anthropic::unmarked(&list) } else { list.clone() };
        let beside = if format == Format::Anthropic { words.as_str() } else { "" };
        let packed = Packed { sealed: item::sealed(&list_of(&kept), beside), words };
        let first = match format {
            Format::Anthropic => anthropic::block(&packed, ask.is_alone, ask.over.is_some()),
            _ => responses::item(&packed),
        };
        if purpose == Purpose::Compact {
            return Some(Instead::Answer(JSON, responses::compacted(&came, &first)));
        }
        if !ask.is_alone {
            members.set(name, list_of(&list));
            return Some(send(&members, Some(first)));
        }
        let (whole, events) = match format {
            Format::Anthropic => anthropic::alone(&model, &first),
            _ => responses::alone(&model, &first),
        };
        Some(match members.get("stream") {
            Some(true) => Instead::Answer(EVENTS, events.iter().map(event).collect()),
            _ => Instead::Answer(JSON, whole.to_string()),
        })
    }

    /// The conversation, compacted, with words of it; `None` where it isn't due, or nothing is gained.
    fn compacted(
        &self,
        compactor: &Compactor,
        format: Format,
        members: &Members,
        ask: Ask,
        model: &str,
    ) -> Option<(Raws, String)> {
        let request = wire::parse(format, members.to_string()).ok()?;
        let before = Tally::of(&request, compactor.counter()).total().tokens;
        if ask.over.is_some_and(|over| before <= over) {
            return None;
        }
        let target = self.target(before, ask.over, model);
        let outcome = compactor.clone().with_target(target).ok()?.compact(&request).ok()?;
        let after = outcome.receipt.after.count.tokens;
        if outcome.view.is_whole() || after > before / 10 * 9 {
            return None;
        }
        let words = outcome
            .view
            .checkpoint()
            .map_or_else(|| IN_PART.to_owned(), |placed| placed.text.to_string());
        let shown = Members::read(outcome.rendered())?;
        let name = if format == Format::Anthropic { "messages" } else { "input" };
        Some((shown.get(name)?, words))
    }

    /// Where it lands.
    fn target(&self, tokens: u64, over: Option<u64>, model: &str) -> Target {
        let known = || Registry::built_in().get(model).and_then(epitome::model::Model::most_input);
        let share = match self.landing {
            Landing::Target(target) => return target,
            Landing::Window(share) => share,
            Landing::Turns(_) => USUAL_SHARE,
        };
        let said = set_for(&self.windows, model).copied().or(self.window);
        let of = over.or(said).or_else(known);
        let target = of.map(|of| ((of as f64 * share) as u64).max(1));
        let percent = ((share * 100.0) as u8).max(1);
        target.filter(|target| *target < tokens).map_or(Target::Percent(percent), Target::Tokens)
    }
}

/// An event of a stream.
fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

/// The id of a call that waits for its result.
fn open_call(format: Format, members: &Members) -> Option<String> {
    let request = wire::parse(format, members.to_string()).ok()?;
    let units = Units::of(&request.transcript, format.instructions());
    let mut open = units.pairs().iter().filter(|pair| pair.result.is_none());
    open.next().map(|pair| request.transcript.part(pair.call).id().into_owned())
}

/// Why nothing is compacted while a call is open (PROVIDERS.md B.1.5, B.2.2): whoever went on from it had a result without a call.
fn incomplete(format: Format, messages: usize, id: &str) -> Invalid {
    let what = match format {
        Format::Anthropic => format!(
            "messages.{}: the last assistant turn has tool calls without results ({id}): send their results first",
            messages.saturating_sub(1)
        ),
        _ => format!("No tool output found for function call {id}."),
    };
    invalid("compaction_incomplete_turn", what)
}

const BETA: &str = "anthropic-beta";

/// The betas that a request names in its headers.
pub(crate) fn betas(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(BETA).iter().filter_map(|value| value.to_str().ok());
    let named = values.flat_map(|value| value.split(',')).map(|beta| beta.trim().to_owned());
    named.filter(|beta| !beta.is_empty()).collect()
}

/// Takes the betas from a request that name what is done here, and that nothing in its body needs any more.
pub(crate) fn without_betas(headers: &mut HeaderMap, body: &str) {
    if !headers.contains_key(BETA) {
        return;
    }
    let is_left = Native::concerns(Format::Anthropic, body, Purpose::Answer);
    let has = |name: &str| memchr::memmem::find(body.as_bytes(), name.as_bytes()).is_some();
    let (compacts, edits) = (is_left, is_left || has("\"context_management\""));
    let is_done = |beta: &str| {
        anthropic::BETAS.contains(&beta) && !compacts || beta == clearing::BETA && !edits
    };
    let named = betas(headers);
    let left: Vec<&String> = named.iter().filter(|beta| !is_done(beta)).collect();
    if left.len() == named.len() {
        return;
    }
    headers.remove(BETA);
    let left = left.into_iter().map(String::as_str).collect::<Vec<_>>().join(",");
    if let Ok(value) = HeaderValue::from_str(&left)
        && !left.is_empty()
    {
        headers.insert(BETA, value);
    }
}
