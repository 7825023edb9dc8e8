//! Damaged files: never a panic, and as much as there is.

use epitome::transcript::PartKind;
use epitome_recordings::{Input, OpenError, Reach, ReadError, Run, Skipped, Why, open};
use proptest::prelude::*;

use crate::notation::file;
use crate::{LAST, WHOLE, example, read_as, recording};

const ROWS: [&str; 12] = [
    "u1 -  human Fix it.",
    "a1 u1 thinking:m1 Hm.",
    "a2 a1 call:m1 c1",
    "a3 a2 call:m1 c2",
    "r2 a3 result c2 two",
    "r1 a2 result c1 one",
    "b1 -  boundary r1 r2..r1@s1",
    "s1 b1 summary Earlier.",
    "t1 -  human Look. +agent",
    "t2 t1 text:n1 Seen. +agent",
    "u2 s1 human Well.",
    "a4 u2 text:m2 Good.",
];

#[test]
fn a_row_that_was_cut_off_costs_that_row() {
    let source = example("claude-code/agent-a485154.jsonl");
    let last = source.trim_end().rfind('\n').expect("several rows") + 1;
    let whole = recording("claude-code", source.clone(), LAST).request.transcript.len();
    let mut cut = source.as_bytes()[..last + 700].to_vec();
    // Within a character, too.
    cut.extend(&"…".as_bytes()[..2]);
    let Ok(Input::Recording(read)) = open(cut, None, LAST) else { panic!("still a session") };
    assert_eq!(read.request.transcript.len(), whole - 1);
    assert_eq!(read.skipped, [Skipped { row: 44, why: Why::CutOff }]);
}

/// Of recordings that are one value.
#[test]
fn a_file_that_ends_in_the_middle_costs_the_message_in_which_it_ends() {
    for name in [
        "gemini-cli/session-2025-12-01T21-45-5b959dae.json",
        "openhands/openhands-words.json",
        "opencode/opencode-words.json",
        "tau-bench/07_task46_trial3.json",
    ] {
        let source = example(name);
        for eighths in 4..8 {
            let cut = source.as_bytes()[..source.len() / 8 * eighths].to_vec();
            let Ok(Input::Recording(cut)) = open(cut, None, LAST) else {
                panic!("{name}, {eighths} eighths, is still a session")
            };
            assert!(cut.skipped.iter().any(|skipped| skipped.why == Why::CutOff), "{name}");
            let cut = &cut.request.transcript;
            assert!(cut.len() > 1, "{name}: {}", cut.len());
        }
    }
}

#[test]
fn nul_bytes_in_a_session_cost_their_row() {
    let source = file(&ROWS[..2]) + "\0\0\0\0\n" + &file(&ROWS[2..6]);
    let Ok(Input::Recording(read)) = open(source.into_bytes(), None, LAST) else {
        panic!("still a session")
    };
    assert_eq!(read.request.transcript.len(), 3);
    assert_eq!((read.skipped.len(), read.skipped[0].row), (1, 3));
}

/// A list that lost its brackets, or was joined by hand.
#[test]
fn rows_with_commas_are_rows() {
    for name in ["pi/pi-words.jsonl", "codex/codex-words.jsonl", "claude-code/agent-a485154.jsonl"]
    {
        let source = example(name);
        let read = |text: String| {
            let Ok(Input::Recording(read)) = open(text.into_bytes(), None, LAST) else {
                panic!("{name} is still a session")
            };
            (read.request.source().to_string(), read.skipped)
        };
        assert_eq!(read(source.trim_end().replace('\n', ",\n")), read(source), "{name}");
    }
}

#[test]
fn a_file_of_which_most_rows_are_broken_is_refused() {
    let broken = format!("{}{{\"type\":\n{{\"type\":\n{{\"type\":\n", file(&ROWS[..2]));
    let Err(OpenError::Read(ReadError::Rows { broken, rows, first, .. })) =
        open(broken.into_bytes(), None, LAST)
    else {
        panic!("two rows of five are no session")
    };
    assert_eq!((broken, rows, first), (3, 5, 3));
}

#[test]
fn nul_bytes_before_a_value_cost_nothing() {
    let source = example("openhands/openhands-words.json");
    let padded = "\0".repeat(64) + &source;
    let read = |text: String| match open(text.into_bytes(), None, LAST) {
        Ok(Input::Recording(read)) => read.request.source().to_string(),
        other => panic!("still a session: {other:?}"),
    };
    assert_eq!(read(padded), read(source));
}

#[test]
fn cut_anywhere_a_file_is_read_or_refused() {
    for (name, kind, step) in [
        ("claude-code/edge_cases.jsonl", "claude-code", 7),
        ("claude-code/session-9eda1058.jsonl", "claude-code", 1999),
        ("codex/codex-words.jsonl", "codex", 499),
        ("gemini-cli/gemini-cli-words.jsonl", "gemini-cli", 299),
        ("opencode/opencode-words.json", "opencode", 199),
        ("openhands/openhands-words.json", "openhands", 99),
        ("pi/pi-words.jsonl", "pi", 59),
        ("tau-bench/07_task46_trial3.json", "tau-bench", 199),
        ("swe-agent/ctf-warmup.traj", "swe-agent", 199),
    ] {
        let source = example(name);
        let lines = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
        for at in (0..source.len()).step_by(step).chain(lines.take(40)) {
            let cut = source.as_bytes()[..at].to_vec();
            let _refused = open(cut.clone(), None, LAST);
            if let Ok(text) = String::from_utf8(cut) {
                let _refused = read_as(kind, text, WHOLE);
            }
        }
    }
}

