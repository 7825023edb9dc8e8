//! Clients, the session machine and their providers: the bytes choose what happens next.
#![no_main]

use std::sync::Arc;

use epitome::session::{SessionOptions, Sessions};
use epitome::trigger::When;
use epitome_fuzz::compactor;
use libfuzzer_sys::fuzz_target;
use testkit::simulation::{KEY, World};

fn machine() -> Sessions {
    let trigger = When::Share(0.8).build().expect("in range");
    let options = SessionOptions::new(Arc::new(trigger), KEY);
    Sessions::new(options, compactor(40, None)).expect("in range")
}

fuzz_target!(|data: &[u8]| {
    let mut world = World::of_tape(data, machine, [6_000, 3_000]);
    // A step throws about eight times.
    world.run((data.len() / 16).min(60)).unwrap();
});
