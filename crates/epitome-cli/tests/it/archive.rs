//! Archives from outside: nothing is lost, everything is found, what is forgotten is gone.

use std::process::Stdio;

use expect_test::expect;
use serde_json::Value;

use crate::bench::{Bench, EDGES, RUN, SESSION, SHORT, TRAJECTORY};

/// A bench with a session that was compacted into `store`, as `out.json`.
fn kept(example: &str) -> Bench {
    let bench = Bench::new();
    bench.copy(example, "in");
    let ran =
        bench.run("compact in --target 10% --archive store -o out.json --receipt receipt.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    bench
}

#[test]
fn every_input_comes_back_byte_for_byte() {
    for example in [SESSION, SHORT, EDGES, RUN, TRAJECTORY] {
        let bench = kept(example);
        let receipt: Value = serde_json::from_str(&bench.read("receipt.json")).expect("JSON");
        assert_eq!(receipt["originals"], "archive", "{example}");
        let session = receipt["archived"]["session"].as_str().expect("its name").to_owned();
        for what in ["out.json", "receipt.json", &session, &format!("{session}.1")] {
            let ran = bench.run(&format!("restore {what} --archive store -o again"));
            assert_eq!(ran.code, 0, "{example} {what}: {}", ran.err);
            let again = std::fs::read(bench.path("again")).expect("written");
            assert_eq!(again, std::fs::read(bench.path("in")).expect("there"), "{example} {what}");
        }
    }
}

#[test]
fn it_comes_back_after_the_request_went_on() {
    let bench = kept(SESSION);
    let request = bench.read("out.json");
    let end = request.rfind("\n]}").expect("its end");
    let more = ",\n{\"role\":\"user\",\"content\":\"And now the other one.\"}";
    bench.write("grown.json", format!("{}{more}{}", &request[..end], &request[end..]));
    let ran = bench.run("restore grown.json --archive store");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, bench.read("in"));
    let piped = bench.pipe("restore - --archive store", format!("{request}\n").as_bytes());
    assert_eq!(piped.out, bench.read("in"));
}

#[test]
fn what_a_reader_leaves_out_comes_back_too() {
    let bench = Bench::new();
    bench.copy(SHORT, "short.jsonl");
    let odd = format!("\u{feff}{}not a row\r\n\n{{\"type\":\"us", bench.read("short.jsonl"));
    bench.write("in", &odd);
    let ran = bench.run("compact in --target 20% --archive store -o out.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    let again = bench.run("restore out.json --archive store");
    assert_eq!((again.code, again.out), (0, odd));
}

#[test]
fn what_reads_alike_comes_back_as_it_was() {
    // A row that is no message changes the bytes, and nothing that is shown.
    let bench = kept(SESSION);
    let more = "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\",\"snapshot\":{}}\n";
    bench.write("more", format!("{}{more}", bench.read("in")));
    let line = "compact more --target 10% --archive store -o more.json --receipt more.receipt";
    assert_eq!(bench.run(line).code, 0);
    assert_eq!(bench.read("more.json"), bench.read("out.json"));
    for (what, input) in [("more.json", "more"), ("more.receipt", "more"), ("receipt.json", "in")] {
        let ran = bench.run(&format!("restore {what} --archive store"));
        assert!(ran.out == bench.read(input), "{what}: {}", ran.err);
    }
}

#[test]
fn who_does_the_same_at_once_is_told_of_one_view() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    let line = ["compact", "in", "--archive", "store", "--json", "-o"];
    let started: Vec<_> = (0..6)
        .map(|at| {
            let out = format!("out{at}");
            let mut command = bench.command(&[&line[..], &[&out]].concat());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
        })
        .collect();
    for process in started {
        let output = process.wait_with_output().expect("over");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        let receipt: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(receipt["archived"]["view"], 1);
    }
}

