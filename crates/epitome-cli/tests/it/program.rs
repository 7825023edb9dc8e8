//! `config` and `doctor`: what the program says of itself.

use expect_test::expect;

use crate::bench::{Bench, RUN, Ran};

fn run(bench: &Bench, words: &str, environment: &[(&str, &str)]) -> Ran {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = bench.command(&words);
    command.envs(environment.iter().copied());
    Ran::of(&command.output().expect("the binary runs"))
}

#[test]
fn every_settings_origin_is_shown() {
    let bench = Bench::new();
    bench.write(".config/epitome/config.toml", "target = \"25%\"\ntask = \"fold\"\n");
    bench.write("epitome.toml", "target = 4000\npins = [\"never push\", \"mind the gap\"]\n");
    let ran = run(&bench, "config show --keep-recent 3steps", &[("EPITOME_MODEL", "gpt-6-sol")]);
    let folder = bench.path("").canonicalize().expect("a folder").to_string_lossy().into_owned();
    expect![[r#"
        exit 0
        --- stdout
        target           4000                             project ~/epitome.toml
        tail             3steps                           flag
        task             fold                             user ~/.config/epitome/config.toml
        trigger          none                             default
        preset           none                             default
        strategies       ladder                           default
        stop             at-target                        default
        counting         whole                            default
        pins             never push, mind the gap         project ~/epitome.toml
        preserved-tools  none                             default
        read-only        none                             default
        counter          the model's                      default
        model            gpt-6-sol                        environment EPITOME_MODEL
        window           the model's                      default
        models           none                             default
        summarizer       extractive                       default
        on-failure       extractive                       default
        summary-tokens   none                             default
        timeout          120 s                            default
        spend            none                             default
        spend-session    none                             default
        spend-day        none                             default
        hook-before      none                             default
        hook-after       none                             default
    "#]]
    .assert_eq(
        &ran.shown()
            .replace(&bench.path("").to_string_lossy().into_owned(), "~/")
            .replace(&folder, "~"),
    );
    let json = run(&bench, "config show --json", &[("EPITOME_TARGET", "3k")]).json();
    assert_eq!(json["settings"][0]["value"], "3000");
    assert_eq!(json["settings"][0]["origin"], "environment");
}

#[test]
fn a_model_that_is_named_nearer_brings_its_own_counter_and_window() {
    let bench = Bench::new();
    bench.write("epitome.toml", "model = \"gpt-4\"\ncounter = \"cl100k\"\nwindow = 8000\n");
    let near = run(&bench, "config show --model claude-opus-5-5 --json", &[]).json();
    let value = |shown: &serde_json::Value, key: &str| {
        let settings = shown["settings"].as_array().expect("a list");
        let setting = settings.iter().find(|setting| setting["key"] == key).expect("a key");
        setting["value"].as_str().expect("a text").to_owned()
    };
    assert_eq!(value(&near, "counter"), "the model's");
    assert_eq!(value(&near, "model"), "claude-opus-5-5");
    assert_eq!(value(&near, "window"), "the model's");
    let far = run(&bench, "config show --json", &[]).json();
    assert_eq!((value(&far, "counter"), value(&far, "window")), ("cl100k".into(), "8000".into()));
}

#[test]
fn files_of_settings_are_named() {
    let bench = Bench::new();
    bench.write("epitome.toml", "");
    let json = run(&bench, "config path --json", &[]).json();
    let file = |at: usize| json["files"][at].clone();
    assert_eq!(
        (file(0)["what"].as_str(), file(0)["is_there"].as_bool()),
        (Some("project"), Some(true))
    );
    assert!(
        file(1)["path"].as_str().is_some_and(|path| path.ends_with(".config/epitome/config.toml"))
    );
    assert_eq!(
        (file(2)["what"].as_str(), file(2)["is_there"].as_bool()),
        (Some("models"), Some(false))
    );
    let words = run(&bench, "config path", &[]);
    assert!(
        words.out.contains("(not there)") && words.out.contains("epitome.toml"),
        "{}",
        words.out
    );
    assert_eq!(run(&bench, "config", &[]).code, 2);
    bench.write("epitome.toml", "targte = 5\n");
    let ran = run(&bench, "config show", &[]);
    assert!(ran.code == 2 && ran.err.contains("targte"), "{}", ran.err);
}

#[test]
fn doctor_finds_nothing_wrong_where_nothing_is() {
    let bench = Bench::new();
    bench.write(".claude/projects/-home-me/abc.jsonl", "{}\n");
    let ran = run(&bench, "doctor", &[("LANG", "C.UTF-8"), ("NO_COLOR", "1")]).ends(0);
    ran.says(&[
        "ok   settings   no files: the defaults hold",
        "ok   counters   11 counters; exact: o200k, cl100k",
        "no colours (NO_COLOR)",
        "claude-code: 1 file in ",
    ]);
    let json = run(&bench, "doctor --json", &[("LANG", "C.UTF-8")]).json();
    assert_eq!(
        (json["version"].as_u64(), json["checks"][0]["state"].as_str()),
        (Some(1), Some("good"))
    );
}

#[test]
fn doctor_says_what_is_wrong_and_what_to_do() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    bench.write("epitome.toml", "targte = 5\n");
    bench.write(".config/epitome/models.json", "{\"modles\": {}}");
    let ran = run(&bench, "doctor", &[]).ends(3);
    ran.says(&[
        "bad  settings",
        "targte",
        "the keys are",
        "bad  models",
        "modles",
        "warn terminal",
        "C.UTF-8",
    ]);
    bench.write("epitome.toml", "model = \"claude-opsu-5-5\"\n");
    bench.write(".config/epitome/models.json", "{}");
    run(&bench, "doctor", &[("LANG", "C.UTF-8")]).ends(0).says(&["warn models", "claude-opus-5-5"]);
}

#[test]
fn config_shows_all_of_a_value_and_warns_of_what_a_project_may_not_say() {
    let bench = Bench::new();
    let strategies = "repeats,reasoning,failed,outputs,arguments,media,excerpts,fold";
    bench.write(
        "epitome.toml",
        format!("strategies = \"{strategies}\"\nsummarizer = \"cmd:touch ran\"\nspend = 9\n"),
    );
    let ran = bench.run("config show").ends(0);
    assert!(ran.out.contains(strategies), "{}", ran.out);
    for key in ["summarizer", "spend"] {
        let words = format!("`{key}` in ");
        assert!(ran.err.contains(&words), "{}", ran.err);
    }
    assert!(ran.err.contains("isn't allowed in a project's own file"), "{}", ran.err);
    let row = ran.out.lines().find(|row| row.starts_with("summarizer")).expect("a row");
    assert!(row.contains("extractive") && row.contains("default"), "{row}");
    assert!(!bench.path("ran").exists());
}

#[test]
fn doctor_looks_at_hooks_and_at_what_was_spent() {
    let bench = Bench::new();
    bench.write(
        ".config/epitome/config.toml",
        "hook-before = [\"/bin/sh before\"]\nhook-after = [\"nowhere-at-all x\"]\nspend-day = 2\n",
    );
    let ran = bench.run("doctor").ends(3);
    ran.says(&[
        "ok   hook       before: /bin/sh: /bin/sh",
        "bad  hook       after: nowhere-at-all: there is no such program",
        "spending   at most $2.00 a day; nothing was spent yet (",
    ]);
    assert!(!bench.path(".local/state/epitome/spent.json").exists(), "doctor writes nothing");
    bench.write(".local/state/epitome/spent.json", "{\"version\":1,\"days\":");
    let ran = bench.run("doctor");
    assert!(ran.out.contains("spent.json can't be read (EOF while"), "{}", ran.out);
    assert!(ran.out.contains("move it away"), "{}", ran.out);
}
