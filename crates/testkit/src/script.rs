//! What the generator chooses: small values that shrink well, and how likely each is.

use epitome::wire::{Envelope, Format};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::draft::{Block, Model, Shape, Thinking};
use crate::features::only_format;
use crate::prose;

/// A transcript before its format has had its say.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) format: Format,
    pub(crate) envelope: Envelope,
    pub(crate) system: Option<Prose>,
    pub(crate) thinking: Thinking,
    pub(crate) model: Model,
    pub(crate) beats: Vec<Beat>,
    pub(crate) open: u8,
    pub(crate) ink: u64,
    pub(crate) pin: Option<Spot>,
    pub(crate) target: u8,
    /// Below 10: something rare that a format has and others don't.
    pub(crate) twist: u8,
}

/// A place in something whose length isn't known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot(pub(crate) u64);

impl Spot {
    /// The place in `len` of them (which isn't 0).
    pub(crate) fn index(self, len: usize) -> usize {
        ((u128::from(self.0) * len as u128) >> 64) as usize
    }

    /// The one of these (which are some) at that place.
    pub(crate) fn get<T>(self, of: &[T]) -> &T {
        &of[self.index(of.len())]
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Prose {
    Short(usize),
    Random(String),
    Odd(usize),
    Unicode(u64, usize),
    Lorem(usize),
    Lines(usize),
    Code(u64, usize),
    Log(u64, usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Beat {
    Human { text: Prose, media: Media, dress: Dress },
    Injected { text: Prose, human: Option<Prose> },
    Step(Step),
    Instructions(Prose),
    Compaction(Option<Prose>),
    Function { tool: usize, text: Prose },
    Unknown(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Media {
    None,
    Image(u32, u32),
    Document,
}

/// How a message is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dress {
    String,
    List,
    Cached,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) say: Option<Prose>,
    pub(crate) serves: Option<Prose>,
    pub(crate) calls: Vec<Call>,
    pub(crate) unknown: Option<usize>,
    /// Words of the user in the entry of the results (Anthropic).
    pub(crate) aside: Option<Prose>,
    /// The assistant's parts are spread over entries; so are the results.
    pub(crate) splits: Splits,
    pub(crate) order: Order,
    pub(crate) absent: Shape,
}

#[derive(Clone, Debug)]
pub(crate) enum Thought {
    Plain(Prose),
    Signed(Prose),
    Redacted,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: usize,
    pub(crate) argument: Prose,
    pub(crate) result: Prose,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Words,
    Failed,
    List,
    Image(u32, u32),
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Splits {
    Nothing,
    Assistant,
    Results,
    Both,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    AsCalled,
    Reversed,
    /// Chat: the ids are the same in every batch.
    SameIds,
}

impl Media {
    pub(crate) fn block(self) -> Option<Block> {
        match self {
            Media::None => None,
            Media::Image(width, height) => Some(Block::Image(width, height)),
            Media::Document => Some(Block::Document),
        }
    }
}

impl Dress {
    pub(crate) fn shape(self) -> Shape {
        if matches!(self, Dress::String) { Shape::String } else { Shape::List }
    }
}

impl Thought {
    pub(crate) fn block(&self) -> Block {
        match self {
            Thought::Plain(text) => Block::Think(text.words()),
            Thought::Signed(text) => Block::Signed(text.words()),
            Thought::Redacted => Block::Redacted,
        }
    }
}

impl Prose {
    /// The words; never none, since providers refuse empty texts.
    pub(crate) fn words(&self) -> String {
        match self {
            Prose::Short(n) => SHORT[*n].to_owned(),
            Prose::Random(text) => text.clone(),
            Prose::Odd(n) => prose::ODD[*n].to_owned(),
            Prose::Unicode(seed, n) => prose::unicode(*seed, *n),
            Prose::Lorem(n) => prose::lorem(*n),
            Prose::Lines(n) => prose::lines(*n),
            Prose::Code(seed, n) => prose::code(*seed, *n),
            Prose::Log(seed, n) => prose::log(*seed, *n),
        }
    }
}

pub(crate) const SHORT: [&str; 8] = [
    "ok",
    "Fix the build.",
    "Why does test_upload fail?",
    "Use 2 retries, never 3.",
    "go on",
    "The id is 7f3a-99, see https://example.org/a?b=1",
    "Let me look at it.",
    "Ça marche, naïve Größe 😀",
];

pub(crate) const TOOLS: [&str; 5] = ["Read", "Bash", "Edit", "mcp__files__search", "Grep"];

pub(crate) const UNKNOWN: [&str; 4] = [
    r#"{"type":"video","frames":[1.0e5,{"a":null}]}"#,
    r#"{"type":"container_upload","file_id":"file_01"}"#,
    r#"{"type":"search_result","source":"https://example.org","title":"t","content":[{"type":"text","text":"x"}]}"#,
    r#"{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}"#,
];

/// The formats that are drawn from: all of these, or the one that `EPITOME_FORMAT` names, if it is among them.
fn drawn(all: &[Format]) -> Vec<Format> {
    let only = only_format().filter(|only| all.contains(only));
    only.map_or(all.to_vec(), |only| vec![only])
}

pub(crate) fn script(formats: &[Format]) -> BoxedStrategy<Script> {
    let frame = (
        select(drawn(formats)),
        select(vec![Envelope::Body, Envelope::Body, Envelope::Array, Envelope::Lines]),
        proptest::option::of(text()),
        select(vec![Thinking::Unset, Thinking::Adaptive, Thinking::Manual]),
        select(vec![Model::Free, Model::Bound]),
    );
    let beats =
        prop_oneof![30 => vec(beat(), 1..9), 1 => Just(Vec::new()), 4 => vec(beat(), 9..24)];
    let ink = prop_oneof![1 => Just(0), 4 => any::<u64>()];
    let goal = (proptest::option::weighted(0.3, any::<u64>().prop_map(Spot)), 2u8..=100, 0u8..10);
    (frame, beats, prop_oneof![3 => Just(0u8), 1 => 1u8..4], ink, goal)
        .prop_map(
            |(
                (format, envelope, system, thinking, model),
                beats,
                open,
                ink,
                (pin, target, twist),
            )| {
                Script {
                    format,
                    envelope,
                    system,
                    thinking,
                    model,
                    beats,
                    open,
                    ink,
                    pin,
                    target,
                    twist,
                }
            },
        )
        .boxed()
}

fn text() -> BoxedStrategy<Prose> {
    prop_oneof![
        8 => (0..SHORT.len()).prop_map(Prose::Short),
        2 => ".{1,60}".prop_map(Prose::Random),
        1 => (0..prose::ODD.len()).prop_map(Prose::Odd),
        1 => (any::<u64>(), 1usize..200).prop_map(|(seed, n)| Prose::Unicode(seed, n)),
        2 => (1usize..80).prop_map(Prose::Lorem),
        1 => (80usize..700).prop_map(Prose::Lorem),
    ]
    .boxed()
}

fn output() -> BoxedStrategy<Prose> {
    prop_oneof![
        3 => text(),
        2 => (1usize..40).prop_map(Prose::Lines),
        2 => (any::<u64>(), 1usize..80).prop_map(|(seed, n)| Prose::Code(seed, n)),
        2 => (any::<u64>(), 1usize..80).prop_map(|(seed, n)| Prose::Log(seed, n)),
        1 => (any::<u64>(), 200usize..1500).prop_map(|(seed, n)| Prose::Unicode(seed, n)),
        1 => (100usize..400).prop_map(Prose::Lines),
    ]
    .boxed()
}

fn beat() -> BoxedStrategy<Beat> {
    let media = prop_oneof![
        6 => Just(Media::None),
        1 => (1u32..4000, 1u32..4000).prop_map(|(w, h)| Media::Image(w, h)),
        1 => Just(Media::Document),
    ];
    let dress = select(vec![Dress::String, Dress::List, Dress::Cached]);
    prop_oneof![
        4 => (text(), media, dress).prop_map(|(text, media, dress)| Beat::Human { text, media, dress }),
        1 => (text(), proptest::option::of(text())).prop_map(|(text, human)| Beat::Injected { text, human }),
        8 => step().prop_map(Beat::Step),
        1 => text().prop_map(Beat::Instructions),
        1 => proptest::option::weighted(0.8, text()).prop_map(Beat::Compaction),
        1 => (0..TOOLS.len(), output()).prop_map(|(tool, text)| Beat::Function { tool, text }),
        1 => (0..UNKNOWN.len()).prop_map(Beat::Unknown),
    ]
    .boxed()
}

fn call() -> BoxedStrategy<Call> {
    let outcome = prop_oneof![
        5 => Just(Outcome::Words),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::List),
        1 => (1u32..3000, 1u32..3000).prop_map(|(w, h)| Outcome::Image(w, h)),
        1 => Just(Outcome::Empty),
    ];
    (0..TOOLS.len(), text(), output(), outcome)
        .prop_map(|(tool, argument, result, outcome)| Call { tool, argument, result, outcome })
        .boxed()
}

fn step() -> BoxedStrategy<Step> {
    let thought = prop_oneof![
        1 => text().prop_map(Thought::Plain),
        3 => text().prop_map(Thought::Signed),
        1 => Just(Thought::Redacted),
    ];
    (
        prop_oneof![2 => Just(Vec::new()), 1 => vec(thought, 1..3)],
        proptest::option::of(text()),
        proptest::option::weighted(0.1, text()),
        prop_oneof![1 => Just(Vec::new()), 2 => vec(call(), 1..2), 2 => vec(call(), 2..5)],
        proptest::option::weighted(0.08, 0..UNKNOWN.len()),
        proptest::option::weighted(0.2, text()),
        select(vec![
            Splits::Nothing,
            Splits::Nothing,
            Splits::Assistant,
            Splits::Results,
            Splits::Both,
        ]),
        select(vec![Order::AsCalled, Order::AsCalled, Order::Reversed, Order::SameIds]),
        select(vec![Shape::String, Shape::List, Shape::Absent]),
    )
        .prop_map(|(thoughts, say, serves, calls, unknown, aside, splits, order, absent)| Step {
            thoughts,
            say,
            serves,
            calls,
            unknown,
            aside,
            splits,
            order,
            absent,
        })
        .boxed()
}
