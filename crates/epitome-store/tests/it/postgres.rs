//! A server that many share. Without `EPITOME_POSTGRES` there is none, and nothing here is looked at;
//! `./test services` starts one, on which the tests of sessions, laws and forgetting run too.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::archive::{Archive as _, ArchiveError, Shown};
use epitome_store::{Access, Store, StoreError};
use testkit::archives::{original, shown};

use crate::{Place, compact, parsed, take_in, talk};

/// The URL of a database that nothing is in yet.
pub(crate) fn new_database(server: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("of_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    run(server, &format!("CREATE DATABASE {name}"));
    let (start, _) = server.rsplit_once('/').expect("it names a database");
    format!("{start}/{name}")
}

/// Runs a statement.
pub(crate) fn run(url: &str, sql: &str) {
    with(url, async |client| client.batch_execute(sql).await.expect("it does that"));
}

/// What a statement gives: a text.
pub(crate) fn asked(url: &str, sql: &str) -> String {
    with(url, async |client| client.query_one(sql, &[]).await.expect("it does that").get(0))
}

fn with<T>(url: &str, work: impl AsyncFnOnce(&tokio_postgres::Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls);
        let (client, connection) = connecting.await.expect("the server is there");
        let connection = tokio::spawn(connection);
        let done = work(&client).await;
        drop(client);
        connection.await.expect("no panic").expect("closed");
        done
    })
}

/// A place on the server, and its URL; `None` without one.
fn place() -> Option<(Place, String)> {
    let place = Place::new();
    let url = place.url.clone()?;
    Some((place, url))
}

#[test]
fn eight_replicas_compact_one_session_and_one_wins() {
    let Some((place, _)) = place() else { return };
    let all = Barrier::new(8);
    let body = talk("one", 12);
    let replica = || {
        let store = place.open();
        all.wait();
        let session = take_in(&store, &body);
        let outcome = compact(&body, &session);
        let shown = Shown::of(&outcome, parsed(&body).transcript.len());
        all.wait();
        let committed = session.commit(0, &shown);
        // Whoever comes late finds the winner's view, which is the same.
        let head = session.head().expect("readable");
        assert_eq!(session.view(head).expect("readable").expect("there").shown, shown);
        (session.name().to_owned(), committed)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(replica)).collect();
        all.into_iter().map(|one| one.join().expect("nobody panics")).collect()
    });
    assert!(done.iter().all(|(name, _)| *name == done[0].0), "one session: {done:?}");
    assert_eq!(done.iter().filter(|(_, done)| *done == Ok(1)).count(), 1, "{done:?}");
    let lost = Err(ArchiveError::Conflict { parent: 0, head: 1 });
    assert_eq!(done.iter().filter(|(_, done)| *done == lost).count(), 7, "{done:?}");
    let store = place.open();
    let listed = store.sessions().expect("listed");
    assert_eq!((listed.len(), listed[0].views, listed[0].entries), (1, 1, 25));
}

#[test]
fn replicas_write_and_forget_at_once() {
    let Some((place, _)) = place() else { return };
    std::thread::scope(|scope| {
        for replica in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let store = place.open();
                for round in 0..6 {
                    // What is said is shared, so that what one forgets another may just be about to name.
                    let body = talk("shared", 3 + round)
                        .replace("answer2", &format!("answer2 of {replica}"));
                    let session = take_in(&store, &body);
                    session.put(&[original(90, "said by all")]).expect("kept");
                    let head = session.head().expect("readable");
                    session.commit(head, &shown(2, "a view")).expect("nobody else has it");
                    let back = session.newest_input().expect("readable").expect("there");
                    assert_eq!(String::from_utf8(back).expect("text"), body);
                    store.forget(&session).expect("forgotten");
                    let gone = session.put(&[original(91, "too late")]);
                    assert!(gone.is_err_and(|error| error.to_string().contains("forgotten")));
                }
            });
        }
    });
    let stored = place.open().stored().expect("readable");
    assert_eq!((stored.sessions, stored.originals, stored.bytes), (0, 0, 0));
}

#[test]
fn calls_work_inside_of_a_runtime() {
    let Some((place, _)) = place() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let session = take_in(&place.open(), &talk("one", 2));
        session.put(&[original(9, "findable")]).expect("kept");
        assert_eq!(session.search("findable", 3).expect("searchable").len(), 1);
    });
}

#[test]
fn what_was_cut_off_is_connected_again() {
    let Some((place, url)) = place() else { return };
    let session = take_in(&place.open(), &talk("one", 2));
    session.put(&[original(9, "findable")]).expect("kept");
    run(
        &url,
        "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    // They are over, and the first call on each connection may be the one that notices.
    let mut tries = (0..5).map(|_| {
        session
            .put(&[original(10, "said later")])
            .and_then(|()| session.search("later findable", 5))
    });
    let found = tries.find_map(Result::ok).expect("it is connected again");
    assert_eq!(found.len(), 2);
}

#[test]
fn what_cant_be_is_said() {
    let Some((place, url)) = place() else { return };
    for access in [Access::Read, Access::Existing] {
        assert!(matches!(place.opened(access), Err(StoreError::Missing { .. })), "{access:?}");
    }
    let store = place.open();
    assert!(matches!(
        place.opened(Access::Read).expect("there").pin("x"),
        Err(StoreError::ReadOnly)
    ));
    drop(store);
    run(&url, "UPDATE epitome.version SET n = 99");
    for access in [Access::Read, Access::Existing, Access::Write] {
        let refused = place.opened(access).expect_err("it is newer");
        assert!(
            matches!(refused, StoreError::OtherVersion { found: 99, known: 1..99, .. }),
            "{refused:?}"
        );
    }
    let refused = Store::connect("postgres://nobody@127.0.0.1:1/none", None, Access::Write);
    let refused = refused.expect_err("nobody is there");
    assert!(refused.is_busy() && refused.to_string().contains("127.0.0.1:1"), "{refused}");
}

#[test]
fn many_make_one_store() {
    let Some((place, _)) = place() else { return };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| take_in(&place.open(), &talk("one", 2)));
        }
    });
    assert_eq!(place.open().sessions().expect("listed").len(), 1);
}