#[test]
fn a_session_read_up_to_a_row_is_a_beginning_of_it() {
    let source = example("claude-code/agent-a485154.jsonl");
    let whole = recording("claude-code", source.clone(), LAST);
    let rows: Vec<&str> = source.lines().collect();
    for end in 1..rows.len() {
        let part = recording("claude-code", rows[..end].join("\n"), LAST);
        let entries = part.request.transcript.len();
        // The newest batch may still grow.
        for at in 0..entries.saturating_sub(2) {
            assert_eq!(
                part.request.transcript.entry(at).raw(),
                whole.request.transcript.entry(at).raw(),
                "{end} rows, entry {at}"
            );
        }
    }
}

#[test]
fn odd_rows_are_left_out_one_by_one() {
    let odd = [
        "null",
        "true",
        "-1",
        "\"x\"",
        "[[]]",
        "{}",
        "{\"type\":7}",
        "{\"type\":\"user\"}",
        "{\"type\":\"user\",\"message\":null}",
        "{\"type\":\"user\",\"message\":[]}",
        "{\"type\":\"user\",\"message\":{}}",
        "{\"type\":\"user\",\"message\":{\"content\":null}}",
        "{\"type\":\"user\",\"message\":{\"content\":[]}}",
        "{\"type\":\"user\",\"message\":{\"content\":[1,null,{}]}}",
        "{\"type\":\"user\",\"message\":{\"content\":{\"type\":\"text\"}}}",
        "{\"type\":\"attachment\",\"uuid\":\"q\",\"attachment\":{\"type\":\"queued_command\"}}",
        "{\"type\":\"queue-operation\",\"operation\":\"remove\"}",
        "{\"type\":\"system\",\"subtype\":7,\"compactMetadata\":[]}",
    ];
    for row in odd {
        let source = file(&ROWS[..3]) + row + "\n" + &file(&ROWS[3..6]);
        let read = recording("claude-code", source, LAST);
        assert_eq!(read.request.transcript.len(), 3, "{row}");
    }
}

#[test]
fn a_deep_row_is_only_a_row() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let row = format!(
        "{{\"type\":\"user\",\"uuid\":\"u9\",\"parentUuid\":\"r1\",\"toolUseResult\":{deep},\
         \"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}"
    );
    let read = recording("claude-code", file(&ROWS[..6]) + &row, LAST);
    assert_eq!(read.request.transcript.len(), 4);
}

/// Shapes on which a careless walk takes the square of the rows.
#[test]
fn many_rows_of_any_shape_take_their_number_of_steps() {
    let rows = 20_000;
    let shapes: [&dyn Fn(usize) -> String; 6] = [
        &|at| format!("u{at} - human x"),
        &|at| format!("u{at} u{} human x", at + 1),
        &|at| format!("u{at} lost human x"),
        &|at| format!("u u human x{at}"),
        &|at| format!("u{at} - boundary"),
        &|_| ". . queue enqueue x".to_owned(),
    ];
    for shape in shapes {
        let mut all: Vec<String> = (0..rows).map(shape).collect();
        all.push("last lost human x".to_owned());
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        for options in [LAST, WHOLE] {
            let read = recording("claude-code", file(&all), options);
            assert!(!read.request.transcript.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn shuffled_and_thinned_rows_never_break_a_pair_that_is_there(
        order in Just((0..ROWS.len()).collect::<Vec<_>>()).prop_shuffle(),
        keep in proptest::collection::vec(any::<bool>(), ROWS.len()),
        reach in prop_oneof![Just(Reach::SinceLastCompaction), Just(Reach::Whole)],
    ) {
        let rows: Vec<&str> = order.iter().filter(|at| keep[**at]).map(|at| ROWS[*at]).collect();
        let options = epitome_recordings::Options { reach, run: Run::Only };
        if let Ok(read) = read_as("claude-code", file(&rows), options) {
            let transcript = &read.request.transcript;
            for entry in transcript.entries() {
                // Results come right behind the entry with their calls, if it is there at all.
                let calls = |at: usize, id: &str| {
                    let mut parts = transcript.entry(at).parts();
                    parts.any(|part| part.kind() == PartKind::Call && part.id() == id)
                };
                for result in entry.parts().filter(|part| part.kind() == PartKind::Result) {
                    let made = (0..transcript.len()).find(|at| calls(*at, &result.id()));
                    prop_assert!(made.is_none_or(|at| at + 1 == entry.index), "{rows:?}");
                }
            }
        }
    }

    #[test]
    fn flipped_bytes_do_no_harm(flips in proptest::collection::vec((0..9000usize, any::<u8>()), 1..20)) {
        for (file, kind) in [
            ("claude-code/edge_cases.jsonl", "claude-code"),
            ("codex/codex-words.jsonl", "codex"),
            ("gemini-cli/gemini-cli-words.jsonl", "gemini-cli"),
            ("opencode/opencode-words.json", "opencode"),
            ("openhands/openhands-words.json", "openhands"),
            ("pi/pi-words.jsonl", "pi"),
        ] {
            let mut bytes = example(file).into_bytes();
            for (at, byte) in &flips {
                let place = at % bytes.len();
                bytes[place] = *byte;
            }
            if let Ok(text) = String::from_utf8(bytes.clone()) {
                let _refused = read_as(kind, text, WHOLE);
            }
            let _refused = open(bytes, None, LAST);
        }
    }
}
