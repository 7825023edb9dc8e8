//! Sessions that the agent compacted itself.

use crate::notation::{check, of_rows};
use crate::{LAST, WHOLE};

const PLAIN: [&str; 8] = [
    "u1 -  human Fix it.",
    "a1 u1 text:m1 How?",
    "u2 a1 human Well.",
    "a2 u2 text:m2 Good.",
    "b1 -  boundary a2",
    "s1 b1 summary Earlier: it was fixed.",
    "u3 s1 human More.",
    "a3 u3 text:m3 Gladly.",
];

#[test]
fn the_model_saw_what_follows_the_newest_boundary() {
    let left = check(
        LAST,
        &PLAIN,
        &["injected: Earlier: it was fixed.", "human: More.", "model: Gladly."],
    );
    assert_eq!(left, []);
    check(
        WHOLE,
        &PLAIN,
        &[
            "human: Fix it.",
            "model: How?",
            "human: Well.",
            "model: Good.",
            "injected: Earlier: it was fixed.",
            "human: More.",
            "model: Gladly.",
        ],
    );
    assert_eq!(of_rows(LAST, &PLAIN).compactions, 1);
}

#[test]
fn of_two_compactions_the_newer_counts() {
    let mut rows = PLAIN.to_vec();
    rows.extend(["b2 - boundary a3", "s2 b2 summary Again.", "u4 s2 human And more."]);
    check(LAST, &rows, &["injected: Again.", "human: And more."]);
    let whole = of_rows(WHOLE, &rows);
    assert_eq!((whole.request.transcript.len(), whole.compactions), (9, 2));
}

#[test]
fn kept_rows_stand_behind_the_summary_and_only_once() {
    // Whether what follows hangs on the summary or on the last row that was kept.
    for parent in ["s1", "a2"] {
        let more = format!("u3 {parent} human More.");
        let mut rows = PLAIN.to_vec();
        rows[4] = "b1 - boundary a2 u2..a2@s1";
        rows[6] = &more;
        check(
            LAST,
            &rows,
            &[
                "injected: Earlier: it was fixed.",
                "human: Well.",
                "model: Good.",
                "human: More.",
                "model: Gladly.",
            ],
        );
        let whole = of_rows(WHOLE, &rows);
        assert_eq!(whole.request.transcript.len(), 7, "{parent}");
        // Kept rows may also be written again.
        rows.splice(6..6, ["u2 s1 human Well.", "a2 u2 text:m2 Good."]);
        check(
            LAST,
            &rows,
            &[
                "injected: Earlier: it was fixed.",
                "human: Well.",
                "model: Good.",
                "human: More.",
                "model: Gladly.",
            ],
        );
        let whole = of_rows(WHOLE, &rows);
        assert_eq!(whole.request.transcript.len(), 7, "{parent}");
        let repeated =
            whole.skipped.iter().filter(|s| s.why.to_string().starts_with("repeats")).count();
        assert_eq!(repeated, 2);
    }
}

#[test]
fn a_kept_batch_is_kept_whole() {
    let rows = [
        "u1 -  human Fix it.",
        "a1 u1 call:m1 c1",
        "a2 a1 call:m1 c2",
        "r2 a2 result c2 two",
        "r1 a1 result c1 one",
        "a3 r1 text:m2 Done.",
        "b1 -  boundary a3 a1..a3@s1",
        "s1 b1 summary Earlier.",
        "u2 s1 human More.",
    ];
    check(
        LAST,
        &rows,
        &[
            "injected: Earlier.",
            "model: call c1 | call c2",
            "tool: c1 = one | c2 = two",
            "model: Done.",
            "human: More.",
        ],
    );
}

#[test]
fn a_kept_run_that_leads_nowhere_is_not_kept() {
    let mut rows = PLAIN.to_vec();
    rows[4] = "b1 - boundary a2 gone..a2@s1";
    check(LAST, &rows, &["injected: Earlier: it was fixed.", "human: More.", "model: Gladly."]);
}

#[test]
fn older_versions_wrote_a_summary_and_no_boundary() {
    let mut rows = PLAIN.to_vec();
    rows.remove(4);
    rows[4] = "s1 - summary Earlier: it was fixed.";
    check(LAST, &rows, &["injected: Earlier: it was fixed.", "human: More.", "model: Gladly."]);
    let whole = of_rows(WHOLE, &rows);
    assert_eq!((whole.request.transcript.len(), whole.compactions), (7, 1));
}

#[test]
fn a_boundary_without_a_name_is_found_by_its_place() {
    let rows: Vec<String> = PLAIN
        .iter()
        .map(|row| {
            let verb = row.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
            format!(". . {verb}")
        })
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    check(LAST, &rows, &["injected: Earlier: it was fixed.", "human: More.", "model: Gladly."]);
    assert_eq!(of_rows(WHOLE, &rows).request.transcript.len(), 7);
}

#[test]
fn a_look_alike_of_a_boundary_is_text() {
    let rows = [
        "u1 - human Fix it.",
        "a1 u1 text:m1 How?",
        "u2 a1 human This session is being continued from a previous conversation",
    ];
    assert_eq!(of_rows(LAST, &rows).compactions, 0);
    assert_eq!(of_rows(LAST, &rows).request.transcript.len(), 3);
}
