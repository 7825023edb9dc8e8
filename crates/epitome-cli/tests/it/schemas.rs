//! The JSON Schemas of reports; that whatever these tests print obeys them is in `obeyed`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, SHORT};
use crate::obeyed::{LIST, faults, judge, printed};
use crate::summarizers::good;

/// Each schema by its name.
fn all() -> impl Iterator<Item = (&'static str, Value)> {
    LIST.iter().map(|listed| (listed.name.as_str(), printed(&[&listed.name])))
}

#[test]
fn every_schema_is_one_and_needs_no_other_file() {
    fn walk(schema: &Value, root: &Value, name: &str) {
        match schema {
            Value::Object(members) => {
                assert!(!members.contains_key("$id"), "{name}");
                if let Some(to) = members.get("$ref").and_then(Value::as_str) {
                    let found = to.strip_prefix('#').and_then(|at| root.pointer(at));
                    assert!(found.is_some(), "{name}: {to}");
                }
                members.values().for_each(|member| walk(member, root, name));
            }
            Value::Array(elements) => elements.iter().for_each(|element| walk(element, root, name)),
            _ => {}
        }
    }
    for (name, schema) in all() {
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(
            schema["properties"]["version"],
            json!({ "const": 1, "description": "The version of this form." })
        );
        walk(&schema, &schema, name);
        judge(name);
    }
}

/// A report, a definition in its schema, the source of the enum that it describes, and that.
const ENUMS: [[&str; 4]; 33] = [
    ["compact", "asker", "epitome/src/trigger/cause.rs", "Asker"],
    ["compact", "basis", "epitome/src/count/mod.rs", "Basis"],
    ["compact", "call-result", "epitome/src/summarize/mod.rs", "CallResult"],
    ["compact", "cause", "epitome/src/trigger/cause.rs", "Cause"],
    ["compact", "extent", "epitome/src/wire/neutral/lost.rs", "Extent"],
    ["compact", "fate", "epitome/src/receipt.rs", "Became"],
    ["compact", "format", "epitome/src/request.rs", "Format"],
    ["compact", "keep-reason", "epitome/src/guard/reason.rs", "KeepReason"],
    ["compact", "keeper", "epitome/src/request.rs", "Keeper"],
    ["compact", "loss", "epitome/src/wire/neutral/lost.rs", "Loss"],
    ["compact", "mend", "epitome/src/wire/breach.rs", "Mend"],
    ["compact", "originals", "epitome/src/receipt.rs", "Originals"],
    ["compact", "pin", "epitome/src/guard/options.rs", "Pin"],
    ["compact", "reached", "epitome/src/plan/mod.rs", "Reached"],
    ["compact", "reason", "epitome/src/view/mod.rs", "Reason"],
    ["compact", "shape", "epitome/src/summarize/shape.rs", "Shape"],
    ["compact", "shape-reason", "epitome/src/summarize/shape.rs", "ShapeReason"],
    ["compact", "target", "epitome/src/budget.rs", "Target"],
    ["check", "misfit-kind", "epitome/src/model/capability.rs", "MisfitKind"],
    ["check", "sure", "epitome/src/model/capability.rs", "Sure"],
    ["diff", "became", "epitome-cli/src/commands/diff.rs", "Became"],
    ["doctor", "state", "epitome-cli/src/commands/doctor.rs", "State"],
    ["models", "bound", "epitome/src/model/entry.rs", "Bound"],
    ["models", "cache-scheme", "epitome/src/model/entry.rs", "Scheme"],
    ["models", "earlier-reasoning", "epitome/src/model/entry.rs", "EarlierReasoning"],
    ["models", "reasoning-mode", "epitome/src/model/entry.rs", "Mode"],
    ["models", "tokenizer", "epitome/src/model/entry.rs", "Tokenizer"],
    ["models", "unsupported", "epitome/src/model/entry.rs", "Unsupported"],
    ["recall", "origin", "epitome/src/transcript/mod.rs", "Origin"],
    ["recall", "role", "epitome/src/transcript/mod.rs", "Role"],
    ["simulate", "decision", "epitome-cli/src/commands/simulate.rs", "Decision"],
    ["simulate", "trigger", "epitome/src/trigger/when.rs", "When"],
    ["stats", "content-kind", "epitome/src/count/content.rs", "ContentKind"],
];

