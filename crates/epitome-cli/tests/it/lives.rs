//! Sessions in an archive over time: one conversation is one session, however it came in.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::is_full;

use crate::bench::{Bench, Ran, SESSION, SHORT};

fn hook(bench: &Bench, file: &str) -> Ran {
    let said = json!({ "transcript_path": bench.path(file), "trigger": "auto" });
    bench.pipe("hook pre-compact --archive store", said.to_string().as_bytes())
}

fn listed(bench: &Bench) -> Value {
    bench.run("sessions --archive store --json").json()
}

/// How many sessions there are; the first one's name.
fn sessions(bench: &Bench) -> (usize, String) {
    let listed = listed(bench);
    let all = listed["sessions"].as_array().expect("a list");
    (all.len(), all[0]["session"].as_str().expect("a name").to_owned())
}

#[test]
fn repeated_in_place_compactions_stay_one_session() {
    for example in [SESSION, "pi/large-session.jsonl", "codex/rollout-b.jsonl"] {
        let bench = Bench::new();
        bench.copy(example, "s.jsonl");
        let original = bench.read("s.jsonl");
        let said =
            bench.run("count s.jsonl --whole --json").json()["entries"].as_u64().expect("a number");
        let (mut written, mut first) = (vec![original], 0);
        let targets = [60, 50, 40, 30, 20, 10];
        for target in targets.into_iter().filter(|at| is_full() || at % 20 == 0 || *at == 10) {
            let ran =
                bench.run(&format!("compact s.jsonl --target {target}% --apply --archive store"));
            assert!(matches!(ran.code, 0 | 3), "{example}: {}", ran.err);
            let now = bench.read("s.jsonl");
            if Some(&now) != written.last() {
                first = if written.len() == 1 { target } else { first };
                written.push(now);
            }
        }
        let listed = listed(&bench);
        let all = listed["sessions"].as_array().expect("a list");
        assert_eq!(all.len(), 1, "{example}: {listed}");
        let views = all[0]["views"].as_u64().expect("a number");
        assert!(views >= 3 && views as usize == written.len() - 1, "{example}: {views} views");
        assert_eq!((&all[0]["head"], &all[0]["forked_from"]), (&json!(views), &Value::Null));
        let originals = listed["stored"]["originals"].as_u64().expect("a number");
        assert!(originals <= said, "{example}: {originals} originals of {said} messages");
        // None of the tool's own checkpoints is found as if somebody had said it.
        let hits = bench
            .run("recall reference earlier work request --archive store --json --limit 50")
            .hits();
        for hit in hits.as_array().expect("a list") {
            assert_ne!(hit["origin"], "checkpoint", "{hit}");
            let text = hit["text"].as_str().expect("words");
            assert!(!text.contains("<checkpoint "), "{example}: {text}");
        }
        // The way back, one by one.
        while written.len() > 1 {
            written.pop();
            assert_eq!(bench.run("restore s.jsonl --archive store -o s.jsonl").code, 0);
            assert!(Some(&bench.read("s.jsonl")) == written.last(), "{example}");
            let head = &self::listed(&bench)["sessions"][0]["head"];
            assert_eq!(head, written.len() - 1, "{example}: what it shows is in force");
        }
        // The same once more is the view that there is.
        let line = format!("compact s.jsonl --target {first}% --apply --archive store");
        assert!(matches!(bench.run(&line).code, 0 | 3));
        let again = &self::listed(&bench)["sessions"][0];
        assert_eq!((&again["views"], &again["head"]), (&json!(views), &json!(1)), "{example}");
    }
}

