//! Scripts off a fuzzer's tape: each choice takes the next bytes, so that small changes of the bytes are small changes of the
//! transcript. (Proptest can play a tape as well, but halves it at each choice among strategies, and draws for ever at its end.)

use epitome::wire::{Envelope, Format};

use crate::draft::{Model, Shape, Thinking};
use crate::prose;
use crate::script::{
    Beat, Call, Dress, Media, Order, Outcome, Prose, SHORT, Script, Splits, Spot, Step, TOOLS,
    Thought, UNKNOWN,
};
use epitome_bench::dice::Dice;

/// Most beats of a script: what is long takes a fuzzer's time and shows nothing more.
const MOST_BEATS: usize = 14;

impl Script {
    /// The script that these throws choose.
    pub(crate) fn of(dice: &mut Dice) -> Self {
        let format = dice.pick(&Format::ALL);
        let envelope =
            dice.pick(&[Envelope::Body, Envelope::Body, Envelope::Array, Envelope::Lines]);
        Script {
            format,
            envelope,
            system: maybe(dice, 2, text),
            thinking: dice.pick(&[Thinking::Unset, Thinking::Adaptive, Thinking::Manual]),
            model: dice.pick(&[Model::Free, Model::Bound]),
            open: if dice.one_in(4) { 1 + dice.below(3) as u8 } else { 0 },
            ink: if dice.one_in(5) { 0 } else { dice.roll() },
            pin: maybe(dice, 3, Spot::of),
            target: 2 + dice.below(99) as u8,
            twist: dice.below(10) as u8,
            beats: many(dice, MOST_BEATS, beat),
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
    dice.one_in(n).then(|| one(dice))
}

fn many<T>(dice: &mut Dice, most: usize, mut one: impl FnMut(&mut Dice) -> T) -> Vec<T> {
    (0..dice.below(most + 1)).map(|_| one(dice)).collect()
}

fn text(dice: &mut Dice) -> Prose {
    match dice.below(12) {
        0..6 => Prose::Short(dice.below(SHORT.len())),
        6 => Prose::Random(random(dice)),
        7 => Prose::Odd(dice.below(prose::ODD.len())),
        8 => Prose::Unicode(dice.roll(), 1 + dice.below(100)),
        9 => Prose::Lorem(80 + dice.below(300)),
        _ => Prose::Lorem(1 + dice.below(80)),
    }
}

/// Characters that the bytes spell.
fn random(dice: &mut Dice) -> String {
    let length = 1 + dice.below(40);
    let some = (0..length).filter_map(|_| char::from_u32(dice.below(0x300) as u32));
    format!("{}.", some.collect::<String>())
}

fn output(dice: &mut Dice) -> Prose {
    match dice.below(10) {
        0..3 => text(dice),
        3 | 4 => Prose::Lines(1 + dice.below(40)),
        5 | 6 => Prose::Code(dice.roll(), 1 + dice.below(60)),
        7 | 8 => Prose::Log(dice.roll(), 1 + dice.below(60)),
        _ => Prose::Unicode(dice.roll(), 100 + dice.below(500)),
    }
}

fn beat(dice: &mut Dice) -> Beat {
    match dice.below(17) {
        0..4 => Beat::Human {
            text: text(dice),
            media: match dice.below(8) {
                0 => Media::Image(size(dice), size(dice)),
                1 => Media::Document,
                _ => Media::None,
            },
            dress: dice.pick(&[Dress::String, Dress::List, Dress::Cached]),
        },
        4 => Beat::Injected { text: text(dice), human: maybe(dice, 2, text) },
        5 => Beat::Instructions(text(dice)),
        6 => Beat::Compaction(maybe(dice, 2, text)),
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
        thoughts: many(dice, 2, |dice| match dice.below(5) {
            0 => Thought::Plain(text(dice)),
            1 => Thought::Redacted,
            _ => Thought::Signed(text(dice)),
        }),
        say: maybe(dice, 2, text),
        serves: maybe(dice, 10, text),
        calls: many(dice, 4, call),
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

fn call(dice: &mut Dice) -> Call {
    Call {
        tool: dice.below(TOOLS.len()),
        argument: text(dice),
        result: output(dice),
        outcome: match dice.below(9) {
            0 => Outcome::Failed,
            1 => Outcome::List,
            2 => Outcome::Image(size(dice), size(dice)),
            3 => Outcome::Empty,
            _ => Outcome::Words,
        },
    }
}
