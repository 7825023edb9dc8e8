use expect_test::expect;

use super::*;
use crate::checkpoint::deeds::targets;

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
        ["[1] create_label(PC-20, weight=9: LB960124 · PC-21, weight=7: LB902828) ×2, last [2] → \
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
    assert_eq!(deeds.lines(|_| true, Merging::Ordered), [line]);
}

#[test]
fn reasons_that_differ_are_all_told() {
    let arguments = r#"{"domain": "a.example.com"}"#;
    let deeds = answered(
        "register",
        &[(arguments, "Error: the card was declined"), (arguments, "Error: timeout")],
    );
    let line = "[1] register(domain=a.example.com) ×2 (all failed), last [2] → \
                failed: Error: timeout / before: failed: Error: the card was declined";
    assert_eq!(deeds.lines(|_| true, Merging::Same), [line]);
}

#[test]
fn a_line_is_named_by_what_acts_in_it() {
    let lines = [
        "kubectl get pods -o name | xargs kubectl delete pod",
        "sed -n '1p; 7p' a.txt && make all 2>&1",
        "cat a.txt 2>&1 | python3 x.py",
        "docker compose down -v",
    ];
    let calls = lines.map(|line| serde_json::json!({ "command": line }).to_string());
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let deeds = answered("Bash", &calls);
    let line = "[1] Bash(xargs kubectl delete pod · make all · python3 x.py · docker compose down -v) ×4, last [4] → no output";
    assert_eq!(deeds.lines(|_| true, Merging::Ordered), [line]);
}