#[test]
fn an_agents_own_compactions_are_of_the_session() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    assert_eq!(hook(&bench, "s.jsonl").code, 0);
    let (count, name) = sessions(&bench);
    assert_eq!(count, 1);
    let text = bench.read("s.jsonl");
    let rows: Vec<Value> = text.lines().filter_map(|row| serde_json::from_str(row).ok()).collect();
    let newest = rows.iter().rev().find(|row| row["uuid"].is_string()).expect("rows have names");
    let row = |uuid: &str, parent: Value, more: Value| {
        let mut row = json!({"uuid": uuid, "parentUuid": parent, "isSidechain": false, "cwd": "/x",
            "sessionId": newest["sessionId"], "version": "2.0.0", "timestamp": "2026-11-22T05:29:39.871Z"});
        row.as_object_mut()
            .expect("it is one")
            .extend(more.as_object().expect("it is one").clone());
        row.to_string()
    };
    let rows = [
        row(
            "c0",
            Value::Null,
            json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "logicalParentUuid": newest["uuid"], "compactMetadata": {"trigger": "auto", "preTokens": 9}}),
        ),
        row(
            "c1",
            json!("c0"),
            json!({"type": "user", "isCompactSummary": true,
            "message": {"role": "user", "content": "This session is being continued: the regex was mended."}}),
        ),
        row(
            "c2",
            json!("c1"),
            json!({"type": "user", "message": {"role": "user", "content": "And now the zebra."}}),
        ),
    ];
    bench.write("s.jsonl", format!("{}\n{}\n", text.trim_end(), rows.join("\n")));
    assert_eq!(bench.run("count s.jsonl --json").json()["entries"], 2, "the agent compacted it");
    assert_eq!(hook(&bench, "s.jsonl").code, 0);
    assert_eq!(sessions(&bench), (1, name.clone()), "{}", listed(&bench));
    let hits = bench.run("recall zebra --archive store --json").hits();
    assert_eq!(hits[0]["time"], "2026-11-22T05:29:39.871Z", "{hits}");
    assert_eq!(hits[0]["role"], "user");
    let ran = bench.run("compact s.jsonl --target 10% --archive store -o out.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    assert_eq!(sessions(&bench), (1, name));
}

#[test]
fn a_message_that_still_grows_is_no_fork() {
    for example in [SESSION, SHORT] {
        let bench = Bench::new();
        bench.copy(example, "whole");
        let text = bench.read("whole");
        let rows: Vec<&str> = text.split_inclusive('\n').collect();
        // From one row to the next, over some turns; then with longer steps.
        let (short, step) = if is_full() { (30, 17) } else { (20, 47) };
        let ends = (4..short).chain((short..=rows.len()).step_by(step));
        for end in ends {
            bench.write("s.jsonl", rows[..end].concat());
            assert_eq!(hook(&bench, "s.jsonl").code, 0);
        }
        let listed = listed(&bench);
        let all = listed["sessions"].as_array().expect("a list");
        assert_eq!(all.len(), 1, "{example}: {listed}");
        // What it was in the midst of a message comes in again, and is no other session.
        bench.write("s.jsonl", rows[..9].concat());
        assert_eq!(hook(&bench, "s.jsonl").code, 0);
        assert_eq!(sessions(&bench).0, 1, "{example}");
    }
}

#[test]
fn a_request_that_went_on_from_a_view_is_a_fork_of_its_session() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    bench.run("compact in --target 20% --archive store -o out.json");
    let (_, first) = sessions(&bench);
    let request = bench.read("out.json");
    let end = request.rfind("\n]}").expect("its end");
    let more = ",\n{\"role\":\"user\",\"content\":\"And now the other one.\"}";
    bench.write("grown.json", format!("{}{more}{}", &request[..end], &request[end..]));
    bench.run("compact grown.json --target 60% --archive store -o again.json");
    let listed = listed(&bench);
    let all = listed["sessions"].as_array().expect("a list");
    assert_eq!(all.len(), 2, "{listed}");
    assert_eq!(all[0]["forked_from"], *first, "{listed}");
}

#[test]
fn what_a_recall_gave_isnt_kept_again() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    bench.run("compact in --target 10% --archive store -o out.json");
    let found = bench.run("recall regex --archive store --json --limit 2");
    let (hits, given) = (found.hits(), found.out);
    assert!(
        hits[0]["recalled"].as_str().is_some_and(|mark| mark.starts_with("[recalled ")),
        "{hits}"
    );
    let mcp = format!(
        "[{{\"type\":\"text\",\"text\":{}}}]",
        json!(format!("{} model\nquaggaword regex", hits[0]["recalled"].as_str().expect("a mark")))
    );
    let call = |at: usize, name: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": format!("c{at}"), "type": "function", "function": {"name": name, "arguments": "{}"}}]})
    };
    let answer = |at: usize, text: &str| json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": text});
    let mut messages = vec![json!({"role": "user", "content": "What was it with the okapiword?"})];
    for (at, (name, text)) in [
        ("shell", format!("okapiword\n{given}quaggaword")),
        ("shell", format!("Wall time: 1 s\nOutput:\n{mcp}")),
        ("mcp__epitome__recall_search", "unmarked quaggaword".to_owned()),
        ("grep", "zebraword, which is no recall".to_owned()),
    ]
    .iter()
    .enumerate()
    {
        messages.extend([call(at, name), answer(at, text)]);
    }
    for at in 0..30 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        messages.push(
            json!({"role": role, "content": format!("step {at}: {}", "filler words ".repeat(40))}),
        );
    }
    bench.write("agent.json", json!({"model": "gpt-6-sol", "messages": messages}).to_string());
    let ran =
        bench.run("compact agent.json --target 10% --task fold --archive other -o smaller.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    let found = |words: &str| bench.run(&format!("recall {words} --archive other --json")).hits();
    assert_eq!(found("quaggaword"), json!([]));
    assert!(!found("okapiword").as_array().expect("a list").is_empty());
    assert_eq!(found("zebraword").as_array().map(Vec::len), Some(1));
}

