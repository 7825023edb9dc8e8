//! The session machine: what it decides, and that it holds the laws in every state.

use std::sync::Arc;

use epitome::count::counter;
use epitome::session::{ChainKey, SessionOptions, Sessions};
use epitome::trigger::{Trigger, When};
use epitome::{Compactor, Options};
use testkit::simulation::{Score, World};

fn trigger(when: When) -> Arc<dyn Trigger> {
    Arc::new(when.build().expect("in range"))
}

fn sessions(soft: Option<When>) -> Sessions {
    let counter = counter("o200k").expect("a known name");
    let compactor = Compactor::new(Options::default(), counter).expect("in range");
    let options = SessionOptions {
        soft: soft.map(trigger),
        ..SessionOptions::new(trigger(When::Share(0.8)), ChainKey([1, 2, 3, 4]))
    };
    Sessions::new(options, compactor).expect("in range")
}

#[expect(clippy::disallowed_methods, reason = "how hard to look is said from outside")]
fn seeds() -> u64 {
    std::env::var("EPITOME_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

#[test]
fn the_laws_hold_in_every_state() {
    let mut total = Score::default();
    let mut violations = Vec::new();
    for seed in 0..seeds() {
        let soft = (seed % 2 == 1).then_some(When::Share(0.6));
        let mut world = World::new(seed, move || sessions(soft.clone()), [24_000, 12_000]);
        if let Err(violation) = world.run(150) {
            violations.push(format!("seed {seed}: {violation:.900}"));
        }
        total.add(&world.score);
    }
    println!("{total:?}");
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert!(total.adopted > 0 && total.dropped > 0 && total.views > total.adopted);
}
