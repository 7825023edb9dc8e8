//! A request of one format as a request of another.
//!
//! What both formats can say is carried: words, calls and results with their pairing, ids, failures,
//! images and documents, instructions, tool definitions, parameters. What can't be (signatures, reasoning,
//! tools that the provider runs, cache markers) is left out and listed, never silently ([`Lost`]).
//! Nothing of this is on the path of a compaction, so it builds an owned, neutral form in between.

mod about;
mod ids;
mod parameters;
mod read;
mod write;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::{self, Binding};
use crate::request::Request;
use crate::wire::Feature;
use crate::wire::neutral::ParameterKey;
use crate::wire::{Finding, Format, Mended, OWN, inspect, parse, repair_except, repair_inspected};
use crate::wire::{Unread, unread};

pub use crate::wire::neutral::{Extent, Loss, Lost};

/// The target of a conversion.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// In this format.
    pub format: Format,
    /// For this model, by its provider's name for it. (Gemini names it by the address that is asked.)
    pub model: Option<&'a str>,
    /// The most tokens of an answer, where the request doesn't say; Anthropic demands a limit.
    pub max_output: Option<u64>,
}

impl From<Format> for Goal<'_> {
    fn from(format: Format) -> Self {
        Goal { format, model: None, max_output: None }
    }
}

/// A converted request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Converted {
    /// The format that it is in now.
    pub format: Format,
    /// The body.
    pub text: String,
    /// Content that was left out or changed, in order.
    pub lost: Vec<Lost>,
    /// Repairs made first, or to obey the target's rules.
    pub mended: Vec<Mended>,
    /// Bytes that left with repairs.
    pub mending_took: usize,
    /// Rules of the target that only the author can keep.
    pub left: Vec<Finding>,
    /// Members that the target demands and that weren't set: the model, Anthropic's `max_tokens`.
    pub wanting: Vec<Cow<'static, str>>,
}

/// Writes `request` as a body of another format. In its own format it stays as it is, except for what
/// [`inspect`] finds and for reasoning that its model refuses.
///
/// ```
/// use epitome::convert::{Loss, convert};
/// use epitome::wire::{self, Format};
///
/// let body = r#"{"model":"m","messages":[{"role":"user","content":"Go."},
///     {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
///     {"type":"text","text":"Done."}]}]}"#;
/// let request = wire::parse(Format::Anthropic, body.to_owned())?;
/// let converted = convert(&request, Format::OpenaiChat);
/// assert!(converted.text.contains(r#"{"role":"assistant","content":"Done."}"#));
/// assert_eq!(converted.lost[0].what, Loss::Model);
/// assert_eq!(converted.lost[1].what, Loss::SignedReasoning);
/// assert_eq!(converted.wanting, ["model"]);
/// # Ok::<_, wire::WireError>(())
/// ```
pub fn convert<'a>(request: &Request, goal: impl Into<Goal<'a>>) -> Converted {
    let Goal { format, model, max_output } = goal.into();
    let to = format.dialect();
    if request.format == format {
        let (text, lost) = to.again(request, model);
        let said = parse(format, text).unwrap_or_else(|_| request.clone());
        let said = to_model(said, model);
        let mut obeys = model::repair_inspected(&said, Binding::of(&said), &[]);
        // What left before is counted no more.
        if said.transcript.len() < request.transcript.len() {
            obeys.mended.iter_mut().for_each(|mended| mended.entry = None);
        }
        return Converted {
            format,
            text: obeys.request.source().to_string(),
            lost,
            mending_took: took(&said, &obeys.request),
            mended: obeys.mended,
            left: inspect(&obeys.request, &[]),
            wanting: Vec::new(),
        };
    }
    // Pairs that are whole can be carried as such.
    let sound = repair_except(request, OWN);
    let mut neutral = read::read(&sound.request, to, model);
    for lost in &mut neutral.lost {
        lost.entry = lost.entry.and_then(|at| sound.came_from[at]);
    }
    for Unread { entry, name } in unread(request) {
        neutral.lose(entry, Loss::Member, format!("another `{name}`"));
    }
    if to.has(Feature::NeededLimit) {
        neutral.parameters.at_most(max_output);
    }
    if let Some(model) = model {
        parameters::leave_out(&mut neutral, to, model);
    }
    let limit = (to.has(Feature::NeededLimit) && !neutral.parameters.says_most())
        .then(|| parameters::path(to, ParameterKey::Most))
        .flatten();
    let model_key = to.terms().model.filter(|_| model.is_none());
    let wanting = model_key.into_iter().chain(limit).map(Cow::from).collect();
    ids::label(&mut neutral, to);
    let text = write::write(&mut neutral, to, model);
    let written = parse(format, text).expect("what is written is JSON of the format");
    let written = to_model(written, model);
    let obeys = repair_inspected(&written, &[]);
    let mending_took = took(request, &sound.request) + took(&written, &obeys.request);
    let mut mended = sound.mended;
    mended.extend(obeys.mended.into_iter().map(|mended| Mended { entry: None, ..mended }));
    Converted {
        format,
        text: obeys.request.source().to_string(),
        lost: neutral.lost,
        mended,
        mending_took,
        left: inspect(&obeys.request, &[]),
        wanting,
    }
}

/// Bytes that left.
fn took(before: &Request, after: &Request) -> usize {
    before.source().len().saturating_sub(after.source().len())
}

fn to_model(request: Request, model: Option<&str>) -> Request {
    match model {
        Some(model) => request.addressed_to(model),
        None => request,
    }
}
