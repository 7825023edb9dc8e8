//! Many at once, and the process gone in the middle.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use epitome::archive::{Archive as _, ArchiveError};
use epitome_store::{Access, Document, Store, StoreError};
use testkit::archives::{original, shown};

use crate::{Place, compact, parsed, take_in, talk};

/// Set for the copy of this test that is killed: the folder to write to.
const VICTIM: &str = "EPITOME_STORE_VICTIM";

/// Writes until it is killed: an original, and a view that needs it.
#[test]
fn victim() {
    let Ok(folder) = std::env::var(VICTIM) else { return };
    let store = Store::open(folder.as_ref(), Access::Write).expect("a store");
    let session = take_in(&store, &talk("victim", 2));
    for _ in 0..100_000 {
        let head = session.head().expect("readable");
        session.put(&[original(0, &format!("said before view {}", head + 1))]).expect("kept");
        let number = session.commit(head, &shown(3, &format!("view {}", head + 1))).expect("kept");
        // Told only once it is on the disk.
        println!("acknowledged {number}");
    }
}

#[test]
fn whatever_was_acknowledged_survives_a_kill() {
    let place = Place::on_disk();
    let rounds: usize =
        std::env::var("EPITOME_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let (mut least, mut looked_at) = (0, 0);
    for round in 0..rounds {
        let mut victim = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "robust::victim", "--nocapture"])
            .env(VICTIM, place.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut says = BufReader::new(victim.stdout.take().expect("piped"));
        let mut told = String::new();
        // Every other one has begun to write.
        while round % 2 == 1 && !told.contains("acknowledged ") {
            assert!(says.read_line(&mut told).expect("UTF-8") > 0, "it writes: {told}");
        }
        // When it is killed isn't at random, so that a failure comes again; the machine's load is random enough.
        std::thread::sleep(Duration::from_millis((round as u64 * 37) % 160));
        victim.kill().expect("killed");
        says.read_to_string(&mut told).expect("UTF-8");
        victim.wait().expect("over");
        let numbers = told.lines().filter_map(|line| line.rsplit_once("acknowledged "));
        // The last line may be cut.
        let whole = numbers.take(told.matches('\n').count());
        least = whole.filter_map(|(_, n)| n.parse::<u64>().ok()).last().unwrap_or(least).max(least);

        let Ok(store) = Store::open(&place.path(), Access::Existing) else {
            assert_eq!(least, 0, "a store that acknowledged something is there");
            continue;
        };
        let Some(listed) = store.sessions().expect("readable").pop() else {
            assert_eq!(least, 0);
            continue;
        };
        let session = store.session(&listed.session).expect("there");
        let head = session.head().expect("readable");
        assert!(head >= least, "{least} was acknowledged, {head} is there");
        // What was whole once is looked at again in the end.
        let from = if round + 1 == rounds { 1 } else { looked_at + 1 };
        looked_at = head;
        for number in from..=head {
            let view = session.view(number).expect("whole").expect("there");
            assert_eq!(view.shown, shown(3, &format!("view {number}")));
            let before = original(0, &format!("said before view {number}"));
            assert_eq!(session.get(before.id).expect("whole"), Some(before.bytes));
        }
        assert!(session.input_of(head).expect("whole").is_some() || head == 0);
        least = least.max(head);
    }
    assert!(least > 0, "something was written before the kills");
    println!(
        "reliability: {rounds} processes killed while they wrote to a store: {least} views, each with an original, all that were acknowledged and whole"
    );
}

#[test]
fn many_make_one_store() {
    for _ in 0..25 {
        let place = Place::on_disk();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| place.open().sessions().expect("readable"));
            }
        });
    }
}

#[test]
fn two_handles_share_a_store() {
    let place = Place::on_disk();
    let (one, two) = (place.open(), place.open());
    let (mine, theirs) = (take_in(&one, &talk("one", 3)), take_in(&two, &talk("one", 3)));
    assert_eq!(mine.name(), theirs.name());
    std::thread::scope(|scope| {
        for (session, from) in [(&mine, 0), (&theirs, 100)] {
            scope.spawn(move || {
                for at in from..from + 25 {
                    session
                        .put(&[original(at, &format!("word{at}"))])
                        .expect("one after the other");
                }
            });
        }
    });
    for at in (0..25).chain(100..125) {
        let found = mine.search(&format!("word{at}"), 5).expect("searchable");
        assert_eq!(found[0].entry, at);
    }
    assert_eq!(mine.commit(0, &shown(3, "mine")), Ok(1));
    let late = theirs.commit(0, &shown(3, "theirs"));
    assert_eq!(late, Err(ArchiveError::Conflict { parent: 0, head: 1 }));
}

