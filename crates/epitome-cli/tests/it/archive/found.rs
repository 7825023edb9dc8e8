//! What an archive finds, and what nobody is to find.

use serde_json::Value;

use super::kept;
use crate::bench::{Bench, SESSION, SHORT};

#[test]
fn what_was_removed_is_found() {
    let bench = kept(SESSION);
    let ran = bench.run("recall regex --archive store --json --limit 3").ends(0);
    let hits: Vec<Value> = serde_json::from_value(ran.hits()).expect("a list");
    assert_eq!(hits.len(), 3);
    for hit in &hits {
        let (id, text) = (hit["id"].as_str().expect("an id"), hit["text"].as_str().expect("words"));
        assert!(text.to_lowercase().contains("regex"), "{text}");
        let one = bench.run(&format!("recall {id} --archive store --json --tokens 100000")).hits();
        let whole = one[0]["text"].as_str().expect("words");
        assert_eq!(one[0]["id"], hit["id"]);
        assert!(whole.contains(text.trim_matches('…')), "{text} is of {whole}");
    }
    let tokens = |ran: &Value| -> u64 {
        let hits = ran.as_array().expect("a list").iter();
        hits.map(|hit| hit["tokens"].as_u64().expect("a number")).sum()
    };
    for most in [10, 100, 500] {
        let ran =
            bench.run(&format!("recall the test file --archive store --json --tokens {most}"));
        let found = ran.hits();
        assert!(!found.as_array().expect("a list").is_empty() && tokens(&found) <= most, "{most}");
    }
    let none = bench.run("recall zzzzqqqq --archive store --json");
    assert_eq!(none.hits(), serde_json::json!([]));
    assert_eq!(
        (none.code, none.err.trim_end()),
        (4, "nothing was found in store for \"zzzzqqqq\"")
    );
    let none = bench.run("recall zzzzqqqq --archive store");
    assert_eq!((none.code, none.out.as_str()), (4, ""));
    // Nobody asks for nothing.
    assert_eq!(bench.run("recall regex --archive store --limit 0").code, 2);
    let words = bench.run("recall regex --archive store --limit 1");
    assert!(words.out.contains(", turn "), "{}", words.out);
    assert!(words.out.starts_with("[recalled "), "{}", words.out);
}

#[test]
fn a_number_is_a_word_and_an_id_is_of_its_session() {
    let bench = kept(SESSION);
    let listed = bench.run("sessions --archive store --json").json();
    let session = listed["sessions"][0]["session"].as_str().expect("a name").to_owned();
    bench.copy(SHORT, "other");
    bench.run("compact other --target 20% --archive store -o other.json --receipt other.receipt");
    let other = bench.json("other.receipt");
    let other = other["archived"]["session"].as_str().expect("a name");
    let hits = bench.run(&format!("recall the --archive store --json --session {session}")).hits();
    for hit in hits.as_array().expect("a list") {
        let id = hit["id"].as_str().expect("an id");
        let of = |session: &str| {
            bench.run(&format!("recall {id} --archive store --json --session {session}")).hits()
        };
        assert_eq!(of(&session)[0]["id"], *id);
        let others = of(other);
        assert!(others.as_array().expect("a list").iter().all(|hit| hit["id"] != *id));
        let ran = bench.run(&format!("recall {} --archive store --json", &id[..9])).hits();
        assert_eq!(ran[0]["id"], *id);
    }
    bench.run(&format!("restore {session}.x --archive store")).ends(2);
}

#[test]
fn secrets_are_masked_in_what_is_found_and_kept_in_what_is_restored() {
    let bench = Bench::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let messages: Vec<Value> = (0..40)
        .map(|at| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            let text =
                format!("{} the token {secret} of step {at}", "some filler words ".repeat(30));
            serde_json::json!({ "role": role, "content": text })
        })
        .collect();
    bench
        .write("in", serde_json::json!({ "model": "gpt-6-sol", "messages": messages }).to_string());
    bench.run("compact in --target 20% --archive store -o out.json");
    for words in ["token", secret] {
        let ran = bench.run(&format!("recall {words} --archive store --json"));
        assert!(ran.out.contains("[masked: github-token]"), "{}", ran.out);
        assert!(!ran.out.contains(&secret[8..]), "{}", ran.out);
    }
    assert_eq!(bench.run("restore out.json --archive store").out, bench.read("in"));
}

#[test]
fn an_archive_without_secrets_says_that_it_is_one() {
    let bench = Bench::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let say = |at: usize| {
        let (kind, id, parent) = if at.is_multiple_of(2) {
            ("user", at, at.checked_sub(1))
        } else {
            ("assistant", at, Some(at - 1))
        };
        let text = format!("{} the token {secret} of step {at}", "some filler words ".repeat(30));
        let content = if kind == "user" {
            text.into()
        } else {
            serde_json::json!([{"type": "text", "text": text}])
        };
        serde_json::json!({"type": kind, "uuid": id.to_string(), "parentUuid": parent.map(|at| at.to_string()), "sessionId": "s",
            "timestamp": "2025-06-14T11:00:00Z", "cwd": "/x", "version": "2.0.0", "message": {"role": kind, "content": content}})
    };
    let rows: Vec<String> = (0..40).map(|at| say(at).to_string()).collect();
    bench.write("in.jsonl", rows.join("\n") + "\n");
    let ran =
        bench.run("compact in.jsonl --target 20% --archive store --redact-archive -o out.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(bench.read("out.json").contains(secret), "what is kept is the user's");
    for what in ["out.json", "in.jsonl"] {
        let ran = bench.run(&format!("restore {what} --archive store"));
        assert_eq!(
            ran.out,
            bench.read("in.jsonl").replace(secret, "[masked: github-token]"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("aren't the original bytes"), "{}", ran.err);
    }
    for file in ["store/store.db", "store/store.db-wal"] {
        let bytes = std::fs::read(bench.path(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|some| some == secret.as_bytes()), "{file}");
    }
    bench.run("undo out.json --archive store -o now.json").ends(0);
    assert!(!bench.read("now.json").contains(secret), "it isn't there any more");
    // Once more, and it is the same session; whole this time, which is another input of it or another session.
    let again =
        bench.run("compact in.jsonl --target 20% --archive store --redact-archive -o out.json");
    assert_eq!(again.code, 0, "{}", again.err);
    let listed = bench.run("sessions --archive store --json");
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
}