#[test]
fn history_can_be_looked_at_and_gone_to() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    for target in [60, 40, 20] {
        let ran = bench
            .run(&format!("compact in --target {target}% --archive store -o out{target}.json"));
        assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    }
    let (_, id) = sessions(&bench);
    let history = || bench.run(&format!("sessions {id} --archive store --json")).json();
    let told = history();
    let views = told["views"].as_array().expect("a list");
    assert_eq!(views.len(), 3, "{told}");
    for (at, view) in views.iter().enumerate() {
        assert_eq!((&view["view"], &view["parent"]), (&json!(at + 1), &json!(at)));
        assert_eq!(view["in_force"], json!(at == 2));
        let tokens = |name: &str| view[name].as_u64().expect("a number");
        assert!(tokens("before") > tokens("after") && tokens("after") > 0, "{view}");
        assert_eq!(view["receipt"]["after"]["tokens"], view["after"]);
        assert!(view["reached"].is_string() && view["age"].as_u64() < Some(3600), "{view}");
    }
    let words = bench.run(&format!("sessions {id} --archive store")).out;
    assert!(words.contains("in force") && words.lines().count() == 5, "{words}");
    let in_force = || {
        let told = history();
        let view =
            told["views"].as_array().expect("a list").iter().find(|it| it["in_force"] == true);
        view.map_or(0, |view| view["view"].as_u64().expect("a number"))
    };
    let go = |line: &str| {
        let ran = bench.run(&format!("{line} --archive store -o now.json"));
        (ran.code, in_force(), ran.err)
    };
    // Any view by its number.
    assert_eq!(go(&format!("undo {id}.1")).1, 1);
    assert_eq!(bench.read("now.json"), bench.read("out60.json"));
    let (code, now, why) = go(&format!("undo {id}.2"));
    assert_eq!((code, now), (2, 1), "{why}");
    assert!(why.contains("`redo` goes there"), "{why}");
    assert_eq!(go(&format!("redo {id}.3")).1, 3);
    assert_eq!(bench.read("now.json"), bench.read("out20.json"));
    assert_eq!(go(&format!("undo {id}.0")).1, 0);
    assert_eq!(go(&format!("redo {id}.2")).1, 2);
    assert_eq!(go(&format!("redo {id}.9")).0, 2, "there is none");
    // A file names the session, whichever view it shows.
    assert_eq!(go(&format!("redo {id}.3")).1, 3);
    assert_eq!(go("undo out40.json").1, 2);
    assert_eq!(go("undo out20.json").1, 1);
    assert_eq!(go(&format!("undo {id}")).1, 0);
    let (code, now, why) = go("undo out20.json");
    assert_eq!((code, now), (1, 0), "{why}");
    for (file, view) in [("out20.json", 1), ("out20.json", 2), ("out60.json", 3)] {
        assert_eq!(go(&format!("redo {file}")).1, view, "{file}");
    }
}

/// What was compacted twice is the view of one session and the input of another.
#[test]
fn a_second_compaction_of_a_file_is_undone_and_redone_by_it() {
    let bench = Bench::new();
    bench.copy("tau-bench/00_task2_trial1.json", "w.json");
    // Before the first one it was a recording, of which undo shows the request.
    let mut states = vec![None];
    for target in ["60%", "30%"] {
        bench.run(&format!("compact w.json --target {target} --archive store -o w.json"));
        states.push(Some(bench.read("w.json")));
    }
    for (command, state) in
        [("undo", 1), ("redo", 2), ("undo", 1), ("undo", 0), ("redo", 1), ("redo", 2)]
    {
        let ran = bench.run(&format!("{command} w.json --archive store -o w.json"));
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
        let now = bench.read("w.json");
        assert!(states[state].as_ref().is_none_or(|was| *was == now), "{command}");
    }
    let ran = bench.run("redo w.json --archive store -o w.json");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("there is no undone compaction to redo"), "{}", ran.err);
}

