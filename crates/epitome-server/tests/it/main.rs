//! The tools, asked as agents ask them.

mod slow;

use std::sync::Arc;

use epitome::archive::{Archive as _, ArchiveError, MemoryArchive};
use epitome::archive::{FoundOriginal, MARK};
use epitome::count::counter;
use epitome_server::{Memory, Recalls, SearchReach, definitions};
use serde_json::{Value, json};
use testkit::archives::original;

#[derive(Debug)]
struct Said(MemoryArchive);

impl Memory for Said {
    fn search(
        &self,
        words: &str,
        limit: usize,
        reach: SearchReach,
    ) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let found = self.0.search(words, limit)?;
        let found = found
            .into_iter()
            .filter(|found| reach == SearchReach::All || !found.words.contains("elsewhere"));
        Ok(found.into_iter().map(|found| ("talk".to_owned(), found)).collect())
    }

    fn get(&self, id: &str) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let mut all = self.search("port filler", 100, SearchReach::All)?;
        all.retain(|(_, found)| found.id.to_string().starts_with(id));
        Ok(all)
    }

    fn project(&self) -> Option<&str> {
        Some("/src/app")
    }

    fn stats(&self) -> Result<Value, ArchiveError> {
        Ok(json!({ "sessions": 1 }))
    }
}

fn recalls() -> Recalls {
    let archive = MemoryArchive::default();
    let long = format!("{} the port is 5433 {}", "filler ".repeat(900), "more ".repeat(900));
    let mut all: Vec<_> = (1..30).map(|at| original(at, &format!("filler {at}"))).collect();
    all.push(original(0, &long));
    all.push(original(30, "quokka elsewhere"));
    archive.put(&all).expect("kept");
    Recalls::new(Arc::new(Said(archive)), counter("o200k").expect("built in"))
}

fn ask(tool: &str, arguments: Value) -> Result<String, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    recalls().answer(tool, &arguments)
}

#[test]
fn definitions_are_short() {
    let all = definitions();
    assert_eq!(all.len(), 3);
    let text = serde_json::to_string(&all).expect("JSON");
    let tokens = counter("o200k").expect("built in").text(&text).tokens;
    assert!(tokens < 600, "{tokens} tokens");
    assert!(
        all.iter()
            .all(|tool| tool.annotations.as_ref().is_some_and(|a| a.read_only_hint == Some(true)))
    );
}

#[test]
fn what_was_said_is_found_and_given() {
    let found = ask("recall_search", json!({ "query": "which port" })).expect("found");
    assert!(found.starts_with(MARK) && found.contains("the port is 5433"), "{found}");
    assert!(found.contains("human, turn 1, message 0 of talk"), "{found}");
    assert!(found.len() < 1200, "an excerpt: {}", found.len());
    let id = &found[MARK.len()..found.find(']').expect("it ends")];
    let whole = ask("recall_get", json!({ "id": id, "max_tokens": 20_000 })).expect("there");
    assert!(whole.matches("filler").count() == 900 && whole.matches("more").count() == 900);
    let capped = ask("recall_get", json!({ "id": id, "max_tokens": 100 })).expect("there");
    assert!(counter("o200k").expect("built in").text(&capped).tokens < 150, "{capped}");
    assert_eq!(ask("context_stats", json!({})).expect("there"), "{\"sessions\":1}");
}

#[test]
fn a_search_keeps_to_the_project_unless_all_is_asked_for() {
    let ask = |arguments| ask("recall_search", arguments);
    for arguments in [json!({ "query": "quokka" }), json!({ "query": "quokka", "all": false })] {
        let none = ask(arguments).expect("it is answered");
        assert!(none.starts_with("Nothing that was removed in this project"), "{none}");
        assert!(none.ends_with("Other projects are searched with `all`: true."), "{none}");
    }
    let found = ask(json!({ "query": "quokka", "all": true })).expect("found");
    assert!(found.contains("quokka elsewhere"), "{found}");
    let none = ask(json!({ "query": "wombat", "all": true })).expect("it is answered");
    assert_eq!(none, "Nothing that was removed says any of: wombat");
    ask(json!({ "query": "quokka", "all": "yes" })).expect_err("it is no yes or no");
}