#[test]
fn a_call_by_itself_is_told_in_full_where_there_is_room() {
    let deeds = answered(
        "create_event",
        &[(r#"{"id": "ev_1", "title": "Retro with Ines", "start": "10:00"}"#, "done")],
    );
    let [deed] = &merged(&deeds.calls(|_| true), Merging::Ordered)[..] else {
        panic!("one call is one line")
    };
    assert_eq!(deed.line(), "[1] create_event(ev_1) → done");
    let in_full = "[1] create_event(id=ev_1, title=Retro with Ines, start=10:00) → done";
    assert_eq!(deed.line_in_full(), in_full);
}

#[test]
fn what_was_done_to_one_thing_keeps_its_order() {
    let of = |calls: &[(&str, &str)]| {
        let mut deeds = Deeds::default();
        for (number, (tool, addon)) in (1..).zip(calls) {
            let arguments = serde_json::json!({ "line": "L-9", "addon": addon }).to_string();
            deeds.call(number, number, tool, &arguments, false);
            deeds.told(number, r#"{"ok": true}"#, CallStatus::Unknown);
        }
        deeds.lines(|_| true, Merging::Ordered)
    };
    let lines = of(&[("cancel", "AO-301"), ("reactivate", "AO-301"), ("cancel", "AO-300")]);
    let order = [
        "[1] cancel(AO-301, L-9) → {\"ok\": true}",
        "[2] reactivate(AO-301, L-9) → {\"ok\": true}",
        "[3] cancel(AO-300, L-9) → {\"ok\": true}",
    ];
    assert_eq!(lines, order);
    let lines = of(&[("cancel", "AO-301"), ("reactivate", "AO-7"), ("cancel", "AO-300")]);
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn a_line_of_all_names_what_the_last_was_done_to() {
    let mut deeds = Deeds::default();
    for (number, (tool, order)) in (1..).zip([
        ("cancel", "AO-301"),
        ("cancel", "AO-302"),
        ("reactivate", "AO-301"),
        ("cancel", "AO-300"),
    ]) {
        let arguments = serde_json::json!({ "order": order }).to_string();
        deeds.call(number, number, tool, &arguments, false);
        deeds.told(number, "done", CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Newest);
    let told = ["[3] reactivate(AO-301) → done", "[1] cancel(… · AO-300) ×3, last [4] → done"];
    assert_eq!(lines, told);
}

#[test]
fn a_search_that_finds_nothing_has_not_failed() {
    let look = |command: &str, output: &str| {
        let mut deeds = Deeds::default();
        let arguments = serde_json::json!({ "command": command }).to_string();
        deeds.call(1, 1, "Bash", &arguments, false);
        deeds.told(1, output, CallStatus::Unknown);
        deeds.looks(ROOM).concat()
    };
    assert!(!look("grep -rn utils src", "Exit code 1").contains("failed"));
    assert!(
        look("grep -rn utils src", "Exit code 2\ngrep: src: No such file or directory")
            .contains("failed")
    );
    assert!(
        look("cat a.txt", "Exit code 1\ncat: a.txt: No such file or directory").contains("failed")
    );
}

#[test]
fn what_a_command_is_given_beside_its_line_stands_before_it() {
    let line = "systemctl restart nginx";
    let call = |host: &str| serde_json::json!({ "command": line, "host": host, "user": "the ops" });
    let calls = ["db01", "db02", "db01"].map(|host| call(host).to_string());
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let deeds = answered("ssh", &calls);
    let lines = [
        "[2] ssh(db02: systemctl restart nginx) → no output",
        "[1] ssh(db01: systemctl restart nginx) ×2, last [3] → no output",
    ];
    assert_eq!(deeds.lines(|_| true, Merging::Same), lines);
}

#[test]
fn a_flag_that_says_that_nothing_is_done_stays() {
    let call = |line: &str| serde_json::json!({ "command": line }).to_string();
    let lines = [
        "kubectl delete pod web-1 --dry-run=client",
        "terraform -chdir=env1 apply -target=module.x1",
        "kubectl delete pod web-2",
    ];
    let calls = lines.map(call);
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let lines = [
        "[1] Bash(kubectl delete pod web-1 --dry-run=client · terraform -chdir=env1 apply -target=module.x1 · kubectl delete pod web-2) ×3, last [3] → no output",
    ];
    assert_eq!(answered("Bash", &calls).lines(|_| true, Merging::Ordered), lines);
}

#[test]
fn as_many_arguments_are_said_as_have_room() {
    let of = |what: &str, most| targets::with_arguments(what, most);
    let pay = "pay(to=Anna Berg, amount=250, note=for the hall in May)";
    assert_eq!(of(pay, 70).as_deref(), Some(pay));
    assert_eq!(of(pay, 40).as_deref(), Some("pay(to=Anna Berg, amount=250, …)"));
    assert_eq!((of("", 40), of("refresh", 40), of("pay(…)", 40)), (None, None, None));
}

#[test]
fn an_undone_call_stands_above_its_undoing() {
    let grant = |who: &str| format!(r#"{{"account":"{who}@corp.test","role":"viewer"}}"#);
    let calls = [
        ("grant", grant("u1"), r#"{"ok":true,"id":"G51"}"#),
        ("grant", grant("u2"), r#"{"ok":true,"id":"G52"}"#),
        ("revoke", r#"{"account":"u2@corp.test"}"#.to_owned(), r#"{"ok":true}"#),
        ("grant", grant("u3"), r#"{"ok":true,"id":"G53"}"#),
        ("withdraw", r#"{"id":"G53"}"#.to_owned(), r#"{"ok":true}"#),
        ("grant", grant("u4"), r#"{"ok":true,"id":"G54"}"#),
    ];
    let mut deeds = Deeds::default();
    for (number, (tool, arguments, output)) in (1..).zip(&calls) {
        deeds.call(number, number, tool, arguments, false);
        deeds.answer(number, output, CallStatus::Unknown, &|_| true);
    }
    expect![[r#"
        [1] grant(u1@corp.test, viewer · u2@corp.test, viewer) ×2, last [2] → {"ok":true,"id":"G51"} / {"ok":true,"id":"G52"}
        [3] revoke(u2@corp.test) → {"ok":true}
        [4] grant(u3@corp.test, viewer) → {"ok":true,"id":"G53"}
        [5] withdraw(G53) → {"ok":true}
        [6] grant(u4@corp.test, viewer) → {"ok":true,"id":"G54"}"#]].assert_eq(&deeds.lines(|_| true, Merging::Made).join("\n"));
    expect![[r#"
        [3] revoke(u2@corp.test) → {"ok":true}
        [5] withdraw(G53) → {"ok":true}
        [1] grant(… · u4@corp.test) ×4, last [6] → answered"#]]
    .assert_eq(&deeds.lines(|_| true, Merging::Newest).join("\n"));
}

#[test]
fn commands_are_told_as_they_were_given() {
    let call = |line: &str| serde_json::json!({ "command": line }).to_string();
    let calls = [
        "kubectl --context hv-prod -n cart set image deploy/gauge app=gauge:2.14.0",
        "kubectl --context hv-prod -n cart rollout undo deploy/gauge",
        "git -C /srv/app push origin v3.1.0",
        "git -C /srv/app push origin :refs/tags/v3.1.0",
    ]
    .map(call);
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let line = answered("Bash", &calls).lines(|_| true, Merging::Ordered).join("\n");
    expect!["[1] Bash(kubectl --context hv-prod -n cart set image deploy/gauge app=gauge:2.14.0 · kubectl --context hv-prod -n cart rollout undo deploy/gauge · git -C /srv/app push origin v3.1.0 · git -C /srv/app push origin :refs/tags/v3.1.0) ×4, last [4] → no output"].assert_eq(&line);
}

#[test]
fn what_became_of_a_thing_stands_beside_what_made_it() {
    let mut deeds = Deeds::default();
    let mut number = 0;
    let mut call = |deeds: &mut Deeds, tool: &str, arguments: &str, output: &str| {
        number += 1;
        deeds.call(number, number, tool, arguments, false);
        deeds.answer(number, output, CallStatus::Unknown, &|_| true);
    };
    call(&mut deeds, "push_config", r#"{"router":"R-1"}"#, r#"{"job":"J-7","state":"queued"}"#);
    call(&mut deeds, "get_job", r#"{"id":"J-7"}"#, r#"{"state":"running"}"#);
    call(&mut deeds, "get_job", r#"{"id":"J-7"}"#, r#"{"state":"failed"}"#);
    let lines = deeds.lines(|_| true, Merging::Same);
    let line =
        r#"[1] push_config(router=R-1) → {"job":"J-7","state":"queued"} (then [3]: state=failed)"#;
    assert_eq!(lines, [line]);
    let mut next = Deeds::default();
    next.carry(line);
    call(&mut next, "get_job", r#"{"id":"J-7"}"#, r#"{"state":"done"}"#);
    assert!(next.lines(|_| true, Merging::Same)[0].ends_with("(then [4]: state=done)"));
}

#[test]
fn statements_are_no_command_lines() {
    let calls = [
        (
            r#"{"query":"CREATE TABLE scratch.net AS SELECT region, sum(amount) FROM orders GROUP BY 1"}"#,
            "",
        ),
        (r#"{"query":"DROP TABLE scratch.net"}"#, ""),
    ];
    let line = answered("run_sql", &calls).lines(|_| true, Merging::Ordered).join("\n");
    expect!["[1] run_sql(CREATE TABLE scratch.net AS SELECT region, sum(… · DROP TABLE scratch.net) ×2, last [2] → no output"].assert_eq(&line);
}

#[test]
fn a_target_stands_where_it_was_last() {
    let calls = ["a.rs", "b.rs", "a.rs"].map(|file| format!(r#"{{"file_path":"{file}"}}"#));
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| (call.as_str(), "")).collect();
    let line = answered("Edit", &calls).lines(|_| true, Merging::Ordered).join("\n");
    expect!["[1] Edit(b.rs · a.rs) ×3, last [3] → ok"].assert_eq(&line);
}

#[test]
fn carried_calls_without_arguments_are_not_the_same_call() {
    let lines =
        ["[1] cancel → answered: status=cancelled", "[2] cancel → answered: status=rejected"];
    let mut deeds = Deeds::default();
    deeds.carry(&lines.join("\n"));
    assert_eq!(deeds.lines(|_| true, Merging::Same), lines);
}
