//! Archives from outside: nothing is lost, everything is found, what is forgotten is gone.

mod found;
mod places;

use expect_test::expect;
use serde_json::Value;
use testkit::examples::examples;
use testkit::is_full;

use crate::bench::{Bench, EDGES, RUN, SESSION, SHORT};

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
fn an_input_comes_back_by_each_of_its_names() {
    for example in [SHORT, EDGES] {
        let bench = kept(example);
        let receipt = bench.json("receipt.json");
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
fn a_grown_request_is_still_restored() {
    let bench = kept(SESSION);
    let request = bench.read("out.json");
    let end = request.rfind("\n]}").expect("its end");
    let more = ",\n{\"role\":\"user\",\"content\":\"And now the other one.\"}";
    bench.write("grown.json", format!("{}{more}{}", &request[..end], &request[end..]));
    let ran = bench.run("restore grown.json --archive store").ends(0);
    assert_eq!(ran.out, bench.read("in"));
    let piped = bench.pipe("restore - --archive store", format!("{request}\n").as_bytes());
    assert_eq!(piped.out, bench.read("in"));
}

/// Only the user's own message is continued as a checkpoint; the model's may be one that a client put there.
#[test]
fn what_a_checkpoint_of_the_models_stands_for_is_said_to_be_missing() {
    let bench = kept(SESSION);
    let mut request: Value = bench.json("out.json");
    let messages = request["messages"].as_array_mut().expect("messages");
    let is_one = |message: &Value| message.to_string().contains("<checkpoint ");
    let at = messages.iter().position(is_one).expect("a checkpoint");
    let ask = |text: &str| serde_json::json!({"role": "user", "content": text});
    messages[at]["role"] = "assistant".into();
    messages.insert(at + 1, ask("Go on."));
    messages.extend((0..40).map(|_| ask(&"And again, at length. ".repeat(40))));
    bench.write("moved.json", request.to_string());
    let ran = bench.run("compact moved.json --target 50% --archive store -o moved.out.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    let ran = bench.run("restore moved.out.json --archive store").ends(0);
    assert_eq!(ran.out, bench.read("moved.json"));
    let said =
        format!("messages[{at}] is a checkpoint: the messages that it stands for aren't restored");
    let session = bench.json("receipt.json")["archived"]["session"].clone();
    let hint = format!("epitome restore {}.1 --archive store", session.as_str().expect("a name"));
    ran.complains(&[&said, &hint]);
    let all = bench.run("restore out.json --archive store").ends(0);
    assert!(!all.err.contains("aren't restored"), "{}", all.err);
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
fn an_archive_is_not_written_over() {
    let bench = kept(SHORT);
    for line in [
        "compact in --archive store -o store/store.db",
        "compact in --archive store -o out.json --receipt store/receipt.json",
        "restore out.json --archive store -o ./store/../store/store.db",
        "undo out.json --archive store -o store/now.json",
    ] {
        bench.run(line).ends(2).complains(&["into the archive"]);
    }
    assert_eq!(bench.run("restore out.json --archive store").out, bench.read("in"));
}

#[test]
fn what_was_undone_is_done_again_by_the_same_file() {
    let bench = kept(SESSION);
    let first = bench.read("out.json");
    for _ in 0..2 {
        bench.run("undo out.json --archive store -o out.json").ends(0);
        assert_ne!(bench.read("out.json"), first);
        bench.run("redo out.json --archive store -o out.json").ends(0);
        assert_eq!(bench.read("out.json"), first);
    }
    // By the recording, which its agent went on writing.
    bench.run("undo in --archive store -o now.json").ends(0);
    let more = bench.read("in");
    let last = more.lines().last().expect("it has lines").to_owned();
    bench.write("in", format!("{more}{last}\n"));
    bench.run("redo in --archive store -o now.json").ends(0);
}

#[test]
fn a_compaction_is_undone_and_done_again() {
    let bench = kept(SESSION);
    let first = bench.read("out.json");
    bench.run("undo out.json --archive store -o now.json").ends(0);
    assert_eq!(bench.read("now.json"), bench.run("convert in --to anthropic").out);
    assert_eq!(bench.run("undo out.json --archive store").code, 1, "nothing more to undo");
    assert_eq!(bench.run("redo out.json --archive store -o now.json").code, 0);
    assert_eq!(bench.read("now.json"), first);
    assert_eq!(bench.run("redo out.json --archive store").code, 1);
    // What couldn't be written isn't in force.
    bench.run("undo out.json --archive store -o /dev/full").ends(1);
    assert_eq!(bench.run("redo out.json --archive store").code, 1, "nothing was undone");
    // The same again is no further view, another target is.
    bench.run("compact in --target 10% --archive store -o same.json --receipt same");
    let receipt = bench.json("same");
    assert_eq!(receipt["archived"]["view"], 1);
    bench.run("compact in --target 30% --archive store -o other.json --receipt other");
    let receipt = bench.json("other");
    assert_eq!(receipt["archived"]["view"], 2);
    assert_eq!(bench.run("undo other.json --archive store -o now.json").code, 0);
    assert_eq!(bench.read("now.json"), first);
}

#[test]
fn all_of_it_comes_back_over_several_compactions() {
    let bench = kept(SHORT);
    let grown = bench.read("out.json");
    let end = grown.rfind("\n]}").expect("its end");
    let more = ",\n{\"role\":\"user\",\"content\":\"And now the other one.\"}";
    bench.write("grown.json", format!("{}{more}{}", &grown[..end], &grown[end..]));
    bench.run("compact grown.json --target 40% --archive store -o second.json --receipt second");
    let session = bench.json("second")["archived"]["session"].as_str().expect("a name").to_owned();
    for what in ["second.json", "second", "grown.json", &session, "out.json"] {
        let ran = bench.run(&format!("restore {what} --archive store"));
        assert_eq!((ran.code, ran.out == bench.read("in")), (0, true), "{what}: {}", ran.err);
    }
    // What the second one was made from is had by name.
    let ran = bench.run(&format!("restore {session}.1 --archive store")).ends(0);
    assert_eq!((ran.out, ran.err.as_str()), (bench.read("grown.json"), ""));
}

#[cfg(unix)]
#[test]
fn an_archive_that_is_open_to_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = kept(SHORT);
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(bench.path("store"), permissions).expect("own");
    };
    set(0o755);
    for line in [
        "recall thread --archive store",
        "compact in --archive store -o out.json",
        "mcp --archive store",
    ] {
        let ran = bench.run(line).ends(1);
        ran.complains(&["store is open to other users (mode 755)", "chmod -R go= store"]);
    }
    bench.run("doctor --fix --dry-run --archive store").ends(3).says(&["store would be closed"]);
    bench.run("recall thread --archive store").ends(1);
    bench.run("doctor --fix --archive store").ends(0).says(&["store closed", "ok   archive"]);
    bench.run("recall thread --archive store").ends(0);
    set(0o777);
    bench.run("doctor --archive store").ends(3).says(&["bad  archive", "mode 777"]);
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
    assert!(!ran.err.contains("no message matches"), "other sessions say it: {}", ran.err);
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
fn a_checkpoint_is_continued_with_its_archive_and_without() {
    let bench = kept(SESSION);
    for archive in ["--archive store", ""] {
        let again =
            bench.run(&format!("compact out.json --target 50% {archive} -o twice.json")).ends(0);
        assert!(!again.err.contains("looks like the checkpoint"), "{}", again.err);
        let twice = bench.read("twice.json");
        assert_eq!(twice.matches("</checkpoint ").count(), 1, "one stands for both");
        assert!(twice.contains("TODO is not acceptable"), "{twice}");
    }
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
    assert_eq!(bench.run("recall regex --archive store --json").hits(), serde_json::json!([]));
    let store = std::fs::read(bench.path("store/store.db")).expect("there");
    let session = bench.read("in");
    let id = session.split("\"sessionId\":\"").nth(1).expect("it has one").split('"').next();
    let id = id.expect("it ends").as_bytes();
    assert!(!store.windows(id.len()).any(|window| window == id));
    assert_eq!(bench.run("forget --over 0mb --archive store").code, 0);
    assert_eq!(bench.run("restore other.json --archive store").code, 1);
    assert_eq!(bench.run("forget --archive store").code, 2);
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
        bench.run(&format!("forget {name} --archive {url}")).ends(0);
    }
}

#[test]
fn shipped_sessions_come_back_byte_for_byte() {
    let bench = Bench::new();
    let (mut files, mut all) = (0, 0);
    for example in examples() {
        let (name, came) = (&example.name, example.bytes());
        // The largest are compacted in place, and back, in `lives`.
        if came.len() > 400_000 && !is_full() {
            continue;
        }
        bench.write("in", &came);
        let ran = bench.run("compact in --target 20% --archive store --counter chars4 -o out.json");
        assert!(matches!(ran.code, 0 | 3), "{name}: {}", ran.err);
        let ran = bench.run("restore out.json --archive store -o back");
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert!(std::fs::read(bench.path("back")).expect("a file") == came, "{name}");
        files += 1;
        all += came.len();
    }
    assert!(files >= 15, "{files}");
    println!(
        "reliability: {files} shipped sessions, {all} bytes, in one store: all back byte for byte"
    );
}
