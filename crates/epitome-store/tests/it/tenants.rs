//! Tenants in one database, in any order: none is ever given a byte of another.

use std::cell::Cell;

use epitome::archive::FoundOriginal;
use epitome::archive::{Archive as _, Shown};
use epitome_store::Store;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::archives::original;

use crate::{Place, compact, parsed, take_in, talk};

/// What a tenant may do next.
#[derive(Clone, Copy, Debug)]
enum Deed {
    TakeIn,
    Compact,
    Put,
    Pin,
    Forget,
}

/// Words that every tenant says, so that all of them ask for what others have too.
const SHARED: &str = "answer3 marker4x shared question2";

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::TakeIn),
        2 => Just(Deed::Compact),
        3 => Just(Deed::Put),
        1 => Just(Deed::Pin),
        1 => Just(Deed::Forget),
    ]
}

fn done(store: &Store, name: &str, deed: Deed, round: usize) {
    let body = talk(&format!("of{name}x shared"), 6 + round % 3);
    match deed {
        Deed::TakeIn => drop(take_in(store, &body)),
        Deed::Compact => {
            let session = take_in(store, &body);
            let outcome = compact(&body, &session);
            let head = session.head().expect("readable");
            let shown = Shown::of(&outcome, parsed(&body).transcript.len());
            session.commit(head, &shown).expect("nobody else is there");
        }
        Deed::Put => {
            let words = format!("shared answer3 said of{name}x {round}");
            take_in(store, &body).put(&[original(50 + round, &words)]).expect("kept");
        }
        Deed::Pin => drop(store.pin(&format!("shared pin of{name}x")).expect("kept")),
        Deed::Forget => {
            if let Some(listed) = store.sessions().expect("listed").first() {
                let session = store.session(&listed.session).expect("there");
                store.forget(&session).expect("forgotten");
            }
        }
    }
}

#[test]
fn no_byte_of_another_is_given() {
    let cases = std::env::var("EPITOME_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let deeds = prop::collection::vec((0_usize..3, deed()), 4..14);
    let (answers, bytes) = (Cell::new(0_usize), Cell::new(0_usize));
    let looked_at = |text: &str| {
        answers.set(answers.get() + 1);
        bytes.set(bytes.get() + text.len());
    };
    let ran = runner.run(&deeds, |deeds| {
        let place = Place::new();
        let names = ["one", "two", "three"];
        let stores = names.map(|name| place.open().tenant(name).expect("made"));
        let mut ids = Vec::new();
        for (round, (who, deed)) in deeds.into_iter().enumerate() {
            done(&stores[who], names[who], deed, round);
            for (name, store) in names.iter().zip(&stores) {
                let own = format!("of{name}x");
                let is_own = |text: &str| {
                    names
                        .iter()
                        .all(|other| other == name || !text.contains(&format!("of{other}x")))
                };
                let found = store.search(SHARED, 50).expect("searchable");
                for (session, FoundOriginal { words, id, .. }) in &found {
                    looked_at(words);
                    prop_assert!(words.contains(&own) && is_own(words), "{name}: {words}");
                    prop_assert!(store.session(session).is_ok());
                    ids.push((*name, *id));
                }
                for (whose, id) in &ids {
                    let given = store.get(*id).expect("readable");
                    let recalled = store.recall(&id.to_string(), 3).expect("readable");
                    prop_assert!(whose == name || given.is_none() && recalled.is_empty());
                }
                for listed in store.sessions().expect("listed") {
                    let session = store.session(&listed.session).expect("its own");
                    let input = session.newest_input().expect("readable").expect("kept");
                    let input = String::from_utf8_lossy(&input);
                    looked_at(&input);
                    prop_assert!(is_own(&input));
                    let shown = session.view(session.head().expect("readable")).expect("readable");
                    prop_assert!(shown.is_none_or(|kept| is_own(&kept.shown.text)));
                }
                prop_assert!(store.pins().expect("listed").iter().all(|pin| is_own(&pin.text)));
            }
        }
        Ok(())
    });
    ran.expect("no byte of another is given");
    println!(
        "reliability: {cases} orders in which three tenants share a database: {} answers of {} bytes, 0 of them another's",
        answers.get(),
        bytes.get()
    );
}
