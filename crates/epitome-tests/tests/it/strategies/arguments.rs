//! Bulky arguments of old calls.

use std::sync::Arc;

use epitome::Format;
use epitome::strategy::OldArguments;
use epitome::transcript::PartKind;
use testkit::to;

const WRITES: &str = r#"
user Write it down.
asst call a Write {"file_path":"src/x.rs","content":"{BULK}","mode":420}
res  a = ok
asst call b Edit {"file_path":"src/x.rs","edits":[{"old":"{BULK}","new":"short"},{"old":"q","new":"{BULK}"}]}
res  b = ok
asst call c Note {"text":"a few words stay as they are"}
res  c = ok
asst call d Write {"file_path":"src/y.rs","content":"{BULK}"}
res  d = ok
user Go on.
asst call e Write {"file_path":"src/z.rs","content":"{BULK}"}
"#;

fn writes() -> String {
    WRITES.replace("{BULK}", &"let one = two + three;\\n".repeat(60))
}

#[test]
fn what_is_left_is_the_same_object() {
    let request = testkit::parse(Format::Anthropic, &writes());
    let compactor = testkit::compactor(to(500), "chars4")
        .with_strategies(vec![Arc::new(OldArguments::default())]);
    let outcome = compactor.compact(&request).expect("a view");
    let calls = |request: &epitome::Request| -> Vec<serde_json::Value> {
        let parts = request.transcript.entries().flat_map(|entry| entry.parts());
        let calls = parts.filter(|part| part.kind() == PartKind::Call);
        calls.map(|call| serde_json::from_str(&call.text()).expect("an object")).collect()
    };
    let (before, after) = (calls(&request), calls(&outcome.request));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        let keys = |value: &serde_json::Value| {
            value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(before), keys(after));
        assert_eq!(before["file_path"], after["file_path"]);
        assert_eq!(before["mode"], after["mode"]);
    }
    let of = |values: &[serde_json::Value]| values[1]["edits"][0]["old"].to_string().len();
    assert!(of(&after) < of(&before) / 4);
}
