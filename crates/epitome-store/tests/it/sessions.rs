//! Conversations: known again, forked, undone, had back.

use std::collections::BTreeSet;

use epitome::archive::{Archive as _, FoundOriginal, Original, Shown, redone, undone};
use epitome::transcript::ContentId;
use epitome::view::Fate;
use epitome_store::{Access, Store};

use crate::{Place, compact, parsed, take_in, take_in_of, talk};

#[test]
fn a_conversation_is_known_again() {
    let place = Place::new();
    let store = place.open();
    let first = take_in(&store, &talk("one", 4));
    assert_eq!(take_in(&store, &talk("one", 9)).name(), first.name(), "it went on");
    assert_eq!(take_in(&store, &talk("one", 2)).name(), first.name(), "it was shorter once");
    let other = take_in(&store, &talk("two", 4));
    assert_ne!(other.name(), first.name());
    drop(store);
    let store = place.open();
    assert_eq!(take_in(&store, &talk("one", 12)).name(), first.name(), "after a restart too");
    let sessions = store.sessions().expect("listed");
    assert_eq!(sessions.len(), 2);
    assert_eq!((sessions[0].entries, sessions[0].views), (25, 0));
    assert!(sessions.iter().all(|session| session.forked_from.is_none()), "{sessions:?}");
}

#[test]
fn another_way_from_the_middle_is_a_fork() {
    let place = Place::new();
    let store = place.open();
    let first = take_in(&store, &talk("one", 9));
    let other = talk("one", 9).replace("one answer5", "one other answer5");
    let fork = take_in(&store, &other);
    assert_ne!(fork.name(), first.name());
    let listed = store.sessions().expect("listed");
    let listed = listed.iter().find(|listed| listed.session == fork.name()).expect("listed");
    assert_eq!(listed.forked_from.as_deref(), Some(first.name()));
    assert_eq!(take_in(&store, &other).name(), fork.name());
}

#[test]
fn a_message_that_has_grown_is_no_fork() {
    let place = Place::new();
    let store = place.open();
    let message = |role: &str, blocks: &[&str]| {
        let blocks = blocks.join(",");
        format!("{{\"role\":\"{role}\",\"content\":[{blocks}]}}")
    };
    let body = |messages: &[String]| {
        let messages = messages.join(",");
        format!("{{\"model\":\"claude-opus-5-5\",\"max_tokens\":9,\"messages\":[{messages}]}}")
    };
    let text = |text: &str| format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
    let call = |id: &str| {
        format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"run\",\"input\":{{}}}}")
    };
    let result = |id: &str| {
        format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"done {id}\"}}")
    };
    let ask = message("user", &[&text("Go.")]);
    let reply = |blocks: &[&str]| message("assistant", blocks);
    let (say, one, two) = (text("I run both."), call("a"), call("b"));
    let both = reply(&[&say, &one, &two]);
    let first = take_in(&store, &body(&[ask.clone(), reply(&[&say])]));
    for grown in [
        vec![ask.clone(), reply(&[&say, &one])],
        vec![ask.clone(), both.clone(), message("user", &[&result("b")])],
        vec![
            ask.clone(),
            both.clone(),
            message("user", &[&result("b")]),
            message("user", &[&text("And?")]),
        ],
        vec![
            ask.clone(),
            both.clone(),
            message("user", &[&result("a"), &result("b")]),
            message("user", &[&text("And?")]),
        ],
    ] {
        let body = body(&grown);
        assert_eq!(take_in(&store, &body).name(), first.name(), "{body}");
    }
    // As it was in the midst of it, once more.
    let before = body(&[ask.clone(), reply(&[&say, &one])]);
    assert_eq!(take_in(&store, &before).name(), first.name());
    assert_eq!(store.sessions().expect("listed").len(), 1);
    // Another reply is another one, and so is another question.
    let other = take_in(
        &store,
        &body(&[ask.clone(), reply(&[&say, &two]), message("user", &[&result("b")])]),
    );
    assert_ne!(other.name(), first.name());
    let asked = take_in(&store, &body(&[message("user", &[&text("Go."), &text("Now.")]), both]));
    assert_ne!(asked.name(), first.name());
    assert_eq!(store.sessions().expect("listed").len(), 3);
}

#[test]
fn sub_agents_belong_to_a_session() {
    let place = Place::new();
    let store = place.open();
    let (main, part, other) = (
        take_in(&store, &talk("one", 4)),
        take_in(&store, &talk("two", 3)),
        take_in(&store, &talk("three", 3)),
    );
    store.belongs(&part, &main).expect("said");
    store.belongs(&part, &other).expect("it stays where it is");
    store.belongs(&main, &main).expect("nothing is its own part");
    let of = |name: &str| {
        let all = store.sessions().expect("listed");
        all.into_iter().find(|it| it.session == name).and_then(|it| it.part_of)
    };
    assert_eq!(of(part.name()).as_deref(), Some(main.name()));
    assert_eq!((of(main.name()), of(other.name())), (None, None));
    let gone = store.forget(&main).expect("forgotten");
    assert_eq!(gone.sessions, [main.name(), part.name()]);
    assert_eq!(store.sessions().expect("listed").len(), 1);
}