#[test]
fn an_archive_is_not_written_over() {
    let bench = kept(SHORT);
    for line in [
        "compact in --archive store -o store/store.db",
        "compact in --archive store -o out.json --receipt store/receipt.json",
        "restore out.json --archive store -o ./store/../store/store.db",
        "undo out.json --archive store -o store/now.json",
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains("into the archive"), "{}", ran.err);
    }
    assert_eq!(bench.run("restore out.json --archive store").out, bench.read("in"));
}

#[test]
fn what_was_removed_is_found() {
    let bench = kept(SESSION);
    let ran = bench.run("recall regex --archive store --json --limit 3");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let hits: Vec<Value> = serde_json::from_str(&ran.out).expect("a list");
    assert_eq!(hits.len(), 3);
    for hit in &hits {
        let (id, text) = (hit["id"].as_str().expect("an id"), hit["text"].as_str().expect("words"));
        assert!(text.to_lowercase().contains("regex"), "{text}");
        let one = bench.run(&format!("recall {id} --archive store --json --tokens 100000")).json();
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
        let found = ran.json();
        assert!(!found.as_array().expect("a list").is_empty() && tokens(&found) <= most, "{most}");
    }
    let none = bench.run("recall zzzzqqqq --archive store --json");
    assert_eq!((none.code, none.out.trim()), (0, "[]"));
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
    let other: Value = serde_json::from_str(&bench.read("other.receipt")).expect("JSON");
    let other = other["archived"]["session"].as_str().expect("a name");
    let hits = bench.run(&format!("recall the --archive store --json --session {session}")).json();
    for hit in hits.as_array().expect("a list") {
        let id = hit["id"].as_str().expect("an id");
        let of = |session: &str| {
            bench.run(&format!("recall {id} --archive store --json --session {session}")).json()
        };
        assert_eq!(of(&session)[0]["id"], *id);
        let others = of(other);
        assert!(others.as_array().expect("a list").iter().all(|hit| hit["id"] != *id));
        let ran = bench.run(&format!("recall {} --archive store --json", &id[..9])).json();
        assert_eq!(ran[0]["id"], *id);
    }
    let ran = bench.run(&format!("restore {session}.x --archive store"));
    assert_eq!(ran.code, 2, "{}", ran.err);
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
        assert!(ran.err.contains("aren't the bytes"), "{}", ran.err);
    }
    for file in ["store/store.db", "store/store.db-wal"] {
        let bytes = std::fs::read(bench.path(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|some| some == secret.as_bytes()), "{file}");
    }
    let ran = bench.run("undo out.json --archive store -o now.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!bench.read("now.json").contains(secret), "it isn't there any more");
    // Once more, and it is the same session; whole this time, which is another input of it or another session.
    let again =
        bench.run("compact in.jsonl --target 20% --archive store --redact-archive -o out.json");
    assert_eq!(again.code, 0, "{}", again.err);
    let listed = bench.run("sessions --archive store --json");
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[test]
fn what_was_undone_is_done_again_by_the_same_file() {
    let bench = kept(SESSION);
    let first = bench.read("out.json");
    for _ in 0..2 {
        let undone = bench.run("undo out.json --archive store -o out.json");
        assert_eq!(undone.code, 0, "{}", undone.err);
        assert_ne!(bench.read("out.json"), first);
        let redone = bench.run("redo out.json --archive store -o out.json");
        assert_eq!(redone.code, 0, "{}", redone.err);
        assert_eq!(bench.read("out.json"), first);
    }
    // By the recording, which its agent went on writing.
    let undone = bench.run("undo in --archive store -o now.json");
    assert_eq!(undone.code, 0, "{}", undone.err);
    let more = bench.read("in");
    let last = more.lines().last().expect("it has lines").to_owned();
    bench.write("in", format!("{more}{last}\n"));
    let redone = bench.run("redo in --archive store -o now.json");
    assert_eq!(redone.code, 0, "{}", redone.err);
}

#[test]
fn a_compaction_is_undone_and_done_again() {
    let bench = kept(SESSION);
    let first = bench.read("out.json");
    let undone = bench.run("undo out.json --archive store -o now.json");
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(bench.read("now.json"), bench.run("convert in --to anthropic").out);
    assert_eq!(bench.run("undo out.json --archive store").code, 1, "nothing more to undo");
    assert_eq!(bench.run("redo out.json --archive store -o now.json").code, 0);
    assert_eq!(bench.read("now.json"), first);
    assert_eq!(bench.run("redo out.json --archive store").code, 1);
    // What couldn't be written isn't in force.
    let ran = bench.run("undo out.json --archive store -o /dev/full");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(bench.run("redo out.json --archive store").code, 1, "nothing was undone");
    // The same again is no further view, another target is.
    bench.run("compact in --target 10% --archive store -o same.json --receipt same");
    let receipt: Value = serde_json::from_str(&bench.read("same")).expect("JSON");
    assert_eq!(receipt["archived"]["view"], 1);
    bench.run("compact in --target 30% --archive store -o other.json --receipt other");
    let receipt: Value = serde_json::from_str(&bench.read("other")).expect("JSON");
    assert_eq!(receipt["archived"]["view"], 2);
    assert_eq!(bench.run("undo other.json --archive store -o now.json").code, 0);
    assert_eq!(bench.read("now.json"), first);
}

#[test]
fn pins_of_an_archive_stay_in_every_compaction() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    let pin = "TODO is not acceptable";
    let words = |words: &[&str]| bench.command(words).output().expect("the binary runs");
    assert!(words(&["pin", "add", pin, "--archive", "store"]).status.success());
    words(&["pin", "add", "said by nobody", "--archive", "store"]);
    let ran = bench.run("compact in --target 5% --archive store");
    assert!(ran.out.contains(pin), "{}", ran.out);
    assert!(!ran.err.contains("no message says"), "other sessions say it: {}", ran.err);
    let list = bench.run("pin list --archive store");
    expect![[r#"
        1 TODO is not acceptable
        2 said by nobody
    "#]]
    .assert_eq(&list.out);
    assert_eq!(bench.run("pin rm 1 --archive store").code, 0);
    assert_eq!(bench.run("pin rm 1 --archive store").code, 2);
    assert_eq!(bench.run("pin list --archive store --json").json()["pins"][0]["pin"], 2);
}

#[test]
fn checkpoints_name_the_way_back_where_there_is_one() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    let out = |flags: &str| bench.run(&format!("compact in --target 10% {flags}")).out;
    for flags in ["", "--archive store"] {
        assert!(!out(flags).contains("finds what is not shown"), "{flags}");
    }
    let folder = bench.path("store").canonicalize().expect("there").to_string_lossy().into_owned();
    let shell = out("--archive store --recall shell");
    let named = format!("`epitome recall 'WORDS' --archive {folder}`, run in a shell, finds what");
    assert!(shell.contains(&named), "{folder}");
    assert!(out("--archive store --recall mcp").contains("`recall_search`, a tool, finds what"));
    assert_eq!(bench.run("compact in --recall mcp").code, 2, "only with an archive");
}

#[test]
fn a_checkpoint_of_the_archive_is_continued() {
    let bench = kept(SESSION);
    let again = bench.run("compact out.json --target 50% --archive store -o twice.json");
    assert!(!again.err.contains("isn't known"), "{}", again.err);
    let alone = bench.run("compact out.json --target 50% -o twice.json");
    assert!(alone.err.contains("isn't known"), "{}", alone.err);
}

#[test]
fn what_is_forgotten_is_gone() {
    let bench = kept(SESSION);
    bench.copy(RUN, "other");
    bench.run("compact other --target 30% --archive store -o other.json");
    let ran = bench.run("forget out.json --archive store --json");
    assert_eq!(ran.json()["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(bench.run("restore out.json --archive store").code, 1);
    assert_eq!(bench.run("restore other.json --archive store").code, 0, "others stay");
    assert_eq!(bench.run("recall regex --archive store --json").out.trim(), "[]");
    let store = std::fs::read(bench.path("store/store.db")).expect("there");
    let session = bench.read("in");
    let id = session.split("\"sessionId\":\"").nth(1).expect("it has one").split('"').next();
    let id = id.expect("it ends").as_bytes();
    assert!(!store.windows(id.len()).any(|window| window == id));
    assert_eq!(bench.run("forget --over 0mb --archive store").code, 0);
    assert_eq!(bench.run("restore other.json --archive store").code, 1);
    assert_eq!(bench.run("forget --archive store").code, 2);
}

#[test]
fn what_is_no_archive_is_said_to_be_none() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    bench.write("folder/notes.txt", "mine");
    for (command, code) in [
        ("recall x --archive none", 1),
        ("restore in --archive none", 1),
        ("undo in --archive none", 1),
        ("pin list --archive none", 1),
        ("compact in --archive folder", 2),
        ("compact in --archive in", 2),
        ("compact in --archive missing/store", 1),
    ] {
        let ran = bench.run(command);
        assert_eq!(ran.code, code, "{command}: {}", ran.err);
        assert!(ran.err.contains("hint:") && ran.out.is_empty(), "{command}: {}", ran.err);
    }
    assert_eq!(bench.names(), ["folder", "in"], "nothing was made");
}

#[cfg(unix)]
#[test]
fn a_full_archive_leaves_everything_as_it_was() {
    let bench = kept(SHORT);
    let store = bench.path("store/store.db");
    let mut permissions = std::fs::metadata(&store).expect("there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&store, permissions).expect("set");
    let before = bench.read("out.json");
    // Whoever may do everything may write it all the same.
    if std::fs::OpenOptions::new().append(true).open(&store).is_err() {
        let ran = bench.run("compact in --target 50% --archive store -o out.json");
        assert_eq!((ran.code, bench.read("out.json")), (1, before), "{}", ran.err);
        assert_eq!(bench.run("restore out.json --archive store").code, 0, "reading goes on");
    }
}

/// In a folder; and on the server that `EPITOME_POSTGRES` names, where it names one: `./test services` starts it.
#[test]
fn eight_at_once_compact_into_one_archive() {
    let server = std::env::var("EPITOME_POSTGRES").ok();
    let server = server.map(|server| server.replacen("://epitome@", "://epitome:hidden@", 1));
    for url in [Some("store".to_owned()), server].into_iter().flatten() {
        let bench = Bench::new();
        bench.copy(SESSION, "in");
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|at| {
                    let (bench, url) = (&bench, &url);
                    scope.spawn(move || {
                        bench.run(&format!(
                            "compact in --target 10% --archive {url} -o out{at}.json"
                        ))
                    })
                })
                .collect();
            for one in all {
                let ran = one.join().expect("no panic");
                assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
                assert!(!ran.err.contains("hidden"), "{}", ran.err);
            }
        });
        for at in 0..8 {
            assert_eq!(bench.read(&format!("out{at}.json")), bench.read("out0.json"));
        }
        let sessions = bench.run(&format!("sessions --archive {url} --json"));
        let sessions: Value = serde_json::from_str(&sessions.out).expect("JSON");
        assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions}");
        assert_eq!(sessions["sessions"][0]["views"], 1, "{sessions}");
        let again = bench.run(&format!("restore out3.json --archive {url}"));
        assert_eq!((again.code, again.out), (0, bench.read("in")), "{}", again.err);
        let found = bench.run(&format!("recall error --archive {url} --json"));
        assert!(found.code == 0 && found.out.contains("\"id\""), "{}", found.err);
        let name = sessions["sessions"][0]["session"].as_str().expect("its name");
        let gone = bench.run(&format!("forget {name} --archive {url}"));
        assert_eq!(gone.code, 0, "{}", gone.err);
    }
}

