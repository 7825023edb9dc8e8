use super::*;

/// Calls of one tool, each with its answer.
fn answered(tool: &str, calls: &[(&str, &str)]) -> Deeds {
    let mut deeds = Deeds::default();
    for (number, (arguments, output)) in (1..).zip(calls) {
        deeds.call(number, number, tool, arguments, false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    deeds
}

#[test]
fn what_calls_made_stands_beside_what_they_were_done_to() {
    let deeds = answered(
        "create_label",
        &[
            (r#"{"parcel": "PC-20", "weight": 9}"#, "Label LB960124 created."),
            (r#"{"parcel": "PC-21", "weight": 7}"#, "Label LB902828 created."),
        ],
    );
    let line = deeds.lines(|_| true, Merging::Made);
    assert_eq!(
        line,
        ["[1] create_label(PC-20: LB960124 · PC-21: LB902828) ×2, last [2] → \
          Label LB960124 created. / Label LB902828 created."]
    );
    let mut carried = Deeds::default();
    carried.carry(&line[0]);
    assert_eq!(carried.lines(|_| true, Merging::Made), line);
}

#[test]
fn the_number_of_something_tells_calls_apart() {
    let merged = r#"{"merged": true}"#;
    let deeds = answered(
        "merge",
        &[
            (r#"{"repo": "web", "pull_number": 41, "wait": 5}"#, merged),
            (r#"{"repo": "web", "pull_number": 43, "wait": 5}"#, merged),
        ],
    );
    let line =
        "[1] merge(web, pull_number=41 · web, pull_number=43) ×2, last [2] → {\"merged\": true}";
    assert_eq!(deeds.lines(|_| true, Merging::TOOL), [line]);
}

#[test]
fn reasons_that_differ_are_all_told() {
    let arguments = r#"{"domain": "a.example.com"}"#;
    let deeds = answered(
        "register",
        &[(arguments, "Error: the card was declined"), (arguments, "Error: timeout")],
    );
    let line = "[1] register(domain=a.example.com) ×2 (all failed), last [2] → \
                failed: Error: the card was declined / failed: Error: timeout";
    assert_eq!(deeds.lines(|_| true, Merging::Same), [line]);
}

#[test]
fn a_line_is_named_by_what_acts_in_it() {
    let lines = [
        "kubectl get pods -o name | xargs kubectl delete pod",
        "sed -n '1p; 7p' a.txt && make all",
        "cat a.txt 2>&1 | python3 x.py",
        "docker compose down -v",
    ];
    let calls = lines.map(|line| serde_json::json!({ "command": line }).to_string());
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let deeds = answered("Bash", &calls);
    let line = "[1] Bash(kubectl delete pod · make all · python3 x.py · docker compose down) ×4, last [4] → no output";
    assert_eq!(deeds.lines(|_| true, Merging::TOOL), [line]);
}