#[test]
fn epitomes_own_sessions_are_listed_too() {
    let bench = Bench::new();
    assert!(bench.run("").out.contains("no recordings"), "nothing is there");
    let json = bench.run("sessions --json").json();
    assert_eq!((&json["archive"], &json["sessions"]), (&Value::Null, &json!([])));
    assert_eq!(bench.names(), [""; 0], "nothing was written");
    bench.copy(SHORT, "s.jsonl");
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply").code, 0);
    let json = bench.run("sessions --json").json();
    let own = &json["archive"]["sessions"];
    assert_eq!(own[0]["views"], 1, "{json}");
    // What it says and what the recording holds are counted alike.
    let count = bench.run("count s.jsonl --json").json();
    assert_eq!(own[0]["tokens"], count["tokens"], "{json}");
    assert!(own[0]["bytes"].as_u64() > Some(1000), "{json}");
    let name = own[0]["session"].as_str().expect("a name");
    for line in ["", "sessions"] {
        let ran = bench.run(line);
        assert!(ran.out.contains(name) && ran.out.contains("archived in"), "{}", ran.out);
    }
    assert!(bench.run(&format!("sessions {name}")).out.contains("1 view (1 in force)"));
}

#[test]
fn pins_need_no_archive_beforehand() {
    let bench = Bench::new();
    let ran = bench.run("pin add never-push");
    assert_eq!((ran.code, ran.out.as_str()), (0, "1 never-push\n"), "{}", ran.err);
    assert_eq!(bench.run("pin list").out, "1 never-push\n");
    assert_eq!(bench.run("pin rm 1").code, 0);
}

const AGENT: &str = "claude-code/agent-a485154.jsonl";

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let alone = bench.run("count s.jsonl --json").json();
    // One in the same file, one beside it, one in the folder of the session's name, and one of another session.
    let text = bench.read("s.jsonl");
    let first = text.lines().find_map(|row| {
        let row: Value = serde_json::from_str(row).ok()?;
        Some(row["sessionId"].as_str()?.to_owned())
    });
    let session = first.expect("it says its own");
    let row = |uuid: &str, parent: Value, kind: &str, words: &str| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": true, "agentId": "a1",
            "sessionId": session, "timestamp": "2026-01-02T03:04:05Z", "cwd": "/x", "version": "2.0.0",
            "message": {"role": kind, "content": words}})
    };
    let side = [
        row("q0", Value::Null, "user", "Look for the quaggaword."),
        row("q1", json!("q0"), "assistant", "The quaggaword is 7001."),
    ];
    bench.write("s.jsonl", format!("{}\n{}\n{}\n", text.trim_end(), side[0], side[1]));
    bench.copy(AGENT, "agent");
    let agent = bench.read("agent");
    let other = |from: &str| {
        agent
            .lines()
            .find_map(|row| {
                let row: Value = serde_json::from_str(row).ok()?;
                Some(row[from].as_str()?.to_owned())
            })
            .expect("it says so")
    };
    let (its_session, its_id) = (other("sessionId"), other("agentId"));
    bench.write("agent-own.jsonl", agent.replace(&its_session, &session));
    bench.write(
        "s/subagents/agent-x.jsonl",
        agent
            .replace(&its_session, &session)
            .replace(&its_id, "a77")
            .replace("\"content\":\"", "\"content\":\"okapiword "),
    );
    bench.write(
        "agent-strange.jsonl",
        agent.replace("\"content\":\"", "\"content\":\"strangeword "),
    );
    assert_eq!(
        bench.run("count s.jsonl --json").json()["tokens"],
        alone["tokens"],
        "never the parent's"
    );
    let ran = bench.run("compact s.jsonl --target 30% --archive store -o out.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);

    let told = listed(&bench);
    let all = told["sessions"].as_array().expect("a list");
    assert_eq!(all.len(), 4, "{told}");
    let parent = &all[0];
    assert_eq!(
        (&parent["part_of"], &parent["entries"]),
        (&Value::Null, &alone["entries"]),
        "{told}"
    );
    assert!(all[1..].iter().all(|it| it["part_of"] == parent["session"]), "{told}");
    let id = parent["session"].as_str().expect("a name").to_owned();
    let shown = bench.run("sessions --archive store --limit 1").out;
    assert_eq!(shown.matches("  sub-agent ").count(), 3, "{shown}");
    let own = bench.run(&format!("sessions {id} --archive store --json")).json();
    assert_eq!(own["sub_agents"].as_array().map(Vec::len), Some(3), "{own}");
    // What they said is found, and is theirs.
    let hits = |line: &str| bench.run(&format!("recall {line} --archive store --json")).hits();
    let quagga = hits("quaggaword");
    assert_eq!(quagga.as_array().map(Vec::len), Some(2), "{quagga}");
    assert_ne!(quagga[0]["session"], *id);
    assert_eq!(quagga[0]["time"], "2026-01-02T03:04:05.000Z");
    assert!(!hits("okapiword").as_array().expect("a list").is_empty());
    assert_eq!(hits("strangeword"), json!([]), "of another session");
    assert_eq!(hits(&format!("quaggaword --session {id}")), json!([]));
    // Once more, and a file of a sub-agent by itself, are the same sessions.
    bench.run("compact s.jsonl --target 30% --archive store -o out.json");
    bench.run("compact agent-own.jsonl --target 30% --archive store -o agent.json");
    assert_eq!(listed(&bench)["sessions"].as_array().map(Vec::len), Some(4));
    // They go with it.
    let gone = bench.run(&format!("forget {id} --archive store --json")).json();
    assert_eq!(gone["sessions"].as_array().map(Vec::len), Some(4), "{gone}");
    assert_eq!(hits("quaggaword"), json!([]));
}