/// A disk that can't be written, where this user may make one for itself.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_is_read_and_nothing_else() {
    let bench = kept(SHORT);
    bench.copy(SESSION, "more");
    let on_it = |line: &str| {
        bench.shell(&format!("unshare -rm bash -c 'mount --bind store store && mount -o remount,bind,ro store && {line}'"))
    };
    if on_it("true").code != 0 {
        return;
    }
    let back = on_it("epitome restore out.json --archive store");
    assert_eq!((back.code, back.out), (0, bench.read("in")), "{}", back.err);
    let found = on_it("epitome recall error --archive store --json");
    assert!(found.code == 0 && found.out.contains("\"id\""), "{}", found.shown());
    for line in [
        "epitome compact more --target 10% --archive store -o big.json",
        "epitome undo out.json --archive store -o big.json",
        "epitome forget out.json --archive store",
        "epitome pin add x --archive store",
    ] {
        let ran = on_it(line);
        assert!(ran.code == 1 && ran.err.contains("hint:"), "{line}: {}", ran.shown());
        assert!(!bench.names().contains(&"big.json".to_owned()), "{line}");
    }
}

#[test]
fn every_shipped_session_comes_back_byte_for_byte() {
    let bench = Bench::new();
    let root = std::path::PathBuf::from(crate::bench::shipped(""));
    let mut files = 0;
    for folder in root.read_dir().expect("shipped").flatten().filter(|entry| entry.path().is_dir())
    {
        for file in folder.path().read_dir().expect("a folder").flatten() {
            if file.file_name().to_string_lossy().starts_with("LICENSE") {
                continue;
            }
            std::fs::copy(file.path(), bench.path("in")).expect("copied");
            let ran =
                bench.run("compact in --target 20% --archive store --counter chars4 -o out.json");
            assert!(matches!(ran.code, 0 | 3), "{:?}: {}", file.path(), ran.err);
            let ran = bench.run("restore out.json --archive store -o back");
            assert_eq!(ran.code, 0, "{:?}: {}", file.path(), ran.err);
            let bytes = |name: &str| std::fs::read(bench.path(name)).expect("a file");
            assert!(bytes("back") == bytes("in"), "{:?}", file.path());
            files += 1;
        }
    }
    assert!(files >= 20, "{files}");
}

