//! What is forgotten is gone, and what isn't one's own was never there.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use epitome::archive::{Archive as _, Shown};
use epitome::transcript::ContentId;
use epitome_store::{Session, Store};
use testkit::archives::original;

use crate::{Place, compact, parsed, take_in, talk};

fn filled(store: &Store, about: &str) -> Session {
    let body = talk(about, 10);
    let session = take_in(store, &body);
    let outcome = compact(&body, &session);
    session.commit(0, &Shown::of(&outcome, parsed(&body).transcript.len())).expect("kept");
    // So short that it isn't compressed.
    session.put(&[original(99, about)]).expect("kept");
    session
}

/// Whether the files hold a word.
fn holds(place: &Place, word: &str) -> bool {
    place.bytes().windows(word.len()).any(|window| window == word.as_bytes())
}

/// How many words the index of the first tenant holds.
fn indexed(place: &Place) -> u64 {
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    database
        .execute_batch("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words_1, row)")
        .expect("looked at");
    let count = "SELECT count(*) FROM temp.vocabulary";
    database.query_row(count, [], |row| row.get(0)).expect("counted")
}

/// Comes back in a later millisecond: by those sessions are dated.
fn tick() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
    let begun = now();
    while now() == begun {
        std::thread::yield_now();
    }
}

#[test]
fn not_a_byte_is_left() {
    let place = Place::on_disk();
    let store = place.open();
    let other = filled(&store, "zebrakeeps");
    let session = filled(&store, "quaggagoes");
    assert!(holds(&place, "quaggagoes"), "the test would see it");
    let gone = store.forget(&session).expect("forgotten");
    assert_eq!(gone.sessions, [session.name()]);
    assert!(gone.contents > 10, "{gone:?}");
    assert!(!holds(&place, "quaggagoes"));
    assert!(holds(&place, "zebrakeeps"), "others keep theirs");
    assert!(store.search("quaggagoes", 10).expect("searchable").is_empty());
    assert!(!store.search("zebrakeeps", 10).expect("searchable").is_empty());
    assert!(other.view(1).expect("readable").is_some());
    assert!(indexed(&place) > 0);
    assert!(session.head().is_err() && store.session(session.name()).is_err());
    store.forget(&other).expect("forgotten");
    drop((store, session, other));
    assert!(!holds(&place, "zebrakeeps"), "nor after the end");
    assert_eq!(indexed(&place), 0);
}

#[test]
fn what_somebody_still_reads_is_said_to_be_there() {
    let place = Place::on_disk();
    let store = place.open();
    let session = filled(&store, "quaggagoes");
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    database.execute_batch("BEGIN; SELECT count(*) FROM blob").expect("read");
    assert!(store.forget(&session).expect("forgotten").is_held);
    assert!(holds(&place, "quaggagoes"), "the reader needs it");
    assert!(store.session(session.name()).is_err(), "nobody else has it");
    drop(database);
    let gone = store.forget_older(Duration::from_mins(1)).expect("emptied");
    assert!(gone.sessions.is_empty() && !gone.is_held);
    assert!(!holds(&place, "quaggagoes"));
}

#[test]
fn no_more_goes_than_has_to() {
    // Forks share most of what they say, so that what one of them takes depends on the others.
    let fill = |store: &Store| {
        for at in 0..6 {
            let body = talk("shared", 6 + at % 3).replace("answer4", &format!("answer4 of {at}"));
            take_in(store, &body);
            take_in(store, &talk(&format!("alone{at}"), 3));
            tick();
        }
    };
    let (first, all) = (Place::new(), Place::new());
    let (one_by_one, store) = (first.open(), all.open());
    fill(&one_by_one);
    fill(&store);
    for share in [90, 60, 30, 5, 0] {
        let most = one_by_one.stored().expect("readable").packed * share / 100;
        let mut wanted = Vec::new();
        while one_by_one.stored().expect("readable").packed > most {
            let oldest = one_by_one.sessions().expect("listed").pop().expect("there");
            let oldest = one_by_one.session(&oldest.session).expect("there");
            wanted.extend(one_by_one.forget(&oldest).expect("forgotten").sessions);
        }
        assert_eq!(store.forget_over(most).expect("forgotten").sessions, wanted, "{share} %");
        assert_eq!(store.stored().expect("readable"), one_by_one.stored().expect("readable"));
    }
}

