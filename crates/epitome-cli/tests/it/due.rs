//! `--trigger` on `plan` and `compact`: what isn't due passes as it came.

use serde_json::Value;

use crate::bench::{Bench, RUN, SESSION};

/// A request as somebody typed it, with a call that nobody answered.
const TYPED: &str = r#"{ "model":"claude-opus-5-5",  "max_tokens" : 100,
  "messages":[{"role":"user","content":"Fix \u0074he build."}, {"role":"assistant","content":[
    {"type":"tool_use","id":"t","name":"Read","input":{ "path":"a" }}]},
  {"role":"user","content":"Go on."}  ]}
"#;

fn keys(receipt: &Value) -> Vec<&String> {
    receipt.as_object().expect("an object").keys().collect()
}

#[test]
fn what_is_not_due_passes_byte_for_byte_with_a_receipt_of_the_same_shape() {
    let bench = Bench::new();
    bench.write("typed.json", TYPED);
    let ran = bench.run("compact typed.json --trigger 80% --receipt receipt.json");
    assert_eq!((ran.code, ran.out.as_str()), (0, TYPED), "{}", ran.err);
    assert!(ran.err.contains("nothing done: the trigger doesn't fire"), "{}", ran.err);
    let passed = bench.json("receipt.json");
    assert_eq!(passed["triggered"], false);
    assert_eq!(passed["outcome"], "not-triggered");
    assert_eq!((&passed["before"], &passed["cause"]), (&passed["after"], &Value::Null));
    assert_eq!((&passed["kept_task"], &passed["kept_recent"]), (&true.into(), &3.into()));
    assert_eq!(passed["over_budget"], false);

    let ran = bench.run("compact typed.json --trigger 2items --receipt receipt.json --target 90%");
    let mended = bench.json("receipt.json");
    assert_ne!(ran.out, TYPED, "it is due, and so it is mended");
    assert_eq!(mended["cause"], serde_json::json!({"items": {"items": 3, "most": 2}}));
    let known = keys(&passed);
    assert!(keys(&mended).iter().filter(|key| **key != "held_by").all(|key| known.contains(key)));
    assert!(known.iter().all(|key| keys(&mended).contains(key)));
}

#[test]
fn what_is_due_is_compacted_and_says_why() {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    for (trigger, fires) in [
        ("50steps", true),
        ("900steps", false),
        ("20k", true),
        ("80% --window 400k", false),
        ("80% --window 40k", true),
        ("900steps,20k", true),
        ("900steps+20k", false),
        ("overflow,20k", true),
    ] {
        let plan = bench.run(&format!("plan session.jsonl --json --trigger {trigger}"));
        let plan = plan.ends(0).json();
        assert_eq!(plan["triggered"], fires, "{trigger}");
        assert_eq!(plan["cause"].is_object(), fires, "{trigger}");
        assert_eq!(plan["before"] == plan["after"], !fires, "{trigger}");
    }
    let words = bench.run("plan session.jsonl --trigger 50steps");
    assert!(words.out.contains("because 67 steps, more than 50"), "{}", words.out);
}

#[test]
fn a_trigger_that_cannot_be_told_is_an_error() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    for (trigger, says, hint) in [
        ("80%", "needs the window of a model", "--window 200k, or --model ID"),
        ("100items,80%", "needs the window of a model", "--window 200k"),
        ("overflow", "it needs a live session", "--trigger 80%"),
        ("idle+100items", "it needs a live session", "--trigger 80%"),
        ("101%", "out of range", ""),
        ("lots", "`lots` isn't a trigger", ""),
    ] {
        for command in ["plan", "compact", "diff"] {
            let ran = bench.run(&format!("{command} run.json --trigger {trigger}"));
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command} {trigger}");
            assert!(ran.err.contains(says) && ran.err.contains(hint), "{trigger}: {}", ran.err);
        }
    }
    assert_eq!(bench.run("plan run.json --trigger 80% --window 100k").code, 0);
    assert_eq!(bench.run("plan run.json --trigger 80% --model claude-opus-5-5").code, 0);
}

#[test]
fn files_and_variables_set_the_trigger_too() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    let fires = |bench: &Bench| bench.run("plan run.json --json").json()["triggered"].clone();
    bench.write("epitome.toml", "trigger = \"900items\"\n");
    assert_eq!(fires(&bench), false);
    bench.write("epitome.toml", "trigger = { any = [{ idle = 5 }, { items = 900 }, { all = [{ steps = 2 }, { tokens = 9 }] }] }\n");
    assert_eq!(fires(&bench), true);
    let shown = bench.run("config show --json").json();
    let trigger = |shown: &Value| {
        let settings = shown["settings"].as_array().expect("a list");
        let found = settings.iter().find(|setting| setting["key"] == "trigger");
        found.expect("it is a key").clone()
    };
    let nested = trigger(&shown)["value"].as_str().expect("a text").to_owned();
    assert!(nested.contains("items = 900") && trigger(&shown)["origin"] == "project", "{nested}");
    let shown = bench.run("config show --json --trigger >80.5%,overflow").json();
    assert_eq!(trigger(&shown)["value"], ">80.5%,overflow");
    let command = &mut bench.command(&["plan", "run.json", "--json"]);
    let ran = command.env("EPITOME_TRIGGER", "900steps").output().expect("the binary runs");
    let plan: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(plan["triggered"], false);
    bench.write("epitome.toml", "trigger = { share = 1.5 }\n");
    let bad = bench.run("plan run.json");
    assert!(bad.code == 2 && bad.err.contains("1.5 is out of range"), "{}", bad.err);
}
