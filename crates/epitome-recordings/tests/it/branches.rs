//! Rows to messages: batches, branches, sub-agents, words in mid-turn.

use crate::notation::{check, left_out, of_rows, shown};
use crate::{LAST, WHOLE};

const LEFT: &str = "on a branch that was left";

#[test]
fn a_message_of_many_rows_is_one_and_its_results_are_one() {
    let left = check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 thinking:m1 Hm.",
            "a2 a1 text:m1 On it.",
            "a3 a2 call:m1 c1",
            "a4 a3 call:m1 c2",
            "a5 a4 call:m1 c3",
            // Results come as the tools end, each a child of its call.
            "r3 a5 result c3 three",
            "r1 a3 result c1 one",
            "r2 a4 result c2 two",
            "b1 r2 text:m2 Done.",
        ],
        &[
            "human: Fix it.",
            "model: Hm. | On it. | call c1 | call c2 | call c3",
            "tool: c1 = one | c2 = two | c3 = three",
            "model: Done.",
        ],
    );
    assert_eq!(left, []);
}

#[test]
fn results_between_the_blocks_of_a_message_come_behind_it() {
    check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 call:m1 c1",
            "r1 a1 result c1 one",
            "a2 a1 call:m1 c2",
            "r2 a2 result c2 two",
            "b1 r2 text:m2 Done.",
        ],
        &[
            "human: Fix it.",
            "model: call c1 | call c2",
            "tool: c1 = one | c2 = two",
            "model: Done.",
        ],
    );
}

#[test]
fn a_dangling_call_at_the_end_stays_open() {
    check(
        LAST,
        &["u1 - human Fix it.", "a1 u1 call:m1 c1", "a2 a1 call:m1 c2", "r1 a1 result c1 one"],
        &["human: Fix it.", "model: call c1 | call c2", "tool: c1 = one"],
    );
}

#[test]
fn words_after_results_are_their_own_entry() {
    check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 call:m1 c1",
            "u2 a1 human Stop, not there!",
            "r1 u2 result c1 one",
            "u3 r1 meta Base directory: …",
            "b1 u3 text:m2 Fine.",
        ],
        &[
            "human: Fix it.",
            "model: call c1",
            "tool: c1 = one",
            "human: Stop, not there!",
            "injected: Base directory: …",
            "model: Fine.",
        ],
    );
}

#[test]
fn words_taken_up_in_mid_turn_are_found_in_the_queue() {
    let queue = [
        "u1 -  human Fix it.",
        ". .  queue enqueue never mind",
        ". .  queue popAll",
        ". .  queue enqueue check the tests",
        "a1 u1 call:m1 c1",
        // Older versions say only here that the words were taken up.
        ". .  queue remove",
        "r1 a1 result c1 one",
        ". .  queue enqueue and then rest",
        ". .  queue dequeue",
        "u2 r1 human and then rest",
    ];
    let want = [
        "human: Fix it.",
        "model: call c1",
        "tool: c1 = one",
        "human: check the tests",
        "human: and then rest",
    ];
    check(LAST, &queue, &want);
    // Newer ones write them in a row as well.
    let mut rows = queue.to_vec();
    rows.insert(6, "q1 a1 queued check the tests");
    rows[7] = "r1 q1 result c1 one";
    check(LAST, &rows, &want);
}

#[test]
fn the_newest_branch_counts() {
    let left = check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 text:m1 How?",
            "u2 a1 human Badly.",
            ". .  queue enqueue x",
            ". .  queue remove",
            "a2 u2 text:m2 So be it.",
            "u3 a1 human Well.",
            "a3 u3 text:m3 Good.",
        ],
        &["human: Fix it.", "model: How?", "human: Well.", "model: Good."],
    );
    assert_eq!(left, [(3, LEFT.into()), (5, LEFT.into()), (6, LEFT.into())]);
}

#[test]
fn a_first_prompt_that_was_rewritten_starts_anew() {
    let left = check(
        LAST,
        &[
            "u1 - human Fix it.",
            "a1 u1 text:m1 How?",
            "u2 - human Fix it well.",
            "a2 u2 text:m2 Good.",
        ],
        &["human: Fix it well.", "model: Good."],
    );
    assert_eq!(left.len(), 2);
    // Of another session, it's a file put behind a file.
    check(
        LAST,
        &[
            "u1 - human One. @s1",
            "a1 u1 text:m1 1 @s1",
            "u2 - human Two. @s2",
            "a2 u2 text:m2 2 @s2",
        ],
        &["human: One.", "model: 1", "human: Two.", "model: 2"],
    );
}

