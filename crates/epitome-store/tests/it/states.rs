//! What a proxy knows of conversations.

use std::time::Duration;

use epitome_store::{Access, State, Store};

use crate::Place;

fn state(place: u8, number: u32) -> State {
    State { place: [place; 16], number, text: format!("{{\"state\":{place}.{number}}}") }
}

#[test]
fn the_newest_of_the_last_place_is_found_and_the_first_one_holds() {
    let place = Place::new();
    let store = place.open();
    let asked = |asked: &[(u8, Option<u32>)]| {
        let asked: Vec<_> = asked.iter().map(|(at, known)| ([*at; 16], *known)).collect();
        place.open().newest_state(&asked).expect("readable")
    };
    assert_eq!(asked(&[(1, None), (2, None)]), None);
    assert_eq!(store.keep_state(&state(1, 1)).expect("kept"), None);
    assert_eq!(store.keep_state(&state(2, 2)).expect("kept"), None);
    assert_eq!(asked(&[(1, None), (2, None), (3, None)]), Some(state(2, 2)));
    assert_eq!(asked(&[(1, None), (2, Some(2))]), Some(state(1, 1)));
    assert_eq!(asked(&[(1, Some(1)), (2, Some(1))]), Some(state(2, 2)));
    assert_eq!(asked(&[(1, Some(1))]), None);
    // Who comes second is told what the first one keeps, unless it went further.
    let second = State { text: "{}".to_owned(), ..state(2, 2) };
    assert_eq!(place.open().keep_state(&second).expect("kept"), Some(state(2, 2)));
    assert_eq!(place.open().keep_state(&state(2, 1)).expect("kept"), Some(state(2, 2)));
    assert_eq!(place.open().keep_state(&state(2, 3)).expect("kept"), None);
    assert_eq!(asked(&[(2, None)]), Some(state(2, 3)));
    // Tenants are apart.
    let other = store.tenant("other").expect("made");
    assert_eq!(other.newest_state(&[([2; 16], None)]).expect("readable"), None);
    assert_eq!(other.keep_state(&state(2, 1)).expect("kept"), None);
}

#[test]
fn what_nobody_uses_is_forgotten() {
    let place = Place::on_disk();
    let store = place.open();
    let is_there = || place.bytes().windows(16).any(|window| window == [0x77; 16]);
    for forget in [
        |store: &Store, than| store.forget_states(than).expect("forgotten"),
        |store: &Store, than| {
            u64::try_from(store.forget_older(than).expect("forgotten").sessions.len()).expect("few")
        },
    ] {
        store.keep_state(&state(0x77, 1)).expect("kept");
        forget(&store, Duration::from_mins(1));
        assert!(store.newest_state(&[([0x77; 16], None)]).expect("readable").is_some());
        std::thread::sleep(Duration::from_millis(5));
        forget(&store, Duration::ZERO);
        assert!(store.newest_state(&[([0x77; 16], None)]).expect("readable").is_none());
    }
    // What is forgotten by name of an age is gone from the disk, too.
    assert!(!is_there());
}

#[test]
fn a_secret_is_drawn_once() {
    let place = Place::new();
    assert_eq!(place.open().secret("one", [1; 32]).expect("kept"), [1; 32]);
    assert_eq!(place.open().secret("one", [2; 32]).expect("kept"), [1; 32]);
    assert_eq!(place.open().secret("two", [3; 32]).expect("kept"), [3; 32]);
    assert!(place.opened(Access::Read).expect("a store").secret("one", [1; 32]).is_err());
}

/// The system goes on with a file that is open, of which nobody else will ever see anything.
#[cfg(unix)]
#[test]
fn a_store_that_was_taken_away_keeps_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let store = Store::open(&path, Access::Write).expect("made");
    assert_eq!(store.keep_state(&state(1, 1)).expect("kept"), None);
    assert!(store.newest_state(&[([1; 16], None)]).expect("readable").is_some());
    std::fs::rename(&path, folder.path().join("elsewhere")).expect("it was there");
    for is_another_there in [false, true] {
        if is_another_there {
            Store::open(&path, Access::Write).expect("made");
        }
        let error = store.keep_state(&state(1, 2)).expect_err("it is gone").to_string();
        assert!(error.contains("there is no store"), "{error}");
        store.newest_state(&[([1; 16], None)]).expect_err("it is gone");
    }
}