#[test]
fn moved_cache_markers_are_no_fork() {
    let place = Place::new();
    let store = place.open();
    let marked = talk("one", 3).replacen(
        "\"role\":\"user\"",
        "\"role\":\"user\",\"cache_control\":{\"type\":\"ephemeral\"}",
        1,
    );
    let first = take_in(&store, &marked);
    assert_eq!(take_in(&store, &talk("one", 5)).name(), first.name());
}

#[test]
fn what_came_in_is_had_back_byte_for_byte() {
    let place = Place::new();
    let store = place.open();
    let body = talk("one", 12);
    let session = take_in(&store, &body);
    let outcome = compact(&body, &session);
    let shown = Shown::of(&outcome, parsed(&body).transcript.len());
    assert_eq!(session.commit(0, &shown), Ok(1));
    drop((session, store));
    let store = place.opened(Access::Read).expect("it is there");
    for id in [ContentId::of_text(outcome.rendered()), shown.checkpoint.expect("folded")] {
        let (session, view) = store.shown_as(id).expect("readable").expect("known");
        assert_eq!(view, 1);
        let input = session.input_of(view).expect("readable").expect("kept");
        assert_eq!(String::from_utf8(input).expect("text"), body);
        assert_eq!(session.view(1).expect("readable").expect("kept").shown, shown);
    }
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if *fate != Fate::Keep {
            let kept = store.get(ContentId::of_text(entry.raw())).expect("readable");
            assert_eq!(kept.as_deref(), Some(entry.raw()));
        }
    }
    assert!(store.shown_as(ContentId::of_text("nobody's")).expect("readable").is_none());
}

#[test]
fn undoing_shows_what_was_hidden_and_what_came_since() {
    let place = Place::new();
    let store = place.open();
    let (early, late) = (talk("one", 12), talk("one", 20));
    let session = take_in(&store, &early);
    let first = compact(&early, &session);
    session.commit(0, &Shown::of(&first, parsed(&early).transcript.len())).expect("kept");
    let session = take_in(&store, &late);
    let second = compact(&late, &session);
    session.commit(1, &Shown::of(&second, parsed(&late).transcript.len())).expect("kept");

    let history = session.history().expect("readable");
    assert_eq!(undone(&history, 2), Some(1));
    session.go(2, 1).expect("it is there");
    let shown = session.shown_with(1).expect("readable");
    let text = shown.source();
    let until = first.rendered().rfind("],\"stream\"").expect("its end");
    assert!(text.starts_with(&first.rendered()[..until]), "the first view, as it was");
    assert!(
        (12..20).all(|turn| text.contains(&format!("marker{turn}x"))),
        "and all that came since"
    );
    assert!(text.ends_with("\"}],\"stream\":true}") && epitome::wire::check(&shown).is_empty());

    session.go(1, 0).expect("it is there");
    assert_eq!(session.shown_with(0).expect("readable").source().as_str(), late);
    assert_eq!(redone(&session.history().expect("readable"), 0), Some(1));
    assert_eq!(session.shown_with(2).expect("readable").source().as_str(), second.rendered());
}

#[test]
fn fifty_compactions_cost_fifty_small_views() {
    let place = Place::new();
    let store = place.open();
    let mut head = 0;
    let mut sizes = Vec::new();
    for round in 1..=50 {
        let body = talk("one", 10 + round);
        let session = take_in(&store, &body);
        let outcome = compact(&body, &session);
        let shown = Shown::of(&outcome, parsed(&body).transcript.len());
        head = session.commit(head, &shown).expect("nobody else is there");
        let stored = store.stored().expect("readable");
        sizes.push((stored.bytes, body.len() as u64));
    }
    let ((first, _), (last, whole)) = (sizes[0], sizes[49]);
    // Each round adds an exchange, a checkpoint and a stub or two; not the transcript again.
    assert!(last < first + 50 * 6_000 + whole, "{first} → {last}, of {whole}");
    let stored: u64 = sizes.iter().map(|(_, whole)| whole).sum();
    assert!(last * 2 < stored, "{last} of {stored}");
}