#[test]
fn concurrent_compactions_with_other_settings_lose_nothing() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    let said = json!({ "transcript_path": bench.path("in"), "trigger": "auto" }).to_string();
    bench.write("said", said);
    let started: Vec<_> = (0..6)
        .map(|at| {
            let target = format!("{}%", 15 + 10 * at);
            let out = format!("out{at}");
            let line =
                ["compact", "in", "--archive", "store", "--json", "-o", &out, "--target", &target];
            let mut command = if at % 3 == 2 {
                let mut command = bench.command(&["hook", "pre-compact", "--archive", "store"]);
                command.stdin(std::fs::File::open(bench.path("said")).expect("written"));
                command
            } else {
                bench.command(&line)
            };
            (at, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started"))
        })
        .collect();
    let mut views = Vec::new();
    for (at, process) in started {
        let output = process.wait_with_output().expect("over");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{at}: {told}");
        assert!(!told.contains("error"), "{at}: {told}");
        if at % 3 != 2 {
            let receipt: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            views.push((at, receipt["archived"]["view"].as_u64().expect("a number")));
        }
    }
    let (count, id) = sessions(&bench);
    assert_eq!(count, 1);
    let mut numbers: Vec<u64> = views.iter().map(|(_, view)| *view).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4], "each is a view of its own");
    for (at, view) in views {
        let ran = bench.run(&format!("restore {id}.{view} --archive store"));
        assert!(ran.out == bench.read("in"), "{view}: {}", ran.err);
        let ran = bench.run(&format!("restore out{at} --archive store"));
        assert!(ran.out == bench.read("in"), "{at}: {}", ran.err);
    }
}

#[test]
fn one_of_concurrent_in_place_compactions_wins() {
    let bench = Bench::new();
    let mut outrun = 0;
    for round in 0..6 {
        bench.copy(SHORT, "s.jsonl");
        let original = bench.read("s.jsonl");
        let started: Vec<_> = (0..3)
            .map(|at| {
                let target = format!("{}%", 20 + 10 * at);
                let line =
                    ["compact", "s.jsonl", "--apply", "--archive", "store", "--target", &target];
                bench
                    .command(&line)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("started")
            })
            .collect();
        for process in started {
            let output = process.wait_with_output().expect("over");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_outrun = told.contains("another process compacted");
            let is_right = |code| if is_outrun { code == 75 } else { matches!(code, 0 | 3) };
            assert!(output.status.code().is_some_and(is_right), "{round}: {told}");
            outrun += usize::from(is_outrun);
        }
        let now = bench.read("s.jsonl");
        assert!(now.starts_with(&original) && now.len() > original.len(), "{round}");
        assert_eq!(sessions(&bench).0, 1, "{round}");
        // Back by one compaction or several, to the bytes that it began with.
        while bench.read("s.jsonl") != original {
            let ran = bench.run("restore s.jsonl --archive store -o s.jsonl");
            assert_eq!(ran.code, 0, "{round}: {}", ran.err);
        }
    }
    println!("{outrun} of 18 gave way");
}