#[test]
fn a_long_message_comes_back_whole_in_parts() {
    let lines = (0..12_000).map(|line| format!("line {line}: é {line}\n"));
    let long: String = std::iter::once("filler\n".to_owned()).chain(lines).collect();
    let archive = MemoryArchive::default();
    archive.put(&[original(0, &long)]).expect("kept");
    let recalls = Recalls::new(Arc::new(Said(archive)), counter("o200k").expect("built in"));
    let ask = |tool: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        recalls.answer(tool, &arguments)
    };
    let found = ask("recall_search", json!({ "query": "line 77" })).expect("found");
    let id = &found[MARK.len()..found.find(']').expect("it ends")];
    let (mut whole, mut offset, mut parts) = (String::new(), 0, 0);
    loop {
        let asked = json!({ "id": id, "offset": offset, "max_tokens": 1_000_000 });
        let part = ask("recall_get", asked).expect("there");
        assert!(counter("o200k").expect("built in").text(&part).tokens < 20_100);
        parts += 1;
        let (_, said) = part.split_once('\n').expect("a heading");
        let Some((said, rest)) = said.rsplit_once("\n\nCut: bytes ") else {
            whole.push_str(said.strip_suffix("\n\n").expect("an end"));
            break;
        };
        whole.push_str(said);
        let (place, next) = rest.split_once(". The rest: offset ").expect("it says where");
        let next = next.trim().parse().expect("a number");
        assert_eq!(place, format!("{offset} to {next} of {}", long.len()));
        offset = next;
    }
    assert!(whole == long && parts > 3, "{parts} parts of {} bytes", whole.len());
    let beyond = ask("recall_get", json!({ "id": id, "offset": long.len() })).expect_err("none");
    assert!(beyond.contains(&long.len().to_string()), "{beyond}");
}

#[test]
fn long_questions_are_not_repeated_in_full() {
    let long = "zzzz ".repeat(40_000);
    let words = ask("recall_search", json!({ "query": long })).expect("an answer");
    let id = ask("recall_get", json!({ "id": long })).expect_err("no such");
    let tool = ask(&long, json!({})).expect_err("no such");
    for told in [words, id, tool] {
        assert!(told.contains("zzzz") && told.len() < 400, "{} bytes", told.len());
    }
}

#[test]
fn limits_hold() {
    let count = |arguments| ask("recall_search", arguments).expect("found").matches(MARK).count();
    assert_eq!(count(json!({ "query": "filler" })), 5);
    assert_eq!(count(json!({ "query": "filler", "limit": 2 })), 2);
    assert_eq!(count(json!({ "query": "filler", "limit": 5000 })), 20);
    let few = ask("recall_search", json!({ "query": "filler", "max_tokens": 5 })).expect("found");
    assert!(few.contains("more left off"), "{few}");
}

#[test]
fn mistakes_are_told_in_words() {
    for (tool, arguments) in [
        ("recall_search", json!({})),
        ("recall_search", json!({ "query": "  " })),
        ("recall_search", json!({ "query": 7 })),
        ("recall_search", json!({ "query": "a", "limit": -1 })),
        ("recall_search", json!({ "query": "a", "max_tokens": "many" })),
        ("recall_get", json!({ "id": "no-such-id" })),
        ("recall_get", json!({ "id": "a", "offset": -1 })),
        ("recall_erase", json!({ "id": "a" })),
    ] {
        let why = ask(tool, arguments.clone()).expect_err("a mistake");
        assert!(why.ends_with('.'), "{tool} {arguments}: {why}");
    }
    let nothing = ask("recall_search", json!({ "query": "zzzz" })).expect("an answer");
    assert!(nothing.contains("zzzz"));
}