#[test]
fn without_parents_the_order_of_the_file_counts() {
    let want = ["human: Fix it.", "model: call c1", "tool: c1 = one", "human: Thanks."];
    for parent in ["-", ".", "lost"] {
        for named in [true, false] {
            let id = |id: &str| if named { id.to_owned() } else { ".".to_owned() };
            let rows = [
                format!("{} {parent} human Fix it.", id("u1")),
                format!("{} {parent} call:m1 c1", id("a1")),
                format!("{} {parent} result c1 one", id("r1")),
                format!("{} {parent} human Thanks.", id("u2")),
            ];
            check(LAST, &rows.each_ref().map(String::as_str), &want);
        }
    }
}

#[test]
fn a_lost_row_does_not_lose_what_is_before_it() {
    check(
        LAST,
        &[
            "u1 - human Fix it.",
            "a1 u1 text:m1 How?",
            "u3 u2 human Any way.",
            "a3 u3 text:m3 Good.",
        ],
        &["human: Fix it.", "model: How?", "human: Any way.", "model: Good."],
    );
}

#[test]
fn cycles_end() {
    check(
        LAST,
        &["u1 a2 human Fix it.", "a1 u1 text:m1 How?", "u2 a1 human Well.", "a2 u2 text:m2 Good."],
        &["human: Fix it.", "model: How?", "human: Well.", "model: Good."],
    );
    check(LAST, &["u1 u1 human Fix it."], &["human: Fix it."]);
}

#[test]
fn a_row_that_is_there_twice_counts_once() {
    let left = check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 call:m1 c1",
            "a1 u1 call:m1 c1",
            "r1 a1 result c1 one",
            "r2 a1 result c1 one again",
            "b1 r1 text:m2 Done.",
            "u1 -  human Fix it.",
        ],
        &["human: Fix it.", "model: call c1", "tool: c1 = one", "model: Done."],
    );
    assert_eq!(left, [(3, "repeats row 2".into()), (5, LEFT.into()), (7, "repeats row 1".into())]);
}

#[test]
fn notes_about_failed_requests_were_never_seen() {
    let left = check(
        LAST,
        &[
            "u1 -  human Fix it.",
            "e1 u1 error API Error: 529",
            "x1 e1 link",
            "u2 x1 human Again.",
            "a1 u2 text:m1 Done.",
        ],
        &["human: Fix it.", "human: Again.", "model: Done."],
    );
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0, 2);
}

#[test]
fn sub_agents_are_apart() {
    let rows = [
        "u1 -  human Fix it.",
        "a1 u1 call:m1 c1",
        "a2 a1 call:m1 c2",
        "s1 -  human Look here. +one",
        "t1 -  human Look there. +two",
        "s2 s1 text:n1 Seen. +one",
        "t2 t1 call:n2 d1 +two",
        "t3 t2 result d1 ok +two",
        "r1 a1 result c1 Seen.",
        "r2 a2 result c2 Nothing.",
    ];
    let nameless: Vec<String> = rows
        .iter()
        .map(|row| row.replace("+one", "+nameless").replace("+two", "+nameless"))
        .collect();
    let nameless: Vec<&str> = nameless.iter().map(String::as_str).collect();
    for (rows, ids) in [(&rows[..], ["one", "two"]), (&nameless, ["s1", "t1"])] {
        let recording = of_rows(LAST, rows);
        assert_eq!(
            shown(&recording.request),
            ["human: Fix it.", "model: call c1 | call c2", "tool: c1 = Seen. | c2 = Nothing."]
        );
        let sides: Vec<_> = recording.sidechains.iter().map(|side| side.id.as_str()).collect();
        assert_eq!(sides, ids);
        assert_eq!(shown(&recording.sidechains[0].request), ["human: Look here.", "model: Seen."]);
        let other = shown(&recording.sidechains[1].request);
        assert_eq!(other, ["human: Look there.", "model: call d1", "tool: d1 = ok"]);
        assert_eq!(left_out(&recording.skipped), []);
    }
}

#[test]
fn a_sub_agents_own_file_is_its_main_line() {
    let recording = of_rows(WHOLE, &["s1 - human Look. +one", "s2 s1 text:n1 Seen. +one"]);
    assert_eq!(shown(&recording.request), ["human: Look.", "model: Seen."]);
    assert_eq!(recording.sidechains.len(), 0);
}

#[test]
fn rows_in_any_order_of_the_file_follow_their_parents() {
    check(
        LAST,
        &["a1 u1 text:m1 How?", "u1 - human Fix it.", "u2 a1 human Well.", "a2 u2 text:m2 Good."],
        &["human: Fix it.", "model: How?", "human: Well.", "model: Good."],
    );
}