#[test]
fn searches_are_of_one_session_or_of_all() {
    let place = Place::new();
    let store = place.open();
    let [one, two] = ["one", "two"].map(|about| {
        let body = talk(about, 10);
        let session = take_in(&store, &body);
        compact(&body, &session);
        session
    });
    let found = one.search("answer3", 1).expect("searchable");
    assert!(found[0].words.starts_with("one answer3"));
    let found = store.search("answer3", 2).expect("searchable");
    let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let mut expected = [one.name(), two.name()];
    expected.sort_unstable();
    assert_eq!(names, expected);
    let id = found[0].1.id.to_string();
    assert_eq!(store.recall(&id[..12], 10).expect("readable")[0].1.id, found[0].1.id);
    assert!(store.recall("zz", 10).expect("readable").is_empty());
}

#[test]
fn what_forks_share_is_found_once() {
    let place = Place::new();
    let store = place.open();
    for at in 0..5 {
        let body = talk("shared", 6).replace("answer5", &format!("answer5 of {at}"));
        let session = take_in(&store, &body);
        session.put(&epitome::archive::Original::of(&parsed(&body), |_| true)).expect("kept");
    }
    let found = store.search("marker1x answer2", 10).expect("searchable");
    let mut ids: Vec<_> = found.iter().map(|(_, found)| found.id.to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), found.len()), (10, 10));
    assert_eq!(store.search("shared", 4).expect("searchable").len(), 4);
    assert_eq!(store.search("shared", 100).expect("searchable").len(), 6 + 5 + 5);
    let prefix = &ids[0][..12];
    assert_eq!(store.recall(prefix, 10).expect("readable").len(), 1);
    for listed in store.sessions().expect("listed") {
        let session = store.session(&listed.session).expect("there");
        assert_eq!(session.recall(prefix, 10).expect("readable").len(), 1);
    }
    assert_ne!(store.sessions().expect("listed").len(), 1);
    let other = take_in(&store, &talk("other", 2));
    assert!(other.recall(prefix, 10).expect("readable").is_empty());
}

#[test]
fn names_may_be_cut_short() {
    let place = Place::new();
    let store = place.open();
    let session = take_in(&store, &talk("one", 3));
    assert_eq!(store.session(&session.name()[..6]).expect("found").name(), session.name());
    for name in ["", "a", "unknown-name", "%", "%%%%"] {
        assert!(store.session(name).is_err(), "{name}");
    }
}

#[test]
fn pins_are_kept_once() {
    let place = Place::new();
    let store = place.open();
    let first = store.pin("never push").expect("kept");
    assert_eq!(store.pin("never push").expect("kept"), first);
    store.pin("port 5433").expect("kept");
    let texts = |store: &Store| -> Vec<String> {
        store.pins().expect("readable").into_iter().map(|pin| pin.text).collect()
    };
    assert_eq!(texts(&store), ["never push", "port 5433"]);
    assert!(store.tenant("other").expect("made").pins().expect("readable").is_empty());
    assert!(store.unpin(&first.to_string()).expect("written"));
    assert!(!store.unpin("never push").expect("written"));
    assert_eq!(texts(&store), ["port 5433"]);
    // A number is a pin's own before it is the text of another.
    let foo = store.pin("foo").expect("kept").to_string();
    let number = store.pin(&foo).expect("kept");
    assert!(store.unpin(&foo).expect("written"));
    assert_eq!(texts(&store), ["port 5433", foo.as_str()]);
    assert!(store.unpin(&foo).expect("written"), "by its text");
    assert_eq!(texts(&store), ["port 5433"]);
    assert!(!store.unpin(&number.to_string()).expect("written"));
}

#[test]
fn a_search_may_keep_to_the_sessions_of_a_project() {
    let place = Place::new();
    let store = place.open();
    for (about, project) in
        [("one", "/src/app"), ("two", "/src/app"), ("three", "/src/other"), ("four", "")]
    {
        let body = talk(about, 3);
        let session = take_in_of(&store, &body, project);
        session.put(&Original::of(&parsed(&body), |_| true)).expect("kept");
    }
    let named = |found: Vec<(String, FoundOriginal)>| -> BTreeSet<String> {
        found.into_iter().map(|(session, _)| session).collect()
    };
    let all = store.sessions().expect("listed");
    let of = |project: &str| -> BTreeSet<String> {
        let own = all.iter().filter(|session| session.project == project);
        own.map(|session| session.session.clone()).collect()
    };
    for project in ["/src/app", "/src/other", "/src"] {
        let found = store.search_project(project, "marker1x answer2", 100).expect("searched");
        assert_eq!(named(found), of(project), "{project}");
    }
    assert_eq!(named(store.search("marker1x answer2", 100).expect("searched")).len(), 4);
    // Where it is said later whose a session is, it stays so.
    take_in_of(&store, &talk("four", 4), "/src/app");
    take_in_of(&store, &talk("four", 5), "/src/other");
    let all = store.sessions().expect("listed");
    assert_eq!(all.iter().filter(|session| session.project == "/src/app").count(), 3);
}