#[test]
fn what_is_no_server_is_said() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    let ran = bench.run("compact in --archive postgres://me:hidden@db.example/app -o out.json");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("encrypted") && !ran.err.contains("hidden"), "{}", ran.err);
    let ran = bench.run("recall port --archive postgres://me:hidden@127.0.0.1:1/app");
    assert_eq!(ran.code, 75, "{}", ran.err);
    assert!(
        ran.err.contains("postgres://me@127.0.0.1:1/app") && !ran.err.contains("hidden"),
        "{}",
        ran.err
    );
}

/// A disk on which files may grow to so many blocks of 1,024 bytes stands for one that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_archive_as_it_was() {
    let bench = kept(SHORT);
    bench.copy(SESSION, "more");
    let store = |bench: &Bench| bench.run("sessions --archive store --json").out;
    let before = store(&bench);
    for blocks in [4, 20, 60, 120] {
        let ran = bench.shell(&format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec epitome compact more --target 10% --archive store -o big.json"
        ));
        assert!(ran.code == 1 && ran.err.contains("hint"), "{blocks}: {}", ran.shown());
        assert!(!bench.names().contains(&"big.json".to_owned()), "{blocks}");
        let again = bench.run("restore out.json --archive store");
        assert_eq!((again.code, again.out), (0, bench.read("in")), "{blocks}: {}", again.err);
    }
    assert_eq!(store(&bench), before, "nothing of it is there");
    let ran = bench.run("compact more --target 10% --archive store -o big.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    let again = bench.run("restore big.json --archive store");
    assert_eq!((again.code, again.out), (0, bench.read("more")));
}
