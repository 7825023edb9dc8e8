//! Recordings that hold OpenAI messages already.

use epitome::transcript::Origin;
use epitome::wire::check;
use epitome::{Format, Request};
use epitome_recordings::{Options, ReadError, Run};
use serde_json::{Value, json};

use crate::{LAST, example, read_as, recording};
use epitome::word_list::words;

const RUNS: [&str; 8] = words!(
    "00_task2_trial1 01_task33_trial0 02_task3_trial0 03_task9_trial2 04_task33_trial2 \
     05_task3_trial1 06_task33_trial3 07_task46_trial3"
);

fn messages(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_str(request.source()).expect("a body is JSON");
    body["messages"].as_array().expect("a list of messages").clone()
}

#[test]
fn a_tau_bench_run_is_its_messages() {
    for name in RUNS {
        let source = example(&format!("tau-bench/{name}.json"));
        let recorded: Value = serde_json::from_str(&source).expect("a run is JSON");
        let run = recording("tau-bench", source.clone(), LAST);
        assert_eq!(Value::Array(messages(&run.request)), recorded["messages"], "{name}");
        assert_eq!((run.request.format, run.skipped.len()), (Format::OpenaiChat, 0));
        assert_eq!(check(&run.request), [], "{name}");
        for entry in run.request.transcript.entries() {
            assert!(source.contains(entry.raw()), "{name}: the bytes are the same");
        }
        // However it is laid out.
        let pretty = serde_json::to_string_pretty(&recorded).expect("JSON");
        let pretty = recording("tau-bench", pretty, LAST);
        assert_eq!(messages(&pretty.request), messages(&run.request));
    }
}

#[test]
fn of_several_runs_one_must_be_chosen() {
    let one = r#"{"task_id":1,"reward":1.0,"traj":[{"role":"user","content":"one"},7]}"#;
    let two = r#"{"task_id":2,"reward":0.0,"traj":[{"role":"user","content":"two"}]}"#;
    let text = |run: &str, nth| {
        let options = Options { run: nth, ..LAST };
        read_as("tau-bench", run.to_owned(), options)
            .map(|run| messages(&run.request)[0]["content"].clone())
    };
    let several = format!("[\n{one},\n{two}]");
    let reader = "tau-bench";
    assert_eq!(text(one, Run::Only), Ok(json!("one")));
    assert_eq!(text(&format!("[{two}]"), Run::Only), Ok(json!("two")));
    assert_eq!(text(&several, Run::Only), Err(ReadError::SeveralRuns { reader, runs: 2 }));
    assert_eq!(text(&several, Run::Nth(2)), Ok(json!("two")));
    for run in [0, 3] {
        assert_eq!(
            text(&several, Run::Nth(run)),
            Err(ReadError::NoSuchRun { reader, runs: 2, run })
        );
    }
    assert!(matches!(text("[]", Run::Only), Err(ReadError::NoMessages { .. })));
    assert!(matches!(text("{}", Run::Only), Err(ReadError::Shape { .. })));
    assert!(matches!(
        text("{\"traj\":[", Run::Only),
        Err(ReadError::Json { line: 1, column: 10, .. })
    ));
    let skipped = recording(reader, one.to_owned(), LAST).skipped;
    assert_eq!((skipped.len(), skipped[0].row), (1, 2));
}

#[test]
fn a_trajectory_is_its_history() {
    for name in ["ctf-warmup", "marshmallow-1867-function-calling"] {
        let source = example(&format!("swe-agent/{name}.traj"));
        let recorded: Value = serde_json::from_str(&source).expect("a trajectory is JSON");
        let history = recorded["history"].as_array().expect("a history");
        let run = recording("swe-agent", source, LAST);
        let read = messages(&run.request);
        assert_eq!(read.len(), history.len(), "{name}");
        for (message, row) in read.iter().zip(history) {
            let mut want = json!({ "role": row["role"], "content": row["content"] });
            for member in ["tool_calls", "name"] {
                if !row[member].is_null() {
                    want[member] = row[member].clone();
                }
            }
            if !row["tool_call_ids"].is_null() {
                want["tool_call_id"] = row["tool_call_ids"][0].clone();
            }
            assert_eq!(*message, want, "{name}");
        }
        assert_eq!(check(&run.request), [], "{name}");
    }
}

#[test]
fn observations_are_the_tools_words() {
    let origins = |source: String| -> String {
        let run = recording("swe-agent", source, LAST);
        let of = |origin| match origin {
            Origin::Human => 'h',
            Origin::Injected => 'i',
            Origin::Model => 'm',
            Origin::Tool => 't',
            Origin::Checkpoint => 'c',
        };
        run.request.transcript.entries().map(|entry| of(entry.origin())).collect()
    };
    assert_eq!(origins(example("swe-agent/ctf-warmup.traj")), "ihmtmtmtmtmtmtm");
    let calls = example("swe-agent/marshmallow-1867-function-calling.traj");
    assert_eq!(origins(calls), format!("ih{}", "mt".repeat(11)));
    let history = r#"{"info":{},"history":[
        {"role":"system","content":"Be good.","message_type":"system_prompt"},
        {"role":"user","content":"A demo.","is_demo":true},
        {"role":"assistant","content":"ls","is_demo":true},
        {"role":"user","content":[{"type":"text","text":"The task."}],"message_type":"observation"},
        {"role":"assistant","content":"Hm.","tool_calls":null,"thought":"Hm."},
        {"role":"user","content":"Format error.","message_type":"observation"},
        {"role":"user","content":"A reminder."},
        {"role":"assistant"}, 7]}"#;
    assert_eq!(origins(history.to_owned()), "iiihmth");
    let run = recording("swe-agent", history.to_owned(), LAST);
    let rows: Vec<usize> = run.skipped.iter().map(|skipped| skipped.row).collect();
    assert_eq!(rows, [8, 9]);
}
