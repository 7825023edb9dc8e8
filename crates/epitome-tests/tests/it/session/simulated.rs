//! Many clients, and everything that can go wrong between them and a provider: the laws hold in every state.

use std::ops::Range;

use epitome::strategy::{IntakeOptions, Ladder, Pipeline, Setting};
use testkit::simulation::{KEY, Score, World};

use super::*;

/// Gives a cut of every result above so many tokens, where that is asked for.
const MOST: u64 = 1_000;

fn machine(soft: Option<When>, intake: Setting<IntakeOptions>) -> Sessions {
    let strategies = Pipeline::Ladder(Ladder { intake, ..Ladder::default() });
    let options = SessionOptions {
        soft: soft.map(trigger),
        ..SessionOptions::new(trigger(When::Share(0.8)), KEY)
    };
    let compactor = compactor(Options { strategies, ..Options::default() });
    Sessions::new(options, compactor).expect("in range")
}

/// So many seeds, or `FROM..TO`.
fn seeds() -> Range<u64> {
    let Ok(said) = std::env::var("EPITOME_SEEDS") else { return 0..40 };
    let (from, to) = said.split_once("..").unwrap_or(("0", &said));
    let number = |text: &str| text.parse().expect("EPITOME_SEEDS is a number or FROM..TO");
    number(from)..number(to)
}

#[test]
fn the_laws_hold_in_every_state() {
    let mut total = Score::default();
    let mut violations = Vec::new();
    for seed in seeds() {
        let soft = (seed % 2 == 1).then_some(When::Share(0.6));
        let intake = match seed % 3 {
            0 => Setting::On(IntakeOptions { max_tokens: MOST }),
            _ => Setting::Off,
        };
        let most = intake.on().map(|on| on.max_tokens);
        let mut world = World::new(seed, move || machine(soft.clone(), intake), [24_000, 12_000]);
        world.largest_arrival = most;
        if let Err(violation) = world.run(600) {
            violations.push(format!("seed {seed}: {violation:.900}"));
        }
        total.add(&world.score);
    }
    println!("seeds {:?}: {total:?}", seeds());
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    let missing = if seeds().count() < 40 { Vec::new() } else { total.missing() };
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
