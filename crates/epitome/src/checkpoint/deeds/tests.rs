use super::*;

mod commands;
mod merging;

/// As much as a tool's line has in these tests.
const ROOM: LookRoom = LookRoom { answers: 100, targets: 100 };

impl Deeds {
    fn told(&mut self, slot: u32, output: &str, reported: CallStatus) {
        self.answer(slot, output, reported, &|_| true);
    }

    fn lines(&self, is_of: impl Fn(&Deed) -> bool, merging: Merging) -> Vec<String> {
        let calls = self.calls(is_of);
        let merged = if merging == Merging::Same { calls } else { merged(&calls, merging) };
        merged.iter().map(Deed::line).collect()
    }
}

fn deeds() -> Deeds {
    let mut deeds = Deeds::default();
    let mut call = |number, tool, arguments, output: Option<&str>| {
        deeds.call(number, number, tool, arguments, false);
        if let Some(output) = output {
            deeds.told(number, output, CallStatus::Unknown);
        }
    };
    call(3, "Read", r#"{"file_path":"src/a.rs"}"#, Some("fn a() {}"));
    call(
        5,
        "Edit",
        r#"{"file_path":"src/a.rs","old_string":"a","new_string":"b"}"#,
        Some(
            "The file was updated, and this is what it says now, at some length:\n     1\tfn b() {}",
        ),
    );
    call(
        7,
        "Edit",
        r#"{"file_path":"src/a.rs","old_string":"b","new_string":"c"}"#,
        Some("Error: no match"),
    );
    call(
        9,
        "Bash",
        r#"{"command":"cargo test"}"#,
        Some("Exit code 101\ntest result: FAILED. 3 passed; 1 failed; 0 ignored"),
    );
    call(11, "book", r#"{"id":"JG7FMM","cabin":"economy"}"#, None);
    deeds
}

#[test]
fn what_was_done_is_said_in_order_and_read_back() {
    let deeds = deeds();
    let lines = deeds.lines(|_| true, Merging::Same);
    assert_eq!(
        lines,
        [
            "[5] Edit(src/a.rs) → ok",
            "[7] Edit(src/a.rs) → failed: Error: no match",
            "[9] Bash(cargo test) → exit 101, 3 passed, 1 failed",
            "[11] book(id=JG7FMM, cabin=economy)",
        ]
    );
    assert_eq!(deeds.looks(ROOM), ["Only read: Read: src/a.rs"]);
    let mut next = Deeds::default();
    next.carry(&[lines.clone(), deeds.looks(ROOM)].concat().join("\n"));
    assert_eq!((next.lines(|_| true, Merging::Same), next.looks(ROOM)), (lines, deeds.looks(ROOM)));
    assert_eq!(
        next.lines(|deed| deed.last > 9, Merging::Short),
        ["[11] book(id=JG7FMM, cabin=economy)"]
    );
    let tools = next.lines(|_| true, Merging::Ordered);
    assert_eq!(
        tools[2..],
        ["[9] Bash(cargo test) → exit 101, 3 passed, 1 failed", "[11] book(JG7FMM, economy)"]
    );
}

#[test]
fn files_that_were_changed_are_never_merged_away() {
    let mut deeds = Deeds::default();
    let patch =
        r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: src/b.rs\n"}"#;
    deeds.call(1, 1, "apply_patch", patch, false);
    deeds.call(3, 3, "edit", r#"{"path":"src/a b.rs"}"#, false);
    deeds.call(5, 5, "edit", r#"{"path":"Makefile"}"#, false);
    deeds.call(7, 7, "update_flights", r#"{"id":"JG7FMM"}"#, false);
    deeds.call(9, 9, "Bash", r#"{"command":"./build.sh"}"#, false);
    let merged =
        ["[1] apply_patch(a.rs · src/b.rs)", "[3] edit(src/a b.rs · Makefile) ×2, last [5]"];
    assert_eq!(deeds.lines(Deed::names_files, Merging::Ordered), merged);
    let patched = "[1] apply_patch(a.rs · src/b.rs)";
    assert_eq!(deeds.lines(Deed::names_files, Merging::Short)[0], patched);
    let mut next = Deeds::default();
    next.carry(&merged.join("\n"));
    assert_eq!(next.lines(Deed::names_files, Merging::Ordered), merged);
}

#[test]
fn what_failed_is_told_apart_from_what_went_well() {
    let mut deeds = Deeds::default();
    let mut number = 0;
    let mut call = |deeds: &mut Deeds, well: bool| {
        number += 1;
        let path = format!(r#"{{"from":"S-1","id":"A{number}","amount":"5"}}"#);
        deeds.call(number, number, "send_it", &path, false);
        deeds.told(number, if well { "sent" } else { "error: refused" }, CallStatus::Unknown);
    };
    for well in [false, true, true, false, true] {
        call(&mut deeds, well);
    }
    let lines = |deeds: &Deeds, merging| deeds.lines(|_| true, merging);
    let failed =
        "[1] send_it(S-1, A1 · S-1, A4) ×2 (all failed), last [4] → failed: error: refused";
    let sent = "[2] send_it(S-1, A2 · S-1, A3 · S-1, A5) ×3, last [5] → sent";
    assert_eq!(lines(&deeds, Merging::Ordered), [failed, sent]);
    let few = "[2] send_it(… · A5) ×3, last [5] → sent";
    assert_eq!(lines(&deeds, Merging::Newest)[1], few);
    // Whom it was sent to is not left out for room.
    let apart = lines(&deeds, Merging::Short);
    assert_eq!((apart.len(), &*apart[1]), (5, "[2] send_it(from=S-1, id=A2, amount=5) → sent"));
    let mut next = Deeds::default();
    next.carry(&format!("{}\n{failed}\n{sent}", Deeds::unnamed_line(3)));
    assert_eq!(
        (lines(&next, Merging::Ordered), next.unnamed),
        (vec![failed.to_owned(), sent.to_owned()], 3)
    );
}

#[test]
fn calls_are_no_one_call_for_an_argument_that_is_no_target() {
    let mut deeds = Deeds::default();
    let calls = [
        ("transfer", r#"{"amount":100,"to":105}"#),
        ("transfer", r#"{"amount":100,"to":106}"#),
        ("bash", r#"{"command":"rm -f /srv/a.rs"}"#),
        ("bash", r#"{"command":"cd app && rm -f b.rs && make"}"#),
        ("bash", r#"{"command":"sed -i s/a/b/ ./c.rs"}"#),
    ];
    for (number, (tool, arguments)) in (1..).zip(calls) {
        deeds.call(number, number, tool, arguments, false);
    }
    let lines = |deeds: &Deeds, merging| deeds.lines(|_| true, merging);
    assert_eq!(lines(&deeds, Merging::Short), lines(&deeds, Merging::Same));
    let merged = [
        "[1] transfer(amount=100, to=105 · amount=100, to=106) ×2, last [2]",
        "[3] bash(rm -f /srv/a.rs · rm -f b.rs; make · app/b.rs · sed -i s/a/b/ ./c.rs) ×3, last [5]",
    ];
    assert_eq!(lines(&deeds, Merging::Ordered), merged);
    let mut next = Deeds::default();
    next.carry(&merged.join("\n"));
    assert_eq!(lines(&next, Merging::Ordered), merged);
}

/// A failure's first words are one cause of several, and needn't be the final one. The last line
/// needn't be the one that a total, a code in words or a first line refers to. The answer to a
/// user's question stood behind the JSON of a content block, and was cut.
#[test]
fn a_refusal_keeps_its_object() {
    let mut deeds = Deeds::default();
    let refused = "Action rejected. Reason: the user wants that http://localhost:5173 isn't used.";
    let output = format!(r#"[{{"type":"text","text":"{refused}\nTry something else."}}]"#);
    let output = format!("Wall time: 3.2 seconds\nOutput:\n{output}");
    deeds.call(3, 3, "js", r#"{"title":"Open the page"}"#, false);
    deeds.told(3, &output, CallStatus::Unknown);
    let line = format!("[3] js(title=Open the page) → says: {refused} / Try something else.");
    assert_eq!(deeds.lines(|_| true, Merging::Same), [line]);
}

#[test]
fn a_failure_says_why_and_totals_overrule_first_words() {
    let edit = r#"{"file_path":"a.rs","old_string":"a","new_string":"b"}"#;
    let unread = "<tool_use_error>File has not been read yet.</tool_use_error>";
    let passed = "Error: boom was logged\ntest result: ok. 3 passed; 0 failed; 0 ignored";
    let mut deeds = Deeds::default();
    deeds.call(1, 1, "Edit", edit, false);
    deeds.told(1, unread, CallStatus::Error);
    deeds.call(3, 3, "Bash", r#"{"command":"cargo test"}"#, false);
    deeds.told(3, passed, CallStatus::Unknown);
    let lines = [
        "[1] Edit(a.rs) → failed: File has not been read yet.",
        "[3] Bash(cargo test) → ok, 3 passed",
    ];
    assert_eq!(deeds.lines(|_| true, Merging::Same), lines);
}

#[test]
fn calls_that_differ_are_no_repeats_though_their_lines_are_alike() {
    let mut deeds = Deeds::default();
    for (number, output) in [(1, "error: refused"), (3, "sent")] {
        let body = format!("{} {number}", "lorem ipsum ".repeat(40));
        let arguments = format!(r#"{{"to":"mia","body":"{body}"}}"#);
        deeds.call(number, number, "send_it", &arguments, false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    // Nor is white space nothing, where it is what failed.
    for (number, text) in [(5, "return x"), (7, "    return x")] {
        let arguments = format!(r#"{{"replacement_text":"{text}","start_line":1}}"#);
        deeds.call(number, number, "replace", &arguments, false);
    }
    let lines = deeds.lines(|_| true, Merging::Same);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].ends_with("failed: error: refused") && lines[1].ends_with("sent"));
}

#[test]
fn targets_that_have_no_room_leave_a_mark() {
    let mut deeds = Deeds::default();
    for number in 1..=3 {
        let path = format!(r#"{{"file_path":"src/a{number}.rs"}}"#);
        deeds.call(number, number, "Read", &path, false);
    }
    let short = deeds.looks(LookRoom { targets: 24, ..ROOM });
    assert_eq!(short, ["Only read: Read ×3: … · src/a3.rs"]);
    let mut next = Deeds::default();
    next.carry(&short.join("\n"));
    assert_eq!(next.looks(ROOM), short);
}

#[test]
fn an_open_call_is_no_failure() {
    let mut deeds = Deeds::default();
    for number in 1..=2 {
        let id = format!(r#"{{"id":"A{number}"}}"#);
        deeds.call(number, number, "send_it", &id, false);
    }
    deeds.told(1, "error: refused", CallStatus::Unknown);
    assert_eq!(
        deeds.lines(|_| true, Merging::Ordered),
        ["[1] send_it(A1) → failed: error: refused", "[2] send_it(A2)"]
    );
}

#[test]
fn what_was_carried_and_is_done_again_is_one_line() {
    let mut deeds = Deeds::default();
    deeds.carry("[3] Bash(cargo test) → exit 101");
    deeds.call(9, 9, "Bash", r#"{"command":"cargo test"}"#, false);
    deeds.told(9, "Chunk ID: 1\nProcess exited with code 0\nOutput:\n", CallStatus::Unknown);
    let once = ["[3] Bash(cargo test) ×2 (1 failed), last [9] → exit 0"];
    assert_eq!(deeds.lines(|_| true, Merging::Same), once);
}

#[test]
fn what_could_not_be_read_is_counted() {
    let mut deeds = Deeds::default();
    let outputs = [("a", "fn a() {}"), ("b", "Error: no such file"), ("c", "fn c() {}")];
    for (number, (name, output)) in (1..).zip(outputs) {
        deeds.call(number, number, "Read", &format!(r#"{{"file_path":"{name}.rs"}}"#), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = ["Only read: Read ×3 (1 failed): a.rs · b.rs (failed) · c.rs"];
    assert_eq!(deeds.looks(ROOM), lines);
    let mut next = Deeds::default();
    next.carry(lines[0]);
    assert_eq!(next.looks(ROOM), lines);
}

#[test]
fn an_edit_takes_back_only_one_that_was_made() {
    for (output, told) in
        [("Error: no match", "ok"), ("The file was updated.", "ok (takes back [1])")]
    {
        let mut deeds = Deeds::default();
        for (number, old, new, output) in [(1, "a", "b", output), (2, "b", "a", "ok")] {
            let arguments =
                format!(r#"{{"path":"a.py","old_string":"{old}","new_string":"{new}"}}"#);
            deeds.call(number, number, "Edit", &arguments, false);
            deeds.told(number, output, CallStatus::Unknown);
        }
        assert!(deeds.all[1].line().ends_with(told), "{}", deeds.all[1].line());
    }
}

#[test]
fn an_edit_that_only_warns_is_not_counted_among_those_that_went_well() {
    let mut deeds = Deeds::default();
    let outputs = [
        "Your proposed edit has introduced new syntax error(s).\n[File: a.py]",
        "File updated.\n[File: a.py]",
    ];
    for (number, output) in (1..).zip(outputs) {
        deeds.call(number, number, "edit", r#"{"path":"a.py","text":"x"}"#, false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Same);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].contains("syntax error")
            && lines[1] == "[2] edit(a.py) → File updated. / [File: a.py]",
        "{lines:?}"
    );
}

/// Anybody can write a checkpoint, with any count in it.
#[test]
fn counts_end_at_the_largest() {
    let most = u32::MAX;
    let lines = format!(
        "[…] more calls, not named: {most}\n[1] edit(a.rs) ×{most} ({most} failed), last [5] → ok\n\
         Only read: bash ×{most} ({most} failed): a.rs\n"
    );
    let mut deeds = Deeds::default();
    deeds.carry(&lines);
    deeds.carry(&lines);
    deeds.call(7, 1, "bash", r#"{"command":"cat a.rs"}"#, false);
    assert_eq!(deeds.unnamed, most);
    let edited = deeds.lines(|_| true, Merging::Same);
    assert!(edited[0].starts_with(&format!("[1] edit(a.rs) ×{most}")), "{edited:?}");
    assert!(
        deeds.looks(LookRoom { targets: 0, ..ROOM })[0]
            .starts_with(&format!("Only read: bash ×{most}"))
    );
}

/// Of an output that told of errors the count said nothing: `×5 (2 failed)` read as three that went well.
#[test]
fn those_that_only_report_errors_are_counted() {
    let mut deeds = Deeds::default();
    let outputs =
        ["Exit code 1", "a\nerror: busy", "b\nerror: busy", "Exit code 1", "c\nerror: busy"];
    for (number, output) in (1..).zip(outputs) {
        deeds.call(number, number, "bash", &format!(r#"{{"command":"make m{number}"}}"#), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Least);
    assert_eq!(
        lines,
        ["[1] bash ×5 (2 failed, 3 report errors), last [5] → answered, with errors"]
    );
    let mut next = Deeds::default();
    next.carry(&lines.join("\n"));
    assert_eq!(next.lines(|_| true, Merging::Same), lines);
}

#[test]
fn what_was_read_once_is_not_missed() {
    let mut deeds = Deeds::default();
    let read = |deeds: &mut Deeds, slot, name: &str| {
        deeds.call(slot, slot, "Read", &format!(r#"{{"file_path":"{name}.rs"}}"#), false);
    };
    let (missing, found) = ("Error: no such file", "fn a() {}");
    for (slot, name, output) in
        [(1, "a", missing), (2, "a", missing), (3, "a", found), (4, "b", missing)]
    {
        read(&mut deeds, slot, name);
        deeds.told(slot, output, CallStatus::Unknown);
    }
    // Two calls at once, the first of which asked beyond the end.
    read(&mut deeds, 5, "c");
    read(&mut deeds, 6, "c");
    deeds.told(5, missing, CallStatus::Unknown);
    deeds.told(6, found, CallStatus::Unknown);
    let lines = ["Only read: Read ×6 (4 failed): a.rs · b.rs (failed) · c.rs"];
    assert_eq!(deeds.looks(ROOM), lines);
    let mut next = Deeds::default();
    next.carry(lines[0]);
    read(&mut next, 7, "b");
    assert_eq!(next.looks(ROOM), ["Only read: Read ×7 (4 failed): a.rs · c.rs · b.rs (failed)"]);
    next.told(7, found, CallStatus::Unknown);
    assert_eq!(next.looks(ROOM), ["Only read: Read ×7 (4 failed): a.rs · c.rs · b.rs"]);
}

#[test]
fn calls_with_another_outcome_have_a_line_of_their_own() {
    let mut deeds = Deeds::default();
    let refunded = |number: u32| format!("Refund R-{number} of {number}.50 issued.");
    let outputs = [refunded(1), refunded(2), "A3 can't be refunded: it has shipped.".into()];
    for (number, output) in (1..).zip(outputs.into_iter().chain([refunded(4)])) {
        deeds.call(number, number, "refund", &format!(r#"{{"order":"A{number}"}}"#), false);
        deeds.told(number, &output, CallStatus::Unknown);
    }
    let lines = [
        "[3] refund(A3) → A3 can't be refunded: it has shipped.",
        "[1] refund(A1 · A2 · A4) ×3, last [4] → Refund R-1 of 1.50 issued. / Refund R-2 of 2.50 issued. / Refund R-4 of 4.50 issued.",
    ];
    assert_eq!(deeds.lines(|_| true, Merging::Ordered), lines);
    for (number, output) in [(5, "held"), (6, "A6 was refunded before."), (7, "late")] {
        deeds.call(number, number, "refund", &format!(r#"{{"order":"A{number}"}}"#), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Newest);
    assert_eq!(lines, ["[1] refund(… · A7) ×7 (outcomes differ), last [7] → late"]);
    let mut next = Deeds::default();
    next.carry(&lines.join("\n"));
    assert_eq!(next.lines(|_| true, Merging::Newest), lines);
}

#[test]
fn a_doubtful_failure_stays_beside_what_went_well_later() {
    let mut deeds = Deeds::default();
    let outputs = ["Error: timeout. The charge may have been made.", "Charge ch_3 succeeded."];
    for (number, output) in (1..).zip(outputs) {
        deeds.call(number, number, "charge", r#"{"card":"c-1","amount":5}"#, false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let edit =
        |new: &str| format!(r#"{{"file_path":"a.rs","old_string":"a","new_string":"{new}"}}"#);
    for (number, new, output) in [
        (3, "b", "Error: no match"),
        (4, "c", "Error: no match"),
        (5, "c", "done"),
        (6, "d", "done"),
    ] {
        deeds.call(number, number, "Edit", &edit(new), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = [
        "[1] charge(card=c-1, amount=5) → failed: Error: timeout. The charge may have been made.",
        "[2] charge(card=c-1, amount=5) → Charge ch_3 succeeded.",
        "[3] Edit(a.rs) → failed: Error: no match",
        "[4] Edit(a.rs) ×3 (1 failed), last [6] → done",
    ];
    assert_eq!(deeds.lines(|_| true, Merging::Same), lines);
}

#[test]
fn outcomes_of_one_line_are_not_counted_twice() {
    let mut deeds = Deeds::default();
    for (number, output) in [(1, "held"), (2, "paid"), (3, "paid"), (4, "late"), (5, "gone")] {
        deeds.call(number, number, "pay", &format!(r#"{{"to":"A{number}"}}"#), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let line = "[1] pay(A1 · A2 · A3 · A4 · A5) ×5, last [5] → held / paid (2 times) / late / gone";
    assert_eq!(deeds.lines(|_| true, Merging::Ordered), [line]);
    let mut next = Deeds::default();
    next.carry(line);
    next.call(6, 6, "pay", r#"{"to":"A6"}"#, false);
    next.told(6, "paid", CallStatus::Unknown);
    assert_eq!(next.lines(|_| true, Merging::Ordered), [line, "[6] pay(A6) → paid"]);
}

#[test]
fn targets_that_were_left_out_stay_left_out() {
    let line = "[2] send_it(… · A2 · A3) ×5, last [5] → sent";
    let mut deeds = Deeds::default();
    deeds.carry(line);
    assert_eq!(deeds.lines(|_| true, Merging::Ordered), [line]);
}

proptest::proptest! {
    /// Whatever a tool says: of lines that are read back the counts are as before, and so are the lines.
    #[test]
    fn counts_outlast_a_second_checkpoint(
        outputs in proptest::collection::vec("(→|says:|failed|exit|answered|reports errors|error:|[0-9]|×[0-9]|, last|ok|\\(|\\)|[,:\n{}\"]| ){0,12}", 1..8),
        arguments in "[a-z→×()0-9., ]{0,12}",
    ) {
        let mut deeds = Deeds::default();
        for (number, output) in (1..).zip(&outputs) {
            let name = format!(r#"{{"id":"A{number}","note":"{arguments}"}}"#);
            deeds.call(number, number, "send_it", &name, false);
            deeds.told(number, output, CallStatus::Unknown);
        }
        let counts = |deeds: &Deeds| {
            let all = deeds.calls(|_| true).into_iter();
            all.fold((0, 0, 0), |(times, failed, warned), deed| {
                (times + deed.times, failed + deed.failed, warned + deed.warned)
            })
        };
        for merging in [Merging::Same, Merging::Short, Merging::Ordered, Merging::Newest, Merging::Least] {
            let lines = deeds.lines(|_| true, merging);
            let merged = merged(&deeds.calls(|_| true), merging);
            let is_marked = |deed: &Deed| deed.went.split(' ').any(|word| word == "→");
            proptest::prop_assert!(!merged.iter().any(is_marked), "{:?}", &lines);
            let mut next = Deeds::default();
            next.carry(&lines.join("\n"));
            proptest::prop_assert_eq!(counts(&next), counts(&deeds), "{:?}", &lines);
        }
    }
}
