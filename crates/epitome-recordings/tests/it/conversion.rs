//! Every shipped session in every format: taken by the provider, and saying the same.

use epitome::{Format, wire};
use epitome_recordings::open;
use testkit::conversion::{Tongue, converted, said};

use crate::opening::shipped;
use crate::{LAST, example};

#[test]
fn every_session_is_said_in_every_format() {
    let mut wrong = Vec::new();
    for (file, _) in shipped() {
        let input = open(example(&file).into_bytes(), None, LAST).expect(&file);
        // What was broken is mended first, whatever it becomes.
        let request = wire::repair(input.request()).request;
        for to in Format::ALL.into_iter().filter(|to| *to != request.format) {
            match converted(&request, to) {
                Err(refusal) => wrong.push(format!("{file} to {to}: {refusal:.800}")),
                Ok((_, written)) => {
                    let tongue = Tongue::of([request.format, to]);
                    let (before, after) = (said(&request, tongue), said(&written, tongue));
                    if before != after {
                        wrong.push(format!("{file} to {to} says something else"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n\n"));
}