#[test]
fn readers_go_on_while_somebody_writes() {
    let place = Place::on_disk();
    let store = place.open();
    let session = take_in(&store, &talk("one", 3));
    session.put(&[original(0, "findable")]).expect("kept");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for at in 0..40 {
                session.put(&[original(at, &format!("filler{at}"))]).expect("kept");
            }
        });
        for _ in 0..40 {
            assert_eq!(store.search("findable", 1).expect("searchable").len(), 1);
        }
        writer.join().expect("nobody panics");
    });
}

#[test]
fn damage_is_told_and_nothing_invented() {
    let place = Place::on_disk();
    let session = take_in(&place.open(), &talk("one", 3));
    session.put(&[original(0, "some words that were said")]).expect("kept");
    let name = session.name().to_owned();
    drop(session);
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    database.execute("UPDATE blob SET bytes = zeroblob(length(bytes))", []).expect("set");
    drop(database);
    let store = Store::open(&place.path(), Access::Read).expect("there");
    let id = original(0, "some words that were said").id;
    assert!(matches!(store.get(id), Err(StoreError::Damaged { .. })));
    let session = store.session(&name).expect("there");
    assert!(matches!(session.newest_input(), Err(StoreError::Damaged { .. })));
    assert!(matches!(session.get(id), Err(ArchiveError::Damaged { .. })));
}

#[test]
fn known_contents_are_read_back() {
    let place = Place::on_disk();
    let (short, long) = (talk("one", 3), talk("one", 6));
    let kept = original(0, "some words that were said");
    let session = take_in(&place.open(), &short);
    session.put(std::slice::from_ref(&kept)).expect("kept");
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    let count = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| row.get(0)).expect("counted")
    };
    let all = || ["blob", "input", "link", "entry", "view"].map(count);
    let before = all();
    let set = |to: &str| database.execute(&format!("UPDATE blob SET bytes = {to}"), []);
    database.execute_batch("CREATE TABLE spare AS SELECT n, bytes FROM blob").expect("made");
    set("zeroblob(length(bytes))").expect("set");
    let store = place.open();
    for body in [&short, &long] {
        let request = &parsed(body);
        let document = Document { raw: body.as_bytes(), request, source: "", project: "" };
        let error = store.take_in(&document).expect_err("nothing of it is there any more");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    }
    let put = session.put(std::slice::from_ref(&kept));
    assert!(matches!(put, Err(ArchiveError::Damaged { .. })), "{put:?}");
    assert_eq!(all(), before, "nothing was written");
    set("(SELECT spare.bytes FROM spare WHERE spare.n = blob.n)").expect("set");
    let again = take_in(&store, &long);
    assert_eq!((again.name(), again.put(&[kept])), (session.name(), Ok(())));
}

/// The index of words says nothing that the entries don't say, so it is made again.
#[test]
fn a_damaged_index_is_made_again() {
    for harm in
        ["UPDATE words_1_data SET block = zeroblob(40) WHERE id > 10", "DELETE FROM words_1_data"]
    {
        let place = Place::on_disk();
        let body = talk("first", 12);
        let session = take_in(&place.open(), &body);
        compact(&body, &session);
        drop(session);
        let found = |store: &Store| store.search("marker3x", 5);
        let before = found(&place.open()).expect("found");
        assert!(!before.is_empty());
        let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
        database.execute(harm, []).expect("harmed");
        drop(database);
        let reader = place.opened(Access::Read).expect("a store");
        assert!(matches!(found(&reader), Err(StoreError::DamagedIndex { .. })), "{harm}");
        drop(reader);
        assert_eq!(found(&place.open()).expect("made again"), before, "{harm}");
        let reader = place.opened(Access::Read).expect("a store");
        assert_eq!(found(&reader).expect("for good"), before, "{harm}");
    }
}

#[test]
fn an_impossible_value_is_named_with_its_tables() {
    let place = Place::on_disk();
    let name = take_in(&place.open(), &talk("first", 3)).name().to_owned();
    let database = rusqlite::Connection::open(place.path().join("store.db")).expect("opened");
    database.execute("UPDATE session SET format = 'xx'", []).expect("harmed");
    let error = place.open().session(&name).expect_err("it can't be read").to_string();
    assert_eq!(error, "the store is damaged: `format` has an impossible value in a row of session");
}
