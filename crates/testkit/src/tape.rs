//! Scripts off a tape of numbers: each choice takes the next one, so that small changes of the numbers are small changes of the
//! transcript. Property tests draw a tape and shrink it; a fuzzer's bytes are one. The smallest number chooses what is simplest.

use std::ops::RangeInclusive;

use epitome::wire::{Envelope, Format};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::draft::{Model, Shape, Thinking};
use crate::prose;
use crate::script::{
    Beat, Call, Dress, Media, Order, Outcome, Prose, SHORT, Script, Splits, Spot, Step, TOOLS,
    Thought, UNKNOWN,
};
use epitome_bench::dice::Dice;

/// Choices of a drawn tape: most scripts take fewer.
const MOST_CHOICES: usize = 300;
/// Most beats of most scripts, and of one in eight.
const BEATS: [usize; 2] = [8, 23];

/// The bytes of a tape.
pub(crate) fn tape() -> impl Strategy<Value = Vec<u8>> + use<> {
    let choices = vec(any::<u16>(), 0..MOST_CHOICES);
    choices.prop_map(|choices| choices.into_iter().flat_map(u16::to_be_bytes).collect())
}

impl Script {
    /// The script in one of these formats that these throws choose.
    pub(crate) fn of(dice: &mut Dice, formats: &[Format]) -> Self {
        let format = dice.pick(formats);
        let envelope =
            dice.pick(&[Envelope::Body, Envelope::Body, Envelope::Array, Envelope::Lines]);
        Script {
            format,
            envelope,
            system: maybe(dice, 2, text),
            thinking: dice.pick(&[Thinking::Unset, Thinking::Adaptive, Thinking::Manual]),
            model: dice.pick(&[Model::Free, Model::Bound]),
            open: maybe(dice, 4, |dice| 1 + dice.below(3) as u8).unwrap_or(0),
            ink: if dice.one_in(5) { 0 } else { dice.roll() },
            pin: maybe(dice, 3, Spot::of),
            target: 2 + dice.below(99) as u8,
            twist: dice.below(10) as u8,
            beats: {
                let most = BEATS[usize::from(dice.below(8) == 7)];
                many(dice, 0..=most, beat)
            },
        }
    }
}

impl Spot {
    pub(crate) fn of(dice: &mut Dice) -> Self {
        Spot(dice.roll() << 48)
    }
}

/// One in `n` times there is one.
fn maybe<T>(dice: &mut Dice, n: usize, one: impl FnOnce(&mut Dice) -> T) -> Option<T> {
    (dice.below(n) + 1 == n).then(|| one(dice))
}

fn many<T>(
    dice: &mut Dice,
    of: RangeInclusive<usize>,
    mut one: impl FnMut(&mut Dice) -> T,
) -> Vec<T> {
    let count = of.start() + dice.below(of.end() - of.start() + 1);
    (0..count).map(|_| one(dice)).collect()
}

fn text(dice: &mut Dice) -> Prose {
    match dice.below(15) {
        0..8 => Prose::Short(dice.below(SHORT.len())),
        8 | 9 => Prose::Lorem(1 + dice.below(80)),
        10 | 11 => Prose::Random(random(dice)),
        12 => Prose::Odd(dice.below(prose::ODD.len())),
        13 => Prose::Unicode(dice.roll(), 1 + dice.below(200)),
        _ => Prose::Lorem(80 + dice.below(620)),
    }
}

/// Characters that the numbers spell, few of them of any script.
fn random(dice: &mut Dice) -> String {
    let one = |dice: &mut Dice| {
        let points = if dice.below(8) == 7 { 0x1_1000 } else { 0x300 };
        char::from_u32(0x20 + dice.below(points) as u32).unwrap_or('.')
    };
    many(dice, 1..=40, one).into_iter().collect()
}

fn output(dice: &mut Dice) -> Prose {
    match dice.below(11) {
        0..3 => text(dice),
        3 | 4 => Prose::Lines(1 + dice.below(40)),
        5 | 6 => Prose::Code(dice.roll(), 1 + dice.below(80)),
        7 | 8 => Prose::Log(dice.roll(), 1 + dice.below(80)),
        9 => Prose::Unicode(dice.roll(), 200 + dice.below(1300)),
        _ => Prose::Lines(100 + dice.below(300)),
    }
}

fn beat(dice: &mut Dice) -> Beat {
    match dice.below(17) {
        0..4 => Beat::Human {
            text: text(dice),
            media: match dice.below(8) {
                6 => Media::Image(size(dice), size(dice)),
                7 => Media::Document,
                _ => Media::None,
            },
            dress: dice.pick(&[Dress::String, Dress::List, Dress::Cached]),
        },
        4 => Beat::Injected { text: text(dice), human: maybe(dice, 2, text) },
        5 => Beat::Instructions(text(dice)),
        6 => Beat::Compaction((dice.below(5) < 4).then(|| text(dice))),
        7 => Beat::Function { tool: dice.below(TOOLS.len()), text: output(dice) },
        8 => Beat::Unknown(dice.below(UNKNOWN.len())),
        _ => Beat::Step(step(dice)),
    }
}

fn size(dice: &mut Dice) -> u32 {
    1 + dice.below(3999) as u32
}

fn step(dice: &mut Dice) -> Step {
    Step {
        thoughts: maybe(dice, 3, |dice| many(dice, 1..=2, thought)).unwrap_or_default(),
        say: maybe(dice, 2, text),
        serves: maybe(dice, 10, text),
        calls: match dice.below(5) {
            0 => Vec::new(),
            1 | 2 => vec![call(dice)],
            _ => many(dice, 2..=4, call),
        },
        unknown: maybe(dice, 12, |dice| dice.below(UNKNOWN.len())),
        aside: maybe(dice, 5, text),
        splits: dice.pick(&[
            Splits::Nothing,
            Splits::Nothing,
            Splits::Assistant,
            Splits::Results,
            Splits::Both,
        ]),
        order: dice.pick(&[Order::AsCalled, Order::AsCalled, Order::Reversed, Order::SameIds]),
        absent: dice.pick(&[Shape::String, Shape::List, Shape::Absent]),
    }
}

fn thought(dice: &mut Dice) -> Thought {
    match dice.below(5) {
        0..3 => Thought::Signed(text(dice)),
        3 => Thought::Plain(text(dice)),
        _ => Thought::Redacted,
    }
}

fn call(dice: &mut Dice) -> Call {
    Call {
        tool: dice.below(TOOLS.len()),
        argument: text(dice),
        result: output(dice),
        outcome: match dice.below(9) {
            0..5 => Outcome::Words,
            5 => Outcome::Failed,
            6 => Outcome::List,
            7 => Outcome::Image(size(dice), size(dice)),
            _ => Outcome::Empty,
        },
    }
}
