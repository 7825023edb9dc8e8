//! What is asked, and asked wrongly.

use expect_test::expect;

use crate::bench::{Bench, SHORT};

#[test]
fn asked_for_help_it_says_what_it_can_do() {
    let ran = Bench::new().run("-h").ends(0);
    expect![[r#"
        Sees, checks, counts and compacts the transcripts of LLM agents

        Usage: epitome [OPTIONS] [COMMAND]

        Commands:
          stats     Show what fills a transcript: by kind, by tool, by step
          check     Check a transcript against the provider's rules
          count     Count tokens
          plan      Show what `compact` would do, without doing it
          compact   Make a transcript smaller
          diff      Show what a compaction does to each entry
          report    Report how a session used its context
          view      Browse a session on the terminal
          convert   Write a transcript as a request body
          sessions  List the recordings on this machine
          restore   Write the original bytes of a compaction, from its archive
          recall    Find removed content in an archive, by words or by an id
          serve     Keep any agent inside its model's window
          wrap      Run an agent behind a private proxy
          undo      Undo the last compaction, and write the view before it
          install   Put hooks, the MCP server and a status line into an agent's settings
          doctor    Check the setup
          help      Print this message or the help of the given subcommand(s)

        Options:
              --json     Print reports as JSON (each has a "version")
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        `epitome --help` shows all commands and the exit codes.
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn nonsense_is_a_usage_error_that_names_it() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    for (words, named) in [
        ("frobnicate", "frobnicate"),
        ("stats --frob s.jsonl", "--frob"),
        ("stats s.jsonl t.jsonl", "t.jsonl"),
        ("compact s.jsonl --target 0", "--target"),
        ("compact s.jsonl --target 101%", "--target"),
        ("compact s.jsonl --target -5", "-5"),
        ("compact s.jsonl --target", "--target"),
        ("compact s.jsonl --keep-recent 3x", "--keep-recent"),
        ("compact s.jsonl --window 30%", "--window"),
        ("compact s.jsonl --task maybe", "--task"),
        ("compact s.jsonl --counter p50k", "p50k"),
        ("compact s.jsonl --model llama-4", "--counter"),
        ("compact s.jsonl --from nope", "nope"),
        ("compact s.jsonl --to claude-code", "can be read, not written"),
        ("convert s.jsonl", "--to"),
        ("convert s.jsonl --to nope", "FORMAT:MODEL"),
        ("check s.jsonl -o x.json", "--repair"),
        ("stats s.jsonl --sidechain nobody", "nobody"),
        ("compact s.jsonl -o x --receipt x", "--receipt"),
        ("diff - -", "stdin"),
        ("completions tcsh", "tcsh"),
        ("man frobnicate", "frobnicate"),
    ] {
        let ran = bench.run(words).ends(2);
        ran.complains(&[named]);
        assert!(ran.out.is_empty(), "{words}: {}", ran.out);
    }
    assert_eq!(bench.names(), ["s.jsonl"], "nothing was written");
}

#[test]
fn an_empty_pin_says_so() {
    let bench = Bench::new();
    let words = ["compact", "--pin", ""];
    let input = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    bench.write("r.json", input);
    let mut command = bench.command(&[words.as_slice(), &["r.json"]].concat());
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn completions_and_pages_are_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = bench.run(&format!("completions {shell}"));
        assert_eq!(ran.code, 0, "{shell}");
        assert!(ran.out.contains("preserve-tool"), "{shell}");
    }
    let page = bench.run("man");
    assert!(page.code == 0 && page.out.contains(".TH"), "{}", page.out);
    let page = bench.run("man compact");
    assert!(page.code == 0 && page.out.contains("keep\\-recent"), "{}", page.out);
    assert_eq!(bench.run("man --json").json()["version"], 1);
    assert_eq!(bench.run("completions bash --json").json()["shell"], "bash");
}

#[test]
fn errors_are_json_where_reports_are() {
    let ran = Bench::new().run("count nowhere.json --json");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    expect![[r#"
        {
          "error": {
            "exit": 1,
            "hint": "ls .",
            "message": "nowhere.json can't be read: No such file or directory (os error 2)"
          },
          "version": 1
        }
    "#]]
    .assert_eq(&ran.err);
    let ran = Bench::new().run("compact --targt 5 --json");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let error: serde_json::Value = serde_json::from_str(&ran.err).expect("JSON");
    assert_eq!((&error["version"], &error["error"]["exit"]), (&1.into(), &2.into()));
    assert!(
        error["error"]["message"].as_str().is_some_and(|text| text.contains("--targt")),
        "{error}"
    );
    assert!(Bench::new().run("compact --json --help").out.contains("Usage:"));
}
