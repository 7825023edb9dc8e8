//! Whatever came in comes back, byte for byte: transcripts of every kind, all in one store.

use std::cell::RefCell;

use epitome::archive::{Archive as _, Shown};
use epitome::transcript::ContentId;
use epitome_store::Document;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use testkit::generate;
use testkit::to_percent;

use crate::Place;

/// `./test full` has 12,000 of them.
#[test]
fn every_generated_session_comes_back_byte_for_byte() {
    let place = Place::on_disk();
    let store = place.open();
    let kept = RefCell::new(Vec::new());
    let cases = prop_oneof![generate::valid(), generate::broken()];
    let ran = TestRunner::new(generate::cases(200)).run(&cases, |case| {
        let failed = |error: &dyn std::fmt::Display| TestCaseError::fail(error.to_string());
        let request = case.request();
        let document =
            Document { raw: case.text.as_bytes(), request: &request, source: "", project: "" };
        let session = store.take_in(&document).map_err(|error| failed(&error))?;
        let compactor = testkit::compactor(to_percent(case.target), "chars4");
        let outcome = compactor.compact_into(&request, &session);
        // What can't be compacted is kept all the same.
        if let Ok(outcome) = outcome {
            let head = session.head().map_err(|error| failed(&error))?;
            let shown = Shown::of(&outcome, request.transcript.len());
            let view = session.commit(head, &shown).map_err(|error| failed(&error))?;
            let back = session.input_of(view).map_err(|error| failed(&error))?;
            prop_assert_eq!(back.as_deref(), Some(case.text.as_bytes()));
            let kept = session.view(view).map_err(|error| failed(&error))?;
            prop_assert_eq!(kept.map(|kept| kept.shown.text), Some(shown.text));
        }
        kept.borrow_mut().push(case.text.clone());
        Ok(())
    });
    ran.expect("all of them come back");
    drop(store);
    let (store, kept) = (place.open(), kept.into_inner());
    assert!(kept.len() >= 200);
    let (all, bytes) = (kept.len(), kept.iter().map(String::len).sum::<usize>());
    for text in kept {
        let back = store.input(ContentId::of_text(&text)).expect("readable");
        assert_eq!(back.as_deref(), Some(text.as_bytes()));
    }
    println!(
        "reliability: {all} generated sessions, {bytes} bytes, in one store: all back byte for byte"
    );
}

/// Clocks are set, and machines have different ones.
#[test]
fn what_the_clock_says_decides_nothing_but_age() {
    let place = Place::on_disk();
    let store = place.open();
    let body = crate::talk("one", 12);
    let session = crate::take_in(&store, &body);
    let outcome = crate::compact(&body, &session);
    let entries = crate::parsed(&body).transcript.len();
    assert_eq!(session.commit(0, &Shown::of(&outcome, entries)), Ok(1));
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    let year: i64 = 365 * 24 * 3600 * 1000;
    for (jump, is_gone) in [(40 * year, false), (-100 * year, true)] {
        // What was written before the clock was set stands far from now.
        for column in [
            "session SET touched = touched",
            "session SET made = made",
            "input SET made = made",
            "view SET made = made",
        ] {
            database.execute(&format!("UPDATE {column} + {jump}"), []).expect("set");
        }
        let longer = body.replacen(
            "],\"stream\"",
            ",{\"role\":\"user\",\"content\":\"said later\"}],\"stream\"",
            1,
        );
        let listed = store.sessions().expect("listed");
        assert_eq!((listed.len(), listed[0].views), (1, 1), "{jump}");
        assert_eq!(session.input_of(1).expect("readable").as_deref(), Some(body.as_bytes()));
        let (same, view) = store
            .shown_as(ContentId::of_text(outcome.rendered()))
            .expect("readable")
            .expect("known");
        assert_eq!((same.name(), view), (session.name(), 1));
        assert!(!store.search("answer1 answer2 answer3", 5).expect("searchable").is_empty());
        // Nobody is forgotten because somebody's clock was wrong the other way.
        let old = store.forget_older(std::time::Duration::from_hours(24)).expect("looked");
        assert_eq!(!old.sessions.is_empty(), is_gone, "{jump}");
        if !is_gone {
            assert_eq!(crate::take_in(&store, &longer).name(), session.name(), "it goes on");
        }
    }
}