/// The variants of an enum as serde names them.
fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
    let text = fs::read_to_string(path).expect("a source");
    let at = text.find(&format!("enum {name} {{")).expect("the enum");
    let attributes = &text[text[..at].rfind("\n\n").expect("other items")..at];
    let case = attributes.split("rename_all = \"").nth(1).and_then(|rest| rest.split('"').next());
    let gap = match case.expect("a case") {
        "kebab-case" => "-",
        "snake_case" => "_",
        _ => "",
    };
    let body = &text[at..at + text[at..].find("\n}").expect("its end")];
    let mut found = BTreeSet::new();
    for line in body.lines().filter_map(|line| line.strip_prefix("    ")) {
        let name: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let mut word = name[..1].to_ascii_lowercase();
            for c in name[1..].chars() {
                word += if c.is_ascii_uppercase() { gap } else { "" };
                word.push(c.to_ascii_lowercase());
            }
            found.insert(word);
        }
    }
    found
}

/// The variants that a definition names.
fn defined(definition: &Value) -> BTreeSet<String> {
    let all = definition["oneOf"].as_array().or(definition["anyOf"][0]["oneOf"].as_array());
    let name =
        |one: &Value| one["const"].as_str().or(one["required"][0].as_str()).map(str::to_owned);
    all.expect("a list").iter().filter_map(name).collect()
}

#[test]
fn every_variant_is_in_its_schema() {
    for [report, definition, source, name] in ENUMS {
        let mut variants = variants(source, name);
        if name == "Reason" {
            assert!(variants.remove("custom"), "any label");
        }
        assert!(!variants.is_empty(), "{name}");
        assert_eq!(defined(&printed(&[report])["$defs"][definition]), variants, "{report}: {name}");
    }
}

#[test]
fn a_member_that_is_added_renamed_or_of_another_type_is_found() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let report = bench.run("compact s.jsonl --target 20% -o out.json --json").json();
    let fault = |change: fn(&mut Value)| {
        let mut report = report.clone();
        change(&mut report);
        faults(&report, ["compact"]).unwrap_or_default()
    };
    assert_eq!(fault(|_| {}), "");
    assert!(fault(|report| report["more"] = 1.into()).contains("more"));
    assert!(fault(|report| report["after"]["more"] = 1.into()).contains("more"));
    assert!(fault(|report| report["version"] = 2.into()).contains("version"));
    assert!(fault(|report| report["edits"][0]["reason"] = "No Reason".into()).contains("reason"));
    assert!(fault(|report| report["outcome"] = "unreachable".into()).contains("held_by"));
    assert!(fault(|report| drop(report["kept_prefix"].take())).contains("kept_prefix"));
}

#[test]
fn the_list_says_what_prints_each() {
    let bench = Bench::new();
    let ran = bench.run("schema").ends(0);
    ran.says(&[
        "What a compaction did: its receipt",
        "epitome compact",
        "check-repair",
        "any command that fails",
    ]);
    assert_eq!(ran.out.lines().count(), LIST.len());
    let list = bench.run("schema --json").ends(0).json();
    assert_eq!(faults(&list, ["schema"]), None);
    let schema = bench.run("schema compact").ends(0);
    assert_eq!(schema.out, bench.run("schema compact --json").ends(0).out);
    assert_eq!(bench.run("schema redo").json(), bench.run("schema undo").json());
}

#[test]
fn an_unknown_report_is_a_usage_error_that_names_the_nearest() {
    let bench = Bench::new();
    let ran = bench.run("schema compct").ends(2);
    ran.complains(&["compct", "a similar value exists: 'compact'"]);
    let ran = bench.run("schema pin --json").ends(2);
    ran.complains(&["a similar value exists: 'pin-rm'"]);
}

#[test]
fn hooks_and_summarizers_are_given_what_their_schemas_say() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let answer = json!({ "version": 1, "veto": null, "instructions": ["Name every port."], "pins": ["port", 9] });
    bench.write("before", format!("cat > before.json\necho '{answer}'\n"));
    bench.write("after", "cat > after.json\n");
    bench.write("summarize", good());
    let mut command = bench.command(&["compact", "s.jsonl", "--target", "20%", "-o", "out.json"]);
    command.args(["--hook-before", "sh before", "--hook-after", "sh after"]);
    let ran = command.args(["--summarizer", "cmd:sh summarize"]).output().expect("the binary runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let given =
        [("before.json", "hook-before"), ("after.json", "hook-after"), ("asked", "summarizer")];
    for (file, name) in given {
        assert_eq!(faults(&bench.json(file), [name]), None, "{file}");
    }
    assert_eq!(faults(&answer, ["hook-before-answer"]), None);
    assert!(faults(&json!({ "version": 1, "vote": "no" }), ["hook-before-answer"]).is_some());
    assert_eq!(faults(&json!({ "version": 1, "summary": "…" }), ["summarizer-answer"]), None);
}