#[test]
fn what_two_sessions_say_stays_with_the_other() {
    let place = Place::new();
    let store = place.open();
    let session = filled(&store, "shared");
    let body = talk("shared", 10).replace("answer9", "answer9 differs");
    let fork = take_in(&store, &body);
    let outcome = compact(&body, &fork);
    store.forget(&session).expect("forgotten");
    for original in outcome.originals() {
        assert_eq!(fork.get(original.id).expect("readable").as_deref(), Some(&*original.bytes));
    }
    assert_eq!(fork.newest_input().expect("readable").as_deref(), Some(body.as_bytes()));
}

#[test]
fn age_and_size_are_bounded() {
    let place = Place::new();
    let store = place.open();
    filled(&store, "first");
    tick();
    let second = filled(&store, "second");
    assert!(store.forget_older(Duration::from_mins(1)).expect("done").sessions.is_empty());
    let packed = store.stored().expect("readable").packed;
    let gone = store.forget_over(packed - 1).expect("done");
    assert_eq!(gone.sessions.len(), 1, "the oldest goes first");
    assert_eq!(store.sessions().expect("listed")[0].session, second.name());
    tick();
    let gone = store.forget_older(Duration::ZERO).expect("done");
    assert_eq!(gone.sessions, [second.name()]);
    assert_eq!(store.stored().expect("readable").bytes, 0);
}

#[test]
fn tenants_are_apart() {
    let place = Place::new();
    let store = place.open();
    let (one, two) = (store.tenant("one").expect("made"), store.tenant("two").expect("made"));
    let session = filled(&one, "private");
    let body = talk("private", 10);
    let id = ContentId::of_text(parsed(&body).transcript.entry(3).raw());
    assert!(one.get(id).expect("readable").is_some());
    for stranger in [&two, &store] {
        assert_eq!(stranger.get(id).expect("readable"), None);
        assert!(stranger.search("private marker3x", 10).expect("searchable").is_empty());
        assert!(stranger.recall(&id.to_string(), 10).expect("readable").is_empty());
        assert!(stranger.session(session.name()).is_err());
        assert!(stranger.sessions().expect("listed").is_empty());
        assert_eq!(stranger.stored().expect("readable").bytes, 0);
    }
    // The same words score the same, whoever else says them.
    let scores = |store: &Store| -> Vec<u64> {
        let found = store.search("answer3 marker4x", 10).expect("searchable");
        found.iter().map(|(_, found)| found.score.to_bits()).collect()
    };
    let before = scores(&one);
    filled(&two, "private");
    filled(&two, "answer3 answer3 answer3");
    assert!(!before.is_empty() && scores(&one) == before);
    assert_eq!(take_in(&two, &talk("private", 12)).name(), session.name(), "by its own way");
    two.forget(&two.session(session.name()).expect("its own")).expect("forgotten");
    assert!(one.get(id).expect("readable").is_some());
}

#[test]
fn a_forgotten_session_refuses_writes() {
    let place = Place::new();
    let store = place.open();
    let body = talk("one", 10);
    let session = take_in(&store, &body);
    let outcome = compact(&body, &session);
    store.forget(&store.session(session.name()).expect("there")).expect("forgotten");
    let shown = Shown::of(&outcome, parsed(&body).transcript.len());
    let told = [session.put(&[original(1, "too late")]), session.commit(0, &shown).map(|_| ())];
    for told in told {
        assert!(told.expect_err("it is gone").to_string().contains("forgotten meanwhile"));
    }
    assert_eq!(store.stored().expect("readable").bytes, 0, "nothing of it came back");
}
